/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "../cmocka_all.h"
#include "weft/types.h"

static void test_fills_and_returns(void **state)
{
	struct weft_err err = { 0 };

	assert_int_equal(weft_fail(&err, EINVAL, "%s: '%d'", "ports", 3),
			 -EINVAL);
	assert_int_equal(err.code, EINVAL);
	assert_string_equal(err.msg, "ports: '3'");
}

static void test_first_cause_stays(void **state)
{
	struct weft_err err = { 0 };

	weft_fail(&err, EINVAL, "first");
	assert_int_equal(weft_fail(&err, ENOENT, "second"), -ENOENT);
	assert_int_equal(err.code, EINVAL);
	assert_string_equal(err.msg, "first");
}

static void test_null_is_allowed(void **state)
{
	assert_int_equal(weft_fail(NULL, ENOENT, "nobody reads this"), -ENOENT);
}

static void test_long_text_is_cut(void **state)
{
	struct weft_err err = { 0 };
	char big[2000];

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	weft_fail(&err, EINVAL, "%s", big);
	assert_int_equal(strlen(err.msg), sizeof(err.msg) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fills_and_returns),
		cmocka_unit_test(test_first_cause_stays),
		cmocka_unit_test(test_null_is_allowed),
		cmocka_unit_test(test_long_text_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
