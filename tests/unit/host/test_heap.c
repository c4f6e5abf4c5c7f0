/* SPDX-License-Identifier: Apache-2.0 */
/* Memory of a program. Offsets in pages depend only on the program's calls. */
#include "host/heap.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../cmocka_all.h"
#include "base/rng.h"

enum { BLOCKS = 300, STEPS = 6000, PAGE = 4096 };

struct play {
	struct heap heap;
	struct weft_rng rng;
	uint8_t *at[BLOCKS];
	size_t bytes[BLOCKS];
};

static size_t some_size(struct weft_rng *r)
{
	return weft_rng_below(r, weft_rng_below(r, 20) ? 3000 : 150000);
}

/* Allocates or frees one block. Returns its offset in the page. */
static uint32_t step(struct play *p)
{
	uint32_t i = (uint32_t)weft_rng_below(&p->rng, BLOCKS);
	size_t align = (size_t)16 << weft_rng_below(&p->rng, 9);

	if (p->at[i]) {
		for (size_t k = 0; k < p->bytes[i]; k++)
			assert_int_equal(p->at[i][k], (uint8_t)i);
		heap_free(p->at[i]);
		p->at[i] = NULL;
		return 0;
	}
	p->bytes[i] = some_size(&p->rng);
	p->at[i] = heap_alloc(&p->heap, p->bytes[i], align);
	assert_non_null(p->at[i]);
	assert_int_equal((uintptr_t)p->at[i] % align, 0);
	assert_true(heap_owns(&p->heap, p->at[i]));
	assert_int_equal(heap_size(p->at[i]), p->bytes[i]);
	for (size_t k = 0; k < p->bytes[i]; k++)
		assert_int_equal(p->at[i][k], 0);
	memset(p->at[i], (int)i, p->bytes[i]);
	return (uint32_t)((uintptr_t)p->at[i] % PAGE);
}

static void the_same_calls_give_the_same_places_in_pages(void **state)
{
	struct play a = { 0 }, b = { 0 };
	void *noise[64] = { 0 };

	weft_rng_seed(&a.rng, 7, "heap");
	weft_rng_seed(&b.rng, 7, "heap");
	for (uint32_t i = 0; i < STEPS; i++) {
		uint32_t place = step(&a);

		/* other allocations of the process must have no effect */
		free(noise[i % 64]);
		noise[i % 64] = malloc(i * 1103515245u % 70000 + 1);
		assert_int_equal(step(&b), place);
	}
	for (uint32_t i = 0; i < 64; i++)
		free(noise[i]);
	heap_fini(&a.heap);
	heap_fini(&b.heap);
}

static void large_blocks_begin_with_a_page(void **state)
{
	struct heap h = { 0 };
	uint8_t *p = heap_alloc(&h, 40000, 16);

	assert_int_equal((uintptr_t)p % PAGE, 0);
	heap_free(p);
	assert_int_equal(h.spans.n, 0);
	heap_fini(&h);
}

static void memory_of_others_is_told_apart(void **state)
{
	struct heap a = { 0 }, b = { 0 };
	uint8_t *p = heap_alloc(&a, 10, 16), *q = heap_alloc(&b, 100000, 16);
	uint8_t *m = malloc(10);

	assert_true(heap_owns(&a, p));
	assert_false(heap_owns(&b, p));
	assert_true(heap_owns(&b, q + 99999));
	assert_false(heap_owns(&a, q));
	assert_false(heap_owns(&a, m));
	free(m);
	heap_free(NULL);
	heap_fini(&a);
	heap_fini(&b);
}

static void impossible_sizes_are_refused(void **state)
{
	struct heap h = { 0 };

	assert_null(heap_alloc(&h, SIZE_MAX, 16));
	assert_null(heap_alloc(&h, (size_t)1 << 62, 16));
	heap_fini(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_same_calls_give_the_same_places_in_pages),
		cmocka_unit_test(large_blocks_begin_with_a_page),
		cmocka_unit_test(memory_of_others_is_told_apart),
		cmocka_unit_test(impossible_sizes_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
