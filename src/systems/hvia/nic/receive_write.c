/* SPDX-License-Identifier: Apache-2.0 */
/* Second and third stage of the receive engine of HVIA-GE (hvia.md 5.3 WR,
 * LAST; 7.1 T4, T5). Bytes are written to host memory, one packet after the
 * other. When they are visible, the engine does its bookkeeping and completes
 * the receive descriptor. Meanwhile the front stage handles the next packet, so
 * that a short packet waits only for the writes of the packet before (7.2). */
#include <string.h>

#include "systems/hvia/nic/nic.h"

/* ---- writes ---- */

static void write_next(struct hv_nic *n);

void hv_put(struct hv_nic *n, const struct hv_job *j)
{
	struct hv_write *w = &n->write;
	struct hv_job *q = ring_push(&w->q);

	*q = *j;
	q->ready = hv_time(n, j->n_piece ? n->p.t_fifo : 0);
	w->waiting += !!j->n_piece;
	if (w->state == WRITE_IDLE)
		write_next(n);
}

void hv_hand(struct hv_nic *n, const struct hv_job *j)
{
	if (n->write.waiting == HV_JOBS) {
		n->recv.job = *j;
		n->recv.state = RECV_HAND;
		return;
	}
	hv_put(n, j);
	hv_recv_handed(n);
}

static void write_next(struct hv_nic *n)
{
	struct hv_write *w = &n->write;

	w->state = WRITE_IDLE;
	if (ring_empty(&w->q))
		return;
	w->state = WRITE_FIFO;
	weft_timer_arm(n->comp, &n->timer[HV_U_WRITE], HV_U_WRITE,
		       ring_front(&w->q)->ready > weft_now(n->comp)
			       ? ring_front(&w->q)->ready
			       : weft_now(n->comp));
}

/* Ends a job whose bytes are all written. */
static void job_done(struct hv_nic *n)
{
	struct hv_write *w = &n->write;
	struct hv_job j = *ring_front(&w->q);

	ring_pop(&w->q);
	w->waiting -= !!j.n_piece;
	weft_slice_drop(&j.data);
	if (j.buffer)
		hv_gec_free(n);
	if (j.end || j.complete) {
		j.ready = hv_time(n, !j.end    ? 0
				     : j.empty ? n->p.t_book
					       : n->p.t_visible + n->p.t_book);
		*ring_push(&n->book.q) = j;
		if (n->book.state == BOOK_IDLE)
			hv_wake(n, HV_U_BOOK, 0);
	}
	write_next(n);
	if (n->recv.state == RECV_HAND && j.n_piece)
		hv_wake(n, HV_U_RECV, 0);
}

void hv_write_event(struct hv_nic *n)
{
	struct hv_job *j;

	if (n->write.state == WRITE_IDLE)
		return;
	j = ring_front(&n->write.q);
	if (n->write.state == WRITE_WR) {
		if (!hv_dma_take(&n->write.dma, NULL)) {
			/* no memory answers at that address, so that the
			 * message is damaged */
			if (j->rdma)
				hv_vi_error(n, j->vi, HVIA_Q_RECV,
					    HVIA_ERROR_RDMAW_DATA,
					    hvia_token(j->handle, 0));
			n->vi[j->vi].bad = true;
		}
		j->i_piece++;
	}
	if (j->i_piece < j->n_piece) {
		const struct hv_piece *p = &j->piece[j->i_piece];
		uint32_t off = j->i_piece ? j->piece[0].len : 0;

		n->write.state = WRITE_WR;
		hv_dma(n, &n->write.dma, WEFT_BUS_WRITE, p->pa,
		       weft_slice_sub(j->data, off, p->len));
		n->write.dma.txn.trace_id = j->trace;
	} else {
		job_done(n);
	}
}

/* ---- bookkeeping ---- */

static void book_next(struct hv_nic *n)
{
	struct hv_book *k = &n->book;

	k->state = BOOK_IDLE;
	if (ring_empty(&k->q))
		return;
	k->state = BOOK_BOOK;
	weft_timer_arm(n->comp, &n->timer[HV_U_BOOK], HV_U_BOOK,
		       ring_front(&k->q)->ready > weft_now(n->comp)
			       ? ring_front(&k->q)->ready
			       : weft_now(n->comp));
}

static void book_over(struct hv_nic *n)
{
	ring_pop(&n->book.q);
	book_next(n);
}

static void book_book(struct hv_nic *n)
{
	struct hv_job *j = ring_front(&n->book.q);

	if (j->end)
		hv_count(n, HV_K_RX_PACKETS);
	if (j->end && j->last)
		hv_count(n, j->rdma ? HV_K_RDMA_RECEIVED : HV_K_RECEIVED);
	weft_mark(n->comp, j->trace, "visible, bookkeeping", weft_now(n->comp));
	if (!j->complete) {
		weft_msg_end(n->comp, j->trace, true);
		book_over(n);
		return;
	}
	n->book.state = BOOK_COMPL;
	hv_wake(n, HV_U_BOOK, n->p.t_compl);
}

/* ---- completion ---- */

/* Writes {Reserved, ImmediateData, Length, Status}. Omits the first two fields
 * if the message has no immediate data (3.1). */
static void write_status(struct hv_nic *n)
{
	struct hv_job *j = ring_front(&n->book.q);
	struct hv_vi *v = &n->vi[j->vi];
	uint32_t w[4] = { 0, j->immediate, j->length, 0 };
	bool imm = j->status & HVIA_ST_IMMEDIATE;

	j->status |= HVIA_ST_DONE;
	if (!(j->status & HVIA_ST_OP))
		j->status |= HVIA_ST_RECEIVE;
	if (v->bad && !j->rdma && !(j->status & HVIA_ST_ERRORS))
		j->status |= HVIA_ST_PROTECTION_ERROR;
	if (j->status & HVIA_ST_FLUSHED)
		hv_count(n, HV_K_FLUSHED);
	if (!imm)
		w[1] = v->desc.immediate;
	w[3] = j->status;
	hv_apb_forget_vi(n, j->vi);
	if (n->recv.win.vi == j->vi)
		n->recv.win.valid = false;
	hv_q_take(n, j->vi, HVIA_Q_RECV, &v->desc);
	n->book.state = BOOK_DONE;
	hv_vi_status(n, j->vi, &n->book.dma, v->desc_pa, w, imm);
	weft_mark(n->comp, j->trace, "completes", weft_now(n->comp));
	n->book.dma.txn.trace_id = j->trace;
}

/* Completes the head descriptor. The link to the next descriptor may have been
 * set after the descriptor was read. Such a link is read now, because the owner
 * may reuse the descriptor after the completion. */
static void book_compl(struct hv_nic *n)
{
	struct hv_vi *v = &n->vi[ring_front(&n->book.q)->vi];

	if (!v->q[HVIA_Q_RECV].posted) { /* the card was reset meanwhile */
		v->closing = false;
		hv_recv_kick(n);
		book_over(n);
		return;
	}
	if (v->q[HVIA_Q_RECV].posted > 1 && !v->desc.next) {
		n->book.state = BOOK_NEXT;
		hv_count(n, HV_K_NEXT_READS);
		hv_dma_read(n, &n->book.dma, v->desc_pa, 16);
		return;
	}
	write_status(n);
}

static void book_link(struct hv_nic *n)
{
	struct hv_vi *v = &n->vi[ring_front(&n->book.q)->vi];
	uint8_t raw[16];

	if (hv_dma_take(&n->book.dma, raw)) {
		memcpy(&v->desc.next, raw, 8);
		memcpy(&v->desc.next_handle, raw + 8, 4);
	}
	write_status(n);
}

/* Makes the next descriptor the head. */
static void book_done(struct hv_nic *n)
{
	const struct hv_job *j = ring_front(&n->book.q);

	if (!hv_dma_take(&n->book.dma, NULL))
		hv_vi_fail(n, j->vi, HVIA_Q_RECV, HVIA_ERROR_COMP_PROT,
			   hvia_token(j->desc, 0));
	hv_vi_done(n, j->vi, HVIA_Q_RECV);
	weft_mark(n->comp, j->trace, "completion visible",
		  hv_time(n, n->p.t_visible));
	weft_msg_end(n->comp, j->trace, true);
	n->vi[j->vi].closing = false;
	hv_vi_work(n, j->vi, HVIA_Q_RECV);
	hv_recv_kick(n);
	book_over(n);
}

void hv_book_event(struct hv_nic *n)
{
	static void (*const step[])(struct hv_nic *) = {
		[BOOK_IDLE] = book_next,   [BOOK_BOOK] = book_book,
		[BOOK_COMPL] = book_compl, [BOOK_NEXT] = book_link,
		[BOOK_DONE] = book_done,
	};

	step[n->book.state](n);
}
