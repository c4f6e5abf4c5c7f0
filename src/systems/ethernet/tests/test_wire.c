/* SPDX-License-Identifier: Apache-2.0 */
/* Ethernet frames: times, FCS, line symbols, pause. */
#include <string.h>

#include "unit/cmocka_all.h"
#include "systems/ethernet/link/wire_parts.h"

enum { N = 60 };

static struct weft_frame *pattern(struct weft_sim *sim, uint32_t len)
{
	struct weft_frame *f = eth_frame_new(sim, len);

	for (uint32_t i = 0; i < len; i++)
		eth_frame_data(f)[i] = (uint8_t)(i * 13 + 5);
	return f;
}

/* CRC-32 has the published check value. A frame with its FCS leaves the
 * published residue. */
static void crc_has_the_published_check_value_and_residue(void **state)
{
	uint8_t p[64] = "123456789";
	uint32_t v;

	assert_int_equal(eth_fcs(p, 9), 0xcbf43926);
	for (uint32_t i = 0; i < N; i++)
		p[i] = (uint8_t)i;
	v = eth_fcs(p, N);
	memcpy(p + N, &v, 4); /* the FCS has its least significant byte first */
	assert_int_equal(eth_fcs(p, N + 4), 0x2144df1c);
}

/* Times of hvia.md 3.8: 576 ns for the shortest frame, and 12.304 us for a full
 * one with its gap. */
static void frame_times_are_those_of_the_table(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_frame *a = eth_frame_new(sim, 14);
	struct weft_frame *b = eth_frame_new(sim, ETH_FRAME_MAX);

	assert_int_equal(eth_frame_time(a), 576 * WEFT_NS);
	assert_int_equal(eth_frame_time(b) + ETH_GAP * ETH_BYTE_FS,
			 12304 * WEFT_NS);
	weft_frame_free(a);
	weft_frame_free(b);
	weft_sim_free(sim);
}

static struct weft_raw *raw_of(const struct weft_frame *f)
{
	uint32_t n = eth_wire.encode(f, NULL, 0);
	struct weft_raw *r = weft_raw_new(f->sim, n);

	assert_int_equal(eth_wire.encode(f, r->sym, n), n);
	return r;
}

/* Every single wrong bit is noticed, except in the preamble. */
static void single_bits(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);
	uint32_t bit, good = 0;

	for (bit = 0; bit < 8 * (8 + N + 4); bit++) {
		struct weft_frame *f = pattern(sim, N);
		enum eth_verdict v;

		f->raw = raw_of(f);
		assert_int_equal(f->raw->sym[7], 0xd5);
		f->raw->sym[bit / 8] ^= (uint16_t)(1u << bit % 8);
		v = eth_frame_check(f, ETH_FRAME_MAX);
		if (bit < 8 * 7 && v == ETH_GOOD)
			good++;
		else
			assert_int_not_equal(v, ETH_GOOD);
		if (v == ETH_GOOD)
			assert_null(f->raw);
		weft_frame_free(f);
	}
	/* in each of the seven preamble bytes, one bit turns 0x55 into 0xd5, so
	 * that the frame begins too early */
	assert_int_equal(good, 8 * 7 - 7);
	weft_sim_free(sim);
}

static void bad_shapes(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_frame *f = pattern(sim, 1515);

	assert_int_equal(eth_frame_check(f, ETH_FRAME_MAX), ETH_GIANT);
	assert_int_equal(eth_frame_check(f, ETH_FRAME_JUMBO), ETH_GOOD);
	f->raw = raw_of(f);
	f->raw->n = 8 + 40;
	assert_int_equal(eth_frame_check(f, ETH_FRAME_MAX), ETH_RUNT);
	weft_frame_free(f);
	f = pattern(sim, N);
	f->raw = raw_of(f);
	f->raw->sym[30] |= WEFT_SYM_BAD;
	assert_int_equal(eth_frame_check(f, ETH_FRAME_MAX), ETH_BAD_SYMBOL);
	weft_frame_free(f);
	weft_sim_free(sim);
}

/* Software computes the FCS itself. */
static void given_fcs(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);

	for (uint32_t wrong = 0; wrong < 2; wrong++) {
		struct weft_frame *f = pattern(sim, 104);
		uint32_t v = eth_fcs(eth_frame_data(f), 100) ^ wrong;

		memcpy(eth_frame_data(f) + 100, &v, 4);
		eth_frame_given_fcs(f);
		assert_int_equal(f->payload.len, 100);
		assert_int_equal(f->words, 112);
		assert_int_equal(eth_frame_check(f, ETH_FRAME_MAX),
				 wrong ? ETH_BAD_FCS : ETH_GOOD);
		weft_frame_free(f);
	}
	weft_sim_free(sim);
}

static void pause_frame_has_the_standard_bytes(void **state)
{
	static const uint8_t bytes[] = { 0x01, 0x80, 0xc2, 0,	 0,    0x01,
					 0x02, 0,    0,	   0,	 0,    0x09,
					 0x88, 0x08, 0,	   0x01, 0x12, 0x34 };
	struct weft_sim *sim = weft_sim_new(1);
	uint8_t src[ETH_ADDR];
	struct weft_frame *f;
	uint16_t q = 0;

	eth_addr_of(src, 9);
	f = eth_pause_new(sim, src, 0x1234);
	assert_int_equal(f->payload.len, 60);
	assert_memory_equal(eth_frame_data(f), bytes, sizeof(bytes));
	assert_true(eth_pause_parse(f, &q));
	assert_int_equal(q, 0x1234);
	eth_frame_data(f)[15] = 2;
	assert_false(eth_pause_parse(f, &q));
	weft_frame_free(f);
	weft_sim_free(sim);
}

/* A frame with a wrong group address, type or opcode is not a pause frame. */
static void no_pause(void **state)
{
	static const uint8_t byte[] = { 0, 5, 12, 13, 14, 15 };
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_frame *f = eth_pause_new(sim, eth_pause_group, 7);
	uint16_t q = 9;

	for (uint32_t i = 0; i < sizeof(byte); i++) {
		eth_frame_data(f)[byte[i]] ^= 1;
		if (eth_pause_parse(f, &q))
			fail_msg("byte %u", byte[i]);
		eth_frame_data(f)[byte[i]] ^= 1;
	}
	assert_int_equal(q, 9);
	eth_frame_data(f)[6] ^= 1; /* any source address is valid */
	assert_true(eth_pause_parse(f, &q));
	assert_int_equal(q, 7);
	weft_frame_free(f);
	weft_sim_free(sim);
}

static void station_number_and_address_convert_both_ways(void **state)
{
	static const uint8_t ones[] = { 255, 255, 255, 255, 255, 255 };
	static const uint8_t station[] = { 2, 0, 0x12, 0x34, 0x56, 0x78 };
	uint8_t a[ETH_ADDR];

	assert_memory_equal(eth_broadcast, ones, ETH_ADDR);
	eth_addr_of(a, 0x12345678);
	assert_memory_equal(a, station, ETH_ADDR);
	assert_int_equal(eth_station_of("n12.nic3"), 12);
	assert_int_equal(eth_station_of("9"), 9);
	assert_int_equal(eth_station_of("nic"), 0);
}

static void header_is_readable_from_frame_and_from_symbols(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_frame *f = pattern(sim, N);
	uint8_t a[14], b[14];

	assert_true(eth_frame_peek(f, a, 14));
	f->raw = raw_of(f);
	assert_true(eth_frame_peek(f, b, 14));
	assert_memory_equal(a, b, 14);
	f->raw->n = 8 + 14 + 3;
	assert_false(eth_frame_peek(f, b, 14));
	weft_frame_free(f);
	weft_sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(crc_has_the_published_check_value_and_residue),
		cmocka_unit_test(frame_times_are_those_of_the_table),
		cmocka_unit_test(single_bits),
		cmocka_unit_test(bad_shapes),
		cmocka_unit_test(given_fcs),
		cmocka_unit_test(pause_frame_has_the_standard_bytes),
		cmocka_unit_test(
			header_is_readable_from_frame_and_from_symbols),
		cmocka_unit_test(no_pause),
		cmocka_unit_test(station_number_and_address_convert_both_ways),
	};

	return cmocka_run_group_tests_name("eth_wire", tests, NULL, NULL);
}
