/* SPDX-License-Identifier: Apache-2.0 */
/* The event queue against the simplest reference: a sorted array. */
#include "../cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "sim/queue.h"

struct ref {
	struct evq_event ev[4096];
	uint32_t n;
};

static int ref_less(struct evq_event a, struct evq_event b)
{
	return a.time < b.time || (a.time == b.time && a.key < b.key);
}

static void ref_push(struct ref *r, uint64_t time, uint64_t key)
{
	struct evq_event e = { time, key };
	uint32_t i = r->n++;

	for (; i > 0 && ref_less(e, r->ev[i - 1]); i--)
		r->ev[i] = r->ev[i - 1];
	r->ev[i] = e;
}

static struct evq_event ref_pop(struct ref *r)
{
	struct evq_event e = r->ev[0];

	memmove(r->ev, r->ev + 1, --r->n * sizeof(e));
	return e;
}

/* Returns a random delay: zero, a multiple of a clock period, or any number up
 * to minutes. */
static uint64_t delay(struct weft_rng *rng)
{
	switch (weft_rng_below(rng, 6)) {
	case 0:
		return 0;
	case 1:
		return 12800000ull * weft_rng_below(rng, 8);
	case 2:
		return weft_rng_below(rng, 1000);
	case 3:
		return weft_rng_below(rng, 1ull << 36);
	case 4:
		return weft_rng_below(rng, 1ull << 50);
	default:
		return weft_rng_below(rng, 1ull << 60);
	}
}

static void run_one(uint64_t seed)
{
	struct weft_rng rng;
	struct ref r = { .n = 0 };
	struct evq q;
	uint64_t now = 0, lastkey = 0;

	weft_rng_seed(&rng, seed, "queue");
	evq_init(&q);
	for (uint32_t step = 0; step < 3000; step++) {
		struct evq_event e, want;

		if (r.n < 2000 && weft_rng_below(&rng, 5) < 3) {
			uint64_t t = now + delay(&rng);
			uint64_t k = EVQ_KEY(weft_rng_below(&rng, 2),
					     weft_rng_below(&rng, 500),
					     weft_rng_below(&rng, 4));

			if (t == now && k <= lastkey)
				k = lastkey + 1;
			evq_push(&q, t, k);
			ref_push(&r, t, k);
		} else if (r.n) {
			want = ref_pop(&r);
			assert_true(evq_pop(&q, UINT64_MAX, &e));
			assert_int_equal(e.time, want.time);
			assert_int_equal(e.key, want.key);
			now = e.time;
			lastkey = e.key;
		}
		assert_int_equal(q.pending, r.n);
	}
	evq_fini(&q);
}

static void queue_pops_as_a_sorted_array_does(void **state)
{
	for (uint64_t seed = 1; seed <= 200; seed++)
		run_one(seed);
}

/* A pop returns no event behind `until`, although its search may examine such
 * events. An event that is pushed later, but has an earlier time, is popped
 * before them. */
static void events_behind_the_bound_stay_in_the_queue(void **state)
{
	struct evq q;
	struct evq_event e;

	evq_init(&q);
	evq_push(&q, 1ull << 45, 7);
	assert_false(evq_pop(&q, 1000, &e));
	evq_push(&q, 2000, 9);
	evq_push(&q, 2000, 8);
	assert_false(evq_pop(&q, 1999, &e));
	assert_true(evq_pop(&q, 2000, &e));
	assert_int_equal(e.key, 8);
	assert_true(evq_pop(&q, 3000, &e));
	assert_int_equal(e.key, 9);
	assert_false(evq_pop(&q, 3000, &e));
	assert_true(evq_pop(&q, UINT64_MAX, &e));
	assert_int_equal(e.time, 1ull << 45);
	assert_false(evq_pop(&q, UINT64_MAX, &e));
	evq_fini(&q);
}

/* A bucket of thousands of simultaneous events is sorted by radix. */
static void large_buckets_are_sorted(void **state)
{
	enum { N = 50000 };
	struct evq q;
	struct evq_event e, last = { 0, 0 };

	evq_init(&q);
	for (uint32_t i = 0; i < N; i++)
		evq_push(&q, 5000000000ull + i % 3,
			 EVQ_KEY(i & 1, (i * 7919u) % N, 0));
	for (uint32_t i = 0; i < N; i++) {
		assert_true(evq_pop(&q, UINT64_MAX, &e));
		assert_false(ref_less(e, last));
		last = e;
	}
	assert_int_equal(q.pending, 0);
	evq_fini(&q);
}

/* Polling programs keep setting far deadlines, which nearly always pass unused.
 * The queue must keep memory for pending events only. */
static void far_deadlines_leave_no_memory_behind(void **state)
{
	enum { STEPS = 2000, EACH = 60 };
	struct evq q;
	struct evq_event e;
	uint64_t spare = 0;

	evq_init(&q);
	evq_push(&q, 0, EVQ_KEY(1, 0, 0));
	for (uint32_t i = 0; i < STEPS * EACH; i++) {
		do
			assert_true(evq_pop(&q, UINT64_MAX, &e));
		while (EVQ_KEY_ID(e.key)); /* a deadline */
		evq_push(&q, e.time + 100000000000ull, EVQ_KEY(1, 1, 0));
		evq_push(&q, e.time + 50000000ull, EVQ_KEY(1, 0, 0));
	}
	for (uint32_t i = 0; i < q.n_spare; i++)
		spare += q.spare[i].cap;
	assert_true(spare < 4096);
	evq_fini(&q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(queue_pops_as_a_sorted_array_does),
		cmocka_unit_test(events_behind_the_bound_stay_in_the_queue),
		cmocka_unit_test(large_buckets_are_sorted),
		cmocka_unit_test(far_deadlines_leave_no_memory_behind),
	};

	return cmocka_run_group_tests_name("queue", tests, NULL, NULL);
}
