/* SPDX-License-Identifier: Apache-2.0 */
/* Growth of a queue: hand-made contents, sampled in steps. */
#include <math.h>

#include "../cmocka_all.h"
#include "base/rng.h"
#include "measure/growth.h"

static double noise(struct weft_rng *rng)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += weft_rng_real(rng);
	return sum; /* a sum with mean 0 and deviation 1 */
}

/* Feeds `steps` samples of a queue. In each step the content grows by drift and
 * noise, and shrinks by the fraction `back` of itself. Returns true if growth
 * is found. */
static bool grows(struct weft_rng *rng, uint32_t steps, double drift,
		  double back)
{
	struct growth g;
	double content = 0;

	growth_init(&g, 0, 10);
	for (uint32_t i = 0; i <= steps; i++) {
		growth_look(&g, content);
		content += drift + noise(rng) - back * content;
	}
	return growth_found(&g, 0);
}

static uint32_t of_1000(double drift, double back)
{
	struct weft_rng rng;
	uint32_t n = 0;

	weft_rng_seed(&rng, 7, "growth");
	for (int i = 0; i < 1000; i++)
		n += grows(&rng, 16, drift, back);
	return n;
}

static void a_queue_that_empties_does_not_grow(void **st)
{
	assert_int_equal(of_1000(0, 1), 0);
	assert_true(of_1000(0, 0.3) < 10);
}

/* Arrivals and service are equally fast, so that growth is reported only by
 * chance. */
static void a_queue_that_wanders_seldom_grows(void **st)
{
	assert_true(of_1000(0, 0) < 50);
}

static void a_queue_that_is_filled_faster_grows(void **st)
{
	assert_true(of_1000(1.5, 0) > 990);
}

/* The content rises from empty to its level within the first steps, or within
 * more steps than the test has. */
static void a_queue_that_fills_up_does_not_grow_for_long(void **st)
{
	struct growth g;

	for (uint32_t t = 2; t <= 32; t *= 2) {
		growth_init(&g, 0, 10);
		for (uint32_t i = 0; i <= 16; i++)
			growth_look(&g, 100 * (1 - exp(-(double)i / t)));
		assert_int_equal(growth_lasts(&g), t > 4);
	}
	growth_init(&g, 0, 10);
	for (uint32_t i = 0; i <= 16; i++)
		growth_look(&g, i);
	assert_true(growth_lasts(&g));
}

/* The queue is filled as fast as it is served, from empty on. It grows with the
 * root of time for ever, because no level bounds it. */
static void a_queue_at_its_limit_grows_for_long(void **st)
{
	struct growth g;

	growth_init(&g, 0, 10);
	for (uint32_t i = 0; i <= 16; i++)
		growth_look(&g, 100 * sqrt(i));
	assert_true(growth_found(&g, 0));
	assert_true(growth_lasts(&g));
}

static void a_little_is_no_growth(void **st)
{
	struct growth g;

	growth_init(&g, 0, 10);
	for (uint32_t i = 0; i <= 16; i++)
		growth_look(&g, i);
	assert_true(growth_found(&g, 15));
	assert_false(growth_found(&g, 16));
}

static void few_looks_tell_nothing(void **st)
{
	struct growth g;

	growth_init(&g, 0, 0);
	assert_false(growth_found(&g, 0));
	for (uint32_t i = 0; i < GROWTH_ENOUGH; i++)
		growth_look(&g, i * 1000);
	assert_false(growth_found(&g, 0));
	growth_look(&g, GROWTH_ENOUGH * 1000);
	assert_true(growth_found(&g, 0));
}

/* When the table is full the step doubles. The first and the latest sample
 * stay. */
static void looks_without_end_have_room(void **st)
{
	struct growth g;
	uint64_t at = 0;

	growth_init(&g, 1000, 64);
	for (int i = 0; i < 200; i++) {
		at = growth_due(&g);
		assert_int_equal((at - 1000) % g.step, 0);
		growth_look(&g, (double)at);
		assert_true(g.n <= GROWTH_STEPS);
		assert_true(g.at[0] == 1000);
		assert_true(g.at[1] == (double)(1000 + g.step) || g.n == 1);
	}
	assert_true(at > 1000000);
	assert_true(growth_found(&g, 0));
}

/* One sample more than the table holds removes every second sample. The first
 * and the latest stay. */
static void every_second_look_stays(void **st)
{
	struct growth g;

	growth_init(&g, 1000, 64);
	for (uint32_t i = 0; i <= GROWTH_STEPS; i++)
		growth_look(&g, i);
	assert_int_equal(g.n, GROWTH_STEPS / 2 + 1);
	for (uint32_t i = 0; i < g.n; i++)
		assert_true(g.at[i] == 2 * i);
	assert_int_equal(growth_due(&g), 1000 + 64 * (GROWTH_STEPS + 2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_queue_that_empties_does_not_grow),
		cmocka_unit_test(a_queue_that_wanders_seldom_grows),
		cmocka_unit_test(a_queue_that_is_filled_faster_grows),
		cmocka_unit_test(a_queue_that_fills_up_does_not_grow_for_long),
		cmocka_unit_test(a_queue_at_its_limit_grows_for_long),
		cmocka_unit_test(a_little_is_no_growth),
		cmocka_unit_test(few_looks_tell_nothing),
		cmocka_unit_test(looks_without_end_have_room),
		cmocka_unit_test(every_second_look_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
