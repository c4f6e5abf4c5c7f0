/* SPDX-License-Identifier: Apache-2.0 */
/* Tests headers of HyperTransport packets. Encodes and decodes headers, and
 * checks the headers that a link carries (EXTOLL specification 2.2). */
#include "../cmocka_all.h"

#include <string.h>

#include "host/ht.h"
#include "rig_ht.h"

static void request_is_laid_out_as_written_down(void **state)
{
	const struct ht_head h = { .cmd = HT_CMD_READ,
				   .unit = 0x11,
				   .seq = 9,
				   .tag = 0x1e,
				   .count = 6,
				   .pass_pw = true,
				   .addr = 0xAB12345678 };
	const uint8_t want[8] = {
		0x94, 0xB1, 0x9E, 0x79, 0x56, 0x34, 0x12, 0xAB
	};
	uint8_t got[8];

	ht_request_pack(&h, got);
	assert_memory_equal(got, want, 8);
}

static void answer_is_laid_out_as_written_down(void **state)
{
	const struct ht_head h = { .cmd = HT_CMD_ANSWER,
				   .unit = 3,
				   .tag = 0x15,
				   .count = 15,
				   .error = true };
	const uint8_t want[4] = { 0x30, 0x03, 0xF5, 0x03 };
	uint8_t got[4];

	ht_answer_pack(&h, got);
	assert_memory_equal(got, want, 4);
}

static bool same(const struct ht_head *a, const struct ht_head *b)
{
	return a->cmd == b->cmd && a->unit == b->unit && a->seq == b->seq &&
	       a->tag == b->tag && a->count == b->count &&
	       a->pass_pw == b->pass_pw && a->error == b->error &&
	       a->addr == b->addr;
}

static void every_header_comes_back(void **state)
{
	uint64_t x = 88172645463325252ull;

	for (uint32_t i = 0; i < 100000; i++) {
		struct ht_head h = { 0 }, back;
		uint8_t raw[8];

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		h.cmd = x & 0x3f;
		h.unit = x >> 6 & 0x1f;
		h.tag = x >> 11 & 0x1f;
		h.count = x >> 16 & 15;
		h.pass_pw = x >> 20 & 1;
		if (i & 1) {
			h.seq = x >> 21 & 15;
			h.addr = x >> 24 & 0xfffffffffcull;
			ht_request_pack(&h, raw);
			ht_request_parse(raw, &back);
		} else {
			h.error = x >> 25 & 1;
			ht_answer_pack(&h, raw);
			ht_answer_parse(raw, &back);
		}
		assert_true(same(&h, &back));
	}
}

static void mask_says_which_bytes(void **state)
{
	for (uint32_t at = 0; at < 32; at++)
		for (uint32_t n = 1; n <= 32 - at; n++) {
			uint32_t m = ht_mask(0x1000 + at, n);

			assert_int_equal(ht_mask_first(m), at);
			assert_int_equal(ht_mask_bytes(m), n);
		}
}

/* ---- on the link ---- */

/* Runs one operation of a device. Returns the last header that the link carried
 * in a direction. */
static struct ht_head carried(enum ht_what what, uint64_t addr, uint32_t bytes,
			      enum ht_dir dir)
{
	static struct ht_script s;
	static struct ht_log log;
	struct htrig rig = { 0 };
	const struct ht_lane *lane;
	struct ht_head h;

	htrig_default(&s);
	htrig_add(&s.dev[0], what, addr, bytes);
	htrig_run(&rig, &s, &log);
	/* the rig expects memory at all addresses, therefore it reports wrong
	 * data for an address of more than 40 bits */
	assert_int_equal(rig.bad_data, addr >> HT_ADDR_BITS != 0);
	lane = &((const struct ht *)rig.bus->state)->link[0].lane[dir];
	if (dir == HT_DOWN)
		ht_answer_parse(lane->head, &h);
	else
		ht_request_parse(lane->head, &h);
	htrig_free(&rig);
	return h;
}

static void packets_of_a_device_have_headers(void **state)
{
	struct ht_head h = carried(HT_WRITE, 0x12340, 24, HT_UP);

	assert_true(same(&h, &(struct ht_head){ .cmd = HT_CMD_WRITE,
						.unit = 1,
						.count = 5,
						.addr = 0x12340 }));
	h = carried(HT_WRITE, 0x12341, 6, HT_UP);
	assert_true(same(&h, &(struct ht_head){ .cmd = HT_CMD_WRITE_BYTES,
						.unit = 1,
						.count = 2,
						.addr = 0x12340 }));
	h = carried(HT_READ, 0x12346, 8, HT_UP);
	assert_true(same(&h, &(struct ht_head){ .cmd = HT_CMD_READ,
						.unit = 1,
						.count = 2,
						.addr = 0x12344 }));
	h = carried(HT_READ, 0x12346, 8, HT_DOWN);
	assert_true(same(&h, &(struct ht_head){ .cmd = HT_CMD_ANSWER,
						.unit = 1,
						.count = 2 }));
	h = carried(HT_READ, HT_HOLE_LO, 64, HT_DOWN);
	assert_true(h.error);
	h = carried(HT_IRQ, 0, 0, HT_UP);
	assert_true(same(&h, &(struct ht_head){ .cmd = HT_CMD_WRITE_BYTES,
						.unit = 1,
						.addr = 0xFDF8000000 }));
}

static void packets_of_one_transaction_are_a_sequence(void **state)
{
	struct ht_head h = carried(HT_READ, 0x2000, 3 * 64, HT_UP);

	assert_int_equal(h.seq, 2);
	assert_int_equal(h.tag, 2);
	assert_int_equal(h.addr, 0x2080);
	h = carried(HT_READ, 0x2000, 64, HT_UP);
	assert_int_equal(h.seq, 0);
}

/* Addresses have 40 bits. An address with a higher bit belongs to no target,
 * and must not reach the target at its lower 40 bits. */
static void address_beyond_40_bits_belongs_to_no_target(void **state)
{
	struct ht_head h = carried(HT_READ, 1ull << 40 | 0x2000, 8, HT_DOWN);

	assert_true(h.error);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(request_is_laid_out_as_written_down),
		cmocka_unit_test(answer_is_laid_out_as_written_down),
		cmocka_unit_test(every_header_comes_back),
		cmocka_unit_test(mask_says_which_bytes),
		cmocka_unit_test(packets_of_a_device_have_headers),
		cmocka_unit_test(packets_of_one_transaction_are_a_sequence),
		cmocka_unit_test(address_beyond_40_bits_belongs_to_no_target),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
