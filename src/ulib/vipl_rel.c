/* SPDX-License-Identifier: Apache-2.0 */
/* Reliable VIPL in software: sending, see vipl_rel.h. */
#include "ulib/vipl_rel.h"

#include <string.h>

static struct rel_slot *slot_of(struct vipl_rel *r, uint32_t seq)
{
	return rel_slot(r, seq % REL_WINDOW);
}

/* The card has sent what it was given. */
static bool slot_free(const struct rel_slot *s)
{
	return !s->desc.CS.SegCount || s->desc.CS.Status & VIP_STATUS_DONE;
}

/* ---- frames ---------------------------------------------------------------
 */

static void head_common(struct vipl_rel *r, struct rel_head *h)
{
	h->ack = r->next;
	h->error = r->error;
	r->told = r->next;
	r->owe = false;
}

static void gather(struct vipl_rel *r, uint8_t *to, uint32_t n)
{
	while (n) {
		uint32_t part;
		const uint8_t *p = rel_piece(r->out, r->out_at, &part);

		part = part < n ? part : n;
		weft_host_copy(weft_host_self(), to, p, part);
		r->out_at += part;
		to += part;
		n -= part;
	}
}

/* The next frame of the user's oldest send. */
static void frame_build(struct vipl_rel *r, struct rel_slot *s)
{
	VIP_DESCRIPTOR *d = r->out;
	uint32_t left = d->CS.Length - r->out_at, at = r->out_at;
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
		s->head.flags = 1u << 15; /* in the middle of a message */
	if (rdma) {
		s->head.va = d->DS[0].Remote.Data.AddressBits + at;
		s->head.handle = d->DS[0].Remote.Handle;
	}
	gather(r, s->data, n);
	r->ends[r->seq % REL_WINDOW] = n == left ? d : NULL;
}

static void out_next(struct vipl_rel *r)
{
	const struct vipl_queue *q = &r->v->q[HVIA_Q_SEND];

	r->out_handle = r->out->CS.NextHandle;
	r->out = r->out == q->tail ? NULL : r->out->CS.Next.Descriptor;
	r->out_at = 0;
}

/* A send that cannot be: reliable service ends with it.  Its memory may have
 * gone since the frame before. */
static bool out_wrong(struct vipl_rel *r)
{
	uint32_t bad;

	if (!rel_reach(r, HVIA_Q_SEND, r->out, r->out_handle))
		return true;
	bad = rel_check(r->v, r->out, HVIA_Q_SEND);
	if (!bad)
		return false;
	rel_complete(r, r->out, 0, bad);
	rel_fail(r, HVIA_ERROR_CONN_LOST, true);
	return true;
}

static void frame_post(struct vipl_rel *r, struct rel_slot *s)
{
	head_common(r, &s->head);
	rel_post(r, HVIA_Q_SEND, s, sizeof(s->head) + s->head.bytes);
}

static void ack_post(struct vipl_rel *r)
{
	struct rel_slot *s = rel_slot(r, REL_WINDOW + r->acks % REL_ACKS);

	if (!slot_free(s))
		return; /* later: the card wakes us */
	r->acks++;
	memset(&s->head, 0, sizeof(s->head));
	frame_post(r, s);
}

/* ---- sending again --------------------------------------------------------
 */

static void give_up(struct vipl_rel *r)
{
	const struct rel_slot *s = slot_of(r, r->base);
	bool rdma = s->head.flags & REL_RDMA;
	struct vipl_queue *q = &r->v->q[HVIA_Q_SEND];
	VIP_DESCRIPTOR *d = q->head;

	/* the oldest send that is not done; the others are flushed */
	while (d && d->CS.Status & VIP_STATUS_DONE && d != q->tail)
		d = d->CS.Next.Descriptor;
	if (d && !(d->CS.Status & VIP_STATUS_DONE))
		rel_complete(r, d, 0, VIP_STATUS_TRANSPORT_ERROR);
	rel_fail(r, rdma ? HVIA_ERROR_RDMA_TRANSPORT : HVIA_ERROR_CONN_LOST,
		 true);
}

static void send_again(struct vipl_rel *r)
{
	weft_time_t now = weft_host_now(weft_host_self());

	if (r->base == r->seq || now < r->again ||
	    r->v->k->state != HVIA_VI_CONNECTED)
		return;
	if (++r->tries > REL_TRIES) {
		give_up(r);
		return;
	}
	for (uint32_t i = r->base; i != r->seq; i++)
		if (slot_free(slot_of(r, i)))
			frame_post(r, slot_of(r, i));
	r->again = now + REL_AGAIN;
}

/* True: the other side says something new. */
static bool acked(struct vipl_rel *r, uint32_t ack)
{
	if (ack - r->base > r->seq - r->base)
		return false; /* an old one */
	while (r->base != ack) {
		VIP_DESCRIPTOR *d = r->ends[r->base++ % REL_WINDOW];

		r->tries = 0;
		r->again = weft_host_now(weft_host_self()) + REL_AGAIN;
		if (d)
			rel_complete(r, d, d->CS.Length, 0);
	}
	return true;
}

/* The other side could not take what it got next. */
static bool refused(struct vipl_rel *r, uint32_t error)
{
	VIP_DESCRIPTOR *d = NULL;

	if (!error || r->base == r->seq)
		return false;
	for (uint32_t i = r->base; i != r->seq && !d; i++)
		d = r->ends[i % REL_WINDOW];
	d = d ? d : r->out;
	if (d)
		rel_complete(r, d, 0, error);
	return true;
}

void rel_acked(struct vipl_rel *r, uint32_t ack, uint32_t error)
{
	if (acked(r, ack) && refused(r, error))
		rel_fail(r, HVIA_ERROR_CONN_LOST, true);
}

void vipl_rel_last(struct vipl_vi *v)
{
	struct vipl_rel *r = v->rel;
	struct hvia_kvi *k = v->k;

	if (!k->theirs.said)
		return;
	k->theirs.said = false;
	if (acked(r, r->base + (uint16_t)(k->theirs.next - r->base)))
		refused(r, k->theirs.error);
}

void rel_send(struct vipl_rel *r)
{
	send_again(r);
	while (r->out && r->v->k->state == HVIA_VI_CONNECTED &&
	       r->seq - r->base < REL_WINDOW && slot_free(slot_of(r, r->seq))) {
		struct rel_slot *s = slot_of(r, r->seq);
		bool last;

		if (out_wrong(r))
			return;
		frame_build(r, s);
		if (r->base == r->seq)
			r->again = weft_host_now(weft_host_self()) + REL_AGAIN;
		last = r->ends[r->seq++ % REL_WINDOW];
		if (last)
			out_next(r);
		frame_post(r, s);
	}
	if (r->v->k->state == HVIA_VI_CONNECTED &&
	    (r->owe || r->next - r->told >= REL_ACK_EVERY))
		ack_post(r);
}
