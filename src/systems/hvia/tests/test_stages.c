/* SPDX-License-Identifier: Apache-2.0 */
/* Trace of a message in the cards (weft/trace.h). Each step of hvia.md 5.2
 * and 5.3 is a stage, in the order of 7.1. The trace also has the states of
 * both engines. */
#include "hvduo.h"

#include <stdio.h>
#include <string.h>

#include "weft/trace.h"

enum { TOLD = 128 };

struct ear {
	struct weft_listener listener;
	char told[TOLD][64]; /* "n0 stage" */
	uint32_t n;
};

static struct ear ear;
static enum weft_trace_kind wanted;
static uint32_t messages;
/* component whose states are recorded, or NULL for all */
static const char *machine;

static void hear(struct weft_listener *l, const struct weft_trace *t)
{
	struct ear *e = (struct ear *)l;
	const char *dot = strchr(t->comp->name, '.');
	const char *what = t->kind == WEFT_TRACE_STATE ? t->text : t->name;

	if (t->kind != wanted || !dot || strcmp(dot, ".nic") ||
	    !strncmp(t->name, "asks to", 7) || /* stages of the bus */
	    (machine && strcmp(t->name, machine)))
		return;
	assert_true(e->n < TOLD);
	snprintf(e->told[e->n++], sizeof(e->told[0]), "%.2s %s", t->comp->name,
		 what);
}

static int sends(struct weft_host *h, struct bench *b)
{
	uint32_t turn = 0;

	hvduo_open_side(h, 0, 0);
	hvarea_meet(h, &turn);
	weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
	memset(&ear, 0, sizeof(ear));
	ear.listener.hear = hear;
	weft_sim_listen(b->sim, &ear.listener);
	for (uint32_t i = 0; i < messages; i++) {
		assert_int_equal(hvduo_sent(hvduo_simple(i, 4)), OK);
		weft_host_sleep(h, weft_host_now(h) + 50 * WEFT_US);
	}
	hvarea_meet(h, &turn);
	return 0;
}

/* Checks that each message has these stages and no others. */
static void check(const char *const *want)
{
	uint32_t n = 0;

	while (want[n])
		n++;
	for (uint32_t i = 0; i < ear.n; i++)
		if (strcmp(ear.told[i], want[i % n]))
			fail_msg("%u: %s, not %s", i, ear.told[i], want[i % n]);
	assert_int_equal(ear.n, messages * n);
}

static void told(enum weft_trace_kind kind, const char *of,
		 const char *prefetch, const char *const *want)
{
	wanted = kind;
	machine = of;
	hvduo.param = "prefetch";
	hvduo.value = prefetch;
	hvduo_run(sends, hvduo_peer, messages);
	check(want);
}

#define TO_THE_LOOK                                                            \
	"n0 finds the doorbell", "n0 translates the descriptor's address",     \
		"n0 reads the descriptor", "n0 checks the descriptor",         \
		"n0 translates the data's address", "n0 reads data",           \
		"n0 FIFO, Tx buffer, Tx descriptor", "n0 FIFO, Tx buffer",     \
		"n0 waits for the MAC", "n0 completes", "n0 completes",        \
		"n0 MAC: tail, descriptor, first burst", "n0 MAC: start",      \
		"n0 waits for the line", "n1 frame on the line",               \
		"n1 MAC: receive", "n1 MAC: stores frame and descriptor",      \
		"n1 poll", "n1 waits for the engine",                          \
		"n1 to the engine, header", "n1 checks the packet",            \
		"n1 looks into the prefetch buffer",
#define FROM_THE_WRITE                                                         \
	"n1 visible, bookkeeping", "n1 completes", "n1 completion visible",

static void a_message_tells_each_step(void **state)
{
	static const char *const want[] = { TO_THE_LOOK FROM_THE_WRITE NULL };

	messages = 3;
	told(WEFT_TRACE_MARK, NULL, "1", want);
}

static void a_message_tells_the_steps_of_a_miss(void **state)
{
	static const char *const want[] = { TO_THE_LOOK "n1 reads the segment",
					    "n1 translates the data's address",
					    FROM_THE_WRITE NULL };

	/* sends one message, because the descriptor of a second message would
	 * be fetched already */
	messages = 1;
	told(WEFT_TRACE_MARK, NULL, "0", want);
}

static void engines_tell_their_states(void **state)
{
	static const char *const sent[] = { "n0 SCAN", "n0 XD",	   "n0 RD",
					    "n0 CHK",  "n0 XA",	   "n0 DR",
					    "n0 LAST", "n0 COMPL", "n0 DONE",
					    "n0 IDLE", NULL };
	/* the engine runs once more, because the completion wakes it */
	static const char *const received[] = { "n1 HDR",    "n1 CHK",
						"n1 LOOKUP", "n1 SEG",
						"n1 XA",     "n1 IDLE",
						"n1 IDLE",   NULL };

	messages = 1;
	told(WEFT_TRACE_STATE, "send", "1", sent);
	told(WEFT_TRACE_STATE, "receive", "0", received);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_tells_each_step),
		cmocka_unit_test(a_message_tells_the_steps_of_a_miss),
		cmocka_unit_test(engines_tell_their_states),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
