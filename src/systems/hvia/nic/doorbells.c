/* SPDX-License-Identifier: Apache-2.0 */
/* Doorbells and VI table of HVIA-GE (hvia.md 2.3, 3.4, 5.1, 5.6). */
#include <string.h>

#include "systems/hvia/nic/nic.h"

/* ---- asynchronous errors ---- */

void hv_vi_error(struct hv_nic *n, uint32_t vi, uint32_t q,
		 enum hvia_error code, uint64_t token)
{
	uint64_t pop =
		HVIA_ERR_VALID | (uint64_t)q << 32 | (uint64_t)code << 16 | vi;

	hv_count(n, HV_K_ERRORS);
	if (ring_count(&n->errors) == HVIA_ERR_ENTRIES) {
		hv_count(n, HV_K_ERRORS_LOST);
		n->err_overflow = true;
		return;
	}
	if (n->err_overflow)
		pop |= HVIA_ERR_OVERFLOW;
	n->err_overflow = false;
	*ring_push(&n->errors) = (struct hv_error){ pop, token };
	hv_irq(n, HVIA_INT_ERROR);
}

/* ---- queues ---- */

void hv_vi_work(struct hv_nic *n, uint32_t vi, uint32_t q)
{
	struct hv_vi *v = &n->vi[vi];

	if (!v->q[q].posted)
		return;
	if (q == HVIA_Q_SEND) {
		n->pending[vi / 64] |= 1ULL << vi % 64;
		hv_send_kick(n);
		return;
	}
	if (v->prep || v->closing || (v->fetched && !hv_vi_flushing(v, q)))
		return;
	v->prep = true;
	*ring_push(&n->recv.prep) = vi;
	hv_recv_kick(n);
}

static void set_state(struct hv_nic *n, uint32_t vi, enum hvia_vi_state s)
{
	struct hv_vi *v = &n->vi[vi];

	if (v->active && s != HVIA_VI_CONNECTED) {
		/* The message that is being received is lost. If it has begun
		 * to fill a descriptor, that descriptor is fetched again and
		 * filled from its start. */
		v->fetched = v->fetched && v->rdma;
		v->active = false;
		hv_apb_forget_vi(n, vi);
	}
	v->state = (uint8_t)s;
	/* starts only receives, because posted sends are pending already */
	hv_vi_work(n, vi, HVIA_Q_RECV);
}

void hv_vi_fail(struct hv_nic *n, uint32_t vi, uint32_t q, enum hvia_error code,
		uint64_t token)
{
	hv_vi_error(n, vi, q, code, token);
	set_state(n, vi, HVIA_VI_ERROR);
}

void hv_vi_unreachable(struct hv_nic *n, uint32_t vi, uint32_t q,
		       const struct hv_where *at)
{
	struct hv_vi *v = &n->vi[vi];
	bool over = v->state == HVIA_VI_ERROR || v->q[q].flush;

	v->q[q] = (struct hv_q){ 0 };
	if (q == HVIA_Q_SEND)
		n->pending[vi / 64] &= ~(1ULL << vi % 64);
	/* a VI that has failed before, or is being flushed, does not fail
	 * again */
	if (!over)
		hv_vi_fail(n, vi, q, HVIA_ERROR_POST_DESC,
			   hvia_token(at->handle, (uint32_t)at->va));
}

/* ---- fetched descriptors ---- */

void hv_vi_forget(struct hv_nic *n, uint32_t handle)
{
	for (uint32_t w = 0; w < HVIA_VIS / 64; w++)
		for (uint64_t bits = n->heads[w]; bits; bits &= bits - 1) {
			uint32_t vi = w * 64 + (uint32_t)__builtin_ctzll(bits);
			struct hv_vi *v = &n->vi[vi];
			struct hv_where at = v->q[HVIA_Q_RECV].head;

			if (!v->fetched && !v->closing)
				n->heads[w] &= ~(1ULL << vi % 64);
			if (!v->fetched || at.handle != handle || v->closing ||
			    (n->recv.state != RECV_IDLE && n->recv.vi == vi))
				continue;
			v->fetched = false;
			hv_apb_forget_vi(n, vi);
			if (!v->active || v->rdma)
				continue;
			/* a message is being received, but the status of its
			 * descriptor cannot be written, because the region is
			 * gone */
			v->active = false;
			v->q[HVIA_Q_RECV] = (struct hv_q){ 0 };
			hv_vi_fail(n, vi, HVIA_Q_RECV, HVIA_ERROR_COMP_PROT,
				   hvia_token(at.handle, (uint32_t)at.va));
		}
}

bool hv_vi_holds(const struct hv_nic *n, uint32_t handle)
{
	for (uint32_t w = 0; w < HVIA_VIS / 64; w++)
		for (uint64_t bits = n->heads[w]; bits; bits &= bits - 1) {
			const struct hv_vi *v =
				&n->vi[w * 64 +
				       (uint32_t)__builtin_ctzll(bits)];

			if (v->fetched &&
			    v->q[HVIA_Q_RECV].head.handle == handle)
				return true;
		}
	return false;
}

void hv_q_take(struct hv_nic *n, uint32_t vi, uint32_t q,
	       const struct hvia_desc *d)
{
	struct hv_vi *v = &n->vi[vi];
	struct hv_q *hq = &v->q[q];

	if (hq->posted)
		hq->posted--;
	if (hq->flush)
		hq->flush--;
	hq->head = (struct hv_where){ .va = d->next, .handle = d->next_handle };
	if (q == HVIA_Q_SEND && !hq->posted)
		n->pending[vi / 64] &= ~(1ULL << vi % 64);
	if (q == HVIA_Q_RECV)
		v->fetched = false;
}

void hv_vi_status(struct hv_nic *n, uint32_t vi, struct hv_dma *d,
		  weft_phys_t pa, uint32_t w[4], bool wide)
{
	struct weft_slice s;

	if (n->vi[vi].flags & HVIA_VIF_STAMP) {
		/* skips 0, because 0 means no number */
		n->stamp += n->stamp == UINT32_MAX ? 2 : 1;
		w[0] = n->stamp;
		wide = true;
	}
	s = weft_slice_word(n->comp->sim, wide ? 16 : 8);
	memcpy(weft_slice_data(s), wide ? w : w + 2, s.len);
	hv_dma(n, d, WEFT_BUS_WRITE, pa + (wide ? 16 : 24), s);
}

/* Counts a completion whose status is being written. Raises the interrupt if
 * the queue is armed. */
void hv_vi_done(struct hv_nic *n, uint32_t vi, uint32_t q)
{
	struct hv_vi *v = &n->vi[vi];
	uint8_t flag = q == HVIA_Q_SEND ? HVIA_VIF_IRQ_SEND : HVIA_VIF_IRQ_RECV;

	hv_count(n, HV_K_COMPLETIONS);
	if (!(v->flags & flag))
		return;
	v->flags &= (uint8_t)~flag;
	hv_irq(n, HVIA_INT_COMPLETION);
}

void hv_doorbell(struct hv_nic *n, uint32_t vi, uint32_t queue, uint64_t token)
{
	struct hv_q *q = &n->vi[vi].q[queue];
	struct hv_where at = { .va = HVIA_TOKEN_OFFSET(token),
			       .handle = HVIA_TOKEN_HANDLE(token),
			       .by_offset = true };

	if (!(n->ctrl & HVIA_CTRL_ENABLE)) {
		hv_count(n, HV_K_BAD_ACCESS);
		return;
	}
	hv_count(n, HV_K_DOORBELLS);
	if (at.va % HVIA_DESC_ALIGN || at.handle >= n->att.l1_count) {
		hv_vi_fail(n, vi, queue, HVIA_ERROR_POST_DESC, token);
		return;
	}
	if (q->posted == HVIA_QUEUE_MAX) {
		hv_vi_fail(n, vi, queue, HVIA_ERROR_VI_OVERRUN, token);
		return;
	}
	/* A message starts. The send engine takes the message from `bells`
	 * together with the descriptor of this doorbell. */
	if (queue == HVIA_Q_SEND && weft_heard(n->comp)) {
		vec_push(&n->bells,
			 (struct hv_bell){ weft_msg_open(n->comp), vi });
	}
	if (!q->posted++)
		q->head = at;
	hv_vi_work(n, vi, queue);
}

/* ---- table ---- */

static uint32_t flags_of(const struct hv_vi *v)
{
	return v->flags | (v->q[HVIA_Q_SEND].flush ? HVIA_VIF_FLUSH_SEND : 0) |
	       (v->q[HVIA_Q_RECV].flush ? HVIA_VIF_FLUSH_RECV : 0);
}

uint64_t hv_vi_read(struct weft_comp *c, uint32_t i)
{
	const struct hv_nic *n = c->state;
	const struct hv_vi *v = &n->vi[i / 4];

	switch (i % 4 * 8) {
	case HVIA_VI_0:
		return hvia_vi_0(v->state, flags_of(v), v->ptag, v->peer,
				 v->mac);
	case HVIA_VI_1:
		return hvia_vi_1(v->mac, v->tx_seq, v->rx_seq);
	case HVIA_VI_2:
		return v->max_transfer |
		       (uint64_t)v->q[HVIA_Q_SEND].posted << 32 |
		       (uint64_t)v->q[HVIA_Q_RECV].posted << 48;
	default:
		return flags_of(v);
	}
}

void hv_vi_wrote(struct weft_comp *c, uint32_t i, uint64_t val)
{
	struct hv_nic *n = c->state;
	uint32_t vi = i / 4;
	struct hv_vi *v = &n->vi[vi];

	switch (i % 4 * 8) {
	case HVIA_VI_0:
		v->flags = (uint8_t)(val >> 8 & ~HVIA_VIF_FLUSH);
		/* The fetched descriptor was checked with the earlier tag,
		 * therefore it is fetched again. */
		if (v->ptag != (uint16_t)(val >> 16) && !v->active &&
		    !v->closing) {
			v->fetched = false;
			hv_apb_forget_vi(n, vi);
		}
		v->ptag = (uint16_t)(val >> 16);
		v->peer = (uint16_t)(val >> 32);
		memcpy(v->mac, (const uint8_t *)&val + 6, 2);
		set_state(n, vi, (enum hvia_vi_state)(val & 3));
		break;
	case HVIA_VI_1:
		memcpy(v->mac + 2, &val, 4);
		v->tx_seq = (uint16_t)(val >> 32);
		v->rx_seq = (uint16_t)(val >> 48);
		break;
	case HVIA_VI_2:
		v->max_transfer = (uint32_t)val;
		break;
	default:
		v->flags |= (uint8_t)(val & ~HVIA_VIF_FLUSH);
		v->flags &= (uint8_t) ~(val >> 8);
		for (uint32_t q = 0; q < 2; q++)
			if (val & (q == HVIA_Q_SEND ? HVIA_VIF_FLUSH_SEND
						    : HVIA_VIF_FLUSH_RECV)) {
				v->q[q].flush = v->q[q].posted;
				hv_vi_work(n, vi, q);
			}
	}
}
