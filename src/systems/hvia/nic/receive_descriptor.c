/* SPDX-License-Identifier: Apache-2.0 */
/* Receive descriptors of HVIA-GE (hvia.md 5.3, 5.4). A descriptor is fetched as
 * soon as it is the head of a VI's queue, so that a packet rarely waits for it.
 * hv_head_complete() completes a head that gets no further bytes. */
#include <string.h>

#include "systems/hvia/nic/nic.h"

void hv_head_fetch(struct hv_nic *n)
{
	struct hv_vi *v = hv_recv_vi(n);
	const struct hv_where *at = &v->q[HVIA_Q_RECV].head;

	n->recv.state = RECV_XD;
	hv_xlate(n, HV_RECV,
		 &(struct hv_xlate){ .handle = at->handle,
				     .va = at->va,
				     .by_offset = at->by_offset,
				     .ptag = v->ptag,
				     .len = 64 });
}

static void receive_descriptor_unreachable(struct hv_nic *n)
{
	struct hv_where at = hv_recv_vi(n)->q[HVIA_Q_RECV].head;

	hv_vi_unreachable(n, n->recv.vi, HVIA_Q_RECV, &at);
	hv_recv_resume(n);
}

void hv_head_xd(struct hv_nic *n)
{
	const struct hv_xlate *x = &n->att.x[HV_RECV];

	if (!x->ok || x->va % HVIA_DESC_ALIGN) {
		receive_descriptor_unreachable(n);
		return;
	}
	hv_recv_vi(n)->desc_pa = x->piece[0].pa;
	hv_recv_vi(n)->q[HVIA_Q_RECV].head.va = x->va;
	hv_recv_vi(n)->q[HVIA_Q_RECV].head.by_offset = false;
	n->recv.state = RECV_RD;
	hv_count(n, HV_K_DESC_READS);
	hv_dma_read(n, &n->recv.dma, x->piece[0].pa, 64);
}

void hv_head_rd(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;
	uint8_t raw[64];

	if (!hv_dma_take(&r->dma, raw)) {
		receive_descriptor_unreachable(n);
		return;
	}
	memcpy(&hv_recv_vi(n)->desc, raw, sizeof(struct hvia_desc));
	r->win = (struct hv_window){ .valid = true, .vi = r->vi, .n = 2 };
	memcpy(r->win.seg, raw + HVIA_DESC_CONTROL, 2 * HVIA_SEGMENT);
	hv_recv_go(n, RECV_DCHK, n->p.t_check);
}

void hv_head_chk(struct hv_nic *n)
{
	struct hv_vi *v = hv_recv_vi(n);

	if (!v->q[HVIA_Q_RECV].posted) { /* the card was reset meanwhile */
		hv_recv_resume(n);
		return;
	}
	v->fetched = true;
	n->heads[n->recv.vi / 64] |= 1ULL << n->recv.vi % 64;
	v->seg = 0;
	v->seg_off = v->got = 0;
	if (hv_vi_flushing(v, HVIA_Q_RECV))
		hv_head_complete(n, HVIA_ST_FLUSHED, 0, 0);
	else if (v->desc.control & (HVIA_OP_RESERVED | HVIA_OP) ||
		 v->desc.reserved || v->desc.seg_count > HVIA_SEGMENTS)
		hv_head_complete(n, HVIA_ST_FORMAT_ERROR, 0, 0);
	if (v->closing)
		hv_recv_resume(n);
	else
		hv_place_ahead(n);
}

void hv_head_complete(struct hv_nic *n, uint32_t status, uint32_t length,
		      uint32_t immediate)
{
	struct hv_vi *v = hv_recv_vi(n);

	v->closing = true;
	v->active = false;
	hv_put(n, &(struct hv_job){ .vi = n->recv.vi,
				    .handle = ~0u,
				    .desc = v->q[HVIA_Q_RECV].head.handle,
				    .complete = true,
				    .status = status,
				    .length = length,
				    .immediate = immediate });
}
