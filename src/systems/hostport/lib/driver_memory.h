/* SPDX-License-Identifier: Apache-2.0 */
/* Contiguous, pinned memory of the Host Port's driver (hostport.md 4.11; thesis
 * 3.3.4): two methods behind one interface.
 *
 *   boot   a region that the system never manages ("mem=x"): any amount, fixed
 *          when the driver is loaded; the driver hands out runs of pages
 *   pages  the kernel's page allocator: 2^n pages, up to twice what is asked
 *          for, 2 MiB at most; fails when memory is in pieces; every page is
 *          marked reserved while the driver has it
 *
 * Tables of the driver come from the region. `kind` says where queues come
 * from. With HPORT_MEM_AUTO they come from the page allocator, and from the
 * region when they are too long for it or it has no piece of that size. */
#ifndef SYSTEMS_HOSTPORT_LIB_DRIVER_MEMORY_H
#define SYSTEMS_HOSTPORT_LIB_DRIVER_MEMORY_H

#include "base/vec.h"
#include "weft/hostport.h"

struct hport_drv;

enum {
	HPORT_KPAGE = 4096,
	HPORT_ORDERS = 10, /* 1 .. 512 pages: 2 MiB */
};

/* ---- runs of pages, first fit (free_runs.c) ---- */

struct hport_runs {
	uint32_t n;    /* pages */
	uint32_t *len; /* by first page of a run in use: its pages */
};

/* Sets up one free run of `pages` pages. Returns false without memory. */
bool hport_runs_init(struct hport_runs *r, uint32_t pages);
void hport_runs_fini(struct hport_runs *r);
/* Takes a run of pages. Returns its first page, or -1 when no run is long
 * enough. */
int64_t hport_runs_take(struct hport_runs *r, uint64_t pages);
/* Gives back the run that starts at `page`. Returns its pages, or 0 when no run
 * starts there. */
uint32_t hport_runs_give(struct hport_runs *r, uint32_t page);

/* ---- powers of two in a block of 2^order pages (free_runs.c) ---- */

struct hport_buddy {
	uint32_t order;
	uint8_t head[1 << (HPORT_ORDERS - 1)]; /* by first page of a piece */
};

void hport_buddy_init(struct hport_buddy *b, uint32_t order);
/* Takes 2^order pages from the smallest piece that holds them, so that large
 * pieces stay whole. Returns the first page, or -1 when there is none. */
int32_t hport_buddy_take(struct hport_buddy *b, uint32_t order);
/* Gives back the piece that starts at `page`. Returns its order, or -1 when no
 * piece in use starts there. */
int32_t hport_buddy_give(struct hport_buddy *b, uint32_t page);
/* Returns whether no page is in use, so that the block can be freed. */
bool hport_buddy_whole(const struct hport_buddy *b);
/* Returns the smallest order that holds `pages` pages. */
uint32_t hport_order(uint64_t pages);

/* ---- memory (driver_memory.c) ---- */

/* Pages of the node from which one of the two allocators takes. */
struct hport_area {
	uint8_t *mem;
	weft_phys_t phys; /* read once */
	uint32_t pages;
	uint64_t *reserved, *dirty; /* bit per page: in use; used before */
};

struct hport_block {
	struct hport_area area;
	struct hport_buddy buddy;
};

struct hport_kmem {
	struct hport_memory how;
	struct hport_area boot;
	struct hport_runs runs;
	struct {
		VEC(struct hport_block *);
	} blocks;
	uint64_t asked, given;	/* bytes in use: as requested, as allocated */
	uint64_t reserved;	/* pages that are marked reserved */
	uint64_t long_, pieces; /* refused by the page allocator: too long;
				 * no such piece */
	uint64_t full;		/* refused by the region */
};

/* Reserves the region. Returns 0, -EINVAL or -ENOMEM. */
int hport_kmem_init(struct hport_drv *d, const struct hport_memory *how);
void hport_kmem_fini(struct hport_kmem *k);
/* Allocates whole pages of zeros and returns their address, with the physical
 * one in *phys_p, or NULL when there are none. */
void *hport_kmem_alloc(struct hport_drv *d, uint64_t bytes,
		       weft_phys_t *phys_p);
/* Allocates a table of the driver from the region, as hport_kmem_alloc()
 * does. */
void *hport_kmem_table(struct hport_drv *d, uint64_t bytes,
		       weft_phys_t *phys_p);
/* Frees memory. `bytes` is the number that was passed to the allocation. */
void hport_kmem_free(struct hport_drv *d, void *mem, uint64_t bytes);

#endif
