/* SPDX-License-Identifier: Apache-2.0 */
/* Effects of a request that has reached all snoopers: the other caches answer
 * and change their states (forth.md 9), and the line or the word moves to its
 * destination. net.c lists the cycles of each step. */
#include <string.h>

#include "systems/coherent/coherent_internal.h"

static uint64_t line_of(const struct coh_system *s, uint64_t addr)
{
	return addr & ~(uint64_t)(s->line - 1);
}

uint32_t coh_net_evict(struct weft_comp *c, uint32_t cache, uint64_t addr)
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

struct answers {
	bool shared, write_back, dirty;
	int32_t supplier;
};

/* Lets all caches but that of the requester answer, one after the other: first
 * those with higher numbers than the requester's, then those with lower
 * numbers. */
static struct answers net_broadcast(struct weft_comp *c)
{
	struct coh_system *s = c->state;
	const struct coh_txn *t = &s->net.txn;
	struct answers a = { .supplier = -1 };
	uint8_t copy[COH_LINE_MAX];

	for (uint32_t k = 1; k <= s->cores; k++) {
		uint32_t i = (t->src + k) % (s->cores + 1);
		enum coh_state was;
		struct coh_snoop to;

		if (i == s->cores || i == t->src)
			continue;
		to = coh_cache_snoop(&s->core[i].cache, t->bus, t->addr,
				     s->ni.item.data, t->bytes, copy, &was);
		a.shared |= was != COH_I;
		a.dirty |= was == COH_M;
		a.write_back |= (to.act & COH_WRITE_BACK) != 0;
		if (to.act & COH_MERGE)
			weft_count(c, C_MERGES, 1);
		if (was != COH_I && to.next == COH_I)
			weft_count(c, C_INVALIDATIONS, 1);
		if (a.supplier < 0 &&
		    (to.act & COH_SUPPLY ||
		     (to.act & COH_MAY_SUPPLY && s->supply_shared))) {
			a.supplier = (int32_t)i;
			memcpy(s->net.line, copy, s->line);
		}
	}
	return a;
}

static void item_effect(struct weft_comp *c)
{
	struct coh_system *s = c->state;
	const struct coh_item *it = &s->ni.item;

	if (s->verify)
		coh_mem_write(&s->check.flat, it->addr, it->data, it->bytes);
	if (s->watch.item)
		s->watch.item(s->watch.arg, it);
}

/* Serves BusRd and BusRdX: the requester gets a line. A dirty line that stays
 * shared is also written to memory, because clean copies must equal memory. */
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
	t->data =
		t->snoop + first + s->t_reply + coh_ddr_beats(&s->ddr, s->line);
	return end > t->data ? end : t->data;
}

static uint64_t snoop_upgrade(struct weft_comp *c, struct coh_txn *t)
{
	t->shared = net_broadcast(c).shared;
	t->data = t->snoop;
	return t->data;
}

/* Lets the target allocate in state E a line that no cache holds. The line is
 * complete at once if the Update brings all its bytes, otherwise when memory
 * has sent it. */
static uint64_t update_allocate(struct weft_comp *c, struct coh_txn *t,
				uint64_t end)
{
	struct coh_system *s = c->state;
	const struct coh_item *it = &s->ni.item;
	struct coh_cache *to = &s->core[it->target].cache;
	uint64_t addr = line_of(s, t->addr);

	t->allocated = true;
	weft_count(c, C_ALLOCATIONS, 1);
	end += coh_net_evict(c, it->target, addr);
	if (t->bytes == s->line) {
		coh_cache_install(to, s->net.place, addr, COH_E, it->data);
		return end;
	}
	end += coh_ddr_read(&s->ddr, addr, s->net.line, s->line) + s->t_reply +
	       coh_ddr_beats(&s->ddr, s->line);
	t->data = end;
	return end;
}

static uint64_t snoop_update(struct weft_comp *c, struct coh_txn *t)
{
	struct coh_system *s = c->state;
	const struct coh_item *it = &s->ni.item;
	uint64_t end;

	item_effect(c);
	t->shared = net_broadcast(c).shared;
	t->data = t->snoop;
	end = t->snoop + coh_ddr_write(&s->ddr, t->addr, it->data, t->bytes);
	if (!t->shared && s->update_alloc)
		end = update_allocate(c, t, end);
	return end;
}

/* Serves a write. A dirty line is written to memory together with the new
 * bytes, because every copy is invalidated. */
static uint64_t snoop_write(struct weft_comp *c, struct coh_txn *t)
{
	struct coh_system *s = c->state;
	const struct coh_item *it = &s->ni.item;
	struct answers a = net_broadcast(c);
	uint64_t addr = line_of(s, t->addr);

	item_effect(c);
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
		  s->t_reply + coh_ddr_beats(&s->ddr, t->bytes);
	return t->data;
}

static uint64_t memory_write(struct weft_comp *c, struct coh_txn *t)
{
	struct coh_system *s = c->state;
	const uint8_t *from = s->ni.item.data;
	uint8_t bytes[8];

	if (t->src == s->cores) {
		item_effect(c);
	} else {
		for (uint32_t k = 0; k < 8; k++)
			bytes[k] = (uint8_t)(s->core[t->src].op.value >> 8 * k);
		from = bytes;
	}
	t->data = t->snoop + coh_ddr_write(&s->ddr, t->addr, from, t->bytes);
	memcpy(s->net.line, from, t->bytes);
	return t->data;
}

uint64_t (*const coh_net_serve[COH_BUSES])(struct weft_comp *,
					   struct coh_txn *) = {
	[COH_RD] = snoop_line,	     [COH_RDX] = snoop_line,
	[COH_UPGR] = snoop_upgrade,  [COH_UPDATE] = snoop_update,
	[COH_WRITE] = snoop_write,   [COH_MEM_RD] = memory_read,
	[COH_MEM_WR] = memory_write,
};
