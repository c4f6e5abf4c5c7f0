/* SPDX-License-Identifier: Apache-2.0 */
/* Send engine of HVIA-GE (hvia.md 5.2). A state is named after the event for
 * which the engine waits. Its function runs after that event.
 *
 * SCAN  doorbell found           XD  descriptor's address   RD  descriptor
 * XM RM address, bytes of further segments                  CHK checks
 * XA    address of data          BUF a Tx buffer            DR  data
 * LAST  last byte in Tx buffer   COMPL engine's own time    NEXT link
 * DONE  status written
 *
 * The engine handles one descriptor at a time. After each descriptor it serves
 * the next VI that has one. */
#include <string.h>

#include "systems/hvia/nic/nic.h"

/* ---- doorbells ---- */

static void send_idle(struct hv_nic *n)
{
	struct hv_send *s = &n->send;
	uint32_t from = (s->last + 1) % HVIA_VIS;

	s->state = SEND_IDLE;
	if (!(n->ctrl & HVIA_CTRL_ENABLE) || n->ctrl & HVIA_CTRL_STOP)
		return;
	/* finds the next VI with a posted descriptor after the VI served last,
	 * so that all VIs are served in turn */
	for (uint32_t k = 0; k <= HVIA_VIS / 64; k++) {
		uint32_t w = (from / 64 + k) % (HVIA_VIS / 64);
		uint64_t bits = n->pending[w];

		if (!k)
			bits &= ~0ULL << from % 64;
		if (!bits)
			continue;
		s->last = s->vi = w * 64 + (uint32_t)__builtin_ctzll(bits);
		hv_send_go(n, SEND_SCAN, n->p.t_scan);
		return;
	}
}

/* ---- descriptor ---- */

void hv_send_translate(struct hv_nic *n, enum hv_send_state s,
		       const struct hv_where *at, uint32_t len)
{
	n->send.state = s;
	hv_xlate(n, HV_SEND,
		 &(struct hv_xlate){ .handle = at->handle,
				     .va = at->va,
				     .by_offset = at->by_offset,
				     .ptag = hv_send_vi(n)->ptag,
				     .len = len });
}

static void send_scan(struct hv_nic *n)
{
	struct hv_send *s = &n->send;

	/* the card was reset meanwhile */
	if (!hv_send_vi(n)->q[HVIA_Q_SEND].posted) {
		send_idle(n);
		return;
	}
	s->at = hv_send_vi(n)->q[HVIA_Q_SEND].head;
	/* removes the message of the VI's oldest doorbell from `bells` */
	s->trace = 0;
	for (size_t i = 0; i < n->bells.n; i++)
		if (n->bells.at[i].vi == s->vi) {
			s->trace = n->bells.at[i].id;
			vec_remove(&n->bells, i);
			break;
		}
	weft_mark(n->comp, n->send.trace, "finds the doorbell",
		  weft_now(n->comp));
	hv_send_translate(n, SEND_XD, &s->at, 64);
}

static void send_engine_unreachable(struct hv_nic *n)
{
	hv_vi_unreachable(n, n->send.vi, HVIA_Q_SEND, &n->send.at);
	send_idle(n);
}

static void send_xd(struct hv_nic *n)
{
	struct hv_send *s = &n->send;
	const struct hv_xlate *x = &n->att.x[HV_SEND];

	if (!x->ok || x->va % HVIA_DESC_ALIGN) {
		send_engine_unreachable(n);
		return;
	}
	s->at.va = x->va;
	s->at.by_offset = false;
	s->desc_pa = s->block_pa = x->piece[0].pa;
	s->state = SEND_RD;
	hv_count(n, HV_K_DESC_READS);
	hv_dma_read(n, &s->dma, s->desc_pa, 64);
	s->dma.txn.trace_id = s->trace;
}

/* Reads further segments. One read of 64 bytes holds four of them. */
static void send_engine_more(struct hv_nic *n)
{
	struct hv_send *s = &n->send;
	uint32_t block = (s->n_read + 2) / 4;
	struct hv_where at = { .va = s->at.va + 64ULL * block,
			       .handle = s->at.handle };

	if (s->n_read >= s->desc.seg_count ||
	    s->desc.seg_count > HVIA_SEGMENTS) {
		hv_send_go(n, SEND_CHK, n->p.t_check);
		return;
	}
	if (at.va % HVIA_PAGE == 0) {
		hv_send_translate(n, SEND_XM, &at, 16);
		return;
	}
	s->block_pa += 64;
	s->state = SEND_RM;
	hv_count(n, HV_K_SEG_READS);
	hv_dma_read(n, &s->dma, s->block_pa, 64);
}

static void send_rd(struct hv_nic *n)
{
	struct hv_send *s = &n->send;
	uint8_t raw[64];

	if (!hv_dma_take(&s->dma, raw)) {
		send_engine_unreachable(n);
		return;
	}
	memcpy(&s->desc, raw, sizeof(s->desc));
	memcpy(s->seg, raw + HVIA_DESC_CONTROL, 2 * HVIA_SEGMENT);
	s->n_read = 2;
	send_engine_more(n);
}

static void send_xm(struct hv_nic *n)
{
	struct hv_send *s = &n->send;
	const struct hv_xlate *x = &n->att.x[HV_SEND];

	if (!x->ok) {
		send_engine_unreachable(n);
		return;
	}
	s->block_pa = x->piece[0].pa;
	s->state = SEND_RM;
	hv_count(n, HV_K_SEG_READS);
	hv_dma_read(n, &s->dma, s->block_pa, 64);
}

static void send_rm(struct hv_nic *n)
{
	struct hv_send *s = &n->send;
	uint8_t raw[64];
	uint32_t k = HVIA_SEGMENTS - s->n_read;

	if (!hv_dma_take(&s->dma, raw)) {
		send_engine_unreachable(n);
		return;
	}
	memcpy(&s->seg[s->n_read], raw, (k < 4 ? k : 4) * HVIA_SEGMENT);
	s->n_read += 4;
	send_engine_more(n);
}

/* ---- checks ---- */

static void send_chk(struct hv_nic *n)
{
	struct hv_send *s = &n->send;
	const struct hvia_desc *d = &s->desc;
	uint32_t first = hv_send_rdma(s), bad = 0;
	uint64_t sum = 0;

	if (d->control & HVIA_OP_RESERVED || d->reserved ||
	    (d->control & HVIA_OP) > HVIA_OP_RDMAWRITE ||
	    d->seg_count > HVIA_SEGMENTS || d->seg_count < first)
		bad = HVIA_ST_FORMAT_ERROR;
	for (uint32_t i = first; !bad && i < d->seg_count; i++)
		sum += s->seg[i].length;
	if (!bad && sum != d->length)
		bad = HVIA_ST_FORMAT_ERROR;
	if (!bad && d->length > hv_send_vi(n)->max_transfer)
		bad = HVIA_ST_LENGTH_ERROR;
	s->i_seg = first;
	s->seg_off = s->offset = 0;
	if (hv_vi_flushing(hv_send_vi(n), HVIA_Q_SEND))
		hv_send_complete(n, HVIA_ST_FLUSHED);
	else if (bad)
		hv_send_complete(n, bad);
	else
		hv_packet_next(n);
}

/* ---- completion ---- */

static void send_last(struct hv_nic *n)
{
	hv_send_complete(n, 0);
}

static void write_status(struct hv_nic *n)
{
	static const uint32_t op[] = { HVIA_ST_SEND, HVIA_ST_RDMA_WRITE,
				       HVIA_ST_RDMA_READ, HVIA_ST_SEND };
	struct hv_send *s = &n->send;
	uint32_t w[4] = { 0, s->desc.immediate, s->desc.length,
			  HVIA_ST_DONE | s->status |
				  op[s->desc.control & HVIA_OP] };

	/* the card was reset meanwhile */
	if (!hv_send_vi(n)->q[HVIA_Q_SEND].posted) {
		send_idle(n);
		return;
	}
	if (s->status & HVIA_ST_FLUSHED)
		hv_count(n, HV_K_FLUSHED);
	hv_q_take(n, s->vi, HVIA_Q_SEND, &s->desc);
	s->state = SEND_DONE;
	hv_vi_status(n, s->vi, &s->dma, s->desc_pa, w, false);
}

/* Completes the descriptor. The link to the next descriptor may have been set
 * after the descriptor was read. Such a link is read now, because the owner may
 * reuse the descriptor after the completion. */
static void send_compl(struct hv_nic *n)
{
	struct hv_send *s = &n->send;

	if (hv_send_vi(n)->q[HVIA_Q_SEND].posted > 1 && !s->desc.next) {
		s->state = SEND_NEXT;
		hv_count(n, HV_K_NEXT_READS);
		hv_dma_read(n, &s->dma, s->desc_pa, 16);
		return;
	}
	write_status(n);
}

static void send_next(struct hv_nic *n)
{
	struct hv_send *s = &n->send;
	uint8_t raw[16];

	if (hv_dma_take(&s->dma, raw)) {
		memcpy(&s->desc.next, raw, 8);
		memcpy(&s->desc.next_handle, raw + 8, 4);
	}
	write_status(n);
}

static void send_done(struct hv_nic *n)
{
	if (!hv_dma_take(&n->send.dma, NULL))
		hv_vi_fail(n, n->send.vi, HVIA_Q_SEND, HVIA_ERROR_COMP_PROT,
			   hvia_token(n->send.at.handle, 0));
	weft_msg_end(n->comp, n->send.trace, false);
	n->send.trace = 0;
	hv_vi_done(n, n->send.vi, HVIA_Q_SEND);
	send_idle(n);
}

/* ---- the engine ---- */

static const char *const send_name[SEND_STATES] = {
	[SEND_IDLE] = "IDLE", [SEND_SCAN] = "SCAN", [SEND_XD] = "XD",
	[SEND_RD] = "RD",     [SEND_XM] = "XM",	    [SEND_RM] = "RM",
	[SEND_CHK] = "CHK",   [SEND_XA] = "XA",	    [SEND_BUF] = "BUF",
	[SEND_DR] = "DR",     [SEND_LAST] = "LAST", [SEND_COMPL] = "COMPL",
	[SEND_NEXT] = "NEXT", [SEND_DONE] = "DONE",
};

/* Name of the message's stage in each state of the engine. The engine marks the
 * stage when it leaves the state. */
static const char *const waited_for[SEND_STATES] = {
	[SEND_IDLE] = "waits for the engine",
	[SEND_SCAN] = "finds the doorbell",
	[SEND_XD] = "translates the descriptor's address",
	[SEND_RD] = "reads the descriptor",
	[SEND_XM] = "translates the descriptor's address",
	[SEND_RM] = "reads the descriptor",
	[SEND_CHK] = "checks the descriptor",
	[SEND_XA] = "translates the data's address",
	[SEND_BUF] = "waits for a Tx buffer",
	[SEND_DR] = "reads data",
	[SEND_LAST] = "FIFO, Tx buffer",
	[SEND_COMPL] = "completes",
	[SEND_NEXT] = "completes",
	[SEND_DONE] = "completes",
};

void hv_send_event(struct hv_nic *n)
{
	static void (*const step[SEND_STATES])(struct hv_nic *) = {
		[SEND_IDLE] = send_idle,    [SEND_SCAN] = send_scan,
		[SEND_XD] = send_xd,	    [SEND_RD] = send_rd,
		[SEND_XM] = send_xm,	    [SEND_RM] = send_rm,
		[SEND_CHK] = send_chk,	    [SEND_XA] = hv_packet_xa,
		[SEND_BUF] = hv_packet_buf, [SEND_DR] = hv_packet_dr,
		[SEND_LAST] = send_last,    [SEND_COMPL] = send_compl,
		[SEND_NEXT] = send_next,    [SEND_DONE] = send_done,
	};

	weft_mark(n->comp, n->send.trace, waited_for[n->send.state],
		  weft_now(n->comp));
	step[n->send.state](n);
	weft_state(n->comp, "send", send_name[n->send.state],
		   weft_now(n->comp));
}

bool hv_send_uses(const struct hv_nic *n, uint32_t handle)
{
	const struct hv_send *s = &n->send;
	uint32_t k =
		s->desc.seg_count < s->n_read ? s->desc.seg_count : s->n_read;

	if (s->state == SEND_IDLE)
		return false;
	if (s->at.handle == handle)
		return true;
	for (uint32_t i = 0; i < k && i < HVIA_SEGMENTS; i++)
		if (s->seg[i].handle == handle)
			return true;
	return false;
}
