/* SPDX-License-Identifier: Apache-2.0 */
/* Numbers as bytes: known answers in both byte orders. Neighbouring bytes do
 * not change. */
#include <string.h>

#include "../cmocka_all.h"
#include "base/bytes.h"

static const uint8_t some[] = {
	0x11, 0x80, 0x33, 0xff, 0x55, 0x66, 0x77, 0x88
};

static void the_first_byte_is_the_lowest_or_the_highest(void **state)
{
	assert_int_equal(get_le(some, 2), 0x8011);
	assert_int_equal(get_be(some, 2), 0x1180);
	assert_int_equal(get_le(some, 4), 0xff338011);
	assert_int_equal(get_be(some, 4), 0x118033ff);
	assert_true(get_le(some, 8) == 0x88776655ff338011);
	assert_true(get_be(some, 8) == 0x118033ff55667788);
	assert_int_equal(get_le(some + 1, 0), 0);
	assert_int_equal(get_be(some + 1, 0), 0);
}

static void only_the_bytes_asked_for_are_written(void **state)
{
	for (uint32_t n = 0; n <= 8; n++) {
		uint8_t le[10], be[10];

		memset(le, 0xaa, sizeof(le));
		memset(be, 0xaa, sizeof(be));
		put_le(le + 1, get_le(some, 8), n);
		put_be(be + 1, get_be(some, n), n);
		assert_memory_equal(le + 1, some, n);
		assert_memory_equal(be + 1, some, n);
		assert_int_equal(le[0], 0xaa);
		assert_int_equal(be[0], 0xaa);
		assert_int_equal(le[n + 1], 0xaa);
		assert_int_equal(be[n + 1], 0xaa);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_first_byte_is_the_lowest_or_the_highest),
		cmocka_unit_test(only_the_bytes_asked_for_are_written),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
