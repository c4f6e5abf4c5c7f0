/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks of timed processes. Their offset in a page does not depend on earlier
 * allocations. In all other respects they behave as malloc defines. */
#include "../cmocka_all.h"

#include <errno.h>
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, ROUNDS = 4000 };

static size_t align_of(size_t n)
{
	size_t a = 16;

	if (n < 256)
		return a;
	while (a < n && a < PAGE)
		a *= 2;
	return a;
}

static void expect_at(void *p, size_t n)
{
	assert_non_null(p);
	assert_int_equal((uintptr_t)p % align_of(n), 0);
	assert_true(malloc_usable_size(p) >= n);
}

static void expect_bytes(const unsigned char *p, size_t n, unsigned char want)
{
	for (size_t i = 0; i < n; i++)
		assert_int_equal(p[i], want);
}

static size_t any(size_t most)
{
	return (size_t)rand() % most;
}

/* Allocates small blocks between the large ones. The small blocks imitate names
 * of processes, whose lengths differ from run to run. */
static void blocks_keep_their_bytes_and_alignment(void **state)
{
	unsigned char *at[64] = { 0 }, *name;
	size_t len[64] = { 0 };

	srand(1);
	for (int i = 0; i < ROUNDS; i++) {
		size_t k = any(64);

		name = malloc(any(200));
		if (at[k])
			expect_bytes(at[k], len[k], (unsigned char)k);
		len[k] = any(i % 8 ? 3000 : 300000);
		if (i % 3) {
			free(at[k]);
			at[k] = malloc(len[k]);
		} else {
			at[k] = realloc(at[k], len[k] + 1);
		}
		expect_at(at[k], len[k]);
		memset(at[k], (int)k, len[k]);
		if (i % 5)
			free(name);
	}
	for (size_t k = 0; k < 64; k++)
		free(at[k]);
}

static void realloc_keeps_bytes_and_alignment(void **state)
{
	unsigned char *p = malloc(200);

	memset(p, 7, 200);
	for (size_t n = 300; n < 1000000; n *= 3) {
		p = realloc(p, n);
		expect_at(p, n);
		expect_bytes(p, n / 3 < 200 ? n / 3 : 200, 7);
	}
	p = reallocarray(p, 16, 16);
	expect_at(p, 256);
	expect_bytes(p, 200, 7);
	free(p);
}

static void calloc_clears_memory_used_before(void **state)
{
	static const size_t sizes[] = { 1,    255,    256,     4095,
					5000, 200000, 65 << 20 };

	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		unsigned char *p = malloc(sizes[i]);

		memset(p, 0xff, sizes[i] < 5000 ? sizes[i] : 5000);
		free(p);
		p = calloc(sizes[i], 1);
		assert_non_null(p);
		expect_bytes(p, sizes[i] < 5000 ? sizes[i] : 5000, 0);
		free(p);
	}
}

static void alignment_that_is_asked_for_is_met(void **state)
{
	void *p = NULL;

	assert_int_equal(posix_memalign(&p, 64, 5000), 0);
	expect_at(p, 5000);
	free(p);
	p = aligned_alloc(2 * PAGE, 4 * PAGE);
	assert_int_equal((uintptr_t)p % (2 * PAGE), 0);
	free(p);
	p = memalign(512, 10);
	assert_int_equal((uintptr_t)p % 512, 0);
	free(p);
	assert_int_equal(posix_memalign(&p, 24, 100), EINVAL);
}

static void impossible_sizes_get_no_memory(void **state)
{
	volatile size_t half = SIZE_MAX / 2;
	void *p = NULL;

	assert_null(calloc(half, 3));
	assert_null(reallocarray(NULL, half, 3));
	assert_null(malloc(half + half / 2));
	assert_int_equal(posix_memalign(&p, 64, half), ENOMEM);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(blocks_keep_their_bytes_and_alignment),
		cmocka_unit_test(realloc_keeps_bytes_and_alignment),
		cmocka_unit_test(calloc_clears_memory_used_before),
		cmocka_unit_test(alignment_that_is_asked_for_is_met),
		cmocka_unit_test(impossible_sizes_get_no_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
