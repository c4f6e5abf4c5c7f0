/* SPDX-License-Identifier: Apache-2.0 */
/* Node memory: bounds, alignment, zeroing, reuse, and random allocation. */
#include "../cmocka_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "host/mem.h"

enum { MIB = 1 << 20 };

static void range_must_lie_inside_the_memory(void **state)
{
	struct mem m;
	weft_phys_t phys;
	uint8_t *last;

	mem_init(&m, 0x100000, MIB);
	assert_true(mem_contains(&m, 0x100000, MIB));
	assert_false(mem_contains(&m, 0x100000, MIB + 1));
	assert_false(mem_contains(&m, 0xfffff, 1));
	assert_true(mem_contains(&m, 0x1ffff8, 8));
	assert_false(mem_contains(&m, 0x1ffff8, 9));
	assert_false(mem_contains(&m, UINT64_MAX - 3, 8));
	assert_false(mem_contains(&m, 0x100008, UINT64_MAX - 4));
	assert_null(mem_at(&m, 0x200000, 1));
	last = mem_at(&m, 0x1fffff, 1);
	assert_non_null(last);
	assert_true(mem_phys(&m, last, &phys));
	assert_int_equal(phys, 0x1fffff);
	assert_false(mem_phys(&m, last + 1, &phys));
	mem_fini(&m);
}

/* Returns a size as large as the process may map. */
static uint64_t large(void)
{
	struct rlimit data;

	getrlimit(RLIMIT_DATA, &data);
	return data.rlim_cur == RLIM_INFINITY ? 1ull << 40 : data.rlim_cur / 2;
}

static void memory_is_mapped_at_its_first_use(void **state)
{
	struct mem m;
	weft_phys_t phys;

	mem_init(&m, 0, large());
	assert_null(m.map);
	assert_false(mem_phys(&m, &m, &phys));
	assert_non_null(mem_alloc(&m, 64, 0, &phys));
	assert_true(phys > 0);
	mem_fini(&m);
}

static void allocation_is_aligned_and_zeroed(void **state)
{
	struct mem m;
	weft_phys_t phys, again;
	uint8_t *p;

	mem_init(&m, 0x800, MIB); /* the base is not aligned as requested */
	for (uint64_t align = 1; align <= 65536; align *= 2) {
		p = mem_alloc(&m, 100, align, &phys);
		assert_non_null(p);
		assert_int_equal(phys % align, 0);
		assert_true(mem_phys(&m, p, &again));
		assert_int_equal(phys, again);
		assert_ptr_equal(mem_at(&m, phys, 100), p);
		for (int i = 0; i < 100; i++)
			assert_int_equal(p[i], 0);
		memset(p, 0xee, 100);
		assert_true(mem_free(&m, p));
	}
	assert_null(mem_alloc(&m, 8, 3, &phys));
	mem_fini(&m);
}

static void freed_neighbours_join_to_one_block(void **state)
{
	struct mem m;
	void *p[1024];
	int n = 0;

	mem_init(&m, 0, MIB);
	assert_null(mem_alloc(&m, MIB, 0, NULL));
	while (n < 1024 && (p[n] = mem_alloc(&m, 4096, 4096, NULL)))
		n++;
	assert_int_equal(n, 255); /* the first page stays unused */
	assert_null(mem_alloc(&m, 1, 0, NULL));
	for (int i = 0; i < n; i += 2)
		assert_true(mem_free(&m, p[i]));
	assert_null(mem_alloc(&m, 8192, 0, NULL));
	for (int i = 1; i < n; i += 2)
		assert_true(mem_free(&m, p[i]));
	assert_int_equal(m.spare.n, 1);
	assert_non_null(mem_alloc(&m, MIB - 4096, 0, NULL));
	mem_fini(&m);
}

static void only_the_start_of_a_block_is_freed_once(void **state)
{
	struct mem m;
	uint8_t *p;

	mem_init(&m, 0, MIB);
	p = mem_alloc(&m, 128, 0, NULL);
	assert_false(mem_free(&m, p + 64));
	assert_false(mem_free(&m, &m));
	assert_true(mem_free(&m, NULL));
	assert_true(mem_free(&m, p));
	assert_false(mem_free(&m, p));
	mem_fini(&m);
}

static void random_allocations_never_overlap_and_are_zeroed(void **state)
{
	enum { N = 64 };
	struct mem m;
	uint8_t *p[N] = { 0 };
	size_t len[N] = { 0 };
	uint32_t x = 12345;

	mem_init(&m, 0, MIB);
	for (int round = 0; round < 20000; round++) {
		uint32_t i = (x = x * 1664525 + 1013904223) >> 26;

		if (p[i]) {
			for (size_t k = 0; k < len[i]; k++)
				assert_int_equal(p[i][k], i + 1);
			assert_true(mem_free(&m, p[i]));
			p[i] = NULL;
			continue;
		}
		len[i] = (x >> 8) % 3000 + 1;
		p[i] = mem_alloc(&m, len[i], 1ull << (x % 8), NULL);
		for (size_t k = 0; p[i] && k < len[i]; k++)
			assert_int_equal(p[i][k], 0);
		if (p[i])
			memset(p[i], (int)i + 1, len[i]);
	}
	mem_fini(&m);
}

/* ---- pinned pages ---- */

static void pinned_pages_keep_one_address_until_the_last_unpin(void **state)
{
	uint8_t *buf = aligned_alloc(4096, 5 * 4096);
	struct mem m;
	weft_phys_t phys[5], again[5], back;

	memset(buf, 0x55, 5 * 4096);
	mem_init(&m, 0x100000, MIB);
	/* bytes 100 .. 8391 are in three pages */
	assert_true(mem_pin(&m, buf + 100, 8292, phys));
	for (int i = 0; i < 3; i++) {
		assert_int_equal(phys[i] % 4096, 0);
		assert_true(mem_contains(&m, phys[i], 4096));
		assert_ptr_equal(mem_at(&m, phys[i] + 9, 1),
				 buf + i * 4096 + 9);
		assert_true(mem_phys(&m, buf + i * 4096 + 7, &back));
		assert_int_equal(back, phys[i] + 7);
		if (i)
			assert_int_not_equal(phys[i], phys[i - 1] + 4096);
	}
	assert_false(mem_phys(&m, buf + 3 * 4096, &back));
	assert_int_equal(mem_piece(&m, phys[0] + 4000, 200), 96);
	/* A page that is pinned twice keeps its address until both pins are
	 * gone. */
	assert_true(mem_pin(&m, buf + 4096, 1, again));
	assert_int_equal(again[0], phys[1]);
	mem_unpin(&m, buf + 100, 8292);
	assert_false(mem_phys(&m, buf, &back));
	assert_true(mem_phys(&m, buf + 4096, &back));
	mem_unpin(&m, buf + 4096, 1);
	assert_false(mem_phys(&m, buf + 4096, &back));
	assert_ptr_not_equal(mem_at(&m, phys[1], 1), buf + 4096);
	assert_int_equal(buf[5000], 0x55);
	mem_fini(&m);
	free(buf);
}

static void pin_without_room_or_memory_keeps_nothing(void **state)
{
	uint8_t *buf = aligned_alloc(4096, 32 * 4096);
	struct mem m;
	weft_phys_t phys[32], p0;
	uint8_t *own;

	/* 16 pages, the first of which is never given out */
	mem_init(&m, 0, 64 << 10);
	assert_false(mem_pin(&m, buf, 32 * 4096, phys));
	/* a refused pin keeps no page */
	assert_true(mem_pin(&m, buf, 15 * 4096, phys));
	assert_false(mem_pin(&m, buf + 20 * 4096, 1, phys));
	mem_unpin(&m, buf, 15 * 4096);
	/* an address that this process has not mapped */
	assert_false(mem_pin(&m, (void *)8192, 4096, phys));
	/* memory of the node can be pinned, too, and keeps its address */
	own = mem_alloc(&m, 8192, 4096, &p0);
	assert_true(mem_pin(&m, own + 5, 8000, phys));
	assert_int_equal(phys[0], p0);
	assert_int_equal(phys[1], p0 + 4096);
	mem_unpin(&m, own + 5, 8000);
	assert_true(mem_free(&m, own));
	mem_fini(&m);
	free(buf);
}

/* A second mapping of shared memory has the same bytes. Allocations get the
 * addresses that they get in memory that is not shared. The memory has a fixed
 * size. */
static void shared_memory_has_the_addresses_of_plain_one(void **state)
{
	weft_phys_t a, b;
	struct mem m, plain;
	uint8_t *p, *q;
	int fd;

	mem_init(&m, 0x100000, MIB);
	mem_init(&plain, 0x100000, MIB);
	fd = mem_share(&m);
	assert_true(fd >= 0);
	assert_int_equal(mem_share(&m), fd);
	for (int i = 0; i < 100; i++) {
		p = mem_alloc(&m, 100u * (unsigned)i, 0, &a);
		assert_non_null(mem_alloc(&plain, 100u * (unsigned)i, 0, &b));
		assert_int_equal(a, b);
		if (i % 3 == 0)
			assert_true(mem_free(&m, p) &&
				    mem_free(&plain, mem_at(&plain, b, 1)));
	}
	p = mem_alloc(&m, 8, 0, &a);
	q = mmap(NULL, MIB, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(q != MAP_FAILED);
	p[3] = 42;
	assert_int_equal(q[a - 0x100000 + 3], 42);
	q[a - 0x100000 + 4] = 43;
	assert_int_equal(p[4], 43);
	assert_int_equal(ftruncate(fd, 4096), -1);
	munmap(q, MIB);
	assert_int_equal(mem_share(&plain), -EBUSY);
	mem_fini(&m);
	mem_fini(&plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(range_must_lie_inside_the_memory),
		cmocka_unit_test(memory_is_mapped_at_its_first_use),
		cmocka_unit_test(allocation_is_aligned_and_zeroed),
		cmocka_unit_test(freed_neighbours_join_to_one_block),
		cmocka_unit_test(only_the_start_of_a_block_is_freed_once),
		cmocka_unit_test(
			random_allocations_never_overlap_and_are_zeroed),
		cmocka_unit_test(
			pinned_pages_keep_one_address_until_the_last_unpin),
		cmocka_unit_test(pin_without_room_or_memory_keeps_nothing),
		cmocka_unit_test(shared_memory_has_the_addresses_of_plain_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
