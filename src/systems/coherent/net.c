/* SPDX-License-Identifier: Apache-2.0 */
/* The interconnect: a switch that behaves like a snooping bus (forth.md 9). It
 * serves one request at a time, round robin over cores and network interface.
 *
 *   grant --t_arb--> [write back the victim] --t_req--> broadcast, with data
 *   of an Update or write in beats --t_snoop--> all answers: states change
 *     line from a cache:  t_supply + t_reply + beats
 *     line from memory:   DDR + t_reply + beats
 *     memory written:     DDR
 *   free when the requester has the data and memory is written
 *
 * The interconnect determines the request of a core again at the grant, because
 * the core's line may have arrived or been invalidated before the grant. A
 * request to the controller alone (MemRd, MemWr) is not broadcast and saves
 * t_snoop. Timing is our own, because the paper has none. Not modelled: split
 * transactions. */
#include <assert.h>

#include "systems/coherent/coherent_internal.h"

static void net_at(struct weft_comp *c, enum net_state state, uint64_t cycle)
{
	struct coh_net *n = &((struct coh_system *)c->state)->net;

	n->state = state;
	n->due = cycle;
	if (cycle > coh_cycle(c)) /* no event for the present cycle, because the
				     loop of coh_net_event() is still running */
		coh_at(c, &n->timer, EV_NET, cycle);
}

/* ---- arbitration ---- */

void coh_net_ask(struct weft_comp *c)
{
	struct coh_net *n = &((struct coh_system *)c->state)->net;

	if (n->state == NET_IDLE)
		coh_at(c, &n->arb, EV_ARB, coh_cycle(c));
}

static struct coh_txn net_txn(struct coh_system *s, uint32_t src)
{
	static const enum coh_bus bus[] = { [COH_TO_MEMORY] = COH_MEM_WR,
					    [COH_BY_INVALIDATE] = COH_WRITE,
					    [COH_BY_UPDATE] = COH_UPDATE };
	const struct coh_item *it = &s->ni.item;
	const struct coh_op *op = &s->core[src % s->cores].op;
	struct coh_txn t = { .src = src, .addr = op->addr, .bytes = op->bytes };
	struct coh_line *l;

	if (src == s->cores)
		return (struct coh_txn){ .bus = bus[it->how],
					 .src = src,
					 .addr = it->addr,
					 .bytes = it->bytes };
	if (coh_where(s, op->addr, op->bytes) == COH_UNCACHED) {
		t.bus = op->store ? COH_MEM_WR : COH_MEM_RD;
		return t;
	}
	l = coh_cache_find(&s->core[src].cache, op->addr);
	t.bus = coh_on_local(op->store, l ? l->state : COH_I).bus;
	return t;
}

static void net_grant(struct weft_comp *c, uint32_t src)
{
	struct coh_system *s = c->state;
	struct coh_net *n = &s->net;
	struct coh_txn *t = &n->txn;
	uint64_t at = coh_cycle(c);

	*t = net_txn(s, src);
	t->grant = at;
	t->supplier = -1;
	n->last = src;
	n->place = NULL;
	at += s->t_arb;
	weft_count(c, t->bus == COH_NONE ? C_CANCELLED : C_RD + t->bus, 1);
	if (t->bus == COH_NONE) {
		t->snoop = t->data = at;
		net_at(c, NET_DATA, at);
		return;
	}
	if (t->bus == COH_RD || t->bus == COH_RDX)
		at += coh_net_evict(c, src, t->addr);
	at += s->t_req + (t->bus < COH_SNOOPED ? s->t_snoop : 0);
	if (t->bus == COH_UPDATE || t->bus == COH_WRITE || t->bus == COH_MEM_WR)
		at += coh_ddr_beats(&s->ddr, t->bytes);
	t->snoop = at;
	net_at(c, NET_SNOOP, at);
}

void coh_net_arbitrate(struct weft_comp *c)
{
	struct coh_system *s = c->state;
	struct coh_net *n = &s->net;
	uint32_t all = s->cores + 1;

	if (!weft_timer_due(c, &n->arb) || n->state != NET_IDLE)
		return;
	for (uint32_t k = 1; k <= all; k++) {
		uint32_t src = (n->last + k) % all;

		if (src == s->cores ? s->ni.state == NI_BUS
				    : s->core[src].state == CORE_BUS) {
			net_grant(c, src);
			return;
		}
	}
}

/* ---- stages ---- */

static void net_snoop(struct weft_comp *c)
{
	struct coh_net *n = &((struct coh_system *)c->state)->net;

	n->txn.end = coh_net_serve[n->txn.bus](c, &n->txn);
	net_at(c, NET_DATA, n->txn.data);
}

/* Performs the access of the core, because data and permission have arrived. */
static void data_core(struct weft_comp *c, const struct coh_txn *t)
{
	struct coh_system *s = c->state;
	struct coh_cache *cache = &s->core[t->src].cache;
	struct coh_line *l = NULL;

	switch (t->bus) {
	case COH_RD:
	case COH_RDX:
		l = s->net.place;
		coh_cache_install(cache, l, t->addr, s->net.fill, s->net.line);
		break;
	case COH_UPGR:
		l = coh_cache_upgrade(cache, t->addr);
		break;
	case COH_NONE:
		coh_cache_local(cache, t->addr, s->core[t->src].op.store, &l);
		assert(l);
		break;
	default:
		break;
	}
	coh_core_perform(c, t->src,
			 l ? l->data + (t->addr - l->addr) : s->net.line);
}

static void net_data(struct weft_comp *c)
{
	struct coh_system *s = c->state;
	struct coh_txn *t = &s->net.txn;

	if (t->bus == COH_NONE)
		t->end = t->data;
	if (t->src < s->cores)
		data_core(c, t);
	else if (t->allocated && t->bytes < s->line)
		coh_cache_install(&s->core[s->ni.item.target].cache,
				  s->net.place, t->addr, COH_E, s->net.line);
	net_at(c, NET_END, t->end);
}

static void net_end(struct weft_comp *c)
{
	struct coh_system *s = c->state;
	struct coh_net *n = &s->net;

	n->state = NET_IDLE;
	weft_count(c, C_BUSY, n->txn.end - n->txn.grant);
	coh_check_txn(c, &n->txn);
	if (s->watch.txn)
		s->watch.txn(s->watch.arg, &n->txn);
	if (n->txn.src == s->cores) {
		weft_count(c, C_DELIVERED, 1);
		coh_ni_start(c);
	}
	coh_net_ask(c);
}

static void (*const stage[])(struct weft_comp *) = {
	[NET_SNOOP] = net_snoop,
	[NET_DATA] = net_data,
	[NET_END] = net_end,
};

void coh_net_event(struct weft_comp *c)
{
	struct coh_net *n = &((struct coh_system *)c->state)->net;

	if (!weft_timer_due(c, &n->timer))
		return;
	while (n->state != NET_IDLE && n->due == coh_cycle(c))
		stage[n->state](c);
}
