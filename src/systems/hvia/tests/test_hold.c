/* SPDX-License-Identifier: Apache-2.0 */
/* HVIA-GE: descriptors that the card has fetched from a removed region (hvia.md
 * 6.2), the order in which the card serves VIs (2.3), and the region that an
 * error names when an RDMA write finds no memory. */
#include "hvduo.h"

#include "systems/hvia/nic/nic.h"

/* ---- fetched descriptors ---- */

/* Checks that the card drops the fetched descriptors of the first VI, the last
 * VI and some others when the descriptors' region is removed. */
static int forgets(struct weft_host *h, struct bench *b)
{
	static const uint32_t vi[] = { 0, 63, 64, 500, HVIA_VIS - 1 };
	struct hvrig *r = &hvduo.rig[0];

	hvduo_open_side(h, 0, 0);
	for (uint32_t i = 0; i < sizeof(vi) / sizeof(*vi); i++) {
		struct hvrig_desc *d = hvrig_desc(r, i, 0);

		hvrig_vi(r, vi[i], PEER, 0);
		hvrig_seg(d, hvduo.buf[0], hvduo.handle[0], 64);
		hvrig_post(r, vi[i], HVIA_Q_RECV, d);
	}
	weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
	assert_true(hv_vi_holds(b->node[0].dev->state, r->desc_handle));
	hvrig_unmap(r, r->desc_handle);
	weft_host_sleep(h, weft_host_now(h) + 10 * WEFT_US);
	assert_int_equal(hvrig_load(r, HVIA_ATT_BUSY), 0);
	hvduo_no_error(r);
	return 0;
}

static int idles(struct weft_host *h, struct bench *b)
{
	return 0;
}

static void fetched_descriptors_of_all_vis_are_given_up(void **state)
{
	hvduo_run(forgets, idles, 0);
}

/* ---- order of service ---- */

/* Rings doorbells while the engines are stopped, so that the lowest VI is
 * served first after the start. */
static int rings(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[0];
	struct hvrig_desc *d[2];
	uint64_t ctrl;

	hvduo_open_side(h, 0, 0);
	ctrl = hvrig_load(r, HVIA_CTRL);
	hvrig_store(r, HVIA_CTRL, ctrl | HVIA_CTRL_STOP);
	for (uint32_t i = 0; i < 2; i++) {
		d[i] = hvduo_simple(i, 1000);
		hvrig_vi(r, i ? 0 : 900, PEER, 0);
		hvrig_post(r, i ? 0 : 900, HVIA_Q_SEND, d[i]);
	}
	hvrig_store(r, HVIA_CTRL, ctrl);
	assert_int_equal(hvrig_wait(r, d[1]), OK);
	assert_int_equal(d[0]->d.status, 0);
	assert_int_equal(hvrig_wait(r, d[0]), OK);
	return 0;
}

static void vi_0_has_the_first_turn(void **state)
{
	hvduo_run(rings, idles, 0);
}

/* ---- RDMA writes without memory ---- */

static uint32_t nowhere;

static int writes(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[0];
	struct hvrig_desc *d;
	uint32_t turn = 0;

	hvduo_open_side(h, 0, 0);
	hvarea_meet(h, &turn);
	d = hvrig_desc(r, 0, HVIA_OP_RDMAWRITE);
	hvrig_remote(d, 0x10000, nowhere);
	hvrig_seg(d, hvduo.buf[0], hvduo.handle[0], 64);
	assert_true(hvduo_sent(d) & HVIA_ST_DONE);
	weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
	hvarea_meet(h, &turn);
	return 0;
}

static int has_none(struct weft_host *h, struct bench *b)
{
	weft_phys_t page = 0xf0000000;
	struct hvrig *r = &hvduo.rig[1];
	uint32_t turn = 0;

	hvduo_open_side(h, 0, HVIA_VIF_RDMA_WRITE);
	nowhere = hvrig_region(r, 0x10000, HVIA_PAGE, &page, HVRIG_PTAG,
			       HVIA_ATT_RDMA_WRITE);
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	hvduo_error_is(r, PEER, HVIA_ERROR_RDMAW_DATA);
	assert_int_equal(hvrig_load(r, HVIA_ERR_INFO), hvia_token(nowhere, 0));
	hvduo_no_error(r);
	assert_int_equal(bench_counter(b->node[1].dev, "bus_aborts"), 1);
	return 0;
}

static void an_rdma_write_without_memory_names_its_region(void **state)
{
	hvduo_run(writes, has_none, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fetched_descriptors_of_all_vis_are_given_up),
		cmocka_unit_test(vi_0_has_the_first_turn),
		cmocka_unit_test(an_rdma_write_without_memory_names_its_region),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
