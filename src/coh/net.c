/* SPDX-License-Identifier: Apache-2.0 */
/* The interconnect: a switch that behaves like a snooping bus (forth.md 9).
 * One request at a time, round robin over cores and network interface.
 *
 *   grant --t_arb--> [write back the victim] --t_req--> broadcast, with data
 *   of an Update or write in beats --t_snoop--> all answers: states change
 *     line from a cache:  t_supply + t_reply + beats
 *     line from memory:   DDR + t_reply + beats
 *     memory written:     DDR
 *   free when data and memory are both done.
 *
 * What a core needs is looked up again at the grant: its line may have come or
 * gone while it waited.  A request to the controller alone (MemRd, MemWr) is
 * not broadcast and saves t_snoop.  Timing is our own: the paper has none.
 * Not modelled: split transactions. */
#include <assert.h>
#include <string.h>

#include "coh/coh_priv.h"

static uint32_t beats(const struct coh_system *s, uint32_t bytes)
{
	return coh_ddr_beats(&s->ddr, bytes);
}

static uint64_t line_of(const struct coh_system *s, uint64_t addr)
{
	return addr & ~(uint64_t)(s->line - 1);
}

static void net_at(struct weft_comp *c, enum net_state state, uint64_t cycle)
{
	struct coh_net *n = &((struct coh_system *)c->state)->net;

	n->state = state;
	n->due = cycle;
	if (cycle > coh_cycle(c)) /* else the loop of coh_net_event goes on */
		coh_at(c, &n->timer, EV_NET, cycle);
}

/* ---- arbitration ---------------------------------------------------------- */

static bool net_asks(const struct coh_system *s, uint32_t src)
{
	return src == s->cores ? s->ni.state == NI_BUS :
				 s->core[src].state == CORE_BUS;
}

void coh_net_ask(struct weft_comp *c)
{
	struct coh_net *n = &((struct coh_system *)c->state)->net;

	if (n->state == NET_IDLE)
		coh_at(c, &n->arb, EV_ARB, coh_cycle(c));
}

static struct coh_txn txn_of_ni(const struct coh_system *s)
{
	static const enum coh_bus bus[] = { [COH_TO_MEMORY] = COH_MEM_WR,
					    [COH_BY_INVALIDATE] = COH_WRITE,
					    [COH_BY_UPDATE] = COH_UPDATE };
	const struct coh_item *it = &s->ni.item;

	return (struct coh_txn){ .bus = bus[it->how],
				 .src = s->cores,
				 .addr = it->addr,
				 .bytes = it->bytes };
}

static struct coh_txn txn_of_core(struct coh_system *s, uint32_t i)
{
	const struct coh_op *op = &s->core[i].op;
	struct coh_line *l = coh_cache_find(&s->core[i].cache, op->addr);
	struct coh_txn t = { .src = i, .addr = op->addr, .bytes = op->bytes };

	if (coh_where(s, op->addr, op->bytes) == COH_UNCACHED)
		t.bus = op->store ? COH_MEM_WR : COH_MEM_RD;
	else
		t.bus = coh_on_local(op->store, l ? l->state : COH_I).bus;
	return t;
}

/* Makes room in a cache; the cycles that writing the victim back takes. */
static uint32_t net_evict(struct weft_comp *c, uint32_t cache, uint64_t addr)
{
	struct coh_system *s = c->state;
	uint8_t copy[COH_LINE_MAX];
	uint64_t old;

	s->net.place = coh_cache_victim(&s->core[cache].cache, addr);
	old = s->net.place->addr;
	if (!coh_cache_evict(&s->core[cache].cache, s->net.place, copy))
		return 0;
	weft_count(c, C_WRITE_BACKS, 1);
	return s->t_req + coh_ddr_write(&s->ddr, old, copy, s->line);
}

static void net_grant(struct weft_comp *c, uint32_t src)
{
	struct coh_system *s = c->state;
	struct coh_net *n = &s->net;
	struct coh_txn *t = &n->txn;
	uint64_t at = coh_cycle(c);

	*t = src == s->cores ? txn_of_ni(s) : txn_of_core(s, src);
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
		at += net_evict(c, src, t->addr);
	at += s->t_req + (t->bus < COH_SNOOPED ? s->t_snoop : 0);
	if (t->bus == COH_UPDATE || t->bus == COH_WRITE ||
	    t->bus == COH_MEM_WR)
		at += beats(s, t->bytes);
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
	for (uint32_t k = 1; k <= all; k++)
		if (net_asks(s, (n->last + k) % all)) {
			net_grant(c, (n->last + k) % all);
			return;
		}
}

/* ---- snooping ------------------------------------------------------------- */

struct answers {
	bool shared, write_back, dirty;
	int32_t supplier;
};

static void answer_add(struct weft_comp *c, uint32_t i, struct coh_snoop to,
		       enum coh_state was, const uint8_t *copy,
		       struct answers *a)
{
	struct coh_system *s = c->state;
	bool supply = to.act & COH_SUPPLY ||
		      (to.act & COH_MAY_SUPPLY && s->supply_shared);

	a->shared |= was != COH_I;
	a->dirty |= was == COH_M;
	a->write_back |= (to.act & COH_WRITE_BACK) != 0;
	if (to.act & COH_MERGE)
		weft_count(c, C_MERGES, 1);
	if (was != COH_I && to.next == COH_I)
		weft_count(c, C_INVALIDATIONS, 1);
	if (supply && a->supplier < 0) {
		a->supplier = (int32_t)i;
		memcpy(s->net.line, copy, s->line);
	}
}

/* All caches but the requester's, the one behind it first. */
static struct answers net_broadcast(struct weft_comp *c)
{
	struct coh_system *s = c->state;
	const struct coh_txn *t = &s->net.txn;
	struct answers a = { .supplier = -1 };
	uint8_t copy[COH_LINE_MAX];
	enum coh_state was;

	for (uint32_t k = 1; k <= s->cores; k++) {
		uint32_t i = (t->src + k) % (s->cores + 1);
		struct coh_snoop to;

		if (i == s->cores || i == t->src)
			continue;
		to = coh_cache_snoop(&s->core[i].cache, t->bus, t->addr,
				     s->ni.item.data, t->bytes, copy, &was);
		answer_add(c, i, to, was, copy, &a);
	}
	return a;
}

/* BusRd, BusRdX: a line for the requester, and to memory when it was dirty and
 * stays shared. */
static uint64_t snoop_line(struct weft_comp *c, struct coh_txn *t)
{
	struct coh_system *s = c->state;
	struct answers a = net_broadcast(c);
	uint64_t first, addr = line_of(s, t->addr), end = 0;

	t->supplier = a.supplier;
	t->shared = a.shared;
	s->net.fill = coh_on_local(t->bus == COH_RDX, COH_I).next;
	if (t->bus == COH_RD && a.shared)
		s->net.fill = COH_S;
	if (a.supplier >= 0) {
		first = s->t_supply;
		weft_count(c, C_SUPPLIES, 1);
	} else {
		first = coh_ddr_read(&s->ddr, addr, s->net.line, s->line);
	}
	if (a.write_back) {
		weft_count(c, C_WRITE_BACKS, 1);
		end = t->snoop + s->t_supply +
		      coh_ddr_write(&s->ddr, addr, s->net.line, s->line);
	}
	t->data = t->snoop + first + s->t_reply + beats(s, s->line);
	return end > t->data ? end : t->data;
}

static uint64_t snoop_upgrade(struct weft_comp *c, struct coh_txn *t)
{
	t->shared = net_broadcast(c).shared;
	t->data = t->snoop;
	return t->data;
}

/* The target takes a line that nobody holds: as E, at once when the Update
 * brings all of it, otherwise when memory has sent the line. */
static uint64_t update_allocate(struct weft_comp *c, struct coh_txn *t,
				uint64_t end)
{
	struct coh_system *s = c->state;
	const struct coh_item *it = &s->ni.item;
	struct coh_cache *to = &s->core[it->target].cache;
	uint64_t addr = line_of(s, t->addr);

	t->allocated = true;
	weft_count(c, C_ALLOCATIONS, 1);
	end += net_evict(c, it->target, addr);
	if (t->bytes == s->line) {
		coh_cache_install(to, s->net.place, addr, COH_E, it->data);
		return end;
	}
	end += coh_ddr_read(&s->ddr, addr, s->net.line, s->line) + s->t_reply +
	       beats(s, s->line);
	t->data = end;
	return end;
}

static uint64_t snoop_update(struct weft_comp *c, struct coh_txn *t)
{
	struct coh_system *s = c->state;
	const struct coh_item *it = &s->ni.item;
	uint64_t end;

	coh_check_item(c, it);
	t->shared = net_broadcast(c).shared;
	t->data = t->snoop;
	end = t->snoop + coh_ddr_write(&s->ddr, t->addr, it->data, t->bytes);
	if (!t->shared && s->update_alloc)
		end = update_allocate(c, t, end);
	return end;
}

/* A dirty line goes to memory with the new bytes in it. */
static uint64_t snoop_write(struct weft_comp *c, struct coh_txn *t)
{
	struct coh_system *s = c->state;
	const struct coh_item *it = &s->ni.item;
	struct answers a = net_broadcast(c);
	uint64_t addr = line_of(s, t->addr);

	coh_check_item(c, it);
	t->shared = a.shared;
	t->data = t->snoop;
	if (!a.dirty || t->bytes == s->line)
		return t->snoop +
		       coh_ddr_write(&s->ddr, t->addr, it->data, t->bytes);
	t->supplier = a.supplier;
	weft_count(c, C_SUPPLIES, 1);
	weft_count(c, C_WRITE_BACKS, 1);
	memcpy(s->net.line + (t->addr - addr), it->data, t->bytes);
	return t->snoop + s->t_supply +
	       coh_ddr_write(&s->ddr, addr, s->net.line, s->line);
}

static uint64_t memory_read(struct weft_comp *c, struct coh_txn *t)
{
	struct coh_system *s = c->state;

	t->data = t->snoop +
		  coh_ddr_read(&s->ddr, t->addr, s->net.line, t->bytes) +
		  s->t_reply + beats(s, t->bytes);
	return t->data;
}

static uint64_t memory_write(struct weft_comp *c, struct coh_txn *t)
{
	struct coh_system *s = c->state;
	const uint8_t *from = s->ni.item.data;
	uint8_t bytes[8];

	if (t->src == s->cores) {
		coh_check_item(c, &s->ni.item);
	} else {
		for (uint32_t k = 0; k < 8; k++)
			bytes[k] = (uint8_t)(s->core[t->src].op.value >> 8 * k);
		from = bytes;
	}
	t->data = t->snoop + coh_ddr_write(&s->ddr, t->addr, from, t->bytes);
	memcpy(s->net.line, from, t->bytes);
	return t->data;
}

static uint64_t (*const served[COH_BUSES])(struct weft_comp *,
					   struct coh_txn *) = {
	[COH_RD] = snoop_line,	     [COH_RDX] = snoop_line,
	[COH_UPGR] = snoop_upgrade,  [COH_UPDATE] = snoop_update,
	[COH_WRITE] = snoop_write,   [COH_MEM_RD] = memory_read,
	[COH_MEM_WR] = memory_write,
};

/* ---- stages --------------------------------------------------------------- */

static void net_snoop(struct weft_comp *c)
{
	struct coh_net *n = &((struct coh_system *)c->state)->net;

	n->txn.end = served[n->txn.bus](c, &n->txn);
	net_at(c, NET_DATA, n->txn.data);
}

/* Data and permission are there: the core's access happens. */
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
	if (n->txn.src == s->cores)
		coh_ni_done(c);
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
