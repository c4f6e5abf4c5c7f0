/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the host addresses for the bytes of a packet, with the Address Prefetch
 * Buffer, the segments of the receive descriptor and address translation
 * (hvia.md 3.7, 5.3).
 *
 * The buffer holds up to two ranges of one segment for the next packet. A range
 * outside it (another segment, a third page) is looked up while the packet
 * waits. The engine reads 16 bytes of the descriptor for one of the first two
 * segments, and 64 bytes for four further segments. */
#include <string.h>

#include "systems/hvia/nic/nic.h"

/* ---- Address Prefetch Buffer ---- */

void hv_apb_forget_vi(struct hv_nic *n, uint32_t vi)
{
	for (uint32_t i = 0; i < HV_APB_MAX; i++)
		if (n->recv.apb[i].vi == vi)
			n->recv.apb[i].valid = false;
}

void hv_apb_forget(struct hv_nic *n, uint32_t handle)
{
	/* a look-up in progress may have read the old table */
	if (n->recv.ahead && (handle == ~0u || n->recv.handle == handle))
		n->recv.stale = true;
	for (uint32_t i = 0; i < HV_APB_MAX; i++)
		if (handle == ~0u || n->recv.apb[i].handle == handle)
			n->recv.apb[i].valid = false;
}

/* ---- segments ---- */

static void seg_read(struct hv_nic *n, weft_phys_t pa)
{
	struct hv_recv *r = &n->recv;

	r->state = RECV_SEG;
	hv_count(n, HV_K_SEG_READS);
	hv_dma_read(n, &r->dma, pa, r->win.n * HVIA_SEGMENT);
}

/* Reads the next segments. First looks up their address if they are in the
 * descriptor's next page. */
static void seg_ask(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;
	struct hv_vi *v = hv_recv_vi(n);
	const struct hv_where *at = &v->q[HVIA_Q_RECV].head;
	uint32_t first = v->seg, k = 1, off;

	if (first >= 2) {
		first = (first + 2) / 4 * 4 - 2;
		k = 4;
	}
	r->win = (struct hv_window){ .vi = r->vi, .first = first, .n = k };
	off = HVIA_DESC_CONTROL + first * HVIA_SEGMENT;
	if (v->desc_pa % HVIA_PAGE + off < HVIA_PAGE) {
		seg_read(n, v->desc_pa + off);
		return;
	}
	r->state = RECV_XS;
	hv_xlate(n, HV_RECV,
		 &(struct hv_xlate){ .handle = at->handle,
				     .va = at->va + off,
				     .ptag = v->ptag,
				     .len = HVIA_SEGMENT });
}

/* Handles an address that cannot be translated: refuses the packet that needs
 * it, or ends the look-up ahead for the next packet. */
static void receive_address_stuck(struct hv_nic *n, uint32_t status)
{
	if (n->recv.ahead)
		hv_recv_resume(n);
	else
		hv_recv_refused(n, status);
}

/* Looks up the address of the next byte of the message. */
static void receive_address_segment(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;
	struct hv_vi *v = hv_recv_vi(n);
	const struct hv_window *w = &r->win;
	const struct hvia_seg *g = NULL;
	uint32_t len;

	for (; v->seg < v->desc.seg_count; v->seg++, v->seg_off = 0) {
		if (!w->valid || w->vi != r->vi || v->seg < w->first ||
		    v->seg >= w->first + w->n) {
			seg_ask(n);
			return;
		}
		g = &w->seg[v->seg - w->first];
		if (v->seg_off < g->length)
			break;
	}
	if (v->seg >= v->desc.seg_count) {
		receive_address_stuck(n, HVIA_ST_LENGTH_ERROR);
		return;
	}
	len = r->ahead ? hv_payload(n) : r->n - r->pos;
	if (len > g->length - v->seg_off)
		len = g->length - v->seg_off;
	r->handle = g->handle;
	r->stale = false;
	r->state = RECV_XA;
	hv_xlate(n, HV_RECV,
		 &(struct hv_xlate){ .handle = g->handle,
				     .va = g->addr + v->seg_off,
				     .ptag = v->ptag,
				     .len = len });
}

void hv_place_xs(struct hv_nic *n)
{
	const struct hv_xlate *x = &n->att.x[HV_RECV];

	if (x->ok)
		seg_read(n, x->piece[0].pa);
	else
		receive_address_stuck(n, HVIA_ST_PROTECTION_ERROR);
}

void hv_place_seg(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;

	r->win.valid = hv_dma_take(&r->dma, r->win.seg);
	if (r->win.valid)
		receive_address_segment(n);
	else
		receive_address_stuck(n, HVIA_ST_PROTECTION_ERROR);
}

void hv_place_ahead(struct hv_nic *n)
{
	n->recv.ahead = true;
	if (n->ctrl & HVIA_CTRL_PREFETCH && n->p.prefetch)
		receive_address_segment(n);
	else
		hv_recv_resume(n);
}

/* ---- addresses found ---- */

/* Queues a job for the bytes of the packet that the pieces cover. */
static void receive_address_found(struct hv_nic *n, uint32_t n_piece,
				  const struct hv_piece *p)
{
	struct hv_recv *r = &n->recv;
	struct hv_job j = { .vi = r->vi,
			    .handle = r->handle,
			    .rdma = hv_recv_vi(n)->rdma,
			    .pos = r->pos,
			    .trace = r->trace };
	uint32_t len = 0;

	for (uint32_t i = 0; i < n_piece && r->pos + len < r->n; i++) {
		j.piece[j.n_piece] = p[i];
		if (p[i].len > r->n - r->pos - len)
			j.piece[j.n_piece].len = r->n - r->pos - len;
		len += j.piece[j.n_piece++].len;
	}
	j.data = weft_slice_sub(r->frame, HVIA_F_DATA + r->pos, len);
	r->pos += len;
	if (!j.rdma)
		hv_recv_vi(n)->seg_off += len;
	hv_hand(n, &j);
}

void hv_place_more(struct hv_nic *n)
{
	if (hv_recv_vi(n)->rdma) {
		/* an RDMA packet carries its address */
		struct hv_recv *r = &n->recv;

		r->handle = r->h.handle;
		r->state = RECV_XA;
		hv_xlate(n, HV_RECV,
			 &(struct hv_xlate){ .handle = r->h.handle,
					     .va = r->h.va + r->pos,
					     .ptag = hv_recv_vi(n)->ptag,
					     .remote = true,
					     .len = r->n - r->pos });
	} else {
		receive_address_segment(n);
	}
}

void hv_place_lookup(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;
	struct hv_apb *a = NULL;

	r->ahead = false;
	if (!r->n) {
		hv_recv_handed(n);
		return;
	}
	if (!hv_recv_vi(n)->rdma) {
		for (uint32_t i = 0; i < n->p.prefetch && !a; i++)
			if (r->apb[i].valid && r->apb[i].vi == r->vi &&
			    r->apb[i].offset == hv_recv_vi(n)->got)
				a = &r->apb[i];
		hv_count(n, a ? HV_K_APB_HITS : HV_K_APB_MISSES);
		r->win.valid = r->win.valid && a;
	}
	if (!a) {
		hv_place_more(n);
		return;
	}
	a->valid = false;
	r->handle = a->handle;
	receive_address_found(n, a->n_piece, a->piece);
}

void hv_place_xa(struct hv_nic *n)
{
	const struct hv_xlate *x = &n->att.x[HV_RECV];
	struct hv_apb *a = n->recv.apb, *best = a;

	if (!x->ok) {
		receive_address_stuck(n, HVIA_ST_PROTECTION_ERROR);
		return;
	}
	if (!n->recv.ahead) {
		receive_address_found(n, x->n_piece, x->piece);
		return;
	}
	if (!n->recv.stale) {
		/* takes the entry of the VI, else a free one, else the least
		 * recently used one */
		for (uint32_t i = 0; i < n->p.prefetch; i++) {
			if (a[i].valid && a[i].vi == n->recv.vi) {
				best = &a[i];
				break;
			}
			if (best->valid &&
			    (!a[i].valid || a[i].used < best->used))
				best = &a[i];
		}
		*best = (struct hv_apb){ .valid = true,
					 .vi = n->recv.vi,
					 .offset = hv_recv_vi(n)->got,
					 .handle = x->handle,
					 .n_piece = x->n_piece,
					 .used = ++n->recv.uses };
		memcpy(best->piece, x->piece, sizeof(best->piece));
	}
	hv_recv_resume(n);
}
