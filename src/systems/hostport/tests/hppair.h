/* SPDX-License-Identifier: Apache-2.0 */
/* Two Host Ports with a process and registered memory each, and a driver thread
 * that serves TLB misses. Scenarios of hostport.md 13.2 and 13.3 are written as
 * one function for node 0 (origin, HPID 1) and one for node 1 (target, HPID
 * 2). */
#ifndef HOSTPORT_TESTS_HPPAIR_H
#define HOSTPORT_TESTS_HPPAIR_H

#include "hpproc.h"

enum {
	/* number of pages of the memory, which are mapped out of order */
	HPEND_PAGES = 300,
	HPEND_VPID0 = 0x11,
	HPEND_VPID1 = 0x12,
	HPEND_HPID0 = 1,
	HPEND_HPID1 = 2,
};
#define HPEND_VA 0x7f0000000000ull

struct hpend {
	struct hpdrv d;
	struct hpproc p;
	struct weft_host *h;
	uint32_t vpid;
	uint8_t *mem;
	weft_phys_t mem_phys;
	uint64_t out[8];   /* bit per page, set if the page is not mapped */
	bool read_only;	   /* pages are inserted read-only */
	bool hold;	   /* misses are not served while set */
	uint32_t misses;   /* served */
	uint64_t flags;	   /* flags of the context */
	uint32_t meetings; /* see hppair_meet */
};

struct hppair {
	struct exrig rig;
	struct hpend end[2];
	bool over;
};

typedef void (*hppair_fn)(struct hppair *t, struct hpend *e);

/* Runs both sides. If `before` is not NULL, calls it first, so that it can set
 * parameters, sizes and flags of the bench. The caller frees the bench by
 * hppair_free(). */
void hppair_run(struct hppair *t, void (*before)(struct hppair *t),
		hppair_fn near, hppair_fn far);
void hppair_free(struct hppair *t);
/* Waits until the other side has called this function as often as this side. */
void hppair_meet(struct hpend *e);

/* Returns the address of byte `off` of the memory at HPEND_VA. */
uint8_t *hpend_at(struct hpend *e, uint64_t off);
void hpend_fill(struct hpend *e, uint64_t off, uint32_t n, uint32_t seed);
uint8_t hpend_byte(uint32_t i, uint32_t seed);
/* Returns whether n bytes at off are those that hpend_fill writes with this
 * seed. */
bool hpend_equal(struct hpend *e, uint64_t off, uint32_t n, uint32_t seed);
/* Returns whether all memory outside [off, off+n) has this value. */
bool hpend_rest(struct hpend *e, uint64_t off, uint32_t n, uint8_t val);
void hpend_set(struct hpend *e, uint8_t val);

/* Issues a CACHE_CMD. May be called while the driver thread runs. */
uint64_t hpend_cache(struct hpend *e, uint32_t op, uint32_t which,
		     uint64_t arg0, uint64_t arg1);
/* Writes window `id` over [off, off+len) with flags, and removes cached
 * copies. */
void hpend_win(struct hpend *e, uint32_t id, uint64_t off, uint64_t len,
	       uint64_t flags, uint64_t owner);

/* Parameters of an RMA instruction to the other side's window. */
struct hprma {
	uint32_t byte, win, capa, owin;
	uint64_t off, ooff, len;
	uint64_t imm[3];
};
void hpend_rma(struct hpend *e, const struct hprma *a);
/* Issues a send of len bytes at offset off of the SDR. */
void hpend_send(struct hpend *e, uint32_t byte, uint64_t off, uint64_t len);
/* Copies the next NQE that is not a status to w. Fails unless it has this
 * CMD. */
void hpend_expect(struct hpend *e, uint32_t cmd, uint64_t *w);
/* Takes the next NQE from the queue of the other side, and checks its CMD. */
void hpend_other(struct hpend *e, uint32_t cmd, uint64_t *w);
/* Checks that no notification arrives for a while at either node. */
void hpend_silent(struct hpend *e);

#endif
