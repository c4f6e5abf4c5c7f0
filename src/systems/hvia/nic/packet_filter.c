/* SPDX-License-Identifier: Apache-2.0 */
/* Filter of the receive engine of HVIA-GE (hvia.md 5.3 HDR, 5.5). Checks the
 * header, VI, sender, sequence number, message and descriptor of each packet.
 * */
#include <string.h>

#include "base/bytes.h"
#include "systems/hvia/nic/nic.h"

/* ---- header ---- */

void hv_recv_hdr(struct hv_nic *n)
{
	const uint8_t *p = weft_slice_data(n->recv.frame);

	n->recv.h = (struct hv_head){
		.type = p[HVIA_F_TYPE],
		.flags = p[HVIA_F_FLAGS],
		.dst_vi = (uint32_t)get_le(p + HVIA_F_DST_VI, 2),
		.src_vi = (uint32_t)get_le(p + HVIA_F_SRC_VI, 2),
		.seq = (uint32_t)get_le(p + HVIA_F_SEQ, 2),
		.length = (uint32_t)get_le(p + HVIA_F_LENGTH, 4),
		.offset = (uint32_t)get_le(p + HVIA_F_OFFSET, 4),
		.va = (uint32_t)get_le(p + HVIA_F_VA, 4) |
		      (uint64_t)(uint32_t)get_le(p + HVIA_F_VA + 4, 4) << 32,
		.handle = (uint32_t)get_le(p + HVIA_F_HANDLE, 4),
	};
	hv_recv_go(n, RECV_CHK, n->p.t_rxcheck);
}

/* ---- checks (5.3 HDR) ---- */

static bool packet_filter_ours(struct hv_nic *n, uint32_t *counter_p)
{
	const uint8_t *p = weft_slice_data(n->recv.frame);
	const struct hv_head *h = &n->recv.h;
	const struct hv_vi *v;

	*counter_p = HV_K_DROP_TYPE;
	if (p[HVIA_F_ETHERTYPE] != HVIA_ETHERTYPE >> 8 ||
	    p[HVIA_F_ETHERTYPE + 1] != (HVIA_ETHERTYPE & 0xff) ||
	    h->type > HVIA_T_RDMA_WRITE)
		return false;
	*counter_p = HV_K_DROP_VI;
	if (h->dst_vi >= HVIA_VIS)
		return false;
	v = &n->vi[h->dst_vi];
	return v->state == HVIA_VI_CONNECTED && h->src_vi == v->peer &&
	       !memcmp(p + HVIA_F_SRC, v->mac, 6);
}

/* Checks the sequence number against that of the VI (5.5). */
void hv_recv_chk(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;
	const struct hv_head *h = &r->h;
	const uint8_t *p = weft_slice_data(r->frame);
	bool rdma = h->type == HVIA_T_RDMA_WRITE, goes_on;
	uint32_t counter;
	struct hv_vi *v;
	int16_t ahead;

	if (p[HVIA_F_ETHERTYPE] == HVIA_ETHERTYPE >> 8 &&
	    p[HVIA_F_ETHERTYPE + 1] == (HVIA_ETHERTYPE & 0xff) &&
	    h->type >= HVIA_T_KERNEL && h->type <= 15) {
		hv_kernel_packet(n, p, r->frame.len);
		hv_recv_release(n);
		hv_recv_idle(n);
		return;
	}
	if (!packet_filter_ours(n, &counter)) {
		hv_recv_drop(n, counter);
		return;
	}
	r->vi = r->h.dst_vi;
	v = hv_recv_vi(n);
	ahead = (int16_t)(r->h.seq - v->rx_seq);
	if (ahead < 0) {
		hv_recv_drop(n, HV_K_DROP_OLD);
		return;
	}
	if (ahead)
		hv_count(n, HV_K_GAPS);
	v->rx_seq = (uint16_t)(r->h.seq + 1);
	goes_on = !ahead && !(h->flags & HVIA_FF_FIRST) && rdma == v->rdma &&
		  h->length == v->length && (rdma || h->offset == v->got);
	if (!v->active || goes_on) {
		hv_recv_accept(n);
		return;
	}
	hv_count(n, HV_K_PARTIAL);
	v->active = false;
	if (v->rdma)
		hv_vi_error(n, r->vi, HVIA_Q_RECV, HVIA_ERROR_RDMAW_ABORT, 0);
	else
		hv_head_complete(n, HVIA_ST_PARTIAL_ERROR, v->got, 0);
	hv_recv_accept(n);
}

/* ---- a packet that is in sequence ---- */

static void no_descriptor(struct hv_nic *n)
{
	hv_vi_error(n, n->recv.vi, HVIA_Q_RECV, HVIA_ERROR_RECVQ_EMPTY, 0);
	hv_count(n, HV_K_DROP_EMPTY);
}

/* Starts a message. Returns false if the message waits for its descriptor or
 * cannot start. */
static bool packet_filter_begin(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;
	struct hv_vi *v = hv_recv_vi(n);
	bool rdma = r->h.type == HVIA_T_RDMA_WRITE;

	if (!(r->h.flags & HVIA_FF_FIRST)) {
		hv_recv_drop(n, HV_K_DROP_REST);
		return false;
	}
	if (!rdma && !v->q[HVIA_Q_RECV].posted) {
		no_descriptor(n);
		hv_recv_release(n);
		hv_recv_idle(n);
		return false;
	}
	if (!rdma && !v->fetched) {
		hv_head_fetch(n);
		return false;
	}
	v->active = true;
	v->rdma = rdma;
	v->bad = false;
	v->length = r->h.length;
	v->got = 0;
	return true;
}

/* Finds the receive descriptor for immediate data of an RDMA write. Returns
 * false if the descriptor must be fetched first. */
static bool packet_filter_immediate(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;
	struct hv_vi *v = hv_recv_vi(n);
	uint32_t both = HVIA_FF_LAST | HVIA_FF_IMMEDIATE;

	if (!v->rdma || (r->h.flags & both) != both || r->imm)
		return true;
	if (!v->q[HVIA_Q_RECV].posted) {
		no_descriptor(n);
		return true;
	}
	if (!v->fetched) {
		hv_head_fetch(n);
		return false;
	}
	r->imm = true;
	return true;
}

void hv_recv_accept(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;
	struct hv_vi *v = hv_recv_vi(n);
	uint32_t left, have;

	if (v->closing) {
		n->recv.state = RECV_STALL;
		return;
	}
	/* the connection may have ended meanwhile */
	if (v->state != HVIA_VI_CONNECTED) {
		hv_recv_drop(n, HV_K_DROP_VI);
		return;
	}
	if ((!v->active && !packet_filter_begin(n)) ||
	    !packet_filter_immediate(n))
		return;
	/* The packet has as many bytes as the frame carries, but no more than
	 * the rest of the message, because a short frame is padded. */
	left = r->h.length - v->got;
	have = r->frame.len - HVIA_F_DATA;
	r->n = left < have ? left : have;
	if (r->frame.len < HVIA_F_DATA || v->got > r->h.length ||
	    !(r->h.flags & HVIA_FF_LAST) != (r->n != left)) {
		hv_count(n, HV_K_DROP_FORMAT);
		hv_recv_refused(n, HVIA_ST_PARTIAL_ERROR);
	} else if (v->rdma && (v->bad || !(v->flags & HVIA_VIF_RDMA_WRITE))) {
		hv_recv_refused(n, HVIA_ST_PROTECTION_ERROR);
	} else {
		hv_recv_go(n, RECV_LOOKUP, n->p.t_hit);
	}
}
