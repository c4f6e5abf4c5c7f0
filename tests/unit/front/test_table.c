/* SPDX-License-Identifier: Apache-2.0 */
/* Columns of tables: numbers are right-aligned, text is left-aligned, and lines
 * have no trailing spaces. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "front/out/out.h"

static void columns_align_numbers_right_and_text_left(void **state)
{
	static const char *const heads[] = { "name", "value", "unit" };
	struct table *t = table_new(heads, 3);
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	table_cell(t, "%s", "a");
	table_cell(t, "%d", 5);
	table_cell(t, "%s", "µs");
	table_cell(t, "%s", "longer");
	table_cell(t, "%s", "-12.5");
	table_cell(t, "%s", "");
	table_print(t, f);
	fclose(f);
	assert_string_equal(text,
			    "name    value  unit\n"
			    "a           5  µs\n"
			    "longer  -12.5  \n");
	free(text);
}

static void reals_print_six_digits_and_keep_signed_zero(void **state)
{
	char buf[32];

	out_real(286.5, buf);
	assert_string_equal(buf, "286.5");
	out_real(1.0 / 3, buf);
	assert_string_equal(buf, "0.333333");
	out_real(-0.0, buf);
	assert_string_equal(buf, "-0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(columns_align_numbers_right_and_text_left),
		cmocka_unit_test(reals_print_six_digits_and_keep_signed_zero),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
