/* SPDX-License-Identifier: Apache-2.0 */
/* ref_dma: writes packets and notifications to memory (forth.md 3.4, 3.7, 3.8,
 * 7.4). */
#include "ref_dma_internal.h"

/* F grows. */
static void forward(struct ref *r, uint32_t words)
{
	uint32_t *fwd = &r->nic[r->wlink].fwd[0];

	*fwd = (*fwd + words) & 4095;
}

void ref_engine_moved(struct ref *r, uint32_t dir)
{
	uint32_t total;

	if (dir == RD) {
		r->got++;
		r->log->qwords[RD]++;
		ref_voq_cut(r, false);
		return;
	}
	if (r->is_note)
		return;
	r->log->qwords[WR]++;
	r->popped++;
	total = r->popped * 2 / r->width;
	if (r->popped == r->wpkt.qwords + 1)
		total = r->wpkt.charge;
	forward(r, total - r->credited);
	r->credited = total;
}

static bool note_due(const struct ref *r)
{
	return r->n_head != r->n_tail && r->note[r->n_head].at <= r->now;
}

/* Returns the next link, round robin, whose front packet is ready. */
static uint32_t ready_link(const struct ref *r)
{
	for (uint32_t i = 0; i < r->ends; i++) {
		uint32_t k = (r->rr_fifo + i) % r->ends;
		const struct rfifo *f = &r->fifo[k];

		if (f->head != f->tail && f->rx[f->head].ready <= r->now)
			return k;
	}
	return r->ends;
}

bool ref_write_ready(const struct ref *r)
{
	if (r->wst != NO_PND_OP)
		return false;
	return note_due(r) || r->reseq.head != r->reseq.tail ||
	       ready_link(r) < r->ends;
}

void ref_write_local(struct ref *r, uint32_t q, uint64_t word, bool for_rq)
{
	r->is_note = r->local = true;
	r->for_rq = for_rq;
	r->wst = NOTIFY;
	ref_bus_request(r, WR, r->c->lnotify + 8 * q, 8, word);
}

static void remote_note(struct ref *r, uint64_t header, uint64_t more)
{
	r->is_note = true;
	r->local = r->for_rq = false;
	r->wst = NOTIFY;
	r->rcount++;
	ref_bus_request(r, WR, r->c->rnotify, 8,
			r->rcount | (header >> 56 & 127) << 32 | more);
}

static void wr_update(struct ref *r)
{
	r->wst = UPDT_CNT;
	r->wleft = 1;
}

/* Writes the notifications that resequencing has released. Interrupts need no
 * write. */
static void wr_deliver(struct ref *r)
{
	while (r->reseq.head != r->reseq.tail) {
		const struct ref_reseq_note *d =
			&r->reseq.note[r->reseq.head++];

		if (!(d->header >> 54 & 1))
			continue;
		remote_note(r, d->header,
			    (uint64_t)d->loss << 41 | (uint64_t)d->src << 48);
		return;
	}
	wr_update(r);
}

static void start_packet(struct ref *r)
{
	r->wlink = ready_link(r);
	r->rr_fifo = r->wlink + 1;
	r->wpkt = r->fifo[r->wlink].rx[r->fifo[r->wlink].head++];
	r->wst = RX_WR;
	r->is_note = r->for_rq = false;
	r->popped = 1;
	r->credited = 2 / r->width;
	forward(r, r->credited);
	r->active[WR] = true;
	ref_bus_request(r, WR, (uint32_t)r->wpkt.header & ~7u,
			r->wpkt.qwords * 8, 0);
}

void ref_write_start(struct ref *r)
{
	if (note_due(r)) {
		struct note *t = &r->note[r->n_head++];

		ref_write_local(r, t->queue, t->word, false);
	} else if (r->reseq.head != r->reseq.tail) {
		r->for_rq = false;
		wr_deliver(r);
	} else {
		start_packet(r);
	}
}

static void step_rx_wr(struct ref *r)
{
	if (!r->b[WR].done)
		return;
	r->b[WR].done = false;
	if (r->c->multi) {
		r->reseq.pkt[r->wpkt.send].written = true;
		ref_reseq_advance(&r->reseq, r->now);
		wr_deliver(r);
	} else if (r->wpkt.header >> 54 & 1) {
		remote_note(r, r->wpkt.header, 0);
	} else {
		wr_update(r);
	}
}

static void step_wr_notify(struct ref *r)
{
	if (!r->b[WR].done)
		return;
	r->b[WR].done = false;
	if (r->for_rq)
		r->wst = NO_PND_OP;
	else if (r->local)
		wr_update(r);
	else
		wr_deliver(r);
}

void ref_write_step(struct ref *r)
{
	if (r->wst == RX_WR) {
		step_rx_wr(r);
	} else if (r->wst == NOTIFY) {
		step_wr_notify(r);
	} else if (r->wst == UPDT_CNT && !r->wleft) {
		r->wst = NO_PND_OP;
		r->active[WR] = false;
	}
}
