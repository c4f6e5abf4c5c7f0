/* SPDX-License-Identifier: Apache-2.0 */
/* Retransmission of a link port on a framed line (extoll.md 4.7). Cells wait in
 * `sent` until they are acknowledged. NACK, timeout and training make the line
 * resend the waiting cells, oldest first, before any new cell. Received control
 * cells are queued until the cycle at which they take effect. */
#include "systems/extoll/network/cell_channel_framed.h"

/* ---- replay ---- */

void cell_channel_retry_drop(struct cell_channel_framed *s, uint8_t seq)
{
	struct weft_frame **f = &s->sent[seq % SLOW_SENT];

	if (*f)
		weft_frame_free(*f);
	*f = NULL;
}

void cell_channel_retry_drop_all(struct cell_channel_framed *s)
{
	for (uint32_t i = 0; i < SLOW_SENT; i++)
		cell_channel_retry_drop(s, (uint8_t)i);
	while (s->early.n)
		weft_frame_free(vec_pop(&s->early));
	vec_free(&s->early);
}

bool cell_channel_retry_acked(struct cell_channel *ep, uint8_t seq,
			      uint64_t cycle)
{
	struct cell_channel_framed *s = ep->slow;
	uint8_t n = (uint8_t)(seq - s->oldest);

	if (n > ep->unacked)
		return false;
	if (!n)
		return true;
	/* skip cells acknowledged during the replay, since the peer has them */
	if ((uint8_t)(s->replay - s->oldest) < n)
		s->replay = seq;
	for (; s->oldest != seq; s->oldest++) {
		/* Damage can turn one control cell into another, so that an ACK
		 * may be for a cell that the peer lacks. The copy of such a
		 * cell is not resent, but kept to the end of the run, because
		 * nothing else owns its packet. */
		struct weft_frame **f = &s->sent[s->oldest % SLOW_SENT];

		if (*f && cell_channel_framed_missing(ep, *f)) {
			vec_push(&s->early, *f);
			*f = NULL;
		}
		cell_channel_retry_drop(s, s->oldest);
	}
	ep->unacked = (uint8_t)(ep->unacked - n);
	s->since = cycle;
	s->tries = 0;
	return true;
}

void cell_channel_retry_replay(struct cell_channel *ep, uint64_t cycle)
{
	struct cell_channel_framed *s = ep->slow;

	if (!ep->unacked)
		return;
	if (s->tries++ == ep->cfg.attempts) {
		cell_channel_train_down(ep, cycle);
		return;
	}
	ep->count.replays++;
	s->replaying = true;
	s->replay = s->oldest;
	s->since = cycle;
}

uint64_t cell_channel_retry_next(const struct cell_channel *ep)
{
	uint64_t t = ep->slow->gap_end;

	return ep->line_free > t ? ep->line_free : t;
}

/* Sends the next cell of a replay if the line is free. */
void cell_channel_retry_step(struct cell_channel *ep, uint64_t cycle)
{
	struct cell_channel_framed *s = ep->slow;

	if (!s->replaying || cell_channel_retry_next(ep) > cycle)
		return;
	if (s->replay != s->seq) {
		s->n.resent++;
		cell_channel_framed_cell(ep, s->sent[s->replay++ % SLOW_SENT],
					 cycle);
	}
	if (s->replay == s->seq) {
		uint64_t now = cell_channel_now(ep);

		ep->slow->replaying = false;
		if (ep->next_grant < now)
			ep->next_grant = now;
		ep->ops->wake(ep->own, ep, ep->next_grant);
	}
}

/* ---- received control cells ---- */

static void channel_retry_hear(struct cell_channel *ep,
			       const struct slow_ctl *c)
{
	uint32_t vc = c->type % EX_VCS, kind = c->type - vc;

	if (kind == EX_C_INIT1) {
		cell_channel_train_heard(ep, c->cycle, c->type, c->value);
	} else if (ep->slow->state != CELL_CHANNEL_READY) {
		return;
	} else if (kind == EX_C_REFRESH) {
		/* A refresh carries the absolute count of credits, and so
		 * restores lost credits. */
		uint8_t used = (uint8_t)(ep->slow->cells[vc] - c->value);

		if (used <= ep->peer->cfg.slots)
			cell_channel_use(ep, vc, used);
	} else if (kind == EX_C_CREDIT && c->value <= ep->used[vc]) {
		cell_channel_use(ep, vc, ep->used[vc] - c->value);
	} else if (c->type == EX_C_ACK) {
		cell_channel_retry_acked(ep, (uint8_t)(c->value + 1), c->cycle);
	} else if (c->type == EX_C_NACK) {
		struct cell_channel_framed *s = ep->slow;

		s->n.nacks_in++;
		if (cell_channel_retry_acked(ep, c->value, c->cycle) &&
		    ep->unacked)
			cell_channel_retry_replay(ep, c->cycle);
		else
			s->n.nacks_stale++;
	}
}

static bool starts_something(uint32_t type)
{
	return type == EX_C_NACK || (type & ~3u) == EX_C_INIT1;
}

void cell_channel_retry_apply(struct cell_channel *ep, uint64_t cycle)
{
	struct cell_channel_framed *s = ep->slow;
	struct slow_ctl c;

	while (!ring_empty(&s->in)) {
		c = *ring_front(&s->in);
		if (c.cycle > cycle)
			break;
		ring_pop(&s->in);
		channel_retry_hear(ep, &c);
	}
	if (s->urgent > cycle)
		return;
	s->urgent = WEFT_NEVER;
	for (uint32_t i = ring_count(&s->in); i-- > 0;)
		if (starts_something(ring_nth(&s->in, i)->type))
			s->urgent = ring_nth(&s->in, i)->cycle;
}

void cell_channel_retry_heard(struct cell_channel *ep, uint64_t cycle,
			      uint32_t type, uint32_t value)
{
	struct cell_channel_framed *s = ep->slow;

	cell_channel_retry_apply(ep, cell_channel_now(ep));
	*ring_push(&s->in) = (struct slow_ctl){
		.cycle = cycle,
		.type = (uint8_t)type,
		.value = (uint8_t)value,
	};
	if (starts_something(type) && cycle < s->urgent)
		s->urgent = cycle;
	if (ep->peer->listened)
		ep->ops->wake(ep->own, ep, cycle);
	cell_channel_framed_arm(ep);
}
