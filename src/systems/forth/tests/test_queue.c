/* SPDX-License-Identifier: Apache-2.0 */
/* Request queues of forth.nic: descriptors and headers, start flag, clustering,
 * ring wrap and full ring, bad descriptors (forth.md 3.1-3.6; V14, V15). */
#include "unit/cmocka_all.h"

#include <string.h>

#include "rig.h"

#define SRC (RIG_MEM + 0x10000)
#define DST 0x10020000u

static void open_rig(struct rig *r, const char *preset, const char *set)
{
	rig_single(r, preset, set);
	rig_setup(r, 0);
}

/* 3.2: the NIC derives the header of a packet from the second qword of its
 * descriptor. */
static void test_descriptor_gives_the_specified_header(void **state)
{
	static const uint64_t rows[][2] = {
		{ 0x0810000310000000, 0x0108000310000000 },
		{ 0x4850003E1FE00000, 0x0548003E1FE00000 },
		{ 0x1870004000ABC000, 0x0718004000ABC000 },
		{ 0x2820003EDEADBEE8, 0x0228003EDEADBEE8 },
		{ 0x7FF00200FFFFF000, 0x7F780200FFFFF000 },
	};
	struct rig r;

	open_rig(&r, "tr-switch",
		 "flows=128 max_payload=4096 sink.lanes=128 "
		 "sink.cap=2046");
	for (uint32_t i = 0; i < 5; i++)
		rig_post(&r, 0, 0, i, SRC, rows[i][0]);
	rig_wait(&r, 4000);
	assert_int_equal(r.sink->n_log, 5);
	for (uint32_t i = 0; i < 5; i++)
		assert_true(r.sink->log[i].header == rows[i][1]);
	rig_free(&r);
}

/* Writes three descriptors backwards, dword by dword, and then the fourth one,
 * which has the start flag. All four depart in the order of their slots
 * (V14). */
static void test_cluster_starts_by_its_last_descriptor(void **state)
{
	struct rig r;
	uint64_t t;

	open_rig(&r, "plat-switch", "sink.lanes=8 sink.cap=512");
	for (int s = 2; s >= 0; s--) {
		uint64_t d[2] = { SRC + 64u * (uint32_t)s,
				  forth_desc_q1(1, 3 + (uint32_t)s, DST, 0) };

		for (int w = 3; w >= 0; w--)
			rig_w32(&r, 0,
				forth_desc_offset(1, 128, (uint32_t)s) +
					4u * (uint32_t)w,
				((uint32_t *)d)[w]);
	}
	rig_wait(&r, 500);
	assert_int_equal(r.n[0].bus->n_log, 0);
	assert_int_equal(rig_r32(&r, 0, FORTH_QUEUE_POINTERS + 4), 0);
	t = rig_post(&r, 0, 1, 3, SRC,
		     forth_desc_q1(1, 7, DST, FORTH_DESC_START));
	rig_wait(&r, 1000);
	assert_int_equal(r.n[0].bus->n_log, 4);
	assert_int_equal(r.n[0].bus->log[0].req, t + 3);
	assert_int_equal(r.sink->n_log, 4);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(forth_hdr_size(r.sink->log[i].header), 3 + i);
	assert_int_equal(forth_hdr_size(r.sink->log[3].header), 7);
	assert_int_equal(rig_r32(&r, 0, FORTH_QUEUE_POINTERS + 4),
			 forth_pointers_pack(4, 0, 4));
	rig_free(&r);
}

/* A store with a start flag inside the released region is a plain memory write
 * (R-14). */
static void test_trigger_inside(void **state)
{
	struct rig r;

	open_rig(&r, "plat-switch", "sink.lanes=8 sink.cap=512");
	/* the engine is off and serves no queue */
	rig_w32(&r, 0, FORTH_CONTROL, 0);
	rig_post(&r, 0, 2, 9, SRC, forth_desc_q1(2, 3, DST, FORTH_DESC_START));
	assert_int_equal(rig_r32(&r, 0, FORTH_QUEUE_POINTERS + 8),
			 forth_pointers_pack(0, 0, 10));
	rig_post(&r, 0, 2, 4, SRC, forth_desc_q1(2, 3, DST, FORTH_DESC_START));
	assert_int_equal(rig_r32(&r, 0, FORTH_QUEUE_POINTERS + 8),
			 forth_pointers_pack(0, 0, 10));
	/* 0x04 and configuration 0x40 show the selected queue */
	rig_w32(&r, 0, FORTH_QUEUE_SELECT, 2);
	assert_int_equal(rig_r32(&r, 0, FORTH_POINTERS),
			 forth_pointers_pack(0, 0, 10));
	assert_int_equal(rig_cfg_get(&r, 0, FORTH_CFG_APP_IRQ, 4), 10 << 16);
	rig_w32(&r, 0, FORTH_CONTROL, FORTH_CTL_POINTER_RESET);
	assert_int_equal(rig_r32(&r, 0, FORTH_POINTERS), 0);
	rig_free(&r);
}

/* A full ring of N descriptors is legal. One write to slot head - 1 releases
 * the whole ring. */
static void full_ring(const char *preset, const char *set, uint32_t depth)
{
	struct rig r;

	open_rig(&r, preset, set);
	for (uint32_t round = 0; round < 3; round++) {
		uint32_t base = round * 7 % depth;

		for (uint32_t i = 0; i < depth; i++) {
			uint64_t flag = i + 1 == depth ? FORTH_DESC_START : 0;

			rig_post(&r, 0, 0, (base + i) % depth, SRC,
				 forth_desc_q1(0, 3, DST + 8 * i, flag));
		}
		rig_wait(&r, depth * 80);
		assert_int_equal(rig_r32(&r, 0, FORTH_POINTERS),
				 forth_pointers_pack(base, 0, base));
		assert_int_equal(r.sink->n_log, (round + 1) * depth);
		for (uint32_t i = 0; i < depth; i++)
			assert_int_equal(
				forth_hdr_addr(
					r.sink->log[round * depth + i].header),
				DST + 8 * i);
		/* move the head, so that the next round starts at a different
		 * slot */
		for (uint32_t i = 0; i < 7; i++)
			rig_post(&r, 0, 0, (base + i) % depth, SRC,
				 forth_desc_q1(0, 3, DST, FORTH_DESC_START));
		rig_wait(&r, 1000);
		r.sink->n_log -= 7;
	}
	assert_int_equal(rig_r32(&r, 0, FORTH_H2N_DMA_OPS), 3 * (depth + 7));
	rig_free(&r);
}

static void test_full_ring_128(void **state)
{
	full_ring("plat-switch", "sink.lanes=8 sink.cap=512", 128);
}

static void test_full_ring_1024(void **state)
{
	full_ring("tr-switch", "sink.lanes=8 sink.cap=512", 1024);
}

/* A descriptor with a word count of 0 or above 512, or with an unknown flow, is
 * skipped, counted and notified. */
static void test_bad_descriptors(void **state)
{
	static const struct {
		uint32_t flow, qwords;
	} bad[] = { { 0, 0 }, { 0, 513 }, { 0, 1023 }, { 8, 3 }, { 127, 3 } };
	struct rig r;

	open_rig(&r, "tr-switch", "sink.lanes=8 sink.cap=512");
	for (uint32_t i = 0; i < 5; i++)
		rig_post(&r, 0, 0, i, SRC,
			 forth_desc_q1(bad[i].flow, bad[i].qwords, DST,
				       FORTH_DESC_START | FORTH_DESC_LNOTIFY));
	rig_wait(&r, 200);
	assert_int_equal(rig_r32(&r, 0, FORTH_DESC_ERR), 5);
	assert_int_equal(rig_r32(&r, 0, FORTH_LOCAL_NOTIFY), 5);
	assert_int_equal(rig_r32(&r, 0, FORTH_H2N_DMA_OPS), 0);
	assert_int_equal(rig_r32(&r, 0, FORTH_POINTERS),
			 forth_pointers_pack(5, 0, 5));
	assert_true(rig_mem64(&r, 0, RIG_LNOTIFY) ==
		    forth_lnotify_pack(5, 0, 5));
	assert_int_equal(r.sink->n_log, 0);
	rig_free(&r);
}

/* The low three address bits are ignored. Master abort and target abort are
 * reported (3.6). */
static void test_aborts_are_reported_and_low_bits_ignored(void **state)
{
	struct rig r;

	open_rig(&r, "plat-switch", "sink.lanes=8 sink.cap=512");
	rig_mem_set64(&r, 0, SRC, 0xAABBCCDDEEFF0011);
	rig_post(&r, 0, 0, 0, SRC + 5,
		 forth_desc_q1(0, 3, DST, FORTH_DESC_START));
	rig_wait(&r, 300);
	assert_int_equal(r.n[0].bus->log[0].addr, SRC);
	assert_true(r.sink->log[0].q[0] == 0xAABBCCDDEEFF0011);

	rig_post(&r, 0, 0, 1, 0x4000,
		 forth_desc_q1(0, 3, DST,
			       FORTH_DESC_START | FORTH_DESC_LNOTIFY));
	rig_wait(&r, 300);
	assert_int_equal(rig_cfg_get(&r, 0, FORTH_CFG_STATUS, 2), 0x2430);
	assert_int_equal(rig_r32(&r, 0, FORTH_DESC_ERR), 1);
	assert_int_equal(rig_r32(&r, 0, FORTH_QUEUE_POINTERS),
			 forth_pointers_pack(2, 0, 2));
	assert_true(rig_mem64(&r, 0, RIG_LNOTIFY) ==
		    forth_lnotify_pack(2, 0, 2));
	rig_cfg(&r, 0, FORTH_CFG_STATUS, 2, FORTH_STATUS_RCV_MASTER_ABORT);
	assert_int_equal(rig_cfg_get(&r, 0, FORTH_CFG_STATUS, 2), 0x0430);

	r.n[0].bus->refuse = true;
	rig_post(&r, 0, 0, 2, SRC, forth_desc_q1(0, 3, DST, FORTH_DESC_START));
	rig_wait(&r, 300);
	assert_int_equal(rig_cfg_get(&r, 0, FORTH_CFG_STATUS, 2), 0x1430);
	assert_int_equal(rig_r32(&r, 0, FORTH_DESC_ERR), 2);
	/* the aborted transfer has returned its room, so that later transfers
	 * can use the whole buffer */
	r.n[0].bus->refuse = false;
	for (uint32_t i = 0; i < 12; i++)
		rig_post(&r, 0, 0, 3 + i, SRC,
			 forth_desc_q1(0, 512, DST, FORTH_DESC_START));
	rig_wait(&r, 30000);
	assert_int_equal(r.sink->n_log, 1 + 12 * 8);
	rig_free(&r);
}

/* The engine serves the queues round robin. A queue whose VOQ is full does not
 * block others (3.7). */
static void test_round_robin_and_isolation(void **state)
{
	struct rig r;
	static const uint32_t posted[] = { 6, 1, 4 }, served[] = { 1, 4, 6 };
	uint32_t seen[8] = { 0 };

	open_rig(&r, "plat-switch", "sink.lanes=8 sink.cap=512 sink.hold=8");
	rig_w32(&r, 0, FORTH_CONTROL, 0);
	for (uint32_t q = 0; q < 8; q++)
		for (uint32_t i = 0; i < 4; i++)
			rig_post(&r, 0, q, i, SRC,
				 forth_desc_q1(q, 8, DST,
					       i == 3 ? FORTH_DESC_START : 0));
	rig_w32(&r, 0, FORTH_CONTROL, FORTH_CTL_ENABLE);
	rig_wait(&r, 8000);
	assert_int_equal(r.sink->n_log, 32);
	for (uint32_t i = 0; i < 32; i++)
		assert_int_equal(forth_hdr_flow(r.sink->log[i].header), i % 8);

	/* the next queue with work is chosen, in ascending order from the queue
	 * served last */
	rig_w32(&r, 0, FORTH_CONTROL, 0);
	for (uint32_t i = 0; i < 3; i++)
		rig_post(&r, 0, posted[i], 4, SRC,
			 forth_desc_q1(posted[i], 8, DST, FORTH_DESC_START));
	rig_w32(&r, 0, FORTH_CONTROL, FORTH_CTL_ENABLE);
	rig_wait(&r, 2000);
	assert_int_equal(r.sink->n_log, 35);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(forth_hdr_flow(r.sink->log[32 + i].header),
				 served[i]);

	/* from now on destination 3 returns no credits */
	r.sink->stop = true;
	for (uint32_t i = 0; i < 20; i++)
		rig_post(&r, 0, 3, 4 + i, SRC,
			 forth_desc_q1(3, 64, DST, FORTH_DESC_START));
	rig_wait(&r, 20000);
	for (uint32_t i = 32; i < r.sink->n_log; i++)
		seen[forth_hdr_flow(r.sink->log[i].header)]++;
	/* 512 words at a charge of 132 per packet: credits let three packets
	 * leave */
	assert_int_equal(seen[3], 3);
	rig_post(&r, 0, 5, 4, SRC, forth_desc_q1(5, 8, DST, FORTH_DESC_START));
	rig_wait(&r, 300);
	assert_int_equal(forth_hdr_flow(r.sink->log[r.sink->n_log - 1].header),
			 5);
	/* 3 packets were sent, 15 * 66 words are in the VOQ, all others are in
	 * the ring */
	assert_int_equal(
		forth_pointers_head(rig_r32(&r, 0, FORTH_QUEUE_POINTERS + 12)),
		4 + 18);
	rig_release(&r);
	rig_wait(&r, 20000);
	assert_int_equal(
		forth_pointers_head(rig_r32(&r, 0, FORTH_QUEUE_POINTERS + 12)),
		4 + 20);
	assert_int_equal(r.sink->n_log, 32 + 3 + 20 + 1);
	assert_true(rig_r32(&r, 0, FORTH_NET_BACKPRESSURE) > 0);
	rig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_descriptor_gives_the_specified_header),
		cmocka_unit_test(test_cluster_starts_by_its_last_descriptor),
		cmocka_unit_test(test_trigger_inside),
		cmocka_unit_test(test_full_ring_128),
		cmocka_unit_test(test_full_ring_1024),
		cmocka_unit_test(test_bad_descriptors),
		cmocka_unit_test(test_aborts_are_reported_and_low_bits_ignored),
		cmocka_unit_test(test_round_robin_and_isolation),
	};

	return cmocka_run_group_tests_name("forth-queue", tests, NULL, NULL);
}
