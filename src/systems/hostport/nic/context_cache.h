/* SPDX-License-Identifier: Apache-2.0 */
/* Context cache (hostport.md 4.3, 8.8): every access to a context uses it. It
 * is write-back, with sets of four and LRU. The table itself is in main memory.
 *
 * A unit changes pointers of a context inside `done`. There it reads the
 * pointers, changes them and calls hp_ctx_dirty in one event, so that the
 * change is atomic (FU5). A unit that needs the context again later sends
 * another request, because the line may be evicted in between. */
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
	/* evicted after its first use, because the driver removed the context
	 * while it was being read */
	bool leaves;
};

/* A request for a context. The cache keeps the pointer until it calls done. */
struct hp_ctx_req {
	struct hp_ctx_req *next;
	uint16_t vpid;
	/* Called t_ctx cycles after the request on a hit, or when the context
	 * has been read. `c` is valid until done returns. A context that cannot
	 * be read or is not enabled has HP_CTX_EN clear. */
	void (*done)(struct hp_nic *n, struct hp_ctx_req *r, struct hp_ctx *c);
	void *arg;
};

struct hp_ctx_cache {
	struct assoc dir;  /* by VPID */
	struct hp_ctx *at; /* at[i] belongs to entry i of dir */
	/* requests that wait for a read of their context or for a free entry of
	 * the set */
	struct hp_ctx_req *wait;
	uint32_t writing; /* number of write-backs in flight */
	uint16_t *victim; /* VPIDs of the write-backs in flight */
	uint32_t victims; /* allocated length of victim */
};

/* Requests a context. r->done is called t_ctx cycles later at the earliest. */
void hp_ctx_get(struct hp_nic *n, struct hp_ctx_req *r);
static inline void hp_ctx_dirty(struct hp_ctx *c)
{
	c->dirty = true;
}

/* Returns pointer p moved by `by` entries in a ring of `size` entries (CB3). */
static inline uint32_t hp_next(uint32_t p, uint32_t by, uint32_t size)
{
	return p + by >= size ? p + by - size : p + by;
}
/* Returns the number of entries between read and write pointer. */
static inline uint32_t hp_used(uint32_t rp, uint32_t wp, uint32_t size)
{
	return wp >= rp ? wp - rp : wp + size - rp;
}

/* Executes CACHE_CMD. The commands flush (all contexts) and remove (one
 * context) write dirty contexts back. A query returns HP_CACHE_PRESENT or 0. */
uint64_t hp_ctx_cmd(struct hp_nic *n, uint32_t op, uint32_t vpid);
/* Returns whether write-backs are in flight. */
bool hp_ctx_busy(const struct hp_nic *n);

void hp_ctx_init(struct hp_nic *n);

#endif
