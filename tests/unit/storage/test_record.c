/* SPDX-License-Identifier: Apache-2.0 */
/* Records of the block protocol, and CRC-32C against a bit-serial reference. */
#include "../cmocka_all.h"

#include <string.h>

#include "base/rng.h"
#include "storage/pages.h"
#include "storage/record.h"

/* Returns the CRC-32C (Castagnoli), computed one bit after the other. */
static uint32_t crc_serial(uint32_t crc, const uint8_t *p, size_t n)
{
	crc = ~crc;
	for (size_t i = 0; i < n; i++) {
		crc ^= p[i];
		for (int k = 0; k < 8; k++)
			crc = crc >> 1 ^ (crc & 1 ? 0x82F63B78u : 0);
	}
	return ~crc;
}

static void crc_is_that_of_the_bit_serial_reference(void **state)
{
	uint8_t b[700];
	struct weft_rng r;

	weft_rng_seed(&r, 1, "crc");
	for (size_t i = 0; i < sizeof(b); i++)
		b[i] = (uint8_t)weft_rng_u64(&r);
	for (size_t n = 0; n < sizeof(b); n++)
		assert_int_equal(storage_crc(0, b, n), crc_serial(0, b, n));
	assert_int_equal(storage_crc(0, "123456789", 9), 0xE3069283u);
}

static void crc_chains(void **state)
{
	const uint8_t b[] = "pages of a request arrive one after the other";
	uint32_t all = storage_crc(0, b, sizeof(b));

	for (size_t n = 0; n <= sizeof(b); n++)
		assert_int_equal(
			storage_crc(storage_crc(0, b, n), b + n, sizeof(b) - n),
			all);
}

static struct storage_record sample(uint8_t segs)
{
	struct storage_record r = { .epoch = 7,
				    .seq = 9,
				    .tag = 3,
				    .attempt = 1,
				    .code = STORAGE_READ,
				    .segs = segs,
				    .offset = 4096,
				    .length = 8192 };

	for (uint8_t i = 0; i < segs; i++)
		r.seg[i] = (struct storage_seg){ 0x1000u * i, 77, 1024, 0 };
	storage_record_seal(&r);
	return r;
}

static void sealed_record_is_read_as_it_was(void **state)
{
	for (uint8_t segs = 0; segs <= STORAGE_SEGS; segs++) {
		struct storage_record r = sample(segs), got;

		assert_true(storage_record_read(&got, &r,
						storage_record_bytes(&r)));
		assert_memory_equal(&got, &r, sizeof(r));
	}
	assert_int_equal(offsetof(struct storage_record, seg), 64);
	assert_int_equal(sizeof(struct storage_record), 256);
}

/* Nothing of a refused record can be used by mistake: all its bytes are
 * cleared, also if the record is too short to be looked at. */
static void refused(const struct storage_record *r, size_t n)
{
	static const struct storage_record none;
	struct storage_record got;

	memset(&got, 0xEE, sizeof(got));
	assert_false(storage_record_read(&got, r, n));
	assert_memory_equal(&got, &none, sizeof(got));
}

static void every_flipped_bit_is_found(void **state)
{
	struct storage_record r = sample(2);
	size_t n = storage_record_bytes(&r);

	for (size_t bit = 0; bit < 8 * n; bit++) {
		((uint8_t *)&r)[bit / 8] ^= (uint8_t)(1 << bit % 8);
		refused(&r, n);
		((uint8_t *)&r)[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
}

static void short_record_is_refused(void **state)
{
	struct storage_record r = sample(3);
	size_t n = storage_record_bytes(&r);

	for (size_t k = 0; k < n; k++)
		refused(&r, k);
}

static void record_with_too_many_segments_is_refused(void **state)
{
	struct storage_record r = sample(STORAGE_SEGS);

	r.segs++;
	refused(&r, sizeof(r));
}

static void bytes_behind_a_record_are_not_read(void **state)
{
	struct storage_record r = sample(1), got;

	memset(&r.seg[1], 0xEE, 3 * sizeof(r.seg[1]));
	assert_true(storage_record_read(&got, &r, sizeof(r)));
	assert_int_equal(got.seg[1].len, 0);
}

static void marks_of_neighbours_differ(void **state)
{
	assert_int_not_equal(storage_mark(1, 1, 1), storage_mark(1, 1, 2));
	assert_int_not_equal(storage_mark(1, 1, 1), storage_mark(2, 1, 1));
	assert_int_not_equal(storage_mark(1, 1, 1), storage_mark(1, 2, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc_is_that_of_the_bit_serial_reference),
		cmocka_unit_test(crc_chains),
		cmocka_unit_test(sealed_record_is_read_as_it_was),
		cmocka_unit_test(every_flipped_bit_is_found),
		cmocka_unit_test(short_record_is_refused),
		cmocka_unit_test(record_with_too_many_segments_is_refused),
		cmocka_unit_test(bytes_behind_a_record_are_not_read),
		cmocka_unit_test(marks_of_neighbours_differ),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
