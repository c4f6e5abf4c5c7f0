/* SPDX-License-Identifier: Apache-2.0 */
#include <malloc.h>
#include <stdio.h>
#include <string.h>

#include "../cmocka_all.h"
#include "base/rng.h"
#include "measure/result.h"

static void metrics_are_sorted_and_overwritten(void **state)
{
	struct weft_result *r = result_new();

	assert_null(result_metric_get(r, "a"));
	result_metric_set(r, "b", "MiB/s", 286.5);
	result_metric_set(r, "a", "us", 1);
	result_metric_set(r, "c", NULL, 3);
	result_metric_set(r, "b", "MB/s", 300);
	assert_int_equal(r->n_metrics, 3);
	assert_string_equal(r->metrics[0].name, "a");
	assert_string_equal(r->metrics[1].unit, "MB/s");
	assert_string_equal(r->metrics[2].unit, "");
	assert_true(result_metric_get(r, "b")->value == 300);
	assert_null(result_metric_get(r, "bb"));
	result_free(r);
}

/* Counters are sorted by bytes, not by locale. The order in which they were
 * recorded has no effect. */
static void counters_are_sorted_by_bytes(void **state)
{
	struct weft_result *r = result_new();
	struct weft_rng rng;

	weft_rng_seed(&rng, 1, "result");
	for (int i = 0; i < 2000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "n%u.Nic",
			 (unsigned)weft_rng_below(&rng, 500));
		result_counter_set(r, name, "packets", (uint64_t)i);
	}
	assert_in_range(r->n_counters, 400, 500);
	for (size_t i = 1; i < r->n_counters; i++)
		assert_true(strcmp(r->counters[i - 1].name,
				   r->counters[i].name) < 0);
	result_free(r);
}

static void counter_set_twice_keeps_the_last_value(void **state)
{
	struct weft_result *r = result_new();

	result_counter_set(r, "x", "u", 1);
	result_counter_set(r, "x", "u", UINT64_MAX);
	assert_int_equal(r->n_counters, 1);
	assert_true(r->counters[0].value == UINT64_MAX);
	result_free(r);
}

static void series_collect_points_by_name(void **state)
{
	struct weft_result *r = result_new();
	struct result_series *s = result_series_get(r, "bw", "B", "MiB/s");

	for (int i = 0; i < 100; i++)
		result_series_add(s, i, i * 2);
	assert_ptr_equal(result_series_get(r, "bw", "?", "?"), s);
	assert_string_equal(s->x_unit, "B");
	assert_string_equal(s->y_unit, "MiB/s");
	assert_int_equal(s->n, 100);
	assert_true(s->x[99] == 99 && s->y[99] == 198);
	result_series_add(result_series_get(r, "aa", "x", "y"), 1, 2);
	assert_int_equal(r->n_series, 2);
	assert_string_equal(r->series[1].name, "bw");
	assert_int_equal(r->series[1].n, 100);
	result_free(r);
}

static void histograms_collect_values_by_name(void **state)
{
	struct weft_result *r = result_new();

	hist_add(result_hist_get(r, "b", "cc"), 5);
	hist_add(result_hist_get(r, "a", "cc"), 7);
	hist_add(result_hist_get(r, "b", "cc"), 6);
	assert_int_equal(r->n_hists, 2);
	assert_string_equal(r->hists[1].name, "b");
	assert_string_equal(r->hists[1].unit, "cc");
	assert_int_equal(r->hists[1].h.count, 2);
	assert_true(r->hists[0].h.max == 7);
	result_free(r);
}

/* Times keep their resolution below one unit, with bins of a nanosecond. */
static void histogram_of_times_resolves_a_nanosecond(void **state)
{
	struct weft_result *r = result_new();
	struct hist *h = result_hist_get(r, "latency", "us");

	for (int i = 0; i < 100; i++)
		hist_add(h, 0.05 + i * 0.0001);
	hist_add(h, 0.1);
	assert_true(hist_percentile(h, 50) > 0.0535 &&
		    hist_percentile(h, 50) < 0.0555);
	result_free(r);
}

static void manifest_keeps_the_last_value_of_a_name(void **state)
{
	struct weft_result *r = result_new();

	result_param_set(r, "n0.nic.links", "2");
	result_param_set(r, "n0.nic.clock", "100MHz");
	result_param_set(r, "n0.nic.links", "1");
	assert_int_equal(r->n_manifest, 2);
	assert_string_equal(r->manifest[0].value, "100MHz");
	assert_string_equal(r->manifest[1].value, "1");
	result_free(r);
}

static void failures_beyond_100_are_only_counted(void **state)
{
	struct weft_result *r = result_new();

	for (int i = 0; i < 250; i++) {
		char text[32];

		snprintf(text, sizeof(text), "failure %d", i);
		result_fail(r, text);
	}
	assert_int_equal(r->n_failures, 100);
	assert_int_equal(r->failures_dropped, 150);
	assert_string_equal(r->failures[0], "failure 0");
	assert_string_equal(r->failures[99], "failure 99");
	result_free(r);
}

static void freed_results_leave_no_memory_behind(void **state)
{
	size_t used = 0;

	result_free(NULL);
	for (int i = 0; i < 100; i++) {
		struct weft_result *r = result_new();

		result_metric_set(r, "a", "us", i);
		result_fail(r, "failure");
		hist_add(result_hist_get(r, "h", "cc"), i);
		result_free(r);
		if (!i) /* the first round allocates blocks that stay */
			used = mallinfo2().uordblks;
	}
	assert_int_equal(mallinfo2().uordblks, used);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(metrics_are_sorted_and_overwritten),
		cmocka_unit_test(counters_are_sorted_by_bytes),
		cmocka_unit_test(counter_set_twice_keeps_the_last_value),
		cmocka_unit_test(series_collect_points_by_name),
		cmocka_unit_test(histograms_collect_values_by_name),
		cmocka_unit_test(histogram_of_times_resolves_a_nanosecond),
		cmocka_unit_test(manifest_keeps_the_last_value_of_a_name),
		cmocka_unit_test(failures_beyond_100_are_only_counted),
		cmocka_unit_test(freed_results_leave_no_memory_behind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
