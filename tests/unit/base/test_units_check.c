/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "../cmocka_all.h"
#include "base/units_check.c"

/* clang-format off */
static const struct {
	enum weft_ptype type;
	/* msg: expected message, or NULL if the value is allowed */
	const char *range, *val, *msg;
} rows[] = {
	{ WEFT_P_U32, "", "99", NULL },
	{ WEFT_P_U32, "2..64", "2", NULL },
	{ WEFT_P_U32, "2..64", "64", NULL },
	{ WEFT_P_U32, "2..64", "1", "'1' is below 2" },
	{ WEFT_P_U32, "2..64", "65", "'65' is above 64" },
	{ WEFT_P_U32, "8..", "4294967295", NULL },
	{ WEFT_P_U32, "8..", "7", "'7' is below 8" },
	{ WEFT_P_U32, "..8", "0", NULL },
	{ WEFT_P_U32, "..8", "9", "'9' is above 8" },
	{ WEFT_P_U32, "32|64", "64", NULL },
	{ WEFT_P_U32, "32|64", "48", "'48' is none of 32|64" },
	{ WEFT_P_U32, "8", "8", NULL },
	{ WEFT_P_U32, "8", "9", "'9' is none of 8" },
	{ WEFT_P_U64, "1..1e12", "1000000000001",
	  "'1000000000001' is above 1e12" },
	{ WEFT_P_BYTES, "64..4KiB", "4096", NULL },
	{ WEFT_P_BYTES, "64..4KiB", "5000", "'5000' is above 4KiB" },
	{ WEFT_P_BYTES, "64..4KiB", "0", "'0' is below 64" },
	{ WEFT_P_TIME, "1ns..1us", "1ns", NULL },
	{ WEFT_P_TIME, "1ns..1us", "999ps", "'999ps' is below 1ns" },
	{ WEFT_P_RATE, "1Mb/s..", "125KB/s", NULL },
	{ WEFT_P_RATE, "1Mb/s..", "124KB/s", "'992kb/s' is below 1Mb/s" },
	{ WEFT_P_REAL, "0..1", "0.5", NULL },
	{ WEFT_P_REAL, "0..1", "1", NULL },
	{ WEFT_P_REAL, "0..1", "1.0000001", "'1.0000001' is above 1" },
	{ WEFT_P_REAL, "-1..1", "-1.5", "'-1.5' is below -1" },
	{ WEFT_P_REAL, "0.5..1.5", "0.25", "'0.25' is below 0.5" },
	{ WEFT_P_CLOCK, "33MHz..133MHz", "100MHz", NULL },
	{ WEFT_P_CLOCK, "33MHz..133MHz", "10ns", NULL },
	{ WEFT_P_CLOCK, "33MHz..133MHz", "32MHz", "'32MHz' is below 33MHz" },
	{ WEFT_P_CLOCK, "33MHz..133MHz", "7ns", "'7ns' is above 133MHz" },
	{ WEFT_P_CLOCK, "5ns..20ns", "10ns", NULL },
	{ WEFT_P_CLOCK, "5ns..20ns", "25MHz", "'25MHz' is above 20ns" },
	{ WEFT_P_CLOCK, "5ns..20ns", "4ns", "'250MHz' is below 5ns" },
	{ WEFT_P_CLOCK, "66MHz|100MHz|133MHz", "10ns", NULL },
	{ WEFT_P_CLOCK, "66MHz|100MHz", "99MHz",
	  "'99MHz' is none of 66MHz|100MHz" },
	{ WEFT_P_BOOL, "", "true", NULL },
	{ WEFT_P_U32, "two..64", "3", "range 'two..64' cannot be read" },
};
/* clang-format on */

static void value_outside_its_range_is_refused(void **state)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct weft_err err = { 0 };
		union check_val v;
		int ret;

		assert_int_equal(units_parse(rows[i].type, "", rows[i].val, &v,
					     check_size[rows[i].type], NULL),
				 0);
		ret = units_check(rows[i].type, rows[i].range, &v, &err);
		assert_int_equal(ret < 0, rows[i].msg != NULL);
		if (rows[i].msg)
			assert_string_equal(err.msg, rows[i].msg);
	}
}

static void value_without_a_range_always_fits(void **state)
{
	uint32_t v = 5;

	assert_int_equal(units_check(WEFT_P_U32, NULL, &v, NULL), 0);
}

static void enum_and_string_must_be_in_their_lists(void **state)
{
	struct weft_err err = { 0 };
	uint32_t i = 1;

	assert_int_equal(units_check(WEFT_P_ENUM, "a|b", &i, &err), 0);
	i = 2;
	assert_int_equal(units_check(WEFT_P_ENUM, "a|b", &i, &err), -ERANGE);
	assert_string_equal(err.msg, "'2' is none of a|b");
	err.code = 0;
	assert_int_equal(units_check(WEFT_P_STR, "", "free text", &err), 0);
	assert_int_equal(units_check(WEFT_P_STR, "x|yy", "yy", &err), 0);
	assert_int_equal(units_check(WEFT_P_STR, "x|yy", "y", &err), -ERANGE);
	assert_string_equal(err.msg, "'y' is none of x|yy");
}

/* ---- did you mean ---- */

static const char *const names[] = { "ports", "xp_bytes",    "clock",
				     "links", "payload_max", "" };

static const char *names_next(void *arg, size_t i)
{
	return i < sizeof(names) / sizeof(names[0]) ? names[i] : NULL;
}

static void misspelt_word_finds_its_nearest_name(void **state)
{
	static const struct {
		const char *word, *want;
	} near[] = {
		{ "port", "ports" },
		{ "prots", "ports" },
		{ "xpbytes", "xp_bytes" },
		{ "link", "links" },
		{ "clock", "clock" },
		{ "colck", "clock" },
		{ "playload_max", "payload_max" },
	};

	for (size_t i = 0; i < sizeof(near) / sizeof(near[0]); i++)
		assert_string_equal(
			units_nearest(near[i].word, names_next, NULL),
			near[i].want);
	assert_null(units_nearest("zebra", names_next, NULL));
	assert_null(units_nearest("q", names_next, NULL));
}

static void very_long_word_finds_no_name(void **state)
{
	char big[4096];

	memset(big, 'p', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	assert_null(units_nearest(big, names_next, NULL));
	assert_null(units_nearest(big + sizeof(big) - 1 - CHECK_WORD,
				  names_next, NULL));
	assert_null(units_nearest(big + sizeof(big) - CHECK_WORD, names_next,
				  NULL));
}

static void distance_counts_edits_and_swaps(void **state)
{
	assert_int_equal(check_distance("", ""), 0);
	assert_int_equal(check_distance("abc", ""), 3);
	assert_int_equal(check_distance("", "abc"), 3);
	assert_int_equal(check_distance("kitten", "sitting"), 3);
	assert_int_equal(check_distance("ab", "ba"), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(value_outside_its_range_is_refused),
		cmocka_unit_test(value_without_a_range_always_fits),
		cmocka_unit_test(enum_and_string_must_be_in_their_lists),
		cmocka_unit_test(misspelt_word_finds_its_nearest_name),
		cmocka_unit_test(very_long_word_finds_no_name),
		cmocka_unit_test(distance_counts_edits_and_swaps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
