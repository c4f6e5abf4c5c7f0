/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that are not for a VI of HVIA-GE (hvia.md 9: T-16), sent as kernel
 * packets, because these may have any content. */
#include "hvduo.h"

#include <string.h>

#include "systems/ethernet/link/wire.h"

static void frame(struct hvrig *r, uint8_t *f)
{
	uint64_t w;

	for (uint32_t i = 0; i < 64; i += 8) {
		memcpy(&w, f + i, 8);
		hvrig_store(r, HVIA_KTX + i, w);
	}
	hvrig_store(r, HVIA_KTX_LENGTH, 60);
	while (hvrig_load(r, HVIA_KTX_LENGTH))
		;
}

/* Sends a valid frame with this sequence number and one byte changed. */
static void forged_seq(struct hvrig *r, uint8_t seq, uint32_t at, uint8_t val)
{
	uint8_t f[64] = { 0 };

	eth_addr_of(f, 1);
	eth_addr_of(f + HVIA_F_SRC, 0);
	f[HVIA_F_ETHERTYPE] = 0x88;
	f[HVIA_F_ETHERTYPE + 1] = 0xB5;
	f[HVIA_F_FLAGS] = HVIA_FF_FIRST | HVIA_FF_LAST;
	f[HVIA_F_DST_VI] = 4;
	f[HVIA_F_SRC_VI] = 3;
	f[HVIA_F_SEQ] = seq;
	f[HVIA_F_LENGTH] = 8;
	f[at] = val;
	frame(r, f);
}

static void forged(struct hvrig *r, uint32_t at, uint8_t val)
{
	forged_seq(r, 0, at, val);
}

enum { LONGER = 3 }; /* upper bytes of a length */

static int forger(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[0];
	uint32_t turn = 0;

	hvrig_open(r, h);
	hvarea_meet(h, &turn);
	forged(r, HVIA_F_ETHERTYPE, 0x08); /* EtherType */
	/* a type that does not exist */
	forged(r, HVIA_F_TYPE, 5);
	forged(r, HVIA_F_DST_VI + 1, 4); /* VI 1028 */
	forged(r, HVIA_F_DST_VI, 5);	 /* not connected */
	/* from a VI that is not the peer */
	forged(r, HVIA_F_SRC_VI, 9);
	forged(r, HVIA_F_SRC + 5, 7); /* from another station */
	forged(r, HVIA_F_DST + 5, 9); /* to another station */
	/* messages longer than their frames */
	for (uint32_t i = 0; i < LONGER; i++)
		forged_seq(r, (uint8_t)i, HVIA_F_LENGTH + 1 + i, 9);
	/* a packet for the kernel agent */
	forged(r, HVIA_F_TYPE, HVIA_T_CONN_REQ);
	hvarea_meet(h, &turn);
	return 0;
}

static int victim(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[1];
	uint32_t turn = 0, handle;
	struct hvrig_desc *d[LONGER];
	uint64_t *buf;

	hvrig_open(r, h);
	buf = hvrig_mem(r, HVIA_PAGE, 0, &handle);
	hvrig_vi(r, 4, 3, 0);
	hvrig_store(r, HVIA_INT_MASK, HVIA_INT_PACKET);
	for (uint32_t i = 0; i < LONGER; i++) {
		d[i] = hvrig_desc(r, i, 0);
		hvrig_seg(d[i], buf, handle, 8);
		hvrig_post(r, 4, HVIA_Q_RECV, d[i]);
	}
	hvarea_meet(h, &turn);
	assert_true(weft_host_irq_wait(h, r->dev, WEFT_SEC));
	assert_int_equal(hvrig_load(r, HVIA_KRX_LENGTH), 60);
	assert_int_equal(hvrig_load(r, HVIA_KRX_TYPE), HVIA_T_CONN_REQ);
	assert_int_equal(hvrig_load(r, HVIA_KRX + 16) & 0xffff, 4);
	hvrig_store(r, HVIA_KRX_LENGTH, 0);
	hvrig_store(r, HVIA_INT_CAUSE, HVIA_INT_PACKET);
	hvarea_meet(h, &turn);
	/* Each frame of wrong length consumed a descriptor, because its header
	 * is valid. The other frames consumed no descriptor. */
	for (uint32_t i = 0; i < LONGER; i++)
		assert_int_equal(d[i]->d.status, HVIA_ST_DONE |
							 HVIA_ST_RECEIVE |
							 HVIA_ST_PARTIAL_ERROR);
	assert_int_equal(*buf, 0);
	return 0;
}

/* T-16 */
static void forged_frames_are_dropped_and_counted(void **state)
{
	struct bench *b = hvrig_bench();
	const struct weft_comp *c = b->node[1].dev;

	bench_prog(b, 0, forger);
	bench_prog(b, 1, victim);
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	assert_false(weft_progs_running(b->sim));
	assert_int_equal(bench_counter(c, "drop_type"), 2);
	assert_int_equal(bench_counter(c, "drop_vi"), 4);
	assert_int_equal(bench_counter(c, "drop_format"), LONGER);
	assert_int_equal(bench_counter(c, "filtered"), 1);
	assert_int_equal(bench_counter(c, "kernel_rx"), 1);
	bench_free(b);
}

/* ---- frames that are too short ---- */

enum { RUNTS = 3 };

static int sends_runts(struct weft_host *h, struct bench *b)
{
	weft_time_t t = weft_host_now(h);

	for (uint32_t i = 0; i < RUNTS; i++) {
		struct weft_slice s = weft_slice_word(b->sim, 59);
		struct weft_frame *f = eth_frame_slice(b->sim, s);

		memset(eth_frame_data(f), 0, 59);
		eth_addr_of(eth_frame_data(f), 1);
		weft_port_send(&b->node[0].dev->ports[1], f,
			       t + (i + 1) * 10 * WEFT_US);
	}
	weft_host_sleep(h, t + 100 * WEFT_US);
	return 0;
}

static void a_frame_that_is_too_short_counts_as_bad(void **state)
{
	struct bench *b = hvrig_bench();
	const struct weft_comp *c = b->node[1].dev;

	bench_prog(b, 0, sends_runts);
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	assert_int_equal(bench_counter(c, "bad_fcs"), RUNTS);
	assert_int_equal(bench_counter(c, "filtered"), 0);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forged_frames_are_dropped_and_counted),
		cmocka_unit_test(a_frame_that_is_too_short_counts_as_bad),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
