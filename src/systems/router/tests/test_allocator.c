/* SPDX-License-Identifier: Apache-2.0 */
/* Compares allocators with their definitions (ref_allocator.h) and with a
 * search of all permutations, and checks properties of a matching. */
#include "unit/cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "systems/router/tests/ref_allocator.h"

enum { MOST = 150 };

struct pair {
	struct allocator a;
	struct ref_allocator *ref;
};

static void pair_init(struct pair *p, struct allocator_spec spec, int n_in,
		      int n_out)
{
	allocator_init(&p->a, &spec, (uint32_t)n_in, (uint32_t)n_out);
	p->ref = ref_allocator_new(&spec, n_in, n_out);
}

static void pair_fini(struct pair *p)
{
	allocator_fini(&p->a);
	ref_allocator_free(p->ref);
}

static void pair_request(struct pair *p, struct weft_rng *rng, uint32_t density)
{
	for (int i = 0; i < p->ref->n_in; i++)
		for (int o = 0; o < p->ref->n_out; o++) {
			uint32_t a, b;

			if (weft_rng_below(rng, 100) >= density)
				continue;
			a = UINT32_MAX - (uint32_t)weft_rng_below(rng, 3);
			b = UINT32_MAX - (uint32_t)weft_rng_below(rng, 3);
			p->ref->want[i][o] = true;
			p->ref->rank_in[i][o] = a;
			p->ref->rank_out[i][o] = b;
			allocator_add(&p->a, (uint32_t)i, (uint32_t)o, a, b);
		}
}

/* Checks that the matching has only requested pairs, and no output twice. */
static void matching_holds(const struct pair *p)
{
	bool used[MOST] = { false };

	SET_EACH(p->a.ins, p->a.w_in, i)
	{
		uint32_t o = p->a.match[i];

		if (o == ARBITER_NONE)
			continue;
		assert_true(p->ref->want[i][o]);
		assert_false(used[o]);
		used[o] = true;
	}
}

static void pair_run(struct pair *p)
{
	allocator_run(&p->a);
	ref_allocator_run(p->ref);
	matching_holds(p);
	for (int i = 0; i < p->ref->n_in; i++) {
		uint32_t o = set_has(p->a.ins, (uint32_t)i) ? p->a.match[i]
							    : ARBITER_NONE;

		assert_int_equal((int)o, p->ref->match[i]);
	}
	allocator_clear(&p->a);
	ref_allocator_clear(p->ref);
}

static void all_allocators_equal_their_definitions(void **state)
{
	static const int sizes[][2] = { { 1, 1 },   { 2, 5 },	 { 5, 5 },
					{ 64, 64 }, { 65, 3 },	 { 28, 28 },
					{ 7, 70 },  { 130, 130 } };
	struct weft_rng rng;

	weft_rng_seed(&rng, 1, "allocators");
	for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++)
		for (uint32_t kind = 0; kind <= ALLOCATOR_MAXIMUM; kind++)
			for (uint32_t v = 0; v < 6; v++) {
				struct allocator_spec spec = {
					.kind = kind,
					.arbiter =
						kind < ALLOCATOR_ISLIP && v % 2,
					.iterations = 1 + v / 2,
					.ranked = v / 2 == 1,
				};
				uint32_t runs = sizes[s][0] > 60 ? 12 : 60;
				struct pair p;

				pair_init(&p, spec, sizes[s][0], sizes[s][1]);
				for (uint32_t k = 0; k < runs; k++) {
					pair_request(&p, &rng,
						     k % 3 ? 4 + 9 * (k % 11)
							   : 3);
					pair_run(&p);
				}
				pair_fini(&p);
			}
}

/* Returns the size of the largest matching. Tries all matchings. */
static int largest(const struct ref_allocator *a, int in, uint32_t used)
{
	int best;

	if (in == a->n_in)
		return 0;
	best = largest(a, in + 1, used);
	for (int o = 0; o < a->n_out; o++)
		if (a->want[in][o] && !(used >> o & 1)) {
			int n = 1 + largest(a, in + 1, used | 1u << o);

			best = n > best ? n : best;
		}
	return best;
}

static int matched_pairs(const struct allocator *a)
{
	int n = 0;

	SET_EACH(a->ins, a->w_in, i)
	n += a->match[i] != ARBITER_NONE;
	return n;
}

static void maximum_is_as_large_as_any_matching(void **state)
{
	struct weft_rng rng;

	weft_rng_seed(&rng, 2, "largest");
	for (uint32_t k = 0; k < 400; k++) {
		struct allocator_spec spec = { .kind = ALLOCATOR_MAXIMUM };
		struct pair p;

		pair_init(&p, spec, 2 + (int)(k % 5), 2 + (int)(k / 5 % 5));
		pair_request(&p, &rng, 10 + k % 60);
		allocator_run(&p.a);
		if (!set_empty(p.a.ins, p.a.w_in))
			assert_int_equal(matched_pairs(&p.a),
					 largest(p.ref, 0, 0));
		pair_fini(&p);
	}
}

/* After a run of wavefront, or of islip with as many iterations as ports, no
 * unmatched input requests an unmatched output. */
static void wavefront_and_many_iterations_leave_no_pair_free(void **state)
{
	struct weft_rng rng;

	weft_rng_seed(&rng, 3, "maximal");
	for (uint32_t k = 0; k < 300; k++) {
		struct allocator_spec spec = {
			.kind = k % 2 ? ALLOCATOR_ISLIP : ALLOCATOR_WAVEFRONT,
			.iterations = 9,
		};
		bool used[16] = { false };
		struct pair p;

		pair_init(&p, spec, 9, 9);
		pair_request(&p, &rng, 5 + k % 70);
		allocator_run(&p.a);
		SET_EACH(p.a.ins, p.a.w_in, i)
		if (p.a.match[i] != ARBITER_NONE)
			used[p.a.match[i]] = true;
		SET_EACH(p.a.ins, p.a.w_in, i)
		for (uint32_t o = 0; o < 9; o++)
			assert_false(p.a.match[i] == ARBITER_NONE &&
				     p.ref->want[i][o] && !used[o]);
		pair_fini(&p);
	}
}

/* Requests of all pairs are served in turn. After n runs each allocator but
 * `maximum` has matched each pair of an input and an output. */
static void every_pair_is_served_in_turn(void **state)
{
	for (uint32_t kind = 0; kind < ALLOCATOR_MAXIMUM; kind++) {
		struct allocator_spec spec = { .kind = kind, .iterations = 1 };
		bool served[6][6] = { { false } };
		struct allocator a;

		allocator_init(&a, &spec, 6, 6);
		for (uint32_t k = 0; k < 60; k++) {
			for (uint32_t i = 0; i < 36; i++)
				allocator_add(&a, i / 6, i % 6, 0, 0);
			allocator_run(&a);
			for (uint32_t i = 0; i < 6; i++)
				if (a.match[i] != ARBITER_NONE)
					served[i][a.match[i]] = true;
			allocator_clear(&a);
		}
		for (uint32_t i = 0; i < 36; i++)
			assert_true(served[i / 6][i % 6]);
		allocator_fini(&a);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_allocators_equal_their_definitions),
		cmocka_unit_test(maximum_is_as_large_as_any_matching),
		cmocka_unit_test(
			wavefront_and_many_iterations_leave_no_pair_free),
		cmocka_unit_test(every_pair_is_served_in_turn),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
