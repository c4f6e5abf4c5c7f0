/* SPDX-License-Identifier: Apache-2.0 */
/* VELO of the EXTOLL NIC on a bench (extoll.md 9: T-01 to T-10, T-29): stores
 * on requester pages, packets at the network port, slots in memory.  Cycle
 * counts are those of table 7.1. */
#include "../cmocka_all.h"

#include <string.h>

#include "nic/extoll/nic.h"
#include "velo_rig.h"

#define BOX   (XR_MEM + 0x10000)
#define BOX_N 16
enum { PD = 0x55, ME = 0, SENDER = 7, SRC = 1 };

static struct xr r;

/* Sender VPID and mailbox VPID of one node. */
static void velo_setup(uint32_t node, uint32_t slots, uint64_t flags)
{
	xr_setup(&r, node);
	xr_w64(&r, node, EXTOLL_VELO_TX + 8 * SENDER,
	       EXTOLL_TX(node, SENDER, PD));
	xr_w64(&r, node, EXTOLL_VELO_RX_BASE + 8 * 3, BOX);
	xr_w64(&r, node, EXTOLL_VELO_RX + 8 * 3,
	       EXTOLL_RX(PD, slots, EXTOLL_RX_ENABLE | flags));
}

static void fill(uint8_t *p, uint32_t n, uint32_t seed)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)(seed * 37 + i * 11 + 1);
}

/* A message in as many stores as the processor's lines make of it. */
static weft_time_t send_h(uint32_t node, uint32_t vpid, uint64_t h,
			  uint32_t bytes, uint32_t seed)
{
	uint8_t buf[256] = { 0 };
	weft_time_t t = 0;

	memcpy(buf, &h, 8);
	fill(buf + 8, EXTOLL_SEND_LEN(h), seed);
	for (uint32_t off = 0; off < bytes; off += 64)
		t = xr_store(&r, node, extoll_velo_page(0, vpid) + off,
			     buf + off, bytes - off < 64 ? bytes - off : 64);
	return t;
}

static weft_time_t send(uint32_t node, uint32_t dest, uint32_t len,
			uint32_t seed)
{
	uint64_t h = EXTOLL_SEND(dest, 3, seed & 3, seed, len);

	return send_h(node, SENDER, h, EXTOLL_SEND_BYTES(len), seed);
}

static uint64_t drops(uint32_t node, enum extoll_drop why)
{
	return xr_r64(&r, node, EXTOLL_VELO_DROP + 8 * why);
}

static uint64_t discards(uint32_t node, enum extoll_discard why)
{
	return xr_r64(&r, node, EXTOLL_VELO_DISCARD + 8 * why);
}

/* ---- requester ------------------------------------------------------------
 */

static int setup_single(void **state)
{
	xr_single(&r, "");
	velo_setup(ME, BOX_N, 0);
	return 0;
}

static int teardown(void **state)
{
	xr_free(&r);
	return 0;
}

/* First core edge at or after t + k - 1/2 cycles. */
static uint64_t sync_core(weft_time_t t, uint32_t k)
{
	return weft_clock_cycle(&r.core, t + (2 * k - 1) * r.core.num /
							 (2 * r.core.den));
}

static void test_request_cycles(void **state)
{
	weft_time_t t = send(ME, 1, 8, 1);
	uint64_t in = sync_core(t, 3);

	xr_settle(&r);
	assert_int_equal(r.net->n_log, 1);
	/* N1 4, N2 13, N3 3, one routing flit and 16 B 5, N4 3 */
	assert_int_equal(r.net->log[0].cycle, in + 4 + 13 + 3 + 5 + 3);
}

static void test_request_packet(void **state)
{
	const uint64_t h = EXTOLL_SEND(1, 3, 2, 0xA5, 13) | EXTOLL_SEND_IRQ;
	const struct xnet_pkt *p = &r.net->log[0];
	uint8_t want[13];

	send_h(ME, SENDER, h, EXTOLL_SEND_BYTES(13), 9);
	xr_settle(&r);
	assert_int_equal(r.net->n_log, 1);
	assert_int_equal(p->np, 0);
	assert_int_equal(p->len, 13);
	assert_int_equal(p->pd, PD);
	assert_int_equal(p->meta.words, 1);
	assert_int_equal(p->meta.dest, 1);
	/* source 0, VPID 7, to VPID 3, MTT 2, irq, end, tag, length, check */
	assert_true(p->u[0] ==
		    (7ull << 16 | 3ull << 24 | 2ull << 32 | 1ull << 34 |
		     1ull << 36 | 0xA5ull << 40 | 13ull << 48 | 1ull << 56));
	/* +x, then internal port 0, then fillers */
	assert_true(p->u[4] == 0xFFFFFFFFFFFFFF03ull);
	fill(want, 13, 9);
	assert_memory_equal(p->data, want, 13);
}

static void test_length(void **state)
{
	send_h(ME, SENDER, EXTOLL_SEND(1, 3, 0, 0, 0), 8, 0);
	send_h(ME, SENDER, EXTOLL_SEND(1, 3, 0, 0, 65), 80, 0);
	xr_settle(&r);
	assert_int_equal(r.net->n_log, 0);
	assert_int_equal(drops(ME, EXTOLL_DROP_LENGTH), 2);
	assert_int_equal(drops(ME, EXTOLL_DROP_ALIGN), 0);
	assert_true(xr_evt(&r, ME, 0) == EXTOLL_EVENT(EXTOLL_EV_VELO_DROP,
						      SENDER, 1,
						      EXTOLL_DROP_LENGTH));
	assert_true(xr_evt(&r, ME, 1) != 0);
	assert_true(xr_evt(&r, ME, 2) == 0);
	assert_true(r.bus[ME]->irq);
	assert_int_equal(xr_r64(&r, ME, EXTOLL_NP + EXTOLL_NP_TX_PACKETS), 0);
	/* longer than it says */
	send_h(ME, SENDER, EXTOLL_SEND(1, 3, 0, 0, 8), 24, 0);
	send(ME, 1, 64, 5);
	xr_settle(&r);
	assert_int_equal(drops(ME, EXTOLL_DROP_LENGTH), 3);
	assert_int_equal(r.net->n_log, 1);
}

static void test_reserved(void **state)
{
	uint32_t n = 0;

	for (uint32_t bit = 0; bit < 64; bit++) {
		uint64_t h = EXTOLL_SEND(1, 3, 1, 2, 8) | 1ull << bit;

		if (!(EXTOLL_SEND_ZERO >> bit & 1))
			continue;
		send_h(ME, SENDER, h, 16, bit);
		xr_settle(&r);
		n++;
	}
	assert_int_equal(n, 2 + 5 + 5 + 9); /* 25:24, 30:26, 39:35, 63:55 */
	assert_int_equal(drops(ME, EXTOLL_DROP_RESERVED), n);
	send_h(ME, SENDER, EXTOLL_SEND(1, 3, 1, 2, 8) | EXTOLL_SEND_MULTICAST,
	       16, 0);
	send(ME, 1, 8, 77);
	xr_settle(&r);
	assert_int_equal(drops(ME, EXTOLL_DROP_MULTICAST), 1);
	assert_int_equal(r.net->n_log, 1);
	assert_int_equal(EX_VELO_TAG(r.net->log[0].u[0]), 77);
}

static void test_disabled(void **state)
{
	send_h(ME, SENDER + 1, EXTOLL_SEND(1, 3, 0, 0, 8), 16, 0);
	send_h(ME, 200, EXTOLL_SEND(1, 3, 0, 0, 8), 16, 0);
	xr_settle(&r);
	assert_int_equal(drops(ME, EXTOLL_DROP_DISABLED), 2);
	assert_int_equal(r.net->n_log, 0);
}

/* T-04: two halves with another page's message, whole, in between. */
static void test_split(void **state)
{
	uint64_t page[2] = { extoll_velo_page(0, SENDER),
			     extoll_velo_page(0, SENDER + 1) };
	uint64_t h = EXTOLL_SEND(1, 3, 0, 1, 64);
	uint8_t a[72], b[72];

	xr_w64(&r, ME, EXTOLL_VELO_TX + 8 * (SENDER + 1),
	       EXTOLL_TX(ME, SENDER + 1, PD));
	memcpy(a, &h, 8);
	memcpy(b, &h, 8);
	fill(a + 8, 64, 1);
	fill(b + 8, 64, 2);
	xr_store(&r, ME, page[0], a, 64);
	xr_store(&r, ME, page[1], b, 64);
	xr_run(&r, 100);
	xr_store(&r, ME, page[1] + 64, b + 64, 8);
	xr_run(&r, 100);
	xr_store(&r, ME, page[0] + 64, a + 64, 8);
	xr_settle(&r);
	assert_int_equal(r.net->n_log, 2);
	assert_memory_equal(r.net->log[0].data, b + 8, 64);
	assert_memory_equal(r.net->log[1].data, a + 8, 64);
	assert_int_equal(EX_H0_SVPID(r.net->log[0].u[0]), SENDER + 1);
}

/* A header in two stores of 4 bytes, and a hole. */
static void test_dwords(void **state)
{
	uint64_t page = extoll_velo_page(0, SENDER);
	uint64_t m[2] = { EXTOLL_SEND(1, 3, 0, 1, 8), 0x1122334455667788 };

	for (uint32_t off = 0; off < 16; off += 4)
		xr_store(&r, ME, page + off, (char *)m + off, 4);
	xr_settle(&r);
	assert_int_equal(r.net->n_log, 1);
	assert_memory_equal(r.net->log[0].data, &m[1], 8);
	xr_store(&r, ME, page, m, 4);
	xr_store(&r, ME, page + 8, &m[1], 8);
	xr_settle(&r);
	assert_int_equal(drops(ME, EXTOLL_DROP_ALIGN), 1);
	assert_int_equal(r.net->n_log, 1);
}

static void test_align(void **state)
{
	uint64_t m[2] = { EXTOLL_SEND(1, 3, 0, 1, 8), 1 };

	xr_store(&r, ME, extoll_velo_page(0, SENDER) + 8, m, 16);
	send(ME, 1, 8, 3);
	xr_settle(&r);
	assert_int_equal(drops(ME, EXTOLL_DROP_ALIGN), 1);
	assert_int_equal(r.net->n_log, 1);
}

/* T-06: dropped 256 cycles after its store has reached the unit. */
static void test_partial(void **state)
{
	uint64_t h = EXTOLL_SEND(1, 3, 0, 1, 64);
	uint8_t a[64] = { 0 };
	uint64_t in;

	memcpy(a, &h, 8);
	in = sync_core(xr_store(&r, ME, extoll_velo_page(0, SENDER), a, 64), 3);
	weft_sim_run(r.sim, weft_clock_edge(&r.core, in + 4 + 256) - 1);
	assert_int_equal(r.nic[0]->counters[EX_C_VELO_DROPPED], 0);
	weft_sim_run(r.sim, weft_clock_edge(&r.core, in + 4 + 256));
	assert_int_equal(r.nic[0]->counters[EX_C_VELO_DROPPED], 1);
	assert_int_equal(drops(ME, EXTOLL_DROP_PARTIAL), 1);
	/* its rest is alone now */
	xr_store(&r, ME, extoll_velo_page(0, SENDER) + 64, a, 8);
	xr_settle(&r);
	assert_int_equal(drops(ME, EXTOLL_DROP_ALIGN), 1);
	/* a new beginning ends the old one at once */
	xr_store(&r, ME, extoll_velo_page(0, SENDER), a, 64);
	send(ME, 1, 8, 3);
	xr_settle(&r);
	assert_int_equal(drops(ME, EXTOLL_DROP_PARTIAL), 2);
	assert_int_equal(r.net->n_log, 1);
}

static void test_no_route(void **state)
{
	send(ME, 2, 8, 1); /* the network has two nodes */
	send(ME, 0xFFFE, 8, 1);
	xr_settle(&r);
	assert_int_equal(drops(ME, EXTOLL_DROP_NO_ROUTE), 2);
	/* written by management software */
	xr_w64(&r, ME, EXTOLL_ROUTE_INDEX, 2);
	xr_w64(&r, ME, EXTOLL_ROUTE_DATA, 0x753);
	xr_w64(&r, ME, EXTOLL_ROUTE_LENGTH, 3 | EXTOLL_ROUTE_VALID);
	send(ME, 2, 8, 1);
	send(ME, ME, 8, 1); /* loopback: internal port only */
	xr_settle(&r);
	assert_int_equal(r.net->n_log, 2);
	assert_true(r.net->log[0].u[4] == 0xFFFFFFFFFFFF0753ull);
	assert_int_equal(r.net->log[0].meta.hops, 4);
	assert_true(r.net->log[1].u[4] == 0xFFFFFFFFFFFFFFF0ull);
	assert_int_equal(r.net->log[1].meta.hops, 1);
}

/* Nothing is lost when the network takes nothing; the host is stopped. */
static void test_back_pressure(void **state)
{
	r.net->stop = true;
	for (uint32_t i = 0; i < 100; i++)
		send(ME, 1, 8, i);
	xr_run(&r, 2000);
	assert_int_equal(r.net->n_log, 40); /* 8 own slots and 32 shared */
	assert_true(r.bus[ME]->held > 0);
	xr_release(&r);
	xr_settle(&r);
	assert_int_equal(r.net->n_log, 100);
	for (uint32_t i = 0; i < 100; i++)
		assert_int_equal(EX_VELO_TAG(r.net->log[i].u[0]), i);
	assert_int_equal(r.bus[ME]->held, 0);
}

static void test_discarded_requests(void **state)
{
	uint64_t off = EXTOLL_INTERVAL_TARGET + EXTOLL_INTERVAL_STRIDE;

	xr_w64(&r, ME, off, EXTOLL_HX_VELO); /* not enabled */
	send(ME, 1, 8, 1);
	xr_settle(&r);
	assert_int_equal(xr_r64(&r, ME, EXTOLL_HTAX_DISCARDED), 1);
	assert_true(xr_r64(&r, ME, EXTOLL_VELO) == UINT64_MAX);
	assert_int_equal(xr_r64(&r, ME, EXTOLL_HTAX_DISCARDED), 2);
	assert_int_equal(r.net->n_log, 0);
	xr_w64(&r, ME, off, EXTOLL_HX_VELO | EXTOLL_INTERVAL_ENABLE);
	send(ME, 1, 8, 1);
	xr_settle(&r);
	assert_int_equal(r.net->n_log, 1);
}

/* ---- completer ------------------------------------------------------------
 */

/* vpid, pd and check: how far they are from what is right. */
struct msg {
	uint32_t vpid, len, seed, pd, check;
	uint64_t flags;
};

/* A message as the network brings it; routed, its nibbles are used up. */
static void arrive(struct msg m, uint64_t cycle)
{
	struct weft_frame *f = weft_frame_new(r.sim);

	f->u[0] = EX_H0_MAKE(SRC, 9, 3 + m.vpid, ME + m.check) |
		  EX_PUT(m.seed & 3, 33, 32) | EX_VELO_EOM |
		  EX_PUT(m.seed, 47, 40) | EX_PUT(m.len, 54, 48) | m.flags;
	*ex_meta(f) = (struct ex_meta){ .words = 1, .hops = 1 };
	f->flags = (PD + m.pd) << 16;
	f->payload = weft_slice_new(r.sim, m.len);
	if (m.len)
		fill(weft_slice_data(f->payload), m.len, m.seed);
	xr_send(&r, 0, f, cycle);
}

#define MSG(...) ((struct msg){ __VA_ARGS__ })

/* Slot i holds message `seed` of len bytes, and nothing else (3.3). */
static void check_slot(uint32_t node, uint32_t size, uint32_t i, uint32_t len,
		       uint32_t seed)
{
	const uint8_t *slot = r.bus[node]->mem + (BOX - XR_MEM) + i * size;
	uint32_t k = (len + 7) / 8, first = size - 8 - 8 * k;
	uint8_t want[128] = { 0 };
	uint64_t status =
		EXTOLL_STATUS(SRC, 9, seed & 3, seed, len) | EXTOLL_STATUS_EOM;

	fill(want + first, len, seed);
	memcpy(want + size - 8, &status, 8);
	assert_memory_equal(slot, want, size);
}

static void set_rp(uint32_t node, uint64_t rp)
{
	xr_w64(&r, node, EXTOLL_VELO_RP + 3 * EXTOLL_RP_STRIDE, rp);
}

static void test_complete_cycles(void **state)
{
	uint64_t c = xr_cycle(&r) + 10, seen;
	const struct weft_clock *ht = &r.bus[ME]->clock;
	weft_time_t t;

	arrive(MSG(.len = 8, .seed = 5), c);
	xr_settle(&r);
	seen = c + 3 + 5 + 3; /* N3 of the peer, flits, N4 */
	t = weft_clock_edge(&r.core, seen + 21 + 4); /* N5, N6 */
	t = weft_clock_align(ht, t + 12500000);	     /* H5: 3 HT cycles */
	assert_int_equal(r.bus[ME]->n_log, 1);
	assert_int_equal(r.bus[ME]->log[0].time, t);
	assert_int_equal(r.bus[ME]->log[0].bytes, 16);
	assert_int_equal(r.bus[ME]->log[0].addr, BOX + 128 - 16);
	check_slot(ME, 128, 0, 8, 5);
}

static void test_slots(void **state)
{
	static const uint32_t len[] = { 1, 7, 8, 9, 55, 56, 57, 64 };
	const uint32_t n = sizeof(len) / sizeof(len[0]);

	for (uint32_t i = 0; i < n; i++)
		arrive(MSG(.len = len[i], .seed = 10 + i), xr_cycle(&r));
	xr_settle(&r);
	for (uint32_t i = 0; i < n; i++)
		check_slot(ME, 128, i, len[i], 10 + i);
	/* two writes for those above 56, status last */
	assert_int_equal(r.bus[ME]->n_log, n + 2);
	assert_int_equal(r.bus[ME]->log[8].addr, BOX + 7 * 128 + 56);
	assert_int_equal(r.bus[ME]->log[8].bytes, 8);
	assert_int_equal(r.bus[ME]->log[9].bytes, 64);
	assert_int_equal(xr_r64(&r, ME, EXTOLL_VELO_RX_WP + 8 * 3), n);
	assert_int_equal(xr_r64(&r, ME, EXTOLL_VELO_RECEIVED), n);
}

/* 64 bytes: 19 flits in two cells, then two writes; the first, of 8 bytes,
 * keeps the way through HTAX for two cycles. */
static void test_two_writes(void **state)
{
	const struct weft_clock *ht = &r.bus[ME]->clock;
	uint64_t c = xr_cycle(&r) + 10, ask;
	weft_time_t t;

	arrive(MSG(.len = 64, .seed = 5), c);
	xr_settle(&r);
	ask = c + 3 + 19 + 3 + 21;
	assert_int_equal(r.bus[ME]->n_log, 2);
	for (uint32_t i = 0; i < 2; i++) {
		t = weft_clock_edge(&r.core, ask + 2 * i + 4);
		t = weft_clock_align(ht, t + 12500000);
		assert_int_equal(r.bus[ME]->log[i].time, t);
	}
	check_slot(ME, 128, 0, 64, 5);
}

/* The core clock is a parameter, and so are the stages. */
static void test_set(void **state)
{
	uint64_t c;

	xr_free(&r);
	xr_single(&r, "velo_req=20 t_htax=6 t_sync_in=5");
	velo_setup(ME, BOX_N, 0);
	c = sync_core(send(ME, 1, 8, 1), 5);
	xr_settle(&r);
	assert_int_equal(r.net->log[0].cycle, c + 6 + 20 + 3 + 5 + 3);
}

static void test_small_slots(void **state)
{
	uint64_t status[2];
	uint8_t want[64];

	xr_w64(&r, ME, EXTOLL_VELO_RX + 8 * 3,
	       EXTOLL_RX(PD, 8, EXTOLL_RX_ENABLE | EXTOLL_RX_SLOT64));
	arrive(MSG(.len = 56, .seed = 1), xr_cycle(&r));
	arrive(MSG(.len = 64, .seed = 2), xr_cycle(&r));
	arrive(MSG(.len = 8, .seed = 3), xr_cycle(&r));
	xr_settle(&r);
	check_slot(ME, 64, 0, 56, 1);
	check_slot(ME, 64, 3, 8, 3);
	status[0] = xr_mem64(&r, ME, BOX + 128 - 8);
	status[1] = xr_mem64(&r, ME, BOX + 192 - 8);
	assert_true(status[0] == EXTOLL_STATUS(SRC, 9, 2, 2, 56));
	assert_true(status[1] ==
		    (EXTOLL_STATUS(SRC, 9, 2, 2, 8) | EXTOLL_STATUS_EOM));
	fill(want, 64, 2);
	assert_memory_equal(r.bus[ME]->mem + (BOX - XR_MEM) + 64, want, 56);
	assert_memory_equal(r.bus[ME]->mem + (BOX - XR_MEM) + 176, want + 56,
			    8);
	/* 4 of 8 used, 3 may be: two slots fit, two more do not */
	arrive(MSG(.len = 64, .seed = 4), xr_cycle(&r));
	arrive(MSG(.len = 57, .seed = 5), xr_cycle(&r));
	xr_settle(&r);
	assert_int_equal(xr_r64(&r, ME, EXTOLL_VELO_RX_WP + 8 * 3), 6);
	set_rp(ME, 1);
	xr_settle(&r);
	assert_int_equal(xr_r64(&r, ME, EXTOLL_VELO_RX_WP + 8 * 3), 0);
}

/* T-07, T-29 */
static void test_discard(void **state)
{
	arrive(MSG(.len = 8, .vpid = 1), xr_cycle(&r));
	arrive(MSG(.len = 8, .pd = 1), xr_cycle(&r));
	arrive(MSG(.len = 64, .check = 1), xr_cycle(&r));
	arrive(MSG(.len = 8, .seed = 9), xr_cycle(&r));
	xr_settle(&r);
	assert_int_equal(discards(ME, EXTOLL_DISCARD_DISABLED), 1);
	assert_int_equal(discards(ME, EXTOLL_DISCARD_PROTECTION), 1);
	assert_int_equal(discards(ME, EXTOLL_DISCARD_MISROUTED), 1);
	assert_int_equal(xr_r64(&r, ME, EXTOLL_VELO_DISCARD_SRC),
			 SRC | 9 << 16);
	assert_true(xr_evt(&r, ME, 0) == EXTOLL_EVENT(EXTOLL_EV_VELO_DISCARD, 4,
						      SRC,
						      EXTOLL_DISCARD_DISABLED));
	check_slot(ME, 128, 0, 8, 9);
}

/* What no requester makes: raw traffic, wrong or no length. */
static void test_format(void **state)
{
	struct weft_frame *f;

	arrive(MSG(.len = 0), xr_cycle(&r));
	arrive(MSG(.len = 72, .seed = 1), xr_cycle(&r));
	f = weft_frame_new(r.sim);
	*ex_meta(f) = (struct ex_meta){ .hops = 1 };
	f->payload = weft_slice_new(r.sim, 128);
	xr_send(&r, 0, f, xr_cycle(&r));
	f = weft_frame_new(r.sim);
	f->u[0] = EX_H0_MAKE(SRC, 9, 3, ME) | EX_PUT(8, 54, 48);
	*ex_meta(f) = (struct ex_meta){ .words = 1, .hops = 1 };
	f->payload = weft_slice_new(r.sim, 16);
	xr_send(&r, 0, f, xr_cycle(&r));
	xr_settle(&r);
	assert_int_equal(discards(ME, EXTOLL_DISCARD_FORMAT), 4);
	assert_int_equal(r.bus[ME]->n_log, 4); /* events only */
}

/* T-08: message N waits, the peer runs out of credits, nothing is lost. */
static void test_full(void **state)
{
	uint32_t n = 60;

	for (uint32_t i = 0; i < n; i++)
		arrive(MSG(.len = 8, .seed = i), xr_cycle(&r));
	xr_run(&r, 5000);
	assert_int_equal(xr_r64(&r, ME, EXTOLL_VELO_RECEIVED), BOX_N - 1);
	assert_int_equal(r.net->np[0].q[0].n, n - (BOX_N - 1) - 40);
	for (uint32_t i = 0; i < n; i++) {
		check_slot(ME, 128, i % BOX_N, 8, i);
		xr_mem_set64(&r, ME, BOX + i % BOX_N * 128 + 120, 0);
		set_rp(ME, (i + 1) % BOX_N);
		xr_run(&r, 200);
	}
	xr_settle(&r);
	assert_int_equal(xr_r64(&r, ME, EXTOLL_VELO_RECEIVED), n);
	assert_int_equal(r.nic[ME]->counters[EX_C_VELO_DISCARDED], 0);
}

/* T-09: with policy 1 exactly the excess goes, one timeout each. */
static void test_full_drop(void **state)
{
	uint32_t n = BOX_N - 1 + 5;

	xr_w64(&r, ME, EXTOLL_VELO_TIMEOUT, 1000);
	xr_w64(&r, ME, EXTOLL_VELO_CONFIG, EXTOLL_VELO_POLICY_DROP);
	for (uint32_t i = 0; i < n; i++)
		arrive(MSG(.len = 8, .seed = i), xr_cycle(&r));
	xr_run(&r, 1000);
	assert_int_equal(discards(ME, EXTOLL_DISCARD_FULL), 0);
	xr_run(&r, 5000);
	assert_int_equal(discards(ME, EXTOLL_DISCARD_FULL), 5);
	assert_int_equal(xr_r64(&r, ME, EXTOLL_VELO_RECEIVED), BOX_N - 1);
	for (uint32_t i = 0; i < BOX_N - 1; i++)
		check_slot(ME, 128, i, 8, i);
	assert_true(EXTOLL_EVENT_INFO(xr_evt(&r, ME, 4)) ==
		    EXTOLL_DISCARD_FULL);
	set_rp(ME, 1);
	arrive(MSG(.len = 8, .seed = 99), xr_cycle(&r));
	xr_settle(&r);
	check_slot(ME, 128, BOX_N - 1, 8, 99);
}

/* T-10: ten times round with a read pointer that comes every four slots. */
static void test_lazy(void **state)
{
	uint32_t rp = 0, told = 0, total = 10 * BOX_N;

	for (uint32_t i = 0; i < total; i++)
		arrive(MSG(.len = 1 + i % 64, .seed = i), xr_cycle(&r));
	for (uint32_t i = 0; i < total; i++) {
		weft_phys_t slot = BOX + rp * 128;

		while (!xr_mem64(&r, ME, slot + 120))
			xr_run(&r, 10);
		check_slot(ME, 128, rp, 1 + i % 64, i);
		memset(r.bus[ME]->mem + (slot - XR_MEM), 0, 128);
		rp = (rp + 1) % BOX_N;
		if (++told % EXTOLL_LAZYNESS == 0)
			set_rp(ME, rp);
	}
	xr_settle(&r);
	assert_int_equal(xr_r64(&r, ME, EXTOLL_VELO_RECEIVED), total);
	assert_int_equal(xr_r64(&r, ME, EXTOLL_VELO_RX_WP + 8 * 3), rp);
}

static void test_bad_rp(void **state)
{
	set_rp(ME, BOX_N);
	xr_w64(&r, ME, EXTOLL_VELO_RP + 99 * EXTOLL_RP_STRIDE, 0);
	assert_int_equal(xr_r64(&r, ME, EXTOLL_VELO_BAD_RP), 2);
}

/* T-43: the mailbox goes away under a message that waits. */
static void test_close(void **state)
{
	for (uint32_t i = 0; i < BOX_N + 3; i++)
		arrive(MSG(.len = 8, .seed = i), xr_cycle(&r));
	xr_run(&r, 2000);
	xr_w64(&r, ME, EXTOLL_VELO_RX + 8 * 3, 0);
	xr_settle(&r);
	assert_int_equal(discards(ME, EXTOLL_DISCARD_DISABLED), 4);
	xr_w64(&r, ME, EXTOLL_VELO_RX + 8 * 3,
	       EXTOLL_RX(PD, BOX_N, EXTOLL_RX_ENABLE));
	arrive(MSG(.len = 8, .seed = 50), xr_cycle(&r));
	xr_settle(&r);
	check_slot(ME, 128, 0, 8, 50);
}

/* 2.7: one interrupt, re-armed by the read pointers. */
static void test_irq(void **state)
{
	arrive(MSG(.len = 8, .seed = 1, .flags = EX_VELO_IRQ), xr_cycle(&r));
	xr_settle(&r);
	assert_int_equal(r.bus[ME]->irq_edges, 0); /* mailbox not armed */
	set_rp(ME, 1 | EXTOLL_RP_ARM);
	arrive(MSG(.len = 8, .seed = 2, .flags = EX_VELO_IRQ), xr_cycle(&r));
	arrive(MSG(.len = 8, .seed = 3, .flags = EX_VELO_IRQ), xr_cycle(&r));
	xr_settle(&r);
	assert_int_equal(r.bus[ME]->irq_edges, 1);
	assert_true(r.bus[ME]->irq);
	assert_true(xr_evt(&r, ME, 0) ==
		    EXTOLL_EVENT(EXTOLL_EV_VELO_IRQ, 3, SRC, 0));
	assert_true(xr_evt(&r, ME, 1) == 0);
	/* software is done with one message and one event: the other counts */
	xr_w64(&r, ME, EXTOLL_EVQ_RP, 1 | EXTOLL_RP_ARM);
	xr_settle(&r);
	assert_false(r.bus[ME]->irq);
	set_rp(ME, 2 | EXTOLL_RP_ARM);
	xr_settle(&r);
	assert_true(r.bus[ME]->irq);
	assert_int_equal(r.bus[ME]->irq_edges, 2);
	assert_int_equal(xr_r64(&r, ME, EXTOLL_EVQ_WP), 2);
	/* armed again with an entry left: at once */
	xr_w64(&r, ME, EXTOLL_EVQ_RP, 1 | EXTOLL_RP_ARM);
	assert_int_equal(r.bus[ME]->irq_edges, 3);
	xr_w64(&r, ME, EXTOLL_EVQ_RP, 2 | EXTOLL_RP_ARM);
	assert_false(r.bus[ME]->irq);
}

static void test_event_queue_full(void **state)
{
	for (uint32_t i = 0; i < 70; i++)
		send_h(ME, SENDER, EXTOLL_SEND(1, 3, 0, 0, 0), 8, 0);
	xr_settle(&r);
	assert_int_equal(xr_r64(&r, ME, EXTOLL_EVQ_LOST), 70 - 63);
	assert_int_equal(drops(ME, EXTOLL_DROP_LENGTH), 70);
	assert_int_equal(r.bus[ME]->irq_edges, 1);
}

/* A mailbox where there is no memory. */
static void test_abort(void **state)
{
	xr_w64(&r, ME, EXTOLL_VELO_RX_BASE + 8 * 3, 0x7F000000);
	arrive(MSG(.len = 8), xr_cycle(&r));
	xr_settle(&r);
	assert_int_equal(xr_r64(&r, ME, EXTOLL_HTAX_ABORTS), 1);
}

/* ---- two nodes, two crossbars
 * ------------------------------------------------ */

static int setup_pair(void **state)
{
	xr_pair(&r, "");
	velo_setup(0, BOX_N, 0);
	velo_setup(1, BOX_N, 0);
	return 0;
}

/* T-01, all lengths, through the network. */
static void test_pair(void **state)
{
	for (uint32_t len = 1; len <= 64; len++) {
		uint32_t slot = (len - 1) % BOX_N;
		uint8_t want[64];
		weft_phys_t at = BOX + slot * 128;
		uint32_t first = 120 - (len + 7) / 8 * 8;

		send(0, 1, len, len);
		xr_settle(&r);
		fill(want, len, len);
		assert_memory_equal(r.bus[1]->mem + (at - XR_MEM) + first, want,
				    len);
		assert_true(xr_mem64(&r, 1, at + 120) ==
			    (EXTOLL_STATUS(0, SENDER, len & 3, len, len) |
			     EXTOLL_STATUS_EOM));
		xr_w64(&r, 1, EXTOLL_VELO_RP + 3 * EXTOLL_RP_STRIDE,
		       (slot + 1) % BOX_N);
	}
	assert_int_equal(xr_r64(&r, 1, EXTOLL_VELO_RECEIVED), 64);
}

/* T-08 from end to end: 300 messages into 15 slots, then they are read. */
static void test_pair_full(void **state)
{
	uint32_t rp = 0, n = 300;

	for (uint32_t i = 0; i < n; i++)
		send(0, 1, 64, i);
	xr_run(&r, 50000);
	assert_int_equal(r.nic[1]->counters[EX_C_VELO_RECEIVED], BOX_N - 1);
	assert_true(r.bus[0]->held > 0);
	for (uint32_t i = 0; i < n; i++) {
		weft_phys_t slot = BOX + rp * 128;
		uint8_t want[64];

		while (!xr_mem64(&r, 1, slot + 120))
			xr_run(&r, 100);
		fill(want, 64, i & 0xff);
		assert_int_equal(EXTOLL_STATUS_TAG(xr_mem64(&r, 1, slot + 120)),
				 i & 0xff);
		xr_mem_set64(&r, 1, slot + 120, 0);
		rp = (rp + 1) % BOX_N;
		set_rp(1, rp);
	}
	xr_settle(&r);
	assert_int_equal(r.bus[0]->held, 0);
	assert_int_equal(xr_r64(&r, 1, EXTOLL_VELO_RECEIVED), n);
}

/* A run may end with messages that nobody takes. */
static void test_pair_abandoned(void **state)
{
	for (uint32_t i = 0; i < 300; i++)
		send(0, 1, 64, i);
	xr_settle(&r);
	assert_int_equal(xr_r64(&r, 1, EXTOLL_VELO_RECEIVED), BOX_N - 1);
	assert_int_equal(xr_r64(&r, 0, EXTOLL_HTAX_WAITING), 16 + 1);
}

static void test_pair_loopback(void **state)
{
	send(0, 0, 8, 3);
	xr_settle(&r);
	assert_int_equal(xr_r64(&r, 0, EXTOLL_VELO_RECEIVED), 1);
	assert_true(xr_mem64(&r, 0, BOX + 120) != 0);
}

static size_t idle_bytes(const struct weft_comp *c)
{
	return c->cls->state_size + c->n_ports * sizeof(struct weft_port) +
	       c->cls->n_counters * 8;
}

/* Small enough for 32,768 of them. */
static void test_size(void **state)
{
	assert_in_range(idle_bytes(r.nic[0]), 1, 8191);
}

int main(void)
{
#define T(f)  cmocka_unit_test_setup_teardown(f, setup_single, teardown)
#define T2(f) cmocka_unit_test_setup_teardown(f, setup_pair, teardown)
	const struct CMUnitTest tests[] = {
		T(test_request_cycles),
		T(test_request_packet),
		T(test_length),
		T(test_reserved),
		T(test_disabled),
		T(test_split),
		T(test_dwords),
		T(test_align),
		T(test_partial),
		T(test_no_route),
		T(test_back_pressure),
		T(test_discarded_requests),
		T(test_complete_cycles),
		T(test_slots),
		T(test_two_writes),
		T(test_set),
		T(test_small_slots),
		T(test_discard),
		T(test_format),
		T(test_full),
		T(test_full_drop),
		T(test_lazy),
		T(test_bad_rp),
		T(test_close),
		T(test_irq),
		T(test_event_queue_full),
		T(test_abort),
		T(test_size),
		T2(test_pair),
		T2(test_pair_full),
		T2(test_pair_abandoned),
		T2(test_pair_loopback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
