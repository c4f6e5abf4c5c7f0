/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "../cmocka_all.h"
#include "base/rng.h"
#include "measure/result.h"

static void test_metrics(void **state)
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

/* Byte order, not locale order, whatever the order of recording. */
static void test_order(void **state)
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

static void test_counter_overwrites(void **state)
{
	struct weft_result *r = result_new();

	result_counter_set(r, "x", "u", 1);
	result_counter_set(r, "x", "u", UINT64_MAX);
	assert_int_equal(r->n_counters, 1);
	assert_true(r->counters[0].value == UINT64_MAX);
	result_free(r);
}

static void test_series(void **state)
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

static void test_hists(void **state)
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

/* Times keep their resolution below one unit: bins of a nanosecond. */
static void test_hist_of_times(void **state)
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

static void test_manifest(void **state)
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

static void test_failures(void **state)
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

static void test_free_nothing(void **state)
{
	result_free(NULL);
	result_free(result_new());
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metrics),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_counter_overwrites),
		cmocka_unit_test(test_series),
		cmocka_unit_test(test_hists),
		cmocka_unit_test(test_hist_of_times),
		cmocka_unit_test(test_manifest),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_free_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
