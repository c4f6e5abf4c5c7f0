/* SPDX-License-Identifier: Apache-2.0 */
/* Warm-up detection and confidence intervals on data of known statistics. */
#include <math.h>

#include "../cmocka_all.h"
#include "base/rng.h"
#include "measure/steady_state.h"

/* Returns a sum of 12 uniform numbers, with mean 0 and variance 1. */
static double noise(struct weft_rng *r)
{
	double s = -6;

	for (int i = 0; i < 12; i++)
		s += weft_rng_real(r);
	return s;
}

/* Latency falls or rises to its level within 1000 observations. */
static void interval_holds_the_level_behind_the_warm_up(void **st)
{
	struct weft_rng rng;
	struct steady s;
	double mean, half;

	weft_rng_seed(&rng, 1, "");
	steady_init(&s);
	for (uint32_t i = 0; i < 10000; i++)
		steady_add(&s,
			   100 - 80 * exp(-(double)i / 300) + 5 * noise(&rng));
	assert_true(steady_reached(&s));
	/* 1000 observations are the first tenth */
	assert_in_range(steady_cut(&s) * s.per, 500, 2500);
	assert_true(steady_interval(&s, steady_cut(&s), &mean, &half));
	assert_true(fabs(mean - 100) < 0.5 && half < 0.5 && half > 0.01);
}

static void growing_queue_never_reaches_a_steady_state(void **st)
{
	struct weft_rng rng;
	struct steady s;

	weft_rng_seed(&rng, 2, "");
	steady_init(&s);
	for (uint32_t i = 0; i < 20000; i++)
		steady_add(&s, 0.05 * i + noise(&rng));
	assert_false(steady_reached(&s));
}

static void observations_are_merged_when_memory_is_full(void **st)
{
	struct steady s;

	steady_init(&s);
	for (uint32_t i = 0; i < 5 * 1024 * 64; i++)
		steady_add(&s, i % 7);
	assert_int_equal(s.per, 5 * 128);
	assert_int_equal(s.n, 512);
	assert_int_equal(steady_cut(&s) < s.n / 2, 1);
}

static void interval_holds_the_mean_in_95_of_100_cases(void **st)
{
	struct weft_rng rng;
	uint32_t hit = 0;

	weft_rng_seed(&rng, 3, "");
	for (uint32_t run = 0; run < 1000; run++) {
		double mean, half;
		struct steady s;

		steady_init(&s);
		for (uint32_t i = 0; i < 1000; i++)
			steady_add(&s, 3 + noise(&rng));
		assert_true(steady_interval(&s, 0, &mean, &half));
		hit += fabs(mean - 3) <= half;
	}
	assert_in_range(hit, 925, 970);
}

static void few_observations_give_no_interval(void **st)
{
	double mean, half;
	struct steady s;

	steady_init(&s);
	assert_int_equal(steady_cut(&s), 0);
	assert_false(steady_reached(&s));
	assert_false(steady_interval(&s, 0, &mean, &half));
	for (uint32_t i = 0; i < 45; i++)
		steady_add(&s, 1);
	assert_false(steady_interval(&s, 0, &mean, &half));
	for (uint32_t i = 0; i < 5; i++)
		steady_add(&s, 1);
	assert_true(steady_interval(&s, 0, &mean, &half));
	assert_true(mean == 1 && half == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(interval_holds_the_level_behind_the_warm_up),
		cmocka_unit_test(growing_queue_never_reaches_a_steady_state),
		cmocka_unit_test(observations_are_merged_when_memory_is_full),
		cmocka_unit_test(interval_holds_the_mean_in_95_of_100_cases),
		cmocka_unit_test(few_observations_give_no_interval),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
