/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the protection by ATU and RMA, and the limits of both (extoll.md 3.7,
 * 3.8, 5.3 to 5.5), with one NIC on a scripted bus. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "rma_msg.h"

enum { A = 5, B = 6 };

#define NLA(page) NLA_MAKE(0, page, 0)

static void put_to(uint32_t page, uint32_t bytes, uint32_t seed)
{
	rr_arrive(RR_PKT(.op = RMA_PUT_QW, .bytes = bytes,
			 .spec = RMA_COMPLETER, .w = { NLA(page) },
			 .seed = seed),
		  xr_cycle(&rr));
}

static void get_from(uint32_t page, uint32_t bytes)
{
	rr_arrive(RR_PKT(.op = RMA_GET_QW, .bytes = bytes,
			 .w = { NLA(page), NLA(B) }),
		  xr_cycle(&rr));
}

/* Returns the number of payload bytes in the NIC's last packet. */
static uint32_t answered(void)
{
	assert_true(rr.net->n_log > 0);
	return rr.net->log[rr.net->n_log - 1].len;
}

/* ---- rights ---- */

static void test_read_only_page_in_the_tlb_is_not_written(void **state)
{
	rr_gate(A, GATE_READ, A);
	get_from(A, 64); /* fills the TLB */
	xr_settle(&rr);
	assert_int_equal(answered(), 64);
	put_to(A, 64, 1);
	xr_settle(&rr);
	assert_int_equal(rr_counter("atu_hits"), 1);
	assert_int_equal(rr_faults(ATU_F_ACCESS), 1);
	assert_true(rr_empty(A));
	assert_int_equal(RMA_N_ERROR(rr_noti(0)), RMA_COMPLETER);
}

static void test_write_only_page_in_the_tlb_is_not_read(void **state)
{
	rr_gate(A, GATE_WRITE, A);
	put_to(A, 64, 1);
	xr_settle(&rr);
	assert_true(rr_landed(A, 64, 1));
	get_from(A, 64);
	xr_settle(&rr);
	assert_int_equal(answered(), 0); /* refused */
	rr_put(A, 64);
	xr_settle(&rr);
	assert_int_equal(rr_counter("atu_hits"), 2);
	assert_int_equal(rr_faults(ATU_F_ACCESS), 2);
	assert_int_equal(rr_counter("rma_bad_responses"), 1);
	assert_int_equal(rr_counter("rma_bad_commands"), 1);
	assert_int_equal(rr_ops(WEFT_BUS_READ, RR_PAGE(A), RR_PAGE(B)).n, 0);
}

static void test_read_only_page_is_read_by_put_and_get(void **state)
{
	rr_gate(A, GATE_READ, A);
	rr_fill(A, 4);
	get_from(A, 128);
	xr_settle(&rr);
	assert_int_equal(answered(), 128);
	rr_gate(B, GATE_READ, A);
	rr_put(B, 64);
	xr_settle(&rr);
	assert_int_equal(answered(), 64);
	assert_int_equal(rr_counter("atu_faults"), 0);
	assert_int_equal(rr_counter("rma_bad_commands"), 0);
	assert_int_equal(rr_counter("rma_bad_responses"), 0);
}

/* ---- events at the host (2.7) ---- */

/* Checks the next two events. The ATU's event has VPID and cause. The RMA's
 * event has unit, reason and peer. */
static void heard(uint32_t *i, uint32_t fault, uint32_t unit, uint32_t why,
		  uint32_t node)
{
	xr_settle(&rr);
	if (fault)
		assert_int_equal(
			xr_evt(&rr, 0, (*i)++),
			EXTOLL_EVENT(EXTOLL_EV_ATU_FAULT, RR_VPID, 0, fault));
	assert_int_equal(xr_evt(&rr, 0, (*i)++),
			 EXTOLL_EVENT(EXTOLL_EV_RMA_ERROR, RR_VPID, node,
				      256 * unit + why));
	assert_int_equal(xr_evt(&rr, 0, *i), 0);
}

static void test_event_names_unit_and_reason_of_a_refusal(void **state)
{
	const uint64_t half = 0;
	uint32_t i = 0;

	rr_gate(A, GATE_WRITE, A);
	rr_gate(B, GATE_READ, B);
	put_to(B, 64, 1);
	heard(&i, ATU_F_ACCESS, RMA_COMPLETER, RMA_BAD_XLATE, RR_FAR);
	get_from(A, 64);
	heard(&i, ATU_F_ACCESS, RMA_RESPONDER, RMA_BAD_XLATE, RR_FAR);
	rr_put(A, 64);
	heard(&i, ATU_F_ACCESS, RMA_REQUESTER, RMA_BAD_XLATE, RR_FAR);
	rr_arrive(RR_PKT(.op = RMA_GET_QW, .bytes = 64, .pd = 1,
			 .w = { NLA(B), NLA(A) }),
		  xr_cycle(&rr));
	heard(&i, 0, RMA_RESPONDER, RMA_BAD_MISROUTE, RR_FAR);
	rr_arrive(
		RR_PKT(.op = RMA_PUT_QW, .bytes = 64, .pd = 1, .w = { NLA(A) }),
		xr_cycle(&rr));
	heard(&i, 0, RMA_COMPLETER, RMA_BAD_MISROUTE, RR_FAR);
	/* 8 bytes do not make a descriptor */
	xr_store(&rr, 0, extoll_rma_page(RMA_OPT_TE, RR_VPID), &half,
		 sizeof(half));
	heard(&i, 0, RMA_REQUESTER, RMA_BAD_FORMAT, 0);
}

/* ---- the protection descriptor ---- */

static void test_packet_of_another_protection_domain_does_nothing(void **state)
{
	static const struct rr_pkt bad[] = {
		{ .op = RMA_PUT_QW, .bytes = 64, .w = { NLA(A) } },
		{ .op = RMA_PUT_BT, .bytes = 3, .w = { NLA(A) } },
		{ .op = RMA_IMM_PUT, .bytes = 8, .w = { NLA(A), 77 } },
		{ .op = RMA_NOTI_PUT, .w = { 77 } },
		{ .op = RMA_GET_QW, .bytes = 64, .w = { NLA(A), NLA(B) } },
		{ .op = RMA_GET_QW_RSP, .bytes = 64, .w = { NLA(A) } },
		{ .op = RMA_LOCK_REQ, .w = { 1, 1ull << 32 } },
		{ .op = RMA_LOCK_RSP, .w = { 1 } },
	};
	const uint32_t n = sizeof(bad) / sizeof(bad[0]);

	for (uint32_t i = 0; i < n; i++) {
		struct rr_pkt p = bad[i];

		p.spec = RMA_COMPLETER | RMA_RESPONDER;
		p.pd = 1 + i;
		rr_arrive(p, xr_cycle(&rr));
		xr_settle(&rr);
		assert_int_equal(rr_counter("rma_discarded"), i + 1);
	}
	assert_int_equal(rr.net->n_log, 0); /* no answer */
	assert_int_equal(rr_noti(0), 0);
	assert_true(rr_empty(A));
	assert_int_equal(xr_mem64(&rr, 0, RR_LOCKS + RR_VPID * 16), 0);
	/* the packets with the right descriptor */
	for (uint32_t i = 0; i < n; i++) {
		struct rr_pkt p = bad[i];

		p.spec = RMA_COMPLETER;
		rr_arrive(p, xr_cycle(&rr));
		xr_settle(&rr);
	}
	assert_int_equal(rr_counter("rma_discarded"), n);
	assert_int_equal(rr.net->n_log, 2); /* get, lock */
}

/* ---- flush and fence ---- */

static void command(uint64_t cmd)
{
	xr_w64(&rr, 0, EXTOLL_ATU_COMMAND, cmd);
}

/* Starts a walk for page A. While the walk reads the entry of A, changes that
 * entry to page B and executes the flush `cmd`. */
static void walk_and(uint64_t cmd)
{
	rr.bus[0]->early = true;
	rr.bus[0]->t_read = 2 * WEFT_US;
	put_to(A, 64, 1);
	while (!rr_ops(WEFT_BUS_READ, RR_GAT, RR_GAT + ATU_GAT_BYTES).n)
		xr_run(&rr, 1);
	rr_gate(A, GATE_RW, B);
	command(cmd);
	command(ATU_CMD_TELL(ATU_NOTIFY, RR_WORD));
	xr_settle(&rr);
	assert_int_equal(xr_mem64(&rr, 0, RR_WORD), 1);
}

static void test_flush_of_a_page_reads_again_what_is_under_way(void **state)
{
	walk_and(ATU_CMD_FLUSH(A, 1));
	assert_true(rr_empty(A));
	assert_true(rr_landed(B, 64, 1));
}

static void test_flush_of_a_vpid_reads_again_what_is_under_way(void **state)
{
	walk_and(ATU_CMD_FLUSH_VPID(RR_VPID));
	assert_true(rr_empty(A));
	assert_true(rr_landed(B, 64, 1));
}

static void test_flush_of_other_pages_leaves_a_walk_alone(void **state)
{
	walk_and(ATU_CMD_FLUSH(A + 1, 8));
	assert_true(rr_landed(A, 64, 1));
	assert_true(rr_empty(B));
	assert_int_equal(
		rr_ops(WEFT_BUS_READ, RR_GAT, RR_GAT + ATU_GAT_BYTES).n, 1);
}

/* Stores command `cmd` while a page is being written or read. The command's
 * notification must follow all accesses to the page. */
static void in_use_and(enum weft_bus_op op, uint64_t cmd)
{
	struct rr_ops page, word;

	rr.bus[0]->t_read = 500 * WEFT_NS;
	if (op == WEFT_BUS_WRITE)
		put_to(A, RMA_PAGE, 1);
	else
		rr_put(A, RMA_PAGE);
	while (rr_ops(op, RR_PAGE(A), RR_PAGE(B)).n < 5)
		xr_run(&rr, 1);
	command(cmd);
	if (ATU_CMD_OP(cmd) != ATU_FENCE)
		command(ATU_CMD_TELL(ATU_NOTIFY, RR_WORD));
	xr_settle(&rr);
	page = rr_ops(op, RR_PAGE(A), RR_PAGE(B));
	word = rr_ops(WEFT_BUS_WRITE, RR_WORD, RR_WORD + 8);
	assert_int_equal(page.n, RMA_PAGE / 64);
	assert_int_equal(word.n, 1);
	assert_true(word.first > page.last);
}

static void test_fence_waits_for_a_page_that_is_written(void **state)
{
	in_use_and(WEFT_BUS_WRITE, ATU_CMD_TELL(ATU_FENCE, RR_WORD));
}

static void test_fence_waits_for_a_page_that_is_read(void **state)
{
	in_use_and(WEFT_BUS_READ, ATU_CMD_TELL(ATU_FENCE, RR_WORD));
}

static void test_flush_waits_for_a_page_that_is_written(void **state)
{
	in_use_and(WEFT_BUS_WRITE, ATU_CMD_FLUSH(A, 1));
}

static void test_flush_waits_for_a_page_that_is_read(void **state)
{
	in_use_and(WEFT_BUS_READ, ATU_CMD_FLUSH_VPID(RR_VPID));
}

static void test_commands_that_are_not_executed_are_told(void **state)
{
	const uint64_t tell = ATU_CMD_TELL(ATU_NOTIFY, RR_WORD);

	command(9ull << 60); /* there is no command 9 (3.8) */
	xr_settle(&rr);
	assert_int_equal(xr_evt(&rr, 0, 0),
			 EXTOLL_EVENT(EXTOLL_EV_RMA_ERROR, 0, 0, 9));
	/* a fence waits, 15 commands wait behind it, and one more is too
	 * many */
	rr.bus[0]->t_read = 20 * WEFT_US;
	rr_put(A, 64);
	while (!rr_ops(WEFT_BUS_READ, RR_PAGE(A), RR_PAGE(B)).n)
		xr_run(&rr, 1);
	command(ATU_CMD_TELL(ATU_FENCE, RR_WORD));
	for (uint32_t i = 0; i < 15; i++)
		command(tell);
	assert_int_equal(xr_r64(&rr, 0, EXTOLL_ATU_COMMAND), 16);
	assert_int_equal(xr_evt(&rr, 0, 1), 0);
	command(tell);
	xr_settle(&rr);
	assert_int_equal(xr_evt(&rr, 0, 1),
			 EXTOLL_EVENT(EXTOLL_EV_RMA_ERROR, 0, 0, ATU_NOTIFY));
	assert_int_equal(rr_ops(WEFT_BUS_WRITE, RR_WORD, RR_WORD + 8).n, 16);
	assert_int_equal(xr_r64(&rr, 0, EXTOLL_ATU_COMMAND), 0);
}

/* ---- bounds of 5.3 and 5.4 ---- */

static void test_requester_has_eight_reads_on_the_way(void **state)
{
	put_to(A, 8, 1); /* the TLB knows the page */
	xr_settle(&rr);
	rr.bus[0]->t_read = 20 * WEFT_US;
	rr_put(A, RMA_PAGE);
	rr_put(A, RMA_PAGE);
	xr_run(&rr, 2000); /* 12.8 us, in which no read is answered */
	assert_int_equal(rr_ops(WEFT_BUS_READ, RR_PAGE(A), RR_PAGE(B)).n, 8);
	xr_settle(&rr);
	assert_int_equal(rr_ops(WEFT_BUS_READ, RR_PAGE(A), RR_PAGE(B)).n, 128);
}

static void test_responder_has_eight_reads_on_the_way(void **state)
{
	put_to(A, 8, 1);
	xr_settle(&rr);
	rr.bus[0]->t_read = 20 * WEFT_US;
	get_from(A, RMA_PAGE);
	get_from(A, 64);
	xr_run(&rr, 2000);
	assert_int_equal(rr_ops(WEFT_BUS_READ, RR_PAGE(A), RR_PAGE(B)).n, 8);
	xr_settle(&rr);
	assert_int_equal(rr_ops(WEFT_BUS_READ, RR_PAGE(A), RR_PAGE(B)).n, 65);
}

/* Of the first eight lines of the page, line 0 arrives last. Of the next ones,
 * line 5 arrives last. The NIC restores the order (5.3), and no cell leaves
 * before its bytes arrive. */
static void test_put_waits_for_the_line_that_is_late(void **state)
{
	const uint64_t cells =
		EXTOLL_NP + EXTOLL_NP_STRIDE + EXTOLL_NP_TX_CELLS;

	put_to(A, 8, 1); /* the TLB knows the page */
	xr_settle(&rr);
	rr_fill(A, 9);
	rr.bus[0]->slow = RR_PAGE(A);
	rr.bus[0]->t_slow = 10 * WEFT_US;
	rr_put(A, RMA_PAGE);
	xr_run(&rr, 1400); /* 9 us */
	assert_int_equal(rr_ops(WEFT_BUS_READ, RR_PAGE(A), RR_PAGE(B)).n, 8);
	assert_int_equal(xr_r64(&rr, 0, cells), 0);
	xr_settle(&rr);
	assert_int_equal(answered(), RMA_PAGE);
	assert_int_equal(xr_r64(&rr, 0, cells), 65);
	rr.bus[0]->slow = RR_PAGE(A) + 5 * 64;
	rr_put(A, RMA_PAGE);
	xr_run(&rr, 1400);
	/* 5 lines with 16 bytes of header and 4 of route are 5.3 cells */
	assert_in_range(xr_r64(&rr, 0, cells), 65 + 5, 65 + 6);
	xr_settle(&rr);
	assert_int_equal(xr_r64(&rr, 0, cells), 2 * 65);
	assert_memory_equal(rr.net->log[1].data,
			    rr.bus[0]->mem + (RR_PAGE(A) - XR_MEM), 128);
}

/* Measures the cycles from answer to answer of a responder whose queue is never
 * empty. */
static void test_responder_takes_a_get_in_12_cycles(void **state)
{
	enum { GETS = 40, SKIP = 8 };
	const struct xnet_pkt *log = rr.net->log;

	rr.bus[0]->t_read = 25 * WEFT_NS;
	for (uint32_t i = 0; i < GETS; i++)
		get_from(A, 8);
	xr_settle(&rr);
	assert_int_equal(rr.net->n_log, GETS);
	assert_int_equal(log[GETS - 1].cycle - log[SKIP - 1].cycle,
			 12 * (GETS - SKIP));
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, rr_open, rr_close)
	const struct CMUnitTest tests[] = {
		T(test_read_only_page_in_the_tlb_is_not_written),
		T(test_write_only_page_in_the_tlb_is_not_read),
		T(test_read_only_page_is_read_by_put_and_get),
		T(test_event_names_unit_and_reason_of_a_refusal),
		T(test_packet_of_another_protection_domain_does_nothing),
		T(test_flush_of_a_page_reads_again_what_is_under_way),
		T(test_flush_of_a_vpid_reads_again_what_is_under_way),
		T(test_flush_of_other_pages_leaves_a_walk_alone),
		T(test_fence_waits_for_a_page_that_is_written),
		T(test_fence_waits_for_a_page_that_is_read),
		T(test_flush_waits_for_a_page_that_is_written),
		T(test_flush_waits_for_a_page_that_is_read),
		T(test_commands_that_are_not_executed_are_told),
		T(test_requester_has_eight_reads_on_the_way),
		T(test_responder_has_eight_reads_on_the_way),
		T(test_put_waits_for_the_line_that_is_late),
		T(test_responder_takes_a_get_in_12_cycles),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
