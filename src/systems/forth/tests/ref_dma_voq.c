/* SPDX-License-Identifier: Apache-2.0 */
/* ref_dma, outgoing buffers: cuts transfers into segments and packets, and
 * models external memory (forth.md 6.2-6.4). */
#include <assert.h>
#include <stddef.h>

#include "ref_dma_internal.h"

/* Lays out a transfer word by word into segments, packets and, in external
 * memory, blocks. Returns false if too few blocks are free. */
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

bool ref_voq_has_room(struct ref *r, uint32_t v, uint32_t qwords)
{
	bool fits = r->used[v] + qwords + 2 <= r->c->voq_words;

	r->ext = r->c->ext_blocks && (r->b_head[v] != r->b_tail[v] ||
				      r->used[v] >= r->c->hi || !fits);
	return lay_out(r, v, qwords) && (r->ext || fits);
}

void ref_voq_take_room(struct ref *r, uint32_t v, uint32_t qwords)
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

/* Advances the reader of external memory by one edge. The reader reads one
 * block at a time. */
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

void ref_voq_cut(struct ref *r, bool made)
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
		if (!r->c->voqs) { /* without VOQs the words enter the FIFO
				      directly */
			p->in = true;
			p->ready = r->pc + 5 + (made ? p->qwords : 0);
		}
		r->n_pkt++;
		r->cut = end;
	}
}

/* Inserts one word per PCI cycle into the VOQs, packet after packet. */
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

struct rpkt *ref_voq_front(struct ref *r, uint32_t v)
{
	for (uint32_t i = 0; i < r->n_pkt; i++) {
		struct rpkt *p = &r->pkt[i];

		if (!p->gone && (!r->c->voqs || flow_of(p->header) == v))
			return p;
	}
	return NULL;
}

void ref_voq_edge(struct ref *r)
{
	insert_edge(r);
	reader_edge(r);
}
