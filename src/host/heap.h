/* SPDX-License-Identifier: Apache-2.0 */
/* Ordinary memory of one program.  Where in its page a block begins, and which
 * blocks share a page, follows from the program's own calls alone: a device
 * that reaches memory page by page sees the same whatever else is in the
 * simulator's process, and wherever the system's allocator would have put it.
 *
 * Blocks of up to 32 KiB come from chunks of 64 KiB that begin with a page, in
 * size classes of four steps between powers of two; a freed block serves the
 * next one of its class.  Larger blocks have pages of their own, and begin with
 * one. */
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
	unsigned char *next; /* what is left of the newest chunk */
	size_t left;
	uintptr_t hint; /* address of the next pages; 0: any */
	struct {
		VEC(struct heap_span);
	} spans; /* by address */
};

/* Program `id` of a simulation: pages at addresses of its own, as long as they
 * last and nothing else is there.  Addresses go over the wire, for RDMA. */
void heap_init(struct heap *a, uint32_t id);
/* Zeroed; a multiple of `align`, a power of two up to a page; NULL: none. */
void *heap_alloc(struct heap *a, size_t bytes, size_t align);
void heap_free(void *p); /* of whichever heap it is */
/* p is a block of this heap. */
bool heap_owns(const struct heap *a, const void *p);
/* Bytes that were asked for. */
size_t heap_size(const void *p);
/* With all blocks. */
void heap_fini(struct heap *a);

#endif
