/* SPDX-License-Identifier: Apache-2.0 */
/* Receiving side of a link port on a framed line (extoll.md 4.7, 5.6).
 *
 * The port accepts a cell that has the expected SEQ, a good CRC and no code
 * error. It accepts a cell as void if its CRC is exactly inverted instead. It
 * answers any other cell by one NACK, and ignores cells until the expected cell
 * arrives.
 *
 * The owner sees a cell, good or bad, before the cell ends. The model knows the
 * result of the CRC check as soon as the frame arrives, and marks a bad cell as
 * void (ECELL_VOID). On a 32-bit line the SEQ precedes the bytes of a cell, so
 * that the owner sees a bad cell only if it has the expected SEQ. On a 16-bit
 * line the SEQ follows the bytes, so that the owner sees all bad cells. After a
 * NACK, and only then, the port holds a 16-bit cell back until its SEQ is
 * known. A bad cell is not passed on if it starts a packet inside another
 * packet, or continues a packet although none has begun. A void cell has a
 * packet of its own, with the route that was received.
 *
 * On a line with a fault or a listener the owner does not get the sender's
 * packet. It gets a packet that is rebuilt from the received bytes
 * (ex_rebuild). */
#include "systems/extoll/network/cell_channel_framed.h"

#include <assert.h>
#include <string.h>

enum {
	RUN = 16, /* consecutive code errors that lose alignment (5.7) */
	FIFO = 5, /* flits by which the receive FIFO can lag */
};

/* State of one arriving frame. */
struct rx {
	struct cell_channel *ep;
	struct weft_frame *f;
	uint64_t c0; /* cycle at which the first flit leaves the receive FIFO */
	uint32_t bad; /* bad cells in the frame */
};

/* ---- to the owner ---- */

static uint64_t channel_receive_seen(const struct rx *r, uint32_t flits,
				     bool whole)
{
	return r->c0 + 1 + r->ep->cfg.t_in + (whole ? flits : 0);
}

static uint8_t flags_of(uint32_t ctl)
{
	return (ctl & EX_CTL_SOP ? ECELL_SOP : 0) |
	       (ctl & EX_CTL_EOP ? ECELL_EOP : 0);
}

/* Copies the route of a table-routed packet to its cell, so that the owner need
 * not read the packet. */
static void take_table(struct ecell *c, struct weft_frame *f)
{
	const struct ex_meta *m = ex_meta(f);

	if (!(c->flags & ECELL_SOP) || m->hops)
		return;
	c->flags |= ECELL_TABLE;
	c->dest = m->dest;
	c->port = m->port;
	c->cls = m->cls;
	c->dim = m->dim;
}

static void channel_receive_deliver(struct rx *r, const struct ex_heard *h,
				    bool whole)
{
	struct cell_channel_framed *s = r->ep->slow;
	const struct ex_line *l = ex_line(r->f);
	uint32_t vc = l->ctl % EX_VCS;
	struct ecell cell = { .pkt = ex_line_packet(r->f),
			      .first = (uint16_t)r->f->u[2],
			      .flits = l->flits,
			      .flags = flags_of(l->ctl) };

	if (s->rebuild)
		cell.pkt =
			ex_rebuild(&s->built, r->ep->comp->sim, r->f, h->bytes);
	take_table(&cell, r->f);
	if (cell.flags & ECELL_TABLE) {
		cell.dest = ex_meta(cell.pkt)->dest;
		cell.port = ex_meta(cell.pkt)->port;
	}
	if (l->ctl & EX_CTL_SOP)
		s->open |= (uint8_t)(1u << vc);
	if (l->ctl & EX_CTL_EOP)
		s->open &= (uint8_t) ~(1u << vc);
	cell_channel_put(r->ep, &cell, vc,
			 channel_receive_seen(r, l->flits, whole));
}

static struct weft_frame *void_packet(const struct rx *r,
				      const struct ex_heard *h)
{
	struct weft_frame *pkt = weft_frame_new(r->ep->comp->sim);
	uint32_t width = r->ep->cfg.width, k = ex_flit_nibbles(width);
	uint32_t n = h->flits * ex_flit_bytes(width);
	struct ex_meta *m = ex_meta(pkt);
	const uint8_t *b = h->bytes;

	/* the packet keeps the route that was received */
	memcpy(&pkt->u[3], &r->f->u[3], 5 * sizeof(pkt->u[0]));
	pkt->trace_id = r->f->trace_id;
	if (!(h->ctl & EX_CTL_SOP))
		return pkt;
	if (m->hops == EX_ROUTE_RUNS) { /* runs are in the bytes of the cell */
		n = n < sizeof(h->bytes) ? n : sizeof(h->bytes);
		pkt->payload = weft_slice_word(r->ep->comp->sim, n);
		memcpy(weft_slice_data(pkt->payload), b, n);
		return pkt;
	}
	if (!m->hops) {
		m->dest = (uint16_t)(b[0] | b[1] << 8);
		if (width == EX_W32)
			m->port = b[2];
		return pkt;
	}
	/* the received bytes are the header if all routing flits are used up */
	if (m->pos >= m->hops)
		memcpy(&pkt->u[0], b, ex_flit_bytes(width));
	for (uint32_t i = 0; i < k && m->pos + i < EX_ROUTE_MAX; i++)
		ex_route_set(pkt, m->pos + i, b[i / 2] >> i % 2 * 4 & 0xf);
	return pkt;
}

/* Sets the cycle at which the last flit of the CRC arrives, because the cell is
 * known to be void from then on. If not `paid`, the cell's slot returns no
 * credit. */
static void verdict_set(struct rx *r, uint32_t slot, bool paid)
{
	struct cell_channel_framed *s = r->ep->slow;
	const struct ecell *c = &r->ep->slot[slot];
	uint32_t len;

	assert(slot < SLOW_SENT);
	/* Limit the time of the verdict to the end of the frame, because damage
	 * may make the cell longer than its frame. */
	len = c->flits + (r->ep->cfg.width == EX_W16 ? 2 : 0);
	if (len >= r->f->words)
		len = r->f->words - 1;
	s->verdict[slot] = c->cycle + len;
	s->n_verdicts++;
	if (!paid)
		s->unpaid[slot / 64] |= 1ULL << slot % 64;
}

/* Passes a void cell to the owner. Returns false if the cell is dropped
 * here. */
static bool deliver_void(struct rx *r, const struct ex_heard *h, bool paid)
{
	struct cell_channel *ep = r->ep;
	uint32_t vc = h->ctl % EX_VCS;
	bool inside = ep->slow->open >> vc & 1;
	struct ecell cell = { .first = (uint16_t)r->f->u[2],
			      .flits = h->flits,
			      .flags = flags_of(h->ctl) | ECELL_VOID };

	if (!h->flits || ep->held >= ep->cfg.slots || ep->cfg.store_forward ||
	    inside == !!(h->ctl & EX_CTL_SOP))
		return false;
	cell.pkt = void_packet(r, h);
	take_table(&cell, cell.pkt);
	verdict_set(r,
		    cell_channel_put(ep, &cell, vc,
				     channel_receive_seen(r, h->flits, false)),
		    paid);
	weft_frame_free(cell.pkt);
	ep->count.voids++;
	return true;
}

/* Marks the cells that are known to be void at `cycle` (ECELL_GONE) and
 * notifies the owner, which has not begun to forward them. */
void cell_channel_rx_verdicts(struct cell_channel *ep, uint64_t cycle)
{
	struct cell_channel_framed *s = ep->slow;
	uint32_t i;

	for (i = 0; s->n_verdicts && i < ep->n_slots; i++) {
		if (s->verdict[i] > cycle)
			continue;
		s->verdict[i] = WEFT_NEVER;
		s->n_verdicts--;
		ep->slot[i].flags |= ECELL_GONE;
		if (ep->ops->gone)
			ep->ops->gone(ep->own, ep, i);
	}
}

void cell_channel_framed_release(struct cell_channel *ep,
				 const struct ecell *cell, uint64_t cycle)
{
	struct cell_channel_framed *s = ep->slow;
	uint32_t slot = (uint32_t)(cell - ep->slot);
	uint64_t bit = 1ULL << slot % 64;
	bool paid = !(s->unpaid[slot / 64] & bit);

	if (s->verdict[slot] != WEFT_NEVER)
		s->n_verdicts--;
	s->verdict[slot] = WEFT_NEVER;
	s->unpaid[slot / 64] &= ~bit;
	if (paid)
		cell_channel_framed_credit(ep, cell->vc, cycle);
}

/* ---- cells ---- */

/* Returns true if a received cell with the expected SEQ may be accepted. One
 * damaged cell in 2^31 has a correct or exactly inverted CRC. Therefore also
 * compares the received framing with the framing that was sent, because the
 * framing determines the slot and the packet of the cell. Also refuses a cell
 * that is 256 cells ahead, because damaged ACKs can make the sender drop the
 * cells in between. */
static bool channel_receive_acceptable(const struct rx *r,
				       const struct ex_heard *h)
{
	const struct ex_line *l = ex_line(r->f);

	if (h->verdict > EX_VOID ||
	    (h->verdict == EX_GOOD && r->ep->held >= r->ep->cfg.slots))
		return false;
	return r->f->flags & EX_F_CELL && l->stomp == (h->verdict == EX_VOID) &&
	       l->ctl == h->ctl && l->arg == h->arg && l->flits == h->flits &&
	       ex_line_number(r->f) == r->ep->slow->taken;
}

static void cell_heard(struct rx *r, const struct ex_heard *h)
{
	struct cell_channel *ep = r->ep;
	struct cell_channel_framed *s = ep->slow;
	bool expected = h->arg == s->expect;
	bool late = s->waiting && ep->cfg.width == EX_W16;
	uint64_t end = r->c0 + h->flits + ep->cfg.overhead + ep->cfg.t_ack;

	if (expected && channel_receive_acceptable(r, h)) {
		s->waiting = false;
		s->expect++;
		s->taken++;
		ring_insert_sorted(&ep->end, end, );
		if (h->verdict == EX_GOOD)
			channel_receive_deliver(r, h,
						late || ep->cfg.store_forward);
		else if (late || !deliver_void(r, h, true))
			cell_channel_framed_credit(
				ep, h->ctl % EX_VCS,
				channel_receive_seen(r, h->flits, true));
		return;
	}
	ep->count.code += h->verdict == EX_BAD_CODE;
	ep->count.crc += h->verdict == EX_BAD_CRC;
	ep->count.seq += h->verdict <= EX_VOID;
	if (ep->ops->link)
		ep->ops->link(ep->own, ep, CELL_CHANNEL_LINK_ERROR);
	if (!s->waiting && (ep->cfg.width == EX_W16 || expected))
		deliver_void(r, h, false);
	if (s->waiting || s->nack_at != WEFT_NEVER)
		s->n.ignored++;
	else
		s->nack_at = end;
	s->waiting = true;
}

/* ---- frames ---- */

static void channel_receive_heard(void *own, const struct ex_heard *h)
{
	struct rx *r = own;
	struct cell_channel *ep = r->ep;
	enum cell_channel_state st = ep->slow->state;

	if (st == CELL_CHANNEL_ALIGN)
		return;
	r->bad += h->verdict > EX_VOID;
	if (!h->control) {
		if (st == CELL_CHANNEL_READY)
			cell_heard(r, h);
		return;
	}
	if (h->verdict != EX_GOOD) {
		ep->slow->n.control++;
		return;
	}
	ep->count.ctl_in++;
	cell_channel_retry_heard(ep,
				 r->c0 + ep->cfg.ctl_flits + ep->cfg.t_ctl_in,
				 h->type, h->arg);
}

/* Handles an undamaged frame. */
static void whole(struct rx *r)
{
	const struct ex_line *l = ex_line(r->f);
	struct ex_heard h = {
		.verdict = l->stomp ? EX_VOID : EX_GOOD,
		.control = r->f->flags & EX_F_CONTROL,
		.seq_known = true,
		.type = l->type,
		.ctl = l->ctl,
		.arg = l->arg,
		.flits = l->flits,
	};

	if (!h.control)
		memcpy(h.bytes, weft_slice_data(r->f->payload),
		       r->f->payload.len);
	channel_receive_heard(r, &h);
}

static void channel_receive_damaged(struct rx *r)
{
	struct ex_dec d = { .width = r->ep->cfg.width,
			    .heard = channel_receive_heard,
			    .own = r };
	struct slow_count *n = &r->ep->slow->n;
	const struct weft_frame *f = r->f;
	uint64_t back = WEFT_NEVER;

	for (uint32_t i = 0; i < f->raw->n; i++)
		ex_dec_symbol(&d, f->raw->sym[i]);
	ex_dec_end(&d);
	if (r->bad)
		n->pieces += r->bad - 1;
	else
		n->idle++;
	if (d.worst < RUN)
		return;
	/* This frame lasts as long as the cut, so that the peer's commas return
	 * at its end. The frame of a permanent cut has about UINT32_MAX words,
	 * and no commas follow it. */
	if (f->words < UINT32_MAX / 2)
		back = weft_clock_cycle(&r->ep->cfg.clk,
					f->time + f->words * f->word_fs);
	cell_channel_train_lost(r->ep, cell_channel_now(r->ep), back);
}

void cell_channel_arrive(struct cell_channel *ep, struct weft_frame *f)
{
	struct cell_channel_framed *s = ep->slow;
	struct rx r = { .ep = ep, .f = f };
	uint64_t at, come;
	bool room = true;

	assert(s);
	at = weft_clock_cycle(&ep->peer->cfg.clk, f->time - ep->port->delay);
	r.c0 = at + ep->peer->way - 1 - ep->cfg.t_in;
	if (!ep->same_clk) {
		/* The receive FIFO fills if cells arrive faster than the clock
		 * of this end can read. */
		come = cell_channel_cross(ep->peer, at);
		r.c0 = come > s->fifo_free ? come : s->fifo_free;
		room = r.c0 - come <= FIFO;
		if (room)
			s->fifo_free = r.c0 + f->words;
	}
	if (!room)
		ep->count.fifo++;
	else if (f->raw)
		channel_receive_damaged(&r);
	else
		whole(&r);
	weft_frame_free(f);
	cell_channel_framed_arm(ep);
}
