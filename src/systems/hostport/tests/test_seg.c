/* SPDX-License-Identifier: Apache-2.0 */
/* Messages that the Host Port's library cuts into segments (hostport.md 3.5),
 * and limits of the calls that post (weft/hostport.h). */
#include "unit/cmocka_all.h"

#include <errno.h>
#include <string.h>

#include "hports.h"
#include "systems/hostport/nic/nic.h"

enum { FROM = 1, TO = 2, UNIT = 64, WINDOW = 4096, WQ = 4, LONG_WQ = 256 };

static struct hport *p, *q; /* two ports of one program */
static struct hport_peer to;
static uint8_t *mine, *theirs;
static const struct hport_tag tag = { 7, 0x123456 };

static void open_both(struct weft_host *h, uint32_t wq)
{
	struct hport_attr a = { .vpid = FROM, .flags = HPORT_ORDERED };

	a.sizes.wq = wq;
	a.sizes.nq = LONG_WQ;
	assert_int_equal(hport_open(h, &a, &p), 0);
	q = hports_open(h, TO);
	to = hports_peer(p, 0, TO);
	mine = hports_window(p, 0, WINDOW, 0, NULL);
	theirs = hports_window(q, 0, WINDOW, 0, NULL);
}

static void close_both(void)
{
	hport_close(q);
	hport_close(p);
}

static uint8_t byte(uint64_t i, uint32_t seed)
{
	return (uint8_t)(i * 31 + i / 64 * 7 + seed);
}

static void fill(uint8_t *m, uint64_t n, uint32_t seed)
{
	for (uint64_t i = 0; i < n; i++)
		m[i] = byte(i, seed);
}

static void equal(const uint8_t *m, uint64_t n, uint32_t seed)
{
	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(m[i], byte(i, seed));
}

/* Checks the one notification for all segments. */
static void done(uint32_t error)
{
	struct hport_note n = hports_note(p, WEFT_MS);

	assert_int_equal(n.event, HPORT_DONE);
	assert_int_equal(n.error, error);
	assert_int_equal(n.tag.user, tag.user);
	assert_int_equal(n.tag.api, tag.api);
	assert_false(hport_unposted(p));
	assert_false(hport_poll(p, &n));
}

/* ---- messages ---- */

/* Writes the segments of a message to their offsets. */
static void reassemble(uint64_t bytes, uint32_t seed)
{
	uint8_t got[WINDOW] = { 0 };
	uint64_t have = 0;
	bool more = true;

	while (have < bytes) {
		struct hport_note n = hports_note(q, WEFT_MS);

		assert_int_equal(n.event, HPORT_MESSAGE);
		assert_int_equal(n.at, have);
		assert_int_equal(n.bytes,
				 bytes - have < UNIT ? bytes - have : UNIT);
		assert_int_equal(n.tag.api, tag.api);
		assert_int_equal(n.tag.user, tag.user);
		hport_take(q, &n, got + n.at);
		have += n.bytes;
		more = n.more;
	}
	assert_int_equal(have, bytes);
	assert_int_equal(more, false);
	equal(got, bytes, seed);
}

static int sends(struct weft_host *h, struct exrig *r, uint32_t node)
{
	uint64_t room;
	uint8_t *sdr;

	open_both(h, WQ);
	sdr = hport_sdr(p, &room);
	assert_int_equal(hport_set_mtu(p, 0), 0);
	/* accepted and rounded to a multiple of 8 */
	assert_int_equal(hport_set_mtu(p, UNIT + 7), 0);
	assert_int_equal(hport_set_mtu(q, UNIT), 0);
	for (uint64_t n = 8; n <= 1024; n += n < 200 ? 8 : 104) {
		fill(sdr + 16, n, (uint32_t)n);
		assert_int_equal(hport_send(p, &to, HPORT_ACK, tag, 16, n), 0);
		/* a message must not begin before the previous one has been
		 * posted */
		if (n > UNIT * WQ) {
			assert_true(hport_unposted(p));
			assert_int_equal(hport_set_mtu(p, 8), -EAGAIN);
			assert_int_equal(hport_send(p, &to, 0, tag, 0, 8),
					 -EAGAIN);
		}
		done(0);
		reassemble(n, (uint32_t)n);
	}
	/* no message is segmented from now on */
	assert_int_equal(hport_set_mtu(p, 0), 0);
	assert_int_equal(hport_send(p, &to, HPORT_ACK, tag, 16, 1024), 0);
	done(0);
	assert_int_equal(hports_note(q, WEFT_MS).bytes, 1024);
	close_both();
	return 0;
}

static void a_message_is_cut_and_put_together_again(void **state)
{
	HPORTS_ONE(sends);
}

/* ---- puts and gets ---- */

static int accesses(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport_far far = { 0, 0, 24 };

	open_both(h, WQ);
	assert_int_equal(hport_set_mtu(p, UNIT), 0);
	for (uint64_t n = 8; n <= 1024; n += n < 200 ? 8 : 104) {
		memset(theirs, 0xee, WINDOW);
		fill(mine + 8, n, (uint32_t)n);
		far.off = 24;
		assert_int_equal(
			hport_put(p, &to, HPORT_ACK, tag, &far, 0, 8, n), 0);
		done(0);
		equal(theirs + 24, n, (uint32_t)n);
		assert_int_equal(theirs[23], 0xee);
		assert_int_equal(theirs[24 + n], 0xee);
		memset(mine, 0xdd, WINDOW);
		assert_int_equal(hport_get(p, &to, 0, tag, &far, 0, 40, n), 0);
		done(0);
		equal(mine + 40, n, (uint32_t)n);
		assert_int_equal(mine[39], 0xdd);
		assert_int_equal(mine[40 + n], 0xdd);
	}
	/* the last segment does not fit, which gives one error for the whole
	 * message */
	far.off = WINDOW - 3 * UNIT;
	assert_int_equal(hport_put(p, &to, 0, tag, &far, 0, 0, 4 * UNIT), 0);
	done(HP_ERR_TWINID);
	assert_int_equal(hport_get(p, &to, 0, tag, &far, 0, 0, 4 * UNIT), 0);
	done(HP_ERR_TWINID);
	close_both();
	return 0;
}

static void puts_and_gets_are_cut(void **state)
{
	HPORTS_ONE(accesses);
}

/* ---- limits ---- */

enum { SLOTS = 64 };

static int limits(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport_far far = { 0, 0, 0 };
	uint64_t w[6] = { 0 };

	open_both(h, WQ);
	assert_int_equal(hport_fast_send(p, &to, 0, tag, w, 6), -EINVAL);
	assert_int_equal(hport_fast_put(p, &to, 0, tag, &far, w, 0), -EINVAL);
	assert_int_equal(hport_fast_put(p, &to, 0, tag, &far, w, 4), -EINVAL);
	assert_int_equal(hport_fast_get(p, &to, 0, tag, &far, 0), -EINVAL);
	assert_int_equal(hport_fast_get(p, &to, 0, tag, &far, 4), -EINVAL);
	assert_true(hport_barrier(p, 31));
	assert_false(hport_barrier(p, 32));
	hports_pause(h, WEFT_US);
	assert_int_equal(exrig_counter(r->node[0].nic, "barriers"), 1);
	/* three of four entries are accepted, then none */
	for (uint32_t i = 0; i < WQ - 1; i++)
		assert_int_equal(hport_fast_send(p, &to, HPORT_MORE, tag, w, 1),
				 0);
	assert_int_equal(hport_fast_send(p, &to, HPORT_MORE, tag, w, 1),
			 -EAGAIN);
	for (uint32_t i = 0; i < WQ - 1; i++)
		assert_int_equal(hports_note(p, WEFT_MS).event, HPORT_DONE);
	assert_int_equal(hport_set_mtu(p, 8), 0);
	assert_int_equal(hport_send(p, &to, 0, tag, 0, 8ull * (1 << 14) + 8),
			 -EMSGSIZE);
	close_both();
	return 0;
}

static void posting_has_limits(void **state)
{
	HPORTS_ONE(limits);
}

/* Posts many messages at a time and leaves their notifications in the queue. */
static int many(struct weft_host *h, struct exrig *r, uint32_t node)
{
	struct hport_far far = { 0, 0, 0 };
	struct hport_note n;

	open_both(h, LONG_WQ);
	assert_int_equal(hport_set_mtu(p, 8), 0);
	for (uint32_t turn = 0; turn < 2; turn++) {
		for (uint32_t i = 0; i < SLOTS; i++)
			assert_int_equal(
				hport_put(p, &to, 0, tag, &far, 0, 0, 16), 0);
		assert_int_equal(hport_put(p, &to, 0, tag, &far, 0, 0, 16),
				 -EAGAIN);
		for (uint32_t i = 0; i < SLOTS; i++) {
			n = hports_note(p, WEFT_MS);
			assert_int_equal(n.error, 0);
			assert_int_equal(n.tag.api, tag.api);
		}
		assert_false(hport_poll(p, &n));
	}
	close_both();
	return 0;
}

static void sixty_four_messages_are_cut_at_a_time(void **state)
{
	HPORTS_ONE(many);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_message_is_cut_and_put_together_again),
		cmocka_unit_test(puts_and_gets_are_cut),
		cmocka_unit_test(posting_has_limits),
		cmocka_unit_test(sixty_four_messages_are_cut_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
