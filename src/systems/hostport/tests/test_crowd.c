/* SPDX-License-Identifier: Apache-2.0 */
/* Checks of hostport.crowd: it must find every word that an instruction left
 * wrong (crowd_operations.c), and each completion and message that is not due
 * (crowd.c). */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hpend.h"
#include "measure/result.h"
/* includes the source, because the test calls its static functions */
#include "systems/hostport/programs/crowd.c"

enum { PROCESSES = 4, SERVERS = 2, NUMBERS = 4000 };

static uint64_t line[SERVERS][PROCESSES / SERVERS * LINE_WORDS], own[512];
static uint64_t *lines[SERVERS] = { line[0], line[1] };
static struct crowd crowd = { .processes = PROCESSES,
			      .servers = SERVERS,
			      .windows = PROCESSES,
			      .lines = lines };

static uint64_t *line_of(uint32_t id)
{
	return lines[id % SERVERS] + (size_t)id / SERVERS * LINE_WORDS;
}

/* Writes the effects of instruction `num`. Returns the number of words that the
 * check reads. Stores the memory that contains them in *what_p, and the index
 * of the first in *at_p. */
static uint32_t happens(struct member *m, struct hport_note *n,
			uint64_t **what_p, uint32_t *at_p)
{
	uint64_t num = n->tag.user, base = crowd_draw(num, 3), w;
	uint32_t words = crowd_words(&crowd, num);
	uint64_t *l = line_of(m->id);

	memset(l, 0x5a, 8 * LINE_WORDS);
	program_fill(&w, 1, base);
	*what_p = l;
	*at_p = 0;
	switch (crowd_kind(&crowd, num)) {
	case FAST_PUT:
	case PUT:
		program_fill(l, words, base);
		return words;
	case PUT_BYTES:
		l[ *at_p = 3] = w ^ 0xff00ff0000ff00ff;
		return 1;
	case FAST_GET:
		n->n = words;
		memcpy(n->data, l, 8 * words);
		return words;
	case GET:
		memcpy(own, l, 8 * words);
		*what_p = own;
		return words;
	case FAA:
		l[ *at_p = 6] = n->data[0] = m->added = w;
		return 1;
	case CAS:
		l[ *at_p = 7] = n->data[0] = w;
		return 1;
	default: /* a message, whose words the check does not read */
		return 0;
	}
}

/* Changes each word of an instruction and expects the check to fail. */
static void every_word_counts(void **state)
{
	uint32_t seen[KINDS] = { 0 };

	for (uint64_t num = 0; num < NUMBERS; num++) {
		struct member m = { .of = &crowd,
				    .id = (uint32_t)(num % PROCESSES),
				    .own = own };
		struct hport_note n = { .tag = { num, num } };
		uint32_t at, words;
		uint64_t *what;

		words = happens(&m, &n, &what, &at);
		seen[crowd_kind(&crowd, num)] |= 1u << words;
		assert_true(crowd_good(&m, &n));
		for (uint32_t i = at; i < at + words; i++) {
			what[i] ^= 1ull << num % 64;
			if (crowd_good(&m, &n))
				fail_msg("number %u, kind %u, word %u of %u",
					 (uint32_t)num, crowd_kind(&crowd, num),
					 i, words);
			what[i] ^= 1ull << num % 64;
		}
	}
	/* bit k is set if an instruction of k words was checked: 1 to 3 words
	 * for FAST_PUT, 1 to 6 for PUT */
	assert_int_equal(seen[FAST_PUT], 2 + 4 + 8);
	assert_int_equal(seen[PUT], 2 + 4 + 8 + 16 + 32 + 64);
	assert_int_equal(seen[FAST_GET], seen[FAST_PUT]);
	assert_int_equal(seen[GET], seen[PUT]);
	assert_int_equal(seen[PUT_BYTES] & seen[FAA] & seen[CAS], 2);
}

/* Changes the answer of each get and atomic, and expects the check to fail. */
static void answers_count(void **state)
{
	for (uint64_t num = 0; num < NUMBERS; num++) {
		struct member m = { .of = &crowd,
				    .id = (uint32_t)(num % PROCESSES),
				    .own = own };
		struct hport_note n = { .tag = { num, num } };
		enum kind k = crowd_kind(&crowd, num);
		uint64_t *what;
		uint32_t at;

		happens(&m, &n, &what, &at);
		if (k != FAST_GET && k != FAA && k != CAS)
			continue;
		n.data[0] ^= 1;
		assert_false(crowd_good(&m, &n));
		n.data[0] ^= 1;
		n.n++;
		assert_int_equal(crowd_good(&m, &n), k != FAST_GET);
	}
}

/* ---- completions ---- */

/* A completion is due if its process has an instruction in flight, if the
 * completion is for that instruction and reports no error, and if memory holds
 * the right data. */
static const struct completion {
	bool idle, error, late, data;
	uint32_t failures;
} completions[] = {
	{ .failures = 0 },
	{ .error = true, .failures = 1 },
	{ .idle = true, .failures = 1 },
	{ .late = true, .failures = 1 },
	{ .data = true, .failures = 1 },
};

static void completions_that_are_not_due_are_noticed(void **state)
{
	static uint64_t done[NUMBERS / 64 + 1];

	for (uint32_t i = 0; i < sizeof(completions) / sizeof(*completions);
	     i++) {
		const struct completion *c = &completions[i];
		struct weft_sim *sim = weft_sim_new(1);
		struct weft_err err = { 0 };
		struct member m = { .of = &crowd,
				    .own = own,
				    .busy = !c->idle };
		struct hport_note n = { .event = HPORT_DONE };
		uint64_t *what, num = 0;
		uint32_t at;

		memset(done, 0, sizeof(done));
		crowd.instructions = NUMBERS;
		crowd.done = done;
		crowd.w.c = weft_sim_add(sim, &weft_class_hostport_crowd, "c",
					 &err);
		while (crowd_kind(&crowd, num) != PUT)
			num += PROCESSES;
		m.next = (uint32_t)(num / PROCESSES) - c->late;
		n.tag.user = num;
		happens(&m, &n, &what, &at);
		what[0] ^= c->data;
		n.error = c->error;
		crowd_done(&m, &n);
		assert_int_equal(weft_sim_result(sim)->n_failures, c->failures);
		weft_sim_free(sim);
	}
}

/* ---- messages ---- */

/* A message is due if its number belongs to an instruction, if the process is
 * the target of this instruction, if the message has not come before, and if
 * it has the length and the words that were sent. */
static const struct message {
	bool error, beyond, foreign, twice, shorter, data;
	uint32_t failures;
} messages[] = {
	{ .failures = 0 },
	{ .error = true, .failures = 1 },
	{ .beyond = true, .failures = 2 }, /* no target, and no bit for it */
	{ .foreign = true, .failures = 1 },
	{ .twice = true, .failures = 1 },
	{ .shorter = true, .failures = 1 },
	{ .data = true, .failures = 1 },
};

/* Gives message `num` to a process whose port needs only its host, because the
 * notification holds the words. Returns the number of failed checks. */
static uint32_t message_failures(struct weft_host *h, const struct message *g,
				 uint64_t num)
{
	static uint64_t executed[NUMBERS / 64 + 1];
	struct weft_sim *sim = weft_sim_new(1);
	uint32_t words = crowd_words(&crowd, num), failures;
	uint64_t bit = 1ull << num % 64;
	struct hport p = { .drv.host = h };
	struct hport_note n = { .event = HPORT_MESSAGE,
				.error = g->error,
				.tag.user = num,
				.bytes = 8 * (words - g->shorter),
				.n = words };
	struct member m = { .of = &crowd,
			    .id = crowd_target(&crowd, num) + g->foreign,
			    .expect = 1 };
	struct weft_err err = { 0 };

	memset(executed, 0, sizeof(executed));
	executed[num / 64] = g->twice ? bit : 0;
	crowd.instructions = g->beyond ? num : NUMBERS;
	crowd.executed = executed;
	crowd.w.c = weft_sim_add(sim, &weft_class_hostport_crowd, "c", &err);
	program_fill(n.data, words, crowd_draw(num, 3));
	n.data[words - 1] ^= g->data;
	crowd_executed(&m, &p, &n);
	assert_int_equal(m.expect, 0);
	failures = weft_sim_result(sim)->n_failures;
	weft_sim_free(sim);
	return failures;
}

static void near_messages(struct hppair *t, struct hpend *e)
{
	for (uint64_t num = 0; num < 200; num++)
		for (uint32_t i = 0; i < sizeof(messages) / sizeof(*messages);
		     i++)
			if (crowd_kind(&crowd, num) == FAST_SEND &&
			    message_failures(e->h, &messages[i], num) !=
				    messages[i].failures)
				fail_msg("number %u, row %u", (uint32_t)num, i);
}

static void far_messages(struct hppair *t, struct hpend *e)
{
}

static void messages_that_are_not_due_are_noticed(void **state)
{
	hppair_once(NULL, near_messages, far_messages);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_word_counts),
		cmocka_unit_test(answers_count),
		cmocka_unit_test(completions_that_are_not_due_are_noticed),
		cmocka_unit_test(messages_that_are_not_due_are_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
