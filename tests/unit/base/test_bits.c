/* SPDX-License-Identifier: Apache-2.0 */
#include "../cmocka_all.h"
#include "base/bits.h"

static void mask_covers_the_bits_from_high_to_low(void **state)
{
	assert_true(bits_mask(63, 0) == UINT64_MAX);
	assert_true(bits_mask(0, 0) == 1);
	assert_true(bits_mask(63, 63) == UINT64_C(1) << 63);
	assert_true(bits_mask(15, 8) == 0xFF00);
}

static void field_is_read_from_its_bits(void **state)
{
	const uint64_t w = 0x0123456789ABCDEF;

	assert_true(bits_get(w, 63, 56) == 0x01);
	assert_true(bits_get(w, 7, 0) == 0xEF);
	assert_true(bits_get(w, 51, 42) == 0xD1);
	assert_true(bits_get(w, 63, 0) == w);
	assert_true(bits_get(w, 0, 0) == 1);
}

static void field_is_written_and_others_stay(void **state)
{
	assert_true(bits_set(UINT64_MAX, 15, 8, 0x12) == 0xFFFFFFFFFFFF12FF);
	assert_true(bits_set(0, 63, 63, 1) == UINT64_C(1) << 63);
	assert_true(bits_set(0, 63, 0, 0x0123456789ABCDEF) ==
		    0x0123456789ABCDEF);
	assert_true(bits_set(0xF0, 7, 4, 0) == 0);
}

static void written_field_of_any_width_reads_back(void **state)
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

static void parity_is_that_of_the_number_of_ones(void **state)
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
		cmocka_unit_test(mask_covers_the_bits_from_high_to_low),
		cmocka_unit_test(field_is_read_from_its_bits),
		cmocka_unit_test(field_is_written_and_others_stay),
		cmocka_unit_test(written_field_of_any_width_reads_back),
		cmocka_unit_test(parity_is_that_of_the_number_of_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
