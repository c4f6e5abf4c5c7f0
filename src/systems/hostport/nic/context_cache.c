/* SPDX-License-Identifier: Apache-2.0 */
/* Context cache, see context_cache.h.  Source: hostport.md 4.3, 8.6, 8.8.
 *
 *   get -> t_ctx cycles -> present: done
 *                          else: a way of its set (dirty: written back first),
 *                          64 bytes from CT_BASE + 64 * VPID, done for all who
 *                          wait for it
 *
 * A context that is being written back is read again only when that is over:
 * the I/O interface does not keep reads behind writes. */
#include <stdlib.h>

#include "systems/hostport/nic/nic.h"

enum { BACKS = 16 }; /* write-backs at a time by misses; flush takes more */

static struct hp_ctx *ctx_set(const struct hp_nic *n, uint32_t vpid)
{
	return &n->ctx.at[vpid % n->ctx.sets * HP_CTX_WAYS];
}

static struct hp_ctx *ctx_find(const struct hp_nic *n, uint32_t vpid)
{
	struct hp_ctx *c = ctx_set(n, vpid);

	for (uint32_t i = 0; i < HP_CTX_WAYS; i++)
		if ((c[i].valid || c[i].filling) && c[i].vpid == vpid)
			return &c[i];
	return NULL;
}

static weft_phys_t ctx_addr(const struct hp_nic *n, uint32_t vpid)
{
	return n->ct_base + (uint64_t)HP_LINE * vpid;
}

/* ---- write-back ---- */

static void ctx_retry(struct hp_nic *n);

static bool ctx_leaving(const struct hp_nic *n, uint32_t vpid)
{
	for (uint32_t i = 0; i < n->ctx.writing; i++)
		if (n->ctx.victim[i] == vpid)
			return true;
	return false;
}

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

static void victim_add(struct hp_ctx_cache *x, uint16_t vpid)
{
	if (x->writing == x->victims) {
		x->victims = x->victims ? 2 * x->victims : BACKS;
		x->victim = realloc(x->victim, x->victims * sizeof(*x->victim));
		if (!x->victim)
			abort();
	}
	x->victim[x->writing++] = vpid;
}

/* The way is empty afterwards. */
static void ctx_evict(struct hp_nic *n, struct hp_ctx *c)
{
	if (c->valid && c->dirty) {
		hp_dma_put(n, ctx_addr(n, c->vpid), c->w, HP_LINE, back_done,
			   NULL)
			->user = c->vpid;
		victim_add(&n->ctx, c->vpid);
		hp_count(n, HP_K_CTX_BACKS, 1);
	}
	c->valid = c->dirty = false;
}

/* ---- misses ---- */

/* An empty way, or the one that was used least recently; NULL: all are being
 * filled, or too much is on its way out. */
static struct hp_ctx *ctx_way(struct hp_nic *n, uint32_t vpid)
{
	struct hp_ctx *c = ctx_set(n, vpid), *best = NULL;

	for (uint32_t i = 0; i < HP_CTX_WAYS; i++) {
		if (c[i].filling)
			continue;
		if (!c[i].valid)
			return &c[i];
		if (!best || c[i].used < best->used)
			best = &c[i];
	}
	if (best && best->dirty && n->ctx.writing >= BACKS)
		return NULL;
	return best;
}

/* All that wait for this context, in order. */
static void ctx_serve(struct hp_nic *n, struct hp_ctx *c)
{
	struct hp_ctx_req **at = &n->ctx.wait, *r;

	while ((r = *at)) {
		if (r->vpid != c->vpid) {
			at = &r->next;
			continue;
		}
		*at = r->next;
		r->done(n, r, c);
		at = &n->ctx.wait; /* done may have changed the list */
	}
}

static void ctx_filled(struct hp_nic *n, struct hp_dma *d)
{
	struct hp_ctx *c = d->arg;

	if (d->txn.status == WEFT_BUS_OK)
		memcpy(c->w, weft_slice_data(d->txn.data), HP_LINE);
	else
		memset(c->w, 0, HP_LINE);
	c->filling = false;
	c->valid = true;
	c->used = ++n->ctx.clock;
	ctx_serve(n, c);
	if (c->gone) {
		c->gone = false;
		ctx_evict(n, c);
	}
	ctx_retry(n);
}

static void ctx_fill(struct hp_nic *n, uint32_t vpid)
{
	struct hp_ctx *c;

	if (ctx_find(n, vpid) || ctx_leaving(n, vpid))
		return;
	c = ctx_way(n, vpid);
	if (!c)
		return;
	ctx_evict(n, c);
	c->vpid = (uint16_t)vpid;
	c->filling = true;
	hp_dma_read(n, ctx_addr(n, vpid), HP_LINE, ctx_filled, c);
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
	struct hp_ctx *c = ctx_find(n, r->vpid);

	if (c && c->valid) {
		hp_count(n, HP_K_CTX_HITS, 1);
		c->used = ++n->ctx.clock;
		r->done(n, r, c);
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
	hp_after(n, n->t_ctx, ctx_look, r);
}

/* ---- the driver ---- */

void hp_ctx_remove(struct hp_nic *n, uint32_t vpid)
{
	struct hp_ctx *c = ctx_find(n, vpid);

	if (c && c->filling)
		c->gone = true;
	else if (c)
		ctx_evict(n, c);
}

void hp_ctx_flush(struct hp_nic *n)
{
	for (uint32_t i = 0; i < n->ctx.sets * HP_CTX_WAYS; i++)
		if (n->ctx.at[i].filling)
			n->ctx.at[i].gone = true;
		else
			ctx_evict(n, &n->ctx.at[i]);
}

bool hp_ctx_present(const struct hp_nic *n, uint32_t vpid)
{
	const struct hp_ctx *c = ctx_find(n, vpid);

	return c && c->valid;
}

bool hp_ctx_busy(const struct hp_nic *n)
{
	for (uint32_t i = 0; i < n->ctx.sets * HP_CTX_WAYS; i++)
		if (n->ctx.at[i].gone)
			return true;
	return n->ctx.writing;
}

int hp_ctx_init(struct hp_nic *n)
{
	struct hp_ctx_cache *x = &n->ctx;

	x->sets = n->ctx_cache / HP_CTX_WAYS;
	x->sets = x->sets ? x->sets : 1;
	x->at = calloc(x->sets * HP_CTX_WAYS, sizeof(*x->at));
	return x->at ? 0 : -1;
}

void hp_ctx_fini(struct hp_nic *n)
{
	free(n->ctx.at);
	free(n->ctx.victim);
}
