/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one node: a range of physical addresses, and an allocator of
 * contiguous, device-visible pieces of it. The range is mapped on demand, so
 * that unused memory costs nothing. */
#ifndef HOST_MEM_H
#define HOST_MEM_H

#include "base/vec.h"
#include "weft/types.h"

struct mem_extent {
	uint64_t off, len;
	/* Owner of a used piece: the program, MEM_KERNEL, or NULL for frames of
	 * pinned pages. `holds` counts mappings of devices that keep the piece.
	 * If `freed` is set, the piece is freed when the last mapping ends. */
	const void *owner;
	uint32_t holds;
	bool freed;
};
#define MEM_KERNEL ((const void *)1)

/* Pieces of memory, sorted by off. */
struct mem_extents {
	VEC(struct mem_extent);
};

/* Pages whose bytes are in another process (process_memory.h). */
struct mem_far {
	uint8_t *shadow;
	uint64_t len, va;
	struct weft_far_owner *owner;
};

/* A pinned page of another process. Its bytes stay in that process. */
struct mem_far_pin {
	uint64_t va;
	struct weft_far_owner *owner;
	uint8_t *frame;
	uint32_t refs;
};

struct mem {
	weft_phys_t base; /* first physical address */
	uint64_t bytes;
	uintptr_t hint; /* address wanted for `map`, or 0 for any */
	uint8_t *map;	/* NULL until first use */
	int fd;		/* descriptor + 1 of shared memory; 0: not shared */
	/* no memory at or above this offset was allocated or reached by a
	 * device */
	uint64_t touched;
	struct mem_extents used, spare; /* no two spare pieces touch */
	struct mem_pin *pin; /* pins by page; NULL: no page is pinned */
	uint32_t *pin_hash;
	uint64_t strays; /* accesses to pages after they were unpinned */
	struct {
		VEC(struct mem_far);
	} far; /* sorted by shadow */
	struct {
		VEC(struct mem_far_pin);
	} far_pins;		       /* sorted by va */
	struct mem_far_bufs *far_bufs; /* NULL until used */
	bool far_dirty;		       /* data wait for mem_far_flush */
	bool far_due; /* mem_far_flush is due before a program runs */
};

enum { MEM_PAGE = 4096 };

/* Initialises an empty range. Its first page is never handed out, so that a
 * physical address of zero means "none" if base is zero. */
void mem_init(struct mem *m, weft_phys_t base, uint64_t bytes);
/* Frees the range and all pins. */
void mem_fini(struct mem *m);
/* Makes the memory shareable, so that other processes can map it. Called before
 * the first use of the memory. Returns a file descriptor that the caller must
 * not close, or a negative errno. The size of the file is fixed. */
int mem_share(struct mem *m);

/* Returns the number of pages that [at, at + len) touches. */
static inline uint64_t mem_pages(uint64_t at, uint64_t len)
{
	return (at % MEM_PAGE + len + MEM_PAGE - 1) / MEM_PAGE;
}

/* Returns true if [phys, phys + n) lies inside the memory. */
static inline bool mem_contains(const struct mem *m, weft_phys_t phys,
				uint64_t n)
{
	return phys >= m->base && phys - m->base <= m->bytes &&
	       n <= m->bytes - (phys - m->base);
}

/* Returns the n bytes at phys, or NULL if a part is outside the memory or the
 * address space is exhausted. If n bytes of pinned memory cross a page, only
 * the bytes up to the end of the page are valid (mem_piece), because pages that
 * are adjacent in physical memory are not adjacent in the program. */
void *mem_at(struct mem *m, weft_phys_t phys, uint64_t n);
/* Returns how many of n bytes at phys are contiguous. */
static inline uint64_t mem_piece(const struct mem *m, weft_phys_t phys,
				 uint64_t n)
{
	uint64_t room = MEM_PAGE - phys % MEM_PAGE;

	return m->pin && n > room ? room : n;
}
/* Stores the physical address of p. Returns false if p does not point into this
 * memory or into pages pinned to it. */
bool mem_phys(const struct mem *m, const void *p, weft_phys_t *phys_p);

/* Allocates zeroed, contiguous memory. align is a power of two, 0 means 64.
 * Returns NULL if there is no room. */
void *mem_alloc(struct mem *m, uint64_t bytes, uint64_t align,
		weft_phys_t *phys_p);
/* Allocates like mem_alloc, but does not zero the bytes. */
void *mem_take(struct mem *m, uint64_t bytes, uint64_t align,
	       weft_phys_t *phys_p);
/* Frees a piece. Returns false if p was not allocated here. */
bool mem_free(struct mem *m, void *p);
/* Frees all memory of an owner. Pieces that a device has mapped are freed when
 * the last mapping ends. */
void mem_free_all(struct mem *m, const void *owner);
/* Allocates memory for an owner. It shares no page with memory of another
 * owner, because devices reach whole pages. */
void *mem_alloc_for(struct mem *m, uint64_t bytes, uint64_t align,
		    const void *owner, weft_phys_t *phys_p);
/* Returns the owner of the byte at p, or NULL. */
const void *mem_owner(const struct mem *m, const void *p);
/* Gives the memory at phys to `owner`, if it has no owner or belongs to a
 * driver. Otherwise the owner does not change. */
void mem_own(struct mem *m, weft_phys_t phys, const void *owner);
/* Keeps the pages of [phys, phys + len) for a mapping. Pages that are freed
 * before the last mem_release are not allocated again until then. Returns false
 * unless all of them belong to `owner`. */
bool mem_hold(struct mem *m, weft_phys_t phys, uint64_t len, const void *owner);
/* returns false if not held */
bool mem_release(struct mem *m, weft_phys_t phys);

/* Pins the pages of [p, p + len): devices reach them at phys[0..] (one for each
 * page). Pins are counted. Returns false if p is not mapped, or the node has no
 * free page. */
bool mem_pin(struct mem *m, const void *p, uint64_t len, weft_phys_t *phys);
/* Undoes one mem_pin of this range. */
void mem_unpin(struct mem *m, const void *p, uint64_t len);

/* process_memory.c */
/* Copy between memory of this node and of other processes. Devices use
 * mem_far_store, which collects writes until mem_far_flush. */
void mem_far_copy(struct mem *m, void *dst, const void *src, size_t n);
void mem_far_store(struct mem *m, void *dst, const void *src, size_t n);
void mem_far_flush(struct mem *m);
void mem_far_fini(struct mem *m);
/* Copies like memcpy between any memory of this node. */
static inline void mem_copy(struct mem *m, void *dst, const void *src, size_t n)
{
	if (m->far.n)
		mem_far_copy(m, dst, src, n);
	else
		memcpy(dst, src, n);
}
/* Copies like mem_copy for a device. Other processes see the data after
 * mem_settled, because writes to them are collected. */
static inline void mem_store(struct mem *m, void *dst, const void *src,
			     size_t n)
{
	if (m->far.n)
		mem_far_store(m, dst, src, n);
	else
		memcpy(dst, src, n);
}
static inline void mem_settled(struct mem *m)
{
	if (m->far_dirty)
		mem_far_flush(m);
}

/* Shared by the files that implement mem.h. */
bool mem_phys_own(const struct mem *m, const void *p, weft_phys_t *phys_p);
/* Returns the bytes at phys of a pinned page, or NULL. */
uint8_t *mem_pinned(struct mem *m, weft_phys_t phys);
/* Forgets that pages in [off, off + bytes) were unpinned, because they are
 * allocated again. */
void mem_pins_taken(struct mem *m, uint64_t off, uint64_t bytes);
bool mem_pinned_phys(const struct mem *m, const void *p, weft_phys_t *phys_p);
void mem_pins_fini(struct mem *m);

#endif
