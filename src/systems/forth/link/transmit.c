/* SPDX-License-Identifier: Apache-2.0 */
/* Transmit machine of a FORTH link end (forth.md 4.10). Packets follow each
 * other without gaps while they have credits. Credit frames use the gaps
 * between packets. The line carries one word per cycle. The end of a
 * transmission is computed at its start, so that it needs no event. */
#include "systems/forth/link/port_internal.h"

void forth_port_arm(struct forth_port *l)
{
	uint64_t at = WEFT_NEVER, t;

	if (l->kick != WEFT_NEVER && !l->lost_sync && !l->muted)
		at = l->kick > l->line_free ? l->kick : l->line_free;
	if (l->wake_at < at)
		at = l->wake_at;
	if (l->epoch && credit_resync_due(l) < at)
		at = credit_resync_due(l);
	if (forth_port_heard(l)) {
		t = forth_port_next_credit(l);
		at = t < at ? t : at;
	}
	if (l->lost_sync && forth_port_in_sync_at(l) < at)
		at = forth_port_in_sync_at(l);
	if (at != WEFT_NEVER)
		weft_timer_arm(l->comp, &l->timer, l->tag,
			       weft_clock_edge(&l->clk, at));
}

static struct weft_frame *frame_of(struct forth_port *l,
				   const struct forth_port_pkt *p)
{
	struct weft_frame *f = p->f;
	struct forth_shape s = { 0 };

	if (f) {
		f->flags &= ~(uint32_t)(FORTH_F_CREDITS | FORTH_F_CPL);
		f->flags |= l->cfg.crc32_complement ? FORTH_F_CPL : 0;
		return f;
	}
	f = weft_frame_new(l->comp->sim);
	f->flags = FORTH_F_PACKET | (l->cfg.crc32_complement ? FORTH_F_CPL : 0);
	f->u[FORTH_U_HEADER] = p->header;
	f->payload = p->payload;
	f->trace_id = p->trace_id;
	s.wire_len =
		(uint16_t)forth_port_wire_len(l, forth_hdr_size(p->header));
	forth_shape_set(f, s);
	return f;
}

void forth_port_line_put(struct forth_port *l, struct weft_frame *f,
			 uint64_t at)
{
	weft_time_t start = weft_clock_edge(&l->clk, at);
	struct forth_shape s = forth_shape_get(f);
	struct weft_frame *share;
	uint32_t j;

	f->word_fs = l->word_fs;
	if (__builtin_expect(l->told, 0))
		forth_port_tell(l, f, at);
	if (l->loop) {
		f->time = start + l->delay;
		forth_port_append(&l->loop_q, f);
		weft_post(l->comp, l->comp->n_ports + l->port->index, f->time);
	} else if (l->needs_frames && l->cfg.links > 1) {
		f->flags |= FORTH_F_LINE;
		s.seq = l->seq++;
		for (j = 0; j < l->cfg.links; j++) {
			share = j + 1 < l->cfg.links ? weft_frame_dup(f) : f;
			s.line = (uint8_t)j;
			forth_shape_set(share, s);
			weft_port_send(&l->port[j], share, start);
		}
	} else {
		forth_port_volume(l, 1, 1, f->words);
		weft_port_send(l->port, f, start + (l->delay - l->port->delay));
		for (j = 1; j < l->cfg.links; j++) {
			l->port[j].out_end = l->port->out_end;
			l->port[j].out_run = l->port->out_run;
		}
	}
}

static uint64_t send_packet(struct forth_port *l,
			    const struct forth_port_pkt *p, uint64_t at,
			    uint32_t *shift_p)
{
	struct weft_frame *f = frame_of(l, p);
	struct forth_shape s = forth_shape_get(f);
	uint64_t header = f->u[FORTH_U_HEADER];
	uint32_t lane = forth_port_lane_of(l, header);
	bool cut = f->flags & FORTH_F_TRUNC;
	uint32_t bytes = cut ? f->payload.len : s.wire_len;

	s.layout = (uint8_t)l->cfg.layout;
	s.links = (uint8_t)l->cfg.links;
	s.line = 0;
	s.credits = (uint8_t)forth_port_packet_credits(l, at, f);
	*shift_p = forth_credit_words(l->cfg.layout, s.links, s.credits, true);
	f->words = *shift_p + forth_words(l->cfg.layout, l->cfg.links, bytes);
	f->words -= cut; /* no CRC word */
	if (l->needs_frames)
		f->flags |= FORTH_F_CREDITS;
	forth_shape_set(f, s);
	if (lane < l->tx_lanes) {
		l->tx[lane].sent =
			(l->tx[lane].sent + forth_charge(s.links, s.wire_len)) &
			FORTH_COUNT_MASK;
		l->tx[lane].need = 0;
		mask_clear(&l->wait, lane);
		if (l->epoch)
			credit_resync_moved(l, lane, at);
	}
	l->count.tx_packets++;
	l->count.tx_qwords += forth_hdr_size(header) + 2;
	l->count.out_cycles += f->words;
	l->line_free = at + f->words;
	l->last_start = at;
	forth_port_line_put(l, f, at);
	return l->line_free;
}

static void transmit_unblock(struct forth_port *l, uint64_t at)
{
	if (l->blocked != WEFT_NEVER && at > l->blocked)
		l->count.backpressure += at - l->blocked;
	l->blocked = WEFT_NEVER;
}

/* Returns whether the lane has credits for `charge`. Pulls credits from the
 * peer only if the known credits do not suffice, because on a line without
 * faults credits only grow. */
static bool lane_ready(struct forth_port *l, uint32_t lane, uint32_t charge,
		       uint64_t cycle)
{
	if (!l->peer->needs_frames && !l->cfg.credit_filter &&
	    forth_port_lane_ok(l, lane, charge))
		return true;
	if (l->pulled != cycle) {
		forth_port_pull(l, cycle);
		l->pulled = cycle;
	}
	return forth_port_lane_ok(l, lane, charge) ||
	       forth_port_lane_soon(l, lane, charge) <= cycle;
}

uint64_t forth_port_tx_ready(struct forth_port *l, uint64_t header,
			     uint32_t bytes, uint64_t cycle)
{
	uint32_t lane = forth_port_lane_of(l, header);
	uint32_t charge = forth_charge(l->cfg.links, bytes);

	if (l->lost_sync) {
		l->wake_at = forth_port_in_sync_at(l);
		forth_port_arm(l);
		return WEFT_NEVER;
	}
	if (lane >= l->tx_lanes)
		return cycle;
	l->pulled = WEFT_NEVER;
	if (lane_ready(l, lane, charge, cycle))
		return cycle;
	if (l->blocked == WEFT_NEVER)
		l->blocked = cycle;
	forth_port_wait_lane(l, lane, charge);
	return forth_port_wait(l);
}

uint64_t forth_port_tx_slot(struct forth_port *l, uint64_t cycle)
{
	forth_port_catch_up(l, cycle);
	return cycle > l->line_free ? cycle : l->line_free;
}

uint64_t forth_port_tx_commit(struct forth_port *l,
			      const struct forth_port_pkt *p, uint64_t cycle)
{
	uint32_t shift;

	transmit_unblock(l, cycle);
	return send_packet(l, p, cycle, &shift);
}

void forth_port_kick(struct forth_port *l, weft_time_t t)
{
	uint64_t at = forth_port_cycle(l, t);

	if (!l->peer || l->muted || at >= l->kick)
		return;
	l->kick = at;
	at = at > l->line_free ? at : l->line_free;
	weft_timer_arm(l->comp, &l->timer, l->tag,
		       weft_clock_edge(&l->clk, at));
}

bool forth_port_credit(struct forth_port *l, uint32_t way, uint32_t qwords)
{
	uint32_t lane = forth_port_lane(l, way);
	uint32_t charge = forth_port_charge(l, qwords);

	if (lane >= l->tx_lanes ||
	    lane_ready(l, lane, charge, forth_port_now(l)))
		return true;
	forth_port_wait_lane(l, lane, charge);
	return false;
}

/* Offers the free line to the owner through ops.next. */
static void try_packet(struct forth_port *l, uint64_t now)
{
	struct forth_port_pkt p = { 0 };
	uint64_t end, soon;
	uint32_t shift;

	l->kick = WEFT_NEVER;
	forth_port_unwait(l);
	l->pulled = WEFT_NEVER;
	if (!l->ops->next(l->own, l, &p)) {
		if (!mask_any(&l->wait)) {
			transmit_unblock(l, now);
			return;
		}
		if (l->blocked == WEFT_NEVER)
			l->blocked = now;
		soon = forth_port_wait(l);
		l->kick = soon < l->kick ? soon : l->kick;
		return;
	}
	transmit_unblock(l, now);
	forth_port_unwait(l);
	end = send_packet(l, &p, now, &shift);
	if (!p.last)
		l->kick = end;
	if (l->ops->sent)
		l->ops->sent(l->own, l, now, end, shift);
}

void forth_port_event(struct forth_port *l)
{
	uint64_t now;

	if (l->back)
		forth_port_event(l->back);
	if (!weft_timer_due(l->comp, &l->timer) || !l->peer)
		return;
	now = forth_port_now(l);
	if (l->lost_sync && forth_port_in_sync_at(l) <= now) {
		l->lost_sync = false;
		l->line_free = l->line_free > now ? l->line_free : now;
	}
	if (l->epoch)
		credit_resync_event(l, now);
	if (l->wake_at <= now) {
		l->wake_at = WEFT_NEVER;
		if (l->ops->woken)
			l->ops->woken(l->own, l);
		else if (l->kick > now)
			l->kick = now;
	}
	forth_port_catch_up(l, now);
	if (l->kick <= now && l->line_free <= now && !l->lost_sync && !l->muted)
		try_packet(l, now);
	if (forth_port_heard(l))
		forth_port_catch_up(l, now + 1);
	forth_port_arm(l);
}
