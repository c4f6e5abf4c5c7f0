/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of the Host Port's driver (see driver_memory.h): two allocators of the
 * node's memory.
 *
 * The page allocator takes blocks of up to 2 MiB, aligned to their size, from
 * the memory that programs also use. It returns a block to the node when no
 * page of the block is in use. A request for 2^n pages fails when no block has
 * a free piece of that size and the node has no memory left for a block of that
 * size. */
#include "systems/hostport/lib/driver_memory.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "systems/hostport/lib/driver.h"

#define BOOT_BYTES (24ull << 20) /* default */
/* least size of the region in bytes, enough for the context table and other
 * tables of the driver */
#define BOOT_LEAST (6ull << 20)

static uint64_t pages_of(uint64_t bytes)
{
	return bytes ? (bytes - 1) / HPORT_KPAGE + 1 : 1;
}

/* ---- areas ---- */

static bool area_init(struct hport_area *a, struct weft_host *h, uint32_t pages,
		      uint64_t align)
{
	size_t words = pages / 64 + 1;

	a->mem =
		weft_mem_alloc(h, (size_t)pages * HPORT_KPAGE, align, &a->phys);
	if (!a->mem)
		return false;
	a->pages = pages;
	a->reserved = calloc(2 * words, sizeof(*a->reserved));
	a->dirty = a->reserved + words;
	if (a->reserved)
		return true;
	weft_mem_free(h, a->mem);
	return false;
}

static bool area_has(const struct hport_area *a, const void *mem)
{
	const uint8_t *b = mem;

	return a->mem && b >= a->mem &&
	       b < a->mem + (size_t)a->pages * HPORT_KPAGE;
}

/* Reserves pages, and clears them if they were used before, so that a new owner
 * does not see bytes of the previous owner. */
static void *area_take(struct hport_kmem *k, struct hport_area *a,
		       uint32_t page, uint32_t n, weft_phys_t *phys_p)
{
	for (uint32_t i = page; i < page + n; i++) {
		uint64_t bit = 1ull << i % 64;

		if (a->dirty[i / 64] & bit)
			memset(a->mem + (size_t)i * HPORT_KPAGE, 0,
			       HPORT_KPAGE);
		a->reserved[i / 64] |= bit;
		a->dirty[i / 64] |= bit;
	}
	k->reserved += n;
	k->given += (uint64_t)n * HPORT_KPAGE;
	*phys_p = a->phys + (uint64_t)page * HPORT_KPAGE;
	return a->mem + (size_t)page * HPORT_KPAGE;
}

static void area_release(struct hport_kmem *k, struct hport_area *a,
			 uint32_t page, uint32_t n)
{
	for (uint32_t i = page; i < page + n; i++)
		a->reserved[i / 64] &= ~(1ull << i % 64);
	k->reserved -= n;
}

/* ---- the region of the boot ---- */

static void *boot_take(struct hport_kmem *k, uint64_t bytes,
		       weft_phys_t *phys_p)
{
	int64_t page = hport_runs_take(&k->runs, pages_of(bytes));

	if (page < 0) {
		k->full++;
		return NULL;
	}
	return area_take(k, &k->boot, (uint32_t)page, (uint32_t)pages_of(bytes),
			 phys_p);
}

/* ---- the page allocator ---- */

static void *block_take(struct hport_kmem *k, struct hport_block *b,
			uint32_t order, weft_phys_t *phys_p)
{
	int32_t page = hport_buddy_take(&b->buddy, order);

	if (page < 0)
		return NULL;
	return area_take(k, &b->area, (uint32_t)page, 1u << order, phys_p);
}

static void *pages_take(struct hport_drv *d, uint64_t bytes,
			weft_phys_t *phys_p)
{
	struct hport_kmem *k = &d->kernel->kmem;
	uint32_t order = hport_order(pages_of(bytes));
	struct hport_block *b;
	void *mem;

	if ((uint64_t)HPORT_KPAGE << order > k->how.object_max) {
		k->long_++;
		return NULL;
	}
	for (size_t i = 0; i < k->blocks.n; i++)
		if ((mem = block_take(k, k->blocks.at[i], order, phys_p)))
			return mem;
	/* allocates a new block, as large as the node's memory permits, with at
	 * least 2^order pages */
	b = calloc(1, sizeof(*b));
	for (uint32_t o = HPORT_ORDERS; b && o-- > order;) {
		if (!area_init(&b->area, d->host, 1u << o,
			       (uint64_t)HPORT_KPAGE << o))
			continue;
		hport_buddy_init(&b->buddy, o);
		vec_push(&k->blocks, b);
		return block_take(k, b, order, phys_p);
	}
	free(b);
	k->pieces++;
	return NULL;
}

/* Gives memory back. Returns the number of pages given back, or 0 when the page
 * allocator does not own the memory. */
static uint32_t pages_give(struct hport_drv *d, const void *mem)
{
	struct hport_kmem *k = &d->kernel->kmem;

	for (size_t i = 0; i < k->blocks.n; i++) {
		struct hport_block *b = k->blocks.at[i];
		uint32_t page;
		int32_t order;

		if (!area_has(&b->area, mem))
			continue;
		page = (uint32_t)(((const uint8_t *)mem - b->area.mem) /
				  HPORT_KPAGE);
		order = hport_buddy_give(&b->buddy, page);
		if (order < 0)
			return 0;
		area_release(k, &b->area, page, 1u << order);
		if (!hport_buddy_whole(&b->buddy))
			return 1u << order;
		weft_mem_free(d->host, b->area.mem);
		free(b->area.reserved);
		free(b);
		memmove(&k->blocks.at[i], &k->blocks.at[i + 1],
			(--k->blocks.n - i) * sizeof(k->blocks.at[0]));
		return 1u << order;
	}
	return 0;
}

/* ---- both allocators ---- */

int hport_kmem_init(struct hport_drv *d, const struct hport_memory *how)
{
	static const struct hport_memory usual = { 0 };
	struct hport_kmem *k = &d->kernel->kmem;
	const uint64_t max = (uint64_t)HPORT_KPAGE << (HPORT_ORDERS - 1);
	uint64_t bytes, pages;

	k->how = how ? *how : usual;
	if (!k->how.object_max)
		k->how.object_max = max;
	if (k->how.object_max > max || k->how.kind > HPORT_MEM_PAGES)
		return -EINVAL;
	bytes = k->how.boot_bytes ? k->how.boot_bytes : BOOT_BYTES;
	/* retries with half the size, down to BOOT_LEAST, unless the caller
	 * requested the size */
	do {
		pages = bytes / HPORT_KPAGE;
		if (pages <= UINT32_MAX &&
		    area_init(&k->boot, d->host, (uint32_t)pages,
			      HPORT_KPAGE) &&
		    hport_runs_init(&k->runs, k->boot.pages))
			return 0;
		bytes /= 2;
	} while (!k->how.boot_bytes && bytes >= BOOT_LEAST);
	return -ENOMEM;
}

void hport_kmem_fini(struct hport_kmem *k)
{
	for (size_t i = 0; i < k->blocks.n; i++) {
		free(k->blocks.at[i]->area.reserved);
		free(k->blocks.at[i]);
	}
	vec_free(&k->blocks);
	free(k->boot.reserved);
	hport_runs_fini(&k->runs);
}

void *hport_kmem_table(struct hport_drv *d, uint64_t bytes, weft_phys_t *phys_p)
{
	struct hport_kmem *k = &d->kernel->kmem;
	void *mem = boot_take(k, bytes, phys_p);

	if (mem)
		k->asked += bytes;
	return mem;
}

void *hport_kmem_alloc(struct hport_drv *d, uint64_t bytes, weft_phys_t *phys_p)
{
	struct hport_kmem *k = &d->kernel->kmem;
	void *mem = NULL;

	if (k->how.kind != HPORT_MEM_BOOT)
		mem = pages_take(d, bytes, phys_p);
	if (!mem && k->how.kind != HPORT_MEM_PAGES)
		mem = boot_take(k, bytes, phys_p);
	if (mem)
		k->asked += bytes;
	return mem;
}

void hport_kmem_free(struct hport_drv *d, void *mem, uint64_t bytes)
{
	struct hport_kmem *k = &d->kernel->kmem;
	uint32_t n, page;

	if (area_has(&k->boot, mem)) {
		page = (uint32_t)(((uint8_t *)mem - k->boot.mem) / HPORT_KPAGE);
		n = hport_runs_give(&k->runs, page);
		area_release(k, &k->boot, page, n);
	} else {
		n = pages_give(d, mem);
	}
	if (!n)
		return;
	k->asked -= bytes;
	k->given -= (uint64_t)n * HPORT_KPAGE;
}
