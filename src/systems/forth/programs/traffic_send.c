/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic: chooses destinations, makes the offered load, posts messages. */
#include <math.h>

#include "systems/forth/programs/traffic.h"

#define TRAFFIC_DUE 1024 /* messages due and not sent, per destination */
/* messages posted before the program polls for other work */
#define TRAFFIC_TURN 64

/* ---- times of the offered load ---- */

static double traffic_exp(struct traffic *t, double mean)
{
	return -log(1.0 - weft_rng_real(&t->w.c->rng)) * mean;
}

void traffic_schedule(struct traffic *t)
{
	/* mean time between messages at the offered load, from the mean message
	 * size and 20 bytes of framing (forth.md 4.7) */
	double bytes = ((double)t->size + (double)t->size_max) / 2 + 20;
	double gap = bytes * 8 / (double)t->link_rate * WEFT_SEC / t->load;

	switch (t->arrival) {
	case TRAFFIC_POISSON:
		gap = traffic_exp(t, gap);
		break;
	/* a burst of messages without gaps, then a pause that restores the mean
	 * gap */
	case TRAFFIC_BURSTY:
		if (++t->in_burst < t->burst) {
			gap = gap * t->load;
		} else {
			t->in_burst = 0;
			gap = traffic_exp(t, gap * t->burst -
						     gap * t->load *
							     (t->burst - 1));
		}
		break;
	}
	t->next += (weft_time_t)gap + 1;
}

/* ---- posting ---- */

void traffic_flush(struct traffic *t)
{
	struct weft_forth_desc *b = t->batch.desc;

	/* Group messages by queue, because then clusters are larger. Only
	 * messages of one queue must keep their order. */
	for (uint32_t i = 1;
	     i < t->batch.n && weft_forth_info(t->f)->queues > 1; i++) {
		struct weft_forth_desc d = b[i];
		uint32_t k = i;

		for (; k && b[k - 1].dst > d.dst; k--)
			b[k] = b[k - 1];
		b[k] = d;
	}
	if (t->batch.n)
		weft_forth_post(t->f, b, t->batch.n);
	t->batch.n = 0;
}

static void traffic_post(struct traffic *t, uint32_t d, uint32_t qwords,
			 weft_time_t due)
{
	struct traffic_tx *tx = &t->tx[d];
	uint64_t at = tx->posted % t->window * t->slot_bytes;
	uint64_t base = program_base(t->w.me, d, tx->posted);
	uint32_t max = weft_forth_info(t->f)->max_transfer / 8;
	bool tell = t->notify && (tx->posted + 1) % t->notify == 0;

	program_fill(tx->buf + at, qwords, base);
	/* stamp: 48 bits of picoseconds and 16 check bits that reveal damage,
	 * XORed with the pattern */
	if (t->stamp) {
		uint64_t ps = due / 1000 & 0xFFFFFFFFFFFFull;

		*(uint64_t *)(tx->buf + at) =
			(ps | program_mix(ps ^ base) << 48) ^ base;
	}
	while (qwords) {
		uint32_t k = qwords < max ? qwords : max;

		qwords -= k;
		t->batch.desc[t->batch.n++] = (struct weft_forth_desc){
			.local = tx->phys + at,
			.remote = (uint32_t)(t->peer[d].rx + at),
			.qwords = (uint16_t)k,
			.dst = (uint8_t)d,
			.flags = !qwords && tell ? WEFT_FORTH_RNOTIFY : 0,
		};
		if (t->batch.n == TRAFFIC_BATCH)
			traffic_flush(t);
		at += 8 * k;
	}
	tx->posted++;
	t->sent++;
}

/* Sends the next message for d, if the window and the queue have room. */
static bool traffic_try(struct traffic *t, uint32_t d, weft_time_t due)
{
	uint32_t qwords = program_qwords(t->w.me, d, t->tx[d].posted,
					 (uint32_t)t->size / 8,
					 (uint32_t)t->size_max / 8);
	uint32_t max = weft_forth_info(t->f)->max_transfer / 8;
	uint64_t acked = 0; /* messages that the receiver has consumed */

	for (uint32_t k = 0; k < TRAFFIC_ACKS; k++)
		if (t->credit[k * t->w.n + d] > acked)
			acked = t->credit[k * t->w.n + d];
	if (t->tx[d].posted - acked >= t->window ||
	    weft_forth_space(t->f, d) < t->batch.n + (qwords + max - 1) / max)
		return false;
	traffic_post(t, d, qwords, due);
	return true;
}

/* ---- three kinds of sending ---- */

/* Sends to every destination as fast as possible, one cluster at a time. */
static bool traffic_send_each(struct traffic *t)
{
	uint64_t before = t->sent;

	for (uint32_t i = 0; i < t->n_dst; i++) {
		uint32_t d = t->dst[(t->choice.turn + i) % t->n_dst];
		struct traffic_tx *tx = &t->tx[d];

		for (int k = 0; k < TRAFFIC_TURN / 4; k++)
			if (tx->posted >= tx->quota ||
			    !traffic_try(t, d, t->now))
				break;
	}
	t->choice.turn++;
	return t->sent != before;
}

/* Sends in the order of the pattern. A message that lacks room stops the
 * messages behind it. */
static bool traffic_send_ordered(struct traffic *t)
{
	uint64_t before = t->sent;

	while (t->sent < t->count && t->sent - before < TRAFFIC_TURN) {
		if (!t->picked)
			t->pick = pattern_dest(&t->choice, &t->w.c->rng);
		t->picked = !traffic_try(t, t->pick, t->now);
		if (t->picked)
			break;
	}
	return t->sent != before;
}

/* Notes the messages that have become due at the offered load, and sends due
 * messages. */
static bool traffic_send_timed(struct traffic *t)
{
	uint64_t before = t->sent;

	while (t->generated < t->count && t->next <= t->now) {
		uint32_t d = t->picked ? t->pick
				       : pattern_dest(&t->choice, &t->w.c->rng);
		struct traffic_tx *tx = &t->tx[d];

		t->pick = d;
		t->picked = tx->tail - tx->head == TRAFFIC_DUE;
		/* later messages must not overtake a message that waits for
		 * room */
		if (t->picked)
			break;
		tx->due[tx->tail++ % TRAFFIC_DUE] = t->next;
		t->generated++;
		traffic_schedule(t);
	}
	for (uint32_t d = 0; d < t->w.n; d++) {
		struct traffic_tx *tx = &t->tx[d];

		while (tx->head != tx->tail &&
		       traffic_try(t, d, tx->due[tx->head % TRAFFIC_DUE]))
			tx->head++;
	}
	return t->sent != before;
}

/* Sends the final word to every peer, with the number of this node's messages
 * to the peer. Returns false if a request queue is full. */
static bool traffic_send_fin(struct traffic *t)
{
	for (; t->pick < t->w.n; t->pick++) {
		uint32_t d = t->pick;
		uint64_t at = 8 * (TRAFFIC_ACKS * t->w.n + d);

		if (d == t->w.me && !t->tx[d].posted)
			continue;
		t->word[TRAFFIC_ACKS * t->w.n + d] =
			1ull << 63 | t->tx[d].posted;
		if (weft_forth_put(
			    t->f, d, t->word_phys + at,
			    t->peer[d].control + WEFT_FORTH_NOTIFY_BYTES +
				    8 * (TRAFFIC_ACKS * t->w.n + t->w.me),
			    1, WEFT_FORTH_RNOTIFY | WEFT_FORTH_LNOTIFY))
			return false;
	}
	t->fin_sent = true;
	program_put(&t->w, "traffic.fin", 1);
	return true;
}

bool traffic_send(struct traffic *t)
{
	bool moved;

	if (t->fin_sent)
		return false;
	if (t->sent == t->count)
		return traffic_send_fin(t);
	if (t->load > 0)
		moved = traffic_send_timed(t);
	else if (t->pattern == TRAFFIC_EACH)
		moved = traffic_send_each(t);
	else
		moved = traffic_send_ordered(t);
	traffic_flush(t);
	/* from now on `pick` is the next peer to which the final word is
	 * sent */
	if (t->sent == t->count)
		t->pick = 0;
	return moved;
}
