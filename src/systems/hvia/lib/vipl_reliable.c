/* SPDX-License-Identifier: Apache-2.0 */
/* Sending part of the reliable service of VIPL, see vipl_reliable.h. */
#include "systems/hvia/lib/vipl_reliable.h"

#include <string.h>

#include "host/times.h"

/* Returns true if the card has sent the frame of the slot. */
static bool slot_free(const struct rel_slot *s)
{
	return !s->desc.CS.SegCount || s->desc.CS.Status & VIP_STATUS_DONE;
}

/* ---- frames ---- */

/* Builds the next frame of the user's oldest send. */
static void frame_build(struct vipl_rel *r, struct rel_slot *s)
{
	struct rel_msg *m = &r->msg[HVIA_Q_SEND];
	const VIP_DESCRIPTOR *d = m->d;
	uint32_t left = d->CS.Length - m->at, at = m->at;
	uint32_t n = left < rel_data(r) ? left : rel_data(r);
	bool rdma = d->CS.Control & VIP_CONTROL_OP_RDMAWRITE;

	s->head = (struct rel_head){
		.seq = r->seq,
		.flags = (uint16_t)((at ? 0 : REL_FIRST) |
				    (n == left ? REL_LAST : 0) |
				    (rdma ? REL_RDMA : 0)),
		.bytes = (uint16_t)n,
		.length = d->CS.Length,
		.immediate = d->CS.ImmediateData,
	};
	if (n == left && d->CS.Control & VIP_CONTROL_IMMEDIATE)
		s->head.flags |= REL_IMMEDIATE;
	if (!s->head.flags)
		/* flag of a frame in the middle of a message */
		s->head.flags = 1u << 15;
	if (rdma) {
		s->head.va = d->DS[0].Remote.Data.AddressBits + at;
		s->head.handle = d->DS[0].Remote.Handle;
	}
	r->ends[r->seq % REL_WINDOW] = n == left ? m->number : 0;
	for (uint8_t *to = s->data; n;) {
		uint32_t part;
		const uint8_t *p = rel_piece(d, m->at, &part);

		part = part < n ? part : n;
		weft_host_copy(weft_host_self(), to, p, part);
		m->at += part;
		to += part;
		n -= part;
	}
}

static void frame_post(struct vipl_rel *r, struct rel_slot *s)
{
	s->head.ack = r->next;
	s->head.error = r->error;
	r->told = r->next;
	r->owe = false;
	rel_post(r, HVIA_Q_SEND, s, sizeof(s->head) + s->head.bytes);
}

/* ---- sending again ---- */

static void send_again(struct vipl_rel *r)
{
	weft_time_t now = weft_host_now(weft_host_self());
	struct vipl_queue *q = &r->v->q[HVIA_Q_SEND];
	struct vipl_posted *p;
	bool rdma;

	if (r->base == r->seq || now < r->again ||
	    r->v->k->state != HVIA_VI_CONNECTED)
		return;
	if (++r->tries > REL_TRIES) {
		rdma = rel_slot(r, r->base % REL_WINDOW)->head.flags & REL_RDMA;
		/* The oldest send that is not done gets the error. All later
		 * sends are flushed. */
		for (uint64_t i = q->first;; i++) {
			p = vipl_queue_at(q, i);
			if (!p || p->open)
				break;
		}
		if (p)
			rel_complete(r, HVIA_Q_SEND, p, 0,
				     VIP_STATUS_TRANSPORT_ERROR);
		rel_fail(r,
			 rdma ? HVIA_ERROR_RDMA_TRANSPORT
			      : HVIA_ERROR_CONN_LOST,
			 true);
		return;
	}
	for (uint32_t i = r->base; i != r->seq; i++)
		if (slot_free(rel_slot(r, i % REL_WINDOW)))
			frame_post(r, rel_slot(r, i % REL_WINDOW));
	r->again = now + weft_host_time(weft_host_self(), T_hvia_again);
}

/* Returns the send with this number. Returns NULL if the send is not posted, is
 * completed, or was taken by the program. */
static struct vipl_posted *open_send(struct vipl_rel *r, uint64_t number)
{
	struct vipl_posted *p = vipl_queue_at(&r->v->q[HVIA_Q_SEND], number);

	return p && p->open ? p : NULL;
}

bool rel_acked(struct vipl_rel *r, uint32_t ack, uint32_t error)
{
	struct vipl_posted *p = NULL;

	if (ack - r->base > r->seq - r->base)
		return false; /* an old acknowledgement */
	while (r->base != ack) {
		p = open_send(r, r->ends[r->base++ % REL_WINDOW]);
		r->tries = 0;
		r->again = weft_host_now(weft_host_self()) +
			   weft_host_time(weft_host_self(), T_hvia_again);
		if (p)
			rel_complete(r, HVIA_Q_SEND, p, p->d->CS.Length, 0);
	}
	if (!error || r->base == r->seq)
		return false;
	p = NULL;
	for (uint32_t i = r->base; i != r->seq && !p; i++)
		p = open_send(r, r->ends[i % REL_WINDOW]);
	p = p ? p : rel_current(r, HVIA_Q_SEND);
	if (p)
		rel_complete(r, HVIA_Q_SEND, p, 0, error);
	return true;
}

void vipl_rel_last(struct vipl_vi *v)
{
	struct vipl_rel *r = v->rel;
	struct hvia_kvi *k = v->k;

	if (!k->theirs.said)
		return;
	k->theirs.said = false;
	rel_acked(r, r->base + (uint16_t)(k->theirs.next - r->base),
		  k->theirs.error);
}

void rel_send(struct vipl_rel *r)
{
	struct vipl_posted *p;

	send_again(r);
	while ((p = rel_current(r, HVIA_Q_SEND)) &&
	       r->v->k->state == HVIA_VI_CONNECTED &&
	       r->seq - r->base < REL_WINDOW &&
	       slot_free(rel_slot(r, r->seq % REL_WINDOW))) {
		struct rel_slot *s = rel_slot(r, r->seq % REL_WINDOW);
		uint32_t bad;
		bool last;

		if (!rel_begin(r, HVIA_Q_SEND, p))
			return;
		/* An invalid send ends the reliable service. The send is
		 * checked for each frame, because its memory may have been
		 * deregistered since the last frame. */
		bad = rel_check(r->v, r->msg[HVIA_Q_SEND].d, HVIA_Q_SEND);
		if (bad) {
			rel_complete(r, HVIA_Q_SEND, p, 0, bad);
			rel_fail(r, HVIA_ERROR_CONN_LOST, true);
			return;
		}
		frame_build(r, s);
		if (!r->msg[HVIA_Q_SEND].begun)
			/* skips the frame, because the connection has ended
			 * meanwhile */
			continue;
		if (r->base == r->seq)
			r->again =
				weft_host_now(weft_host_self()) +
				weft_host_time(weft_host_self(), T_hvia_again);
		last = r->ends[r->seq++ % REL_WINDOW];
		if (last)
			rel_next(r, HVIA_Q_SEND);
		frame_post(r, s);
	}
	if (r->v->k->state == HVIA_VI_CONNECTED &&
	    (r->owe || r->next - r->told >= REL_ACK_EVERY)) {
		/* Sends an acknowledgement without data. If its slot is in use,
		 * the service tries again when the card has completed the
		 * slot. */
		struct rel_slot *s =
			rel_slot(r, REL_WINDOW + r->acks % REL_ACKS);

		if (!slot_free(s))
			return;
		r->acks++;
		memset(&s->head, 0, sizeof(s->head));
		frame_post(r, s);
	}
}
