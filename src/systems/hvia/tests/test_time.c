/* SPDX-License-Identifier: Apache-2.0 */
/* Times of HVIA-GE against hvia.md 7.1 to 7.4, to the cycle. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hvrig.h"

#define T_NS (1000.0 / 66)
#define KB   1024

static struct hvrig rig[2];

/* Checks that a time is `want`, or later by at most `late`. */
static void near(double got, double want, double late)
{
	if (got < want - 1e-3 || got > want + late + 1e-3)
		fail_msg("%.3f ns, not %.3f", got, want);
}

enum { SIZE, OP, MESSAGES }; /* indices of bench.v */

/* Receives messages. For RDMA, stores address and handle of its memory in the
 * bench. */
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

	hvrig_listen(b);
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

/* 7.1: T2 is 157 cycles, T3 2.981 us, T4 65 cycles. The card's part of T5 is 36
 * cycles. */
static void smallest_message_takes_the_published_stages(void **state)
{
	struct bench *b = bench(4, HVIA_OP_SENDRECV);
	double wire = 266 + 576 + 410 + 668;

	run(b);
	for (uint32_t i = 0; i < 4; i++) {
		double bell = hvrig_stage(b, 0, "doorbell", i);
		double txd = hvrig_stage(b, 0, "txd", i);
		double poll = hvrig_stage(b, 1, "poll", i);
		double data = hvrig_stage(b, 1, "data", i);
		double done = hvrig_stage(b, 1, "done", i);

		near(txd - bell, 157 * T_NS, 0);
		near(poll - txd, 36 * T_NS + wire + 34 * T_NS, 0);
		near(data - poll, 65 * T_NS, T_NS);
		near(done - data, 36 * T_NS, 0);
	}
	bench_free(b);
}

/* Returns the time from the doorbell to the completion in memory, which is all
 * parts except T1 and the program's part of T5 (7.2). */
static double path(struct bench *b, uint32_t n, uint32_t i)
{
	uint32_t frames = n ? (n + 1471) / 1472 : 1;

	return hvrig_stage(b, 1, "done", (i + 1) * frames - 1) -
	       hvrig_stage(b, 0, "doorbell", i * frames);
}

static double beats(uint32_t bytes)
{
	return ((bytes + 7) / 8 - 1) * T_NS;
}

static double wire(uint32_t bytes)
{
	return (8 + (bytes < 18 ? 60 : bytes + 42) + 4) * 8.0;
}

static double formula(uint32_t n)
{
	uint32_t frames = (n + 1471) / 1472, last = n - (frames - 1) * 1472;
	double g = 36 * T_NS + 266;

	return 157 * T_NS + beats(frames > 1 ? 1472 : n) + g +
	       (frames - 1) * (wire(1472) + 96 + g) + wire(last) + 1078 +
	       34 * T_NS + 65 * T_NS + beats(last) + 36 * T_NS;
}

/* Checks the table of 7.2, in us. Its times contain T1 and the program's part
 * of T5. */
static void times_by_size_are_those_of_the_table(void **state)
{
	static const struct {
		uint32_t n;
		double us;
	} row[] = { { 4, 8.20 },      { 64, 8.78 },	  { 256, 11.04 },
		    { 1024, 20.10 },  { 1472, 25.38 },	  { 2048, 29.63 },
		    { 4096, 48.44 },  { 8192, 84.62 },	  { 10000, 101.1 },
		    { 65536, 595.5 }, { 1048576, 9354.1 } };

	for (uint32_t k = 0; k < sizeof(row) / sizeof(row[0]); k++) {
		struct bench *b = bench(row[k].n, HVIA_OP_SENDRECV);
		double got;

		b->v[MESSAGES] = 1;
		run(b);
		got = path(b, row[k].n, 0);
		near(got, formula(row[k].n), T_NS);
		near(got / 1000 + 0.9 + 27 * T_NS / 1000, row[k].us - 0.05,
		     0.1 + T_NS / 1000);
		bench_free(b);
	}
}

static double latency(uint32_t n, uint32_t op, const char *param,
		      const char *value)
{
	struct bench *b = bench(n, op);
	uint32_t frames = (n + 1471) / 1472;
	double t;

	if (param)
		bench_set(b, "hvia.nic", param, value);
	b->v[MESSAGES] = 1;
	run(b);
	t = hvrig_stage(b, 1, op == HVIA_OP_SENDRECV ? "done" : "data",
			frames - 1) -
	    hvrig_stage(b, 0, "txd", 0);
	bench_free(b);
	return t;
}

/* Section 7.4. Messages of both kinds arrive in the same phase of the clock, so
 * that their times differ by whole cycles. At 16 KB the last packet is so short
 * that it waits for the writes of the previous packet. Without prefetch the
 * card reads the last packet's segment only after those writes. */
static void rdma_write_is_six_cycles_faster_than_a_send(void **state)
{
	static const struct {
		uint32_t n, gain;
	} row[] = {
		{ 4, 67 },    { 64, 67 },     { 1472, 67 },  { 2048, 67 },
		{ 8192, 67 }, { 16384, 136 }, { 65536, 67 }, { 1048576, 67 }
	};

	for (uint32_t k = 0; k < sizeof(row) / sizeof(row[0]); k++) {
		uint32_t n = row[k].n;
		double r = latency(n, HVIA_OP_RDMAWRITE, NULL, NULL);
		double with = latency(n, HVIA_OP_SENDRECV, NULL, NULL);
		double without = latency(n, HVIA_OP_SENDRECV, "prefetch", "0");

		near(with - r, (36 - 30) * T_NS, 0);
		near(without - with, row[k].gain * T_NS, 0);
	}
}

/* Section 7.3: a translation takes 30 cycles, or 88 with the table in host
 * memory. The sending card makes two translations. For RDMA the receiving card
 * makes a third. */
static void att_in_host(void **state)
{
	double t[2];

	for (uint32_t k = 0; k < 2; k++) {
		struct bench *b = bench(4, HVIA_OP_SENDRECV);

		b->v[MESSAGES] = 1;
		b->v[9] = k;
		bench_set(b, "hvia.nic", "att_host", k ? "yes" : "no");
		run(b);
		t[k] = hvrig_stage(b, 0, "txd", 0) -
		       hvrig_stage(b, 0, "doorbell", 0);
		bench_free(b);
	}
	near(t[1] - t[0], 2 * (88 - 30) * T_NS, 0);
}

/* T-40: the MAC has fetched its next frame when the line becomes free. */
static void next_frame_is_fetched_before_the_line_is_free(void **state)
{
	struct bench *b = bench(1 << 20, HVIA_OP_SENDRECV);
	double us;

	b->v[MESSAGES] = 1;
	bench_set(b, "hvia.nic", "tx_outstanding", "2");
	run(b);
	us = path(b, 1 << 20, 0) / 1000 + 0.9 + 27 * T_NS / 1000;
	/* MB/s, where the line carries 119.6 */
	near((1 << 20) / us, 119.2, 0.4);
	bench_free(b);
}

/* ---- two VIs in turn (T-22) ---- */

static int pair_receiver(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &rig[1];
	uint32_t handle;
	uint8_t *buf;

	hvrig_open(r, h);
	buf = hvrig_mem(r, 1 << 16, 0, &handle);
	for (uint32_t i = 0; i < 8; i++) {
		struct hvrig_desc *d = hvrig_desc(r, i, 0);

		if (i < 2)
			hvrig_vi(r, 10 + i, 20 + i, 0);
		hvrig_seg(d, buf + i * 64, handle, 64);
		hvrig_post(r, 10 + i % 2, HVIA_Q_RECV, d);
	}
	weft_oob_put(h, "ready", 1);
	for (uint32_t i = 0; i < 8; i++) {
		assert_true(hvrig_wait(r, &r->desc[i]) & HVIA_ST_DONE);
		assert_int_equal(buf[i * 64], i + 1);
	}
	return 0;
}

static int pair_sender(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &rig[0];
	uint32_t handle;
	uint8_t *buf;

	hvrig_open(r, h);
	buf = hvrig_mem(r, 4096, 0, &handle);
	hvrig_vi(r, 20, 10, 0);
	hvrig_vi(r, 21, 11, 0);
	weft_oob_get(h, "ready");
	for (uint32_t i = 0; i < 8; i++) {
		struct hvrig_desc *d = hvrig_desc(r, i, 0);

		buf[0] = (uint8_t)(i + 1);
		hvrig_seg(d, buf, handle, 4);
		hvrig_post(r, 20 + i % 2, HVIA_Q_SEND, d);
		assert_true(hvrig_wait(r, d) & HVIA_ST_DONE);
		weft_host_sleep(h, weft_host_now(h) + 20 * WEFT_US);
	}
	return 0;
}

/* T-22: with one entry, the prefetch buffer holds only the addresses of the VI
 * that was prepared last. With two entries each VI has an entry. */
static void two_vis(void **state)
{
	for (uint32_t n = 1; n <= 2; n++) {
		struct bench *b = hvrig_bench();
		double t;

		hvrig_listen(b);
		bench_set(b, "hvia.nic", "prefetch", n == 1 ? "1" : "2");
		bench_prog(b, 0, pair_sender);
		bench_prog(b, 1, pair_receiver);
		bench_start(b);
		bench_run(b);
		assert_string_equal(bench_failure(b, 0), "");
		/* VI 10 was prepared before VI 11. With one entry, the
		 * addresses of VI 11 have replaced those of VI 10 */
		t = hvrig_stage(b, 1, "data", 0) - hvrig_stage(b, 1, "poll", 0);
		near(t, (n == 1 ? 65 + 67 : 65) * T_NS, T_NS);
		assert_int_equal(
			bench_counter(b->node[1].dev, "prefetch_misses"),
			n == 1 ? 7 : 0);
		bench_free(b);
	}
}

/* ---- descriptor and packet at once (T-24) ---- */

static int late_receiver(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &rig[1];
	uint32_t handle;
	uint8_t *buf;

	hvrig_open(r, h);
	buf = hvrig_mem(r, 4096, 0, &handle);
	hvrig_vi(r, 1, 2, 0);
	for (uint32_t i = 0; i < 60; i++) {
		struct hvrig_desc *d = hvrig_desc(r, 0, 0);
		char key[16] = { 'r', (char)('0' + i % 10),
				 (char)('0' + i / 10) };

		hvrig_seg(d, buf, handle, 64);
		weft_oob_put(h, key, 1);
		/* the packet arrives about 107 us from now */
		weft_host_sleep(h, weft_host_now(h) + 103 * WEFT_US +
					   i * 80 * WEFT_NS);
		hvrig_post(r, 1, HVIA_Q_RECV, d);
		weft_host_sleep(h, weft_host_now(h) + 40 * WEFT_US);
		if (d->d.status & HVIA_ST_DONE) {
			b->v[0]++;
			assert_int_equal(buf[0], i + 1);
			continue;
		}
		b->v[1]++;
		assert_int_equal(HVIA_ERR_CODE(hvrig_error(r)),
				 HVIA_ERROR_RECVQ_EMPTY);
		hvrig_store(r, hvia_vi_entry(1, HVIA_VI_3),
			    HVIA_VIF_FLUSH_RECV);
		assert_true(hvrig_wait(r, d) & HVIA_ST_FLUSHED);
		r->q[1][HVIA_Q_RECV].tail = NULL;
	}
	assert_int_equal(hvrig_error(r), 0);
	return 0;
}

static int late_sender(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &rig[0];
	uint32_t handle;
	uint8_t *buf;

	hvrig_open(r, h);
	buf = hvrig_mem(r, 4096, 0, &handle);
	hvrig_vi(r, 2, 1, 0);
	for (uint32_t i = 0; i < 60; i++) {
		struct hvrig_desc *d = hvrig_desc(r, i % 2, 0);
		char key[16] = { 'r', (char)('0' + i % 10),
				 (char)('0' + i / 10) };

		weft_oob_get(h, key);
		weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
		buf[0] = (uint8_t)(i + 1);
		hvrig_seg(d, buf, handle, 4);
		hvrig_post(r, 2, HVIA_Q_SEND, d);
		assert_true(hvrig_wait(r, d) & HVIA_ST_DONE);
		r->q[2][HVIA_Q_SEND].tail = NULL;
	}
	return 0;
}

/* T-24: a packet waits for the descriptor that is being fetched. Without such a
 * descriptor it is dropped and reported. */
static void packet_waits_only_for_a_descriptor_in_fetch(void **state)
{
	struct bench *b = hvrig_bench();

	bench_prog(b, 0, late_sender);
	bench_prog(b, 1, late_receiver);
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	assert_false(weft_progs_running(b->sim));
	assert_true(b->v[0] > 10 && b->v[1] > 10);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(smallest_message_takes_the_published_stages),
		cmocka_unit_test(times_by_size_are_those_of_the_table),
		cmocka_unit_test(rdma_write_is_six_cycles_faster_than_a_send),
		cmocka_unit_test(att_in_host),
		cmocka_unit_test(next_frame_is_fetched_before_the_line_is_free),
		cmocka_unit_test(two_vis),
		cmocka_unit_test(packet_waits_only_for_a_descriptor_in_fetch),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
