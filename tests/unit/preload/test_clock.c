/* SPDX-License-Identifier: Apache-2.0 */
/* Clocks of a program with libweft-time.so preloaded. The program's allocator
 * reads the clock, as the allocators of sanitizers and jemalloc do. */
#include "../cmocka_all.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ARENA = 4 << 20, HEAD = 16 };

static alignas(HEAD) unsigned char arena[ARENA];
static size_t used, reads;

void *malloc(size_t n)
{
	struct timespec now;
	unsigned char *p = arena + used + HEAD;

	reads += clock_gettime(CLOCK_MONOTONIC, &now) == 0;
	n = (n + HEAD - 1) / HEAD * HEAD;
	if (n > ARENA - HEAD - used)
		return NULL;
	used += n + HEAD;
	memcpy(p - HEAD, &n, sizeof(n));
	return p;
}

void free(void *p)
{
}

void *calloc(size_t k, size_t n)
{
	/* calloc need not clear, because the arena is zero */
	return malloc(k * n);
}

void *realloc(void *p, size_t n)
{
	unsigned char *q = malloc(n);
	size_t old = 0;

	if (p)
		memcpy(&old, (unsigned char *)p - HEAD, sizeof(old));
	if (q && p)
		memcpy(q, p, old < n ? old : n);
	return q;
}

static void program_starts_whose_malloc_reads_the_clock(void **state)
{
	struct timespec a, b;

	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &a), 0);
	assert_non_null(malloc(1));
	assert_true(reads > 0);
	assert_int_equal(clock_gettime(CLOCK_MONOTONIC, &b), 0);
	assert_true(b.tv_sec > a.tv_sec ||
		    (b.tv_sec == a.tv_sec && b.tv_nsec >= a.tv_nsec));
}

/* Sets an alarm that ends a hang. This is a constructor, because a hang would
 * begin before main(). */
static void __attribute__((constructor)) limit(void)
{
	alarm(20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(program_starts_whose_malloc_reads_the_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
