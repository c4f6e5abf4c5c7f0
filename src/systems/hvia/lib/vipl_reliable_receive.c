/* SPDX-License-Identifier: Apache-2.0 */
/* Receiving part of the reliable service of VIPL, see vipl_reliable.h. */
#include "systems/hvia/lib/vipl_reliable.h"

#include <string.h>

#include "host/times.h"

/* Refuses a frame. Notifies the sender of the reason and ends the
 * connection. */
static void reliable_receive_refuse(struct vipl_rel *r, uint32_t status,
				    uint32_t code)
{
	r->next--; /* the refused frame is not acknowledged */
	r->error = status;
	r->v->k->mine.error = (uint16_t)status;
	r->owe = true;
	rel_send(r);
	if (code != HVIA_ERROR_CONN_LOST)
		rel_fail(r, code, false);
	/* Waits, so that the refusal arrives before the connection ends. */
	host_nap(weft_host_self(), T_hvia_last_word);
	rel_fail(r, HVIA_ERROR_CONN_LOST, true);
}

/* Completes a receive whose bytes are all stored. */
static void in_done(struct vipl_rel *r, struct vipl_posted *p,
		    const struct rel_head *h, uint32_t status)
{
	p->d->CS.ImmediateData = h->immediate;
	rel_complete(
		r, HVIA_Q_RECV, p, h->length,
		status | (h->flags & REL_IMMEDIATE ? VIP_STATUS_IMMEDIATE : 0));
	rel_next(r, HVIA_Q_RECV);
}

/* Returns true if the frame continues the message and fits the message's length
 * and the receive's buffer. Frames need this check, because a remote side may
 * send anything. */
static bool reliable_receive_fits(const struct rel_msg *m,
				  const struct rel_head *h)
{
	uint64_t end = (uint64_t)m->at + h->bytes;
	uint32_t room = 0;

	for (uint32_t i = 0; i < m->d->CS.SegCount; i++)
		room += m->d->DS[i].Local.Length;
	return h->length <= room && end <= h->length &&
	       !(h->flags & REL_FIRST) == !!m->at &&
	       (!(h->flags & REL_LAST) || end == h->length);
}

static void got_send(struct vipl_rel *r, const struct rel_slot *s)
{
	struct vipl_posted *p = rel_current(r, HVIA_Q_RECV);
	struct rel_msg *m = &r->msg[HVIA_Q_RECV];
	uint32_t bad;

	if (!p) {
		reliable_receive_refuse(r, VIP_STATUS_REMOTE_DESC_ERROR,
					HVIA_ERROR_RECVQ_EMPTY);
		return;
	}
	if (!rel_begin(r, HVIA_Q_RECV, p))
		return;
	bad = rel_check(r->v, m->d, HVIA_Q_RECV);
	if (!bad && !reliable_receive_fits(m, &s->head))
		bad = VIP_STATUS_LENGTH_ERROR;
	if (bad) {
		rel_complete(r, HVIA_Q_RECV, p, 0, bad);
		reliable_receive_refuse(r, VIP_STATUS_REMOTE_DESC_ERROR,
					HVIA_ERROR_CONN_LOST);
		return;
	}
	for (uint32_t at = 0, part; at < s->head.bytes; at += part) {
		uint8_t *to = rel_piece(m->d, m->at, &part);

		if (part > s->head.bytes - at)
			part = s->head.bytes - at;
		weft_host_copy(weft_host_self(), to, s->data + at, part);
		m->at += part;
	}
	if (!(s->head.flags & REL_LAST))
		return;
	/* looks up the receive again, because copying took time */
	p = rel_current(r, HVIA_Q_RECV);
	if (p && m->begun)
		in_done(r, p, &s->head, 0);
}

/* ---- RDMA write ---- */

static void got_rdma(struct vipl_rel *r, const struct rel_slot *s)
{
	const struct rel_head *h = &s->head;
	struct vipl_vi *v = r->v;
	struct hvia_mem_arg m = { .client = v->nic->client,
				  .va = h->va,
				  .handle = h->handle };
	struct vipl_posted *p;
	bool ok;

	ok = v->k->attr.rdma_write;
	if (ok && h->bytes)
		ok = vipl_call(v->nic, HVIA_CALL_MEM_QUERY, &m) ==
			     VIP_SUCCESS &&
		     m.rdma_write && m.ptag == v->k->attr.ptag &&
		     h->bytes <= m.len;
	if (!ok) {
		reliable_receive_refuse(r, VIP_STATUS_RDMA_PROT_ERROR,
					HVIA_ERROR_RDMAW_PROT);
		return;
	}
	weft_host_copy(weft_host_self(), (void *)(uintptr_t)h->va, s->data,
		       h->bytes);
	if (!(h->flags & REL_IMMEDIATE))
		return;
	p = rel_current(r, HVIA_Q_RECV);
	if (!p)
		reliable_receive_refuse(r, VIP_STATUS_REMOTE_DESC_ERROR,
					HVIA_ERROR_RECVQ_EMPTY);
	else if (rel_begin(r, HVIA_Q_RECV, p))
		in_done(r, p, h, VIP_STATUS_OP_REMOTE_RDMA_WRITE);
}

/* ---- frames ---- */

static void got_frame(struct vipl_rel *r, const struct rel_slot *s,
		      uint32_t bytes)
{
	const struct rel_head *h = &s->head;

	if (bytes < sizeof(*h) || bytes != sizeof(*h) + h->bytes)
		return;
	if (rel_acked(r, h->ack, h->error))
		rel_fail(r, HVIA_ERROR_CONN_LOST, true);
	if (!h->flags)
		return;
	if (h->seq != r->next) { /* an earlier frame was lost, or this one is a
				    duplicate */
		r->owe = true;
		return;
	}
	r->next++;
	r->owe |= (h->flags & REL_LAST) != 0;
	(h->flags & REL_RDMA ? got_rdma : got_send)(r, s);
	/* set at the moment of the completion, so that the agent's disconnect
	 * acknowledges every message that the program has received */
	r->v->k->mine.next = (uint16_t)r->next;
}

void rel_receive(struct vipl_rel *r)
{
	struct weft_host *host = weft_host_self();
	struct vipl_queue *q = &r->raw[HVIA_Q_RECV];

	while (vipl_queue_done(q)) {
		struct rel_slot *s = (void *)vipl_queue_take(q);
		uint32_t status = s->desc.CS.Status;

		weft_host_cpu(host, weft_host_time(host, T_vipl_found) +
					    weft_host_time(host, T_vipl_take));
		if (status & VIP_STATUS_DESC_FLUSHED_ERROR)
			/* the connection has ended, so that the frame is
			 * skipped */
			continue;
		if (!(status & VIP_STATUS_ERROR_MASK))
			got_frame(r, s, s->desc.CS.Length);
		if (r->v->k->state != HVIA_VI_ERROR)
			rel_post(r, HVIA_Q_RECV, s,
				 rel_payload(r->v->nic->payload));
	}
}
