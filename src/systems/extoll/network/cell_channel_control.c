/* SPDX-License-Identifier: Apache-2.0 */
/* Credits and acknowledgements of a cell channel (extoll.md 3.10, 4.4, 4.7).
 *
 * If several cells are ready, a link port sends them in this order: ACK, CREDIT
 * of VC 0..3 (all credits owed on that VC), refresh, data. An ACK is due after
 * ack_every cells, or ack_idle cycles after the last cell. One VC is refreshed
 * every `refresh` cycles. On a line without faults a refresh changes no count,
 * because no credit is lost there. */
#include "systems/extoll/network/cell_channel_control.h"

void cell_channel_ctl_due(struct cell_channel *ep, uint64_t cycle, uint32_t vc)
{
	ring_insert_sorted(&ep->due, cycle << 8 | vc, );
}

/* ---- readiness ---- */

/* Moves the credits and the ends of cells up to cycle `at` from the rings to
 * the counters owed[] and ack_owed. */
static void channel_control_owe(struct cell_channel *ep, uint64_t at)
{
	for (; !ring_empty(&ep->due); ring_pop(&ep->due)) {
		uint64_t d = *ring_front(&ep->due);

		if (d >> 8 > at)
			break;
		ep->owed[d & 0xff]++;
	}
	for (; !ring_empty(&ep->end); ring_pop(&ep->end)) {
		uint64_t e = *ring_front(&ep->end);

		if (e > at)
			break;
		ep->ack_owed++;
		ep->last_end = e;
	}
}

/* Returns the first cycle at which an ACK is ready, if no further cells arrive.
 * The ACK also covers cells that end while the line is busy, and each such cell
 * restarts the idle time. */
static uint64_t ack_ready(const struct cell_channel *ep)
{
	uint32_t i = ep->end.head, n = ep->ack_owed;
	uint64_t last = ep->last_end;

	for (; i != ep->end.tail; n++, i++) {
		uint64_t e = *ring_at(&ep->end, i);

		if (e > ep->line_free && (n >= ep->cfg.ack_every ||
					  (n && e > last + ep->cfg.ack_idle)))
			break;
		last = e;
	}
	if (n >= ep->cfg.ack_every)
		return last;
	return n ? last + ep->cfg.ack_idle : WEFT_NEVER;
}

/* Returns the first cycle at which a credit or an ACK is ready, 0 if credits
 * are owed already. */
static uint64_t news_ready(const struct cell_channel *ep)
{
	uint64_t r, t = WEFT_NEVER;
	uint32_t owed;

	__builtin_memcpy(&owed, ep->owed, sizeof(owed));
	if (owed)
		return 0;
	if (!ring_empty(&ep->due))
		t = *ring_front(&ep->due) >> 8;
	r = ack_ready(ep);
	return t < r ? t : r;
}

/* Returns news_ready() or the next refresh, whichever is earlier. */
uint64_t cell_channel_ctl_ready(const struct cell_channel *ep)
{
	uint64_t r = news_ready(ep);

	return r < ep->next_refresh ? r : ep->next_refresh;
}

/* ---- sending control cells ---- */

static void ctl_tell(struct cell_channel *ep, uint64_t at, uint32_t kind,
		     uint8_t *n_p)
{
	uint8_t n = *n_p;

	*n_p = 0;
	if (ep->slow) {
		cell_channel_framed_tell(ep, at, kind, n);
		return;
	}
	ring_insert_sorted(&ep->peer->in,
			   (at + ep->way_ctl) << 16 | kind << 8 | n, );
	if (ep->listener)
		cell_channel_listen_tell(ep, at, kind, n);
}

/* Sends the control cell that starts at cycle `at`. */
void cell_channel_ctl_send(struct cell_channel *ep, uint64_t at)
{
	uint32_t vc;

	channel_control_owe(ep, at);
	ep->line_free = at + ep->cfg.ctl_flits;
	ep->busy += ep->cfg.ctl_flits;
	ep->count.ctl_out++;
	ep->peer->count.ctl_in += !ep->slow;
	if (ep->ack_owed >= ep->cfg.ack_every ||
	    (ep->ack_owed && ep->last_end + ep->cfg.ack_idle <= at)) {
		ep->count.acks++;
		ctl_tell(ep, at, CELL_CHANNEL_TELL_ACK, &ep->ack_owed);
		return;
	}
	for (vc = 0; vc < EX_VCS; vc++) {
		if (ep->owed[vc]) {
			ctl_tell(ep, at, vc, &ep->owed[vc]);
			return;
		}
	}
	ep->next_refresh += ep->cfg.refresh;
	if (ep->slow)
		cell_channel_framed_tell(ep, at, CELL_CHANNEL_TELL_REFRESH, 0);
	else if (ep->listener)
		cell_channel_listen_refresh(ep, at, 1);
}

/* Counts all refreshes of a quiet line before `limit` at once, so that a long
 * quiet time costs one step. The next refresh is before `limit`. */
static void refresh_skip(struct cell_channel *ep, uint64_t limit)
{
	uint64_t k;

	if (ep->next_refresh < ep->line_free)
		return;
	k = (limit - 1 - ep->next_refresh) / ep->cfg.refresh;
	if (ep->listener && k)
		cell_channel_listen_refresh(ep, ep->next_refresh, k);
	ep->next_refresh += k * ep->cfg.refresh;
	ep->busy += k * ep->cfg.ctl_flits;
	ep->count.ctl_out += k;
	ep->peer->count.ctl_in += k;
}

void cell_channel_settle(struct cell_channel *ep, uint64_t limit)
{
	for (;;) {
		uint64_t r = cell_channel_ctl_ready(ep);
		uint64_t at = r > ep->line_free ? r : ep->line_free;

		if (at >= limit)
			return;
		if (r == ep->next_refresh && ring_empty(&ep->due) &&
		    ring_empty(&ep->end) && !ep->ack_owed) {
			refresh_skip(ep, limit);
			at = ep->next_refresh > ep->line_free ? ep->next_refresh
							      : ep->line_free;
		}
		cell_channel_ctl_send(ep, at);
	}
}

uint64_t cell_channel_next(struct cell_channel *ep, uint64_t g)
{
	uint64_t slot;

	if (ep->next_grant > g)
		return ep->next_grant;
	if (ep->needs_frames)
		return cell_channel_framed_next(ep, g);
	slot = g + ep->t_out;
	if (ep->ctl)
		cell_channel_settle(ep, slot + 1);
	return ep->line_free > slot ? ep->line_free - ep->t_out : g;
}

void cell_channel_owe(struct cell_channel *ep, uint32_t vc, uint64_t cycle)
{
	struct cell_channel *p = ep->peer;
	uint64_t at = cycle;

	if (ep->aside)
		at = cycle += ep->way_ctl;
	cell_channel_ctl_due(ep, cycle, vc);
	if (!ep->listened)
		return;
	if (!ep->aside)
		at = (cycle > ep->line_free ? cycle : ep->line_free) +
		     ep->way_ctl;
	p->ops->wake(p->own, p, at);
}

/* ---- applying control cells of the peer ---- */

uint64_t cell_channel_hear(struct cell_channel *ep, uint64_t g)
{
	struct cell_channel *p = ep->peer;
	uint64_t next = WEFT_NEVER, r;

	if (!ep->ctl) { /* neither end sends credits as control cells */
		for (; !ring_empty(&p->due); ring_pop(&p->due)) {
			uint64_t d = *ring_front(&p->due);
			uint32_t vc = d & 0xff;

			if (d >> 8 > g)
				return d >> 8;
			cell_channel_use(ep, vc, ep->used[vc] - 1u);
		}
		return WEFT_NEVER;
	}
	if (g >= p->way_ctl)
		cell_channel_settle(p, g - p->way_ctl + 1);
	for (; !ring_empty(&ep->in); ring_pop(&ep->in)) {
		uint64_t v = *ring_front(&ep->in);
		uint32_t kind = v >> 8 & 0xff, n = v & 0xff;

		if (v >> 16 > g) {
			next = v >> 16;
			break;
		}
		if (kind == CELL_CHANNEL_TELL_ACK)
			ep->unacked = (uint8_t)(ep->unacked - n);
		else
			cell_channel_use(ep, kind, ep->used[kind] - n);
	}
	r = news_ready(p);
	if (r != WEFT_NEVER) {
		r = (r > p->line_free ? r : p->line_free) + p->way_ctl;
		next = r < next ? r : next;
	}
	return next;
}
