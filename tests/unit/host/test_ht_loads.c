/* SPDX-License-Identifier: Apache-2.0 */
/* HyperTransport: several loads of the host at a time (Host Port specification
 * 7.5), and the queues of the core that they fill (EXTOLL specification
 * 2.3). */
#include "ht_bench.h"

static void load(struct bench *b)
{
	htrig_add(&b->s.host, HT_LOAD, 0x100 + 8 * b->s.host.n, 4);
}

static void three_loads(struct bench *b)
{
	b->s.loads = 3;
	for (uint32_t i = 0; i < 3; i++)
		load(b);
}

/* The transfers of loads overlap. A load waits only until the target has
 * answered earlier loads. */
static void loads_overlap_but_for_the_target(void **state)
{
	struct bench *b = *state;

	three_loads(b);
	bench_run(b);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(bench_when(b, 1, WEFT_NOTE_LOAD, i),
				 2 * (100 + 10 * i));
		assert_int_equal(bench_when(b, 0, WEFT_NOTE_LOADED, i),
				 2 * (180 + 10 * i));
		assert_int_equal(bench_said(b, 0, WEFT_NOTE_LOADED, i)->load,
				 i);
		assert_int_equal(bench_said(b, 0, WEFT_NOTE_LOADED, i)->first,
				 ref_ht_byte(i));
	}
	assert_int_equal(htrig_counter(&b->rig, "aborts"), 0);
}

/* The device gets one load at a time, however late the device answers. */
static void loads_wait_for_a_late_answer(void **state)
{
	struct bench *b = *state;

	b->s.answer[0] = 400 * WEFT_NS;
	three_loads(b);
	bench_run(b);
	/* the device gets a load in the slot after its answer to the previous
	 * one */
	assert_int_equal(bench_when(b, 1, WEFT_NOTE_LOAD, 1), 2 * 500 + 5);
	assert_int_equal(bench_when(b, 1, WEFT_NOTE_LOAD, 2), 2 * 510 + 5);
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_LOADED, 2), 2 * 590 + 5);
}

/* No load passes an earlier store of the host. */
static void each_load_stays_behind_its_stores(void **state)
{
	static const enum weft_note_kind want[] = {
		WEFT_NOTE_STORE, WEFT_NOTE_STORE, WEFT_NOTE_LOAD,
		WEFT_NOTE_STORE, WEFT_NOTE_LOAD,
	};
	struct bench *b = *state;
	uint32_t n = 0;

	b->s.loads = 3;
	b->s.window = 1;
	for (uint32_t i = 0; i < HT_CYCLE; i++)
		b->s.eat[i] = WEFT_US;
	htrig_add(&b->s.host, HT_STORE, 0x40, 8);
	htrig_add(&b->s.host, HT_STORE, 0x80, 8);
	load(b);
	htrig_add(&b->s.host, HT_STORE, 0xc0, 8);
	load(b);
	bench_run(b);
	for (uint32_t i = 0; i < b->log.n; i++)
		if (b->log.said[i].port == 1)
			assert_int_equal(b->log.said[i].kind, want[n++]);
	assert_int_equal(n, 5);
}

/* A load that the device does not answer is aborted, and does not delay the
 * next load. */
static void a_mute_device_aborts_each_load(void **state)
{
	struct bench *b = *state;

	b->s.answer[0] = b->s.answer[2] = WEFT_NEVER;
	three_loads(b);
	bench_run(b);
	assert_int_equal(htrig_counter(&b->rig, "aborts"), 2);
	assert_int_equal(bench_said(b, 0, WEFT_NOTE_LOADED, 0)->first, 0xff);
	assert_int_equal(bench_said(b, 0, WEFT_NOTE_LOADED, 1)->first,
			 ref_ht_byte(1));
	assert_int_equal(bench_said(b, 0, WEFT_NOTE_LOADED, 2)->first, 0xff);
	assert_int_equal(bench_when(b, 0, WEFT_NOTE_LOADED, 2), 2 * 200);
}

/* ---- depths (extoll.md 2.3) ---- */

enum { MANY = 24 };

static void many_loads(struct bench *b)
{
	b->s.loads = MANY;
	for (uint32_t i = 0; i < MANY; i++)
		load(b);
}

/* Uses 8 buffers and a queue of 2. The device has the first load, which stays
 * in the queue. When the device answers 1 us later, the third load enters the
 * queue and frees its buffer. */
static void full_queue_of_loads_keeps_the_buffers_of_the_link(void **state)
{
	struct bench *b = *state;

	b->s.np_depth = 2;
	b->s.answer[0] = WEFT_US;
	many_loads(b);
	bench_run(b);
	assert_int_equal(htrig_counter(&b->rig, "loads_held"), MANY - 2);
	/* ten loads follow each other to the device's core: two into the queue,
	 * eight into buffers */
	assert_int_equal(bench_when(b, 1, WEFT_NOTE_LOAD, 0), 2 * 100);
	assert_int_equal(bench_when(b, 1, WEFT_NOTE_LOAD, 1), 2 * 1100 + 5);
	assert_non_null(htrig_said(&b->log, 0, WEFT_NOTE_LOADED, MANY - 1));
}

static void queue_of_16_loads_holds_16(void **state)
{
	struct bench *b = *state;

	b->s.answer[0] = WEFT_US;
	many_loads(b);
	bench_run(b);
	assert_int_equal(htrig_counter(&b->rig, "loads_held"), MANY - 16);
}

/* An answer takes 500 ns to leave. With room for one answer the device does not
 * get the next load before the answer has left. */
static void full_queue_of_answers_holds_up_loads(void **state)
{
	struct bench *b = *state;
	uint64_t free;

	b->s.r_depth = 1;
	b->s.tx = 100; /* 500 ns */
	three_loads(b);
	bench_run(b);
	assert_int_equal(htrig_counter(&b->rig, "answer_waits"), 2);
	free = bench_when(b, 1, WEFT_NOTE_LOAD, 0) + 2 * (10 + 500) + 5;
	assert_int_equal(bench_when(b, 1, WEFT_NOTE_LOAD, 1), free);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(loads_overlap_but_for_the_target),
		T(loads_wait_for_a_late_answer),
		T(each_load_stays_behind_its_stores),
		T(a_mute_device_aborts_each_load),
		T(full_queue_of_loads_keeps_the_buffers_of_the_link),
		T(queue_of_16_loads_holds_16),
		T(full_queue_of_answers_holds_up_loads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
