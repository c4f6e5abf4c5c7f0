/* SPDX-License-Identifier: Apache-2.0 */
/* Descriptors, protection and RDMA rights of HVIA-GE through its registers
 * (hvia.md 9: T-03, T-04, T-06 to T-11). */
#include "hvduo.h"

#include <stdlib.h>
#include <string.h>

/* ---- T-06, T-07, T-08, T-04, T-03 ---- */

static void formats(void)
{
	struct hvrig_desc *d = hvduo_simple(0, 100);

	d->d.length = 99;
	assert_int_equal(hvduo_sent(d), OK | HVIA_ST_FORMAT_ERROR);
	d = hvduo_simple(3, 8);
	d->d.reserved = 1;
	assert_int_equal(hvduo_sent(d), OK | HVIA_ST_FORMAT_ERROR);
	d = hvrig_desc(&hvduo.rig[0], 1, 0);
	d->d.length = 1;
	assert_int_equal(hvduo_sent(d), OK | HVIA_ST_FORMAT_ERROR);
	d = hvduo_simple(2, 8);
	d->d.control = 0x0010;
	assert_int_equal(hvduo_sent(d), OK | HVIA_ST_FORMAT_ERROR);
	d = hvduo_simple(3, 8);
	d->d.control = HVIA_OP_RDMAREAD;
	assert_int_equal(hvduo_sent(d),
			 OK | HVIA_ST_FORMAT_ERROR | HVIA_ST_RDMA_READ);
	d = hvduo_simple(4, 8);
	d->d.seg_count = 253;
	assert_int_equal(hvduo_sent(d), OK | HVIA_ST_FORMAT_ERROR);
	d = hvrig_desc(&hvduo.rig[0], 5, HVIA_OP_RDMAWRITE);
	assert_int_equal(hvduo_sent(d),
			 OK | HVIA_ST_FORMAT_ERROR | HVIA_ST_RDMA_WRITE);
	d = hvduo_simple(6, 8);
	d->seg[0].length = d->d.length = 0x80000000;
	assert_int_equal(hvduo_sent(d), OK | HVIA_ST_LENGTH_ERROR);
}

static void protection(void)
{
	struct hvrig *r = &hvduo.rig[0];
	uint64_t va = (uintptr_t)hvduo.buf[0];
	weft_phys_t page[2] = { 0x10000, 0x12000 }, top = 0x20000;
	uint32_t other = hvrig_region(r, 0x5000, 64, page, HVRIG_PTAG + 1, 0);
	uint32_t high = hvrig_region(r, ~0ULL - 99, 100, &top, HVRIG_PTAG, 0);
	uint32_t freed = hvrig_region(r, 0x9000, 64, page, HVRIG_PTAG, 0);

	assert_int_equal(hvduo_try_data(va + LEN - 1, hvduo.handle[0], 1), OK);
	assert_int_equal(hvduo_try_data(va + LEN - 1, hvduo.handle[0], 2),
			 OK | HVIA_ST_PROTECTION_ERROR);
	assert_int_equal(hvduo_try_data(va + LEN, hvduo.handle[0], 1),
			 OK | HVIA_ST_PROTECTION_ERROR);
	assert_int_equal(hvduo_try_data(va - 1, hvduo.handle[0], 1),
			 OK | HVIA_ST_PROTECTION_ERROR);
	assert_int_equal(hvduo_try_data(~0ULL - 99, high, 100), OK);
	assert_int_equal(hvduo_try_data(~0ULL - 49, high, 100),
			 OK | HVIA_ST_PROTECTION_ERROR);
	assert_int_equal(hvduo_try_data(0x5000, other, 8),
			 OK | HVIA_ST_PROTECTION_ERROR);
	assert_int_equal(hvduo_try_data(0x9000, freed, 8), OK);
	hvrig_unmap(r, freed);
	assert_int_equal(hvrig_load(r, HVIA_ATT_BUSY), 0);
	assert_int_equal(hvduo_try_data(0x9000, freed, 8),
			 OK | HVIA_ST_PROTECTION_ERROR);
	assert_int_equal(hvduo_try_data(va, 4000000, 8),
			 OK | HVIA_ST_PROTECTION_ERROR);
}

/* Checks the example of 3.6: address 0x10001A10 of a region that starts at
 * 0x10000E00. The pages are in this node's memory, so that the bytes that
 * arrive show where they were read. */
static void worked_example(void)
{
	struct hvrig *r = &hvduo.rig[0];
	weft_phys_t page[3], phys;
	uint8_t *mem = weft_mem_alloc(r->h, 3 * HVIA_PAGE, HVIA_PAGE, &phys);
	struct hvrig_desc *d;
	uint32_t h;

	for (uint32_t i = 0; i < 3; i++)
		page[i] = phys + (2 - i) * HVIA_PAGE;
	h = hvrig_region(r, 0x10000E00, 2 * HVIA_PAGE, page, HVRIG_PTAG, 0);
	/* the three pages are in memory in reverse order, so that the second
	 * page is still in the middle */
	mem[HVIA_PAGE + 0xA10] = 0x5A;
	d = hvrig_desc(r, 8, 0);
	hvrig_seg(d, (void *)(uintptr_t)0x10001A10, h, 1);
	assert_int_equal(hvduo_sent(d), OK);
}

static int refuser(struct weft_host *h, struct bench *b)
{
	uint32_t turn = 0;

	hvduo_open_side(h, 0, 0);
	hvarea_meet(h, &turn);
	worked_example();
	formats();
	protection();
	assert_int_equal(hvduo_state_of(&hvduo.rig[0], VI), HVIA_VI_CONNECTED);
	hvduo_no_error(&hvduo.rig[0]);
	weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
	hvarea_meet(h, &turn);
	return 0;
}

static int refused_peer(struct weft_host *h, struct bench *b)
{
	hvduo_peer(h, b);
	assert_int_equal(hvduo.buf[1][0], 0x5A);
	/* refused messages were not sent, so that four messages arrived: that
	 * of worked_example() and three others */
	for (uint32_t i = 0; i < 8; i++)
		assert_int_equal(hvduo.rig[1].desc[i].d.status,
				 i < 4 ? RECV : 0);
	hvduo_no_error(&hvduo.rig[1]);
	return 0;
}

/* T-03, T-04, T-06, T-07, T-08: sends that the card refuses, and the worked
 * example of 3.6. */
static void card_refuses_malformed_sends(void **state)
{
	hvduo_run(refuser, refused_peer, 8);
}

/* ---- a region that begins anywhere ---- */

enum { START = 0x10000E25, BYTES = 0x400 };

static void outside(uint32_t vi, uint32_t region, uint32_t offset)
{
	struct hvrig *r = &hvduo.rig[0];

	hvrig_vi(r, vi, PEER, 0);
	weft_io_store64(r->h, &r->db, hvia_doorbell(vi, HVIA_Q_SEND),
			hvia_token(region, offset));
	weft_host_sleep(r->h, weft_host_now(r->h) + 10 * WEFT_US);
	hvduo_error_is(r, vi, HVIA_ERROR_POST_DESC);
}

/* Uses descriptors that are addressed from 0x10000E00 on, in steps of 64. */
static void inside(uint8_t *mem, uint32_t region)
{
	struct hvrig *r = &hvduo.rig[0];
	struct hvrig_desc *d = (void *)(mem + 0xE40);

	memset(d, 0, 64);
	hvrig_seg(d, (void *)(uintptr_t)(START + 0x100), region, 4);
	weft_io_store64(r->h, &r->db, hvia_doorbell(VI, HVIA_Q_SEND),
			hvia_token(region, 0x40));
	assert_int_equal(hvrig_wait(r, d), OK);
}

static int edger(struct weft_host *h, struct bench *b)
{
	weft_phys_t phys, page[2];
	uint32_t turn = 0, region;
	uint8_t *mem;

	hvduo_open_side(h, 0, 0);
	mem = weft_mem_alloc(h, 2 * HVIA_PAGE, HVIA_PAGE, &phys);
	page[0] = phys;
	page[1] = phys + HVIA_PAGE;
	region = hvrig_region(&hvduo.rig[0], START, BYTES, page, HVRIG_PTAG, 0);
	hvarea_meet(h, &turn);
	inside(mem, region);
	assert_int_equal(hvduo_try_data(START, region, BYTES), OK);
	assert_int_equal(hvduo_try_data(START - 1, region, 1),
			 OK | HVIA_ST_PROTECTION_ERROR);
	assert_int_equal(hvduo_try_data(START, region, BYTES + 1),
			 OK | HVIA_ST_PROTECTION_ERROR);
	assert_int_equal(hvduo_try_data(START + BYTES - 1, region, 1), OK);
	assert_int_equal(hvduo_try_data(START + BYTES, region, 1),
			 OK | HVIA_ST_PROTECTION_ERROR);
	outside(10, region, 0);
	outside(11, region, BYTES);
	hvarea_meet(h, &turn);
	return 0;
}

/* T-04: regions with any start have bounds exact to the byte, for data and for
 * descriptors. */
static void bounds_of_regions_are_exact_to_the_byte(void **state)
{
	hvduo_run(edger, hvduo_peer, 8);
}

/* ---- RDMA (T-09, T-10, T-11) ---- */

static uint32_t rdma(uint64_t va, uint32_t handle, uint32_t len, uint32_t imm)
{
	struct hvrig_desc *d =
		hvrig_desc(&hvduo.rig[0], 0,
			   HVIA_OP_RDMAWRITE | (imm ? HVIA_OP_IMMEDIATE : 0));

	d->d.immediate = imm;
	hvrig_remote(d, va, handle);
	hvrig_seg(d, hvduo.buf[0], hvduo.handle[0], len);
	return hvduo_sent(d);
}

static int writer(struct weft_host *h, struct bench *b)
{
	uint32_t turn = 0;
	uint64_t va;

	hvduo_open_side(h, 0, 0);
	memset(hvduo.buf[0], 0x77, LEN);
	hvarea_meet(h, &turn);
	va = (uintptr_t)hvduo.buf[1];
	/* region 2 of node 1 may not be written */
	assert_int_equal(rdma(va, hvduo.handle[1], 64, 0),
			 OK | HVIA_ST_RDMA_WRITE);
	assert_int_equal(rdma(b->v[1], (uint32_t)b->v[2], 64, 0),
			 OK | HVIA_ST_RDMA_WRITE);
	assert_int_equal(rdma(b->v[1], (uint32_t)b->v[2], 64, 5),
			 OK | HVIA_ST_RDMA_WRITE);
	assert_int_equal(rdma(va + LEN - 32, hvduo.handle[1], 64, 0),
			 OK | HVIA_ST_RDMA_WRITE);
	assert_int_equal(rdma(0x70000000, (uint32_t)b->v[3], 64, 0),
			 OK | HVIA_ST_RDMA_WRITE);
	/* 5 packets. The second crosses the page border at 4096, and the fifth
	 * crosses the page border at 8192 */
	assert_int_equal(rdma(va + 2000, hvduo.handle[1], 4 * 1472 + 500, 0),
			 OK | HVIA_ST_RDMA_WRITE);
	weft_host_sleep(h, weft_host_now(h) + 200 * WEFT_US);
	hvarea_meet(h, &turn);
	/* from now on the VI may not access the region */
	hvarea_meet(h, &turn);
	assert_int_equal(rdma(va, hvduo.handle[1], 64, 0),
			 OK | HVIA_ST_RDMA_WRITE);
	weft_host_sleep(h, weft_host_now(h) + 200 * WEFT_US);
	hvarea_meet(h, &turn);
	return 0;
}

static int written(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[1];
	weft_phys_t nowhere = 0xF0000000u;
	uint32_t turn = 0, closed;
	struct hvrig_desc *d;
	uint8_t *shut;

	hvduo_open_side(h, HVIA_ATT_RDMA_WRITE, hvduo.flags);
	shut = hvrig_mem(r, HVIA_PAGE, 0, &closed);
	b->v[1] = (uintptr_t)shut;
	b->v[2] = closed;
	b->v[3] = hvrig_region(r, 0x70000000, 64, &nowhere, HVRIG_PTAG,
			       HVIA_ATT_RDMA_WRITE);
	d = hvrig_desc(r, 0, 0);
	hvrig_post(r, PEER, HVIA_Q_RECV, d);
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	hvduo_error_is(r, PEER, HVIA_ERROR_RDMAW_PROT);
	hvduo_error_is(r, PEER, HVIA_ERROR_RDMAW_PROT);
	hvduo_error_is(r, PEER, HVIA_ERROR_RDMAW_DATA);
	hvduo_no_error(r);
	assert_int_equal(d->d.status, OK | HVIA_ST_REMOTE_RDMA_WRITE |
					      HVIA_ST_IMMEDIATE |
					      HVIA_ST_RDMA_PROT_ERROR);
	assert_int_equal(shut[0], 0);
	assert_int_equal(hvduo.buf[1][63], 0x77);
	assert_int_equal(hvduo.buf[1][64], 0);
	assert_int_equal(hvduo.buf[1][1999], 0);
	assert_int_equal(hvduo.buf[1][2000], 0x77);
	assert_int_equal(hvduo.buf[1][2000 + 4 * 1472 + 499], 0x77);
	assert_int_equal(hvduo.buf[1][2000 + 4 * 1472 + 500], 0);
	assert_int_equal(hvduo.buf[1][LEN - 1], 0);
	/* 1 for the receive descriptor, 5 for the small writes, 5 for the
	 * packets of the large write */
	assert_int_equal(bench_counter(b->node[1].dev, "translations"),
			 1 + 5 + 5);
	assert_int_equal(bench_counter(b->node[1].dev, "second_pages"), 2);
	hvrig_vi(r, PEER, VI, 0);
	hvrig_store(r, hvia_vi_entry(PEER, HVIA_VI_1),
		    hvrig_load(r, hvia_vi_entry(PEER, HVIA_VI_1)) | 9ULL << 48);
	memset(hvduo.buf[1], 0, 64);
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	hvduo_error_is(r, PEER, HVIA_ERROR_RDMAW_PROT);
	assert_int_equal(hvduo.buf[1][0], 0);
	return 0;
}

/* T-09, T-10, T-11 */
static void rdma_rights(void **state)
{
	hvduo_run(writer, written, 0);
}

/* ---- command register ---- */

static int commander(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[0];
	struct hvrig_desc *d;
	uint32_t turn = 0;

	hvduo_open_side(h, 0, 0);
	hvarea_meet(h, &turn);
	weft_cfg_store(h, r->dev, HVIA_CFG_COMMAND, 2, 0);
	assert_int_equal(hvrig_load(r, HVIA_ID), ~0ULL);
	hvrig_store(r, HVIA_INT_MASK, HVIA_INT_ERROR);
	weft_cfg_store(h, r->dev, HVIA_CFG_COMMAND, 2, HVIA_CMD_MEMORY);
	assert_int_equal(hvrig_load(r, HVIA_ID), HVIA_VERSION);
	assert_int_equal(hvrig_load(r, HVIA_INT_MASK), 0);
	d = hvduo_simple(0, 4);
	hvrig_post(r, VI, HVIA_Q_SEND, d);
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	assert_int_equal(d->d.status, 0);
	assert_int_equal(bench_counter(b->node[0].dev, "tx_packets"), 0);
	weft_cfg_store(h, r->dev, HVIA_CFG_COMMAND, 2,
		       HVIA_CMD_MEMORY | HVIA_CMD_MASTER);
	assert_int_equal(hvrig_wait(r, d), OK);
	weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
	hvarea_meet(h, &turn);
	return 0;
}

static int commanded(struct weft_host *h, struct bench *b)
{
	hvduo_peer(h, b);
	assert_int_equal(hvduo.rig[1].desc[0].d.status, RECV);
	return 0;
}

/* With memory access disabled the card neither answers loads nor receives
 * doorbells. Without bus mastership posted descriptors wait. */
static void cleared_command_bits_stop_doorbells_and_descriptors(void **state)
{
	hvduo_run(commander, commanded, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(card_refuses_malformed_sends),
		cmocka_unit_test(bounds_of_regions_are_exact_to_the_byte),
		cmocka_unit_test(rdma_rights),
		cmocka_unit_test(
			cleared_command_bits_stop_doorbells_and_descriptors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
