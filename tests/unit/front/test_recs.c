/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in flight: marks in order, forks, and a full table. */
#include "../cmocka_all.h"

#include <string.h>

#include "front/trace/recs.h"

enum { SLOTS = 4096, PROBES = 8, MARKS = 400 };

static struct weft_comp nic = { .name = "n0.nic", .id = 7 },
			far = { .name = "n1", .id = 9 };

static const struct rec *hear(struct recs *r, enum weft_trace_kind kind,
			      uint64_t id, uint64_t value, const char *name,
			      weft_time_t t)
{
	return recs_hear(r, &(struct weft_trace){ .kind = kind,
						  .comp = &nic,
						  .id = id,
						  .value = value,
						  .name = name,
						  .from = t,
						  .to = t });
}

static void open_at(struct recs *r, uint64_t id, weft_time_t t)
{
	assert_null(hear(r, WEFT_TRACE_OPEN, id, 0, NULL, t));
}

static void mark(struct recs *r, uint64_t id, const char *stage, weft_time_t t)
{
	assert_null(hear(r, WEFT_TRACE_MARK, id, 0, stage, t));
}

static void is_mark(const struct rec *m, size_t i, const char *stage,
		    weft_time_t t)
{
	assert_true(i < m->marks.n);
	assert_string_equal(m->marks.at[i].stage, stage);
	assert_int_equal(m->marks.at[i].end, t);
}

static void marks_are_sorted_by_time_then_arrival(void **state)
{
	static const struct {
		const char *stage;
		weft_time_t t;
	} told[] = { { "d", 40 }, { "b", 20 }, { "b2", 20 }, { "e", 50 },
		     { "a", 10 }, { "c", 30 }, { "b3", 20 } },
	  want[] = { { "a", 10 }, { "b", 20 }, { "b2", 20 }, { "b3", 20 },
		     { "c", 30 }, { "d", 40 }, { "e", 50 } };
	const struct rec *m;
	struct recs r;

	recs_init(&r);
	open_at(&r, 5, 3);
	for (size_t i = 0; i < 7; i++)
		mark(&r, 5, told[i].stage, told[i].t);
	m = recs_find(&r, 5);
	assert_ptr_equal(m, hear(&r, WEFT_TRACE_END, 5, 1, NULL, 60));
	assert_int_equal(m->marks.n, 7);
	assert_int_equal(m->begin, 3);
	assert_ptr_equal(m->origin, &nic);
	for (size_t i = 0; i < 7; i++)
		is_mark(m, i, want[i].stage, want[i].t);
	mark(&r, 5, "too late", 70);
	assert_int_equal(recs_find(&r, 5)->marks.n, 7);
	recs_fini(&r);
}

/* A part of a message inherits the marks that the message has so far. A part
 * that does not arrive is dropped. */
static void fork_takes_marks_and_origin_of_its_parent(void **state)
{
	const struct rec *m;
	struct recs r;

	recs_init(&r);
	open_at(&r, 1, 3);
	mark(&r, 1, "a", 10);
	assert_null(recs_hear(&r, &(struct weft_trace){ .kind = WEFT_TRACE_OPEN,
							.comp = &far,
							.id = 2,
							.value = 1,
							.from = 11 }));
	mark(&r, 2, "b", 20);
	m = hear(&r, WEFT_TRACE_END, 2, 1, NULL, 30);
	assert_ptr_equal(m->origin, &nic);
	assert_int_equal(m->begin, 3);
	assert_int_equal(m->marks.n, 2);
	is_mark(m, 0, "a", 10);
	is_mark(m, 1, "b", 20);
	assert_int_equal(recs_find(&r, 1)->marks.n, 1);
	assert_null(hear(&r, WEFT_TRACE_OPEN, 3, 77, NULL, 0)); /* no parent */
	assert_null(recs_find(&r, 3));
	assert_null(hear(&r, WEFT_TRACE_END, 1, 0, NULL, 40));
	assert_null(recs_find(&r, 1));
	assert_null(recs_find(&r, 0));
	assert_null(hear(&r, WEFT_TRACE_END, 9, 1, NULL, 40));
	recs_fini(&r);
}

static void message_keeps_its_first_marks_when_full(void **state)
{
	struct recs r;

	recs_init(&r);
	open_at(&r, 1, 0);
	for (uint32_t i = 0; i < MARKS + 5; i++)
		mark(&r, 1, "a", i);
	assert_int_equal(recs_find(&r, 1)->marks.n, MARKS);
	is_mark(recs_find(&r, 1), MARKS - 1, "a", MARKS - 1);
	recs_fini(&r);
}

/* Returns the slot at which the search for an id begins. */
static uint32_t slot(uint64_t id)
{
	return (uint32_t)(id * 0x9e3779b97f4a7c15ull >> 52);
}

/* Returns the next id above `id` whose search begins at slot `where`. */
static uint64_t id_at(uint32_t where, uint64_t id)
{
	do
		id++;
	while (slot(id) != where);
	return id;
}

/* Adds as many ids as a search probes, then one more. The searches for all
 * these ids begin at the same slot near the end of the table, so that they wrap
 * to the start of the table. */
static void oldest_arrived_message_makes_room_for_a_new_one(void **state)
{
	uint64_t id[PROBES + 1] = { 0 };
	struct recs r;

	recs_init(&r);
	for (uint32_t i = 0; i <= PROBES; i++)
		id[i] = id_at(SLOTS - 3, i ? id[i - 1] : 0);
	for (uint32_t i = 0; i < PROBES; i++)
		open_at(&r, id[i], i);
	for (uint32_t i = 0; i < PROBES; i++) {
		assert_non_null(recs_find(&r, id[i]));
		assert_int_equal(recs_find(&r, id[i])->begin, i);
	}
	assert_non_null(hear(&r, WEFT_TRACE_END, id[3], 1, NULL, 50));
	assert_non_null(hear(&r, WEFT_TRACE_END, id[5], 1, NULL, 50));
	/* the oldest message that has arrived makes room */
	open_at(&r, id[PROBES], 100);
	assert_int_equal(recs_find(&r, id[PROBES])->begin, 100);
	assert_null(recs_find(&r, id[3]));
	assert_non_null(recs_find(&r, id[5]));
	assert_int_equal(r.pushed, 0);
	recs_fini(&r);
}

/* If all messages are in flight, a new message replaces the oldest one. After
 * many replacements only every second message is watched. */
static void full_table_drops_oldest_and_watches_every_second(void **state)
{
	const uint64_t flag = UINT64_C(1) << 63;
	uint64_t id[PROBES + 1] = { 0 };
	struct recs r;

	recs_init(&r);
	for (uint32_t i = 0; i <= PROBES; i++) {
		id[i] = id_at(5, i ? id[i - 1] : 0);
		open_at(&r, id[i], i);
	}
	assert_null(recs_find(&r, id[0]));
	assert_non_null(recs_find(&r, id[1]));
	assert_int_equal(r.pushed, 1);
	assert_int_equal(r.newest, id[PROBES]);
	r.pushed = SLOTS;
	open_at(&r, id_at(5, id[PROBES]), 0);
	assert_int_equal(r.every, 2);
	assert_int_equal(r.pushed, 0);
	open_at(&r, flag | 100001, 0);
	assert_null(recs_find(&r, flag | 100001));
	open_at(&r, flag | 100002, 0);
	assert_non_null(recs_find(&r, flag | 100002));
	/* parts of a watched message are watched too */
	hear(&r, WEFT_TRACE_OPEN, flag | 100003, flag | 100002, NULL, 0);
	assert_non_null(recs_find(&r, flag | 100003));
	assert_int_equal(r.newest, flag | 100003);
	recs_fini(&r);
}

static void walk_finds_messages_that_are_still_open(void **state)
{
	const struct rec *m;
	struct recs r;
	uint64_t seen = 0;
	size_t i = 0;

	recs_init(&r);
	for (uint64_t id = 1; id <= 4; id++) {
		open_at(&r, id, 0);
		mark(&r, id, "b", 20);
		mark(&r, id, "a", 10);
	}
	hear(&r, WEFT_TRACE_END, 2, 1, NULL, 30);
	while ((m = recs_next(&r, &i))) {
		seen |= UINT64_C(1) << m->id;
		is_mark(m, 0, "a", 10);
	}
	assert_int_equal(seen, 1 << 1 | 1 << 3 | 1 << 4);
	recs_fini(&r);
	recs_fini(&r);
}

static void hash_depends_on_component_text_and_number(void **state)
{
	assert_int_equal(recs_node(&nic), 2);
	assert_int_equal(recs_node(&far), 2);
	assert_true(recs_hash(&nic, "a", "b", 1) < UINT64_C(1) << 32);
	assert_int_equal(recs_hash(&nic, "ab", NULL, 1),
			 recs_hash(&nic, "a", "b", 1));
	assert_int_not_equal(recs_hash(&nic, "a", "b", 1),
			     recs_hash(&nic, "a", "b", 2));
	assert_int_not_equal(recs_hash(&nic, "a", "b", 1),
			     recs_hash(&far, "a", "b", 1));
	assert_int_not_equal(recs_hash(&nic, "a", "b", 1),
			     recs_hash(&nic, "b", "a", 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(marks_are_sorted_by_time_then_arrival),
		cmocka_unit_test(fork_takes_marks_and_origin_of_its_parent),
		cmocka_unit_test(message_keeps_its_first_marks_when_full),
		cmocka_unit_test(
			oldest_arrived_message_makes_room_for_a_new_one),
		cmocka_unit_test(
			full_table_drops_oldest_and_watches_every_second),
		cmocka_unit_test(walk_finds_messages_that_are_still_open),
		cmocka_unit_test(hash_depends_on_component_text_and_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
