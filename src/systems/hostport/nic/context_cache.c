/* SPDX-License-Identifier: Apache-2.0 */
/* Context cache, see context_cache.h. Source: hostport.md 4.3, 8.6, 8.8.
 *
 *   get -> t_ctx cycles -> hit:  done
 *                          miss: evict an entry of the set (dirty: write it
 *                          back), read 64 bytes from CT_BASE + 64 * VPID,
 *                          then done for all requests that wait for it
 *
 * A context that is being written back is read again only after its write-back
 * has ended, because on the bus a read may pass a write. */
#include <stdlib.h>

#include "base/need.h"
#include "systems/hostport/nic/nic.h"

/* largest number of write-backs that misses start. A flush may start more */
enum { BACKS = 16 };

static uint32_t ctx_find(const struct hp_nic *n, uint32_t vpid)
{
	return assoc_find(&n->ctx.dir, vpid % n->ctx.dir.sets, 0, vpid);
}

/* ---- write-back ---- */

static void ctx_retry(struct hp_nic *n);

static void back_done(struct hp_nic *n, struct hp_dma *d)
{
	struct hp_ctx_cache *x = &n->ctx;

	for (uint32_t i = 0; i < x->writing; i++)
		if (x->victim[i] == d->user) {
			x->victim[i] = x->victim[--x->writing];
			break;
		}
	ctx_retry(n);
}

/* Empties an entry, and writes it back when it is dirty. */
static void ctx_evict(struct hp_nic *n, uint32_t i)
{
	struct hp_ctx_cache *x = &n->ctx;
	struct hp_ctx *c = &x->at[i];

	if (assoc_valid(&x->dir, i) && c->dirty) {
		hp_dma_put(n, n->reg.ct_base + (uint64_t)HP_LINE * c->vpid,
			   c->w, HP_LINE, back_done, NULL)
			->user = c->vpid;
		if (x->writing == x->victims) {
			x->victims = x->victims ? 2 * x->victims : BACKS;
			x->victim = need(realloc(
				x->victim, x->victims * sizeof(*x->victim)));
		}
		x->victim[x->writing++] = c->vpid;
		hp_count(n, HP_K_CTX_BACKS, 1);
	}
	c->dirty = false;
	assoc_remove(&x->dir, i);
}

/* ---- misses ---- */

static void ctx_filled(struct hp_nic *n, struct hp_dma *d)
{
	struct hp_ctx_req **at = &n->ctx.wait, *r;
	struct hp_ctx *c = d->arg;
	uint32_t i = (uint32_t)(c - n->ctx.at);

	if (d->txn.status == WEFT_BUS_OK)
		memcpy(c->w, weft_slice_data(d->txn.data), HP_LINE);
	else
		memset(c->w, 0, HP_LINE);
	assoc_put(&n->ctx.dir, i, 0, c->vpid, ASSOC_VALID);
	assoc_touch(&n->ctx.dir, i);
	/* completes all requests for this context, in their order */
	while ((r = *at)) {
		if (r->vpid != c->vpid) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		r->done(n, r, c);
		/* starts again at the head, because done() may have changed the
		 * list */
		at = &n->ctx.wait;
	}
	if (c->leaves) {
		c->leaves = false;
		ctx_evict(n, i);
	}
	ctx_retry(n);
}

/* Reads the context unless it is already being read or written back. When no
 * entry is free or too many write-backs are in flight, the read is tried again
 * at the end of the next transfer. */
static void ctx_fill(struct hp_nic *n, uint32_t vpid)
{
	struct hp_ctx_cache *x = &n->ctx;
	uint32_t i;

	if (ctx_find(n, vpid) != ASSOC_NONE)
		return;
	for (i = 0; i < x->writing; i++)
		if (x->victim[i] == vpid)
			return;
	i = assoc_victim(&x->dir, vpid % x->dir.sets);
	if (i == ASSOC_NONE || (x->at[i].dirty && x->writing >= BACKS))
		return;
	ctx_evict(n, i);
	x->at[i].vpid = (uint16_t)vpid;
	assoc_put(&x->dir, i, 0, vpid, ASSOC_FILLING);
	hp_dma_read(n, n->reg.ct_base + (uint64_t)HP_LINE * vpid, HP_LINE,
		    ctx_filled, &x->at[i]);
}

static void ctx_retry(struct hp_nic *n)
{
	for (struct hp_ctx_req *r = n->ctx.wait; r; r = r->next)
		ctx_fill(n, r->vpid);
}

/* ---- requests ---- */

static void ctx_look(struct hp_nic *n, void *arg)
{
	struct hp_ctx_req *r = arg, **at = &n->ctx.wait;
	uint32_t i = ctx_find(n, r->vpid);

	if (assoc_valid(&n->ctx.dir, i)) {
		hp_count(n, HP_K_CTX_HITS, 1);
		assoc_touch(&n->ctx.dir, i);
		r->done(n, r, &n->ctx.at[i]);
		return;
	}
	hp_count(n, HP_K_CTX_MISSES, 1);
	while (*at)
		at = &(*at)->next;
	r->next = NULL;
	*at = r;
	ctx_fill(n, r->vpid);
}

void hp_ctx_get(struct hp_nic *n, struct hp_ctx_req *r)
{
	hp_after(n, n->param.t_ctx, ctx_look, r);
}

/* ---- commands of the driver ---- */

uint64_t hp_ctx_cmd(struct hp_nic *n, uint32_t op, uint32_t vpid)
{
	uint32_t i = ctx_find(n, vpid), end = i + 1;

	if (op == HP_CACHE_QUERY)
		return assoc_valid(&n->ctx.dir, i) ? HP_CACHE_PRESENT : 0;
	if (op == HP_CACHE_FLUSH) {
		i = 0;
		end = assoc_size(&n->ctx.dir);
	} else if (op != HP_CACHE_REMOVE || i == ASSOC_NONE) {
		/* an insert does nothing, because the next access reads the
		 * context */
		return 0;
	}
	/* A context that is being read is evicted after its first use, because
	 * requests wait for it. */
	for (; i < end; i++)
		if (n->ctx.dir.at[i].state == ASSOC_FILLING)
			n->ctx.at[i].leaves = true;
		else
			ctx_evict(n, i);
	return 0;
}

bool hp_ctx_busy(const struct hp_nic *n)
{
	for (uint32_t i = 0; i < assoc_size(&n->ctx.dir); i++)
		if (n->ctx.at[i].leaves)
			return true;
	return n->ctx.writing;
}

void hp_ctx_init(struct hp_nic *n)
{
	uint32_t sets = n->param.ctx_cache / HP_CTX_WAYS;

	assoc_init(&n->ctx.dir, sets ? sets : 1, HP_CTX_WAYS, ASSOC_LRU);
	n->ctx.at = need(calloc(assoc_size(&n->ctx.dir), sizeof(*n->ctx.at)));
}
