/* SPDX-License-Identifier: Apache-2.0 */
/* ATOLL with input that neither driver nor NIC produces: headers with a wrong
 * length, start and end characters that a fault has changed (no CRC covers
 * them), and acknowledgements for flits that are lost. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "atoll_pair.h"
#include "host/prog.h"
#include "measure/result.h"
#include "systems/atoll/network/wire.h"

extern const struct weft_class weft_class_fault_bits;

enum { BYTES = 160, TAG = 5, LINE_EOP = 0x40, LINE_EOF = 0x30 };

static struct {
	struct atoll_pair p;
	/* settings of the case */
	uint32_t told;	      /* bytes that the first header claims */
	enum atoll_mode mode; /* of the receiver */
	/* Number of the data flit whose end character is flipped, counted from
	 * 1. 0: no flit. */
	uint32_t flip;
	/* number of the flit that is acknowledged and then lost */
	uint32_t lose;
	uint32_t flits, all;
	/* results */
	uint32_t got, bytes[4], tag[4];
	bool good[4];
} t;

static uint64_t word_of(uint32_t tag, uint32_t i)
{
	return (tag + 1) * 0x9E3779B97F4A7C15ull + i;
}

static struct atoll_port *open_port(struct weft_host *h, enum atoll_mode mode)
{
	struct atoll_attr a = { .port = 1, .mode = mode };
	struct atoll_port *p;

	assert_int_equal(atoll_open(h, &a, &p), 0);
	return p;
}

/* Sends three packets. If the test sets `told`, sends the first one by
 * atoll_again(), because this call lets the sender choose the header word. */
static void send_all(struct weft_host *h)
{
	const uint8_t route[] = { AT_LINK0, 1 };
	struct atoll_port *p = open_port(h, ATOLL_DMA);
	struct atoll_msg m = { .bytes = BYTES,
			       .n_route = 2,
			       .route = { AT_LINK0, 1 },
			       .head = (uint64_t)t.told << 32 | TAG };
	uint64_t w[BYTES / 8];

	weft_host_sleep(h, 100 * WEFT_US);
	for (uint32_t k = 0; k < 3; k++) {
		for (uint32_t i = 0; i < BYTES / 8; i++)
			w[i] = word_of(TAG + k, i);
		if (!k && t.told)
			atoll_again(p, &m, w);
		else
			atoll_send(p, route, 2, TAG + k, w, BYTES);
	}
}

static void take_all(struct weft_host *h)
{
	struct atoll_port *p = open_port(h, t.mode);
	uint64_t w[BYTES / 8];
	struct atoll_msg m;

	while (t.got < 4 && atoll_recv(p, &m, w, sizeof(w), WEFT_MS)) {
		uint32_t n = m.bytes < BYTES ? m.bytes : BYTES;

		t.good[t.got] = true;
		for (uint32_t i = 0; i < n / 8; i++)
			t.good[t.got] &= w[i] == word_of(m.tag, i);
		t.tag[t.got] = m.tag;
		t.bytes[t.got++] = m.bytes;
	}
}

static int prog_main(struct weft_comp *c)
{
	struct weft_host *h = weft_prog_host(c);

	if (weft_host_node(h))
		take_all(h);
	else
		send_all(h);
	return 0;
}

static WEFT_COMPONENT(prog, .name = "prog", .kind = WEFT_KIND_PROGRAM,
		      .doc = "test", .ops = { .main = prog_main });

/* ---- the line ---- */

static void flip(struct weft_frame *f)
{
	uint32_t n = atoll_wire.encode(f, NULL, 0);

	f->raw = weft_raw_new(f->sim, n);
	f->raw->n = atoll_wire.encode(f, f->raw->sym, n);
	f->raw->sym[n - 1] ^= LINE_EOP ^ LINE_EOF;
}

/* Sends the state flit that the far end would send if the flit had arrived. */
static void acknowledge(const struct weft_frame *f)
{
	struct weft_port *back = &t.p.nic[1]->ports[ATOLL_PAIR_LINK];
	struct weft_frame *g = weft_frame_new(f->sim);

	*at_line(g) = (struct at_line){ .kind = AT_STATE,
					.seq = at_line(f)->seq + 1 };
	g->words = at_words(g);
	g->word_fs = f->word_fs;
	weft_port_send(back, g, weft_now(back->comp) + WEFT_NS);
}

static void line_filter(struct weft_comp *c, struct weft_frame *f)
{
	bool flit = at_line(f)->kind != AT_STATE;

	t.flits += at_line(f)->kind == AT_DATA;
	t.all += flit;
	if (flit && t.all == t.lose) {
		acknowledge(f);
		weft_frame_free(f);
		return;
	}
	if (at_line(f)->kind == AT_DATA && t.flits == t.flip)
		flip(f);
	weft_filter_pass(c, f);
}

static WEFT_COMPONENT(line, .name = "test.line", .kind = WEFT_KIND_FAULT,
		      .doc = "test", .ops = { .filter = line_filter });

/* Runs the programs with a fault on the frames that `node` sends. `set` lists
 * the settings of the fault and ends with NULL. */
static struct weft_comp *run_with(const struct weft_class *fault, uint32_t node,
				  const char *const *set)
{
	const struct weft_class *const progs[] = { &weft_class_prog, NULL };
	struct weft_err err = { 0 };
	struct weft_comp *c;

	atoll_pair_new(&t.p, progs, NULL);
	c = weft_sim_add(t.p.sim, fault, "line", &err);
	for (; *set; set += 2)
		assert_int_equal(weft_param_set(c, set[0], set[1], &err), 0);
	assert_int_equal(weft_comp_init(c, &err), 0);
	assert_int_equal(weft_filter_add(&t.p.nic[node]->ports[ATOLL_PAIR_LINK],
					 c, &err),
			 0);
	assert_int_equal(weft_sim_start(t.p.sim, &err), 0);
	weft_sim_run(t.p.sim, 100 * WEFT_MS);
	assert_true(weft_sim_idle(t.p.sim));
	assert_int_equal(weft_sim_finish(t.p.sim, &err), 0);
	assert_int_equal(weft_sim_result(t.p.sim)->n_failures, 0);
	return c;
}

static void run(void)
{
	run_with(&weft_class_line, 0, (const char *const[]){ NULL });
}

static uint64_t count(uint32_t node, uint32_t k)
{
	return t.p.nic[node]->counters[k];
}

/* ---- properties ---- */

/* A receiver that uses DMA gets all bytes. A receiver that uses PIO gets at
 * most as many bytes as the header says. */
static void a_header_cannot_lie_about_the_length(void **state)
{
	static const uint32_t told[] = { 8, 64, 152, 168, 4096, 0xfffffff8 };

	for (uint32_t i = 0; i < 12; i++) {
		memset(&t, 0, sizeof(t));
		t.told = told[i % 6];
		t.mode = i < 6 ? ATOLL_DMA : ATOLL_PIO;
		run();
		assert_int_equal(t.got, 3);
		assert_int_equal(count(1, AT_K_LENGTHS), 1);
		assert_int_equal(t.bytes[0],
				 t.mode == ATOLL_PIO && t.told < BYTES ? t.told
								       : BYTES);
		for (uint32_t k = 1; k < 3; k++) {
			assert_true(t.good[k]);
			assert_int_equal(t.bytes[k], BYTES);
			assert_int_equal(t.tag[k], TAG + k);
		}
		weft_sim_free(t.p.sim);
	}
}

/* A flipped character that ends a packet too early leaves the following flits
 * without a head. If the end of a packet is missing, the next head acts as the
 * end. Later packets arrive whole. */
static void a_wrong_end_sign_costs_one_packet(void **state)
{
	/* 168 bytes are three flits. If the end character of flit 1 or 2 is
	 * flipped, the remaining flits have no head. */
	static const uint32_t framing[] = { 0, 2, 1, 1 };

	for (uint32_t i = 1; i <= 3; i++) {
		memset(&t, 0, sizeof(t));
		t.flip = i;
		run();
		assert_int_equal(t.got, 3);
		assert_int_equal(count(1, AT_K_XBAR + AX_K_FRAMING),
				 framing[i]);
		for (uint32_t k = 0; k < 3; k++) {
			assert_int_equal(t.tag[k], TAG + k);
			assert_true(t.good[k]);
			assert_true(!k || t.bytes[k] == BYTES);
		}
		weft_sim_free(t.p.sim);
	}
}

/* The link goes down and the run ends, because neither NIC has a copy of the
 * lost flit. */
static void an_acknowledged_flit_that_is_lost_stops_the_link(void **state)
{
	memset(&t, 0, sizeof(t));
	t.lose = 2;
	run();
	assert_int_equal(t.got, 0);
	assert_int_equal(count(0, AT_K_XBAR + AX_K_DOWNS), 1);
	weft_sim_free(t.p.sim);
}

/* fault.bits flips one bit of one frame, in the part of the frame that its
 * target names. State flits come from the receiver. */
static void a_target_hits_its_part_of_a_frame(void **state)
{
	static const struct {
		const char *target, *part;
		uint32_t node;
	} v[] = { { "control", "control", 0 }, { "credit", "credit", 1 },
		  { "header", "route", 0 },    { "body", "payload", 0 },
		  { "seq", "seq", 0 },	       { "route", "route", 0 },
		  { "payload", "payload", 0 }, { "crc", "crc", 0 },
		  { "ack", "credit", 1 } };

	for (uint32_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		const char *const set[] = { "target", v[i].target, "frame", "1",
					    NULL };
		const struct weft_comp *c;

		memset(&t, 0, sizeof(t));
		c = run_with(&weft_class_fault_bits, v[i].node, set);
		for (uint32_t k = 0; k < c->cls->n_counters; k++) {
			const char *name = c->cls->counters[k].name;
			bool one = !strcmp(name, "flipped") ||
				   !strcmp(name, "hit") ||
				   !strcmp(name, v[i].part);

			if (strcmp(name, "symbols"))
				assert_int_equal(c->counters[k], one);
		}
		weft_sim_free(t.p.sim);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_header_cannot_lie_about_the_length),
		cmocka_unit_test(a_wrong_end_sign_costs_one_packet),
		cmocka_unit_test(
			an_acknowledged_flit_that_is_lost_stops_the_link),
		cmocka_unit_test(a_target_hits_its_part_of_a_frame),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
