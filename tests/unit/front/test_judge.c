/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the comparison of rows with values, and the values that a row reads. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "front/repro/judge.h"

static struct repro_verdict judge(enum repro_rule rule, double paper,
				  double tol, double model)
{
	struct repro_row row = { .paper = paper, .rule = rule, .tol = tol };

	return repro_judge(&row, model);
}

static void percent_rule_passes_within_its_percentage(void **state)
{
	struct repro_verdict v = judge(REPRO_PCT, 200, 1, 202);

	assert_true(v.pass);
	assert_true(fabs(v.error_pct - 1) < 1e-12);
	assert_true(v.tolerance_pct == 1);
	assert_true(judge(REPRO_PCT, 200, 1, 198).pass);
	assert_false(judge(REPRO_PCT, 200, 1, 202.1).pass);
	assert_false(judge(REPRO_PCT, 200, 1, 197.9).pass);
}

static void absolute_rule_passes_within_its_distance(void **state)
{
	assert_true(judge(REPRO_ABS, 570, 1, 571).pass);
	assert_true(judge(REPRO_ABS, 570, 1, 569).pass);
	assert_false(judge(REPRO_ABS, 570, 1, 571.01).pass);
	assert_true(judge(REPRO_ABS, 0, 1, 0.5).pass);
	assert_false(judge(REPRO_ABS, 0, 1, 2).pass);
	assert_true(fabs(judge(REPRO_ABS, 50, 1, 50).tolerance_pct - 2) <
		    1e-12);
}

static void exact_rule_forgives_only_rounding_of_floats(void **state)
{
	assert_true(judge(REPRO_EXACT, 40, 0, 40).pass);
	assert_true(judge(REPRO_EXACT, 0.1 + 0.2, 0, 0.3).pass);
	assert_false(judge(REPRO_EXACT, 40, 0, 40.0001).pass);
	assert_true(judge(REPRO_EXACT, 0, 0, 0).pass);
	assert_false(judge(REPRO_EXACT, 0, 0, 1).pass);
}

static void rounded_rule_compares_printed_digits(void **state)
{
	assert_true(judge(REPRO_ROUNDED, 2.37, 2, 2.3749).pass);
	assert_true(judge(REPRO_ROUNDED, 2.37, 2, 2.3651).pass);
	assert_false(judge(REPRO_ROUNDED, 2.37, 2, 2.3751).pass);
	assert_true(judge(REPRO_ROUNDED, 90, 0, 89.67).pass);
	assert_false(judge(REPRO_ROUNDED, 90, 0, 89.4).pass);
}

static struct repro_verdict bound(enum repro_rule rule, double paper,
				  double far, double model)
{
	struct repro_row row = { .paper = paper, .rule = rule, .far = far };

	return repro_judge(&row, model);
}

static void bound_passes_between_limit_and_far_side(void **state)
{
	assert_true(bound(REPRO_AT_LEAST, 6, 7, 6.67).pass);
	assert_true(bound(REPRO_AT_LEAST, 6, 7, 6.67).error_pct == 0);
	assert_true(bound(REPRO_AT_LEAST, 6, 7, 6).pass);
	assert_false(bound(REPRO_AT_LEAST, 6, 7, 5.9).pass);
	assert_false(bound(REPRO_AT_LEAST, 6, 7, 7.1).pass);
	assert_true(bound(REPRO_AT_MOST, 8, 6, 6).pass);
	assert_false(bound(REPRO_AT_MOST, 8, 6, 9).pass);
	assert_true(bound(REPRO_AT_MOST, 8, 6, 9).error_pct == 12.5);
	assert_false(bound(REPRO_AT_MOST, 8, 6, 0).pass);
}

static void missing_value_fails_every_rule(void **state)
{
	for (int rule = REPRO_PCT; rule <= REPRO_AT_MOST; rule++)
		assert_false(judge((enum repro_rule)rule, 1, 50, NAN).pass);
	assert_false(judge(REPRO_PCT, 1, 50, INFINITY).pass);
}

static void row_reads_values_of_points_by_pattern(void **state)
{
	struct weft_result *r = result_new(), *q = result_new();
	struct repro_point p[] = { { "a=1", r }, { "a=2", q } };
	struct repro_data d = { p, 2 };

	result_metric_set(r, "n0.x", "B", 3);
	result_metric_set(r, "n1.x", "B", 5);
	result_counter_set(r, "n0.c", "", 7);
	result_metric_set(q, "n0.x", "B", 4);
	result_param_set(q, "n0.links", "2");
	hist_add(result_hist_get(q, "h", "ns"), 9);
	assert_true(repro_value(&d, NULL, "n0.x") == 3);
	assert_true(repro_value(&d, "a=2", "n0.x") == 4);
	assert_true(repro_value(&d, NULL, "n0.c") == 7);
	assert_true(isnan(repro_value(&d, NULL, "n2.x")));
	assert_true(isnan(repro_value(&d, "a=3", "n0.x")));
	assert_true(repro_sum(&d, NULL, "n*.x") == 8);
	assert_true(repro_min(&d, NULL, "n*.x") == 3);
	assert_true(repro_max(&d, NULL, "n*.?") == 7);
	assert_true(isnan(repro_sum(&d, NULL, "m*")));
	assert_string_equal(repro_param(&d, "a=2", "n0.links"), "2");
	assert_null(repro_param(&d, NULL, "n0.links"));
	assert_int_equal(repro_hist(&d, "a=2", "h")->count, 1);
	assert_null(repro_hist(&d, "a=1", "h"));
	result_free(r);
	result_free(q);
}

/* Points that no row reads need not run again (sense.h), because they cannot
 * change a verdict. */
static void reading_a_value_marks_its_points_as_read(void **state)
{
	struct weft_result *r = result_new();
	struct repro_point p[] = { { "a=1", r }, { "a=2", r }, { "a=3", r } };
	bool read[3] = { false };
	struct repro_data d = { p, 3, read };

	repro_value(&d, "a=2", "x");
	assert_true(!read[0] && read[1] && !read[2]);
	repro_sum(&d, NULL, "x*");
	assert_true(read[0] && read[1] && !read[2]);
	repro_value(&d, "a=4", "x");
	assert_false(read[2]);
	repro_param(&d, "a=3", "x");
	assert_true(read[2]);
	result_free(r);
}

/* If `--set` fixes a swept path, names of points omit it. */
static void fixed_axis_is_left_out_of_names_of_points(void **state)
{
	struct weft_result *r = result_new(), *q = result_new();
	struct repro_point p[] = { { "b=1", r }, { "b=2", q } };
	struct repro_data d = { p, 2 },
			  one = { &(struct repro_point){ "", r }, 1 };

	result_metric_set(r, "x", "", 1);
	result_metric_set(q, "x", "", 2);
	assert_true(repro_value(&d, "a=7 b=2", "x") == 2);
	assert_true(repro_value(&d, "b=1 a=7", "x") == 1);
	assert_true(isnan(repro_value(&d, "a=7 b=21", "x")));
	assert_true(isnan(repro_value(&d, "a=7", "x")));
	assert_true(repro_value(&one, "a=7", "x") == 1);
	result_free(r);
	result_free(q);
}

static void rows_are_complete_and_unenforced_ones_have_notes(void **state)
{
	static const struct repro_row *const systems[] = {
#define ROWS(id) repro_##id##_rows,
#include "systems.def"
	};

	for (size_t s = 0; s < sizeof(systems) / sizeof(systems[0]); s++)
		for (const struct repro_row *w = systems[s]; w->id; w++) {
			assert_non_null(w->scenario);
			assert_non_null(w->unit);
			assert_non_null(w->experiment);
			assert_true((w->metric != NULL) != (w->eval != NULL));
			if (w->basis == REPRO_CALIBRATED)
				assert_non_null(w->parameter);
			if (w->report_only)
				assert_non_null(w->note);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percent_rule_passes_within_its_percentage),
		cmocka_unit_test(absolute_rule_passes_within_its_distance),
		cmocka_unit_test(exact_rule_forgives_only_rounding_of_floats),
		cmocka_unit_test(rounded_rule_compares_printed_digits),
		cmocka_unit_test(bound_passes_between_limit_and_far_side),
		cmocka_unit_test(missing_value_fails_every_rule),
		cmocka_unit_test(row_reads_values_of_points_by_pattern),
		cmocka_unit_test(reading_a_value_marks_its_points_as_read),
		cmocka_unit_test(fixed_axis_is_left_out_of_names_of_points),
		cmocka_unit_test(
			rows_are_complete_and_unenforced_ones_have_notes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
