/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic: receiving. The program compares every byte with the sender's
 * pattern, and every notification with the messages that must have arrived
 * before it. On several paths a message counts only when all of it has arrived.
 * Therefore a damaged message counts as missing at its notification. */
#include <inttypes.h>

#include "systems/forth/lib/device.h"
#include "systems/forth/programs/traffic.h"

static void traffic_wrong(struct traffic *t, uint32_t src, int32_t at)
{
	t->errors++;
	weft_check_failed(t->w.c,
			  "message %" PRIu64 " from node %u differs at byte %d",
			  t->rx[src].got, src, 8 * at);
}

/* Returns the time in a stamp, or WEFT_NEVER if the stamp is damaged. */
static weft_time_t traffic_unstamp(uint64_t q, uint64_t base)
{
	uint64_t ps;

	q ^= base;
	ps = q & 0xFFFFFFFFFFFFull;
	if ((uint16_t)(q >> 48) != (uint16_t)program_mix(ps ^ base))
		return WEFT_NEVER;
	return ps * 1000;
}

/* Checks and consumes the next message of src. Returns false if its last qword
 * has not arrived. */
static bool traffic_take(struct traffic *t, uint32_t src)
{
	struct traffic_rx *rx = &t->rx[src];
	const struct traffic_peer *p = &t->peer[src];
	uint32_t q = program_qwords(src, t->w.me, rx->got, p->min, p->max);
	uint64_t base = program_base(src, t->w.me, rx->got);
	const uint64_t *m =
		(const uint64_t *)(t->rx_buf + ((uint64_t)src * t->window +
						rx->got % t->window) *
						       t->slot_bytes);
	weft_time_t due;
	int32_t bad;

	if (q > 1 || !t->stamp) {
		if (m[q - 1] != base + (q - 1) * PROGRAM_STEP)
			return false;
	} else if (traffic_unstamp(m[0], base) == WEFT_NEVER) {
		return false;
	}
	bad = program_check(m, t->stamp ? 1 : 0, q, base);
	/* on several paths the end of the message may arrive first */
	if (bad >= 0 && weft_forth_info(t->f)->multipath)
		return false;
	if (bad >= 0)
		traffic_wrong(t, src, bad);
	due = t->stamp ? traffic_unstamp(m[0], base) : 0;
	if (due > t->now)
		traffic_wrong(t, src, 0);
	else if (t->stamp)
		weft_hist_put(t->latency, (double)(t->now - due) / WEFT_NS);
	if (!rx->got++)
		rx->first = weft_host_now(t->w.h);
	rx->bytes += 8 * q;
	rx->flagged += p->notify && rx->got % p->notify == 0;
	return true;
}

/* Returns credits to src once half of the window is used up. */
static void traffic_credit(struct traffic *t, uint32_t src)
{
	struct traffic_rx *rx = &t->rx[src];
	uint32_t ack = rx->acks % TRAFFIC_ACKS * t->w.n;

	if (t->peer[src].count <= t->window ||
	    rx->got - rx->credited < t->window / 2)
		return;
	t->word[ack + src] = rx->got;
	if (weft_forth_put(t->f, src, t->word_phys + 8 * (ack + src),
			   t->peer[src].control + WEFT_FORTH_NOTIFY_BYTES +
				   8 * (ack + t->w.me),
			   1, 0))
		return;
	rx->credited = rx->got;
	rx->acks++;
}

/* Checks the total in the final word of src. On several paths the final word
 * may arrive before messages. Therefore missing messages are an error only on a
 * single path or if `sure` is true. */
static void traffic_check_fin(struct traffic *t, uint32_t src, bool sure)
{
	uint64_t word = t->fin[src];

	if (!word || t->rx[src].fin ||
	    (weft_forth_info(t->f)->multipath && !sure &&
	     t->rx[src].got != (word & ~(1ull << 63))))
		return;
	t->rx[src].fin = true;
	t->rx[src].last = weft_host_now(t->w.h);
	t->fins++;
	word &= ~(1ull << 63);
	if (t->rx[src].got != word) {
		t->errors++;
		weft_check_failed(t->w.c,
				  "node %u sent %" PRIu64 " messages, %" PRIu64
				  " were there at its final word",
				  src, word, t->rx[src].got);
	}
}

/* Checks that no notification arrived before its message: of the messages and
 * final words that request a notification, at least `count` must have
 * arrived. */
static void traffic_check_order(struct traffic *t, uint32_t count)
{
	uint64_t found = t->fins;

	for (uint32_t s = 0; s < t->w.n; s++)
		found += t->rx[s].flagged;
	if ((int32_t)((uint32_t)found - count) >= 0)
		return;
	t->errors++;
	weft_check_failed(t->w.c,
			  "notification %u came before its message (%" PRIu64
			  " announced ones are here)",
			  count, found);
	for (uint32_t s = 0; s < t->w.n; s++)
		traffic_check_fin(t, s, true);
}

bool traffic_receive(struct traffic *t)
{
	uint64_t word = weft_forth_remote_word(t->f);
	uint32_t count = forth_rnotify_count(word);

	if (count == t->seen) {
		/* retry the return of credits, because the request queue may
		 * have been full */
		for (uint32_t s = 0; s < t->w.n; s++)
			traffic_credit(t, s);
		return false;
	}
	if (word & (FORTH_RNOTIFY_BAD_BODY | FORTH_RNOTIFY_LOSS) ||
	    forth_rnotify_flow(word) != t->w.me) {
		t->errors++;
		weft_check_failed(t->w.c, "notification word is %#" PRIx64,
				  word);
	}
	for (uint32_t s = 0; s < t->w.n; s++) {
		while (traffic_take(t, s))
			;
		traffic_check_fin(t, s, false);
		traffic_credit(t, s);
	}
	traffic_check_order(t, count);
	t->seen = count;
	return true;
}

bool traffic_received_all(const struct traffic *t)
{
	uint32_t want = 0;

	for (uint32_t s = 0; s < t->w.n; s++)
		want += s != t->w.me || t->tx[s].posted > 0;
	return t->fin_sent && t->fins == want;
}
