/* SPDX-License-Identifier: Apache-2.0 */
/* Program forth.rounds: lost messages are requested and sent again.
 *
 * A receiver writes a list of its missing messages into the memory of their
 * source. The source sends these messages again, with a notification on the
 * last message. Lists and repeated messages may be lost, too. Therefore each
 * attempt requests the messages that are missing by then. Every node learns
 * over the out-of-band network which nodes have sent lists to which other
 * nodes, so that each loss can be attributed to a message, a list or a
 * repetition. */
#include <inttypes.h>
#include <stdio.h>

#include "systems/forth/programs/lossy_rounds.h"

static uint64_t *list_to(const struct rounds *t, uint32_t src)
{
	return t->ask + (uint64_t)src * ROUNDS_LIST;
}

/* Returns the first word of a list. The word differs for each attempt, so that
 * a source does not answer an old list again. */
static uint64_t list_tag(const struct rounds *t)
{
	return program_mix((uint64_t)t->round << 32 | t->step) | 1;
}

void rounds_ask(struct rounds *t, uint32_t src, uint32_t index)
{
	uint64_t *l = list_to(t, src);

	if (l[1] < ROUNDS_LIST - 2)
		l[2 + l[1]++] = index;
}

/* Sends the lists. Returns a mask of the sources to which a list was sent. */
static uint64_t put_lists(struct rounds *t)
{
	uint64_t mask = 0, tag = list_tag(t);

	for (uint32_t s = 0; s < t->w.n; s++) {
		uint64_t *l = list_to(t, s);

		if (!l[1])
			continue;
		mask |= 1ull << s;
		l[0] = tag;
		t->lists++;
		rounds_post(
			t,
			(struct weft_forth_desc){
				.local = t->ask_phys +
					 (uint64_t)s * ROUNDS_LIST * 8,
				.remote = (uint32_t)(t->plan[s].lists +
						     t->w.me * ROUNDS_LIST * 8),
				.qwords = (uint16_t)(2 + l[1]),
				.dst = (uint8_t)s });
	}
	return mask;
}

static void send_again(struct rounds *t, uint32_t d, const uint64_t *l,
		       uint32_t *at)
{
	for (uint64_t i = 0; i < l[1] && i < ROUNDS_LIST - 2; i++) {
		uint32_t slot = (*at)++ % t->slots;
		struct rounds_msg m =
			rounds_msg(t, t->w.me, d, (uint32_t)l[2 + i]);
		uint64_t from = (uint64_t)slot * t->slot_bytes;

		program_fill(t->tx + from, m.qwords, m.base);
		rounds_post(t,
			    (struct weft_forth_desc){
				    .local = t->tx_phys + from,
				    .remote = (uint32_t)(t->plan[d].rx + m.at),
				    .qwords = (uint16_t)m.qwords,
				    .dst = (uint8_t)d,
				    .flags = i + 1 == l[1] ? WEFT_FORTH_RNOTIFY
							   : 0 });
		t->resent++;
	}
}

/* Answers the lists that other nodes have put into the memory of this node. */
static void rounds_resend_answer(struct rounds *t, const char *key,
				 uint64_t tag)
{
	uint32_t at = 0;

	for (uint32_t d = 0; d < t->w.n; d++) {
		const uint64_t *l = t->asked + (uint64_t)d * ROUNDS_LIST;

		if (!(program_get(&t->w, key, d) >> t->w.me & 1))
			continue;
		if (l[0] == tag)
			send_again(t, d, l, &at);
		else
			t->lists_lost++;
	}
}

/* Checks the listed messages again. Messages that are still missing remain on
 * the lists. Returns the number of these messages. */
static uint64_t look_again(struct rounds *t)
{
	uint64_t left = 0;

	for (uint32_t s = 0; s < t->w.n; s++) {
		uint64_t *l = list_to(t, s), n = l[1];

		l[1] = 0;
		for (uint64_t i = 0; i < n; i++) {
			if (rounds_here(t, s, (uint32_t)l[2 + i]))
				t->recovered++;
			else
				rounds_ask(t, s, (uint32_t)l[2 + i]);
		}
		left += l[1];
	}
	rounds_count_notes(t);
	return left;
}

/* Returns the number of messages that are missing on all nodes together. This
 * node publishes how many messages it misses, and whether it has failed. All
 * nodes end when one node has failed. */
static uint64_t missing_anywhere(struct rounds *t, uint64_t missing)
{
	const uint64_t failed = 1ull << 63;
	uint64_t sum = 0;
	char key[48];

	snprintf(key, sizeof(key), "rounds.missing.%u", t->step);
	program_put(&t->w, key, missing | (t->failed ? failed : 0));
	for (uint32_t i = 0; i < t->w.n; i++) {
		uint64_t val = program_get(&t->w, key, i);

		t->failed |= val >> 63;
		sum += val & ~failed;
	}
	return sum;
}

void rounds_recover(struct rounds *t, uint64_t missing)
{
	char key[48];

	for (uint32_t i = 0; missing_anywhere(t, missing) && !t->failed; i++) {
		uint64_t tag = list_tag(t);

		if (i == t->attempts) {
			if (missing)
				weft_check_failed(t->w.c,
						  "round %u: %" PRIu64
						  " messages did not come",
						  t->round, missing);
			t->failed = true;
			return;
		}
		snprintf(key, sizeof(key), "rounds.asks.%u", t->step);
		program_put(&t->w, key, put_lists(t));
		rounds_settle(t);
		rounds_resend_answer(t, key, tag);
		rounds_settle(t);
		missing = look_again(t);
	}
}
