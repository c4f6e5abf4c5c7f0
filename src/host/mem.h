/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one node: a range of physical addresses, backed by address space
 * that costs nothing until it is used, and an allocator of contiguous,
 * device-visible pieces of it. */
#ifndef HOST_MEM_H
#define HOST_MEM_H

#include "base/vec.h"
#include "weft/types.h"

struct mem_extent {
	uint64_t off, len;
	/* of what is used: the program, MEM_KERNEL, or NULL (frames of pinned
	 * pages); how many mappings of devices keep it, and whether it goes
	 * back when the last of them ends */
	const void *owner;
	uint32_t holds;
	bool freed;
};
#define MEM_KERNEL ((const void *)1)

/* Sorted by off. */
struct mem_extents {
	VEC(struct mem_extent);
};

/* Pages whose bytes are in another process: process_memory.h. */
struct mem_far {
	uint8_t *shadow;
	uint64_t len, va;
	struct weft_far_owner *owner;
};

/* One of them that is pinned where it is. */
struct mem_far_pin {
	uint64_t va;
	struct weft_far_owner *owner;
	uint8_t *frame;
	uint32_t refs;
};

struct mem {
	weft_phys_t base; /* first physical address */
	uint64_t bytes;
	uintptr_t hint;	  /* where it is to be mapped; 0: anywhere */
	uint8_t *map;	  /* NULL until first use */
	int fd;		  /* of memory that is shared, + 1; 0: it is not */
	uint64_t touched; /* nothing at or above was ever handed out */
	struct mem_extents used, spare; /* no two spare pieces touch */
	struct mem_pin *pin;		/* by page; NULL: nothing is pinned */
	uint32_t *pin_hash;
	uint64_t strays; /* accesses to pages after they were unpinned */
	struct {
		VEC(struct mem_far);
	} far; /* by shadow */
	struct {
		VEC(struct mem_far_pin);
	} far_pins;		       /* by va */
	struct mem_far_bufs *far_bufs; /* NULL until used */
	bool far_dirty;		       /* something is to be written */
	bool far_due;		       /* before a program runs */
};

enum { MEM_PAGE = 4096 };

/* The first page of the range is never handed out, so a physical address of
 * zero means "none" when base is zero. */
void mem_init(struct mem *m, weft_phys_t base, uint64_t bytes);
void mem_fini(struct mem *m);
/* Before first use: others can map it, too.  Its descriptor (the memory's own:
 * not to be closed; its size is fixed), or negative errno. */
int mem_share(struct mem *m);

/* Pages that [at, at + len) lies in. */
static inline uint64_t mem_pages(uint64_t at, uint64_t len)
{
	return (at % MEM_PAGE + len + MEM_PAGE - 1) / MEM_PAGE;
}

/* True when [phys, phys + n) lies inside. */
static inline bool mem_contains(const struct mem *m, weft_phys_t phys,
				uint64_t n)
{
	return phys >= m->base && phys - m->base <= m->bytes &&
	       n <= m->bytes - (phys - m->base);
}

/* The bytes at phys, n of them; NULL: not (all) memory, or no address space.
 * Of pinned pages: those of one page at a time (mem_piece). */
void *mem_at(struct mem *m, weft_phys_t phys, uint64_t n);
/* How many of n bytes at phys lie together. */
static inline uint64_t mem_piece(const struct mem *m, weft_phys_t phys,
				 uint64_t n)
{
	uint64_t room = MEM_PAGE - phys % MEM_PAGE;

	return m->pin && n > room ? room : n;
}
/* Physical address of p; false: p does not point into this memory, or pages
 * pinned to it. */
bool mem_phys(const struct mem *m, const void *p, weft_phys_t *phys_p);

/* Zeroed, contiguous; align is a power of two, 0 = 64.  NULL: no room. */
void *mem_alloc(struct mem *m, uint64_t bytes, uint64_t align,
		weft_phys_t *phys_p);
/* The same, whatever is in it. */
void *mem_take(struct mem *m, uint64_t bytes, uint64_t align,
	       weft_phys_t *phys_p);
/* False: p was not allocated here. */
bool mem_free(struct mem *m, void *p);
/* All that the owner has; what a device has mapped when that ends. */
void mem_free_all(struct mem *m, const void *owner);
/* mem_alloc for an owner.  It shares no page with memory of another owner:
 * devices reach whole pages. */
void *mem_alloc_for(struct mem *m, uint64_t bytes, uint64_t align,
		    const void *owner, weft_phys_t *phys_p);
/* Of the byte at p; NULL: nobody. */
const void *mem_owner(const struct mem *m, const void *p);
/* Memory at phys that nobody or a driver owns has an owner now. */
void mem_own(struct mem *m, weft_phys_t phys, const void *owner);
/* A mapping keeps the pages of [phys, phys + len) where they are: freed
 * meanwhile, they go back at the last mem_release.  False: they are not all of
 * this owner. */
bool mem_hold(struct mem *m, weft_phys_t phys, uint64_t len, const void *owner);
bool mem_release(struct mem *m, weft_phys_t phys); /* false: not held */

/* Devices reach the pages of [p, p + len) at phys[0..] (one for each page) from
 * now on, as often as they are pinned.  False: no memory there, or no room. */
bool mem_pin(struct mem *m, const void *p, uint64_t len, weft_phys_t *phys);
void mem_unpin(struct mem *m, const void *p, uint64_t len);

/* process_memory.c */
void mem_far_copy(struct mem *m, void *dst, const void *src, size_t n);
void mem_far_store(struct mem *m, void *dst, const void *src, size_t n);
void mem_far_flush(struct mem *m);
void mem_far_fini(struct mem *m);
/* memcpy to and from whatever is memory of this node. */
static inline void mem_copy(struct mem *m, void *dst, const void *src, size_t n)
{
	if (m->far.n)
		mem_far_copy(m, dst, src, n);
	else
		memcpy(dst, src, n);
}
/* The same by a device: other processes see it after mem_settled. */
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

/* between mem.c and mem_pin.c */
bool mem_phys_own(const struct mem *m, const void *p, weft_phys_t *phys_p);
uint8_t *mem_pinned(struct mem *m, weft_phys_t phys);
/* Pages of [off, off + bytes) belong to somebody again. */
void mem_pins_taken(struct mem *m, uint64_t off, uint64_t bytes);
bool mem_pinned_phys(const struct mem *m, const void *p, weft_phys_t *phys_p);
void mem_pins_fini(struct mem *m);

#endif
