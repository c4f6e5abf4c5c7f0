/* SPDX-License-Identifier: Apache-2.0 */
#include "../cmocka_all.h"
#include "base/bits.h"

static void test_mask(void **state)
{
	assert_true(bits_mask(63, 0) == UINT64_MAX);
	assert_true(bits_mask(0, 0) == 1);
	assert_true(bits_mask(63, 63) == UINT64_C(1) << 63);
	assert_true(bits_mask(15, 8) == 0xFF00);
}

static void test_get(void **state)
{
	const uint64_t w = 0x0123456789ABCDEF;

	assert_true(bits_get(w, 63, 56) == 0x01);
	assert_true(bits_get(w, 7, 0) == 0xEF);
	assert_true(bits_get(w, 51, 42) == 0xD1);
	assert_true(bits_get(w, 63, 0) == w);
	assert_true(bits_get(w, 0, 0) == 1);
}

static void test_set(void **state)
{
	assert_true(bits_set(UINT64_MAX, 15, 8, 0x12) == 0xFFFFFFFFFFFF12FF);
	assert_true(bits_set(0, 63, 63, 1) == UINT64_C(1) << 63);
	assert_true(bits_set(0, 63, 0, 0x0123456789ABCDEF) ==
		    0x0123456789ABCDEF);
	assert_true(bits_set(0xF0, 7, 4, 0) == 0);
}

/* Every field of every width: what is set is read, the rest stays. */
static void test_set_get_all(void **state)
{
	const uint64_t w = 0xA5C3F00F96691EE1;

	for (uint32_t hi = 0; hi < 64; hi++) {
		for (uint32_t lo = 0; lo <= hi; lo++) {
			uint64_t m = bits_mask(hi, lo);
			uint64_t v = ~bits_get(w, hi, lo) & m >> lo;
			uint64_t x = bits_set(w, hi, lo, v);

			assert_true(bits_get(x, hi, lo) == v);
			assert_true((x ^ w) == m);
		}
	}
}

static void test_parity(void **state)
{
	assert_false(bits_parity(0));
	assert_true(bits_parity(1));
	assert_true(bits_parity(UINT64_C(1) << 63));
	assert_false(bits_parity(0x8001));
	assert_false(bits_parity(UINT64_MAX));
	assert_true(bits_parity(0x7));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mask),
		cmocka_unit_test(test_get),
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_set_get_all),
		cmocka_unit_test(test_parity),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
