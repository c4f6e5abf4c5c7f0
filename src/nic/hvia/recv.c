/* SPDX-License-Identifier: Apache-2.0 */
/* Front of the receive engine of HVIA-GE (hvia.md 5.3, 5.5).  A state is named
 * after what the engine waits for; its function runs when that is over.
 *
 *   HDR    frame at the engine, header read    CHK    checks
 *   STALL  the descriptor before is completed  LOOKUP prefetch buffer
 *   XS SEG segment read (place.c)              XA     translation
 *   HAND   room at the writes (write.c)
 *   XD RD DCHK  receive descriptor fetched and checked (head.c)
 *
 * One packet, or one descriptor, at a time; packets first. */
#include <string.h>

#include "nic/hvia/nic.h"

void hv_recv_go(struct hv_nic *n, enum hv_recv_state s, uint32_t cycles)
{
	n->recv.state = s;
	hv_wake(n, HV_U_RECV, cycles);
}

static struct hv_vi *vi_of(struct hv_nic *n)
{
	return &n->vi[n->recv.vi];
}

/* ---- what comes next ------------------------------------------------------
 */

static bool packet_ready(const struct hv_nic *n)
{
	return !ring_empty(&n->gec.rxq) &&
	       ring_front(&n->gec.rxq)->ready <= weft_now(n->comp);
}

static void packet_start(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;

	r->frame = ring_front(&n->gec.rxq)->data;
	r->polled = ring_front(&n->gec.rxq)->polled;
	ring_pop(&n->gec.rxq);
	r->packet = true;
	r->imm = false;
	r->pos = 0;
	hv_recv_go(n, RECV_HDR, n->t_forward + n->t_rxbuf + n->t_header);
}

/* A receive queue that needs its head: true when there is something to do. */
static bool prepare(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;
	struct hv_vi *v;

	r->vi = *ring_front(&r->prep);
	ring_pop(&r->prep);
	v = vi_of(n);
	v->prep = false;
	if (!v->q[HVIA_Q_RECV].posted || v->closing)
		return false;
	if (!v->fetched)
		hv_head_fetch(n);
	else if (hv_vi_flushing(v, HVIA_Q_RECV))
		hv_head_complete(n, HVIA_ST_FLUSHED, 0);
	return r->state != RECV_IDLE;
}

static void recv_idle(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;

	r->state = RECV_IDLE;
	if (!(n->ctrl & HVIA_CTRL_ENABLE) || n->ctrl & HVIA_CTRL_STOP)
		return;
	if (packet_ready(n)) {
		packet_start(n);
		return;
	}
	while (!ring_empty(&r->prep))
		if (prepare(n))
			return;
	if (!ring_empty(&n->gec.rxq))
		weft_timer_arm(n->comp, &n->timer[HV_U_RECV], HV_U_RECV,
			       ring_front(&n->gec.rxq)->ready);
}

void hv_recv_kick(struct hv_nic *n)
{
	if (n->recv.state == RECV_IDLE || n->recv.state == RECV_STALL)
		hv_wake(n, HV_U_RECV, 0);
}

/* ---- header ---------------------------------------------------------------
 */

static uint32_t get16(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8;
}

static uint32_t get32(const uint8_t *p)
{
	return get16(p) | get16(p + 2) << 16;
}

static void recv_hdr(struct hv_nic *n)
{
	const uint8_t *p = weft_slice_data(n->recv.frame);

	n->recv.h = (struct hv_head){
		.type = p[HVIA_F_TYPE],
		.flags = p[HVIA_F_FLAGS],
		.dst_vi = get16(p + HVIA_F_DST_VI),
		.src_vi = get16(p + HVIA_F_SRC_VI),
		.seq = get16(p + HVIA_F_SEQ),
		.length = get32(p + HVIA_F_LENGTH),
		.offset = get32(p + HVIA_F_OFFSET),
		.va = get32(p + HVIA_F_VA) | (uint64_t)get32(p + HVIA_F_VA + 4)
						     << 32,
		.handle = get32(p + HVIA_F_HANDLE),
	};
	hv_recv_go(n, RECV_CHK, n->t_rxcheck);
}

/* ---- end of a packet ------------------------------------------------------
 */

/* Its Rx buffer is free again. */
static void release(struct hv_nic *n)
{
	weft_slice_drop(&n->recv.frame);
	n->recv.packet = false;
	hv_gec_free(n);
}

static void drop(struct hv_nic *n, uint32_t counter)
{
	hv_count(n, counter);
	release(n);
	recv_idle(n);
}

/* ---- checks (5.3 HDR) -----------------------------------------------------
 */

static bool ours(struct hv_nic *n, uint32_t *counter_p)
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

static bool is_kernel(struct hv_nic *n)
{
	const uint8_t *p = weft_slice_data(n->recv.frame);

	return p[HVIA_F_ETHERTYPE] == HVIA_ETHERTYPE >> 8 &&
	       p[HVIA_F_ETHERTYPE + 1] == (HVIA_ETHERTYPE & 0xff) &&
	       n->recv.h.type >= HVIA_T_KERNEL && n->recv.h.type <= 15;
}

/* The message in progress does not go on with this packet. */
static bool broken(const struct hv_nic *n, const struct hv_vi *v, bool gap)
{
	const struct hv_head *h = &n->recv.h;
	bool rdma = h->type == HVIA_T_RDMA_WRITE;

	return gap || h->flags & HVIA_FF_FIRST || rdma != v->rdma ||
	       h->length != v->length || (!rdma && h->offset != v->got);
}

static void accept_packet(struct hv_nic *n);

/* Sequence of the VI (5.5). */
static void recv_chk(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;
	uint32_t counter;
	struct hv_vi *v;
	int16_t ahead;

	if (is_kernel(n)) {
		hv_kernel_packet(n, weft_slice_data(r->frame), r->frame.len);
		release(n);
		recv_idle(n);
		return;
	}
	if (!ours(n, &counter)) {
		drop(n, counter);
		return;
	}
	r->vi = r->h.dst_vi;
	v = vi_of(n);
	ahead = (int16_t)(r->h.seq - v->rx_seq);
	if (ahead < 0) {
		drop(n, HV_K_DROP_OLD);
		return;
	}
	if (ahead)
		hv_count(n, HV_K_GAPS);
	v->rx_seq = (uint16_t)(r->h.seq + 1);
	if (!v->active || !broken(n, v, ahead)) {
		accept_packet(n);
		return;
	}
	hv_count(n, HV_K_PARTIAL);
	v->active = false;
	if (v->rdma)
		hv_vi_error(n, r->vi, HVIA_Q_RECV, HVIA_ERROR_RDMAW_ABORT, 0);
	else
		hv_head_complete(n, HVIA_ST_PARTIAL_ERROR, v->got);
	accept_packet(n);
}

/* ---- a packet that is in sequence -----------------------------------------
 */

/* Its bytes: all the frame has, or what is left of the message. */
static bool measure(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;
	uint32_t got = vi_of(n)->got, left = r->h.length - got;
	uint32_t have = r->frame.len - HVIA_F_DATA;
	bool last = r->h.flags & HVIA_FF_LAST;

	if (r->frame.len < HVIA_F_DATA || got > r->h.length)
		return false;
	r->n = left < have ? left : have;
	return last == (r->n == left);
}

static void no_descriptor(struct hv_nic *n)
{
	hv_vi_error(n, n->recv.vi, HVIA_Q_RECV, HVIA_ERROR_RECVQ_EMPTY, 0);
	hv_count(n, HV_K_DROP_EMPTY);
}

/* A message begins; false: it waits for its descriptor, or is none. */
static bool begin(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;
	struct hv_vi *v = vi_of(n);
	bool rdma = r->h.type == HVIA_T_RDMA_WRITE;

	if (!(r->h.flags & HVIA_FF_FIRST)) {
		drop(n, HV_K_DROP_REST);
		return false;
	}
	if (!rdma && !v->q[HVIA_Q_RECV].posted) {
		no_descriptor(n);
		release(n);
		recv_idle(n);
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

/* Immediate data of an RDMA write take a receive descriptor; false: it has to
 * be fetched first. */
static bool immediate(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;
	struct hv_vi *v = vi_of(n);
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

static void accept_packet(struct hv_nic *n)
{
	struct hv_vi *v = vi_of(n);

	if (v->closing) {
		n->recv.state = RECV_STALL;
		return;
	}
	if (v->state != HVIA_VI_CONNECTED) { /* meanwhile */
		drop(n, HV_K_DROP_VI);
		return;
	}
	if ((!v->active && !begin(n)) || !immediate(n))
		return;
	if (!measure(n)) {
		hv_count(n, HV_K_DROP_FORMAT);
		hv_recv_refused(n, HVIA_ST_PARTIAL_ERROR);
	} else if (v->rdma && (v->bad || !(v->flags & HVIA_VIF_RDMA_WRITE))) {
		hv_recv_refused(n, HVIA_ST_PROTECTION_ERROR);
	} else {
		hv_recv_go(n, RECV_LOOKUP, n->t_hit);
	}
}

/* ---- end of a packet, of a message ----------------------------------------
 */

static struct hv_job end_job(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;

	return (struct hv_job){ .vi = r->vi,
				.handle = ~0u,
				.buffer = true,
				.end = true,
				.rdma = vi_of(n)->rdma,
				.empty = !r->n,
				.last = r->h.flags & HVIA_FF_LAST,
				.seq = r->h.seq,
				.polled = r->polled };
}

/* The message is over, and with it a descriptor perhaps. */
static void message_end(struct hv_nic *n, struct hv_job *j)
{
	struct hv_recv *r = &n->recv;
	struct hv_vi *v = vi_of(n);

	v->active = false;
	j->complete = v->closing = !v->rdma || r->imm;
	j->length = v->got;
	j->immediate = v->rdma ? r->h.offset : (uint32_t)r->h.va;
	if (r->h.flags & HVIA_FF_IMMEDIATE)
		j->status = HVIA_ST_IMMEDIATE;
	if (v->rdma)
		j->status |= HVIA_ST_REMOTE_RDMA_WRITE;
}

/* All bytes are on their way. */
static void packet_end(struct hv_nic *n)
{
	struct hv_recv *r = &n->recv;
	struct hv_vi *v = vi_of(n);
	struct hv_job j = end_job(n);

	weft_slice_drop(&r->frame);
	r->packet = false;
	v->got += r->n;
	if (!v->active) /* disconnected meanwhile */
		j.last = false;
	else if (j.last)
		message_end(n, &j);
	hv_put(n, &j);
	if (v->active && !v->rdma)
		hv_place_ahead(n);
	else
		recv_idle(n);
}

void hv_recv_handed(struct hv_nic *n)
{
	if (n->recv.pos < n->recv.n)
		hv_place_more(n);
	else
		packet_end(n);
}

static void recv_hand(struct hv_nic *n)
{
	struct hv_job j = n->recv.job;

	n->recv.job.data = (struct weft_slice){ 0 };
	hv_hand(n, &j);
}

static void rdma_refused(struct hv_nic *n, uint32_t status)
{
	struct hv_recv *r = &n->recv;
	struct hv_vi *v = vi_of(n);
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
				 HVIA_ST_REMOTE_RDMA_WRITE | HVIA_ST_IMMEDIATE |
					 HVIA_ST_RDMA_PROT_ERROR,
				 0);
}

void hv_recv_refused(struct hv_nic *n, uint32_t status)
{
	struct hv_vi *v = vi_of(n);

	if (v->rdma)
		rdma_refused(n, status);
	else if (v->active)
		hv_head_complete(n, status, v->got + n->recv.pos);
	release(n);
	recv_idle(n);
}

/* ---- the engine -----------------------------------------------------------
 */

void hv_recv_resume(struct hv_nic *n)
{
	if (n->recv.packet)
		accept_packet(n);
	else
		recv_idle(n);
}

void hv_recv_event(struct hv_nic *n)
{
	static void (*const step[RECV_STATES])(struct hv_nic *) = {
		[RECV_IDLE] = recv_idle,	 [RECV_HDR] = recv_hdr,
		[RECV_CHK] = recv_chk,		 [RECV_STALL] = accept_packet,
		[RECV_LOOKUP] = hv_place_lookup, [RECV_XS] = hv_place_xs,
		[RECV_SEG] = hv_place_seg,	 [RECV_XA] = hv_place_xa,
		[RECV_HAND] = recv_hand,	 [RECV_XD] = hv_head_xd,
		[RECV_RD] = hv_head_rd,		 [RECV_DCHK] = hv_head_chk,
	};

	step[n->recv.state](n);
}

bool hv_recv_uses(const struct hv_nic *n, uint32_t handle)
{
	const struct hv_recv *r = &n->recv;

	if (hv_write_uses(n, handle))
		return true;
	return r->state != RECV_IDLE &&
	       (r->handle == handle || n->att.x[HV_RECV].handle == handle ||
		n->vi[r->vi].q[HVIA_Q_RECV].head.handle == handle);
}

void hv_recv_fini(struct hv_nic *n)
{
	weft_slice_drop(&n->recv.frame);
	ring_free(&n->recv.prep);
}
