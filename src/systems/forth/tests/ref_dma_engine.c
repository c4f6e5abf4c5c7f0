/* SPDX-License-Identifier: Apache-2.0 */
/* ref_dma: request queues, the FSM of forth.md 3.4, writes to memory
 * (3.7, 3.8). */
#include "ref_dma_internal.h"

/* ---- queues ---- */

static void take_descriptors(struct ref *r)
{
	for (uint32_t i = 0; i < r->c->n_desc; i++) {
		const struct ref_desc *d = &r->c->desc[i];
		uint32_t ahead;

		if (d->pc != r->pc)
			continue;
		r->desc[d->queue][0][d->slot] = d->src;
		r->desc[d->queue][1][d->slot] = d->q1;
		ahead = (d->slot - r->head[d->queue]) % r->depth;
		if (ahead >= r->pending[d->queue])
			r->pending[d->queue] = ahead + 1;
	}
}

/* Adds a local notification. Notifications of one PCI edge are sorted by the
 * time at which the last packet of the notified transfer started on the line.
 * That order is our choice, because the source does not say it. */
static void add_note(struct ref *r, struct note n)
{
	uint32_t i = r->n_tail++;

	for (; i > r->n_head; i--) {
		const struct note *b = &r->note[i - 1];
		uint64_t edge = (b->at + r->c->pc_t - 1) / r->c->pc_t;
		uint64_t mine = (n.at + r->c->pc_t - 1) / r->c->pc_t;

		if (edge < mine || (edge == mine && b->start <= n.start))
			break;
		r->note[i] = *b;
	}
	r->note[i] = n;
}

/* Notes that transfer x has departed. Then counts departures from the oldest
 * transfer on, up to the first transfer that has not departed, and adds the
 * notifications of the counted transfers. */
void ref_engine_gone(struct ref *r, uint32_t q, uint32_t x, uint64_t at,
		     uint64_t start)
{
	r->xfer[q][x].done = true;
	r->xfer[q][x].at = at;
	r->xfer[q][x].start = start;
	start = 0;
	while (r->x_head[q] != r->x_tail[q] && r->xfer[q][r->x_head[q]].done) {
		struct xfer *t = &r->xfer[q][r->x_head[q]++];
		uint64_t slot = (t->slot + 1) % r->depth;

		at = t->at > at ? t->at : at;
		start = t->start > start ? t->start : start;
		r->dep[q]++;
		if (t->lnotify)
			add_note(r, (struct note){
					    .word = slot | (uint64_t)q << 16 |
						    (uint64_t)r->dep[q] << 32,
					    .at = at,
					    .start = start,
					    .queue = q });
	}
}

static uint32_t new_xfer(struct ref *r)
{
	r->xfer[r->q][r->x_tail[r->q]] =
		(struct xfer){ .slot = r->head[r->q],
			       .lnotify = r->q1 >> 61 & 1 };
	return r->x_tail[r->q]++;
}

/* ---- engine ---- */

/* ---- request queues ---- */

static void unmask(struct ref *r)
{
	for (uint32_t q = 0; q < r->c->queues; q++)
		if (r->need[q] &&
		    ref_voq_has_room(r, r->mask_voq[q], r->need[q]))
			r->need[q] = 0;
}

static void decide(struct ref *r)
{
	int pick = -1;
	bool in = ref_write_ready(r);

	unmask(r);
	for (uint32_t i = 0; i < r->c->queues && pick < 0; i++) {
		uint32_t q = (r->rr_queue + i) % r->c->queues;

		if (r->pending[q] && !r->need[q])
			pick = (int)q;
	}
	if (in && (pick < 0 || r->last_out)) {
		r->last_out = false;
		ref_write_start(r);
		r->st = RX_WR;
	} else if (pick >= 0) {
		r->last_out = true;
		r->q = (uint32_t)pick;
		r->rr_queue = r->q + 1;
		r->st = FETCH;
		r->left = 3;
	}
}

static void finish(struct ref *r)
{
	r->notified = false;
	r->left = 1;
	r->st = r->c->lnotify_read && r->q1 >> 61 & 1 ? NOTIFY : UPDT_CNT;
}

static void check(struct ref *r)
{
	r->q0 = r->desc[r->q][0][r->head[r->q]];
	r->q1 = r->desc[r->q][1][r->head[r->q]];
	r->qwords = r->q1 >> 32 & 1023;
	r->err = !r->qwords || r->qwords > 512 || (r->q1 >> 52 & 127) >= 8;
	r->got = r->cut = 0;
	if (r->err) {
		finish(r);
		return;
	}
	r->voq = r->c->voqs ? r->q1 >> 52 & 127 : 0;
	if (!ref_voq_has_room(r, r->voq, r->qwords)) {
		r->need[r->q] = r->qwords;
		r->mask_voq[r->q] = r->voq;
		r->st = NO_PND_OP;
		return;
	}
	ref_voq_take_room(r, r->voq, r->qwords);
	if (!r->c->lnotify_read)
		new_xfer(r);
	if (r->c->bench_zero) {
		r->got = r->qwords;
		ref_voq_cut(r, true);
		r->left = r->qwords;
		r->st = BM_GEN;
		return;
	}
	r->active[RD] = true;
	ref_bus_request(r, RD, r->q0 & ~7ull, r->qwords * 8, 0);
	r->st = RD_REQ;
}

static void reading(struct ref *r)
{
	if (r->b[RD].done) {
		r->b[RD].done = false;
		finish(r);
	} else if (r->b[RD].data) {
		r->st = RD_DATA;
	} else if (r->b[RD].split) {
		r->st = SPLIT_WAIT;
	}
}

static void step_notify(struct ref *r)
{
	uint64_t word = (r->head[r->q] + 1) % r->depth | (uint64_t)r->q << 16 |
			(uint64_t)(r->dep[r->q] + 1) << 32;

	if (r->wst != NO_PND_OP)
		return;
	if (!r->notified) {
		r->notified = true;
		ref_write_local(r, r->q, word, true);
		return;
	}
	r->st = UPDT_CNT;
	r->left = 1;
}

static void update(struct ref *r)
{
	if (r->c->lnotify_read)
		r->dep[r->q]++;
	else if (r->err)
		ref_engine_gone(r, r->q, new_xfer(r), r->now,
				REF_PATHS * r->cc);
	r->active[RD] = false;
	r->head[r->q] = (r->head[r->q] + 1) % r->depth;
	r->pending[r->q]--;
	r->st = NO_PND_OP;
}

static void step_engine(struct ref *r)
{
	switch (r->st) {
	case NO_PND_OP:
		decide(r);
		break;
	case FETCH:
		if (!r->left)
			check(r);
		break;
	case SPLIT_WAIT:
		if (r->b[RD].split && r->c->overlap && ref_write_ready(r)) {
			r->last_out = false;
			ref_write_start(r);
		}
		reading(r);
		break;
	case RD_REQ:
	case RD_DATA:
		reading(r);
		break;
	case BM_GEN:
		if (!r->left)
			finish(r);
		break;
	case RX_WR:
		if (r->wst == NO_PND_OP)
			r->st = NO_PND_OP;
		break;
	case NOTIFY:
		step_notify(r);
		break;
	case UPDT_CNT:
		if (!r->left)
			update(r);
		break;
	}
}

static void count_edge(struct ref *r)
{
	for (uint32_t d = 0; d < 2; d++)
		r->log->active[d] += r->active[d];
	r->log->split += r->split_open;
	if (r->bus.kind != IDLE && !r->bus.frame_in &&
	    !(r->bus.dir == WR && r->is_note))
		r->log->granted[r->bus.dir]++;
}

void ref_engine_edge(struct ref *r)
{
	enum state st, wst;

	take_descriptors(r);
	ref_bus_edge(r);
	ref_voq_edge(r);
	ref_reseq_advance(&r->reseq, r->now);
	tick_down(&r->left);
	tick_down(&r->wleft);
	do {
		st = r->st;
		wst = r->wst;
		ref_write_step(r);
		step_engine(r);
	} while (st != r->st || wst != r->wst);
	ref_bus_arbitrate(r);
	count_edge(r);
}
