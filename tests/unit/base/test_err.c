/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <string.h>

#include "../cmocka_all.h"
#include "weft/types.h"

static void error_holds_its_text_and_returns_its_code(void **state)
{
	struct weft_err err = { 0 };

	assert_int_equal(weft_fail(&err, EINVAL, "%s: '%d'", "ports", 3),
			 -EINVAL);
	assert_int_equal(err.code, EINVAL);
	assert_string_equal(err.msg, "ports: '3'");
}

static void first_cause_of_an_error_stays(void **state)
{
	struct weft_err err = { 0 };

	weft_fail(&err, EINVAL, "first");
	assert_int_equal(weft_fail(&err, ENOENT, "second"), -ENOENT);
	assert_int_equal(err.code, EINVAL);
	assert_string_equal(err.msg, "first");
}

static void error_may_be_reported_to_null(void **state)
{
	assert_int_equal(weft_fail(NULL, ENOENT, "not read"), -ENOENT);
}

static void long_text_of_an_error_is_cut(void **state)
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
		cmocka_unit_test(error_holds_its_text_and_returns_its_code),
		cmocka_unit_test(first_cause_of_an_error_stays),
		cmocka_unit_test(error_may_be_reported_to_null),
		cmocka_unit_test(long_text_of_an_error_is_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
