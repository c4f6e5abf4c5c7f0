/* SPDX-License-Identifier: Apache-2.0 */
/* Tests VELO's requester on a bench (extoll.md 9: T-01 to T-10): stores on
 * requester pages, and packets at the network port. Cycle counts are those of
 * table 7.1. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "velo_msg.h"

static void test_request_cycles(void **state)
{
	weft_time_t t = velo_send(ME, 1, 8, 1);
	uint64_t in = velo_sync(t, 3);

	xr_settle(&vr);
	assert_int_equal(vr.net->n_log, 1);
	/* cycles: 4 in N1, 13 in N2, 3 in N3, 5 for a routing flit and 16
	 * bytes, 3 in N4 */
	assert_int_equal(vr.net->log[0].cycle, in + 4 + 13 + 3 + 5 + 3);
}

static void test_request_packet(void **state)
{
	const uint64_t h = EXTOLL_SEND(1, 3, 2, 0xA5, 13) | EXTOLL_SEND_IRQ;
	const struct xnet_pkt *p = &vr.net->log[0];
	uint8_t want[13];

	velo_send_h(ME, SENDER, h, EXTOLL_SEND_BYTES(13), 9);
	xr_settle(&vr);
	assert_int_equal(vr.net->n_log, 1);
	assert_int_equal(p->np, 0);
	assert_int_equal(p->len, 13);
	assert_int_equal(p->pd, PD);
	assert_int_equal(p->meta.words, 1);
	assert_int_equal(p->meta.dest, 1);
	/* VPID 7 of node 0 to VPID 3 of node 1, MTT 2, irq, end of message,
	 * tag, length, check */
	assert_true(p->u[0] ==
		    (7ull << 16 | 3ull << 24 | 2ull << 32 | 1ull << 34 |
		     1ull << 36 | 0xA5ull << 40 | 13ull << 48 | 1ull << 56));
	/* +x, then internal port 0, then fillers */
	assert_true(p->u[4] == 0xFFFFFFFFFFFFFF03ull);
	velo_fill(want, 13, 9);
	assert_memory_equal(p->data, want, 13);
}

/* T-02: messages of length 0 and 65 are dropped and counted. */
static void test_lengths_0_and_65_are_dropped(void **state)
{
	velo_send_h(ME, SENDER, EXTOLL_SEND(1, 3, 0, 0, 0), 8, 0);
	velo_send_h(ME, SENDER, EXTOLL_SEND(1, 3, 0, 0, 65), 80, 0);
	xr_settle(&vr);
	assert_int_equal(vr.net->n_log, 0);
	assert_int_equal(velo_drops(ME, EXTOLL_DROP_LENGTH), 2);
	assert_int_equal(velo_drops(ME, EXTOLL_DROP_ALIGN), 0);
	assert_true(xr_evt(&vr, ME, 0) == EXTOLL_EVENT(EXTOLL_EV_VELO_DROP,
						       SENDER, 1,
						       EXTOLL_DROP_LENGTH));
	assert_true(xr_evt(&vr, ME, 1) != 0);
	assert_true(xr_evt(&vr, ME, 2) == 0);
	assert_true(vr.bus[ME]->irq);
	assert_int_equal(xr_r64(&vr, ME, EXTOLL_NP + EXTOLL_NP_TX_PACKETS), 0);
	/* a message longer than its header says */
	velo_send_h(ME, SENDER, EXTOLL_SEND(1, 3, 0, 0, 8), 24, 0);
	velo_send(ME, 1, 64, 5);
	xr_settle(&vr);
	assert_int_equal(velo_drops(ME, EXTOLL_DROP_LENGTH), 3);
	assert_int_equal(vr.net->n_log, 1);
}

/* T-03: a message with a reserved bit or with the multicast bit is dropped, and
 * the next message is sent. */
static void test_reserved_bits_drop_one_message_only(void **state)
{
	uint32_t n = 0;

	for (uint32_t bit = 0; bit < 64; bit++) {
		uint64_t h = EXTOLL_SEND(1, 3, 1, 2, 8) | 1ull << bit;

		if (!(EXTOLL_SEND_ZERO >> bit & 1))
			continue;
		velo_send_h(ME, SENDER, h, 16, bit);
		xr_settle(&vr);
		n++;
	}
	/* counts of the reserved bits 25:24, 30:26, 39:35 and 63:55 */
	assert_int_equal(n, 2 + 5 + 5 + 9);
	assert_int_equal(velo_drops(ME, EXTOLL_DROP_RESERVED), n);
	velo_send_h(ME, SENDER,
		    EXTOLL_SEND(1, 3, 1, 2, 8) | EXTOLL_SEND_MULTICAST, 16, 0);
	velo_send(ME, 1, 8, 77);
	xr_settle(&vr);
	assert_int_equal(velo_drops(ME, EXTOLL_DROP_MULTICAST), 1);
	assert_int_equal(vr.net->n_log, 1);
	assert_int_equal(EX_VELO_TAG(vr.net->log[0].u[0]), 77);
}

static void test_pages_without_a_process_send_nothing(void **state)
{
	velo_send_h(ME, SENDER + 1, EXTOLL_SEND(1, 3, 0, 0, 8), 16, 0);
	velo_send_h(ME, 200, EXTOLL_SEND(1, 3, 0, 0, 8), 16, 0);
	xr_settle(&vr);
	assert_int_equal(velo_drops(ME, EXTOLL_DROP_DISABLED), 2);
	assert_int_equal(vr.net->n_log, 0);
}

/* T-04: a message in two halves, with a whole message of another page in
 * between. */
static void test_interleaved_halves_are_joined(void **state)
{
	uint64_t page[2] = { extoll_velo_page(0, SENDER),
			     extoll_velo_page(0, SENDER + 1) };
	uint64_t h = EXTOLL_SEND(1, 3, 0, 1, 64);
	uint8_t a[72], b[72];

	xr_w64(&vr, ME, EXTOLL_VELO_TX + 8 * (SENDER + 1),
	       EXTOLL_TX(ME, SENDER + 1, PD));
	memcpy(a, &h, 8);
	memcpy(b, &h, 8);
	velo_fill(a + 8, 64, 1);
	velo_fill(b + 8, 64, 2);
	xr_store(&vr, ME, page[0], a, 64);
	xr_store(&vr, ME, page[1], b, 64);
	xr_run(&vr, 100);
	xr_store(&vr, ME, page[1] + 64, b + 64, 8);
	xr_run(&vr, 100);
	xr_store(&vr, ME, page[0] + 64, a + 64, 8);
	xr_settle(&vr);
	assert_int_equal(vr.net->n_log, 2);
	assert_memory_equal(vr.net->log[0].data, b + 8, 64);
	assert_memory_equal(vr.net->log[1].data, a + 8, 64);
	assert_int_equal(EX_H0_SVPID(vr.net->log[0].u[0]), SENDER + 1);
}

/* A header in two stores of 4 bytes, and a header with a hole. */
static void test_header_may_come_in_two_dwords(void **state)
{
	uint64_t page = extoll_velo_page(0, SENDER);
	uint64_t m[2] = { EXTOLL_SEND(1, 3, 0, 1, 8), 0x1122334455667788 };

	for (uint32_t off = 0; off < 16; off += 4)
		xr_store(&vr, ME, page + off, (char *)m + off, 4);
	xr_settle(&vr);
	assert_int_equal(vr.net->n_log, 1);
	assert_memory_equal(vr.net->log[0].data, &m[1], 8);
	xr_store(&vr, ME, page, m, 4);
	xr_store(&vr, ME, page + 8, &m[1], 8);
	xr_settle(&vr);
	assert_int_equal(velo_drops(ME, EXTOLL_DROP_ALIGN), 1);
	assert_int_equal(vr.net->n_log, 1);
}

/* A header is checked when its last byte arrives, wherever it is split. */
static void test_cut_header(void **state)
{
	uint64_t page = extoll_velo_page(0, SENDER);
	uint64_t m[2] = { EXTOLL_SEND(1, 3, 0, 1, 8), 0x1122334455667788 };

	for (uint32_t i = 0; i < 14; i++) {
		uint32_t cut = 1 + i / 2;

		m[0] ^= 1ull << 63; /* every other header is wrong, in byte 7 */
		xr_store(&vr, ME, page, m, cut);
		xr_store(&vr, ME, page + cut, (char *)m + cut, 8 - cut);
		xr_store(&vr, ME, page + 8, &m[1], 8);
		xr_settle(&vr);
		assert_int_equal(velo_drops(ME, EXTOLL_DROP_RESERVED), cut);
		assert_int_equal(vr.net->n_log, (i + 1) / 2);
	}
	assert_memory_equal(vr.net->log[6].data, &m[1], 8);
}

/* T-05: a message that begins at offset 8. */
static void test_message_at_offset_8_is_dropped(void **state)
{
	uint64_t m[2] = { EXTOLL_SEND(1, 3, 0, 1, 8), 1 };

	xr_store(&vr, ME, extoll_velo_page(0, SENDER) + 8, m, 16);
	velo_send(ME, 1, 8, 3);
	xr_settle(&vr);
	assert_int_equal(velo_drops(ME, EXTOLL_DROP_ALIGN), 1);
	assert_int_equal(vr.net->n_log, 1);
}

/* T-06: a partial message is dropped 256 cycles after its store has reached the
 * unit. */
static void test_partial_message_is_dropped_after_256_cycles(void **state)
{
	uint64_t h = EXTOLL_SEND(1, 3, 0, 1, 64);
	uint8_t a[64] = { 0 };
	uint64_t in;

	memcpy(a, &h, 8);
	in = velo_sync(xr_store(&vr, ME, extoll_velo_page(0, SENDER), a, 64),
		       3);
	weft_sim_run(vr.sim, weft_clock_edge(&vr.core, in + 4 + 256) - 1);
	assert_int_equal(vr.nic[0]->counters[EX_C_VELO_DROPPED], 0);
	weft_sim_run(vr.sim, weft_clock_edge(&vr.core, in + 4 + 256));
	assert_int_equal(vr.nic[0]->counters[EX_C_VELO_DROPPED], 1);
	assert_int_equal(velo_drops(ME, EXTOLL_DROP_PARTIAL), 1);
	/* a store at offset 64 does not begin a message, and the message to
	 * which it belongs was dropped */
	xr_store(&vr, ME, extoll_velo_page(0, SENDER) + 64, a, 8);
	xr_settle(&vr);
	assert_int_equal(velo_drops(ME, EXTOLL_DROP_ALIGN), 1);
	/* a new message ends the old one at once */
	xr_store(&vr, ME, extoll_velo_page(0, SENDER), a, 64);
	velo_send(ME, 1, 8, 3);
	xr_settle(&vr);
	assert_int_equal(velo_drops(ME, EXTOLL_DROP_PARTIAL), 2);
	assert_int_equal(vr.net->n_log, 1);
}

static void test_no_route(void **state)
{
	velo_send(ME, 2, 8, 1); /* the network has two nodes */
	velo_send(ME, 0xFFFE, 8, 1);
	xr_settle(&vr);
	assert_int_equal(velo_drops(ME, EXTOLL_DROP_NO_ROUTE), 2);
	/* a route written by management software */
	xr_w64(&vr, ME, EXTOLL_ROUTE_INDEX, 2);
	xr_w64(&vr, ME, EXTOLL_ROUTE_DATA, 0x753);
	xr_w64(&vr, ME, EXTOLL_ROUTE_LENGTH, 3 | EXTOLL_ROUTE_VALID);
	velo_send(ME, 2, 8, 1);
	velo_send(ME, ME, 8, 1); /* loopback: internal port only */
	xr_settle(&vr);
	assert_int_equal(vr.net->n_log, 2);
	assert_true(vr.net->log[0].u[4] == 0xFFFFFFFFFFFF0753ull);
	assert_int_equal(vr.net->log[0].meta.hops, 4);
	assert_true(vr.net->log[1].u[4] == 0xFFFFFFFFFFFFFFF0ull);
	assert_int_equal(vr.net->log[1].meta.hops, 1);
}

/* When the network accepts no packets, the host is stopped and no message is
 * lost. */
static void test_back_pressure(void **state)
{
	vr.net->stop = true;
	for (uint32_t i = 0; i < 100; i++)
		velo_send(ME, 1, 8, i);
	xr_run(&vr, 2000);
	/* slots of one VC: 8 reserved ones and a pool of 32 */
	assert_int_equal(vr.net->n_log, 40);
	assert_true(vr.bus[ME]->held > 0);
	xr_release(&vr);
	xr_settle(&vr);
	assert_int_equal(vr.net->n_log, 100);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(EX_VELO_TAG(vr.net->log[i].u[0]), i);
	assert_int_equal(vr.bus[ME]->held, 0);
}

static void test_discarded_requests(void **state)
{
	uint64_t off = EXTOLL_INTERVAL_TARGET + EXTOLL_INTERVAL_STRIDE;

	xr_w64(&vr, ME, off, EXTOLL_HX_VELO); /* not enabled */
	velo_send(ME, 1, 8, 1);
	xr_settle(&vr);
	assert_int_equal(xr_r64(&vr, ME, EXTOLL_HTAX_DISCARDED), 1);
	assert_true(xr_r64(&vr, ME, EXTOLL_VELO) == UINT64_MAX);
	assert_int_equal(xr_r64(&vr, ME, EXTOLL_HTAX_DISCARDED), 2);
	assert_int_equal(vr.net->n_log, 0);
	xr_w64(&vr, ME, off, EXTOLL_HX_VELO | EXTOLL_INTERVAL_ENABLE);
	velo_send(ME, 1, 8, 1);
	xr_settle(&vr);
	assert_int_equal(vr.net->n_log, 1);
}

static size_t idle_bytes(const struct weft_comp *c)
{
	return c->cls->state_size + c->n_ports * sizeof(struct weft_port) +
	       c->cls->n_counters * 8;
}

/* An idle NIC is small, because a network may have 32,768 of them. */
static void test_idle_nic_takes_less_than_8_kib(void **state)
{
	assert_in_range(idle_bytes(vr.nic[0]), 1, 8191);
}

/* Stores a message of a wrong length up to the end of its page, then a valid
 * message. The wrong message is dropped and counted once, as a whole. The valid
 * one is sent. */
static void
test_rest_of_a_dropped_message_is_swallowed_to_the_page_end(void **state)
{
	const uint64_t page = extoll_velo_page(0, SENDER);
	uint8_t line[64];

	memset(line, 0, sizeof(line));
	line[6] = 127; /* its length */
	line[0] = 1;
	for (uint32_t off = 0; off < EXTOLL_PAGE; off += 64) {
		xr_store(&vr, ME, page + off, line, 64);
		memset(line, 0, sizeof(line));
		xr_run(&vr, 40);
	}
	xr_settle(&vr);
	assert_int_equal(velo_drops(ME, EXTOLL_DROP_LENGTH), 1);
	for (uint32_t i = 0; i < EXTOLL_DROP_N; i++)
		if (i != EXTOLL_DROP_LENGTH)
			assert_int_equal(velo_drops(ME, i), 0);
	velo_send(ME, 1, 64, 1);
	xr_settle(&vr);
	assert_int_equal(vr.net->n_log, 1);
}

int main(void)
{
#define T(f) cmocka_unit_test_setup_teardown(f, velo_single, velo_teardown)
	const struct CMUnitTest tests[] = {
		T(test_request_cycles),
		T(test_request_packet),
		T(test_lengths_0_and_65_are_dropped),
		T(test_reserved_bits_drop_one_message_only),
		T(test_pages_without_a_process_send_nothing),
		T(test_interleaved_halves_are_joined),
		T(test_header_may_come_in_two_dwords),
		T(test_cut_header),
		T(test_message_at_offset_8_is_dropped),
		T(test_partial_message_is_dropped_after_256_cycles),
		T(test_no_route),
		T(test_back_pressure),
		T(test_discarded_requests),
		T(test_idle_nic_takes_less_than_8_kib),
		T(test_rest_of_a_dropped_message_is_swallowed_to_the_page_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
