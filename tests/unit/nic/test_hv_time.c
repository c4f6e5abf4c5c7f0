/* SPDX-License-Identifier: Apache-2.0 */
/* Times of HVIA-GE against hvia.md 7.1 to 7.4, to the cycle. */
#include "../cmocka_all.h"

#include <string.h>

#include "hvrig.h"

#define T_NS (1000.0 / 66)
#define KB   1024

static struct hvrig rig[2];

/* Two frames of the clock: doorbell to edge, wire to edge. */
static void near(double got, double want, double late)
{
	if (got < want - 1e-3 || got > want + late + 1e-3)
		fail_msg("%.3f ns, not %.3f", got, want);
}

enum { SIZE, OP, MESSAGES }; /* what bench.v holds */

/* RDMA needs an address: node 1 leaves it in the bench. */
static int receiver(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &rig[1];
	uint32_t handle;
	uint8_t *buf;

	hvrig_open(r, h);
	buf = hvrig_mem(r, 1 << 20, HVIA_ATT_RDMA_WRITE, &handle);
	hvrig_vi(r, 1, 2, HVIA_VIF_RDMA_WRITE);
	b->p = buf;
	b->v[8] = handle;
	for (uint32_t i = 0; i < b->v[MESSAGES]; i++) {
		struct hvrig_desc *d = hvrig_desc(r, i, 0);

		hvrig_seg(d, buf, handle, (uint32_t)b->v[SIZE]);
		hvrig_post(r, 1, HVIA_Q_RECV, d);
	}
	weft_oob_put(h, "ready", 1);
	if (b->v[OP] == HVIA_OP_SENDRECV)
		for (uint32_t i = 0; i < b->v[MESSAGES]; i++)
			assert_int_equal(hvrig_wait(r, &r->desc[i]),
					 HVIA_ST_DONE | HVIA_ST_RECEIVE);
	return 0;
}

static int sender(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &rig[0];
	uint32_t handle;
	uint8_t *buf;

	hvrig_open(r, h);
	buf = hvrig_mem(r, 1 << 20, 0, &handle);
	hvrig_vi(r, 2, 1, 0);
	weft_oob_get(h, "ready");
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	for (uint32_t i = 0; i < b->v[MESSAGES]; i++) {
		struct hvrig_desc *d = hvrig_desc(r, i, (uint32_t)b->v[OP]);

		if (b->v[OP] == HVIA_OP_RDMAWRITE)
			hvrig_remote(d, (uintptr_t)b->p, (uint32_t)b->v[8]);
		hvrig_seg(d, buf, handle, (uint32_t)b->v[SIZE]);
		hvrig_post(r, 2, HVIA_Q_SEND, d);
		assert_true(hvrig_wait(r, d) & HVIA_ST_DONE);
		weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
	}
	return 0;
}

static struct bench *bench(uint32_t size, uint32_t op)
{
	struct bench *b = hvrig_bench();

	b->v[SIZE] = size;
	b->v[OP] = op;
	b->v[MESSAGES] = 4;
	return b;
}

static void run(struct bench *b)
{
	bench_prog(b, 0, sender);
	bench_prog(b, 1, receiver);
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
}

/* 7.1: T2 157 cycles, T3 2.981 us, T4 65 cycles, of T5 36 cycles. */
static void minimum(void **state)
{
	struct bench *b = bench(4, HVIA_OP_SENDRECV);
	double wire = 266 + 576 + 410 + 668;

	(void)state;
	run(b);
	for (uint32_t i = 0; i < 4; i++) {
		double bell = hvrig_stage(b, 0, "doorbell", i);
		double txd = hvrig_stage(b, 0, "txd", i);
		double poll = hvrig_stage(b, 1, "poll", i);
		double data = hvrig_stage(b, 1, "data", i);
		double done = hvrig_stage(b, 1, "done", i);

		near(txd - bell, 157 * T_NS, 0);
		near(poll - txd, 36 * T_NS + wire + 34 * T_NS, T_NS);
		near(data - poll, 65 * T_NS, 0);
		near(done - data, 36 * T_NS, 0);
	}
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(minimum),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
