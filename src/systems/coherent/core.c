/* SPDX-License-Identifier: Apache-2.0 */
/* The processors: one access at a time, in order (forth.md 9). The address of
 * an access decides whether it uses the core's own PLB, the coherent cache in
 * front of the interconnect, or the memory controller without the cache.
 *
 *   issue --t_plb--> private memory
 *         --t_hit--> cache: hit, or a request to the interconnect
 *         --t_port-> request to the memory controller
 *
 * A core plays a script, polls the mailbox of the network interface, or makes
 * random accesses. Not modelled: instructions, the core's own caches, more than
 * one access in flight. */
#include <assert.h>

#include "systems/coherent/coherent_internal.h"

/* ---- choice of the next access ---- */

static void random_op(struct weft_comp *c, struct coh_op *op)
{
	struct coh_system *s = c->state;
	double way;
	uint64_t off;

	op->bytes = 1u << weft_rng_below(&c->rng, 4);
	way = weft_rng_real(&c->rng);
	off = weft_rng_below(&c->rng, s->region / op->bytes) * op->bytes;
	if (way < s->privately)
		op->addr = s->private_base + off;
	else if (way < s->privately + s->uncached)
		op->addr =
			s->ddr_bytes - s->uncached_bytes + s->region_base + off;
	else
		op->addr = s->region_base + off;
	op->store = weft_rng_real(&c->rng) < s->stores;
	op->value = weft_rng_u64(&c->rng);
	op->gap = (uint32_t)weft_rng_below(&c->rng, 2 * s->gap + 1);
}

/* Prepares the next access. Returns false if the core has no further one. */
static bool core_next(struct weft_comp *c, struct coh_core *k)
{
	struct coh_system *s = c->state;

	if (k->script) {
		if (k->pos == k->n_script)
			return false;
		k->op = k->script[k->pos++];
	} else if (k->poller) {
		if (k->seen == s->words)
			return false;
		k->op = (struct coh_op){ .bytes = 4,
					 .gap = s->poll_gap,
					 .addr = coh_ni_slot(s, k->seen) };
	} else {
		if (!k->left)
			return false;
		k->left--;
		random_op(c, &k->op);
	}
	return true;
}

void coh_core_issue(struct weft_comp *c, uint32_t i)
{
	struct coh_system *s = c->state;
	struct coh_core *k = &s->core[i];
	/* next state and cycles of the access, by enum coh_where */
	const enum core_state to[] = { CORE_LOOKUP, CORE_UNCACHED, CORE_PLB };
	const uint32_t cost[] = { s->t_hit, s->t_port, s->t_plb };
	int where;

	k->state = CORE_END;
	if (!core_next(c, k))
		return;
	where = coh_where(s, k->op.addr, k->op.bytes);
	assert(where >= 0);
	k->state = to[where];
	coh_at(c, &k->timer, EV_CORE + i,
	       coh_cycle(c) + k->op.gap + cost[where]);
}

/* ---- an access ---- */

static void core_see(struct weft_comp *c, struct coh_core *k, uint64_t value)
{
	struct coh_system *s = c->state;
	uint64_t d;

	weft_count(c, C_POLLS, 1);
	if (value != (uint32_t)(k->seen + 1))
		return;
	d = coh_cycle(c) - s->ni.arrival[k->seen % s->slots];
	weft_hist_put(s->seen, (double)d);
	weft_count(c, C_SEEN, 1);
	if (!k->seen || d < k->see_min)
		k->see_min = d;
	if (d > k->see_max)
		k->see_max = d;
	k->see_sum += d;
	k->seen++;
	if (s->ni.state == NI_SLOT) /* wake the interface, because its next word
				       may wait for this slot */
		coh_at(c, &s->ni.timer, EV_NI, coh_cycle(c));
}

void coh_core_perform(struct weft_comp *c, uint32_t i, uint8_t *bytes)
{
	struct coh_system *s = c->state;
	struct coh_core *k = &s->core[i];
	uint64_t value = 0;

	for (uint32_t b = 0; b < k->op.bytes; b++) {
		if (k->op.store)
			bytes[b] = (uint8_t)(k->op.value >> 8 * b);
		value |= (uint64_t)bytes[b] << 8 * b;
	}
	weft_count(c, k->op.store ? C_STORES : C_LOADS, 1);
	coh_check_op(c, i, &k->op, value);
	if (s->watch.op)
		s->watch.op(s->watch.arg, i, &k->op, coh_cycle(c), value);
	if (k->poller)
		core_see(c, k, value);
	coh_core_issue(c, i);
}

static void core_private(struct weft_comp *c, uint32_t i)
{
	struct coh_system *s = c->state;
	struct coh_core *k = &s->core[i];
	uint64_t addr = k->op.addr - s->private_base;
	uint32_t n = k->op.bytes;
	bool store = k->op.store;
	uint8_t bytes[8];

	weft_count(c, C_PRIVATE, 1);
	coh_mem_read(&k->priv, addr, bytes, n);
	coh_core_perform(c, i, bytes);
	if (store)
		coh_mem_write(&k->priv, addr, bytes, n);
}

/* Searches the cache for the address, unless it is uncached. Requests the
 * interconnect on a miss. */
static void core_shared(struct weft_comp *c, uint32_t i)
{
	struct coh_core *k = &((struct coh_system *)c->state)->core[i];
	bool lookup = k->state == CORE_LOOKUP;
	struct coh_line *l;

	if (lookup && coh_cache_local(&k->cache, k->op.addr, k->op.store, &l) ==
			      COH_NONE) {
		weft_count(c, C_HITS, 1);
		coh_core_perform(c, i, l->data + (k->op.addr - l->addr));
		return;
	}
	weft_count(c, lookup ? C_MISSES : C_UNCACHED, 1);
	k->state = CORE_BUS;
	coh_net_ask(c);
}

void coh_core_event(struct weft_comp *c, uint32_t i)
{
	struct coh_core *k = &((struct coh_system *)c->state)->core[i];

	if (weft_timer_due(c, &k->timer))
		(k->state == CORE_PLB ? core_private : core_shared)(c, i);
}
