/* SPDX-License-Identifier: Apache-2.0 */
/* CRCs against the vectors of forth.md 4.4 and against a bit-serial reference.
 */
#include <string.h>

#include "../cmocka_all.h"
#include "base/crc.h"
#include "base/rng.h"

/* ---- the reference: one bit per step, as the definition says ---- */

static uint32_t ref_bits(uint32_t crc, uint32_t width, uint32_t poly,
			 uint64_t val, uint32_t bits)
{
	uint32_t mask = width == 32 ? UINT32_MAX : (1u << width) - 1;

	while (bits--) {
		uint32_t in = val >> bits & 1;
		uint32_t out = crc >> (width - 1) & 1;

		crc = (crc << 1 ^ (in ^ out ? poly : 0)) & mask;
	}
	return crc;
}

static uint16_t ref16(uint16_t crc, uint64_t val, uint32_t bits)
{
	return (uint16_t)ref_bits(crc, 16, 0x1021, val, bits);
}

static uint32_t ref32(uint32_t crc, uint64_t val, uint32_t bits)
{
	return ref_bits(crc, 32, 0x04C11DB7, val, bits);
}

static const uint8_t digits[] = { '1', '2', '3', '4', '5', '6', '7', '8', '9' };

static void crcs_give_the_check_values_of_the_catalogue(void **state)
{
	assert_int_equal(crc16_update(0xFFFF, digits, 9), 0x29B1);
	assert_int_equal(crc32_update(0xFFFFFFFF, digits, 9), 0x0376E6E7);
	assert_int_equal(crc32_reflected(0, digits, 9), 0xCBF43926);
	assert_int_equal(
		crc32_reflected(crc32_reflected(0, digits, 4), digits + 4, 5),
		0xCBF43926);
	assert_int_equal(crc8_update(0, digits, 9), 0xF4);
}

static const struct {
	uint64_t header;
	uint16_t crc;
} crc16_vectors[] = {
	{ 0x0000000000000000, 0x313E }, { 0xFFFFFFFFFFFFFFFF, 0x97DF },
	{ 0x0123456789ABCDEF, 0x986B }, { 0x8000000000000000, 0xCCBF },
	{ 0x0000000000000001, 0x211F }, { 0x0008000100000000, 0x08C2 },
	{ 0x0108000310000000, 0x1035 }, { 0x0548003E1FE00000, 0x9BFF },
	{ 0x0718004000ABC000, 0x18A1 }, { 0x022EAC3EDEADBEE8, 0x7FDB },
	{ 0x7F780200FFFFF000, 0x537D }, { 0x05476C4020000000, 0xCFF5 },
};

static void header_crc_matches_vectors_and_reference(void **state)
{
	for (size_t i = 0; i < sizeof(crc16_vectors) / sizeof(crc16_vectors[0]);
	     i++) {
		uint64_t h = crc16_vectors[i].header;
		uint16_t crc = crc16_qword(0xFFFF, h);
		uint8_t tail[2] = { (uint8_t)(crc >> 8), (uint8_t)crc };

		assert_int_equal(crc, crc16_vectors[i].crc);
		assert_int_equal(ref16(0xFFFF, h, 64), crc);
		/* a header followed by its CRC leaves a remainder of zero */
		assert_int_equal(crc16_update(crc, tail, 2), 0);
	}
}

enum payload { ZERO, ONES, WORD, COUNTER, RAMP };

static const struct {
	enum payload kind;
	uint32_t qwords, crc, complemented;
} crc32_vectors[] = {
	{ ZERO, 1, 0x6904BB59, 0x96FB44A6 },
	{ ONES, 1, 0xC704DD7B, 0x38FB2284 },
	{ WORD, 1, 0x09EEDE06, 0xF61121F9 },
	{ ZERO, 3, 0xFBAC7C3A, 0x045383C5 },
	{ COUNTER, 3, 0x002EED32, 0xFFD112CD },
	{ RAMP, 8, 0xBCBD08F5, 0x4342F70A },
	{ ZERO, 62, 0xA2B6EC2B, 0x5D4913D4 },
	{ COUNTER, 62, 0xAD1ED293, 0x52E12D6C },
	{ ZERO, 64, 0xE151AAB2, 0x1EAE554D },
	{ RAMP, 64, 0xD08D7AD9, 0x2F728526 },
	{ ZERO, 512, 0x77FFC71C, 0x880038E3 },
	{ COUNTER, 512, 0xDBDBBBD1, 0x2424442E },
};

static uint64_t payload_qword(enum payload kind, uint64_t k)
{
	switch (kind) {
	case ONES:
		return UINT64_MAX;
	case WORD:
		return 0x0123456789ABCDEF;
	case COUNTER:
		return k;
	case RAMP:
		return 0x0001020304050607 + (k % 32) * 0x0808080808080808;
	default:
		return 0;
	}
}

static void payload_crc_matches_vectors_and_reference(void **state)
{
	for (size_t i = 0; i < sizeof(crc32_vectors) / sizeof(crc32_vectors[0]);
	     i++) {
		uint32_t n = crc32_vectors[i].qwords, ref = 0xFFFFFFFF, crc;
		uint8_t mem[512 * 8], tail[4];

		for (uint32_t k = 0; k < n; k++) {
			uint64_t q = payload_qword(crc32_vectors[i].kind, k);

			ref = ref32(ref, q, 64);
			for (int b = 0; b < 8; b++)
				mem[k * 8 + b] = (uint8_t)(q >> (8 * b));
		}
		crc = crc32_qwords(0xFFFFFFFF, mem, n * 8);
		assert_int_equal(crc, crc32_vectors[i].crc);
		assert_int_equal(ref, crc);
		assert_int_equal(~crc, crc32_vectors[i].complemented);
		for (int b = 0; b < 4; b++)
			tail[b] = (uint8_t)(crc >> (24 - 8 * b));
		assert_int_equal(crc32_update(crc, tail, 4), 0);
	}
}

/* Compares CRCs with any start value, length, alignment and split. */
static void crcs_of_random_bytes_match_the_reference(void **state)
{
	struct weft_rng r;
	uint8_t mem[700];

	weft_rng_seed(&r, 1, "crc");
	for (int i = 0; i < 2000; i++) {
		size_t off = weft_rng_below(&r, 16);
		size_t n = weft_rng_below(&r, sizeof(mem) - off);
		size_t cut = weft_rng_below(&r, n + 1);
		uint16_t c16 = (uint16_t)weft_rng_u64(&r), r16 = c16;
		uint32_t c32 = (uint32_t)weft_rng_u64(&r), r32 = c32;

		for (size_t k = 0; k < n; k++) {
			mem[off + k] = (uint8_t)weft_rng_u64(&r);
			r16 = ref16(r16, mem[off + k], 8);
			r32 = ref32(r32, mem[off + k], 8);
		}
		assert_int_equal(crc16_update(c16, mem + off, n), r16);
		assert_int_equal(crc32_update(c32, mem + off, n), r32);
		c32 = crc32_update(c32, mem + off, cut);
		assert_int_equal(crc32_update(c32, mem + off + cut, n - cut),
				 r32);
	}
}

static void crcs_of_random_qwords_match_the_reference(void **state)
{
	struct weft_rng r;
	uint8_t mem[8 * 600 + 8];

	weft_rng_seed(&r, 2, "crc");
	for (int i = 0; i < 300; i++) {
		size_t off = weft_rng_below(&r, 8);
		size_t n = weft_rng_below(&r, 600);
		uint32_t c32 = (uint32_t)weft_rng_u64(&r), r32 = c32;
		uint16_t c16 = (uint16_t)r32, r16 = c16;

		for (size_t k = 0; k < n; k++) {
			uint64_t q = weft_rng_u64(&r);

			r32 = ref32(r32, q, 64);
			r16 = ref16(r16, q, 64);
			c16 = crc16_qword(c16, q);
			for (int b = 0; b < 8; b++)
				mem[off + k * 8 + b] = (uint8_t)(q >> (8 * b));
		}
		assert_int_equal(crc32_qwords(c32, mem + off, n * 8), r32);
		assert_int_equal(c16, r16);
	}
}

/* Every single-bit error in a header changes its CRC-16. So does every
 * double-bit error, because the generator's order exceeds 64. */
static void header_crc_finds_every_two_bit_errors(void **state)
{
	uint64_t h = 0x0548003E1FE00000;
	uint16_t good = crc16_qword(0xFFFF, h);

	for (int i = 0; i < 64; i++) {
		uint64_t one = h ^ UINT64_C(1) << i;

		assert_int_not_equal(crc16_qword(0xFFFF, one), good);
		for (int k = 0; k < i; k++)
			assert_int_not_equal(
				crc16_qword(0xFFFF, one ^ UINT64_C(1) << k),
				good);
	}
}

static void crc_of_no_bytes_is_its_start_value(void **state)
{
	assert_int_equal(crc16_update(0x1234, NULL, 0), 0x1234);
	assert_int_equal(crc32_update(0x12345678, NULL, 0), 0x12345678);
	assert_int_equal(crc32_qwords(0x12345678, NULL, 0), 0x12345678);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crcs_give_the_check_values_of_the_catalogue),
		cmocka_unit_test(header_crc_matches_vectors_and_reference),
		cmocka_unit_test(payload_crc_matches_vectors_and_reference),
		cmocka_unit_test(crcs_of_random_bytes_match_the_reference),
		cmocka_unit_test(crcs_of_random_qwords_match_the_reference),
		cmocka_unit_test(header_crc_finds_every_two_bit_errors),
		cmocka_unit_test(crc_of_no_bytes_is_its_start_value),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
