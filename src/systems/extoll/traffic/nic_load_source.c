/* SPDX-License-Identifier: Apache-2.0 */
/* Stores of extoll.load: first what a driver does (extoll.md 2.4, 2.6, 3.3),
 * then VELO messages (3.2).
 *
 * Arrivals do not depend on the network, so nothing of this is an event: a
 * store is told to the NIC ahead of its time, and when the NIC has taken one
 * the next is looked at. */
#include <errno.h>
#include <string.h>

#include "systems/extoll/traffic/nic_load.h"

/* Cycles from a store at the NIC to its unit, or a few more: nobody waits for
 * news of a store in front of him that is younger than that. */
enum { TAKEN = 16 };

/* ---- stores ---- */

static weft_time_t load_source_later(weft_time_t a, weft_time_t b)
{
	return a > b ? a : b;
}

/* When a store that the processor begins at t is on the link. */
static weft_time_t store_leaves(const struct extoll_load *l, weft_time_t t)
{
	return load_source_later(
		load_source_later(t + l->t_store, l->down_free),
		weft_now(l->comp));
}

static weft_time_t store_time(const struct extoll_load *l, uint32_t bytes)
{
	return (2 + (bytes + 3) / 4) * l->t_dword;
}

static void store_tell(struct extoll_load *l, uint8_t space, uint64_t off,
		       const void *data, uint32_t bytes, weft_time_t leaves)
{
	struct weft_bus_note note = { .kind = WEFT_NOTE_STORE,
				      .space = space,
				      .off = off,
				      .bytes = bytes };

	memcpy(note.data, data, bytes);
	note.time = leaves + store_time(l, bytes) + l->t_rx;
	weft_bus_tell(l->dev, &note);
}

/* One of those that the NIC takes in order. */
static void store_push(struct extoll_load *l, uint8_t space, uint64_t off,
		       const void *data, uint32_t bytes, weft_time_t t,
		       bool end)
{
	weft_time_t leaves = store_leaves(l, t);

	store_tell(l, space, off, data, bytes, leaves);
	l->down_free = leaves + store_time(l, bytes);
	l->last = l->down_free + l->t_rx;
	l->ends |= (uint32_t)end << l->out++;
}

/* The link has room for these in between. */
void extoll_load_src_rp(struct extoll_load *l, weft_time_t t)
{
	uint64_t rp = l->next;

	weft_count(l->comp, LOAD_RP, 1);
	l->behind = 0;
	l->rp_at = t + l->t_store + store_time(l, 8) + l->t_rx;
	store_tell(l, 1 + EXTOLL_BAR,
		   EXTOLL_VELO_RP + LOAD_VPID * EXTOLL_RP_STRIDE, &rp, 8,
		   t + l->t_store);
}

/* ---- set-up ---- */

enum { INTERVAL = EXTOLL_INTERVAL_STRIDE }; /* number 1 */

static const struct {
	uint8_t space, bytes;
	uint32_t off;
	uint64_t val;
} setup[] = {
	{ 0, 2, EXTOLL_CFG_COMMAND, EXTOLL_CMD_MEMORY | EXTOLL_CMD_MASTER },
	{ 1, 8, INTERVAL + EXTOLL_INTERVAL_LOWER, EXTOLL_VELO },
	{ 1, 8, INTERVAL + EXTOLL_INTERVAL_UPPER,
	  EXTOLL_VELO + EXTOLL_VELO_BYTES - 1 },
	{ 1, 8, INTERVAL + EXTOLL_INTERVAL_TARGET,
	  EXTOLL_HX_VELO | EXTOLL_INTERVAL_ENABLE },
	{ 1, 8, EXTOLL_VELO_RX_BASE + 8 * LOAD_VPID, LOAD_BOX },
	{ 1, 8, EXTOLL_VELO_RX + 8 * LOAD_VPID,
	  EXTOLL_RX(LOAD_PD, 0, EXTOLL_RX_ENABLE) }, /* and slots */
	{ 1, 8, EXTOLL_VELO_TX + 8 * LOAD_VPID,
	  EXTOLL_TX(0, LOAD_VPID, LOAD_PD) }, /* and node */
};
enum { STEPS = sizeof(setup) / sizeof(setup[0]) };

static void setup_next(struct extoll_load *l)
{
	uint32_t i = l->step++;
	uint64_t val = setup[i].val;

	if (setup[i].off == EXTOLL_VELO_RX + 8 * LOAD_VPID)
		val |= EXTOLL_RX(0, l->slots, 0);
	if (setup[i].off == EXTOLL_VELO_TX + 8 * LOAD_VPID)
		val |= EXTOLL_TX(l->node, 0, 0);
	store_push(l, setup[i].space, setup[i].off, &val, setup[i].bytes, 0,
		   false);
}

/* ---- messages ---- */

static uint32_t size_draw(const struct extoll_load *l, struct weft_rng *rng)
{
	if (l->size_max <= l->size)
		return l->size;
	return l->size +
	       (uint32_t)weft_rng_below(rng, l->size_max - l->size + 1);
}

static double flits_mean(const struct extoll_load *l)
{
	double sum = 0;

	if (l->size_max <= l->size)
		return extoll_load_flits(l, l->size);
	for (uint32_t s = l->size; s <= l->size_max; s++)
		sum += extoll_load_flits(l, s);
	return sum / (l->size_max - l->size + 1);
}

static bool src_over(const struct extoll_load *l)
{
	return l->arr.next == UINT64_MAX ||
	       (l->net && extoll_net_over(l->net->state)) ||
	       (l->packets && l->made >= l->packets);
}

/* Header and payload; wait: cycles it spent in the source. */
static void message_fill(struct extoll_load *l, uint64_t *m, uint32_t dest,
			 uint32_t len, uint64_t injected)
{
	struct extoll_net_pkt p = { .born = l->arr.next,
				    .injected = injected,
				    .flits = extoll_load_flits(l, len) };
	uint64_t wait = injected - p.born;

	if (l->net)
		extoll_net_made(l->net, &p);
	m[0] = EXTOLL_SEND(dest, LOAD_VPID, 0, dest, len);
	m[1] = LOAD_STAMP(p.born, wait < LOAD_WAIT_MAX ? wait : LOAD_WAIT_MAX,
			  p.marked);
	for (uint32_t k = 1; k < (len + 7) / 8; k++)
		m[1 + k] = extoll_load_word(m[1], l->node, dest, k);
}

static void message_next(struct extoll_load *l)
{
	struct weft_rng *rng = &l->comp->rng;
	uint32_t dest = pattern_dest(&l->pat, rng), len = size_draw(l, rng);
	weft_time_t t = weft_clock_edge(&l->clock, l->arr.next);
	uint64_t page = extoll_velo_page(0, LOAD_VPID);
	uint32_t bytes = EXTOLL_SEND_BYTES(len);
	uint64_t m[1 + LOAD_WORDS];

	message_fill(
		l, m, dest, len,
		weft_clock_cycle(&l->clock, store_leaves(l, t) - l->t_store));
	arrivals_step(&l->arr, rng);
	l->made++;
	for (uint32_t off = 0, n; off < bytes; off += n) {
		n = bytes - off < 64 ? bytes - off : 64;
		store_push(l, 1 + EXTOLL_BAR, page + off, (char *)m + off, n, t,
			   off + n == bytes);
	}
}

/* The next message need not wait for news of those before it. */
static bool message_ahead(const struct extoll_load *l)
{
	weft_time_t t = weft_clock_edge(&l->clock, l->arr.next) + l->t_store;

	return t < l->last + TAKEN * (l->clock.num / l->clock.den);
}

void extoll_load_src_next(struct extoll_load *l)
{
	while (l->step < STEPS && l->out < l->depth)
		setup_next(l);
	while (l->step == STEPS && l->out + 2u <= l->depth && !src_over(l) &&
	       (!l->out || message_ahead(l)))
		message_next(l);
}

/* ---- what the network asks ---- */

struct extoll_net_backlog extoll_load_src_backlog(const struct weft_comp *c,
						  uint64_t from, uint64_t cycle)
{
	struct extoll_load *l = c->state;
	struct extoll_net_backlog b = { 0, 0 };
	struct arrivals a = l->arr;
	struct weft_rng rng = c->rng;
	uint64_t made = l->made;

	for (; !src_over(l) && a.next < cycle &&
	       (!l->packets || made < l->packets);
	     made++, arrivals_step(&a, &rng)) {
		uint32_t len;

		pattern_dest(&l->pat, &rng);
		len = size_draw(l, &rng);
		b.packets += a.next >= from;
		b.flits += a.next >= from ? extoll_load_flits(l, len) : 0;
	}
	return b;
}

bool extoll_load_src_starves(const struct weft_comp *c, uint64_t before)
{
	const struct extoll_load *l = c->state;

	return l->out && l->arr.next < before && l->last_sent < before;
}

uint64_t extoll_load_src_total(const struct extoll_load *l)
{
	if (l->arr.next == UINT64_MAX)
		return 0;
	return l->packets ? l->packets : UINT64_MAX;
}

/* ---- start ---- */

/* The first arrival is drawn from the end of the set-up on. */
static void src_shift(struct extoll_load *l)
{
	weft_time_t t = l->t_store + l->t_rx + STEPS * store_time(l, 8);
	uint64_t from = weft_clock_cycle(&l->clock, t);

	if (l->arr.next == UINT64_MAX)
		return;
	l->arr.next += from;
	l->arr.off += from;
	l->arr.at += (double)from;
}

int extoll_load_src_start(struct extoll_load *l, struct weft_err *err)
{
	struct weft_comp *nic = l->dev->peer->comp;
	const struct ex_place alone = { .node = l->node };
	const struct ex_place *at = ex_stands(nic) ? nic->state : &alone;
	struct weft_err sub = { 0 };
	double mean = flits_mean(l);

	l->node = at->node;
	l->net = at->net;
	l->pat = (struct pattern){ .kind = l->pattern,
				   .node = l->node,
				   .nodes = l->nodes,
				   .self = l->self,
				   .hot = l->hot };
	l->arr = (struct arrivals){ .kind = l->arrivals,
				    .rate = l->load / mean };
	if (extoll_net_pattern(at, l->permutation, l->dest, &l->pat, &sub))
		return weft_fail(err, EINVAL, "%s: %s", l->comp->name, sub.msg);
	if (!pattern_sends(&l->pat))
		l->arr.rate = 0;
	if (arrivals_init(&l->arr, l->peak / mean, l->burst, &l->comp->rng,
			  &sub))
		return weft_fail(err, EINVAL, "%s: %s", l->comp->name, sub.msg);
	src_shift(l);
	return 0;
}
