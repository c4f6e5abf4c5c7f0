/* SPDX-License-Identifier: Apache-2.0 */
/* Sending side of a link port on a framed line (extoll.md 4.7): every cell and
 * control cell is a frame.
 *
 * If several frames are ready, the line sends them in this order: training,
 * NACK, ACK, CREDIT, refresh, replay (cell_channel_retry.c), data.
 * cell_channel_control.c supplies ACK, CREDIT and refresh, at the same cycles
 * as on a line without frames.
 *
 * A refresh that tells the peer nothing new, on a line that is otherwise quiet,
 * occupies the line as usual but is not sent as a frame. So a network at rest
 * has no events. Clock compensation (K28.3) is not a frame either. If the
 * clocks of both ends differ, K28.3 takes one flit in front of a cell, at most
 * every COMP cycles. */
#include "systems/extoll/network/cell_channel_framed.h"

#include <errno.h>
#include <stdlib.h>

enum {
	COMP = 2048, /* cycles from one K28.3 to the next, own choice */
	TAG_PORT = 1 /* TAG_PORT + port: tag of cell_channel_event */
};

/* ---- the line ---- */

void cell_channel_framed_send(struct cell_channel *ep, struct weft_frame *f,
			      uint64_t at)
{
	weft_time_t start = weft_clock_edge(&ep->cfg.clk, at);
	weft_time_t now = weft_now(ep->comp);

	f->word_fs = ep->cfg.clk.num / ep->cfg.clk.den;
	if (start < now)
		start = now;
	if (ep->port->listener)
		ep->port->listener->hear(ep->port->listener, f, start);
	weft_port_send(ep->port, f, start);
}

static void send_control(struct cell_channel *ep, uint64_t at, uint32_t type,
			 uint32_t value)
{
	cell_channel_framed_send(
		ep, ex_control_new(ep->comp->sim, ep->cfg.width, type, value),
		at);
}

/* Sends a control cell that cell_channel_control.c has chosen: an ACK of n
 * cells, n credits, or a refresh. */
void cell_channel_framed_tell(struct cell_channel *ep, uint64_t at,
			      uint32_t kind, uint32_t n)
{
	struct cell_channel_framed *s = ep->slow;
	uint32_t vc = kind;

	if (kind == CELL_CHANNEL_TELL_ACK) {
		s->acked = (uint8_t)(s->acked + n);
		send_control(ep, at, EX_C_ACK, (uint8_t)(s->acked - 1));
	} else if (kind == CELL_CHANNEL_TELL_REFRESH) {
		vc = ep->refresh_vc++ % EX_VCS;
		if (at >= cell_channel_now(ep))
			send_control(ep, at, EX_C_REFRESH + vc, s->given[vc]);
	} else {
		s->given[vc] = (uint8_t)(s->given[vc] + n);
		send_control(ep, at, EX_C_CREDIT + vc, n);
	}
}

static void send_own(struct cell_channel *ep, uint64_t at, uint32_t type,
		     uint32_t value)
{
	ep->line_free = at + ep->cfg.ctl_flits;
	ep->busy += ep->cfg.ctl_flits;
	ep->count.ctl_out++;
	send_control(ep, at, type, value);
}

/* Returns true if the peer has applied all credits that this end has given
 * it. */
static bool channel_framed_quiet(const struct cell_channel *ep)
{
	const struct cell_channel *p = ep->peer;
	uint32_t vc;

	if (!p->slow)
		return true; /* the peer has not started yet */
	for (vc = 0; vc < EX_VCS; vc++)
		if ((uint8_t)(p->slow->cells[vc] - p->used[vc]) !=
		    ep->slow->given[vc])
			return false;
	return true;
}

/* Returns the first cycle at which a control cell is ready. */
static uint64_t channel_framed_ready(const struct cell_channel *ep)
{
	const struct cell_channel_framed *s = ep->slow;
	uint64_t r;

	if (s->n_specials)
		return s->special[0].cycle;
	if (s->state != CELL_CHANNEL_READY)
		return WEFT_NEVER;
	r = cell_channel_ctl_ready(ep);
	return s->nack_at < r ? s->nack_at : r;
}

/* Sends the control cells that start at or before `cycle`. */
static void channel_framed_pump(struct cell_channel *ep, uint64_t cycle)
{
	struct cell_channel_framed *s = ep->slow;
	struct slow_ctl c;
	uint32_t i;
	uint64_t k;

	/* Counts the refreshes that were not sent as frames, because the line
	 * was quiet. */
	if (ep->cfg.refresh && ep->next_refresh + ep->cfg.refresh < cycle) {
		k = (cycle - ep->next_refresh) / ep->cfg.refresh;
		ep->next_refresh += k * ep->cfg.refresh;
		ep->refresh_vc = (uint8_t)(ep->refresh_vc + k);
		ep->busy += k * ep->cfg.ctl_flits;
		ep->count.ctl_out += k;
	}
	for (;;) {
		uint64_t r = channel_framed_ready(ep);
		uint64_t at = r > ep->line_free ? r : ep->line_free;

		if (at > cycle)
			return;
		if (s->n_specials) {
			c = s->special[0];
			for (i = 1; i < s->n_specials; i++)
				s->special[i - 1] = s->special[i];
			s->n_specials--;
			send_own(ep, at, c.type, c.value);
		} else if (s->nack_at <= at) {
			s->nack_at = WEFT_NEVER;
			ep->count.nacks++;
			send_own(ep, at, EX_C_NACK, s->expect);
		} else {
			cell_channel_ctl_send(ep, at);
		}
	}
}

/* Returns the first cycle >= g at which a cell may be committed, because the
 * line is free of control cells t_out cycles later (cell_channel.h, reference
 * points). */
uint64_t cell_channel_framed_next(struct cell_channel *ep, uint64_t g)
{
	struct cell_channel_framed *s = ep->slow;
	uint64_t at = g + ep->cfg.t_out;

	channel_framed_pump(ep, at);
	if (ep->line_free <= at && at >= s->comp_at) {
		s->comp_at = at + COMP;
		ep->line_free = at + 1;
		channel_framed_pump(ep, at + 1);
	}
	return ep->line_free > at ? ep->line_free - ep->cfg.t_out : g;
}

/* ---- cells ---- */

void cell_channel_framed_cell(struct cell_channel *ep,
			      const struct weft_frame *f, uint64_t at)
{
	uint64_t next = at + ep->cfg.gap;

	ep->slow->gap_end = next;
	ep->line_free = at + f->words;
	if (next < ep->line_free)
		next = ep->line_free;
	ep->next_grant = next - ep->cfg.t_out;
	ep->busy += f->words;
	cell_channel_framed_send(ep, weft_frame_dup(f), at);
}

void cell_channel_framed_commit(struct cell_channel *ep,
				const struct ecell *cell, uint32_t vc,
				uint64_t g)
{
	struct cell_channel_framed *s = ep->slow;
	uint64_t at = g + ep->cfg.t_out + cell->skip;
	struct weft_frame *f = weft_frame_new(ep->comp->sim);

	f->payload = weft_slice_word(
		ep->comp->sim, cell->flits * ex_flit_bytes(ep->cfg.width));
	cell_channel_frame(ep, cell, vc, f);
	ex_line(f)->arg = s->seq;
	f->u[2] |= (uint64_t)s->made++ << 32;
	s->sent[s->seq++ % SLOW_SENT] = f;
	s->cells[vc]++;
	cell_channel_use(ep, vc, ep->used[vc] + 1u);
	if (!ep->unacked++)
		s->since = at;
	cell_channel_framed_cell(ep, f, at);
	cell_channel_framed_arm(ep);
}

bool cell_channel_framed_can(struct cell_channel *ep, uint32_t vc, uint64_t g)
{
	struct cell_channel_framed *s = ep->slow;

	cell_channel_retry_apply(ep, g);
	if (s->state == CELL_CHANNEL_READY && !s->replaying &&
	    ep->unacked < ep->cfg.window && cell_channel_has_credit(ep, vc))
		return true;
	ep->peer->listened = true;
	if (!ring_empty(&s->in))
		ep->ops->wake(ep->own, ep, ring_front(&s->in)->cycle);
	return false;
}

/* ---- events ---- */

static uint64_t channel_framed_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void cell_channel_framed_arm(struct cell_channel *ep)
{
	struct cell_channel_framed *s = ep->slow;
	uint64_t t = s->urgent, keep = ep->next_refresh, r;
	uint64_t now = cell_channel_now(ep);

	for (uint32_t i = 0; s->n_verdicts && i < SLOW_SENT; i++)
		t = channel_framed_least(t, s->verdict[i]);
	/* Ignore a refresh that tells the peer nothing new, because a quiet
	 * line needs no event. */
	if (channel_framed_quiet(ep))
		ep->next_refresh = WEFT_NEVER;
	r = channel_framed_ready(ep);
	ep->next_refresh = keep;
	if (r != WEFT_NEVER)
		t = channel_framed_least(t,
					 r > ep->line_free ? r : ep->line_free);
	if (s->replaying)
		t = channel_framed_least(t, cell_channel_retry_next(ep));
	else if (s->state == CELL_CHANNEL_READY && ep->unacked)
		t = channel_framed_least(t, s->since + ep->cfg.timeout);
	t = channel_framed_least(t, cell_channel_train_next(ep));
	if (t >= s->armed)
		return;
	t = t > now ? t : now;
	s->armed = t;
	weft_wake(ep->comp, TAG_PORT + ep->port->index,
		  weft_clock_edge(&ep->cfg.clk, t));
}

void cell_channel_event(struct cell_channel *ep)
{
	struct cell_channel_framed *s = ep->slow;
	uint64_t c = cell_channel_now(ep);

	if (!s || c < s->armed)
		return;
	s->armed = WEFT_NEVER;
	cell_channel_retry_apply(ep, c);
	cell_channel_rx_verdicts(ep, c);
	cell_channel_train_event(ep, c);
	if (s->state == CELL_CHANNEL_READY && ep->unacked && !s->replaying &&
	    c >= s->since + ep->cfg.timeout) {
		ep->count.timeouts++;
		cell_channel_retry_replay(ep, c);
	}
	channel_framed_pump(ep, c);
	cell_channel_retry_step(ep, c);
	cell_channel_framed_arm(ep);
}

void cell_channel_framed_credit(struct cell_channel *ep, uint32_t vc,
				uint64_t cycle)
{
	cell_channel_ctl_due(ep, cycle + ep->cfg.t_credit, vc);
	cell_channel_framed_arm(ep);
}

/* ---- set-up and end ---- */

int cell_channel_framed_start(struct cell_channel *ep, struct weft_err *err)
{
	struct cell_channel_framed *s;
	uint32_t i;

	if (!ep->cfg.ctl_flits || ep->cfg.window >= SLOW_SENT)
		return weft_fail(
			err, EINVAL,
			"%s.%s: faults, captures, training and clocks that differ need framed links",
			ep->comp->name, ep->port->name);
	s = calloc(1, sizeof(*s));
	if (!s)
		return weft_fail(err, ENOMEM, "no memory for a link port");
	ep->slow = s;
	s->rebuild = ep->port->needs_frames || ep->port->peer->needs_frames ||
		     ep->port->peer->listener;
	s->armed = s->urgent = s->nack_at = WEFT_NEVER;
	s->comp_at = ep->same_clk ? WEFT_NEVER : COMP;
	for (i = 0; i < SLOW_SENT; i++)
		s->verdict[i] = WEFT_NEVER;
	s->aligned_at = WEFT_NEVER;
	s->state = CELL_CHANNEL_READY;
	if (ep->cfg.train) {
		s->state = CELL_CHANNEL_ALIGN;
		cell_channel_train_lost(ep, 0, 0);
		cell_channel_framed_arm(ep);
	}
	return 0;
}

bool cell_channel_framed_missing(const struct cell_channel *ep,
				 const struct weft_frame *f)
{
	return ex_line_number(f) - ep->peer->slow->taken <= INT32_MAX;
}

/* Frees the packet of cell f if f is the packet's last cell and the peer has
 * not received f. f is the copy kept for a resend. */
static void channel_framed_abandon(struct cell_channel *ep,
				   struct weft_frame *f)
{
	if (f && cell_channel_framed_missing(ep, f) &&
	    ex_line(f)->ctl & EX_CTL_EOP && !ex_line(f)->stomp)
		weft_frame_free(ex_line_packet(f));
}

void cell_channel_framed_abandon(struct cell_channel *ep)
{
	struct cell_channel_framed *s = ep->slow;

	for (uint32_t i = 0; i < SLOW_SENT; i++)
		channel_framed_abandon(ep, s->sent[i]);
	for (size_t i = 0; i < s->early.n; i++)
		channel_framed_abandon(ep, s->early.at[i]);
	cell_channel_retry_drop_all(s);
	ex_rebuild_drop(&s->built);
}
