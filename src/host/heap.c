/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of one program: contract in heap.h. */
#include "host/heap.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define HEAP_ASAN 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HEAP_ASAN 1
#endif
#endif
#ifdef HEAP_ASAN
#include <sanitizer/asan_interface.h>
#else
#define ASAN_POISON_MEMORY_REGION(p, n)	  ((void)(p), (void)(n))
#define ASAN_UNPOISON_MEMORY_REGION(p, n) ((void)(p), (void)(n))
#endif

enum { PAGE = 4096, CHUNK = 65536, SMALL = 32768, LEAST = 64 };

/* Header in front of the bytes of a block. */
struct heap_block {
	union {
		struct heap_block *next; /* next free block of the class */
		struct heap *heap;	 /* heap of a used block */
	};
	size_t bytes; /* bytes that the program requested */
	/* size class, or HEAP_CLASSES if no other block is in the block's
	 * pages */
	uint32_t class;
	uint32_t skipped; /* bytes from the start of the block to this header */
	uint64_t pad;
};
_Static_assert(sizeof(struct heap_block) == 32, "a multiple of 16");

/* FIRST lies below the addresses that the kernel chooses for a process, and
 * outside the shadow memory of sanitizers. */
#define FIRST	   ((uintptr_t)0x300000000000)
#define OF_PROGRAM ((uintptr_t)1 << 32)
enum { PROGRAMS = 8192 };

void heap_init(struct heap *a, uint32_t id)
{
	*a = (struct heap){ .hint = FIRST + id % PROGRAMS * OF_PROGRAM };
}

/* ---- pages ---- */

static size_t span_find(const struct heap *a, const void *p)
{
	size_t lo = 0, hi = a->spans.n;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if ((uintptr_t)a->spans.at[mid].at <= (uintptr_t)p)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo; /* index of the first span above p */
}

static unsigned char *span_new(struct heap *a, size_t bytes)
{
	unsigned char *p =
		mmap((void *)a->hint, bytes, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	if (a->hint)
		a->hint += bytes;
	vec_insert(&a->spans, span_find(a, p), (struct heap_span){ p, bytes });
	return p;
}

static void span_unmap(const struct heap_span *s)
{
	ASAN_UNPOISON_MEMORY_REGION(s->at, s->bytes);
	munmap(s->at, s->bytes);
}

bool heap_owns(const struct heap *a, const void *p)
{
	size_t i = span_find(a, p);

	return i && (uintptr_t)p - (uintptr_t)a->spans.at[i - 1].at <
			    a->spans.at[i - 1].bytes;
}

void heap_fini(struct heap *a)
{
	for (size_t i = 0; i < a->spans.n; i++)
		span_unmap(&a->spans.at[i]);
	vec_free(&a->spans);
	*a = (struct heap){ 0 };
}

/* ---- blocks ---- */

static struct heap_block *head_of(const void *p)
{
	return (struct heap_block *)((uintptr_t)p - sizeof(struct heap_block));
}

size_t heap_size(const void *p)
{
	return head_of(p)->bytes;
}

static unsigned char *small_new(struct heap *a, size_t bytes, uint32_t *class)
{
	size_t size = LEAST;
	struct heap_block *b;
	unsigned char *p;

	/* Between two powers of two lie four sizes of classes. The bytes are
	 * rounded up to the next size. */
	for (*class = 0; size < bytes; ++*class)
		size += ((size_t)1 << (63 - __builtin_clzll(size))) / 4;
	bytes = size;
	b = a->free[*class];
	if (b) {
		a->free[*class] = b->next;
		return (unsigned char *)b;
	}
	if (a->left < bytes) {
		a->next = span_new(a, CHUNK);
		a->left = a->next ? CHUNK : 0;
		if (!a->next)
			return NULL;
		ASAN_POISON_MEMORY_REGION(a->next, CHUNK);
	}
	p = a->next;
	a->next += bytes;
	a->left -= bytes;
	ASAN_UNPOISON_MEMORY_REGION(p, sizeof(*b));
	return p;
}

void *heap_alloc(struct heap *a, size_t bytes, size_t align)
{
	size_t all, at = sizeof(struct heap_block);
	struct heap_block *b;
	unsigned char *p;
	uint32_t class = HEAP_CLASSES;

	if (bytes > SIZE_MAX / 2)
		return NULL;
	all = bytes + at + (align > 16 ? align : 0);
	if (all <= SMALL) {
		p = small_new(a, all, &class);
		at += p ? -((uintptr_t)p + at) & (align - 1) : 0;
	} else {
		p = span_new(a,
			     (PAGE + bytes + PAGE - 1) & ~(size_t)(PAGE - 1));
		at = PAGE;
	}
	if (!p)
		return NULL;
	ASAN_UNPOISON_MEMORY_REGION(p, at + bytes);
	b = (struct heap_block *)(p + at) - 1;
	*b = (struct heap_block){ .heap = a,
				  .bytes = bytes,
				  .class = class,
				  .skipped = (uint32_t)(at - sizeof(*b)) };
	if (class < HEAP_CLASSES)
		memset(p + at, 0, bytes);
	return p + at;
}

void heap_free(void *p)
{
	struct heap_block b, *first;

	if (!p)
		return;
	b = *head_of(p);
	first = (struct heap_block *)((unsigned char *)head_of(p) - b.skipped);
	if (b.class == HEAP_CLASSES) {
		size_t i = span_find(b.heap, first) - 1;

		span_unmap(&b.heap->spans.at[i]);
		vec_remove(&b.heap->spans, i);
		return;
	}
	ASAN_POISON_MEMORY_REGION(p, b.bytes);
	*first = (struct heap_block){ .next = b.heap->free[b.class] };
	b.heap->free[b.class] = first;
}
