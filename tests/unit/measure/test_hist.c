/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>

#include "../cmocka_all.h"
#include "base/rng.h"
#include "measure/hist.c"

static void assert_near(double got, double want, double tol)
{
	if (!(fabs(got - want) <= tol))
		fail_msg("%g instead of %g", got, want);
}

static void empty_histogram_has_zero_statistics(void **state)
{
	struct hist h;

	hist_init(&h, 1);
	assert_near(hist_mean(&h), 0, 0);
	assert_near(hist_stddev(&h), 0, 0);
	assert_near(hist_percentile(&h, 50), 0, 0);
	assert_int_equal(h.n_bins, 0);
	hist_fini(&h);
}

static void histogram_has_exact_mean_and_deviation(void **state)
{
	static const double v[] = { 2, 4, 4, 4, 5, 5, 7, 9 };
	struct hist h;

	hist_init(&h, 1);
	for (int i = 0; i < 8; i++)
		hist_add(&h, v[i]);
	assert_int_equal(h.count, 8);
	assert_near(h.sum, 40, 0);
	assert_near(h.sum2, 232, 0);
	assert_near(h.min, 2, 0);
	assert_near(h.max, 9, 0);
	assert_near(hist_mean(&h), 5, 0);
	assert_near(hist_stddev(&h), sqrt(32.0 / 7), 1e-15);
	hist_fini(&h);
}

static void percentile_below_128_is_one_of_the_values(void **state)
{
	struct hist h;

	hist_init(&h, 1);
	for (int i = 100; i >= 1; i--)
		hist_add(&h, i);
	assert_near(hist_percentile(&h, 0), 1, 0);
	assert_near(hist_percentile(&h, 1), 1, 0);
	assert_near(hist_percentile(&h, 50), 50, 0);
	assert_near(hist_percentile(&h, 50.5), 51, 0);
	assert_near(hist_percentile(&h, 99), 99, 0);
	assert_near(hist_percentile(&h, 99.9), 100, 0);
	assert_near(hist_percentile(&h, 100), 100, 0);
	hist_fini(&h);
}

static void bins_double_in_width_with_each_octave(void **state)
{
	struct hist h;

	hist_init(&h, 1);
	assert_near(hist_edge(&h, 0), 0, 0);
	assert_near(hist_edge(&h, 127), 127, 0);
	assert_near(hist_edge(&h, 128), 128, 0);
	assert_near(hist_edge(&h, 129), 130, 0);
	assert_near(hist_edge(&h, 191), 254, 0);
	assert_near(hist_edge(&h, 192), 256, 0);
	assert_near(hist_edge(&h, 193), 260, 0);
	hist_fini(&h);
	hist_init(&h, 1000);
	assert_near(hist_edge(&h, 193), 0.26, 1e-15);
	hist_fini(&h);
}

/* Checks that every value is in its bin. The width of a bin is 1 for small
 * values, and otherwise at most 1/64 of the bin's lower edge. */
static void bins_hold_their_values(void **state)
{
	struct weft_rng r;

	weft_rng_seed(&r, 1, "hist");
	for (int i = 0; i < 100000; i++) {
		uint64_t v = weft_rng_u64(&r) >> weft_rng_below(&r, 64);
		uint32_t b = hist_index((double)v);
		double lo = hist_edge_scaled(b), hi = hist_edge_scaled(b + 1);

		assert_true(lo <= (double)v);
		assert_true((double)v < hi || v > UINT64_MAX - 1024);
		assert_true(b < HIST_EXACT ? hi - lo == 1
					   : (hi - lo) / lo <= 1.0 / 64);
	}
}

static int cmp_double(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void percentile_errs_by_at_most_1_6_percent(void **state)
{
	enum { N = 20001 };
	static double v[N];
	struct weft_rng r;
	struct hist h;

	weft_rng_seed(&r, 2, "hist");
	hist_init(&h, 1000);
	for (int i = 0; i < N; i++) {
		v[i] = exp(weft_rng_real(&r) * 12);
		hist_add(&h, v[i]);
	}
	qsort(v, N, sizeof(v[0]), cmp_double);
	for (int p = 1; p < 100; p++) {
		double want = v[(int)ceil(p / 100.0 * N) - 1];

		assert_near(hist_percentile(&h, p) / want, 1, 0.016);
	}
	hist_fini(&h);
}

static void extreme_values_count_in_the_outer_bins(void **state)
{
	struct hist h;

	hist_init(&h, 1);
	hist_add(&h, -5);
	hist_add(&h, 1e300);
	hist_add(&h, INFINITY);
	assert_int_equal(h.count, 3);
	assert_near(h.min, -5, 0);
	assert_int_equal(h.bin[0], 1);
	assert_int_equal(h.bin[hist_index(0x1p64)], 2);
	assert_true(h.n_bins <= 4096);
	assert_near(hist_percentile(&h, 1), -5, 0);
	hist_fini(&h);
}

static void percentile_of_one_value_is_that_value(void **state)
{
	struct hist h;

	hist_init(&h, 1);
	for (int i = 0; i < 10; i++)
		hist_add(&h, 1001);
	assert_near(hist_percentile(&h, 50), 1001, 0);
	assert_near(hist_stddev(&h), 0, 0);
	hist_fini(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(empty_histogram_has_zero_statistics),
		cmocka_unit_test(histogram_has_exact_mean_and_deviation),
		cmocka_unit_test(percentile_below_128_is_one_of_the_values),
		cmocka_unit_test(bins_double_in_width_with_each_octave),
		cmocka_unit_test(bins_hold_their_values),
		cmocka_unit_test(percentile_errs_by_at_most_1_6_percent),
		cmocka_unit_test(extreme_values_count_in_the_outer_bins),
		cmocka_unit_test(percentile_of_one_value_is_that_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
