/* SPDX-License-Identifier: Apache-2.0 */
/* Directory of set-associative caches (base/assoc.h): each rule alone, and
 * random operations against a reference that searches a list of all inserts. */
#include "../cmocka_all.h"

#include <string.h>

#include "base/assoc.h"
#include "base/rng.h"
#include "base/vec.h"

static void an_empty_entry_goes_before_the_least_recently_used(void **state)
{
	struct assoc a;

	assoc_init(&a, 2, 3, ASSOC_LRU);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(assoc_victim(&a, 1), 3 + i);
		assoc_put(&a, 3 + i, 7, 100 + i, ASSOC_VALID);
		assoc_touch(&a, 3 + i);
	}
	assert_int_equal(assoc_find(&a, 1, 7, 101), 4);
	assert_int_equal(assoc_find(&a, 0, 7, 101), ASSOC_NONE);
	assert_int_equal(assoc_find(&a, 1, 8, 101), ASSOC_NONE);
	assoc_touch(&a, 3);
	assert_int_equal(assoc_victim(&a, 1), 4);
	assoc_remove(&a, 5);
	assert_int_equal(assoc_victim(&a, 1), 5);
	assert_false(assoc_valid(&a, 5));
	assert_false(assoc_valid(&a, ASSOC_NONE));
	assoc_fini(&a);
}

/* An entry that was emptied is not filled before its turn, because hardware
 * that only counts does not search for empty entries. */
static void round_robin_replaces_each_entry_of_a_set_in_turn(void **state)
{
	struct assoc a;

	assoc_init(&a, 2, 2, ASSOC_ROUND_ROBIN);
	for (uint32_t i = 0; i < 5; i++) {
		assert_int_equal(assoc_victim(&a, 0), i % 2);
		assoc_put(&a, i % 2, 0, i, ASSOC_VALID);
		assoc_touch(&a, 0);
	}
	assoc_remove(&a, 0);
	assert_int_equal(assoc_victim(&a, 0), 1);
	assert_int_equal(assoc_victim(&a, 1), 2);
	assoc_fini(&a);
}

static void an_entry_that_is_filled_is_found_and_not_replaced(void **state)
{
	struct assoc a;

	assoc_init(&a, 1, 2, ASSOC_LRU);
	assoc_put(&a, 0, 0, 5, ASSOC_FILLING);
	assoc_put(&a, 1, 0, 6, ASSOC_VALID);
	assoc_touch(&a, 1);
	assert_int_equal(assoc_find(&a, 0, 0, 5), 0);
	assert_false(assoc_valid(&a, 0));
	assert_int_equal(assoc_victim(&a, 0), 1);
	assoc_put(&a, 1, 0, 7, ASSOC_FILLING);
	assert_int_equal(assoc_victim(&a, 0), ASSOC_NONE);
	/* after the first removal the entry is empty, and a second removal has
	 * no effect */
	assoc_remove(&a, 0);
	assoc_remove(&a, 0);
	assert_int_equal(assoc_find(&a, 0, 0, 5), ASSOC_NONE);
	assert_int_equal(assoc_victim(&a, 0), ASSOC_NONE);
	assoc_fini(&a);
}

static bool is_odd(const void *arg, uint32_t i)
{
	return ((const struct assoc *)arg)->at[i].key % 2;
}

static void a_condition_protects_entries_and_admits_empty_ones(void **state)
{
	struct assoc a;

	assoc_init(&a, 1, 4, ASSOC_LRU);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(assoc_victim_if(&a, 0, is_odd, &a), i);
		assoc_put(&a, i, 0, 2 + i, ASSOC_VALID);
		assoc_touch(&a, i);
	}
	assert_int_equal(assoc_victim_if(&a, 0, is_odd, &a), 1);
	assoc_touch(&a, 1);
	assert_int_equal(assoc_victim_if(&a, 0, is_odd, &a), 3);
	assoc_remove(&a, 2);
	assert_int_equal(assoc_victim_if(&a, 0, is_odd, &a), 2);
	assoc_fini(&a);
}

/* ---- the reference ---- */

enum { SETS = 3, WAYS = 4, KEYS = 30, OWNERS = 2, OPS = 50000 };

/* List of all inserts, oldest first. An insert is valid (`here`) until it is
 * removed or another insert takes its entry of the set. */
struct insert {
	uint32_t set, place, owner, key;
	size_t used; /* number of the last operation that used it */
	bool here;
};
struct reference {
	VEC(struct insert);
	uint32_t fills[SETS];
	enum assoc_policy policy;
};

static struct insert *ref_at(struct reference *r, uint32_t set, uint32_t place)
{
	for (size_t i = r->n; i--;)
		if (r->at[i].here && r->at[i].set == set &&
		    r->at[i].place == place)
			return &r->at[i];
	return NULL;
}

static struct insert *ref_find(struct reference *r, uint32_t owner,
			       uint32_t key)
{
	for (size_t i = r->n; i--;)
		if (r->at[i].here && r->at[i].owner == owner &&
		    r->at[i].key == key)
			return &r->at[i];
	return NULL;
}

static uint32_t ref_place(struct reference *r, uint32_t set)
{
	uint32_t place = 0;

	if (r->policy == ASSOC_ROUND_ROBIN)
		return r->fills[set]++ % WAYS;
	for (uint32_t w = 0; w < WAYS; w++)
		if (!ref_at(r, set, w))
			return w;
	for (uint32_t w = 1; w < WAYS; w++)
		if (ref_at(r, set, w)->used < ref_at(r, set, place)->used)
			place = w;
	return place;
}

static void ref_insert(struct reference *r, uint32_t owner, uint32_t key,
		       size_t now)
{
	uint32_t set = key % SETS, place = ref_place(r, set);
	struct insert *old = ref_at(r, set, place);

	if (old)
		old->here = false;
	vec_push(r, (struct insert){ set, place, owner, key, now, true });
}

static void like_the_reference(enum assoc_policy policy)
{
	struct reference r = { .policy = policy };
	struct weft_rng rng;
	struct assoc a;
	uint32_t hits = 0, i;

	weft_rng_seed(&rng, 18, 0);
	assoc_init(&a, SETS, WAYS, policy);
	for (size_t op = 0; op < OPS; op++) {
		uint32_t key = (uint32_t)weft_rng_below(&rng, KEYS);
		uint32_t owner = (uint32_t)weft_rng_below(&rng, OWNERS);
		struct insert *e = ref_find(&r, owner, key);

		i = assoc_find(&a, key % SETS, owner, key);
		assert_int_equal(i, e ? e->set * WAYS + e->place : ASSOC_NONE);
		if (e && !weft_rng_below(&rng, 5)) {
			assoc_remove(&a, i);
			e->here = false;
			continue;
		}
		if (e) {
			hits++;
			e->used = op;
		} else {
			i = assoc_victim(&a, key % SETS);
			assoc_put(&a, i, owner, key, ASSOC_VALID);
			ref_insert(&r, owner, key, op);
		}
		assoc_touch(&a, i);
		/* removes the inserts that are not valid from the list */
		if (r.n == 1000) {
			size_t kept = 0;

			for (size_t k = 0; k < r.n; k++)
				if (r.at[k].here)
					r.at[kept++] = r.at[k];
			r.n = kept;
		}
	}
	assert_true(hits > OPS / 10);
	vec_free(&r);
	assoc_fini(&a);
}

static void lru_replaces_what_the_reference_replaces(void **state)
{
	like_the_reference(ASSOC_LRU);
}

static void round_robin_replaces_what_the_reference_replaces(void **state)
{
	like_the_reference(ASSOC_ROUND_ROBIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			an_empty_entry_goes_before_the_least_recently_used),
		cmocka_unit_test(
			round_robin_replaces_each_entry_of_a_set_in_turn),
		cmocka_unit_test(
			an_entry_that_is_filled_is_found_and_not_replaced),
		cmocka_unit_test(
			a_condition_protects_entries_and_admits_empty_ones),
		cmocka_unit_test(lru_replaces_what_the_reference_replaces),
		cmocka_unit_test(
			round_robin_replaces_what_the_reference_replaces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
