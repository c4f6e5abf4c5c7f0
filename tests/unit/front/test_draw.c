/* SPDX-License-Identifier: Apache-2.0 */
/* Figures made of characters, compared letter by letter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "front/out/text_plot.h"

static void line_draws_values_and_cuts_at_end_of_buffer(void **state)
{
	const double v[] = { 0, 1, 4, 8, 7.9, -3 }, none[] = { 0, 0 };
	char buf[DRAW_BYTES];

	draw_line(v, 6, false, buf, sizeof(buf));
	assert_string_equal(buf, " .=## ");
	draw_line(v, 6, true, buf, sizeof(buf));
	assert_string_equal(buf, " \u2581\u2584\u2588\u2588 ");
	draw_line(none, 2, false, buf, sizeof(buf));
	assert_string_equal(buf, "  ");
	/* text that does not fit is omitted */
	draw_line(v, 6, true, buf, 9);
	assert_string_equal(buf, " \u2581\u2584");
}

static void shape_shows_each_value_at_its_column(void **state)
{
	char buf[DRAW_BYTES], want[DRAW_SHAPE + 1];
	struct hist h;

	hist_init(&h, 1);
	for (int i = 0; i < 8; i++)
		hist_add(&h, 32);
	hist_add(&h, 63);
	draw_shape(&h, 0, 64, false, buf, sizeof(buf));
	memset(want, ' ', DRAW_SHAPE);
	want[DRAW_SHAPE] = '\0';
	want[15] = '#'; /* the axis ends at 64 */
	want[31] = '.';
	assert_string_equal(buf, want);
	/* all values are equal, so that they are in the first column */
	hist_fini(&h);
	hist_init(&h, 1);
	hist_add(&h, 50);
	draw_shape(&h, 50, 50, false, buf, sizeof(buf));
	assert_int_equal(buf[0], '#');
	hist_fini(&h);
}

static char *drawn(const struct hist *h, bool fancy)
{
	char *buf;
	size_t n;
	FILE *f = open_memstream(&buf, &n);

	assert_false(draw_fancy(f));
	draw_hist("x", "ns", h, fancy, f);
	fclose(f);
	return buf;
}

static void histogram_draws_rows_with_counts_and_shares(void **state)
{
	struct hist h;
	char *text;

	hist_init(&h, 1);
	for (int i = 0; i < 48; i++)
		hist_add(&h, 5);
	for (int i = 0; i < 9; i++)
		hist_add(&h, 26);
	text = drawn(&h, false);
	/* a range of 21 on 16 rows gives steps of 2, from 4 to 28 */
	assert_non_null(strstr(text, "\nx [ns], 57 values\n"));
	assert_non_null(strstr(text,
			       "         4 ..        6        48  84.2 %  "
			       "######################################"
			       "##########\n"));
	assert_non_null(
		strstr(text, "         6 ..        8         0   0.0 %  \n"));
	assert_non_null(strstr(text,
			       "        26 ..       28         9  15.8 %  "
			       "#########\n"));
	assert_null(strstr(text, "28 .."));
	free(text);
	text = drawn(&h, true);
	assert_non_null(strstr(text,
			       "15.8 %  \u2588\u2588\u2588\u2588\u2588"
			       "\u2588\u2588\u2588\u2588\n"));
	free(text);
	hist_fini(&h);
}

/* Values above 128 share bins. A bin at 1936 is 16 wide, so that rows cannot be
 * finer than 16. */
static void rows_are_no_finer_than_the_bins(void **state)
{
	static const double v[] = { 1936, 1937, 1940, 1941, 1946 };
	struct hist h;
	char *text;

	hist_init(&h, 1);
	for (int i = 0; i < 5; i++)
		hist_add(&h, v[i]);
	text = drawn(&h, false);
	assert_non_null(
		strstr(text, "      1936 ..     1952         5 100.0 %"));
	free(text);
	hist_add(&h, 1990);
	text = drawn(&h, false);
	assert_non_null(
		strstr(text, "      1936 ..     1952         5  83.3 %"));
	assert_non_null(
		strstr(text, "      1984 ..     2000         1  16.7 %"));
	free(text);
	hist_fini(&h);
}

static void far_value_does_not_press_others_into_one_row(void **state)
{
	struct hist h;
	char *text;

	hist_init(&h, 1);
	for (int i = 0; i < 5000; i++)
		hist_add(&h, 100 + i % 20);
	hist_add(&h, 1e6);
	assert_true(draw_end(&h) == 119);
	text = drawn(&h, false);
	assert_non_null(strstr(text, "       118 ..                501"));
	free(text);
	hist_fini(&h);
}

static void empty_histogram_draws_nothing(void **state)
{
	struct hist h;
	char *text;

	hist_init(&h, 1);
	text = drawn(&h, false);
	assert_string_equal(text, "");
	free(text);
	hist_fini(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_draws_values_and_cuts_at_end_of_buffer),
		cmocka_unit_test(shape_shows_each_value_at_its_column),
		cmocka_unit_test(rows_are_no_finer_than_the_bins),
		cmocka_unit_test(histogram_draws_rows_with_counts_and_shares),
		cmocka_unit_test(far_value_does_not_press_others_into_one_row),
		cmocka_unit_test(empty_histogram_draws_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
