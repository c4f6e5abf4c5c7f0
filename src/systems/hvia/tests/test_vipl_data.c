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
	side_recv(&s, side_desc(&s, 0, 0, 70000)); /* posted in IDLE (T-27) */
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

/* T-01 over VIPL */
static void test_messages_of_every_size_are_exact(void **state)
{
	viprig_run(*state, receiver, sender);
}

/* ---- a region that begins anywhere ---- */

enum { START = 37, LENGTH = 5000 };

static uint32_t send_at(struct side *s, uint8_t *p, uint32_t n,
			VIP_MEM_HANDLE handle)
{
	VIP_DESCRIPTOR *d = side_desc(s, 0, 0, n);

	d->DS[0].Local.Data.AddressBits = (uintptr_t)p;
	d->DS[0].Local.Handle = handle;
	side_send(s, d);
	return side_sent(s, NULL) & ~(uint32_t)VIP_STATUS_DONE;
}

static int edge_send(struct weft_host *h, struct bench *b)
{
	uint8_t *p = malloc(8192), *start = p + START;
	VIP_MEM_HANDLE handle;
	VIP_DESCRIPTOR *d;
	struct side s;

	memset(p, 0x77, 8192);
	side_open(&s, h, b, "hvia0", 16384);
	ok(VipRegisterMem(s.nic, start, LENGTH, &s.mem_attr, &handle));
	side_connect(&s);
	assert_int_equal(send_at(&s, start, LENGTH, handle), 0);
	assert_int_equal(send_at(&s, start + LENGTH - 1, 1, handle), 0);
	assert_int_equal(send_at(&s, start - 1, 1, handle),
			 VIP_STATUS_PROTECTION_ERROR);
	assert_int_equal(send_at(&s, start + LENGTH, 1, handle),
			 VIP_STATUS_PROTECTION_ERROR);
	/* puts a descriptor into the region */
	d = (VIP_DESCRIPTOR *)(((uintptr_t)start + 63) & ~63ul);
	memcpy(d, side_desc(&s, 0, 0, 4), 64);
	ok(VipPostSend(s.vi, d, handle));
	assert_int_equal(side_sent(&s, NULL),
			 VIP_STATUS_DONE | VIP_STATUS_OP_SEND);
	meet(&s, "end");
	ok(VipDeregisterMem(s.nic, start, handle));
	side_close(&s);
	free(p);
	return 0;
}

static int edge_recv(struct weft_host *h, struct bench *b)
{
	static const uint32_t want[] = { LENGTH, 1, 4 };
	VIP_DESCRIPTOR *d;
	struct side s;

	side_open(&s, h, b, "hvia0", 16384);
	for (uint32_t i = 0; i < 4; i++)
		side_recv(&s, side_desc(&s, i, 0, 8192));
	side_connect(&s);
	for (uint32_t i = 0; i < 3; i++) {
		assert_true(side_received(&s, &d));
		assert_int_equal(d->CS.Length, want[i]);
	}
	meet(&s, "end");
	side_close(&s);
	return 0;
}

/* T-04 for memory of malloc: bounds are exact at both ends. */
static void test_bounds_of_malloc_memory_are_exact(void **state)
{
	viprig_run(*state, edge_recv, edge_send);
}

/* ---- times ---- */

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

/* Sends, then posts the next receive while the message is in flight, because
 * posting it earlier would delay the message. */
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

/* Polling takes 8.2 us (7.1), blocking 5.5 us more (7.5). */
static void test_blocking_costs_5_5_us_over_polling(void **state)
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
		cmocka_unit_test_setup_teardown(
			test_messages_of_every_size_are_exact, viprig_setup,
			bench_teardown),
		cmocka_unit_test_setup_teardown(
			test_bounds_of_malloc_memory_are_exact, viprig_setup,
			bench_teardown),
		cmocka_unit_test_setup_teardown(
			test_blocking_costs_5_5_us_over_polling, viprig_setup,
			bench_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
