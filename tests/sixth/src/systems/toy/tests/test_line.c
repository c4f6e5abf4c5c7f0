/* SPDX-License-Identifier: Apache-2.0 */
/* The toy's line: hand-made symbols, damage of every bit, and packets that a
 * switch must refuse. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "net/topology.h"
#include "systems/toy/link/wire.h"

extern const struct weft_class weft_class_toy_switch;

enum { K = WEFT_SYM_K, N = TOY_HEAD + 3 + TOY_CRC };
/* The switch's own counter. Its number follows the numbers of the lines'
 * counters. */
enum { C_UNROUTABLE = TOY_C_OWN };

static struct weft_sim *sim;
static struct weft_err err;

static struct weft_frame *packet(uint8_t seq, uint8_t dest)
{
	struct weft_frame *f = weft_frame_new(sim);

	*toy_fields(f) = (struct toy_fields){ .kind = TOY_START,
					      .seq = seq,
					      .dest = dest,
					      .src = 7,
					      .len = 3,
					      .imm = 0x1122334455667788 };
	f->payload = weft_slice_word(sim, 3);
	memcpy(weft_slice_data(f->payload), "abc", 3);
	f->words = N;
	f->word_fs = WEFT_NS;
	return f;
}

/* Returns the frame of these symbols, as if a fault had observed it. */
static struct weft_frame *heard(const uint16_t *sym, uint32_t n)
{
	struct weft_frame *f = weft_frame_new(sim);

	f->raw = weft_raw_new(sim, n);
	f->raw->n = n;
	memcpy(f->raw->sym, sym, n * sizeof(*sym));
	return f;
}

static bool makes_sense(const uint16_t *sym, uint32_t n)
{
	struct weft_frame *f = heard(sym, n);
	bool good = toy_decode(f);

	weft_frame_free(f);
	return good;
}

static uint32_t symbols(struct weft_frame *f, uint16_t *sym)
{
	uint32_t n = toy_wire.encode(f, sym, TOY_SYMBOLS);

	assert_int_equal(toy_wire.encode(f, NULL, 0), n);
	weft_frame_free(f);
	return n;
}

static uint32_t crc(const uint16_t *sym, uint32_t n)
{
	uint32_t c = UINT32_MAX;

	for (uint32_t i = 0; i < 8 * n; i++) {
		uint32_t in = sym[i / 8] >> (7 - i % 8) & 1;

		c = c << 1 ^ (c >> 31 ^ in ? 0x04c11db7 : 0);
	}
	return c;
}

static void symbols_are_those_of_the_layout(void **state)
{
	const uint16_t head[] = { K | 0xfb, 5,	  2,	7,    3,    0x88,
				  0x77,	    0x66, 0x55, 0x44, 0x33, 0x22,
				  0x11,	    'a',  'b',	'c' };
	uint16_t sym[TOY_SYMBOLS];
	uint32_t c = crc(head + 1, 15);

	assert_int_equal(symbols(packet(5, 2), sym), N);
	assert_memory_equal(sym, head, sizeof(head));
	for (uint32_t i = 0; i < TOY_CRC; i++)
		assert_int_equal(sym[16 + i], c >> (24 - 8 * i) & 255);
}

static void what_was_sent_is_heard(void **state)
{
	uint16_t sym[TOY_SYMBOLS];
	uint32_t n = symbols(packet(5, 2), sym);
	struct weft_frame *f = heard(sym, n);

	assert_true(toy_decode(f));
	assert_int_equal(toy_fields(f)->seq, 5);
	assert_int_equal(toy_fields(f)->dest, 2);
	assert_int_equal(toy_fields(f)->src, 7);
	assert_int_equal(toy_fields(f)->imm, 0x1122334455667788);
	assert_memory_equal(weft_slice_data(f->payload), "abc", 3);
	weft_frame_free(f);
}

/* Checks that every wrong bit, and every end that is too early or late, is
 * detected. */
static void damage_makes_no_sense(void **state)
{
	uint16_t sym[TOY_SYMBOLS + 1] = { 0 };
	uint32_t n = symbols(packet(5, 2), sym);
	const uint16_t credit[] = { K | TOY_CREDIT, 9, 0xf6 },
		       wrong[] = { K | TOY_CREDIT, 9, 0xf7 };

	/* each symbol has 8 bits, a control flag and a flag of an invalid
	 * code */
	for (uint32_t i = 0; i < 10 * n; i++) {
		sym[i / 10] ^= (uint16_t)(1u << i % 10);
		assert_false(makes_sense(sym, n));
		sym[i / 10] ^= (uint16_t)(1u << i % 10);
	}
	for (uint32_t i = 0; i <= n + 1; i++)
		assert_int_equal(makes_sense(sym, i), i == n);
	assert_true(makes_sense(credit, 3));
	assert_false(makes_sense(credit, 2));
	assert_false(makes_sense(wrong, 3));
}

/* ---- a switch, the first of three ---- */

static struct weft_comp *switch_new(const char *name, struct topology *t)
{
	struct weft_comp *c =
		weft_sim_add(sim, &weft_class_toy_switch, name, &err);
	struct weft_place at = { .topo = t };

	assert_int_equal(weft_comp_init(c, &err), 0);
	assert_int_equal(c->cls->ops.place(c, &at, &err), 0);
	return c;
}

/* Makes two switches, each connected to the other's node port. */
static struct weft_comp *switches(struct topology *t)
{
	const uint32_t three = 3;
	struct weft_comp *a, *b;

	assert_int_equal(topo_grid(t, (struct topo_ports){ 1, 4 }, &three, 1,
				   true, false, &err),
			 0);
	a = switch_new("a", t);
	b = switch_new("b", t);
	assert_int_equal(
		weft_connect(&a->ports[0], &b->ports[0], NULL, WEFT_NS, &err),
		0);
	assert_int_equal(weft_sim_start(sim, &err), 0);
	return a;
}

static void a_queue_takes_what_it_has_slots_for(void **state)
{
	struct topology t;
	struct weft_comp *a = switches(&t);

	for (uint8_t i = 0; i < 6; i++) /* 4 slots */
		a->cls->ops.arrive(a, 0, packet(i, 0));
	assert_int_equal(a->counters[TOY_C_RECEIVED], 4);
	assert_int_equal(a->counters[TOY_C_OVERFLOW], 2);
	assert_int_equal(a->counters[TOY_C_LOST], 0);
	a->cls->ops.arrive(a, 1, packet(3, 0));
	assert_int_equal(a->counters[TOY_C_LOST], 3);
	assert_int_equal(a->counters[TOY_C_RECEIVED], 5);
}

static void a_packet_for_nobody_is_dropped(void **state)
{
	struct topology t;
	struct weft_comp *a = switches(&t);

	a->cls->ops.arrive(a, 0, packet(0, 3));
	a->cls->ops.arrive(a, 0, packet(1, 255));
	weft_sim_run(sim, WEFT_MS);
	assert_int_equal(a->counters[C_UNROUTABLE], 2);
	assert_int_equal(a->counters[TOY_C_SENT], 0);
	assert_int_equal(weft_sim_finish(sim, &err), 0);
}

static int setup(void **state)
{
	sim = weft_sim_new(1);
	return 0;
}

static int teardown(void **state)
{
	weft_sim_free(sim);
	return 0;
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(symbols_are_those_of_the_layout),
		TEST(what_was_sent_is_heard),
		TEST(damage_makes_no_sense),
		TEST(a_queue_takes_what_it_has_slots_for),
		TEST(a_packet_for_nobody_is_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
