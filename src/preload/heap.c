/* SPDX-License-Identifier: Apache-2.0 */
/* A heap that does not remember how the process started.  Names, numbers of
 * processes and ports are of other lengths in every run, so what is allocated
 * after MPI_Init would lie elsewhere in its pages, and a transfer that crosses
 * one page more takes longer.  All holes are filled, a store of small pieces is
 * laid in for names that are still to come, and what comes next begins with a
 * page.  For glibc's malloc; another one is left alone. */
#include "preload/preload.h"

#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

enum {
	PAGE = 4096,
	LARGEST = 100000,
	SMALL = 1040,
	ROUNDS = 20000,
	STORE = 64
};

/* End of what is in use, as long as malloc grows its heap with brk. */
static uintptr_t top(void)
{
	return (uintptr_t)sbrk(0) - mallinfo2().keepcost;
}

/* Was it cut off the end?  Small ones are kept: they would come back from
 * malloc's caches. */
static bool from_top(void *p, size_t size)
{
	uintptr_t t = top(), at = (uintptr_t)p;

	if (at > (uintptr_t)sbrk(0) || t <= at || t - at > size + 64)
		return false;
	if (size > SMALL)
		free(p);
	return true;
}

static size_t smaller(size_t size)
{
	return size > 2 * SMALL ? size / 8 * 7 : size - 16;
}

/* Into the caches of malloc, which the launcher has made this large
 * (GLIBC_TUNABLES). */
static void lay_in(size_t size)
{
	void *p[STORE];

	for (int i = 0; i < STORE; i++)
		p[i] = malloc(size);
	for (int i = 0; i < STORE; i++)
		free(p[i]);
}

/* What comes next begins with a page. */
static void turn_page(void)
{
	size_t gap = PAGE - top() % PAGE;
	void *volatile p; /* no compiler leaves it out */

	/* larger than what caches have */
	p = malloc((gap < 2 * SMALL ? gap + PAGE : gap) - 8);
	(void)p;
}

void pre_heap_level(void)
{
	void *volatile first = malloc(24);
	void *p;
	int n = 0;

	if (!first || (uintptr_t)first > (uintptr_t)sbrk(0) ||
	    !mallinfo2().arena)
		return;
	for (size_t size = LARGEST; size >= 24; size = smaller(size))
		while (n++ < ROUNDS && (p = malloc(size)) && !from_top(p, size))
			;
	turn_page();
	for (size_t size = 24; size < SMALL; size += 16)
		lay_in(size);
	turn_page();
}
