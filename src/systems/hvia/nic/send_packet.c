/* SPDX-License-Identifier: Apache-2.0 */
/* Builds the packets of the send engine of HVIA-GE (hvia.md 3.8, 5.2). Gathers
 * data across segments and pages, adds a header, and transfers the packet to
 * the GEC. */
#include <string.h>

#include "base/bytes.h"
#include "systems/hvia/nic/nic.h"

/* ---- header ---- */

/* Writes the header of a packet (3.8). */
static void send_packet_header(struct hv_nic *n, uint8_t *p)
{
	struct hv_send *s = &n->send;
	struct hv_vi *v = hv_send_vi(n);
	uint8_t f;

	memset(p, 0, HVIA_F_DATA);
	memcpy(p + HVIA_F_DST, v->mac, 6);
	memcpy(p + HVIA_F_SRC, n->mac, 6);
	p[HVIA_F_ETHERTYPE] = HVIA_ETHERTYPE >> 8;
	p[HVIA_F_ETHERTYPE + 1] = HVIA_ETHERTYPE & 0xff;
	p[HVIA_F_TYPE] = hv_send_rdma(s) ? HVIA_T_RDMA_WRITE : HVIA_T_SEND;
	f = s->offset ? 0 : HVIA_FF_FIRST;
	if (s->offset + s->n == s->desc.length) {
		f |= HVIA_FF_LAST;
		if (s->desc.control & HVIA_OP_IMMEDIATE)
			f |= HVIA_FF_IMMEDIATE;
	}
	p[HVIA_F_FLAGS] = f;
	put_le(p + HVIA_F_DST_VI, v->peer, 2);
	put_le(p + HVIA_F_SRC_VI, s->vi, 2);
	put_le(p + HVIA_F_SEQ, v->tx_seq, 2);
	put_le(p + HVIA_F_LENGTH, s->desc.length, 4);
	if (hv_send_rdma(s)) {
		uint64_t va = s->seg[0].addr + s->offset;

		put_le(p + HVIA_F_OFFSET, s->desc.immediate, 4);
		put_le(p + HVIA_F_VA, (uint32_t)va, 4);
		put_le(p + HVIA_F_VA + 4, (uint32_t)(va >> 32), 4);
		put_le(p + HVIA_F_HANDLE, s->seg[0].handle, 4);
		return;
	}
	put_le(p + HVIA_F_OFFSET, s->offset, 4);
	put_le(p + HVIA_F_VA, s->desc.immediate, 4);
}

static void send_packet_full(struct hv_nic *n)
{
	struct hv_send *s = &n->send;
	struct hv_vi *v = hv_send_vi(n);

	send_packet_header(n, s->frame.buf->data + s->frame.off);
	hv_gec_put(n, &(struct hv_tx_frame){
			      .data = s->frame,
			      .trace = weft_msg_fork(n->comp, s->trace) });
	s->frame = (struct weft_slice){ 0 };
	hv_count(n, HV_K_TX_PACKETS);
	v->tx_seq++;
	s->offset += s->n;
	if (s->offset < s->desc.length) {
		hv_packet_next(n);
		return;
	}
	hv_count(n, HV_K_SENT);
	hv_send_go(n, SEND_LAST, n->p.t_fifo + n->p.t_txbuf);
}

/* Looks up the next bytes of the packet, as far as they lie in one segment. */
static void send_packet_piece(struct hv_nic *n)
{
	struct hv_send *s = &n->send;
	const struct hvia_seg *g = &s->seg[s->i_seg];
	uint32_t len = s->n - s->got;

	while (s->seg_off == g->length) {
		g = &s->seg[++s->i_seg];
		s->seg_off = 0;
	}
	if (len > g->length - s->seg_off)
		len = g->length - s->seg_off;
	hv_send_translate(n, SEND_XA,
			  &(struct hv_where){ .va = g->addr + s->seg_off,
					      .handle = g->handle },
			  len);
}

void hv_packet_next(struct hv_nic *n)
{
	struct hv_send *s = &n->send;
	uint32_t bytes;

	if (hv_vi_flushing(hv_send_vi(n), HVIA_Q_SEND)) {
		hv_send_complete(n, HVIA_ST_FLUSHED);
		return;
	}
	s->n = s->desc.length - s->offset;
	if (s->n > hv_payload(n))
		s->n = hv_payload(n);
	s->got = 0;
	bytes = HVIA_F_DATA + s->n;
	if (bytes < HVIA_F_MIN)
		bytes = HVIA_F_MIN;
	s->frame = weft_slice_word(n->comp->sim, bytes);
	memset(weft_slice_data(s->frame) + HVIA_F_DATA, 0, bytes - HVIA_F_DATA);
	if (s->n)
		send_packet_piece(n);
	else
		hv_send_go(n, SEND_BUF, 0);
}

static void read_piece(struct hv_nic *n)
{
	struct hv_send *s = &n->send;
	const struct hv_piece *p = &n->att.x[HV_SEND].piece[s->piece];

	s->state = SEND_DR;
	hv_dma(n, &s->dma, WEFT_BUS_READ, p->pa,
	       weft_slice_sub(s->frame, HVIA_F_DATA + s->got, p->len));
	s->dma.txn.trace_id = s->trace;
}

void hv_packet_buf(struct hv_nic *n)
{
	n->send.state = SEND_BUF;
	/* A packet takes a Tx buffer at its first data read and keeps it until
	 * the frame has left. The engine is woken when a buffer is freed. */
	if (!n->send.got && n->gec.buffers >= HV_TX_BUFFERS)
		return;
	if (n->send.n)
		read_piece(n);
	else
		send_packet_full(n);
}

void hv_packet_xa(struct hv_nic *n)
{
	n->send.piece = 0;
	if (n->att.x[HV_SEND].ok) {
		hv_packet_buf(n);
	} else {
		weft_slice_drop(&n->send.frame);
		hv_send_complete(n, HVIA_ST_PROTECTION_ERROR);
	}
}

void hv_packet_dr(struct hv_nic *n)
{
	struct hv_send *s = &n->send;
	uint32_t len = s->dma.txn.bytes;

	if (!hv_dma_take(&s->dma, NULL)) {
		weft_slice_drop(&s->frame);
		hv_send_complete(n, HVIA_ST_PROTECTION_ERROR);
		return;
	}
	s->got += len;
	s->seg_off += len;
	if (++s->piece < n->att.x[HV_SEND].n_piece)
		read_piece(n);
	else if (s->got < s->n)
		send_packet_piece(n);
	else
		send_packet_full(n);
}
