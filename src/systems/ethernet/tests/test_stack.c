/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the stacks of M-VIA and TCP/IP (hvia.md 6.6): headers byte by byte,
 * frames that are not valid segments, the queue of bytes that a stack keeps,
 * and the times at which time-outs start. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "base/rng.h"
#include "host/prog.h"
#include "unit/host/node.h"
#include "systems/ethernet/lib/stack.h"
#include "systems/ethernet/lib/stack_bytes.h"

extern const struct weft_class weft_class_bus_pci, weft_class_eth_nic,
	weft_class_eth_cable;

enum { BIG = 1500 };

/* ---- M-VIA ---- */

static void mvia_header(void **state)
{
	static const uint8_t want[28] = { 0,	0,    0x34, 0x12, 0x78, 0x56,
					  0,	0,    0xb8, 0x05, 0x01, 0x12,
					  0x44, 0x33, 0x22, 0x11 };
	struct stack_seg g = { 0x11223344, 0x120105b8, 77, true };
	uint8_t p[29];

	assert_int_equal(stack_mvia.type, 0x88b6);
	assert_int_equal(stack_mvia.head, sizeof(want));
	assert_false(stack_mvia.reliable);
	memset(p, 0xee, sizeof(p));
	stack_mvia.put(p, 0x5678, 0x1234, &g);
	assert_memory_equal(p, want, sizeof(want));
	assert_int_equal(p[28], 0xee);
	memset(&g, 0, sizeof(g));
	assert_true(stack_mvia.get(p, 28 + 0x120105b8, &g));
	assert_int_equal(g.seq, 0x11223344);
	assert_int_equal(g.len, 0x120105b8);
	assert_false(g.reset);
	assert_false(stack_mvia.get(p, 28 + 0x120105b8 - 1, &g));
	p[0] = 1; /* a frame of another type */
	assert_false(stack_mvia.get(p, 28 + 0x120105b8, &g));
}

/* ---- TCP/IP ---- */

/* A segment from 10.0.18.52 to 10.0.86.120 with four bytes. The IP checksum was
 * computed by hand: all words of a header, with its checksum, sum up to
 * ffff. */
static const uint8_t tcp_head[52] = {
	0x45, 0,    0,	  56,	0,    0,    0x40, 0,	64,   6,    0xbe,
	0x14, 10,   0,	  0x12, 0x34, 10,   0,	  0x56, 0x78, 0x13, 0x89,
	0x13, 0x89, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x80,
	0x18, 0xff, 0xff, 0,	0,    0,    0,	  1,	1,    8,    10,
	0,    0,    0,	  0,	0,    0,    0,	  0,
};

static uint32_t words(const uint8_t *p, uint32_t n)
{
	uint32_t s = 0;

	for (uint32_t i = 0; i < n; i++)
		s += i % 2 ? p[i] : (uint32_t)p[i] << 8;
	while (s >> 16)
		s = (s & 0xffff) + (s >> 16);
	return s;
}

/* Returns the sum of all words that the checksum of a TCP segment covers: the
 * words of the segment, its addresses, its protocol and its length. */
static uint32_t tcp_words(const uint8_t *p, uint32_t total)
{
	uint8_t q[BIG + 12] = { 0 };

	memcpy(q, p + 12, 8);
	q[9] = 6;
	q[10] = (uint8_t)((total - 20) >> 8);
	q[11] = (uint8_t)(total - 20);
	memcpy(q + 12, p + 20, total - 20);
	return words(q, 12 + total - 20);
}

static void tcp_header(void **state)
{
	struct stack_seg g = { 0x11223344, 4, 0x55667788, false };
	uint8_t p[BIG] = { 0 };

	assert_int_equal(stack_tcpip.type, 0x0800);
	assert_int_equal(stack_tcpip.head, sizeof(tcp_head));
	assert_true(stack_tcpip.reliable);
	memcpy(p + 52, "\x01\x02\x03\x04\xee", 5);
	stack_tcpip.put(p, 0x71234, 0x95678, &g);
	assert_int_equal(words(p, 20), 0xffff);
	assert_int_equal(tcp_words(p, 56), 0xffff);
	assert_memory_equal(p, tcp_head, 36);
	assert_memory_equal(p + 38, tcp_head + 38, 14);
	assert_int_equal(p[56], 0xee);
	/* flags of three segments: with data, without data, and of a sender
	 * that has given up */
	g.len = 0;
	stack_tcpip.put(p, 1, 2, &g);
	assert_int_equal(p[33], 0x10);
	g.reset = true;
	stack_tcpip.put(p, 1, 2, &g);
	assert_int_equal(p[33], 0x14);
	assert_true(stack_tcpip.get(p, 52, &g));
	assert_true(g.reset);
}

/* Payloads have any length. The last byte of an odd length counts as the high
 * byte of a word. */
static void tcp_lengths(void **state)
{
	struct stack_seg g, got;
	uint8_t p[BIG];

	for (uint32_t n = 0; n <= 1448; n += n < 20 ? 1 : 119) {
		for (uint32_t i = 0; i < n; i++)
			p[52 + i] = (uint8_t)(i * 37 + n);
		g = (struct stack_seg){ n * 77777, n, n * 99999, false };
		stack_tcpip.put(p, 3, 4, &g);
		assert_int_equal(tcp_words(p, 52 + n), 0xffff);
		assert_true(stack_tcpip.get(p, 52 + n, &got));
		assert_int_equal(got.seq, g.seq);
		assert_int_equal(got.len, g.len);
		assert_int_equal(got.ack, g.ack);
		assert_false(got.reset);
		assert_true(stack_tcpip.get(p, 52 + n + 5, &got)); /* padded */
		assert_int_equal(got.len, g.len);
		if (n)
			assert_false(stack_tcpip.get(p, 52 + n - 1, &got));
	}
}

/* The checks detect every single-bit error. */
static void tcp_damage(void **state)
{
	struct stack_seg g = { 1000, 20, 2000, false };
	uint8_t p[80];

	memset(p, 0x5a, sizeof(p));
	stack_tcpip.put(p, 3, 4, &g);
	for (uint32_t i = 0; i < 72 * 8; i++) {
		p[i / 8] ^= (uint8_t)(1u << i % 8);
		assert_false(stack_tcpip.get(p, 72, &g));
		p[i / 8] ^= (uint8_t)(1u << i % 8);
	}
	assert_true(stack_tcpip.get(p, 72, &g));
}

static void put16(uint8_t *p, uint32_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

/* Computes the checksums of a segment after a test has changed its bytes. */
static void seal(uint8_t *p, uint32_t total)
{
	put16(p + 10, 0);
	put16(p + 10, ~words(p, 20));
	put16(p + 36, 0);
	put16(p + 36, ~tcp_words(p, total));
}

static void tcp_foreign(void **state)
{
	struct stack_seg g = { 1000, 20, 2000, false };
	uint8_t p[80], q[80];

	memset(p, 0, sizeof(p));
	stack_tcpip.put(p, 3, 4, &g);
	memcpy(q, p, sizeof(p));
	seal(q, 72);
	assert_true(stack_tcpip.get(q, 72, &g));
	q[0] = 0x46; /* options */
	seal(q, 72);
	assert_false(stack_tcpip.get(q, 72, &g));
	memcpy(q, p, sizeof(p));
	q[9] = 17; /* UDP */
	seal(q, 72);
	assert_false(stack_tcpip.get(q, 72, &g));
	memcpy(q, p, sizeof(p));
	put16(q + 2, 51); /* a total length shorter than the headers */
	seal(q, 51);
	assert_false(stack_tcpip.get(q, 72, &g));
	put16(q + 2, 52);
	seal(q, 52);
	assert_true(stack_tcpip.get(q, 72, &g));
	assert_int_equal(g.len, 0);
}

/* ---- bytes that are kept ---- */

enum { KEPT = 1 << 18, OPS = 3000 };

/* Compares the stack's list of bytes with an array that never moves. */
static int keeps(struct weft_host *h, struct bench *b)
{
	static uint8_t all[KEPT], piece[20000];
	struct stack_bytes s = { 0 };
	uint32_t first = 0, end = 0;
	struct weft_rng rng;

	weft_rng_seed(&rng, 3, NULL);
	for (uint32_t i = 0; i < OPS; i++) {
		uint32_t k = (uint32_t)weft_rng_u64(&rng) %
			     (i % 50 ? 300 : sizeof(piece));

		if (weft_rng_u64(&rng) % 2 && end + k <= KEPT) {
			for (uint32_t n = 0; n < k; n++)
				piece[n] = all[end + n] =
					(uint8_t)weft_rng_u64(&rng);
			assert_int_equal(stack_bytes_add(&s, h, piece, k), 0);
			end += k;
		} else {
			k = k < s.n ? k : s.n;
			stack_bytes_drop(&s, k);
			first += k;
		}
		assert_int_equal(s.n, end - first);
		if (s.n)
			assert_memory_equal(stack_bytes_at(&s, 0), all + first,
					    s.n);
		if (s.n > 5)
			assert_ptr_equal(stack_bytes_at(&s, 5),
					 stack_bytes_at(&s, 0) + 5);
		/* the list moved bytes to the front, so that it needed no more
		 * memory */
		assert_true(s.cap <= 4096 || s.cap < 4 * sizeof(piece) * 4);
	}
	stack_bytes_free(&s, h);
	assert_int_equal(s.n + s.cap + s.first, 0);
	return 0;
}

static void bytes_are_kept_in_order(void **state)
{
	struct bench *b = bench_new(1);

	bench_well(b, keeps);
	bench_free(b);
}

/* ---- times ---- */

static void join(struct bench *b)
{
	assert_int_equal(weft_connect(&b->node[0].dev->ports[1],
				      &b->node[1].dev->ports[1],
				      weft_sim_find(b->sim, "cable"), 0, NULL),
			 0);
}

/* Runs two nodes with a cable. The caller frees the bench. */
static struct bench *run(node_fn fn, uint64_t v)
{
	struct bench *b =
		bench_make(2, &weft_class_bus_pci, &weft_class_eth_nic);

	assert_non_null(
		weft_sim_add(b->sim, &weft_class_eth_cable, "cable", NULL));
	b->join = join;
	b->v[0] = v;
	bench_prog(b, 0, fn);
	bench_prog(b, 1, fn);
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	assert_false(weft_progs_running(b->sim));
	return b;
}

/* Sends one byte after one hour and another byte after two and a half hours.
 * The receiver would probe at three hours, which is two hours after the first
 * byte. If the receiver counted silence from the start of the run, it would
 * give up at two hours and 11 minutes. */
static int talks_rarely(struct weft_host *h, struct bench *b)
{
	static const weft_time_t when[] = { 3600 * WEFT_SEC, 9000 * WEFT_SEC };
	static const struct stack_cost cost = { .ring = 8 };
	uint32_t me = weft_host_node(h);
	uint8_t byte[2] = { 5, 6 };
	struct stack *s;

	assert_int_equal(stack_open(h, &stack_tcpip, &cost, !me, &s), 0);
	for (uint32_t i = 0; !me && i < 2; i++) {
		weft_host_sleep(h, when[i]);
		assert_int_equal(stack_send(s, &byte[i], 1), 0);
	}
	if (me) {
		memset(byte, 0, sizeof(byte));
		assert_int_equal(stack_recv(s, byte, 2), 0);
		assert_memory_equal(byte, "\x05\x06", 2);
		assert_true(weft_host_now(h) > when[1]);
	}
	stack_close(s);
	return 0;
}

static void silence_begins_with_the_last_segment(void **state)
{
	struct bench *b = run(talks_rarely, 0);

	/* the receiver acknowledges the first byte and sends no probe */
	assert_int_equal(bench_counter(b->node[1].dev, "tx_frames"), 1);
	bench_free(b);
}

/* Each frame takes 10 ms of processor time, and no acknowledgement arrives. */
static int waits_for_an_answer(struct weft_host *h, struct bench *b)
{
	static const struct stack_cost cost = { .ring = 8,
						.transmit = 10 * WEFT_MS };
	uint8_t byte = 1;
	struct stack *s;

	if (weft_host_node(h))
		return 0;
	assert_int_equal(stack_open(h, &stack_tcpip, &cost, 1, &s), 0);
	assert_int_equal(stack_send(s, &byte, 1), 0);
	assert_int_equal(stack_serve(s, weft_host_now(h) + b->v[0] * WEFT_MS),
			 0);
	stack_close(s);
	return 0;
}

static void the_time_out_begins_when_the_work_is_done(void **state)
{
	static const uint32_t ms[] = { 195, 205 };

	for (uint32_t i = 0; i < 2; i++) {
		struct bench *b = run(waits_for_an_answer, ms[i]);

		assert_int_equal(bench_counter(b->node[0].dev, "tx_frames"),
				 1 + i);
		bench_free(b);
	}
}

enum { SEGMENTS = 4, DEAF_MS = 224 };

/* The receiver polls its card late. Its acknowledgement of all bytes arrives
 * while the sender, after its time-out at 210 ms, sends the second segment
 * again, which takes 10 ms. */
static int answers_late(struct weft_host *h, struct bench *b)
{
	static const struct stack_cost slow = { .ring = 8,
						.transmit = 10 * WEFT_MS };
	static const struct stack_cost fast = { .ring = 16 };
	static uint8_t out[SEGMENTS * 1448 + 1], in[sizeof(out)];
	uint32_t me = weft_host_node(h);
	struct stack *s;

	assert_int_equal(
		stack_open(h, &stack_tcpip, me ? &fast : &slow, !me, &s), 0);
	for (uint32_t i = 0; !me && i < sizeof(out); i++)
		out[i] = (uint8_t)(i * 7 + i / 256);
	if (me) {
		weft_host_sleep(h, DEAF_MS * WEFT_MS);
		assert_int_equal(stack_recv(s, in, sizeof(in)), 0);
		assert_memory_equal(in, out, sizeof(in));
	} else {
		assert_int_equal(stack_send(s, out, SEGMENTS * 1448), 0);
		assert_int_equal(stack_serve(s, 400 * WEFT_MS), 1);
		assert_int_equal(stack_send(s, &out[SEGMENTS * 1448], 1), 0);
	}
	stack_close(s);
	return 0;
}

/* The sender sends four segments and resends the first one. Before it resends
 * the second one, an acknowledgement of all bytes arrives. Therefore the second
 * resent segment carries no bytes. A segment with the last byte follows. */
static void a_late_answer_ends_the_repetition(void **state)
{
	struct bench *b = run(answers_late, 0);

	assert_int_equal(bench_counter(b->node[0].dev, "tx_frames"),
			 SEGMENTS + 3);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mvia_header),
		cmocka_unit_test(tcp_header),
		cmocka_unit_test(tcp_lengths),
		cmocka_unit_test(tcp_damage),
		cmocka_unit_test(tcp_foreign),
		cmocka_unit_test(bytes_are_kept_in_order),
		cmocka_unit_test(silence_begins_with_the_last_segment),
		cmocka_unit_test(the_time_out_begins_when_the_work_is_done),
		cmocka_unit_test(a_late_answer_ends_the_repetition),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
