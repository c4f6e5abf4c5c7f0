/* SPDX-License-Identifier: Apache-2.0 */
/* Stores of extoll.load: first the set-up of a driver (extoll.md 2.4, 2.6,
 * 3.3), then VELO messages (3.2).
 *
 * This file needs no events, because times of messages do not depend on the
 * network. It notifies the NIC of a store ahead of its time, and makes further
 * stores when the NIC has accepted one. */
#include <errno.h>
#include <string.h>

#include "systems/extoll/traffic/nic_load.h"

/* Largest number of cycles from the arrival of a store until the NIC's unit
 * takes the store. If the stores of a message would arrive more than TAKEN
 * cycles after the previous store, extoll.load makes them only when the NIC has
 * accepted that store. */
enum { TAKEN = 16 };

/* ---- stores ---- */

/* Returns the time at which a store that the processor makes at t starts on the
 * link. */
static weft_time_t store_leaves(const struct extoll_load *l, weft_time_t t)
{
	weft_time_t now = weft_now(l->comp);

	t += l->t_store;
	t = t > l->down_free ? t : l->down_free;
	return t > now ? t : now;
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

/* Makes a store after all earlier stores. `end` is true if the store ends a
 * message. */
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

/* Stores the read pointer. The store takes no room on the link, since it fits
 * between messages. */
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

enum { INTERVAL = EXTOLL_INTERVAL_STRIDE }; /* registers of interval number 1 */

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
	  /* the number of slots is added later */
	  EXTOLL_RX(LOAD_PD, 0, EXTOLL_RX_ENABLE) },
	{ 1, 8, EXTOLL_VELO_TX + 8 * LOAD_VPID,
	  EXTOLL_TX(0, LOAD_VPID, LOAD_PD) }, /* the node is added later */
};
enum { STEPS = sizeof(setup) / sizeof(setup[0]) };

/* ---- messages ---- */

static void message_next(struct extoll_load *l)
{
	struct traffic_packet k = traffic_draw(&l->s.t, &l->comp->rng);
	weft_time_t t = weft_clock_edge(&l->s.clock, k.at);
	uint64_t page = extoll_velo_page(0, LOAD_VPID);
	uint32_t bytes = EXTOLL_SEND_BYTES(k.size);
	struct net_packet p = { .born = k.at,
				.injected = weft_clock_cycle(
					&l->s.clock,
					store_leaves(l, t) - l->t_store),
				.flits = extoll_source_flits(&l->s, k.size) };
	uint64_t wait = p.injected - p.born, m[1 + LOAD_WORDS];

	traffic_step(&l->s.t, 0, &l->comp->rng);
	/* The stamp has the cycles that the message spent in the source. */
	if (l->s.net)
		net_meter_made(l->s.place.net, &p);
	m[0] = EXTOLL_SEND(k.dest, LOAD_VPID, 0, k.dest, k.size);
	m[1] = LOAD_STAMP(p.born, wait < LOAD_WAIT_MAX ? wait : LOAD_WAIT_MAX,
			  p.marked);
	for (uint32_t i = 1; i < (k.size + 7) / 8; i++)
		m[1 + i] = extoll_load_word(m[1], l->s.node, k.dest, i);
	for (uint32_t off = 0, n; off < bytes; off += n) {
		n = bytes - off < 64 ? bytes - off : 64;
		store_push(l, 1 + EXTOLL_BAR, page + off, (char *)m + off, n, t,
			   off + n == bytes);
	}
}

void extoll_load_src_next(struct extoll_load *l)
{
	const struct weft_clock *clk = &l->s.clock;
	uint64_t due;

	while (l->step < STEPS && l->out < l->depth) {
		uint32_t i = l->step++;
		uint64_t val = setup[i].val;

		if (setup[i].off == EXTOLL_VELO_RX + 8 * LOAD_VPID)
			val |= EXTOLL_RX(0, l->slots, 0);
		if (setup[i].off == EXTOLL_VELO_TX + 8 * LOAD_VPID)
			val |= EXTOLL_TX(l->s.node, 0, 0);
		store_push(l, setup[i].space, setup[i].off, &val,
			   setup[i].bytes, 0, false);
	}
	while (l->step == STEPS && l->out + 2u <= l->depth) {
		due = extoll_source_due(&l->s);
		if (due == ARRIVALS_NEVER)
			return;
		/* Wait until the NIC has accepted the earlier stores, because
		 * this message arrives more than TAKEN cycles later. */
		if (l->out && weft_clock_edge(clk, due) + l->t_store >=
				      l->last + TAKEN * (clk->num / clk->den))
			return;
		message_next(l);
	}
}

bool extoll_load_src_starves(const struct weft_comp *c, uint64_t before)
{
	const struct extoll_load *l = c->state;

	return l->out && l->s.t.arrivals.next < before && l->last_sent < before;
}

/* ---- start ---- */

int extoll_load_src_start(struct extoll_load *l, struct weft_err *err)
{
	struct weft_comp *nic = l->dev->peer->comp;
	weft_time_t t = l->t_store + l->t_rx + STEPS * store_time(l, 8);

	if (ex_stands(nic)) {
		l->s.place = *ex_place(nic);
		l->s.node = l->s.place.node;
	}
	l->s.net = extoll_net_of(&l->s.place);
	l->s.words = 1;
	l->s.t.size = l->size;
	l->s.t.size_max = l->size_max;
	if (extoll_source_start(l->comp, err))
		return -EINVAL;
	/* no arrivals before the end of the set-up */
	arrivals_shift(&l->s.t.arrivals, weft_clock_cycle(&l->s.clock, t));
	return 0;
}
