/* SPDX-License-Identifier: Apache-2.0 */
#include <float.h>
#include <math.h>
#include <string.h>

#include "../cmocka_all.h"
#include "base/fmt.c"
#include "base/rng.h"

static void assert_fmt(double v, const char *want)
{
	char buf[FMT_REAL_MAX];

	fmt_real(v, buf);
	assert_string_equal(buf, want);
}

static void real_prints_its_shortest_text(void **state)
{
	assert_fmt(0, "0");
	assert_fmt(-1, "-1");
	assert_fmt(0.1, "0.1");
	assert_fmt(286.5, "286.5");
	assert_fmt(0.1 + 0.2, "0.30000000000000004");
	assert_fmt(1e300, "1e+300");
	assert_fmt(1.0 / 3, "0.3333333333333333");
	assert_fmt(DBL_MAX, "1.7976931348623157e+308");
	assert_fmt(4.9406564584124654e-324, "4.94065645841247e-324");
	assert_fmt(NAN, "nan");
	assert_fmt(INFINITY, "inf");
	assert_fmt(-INFINITY, "-inf");
}

static void printed_real_reads_back_exactly(void **state)
{
	struct weft_rng r;

	weft_rng_seed(&r, 1, "fmt");
	for (int i = 0; i < 20000; i++) {
		uint64_t bits = weft_rng_u64(&r);
		char buf[FMT_REAL_MAX];
		double v, back;

		memcpy(&v, &bits, sizeof(v));
		if (!isfinite(v))
			continue;
		fmt_real(v, buf);
		assert_true(fmt_real_read(buf, &back));
		assert_memory_equal(&back, &v, sizeof(v));
	}
}

static void wrong_text_of_a_real_is_refused(void **state)
{
	static const char *const bad[] = { "",	  " 1",	 "1 ",	  "0x10",
					   "nan", "inf", "1e400", "1,5",
					   "e",	  "-",	 "1.2.3", "1-2",
					   "--1", "1e" };
	double v = 42;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(fmt_real_read(bad[i], &v));
	assert_true(v == 42);
}

static void comma_of_a_locale_becomes_a_point(void **state)
{
	char comma[] = "3,14",
	     wide[] = "-3\xD9\xAB"
		      "14e-07",
	     none[] = "1e+30";

	fmt_point(comma);
	assert_string_equal(comma, "3.14");
	fmt_point(wide);
	assert_string_equal(wide, "-3.14e-07");
	fmt_point(none);
	assert_string_equal(none, "1e+30");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(real_prints_its_shortest_text),
		cmocka_unit_test(printed_real_reads_back_exactly),
		cmocka_unit_test(wrong_text_of_a_real_is_refused),
		cmocka_unit_test(comma_of_a_locale_becomes_a_point),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
