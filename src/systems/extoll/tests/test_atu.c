/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL RMA and ATU, the parts without timing: TLB, checks of addresses and
 * entries, descriptors, packets, pieces of writes, locks (extoll.md 2.2, 3.4 to
 * 3.9, 5.5). */
#include "unit/cmocka_all.h"

#include <string.h>

#include "systems/extoll/nic/rma.h"

/* ---- TLB ---- */

static void test_tlb_capacity(void **state)
{
	struct atu_tlb t;

	atu_tlb_init(&t);
	for (uint32_t page = 0; page < 64; page++)
		atu_tlb_fill(&t, page, 7, 0x1000 + page);
	for (uint32_t page = 0; page < 64; page++)
		assert_int_equal(atu_tlb_find(&t, page, 7), 0x1000 + page);
	assert_int_equal(atu_tlb_find(&t, 3, 8), 0);
	/* set 0: the oldest entry is replaced */
	atu_tlb_fill(&t, 64, 7, 0x2000);
	assert_int_equal(atu_tlb_find(&t, 0, 7), 0);
	assert_int_equal(atu_tlb_find(&t, 16, 7), 0x1010);
	assert_int_equal(atu_tlb_find(&t, 64, 7), 0x2000);
	atu_tlb_fill(&t, 80, 7, 0x3000);
	assert_int_equal(atu_tlb_find(&t, 16, 7), 0);
	atu_tlb_fini(&t);
}

static void test_tlb_flush(void **state)
{
	struct atu_tlb t;

	atu_tlb_init(&t);
	for (uint32_t page = 0; page < 64; page++)
		atu_tlb_fill(&t, page, page & 1, 0x1000 + page);
	assert_int_equal(atu_tlb_flush(&t, 10, 5, 0), 5);
	for (uint32_t page = 0; page < 64; page++)
		assert_int_equal(atu_tlb_find(&t, page, page & 1),
				 page >= 10 && page < 15 ? 0 : 0x1000 + page);
	assert_int_equal(atu_tlb_flush(&t, 0, 0, 1), 30);
	assert_int_equal(atu_tlb_find(&t, 0, 0), 0x1000);
	assert_int_equal(atu_tlb_find(&t, 1, 1), 0);
	atu_tlb_fini(&t);
}

/* ---- checks ---- */

static void test_nla_bounds_and_crossings_are_checked(void **state)
{
	assert_int_equal(NLA_MAKE(511, 0x3ffff, 0xfff), 0x7fffffffffull);
	assert_int_equal(NLA_GAT(0x4000000000ull), 256);
	assert_int_equal(NLA_GATE(0x12345678), 0x12345);
	assert_int_equal(atu_check_nla(0x7fffffffffull, 1), ATU_OK);
	assert_int_equal(atu_check_nla(0x7fffffffffull, 2), ATU_F_CROSS);
	assert_int_equal(atu_check_nla(0x8000000000ull, 1), ATU_F_NLA);
	assert_int_equal(atu_check_nla(1ull << 63, 1), ATU_F_NLA);
	assert_int_equal(atu_check_nla(0, 4096), ATU_OK);
}

static void test_gate_permits_its_vpid_and_access_only(void **state)
{
	uint64_t g = GATE_MAKE(GATE_READ, 255, 0xABCDE12345000ull);

	assert_int_equal(g, 0xABCDE123453FDull);
	assert_int_equal(GATE_PHYS(g), 0xABCDE12345000ull);
	assert_int_equal(atu_check_gate(g, 255, ATU_READ), ATU_OK);
	assert_int_equal(atu_check_gate(g, 255, ATU_WRITE), ATU_F_ACCESS);
	assert_int_equal(atu_check_gate(g, 254, ATU_READ), ATU_F_VPID);
	assert_int_equal(atu_check_gate(g & ~3ull, 255, ATU_READ), ATU_F_GATE);
	assert_int_equal(atu_check_gate(g | 4ull << 59, 255, ATU_READ),
			 ATU_F_GATE); /* 64 KB pages */
	assert_int_equal(atu_check_gate(g | 1ull << 52, 255, ATU_READ),
			 ATU_F_GATE);
	g = GATE_MAKE(GATE_WRITE, 1, 0);
	assert_int_equal(atu_check_gate(g, 1, ATU_WRITE), ATU_OK);
	assert_int_equal(atu_check_gate(g, 1, ATU_READ), ATU_F_ACCESS);
}

static void test_commands_and_descriptors_have_specified_bits(void **state)
{
	assert_int_equal(ATU_CMD_FLUSH(NLA_PAGE(NLA_MAKE(3, 7, 0)), 5),
			 0x10000000400C0007ull);
	assert_int_equal(ATU_CMD_TELL(ATU_NOTIFY, 0x123456789abcull),
			 0x4000123456789abcull);
	assert_int_equal(ATU_BASE_MAKE(0x40200000), 0x403);
	assert_int_equal(ATU_BASE_PHYS(0x403), 0x40200000);
	assert_int_equal(RMA_D_MAKE(RMA_PUT_QW, 0x1234, 0x56, 5, 2) |
				 RMA_D_BYTES(4096),
			 0x000FFF151234560Full);
	assert_int_equal(RMA_N_MAKE(4095, 0x56, 0x1234, RMA_COMPLETER,
				    RMA_GET_QW_RSP, RMA_MODE_TE, 2),
			 0x425C12342B000FFFull);
}

/* ---- descriptors and packets ---- */

#define CTL (RMA_V_ENABLE | RMA_V_TC_ALL)

static enum extoll_rma_bad decode(uint64_t w0, uint64_t w1, uint64_t w2,
				  uint32_t opt, uint64_t ctl,
				  struct extoll_rma_cmd *c)
{
	struct extoll_rma_desc d = { .w = { w0, w1, w2 },
				     .vpid = 9,
				     .opt = (uint8_t)opt };

	return extoll_rma_desc_decode(&d, ctl, 4096, c);
}

static void test_descriptor_decodes_to_its_command(void **state)
{
	uint64_t put = RMA_D_MAKE(RMA_PUT_BT, 3, 4, 1, RMA_MOD_NTR);
	struct extoll_rma_cmd c;

	assert_int_equal(decode(put | RMA_D_BYTES(77), 5, 6, 16, CTL, &c),
			 RMA_FINE);
	assert_int_equal(c.op, RMA_PUT_BT);
	assert_int_equal(c.bytes, 77);
	assert_int_equal(c.vpid, 9);
	assert_int_equal(c.far_vpid, 4);
	assert_int_equal(c.far_node, 3);
	assert_int_equal(decode(put, 5, 6, 0, CTL | RMA_V_PHYSICAL, &c),
			 RMA_FINE);
	assert_int_equal(decode(put, 5, 6, 0, CTL, &c), RMA_BAD_OPTION);
	assert_int_equal(decode(put, 5, 6, 18, RMA_V_ENABLE | 1 << 4, &c),
			 RMA_BAD_OPTION); /* traffic class 2 */
	assert_int_equal(decode(put, 5, 6, 24, CTL | RMA_V_INT, &c), RMA_FINE);
	assert_int_equal(decode(put & ~1ull, 5, 6, 16, CTL, &c),
			 RMA_BAD_FORMAT);
	assert_int_equal(
		decode(put | RMA_PUT(RMA_MOD_EWA, 38, 35), 5, 6, 16, CTL, &c),
		RMA_BAD_MODS);
	put = RMA_D_MAKE(RMA_IMM_PUT, 3, 4, 0, 0);
	assert_int_equal(decode(put | RMA_D_BYTES(8), 4089, 0, 16, CTL, &c),
			 RMA_BAD_PAGE);
	assert_int_equal(decode(put | RMA_D_BYTES(7), 4089, 0, 16, CTL, &c),
			 RMA_FINE);
	put = RMA_D_MAKE(RMA_NOTI_PUT, 3, 4, 0, 0) | RMA_PUT(200, 47, 40);
	assert_int_equal(decode(put, ~0ull, 0, 16, CTL, &c), RMA_FINE);
	assert_int_equal(c.low, 200);
	assert_int_equal(c.bytes, 0);
	put = RMA_D_MAKE(RMA_GET_QW_RSP, 3, 4, 0, 0);
	assert_int_equal(decode(put, 0, 0, 16, CTL, &c), RMA_BAD_OP);
}

/* The fields of 3.9, computed by hand. */
static void test_header_word_has_the_specified_fields(void **state)
{
	struct extoll_rma_cmd c = { .op = RMA_PUT_QW,
				    .spec = 5,
				    .mods = RMA_MOD_NTR | RMA_MOD_EWA,
				    .vpid = 0x12,
				    .far_vpid = 0x34,
				    .far_node = 0xABCD,
				    .low = 4095,
				    .bytes = 4096 };
	struct weft_frame f = { .payload = { .len = 4096 } };
	struct extoll_rma_cmd back;

	f.u[0] = extoll_rma_h0(&c, 0x5678);
	assert_int_equal(f.u[0], 0xCDull << 56 | 1ull << 55 | 0xfffull << 43 |
					 3ull << 39 | 10ull << 35 | 5ull << 32 |
					 0x34ull << 24 | 0x12 << 16 | 0x5678);
	f.u[1] = 0x1000;
	ex_meta(&f)->words = 2;
	assert_true(extoll_rma_packet_decode(&f, &back));
	assert_int_equal(back.vpid, 0x34);
	assert_int_equal(back.far_vpid, 0x12);
	assert_int_equal(back.far_node, 0x5678);
	assert_int_equal(back.bytes, 4096);
	f.payload.len = 4088; /* shorter than its header says */
	assert_false(extoll_rma_packet_decode(&f, &back));
	f.payload.len = 4096;
	ex_meta(&f)->words = 3;
	assert_false(extoll_rma_packet_decode(&f, &back));
}

/* A packet with any 64 bits in H0 is refused, or has at most 4096 bytes and a
 * known operation. */
static void test_any_packet(void **state)
{
	struct weft_frame f = { 0 };
	uint64_t x = 88172645463325252ull;
	struct extoll_rma_cmd c;

	for (uint32_t i = 0; i < 100000; i++) {
		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		f.u[0] = x;
		ex_meta(&f)->words = i % 4;
		f.payload.len = i % 3 ? 0 : (uint32_t)(x >> 43 & 0xfff) + 1;
		if (extoll_rma_packet_decode(&f, &c))
			assert_true(c.bytes <= 4096 && c.op < RMA_OPS);
	}
}

/* ---- pieces of a write ---- */

static void test_split_keeps_within_lines_and_dword_rules(void **state)
{
	for (uint32_t a = 0; a < 128; a++)
		for (uint32_t n = 1; n < 300; n++)
			for (uint32_t at = a, left = n; left;) {
				uint32_t k = extoll_rma_split(at, left);
				bool dwords = !(at % 4) && !(k % 4);

				assert_true(k && k <= left);
				assert_true(at % 64 + k <= 64);
				assert_true(dwords || at % 32 + k <= 32);
				at += k;
				left -= k;
			}
	assert_int_equal(extoll_rma_split(0, 4096), 64);
	assert_int_equal(extoll_rma_split(8, 4096), 56);
	assert_int_equal(extoll_rma_split(1, 4096), 31);
	assert_int_equal(extoll_rma_split(64, 61), 60);
	assert_int_equal(extoll_rma_split(124, 1), 1);
}

/* ---- locks ---- */

static void test_fcaa_adds_only_when_the_comparison_holds(void **state)
{
	int32_t mem = 0;

	assert_int_equal(extoll_rma_lock_fcaa(&mem, 0, 1), RMA_LOCK_YES);
	assert_int_equal(mem, 1);
	assert_int_equal(extoll_rma_lock_fcaa(&mem, 0, 1), RMA_LOCK_NO);
	assert_int_equal(mem, 1);
	assert_int_equal(extoll_rma_lock_fcaa(&mem, 1, -1), RMA_LOCK_YES);
	assert_int_equal(mem, 0);
	mem = INT32_MAX;
	assert_int_equal(extoll_rma_lock_fcaa(&mem, INT32_MAX, 1),
			 RMA_LOCK_YES);
	assert_int_equal(mem, INT32_MIN);
	assert_int_equal(RMA_LOCK_ANSWER(-2, 1, 0x123456),
			 0xFFFFFFFE01123456ull);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tlb_capacity),
		cmocka_unit_test(test_tlb_flush),
		cmocka_unit_test(test_nla_bounds_and_crossings_are_checked),
		cmocka_unit_test(test_gate_permits_its_vpid_and_access_only),
		cmocka_unit_test(
			test_commands_and_descriptors_have_specified_bits),
		cmocka_unit_test(test_descriptor_decodes_to_its_command),
		cmocka_unit_test(test_header_word_has_the_specified_fields),
		cmocka_unit_test(test_any_packet),
		cmocka_unit_test(test_split_keeps_within_lines_and_dword_rules),
		cmocka_unit_test(test_fcaa_adds_only_when_the_comparison_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
