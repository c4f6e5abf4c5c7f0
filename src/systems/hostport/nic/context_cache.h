/* SPDX-License-Identifier: Apache-2.0 */
/* Context cache (hostport.md 4.3, 8.8): the only way to a context.  Write-back,
 * sets of four with LRU; the table itself is in main memory.
 *
 * Pointers of a context are allocated here, inside of `done`, which makes that
 * atomic (FU5): read, change, hp_ctx_dirty, all in one event.  Who needs the
 * context again later asks again. */
#ifndef SYSTEMS_HOSTPORT_NIC_CONTEXT_CACHE_H
#define SYSTEMS_HOSTPORT_NIC_CONTEXT_CACHE_H

#include "base/assoc.h"
#include "systems/hostport/nic/regs_map.h"

struct hp_nic;
struct hp_dma;

enum { HP_CTX_WAYS = 4 };

struct hp_ctx {
	uint64_t w[HP_WORDS]; /* HP_CTX(c->w, HP_F_...) */
	uint16_t vpid;
	bool dirty;
	bool leaves; /* removed while it was filled: goes when it is served */
};

/* A request; lent until done. */
struct hp_ctx_req {
	struct hp_ctx_req *next;
	uint16_t vpid;
	/* t_ctx cycles after the request (hit), or when it has been read.  c is
	 * valid until done returns.  A context that cannot be read, or is not
	 * enabled, comes with HP_CTX_EN clear. */
	void (*done)(struct hp_nic *n, struct hp_ctx_req *r, struct hp_ctx *c);
	void *arg;
};

struct hp_ctx_cache {
	struct assoc dir;	 /* by VPID */
	struct hp_ctx *at;	 /* of its entries */
	struct hp_ctx_req *wait; /* for a fill, or for a way */
	uint32_t writing;	 /* write-backs on their way */
	uint16_t *victim;	 /* of these */
	uint32_t victims;	 /* allocated */
};

void hp_ctx_get(struct hp_nic *n, struct hp_ctx_req *r);
static inline void hp_ctx_dirty(struct hp_ctx *c)
{
	c->dirty = true;
}

/* next(p) of a queue of `size` (CB3). */
static inline uint32_t hp_next(uint32_t p, uint32_t by, uint32_t size)
{
	return p + by >= size ? p + by - size : p + by;
}
/* Entries between read and write pointer. */
static inline uint32_t hp_used(uint32_t rp, uint32_t wp, uint32_t size)
{
	return wp >= rp ? wp - rp : wp + size - rp;
}

/* CACHE_CMD: flush (all) and remove (one) write back what is dirty; a query
 * returns HP_CACHE_PRESENT or 0. */
uint64_t hp_ctx_cmd(struct hp_nic *n, uint32_t op, uint32_t vpid);
bool hp_ctx_busy(const struct hp_nic *n); /* write-backs are on their way */

void hp_ctx_init(struct hp_nic *n);

#endif
