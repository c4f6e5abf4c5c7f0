/* SPDX-License-Identifier: Apache-2.0 */
/* Messages in the receive data region (hostport.md 4.8) that a process takes in
 * any order. Each keeps its bytes until it is taken. The words of a message
 * return to the device when all words in front of them have returned. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "hports.h"

enum { UNIT = 64, UNITS = 8, ME = 7, SILENCE = 100 };

static struct {
	struct hport *p;
	struct hport_peer to;
	/* notifications of the messages, oldest first */
	struct hport_note note[UNITS];
	uint32_t got, done;
} in;

static uint32_t unit; /* log2 of the number of words in a unit of the region */

static void open_small(struct weft_host *h)
{
	struct hport_attr a = { .vpid = ME,
				.flags = HPORT_ORDERED,
				.sizes = { .rdr = UNIT * UNITS,
					   .rdr_unit = unit } };

	memset(&in, 0, sizeof(in));
	assert_int_equal(hport_open(h, &a, &in.p), 0);
	assert_int_equal(hport_sizes_of(in.p).rdr, UNIT * UNITS);
	in.to = hports_peer(in.p, 0, ME);
}

/* Takes the next notification. Returns false if none arrives for a while. */
static bool hear(void)
{
	weft_time_t until = weft_host_now(weft_host_self()) + SILENCE * WEFT_US;
	struct hport_note n;

	if (!hport_wait(in.p, &n, until))
		return false;
	assert_int_equal(n.error, 0);
	if (n.event == HPORT_MESSAGE)
		in.note[in.got++] = n;
	else
		in.done++;
	return true;
}

static uint64_t word(uint64_t num, uint32_t i)
{
	return num << 32 | i;
}

static void send_one(uint64_t num, uint32_t words)
{
	uint64_t bytes, *sdr = hport_sdr(in.p, &bytes);
	struct hport_tag tag = { num, 0 };
	uint32_t before = in.done;

	for (uint32_t i = 0; i < words; i++)
		sdr[i] = word(num, i);
	assert_int_equal(hport_send(in.p, &in.to, 0, tag, 0, 8 * words), 0);
	while (in.done == before)
		assert_true(hear());
}

static void take_one(uint32_t i, uint64_t num, uint32_t words)
{
	uint64_t got[3 * UNIT] = { 0 };

	assert_int_equal(in.note[i].tag.user, num);
	assert_int_equal(in.note[i].bytes, 8 * words);
	hport_take(in.p, &in.note[i], got);
	for (uint32_t k = 0; k < words; k++)
		assert_int_equal(got[k], word(num, k));
}

/* ---- any order ---- */

static int in_any_order(struct weft_host *h, struct exrig *r, uint32_t node)
{
	static const uint8_t order[][3] = { { 0, 1, 2 }, { 1, 0, 2 },
					    { 2, 1, 0 }, { 1, 2, 0 },
					    { 0, 2, 1 }, { 2, 0, 1 } };
	static const uint32_t words[] = { UNIT, UNIT + 1, 2 * UNIT, UNIT - 1 };
	uint32_t sent = 0;

	open_small(h);
	for (uint32_t i = 0; i < 24; i++, in.got = 0) {
		for (uint32_t k = 0; k < 3; k++)
			send_one(sent + k, words[(sent + k) % 4]);
		while (in.got < 3)
			assert_true(hear());
		for (uint32_t k = 0; k < 3; k++) {
			uint32_t m = order[i % 6][k];

			take_one(m, sent + m, words[(sent + m) % 4]);
		}
		sent += 3;
	}
	hport_close(in.p);
	return 0;
}

static void messages_are_taken_in_any_order(void **state)
{
	for (unit = 0; unit <= 6; unit += 3)
		HPORTS_ONE(in_any_order);
}

/* Takes messages that fill three of the region's eight units each, without
 * copying their bytes. Some of the messages wrap at the end of the region. */
static int unread(struct weft_host *h, struct exrig *r, uint32_t node)
{
	open_small(h);
	for (uint32_t i = 0; i < 9; i++, in.got = 0) {
		send_one(i, 3 * UNIT);
		while (!in.got)
			assert_true(hear());
		hport_take(in.p, &in.note[0], NULL);
	}
	hport_close(in.p);
	return 0;
}

static void messages_give_their_places_back_unread(void **state)
{
	for (unit = 0; unit <= 6; unit += 3)
		HPORTS_ONE(unread);
}

/* ---- the oldest stays ---- */

/* Takes all other messages while the oldest keeps its words of the region, so
 * that no room is left for the next message. */
static int holds_one(struct weft_host *h, struct exrig *r, uint32_t node)
{
	open_small(h);
	for (uint32_t turn = 0; turn < 12; turn++) {
		uint64_t num = 100 * turn;
		uint32_t n, taken = 1;

		in.got = 0;
		for (n = 0; n < UNITS; n++)
			send_one(num + n, UNIT);
		while (hear())
			;
		assert_int_equal(in.got, UNITS - 1); /* one waits */
		for (; taken < in.got; taken++)
			take_one(taken, num + taken, UNIT);
		assert_false(hear());
		take_one(0, num, UNIT);
		assert_true(hear());
		take_one(UNITS - 1, num + UNITS - 1, UNIT);
	}
	hport_close(in.p);
	return 0;
}

static void places_wait_for_the_oldest_message(void **state)
{
	for (unit = 0; unit <= 6; unit += 3)
		HPORTS_ONE(holds_one);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(messages_are_taken_in_any_order),
		cmocka_unit_test(messages_give_their_places_back_unread),
		cmocka_unit_test(places_wait_for_the_oldest_message),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
