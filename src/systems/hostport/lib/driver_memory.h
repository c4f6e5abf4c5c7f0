/* SPDX-License-Identifier: Apache-2.0 */
/* Contiguous, pinned memory of the Host Port's driver (hostport.md 4.11; thesis
 * 3.3.4): two methods behind one interface.
 *
 * boot: a region that the operating system never manages ("mem=x"). The loader
 * of the driver chooses its size, which does not change later. The driver gives
 * out runs of pages.
 *
 * pages: the kernel's page allocator. It gives 2^n pages, up to twice the
 * number requested and at most 2 MiB, and fails when memory is fragmented.
 * Every page is marked reserved while the driver has it.
 *
 * Tables of the driver are in the region. `kind` selects the method for queues.
 * With HPORT_MEM_AUTO queues are allocated by the page allocator. A queue is
 * allocated in the region if it is too long for the page allocator, or if the
 * page allocator has no free piece of the size. */
#ifndef SYSTEMS_HOSTPORT_LIB_DRIVER_MEMORY_H
#define SYSTEMS_HOSTPORT_LIB_DRIVER_MEMORY_H

#include "base/vec.h"
#include "weft/hostport.h"

struct hport_drv;

enum {
	HPORT_KPAGE = 4096,
	/* number of block orders: blocks have 1 to 512 pages (2 MiB) */
	HPORT_ORDERS = 10,
};

/* ---- runs of pages, first fit (free_runs.c) ---- */

struct hport_runs {
	uint32_t n; /* number of pages */
	/* len[i]: number of pages of the run in use that starts at page i, else
	 * 0 */
	uint32_t *len;
};

/* Sets up one free run of `pages` pages. Returns false when no memory is
 * left. */
bool hport_runs_init(struct hport_runs *r, uint32_t pages);
void hport_runs_fini(struct hport_runs *r);
/* Takes a run of pages. Returns the number of its first page, or -1 when no run
 * is long enough. */
int64_t hport_runs_take(struct hport_runs *r, uint64_t pages);
/* Gives back the run that starts at `page`. Returns how many pages the run has,
 * or 0 when no run starts there. */
uint32_t hport_runs_give(struct hport_runs *r, uint32_t page);

/* ---- buddy allocator in a block of 2^order pages (free_runs.c) ---- */

struct hport_buddy {
	uint32_t order;
	/* head[i]: state and order of the piece that starts at page i, else
	 * 0 */
	uint8_t head[1 << (HPORT_ORDERS - 1)];
};

void hport_buddy_init(struct hport_buddy *b, uint32_t order);
/* Takes 2^order pages from the smallest piece that holds them, so that large
 * pieces stay whole. Returns the first page, or -1 when no piece is large
 * enough. */
int32_t hport_buddy_take(struct hport_buddy *b, uint32_t order);
/* Gives back the piece that starts at `page`. Returns its order, or -1 when no
 * piece in use starts there. */
int32_t hport_buddy_give(struct hport_buddy *b, uint32_t page);
/* Returns whether no page is in use, so that the block can be freed. */
bool hport_buddy_whole(const struct hport_buddy *b);
/* Returns the smallest order that holds `pages` pages. */
uint32_t hport_order(uint64_t pages);

/* ---- memory (driver_memory.c) ---- */

/* Contiguous memory pages that one of the two allocators manages. */
struct hport_area {
	uint8_t *mem;
	weft_phys_t phys; /* physical address of mem, read once */
	uint32_t pages;
	/* bit per page. reserved: in use. dirty: used before */
	uint64_t *reserved, *dirty;
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
	/* bytes in use: the number requested, and the number allocated */
	uint64_t asked, given;
	uint64_t reserved; /* number of pages that are marked reserved */
	/* numbers of requests that the page allocator refused. long_: the
	 * request was too long. pieces: no free piece of that size was left. */
	uint64_t long_, pieces;
	uint64_t full; /* number of requests that the region refused */
};

/* Reserves the region. Returns 0, -EINVAL or -ENOMEM. */
int hport_kmem_init(struct hport_drv *d, const struct hport_memory *how);
void hport_kmem_fini(struct hport_kmem *k);
/* Allocates whole pages of zeros and returns their address, with the physical
 * address in *phys_p. Returns NULL when too few pages are free. */
void *hport_kmem_alloc(struct hport_drv *d, uint64_t bytes,
		       weft_phys_t *phys_p);
/* Allocates a table of the driver from the region. Result and errors are those
 * of hport_kmem_alloc(). */
void *hport_kmem_table(struct hport_drv *d, uint64_t bytes,
		       weft_phys_t *phys_p);
/* Frees memory. `bytes` is the number that was passed to the allocation. */
void hport_kmem_free(struct hport_drv *d, void *mem, uint64_t bytes);

#endif
