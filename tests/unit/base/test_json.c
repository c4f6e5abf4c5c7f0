/* SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "../cmocka_all.h"
#include "base/json.h"

static void compact_json_has_no_spaces(void **state)
{
	struct json j;

	json_init(&j, false);
	assert_string_equal(j.buf, "");
	json_obj(&j, NULL);
	json_str(&j, "id", "F01");
	json_u64(&j, "big", UINT64_MAX);
	json_i64(&j, "neg", INT64_MIN);
	json_real(&j, "half", 0.5);
	json_bool(&j, "pass", true);
	json_null(&j, "note");
	json_str(&j, "none", NULL);
	json_arr(&j, "list");
	json_u64(&j, NULL, 1);
	json_arr(&j, NULL);
	json_end(&j);
	json_obj(&j, NULL);
	json_bool(&j, "x", false);
	json_end(&j);
	json_end(&j);
	json_obj(&j, "empty");
	json_end(&j);
	json_end(&j);
	assert_string_equal(j.buf,
			    "{\"id\":\"F01\",\"big\":18446744073709551615,"
			    "\"neg\":-9223372036854775808,\"half\":0.5,"
			    "\"pass\":true,\"note\":null,\"none\":null,"
			    "\"list\":[1,[],{\"x\":false}],\"empty\":{}}");
	assert_int_equal(strlen(j.buf), j.len);
	json_fini(&j);
	assert_null(j.buf);
}

static void pretty_json_is_indented(void **state)
{
	struct json j;

	json_init(&j, true);
	json_obj(&j, NULL);
	json_u64(&j, "a", 1);
	json_arr(&j, "b");
	json_u64(&j, NULL, 2);
	json_u64(&j, NULL, 3);
	json_end(&j);
	json_arr(&j, "c");
	json_end(&j);
	json_end(&j);
	assert_string_equal(j.buf,
			    "{\n  \"a\": 1,\n  \"b\": [\n    2,\n"
			    "    3\n  ],\n  \"c\": []\n}");
	json_fini(&j);
}

static void nan_and_infinity_become_null(void **state)
{
	struct json j;

	json_init(&j, false);
	json_arr(&j, NULL);
	json_real(&j, NULL, NAN);
	json_real(&j, NULL, INFINITY);
	json_real(&j, NULL, -INFINITY);
	json_real(&j, NULL, 0.1);
	json_real(&j, NULL, 0.1 + 0.2);
	json_real(&j, NULL, 1e-9);
	json_real(&j, NULL, 3);
	json_end(&j);
	assert_string_equal(j.buf,
			    "[null,null,null,0.1,0.30000000000000004,1e-09,3]");
	json_fini(&j);
}

static void assert_text(const char *in, const char *want)
{
	struct json j;

	json_init(&j, false);
	json_str(&j, NULL, in);
	assert_string_equal(j.buf, want);
	json_fini(&j);
}

static void special_characters_are_escaped(void **state)
{
	assert_text("a\"b\\c/", "\"a\\\"b\\\\c/\"");
	assert_text("\n\t\r\b\f", "\"\\n\\t\\r\\b\\f\"");
	assert_text("\x01\x1F\x7F", "\"\\u0001\\u001f\x7F\"");
	assert_text("", "\"\"");
}

#define BAD "\xEF\xBF\xBD"

static void broken_utf8_is_replaced_byte_by_byte(void **state)
{
	assert_text("\xC2\xB5s", "\"\xC2\xB5s\"");
	assert_text("\xE2\x82\xAC", "\"\xE2\x82\xAC\"");
	assert_text("\xF0\x9F\x98\x80", "\"\xF0\x9F\x98\x80\"");
	assert_text("\x80", "\"" BAD "\"");
	assert_text("\xC3", "\"" BAD "\"");	    /* cut short */
	assert_text("\xE2\x82", "\"" BAD BAD "\""); /* cut short */
	assert_text("\xC0\xAF", "\"" BAD BAD "\""); /* overlong */
	assert_text("\xE0\x80\x80", "\"" BAD BAD BAD "\"");
	assert_text("\xED\xA0\x80", "\"" BAD BAD BAD "\""); /* surrogate */
	assert_text("\xF5\x80\x80\x80", "\"" BAD BAD BAD BAD "\"");
	assert_text("\xFF\xFE", "\"" BAD BAD "\"");
}

/* Checks the first and the last code of each length of RFC 3629, and their
 * neighbours. */
static void utf8_is_valid_up_to_its_edges(void **state)
{
	static const char *const good[] = {
		"\x20",
		"\x7F",
		"\xC2\x80",
		"\xDF\xBF",
		"\xE0\xA0\x80",
		"\xE0\xBF\xBF",
		"\xE1\x80\x80",
		"\xEC\xBF\xBF",
		"\xED\x80\x80",
		"\xED\x9F\xBF",
		"\xEE\x80\x80",
		"\xEF\xBF\xBF",
		"\xF0\x90\x80\x80",
		"\xF0\xBF\xBF\xBF",
		"\xF1\x80\x80\x80",
		"\xF3\xBF\xBF\xBF",
		"\xF4\x80\x80\x80",
		"\xF4\x8F\xBF\xBF",
	};
	static const char *const bad[] = {
		"\xC1\xBF",	    "\xC2\xC0",		"\xDF\xC0",
		"\xE0\x9F\xBF",	    "\xE0\xC0\x80",	"\xE1\xC0\x80",
		"\xEC\x80\xC0",	    "\xED\xA0\x80",	"\xEE\xC0\x80",
		"\xEF\xC0\x80",	    "\xF0\x8F\xBF\xBF", "\xF0\xC0\x80\x80",
		"\xF1\xC0\x80\x80", "\xF3\x80\xC0\x80", "\xF4\x90\x80\x80",
		"\xF5\x80\x80\x80",
	};
	char want[32];

	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		snprintf(want, sizeof(want), "\"%s\"", good[i]);
		assert_text(good[i], want);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		strcpy(want, "\"");
		for (size_t k = 0; k < strlen(bad[i]); k++)
			strcat(want, BAD);
		strcat(want, "\"");
		assert_text(bad[i], want);
	}
	assert_text("\xE1z\x80", "\"" BAD "z" BAD "\"");
	assert_text("\xF1\x80\x80z", "\"" BAD BAD BAD "z\"");
}

static void json_grows_with_its_values(void **state)
{
	struct json j;

	json_init(&j, false);
	json_arr(&j, NULL);
	for (int i = 0; i < 100000; i++)
		json_u64(&j, NULL, 7);
	json_end(&j);
	assert_int_equal(j.len, 200001);
	assert_int_equal(j.buf[200000], ']');
	json_fini(&j);
}

static void json_nests_32_levels_deep(void **state)
{
	struct json j;

	json_init(&j, false);
	for (int i = 0; i < 32; i++)
		json_arr(&j, NULL);
	json_null(&j, NULL);
	for (int i = 0; i < 32; i++)
		json_end(&j);
	assert_int_equal(j.len, 68);
	assert_int_equal(j.depth, 0);
	json_fini(&j);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(compact_json_has_no_spaces),
		cmocka_unit_test(pretty_json_is_indented),
		cmocka_unit_test(nan_and_infinity_become_null),
		cmocka_unit_test(special_characters_are_escaped),
		cmocka_unit_test(broken_utf8_is_replaced_byte_by_byte),
		cmocka_unit_test(utf8_is_valid_up_to_its_edges),
		cmocka_unit_test(json_grows_with_its_values),
		cmocka_unit_test(json_nests_32_levels_deep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
