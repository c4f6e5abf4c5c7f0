/* SPDX-License-Identifier: Apache-2.0 */
/* Data path of forth.nic, cycle by cycle: pipeline stages (F11), bus counters
 * (F02, F04, F06), cut-through (V20), credits (F13), overlap, byte-count
 * limits (V18), segmentation and padding (V21, R-40). */
#include "unit/cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "rig.h"

#define SRC (RIG_MEM + 0x10000)
#define DST (RIG_MEM + 0x20000u)
#define SER 24u

static void open_rig(struct rig *r, const char *preset, const char *set)
{
	rig_single(r, preset, set);
	rig_setup(r, 0);
}

/* Returns the first NET edge at or after a PCI edge. */
static uint64_t cc_of_pc(const struct rig *r, uint64_t pc)
{
	return weft_clock_cycle(&r->sink->link.clk,
				weft_clock_edge(&r->n[0].bus->clock, pc));
}

static uint64_t counter(const struct rig *r, uint32_t node, const char *name)
{
	const struct weft_comp *c = r->n[node].nic;

	for (uint32_t i = 0; i < c->cls->n_counters; i++)
		if (!strcmp(c->cls->counters[i].name, name))
			return c->counters[i];
	fail_msg("no counter %s", name);
	return 0;
}

/* ---- pipeline (forth.md 11.6) ---- */

/* Returns the number of PCI cycles from the descriptor write to the start on
 * the link, in benchmark mode. */
static uint32_t latency(uint32_t qwords, const char *set)
{
	struct rig r;
	uint64_t t, q0;

	open_rig(&r, "plat-switch", set);
	rig_w32(&r, 0, FORTH_BENCH, FORTH_BENCH_ON | FORTH_BENCH_ZERO);
	t = rig_post(&r, 0, 2, 0, 0,
		     forth_desc_q1(2, qwords, (uint32_t)DST, FORTH_DESC_START));
	rig_wait(&r, 1000);
	assert_int_equal(r.sink->n_log, 1);
	q0 = r.sink->log[0].q[0];
	assert_int_equal(forth_stamp_hi(q0), t); /* ts1 */
	assert_int_equal(r.sink->log[0].cycle,
			 cc_of_pc(&r, forth_stamp_lo(q0)) + SER);
	assert_int_equal(r.sink->log[0].q[1], 0);
	/* the stamp has source node 0 and number 0 */
	assert_int_equal(r.sink->log[0].q[2], 0);
	if (qwords > 3)
		assert_int_equal(r.sink->log[0].q[3], 0);
	assert_int_equal(r.n[0].bus->n_log, 0); /* no payload read */
	rig_free(&r);
	return forth_stamp_lo(q0) - forth_stamp_hi(q0);
}

static void test_latency_is_the_sum_of_stage_parameters(void **state)
{
	assert_int_equal(latency(3, ""), 16);
	assert_int_equal(latency(64, ""), 77);
	assert_int_equal(latency(3, "t_desc=4"), 17);
	assert_int_equal(latency(3, "t_sync_dv=0"), 13);
	assert_int_equal(latency(3, "t_sync_vl=0"), 13);
	assert_int_equal(latency(3, "t_linkstart=0"), 14);
}

/* 11.13: outside benchmark mode a transfer takes longer by read(q), the time of
 * its read. tr-* presets have no stage for a VOQ. */
static void test_read_latency(void **state)
{
	static const struct {
		const char *preset;
		uint32_t qwords, pcs;
	} rows[] = {
		{ "plat-switch", 3, 16 + 63 },
		{ "plat-switch", 64, 77 + 124 },
		{ "tr-switch", 3, 3 + 63 + 5 },
		{ "tr-switch", 62, 3 + 122 + 5 },
		{ "tr-direct", 512, 3 + 592 + 5 },
	};

	for (uint32_t i = 0; i < 5; i++) {
		struct rig r;
		uint64_t t;

		open_rig(&r, rows[i].preset, "");
		t = rig_post(&r, 0, 0, 0, SRC,
			     forth_desc_q1(0, rows[i].qwords, (uint32_t)DST,
					   FORTH_DESC_START));
		rig_wait(&r, 2000);
		assert_int_equal(r.n[0].bus->log[0].req, t + 3);
		assert_int_equal(r.sink->log[0].cycle,
				 cc_of_pc(&r, t + rows[i].pcs) + SER);
		rig_free(&r);
	}
}

/* Packets from one FIFO follow back to back, without idle words (11.8). */
static void test_back_to_back(void **state)
{
	struct rig r;

	open_rig(&r, "tr-switch", "sink.lanes=8 sink.cap=512");
	rig_w32(&r, 0, FORTH_CONTROL, 0);
	for (uint32_t i = 0; i < 20; i++)
		rig_post(&r, 0, 0, i, SRC,
			 forth_desc_q1(1, 62, (uint32_t)DST,
				       i == 19 ? FORTH_DESC_START : 0));
	rig_w32(&r, 0, FORTH_CONTROL, FORTH_CTL_ENABLE);
	rig_wait(&r, 5000);
	assert_int_equal(r.sink->n_log, 20);
	for (uint32_t i = 1; i < 20; i++)
		assert_int_equal(
			r.sink->log[i].cycle - r.sink->log[i - 1].cycle, 129);
	rig_free(&r);
}

/* 11.9: two packets of 514 words do not fit into Host2Net together. The second
 * read starts when five words of the first packet have left. Beats on the link:
 * delimiter, header, CRC, then payload. */
static void test_host2net_room(void **state)
{
	struct rig r;
	uint64_t sop;

	open_rig(&r, "tr-direct", "sink.cap=1023");
	rig_post(&r, 0, 0, 0, SRC, forth_desc_q1(1, 512, (uint32_t)DST, 0));
	rig_post(&r, 0, 0, 1, SRC,
		 forth_desc_q1(1, 512, (uint32_t)DST, FORTH_DESC_START));
	rig_wait(&r, 3000);
	sop = r.sink->log[0].cycle - SER;
	/* the header word and four payload words have left after 3 + 4 beats,
	 * and Check follows */
	assert_int_equal(
		r.n[0].bus->log[1].req,
		weft_clock_cycle(&r.n[0].bus->clock,
				 weft_clock_edge(&r.sink->link.clk, sop + 7)) +
			3);
	assert_int_equal(counter(&r, 0, "no_room"), 1);
	rig_free(&r);
}

/* ---- bus counters (2.5) ---- */

static void test_read_counters(void **state)
{
	struct rig r;

	open_rig(&r, "tr-direct", "sink.cap=1023");
	rig_w32(&r, 0, FORTH_CUM_TIMER, 1000);
	rig_wait(&r, 100);
	assert_int_equal(rig_r32(&r, 0, FORTH_CUM_TIMER), 1000);
	rig_post(&r, 0, 0, 0, SRC,
		 forth_desc_q1(1, 512, (uint32_t)DST, FORTH_DESC_START));
	rig_wait(&r, 90); /* wait until the NIC waits for the completion */
	assert_int_equal(rig_r32(&r, 0, FORTH_H2N_DMA_ACTIVE), 88);
	assert_int_equal(rig_r32(&r, 0, FORTH_CUM_TIMER), 1000);
	rig_wait(&r, 2000);
	assert_int_equal(rig_r32(&r, 0, FORTH_H2N_DMA_OPS), 1);
	assert_int_equal(rig_r32(&r, 0, FORTH_H2N_REQ), 1);
	assert_int_equal(rig_r32(&r, 0, FORTH_H2N_QWORD), 512);
	assert_int_equal(rig_r32(&r, 0, FORTH_H2N_DMA_ACTIVE), 592 + 1);
	/* clocks: request 4, three completions of 4, and the data */
	assert_int_equal(rig_r32(&r, 0, FORTH_H2N_BUS_GRANTED), 4 + 12 + 512);
	assert_int_equal(rig_r32(&r, 0, FORTH_SPLIT_OPS), 1);
	assert_int_equal(rig_r32(&r, 0, FORTH_SPLIT_DURATION), 50);
	assert_int_equal(rig_r32(&r, 0, FORTH_CUM_TIMER), 1592);
	assert_int_equal(rig_r32(&r, 0, FORTH_N2H_DMA_OPS), 0);
	assert_int_equal(rig_r32(&r, 0, FORTH_H2NET_START), 1);
	/* a store sets the counter, which continues from that value */
	rig_w32(&r, 0, FORTH_H2N_DMA_OPS, 0xFFFFFFFF);
	rig_post(&r, 0, 0, 1, SRC,
		 forth_desc_q1(1, 3, (uint32_t)DST, FORTH_DESC_START));
	rig_wait(&r, 300);
	assert_int_equal(rig_r32(&r, 0, FORTH_H2N_DMA_OPS), 0);
	rig_free(&r);
}

static void test_write_counters(void **state)
{
	struct rig r;

	open_rig(&r, "tr-direct", "sink.cap=1023");
	rig_w32(&r, 0, FORTH_CUM_TIMER, 0);
	rig_send(&r, rig_cc(&r) + 10, forth_header(0, 0, 512, (uint32_t)DST),
		 7000);
	rig_wait(&r, 3000);
	assert_int_equal(rig_r32(&r, 0, FORTH_N2H_DMA_OPS), 1);
	assert_int_equal(rig_r32(&r, 0, FORTH_N2H_REQ), 3);
	assert_int_equal(rig_r32(&r, 0, FORTH_N2H_QWORD), 512);
	assert_int_equal(rig_r32(&r, 0, FORTH_CUM_TIMER), 570); /* F02 */
	assert_int_equal(rig_r32(&r, 0, FORTH_N2H_DMA_ACTIVE), 571);
	assert_int_equal(rig_r32(&r, 0, FORTH_N2H_BUS_GRANTED), 512 + 12);
	assert_int_equal(rig_r32(&r, 0, FORTH_N2H_DISC), 0);
	for (uint32_t i = 0; i < 512; i++)
		assert_int_equal(rig_mem64(&r, 0, DST + 8 * i), 7000 + i);
	assert_int_equal(rig_r32(&r, 0, FORTH_NET_IN_PACKETS), 1);
	assert_int_equal(rig_r32(&r, 0, FORTH_NET_ENQ_WORDS), 513);
	assert_int_equal(rig_r32(&r, 0, FORTH_NET2H_START), 1);
	rig_free(&r);
}

/* V18: a long read is a sequence of reads of at most the byte count, each with
 * its own split. */
static void test_read_byte_count(void **state)
{
	static const uint32_t splits[4] = { 8, 4, 2, 1 };

	for (uint32_t m = 0; m < 4; m++) {
		struct rig r;

		open_rig(&r, "tr-direct", "sink.cap=1023");
		rig_cfg(&r, 0, FORTH_CFG_PCIX_CMD, 2,
			m << FORTH_PCIX_CMD_MMRBC_SHIFT);
		rig_post(
			&r, 0, 0, 0, SRC,
			forth_desc_q1(1, 512, (uint32_t)DST, FORTH_DESC_START));
		rig_wait(&r, 4000);
		assert_int_equal(rig_r32(&r, 0, FORTH_SPLIT_OPS), splits[m]);
		assert_int_equal(rig_r32(&r, 0, FORTH_H2N_REQ), splits[m]);
		assert_int_equal(rig_r32(&r, 0, FORTH_SPLIT_DURATION),
				 50 * splits[m]);
		assert_int_equal(rig_r32(&r, 0, FORTH_H2N_DMA_OPS), 1);
		rig_free(&r);
	}
}

/* V18: latency timer 0x20 lets 256 bytes through after the grant is lost. */
static void test_latency_timer(void **state)
{
	static const struct {
		uint32_t timer, disc;
	} rows[] = { { 0x20, 15 }, { 0xFE, 0 } };

	for (uint32_t i = 0; i < 2; i++) {
		struct rig r;

		open_rig(&r, "tr-direct", "sink.cap=1023 bus.contend=true");
		rig_cfg(&r, 0, FORTH_CFG_LATENCY, 1, rows[i].timer);
		rig_send(&r, rig_cc(&r) + 10,
			 forth_header(0, 0, 512, (uint32_t)DST), 0);
		rig_wait(&r, 4000);
		assert_int_equal(rig_r32(&r, 0, FORTH_N2H_DISC), rows[i].disc);
		assert_int_equal(rig_r32(&r, 0, FORTH_N2H_DMA_OPS), 1);
		assert_int_equal(rig_r32(&r, 0, FORTH_N2H_REQ),
				 rows[i].disc ? 16 : 3);
		rig_free(&r);
	}
}

/* ---- cut-through (4.11, R-24) ---- */

/* quarters of a packet that must arrive, from the table of 4.11 */
static const struct ct_row {
	uint32_t links;
	const char *clock;
	uint32_t quarters;
} ct_rows[] = {
	{ 1, "66.6666666666MHz", 2 }, { 1, "100MHz", 3 },
	{ 1, "133.333333333MHz", 3 }, { 2, "66.6666666666MHz", 0 },
	{ 2, "100MHz", 1 },	      { 2, "133.333333333MHz", 2 },
	{ 4, "66.6666666666MHz", 0 }, { 4, "100MHz", 0 },
	{ 4, "133.333333333MHz", 0 },
};

static void ct_open(struct rig *r, const struct ct_row *row, const char *more)
{
	char set[256];

	snprintf(set, sizeof(set),
		 "links=%u bus.clock=%s sink.cap=%u "
		 "max_payload=4096 %s",
		 row->links, row->clock, 2046 / row->links, more);
	open_rig(r, "tr-direct", set);
}

static void test_cut_through(void **state)
{
	static const uint32_t sizes[] = { 1, 3, 31, 64, 511, 512 };

	for (uint32_t i = 0; i < 9; i++) {
		struct rig r;

		ct_open(&r, &ct_rows[i], "");
		for (uint32_t k = 0; k < 6; k++) {
			uint32_t p, wait;
			uint64_t in;

			rig_send(&r, rig_cc(&r) + 11,
				 forth_header(0, 0, sizes[k], (uint32_t)DST),
				 k);
			rig_wait(&r, 2000);
			p = forth_words(FORTH_WORD, ct_rows[i].links,
					sizes[k] * 8);
			wait = (ct_rows[i].quarters * p + 3) / 4;
			in = r.sink->start[k] + SER + 5 + wait;
			assert_int_equal(
				r.n[0].bus->log[k].req,
				weft_clock_cycle(
					&r.n[0].bus->clock,
					weft_clock_edge(&r.sink->link.clk,
							in)));
			assert_int_equal(rig_mem64(&r, 0, DST), k);
		}
		assert_int_equal(counter(&r, 0, "rx_underruns"), 0);
		rig_free(&r);
	}
}

/* With one quarter less than the table gives, the initiator would have to wait
 * for words. */
static void test_cut_through_is_tight(void **state)
{
	static const char *const less[] = { "ct_q=0", "ct_q=0", "ct_q=1/4",
					    "ct_q=1/2" };

	for (uint32_t i = 0; i < 9; i++) {
		struct rig r;

		if (!ct_rows[i].quarters)
			continue;
		ct_open(&r, &ct_rows[i], less[ct_rows[i].quarters]);
		rig_send(&r, rig_cc(&r) + 11,
			 forth_header(0, 0, 512, (uint32_t)DST), 0);
		rig_wait(&r, 4000);
		assert_true(counter(&r, 0, "rx_underruns") > 0);
		rig_free(&r);
	}
}

/* ---- credits (11.7) ---- */

/* Returns the number of NET cycles from the first word sent to the updated
 * credit, for a packet of P words of 64 bits. */
static uint32_t rtt(uint32_t p)
{
	struct rig r;
	uint64_t sop, cc;
	uint32_t qwords = p - 4;

	rig_pair(&r, "tr-direct", "");
	rig_setup(&r, 0);
	rig_setup(&r, 1);
	rig_post(&r, 0, 0, 0, SRC,
		 forth_desc_q1(1, qwords, (uint32_t)DST, FORTH_DESC_START));
	while (!rig_r32(&r, 0, FORTH_NET_OUT_PACKETS))
		;
	/* the packet left at the NET edge before the present PCI edge */
	sop = weft_sim_now(r.sim) / 12800000;
	while (!(rig_r32(&r, 0, FORTH_CREDIT_STATE) >> 16))
		;
	cc = weft_sim_now(r.sim) / 12800000;
	rig_wait(&r, 2000);
	rig_free(&r);
	return (uint32_t)(cc - sop);
}

static void test_round_trip(void **state)
{
	static const uint32_t sizes[] = { 36, 64, 128, 512 };

	for (uint32_t i = 0; i < 4; i++) {
		uint32_t want = 90 + sizes[i] / 4, got = rtt(sizes[i]);

		assert_in_range(got, want - 3, want + 3);
	}
}

/* All credits return in any bundle: T = F' up to the granularity. */
static void test_credit_balance(void **state)
{
	static const char *const presets[] = { "tr-direct", "plat-direct4" };

	for (uint32_t i = 0; i < 2; i++) {
		struct rig r;
		uint32_t t, f;

		rig_pair(&r, presets[i], "");
		rig_setup(&r, 0);
		rig_setup(&r, 1);
		for (uint32_t k = 0; k < 40; k++) {
			rig_post(&r, 0, 0, k, SRC,
				 forth_desc_q1(1, 1 + k * 13 % 512,
					       (uint32_t)DST,
					       FORTH_DESC_START));
			rig_wait(&r, 500);
		}
		rig_wait(&r, 10000);
		t = rig_r32(&r, 0, FORTH_CREDIT_STATE) & 0xFFF;
		f = rig_r32(&r, 0, FORTH_CREDIT_STATE) >> 16;
		assert_int_equal(f % 32, 0);
		assert_int_equal(t & ~31u, f);
		assert_int_equal(rig_r32(&r, 1, FORTH_N2H_DMA_OPS), 40);
		rig_free(&r);
	}
}

/* ---- overlap (R-27) ---- */

static void overlap(const char *set, bool in_gap)
{
	struct rig r;
	const struct tbus_op *read, *write;
	uint64_t t;

	open_rig(&r, "tr-switch", set);
	t = rig_post(&r, 0, 0, 0, SRC,
		     forth_desc_q1(0, 62, (uint32_t)DST, FORTH_DESC_START));
	/* the packet is ready 24 + 5 + 9 NET cycles later, while the NIC waits
	 * for the split completion */
	rig_send(&r, rig_cc(&r) + 1, forth_header(0, 0, 3, (uint32_t)DST), 1);
	rig_wait(&r, 1000);
	read = &r.n[0].bus->log[0];
	write = &r.n[0].bus->log[1];
	assert_int_equal(read->op, WEFT_BUS_READ);
	assert_int_equal(read->req, t + 3);
	assert_int_equal(write->op, WEFT_BUS_WRITE);
	if (in_gap) {
		assert_true(write->req >= read->req + 10);
		assert_true(write->req < read->req + 60);
		assert_int_equal(counter(&r, 0, "gap_writes"), 1);
	} else {
		assert_int_equal(write->req, read->done + 1);
		assert_int_equal(counter(&r, 0, "gap_writes"), 0);
	}
	/* A write during the wait does not end the wait. The completion comes
	 * after the write. The first word of the completion comes 10 clocks
	 * later, as after the split response. */
	assert_int_equal(rig_r32(&r, 0, FORTH_SPLIT_OPS), 1);
	assert_int_equal(rig_r32(&r, 0, FORTH_SPLIT_DURATION),
			 in_gap ? write->done - read->req : 50);
	rig_free(&r);
}

static void test_write_uses_the_split_wait_of_a_read(void **state)
{
	overlap("", true);
	overlap("rw_overlap=false", false);
}

/* Both directions always request the engine, so that they alternate. */
static void test_in_out_round_robin(void **state)
{
	struct rig r;
	uint32_t writes = 0;

	open_rig(&r, "tr-switch", "rw_overlap=false");
	rig_w32(&r, 0, FORTH_CONTROL, 0);
	for (uint32_t i = 0; i < 10; i++) {
		rig_send(&r, rig_cc(&r) + 1,
			 forth_header(0, 0, 3, (uint32_t)DST), 1);
		rig_post(&r, 0, 0, i, SRC,
			 forth_desc_q1(0, 3, (uint32_t)DST, FORTH_DESC_START));
	}
	rig_wait(&r, 1000);
	rig_w32(&r, 0, FORTH_CONTROL, FORTH_CTL_ENABLE);
	rig_wait(&r, 5000);
	assert_int_equal(r.n[0].bus->n_log, 20);
	for (uint32_t i = 0; i < 20; i++) {
		writes += r.n[0].bus->log[i].op == WEFT_BUS_WRITE;
		assert_in_range(writes, (i + 1) / 2, (i + 2) / 2);
	}
	rig_free(&r);
}

/* ---- segmentation (6.4, R-40) ---- */

static void segments(const char *set, uint32_t bytes, const uint32_t *len,
		     uint32_t n)
{
	struct rig r;
	uint32_t at = 0;

	open_rig(&r, "plat-switch", set);
	for (uint32_t i = 0; i < bytes / 8; i++)
		rig_mem_set64(&r, 0, SRC + 8 * i, 0xA000 + i);
	rig_post(&r, 0, 3, 0, SRC,
		 forth_desc_q1(3, bytes / 8, (uint32_t)DST,
			       FORTH_DESC_START | FORTH_DESC_RNOTIFY |
				       FORTH_DESC_RIRQ));
	rig_wait(&r, 4000);
	assert_int_equal(r.sink->n_log, n);
	for (uint32_t i = 0; i < n; i++) {
		const struct tsink_pkt *p = &r.sink->log[i];
		uint64_t flags = i + 1 == n ? FORTH_HDR_REMOTE_NOTIFY |
						      FORTH_HDR_REMOTE_IRQ
					    : 0;

		assert_true(p->header == forth_header(3, flags, len[i] / 8,
						      (uint32_t)DST + at));
		assert_int_equal(p->len, len[i]);
		assert_int_equal(p->q[0], 0xA000 + at / 8);
		assert_int_equal(p->words, (len[i] < 24 ? 24 : len[i]) / 4 + 5);
		at += len[i];
	}
	rig_free(&r);
}

static void test_transfer_is_cut_at_max_payload(void **state)
{
	static const uint32_t eight[] = {
		512, 512, 512, 512, 512, 512, 512, 512
	};
	static const uint32_t nine[] = { 496, 496, 496, 496, 496,
					 496, 496, 496, 128 };
	static const uint32_t tail[] = { 512, 8 };
	static const uint32_t tiny[] = { 8 };

	segments("", 4096, eight, 8);
	segments("max_payload=496", 4096, nine, 9);
	/* a transfer of 520 bytes ends with a packet of 8 bytes, which is
	 * padded to 24 bytes on the wire */
	segments("", 520, tail, 2);
	segments("", 8, tiny, 1);
}

static void post_62(struct rig *r, uint32_t slot, uint64_t word)
{
	rig_mem_set64(r, 0, SRC, word);
	rig_post(r, 0, 2, slot, SRC,
		 forth_desc_q1(2, 62, (uint32_t)DST, FORTH_DESC_START));
}

/* software resets the engine in each cycle of a transfer. The next read
 * waits for the end of the read that the reset has left on the bus. The next
 * transfer arrives. */
static void a_reset_in_any_cycle_lets_the_bus_finish_its_read(void **state)
{
	uint32_t waited = 0;

	for (uint32_t when = 1; when < 200; when++) {
		struct rig r;

		open_rig(&r, "plat-switch",
			 when % 2 ? "bus.ahead=yes" : "bus.ahead=no");
		post_62(&r, 0, 1);
		rig_wait(&r, when);
		rig_w32(&r, 0, FORTH_CONTROL,
			FORTH_CTL_RESET | FORTH_CTL_ENABLE);
		rig_wait(&r, 500);
		post_62(&r, 1, 2);
		rig_wait(&r, 500);
		for (uint32_t i = 1; i < r.n[0].bus->n_log; i++) {
			const struct tbus_op *op = &r.n[0].bus->log[i];

			assert_in_range(op->req, op[-1].done, UINT32_MAX);
			waited += op->req < op[-1].done + 20;
		}
		assert_in_range(r.sink->n_log, 1, 3);
		assert_int_equal(r.sink->log[r.sink->n_log - 1].q[0], 2);
		rig_free(&r);
	}
	print_message("%u reads waited\n", waited);
	assert_int_not_equal(waited, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_latency_is_the_sum_of_stage_parameters),
		cmocka_unit_test(test_read_latency),
		cmocka_unit_test(test_back_to_back),
		cmocka_unit_test(test_host2net_room),
		cmocka_unit_test(test_read_counters),
		cmocka_unit_test(test_write_counters),
		cmocka_unit_test(test_read_byte_count),
		cmocka_unit_test(test_latency_timer),
		cmocka_unit_test(test_cut_through),
		cmocka_unit_test(test_cut_through_is_tight),
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_credit_balance),
		cmocka_unit_test(test_write_uses_the_split_wait_of_a_read),
		cmocka_unit_test(test_in_out_round_robin),
		cmocka_unit_test(test_transfer_is_cut_at_max_payload),
		cmocka_unit_test(
			a_reset_in_any_cycle_lets_the_bus_finish_its_read),
	};

	return cmocka_run_group_tests_name("forth-dma", tests, NULL, NULL);
}
