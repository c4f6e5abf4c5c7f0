/* SPDX-License-Identifier: Apache-2.0 */
/* Reordering depth at a sink, for known sequences and for random ones. For the
 * random sequences the test compares all pairs of packets. */
#include <stdlib.h>

#include "unit/cmocka_all.h"
#include "base/rng.h"
#include "systems/forth/traffic/generator.h"

extern const struct weft_class weft_class_forth_gen;

struct sink {
	struct weft_sim *sim;
	struct weft_comp *c;
	struct forth_gen *g;
};

static void sink_init(struct sink *s)
{
	struct weft_err err = { 0 };

	s->sim = weft_sim_new(1);
	s->c = weft_sim_add(s->sim, &weft_class_forth_gen, "t", &err);
	assert_non_null(s->c);
	assert_int_equal(weft_comp_init(s->c, &err), 0);
	s->g = s->c->state;
	s->g->ways = 2;
	s->g->p.balance = BAL_PACKET;
	assert_int_equal(forth_gen_order_init(s->c, &err), 0);
}

static void sink_fini(struct sink *s)
{
	weft_sim_free(s->sim);
}

static void overtaken_packets_are_counted(void **state)
{
	/* packet 1 is overtaken by 2, 3 and 5, and packet 4 by 5 */
	static const uint32_t come[] = { 0, 2, 3, 5, 1, 4 };
	struct sink s;

	sink_init(&s);
	for (uint32_t i = 0; i < 6; i++)
		forth_gen_order_add(s.c, 3, come[i], true);
	assert_int_equal(s.c->counters[C_LATE], 2);
	assert_int_equal(s.g->sink.from[3].deepest, 3);
	assert_int_equal(s.g->sink.held_max, 3);
	assert_int_equal(s.g->sink.held, 0);
	assert_int_equal(s.g->sink.from[3].base, 6);
	assert_int_equal(s.c->counters[C_DUPLICATE], 0);
	sink_fini(&s);
}

/* The orders of two sources do not affect each other, but the packets held for
 * both sources add up. */
static void sources_have_separate_orders(void **state)
{
	struct sink s;

	sink_init(&s);
	forth_gen_order_add(s.c, 0, 1, true);
	forth_gen_order_add(s.c, 7, 2, true);
	forth_gen_order_add(s.c, 7, 1, true);
	assert_int_equal(s.g->sink.held, 3);
	forth_gen_order_add(s.c, 7, 0, true);
	assert_int_equal(s.g->sink.held, 1);
	assert_int_equal(s.g->sink.from[7].deepest, 2);
	assert_int_equal(s.g->sink.from[0].deepest, 0);
	assert_int_equal(s.g->sink.held_max, 3);
	sink_fini(&s);
}

static void repeated_packet_counts_as_duplicate(void **state)
{
	struct sink s;

	sink_init(&s);
	forth_gen_order_add(s.c, 0, 0, true);
	forth_gen_order_add(s.c, 0, 0, true); /* long gone */
	forth_gen_order_add(s.c, 0, 5, true);
	forth_gen_order_add(s.c, 0, 5, true); /* held */
	assert_int_equal(s.c->counters[C_DUPLICATE], 2);
	assert_int_equal(s.g->sink.held, 1);
	sink_fini(&s);
}

/* The sink counts a packet as lost after GEN_WINDOW later packets. */
static void lost_packet_is_given_up_after_the_window(void **state)
{
	struct sink s;

	sink_init(&s);
	for (uint32_t i = 1; i < GEN_WINDOW; i++)
		forth_gen_order_add(s.c, 0, i, true);
	assert_int_equal(s.c->counters[C_MISSING], 0);
	assert_int_equal(s.g->sink.held, GEN_WINDOW - 1);
	forth_gen_order_add(s.c, 0, GEN_WINDOW, true);
	assert_int_equal(s.c->counters[C_MISSING], 1);
	assert_int_equal(s.g->sink.held, 0);
	assert_int_equal(s.g->sink.from[0].base, GEN_WINDOW + 1);
	forth_gen_order_add(s.c, 0, 0, true);
	assert_int_equal(s.c->counters[C_DUPLICATE], 1);
	sink_fini(&s);
}

/* Packet numbers have 24 bits. */
static void packet_numbers_wrap_at_24_bits(void **state)
{
	struct sink s;

	sink_init(&s);
	s.g->sink.from[0].base = 0xFFFFFE;
	forth_gen_order_add(s.c, 0, 0xFFFFFE, true);
	forth_gen_order_add(s.c, 0, 0, true);
	forth_gen_order_add(s.c, 0, 0xFFFFFF, true);
	forth_gen_order_add(s.c, 0, 1, true);
	assert_int_equal(s.g->sink.held, 0);
	assert_int_equal(s.g->sink.from[0].deepest, 1);
	assert_int_equal(s.c->counters[C_LATE], 1);
	sink_fini(&s);
}

enum { MANY = 3000 };

/* Counts the depth of each packet by comparing all pairs. Each packet is
 * delayed by up to `most` positions. */
static uint32_t by_hand(const uint32_t *come, uint64_t *late_p)
{
	uint32_t worst = 0;

	*late_p = 0;
	for (uint32_t i = 0; i < MANY; i++) {
		uint32_t n = 0;

		for (uint32_t k = 0; k < i; k++)
			n += come[k] > come[i];
		*late_p += n > 0;
		worst = n > worst ? n : worst;
	}
	return worst;
}

static void shuffle_near(struct weft_rng *rng, uint32_t *come, uint32_t most)
{
	for (uint32_t i = 0; i < MANY; i++)
		come[i] = i;
	for (uint32_t i = 0; i < MANY; i++) {
		uint32_t k = i + (uint32_t)weft_rng_below(rng, most), t;

		if (k >= MANY)
			continue;
		t = come[i];
		come[i] = come[k];
		come[k] = t;
	}
}

static void random_orders(void **state)
{
	static uint32_t come[MANY];
	struct weft_rng rng;

	weft_rng_seed(&rng, 5, "order");
	for (uint32_t most = 1; most < 400; most = most * 3 / 2 + 1) {
		uint64_t late;
		uint32_t worst;
		struct sink s;

		shuffle_near(&rng, come, most);
		worst = by_hand(come, &late);
		sink_init(&s);
		for (uint32_t i = 0; i < MANY; i++)
			forth_gen_order_add(s.c, 1, come[i], true);
		assert_int_equal(s.g->sink.from[1].deepest, worst);
		assert_int_equal(s.c->counters[C_LATE], late);
		assert_int_equal(s.g->sink.held, 0);
		sink_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(overtaken_packets_are_counted),
		cmocka_unit_test(sources_have_separate_orders),
		cmocka_unit_test(repeated_packet_counts_as_duplicate),
		cmocka_unit_test(lost_packet_is_given_up_after_the_window),
		cmocka_unit_test(packet_numbers_wrap_at_24_bits),
		cmocka_unit_test(random_orders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
