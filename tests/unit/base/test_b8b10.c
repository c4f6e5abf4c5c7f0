/* SPDX-License-Identifier: Apache-2.0 */
/* 8b/10b (extoll.md 4.8, T-39): published codes, the properties of a line code,
 * both disparities, all illegal codes. */
#include "../cmocka_all.h"
#include "base/b8b10.h"

#define D(x, y) ((y) << 5 | (x))
#define K(x, y) (B8B10_K | (y) << 5 | (x))

static uint32_t bits(const char *s)
{
	uint32_t v = 0;

	for (; *s; s++)
		if (*s != ' ')
			v = v << 1 | (*s == '1');
	return v;
}

/* Codes from the published tables: for disparity 0, then for 1. */
static const struct {
	uint32_t sym;
	const char *code[2];
} published[] = {
	{ D(0, 0), { "100111 0100", "011000 1011" } },
	{ D(1, 0), { "011101 0100", "100010 1011" } },
	{ D(3, 3), { "110001 1100", "110001 0011" } },
	{ D(7, 7), { "111000 1110", "000111 0001" } },
	{ D(10, 2), { "010101 0101", "010101 0101" } },
	{ D(11, 7), { "110100 1110", "110100 1000" } },
	{ D(16, 2), { "011011 0101", "100100 0101" } },
	{ D(17, 7), { "100011 0111", "100011 0001" } },
	{ D(20, 7), { "001011 0111", "001011 0001" } },
	{ D(21, 5), { "101010 1010", "101010 1010" } },
	{ D(24, 3), { "110011 0011", "001100 1100" } },
	{ D(31, 7), { "101011 0001", "010100 1110" } },
	{ K(28, 0), { "001111 0100", "110000 1011" } },
	{ K(28, 1), { "001111 1001", "110000 0110" } },
	{ K(28, 2), { "001111 0101", "110000 1010" } },
	{ K(28, 3), { "001111 0011", "110000 1100" } },
	{ K(28, 4), { "001111 0010", "110000 1101" } },
	{ K(28, 5), { "001111 1010", "110000 0101" } },
	{ K(28, 6), { "001111 0110", "110000 1001" } },
	{ K(28, 7), { "001111 1000", "110000 0111" } },
	{ K(23, 7), { "111010 1000", "000101 0111" } },
	{ K(27, 7), { "110110 1000", "001001 0111" } },
	{ K(29, 7), { "101110 1000", "010001 0111" } },
	{ K(30, 7), { "011110 1000", "100001 0111" } },
};

static void codes_are_the_published_ones(void **state)
{
	for (size_t i = 0; i < sizeof(published) / sizeof(*published); i++)
		for (uint32_t rd = 0; rd < 2; rd++) {
			uint32_t r = rd;

			assert_int_equal(b8b10_encode(published[i].sym, &r),
					 bits(published[i].code[rd]));
		}
}

/* T-39: all symbols at both disparities. */
static void every_symbol_decodes_at_both_disparities(void **state)
{
	uint32_t n = 0;

	for (uint32_t s = 0; s < B8B10_SYMBOLS; s++) {
		n += b8b10_known(s);
		for (uint32_t rd = 0; b8b10_known(s) && rd < 2; rd++) {
			uint32_t tx = rd, rx = rd;
			uint32_t c = b8b10_encode(s, &tx);
			uint32_t ones = (uint32_t)__builtin_popcount(c);

			assert_in_range(ones, rd ? 4 : 5, rd ? 5 : 6);
			assert_int_equal(tx, ones == 5 ? rd : !rd);
			assert_int_equal(b8b10_decode(c, &rx), s);
			assert_int_equal(rx, tx);
		}
	}
	assert_int_equal(n, 256 + 12);
	assert_false(b8b10_known(K(0, 0)));
}

/* T-39: at each disparity exactly 268 of the 1024 10-bit words are valid. */
static void every_other_word_is_illegal(void **state)
{
	uint32_t good[2] = { 0 }, both = 0, none = 0;

	for (uint32_t c = 0; c < 1024; c++) {
		uint32_t a = 0, b = 1, x, y;

		x = b8b10_decode(c, &a);
		y = b8b10_decode(c, &b);
		good[0] += !(x & B8B10_BAD);
		good[1] += !(y & B8B10_BAD);
		both += !(x & B8B10_BAD) && !(y & B8B10_BAD);
		none += x == B8B10_BAD && y == B8B10_BAD;
		if (__builtin_popcount(c) < 4 || __builtin_popcount(c) > 6)
			assert_true(x & y & B8B10_BAD);
	}
	assert_int_equal(good[0], 268);
	assert_int_equal(good[1], 268);
	assert_int_equal(none, 1024 - (2 * 268 - both));
	/* words that are all zeros, all ones, or begin with five equal bits */
	for (uint32_t rd = 0; rd < 2; rd++) {
		uint32_t r = rd;

		assert_int_equal(b8b10_decode(0, &r), B8B10_BAD);
		r = rd;
		assert_int_equal(b8b10_decode(0x3ff, &r), B8B10_BAD);
		r = rd;
		assert_true(b8b10_decode(bits("111110 0010"), &r) & B8B10_BAD);
	}
}

/* Decodes the code of the other disparity. The symbol is recognised, but
 * flagged as bad. */
static void wrong_disparity_flags_a_known_symbol(void **state)
{
	uint32_t rd = 0, c = b8b10_encode(D(0, 4), &rd), rx = 1;

	assert_int_equal(rd, 0); /* 100111 0010 is balanced */
	assert_int_equal(b8b10_decode(c, &rx), D(0, 4) | B8B10_BAD);
	/* The received code has set the disparity. Therefore the same code is
	 * good now. */
	assert_int_equal(rx, 0);
	assert_int_equal(b8b10_decode(c, &rx), D(0, 4));
	rd = 0;
	rx = 1;
	c = b8b10_encode(K(28, 5), &rd);
	assert_int_equal(b8b10_decode(c, &rx), K(28, 5) | B8B10_BAD);
	assert_int_equal(rx, 1);
	assert_int_equal(b8b10_decode(b8b10_encode(D(16, 2), &rd), &rx),
			 D(16, 2));
}

/* Every single bit error is detected, either by the word itself or by the
 * disparity of later words. */
static void single_bit_error_never_passes_unnoticed(void **state)
{
	for (uint32_t s = 0; s < B8B10_SYMBOLS; s++) {
		for (uint32_t i = 0; b8b10_known(s) && i < 20; i++) {
			uint32_t tx = i / 10, rx = tx, bad;
			uint32_t c = b8b10_encode(s, &tx) ^ 1u << i % 10;

			bad = b8b10_decode(c, &rx) & B8B10_BAD;
			assert_true(bad || rx != tx);
		}
	}
}

static void comma_is_in_no_pair_of_data_symbols(void **state)
{
	for (uint32_t i = 0; i < 2 * 256 * 256; i++) {
		uint32_t rd = i & 1, w, k;

		w = b8b10_encode(i >> 1 & 255, &rd) << 10;
		w |= b8b10_encode(i >> 9, &rd);
		for (k = 0; k + 7 <= 20; k++)
			assert_true((w >> k & 0x7f) != 0x1f &&
				    (w >> k & 0x7f) != 0x60);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(codes_are_the_published_ones),
		cmocka_unit_test(every_symbol_decodes_at_both_disparities),
		cmocka_unit_test(every_other_word_is_illegal),
		cmocka_unit_test(wrong_disparity_flags_a_known_symbol),
		cmocka_unit_test(single_bit_error_never_passes_unnoticed),
		cmocka_unit_test(comma_is_in_no_pair_of_data_symbols),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
