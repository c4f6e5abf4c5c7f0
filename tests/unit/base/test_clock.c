/* SPDX-License-Identifier: Apache-2.0 */
#include "../cmocka_all.h"
#include "base/rng.h"
#include "weft/clock.h"

static struct weft_clock clock_hz(uint64_t num, uint64_t den)
{
	struct weft_clock c;

	assert_true(weft_clock_from_hz(&c, num, den));
	return c;
}

static void assert_period(struct weft_clock c, uint64_t num, uint64_t den)
{
	assert_int_equal(c.num, num);
	assert_int_equal(c.den, den);
	assert_int_equal(c.phase, 0);
}

static void frequency_gives_an_exact_period(void **state)
{
	assert_period(clock_hz(100000000, 1), 10000000, 1);
	assert_period(clock_hz(78125000, 1), 12800000, 1);
	assert_period(clock_hz(156250000, 2), 12800000, 1);
	assert_period(clock_hz(330000000, 1), 100000000, 33);
	assert_period(clock_hz(400000000, 3), 7500000, 1);
	assert_period(clock_hz(133333333, 1), 1000000000000000, 133333333);
	assert_period(clock_hz(1, 1), 1000000000000000, 1);
	assert_period(clock_hz(1000000000000000, 1), 1, 1);
}

static void impossible_frequency_or_period_is_refused(void **state)
{
	struct weft_clock c;

	assert_false(weft_clock_from_hz(&c, 0, 1));
	assert_false(weft_clock_from_hz(&c, 1, 0));
	assert_false(weft_clock_from_hz(&c, 0, 0));
	/* refuses clocks faster than one edge per femtosecond */
	assert_false(weft_clock_from_hz(&c, 1000000000000001, 1));
	/* refuses a period beyond 64 bits */
	assert_false(weft_clock_from_hz(&c, 1, 1000000));
	assert_false(weft_clock_from_period(&c, 0));
}

static void period_is_taken_as_it_is(void **state)
{
	struct weft_clock c;

	assert_true(weft_clock_from_period(&c, 12800000));
	assert_period(c, 12800000, 1);
	assert_true(weft_clock_from_period(&c, 1));
	assert_period(c, 1, 1);
	assert_true(weft_clock_from_period(&c, UINT64_MAX));
	assert_period(c, UINT64_MAX, 1);
}

static void clock_of_330_mhz_never_drifts(void **state)
{
	struct weft_clock c = clock_hz(330000000, 1);

	assert_int_equal(weft_clock_edge(&c, 1), 3030303);
	assert_int_equal(weft_clock_edge(&c, 2), 6060606);
	assert_int_equal(weft_clock_edge(&c, 33), 100000000);
	assert_int_equal(weft_clock_edge(&c, 330), WEFT_US);
	assert_int_equal(weft_clock_edge(&c, UINT64_C(330000000) * 18000),
			 18000 * WEFT_SEC);
	assert_int_equal(weft_clock_cycle(&c, 18000 * WEFT_SEC),
			 UINT64_C(330000000) * 18000);
}

static void time_is_aligned_to_the_next_edge(void **state)
{
	struct weft_clock c = clock_hz(100000000, 1);

	assert_int_equal(weft_clock_align(&c, 0), 0);
	assert_int_equal(weft_clock_align(&c, 1), 10 * WEFT_NS);
	assert_int_equal(weft_clock_align(&c, 10 * WEFT_NS), 10 * WEFT_NS);
	/* A synchroniser of 2 cycles adds 2 cycles to the first edge at or
	 * after the time. */
	assert_int_equal(weft_clock_after(&c, 11 * WEFT_NS, 2), 40 * WEFT_NS);
	assert_int_equal(weft_clock_after(&c, 20 * WEFT_NS, 2), 40 * WEFT_NS);
	c.phase = 3 * WEFT_NS;
	assert_int_equal(weft_clock_cycle(&c, 0), 0);
	assert_int_equal(weft_clock_cycle(&c, 3 * WEFT_NS), 0);
	assert_int_equal(weft_clock_cycle(&c, 3 * WEFT_NS + 1), 1);
	assert_int_equal(weft_clock_align(&c, 4 * WEFT_NS), 13 * WEFT_NS);
}

/* The time of a run that has no end. */
static void last_time_has_the_highest_cycle(void **state)
{
	struct weft_clock c = clock_hz(100000000, 1);

	assert_int_equal(weft_clock_cycle(&c, WEFT_NEVER),
			 UINT64_MAX / (10 * WEFT_NS) + 1);
	c = clock_hz(330000000, 1);
	assert_int_equal(weft_clock_cycle(&c, WEFT_NEVER), 6087425544325);
}

/* For any clock, cycle() inverts edge(): it returns the number n for the time
 * of edge n, and n + 1 for a time one femtosecond later. */
static void cycle_inverts_edge(void **state)
{
	struct weft_rng r;

	weft_rng_seed(&r, 1, "clock");
	for (int i = 0; i < 20000; i++) {
		struct weft_clock c =
			clock_hz(1 + weft_rng_below(&r, 20000000000),
				 1 + weft_rng_below(&r, 7));
		uint64_t n = 1 + weft_rng_below(&r, 1000000);
		weft_time_t t;

		c.phase = weft_rng_below(&r, WEFT_US);
		if ((unsigned __int128)n * c.num / c.den > UINT64_MAX / 2)
			continue;
		t = weft_clock_edge(&c, n);
		assert_int_equal(weft_clock_cycle(&c, t), n);
		assert_int_equal(weft_clock_cycle(&c, t + 1), n + 1);
		assert_int_equal(weft_clock_align(&c, t), t);
	}
}

static void offset_in_ppm_scales_the_frequency(void **state)
{
	struct weft_clock c = clock_hz(78125000, 1), fast, slow;

	c.phase = 5;
	fast = weft_clock_offset_ppm(c, 100);
	slow = weft_clock_offset_ppm(c, -100);
	assert_int_equal(fast.phase, 5);
	/* 12.8 ns * 10^6 / 1000100, reduced */
	assert_int_equal(fast.num, UINT64_C(128000000000));
	assert_int_equal(fast.den, 10001);
	assert_int_equal(slow.num, UINT64_C(128000000000));
	assert_int_equal(slow.den, 9999);
	fast.phase = slow.phase = 0;
	/* After one second the fast clock is 78125000 * 100e-6 cycles ahead. */
	assert_int_equal(weft_clock_cycle(&fast, WEFT_SEC), 78132813);
	assert_int_equal(weft_clock_cycle(&slow, WEFT_SEC), 78117188);
	fast = weft_clock_offset_ppm(c, 0);
	assert_int_equal(fast.num, c.num);
	assert_int_equal(fast.den, c.den);
}

static void offset_stays_close_beyond_64_bits(void **state)
{
	struct weft_clock c = { .num = UINT64_MAX, .den = UINT64_MAX / 3 - 1 };
	struct weft_clock f = weft_clock_offset_ppm(c, 13);
	double want = (double)c.num / (double)c.den * 1e6 / 1000013;

	assert_true(f.num && f.den);
	assert_true((double)f.num / (double)f.den - want < 1e-12 &&
		    want - (double)f.num / (double)f.den < 1e-12);
	/* a clock at the limit stays unchanged, because a period below one
	 * femtosecond is not possible */
	assert_true(weft_clock_from_period(&c, 1));
	f = weft_clock_offset_ppm(c, 1000000);
	assert_int_equal(f.num, 1);
	assert_int_equal(f.den, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frequency_gives_an_exact_period),
		cmocka_unit_test(impossible_frequency_or_period_is_refused),
		cmocka_unit_test(period_is_taken_as_it_is),
		cmocka_unit_test(clock_of_330_mhz_never_drifts),
		cmocka_unit_test(time_is_aligned_to_the_next_edge),
		cmocka_unit_test(last_time_has_the_highest_cycle),
		cmocka_unit_test(cycle_inverts_edge),
		cmocka_unit_test(offset_in_ppm_scales_the_frequency),
		cmocka_unit_test(offset_stays_close_beyond_64_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
