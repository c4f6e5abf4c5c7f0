/* SPDX-License-Identifier: Apache-2.0 */
/* TLB (hostport.md 8.8). It translates a VPID and a virtual page to a physical
 * page and is fully associative. tlb_insert() describes the replacement.
 *
 * A request takes t_tlb. If the page is present, the request is done. Otherwise
 * a record {VPID, page, write} is made for the driver, with an interrupt. The
 * request waits and all others continue. An insert of the driver ends all
 * requests that wait for the page, and a fault insert fails them.
 *
 * A unit keeps a copy of each translation that it requested, and a list of the
 * pages that it uses (struct hp_walk). A listed page is in use even if it is
 * not in the TLB any more. Therefore the TLB may replace entries of an
 * instruction that waits for another page.
 *
 * A bulk insert names `count` pages from ARG0 on. ARG1 is the physical address
 * of as many words, each like ARG1 of an insert (our own). */
#include <stdlib.h>

#include "base/need.h"
#include "systems/hostport/nic/functional_units.h"

struct tlb_entry {
	uint64_t ppage;
	bool writable;
};

struct hp_tlb {
	/* directory of one set, by VPID and virtual page */
	struct assoc dir;
	struct tlb_entry *at; /* at[i] belongs to entry i of dir */
	struct hp_xlate *wait;
	struct hp_walk *walks; /* list of the walks of all units */
	uint32_t *owned;       /* number of entries of each VPID */
	/* page and count of the bulk insert in progress */
	uint64_t bulk_page;
	uint32_t bulk_count;
	uint16_t bulk_vpid;
};

static uint32_t tlb_find(const struct hp_nic *n, uint32_t vpid, uint64_t vpage)
{
	return assoc_find(&n->xlate->dir, 0, vpid, vpage);
}

struct tlb_share {
	const struct hp_tlb *tlb;
	uint32_t vpid; /* VPID of the new translation */
	/* largest number of entries that any VPID has, counting the new
	 * translation for its VPID */
	uint32_t most;
};

static bool tlb_may_go(const void *arg, uint32_t i)
{
	const struct tlb_share *s = arg;
	uint32_t vpid = s->tlb->dir.at[i].owner;

	return s->tlb->owned[vpid] + (vpid == s->vpid) >= s->most;
}

static void tlb_invalidate(struct hp_nic *n, uint32_t i)
{
	if (assoc_valid(&n->xlate->dir, i))
		n->xlate->owned[n->xlate->dir.at[i].owner]--;
	assoc_remove(&n->xlate->dir, i);
}

/* ---- users ---- */

void hp_tlb_use(struct hp_nic *n, struct hp_walk *w)
{
	w->next = n->xlate->walks;
	n->xlate->walks = w;
}

void hp_tlb_unuse(struct hp_nic *n, struct hp_walk *w)
{
	struct hp_walk **at = &n->xlate->walks;

	while (*at != w)
		at = &(*at)->next;
	*at = w->next;
}

static bool in_use(const struct hp_nic *n, uint32_t vpid, uint64_t vpage)
{
	const struct hp_walk *w = n->xlate->walks;

	while (w && !hp_walk_uses(w, vpid, vpage))
		w = w->next;
	return w;
}

/* ---- answers ---- */

/* Ends a request with entry i, or with ASSOC_NONE when the page has no
 * translation. */
static void tlb_settle(struct hp_nic *n, struct hp_xlate *x, uint32_t i)
{
	const struct tlb_entry *at = n->xlate->at;

	x->fault = i == ASSOC_NONE || (x->write && !at[i].writable);
	if (x->fault) {
		hp_count(n, HP_K_TLB_FAULTS, 1);
		return;
	}
	x->ppage = at[i].ppage;
	assoc_touch(&n->xlate->dir, i);
}

static void tlb_deliver(struct hp_nic *n, void *arg)
{
	struct hp_xlate *x = arg;

	x->done(n, x);
}

/* ---- misses ---- */

static void tlb_look(struct hp_nic *n, void *arg)
{
	struct hp_xlate *x = arg, **at = &n->xlate->wait;
	uint32_t i = tlb_find(n, x->vpid, x->vpage);
	bool asked = false;

	if (i != ASSOC_NONE || x->vpage >> 36) {
		if (i != ASSOC_NONE)
			hp_count(n, HP_K_TLB_HITS, 1);
		/* fails at once, because pages beyond 48 bits cannot exist */
		tlb_settle(n, x, i);
		x->done(n, x);
		return;
	}
	hp_count(n, HP_K_TLB_MISSES, 1);
	for (; *at; at = &(*at)->next)
		asked |= (*at)->vpid == x->vpid && (*at)->vpage == x->vpage &&
			 (*at)->write >= x->write;
	x->next = NULL;
	*at = x;
	if (!asked)
		hp_tlb_missed(n, x->vpid, x->vpage, x->write);
	if (x->missed)
		x->missed(n, x);
}

void hp_tlb_get(struct hp_nic *n, struct hp_xlate *x)
{
	x->fault = false;
	hp_after(n, n->param.t_tlb, tlb_look, x);
}

/* ---- the driver ---- */

/* Answers the requests that wait for a page of the VPID with TLB entry i,
 * oldest request first. If `all` is set, answers the requests for all pages of
 * the VPID. The callbacks run in a later event of this cycle, because the
 * host's store is still being handled. */
static void tlb_answer(struct hp_nic *n, uint32_t vpid, uint64_t vpage,
		       bool all, uint32_t i)
{
	struct hp_xlate **at = &n->xlate->wait, *x;

	while ((x = *at)) {
		if (x->vpid != vpid || (!all && x->vpage != vpage)) {
			at = &x->next;
			continue;
		}
		*at = x->next;
		tlb_settle(n, x, i);
		hp_at(n, hp_now(n), tlb_deliver, x);
	}
}

/* Inserts a translation. A page in use keeps its entry. Otherwise the
 * translation takes the page's old entry, a free entry, or the least recently
 * used entry of the VPIDs that have the most entries. Therefore a process that
 * uses many pages replaces entries of its own. Among equal entries the lowest
 * number is taken, so that runs repeat. */
static void tlb_insert(struct hp_nic *n, uint32_t vpid, uint64_t vpage,
		       uint64_t arg)
{
	struct hp_tlb *t = n->xlate;
	struct tlb_share s = { t, vpid, t->owned[vpid] + 1 };
	uint32_t i = tlb_find(n, vpid, vpage);

	if (arg == HP_TLB_FAULT) {
		tlb_answer(n, vpid, vpage, false, ASSOC_NONE);
		return;
	}
	if (i != ASSOC_NONE && in_use(n, vpid, vpage)) {
		tlb_answer(n, vpid, vpage, false, i);
		return;
	}
	for (uint32_t k = 0; i == ASSOC_NONE && k < n->param.tlb; k++)
		if (assoc_valid(&t->dir, k) &&
		    t->owned[t->dir.at[k].owner] > s.most)
			s.most = t->owned[t->dir.at[k].owner];
	if (i == ASSOC_NONE)
		i = assoc_victim_if(&t->dir, 0, tlb_may_go, &s);
	tlb_invalidate(n, i);
	t->owned[vpid]++;
	assoc_put(&t->dir, i, vpid, vpage, ASSOC_VALID);
	assoc_touch(&t->dir, i);
	t->at[i] = (struct tlb_entry){ .ppage = HP_TLB_PAGE(arg),
				       .writable = HP_TLB_WRITABLE(arg) };
	tlb_answer(n, vpid, vpage, false, i);
}

void hp_tlb_drop(struct hp_nic *n, uint32_t vpid)
{
	tlb_answer(n, vpid, 0, true, ASSOC_NONE);
}

static void bulk_done(struct hp_nic *n, struct hp_dma *d)
{
	struct hp_tlb *t = n->xlate;
	uint64_t arg;

	for (uint32_t i = 0; i < t->bulk_count; i++) {
		memcpy(&arg, weft_slice_data(d->txn.data) + 8 * i, sizeof(arg));
		tlb_insert(n, t->bulk_vpid, t->bulk_page + i, arg);
	}
	t->bulk_count = 0;
	n->reg.cache_status &= ~(uint64_t)HP_CACHE_BUSY;
}

static uint64_t tlb_bulk(struct hp_nic *n, uint64_t cmd, uint64_t arg0,
			 uint64_t arg1)
{
	struct hp_tlb *t = n->xlate;
	uint32_t count = HP_CACHE_COUNT(cmd);

	if (t->bulk_count)
		/* ignored, because a bulk insert is in progress */
		return HP_CACHE_BUSY;
	if (!count || count > n->param.tlb || count > HP_PAGE / 8 || arg1 % 8)
		return 0;
	t->bulk_page = arg0;
	t->bulk_count = count;
	t->bulk_vpid = (uint16_t)HP_CACHE_VPID(cmd);
	hp_dma_read(n, arg1, 8 * count, bulk_done, NULL);
	return HP_CACHE_BUSY;
}

static uint64_t tlb_query(struct hp_nic *n, uint32_t vpid, uint64_t vpage)
{
	return (tlb_find(n, vpid, vpage) != ASSOC_NONE ? HP_CACHE_PRESENT : 0) |
	       (in_use(n, vpid, vpage) ? HP_CACHE_IN_USE : 0);
}

static uint64_t tlb_cache(struct hp_nic *n, uint64_t cmd, uint64_t arg0,
			  uint64_t arg1)
{
	uint32_t vpid = HP_CACHE_VPID(cmd), i;
	const struct assoc *dir = &n->xlate->dir;
	uint64_t left = 0;

	switch (HP_CACHE_OP(cmd)) {
	case HP_CACHE_FLUSH:
		for (i = 0; i < n->param.tlb; i++)
			if (assoc_valid(dir, i) &&
			    in_use(n, dir->at[i].owner, dir->at[i].key))
				left = HP_CACHE_PRESENT | HP_CACHE_IN_USE;
			else
				tlb_invalidate(n, i);
		return left;
	case HP_CACHE_INSERT:
		tlb_insert(n, vpid, arg0, arg1);
		return tlb_query(n, vpid, arg0);
	case HP_CACHE_REMOVE:
		/* an entry in use stays, because its page must not be freed */
		i = tlb_find(n, vpid, arg0);
		if (i != ASSOC_NONE && !in_use(n, vpid, arg0))
			tlb_invalidate(n, i);
		return tlb_query(n, vpid, arg0);
	case HP_CACHE_BULK:
		return tlb_bulk(n, cmd, arg0, arg1);
	case HP_CACHE_QUERY:
		return tlb_query(n, vpid, arg0);
	default:
		return 0;
	}
}

static int tlb_init(struct hp_nic *n, struct weft_err *err)
{
	n->xlate = need(calloc(1, sizeof(*n->xlate)));
	assoc_init(&n->xlate->dir, 1, n->param.tlb, ASSOC_LRU);
	n->xlate->at = need(calloc(n->param.tlb, sizeof(*n->xlate->at)));
	n->xlate->owned = need(calloc(HP_VPIDS, sizeof(uint32_t)));
	return 0;
}

static void tlb_fini(struct hp_nic *n)
{
	for (struct hp_walk *w = n->xlate ? n->xlate->walks : NULL; w;
	     w = w->next)
		free(w->list);
	if (n->xlate) {
		assoc_fini(&n->xlate->dir);
		free(n->xlate->at);
		free(n->xlate->owned);
	}
	free(n->xlate);
}

/* Checks at the end of the run that no translation was left unanswered. */
static int tlb_finish(struct hp_nic *n, struct weft_err *err)
{
	if (weft_sim_idle(n->comp->sim) && n->xlate->wait)
		weft_check_failed(
			n->comp,
			"TLB misses wait for a driver: does the node run hostport.driver?");
	return 0;
}

const struct hp_block hp_tlb_block = {
	.name = "tlb",
	.init = tlb_init,
	.cache = tlb_cache,
	.finish = tlb_finish,
	.fini = tlb_fini,
};
