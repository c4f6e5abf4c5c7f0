/* SPDX-License-Identifier: Apache-2.0 */
/* Multipath, external memory, counting and event log of forth.nic: directed
 * cases (forth.md 6, 7, 10.2; V22, V24). */
#include "unit/cmocka_all.h"
#include "rig.h"
#include "systems/forth/nic/registers.h"

#define SRC (RIG_MEM + 0x10000)
#define DST (RIG_MEM + 0x20000u)

static uint64_t header(uint32_t src, uint32_t number, uint32_t next1,
		       uint32_t next2, uint64_t flags, uint32_t slot)
{
	return forth_header_reseq(forth_header(1, flags, 4, DST + 32 * slot),
				  src << 7 | (number & 7) << 4 | next1 << 2 |
					  next2);
}

static uint32_t rnotes(const struct rig *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->n[0].bus->n_log; i++)
		n += r->n[0].bus->log[i].addr == RIG_RNOTIFY;
	return n;
}

static void open_with(struct rig *r, const char *preset, const char *set)
{
	rig_single(r, preset, set);
	rig_setup(r, 0);
}

/* Sends packets `from`..`to`-1 of a source, 100 cycles apart, in turn over four
 * paths. Packets 0 to 31 whose bit is set in `lost` never arrive. Packet i goes
 * to slot + i. */
static void send_row(struct rig *r, uint32_t src, uint32_t from, uint32_t to,
		     uint32_t lost, uint32_t slot)
{
	uint64_t cc = rig_cc(r) + 2;

	for (uint32_t i = from; i < to; i++)
		if (i >= 32 || !(lost >> i & 1))
			rig_send_on(r, i % 4, cc + 100 * i,
				    header(src, i / 4, (i + 1) % 4, (i + 2) % 4,
					   FORTH_HDR_REMOTE_NOTIFY, slot + i),
				    i);
}

/* 7.3: paths, numbers, next paths and source in headers on the wire. The header
 * vectors of the link tests check the CRC of the example. */
static void test_sender_fields(void **state)
{
	struct rig r;

	open_with(&r, "plat-multi", "sink.lanes=8 node=3");
	rig_post(&r, 0, 5, 0, SRC,
		 forth_desc_q1(5, 512, DST, FORTH_DESC_START));
	rig_post(&r, 0, 5, 1, SRC,
		 forth_desc_q1(5, 64, 0x20000000,
			       FORTH_DESC_START | FORTH_DESC_RNOTIFY));
	rig_wait(&r, 20000);
	for (uint32_t i = 0; i < 9; i++) {
		const struct tsink *s = r.on[i % 4];

		assert_true(s->n_log > i / 4);
		assert_int_equal(forth_hdr_reseq(s->log[i / 4].header),
				 3u << 7 | (i / 4) << 4 | (i + 1) % 4 << 2 |
					 (i + 2) % 4);
	}
	assert_int_equal(r.on[0]->n_log, 3);
	/* header fields: flow 5, notify, source 3, number 2, next paths 1 and
	 * 2 */
	assert_int_equal(r.on[0]->log[2].header >> 52, 0x054);
	rig_free(&r);
}

/* 7.2: a path without credits stops only its destination. */
static void test_stall_is_local(void **state)
{
	struct rig r;

	open_with(&r, "plat-multi", "sink.lanes=8 sink.cap=170");
	r.on[1]->stop = true;
	for (uint32_t i = 0; i < 3; i++)
		rig_post(&r, 0, 2, i, SRC,
			 forth_desc_q1(2, 512, DST, FORTH_DESC_START));
	rig_post(&r, 0, 6, 0, SRC, forth_desc_q1(6, 64, DST, FORTH_DESC_START));
	rig_wait(&r, 30000);
	/* One packet of 132 words to flow 2 fits into 170 words. The second
	 * packet on path 1 waits, so that later packets to flow 2 wait on all
	 * paths. */
	assert_int_equal(r.on[0]->n_log, 2 + 1);
	assert_int_equal(r.on[1]->n_log, 1);
	assert_int_equal(r.on[2]->n_log, 1);
	assert_int_equal(forth_hdr_flow(r.on[0]->log[1].header) == 6 ||
				 forth_hdr_flow(r.on[0]->log[2].header) == 6,
			 1);
	r.sink = r.on[1];
	rig_release(&r);
	r.sink = r.on[0];
	rig_wait(&r, 60000);
	assert_int_equal(r.on[0]->n_log + r.on[1]->n_log + r.on[2]->n_log +
				 r.on[3]->n_log,
			 25);
	rig_free(&r);
}

static uint32_t state_of(uint32_t p1, uint32_t p2, uint32_t flags,
			 const uint32_t *exp, uint32_t held)
{
	return p1 | p2 << 2 | flags | exp[0] << 8 | exp[1] << 11 |
	       exp[2] << 14 | exp[3] << 17 | held << 20;
}

/* 0x1A0: packets 0 to 5 of source 2 have arrived, then packet 7 before packet
 * 6. Now packet 6 is known to be lost, and no notification has reported the
 * loss. */
static void state_of_a_source_can_be_read(void **state)
{
	static const uint32_t none[4], six[] = { 2, 2, 1, 1 },
				       ten[] = { 3, 3, 3, 2 };
	const uint32_t known = 1u << 4;
	struct rig r;

	open_with(&r, "plat-multi", "sink.lanes=8");
	send_row(&r, 2, 0, 6, 0, 0);
	rig_wait(&r, 2000);
	assert_int_equal(rig_r32(&r, 0, FORTH_RESEQ_STATE + 4 * 2),
			 state_of(2, 3, known, six, 0));
	for (uint32_t i = 7; i <= 10; i++) {
		rig_send_on(&r, i % 4, rig_cc(&r) + 2,
			    header(2, i / 4, (i + 1) % 4, (i + 2) % 4, 0, i),
			    i);
		rig_wait(&r, 500);
		if (i < 10)
			assert_int_equal(
				rig_r32(&r, 0, FORTH_RESEQ_STATE + 4 * 2),
				state_of(2, 3, known, six, i - 6));
	}
	assert_int_equal(
		rig_r32(&r, 0, FORTH_RESEQ_STATE + 4 * 2),
		state_of(3, 0, known | FORTH_RESEQ_STATE_LOSS, ten, 0));
	for (uint32_t s = 0; s < 8; s++)
		if (s != 2)
			assert_int_equal(
				rig_r32(&r, 0, FORTH_RESEQ_STATE + 4 * s),
				state_of(0, 1, known, none, 0));
	rig_free(&r);
}

/* V24: a single loss is noticed when the next packet of its path arrives. */
static void test_single_loss(void **state)
{
	uint64_t word;
	struct rig r;

	open_with(&r, "plat-multi", "sink.lanes=8");
	send_row(&r, 2, 0, 9, 1u << 1, 0);
	rig_wait(&r, 500); /* packets 0, 2, 3 have arrived, 1 is missing */
	assert_int_equal(rnotes(&r), 1);
	rig_wait(&r, 3000);
	assert_int_equal(rnotes(&r), 8);
	assert_int_equal(rig_r32(&r, 0, FORTH_RESEQ), 1);
	/* only the first notification behind the loss has the loss flag */
	word = 0;
	for (uint32_t i = 0; i < r.n[0].bus->n_log; i++)
		if (r.n[0].bus->log[i].addr == RIG_RNOTIFY &&
		    r.n[0].bus->log[i].word & FORTH_RNOTIFY_LOSS) {
			assert_int_equal(word, 0);
			word = r.n[0].bus->log[i].word;
		}
	assert_int_equal(forth_rnotify_count(word), 2);
	assert_int_equal(forth_rnotify_source(word), 2);
	assert_int_equal(rig_r32(&r, 0, FORTH_RESEQ_POOL) & 0xFFFF, 0);
	rig_free(&r);
}

/* 7.5: with round robin two losses in a row keep sync. */
static void test_double_loss_round_robin(void **state)
{
	struct rig r;

	open_with(&r, "plat-multi", "sink.lanes=8");
	send_row(&r, 0, 0, 12, 1u << 1 | 1u << 2, 0);
	rig_wait(&r, 6000);
	assert_int_equal(rnotes(&r), 10);
	assert_int_equal(rig_r32(&r, 0, FORTH_RESEQ), 2);
	rig_free(&r);
}

/* 7.5: with any other pattern two losses in a row end sync, until software
 * restarts the source. */
static void test_double_loss_pattern(void **state)
{
	struct rig r;

	open_with(&r, "plat-multi", "sink.lanes=8 pattern=0,1,2,3");
	send_row(&r, 4, 0, 12, 1u << 1 | 1u << 2, 0);
	rig_wait(&r, 6000);
	assert_int_equal(rnotes(&r), 1);
	assert_int_equal(forth_reseq_sync_lost(rig_r32(&r, 0, FORTH_RESEQ)), 1);
	assert_int_equal(rig_r32(&r, 0, FORTH_RESEQ_RX), 1u << 4);
	/* all payloads are in memory nevertheless, and no header is left in the
	 * pool */
	assert_int_equal(rig_mem64(&r, 0, DST + 32 * 11), 11);
	assert_int_equal(rig_r32(&r, 0, FORTH_RESEQ_POOL) & 0xFFFF, 0);
	rig_w32(&r, 0, FORTH_RESEQ_RX, 1u << 4);
	assert_int_equal(rig_r32(&r, 0, FORTH_RESEQ_RX), 0);
	send_row(&r, 4, 0, 4, 0, 20);
	rig_wait(&r, 3000);
	assert_int_equal(rnotes(&r), 5);
	rig_free(&r);
}

/* 7.5: a number has three bits, so that up to seven losses in a row on one path
 * can be counted. The packets of the other paths all arrive. */
static void seven_losses_on_one_path_are_found(void **state)
{
	for (uint32_t lost = 3; lost <= 7; lost++) {
		uint32_t mask = 0, n = 4 * (lost + 2);
		struct rig r;

		for (uint32_t i = 0; i < lost; i++)
			mask |= 1u << (4 * i + 1);
		open_with(&r, "plat-multi", "sink.lanes=8 sink.tx_cap=2000");
		send_row(&r, 3, 0, n, mask, 0);
		rig_wait(&r, 8000);
		assert_int_equal(
			forth_reseq_losses(rig_r32(&r, 0, FORTH_RESEQ)), lost);
		assert_int_equal(rnotes(&r), n - lost);
		assert_int_equal(rig_r32(&r, 0, FORTH_RESEQ_POOL) & 0xFFFF, 0);
		rig_free(&r);
	}
}

/* 7.3: the sender counts to 7 on each path. */
static void numbers_of_a_path_have_three_bits(void **state)
{
	struct rig r;

	open_with(&r, "plat-multi", "sink.lanes=8 node=3");
	for (uint32_t i = 0; i < 5; i++)
		rig_post(&r, 0, 5, i, SRC,
			 forth_desc_q1(5, 512, DST, FORTH_DESC_START));
	rig_wait(&r, 40000);
	for (uint32_t k = 0; k < 4; k++) {
		assert_int_equal(r.on[k]->n_log, 10);
		for (uint32_t i = 0; i < 10; i++)
			assert_int_equal(
				forth_hdr_reseq(r.on[k]->log[i].header) >> 4 &
					7,
				i % 8);
	}
	rig_free(&r);
}

/* 7.4: software restarts destination 5. Its next packet takes the first path of
 * the pattern, and the packet numbers of each path start at 0. */
static void a_restarted_destination_numbers_from_zero(void **state)
{
	struct rig r;

	open_with(&r, "plat-multi", "sink.lanes=8 node=3");
	rig_post(&r, 0, 5, 0, SRC,
		 forth_desc_q1(5, 512, DST, FORTH_DESC_START));
	rig_post(&r, 0, 5, 1, SRC, forth_desc_q1(5, 64, DST, FORTH_DESC_START));
	rig_wait(&r, 20000);
	rig_w32(&r, 0, FORTH_RESEQ_TX, 1u << 5);
	rig_post(&r, 0, 5, 2, SRC,
		 forth_desc_q1(5, 256, DST, FORTH_DESC_START));
	rig_wait(&r, 20000);
	for (uint32_t i = 0; i < 4; i++) {
		const struct tsink *s = r.on[i];

		assert_int_equal(s->n_log, i ? 3 : 4);
		assert_int_equal(forth_hdr_reseq(s->log[i ? 2 : 3].header),
				 3u << 7 | (i + 1) % 4 << 2 | (i + 2) % 4);
	}
	rig_free(&r);
}

/* 3.7: while a long read occupies the engine (without overlap), the first
 * transfer leaves. Packet 4 shows that packet 0 is lost, which releases the
 * notification of packet 1. */
static void local_notification_goes_before_remote_one_and_packet(void **state)
{
	const struct tbus_op *op;
	uint32_t i = 0;
	struct rig r;

	open_with(&r, "plat-multi", "sink.lanes=8 rw_overlap=no");
	send_row(&r, 2, 1, 2, 0, 0);
	rig_wait(&r, 400);
	assert_int_equal(rnotes(&r), 0);
	rig_post(&r, 0, 5, 0, SRC,
		 forth_desc_q1(5, 8, DST,
			       FORTH_DESC_START | FORTH_DESC_LNOTIFY));
	rig_post(&r, 0, 5, 1, SRC,
		 forth_desc_q1(5, 512, DST, FORTH_DESC_START));
	rig_send_on(&r, 0, rig_cc(&r) + 100,
		    header(2, 1, 1, 2, FORTH_HDR_REMOTE_NOTIFY, 4), 4);
	rig_wait(&r, 3000);
	op = r.n[0].bus->log;
	while (i < r.n[0].bus->n_log && op[i].bytes != 4096)
		i++;
	assert_int_equal(r.n[0].bus->n_log, i + 4);
	assert_int_equal(op[i + 1].addr, RIG_LNOTIFY + 40);
	assert_int_equal(op[i + 2].addr, RIG_RNOTIFY);
	assert_int_equal(op[i + 3].addr, DST + 32 * 4);
	assert_true(op[i + 1].req >= op[i].done);
	rig_free(&r);
}

/* 7.6: with a full pool the headers of a source are forgotten, but its data are
 * written. */
static void test_pool_full(void **state)
{
	struct rig r;

	open_with(&r, "plat-multi", "sink.lanes=8 reseq_headers=3");
	/* packet 0 never arrives, so that 1, 2, 3 fill the pool and 5 does not
	 * fit */
	send_row(&r, 1, 1, 8, 1u << 4, 0);
	rig_wait(&r, 4000);
	assert_int_equal(rnotes(&r), 0);
	assert_int_equal(rig_r32(&r, 0, FORTH_RESEQ), 1u << 20 | 1u << 10);
	assert_int_equal(rig_r32(&r, 0, FORTH_RESEQ_POOL), 3u << 16);
	assert_int_equal(r.n[0].nic->counters[C_POOL_FULL], 1);
	assert_int_equal(r.n[0].nic->counters[C_UNTRACKED], 3); /* 5 to 7 */
	assert_int_equal(rig_mem64(&r, 0, DST + 32 * 7), 7);
	rig_free(&r);
}

/* 7.7: the announcement may arrive first. Then the last data cause the
 * notification. */
static void test_notification_waits_for_the_last_data(void **state)
{
	uint64_t cc, word;
	struct rig r;

	open_with(&r, "plat-multi", "sink.lanes=8 completion=count");
	cc = rig_cc(&r) + 2;
	rig_send_on(&r, 3, cc,
		    forth_header_reseq(
			    forth_header(1, FORTH_HDR_REMOTE_NOTIFY, 1, 12),
			    6u << 7 | 1u << 6 | 17),
		    0);
	for (uint32_t i = 0; i < 3; i++)
		rig_send_on(
			&r, i, cc + 300 * (i + 1),
			forth_header_reseq(forth_header(1, 0, 4, DST + 32 * i),
					   6u << 7 | 17),
			i);
	rig_wait(&r, 1000);
	assert_int_equal(rnotes(&r), 0);
	rig_wait(&r, 2000);
	assert_int_equal(rnotes(&r), 1);
	word = rig_mem64(&r, 0, RIG_RNOTIFY);
	assert_int_equal(forth_rnotify_group(word), 17);
	assert_int_equal(forth_rnotify_source(word), 6);
	assert_false(word & FORTH_RNOTIFY_LOSS);
	rig_free(&r);
}

/* V22: posts more transfers for a blocked destination than a VOQ holds. */
static void test_blocked_destination_moves_to_external_queues(void **state)
{
	uint32_t total = 64, n = 0;
	struct rig r;

	open_with(&r, "plat-switch",
		  "voq_ext_bytes=131072 sink.lanes=8 sink.cap=512");
	r.sink->stop = true;
	for (uint32_t i = 0; i < 2048; i++)
		rig_mem_set64(&r, 0, SRC + 8 * i, 1000 + i);
	for (uint32_t i = 0; i < 16; i++)
		rig_post(&r, 0, 3, i, SRC + 1024 * i,
			 forth_desc_q1(3, 128 + i, DST + 0x1000 * i,
				       FORTH_DESC_START));
	rig_wait(&r, 30000);
	assert_true(rig_r32(&r, 0, FORTH_EXT_FREE) < total - 4);
	rig_release(&r);
	rig_wait(&r, 100000);
	assert_int_equal(rig_r32(&r, 0, FORTH_EXT_FREE), total);
	assert_true(rig_r32(&r, 0, FORTH_EXT_LEAST) < total - 4);
	/* the packets are in order, and each has its right first word */
	for (uint32_t i = 0; i < 16; i++)
		for (uint32_t at = 0; at < 128 + i; n++) {
			const struct tsink_pkt *p = &r.sink->log[n];

			assert_true(n < r.sink->n_log);
			assert_int_equal(forth_hdr_addr(p->header),
					 DST + 0x1000 * i + 8 * at);
			assert_int_equal(p->q[0], 1000 + 128 * i + at);
			at += forth_hdr_size(p->header);
		}
	assert_int_equal(n, r.sink->n_log);
	rig_free(&r);
}

/* 6.3: a VOQ that is filled up to its low mark takes one more block, for which
 * it must have room. */
static void thresholds_that_do_not_fit_are_refused(void **state)
{
	static const struct {
		const char *block, *lo, *hi;
		bool good;
	} v[] = { { "2048", "6144", "8192", true },
		  { "2052", "2048", "6144", false },
		  { "2048", "6145", "8192", false },
		  { "2056", "6144", "8192", false },
		  { "2048", "2048", "8193", false } };

	for (uint32_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		const char *set[][2] = { { "voq_ext_bytes", "131072" },
					 { "voq_block_bytes", v[i].block },
					 { "voq_lo", v[i].lo },
					 { "voq_hi", v[i].hi } };
		struct weft_sim *sim = weft_sim_new(1);
		struct weft_err err = { 0 };
		struct weft_comp *c =
			weft_sim_add(sim, &weft_class_forth_nic, "n0", &err);

		assert_int_equal(weft_preset_apply(c, "plat-switch", &err), 0);
		for (uint32_t k = 0; k < 4; k++)
			assert_int_equal(
				weft_param_set(c, set[k][0], set[k][1], &err),
				0);
		assert_int_equal(weft_comp_init(c, &err) == 0, v[i].good);
		if (!v[i].good)
			assert_non_null(strstr(err.msg, "voq_block_bytes"));
		weft_sim_free(sim);
	}
}

/* A reset frees all blocks in use. */
static void test_migration_reset(void **state)
{
	struct rig r;

	open_with(&r, "plat-switch",
		  "voq_ext_bytes=131072 sink.lanes=8 sink.cap=512");
	r.sink->stop = true;
	for (uint32_t i = 0; i < 8; i++)
		rig_post(&r, 0, 3, i, SRC,
			 forth_desc_q1(3, 512, DST, FORTH_DESC_START));
	rig_wait(&r, 30000);
	assert_true(rig_r32(&r, 0, FORTH_EXT_FREE) < 64);
	rig_w32(&r, 0, FORTH_CONTROL, FORTH_CTL_RESET | FORTH_CTL_ENABLE);
	assert_int_equal(rig_r32(&r, 0, FORTH_EXT_FREE), 64);
	rig_free(&r);
}

/* Posts a transfer of 512 qwords for a stopped VOQ. It occupies 514 words, with
 * header and CRC word. Two such transfers fit on chip, the others go to
 * external memory in blocks of 256 words. */
static void post_512(struct rig *r, uint32_t i, uint64_t src)
{
	rig_post(r, 0, 3, i, src,
		 forth_desc_q1(3, 512, DST + 0x1000 * i, FORTH_DESC_START));
	rig_wait(r, 2000);
}

/* 3.6: the bus aborts a transfer. The packets of the transfer that were not
 * read yet lose their blocks, which become free. Complete packets leave. */
static void aborted_read_gives_its_blocks_back(void **state)
{
	static const uint32_t sent[] = { 512, 512, 512, 0, 255, 512 };
	const struct weft_bus_txn *t;
	uint32_t n = 0;
	struct rig r;

	open_with(&r, "plat-switch",
		  "voq_ext_bytes=131072 sink.lanes=8 sink.cap=512");
	rig_cfg(&r, 0, FORTH_CFG_PCIX_CMD, 2, 2 << FORTH_PCIX_CMD_MMRBC_SHIFT);
	r.sink->stop = true;
	post_512(&r, 0, SRC);
	post_512(&r, 1, SRC);
	assert_int_equal(rig_r32(&r, 0, FORTH_EXT_FREE), 64);
	/* blocks with 256, 256 and 2 words: the last block has room for 254
	 * more */
	post_512(&r, 2, SRC);
	assert_int_equal(rig_r32(&r, 0, FORTH_EXT_FREE), 61);
	/* the read at 0x4000 fails, because no memory exists there: 2 new
	 * blocks are allocated and freed */
	post_512(&r, 3, 0x4000);
	assert_int_equal(rig_r32(&r, 0, FORTH_EXT_FREE), 61);
	rig_post(&r, 0, 3, 4, SRC,
		 forth_desc_q1(3, 512, DST + 0x4000, FORTH_DESC_START));
	do
		rig_wait(&r, 1);
	while (!(t = r.n[0].bus->txn[WEFT_BUS_READ]) || t->moved < 2048);
	r.n[0].bus->refuse = true; /* abort the second half */
	rig_wait(&r, 2000);
	r.n[0].bus->refuse = false;
	assert_int_equal(rig_r32(&r, 0, FORTH_EXT_FREE), 60);
	post_512(&r, 5, SRC); /* 255 + 256 + 1 qwords in new blocks */
	assert_int_equal(rig_r32(&r, 0, FORTH_EXT_FREE), 57);
	assert_int_equal(rig_r32(&r, 0, FORTH_DESC_ERR), 2);
	rig_release(&r);
	rig_wait(&r, 100000);
	assert_int_equal(rig_r32(&r, 0, FORTH_EXT_FREE), 64);
	assert_int_equal(rig_r32(&r, 0, FORTH_EXT_LEAST), 57);
	for (uint32_t i = 0; i < 6; i++)
		for (uint32_t at = 0; at < sent[i]; n++) {
			assert_true(n < r.sink->n_log);
			assert_int_equal(forth_hdr_addr(r.sink->log[n].header),
					 DST + 0x1000 * i + 8 * at);
			at += forth_hdr_size(r.sink->log[n].header);
		}
	assert_int_equal(n, r.sink->n_log);
	rig_free(&r);
}

/* 10.2: the log is off by default. When it is on, each record has the time of
 * its event. */
static void test_event_log(void **state)
{
	uint64_t seen;
	struct rig r;

	open_with(&r, "plat-switch", "sink.lanes=8");
	rig_post(&r, 0, 1, 0, SRC, forth_desc_q1(1, 3, DST, FORTH_DESC_START));
	rig_wait(&r, 500);
	assert_int_equal(rig_r32(&r, 0, FORTH_LOG_COUNT), 0);
	rig_w32(&r, 0, FORTH_LOG_CONTROL, 1);
	seen = rig_post(&r, 0, 1, 1, SRC,
			forth_desc_q1(1, 3, DST, FORTH_DESC_START));
	rig_wait(&r, 500);
	assert_int_equal(rig_r32(&r, 0, FORTH_LOG_COUNT), 3);
	/* the engine starts at the end of Check, three clocks after the start
	 * flag */
	assert_int_equal(rig_r32(&r, 0, FORTH_LOG_DATA), seen + 3);
	assert_int_equal(rig_r32(&r, 0, FORTH_LOG_DATA + 8), 1);
	assert_int_equal(rig_r32(&r, 0, FORTH_LOG_DATA + 12),
			 LOG_ENGINE | LOG_START << 8);
	assert_int_equal(rig_r32(&r, 0, FORTH_LOG_DATA + 12),
			 LOG_ENGINE | LOG_STOP << 8);
	assert_int_equal(rig_r32(&r, 0, FORTH_LOG_DATA + 12),
			 LOG_LINK0 | LOG_START << 8);
	assert_int_equal(rig_r32(&r, 0, FORTH_LOG_DATA + 12), 0);
	rig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sender_fields),
		cmocka_unit_test(test_stall_is_local),
		cmocka_unit_test(state_of_a_source_can_be_read),
		cmocka_unit_test(test_single_loss),
		cmocka_unit_test(test_double_loss_round_robin),
		cmocka_unit_test(test_double_loss_pattern),
		cmocka_unit_test(seven_losses_on_one_path_are_found),
		cmocka_unit_test(numbers_of_a_path_have_three_bits),
		cmocka_unit_test(a_restarted_destination_numbers_from_zero),
		cmocka_unit_test(
			local_notification_goes_before_remote_one_and_packet),
		cmocka_unit_test(test_pool_full),
		cmocka_unit_test(test_notification_waits_for_the_last_data),
		cmocka_unit_test(
			test_blocked_destination_moves_to_external_queues),
		cmocka_unit_test(thresholds_that_do_not_fit_are_refused),
		cmocka_unit_test(test_migration_reset),
		cmocka_unit_test(aborted_read_gives_its_blocks_back),
		cmocka_unit_test(test_event_log),
	};

	return cmocka_run_group_tests_name("forth-multi", tests, NULL, NULL);
}
