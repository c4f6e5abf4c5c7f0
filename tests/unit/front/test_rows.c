/* SPDX-License-Identifier: Apache-2.0 */
/* Rules for every published row: a bound has two sides, a wide tolerance has a
 * reason, a row with a calibrated or given value names its parameter, a number
 * has a use, and docs/truth.md has the same text. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "front/repro/judge.h"
#include "front/repro/repro.h"

static const struct repro_row *const tables[] = {
#define ROWS(id) repro_##id##_rows,
#include "systems.def"
};

typedef bool (*row_rule)(const struct repro_row *w);

static void every_row(row_rule rule)
{
	size_t bad = 0;

	for (size_t i = 0; i < sizeof(tables) / sizeof(*tables); i++)
		for (const struct repro_row *w = tables[i]; w->id; w++)
			if (!rule(w)) {
				print_error("%s\n", w->id);
				bad++;
			}
	assert_int_equal(bad, 0);
}

/* Returns half a unit of the last digit of the value's shortest text. */
static double rounding(double v)
{
	char text[64], *dot;

	snprintf(text, sizeof(text), "%.9g", v);
	dot = strchr(text, '.');
	return 0.5 * pow(10, dot ? -(double)strlen(dot + 1) : 0);
}

static bool tolerance_has_a_reason(const struct repro_row *w)
{
	double tol = w->rule == REPRO_PCT   ? fabs(w->paper) * w->tol / 100
		     : w->rule == REPRO_ABS ? w->tol
					    : 0;

	return w->why || tol <= rounding(w->paper) * (1 + 1e-9);
}

static bool bound_has_two_sides(const struct repro_row *w)
{
	if (w->rule == REPRO_AT_LEAST)
		return w->why && w->far >= w->paper;
	if (w->rule == REPRO_AT_MOST)
		return w->why && w->far > 0 && w->far <= w->paper;
	return w->far == 0;
}

/* Returns whether half of the published value would fail the row. A tolerance
 * wider than a third of the value proves little, because even half of the value
 * would nearly pass. */
static bool half_the_rate_fails(const struct repro_row *w)
{
	double tol = w->rule == REPRO_PCT	? fabs(w->paper) * w->tol / 100
		     : w->rule == REPRO_ABS	? w->tol
		     : w->rule == REPRO_ROUNDED ? 0.5 * pow(10, -w->tol)
						: 0;

	return w->paper == 0 || w->rule == REPRO_QUOTED ||
	       tol < fabs(w->paper) / 3 || !strcmp(w->id, "EX-03");
}

static bool parameters_are_named(const struct repro_row *w)
{
	bool chosen = w->basis == REPRO_CALIBRATED || w->basis == REPRO_INPUT;

	return chosen == (w->parameter != NULL);
}

static bool unenforced_says_why(const struct repro_row *w)
{
	return !w->report_only || w->note;
}

static bool quoted_is_not_enforced(const struct repro_row *w)
{
	return w->rule != REPRO_QUOTED || w->report_only;
}

/* A rule reads `tol`, `far` or neither. A number that it does not read would
 * mislead the reader of the table. */
static bool unread_numbers_are_0(const struct repro_row *w)
{
	bool one_sided = w->rule == REPRO_AT_LEAST || w->rule == REPRO_AT_MOST;
	bool within = w->rule == REPRO_PCT || w->rule == REPRO_ABS ||
		      w->rule == REPRO_ROUNDED;

	return (within || w->tol == 0) && (one_sided || w->far == 0);
}

static void rows_have_only_the_numbers_that_their_rule_reads(void **state)
{
	every_row(unread_numbers_are_0);
}

static void wide_tolerance_has_a_reason(void **state)
{
	every_row(tolerance_has_a_reason);
}

static void bounds_have_two_sides_and_fail_half_the_rate(void **state)
{
	every_row(bound_has_two_sides);
	every_row(half_the_rate_fails);
}

static void rows_from_choices_name_their_parameter(void **state)
{
	every_row(parameters_are_named);
}

static void unenforced_rows_say_why(void **state)
{
	every_row(unenforced_says_why);
	every_row(quoted_is_not_enforced);
}

/* ---- the page ---- */

static const char *page; /* docs/truth.md */

/* Returns whether "| F01 | PCI-X peak rate | 762.9 |", some text and "| MiB/s |
 * +-0.05 | structural |" are in one line. */
static bool stands_there(const struct repro_row *w, const char *line)
{
	char head[300], tail[300], rule[32];

	repro_rule_text(w, rule, sizeof(rule));
	snprintf(head, sizeof(head), "| %s | %s | %.6g%s | ", w->id,
		 w->scenario, w->paper, w->derived ? "*" : "");
	snprintf(tail, sizeof(tail), " | %s | %s | %s%s%s |", w->unit, rule,
		 repro_basis_name(w->basis), w->parameter ? ": " : "",
		 w->parameter ? w->parameter : "");
	return !strncmp(line, head, strlen(head)) && strstr(line, tail);
}

static bool is_on_the_page(const struct repro_row *w)
{
	FILE *f = fopen(page, "r");
	char *line = NULL;
	size_t size = 0;
	bool found = false;

	assert_non_null(f);
	while (!found && getline(&line, &size, f) > 0)
		found = stands_there(w, line);
	free(line);
	fclose(f);
	return found;
}

static void docs_page_lists_every_row(void **state)
{
	if (!page)
		skip();
	every_row(is_on_the_page);
}

/* test_rows [PAGE] */
int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(docs_page_lists_every_row),
		cmocka_unit_test(
			rows_have_only_the_numbers_that_their_rule_reads),
		cmocka_unit_test(wide_tolerance_has_a_reason),
		cmocka_unit_test(bounds_have_two_sides_and_fail_half_the_rate),
		cmocka_unit_test(rows_from_choices_name_their_parameter),
		cmocka_unit_test(unenforced_rows_say_why),
	};

	page = argc > 1 ? argv[1] : NULL;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
