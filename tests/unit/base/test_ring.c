/* SPDX-License-Identifier: Apache-2.0 */
/* base/ring.h: order, growth and inserts in the middle, against an array. */
#include "../cmocka_all.h"
#include "base/ring.h"
#include "base/rng.h"

struct pkt {
	uint64_t at;
	uint32_t id;
};
struct ring {
	RING(struct pkt);
};

static void ring_is_empty_at_first_and_after_clearing(void **state)
{
	struct ring r = { 0 };

	assert_true(ring_empty(&r) && ring_full(&r));
	for (uint32_t i = 0; i == 0 || !ring_full(&r); i++)
		ring_push(&r)->id = i;
	assert_true(ring_count(&r) > 1);
	ring_pop(&r);
	assert_false(ring_full(&r) || ring_empty(&r));
	assert_int_equal(ring_front(&r)->id, 1);
	ring_clear(&r);
	assert_true(ring_empty(&r));
	ring_free(&r);
}

static void insert_keeps_the_order_while_the_ring_grows(void **state)
{
	static const uint32_t in[] = { 3, 5, 4, 1, 2, 0 };
	struct {
		RING(uint32_t);
	} r = { 0 };

	for (uint32_t i = 0; i < 3; i++) {
		ring_push(&r);
		ring_pop(&r);
	}
	for (uint32_t i = 0; i < 6; i++)
		ring_insert_sorted(&r, in[i], );
	assert_int_equal(ring_count(&r), 6);
	for (uint32_t i = 0; i < 6; i++)
		assert_int_equal(*ring_nth(&r, i), i);
	ring_free(&r);
}

/* Inserts packets in order of time, a new packet after packets of equal time.
 * Meanwhile the oldest packets leave. */
static void ring_sorts_as_an_array_does(void **state)
{
	struct pkt all[64];
	struct ring r = { 0 };
	struct weft_rng rng;
	uint32_t n = 0;

	weft_rng_seed(&rng, 7, NULL);
	for (uint32_t id = 0; id < 5000; id++) {
		struct pkt p = { weft_rng_below(&rng, 20), id };
		uint32_t k = n++;

		ring_insert_sorted(&r, p, .at);
		for (; k > 0 && all[k - 1].at > p.at; k--)
			all[k] = all[k - 1];
		all[k] = p;
		while (n > 40 || (n && weft_rng_below(&rng, 3) == 0)) {
			assert_int_equal(ring_front(&r)->id, all[0].id);
			ring_pop(&r);
			memmove(all, all + 1, --n * sizeof(*all));
		}
	}
	ring_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring_is_empty_at_first_and_after_clearing),
		cmocka_unit_test(insert_keeps_the_order_while_the_ring_grows),
		cmocka_unit_test(ring_sorts_as_an_array_does),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
