/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic patterns: known answers, permutations without repetition, shares. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../cmocka_all.h"
#include "base/rng.h"
#include "net/pattern.h"

static const uint32_t cube8[] = { 8, 8, 8 };

static uint32_t partner(enum pattern_kind kind, uint32_t node, uint32_t nodes,
			const struct pattern_shape *s)
{
	struct pattern p = { .kind = kind, .node = node, .nodes = nodes };
	struct weft_err err = { 0 };

	assert_int_equal(pattern_init(&p, s, &err), 0);
	return pattern_dest(&p, NULL);
}

static void patterns_give_the_known_partners(void **st)
{
	struct pattern_shape s = { cube8, 3, NULL, 0 };

	assert_int_equal(partner(PATTERN_BIT_COMPLEMENT, 5, 512, &s), 506);
	assert_int_equal(partner(PATTERN_BIT_REVERSE, 1, 512, &s), 256);
	assert_int_equal(partner(PATTERN_BIT_REVERSE, 6, 16, &s), 6);
	assert_int_equal(partner(PATTERN_TRANSPOSE, 0x1b, 256, &s), 0xb1);
	assert_int_equal(partner(PATTERN_SHUFFLE, 0x81, 256, &s), 0x03);
	/* (k + 1) / 2 - 1 = 3 in every dimension */
	assert_int_equal(partner(PATTERN_TORNADO, 0, 512, &s), 3 + 24 + 192);
	assert_int_equal(partner(PATTERN_TORNADO, 6 + 8 * 7, 512, &s),
			 1 + 8 * 2 + 64 * 3);
	assert_int_equal(partner(PATTERN_NEIGHBOUR, 7, 512, &s), 0 + 8 + 64);
	s.dims = 0;
	assert_int_equal(partner(PATTERN_TORNADO, 0, 9, &s), 4);
	assert_int_equal(partner(PATTERN_NEIGHBOUR, 8, 9, &s), 0);
	s.dest = 17;
	assert_int_equal(partner(PATTERN_FIXED, 8, 64, &s), 17);
	assert_int_equal(partner(PATTERN_OFFSET, 60, 64, &s), 60 + 17 - 64);
}

static void permutations_reach_each_node_once(void **st)
{
	static const enum pattern_kind kinds[] = {
		PATTERN_TRANSPOSE,  PATTERN_BIT_COMPLEMENT, PATTERN_BIT_REVERSE,
		PATTERN_SHUFFLE,    PATTERN_TORNADO,	    PATTERN_NEIGHBOUR,
		PATTERN_PERMUTATION
	};
	static const uint32_t size[] = { 4, 8, 8 };
	uint32_t perm[256], other[256];
	struct pattern_shape s = { size, 3, perm, 0 };

	pattern_permute(7, perm, 256);
	pattern_permute(8, other, 256);
	assert_memory_not_equal(perm, other, sizeof(perm));
	for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++) {
		bool seen[256] = { false };

		for (uint32_t i = 0; i < 256; i++) {
			uint32_t d = partner(kinds[k], i, 256, &s);

			assert_false(seen[d]);
			seen[d] = true;
		}
	}
}

static void pattern_that_does_not_fit_the_nodes_is_refused(void **st)
{
	struct pattern p = { .kind = PATTERN_TRANSPOSE, .nodes = 512 };
	struct pattern_shape s = { 0 };
	struct weft_err err = { 0 };

	assert_int_not_equal(pattern_init(&p, &s, &err), 0);
	assert_non_null(strstr(err.msg, "power of 4"));
	err.code = 0;
	p.kind = PATTERN_BIT_REVERSE;
	p.nodes = 27;
	assert_int_not_equal(pattern_init(&p, &s, &err), 0);
	err.code = 0;
	p.kind = PATTERN_HOTSPOT;
	s.dest = 27;
	assert_int_not_equal(pattern_init(&p, &s, &err), 0);
}

static void random_destinations_have_their_shares(void **st)
{
	enum { N = 16, DRAWS = 160000 };
	struct pattern p = { .kind = PATTERN_UNIFORM, .node = 3, .nodes = N };
	struct pattern_shape s = { .dest = 5 };
	struct weft_err err = { 0 };
	struct weft_rng rng;

	weft_rng_seed(&rng, 1, "");
	for (int round = 0; round < 3; round++) {
		uint32_t n[N] = { 0 };

		p.self = round == 1;
		p.kind = round == 2 ? PATTERN_HOTSPOT : PATTERN_UNIFORM;
		p.hot = 0.4;
		assert_int_equal(pattern_init(&p, &s, &err), 0);
		for (uint32_t i = 0; i < DRAWS; i++)
			n[pattern_dest(&p, &rng)]++;
		for (uint32_t i = 0; i < N; i++) {
			double want = p.self   ? 1.0 / N
				      : i == 3 ? 0
					       : 1.0 / (N - 1);

			if (round == 2)
				want = 0.6 * want + 0.4 * (i == 5);
			assert_true(fabs(n[i] - want * DRAWS) <=
				    5 * sqrt(want * DRAWS));
		}
	}
}

static void node_sends_to_itself_only_if_asked(void **st)
{
	struct pattern p = { .kind = PATTERN_BIT_REVERSE,
			     .node = 6,
			     .nodes = 16,
			     .partner = 6 };

	assert_false(pattern_sends(&p));
	p.self = true;
	assert_true(pattern_sends(&p));
	p.kind = PATTERN_NONE;
	assert_false(pattern_sends(&p));
}

/* Draws `n` packets and counts them by destination. */
static void draw(struct pattern *p, uint32_t *count, uint32_t n)
{
	struct weft_rng rng;

	weft_rng_seed(&rng, 1, "");
	while (n--)
		count[pattern_dest(p, &rng)]++;
}

static void only_nodes_of_the_set_are_chosen(void **st)
{
	static const uint32_t set[] = { 7, 2, 7 };
	struct pattern p = { .kind = PATTERN_UNIFORM, .set = set, .n_set = 3 };
	uint32_t n[8] = { 0 };

	assert_true(pattern_sends(&p));
	draw(&p, n, 30000);
	assert_in_range(n[7], 19500, 20500);
	assert_int_equal(n[2] + n[7], 30000);
	p.kind = PATTERN_TURN;
	assert_true(pattern_sends(&p));
	for (uint32_t i = 0; i < 7; i++)
		assert_int_equal(pattern_dest(&p, NULL), set[i % 3]);
}

static void runs_have_the_mean_length_that_is_asked_for(void **st)
{
	struct pattern p = {
		.kind = PATTERN_RUNS, .nodes = 1024, .self = true, .run = 16
	};
	uint32_t runs = 0, was = UINT32_MAX;
	struct weft_rng rng;

	weft_rng_seed(&rng, 1, "");
	for (uint32_t i = 0; i < 160000; i++) {
		uint32_t d = pattern_dest(&p, &rng);

		runs += d != was;
		was = d;
	}
	assert_in_range(runs, 9700, 10300);
}

/* Expected share of a destination, for 64 nodes in rows of 8. The source is
 * node 13. */
static double share(enum pattern_kind kind, uint32_t d)
{
	static const uint32_t near[] = { 4, 5, 6, 12, 13, 14, 20, 21, 22 };
	double sum = 1.0 / 128;

	switch (kind) {
	case PATTERN_DIAGONAL:
		return d == 13 ? 2.0 / 3 : d == 14 ? 1.0 / 3 : 0;
	case PATTERN_ASYMMETRIC:
		return d == 13 || d == 45 ? 0.5 : 0;
	case PATTERN_TAPER:
		for (size_t i = 0; i < sizeof(near) / sizeof(*near); i++)
			sum += near[i] == d ? 1.0 / 18 : 0;
		return sum;
	case PATTERN_BACKGROUND:
		return d == 5 || d == 60 ? 0 : 1.0 / 62;
	case PATTERN_ADVERSARIAL:
		return d >= 16 && d < 32 ? 1.0 / 16 : 0;
	case PATTERN_ROW_COLUMN: /* row 1: column 1 */
		return d % 8 == 1 ? 1.0 / 8 : 0;
	default: /* hotspot: 0.6 to 5 and 60 */
		return 0.4 / 64 + (d == 5 ? 0.45 : d == 60 ? 0.15 : 0);
	}
}

static void random_patterns_have_the_shares_that_are_written_down(void **st)
{
	enum { DRAWS = 128000 };
	static const uint32_t size[] = { 8, 8 };
	struct pattern_shape s = { size, 2, NULL, 0, 16 };
	struct pattern_spots spots;
	struct weft_err err = { 0 };
	struct weft_rng rng;

	weft_rng_seed(&rng, 1, "");
	assert_int_equal(pattern_spots_read(&spots, "5:3,60", 64, &err), 0);
	for (int k = PATTERN_DIAGONAL - 1; k <= PATTERN_ROW_COLUMN; k++)
		for (int self = 0; self < 2; self++) {
			enum pattern_kind kind =
				k < PATTERN_DIAGONAL ? PATTERN_HOTSPOT : k;
			struct pattern p = { .kind = kind,
					     .node = 13,
					     .nodes = 64,
					     .self = self,
					     .hot = 0.6,
					     .spots = &spots };
			uint32_t n[64] = { 0 };

			assert_int_equal(pattern_init(&p, &s, &err), 0);
			for (uint32_t i = 0; i < DRAWS; i++)
				n[pattern_dest(&p, &rng)]++;
			for (uint32_t d = 0; d < 64; d++) {
				double own = share(kind, 13);
				double want = share(kind, d) * DRAWS;

				if (!self && kind == PATTERN_HOTSPOT)
					want = d == 13 ? 0
						       : want + 0.4 * DRAWS *
									 (1.0 / 63 -
									  1.0 / 64);
				else if (!self)
					want = d == 13 ? 0 : want / (1 - own);
				assert_true(fabs(n[d] - want) <=
					    5 * sqrt(want));
			}
		}
}

static void refused(struct pattern p, const struct pattern_shape *s,
		    const char *why)
{
	struct weft_err err = { 0 };

	assert_int_not_equal(pattern_init(&p, s, &err), 0);
	if (!strstr(err.msg, why))
		fail_msg("%s", err.msg);
}

static void random_pattern_that_does_not_fit_says_what_would_do(void **st)
{
	static const uint32_t size[] = { 4, 8 };
	struct pattern_shape flat = { 0 }, oblong = { size, 2, NULL, 0, 0 };
	struct pattern p = { .nodes = 32 };
	struct pattern_spots spots;
	struct weft_err err = { 0 };

	p.kind = PATTERN_ADVERSARIAL;
	refused(p, &flat, "set group");
	p.group = 5;
	refused(p, &flat, "do not divide");
	p.group = 32;
	refused(p, &flat, "do not divide");
	p.kind = PATTERN_ROW_COLUMN;
	refused(p, &oblong, "two equal dimensions");
	refused(p, &flat, "two equal dimensions");
	p.kind = PATTERN_BACKGROUND;
	refused(p, &flat, "set spots");
	p.nodes = 2;
	assert_int_equal(pattern_spots_read(&spots, "1", 2, &err), 0);
	p.spots = &spots;
	refused(p, &flat, "no node is left");
	p.nodes = 1;
	p.kind = PATTERN_ASYMMETRIC;
	refused(p, &flat, "two nodes");
}

static void spots_that_make_no_sense_are_refused(void **st)
{
	static const char *const texts[] = {
		"x",	  "3:",	   "3:0",
		"3:-1",	  "3:nan", "3:1;4",
		"32",	  ",",	   "3,,",
		"3:1e99", "-1",	   "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16",
	};
	struct pattern_spots spots;

	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
		struct weft_err err = { 0 };

		assert_int_equal(pattern_spots_read(&spots, texts[i], 32, &err),
				 -EINVAL);
		assert_non_null(strstr(err.msg, "NODE:WEIGHT"));
	}
}

static void a_name_means_its_pattern_and_others_are_listed(void **st)
{
	struct weft_err err = { 0 };
	enum pattern_kind kind;

	assert_int_equal(pattern_parse("round-robin", &kind, &err), 0);
	assert_int_equal(kind, PATTERN_TURN);
	assert_int_equal(pattern_parse("uniform", &kind, &err), 0);
	assert_int_equal(kind, PATTERN_UNIFORM);
	assert_int_equal(pattern_parse("unifor", &kind, &err), -EINVAL);
	assert_string_equal(
		err.msg,
		"there is no pattern 'unifor': write one of uniform, transpose, bit_complement, bit_reverse, shuffle, tornado, neighbour, hotspot, permutation, fixed, none, diagonal, asymmetric, taper, background, adversarial, row_column, round-robin, offset, runs");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_give_the_known_partners),
		cmocka_unit_test(permutations_reach_each_node_once),
		cmocka_unit_test(
			pattern_that_does_not_fit_the_nodes_is_refused),
		cmocka_unit_test(random_destinations_have_their_shares),
		cmocka_unit_test(node_sends_to_itself_only_if_asked),
		cmocka_unit_test(only_nodes_of_the_set_are_chosen),
		cmocka_unit_test(runs_have_the_mean_length_that_is_asked_for),
		cmocka_unit_test(
			random_patterns_have_the_shares_that_are_written_down),
		cmocka_unit_test(
			random_pattern_that_does_not_fit_says_what_would_do),
		cmocka_unit_test(spots_that_make_no_sense_are_refused),
		cmocka_unit_test(
			a_name_means_its_pattern_and_others_are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
