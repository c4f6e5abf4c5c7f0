/* SPDX-License-Identifier: Apache-2.0 */
/* Frames that HVIA-GE sends, byte by byte as on the line (hvia.md 3.8): sends,
 * RDMA writes, messages of several frames, and kernel packets in both
 * directions (2.2). */
#include "hvduo.h"
#include "hvline.h"

#include <string.h>

#include "systems/ethernet/link/wire.h"

static void run(node_fn a, node_fn z, uint64_t posted, const char *kernel_rx)
{
	struct bench *b = hvrig_bench();

	hvline_watch(b);
	b->v[0] = posted;
	hvduo.flags = HVIA_VIF_RDMA_WRITE;
	if (kernel_rx)
		bench_set(b, "hvia.nic", "kernel_rx", kernel_rx);
	bench_prog(b, 0, a);
	bench_prog(b, 1, z);
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	assert_false(weft_progs_running(b->sim));
	bench_free(b);
}

/* ---- headers ---- */

struct head {
	uint32_t type, flags, seq, length, at26;
	uint64_t at30;
	uint32_t handle, bytes; /* bytes: number of data bytes */
};

static void frame_is(uint32_t i, const struct head *h)
{
	static const uint8_t start[14] = { 2, 0, 0, 0, 0, 1,	2,
					   0, 0, 0, 0, 0, 0x88, 0xb5 };
	uint32_t len = 42 + h->bytes < 60 ? 60 : 42 + h->bytes;

	assert_memory_equal(hvline.data[i], start, sizeof(start));
	assert_int_equal(hvline_field(i, 14, 1), h->type);
	assert_int_equal(hvline_field(i, 15, 1), h->flags);
	assert_int_equal(hvline_field(i, 16, 2), PEER);
	assert_int_equal(hvline_field(i, 18, 2), VI);
	assert_int_equal(hvline_field(i, 20, 2), h->seq);
	assert_int_equal(hvline_field(i, 22, 4), h->length);
	assert_int_equal(hvline_field(i, 26, 4), h->at26);
	assert_int_equal(hvline_field(i, 30, 8), h->at30);
	assert_int_equal(hvline_field(i, 38, 4), h->handle);
	assert_int_equal(hvline.len[i], len);
	for (uint32_t k = h->bytes; k < len - 42; k++)
		assert_int_equal(hvline.data[i][42 + k], 0); /* padding */
}

static uint32_t fill(uint8_t *p, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)(i * 7 + i / 256 + 1);
	return n;
}

static void data_is(uint32_t frame, uint32_t from, uint32_t n)
{
	for (uint32_t i = from; i < from + n; i++)
		assert_int_equal(hvline.data[frame][42 + i - from],
				 (uint8_t)(i * 7 + i / 256 + 1));
}

enum {
	IMM = 0xa1b2c3d4,
	LONG = 3000,
	FIRST = HVIA_FF_FIRST,
	LAST = HVIA_FF_LAST
};

/* Sends with sequence numbers that begin at the number in the VI's entry and
 * wrap. */
static int sender(struct weft_host *h, struct bench *b)
{
	uint8_t mac[6];
	struct hvrig_desc *d;
	struct hvrig *r;
	uint32_t turn = 0;

	hvduo_open_side(h, 0, 0);
	r = &hvduo.rig[0];
	eth_addr_of(mac, 1);
	hvrig_store(r, hvia_vi_entry(VI, HVIA_VI_1), hvia_vi_1(mac, 0xfffe, 0));
	fill(hvduo.buf[0], LONG);
	hvarea_meet(h, &turn);
	assert_int_equal(hvduo_sent(hvduo_simple(0, 0)), OK);
	d = hvduo_simple(1, LONG);
	d->d.control = HVIA_OP_IMMEDIATE;
	d->d.immediate = IMM;
	assert_int_equal(hvduo_sent(d), OK);
	d = hvrig_desc(r, 2, HVIA_OP_RDMAWRITE | HVIA_OP_IMMEDIATE);
	hvrig_remote(d, (uintptr_t)hvduo.buf[1] + 64, hvduo.handle[1]);
	hvrig_seg(d, hvduo.buf[0], hvduo.handle[0], 1480);
	d->d.immediate = IMM;
	assert_int_equal(hvduo_sent(d), OK | HVIA_ST_RDMA_WRITE);
	weft_host_sleep(h, weft_host_now(h) + 100 * WEFT_US);
	assert_int_equal(hvrig_load(r, hvia_vi_entry(VI, HVIA_VI_1)) >> 32, 4);
	hvarea_meet(h, &turn);
	return 0;
}

static void headers_are_as_the_specification_has_them(void **state)
{
	uint64_t va;

	run(sender, hvduo_peer, 4, NULL);
	va = (uintptr_t)hvduo.buf[1] + 64;
	assert_int_equal(hvline.n, 6);
	frame_is(0, &(struct head){ .flags = FIRST | LAST, .seq = 0xfffe });
	frame_is(1, &(struct head){ .flags = FIRST,
				    .seq = 0xffff,
				    .length = LONG,
				    .at30 = IMM,
				    .bytes = 1472 });
	frame_is(2, &(struct head){ .seq = 0,
				    .length = LONG,
				    .at26 = 1472,
				    .at30 = IMM,
				    .bytes = 1472 });
	frame_is(3, &(struct head){ .flags = LAST | HVIA_FF_IMMEDIATE,
				    .seq = 1,
				    .length = LONG,
				    .at26 = 2944,
				    .at30 = IMM,
				    .bytes = 56 });
	frame_is(4, &(struct head){ .type = 1,
				    .flags = FIRST,
				    .seq = 2,
				    .length = 1480,
				    .at26 = IMM,
				    .at30 = va,
				    .handle = hvduo.handle[1],
				    .bytes = 1472 });
	frame_is(5, &(struct head){ .type = 1,
				    .flags = LAST | HVIA_FF_IMMEDIATE,
				    .seq = 3,
				    .length = 1480,
				    .at26 = IMM,
				    .at30 = va + 1472,
				    .handle = hvduo.handle[1],
				    .bytes = 8 });
	data_is(1, 0, 1472);
	data_is(2, 1472, 1472);
	data_is(3, 2944, 56);
	data_is(5, 1472, 8);
}

/* ---- kernel packets ---- */

enum { KEPT = 3, SENT = 5, MORE = 3 };

static uint64_t counted(struct bench *b, uint32_t node, const char *name)
{
	return bench_counter(b->node[node].dev, name);
}

/* Sends a kernel packet of n bytes of `type` to node 1. */
static void kernel_send(struct hvrig *r, uint8_t type, uint32_t n)
{
	uint8_t f[2048];

	fill(f, sizeof(f));
	eth_addr_of(f, 1);
	f[12] = 0x88;
	f[13] = 0xb5;
	f[14] = type;
	for (uint32_t i = 0; i < n; i += 8)
		hvrig_store(r, HVIA_KTX + i, *(uint64_t *)(f + i));
	assert_int_equal(hvrig_load(r, HVIA_KTX + 8), *(uint64_t *)(f + 8));
	hvrig_store(r, HVIA_KTX_LENGTH, n);
	if (n <= 1514 && n >= 14)
		assert_int_equal(hvrig_load(r, HVIA_KTX_LENGTH), n);
	/* waits, because the card sends one packet at a time */
	hvrig_store(r, HVIA_KTX_LENGTH, n);
	while (hvrig_load(r, HVIA_KTX_LENGTH))
		;
	weft_host_sleep(r->h, weft_host_now(r->h) + 30 * WEFT_US);
}

static int kernel_near(struct weft_host *h, struct bench *b)
{
	static const uint32_t wrong[] = { 0, 13, 1515 };
	struct hvrig *r = &hvduo.rig[0];
	uint32_t turn = 0;

	hvrig_open(r, h);
	hvarea_meet(h, &turn);
	for (uint32_t i = 0; i < SENT; i++)
		kernel_send(r, (uint8_t)(8 + i), 100 + i);
	assert_int_equal(counted(b, 0, "bad_accesses"), SENT);
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn); /* node 1 has taken all packets */
	kernel_send(r, 15, 15);
	kernel_send(r, 7, 60); /* not a kernel type */
	kernel_send(r, 16, 60);
	kernel_send(r, 9, 1514);
	for (uint32_t i = 0; i < 3; i++)
		hvrig_store(r, HVIA_KTX_LENGTH, wrong[i]);
	hvrig_store(r, HVIA_KTX_LENGTH, 1ull << 32 | 60);
	assert_int_equal(hvrig_load(r, HVIA_KTX_LENGTH), 0);
	assert_int_equal(counted(b, 0, "bad_accesses"), SENT + 8);
	assert_int_equal(counted(b, 0, "kernel_tx"), SENT + 4);
	hvarea_meet(h, &turn);
	return 0;
}

/* Checks that the oldest kernel packet has the n bytes that were sent. */
static void kernel_is(struct hvrig *r, uint8_t type, uint32_t n)
{
	uint32_t len = n < 60 ? 60 : n;

	assert_int_equal(hvrig_load(r, HVIA_KRX_LENGTH), len);
	assert_int_equal(hvrig_load(r, HVIA_KRX_TYPE), type);
	for (uint32_t i = 16; i < n; i++) {
		uint64_t w = hvrig_load(r, HVIA_KRX + i / 8 * 8);

		assert_int_equal(w >> i % 8 * 8 & 0xff,
				 (uint8_t)(i * 7 + i / 256 + 1));
	}
	hvrig_store(r, HVIA_KRX_LENGTH, 0);
}

static int kernel_far(struct weft_host *h, struct bench *b)
{
	struct hvrig *r = &hvduo.rig[1];
	uint32_t turn = 0;

	hvrig_open(r, h);
	assert_int_equal(hvrig_load(r, HVIA_INT_CAUSE), 0);
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	assert_int_equal(counted(b, 1, "kernel_rx"), KEPT);
	assert_int_equal(counted(b, 1, "kernel_lost"), SENT - KEPT);
	assert_int_equal(hvrig_load(r, HVIA_INT_CAUSE), HVIA_INT_PACKET);
	hvrig_store(r, HVIA_INT_CAUSE, HVIA_INT_PACKET);
	assert_int_equal(hvrig_load(r, HVIA_INT_CAUSE), 0);
	for (uint32_t i = 0; i < KEPT; i++)
		kernel_is(r, (uint8_t)(8 + i), 100 + i);
	assert_int_equal(hvrig_load(r, HVIA_KRX_LENGTH), 0);
	hvarea_meet(h, &turn);
	hvarea_meet(h, &turn);
	kernel_is(r, 15, 15);
	kernel_is(r, 9, 1514);
	assert_int_equal(hvrig_load(r, HVIA_KRX_LENGTH), 0);
	assert_int_equal(counted(b, 1, "drop_type"), 2);
	return 0;
}

static void kernel_packets_come_in_order_until_there_is_no_room(void **state)
{
	run(kernel_near, kernel_far, 0, "3");
	assert_int_equal(hvline.n, SENT + 4);
	assert_int_equal(hvline.len[SENT], 60);
	assert_int_equal(hvline.data[SENT][14], 15);
	for (uint32_t i = 15; i < 60; i++)
		assert_int_equal(hvline.data[SENT][i], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_are_as_the_specification_has_them),
		cmocka_unit_test(
			kernel_packets_come_in_order_until_there_is_no_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
