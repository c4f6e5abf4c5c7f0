/* SPDX-License-Identifier: Apache-2.0 */
/* Node memory: owners, and mappings that keep memory after it was freed. */
#include "../cmocka_all.h"

#include "host/mem.h"

enum { BASE = 0x100000, BYTES = 1 << 20, PAGE = MEM_PAGE };

static const int a, b; /* owners */

static weft_phys_t of(struct mem *m, uint64_t bytes, const void *owner)
{
	weft_phys_t phys = 0;

	assert_non_null(mem_alloc_for(m, bytes, PAGE, owner, &phys));
	return phys;
}

static const void *owner_at(struct mem *m, weft_phys_t phys)
{
	return mem_owner(m, mem_at(m, phys, 1));
}

/* Checks that all memory has been freed. */
static void end(struct mem *m)
{
	assert_int_equal(m->used.n, 0);
	assert_int_equal(m->spare.n, 1);
	mem_fini(m);
}

static void hold_is_of_one_allocation(void **state)
{
	weft_phys_t phys, free_at;
	struct mem m;

	mem_init(&m, BASE, BYTES);
	phys = of(&m, 2 * PAGE, &a);
	free_at = phys + 2 * PAGE;
	const struct {
		weft_phys_t phys;
		uint64_t len;
		const void *owner;
		bool held;
	} t[] = {
		{ phys, 2 * PAGE, &a, true },
		{ phys, 2 * PAGE + 1, &a, false },
		{ phys + 100, 2 * PAGE - 100, &a, true },
		{ phys + 100, 2 * PAGE - 99, &a, false },
		{ phys + 2 * PAGE - 1, 1, &a, true },
		{ free_at, 1, &a, false },
		{ free_at, 1, NULL, false },
		{ phys - 1, 1, &a, false },
		{ phys, 1, &b, false },
		{ phys, 1, NULL, false },
		{ BASE - 1, 1, &a, false },
		{ BASE + BYTES, 1, &a, false },
		{ phys, UINT64_MAX, &a, false },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(*t); i++) {
		assert_int_equal(mem_hold(&m, t[i].phys, t[i].len, t[i].owner),
				 t[i].held);
		assert_int_equal(mem_release(&m, t[i].phys), t[i].held);
	}
	mem_free_all(&m, &a);
	assert_false(mem_hold(&m, phys, 1, &a));
	end(&m);
}

/* A device reaches whole pages. Therefore a hold is refused if its pages also
 * contain memory of another owner. They may contain memory without an owner. */
static void hold_is_of_own_pages(void **state)
{
	weft_phys_t p[4];
	struct mem m;

	mem_init(&m, BASE, BYTES);
	/* p[0] ends in the page that holds p[1] and p[2]. p[3] is in the next
	 * page. */
	mem_alloc(&m, PAGE + 64, PAGE, &p[0]);
	mem_alloc(&m, 64, 0, &p[1]);
	mem_alloc(&m, PAGE - 128, 0, &p[2]);
	mem_alloc(&m, 64, 0, &p[3]);
	assert_int_equal(p[1], p[0] + PAGE + 64);
	assert_int_equal(p[2], p[1] + 64);
	assert_int_equal(p[3], p[0] + 2 * PAGE);
	mem_own(&m, p[1], &a);
	mem_own(&m, p[3], &b);
	assert_true(mem_hold(&m, p[1], 64, &a));
	assert_true(mem_release(&m, p[1]));
	mem_own(&m, p[0], &b);
	assert_false(mem_hold(&m, p[1], 64, &a));
	/* holds all pages of p[0] but the last */
	assert_true(mem_hold(&m, p[0], PAGE, &b));
	assert_false(mem_hold(&m, p[0], PAGE + 1, &b));
	assert_true(mem_release(&m, p[0]));
	mem_free_all(&m, &b);
	assert_true(mem_hold(&m, p[1], 64, &a));
	mem_own(&m, p[2], &b);
	assert_false(mem_hold(&m, p[1], 64, &a));
	assert_true(mem_release(&m, p[1]));
	mem_free_all(&m, &a);
	mem_free_all(&m, &b);
	end(&m);
}

static void held_memory_goes_back_at_the_last_release(void **state)
{
	weft_phys_t phys;
	struct mem m;
	uint8_t *p;

	mem_init(&m, BASE, BYTES);
	phys = of(&m, PAGE, &a);
	p = mem_at(&m, phys, PAGE);
	assert_false(mem_release(&m, phys));
	assert_true(mem_hold(&m, phys, PAGE, &a));
	assert_true(mem_hold(&m, phys, PAGE, &a));
	assert_true(mem_release(&m, phys + 5));
	/* one hold is left, so that the memory is not freed yet */
	assert_ptr_equal(mem_owner(&m, p), &a);
	assert_true(mem_hold(&m, phys + 5, 1, &a));
	assert_true(mem_free(&m, p));
	assert_false(mem_free(&m, p));
	assert_false(mem_hold(&m, phys, PAGE, &a));
	assert_true(of(&m, PAGE, &b) != phys);
	assert_true(mem_release(&m, phys));
	assert_true(of(&m, PAGE, &b) != phys);
	assert_true(mem_release(&m, phys));
	assert_false(mem_release(&m, phys));
	assert_int_equal(of(&m, PAGE, &b), phys);
	mem_free_all(&m, &b);
	end(&m);
}

static void all_of_an_owner_is_freed(void **state)
{
	weft_phys_t gone, held, others;
	struct mem m;

	mem_init(&m, BASE, BYTES);
	gone = of(&m, PAGE, &a);
	others = of(&m, PAGE, &b);
	held = of(&m, PAGE, &a);
	assert_true(mem_hold(&m, held, 1, &a));
	mem_free_all(&m, &a);
	mem_free_all(&m, &a);
	assert_null(owner_at(&m, gone));
	assert_ptr_equal(owner_at(&m, others), &b);
	assert_ptr_equal(owner_at(&m, held), &a);
	assert_true(mem_release(&m, held));
	assert_null(owner_at(&m, held));
	mem_free_all(&m, &b);
	end(&m);
}

static void memory_of_an_owner_stays_its_own(void **state)
{
	weft_phys_t none, kernel;
	struct mem m;

	mem_init(&m, BASE, BYTES);
	kernel = of(&m, 64, MEM_KERNEL);
	mem_alloc(&m, 64, PAGE, &none);
	assert_null(owner_at(&m, none));
	assert_false(mem_hold(&m, none, 64, &a));
	mem_own(&m, none + 63, &a);
	mem_own(&m, none + 64, &b); /* the bytes from none + 64 on are free */
	assert_ptr_equal(owner_at(&m, none), &a);
	assert_null(owner_at(&m, none + 64));
	mem_own(&m, kernel, &a);
	assert_ptr_equal(owner_at(&m, kernel), &a);
	mem_own(&m, kernel, &b);
	assert_ptr_equal(owner_at(&m, kernel), &a);
	assert_null(mem_owner(&m, &m));
	mem_free_all(&m, &a);
	end(&m);
}

static void owners_have_pages_of_their_own(void **state)
{
	weft_phys_t x, p[4];
	struct mem m;
	void *first;

	/* the first page given out is at 0x4000 */
	mem_init(&m, 0x4000 - PAGE, BYTES);
	first = mem_alloc(&m, 64, 0, &x);
	assert_non_null(mem_alloc_for(&m, 64, 0, &a, &p[0]));
	assert_int_equal(p[0], 0x4040);
	assert_non_null(mem_alloc_for(&m, 64, 0, &b, &p[1]));
	assert_int_equal(p[1], 0x5000);
	assert_non_null(mem_alloc_for(&m, 64, 0, &a, &p[2]));
	assert_int_equal(p[2], 0x4080);
	assert_true(mem_free(&m, first));
	assert_non_null(mem_alloc_for(&m, 64, 0x4000, &b, &p[3]));
	assert_int_equal(p[3], 0x8000); /* aligned as requested */
	assert_non_null(mem_alloc_for(&m, 64, 0, &a, NULL));
	assert_null(mem_alloc_for(&m, BYTES, 0, &a, &x));
	mem_free_all(&m, &a);
	mem_free_all(&m, &b);
	end(&m);
}

static void allocations_of_nothing_differ(void **state)
{
	weft_phys_t x, y;
	struct mem m;
	void *p, *q;

	mem_init(&m, BASE, BYTES);
	p = mem_alloc(&m, 0, 0, &x);
	q = mem_alloc(&m, 0, 0, &y);
	assert_true(p && q && x != y);
	assert_true(mem_free(&m, p));
	assert_true(mem_free(&m, q));
	end(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hold_is_of_one_allocation),
		cmocka_unit_test(hold_is_of_own_pages),
		cmocka_unit_test(held_memory_goes_back_at_the_last_release),
		cmocka_unit_test(all_of_an_owner_is_freed),
		cmocka_unit_test(memory_of_an_owner_stays_its_own),
		cmocka_unit_test(owners_have_pages_of_their_own),
		cmocka_unit_test(allocations_of_nothing_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
