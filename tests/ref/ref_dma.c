/* SPDX-License-Identifier: Apache-2.0 */
/* See ref_dma.h. */
#include "ref_dma.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

enum state {
	NO_PND_OP,
	FETCH,
	RD_REQ,
	SPLIT_WAIT,
	RD_DATA,
	BM_GEN,
	RX_WR,
	NOTIFY,
	UPDT_CNT
};
enum { RD, WR };

/* A packet in a VOQ, or on its way into it. */
struct rpkt {
	struct ref_pkt wire;
	uint64_t header, avail, ready; /* pc: may enter; may start */
	uint32_t words, qwords, queue, xfer;
	bool first, last, in, gone;
	struct rblock *block; /* it lies in external memory */
};

struct rblock {			 /* of external memory */
	uint32_t words, missing; /* packets not in yet */
};

struct rxpkt {
	uint64_t header, ready; /* time */
	uint32_t qwords, charge;
};

struct xfer { /* departure order of a queue */
	uint32_t slot;
	bool lnotify, done;
	uint64_t at; /* time */
};

struct note { /* local notification waiting */
	uint64_t word, at;
	uint32_t queue;
};

struct ref {
	const struct ref_dma_cfg *c;
	struct ref_dma_log *log;
	uint64_t pc, cc, now; /* now in 100 ps */
	struct ref_end nic, far;
	/* queues */
	uint32_t depth, head[8], pending[8], rr_queue, need[8], dep[8];
	uint32_t mask_voq[8];
	uint64_t *desc[8][2];
	struct xfer *xfer[8];
	uint32_t x_head[8], x_tail[8];
	struct note note[REF_DESCS];
	uint32_t n_head, n_tail;
	/* engine */
	enum state st, wst;
	uint32_t left; /* cycles left in a timed state */
	uint32_t q, qwords, voq, got, cut;
	uint64_t q0, q1;
	bool err, notified, last_out, active[2], for_rq, is_note;
	uint32_t wleft;
	struct rxpkt wpkt;
	uint32_t popped, credited, rcount;
	/* bus: transaction of each direction, and what is on the bus */
	struct {
		bool pending, req, split, data, done;
		uint32_t bytes, moved, seq, op, wait;
	} b[2];
	uint32_t compl_wait;
	bool compl ;
	struct {
		enum { IDLE, REQUEST, DATA } kind;
		uint32_t dir, pre, frame_in, beats;
		bool split_due;
	} bus;
	bool split_open;
	/* outgoing */
	struct rpkt *pkt; /* all of them, in the order of cutting */
	uint32_t n_pkt, inserting, ins_left;
	bool inserter;
	uint32_t used[8], rr_voq;
	uint32_t seg[8], room[8]; /* left in segment, in tail block */
	/* how the current transfer is cut: packet i ends before qword end[i] */
	uint32_t plan_end[512], plan_new[512], n_plan, next_plan, plan_blocks;
	uint32_t plan_seg, plan_room, ext;
	struct rblock *block[8]; /* of each VOQ, in order */
	uint32_t b_head[8], b_tail[8], n_free;
	uint32_t reading, read_voq, rr_read; /* reading: cycles left */
	struct rpkt *going;
	uint32_t line_word;  /* of the packet on the line */
	uint32_t out_qwords; /* of it that have left */
	/* incoming */
	struct rxpkt rx[REF_DESCS];
	uint32_t rx_head, rx_tail, sent;
	struct ref_pkt spkt[REF_DESCS];
	/* far end: words to forward at a cycle */
	struct {
		uint64_t cycle;
		uint32_t lane, words;
	} hold[REF_PKTS];
	uint32_t h_head, h_tail;
};

static uint32_t size_of(uint64_t header)
{
	return header >> 32 & 1023;
}
static uint32_t flow_of(uint64_t header)
{
	return header >> 56 & 127;
}
static uint32_t wire_of(const struct ref *r, uint32_t qwords)
{
	return qwords * 8 < r->c->min_bytes ? r->c->min_bytes : qwords * 8;
}
static uint32_t n_voq(const struct ref *r)
{
	return r->c->voqs ? r->c->voqs : 1;
}

/* ---- bus ------------------------------------------------------------------
 */

static void bus_request(struct ref *r, uint32_t dir, uint64_t addr,
			uint32_t bytes, uint64_t word)
{
	struct ref_op *o = &r->log->op[r->log->n_op];

	assert(r->log->n_op < REF_OPS && !r->b[dir].pending);
	*o = (struct ref_op){ .write = dir == WR,
			      .req = r->pc,
			      .addr = addr,
			      .word = word,
			      .bytes = bytes };
	memset(&r->b[dir], 0, sizeof(r->b[dir]));
	r->b[dir].pending = r->b[dir].req = true;
	r->b[dir].bytes = bytes;
	r->b[dir].op = r->log->n_op++;
}

static uint32_t min32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static void bus_begin(struct ref *r, uint32_t dir, uint32_t pre, uint32_t beats,
		      uint32_t kind)
{
	r->bus.kind = kind;
	r->bus.dir = dir;
	r->bus.pre = pre + r->c->t_ph;
	r->bus.frame_in = pre;
	r->bus.beats = beats;
}

static void bus_arbitrate(struct ref *r)
{
	const struct ref_dma_cfg *c = r->c;
	uint32_t n;

	if (r->bus.kind != IDLE)
		return;
	if (r->compl &&!r->compl_wait) {
		n = min32(r->b[RD].seq, c->chunk);
		bus_begin(r, RD, c->t_gap, n / 8, DATA);
		r->b[RD].seq -= n;
		r->compl = false;
	} else if (r->b[WR].req && !r->b[WR].wait) {
		n = min32(r->b[WR].bytes - r->b[WR].moved, c->chunk);
		r->b[WR].req = false;
		bus_begin(r, WR, c->t_arb, n / 8, DATA);
	} else if (r->b[RD].req) {
		r->b[RD].req = false;
		bus_begin(r, RD, c->t_arb, 0, REQUEST);
	}
}

static void word_moved(struct ref *r, uint32_t dir);

static void tenure_over(struct ref *r)
{
	uint32_t d = r->bus.dir;

	r->bus.kind = IDLE;
	if (r->b[d].moved == r->b[d].bytes) {
		r->b[d].done = true;
		r->b[d].pending = false;
		r->log->op[r->b[d].op].done = r->pc;
	} else if (d == WR) {
		r->b[d].req = true;
		r->b[d].wait = r->c->t_disc - r->c->t_arb;
	} else if (r->b[d].seq) {
		r->compl = true;
		r->compl_wait = 0;
	} else {
		r->b[d].req = true;
	}
}

static void split_response(struct ref *r)
{
	const struct ref_dma_cfg *c = r->c;

	r->bus.kind = IDLE;
	r->b[RD].split = true;
	r->b[RD].data = false;
	r->split_open = true;
	r->b[RD].seq = min32(r->b[RD].bytes - r->b[RD].moved, c->mmrbc);
	r->compl = true;
	r->compl_wait = c->t_split - c->t_gap - c->t_ph;
}

static void tick_down(uint32_t *n)
{
	if (*n)
		--*n;
}

/* What happens on the bus at this edge. */
static void bus_edge(struct ref *r)
{
	bool data_now = r->bus.kind == DATA && !r->bus.pre;

	tick_down(&r->b[WR].wait);
	tick_down(&r->compl_wait);
	if (r->bus.kind == IDLE)
		return;
	if (data_now) {
		r->bus.beats--;
		r->b[r->bus.dir].moved += 8;
		word_moved(r, r->bus.dir);
		if (!r->bus.beats)
			tenure_over(r);
		return;
	}
	tick_down(&r->bus.frame_in);
	if (--r->bus.pre)
		return;
	if (r->bus.kind == REQUEST) {
		split_response(r);
		return;
	}
	r->b[r->bus.dir].data = true;
	r->b[r->bus.dir].split = false;
	if (r->bus.dir == RD)
		r->split_open = false;
}

/* ---- queues ---------------------------------------------------------------
 */

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

/* One transfer is gone; those in front are acknowledged in order. */
static void acknowledge(struct ref *r, uint32_t q, uint32_t x, uint64_t at)
{
	r->xfer[q][x].done = true;
	r->xfer[q][x].at = at;
	while (r->x_head[q] != r->x_tail[q] && r->xfer[q][r->x_head[q]].done) {
		struct xfer *t = &r->xfer[q][r->x_head[q]++];
		uint64_t slot = (t->slot + 1) % r->depth;

		at = t->at > at ? t->at : at;
		r->dep[q]++;
		if (t->lnotify)
			r->note[r->n_tail++] =
				(struct note){ slot | (uint64_t)q << 16 |
						       (uint64_t)r->dep[q]
							       << 32,
					       at, q };
	}
}

static uint32_t new_xfer(struct ref *r)
{
	r->xfer[r->q][r->x_tail[r->q]] =
		(struct xfer){ .slot = r->head[r->q],
			       .lnotify = r->q1 >> 61 & 1 };
	return r->x_tail[r->q]++;
}

/* ---- outgoing buffers -------------------------------------------------------
 */

/* Lays a transfer word by word into segments, packets and, in external
 * memory, blocks.  False: not enough blocks. */
static bool lay_out(struct ref *r, uint32_t v, uint32_t qwords)
{
	uint32_t max = r->c->voqs ? r->c->max_qwords : 512, size = 0;
	uint32_t seg_max = r->c->voqs ? r->c->seg_qwords : 512;
	uint32_t seg = r->seg[v] < min32(qwords, max) ? 0 : r->seg[v];
	uint32_t room = r->b_head[v] == r->b_tail[v] ? 0 : r->room[v];

	r->n_plan = r->plan_blocks = 0;
	for (uint32_t i = 0; i < qwords; i++) {
		uint32_t need = (i == 0) + 1u + (i == qwords - 1);
		bool full = r->ext && room < need;

		if (size && (size == max || !seg || full)) {
			r->plan_end[r->n_plan++] = i;
			size = 0;
		}
		if (full) {
			r->plan_blocks++;
			room = r->c->block_words;
		}
		if (full || !seg)
			seg = seg_max;
		r->plan_new[r->n_plan] = r->plan_blocks;
		room -= r->ext ? need : 0;
		seg--;
		size++;
	}
	r->plan_end[r->n_plan++] = qwords;
	r->plan_seg = seg;
	r->plan_room = room;
	return !r->ext || r->plan_blocks <= r->n_free;
}

/* Is there room for the transfer, on chip or outside? */
static bool has_room(struct ref *r, uint32_t v, uint32_t qwords)
{
	bool fits = r->used[v] + qwords + 2 <= r->c->voq_words;

	r->ext = r->c->ext_blocks && (r->b_head[v] != r->b_tail[v] ||
				      r->used[v] >= r->c->hi || !fits);
	return lay_out(r, v, qwords) && (r->ext || fits);
}

static void take_room(struct ref *r, uint32_t v, uint32_t qwords)
{
	r->next_plan = 0;
	r->seg[v] = r->plan_seg;
	if (!r->ext) {
		r->used[v] += qwords + 2;
		return;
	}
	for (uint32_t i = 0; i < r->n_plan; i++)
		r->block[v][r->b_tail[v] - 1 + r->plan_new[i]].missing++;
	r->b_tail[v] += r->plan_blocks;
	r->n_free -= r->plan_blocks;
	r->room[v] = r->plan_room;
}

/* The reader of external memory, one block at a time. */
static void reader_edge(struct ref *r)
{
	uint32_t v = r->read_voq;

	if (r->reading && !--r->reading) {
		struct rblock *b = &r->block[v][r->b_head[v]++];

		for (uint32_t i = 0; i < r->n_pkt; i++)
			if (r->pkt[i].block == b) {
				r->pkt[i].block = NULL;
				r->pkt[i].ready = r->pc + 5;
			}
		r->n_free++;
	}
	for (uint32_t i = 0; i < r->c->voqs && !r->reading; i++) {
		struct rblock *b;

		v = (r->rr_read + i) % r->c->voqs;
		b = &r->block[v][r->b_head[v]];
		if (r->b_head[v] == r->b_tail[v] || b->missing ||
		    r->used[v] >= r->c->lo)
			continue;
		r->read_voq = v;
		r->rr_read = v + 1;
		r->reading = r->c->rd_lat +
			     (8 * b->words + r->c->rate - 1) / r->c->rate;
		r->used[v] += b->words;
		if (r->b_tail[v] - r->b_head[v] == 1)
			r->room[v] = 0;
		r->log->fetches++;
	}
}

static void cut_packets(struct ref *r, bool made)
{
	while (r->cut < r->qwords) {
		uint32_t end = r->plan_end[r->next_plan];
		struct rpkt *p = &r->pkt[r->n_pkt];
		uint64_t flags;

		if (end > r->got)
			return;
		assert(r->n_pkt < REF_PKTS);
		p->first = !r->cut;
		p->last = end == r->qwords;
		p->qwords = end - r->cut;
		p->words = p->qwords + p->first + p->last;
		p->queue = r->q;
		p->xfer = r->x_tail[r->q] - 1;
		flags = p->last ? r->q1 >> 8 & 7ull << 52 : 0;
		p->header = (r->q1 >> 52 & 127) << 56 | flags | 1ull << 51 |
			    (uint64_t)p->qwords << 32 |
			    (uint32_t)(r->q1 + 8 * r->cut);
		p->wire.wire = wire_of(r, p->qwords);
		p->avail = r->pc + 3;
		p->block = r->ext ? &r->block[r->voq][r->b_tail[r->voq] - 1 -
						      r->plan_blocks +
						      r->plan_new[r->next_plan]]
				  : NULL;
		r->next_plan++;
		if (!r->c->voqs) { /* straight into the FIFO */
			p->in = true;
			p->ready = r->pc + 5 + (made ? p->qwords : 0);
		}
		r->n_pkt++;
		r->cut = end;
	}
}

/* One word per pc into the VOQs, packet after packet. */
static void insert_edge(struct ref *r)
{
	if (!r->c->voqs)
		return;
	if (r->inserter && !--r->ins_left) {
		struct rpkt *p = &r->pkt[r->inserting++];

		p->in = true;
		p->ready = r->pc + 5;
		if (p->block) {
			p->block->missing--;
			p->block->words += p->words;
		}
		r->inserter = false;
	}
	if (!r->inserter && r->inserting < r->n_pkt &&
	    r->pkt[r->inserting].avail <= r->pc) {
		r->inserter = true;
		r->ins_left = r->pkt[r->inserting].words;
	}
}

static struct rpkt *voq_front(struct ref *r, uint32_t v)
{
	for (uint32_t i = 0; i < r->n_pkt; i++) {
		struct rpkt *p = &r->pkt[i];

		if (!p->gone && (!r->c->voqs || flow_of(p->header) == v))
			return p;
	}
	return NULL;
}

/* ---- engine -----------------------------------------------------------------
 */

static void word_moved(struct ref *r, uint32_t dir)
{
	uint32_t total;

	if (dir == RD) {
		r->got++;
		r->log->qwords[RD]++;
		cut_packets(r, false);
		return;
	}
	if (r->is_note)
		return;
	r->log->qwords[WR]++;
	r->popped++;
	total = r->popped * 2 / r->c->links;
	if (r->popped == r->wpkt.qwords + 1)
		total = r->wpkt.charge;
	r->nic.fwd[0] = (r->nic.fwd[0] + total - r->credited) & 4095;
	r->credited = total;
}

static bool write_ready(const struct ref *r)
{
	if (r->wst != NO_PND_OP)
		return false;
	if (r->n_head != r->n_tail && r->note[r->n_head].at <= r->now)
		return true;
	return r->rx_head != r->rx_tail && r->rx[r->rx_head].ready <= r->now;
}

static void start_note(struct ref *r, uint32_t q, uint64_t word, bool for_rq)
{
	r->is_note = true;
	r->for_rq = for_rq;
	r->wst = NOTIFY;
	bus_request(r, WR, r->c->lnotify + 8 * q, 8, word);
}

static void start_write(struct ref *r)
{
	if (r->n_head != r->n_tail && r->note[r->n_head].at <= r->now) {
		struct note *t = &r->note[r->n_head++];

		start_note(r, t->queue, t->word, false);
		return;
	}
	r->wpkt = r->rx[r->rx_head++];
	r->wst = RX_WR;
	r->is_note = r->for_rq = false;
	r->popped = 1;
	r->credited = 2 / r->c->links;
	r->nic.fwd[0] = (r->nic.fwd[0] + r->credited) & 4095;
	r->active[WR] = true;
	bus_request(r, WR, (uint32_t)r->wpkt.header & ~7u, r->wpkt.qwords * 8,
		    0);
}

static void step_write(struct ref *r)
{
	switch (r->wst) {
	case RX_WR:
		if (!r->b[WR].done)
			return;
		r->b[WR].done = false;
		if (!(r->wpkt.header >> 54 & 1)) {
			r->wst = UPDT_CNT;
			r->wleft = 1;
			return;
		}
		r->is_note = true;
		r->wst = NOTIFY;
		r->rcount++;
		bus_request(r, WR, r->c->rnotify, 8,
			    r->rcount | (r->wpkt.header >> 56 & 127) << 32);
		return;
	case NOTIFY:
		if (!r->b[WR].done)
			return;
		r->b[WR].done = false;
		r->wst = r->for_rq ? NO_PND_OP : UPDT_CNT;
		r->wleft = 1;
		return;
	case UPDT_CNT:
		if (r->wleft)
			return;
		r->wst = NO_PND_OP;
		r->active[WR] = false;
		return;
	default:
		return;
	}
}

static void unmask(struct ref *r)
{
	for (uint32_t q = 0; q < r->c->queues; q++)
		if (r->need[q] && has_room(r, r->mask_voq[q], r->need[q]))
			r->need[q] = 0;
}

static void decide(struct ref *r)
{
	int pick = -1;
	bool in = write_ready(r);

	unmask(r);
	for (uint32_t i = 0; i < r->c->queues && pick < 0; i++) {
		uint32_t q = (r->rr_queue + i) % r->c->queues;

		if (r->pending[q] && !r->need[q])
			pick = (int)q;
	}
	if (in && (pick < 0 || r->last_out)) {
		r->last_out = false;
		start_write(r);
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
	if (!has_room(r, r->voq, r->qwords)) {
		r->need[r->q] = r->qwords;
		r->mask_voq[r->q] = r->voq;
		r->st = NO_PND_OP;
		return;
	}
	take_room(r, r->voq, r->qwords);
	if (!r->c->lnotify_read)
		new_xfer(r);
	if (r->c->bench_zero) {
		r->got = r->qwords;
		cut_packets(r, true);
		r->left = r->qwords;
		r->st = BM_GEN;
		return;
	}
	r->active[RD] = true;
	bus_request(r, RD, r->q0 & ~7ull, r->qwords * 8, 0);
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
		start_note(r, r->q, word, true);
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
		acknowledge(r, r->q, new_xfer(r), r->now);
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
		if (r->b[RD].split && r->c->overlap && write_ready(r)) {
			r->last_out = false;
			start_write(r);
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

static void pci_edge(struct ref *r)
{
	enum state st, wst;

	take_descriptors(r);
	bus_edge(r);
	insert_edge(r);
	reader_edge(r);
	tick_down(&r->left);
	tick_down(&r->wleft);
	do {
		st = r->st;
		wst = r->wst;
		step_write(r);
		step_engine(r);
	} while (st != r->st || wst != r->wst);
	bus_arbitrate(r);
	count_edge(r);
}

/* ---- NET side
 * ----------------------------------------------------------------- */

/* The wire word of the last cycle has left: so have the FIFO words that ended
 * with it (header word, payload words, CRC word). */
static void words_left(struct ref *r)
{
	struct rpkt *p = r->going;
	uint32_t pre = r->c->links == 1 ? 3 : 2, out, v;
	const struct ref_word *w;

	if (!p || !r->nic.cur_at)
		return;
	w = &r->nic.cur[r->nic.cur_at - 1];
	if (w->pkt != &p->wire)
		return;
	v = r->c->voqs ? flow_of(p->header) : 0;
	r->line_word++;
	if (p->first && r->line_word == pre - 1)
		r->used[v]--;
	if (r->line_word > pre) {
		out = min32((r->line_word - pre) * r->c->links / 2, p->qwords);
		r->used[v] -= out - r->out_qwords;
		r->out_qwords = out;
	}
	if (!ref_end_free(&r->nic))
		return;
	r->used[v] -= p->qwords - r->out_qwords + p->last;
	if (p->last && !r->c->lnotify_read)
		acknowledge(r, p->queue, p->xfer, r->now);
	r->going = NULL;
}

static void nic_receive(struct ref *r, const struct ref_word *w)
{
	struct rxpkt *x = &r->rx[r->rx_tail];
	uint64_t header, wait;
	uint32_t beats;

	if (!w->header)
		return;
	header = r->c->send[w->pkt->seq].header;
	beats = (w->pkt->wire + 4 * r->c->links - 1) / (4 * r->c->links) +
		(r->c->links == 1 ? 5 : 4);
	wait = (r->c->quarters * beats + 3) / 4;
	x->header = header;
	x->qwords = size_of(header);
	x->charge = ref_charge(&r->nic, w->pkt->wire);
	x->ready = (r->cc - 1 + 5 + wait) * r->c->cc_t;
	r->rx_tail++;
}

static void far_receive(struct ref *r, const struct ref_word *w)
{
	const struct rpkt *p = (const struct rpkt *)w->pkt;

	if (!w->header)
		return;
	r->log->pkt[r->log->n_pkt++] =
		(struct ref_arrival){ r->cc - 1, p->header };
	r->hold[r->h_tail].cycle = r->cc - 1 + r->c->sink_hold;
	r->hold[r->h_tail].lane =
		r->c->sink_lanes == 1 ? 0 : flow_of(p->header);
	r->hold[r->h_tail++].words = ref_charge(&r->far, p->wire.wire);
}

static void far_forward(struct ref *r)
{
	for (; r->h_head != r->h_tail && r->hold[r->h_head].cycle <= r->cc;
	     r->h_head++) {
		uint32_t *f = &r->far.fwd[r->hold[r->h_head].lane];

		*f = (*f + r->hold[r->h_head].words) & 4095;
	}
}

static void nic_decide(struct ref *r)
{
	bool short_of = false;

	if (!ref_end_free(&r->nic))
		return;
	for (uint32_t i = 0; i < n_voq(r); i++) {
		uint32_t v = (r->rr_voq + i) % n_voq(r), lane;
		struct rpkt *p = voq_front(r, v);

		if (!p || !p->in || p->block || p->ready * r->c->pc_t > r->now)
			continue;
		lane = r->c->sink_lanes == 1 ? 0 : flow_of(p->header);
		if (!ref_enough(&r->nic, lane,
				ref_charge(&r->nic, p->wire.wire))) {
			short_of = true;
			continue;
		}
		r->rr_voq = v + 1;
		r->going = p;
		r->line_word = r->out_qwords = 0;
		p->gone = true;
		ref_end_packet(&r->nic, r->cc, &p->wire, lane);
		return;
	}
	r->nic.blocked |= short_of;
	ref_end_idle(&r->nic, r->cc);
}

static void far_decide(struct ref *r)
{
	const struct ref_send *s = &r->c->send[r->sent];
	struct ref_pkt *p = &r->spkt[r->sent];

	if (!ref_end_free(&r->far))
		return;
	p->seq = r->sent;
	p->wire = wire_of(r, size_of(s->header));
	if (r->sent < r->c->n_send && s->cycle <= r->cc &&
	    ref_enough(&r->far, 0, ref_charge(&r->far, p->wire))) {
		r->log->start[r->log->n_start++] = r->cc;
		r->sent++;
		ref_end_packet(&r->far, r->cc, p, 0);
		return;
	}
	ref_end_idle(&r->far, r->cc);
}

static void net_edge(struct ref *r)
{
	nic_receive(r, ref_end_receive(&r->nic, r->cc));
	far_receive(r, ref_end_receive(&r->far, r->cc));
	far_forward(r);
	ref_end_parse(&r->nic, r->cc);
	ref_end_parse(&r->far, r->cc);
	nic_decide(r);
	far_decide(r);
	ref_end_line(&r->nic, r->cc);
	ref_end_line(&r->far, r->cc);
}

/* ---- running
 * ------------------------------------------------------------------ */

static void end_init(struct ref *r, struct ref_end *e, uint32_t tx_lanes,
		     uint32_t rx_lanes, uint32_t cap)
{
	e->links = r->c->links;
	e->delay = 24;
	e->crtx = 3;
	e->crrx = 2;
	e->refresh = r->c->refresh;
	e->tx_lanes = tx_lanes;
	e->rx_lanes = rx_lanes;
	e->cap = cap;
}

static void ref_init(struct ref *r)
{
	const struct ref_dma_cfg *c = r->c;

	end_init(r, &r->nic, c->sink_lanes, 1, c->sink_cap);
	end_init(r, &r->far, 1, c->sink_lanes, 2046 / c->links);
	r->nic.peer = &r->far;
	r->far.peer = &r->nic;
	r->depth = 1024 / c->queues;
	r->pkt = calloc(REF_PKTS, sizeof(*r->pkt));
	r->n_free = c->ext_blocks;
	for (uint32_t v = 0; v < 8; v++)
		r->block[v] = calloc(REF_PKTS, sizeof(*r->block[v]));
	for (uint32_t q = 0; q < c->queues; q++) {
		r->xfer[q] = calloc(REF_DESCS, sizeof(*r->xfer[q]));
		for (uint32_t i = 0; i < 2; i++)
			r->desc[q][i] = calloc(r->depth, 8);
	}
}

static void ref_fini(struct ref *r)
{
	for (uint32_t q = 0; q < r->c->queues; q++) {
		r->log->head[q] = r->head[q];
		free(r->xfer[q]);
		free(r->desc[q][0]);
		free(r->desc[q][1]);
	}
	for (uint32_t v = 0; v < 8; v++)
		free(r->block[v]);
	r->log->ext_free = r->n_free;
	r->log->backpressure = r->nic.backpressure;
	r->log->sent0 = r->nic.sent[0];
	r->log->acked0 = r->nic.acked[0];
	free(r->pkt);
	free(r);
}

void ref_dma_run(const struct ref_dma_cfg *cfg, struct ref_dma_log *log)
{
	struct ref *r = calloc(1, sizeof(*r));

	memset(log, 0, sizeof(*log));
	r->c = cfg;
	r->log = log;
	ref_init(r);
	while (r->pc <= cfg->end_pc) {
		uint64_t pci = r->pc * cfg->pc_t, net = r->cc * cfg->cc_t;

		r->now = pci < net ? pci : net;
		if (net == r->now)
			words_left(r);
		if (pci == r->now) {
			pci_edge(r);
			r->pc++;
		}
		if (net == r->now) {
			net_edge(r);
			r->cc++;
		}
	}
	ref_fini(r);
}
