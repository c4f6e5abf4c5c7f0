/* SPDX-License-Identifier: Apache-2.0 */
#include "base/minmax.h"
#include "sim/arena.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE = 64, CHUNK_MIN = 1 << 16, CHUNK_MAX = 1 << 25, HUGE = 1 << 21 };

/* With AddressSanitizer every allocation is a separate heap block, so that
 * accesses past the end of an allocation are found. */
#if defined(__SANITIZE_ADDRESS__)
enum { APART = 1 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { APART = 1 };
#else
enum { APART = 0 };
#endif
#else
enum { APART = 0 };
#endif

struct arena_chunk {
	struct arena_chunk *next;
	size_t bytes, used;
	char *base;
};

/* Maps a chunk. Aligns it to huge pages if it is large enough for one, because
 * the kernel backs only aligned memory with huge pages. */
static char *chunk_map(size_t n)
{
	size_t extra = n >= HUGE ? HUGE : 0;
	char *p, *q;

	if (APART) {
		p = aligned_alloc(LINE, n);
		return p ? memset(p, 0, n) : NULL;
	}
	p = mmap(NULL, n + extra, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED || !extra)
		return p == MAP_FAILED ? NULL : p;
	q = (char *)(((uintptr_t)p + HUGE - 1) & ~(uintptr_t)(HUGE - 1));
	if (q > p)
		munmap(p, (size_t)(q - p));
	if (p + extra > q)
		munmap(q + n, (size_t)(p + extra - q));
	madvise(q, n, MADV_HUGEPAGE); /* only a hint: the run also works without
				       * huge pages */
	return q;
}

/* Adds a chunk of twice the size of the last chunk, so that a small run needs
 * little memory and a large run needs few chunks. */
static struct arena_chunk *chunk_new(struct arena *a, size_t want)
{
	size_t n = a->chunks ? 2 * a->chunks->bytes : CHUNK_MIN;
	struct arena_chunk *c = malloc(sizeof(*c));

	if (!c)
		return NULL;
	n = min_of(n, CHUNK_MAX);
	while (n < want)
		n *= 2;
	n = APART ? want : n;
	*c = (struct arena_chunk){ .next = a->chunks, .bytes = n };
	c->base = chunk_map(n);
	if (!c->base) {
		free(c);
		return NULL;
	}
	a->chunks = c;
	return c;
}

void *arena_alloc(struct arena *a, size_t bytes)
{
	size_t n = (bytes + LINE - 1) / LINE * LINE;
	struct arena_chunk *c = a->chunks;
	char *p;

	if (APART || !c || c->bytes - c->used < n)
		c = chunk_new(a, n);
	if (!c)
		return NULL;
	p = c->base + c->used;
	c->used += n;
	a->used += n;
	return p;
}

void arena_fini(struct arena *a)
{
	struct arena_chunk *c;

	while ((c = a->chunks)) {
		a->chunks = c->next;
		if (APART)
			free(c->base);
		else
			munmap(c->base, c->bytes);
		free(c);
	}
}
