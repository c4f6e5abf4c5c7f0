/* SPDX-License-Identifier: Apache-2.0 */
/* forth.nic: notifications and interrupts (V16, V17), network counters and
 * sampler (V19), damaged packets (forth.md 4.9, R-34, 5.7), reset and loopback
 * (V26). */
#include "unit/cmocka_all.h"

#include <string.h>

#include "rig.h"

#define SRC (RIG_MEM + 0x10000)
#define DST (RIG_MEM + 0x20000u)

static void open_rig(struct rig *r, const char *preset, const char *set)
{
	rig_single(r, preset, set);
	rig_setup(r, 0);
}

static uint64_t q1(uint32_t flow, uint32_t qwords, uint64_t flags)
{
	return forth_desc_q1(flow, qwords, (uint32_t)DST,
			     flags | FORTH_DESC_START);
}

/* ---- local notification (3.8, R-16, R-43) ---- */

/* tr-* presets: the local notification is written after the read, before
 * UpdtCnt. */
static void test_local_read(void **state)
{
	struct rig r;
	const struct tbus_op *op;

	open_rig(&r, "tr-switch", "sink.lanes=8 sink.cap=512");
	for (uint32_t i = 0; i < 12; i++)
		rig_post(&r, 0, 0, i, SRC,
			 q1(1, 3, i % 4 == 3 ? FORTH_DESC_LNOTIFY : 0));
	rig_wait(&r, 2000);
	assert_int_equal(rig_r32(&r, 0, FORTH_LOCAL_NOTIFY), 3);
	assert_int_equal(r.n[0].bus->n_log, 15);
	for (uint32_t i = 0; i < 3; i++) {
		op = &r.n[0].bus->log[5 * i + 4];
		assert_int_equal(op->op, WEFT_BUS_WRITE);
		assert_int_equal(op->addr, RIG_LNOTIFY);
		assert_int_equal(op->bytes, 8);
		assert_true(op->word ==
			    forth_lnotify_pack(4 * (i + 1), 0, 4 * (i + 1)));
		assert_int_equal(op->req, r.n[0].bus->log[5 * i + 3].done);
	}
	/* the next descriptor is read after the notification: UpdtCnt 1, fetch
	 * 3 */
	assert_int_equal(r.n[0].bus->log[5].req, r.n[0].bus->log[4].done + 4);
	/* notifications count neither as requests nor as qwords */
	assert_int_equal(rig_r32(&r, 0, FORTH_N2H_REQ), 0);
	assert_int_equal(rig_r32(&r, 0, FORTH_N2H_QWORD), 0);
	assert_int_equal(rig_r32(&r, 0, FORTH_H2N_REQ), 12);
	rig_free(&r);
}

/* plat-* presets: the notification follows when the last packet has left its
 * VOQ. Each queue has its own notification word. */
static void test_local_departed(void **state)
{
	struct rig r;
	const struct tbus_op *op;
	uint64_t end;

	open_rig(&r, "plat-switch", "sink.lanes=8 sink.cap=512");
	rig_post(&r, 0, 5, 0, SRC, q1(5, 128, FORTH_DESC_LNOTIFY));
	rig_wait(&r, 1500);
	assert_int_equal(r.sink->n_log, 2);
	op = &r.n[0].bus->log[1];
	assert_int_equal(op->addr, RIG_LNOTIFY + 40);
	assert_true(op->word == forth_lnotify_pack(1, 5, 1));
	/* the delimiter is at the sink 24 NET cycles after it left, and the
	 * packet has 133 words */
	end = r.sink->log[1].cycle - 24 + 133;
	assert_int_equal(
		op->req,
		weft_clock_cycle(&r.n[0].bus->clock,
				 weft_clock_edge(&r.sink->link.clk, end)));
	rig_free(&r);
}

/* One notification acknowledges all earlier transfers of its queue, including
 * transfers to other VOQs. */
static void test_local_in_order(void **state)
{
	struct rig r;

	open_rig(&r, "plat-switch",
		 "sink.lanes=8 sink.cap=512 "
		 "sink.stop=true");
	/* flow 1 lacks credits from the fourth transfer on */
	for (uint32_t i = 0; i < 4; i++)
		rig_post(&r, 0, 0, i, SRC, q1(1, 64, 0));
	rig_post(&r, 0, 0, 4, SRC, q1(2, 3, FORTH_DESC_LNOTIFY));
	rig_post(&r, 0, 0, 5, SRC, q1(2, 0, FORTH_DESC_LNOTIFY)); /* bad */
	rig_wait(&r, 3000);
	/* three packets to flow 1, one to flow 2 */
	assert_int_equal(r.sink->n_log, 4);
	assert_int_equal(rig_r32(&r, 0, FORTH_LOCAL_NOTIFY), 0);
	rig_release(&r);
	rig_wait(&r, 3000);
	assert_int_equal(r.sink->n_log, 5);
	assert_int_equal(rig_r32(&r, 0, FORTH_LOCAL_NOTIFY), 2);
	assert_true(rig_mem64(&r, 0, RIG_LNOTIFY) ==
		    forth_lnotify_pack(6, 0, 6));
	rig_free(&r);
}

/* ---- remote notification and interrupt ---- */

static void test_remote_interrupt_follows_data_and_notification(void **state)
{
	struct rig r;
	const struct tbus_op *w, *nt;
	uint64_t on;

	rig_pair(&r, "tr-direct", "");
	rig_setup(&r, 0);
	rig_setup(&r, 1);
	rig_cfg(&r, 1, FORTH_CFG_APP_IRQ, 4, FORTH_APP_IRQ_ENABLE);
	rig_mem_set64(&r, 0, SRC + 62 * 8, 0x1234);
	rig_post(&r, 0, 0, 0, SRC, q1(1, 62, 0));
	rig_post(&r, 0, 0, 1, SRC + 8,
		 q1(1, 62, FORTH_DESC_RNOTIFY | FORTH_DESC_RIRQ));
	while (!r.n[1].bus->irq)
		rig_wait(&r, 1);
	on = rig_pc(&r);
	/* flag and word appear only when all payloads are in memory */
	assert_int_equal(rig_mem64(&r, 1, DST + 61 * 8), 0x1234);
	assert_true(rig_mem64(&r, 1, RIG_RNOTIFY) == (1 | 1ull << 32));
	assert_int_equal(r.n[1].bus->n_log, 3);
	w = &r.n[1].bus->log[1];
	nt = &r.n[1].bus->log[2];
	assert_int_equal(nt->addr, RIG_RNOTIFY);
	assert_int_equal(nt->req, w->done);
	assert_int_equal(on, nt->done + 1);
	assert_int_equal(rig_r32(&r, 1, FORTH_REMOTE_NOTIFY), 1);
	assert_int_equal(rig_cfg_get(&r, 1, FORTH_CFG_APP_IRQ, 1), 0x11);
	/* a second interrupt while INTA# is low causes no new edge */
	rig_post(&r, 0, 0, 2, SRC, q1(1, 3, FORTH_DESC_RIRQ));
	rig_wait(&r, 500);
	assert_int_equal(r.n[1].bus->irq_edges, 1);
	assert_int_equal(rig_r32(&r, 1, FORTH_IRQ_ASSERTIONS), 1);
	rig_w32(&r, 1, FORTH_IRQ_ACTIVE, 0);
	rig_wait(&r, 100);
	/* writing 0 leaves the flag set, writing 1 clears it */
	rig_cfg(&r, 1, FORTH_CFG_APP_IRQ, 1, FORTH_APP_IRQ_ENABLE);
	assert_true(r.n[1].bus->irq);
	rig_cfg(&r, 1, FORTH_CFG_APP_IRQ, 1,
		FORTH_APP_IRQ_ENABLE | FORTH_APP_IRQ_FLAG);
	assert_false(r.n[1].bus->irq);
	assert_int_equal(rig_r32(&r, 1, FORTH_IRQ_ACTIVE), 102);
	/* the flag is also set while the interrupt is disabled. Enabling it
	 * then asserts the line */
	rig_cfg(&r, 1, FORTH_CFG_APP_IRQ, 1, 0);
	rig_post(&r, 0, 0, 3, SRC, q1(1, 3, FORTH_DESC_RIRQ));
	rig_wait(&r, 500);
	assert_false(r.n[1].bus->irq);
	assert_int_equal(rig_cfg_get(&r, 1, FORTH_CFG_APP_IRQ, 1), 0x10);
	rig_cfg(&r, 1, FORTH_CFG_APP_IRQ, 1, FORTH_APP_IRQ_ENABLE);
	assert_true(r.n[1].bus->irq);
	assert_int_equal(r.n[1].bus->irq_edges, 2);
	rig_free(&r);
}

/* ---- damaged packets ---- */

/* A packet with a flipped payload bit is delivered, flagged and counted
 * once. */
static void test_bad_body(void **state)
{
	struct rig r;

	rig_pair_faulty(&r, "tr-direct", "target=body frame=1 bit=0");
	rig_setup(&r, 0);
	rig_setup(&r, 1);
	rig_post(&r, 0, 0, 0, SRC, q1(1, 3, FORTH_DESC_RNOTIFY));
	rig_wait(&r, 500);
	assert_int_equal(rig_r32(&r, 1, FORTH_BODY_CRC_ERR), 1);
	assert_true(rig_mem64(&r, 1, RIG_RNOTIFY) ==
		    (1 | 1ull << 32 | FORTH_RNOTIFY_BAD_BODY));
	rig_post(&r, 0, 0, 1, SRC, q1(1, 3, FORTH_DESC_RNOTIFY));
	rig_wait(&r, 500);
	assert_true(rig_mem64(&r, 1, RIG_RNOTIFY) == (2 | 1ull << 32));
	assert_int_equal(rig_r32(&r, 1, FORTH_N2H_DMA_OPS), 2);
	assert_int_equal(rig_r32(&r, 1, FORTH_BODY_CRC_ERR), 1);
	rig_free(&r);
}

/* Registers 0x88, 0x8C, 0x90: bit errors hit 10-bit codes, idle commas
 * included. */
static void registers_count_what_the_transceiver_sees(void **state)
{
	uint32_t unknown, parity;
	struct rig r;

	rig_pair_faulty(&r, "tr-direct", "code=8b10b rate=1e-3");
	rig_setup(&r, 0);
	rig_setup(&r, 1);
	rig_wait(&r, 100000);
	unknown = rig_r32(&r, 1, FORTH_RIO0_UNKNOWN);
	parity = rig_r32(&r, 1, FORTH_RIO0_PARITY);
	assert_true(unknown > 500 && parity > 500);
	/* In 100,000 PCI cycles the line carries 78,000 words of 40 bits, in
	 * which about 3120 bits are wrong. Few words have two wrong bits. */
	assert_in_range(unknown + parity, 2800, 3600);
	assert_int_equal(rig_r32(&r, 1, FORTH_RIO0_PARITY), 0);
	assert_int_equal(rig_r32(&r, 1, FORTH_RIO1_PARITY), 0);
	assert_int_equal(rig_r32(&r, 0, FORTH_RIO0_UNKNOWN), 0);
	assert_int_equal(rig_r32(&r, 0, FORTH_RIO0_PARITY), 0);
	rig_free(&r);
	rig_pair_faulty(&r, "tr-direct", "code=8b10b rate=1e-2");
	rig_setup(&r, 0);
	rig_setup(&r, 1);
	rig_wait(&r, 20000);
	assert_true(rig_r32(&r, 1, FORTH_RIO0_SYNC_LOSS) > 0);
	assert_int_equal(rig_r32(&r, 0, FORTH_RIO0_SYNC_LOSS), 0);
	rig_free(&r);
}

/* A packet with a flipped header bit is lost. The next packet arrives, and
 * credits return. */
static void test_bad_header(void **state)
{
	struct rig r;
	uint32_t c;

	rig_pair_faulty(&r, "tr-direct", "target=header frame=1 bit=9");
	rig_setup(&r, 0);
	rig_setup(&r, 1);
	for (uint32_t i = 0; i < 2; i++) {
		rig_post(&r, 0, 0, i, SRC, q1(1, 62, FORTH_DESC_RNOTIFY));
		rig_wait(&r, 1000);
	}
	assert_int_equal(rig_r32(&r, 1, FORTH_HEADER_CRC_ERR), 1);
	assert_int_equal(rig_r32(&r, 1, FORTH_HEADER_CRC_ERR), 0);
	assert_int_equal(rig_r32(&r, 1, FORTH_N2H_DMA_OPS), 1);
	assert_int_equal(rig_r32(&r, 1, FORTH_REMOTE_NOTIFY), 1);
	c = rig_r32(&r, 0, FORTH_CREDIT_STATE);
	assert_int_equal(c & 0xFE0, c >> 16); /* nothing leaked */
	assert_int_equal(rig_r32(&r, 1, FORTH_CREDIT_LEAKED), 0);
	rig_free(&r);
}

/* The sender has credits for too many words. A packet for which there is no
 * room is lost and counted. If its first words fit, these are delivered and
 * flagged (5.6, 0x78). */
static void test_packet_without_room_is_lost_and_counted(void **state)
{
	struct rig r;

	open_rig(&r, "tr-switch", "max_payload=4096 sink.tx_cap=4000");
	rig_w32(&r, 0, FORTH_CONTROL, 0); /* nothing drains */
	for (uint32_t i = 0; i < 3; i++)
		rig_send(&r, rig_cc(&r) + 1,
			 forth_header(0, FORTH_HDR_REMOTE_NOTIFY, 512,
				      (uint32_t)DST + 4096 * i),
			 512 * i);
	rig_wait(&r, 6000);
	/* of three packets of 513 words the first one fits, the second one fits
	 * except for 3 words, the third one has no room */
	assert_int_equal(rig_r32(&r, 0, FORTH_NET2H_FULL_ERR), 3 + 513);
	rig_w32(&r, 0, FORTH_CONTROL, FORTH_CTL_ENABLE);
	rig_wait(&r, 3000);
	assert_int_equal(rig_r32(&r, 0, FORTH_N2H_DMA_OPS), 2);
	assert_int_equal(rig_r32(&r, 0, FORTH_N2H_QWORD), 512 + 509);
	assert_int_equal(rig_mem64(&r, 0, DST + 4096 + 8 * 508), 512 + 508);
	assert_int_equal(rig_mem64(&r, 0, DST + 4096 + 8 * 509), 0);
	assert_true(rig_mem64(&r, 0, RIG_RNOTIFY) ==
		    (2 | FORTH_RNOTIFY_BAD_BODY));
	rig_free(&r);
}

/* A write that no target answers sets a status bit, is counted and gives no
 * notification. Its words still return as credits. */
static void test_write_abort(void **state)
{
	struct rig r;

	open_rig(&r, "tr-switch", "");
	rig_send(&r, rig_cc(&r) + 1,
		 forth_header(0, FORTH_HDR_REMOTE_NOTIFY, 62, 0x4000), 0);
	rig_wait(&r, 1000);
	assert_int_equal(rig_cfg_get(&r, 0, FORTH_CFG_STATUS, 2), 0x2430);
	assert_int_equal(rig_r32(&r, 0, FORTH_DESC_ERR), 1);
	assert_int_equal(rig_r32(&r, 0, FORTH_N2H_DMA_OPS), 0);
	assert_int_equal(rig_r32(&r, 0, FORTH_REMOTE_NOTIFY), 0);
	forth_port_counts(&r.sink->link);
	assert_int_equal(r.sink->link.tx[0].acked, 128);
	rig_free(&r);
}

/* A run may end with packets that a disabled engine has not written. Net2Host
 * then holds the words of these packets, headers included. */
static void packets_may_lie_in_net2host_at_the_end(void **state)
{
	struct rig r;

	open_rig(&r, "tr-switch", "");
	rig_w32(&r, 0, FORTH_CONTROL, 0);
	for (uint32_t i = 0; i < 3; i++)
		rig_send(&r, rig_cc(&r) + 1 + 200 * i,
			 forth_header(0, 0, 5 + i, DST), 0);
	rig_wait(&r, 2000);
	assert_int_equal(rig_r32(&r, 0, FORTH_NET_ENQ_WORDS), 6 + 7 + 8);
	assert_int_equal(rig_r32(&r, 0, FORTH_N2H_DMA_OPS), 0);
	rig_free(&r);
}

/* Notification words are carried even in runs without payload, because programs
 * wait for them. */
static void test_payload_off(void **state)
{
	struct rig r;

	open_rig(&r, "plat-switch", "");
	weft_sim_set_payload(r.sim, false);
	rig_post(&r, 0, 0, 0, SRC, q1(0, 3, FORTH_DESC_LNOTIFY));
	rig_send(&r, rig_cc(&r) + 1,
		 forth_header(0, FORTH_HDR_REMOTE_NOTIFY, 3, (uint32_t)DST), 9);
	rig_wait(&r, 1000);
	assert_true(rig_mem64(&r, 0, RIG_LNOTIFY) ==
		    forth_lnotify_pack(1, 0, 1));
	assert_int_equal(rig_mem64(&r, 0, RIG_RNOTIFY), 1);
	assert_int_equal(rig_mem64(&r, 0, DST), 0);
	rig_free(&r);
}

/* ---- counters and sampler ---- */

static void test_net_counters(void **state)
{
	struct rig r;

	open_rig(&r, "tr-switch", "sink.lanes=8 sink.cap=512 refresh_cc=0");
	rig_post(&r, 0, 0, 0, SRC, q1(1, 3, 0));
	rig_wait(&r, 500);
	assert_int_equal(rig_r32(&r, 0, FORTH_NET_OUT_CYCLES), 11);
	assert_int_equal(rig_r32(&r, 0, FORTH_NET_OUT_CYCLES), 0);
	assert_int_equal(rig_r32(&r, 0, FORTH_NET_OUT_PACKETS), 1);
	assert_int_equal(rig_r32(&r, 0, FORTH_NET_DEQ_WORDS), 5);
	assert_int_equal(rig_r32(&r, 0, FORTH_H2NET_START), 1);
	/* a store to another counter is ignored, but a store to 0x80 clears all
	 * counters */
	rig_post(&r, 0, 0, 1, SRC, q1(1, 3, 0));
	rig_send(&r, rig_cc(&r) + 1, forth_header(0, 0, 3, (uint32_t)DST), 0);
	rig_wait(&r, 500);
	rig_w32(&r, 0, FORTH_NET_OUT_PACKETS, 77);
	assert_int_equal(rig_r32(&r, 0, FORTH_NET_DEQ_WORDS), 5);
	rig_w32(&r, 0, FORTH_NET_OUT_CYCLES, 1);
	for (uint32_t off = 0x80; off <= 0xC8; off += 4)
		assert_int_equal(rig_r32(&r, 0, off), 0);
	rig_free(&r);

	open_rig(&r, "tr-switch", "netcnt_read_clears=false sink.lanes=8");
	rig_post(&r, 0, 0, 0, SRC, q1(1, 3, 0));
	rig_wait(&r, 500);
	assert_int_equal(rig_r32(&r, 0, FORTH_NET_OUT_PACKETS), 1);
	assert_int_equal(rig_r32(&r, 0, FORTH_NET_OUT_PACKETS), 1);
	rig_free(&r);
}

/* Returns the number of qwords that a 4 KB read has moved `pc` PCI clocks after
 * its REQ#. 192 qwords move from clock 60 on, 192 from clock 262 on, 128 from
 * clock 464 on. */
static uint32_t read_by(uint32_t pc)
{
	uint32_t sum = 0, start[] = { 60, 262, 464 }, n[] = { 192, 192, 128 };

	for (uint32_t i = 0; i < 3; i++)
		if (pc > start[i])
			sum += pc - start[i] < n[i] ? pc - start[i] : n[i];
	return sum;
}

static void test_sampler_counts_qwords_per_interval(void **state)
{
	struct rig r;

	open_rig(&r, "tr-direct", "sink.cap=1023");
	rig_w32(&r, 0, FORTH_SAMPLE_INTERVAL, 37);
	rig_w32(&r, 0, FORTH_SAMPLE_COUNT, 20);
	rig_wait(&r, 200);
	assert_int_equal(rig_r32(&r, 0, FORTH_SAMPLE_DATA), 0); /* waits */
	rig_w32(&r, 0, FORTH_SAMPLE_DATA, 0);
	rig_post(&r, 0, 0, 0, SRC, q1(1, 512, 0));
	rig_wait(&r, 2000);
	for (uint32_t i = 1; i <= 20; i++) {
		assert_int_equal(rig_r32(&r, 0, FORTH_SAMPLE_DATA),
				 read_by(37 * i));
		assert_int_equal(rig_r32(&r, 0, FORTH_SAMPLE_DATA), 0);
	}
	assert_int_equal(rig_r32(&r, 0, FORTH_SAMPLE_DATA), 0); /* the end */
	rig_w32(&r, 0, FORTH_SAMPLE_DATA, 2 * 4);
	assert_int_equal(rig_r32(&r, 0, FORTH_SAMPLE_DATA), read_by(37 * 5));
	/* incoming direction, all 2048 samples */
	rig_w32(&r, 0, FORTH_SAMPLE_INTERVAL, 1);
	rig_w32(&r, 0, FORTH_SAMPLE_COUNT, 5000);
	assert_int_equal(rig_r32(&r, 0, FORTH_SAMPLE_COUNT), 2048);
	rig_send(&r, rig_cc(&r) + 1, forth_header(0, 0, 64, (uint32_t)DST), 0);
	rig_wait(&r, 3000);
	rig_w32(&r, 0, FORTH_SAMPLE_DATA, 2 * 40 + 1);
	/* sample 40 is 41 PCI cycles after REQ#. The first 10 of these cycles
	 * move no data, and each later cycle moves one qword */
	assert_int_equal(rig_r32(&r, 0, FORTH_SAMPLE_DATA), 31);
	rig_w32(&r, 0, FORTH_SAMPLE_DATA, 2 * 2047 + 1);
	assert_int_equal(rig_r32(&r, 0, FORTH_SAMPLE_DATA), 64);
	/* the read index wraps: the first sample follows the last one */
	for (uint32_t i = 0; i < 2 * 40 + 1; i++)
		rig_r32(&r, 0, FORTH_SAMPLE_DATA);
	assert_int_equal(rig_r32(&r, 0, FORTH_SAMPLE_DATA), 31);
	rig_w32(&r, 0, FORTH_SAMPLE_DATA, 2 * 2048 + 2 * 40 + 1);
	assert_int_equal(rig_r32(&r, 0, FORTH_SAMPLE_DATA), 31);
	/* a single sample */
	rig_w32(&r, 0, FORTH_SAMPLE_INTERVAL, 100);
	rig_w32(&r, 0, FORTH_SAMPLE_COUNT, 1);
	rig_post(&r, 0, 0, 1, SRC, q1(1, 512, 0));
	rig_wait(&r, 2000);
	rig_w32(&r, 0, FORTH_SAMPLE_DATA, 0);
	assert_int_equal(rig_r32(&r, 0, FORTH_SAMPLE_DATA), read_by(100));
	rig_free(&r);
}

/* ---- loopback and reset (2.6, V26) ---- */

static void test_loopback_delivers_behind_switched_traffic(void **state)
{
	struct rig r;

	open_rig(&r, "tr-switch", "sink.lanes=8 sink.cap=512");
	rig_w32(&r, 0, FORTH_CONTROL, FORTH_CTL_ENABLE | FORTH_CTL_LOOP);
	for (uint32_t i = 0; i < 40; i++) {
		rig_mem_set64(&r, 0, SRC, i);
		rig_post(&r, 0, 0, i, SRC, q1(3, 62, FORTH_DESC_RNOTIFY));
		rig_wait(&r, 400);
		assert_int_equal(rig_mem64(&r, 0, DST), i);
	}
	assert_int_equal(r.sink->n_log, 0);
	assert_true(rig_mem64(&r, 0, RIG_RNOTIFY) == (40 | 3ull << 32));
	/* other codes of the field are normal operation */
	rig_w32(&r, 0, FORTH_CONTROL, FORTH_CTL_ENABLE | 1u << 30);
	rig_post(&r, 0, 0, 40, SRC, q1(3, 3, 0));
	rig_wait(&r, 500);
	assert_int_equal(r.sink->n_log, 1);
	rig_free(&r);
}

/* After a reset under load in both directions, the FIFOs are empty, the credits
 * are consistent, and the NIC continues. */
static void test_reset_under_load_leaves_credits_consistent(void **state)
{
	for (uint32_t when = 100; when < 900; when += 13) {
		struct rig r;
		uint32_t sent, c;

		open_rig(&r, "plat-switch", "sink.lanes=8 sink.cap=512");
		for (uint32_t i = 0; i < 12; i++) {
			rig_send(&r, rig_cc(&r) + 1,
				 forth_header(0, FORTH_HDR_REMOTE_NOTIFY, 40,
					      (uint32_t)DST),
				 0);
			rig_post(&r, 0, i % 4, i / 4, SRC,
				 q1(i % 4, 200, FORTH_DESC_LNOTIFY));
		}
		rig_wait(&r, when);
		rig_w32(&r, 0, FORTH_CONTROL, FORTH_CTL_RESET);
		rig_w32(&r, 0, FORTH_CONTROL, FORTH_CTL_POINTER_RESET);
		rig_wait(&r, 4000); /* the remaining packets arrive */
		rig_w32(&r, 0, FORTH_CONTROL, FORTH_CTL_RESET);
		rig_wait(&r, 500);
		sent = r.sink->n_log;
		/* all credits of the 12 packets have returned to the sink */
		assert_int_equal(r.sink->n_start, 12);
		forth_port_counts(&r.sink->link);
		assert_int_equal(r.sink->link.tx[0].acked, 12 * 84 / 32 * 32);
		rig_w32(&r, 0, FORTH_N2H_DMA_OPS, 0);
		rig_w32(&r, 0, FORTH_CONTROL, FORTH_CTL_ENABLE);
		rig_wait(&r, 3000);
		assert_int_equal(r.sink->n_log, sent); /* nothing left over */
		assert_int_equal(rig_r32(&r, 0, FORTH_N2H_DMA_OPS), 0);
		rig_mem_set64(&r, 0, SRC, when);
		rig_post(&r, 0, 2, 0, SRC, q1(2, 3, FORTH_DESC_LNOTIFY));
		rig_send(&r, rig_cc(&r) + 1,
			 forth_header(0, 0, 3, (uint32_t)DST), when);
		rig_wait(&r, 1000);
		assert_int_equal(r.sink->log[sent].q[0], when);
		assert_int_equal(rig_mem64(&r, 0, DST), when);
		c = rig_r32(&r, 0, FORTH_CREDIT_STATE + 8);
		assert_int_equal(c & 0xFE0, c >> 16);
		rig_free(&r);
	}
}

/* 5.7: a port reset on both sides clears words that were charged and never
 * returned. Nothing is in flight at that time. */
static void port_reset_on_both_sides_frees_a_flow_without_credits(void **state)
{
	struct rig r;

	open_rig(&r, "tr-switch", "sink.lanes=8 sink.cap=512 sink.stop=true");
	assert_int_equal(rig_r32(&r, 0, FORTH_PORT), 8);
	for (uint32_t i = 0; i < 8; i++)
		rig_post(&r, 0, 0, i, SRC, q1(3, 62, 0));
	rig_wait(&r, 5000);
	/* the sink keeps 512 words and never returns them */
	assert_int_equal(r.sink->n_log, 4);
	assert_int_equal(rig_r32(&r, 0, FORTH_CREDIT_STATE + 12), 512);
	forth_port_credit_reset(&r.sink->link);
	rig_w32(&r, 0, FORTH_PORT, 1);
	rig_wait(&r, 5000);
	assert_int_equal(r.sink->n_log, 8);
	assert_int_equal(rig_r32(&r, 0, FORTH_CREDIT_STATE + 12), 512);
	rig_free(&r);
}

/* 4.9: the link of a NIC is in sync 24 + 16 cycles of 12.8 ns after power-up.
 * At that time a transfer leaves that was posted earlier. */
static void link_state_shows_synchronisation_at_power_up(void **state)
{
	struct rig r;

	rig_pair(&r, "tr-direct", "link.powerup=yes");
	rig_setup(&r, 0);
	rig_setup(&r, 1);
	rig_post(&r, 0, 0, 0, SRC, q1(0, 3, 0));
	assert_in_range(rig_pc(&r), 1, 49);
	rig_run_pc(&r, 50);
	assert_int_equal(rig_r32(&r, 0, FORTH_LINK_STATE), 0);
	assert_int_equal(rig_pc(&r), 51);
	assert_int_equal(rig_r32(&r, 0, FORTH_LINK_STATE), 1);
	rig_wait(&r, 500);
	assert_int_equal(rig_r32(&r, 1, FORTH_NET_IN_PACKETS), 1);
	assert_int_equal(rig_r32(&r, 1, FORTH_UNSYNC), 0);
	rig_free(&r);
	rig_pair(&r, "tr-direct", "");
	rig_setup(&r, 0);
	assert_in_range(rig_pc(&r), 1, 49);
	assert_int_equal(rig_r32(&r, 0, FORTH_LINK_STATE), 1);
	rig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_local_read),
		cmocka_unit_test(test_local_departed),
		cmocka_unit_test(test_local_in_order),
		cmocka_unit_test(
			test_remote_interrupt_follows_data_and_notification),
		cmocka_unit_test(test_bad_body),
		cmocka_unit_test(registers_count_what_the_transceiver_sees),
		cmocka_unit_test(test_bad_header),
		cmocka_unit_test(test_packet_without_room_is_lost_and_counted),
		cmocka_unit_test(test_write_abort),
		cmocka_unit_test(packets_may_lie_in_net2host_at_the_end),
		cmocka_unit_test(test_payload_off),
		cmocka_unit_test(test_net_counters),
		cmocka_unit_test(test_sampler_counts_qwords_per_interval),
		cmocka_unit_test(
			test_loopback_delivers_behind_switched_traffic),
		cmocka_unit_test(
			test_reset_under_load_leaves_credits_consistent),
		cmocka_unit_test(link_state_shows_synchronisation_at_power_up),
		cmocka_unit_test(
			port_reset_on_both_sides_frees_a_flow_without_credits),
	};

	return cmocka_run_group_tests_name("forth-notify", tests, NULL, NULL);
}
