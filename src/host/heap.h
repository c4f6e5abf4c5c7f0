/* SPDX-License-Identifier: Apache-2.0 */
/* Ordinary memory of one program. The program's own calls alone determine the
 * offset of a block in its page and the blocks that share a page. So a device
 * that accesses memory page by page gets equal addresses in every run, whatever
 * the system's allocator does.
 *
 * Blocks of up to 32 KiB come from chunks of 64 KiB that begin at a page. There
 * are four sizes of blocks (size classes) for each power of two. A freed block
 * serves the next request of its class. A larger block begins at the start of a
 * page and shares no page with another block. */
#ifndef HOST_HEAP_H
#define HOST_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/vec.h"

enum { HEAP_CLASSES = 40 };

struct heap_span {
	unsigned char *at;
	size_t bytes;
};

struct heap {
	struct heap_block *free[HEAP_CLASSES];
	unsigned char *next; /* first free byte of the newest chunk */
	size_t left;
	uintptr_t hint; /* preferred address of the next pages, or 0 for any
			 * address */
	struct {
		VEC(struct heap_span);
	} spans; /* sorted by address */
};

/* Initialises the heap of program `id` of a simulation. Each program has a
 * separate range of addresses, because addresses go over the wire (RDMA) and
 * must be equal in every run. Pages lie outside the range only if the range is
 * used up or already mapped. */
void heap_init(struct heap *a, uint32_t id);
/* Returns zeroed memory at a multiple of `align`, a power of two up to a page,
 * or NULL if memory runs out. */
void *heap_alloc(struct heap *a, size_t bytes, size_t align);
void heap_free(void *p); /* frees a block of any heap */
/* Returns true if p is a block of this heap. */
bool heap_owns(const struct heap *a, const void *p);
/* Returns the bytes that were requested for the block. */
size_t heap_size(const void *p);
/* Frees the heap and all its blocks. */
void heap_fini(struct heap *a);

#endif
