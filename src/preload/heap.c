/* SPDX-License-Identifier: Apache-2.0 */
/* Placement of buffers. The address of a buffer influences the time of its
 * transfer, because each page boundary in the buffer takes time. Addresses of
 * malloc differ from run to run, because earlier blocks hold names and numbers
 * of processes and ports, whose lengths differ. Therefore in timed runs blocks
 * of SMALL bytes or more are aligned: a block starts at a multiple of its size,
 * rounded up to a power of two, or at a page boundary if it is larger than a
 * page. Transfers of an aligned block take the same time in every run.
 *
 * The program's allocator provides the blocks. An allocator that is defined in
 * the program itself is not replaced. */
#include "preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum {
	PAGE = 4096,
	SMALL = 256,
	/* Blocks of this size or more are not aligned, because calloc() would
	 * have to write zeros into pages that the kernel provides as zeros, and
	 * realloc() would have to copy them. */
	SPARSE = 64 << 20
};

static struct {
	bool on;
	void *(*malloc)(size_t n);
	void *(*calloc)(size_t k, size_t n);
	void *(*realloc)(void *p, size_t n);
	void *(*memalign)(size_t align, size_t n);
} next;

/* Stands in for the real functions while dlsym() runs, because dlsym()
 * allocates memory to report an error. */
static void *heap_none(size_t n)
{
	return NULL;
}

static void *none_of(size_t k, size_t n)
{
	return NULL;
}

/* Finds the real functions. Needs no lock, because the loader makes the first
 * calls while one thread exists. */
static void look_up(void)
{
	if (next.malloc)
		return;
	next.malloc = heap_none;
	next.calloc = none_of;
	next.realloc = dlsym(RTLD_NEXT, "realloc");
	next.memalign = dlsym(RTLD_NEXT, "memalign");
	next.calloc = dlsym(RTLD_NEXT, "calloc");
	next.malloc = dlsym(RTLD_NEXT, "malloc");
}

static void __attribute__((constructor)) begin(void)
{
	const char *clock = getenv("WEFT_CLOCK");

	look_up();
	next.on = clock && strcmp(clock, "none") && next.memalign;
}

static bool heap_placed(size_t n)
{
	return next.on && n >= SMALL;
}

static size_t align_of(size_t n)
{
	size_t a = SMALL;

	while (a < n && a < PAGE)
		a *= 2;
	return a;
}

void *malloc(size_t n)
{
	look_up();
	return heap_placed(n) ? next.memalign(align_of(n), n) : next.malloc(n);
}

void *calloc(size_t k, size_t n)
{
	size_t all;
	void *p;

	look_up();
	if (__builtin_mul_overflow(k, n, &all) || !heap_placed(all) ||
	    all >= SPARSE)
		return next.calloc(k, n);
	p = next.memalign(align_of(all), all);
	return p ? memset(p, 0, all) : NULL;
}

void *realloc(void *p, size_t n)
{
	size_t a = align_of(n);
	void *q;

	look_up();
	p = next.realloc(p, n);
	if (!p || !heap_placed(n) || n >= SPARSE || !((uintptr_t)p % a))
		return p;
	q = next.memalign(a, n);
	if (!q)
		return p;
	memcpy(q, p, n);
	free(p);
	return q;
}

void *reallocarray(void *p, size_t k, size_t n)
{
	size_t all;

	if (!__builtin_mul_overflow(k, n, &all))
		return realloc(p, all);
	errno = ENOMEM;
	return NULL;
}

void *memalign(size_t align, size_t n)
{
	size_t a = align_of(n);

	look_up();
	return next.memalign(heap_placed(n) && a > align ? a : align, n);
}

void *aligned_alloc(size_t align, size_t n)
{
	return memalign(align, n);
}

int posix_memalign(void **p, size_t align, size_t n)
{
	void *q;

	if (!align || align & (align - 1) || align % sizeof(void *))
		return EINVAL;
	q = memalign(align, n);
	if (q)
		*p = q;
	return q ? 0 : ENOMEM;
}
