/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles from the arrival of a word until a polling core reads it. The three
 * modes of delivery are compared with formulas of the parameters alone. */
#include "unit/cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "rig.h"

/* Parameters of coh.system on which the time of a delivery depends. */
struct times {
	uint32_t hit, port, arb, req, snoop, reply, ni, ctrl, rcd, cas, cwl;
	uint32_t line, width, gap, cores;
};

static const struct times cases[] = {
	{ 1, 1, 1, 1, 2, 1, 2, 4, 2, 2, 1, 32, 8, 4, 2 },
	{ 1, 1, 1, 1, 2, 1, 2, 4, 2, 2, 1, 32, 8, 0, 2 },
	{ 1, 1, 1, 1, 2, 1, 2, 4, 2, 2, 1, 32, 8, 50, 2 },
	{ 1, 1, 1, 1, 2, 1, 2, 4, 2, 2, 1, 32, 8, 4, 16 },
	{ 1, 1, 1, 1, 2, 1, 2, 40, 20, 20, 10, 32, 8, 4, 2 },
	{ 3, 2, 2, 5, 7, 3, 1, 6, 3, 5, 2, 128, 4, 9, 5 },
	{ 2, 4, 1, 0, 0, 0, 0, 0, 0, 0, 0, 8, 16, 7, 3 },
};

static uint64_t beats(const struct times *t, uint64_t bytes)
{
	return (bytes + t->width - 1) / t->width;
}

/* Returns the end of the first poll that ends at cycle s or later, if all polls
 * hit. Polls end one period apart, counted from the end of the miss that
 * fetched the line. */
static uint64_t hit_after(const struct times *t, uint64_t s)
{
	uint64_t period = t->gap + t->hit;
	uint64_t fetched = t->gap + t->hit + t->arb + t->req + t->snoop +
			   t->ctrl + t->rcd + t->cas + t->reply +
			   beats(t, t->line);

	return fetched + (s - fetched + period - 1) / period * period;
}

/* Returns the cycle at which all caches have stored the word (update) or
 * invalidated the line (invalidate). */
static uint64_t answered(const struct times *t, uint64_t arrival)
{
	return arrival + t->ni + t->arb + t->req + beats(t, 4) + t->snoop;
}

static uint64_t seen_update(const struct times *t, uint64_t arrival)
{
	return hit_after(t, answered(t, arrival));
}

/* The first poll after the invalidation misses, waits until memory is written,
 * and fetches the line. */
static uint64_t seen_invalidate(const struct times *t, uint64_t arrival)
{
	uint64_t s = answered(t, arrival), miss = hit_after(t, s);
	uint64_t written = s + t->ctrl + t->cwl + beats(t, 4);
	uint64_t granted = miss > written ? miss : written;

	return granted + t->arb + t->req + t->snoop + t->ctrl + t->cas +
	       t->reply + beats(t, t->line);
}

/* Polls read memory one after the other. The write is served between two of
 * them. */
static uint64_t seen_memory(const struct times *t, uint64_t arrival)
{
	uint64_t ask = arrival + t->ni;
	uint64_t poll =
		t->arb + t->req + t->ctrl + t->cas + t->reply + beats(t, 4);
	uint64_t write =
		t->arb + t->req + beats(t, 4) + t->ctrl + t->cwl + beats(t, 4);
	uint64_t period = t->gap + t->port + poll;
	uint64_t first = t->gap + t->port +
			 t->rcd; /* the first poll opens the row, which delays
				    all others by t_rcd */
	/* cycle of the last grant to a poll before the write requests the
	 * interconnect */
	uint64_t before = first + (ask - 1 - first) / period * period;
	uint64_t free = before + poll, next = before + period, written;

	written = (ask > free ? ask : free) + write;
	return (next > written ? next : written) + poll;
}

static uint64_t (*const formula[])(const struct times *, uint64_t) = {
	[COH_TO_MEMORY] = seen_memory,
	[COH_BY_INVALIDATE] = seen_invalidate,
	[COH_BY_UPDATE] = seen_update,
};
static const char *const mode[] = { "memory", "invalidate", "update" };

static void params(char *text, size_t size, const struct times *t,
		   enum coh_delivery how)
{
	snprintf(text, size,
		 "delivery=%s cores=%u line=%u width=%u poll_gap=%u t_hit=%u "
		 "t_port=%u t_arb=%u t_req=%u t_snoop=%u t_reply=%u t_ni=%u "
		 "t_ctrl=%u t_rcd=%u t_cas=%u t_cwl=%u private_bytes=64KiB",
		 mode[how], t->cores, t->line, t->width, t->gap, t->hit,
		 t->port, t->arb, t->req, t->snoop, t->reply, t->ni, t->ctrl,
		 t->rcd, t->cas, t->cwl);
}

/* Delivers one word, once for every phase of the polling loop. */
static void one_word(const struct times *t, enum coh_delivery how)
{
	char text[640];
	struct rig r;
	size_t n;

	for (uint64_t a = 500; a < 620; a++) {
		params(text, sizeof(text), t, how);
		n = strlen(text);
		snprintf(text + n, sizeof(text) - n,
			 " words=1 jitter=0 start=%u", (uint32_t)a);
		rig_open(&r, 1, text);
		rig_finish(&r);
		assert_int_equal(rig_counter(&r, "arrived"), 1);
		assert_int_equal(rig_counter(&r, "delivered"), 1);
		assert_int_equal(rig_counter(&r, "held_up"), 0);
		assert_int_equal(rig_counter(&r, "seen"), 1);
		assert_int_equal(r.errors, 0);
		if (rig_metric(&r, "seen_mean") !=
		    (double)(formula[how](t, a) - a))
			fail_msg("%s, arrival %u: %g cycles, formula %u", text,
				 (uint32_t)a, rig_metric(&r, "seen_mean"),
				 (uint32_t)(formula[how](t, a) - a));
		rig_free(&r);
	}
}

static void single_word_takes_the_time_of_its_stages(void **state)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int how = COH_TO_MEMORY; how <= COH_BY_UPDATE; how++)
			one_word(&cases[i], how);
}

/* Cycles of single arrivals, computed by hand with the default parameters: the
 * miss of the first poll ends at 22, polls end at 27, 32, ... */
static void by_hand(void **state)
{
	const struct times *t = &cases[0];

	/* update: all caches have answered at 1000 + 2 + 1 + 1 + 1 + 2 =
	 * 1007 */
	assert_int_equal(seen_update(t, 1000), 1007);
	assert_int_equal(seen_update(t, 1001), 1012);
	/* invalidate: memory is written at 1007 + 6, and the read takes 4 + 6 +
	 * 1 + 4 more */
	assert_int_equal(seen_invalidate(t, 1000), 1013 + 15);
	/* memory: polls of 10 cycles begin every 15 cycles from cycle 7 on:
	 * 997, 1012. The write requests the interconnect at 1002, is granted at
	 * 1007 and ends at 1016. */
	assert_int_equal(seen_memory(t, 1000), 1016 + 10);
}

/* The delivery of a word of a stream takes no less than that of a single word
 * at the best phase of the polling loop, and no more than at the worst
 * phase. */
static void streamed_word_stays_within_phases_of_a_single_one(void **state)
{
	const struct times *t = &cases[0];
	char text[640];
	struct rig r;

	for (int how = COH_TO_MEMORY; how <= COH_BY_UPDATE; how++) {
		uint64_t lo = UINT64_MAX, hi = 0, d;

		for (uint64_t a = 500; a < 620; a++) {
			d = formula[how](t, a) - a;
			lo = d < lo ? d : lo;
			hi = d > hi ? d : hi;
		}
		params(text, sizeof(text), t, how);
		rig_open(&r, 1, text);
		rig_finish(&r);
		assert_int_equal(rig_counter(&r, "seen"), 1000);
		assert_int_equal(r.errors, 0);
		assert_int_equal(rig_metric(&r, "seen_min"), lo);
		assert_int_equal(rig_metric(&r, "seen_max"), hi);
		rig_free(&r);
	}
}

/* Words arrive faster than they are read. None is lost, because a word waits
 * until its slot in the mailbox is free. */
static void mailbox_delays_words_and_loses_none(void **state)
{
	struct rig r;

	for (int how = COH_TO_MEMORY; how <= COH_BY_UPDATE; how++) {
		char text[128];

		snprintf(text, sizeof(text),
			 "delivery=%s interval=1 jitter=0 slots=4 words=500 "
			 "pollers=2 poll_gap=40 stride=64",
			 mode[how]);
		rig_open(&r, 1, text);
		rig_finish(&r);
		assert_int_equal(rig_counter(&r, "seen"), 1000);
		assert_int_equal(rig_counter(&r, "delivered"), 500);
		assert_true(rig_counter(&r, "held_up") > 1000);
		assert_int_equal(r.errors, 0);
		rig_free(&r);
	}
}

static void poll_is_a_word(void *arg, uint32_t core, const struct coh_op *op,
			   uint64_t cycle, uint64_t value)
{
	if (core) /* only core 0 polls */
		return;
	assert_int_equal(op->bytes, 4);
	assert_false(op->store);
	++*(uint32_t *)arg;
}

static void a_poll_loads_the_whole_word(void **state)
{
	uint32_t polls = 0;
	struct coh_watch watch = { .op = poll_is_a_word, .arg = &polls };
	struct rig r;

	rig_open(&r, 1, "pollers=1 words=3");
	coh_system_watch(r.c, &watch);
	rig_finish(&r);
	assert_true(polls >= 3);
	assert_int_equal(rig_counter(&r, "polls"), polls);
	rig_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(single_word_takes_the_time_of_its_stages),
		cmocka_unit_test(
			streamed_word_stays_within_phases_of_a_single_one),
		cmocka_unit_test(mailbox_delays_words_and_loses_none),
		cmocka_unit_test(a_poll_loads_the_whole_word),
	};

	return cmocka_run_group_tests_name("coh-delivery", tests, NULL, NULL);
}
