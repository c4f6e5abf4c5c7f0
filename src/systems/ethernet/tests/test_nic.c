/* SPDX-License-Identifier: Apache-2.0 */
/* Tests eth.nic through its driver, and the stacks on it: time of a frame from
 * store to interrupt, rings that wrap, frames of all sizes, a bad address, and
 * lost frames. */
#include "unit/cmocka_all.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "unit/host/node.h"
#include "systems/ethernet/lib/stack.h"
#include "systems/ethernet/nic/regs_map.h"

extern const struct weft_class weft_class_bus_pci, weft_class_eth_nic,
	weft_class_eth_cable, weft_class_fault_drop;

enum { MHZ = 66, FRAMES = 300, RING = 16 };

static void join(struct bench *b)
{
	struct weft_comp *fault = weft_sim_find(b->sim, "fault");

	if (weft_connect(&b->node[0].dev->ports[1], &b->node[1].dev->ports[1],
			 weft_sim_find(b->sim, "cable"), 0, NULL) ||
	    (fault && weft_filter_add(&b->node[0].dev->ports[1], fault, NULL)))
		abort();
}

static struct bench *bench(void)
{
	static const char *const zero[] = { "cost_store", "cost_load",
					    "cost_clock", "irq_entry",
					    "wake_up" };
	struct bench *b =
		bench_make(2, &weft_class_bus_pci, &weft_class_eth_nic);

	for (uint32_t i = 0; i < 2; i++)
		if (weft_preset_apply(b->node[i].bus, "pci64-66", NULL))
			abort();
	for (uint32_t i = 0; i < 5; i++)
		bench_set(b, "host.pc", zero[i], "0");
	if (!weft_sim_add(b->sim, &weft_class_eth_cable, "cable", NULL))
		abort();
	b->join = join;
	return b;
}

/* Runs both programs to their ends. No check may fail. */
static void run(struct bench *b, node_fn f0, node_fn f1)
{
	bench_prog(b, 0, f0);
	bench_prog(b, 1, f1);
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
}

static struct eth_dev *open_nic(struct weft_host *h, uint32_t ring)
{
	struct eth_attr a = { .tx = ring, .rx = ring };
	struct eth_dev *e = NULL;

	if (eth_open(h, &a, &e))
		abort();
	eth_enable(e, MAC_INT_RXT0, true);
	return e;
}

static void fill(uint8_t *p, uint32_t to, uint32_t from, uint32_t len,
		 uint32_t k)
{
	memset(p, 0, 14);
	p[0] = p[6] = 2;
	p[5] = (uint8_t)to;
	p[11] = (uint8_t)from;
	for (uint32_t i = 14; i < len; i++)
		p[i] = (uint8_t)(i + k);
}

static const uint8_t *next_frame(struct weft_host *h, struct eth_dev *e,
				 uint32_t *len)
{
	const uint8_t *p;

	while (!(p = eth_rx(e, len))) {
		weft_host_isr_wait(h, eth_device(e), WEFT_NEVER);
		eth_causes(e);
	}
	return p;
}

/* ---- time ---- */

static int time_send(struct weft_host *h, struct bench *b)
{
	struct eth_dev *e = open_nic(h, RING);

	weft_host_sleep(h, 100 * WEFT_US);
	fill(eth_tx_buf(e), 1, 0, 60, 0);
	eth_tx_put(e, 60);
	b->t[0] = weft_host_now(h);
	eth_tx_post(e, 1);
	weft_host_sleep(h, 200 * WEFT_US);
	eth_close(e);
	return 0;
}

static int time_recv(struct weft_host *h, struct bench *b)
{
	struct eth_dev *e = open_nic(h, RING);
	uint32_t len = 0;

	weft_host_isr_wait(h, eth_device(e), WEFT_NEVER);
	b->t[1] = weft_host_now(h);
	b->v[0] = eth_causes(e);
	b->v[1] = eth_rx(e, &len) != NULL;
	b->v[2] = len;
	eth_close(e);
	return 0;
}

/* Bus clocks of the steps: store 6, two reads 35 + 2 and 35 + 8, two writes 7 +
 * 8 and 7 + 2, interrupt line to the processor 2. All other times are those of
 * NIC and line. A step that ends between two clock edges may wait for the next
 * edge. */
static void time_of_a_frame(void **state)
{
	struct bench *b = bench();
	double clocks = 6 + 37 + 43 + 15 + 9 + 2;
	double ns = clocks * 1000.0 / MHZ + 230 + 266 + 576 + 410 + 668 + 6600;
	double got;

	run(b, time_send, time_recv);
	got = (double)(b->t[1] - b->t[0]) / (double)WEFT_NS;
	assert_true(got >= ns && got <= ns + 4 * 1000.0 / MHZ);
	assert_int_equal(b->v[0] & MAC_INT_RXT0, MAC_INT_RXT0);
	assert_int_equal(b->v[1], 1);
	assert_int_equal(b->v[2], 60);
	bench_free(b);
}

/* ---- bytes ---- */

static uint32_t size_of(uint32_t k)
{
	return 60 + k * 131 % 1455;
}

static int many_send(struct weft_host *h, struct bench *b)
{
	struct eth_dev *e = open_nic(h, RING);
	uint8_t *p;

	weft_host_sleep(h, 100 * WEFT_US);
	for (uint32_t k = 0; k < FRAMES; k++) {
		while (!(p = eth_tx_buf(e)))
			weft_host_sleep(h, weft_host_now(h) + WEFT_US);
		fill(p, 1, 0, size_of(k), k);
		eth_tx_put(e, size_of(k));
		if (k % 3 == 2 || k == FRAMES - 1)
			eth_tx_post(e, 3);
	}
	while (eth_tx_clean(e))
		weft_host_sleep(h, weft_host_now(h) + WEFT_US);
	eth_close(e);
	return 0;
}

static int many_recv(struct weft_host *h, struct bench *b)
{
	struct eth_dev *e = open_nic(h, 64);
	uint8_t want[2048];
	uint32_t len;

	for (uint32_t k = 0; k < FRAMES; k++) {
		const uint8_t *p = next_frame(h, e, &len);

		fill(want, 1, 0, size_of(k), k);
		b->v[0] += len == size_of(k) && !memcmp(p, want, len);
		eth_rx_return(e);
	}
	eth_close(e);
	return 0;
}

static void all_sizes(void **state)
{
	struct bench *b = bench();

	run(b, many_send, many_recv);
	assert_int_equal(b->v[0], FRAMES);
	assert_int_equal(bench_counter(b->node[0].dev, "tx_frames"), FRAMES);
	assert_int_equal(bench_counter(b->node[1].dev, "rx_frames"), FRAMES);
	assert_true(bench_counter(b->node[1].host, "busy") > 0);
	bench_free(b);
}

/* ---- bad address ---- */

static int abort_main(struct weft_host *h, struct bench *b)
{
	struct eth_dev *e = open_nic(h, RING);
	struct weft_io io;

	if (!weft_io_map(h, eth_device(e), 0, 0, 0x8000, WEFT_UC, &io))
		abort();
	weft_io_store32(h, &io, MAC_TDBAH, 0x77); /* no memory there */
	weft_io_store32(h, &io, MAC_TDT, 1);
	weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
	eth_close(e);
	return 0;
}

static int idle_main(struct weft_host *h, struct bench *b)
{
	return 0;
}

static void bad_address(void **state)
{
	struct bench *b = bench();

	run(b, abort_main, idle_main);
	assert_true(bench_counter(b->node[0].dev, "bus_aborts") >= 1);
	assert_int_equal(bench_counter(b->node[0].dev, "tx_frames"), 0);
	bench_free(b);
}

/* ---- stacks ---- */

static const struct stack_cost cost = { .call = WEFT_US,
					.transmit = 2 * WEFT_US,
					.interrupt = 3 * WEFT_US,
					.receive = WEFT_US,
					.wake = WEFT_US,
					.window = 1,
					.ring = 8 };
static const uint32_t sizes[] = { 1, 4, 1447, 1448, 1449, 1472, 1473, 30000 };
enum { SIZES = sizeof(sizes) / sizeof(*sizes), BIG = 30000 };

static int talk(struct weft_host *h, struct bench *b,
		const struct stack_proto *p)
{
	uint32_t me = weft_host_node(h), i, k;
	uint8_t out[BIG], in[BIG];
	struct stack *s;

	if (stack_open(h, p, &cost, !me, &s))
		abort();
	weft_host_sleep(h, 100 * WEFT_US);
	for (i = 0; i < SIZES; i++) {
		for (k = 0; k < sizes[i]; k++)
			out[k] = (uint8_t)(k * 3 + i);
		/* both nodes send at once, because the line is full duplex */
		stack_send(s, out, sizes[i]);
		memset(in, 0, sizeof(in));
		if (!stack_recv(s, in, sizes[i]))
			b->v[me] += !memcmp(in, out, sizes[i]);
	}
	b->t[me] = weft_host_now(h);
	b->t[2 + me] = weft_host_busy(h);
	b->t[4 + me] = stack_charged(s);
	stack_close(s);
	return 0;
}

static int talk_mvia(struct weft_host *h, struct bench *b)
{
	return talk(h, b, &stack_mvia);
}

static int talk_tcpip(struct weft_host *h, struct bench *b)
{
	return talk(h, b, &stack_tcpip);
}

/* in us: end of the run, processor time, and the part charged to the process */
static const uint32_t times[2][3] = { { 754, 205, 99 }, { 773, 215, 105 } };

static void each_software_stack_takes_its_published_times(void **state)
{
	static const node_fn fn[] = { talk_mvia, talk_tcpip };

	for (uint32_t i = 0; i < 2; i++) {
		struct bench *b = bench();

		run(b, fn[i], fn[i]);
		for (uint32_t me = 0; me < 2; me++) {
			assert_int_equal(b->v[me], SIZES);
			for (uint32_t k = 0; k < 3; k++)
				if (b->t[2 * k + me] / WEFT_US != times[i][k])
					fail_msg("%u %u %u: %u", i, me, k,
						 (unsigned)(b->t[2 * k + me] /
							    WEFT_US));
		}
		bench_free(b);
	}
}

/* Sends 30,000 bytes in four jumbo frames, in place of 21 frames. */
static int talk_jumbo(struct weft_host *h, struct bench *b)
{
	struct stack_cost c = cost;
	struct stack *s;
	uint8_t out[BIG], in[BIG];
	uint32_t k;

	c.mtu = 9000;
	if (stack_open(h, &stack_mvia, &c, !weft_host_node(h), &s))
		abort();
	weft_host_sleep(h, 100 * WEFT_US);
	for (k = 0; k < BIG; k++)
		out[k] = (uint8_t)(k / 100 + k);
	stack_send(s, out, BIG);
	if (!stack_recv(s, in, BIG))
		b->v[weft_host_node(h)] = !memcmp(in, out, BIG);
	stack_close(s);
	return 0;
}

static void jumbo_frames_pass_when_frame_max_permits(void **state)
{
	struct bench *b = bench();

	bench_set(b, "eth.nic", "frame_max", "9014");
	run(b, talk_jumbo, talk_jumbo);
	assert_true(b->v[0] && b->v[1]);
	assert_int_equal(bench_counter(b->node[0].dev, "tx_frames"), 4);
	bench_free(b);
}

/* Returns the sum of a segment as it is on the wire, with the checksum rule of
 * RFC 1071. */
static uint32_t ones_sum(const uint8_t *p, uint32_t n)
{
	uint32_t s = 0;

	for (uint32_t i = 0; i + 1 < n; i += 2)
		s += (uint32_t)p[i] << 8 | p[i + 1];
	s += n % 2 ? (uint32_t)p[n - 1] << 8 : 0;
	return s;
}

static void tcp_bytes(void **state)
{
	const struct stack_seg sent = { 0x01020304, 5, 0x0a0b0c0d };
	const struct stack_seg reset = { 0x01020309, 0, 0x0a0b0c0d, true };
	uint8_t p[52 + 5] = { 0 };
	struct stack_seg g;
	uint32_t s;

	memcpy(p + 52, "hello", 5);
	stack_tcpip.put(p, 3, 7, &sent);
	assert_int_equal(p[0], 0x45);
	assert_int_equal(p[3], 57); /* total length */
	assert_memory_equal(p + 12, "\x0a\0\0\x03\x0a\0\0\x07", 8);
	assert_memory_equal(p + 24, "\x01\x02\x03\x04\x0a\x0b\x0c\x0d", 8);
	assert_int_equal(p[33], 0x18); /* PSH, ACK */
	assert_int_equal(ones_sum(p, 20) % 0xffff, 0);
	s = ones_sum(p + 12, 8) + 6 + 37 + ones_sum(p + 20, 37);
	assert_int_equal(s % 0xffff, 0);
	assert_true(stack_tcpip.get(p, sizeof(p), &g));
	assert_int_equal(g.seq, sent.seq);
	assert_int_equal(g.len, sent.len);
	assert_int_equal(g.ack, sent.ack);
	assert_false(g.reset);
	p[55] ^= 1;
	assert_false(stack_tcpip.get(p, sizeof(p), &g));
	stack_tcpip.put(p, 3, 7, &reset);
	assert_int_equal(p[33], 0x14); /* RST, ACK */
	assert_true(stack_tcpip.get(p, 52, &g));
	assert_true(g.reset);
}

/* Node 0 sends 5000 bytes in 4 frames over a line with a fault. */
static int lossy(struct weft_host *h, struct bench *b,
		 const struct stack_proto *p)
{
	uint8_t out[5000], in[5000] = { 0 };
	struct stack *s;

	for (uint32_t i = 0; i < sizeof(out); i++)
		out[i] = (uint8_t)(i * 5 + i / 256);
	if (stack_open(h, p, &cost, !weft_host_node(h), &s))
		abort();
	weft_host_sleep(h, 100 * WEFT_US);
	if (weft_host_node(h)) {
		b->v[0] = (uint64_t)-stack_recv(s, in, sizeof(in));
		b->v[1] = !memcmp(in, out, sizeof(in));
		b->t[0] = weft_host_now(h);
		if (p->reliable) /* node 1 acknowledges while it waits */
			stack_recv(s, in, 1);
	} else {
		stack_send(s, out, sizeof(out));
		b->v[2] = (uint64_t)stack_serve(s, 2000 * WEFT_SEC);
		if (p->reliable)
			stack_send(s, out, 1);
	}
	stack_close(s);
	return 0;
}

static int lossy_mvia(struct weft_host *h, struct bench *b)
{
	return lossy(h, b, &stack_mvia);
}

static int lossy_tcpip(struct weft_host *h, struct bench *b)
{
	return lossy(h, b, &stack_tcpip);
}

static struct bench *with_fault(node_fn f, const char *set, const char *value,
				const char *count)
{
	struct bench *b = bench();
	struct weft_comp *c =
		weft_sim_add(b->sim, &weft_class_fault_drop, "fault", NULL);

	if (weft_param_set(c, set, value, NULL) ||
	    weft_param_set(c, "count", count, NULL))
		abort();
	run(b, f, f);
	return b;
}

/* The receiver reports a lost frame when the next frame arrives. It reports a
 * lost last frame only after the time-out of a second. */
static void mvia_reports_a_lost_frame(void **state)
{
	static const struct {
		const char *frame;
		int err;
	} c[] = { { "2", EIO }, { "4", ETIMEDOUT } };

	for (uint32_t i = 0; i < 2; i++) {
		struct bench *b =
			with_fault(lossy_mvia, "frame", c[i].frame, "1");

		assert_int_equal(b->v[0], c[i].err);
		assert_int_equal(b->t[0] > WEFT_SEC, c[i].err == ETIMEDOUT);
		bench_free(b);
	}
}

/* Each frame of the message is lost in turn. The sender sends it again together
 * with the following frames, which the receiver has not kept. If the first
 * frame is lost, three more frames show the loss at once. If the second or
 * third frame is lost, the frames after it make the receiver acknowledge the
 * frames before it, and the time-out of 200 ms starts then. If the last frame
 * is lost, no frame follows it. The receiver then acknowledges the frames
 * before it only after 40 ms. */
static void tcp_repeats_a_lost_frame(void **state)
{
	static const char *const frame[] = { "1", "2", "3", "4" };
	static const weft_time_t ms[] = { 0, 200, 200, 240 };

	for (uint32_t i = 0; i < 4; i++) {
		struct bench *b =
			with_fault(lossy_tcpip, "frame", frame[i], "1");

		assert_int_equal(b->v[0], 0);
		assert_int_equal(b->v[1], 1);
		assert_int_equal(b->v[2], 1);
		assert_in_range(b->t[0], ms[i] * WEFT_MS,
				(ms[i] + 1) * WEFT_MS);
		assert_int_equal(bench_counter(b->node[0].dev, "tx_frames"),
				 4 + (4 - i) + 1);
		bench_free(b);
	}
}

/* All frames are lost in each of three attempts, whose time-outs are 0.2, 0.4
 * and 0.8 s. */
static void tcp_waits_twice_as_long_each_time(void **state)
{
	struct bench *b = with_fault(lossy_tcpip, "frame", "1", "12");

	assert_int_equal(b->v[1], 1);
	assert_in_range(b->t[0], 1400 * WEFT_MS, 1401 * WEFT_MS);
	bench_free(b);
}

static void tcp_drops_frames_that_come_twice(void **state)
{
	struct bench *b = with_fault(lossy_tcpip, "repeat", "1", "1");

	assert_int_equal(b->v[0], 0);
	assert_int_equal(b->v[1], 1);
	assert_true(b->t[0] < WEFT_MS);
	bench_free(b);
}

/* No frame of the peer arrives: after 16 attempts in 800 s the connection is
 * reset. */
static int unheard(struct weft_host *h, struct bench *b)
{
	uint8_t byte = 1;
	struct stack *s;

	if (weft_host_node(h))
		return 0;
	if (stack_open(h, &stack_tcpip, &cost, 1, &s))
		abort();
	stack_send(s, &byte, 1);
	b->v[0] = (uint64_t)-stack_recv(s, &byte, 1);
	b->t[0] = weft_host_now(h);
	stack_close(s);
	return 0;
}

static void tcp_gives_up(void **state)
{
	struct bench *b = with_fault(unheard, "packets", "1", "1");

	assert_int_equal(b->v[0], ETIMEDOUT);
	assert_int_equal(bench_counter(b->node[0].dev, "tx_frames"), 17);
	bench_free(b);
}

/* ---- command register ---- */

static int held_send(struct weft_host *h, struct bench *b)
{
	struct eth_dev *e = open_nic(h, RING);
	struct weft_io io;

	weft_cfg_store(h, eth_device(e), 4, 2, 0);
	assert_true(weft_io_map(h, eth_device(e), ETHNIC_BAR, 0,
				ETHNIC_REG_BYTES, WEFT_UC, &io));
	assert_int_equal(weft_io_load32(h, &io, MAC_TDT), UINT32_MAX);
	weft_cfg_store(h, eth_device(e), 4, 2, 2);
	assert_int_equal(weft_io_load32(h, &io, MAC_TDT), 0);
	fill(eth_tx_buf(e), 1, 0, 60, 0);
	eth_tx_put(e, 60);
	eth_tx_post(e, 1);
	weft_host_sleep(h, weft_host_now(h) + 200 * WEFT_US);
	b->t[0] = weft_host_now(h);
	weft_cfg_store(h, eth_device(e), 4, 2, 6);
	weft_host_sleep(h, weft_host_now(h) + 200 * WEFT_US);
	eth_close(e);
	return 0;
}

/* With memory access disabled the NIC answers no access. Without bus mastership
 * frames wait. */
static void cleared_command_bits_stop_access_and_frames(void **state)
{
	struct bench *b = bench();

	run(b, held_send, time_recv);
	assert_in_range(b->t[1], b->t[0], b->t[0] + 20 * WEFT_US);
	assert_int_equal(b->v[1], 1);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(time_of_a_frame),
		cmocka_unit_test(all_sizes),
		cmocka_unit_test(bad_address),
		cmocka_unit_test(each_software_stack_takes_its_published_times),
		cmocka_unit_test(tcp_bytes),
		cmocka_unit_test(mvia_reports_a_lost_frame),
		cmocka_unit_test(tcp_repeats_a_lost_frame),
		cmocka_unit_test(tcp_waits_twice_as_long_each_time),
		cmocka_unit_test(tcp_drops_frames_that_come_twice),
		cmocka_unit_test(tcp_gives_up),
		cmocka_unit_test(jumbo_frames_pass_when_frame_max_permits),
		cmocka_unit_test(cleared_command_bits_stop_access_and_frames),
	};

	return cmocka_run_group_tests_name("eth_nic", tests, NULL, NULL);
}
