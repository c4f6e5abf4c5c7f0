/* SPDX-License-Identifier: Apache-2.0 */
/* Front stage of the receive engine of HVIA-GE (hvia.md 5.3, 5.5). A state is
 * named after the event for which the engine waits. Its function runs after
 * that event.
 *
 * HDR    frame at the engine, header read    CHK    checks
 * STALL  previous descriptor completed       LOOKUP prefetch buffer
 * XS SEG segment read (receive_address.c)    XA     translation
 * HAND   room at the write stage (receive_write.c)
 * XD RD DCHK  receive descriptor fetched and checked (receive_descriptor.c)
 *
 * The engine works on one packet or one descriptor at a time. Packets have
 * priority. */
#include "systems/hvia/nic/nic.h"

/* ---- next work ---- */

void hv_recv_idle(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;
	struct hv_vi *v;

	r->state = RECV_IDLE;
	if (!(n->ctrl & HVIA_CTRL_ENABLE) || n->ctrl & HVIA_CTRL_STOP)
		return;
	if (!ring_empty(&n->gec.rxq) &&
	    ring_front(&n->gec.rxq)->ready <= weft_now(n->comp)) {
		r->frame = ring_front(&n->gec.rxq)->data;
		r->trace = ring_front(&n->gec.rxq)->trace;
		weft_mark(n->comp, r->trace, "waits for the engine",
			  weft_now(n->comp));
		ring_pop(&n->gec.rxq);
		r->packet = true;
		r->imm = false;
		r->pos = 0;
		hv_recv_go(n, RECV_HDR,
			   n->p.t_forward + n->p.t_rxbuf + n->p.t_header);
		return;
	}
	/* fetches the heads of the receive queues that need it */
	while (!ring_empty(&r->prep)) {
		r->vi = *ring_front(&r->prep);
		ring_pop(&r->prep);
		v = hv_recv_vi(n);
		v->prep = false;
		if (!v->q[HVIA_Q_RECV].posted || v->closing)
			continue;
		if (!v->fetched)
			hv_head_fetch(n);
		else if (hv_vi_flushing(v, HVIA_Q_RECV))
			hv_head_complete(n, HVIA_ST_FLUSHED, 0, 0);
		if (r->state != RECV_IDLE)
			return;
	}
	if (!ring_empty(&n->gec.rxq))
		weft_timer_arm(n->comp, &n->timer[HV_U_RECV], HV_U_RECV,
			       ring_front(&n->gec.rxq)->ready);
}

/* ---- end of a packet ---- */

/* Frees the packet's Rx buffer. */
void hv_recv_release(struct hv_nic *n)
{
	weft_slice_drop(&n->recv.frame);
	n->recv.packet = false;
	hv_gec_free(n);
}

void hv_recv_drop(struct hv_nic *n, uint32_t counter)
{
	hv_count(n, counter);
	hv_recv_release(n);
	hv_recv_idle(n);
}

/* ---- end of a packet, of a message ---- */

void hv_recv_handed(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;
	struct hv_vi *v;
	struct hv_job j;

	if (n->recv.pos < n->recv.n) {
		hv_place_more(n);
		return;
	}
	/* all bytes of the packet are in queued jobs */
	v = hv_recv_vi(n);
	j = (struct hv_job){ .vi = r->vi,
			     .handle = ~0u,
			     .desc = v->q[HVIA_Q_RECV].head.handle,
			     .buffer = true,
			     .end = true,
			     .rdma = v->rdma,
			     .empty = !r->n,
			     .last = r->h.flags & HVIA_FF_LAST,
			     .trace = r->trace };
	weft_slice_drop(&r->frame);
	r->packet = false;
	v->got += r->n;
	if (!v->active) { /* the connection has ended meanwhile */
		j.last = false;
	} else if (j.last) {
		/* ends the message, and completes its descriptor if it has
		 * one */
		v->active = false;
		j.complete = v->closing = !v->rdma || r->imm;
		j.length = v->got;
		j.immediate = v->rdma ? r->h.offset : (uint32_t)r->h.va;
		if (r->h.flags & HVIA_FF_IMMEDIATE)
			j.status = HVIA_ST_IMMEDIATE;
		if (v->rdma)
			j.status |= HVIA_ST_REMOTE_RDMA_WRITE;
	}
	hv_put(n, &j);
	if (v->active && !v->rdma)
		hv_place_ahead(n);
	else
		hv_recv_idle(n);
}

static void recv_hand(struct hv_nic *n)
{
	struct hv_job j = n->recv.job;

	n->recv.job.data = (struct weft_slice){ 0 };
	hv_hand(n, &j);
}

void hv_recv_refused(struct hv_nic *n, uint32_t status)
{
	struct hv_vi *v = hv_recv_vi(n);

	if (v->rdma) {
		struct hv_recv *r = &n->recv;
		enum hvia_error e = status == HVIA_ST_PARTIAL_ERROR
					    ? HVIA_ERROR_RDMAW_ABORT
					    : HVIA_ERROR_RDMAW_PROT;

		hv_count(n, HV_K_DROP_PROT);
		if (!v->bad && !r->imm)
			hv_vi_error(n, r->vi, HVIA_Q_RECV, e,
				    hvia_token(r->h.handle, 0));
		v->bad = true;
		if (r->h.flags & HVIA_FF_LAST)
			v->active = false;
		if (r->imm)
			hv_head_complete(n,
					 HVIA_ST_IMMEDIATE |
						 HVIA_ST_REMOTE_RDMA_WRITE |
						 HVIA_ST_RDMA_PROT_ERROR,
					 0, r->h.offset);
	} else if (v->active) {
		hv_head_complete(n, status, v->got + n->recv.pos, 0);
	}
	hv_recv_release(n);
	hv_recv_idle(n);
}

/* ---- the engine ---- */

void hv_recv_resume(struct hv_nic *n)
{
	if (n->recv.packet)
		hv_recv_accept(n);
	else
		hv_recv_idle(n);
}

static const char *const recv_name[RECV_STATES] = {
	[RECV_IDLE] = "IDLE",	[RECV_HDR] = "HDR",	  [RECV_CHK] = "CHK",
	[RECV_STALL] = "STALL", [RECV_LOOKUP] = "LOOKUP", [RECV_XS] = "XS",
	[RECV_SEG] = "SEG",	[RECV_XA] = "XA",	  [RECV_HAND] = "HAND",
	[RECV_XD] = "XD",	[RECV_RD] = "RD",	  [RECV_DCHK] = "DCHK",
};

/* Name of the message's stage in each state of the engine. */
static const char *const waited_for[RECV_STATES] = {
	[RECV_IDLE] = "waits for the engine",
	[RECV_HDR] = "to the engine, header",
	[RECV_CHK] = "checks the packet",
	[RECV_STALL] = "waits for the descriptor before",
	[RECV_LOOKUP] = "looks into the prefetch buffer",
	[RECV_XS] = "translates the segment's address",
	[RECV_SEG] = "reads the segment",
	[RECV_XA] = "translates the data's address",
	[RECV_HAND] = "waits for the writes before",
	[RECV_XD] = "translates the descriptor's address",
	[RECV_RD] = "reads the descriptor",
	[RECV_DCHK] = "checks the descriptor",
};

void hv_recv_event(struct hv_nic *n)
{
	static void (*const step[RECV_STATES])(struct hv_nic *) = {
		[RECV_IDLE] = hv_recv_idle,	 [RECV_HDR] = hv_recv_hdr,
		[RECV_CHK] = hv_recv_chk,	 [RECV_STALL] = hv_recv_accept,
		[RECV_LOOKUP] = hv_place_lookup, [RECV_XS] = hv_place_xs,
		[RECV_SEG] = hv_place_seg,	 [RECV_XA] = hv_place_xa,
		[RECV_HAND] = recv_hand,	 [RECV_XD] = hv_head_xd,
		[RECV_RD] = hv_head_rd,		 [RECV_DCHK] = hv_head_chk,
	};

	if (n->recv.packet)
		weft_mark(n->comp, n->recv.trace, waited_for[n->recv.state],
			  weft_now(n->comp));
	step[n->recv.state](n);
	weft_state(n->comp, "receive", recv_name[n->recv.state],
		   weft_now(n->comp));
}

bool hv_recv_uses(const struct hv_nic *n, uint32_t handle)
{
	const struct hv_recv *r = &n->recv;
	uint32_t writes = ring_count(&n->write.q);
	uint32_t all = writes + ring_count(&n->book.q);

	for (uint32_t i = 0; i < all; i++) {
		const struct hv_job *j =
			i < writes ? ring_nth(&n->write.q, i)
				   : ring_nth(&n->book.q, i - writes);

		/* the job writes bytes or a status to the region */
		if ((j->n_piece && j->handle == handle) ||
		    (j->complete && j->desc == handle))
			return true;
	}
	return r->state != RECV_IDLE &&
	       (r->handle == handle || n->att.x[HV_RECV].handle == handle ||
		n->vi[r->vi].q[HVIA_Q_RECV].head.handle == handle);
}
