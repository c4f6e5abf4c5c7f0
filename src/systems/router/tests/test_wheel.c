/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles of a network (wheel.h). */
#include "unit/cmocka_all.h"

#include <string.h>

#include "systems/router/network/wheel.h"

enum { STATIONS = 5000 };

struct log {
	struct wheel w;
	uint32_t id[16];
	uint64_t cycle[16];
	uint32_t n;
};

static void log_init(struct log *l)
{
	memset(l, 0, sizeof(*l));
	for (uint32_t i = 0; i < STATIONS; i++)
		assert_int_equal(wheel_join(&l->w), i);
}

static void note(void *own, uint32_t id, uint64_t cycle)
{
	struct log *l = own;

	l->id[l->n] = id;
	l->cycle[l->n++] = cycle;
}

/* Takes all cycles that the wheel names. */
static void take_all(struct log *l)
{
	for (uint64_t t = wheel_next(&l->w); t != WHEEL_NEVER;
	     t = wheel_next(&l->w))
		wheel_take(&l->w, t, note, l);
}

static void expect(const struct log *l, uint32_t i, uint64_t cycle, uint32_t id)
{
	assert_int_equal(l->cycle[i], cycle);
	assert_int_equal(l->id[i], id);
}

static void stations_of_a_cycle_are_taken_in_order_and_once(void **state)
{
	struct log l;

	log_init(&l);
	wheel_add(&l.w, 7, 4999);
	wheel_add(&l.w, 7, 64);
	wheel_add(&l.w, 7, 63);
	wheel_add(&l.w, 7, 64);
	wheel_add(&l.w, 3, 4096);
	take_all(&l);
	assert_int_equal(l.n, 4);
	expect(&l, 0, 3, 4096);
	expect(&l, 1, 7, 63);
	expect(&l, 2, 7, 64);
	expect(&l, 3, 7, 4999);
	wheel_fini(&l.w);
}

static void cycle_beyond_a_turn_waits_for_its_turn(void **state)
{
	struct log l;

	log_init(&l);
	wheel_add(&l.w, 5 + 3ull * WHEEL_SLOTS, 1);
	wheel_add(&l.w, 5, 2);
	wheel_add(&l.w, 5 + 1ull * WHEEL_SLOTS, 3);
	wheel_add(&l.w, WHEEL_NEAR - 2, 4);
	wheel_add(&l.w, WHEEL_NEAR - 1, 5);
	take_all(&l);
	assert_int_equal(l.n, 5);
	expect(&l, 0, 5, 2);
	expect(&l, 1, WHEEL_NEAR - 2, 4);
	expect(&l, 2, WHEEL_NEAR - 1, 5);
	expect(&l, 3, 5 + WHEEL_SLOTS, 3);
	expect(&l, 4, 5 + 3ull * WHEEL_SLOTS, 1);
	wheel_fini(&l.w);
}

static void again(void *own, uint32_t id, uint64_t cycle)
{
	struct log *l = own;

	note(own, id, cycle);
	if (cycle == 100)
		wheel_add(&l->w, 101, 0);
	if (cycle == 101) {
		wheel_add(&l->w, 101 + WHEEL_SLOTS, 1);
		wheel_add(&l->w, 101 + WHEEL_NEAR, 2);
		wheel_add(&l->w, 100 + WHEEL_NEAR, 3);
	}
}

static void station_asks_for_later_cycles_while_one_is_taken(void **state)
{
	struct log l;

	log_init(&l);
	wheel_add(&l.w, 100, 9);
	wheel_add(&l.w, 100, 10);
	for (uint64_t t = wheel_next(&l.w); t != WHEEL_NEVER;
	     t = wheel_next(&l.w))
		wheel_take(&l.w, t, again, &l);
	assert_int_equal(l.n, 6);
	expect(&l, 1, 100, 10);
	expect(&l, 2, 101, 0);
	expect(&l, 3, 100 + WHEEL_NEAR, 3);
	expect(&l, 4, 101 + WHEEL_NEAR, 2);
	expect(&l, 5, 101 + WHEEL_SLOTS, 1);
	wheel_fini(&l.w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			stations_of_a_cycle_are_taken_in_order_and_once),
		cmocka_unit_test(cycle_beyond_a_turn_waits_for_its_turn),
		cmocka_unit_test(
			station_asks_for_later_cycles_while_one_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
