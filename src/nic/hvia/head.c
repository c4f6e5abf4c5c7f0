/* SPDX-License-Identifier: Apache-2.0 */
/* Receive descriptors of HVIA-GE (hvia.md 5.3, 5.4): the head of a VI's queue
 * is fetched as soon as it is posted or comes to the front, and completed. */
#include <string.h>

#include "nic/hvia/nic.h"

static struct hv_vi *vi_of(struct hv_nic *n)
{
	return &n->vi[n->recv.vi];
}

void hv_head_fetch(struct hv_nic *n)
{
	struct hv_vi *v = vi_of(n);
	const struct hv_where *at = &v->q[HVIA_Q_RECV].head;

	n->recv.state = RECV_XD;
	hv_xlate(n, HV_RECV,
		 &(struct hv_xlate){ .handle = at->handle,
				     .va = at->va,
				     .by_offset = at->by_offset,
				     .ptag = v->ptag,
				     .len = 64 });
}

static void unreachable(struct hv_nic *n)
{
	struct hv_where at = vi_of(n)->q[HVIA_Q_RECV].head;

	hv_vi_unreachable(n, n->recv.vi, HVIA_Q_RECV, &at);
	hv_recv_resume(n);
}

void hv_head_xd(struct hv_nic *n)
{
	const struct hv_xlate *x = &n->att.x[HV_RECV];

	if (!x->ok || x->va % HVIA_DESC_ALIGN) {
		unreachable(n);
		return;
	}
	vi_of(n)->desc_pa = x->piece[0].pa;
	vi_of(n)->q[HVIA_Q_RECV].head.va = x->va;
	vi_of(n)->q[HVIA_Q_RECV].head.by_offset = false;
	n->recv.state = RECV_RD;
	hv_count(n, HV_K_DESC_READS);
	hv_dma_read(n, &n->recv.dma, x->piece[0].pa, 64);
}

void hv_head_rd(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;
	uint8_t raw[64];

	if (!hv_dma_take(&r->dma, raw)) {
		unreachable(n);
		return;
	}
	memcpy(&vi_of(n)->desc, raw, sizeof(struct hvia_desc));
	r->win = (struct hv_window){ .valid = true, .vi = r->vi, .n = 2 };
	memcpy(r->win.seg, raw + HVIA_DESC_CONTROL, 2 * HVIA_SEGMENT);
	hv_recv_go(n, RECV_DCHK, n->t_check);
}

void hv_head_chk(struct hv_nic *n)
{
	struct hv_vi *v = vi_of(n);

	if (!v->q[HVIA_Q_RECV].posted) { /* reset meanwhile */
		hv_recv_resume(n);
		return;
	}
	v->fetched = true;
	v->seg = 0;
	v->seg_off = v->got = 0;
	if (hv_vi_flushing(v, HVIA_Q_RECV))
		hv_head_complete(n, HVIA_ST_FLUSHED, 0);
	else if (v->desc.control & (HVIA_OP_RESERVED | HVIA_OP) ||
		 v->desc.seg_count > HVIA_SEGMENTS)
		hv_head_complete(n, HVIA_ST_FORMAT_ERROR, 0);
	else
		hv_place_ahead(n);
}

/* ---- completion -----------------------------------------------------------
 */

void hv_head_complete(struct hv_nic *n, uint32_t status, uint32_t length)
{
	struct hv_recv *r = &n->recv;

	if (status & HVIA_ST_FLUSHED)
		hv_count(n, HV_K_FLUSHED);
	if (!(status & HVIA_ST_OP))
		status |= HVIA_ST_RECEIVE;
	r->status = HVIA_ST_DONE | status;
	r->length = length;
	hv_recv_go(n, RECV_COMPL, n->t_compl);
}

/* {Reserved, ImmediateData, Length, Status}; without the first two when there
 * are no immediate data (3.1). */
static void write_status(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;
	struct hv_vi *v = vi_of(n);
	bool imm = r->status & HVIA_ST_IMMEDIATE;
	uint32_t w[4] = { 0,
			  r->h.type == HVIA_T_SEND ? (uint32_t)r->h.va
						   : r->h.offset,
			  r->length, r->status };

	hv_apb_forget_vi(n, r->vi);
	r->win.valid = false;
	hv_q_take(n, r->vi, HVIA_Q_RECV, &v->desc);
	r->state = RECV_DONE;
	hv_dma_write(n, &r->dma, v->desc_pa + (imm ? 16 : 24), imm ? w : w + 2,
		     imm ? 16 : 8);
}

void hv_head_compl(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;
	struct hv_vi *v = vi_of(n);

	if (v->q[HVIA_Q_RECV].posted > 1 && !v->desc.next) {
		r->state = RECV_NEXT;
		hv_count(n, HV_K_NEXT_READS);
		hv_dma_read(n, &r->dma, v->desc_pa, 16);
		return;
	}
	write_status(n);
}

void hv_head_next(struct hv_nic *n)
{
	struct hv_vi *v = vi_of(n);
	uint8_t raw[16];

	if (hv_dma_take(&n->recv.dma, raw)) {
		memcpy(&v->desc.next, raw, 8);
		memcpy(&v->desc.next_handle, raw + 8, 4);
	}
	write_status(n);
}

/* The next one comes to the front. */
void hv_head_done(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;

	hv_dma_take(&r->dma, NULL);
	hv_vi_done(n, r->vi, HVIA_Q_RECV);
	if (!(r->status & HVIA_ST_ERRORS))
		hv_stage(n, "done", r->h.seq, hv_time(n, n->t_visible));
	if (!r->packet && vi_of(n)->q[HVIA_Q_RECV].posted)
		hv_head_fetch(n);
	else
		hv_recv_resume(n);
}
