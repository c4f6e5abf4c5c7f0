/* SPDX-License-Identifier: Apache-2.0 */
/* VIPL: data that arrives, polling and blocking (hvia.md T-01, T-10, T-28,
 * T-29, 7.1, 7.5). */
#include "viprig.h"

#include <stdlib.h>
#include <string.h>

static const uint32_t sizes[] = { 0,	1,    4,    17,	  18,	19,
				  1471, 1472, 1473, 2944, 65536 };
enum { SIZES = sizeof(sizes) / sizeof(sizes[0]), BYTES = 1 << 18 };

static int sender(struct weft_host *h, struct bench *b)
{
	struct side s;

	side_open(&s, h, b, "hvia0", BYTES);
	side_connect(&s);
	for (uint32_t i = 0; i < SIZES; i++) {
		VIP_DESCRIPTOR *d, *want = side_desc(&s, 0, 33 + i, sizes[i]);

		fill(s.data + 33 + i, sizes[i], i);
		want->CS.Control = i % 2 ? VIP_CONTROL_IMMEDIATE : 0;
		want->CS.ImmediateData = 1000 + i;
		side_send(&s, want);
		assert_int_equal(side_sent(&s, &d),
				 VIP_STATUS_DONE | VIP_STATUS_OP_SEND);
		assert_ptr_equal(d, want);
		side_recv(&s, side_desc(&s, 1, 100000, 4));
		assert_true(side_received(&s, &d));
	}
	side_close(&s);
	return 0;
}

static int receiver(struct weft_host *h, struct bench *b)
{
	struct side s;

	side_open(&s, h, b, "hvia0", BYTES);
	side_recv(&s, side_desc(&s, 0, 0, 70000)); /* in IDLE: T-27 */
	side_connect(&s);
	for (uint32_t i = 0; i < SIZES; i++) {
		uint32_t at = 71 * i, n = sizes[i], status;
		VIP_DESCRIPTOR *d;

		status = side_received(&s, &d);
		assert_int_equal(status,
				 VIP_STATUS_DONE | VIP_STATUS_OP_RECEIVE |
					 (i % 2 ? VIP_STATUS_IMMEDIATE : 0));
		assert_int_equal(d->CS.Length, n);
		if (i % 2)
			assert_int_equal(d->CS.ImmediateData, 1000 + i);
		at = i ? 71 * i : 0;
		assert_true(filled(s.data + at, n, i));
		/* guards */
		for (uint32_t k = 0; k < 64; k++)
			assert_int_equal(s.data[at + n + k], 0);
		memset(s.data, 0, 80000);
		side_recv(&s, side_desc(&s, 0, 71 * (i + 1), 70000));
		side_send(&s, side_desc(&s, 1, 100000, 4));
		assert_true(side_sent(&s, NULL));
	}
	side_close(&s);
	return 0;
}

static void test_sizes(void **state)
{
	viprig_run(*state, receiver, sender);
}

/* ---- times ----------------------------------------------------------------
 */

struct times {
	weft_time_t poll, block, rdma;
};

enum { ROUNDS = 20 };

static VIP_RETURN next(struct side *s, bool block, VIP_DESCRIPTOR **d_p)
{
	VIP_RETURN ret;

	if (block)
		return VipRecvWait(s->vi, VIP_INFINITE, d_p);
	do
		ret = VipRecvDone(s->vi, d_p);
	while (ret == VIP_NOT_DONE);
	return ret;
}

/* The next receive while the message flies: earlier it would be in its way. */
static void shoot(struct side *s, uint32_t i)
{
	VIP_DESCRIPTOR *d;

	side_send(s, side_desc(s, 2, 64, 4));
	while (VipSendDone(s->vi, &d) == VIP_NOT_DONE)
		;
	side_recv(s, side_desc(s, i % 2, 0, 4));
}

static weft_time_t rounds(struct side *s, bool ping, bool block)
{
	weft_time_t t = 0;
	VIP_DESCRIPTOR *d;

	for (uint32_t i = 0; i < ROUNDS; i++) {
		if (i == 1)
			t = weft_host_now(s->h);
		if (ping)
			shoot(s, i);
		assert_int_equal(next(s, block, &d), VIP_SUCCESS);
		if (!ping)
			shoot(s, i);
	}
	return (weft_host_now(s->h) - t) / (2 * (ROUNDS - 1));
}

static int pings(struct weft_host *h, struct bench *b)
{
	struct side s;
	bool ping = weft_host_node(h) == 0;

	side_open(&s, h, b, "hvia0", 4096);
	if (!ping)
		side_recv(&s, side_desc(&s, 3, 0, 4));
	side_connect(&s);
	meet(&s, "begin");
	b->t[ping ? 0 : 2] = rounds(&s, ping, false);
	meet(&s, "block");
	b->t[ping ? 1 : 3] = rounds(&s, ping, true);
	side_close(&s);
	return 0;
}

/* 7.1: 8.2 us; 7.5: 5.5 us more when it blocks. */
static void test_latency(void **state)
{
	struct bench *b = *state;

	viprig_run(b, pings, pings);
	print_message("poll %.3f us, block %.3f us\n", (double)b->t[0] / 1e9,
		      (double)b->t[1] / 1e9);
	assert_in_range(b->t[0], 8150 * WEFT_NS, 8450 * WEFT_NS);
	assert_in_range(b->t[1] - b->t[0], 5200 * WEFT_NS, 5800 * WEFT_NS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sizes, viprig_setup,
						bench_teardown),
		cmocka_unit_test_setup_teardown(test_latency, viprig_setup,
						bench_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
