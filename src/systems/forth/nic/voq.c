/* SPDX-License-Identifier: Apache-2.0 */
/* Outgoing buffers of the FORTH NIC: eight VOQs, or the single Host2Net FIFO.
 * Source: forth.md sections 3.5, 4.1, 6.2-6.4 (VOQs, segments, room), 11.1
 * (T_SYNC_DV, T_VOQ, T_SYNC_VL, T_LINKSTART), 11.6.
 *
 *   engine --T_SYNC_DV--> VOQ (1 word/cycle) --T_SYNC_VL, T_LINKSTART--> link
 *                          |                ^
 *                          +-- external_queue.c -------+
 *
 * The NIC plans how a transfer is cut into packets when it reserves room for
 * the transfer (6.4). A packet ends with its transfer, with its segment or at
 * the largest payload. A segment takes up to voq_seg_max bytes of one or more
 * transfers. The next transfer begins a new segment if its first packet does
 * not fit into the open segment. We chose this rule, because with it short
 * transfers share a segment and no short transfer is cut without need.
 *
 * A packet enters the VOQ once all of it has been read. It may depart when the
 * whole packet is in the VOQ. A Host2Net FIFO has neither T_SYNC_DV nor the
 * time that a packet needs to enter a VOQ, because the engine fills the FIFO
 * directly. */
#include <assert.h>

#include "systems/forth/nic/nic.h"

void forth_voq_init(struct forth_nic *n)
{
	uint64_t seg = n->p.voq_seg_max ? n->p.voq_seg_max : n->p.max_payload;

	n->n_voq = n->p.voqs ? n->p.voqs : 1;
	n->pkt_qwords =
		n->p.voqs ? (uint32_t)n->p.max_payload / 8 : FORTH_SIZE_MAX;
	n->seg_qwords = n->p.voqs ? (uint32_t)seg / 8 : FORTH_SIZE_MAX;
	for (uint32_t v = 0; v < n->n_voq; v++)
		n->voq[v].cap = n->p.voqs ? (uint32_t)(n->p.voq_bytes / 8)
					  : n->p.h2n_words;
}

static void drop_packets(struct forth_voq *q)
{
	for (; !ring_empty(&q->pkts); ring_pop(&q->pkts))
		weft_slice_drop(&ring_front(&q->pkts)->data);
}

void forth_voq_fini(struct forth_nic *n)
{
	for (uint32_t v = 0; v < FORTH_QUEUES_MAX; v++) {
		struct forth_voq *q = &n->voq[v];

		drop_packets(q);
		ring_free(&q->pkts);
		ring_free(&q->ext);
		ring_free(&q->blocks);
	}
}

/* ---- room ---- */

uint32_t forth_voq_level(const struct forth_nic *n, uint32_t v)
{
	uint64_t cc = 0;
	/* words that have left the VOQ but are still part of `used` */
	uint32_t left = 0;

	for (uint32_t k = 0; k < n->n_link; k++) {
		if (n->leaving[k].voq != v || !n->leaving[k].words)
			continue;
		cc = cc ? cc : forth_net_now(n);
		left += forth_left_by(n, k, cc);
	}
	assert(left <= n->voq[v].used);
	return n->voq[v].used - left;
}

/* Returns how many words of the packets on the lines have left VOQ v by NET
 * cycle cc. */
static uint32_t left_sum(const struct forth_nic *n, uint32_t v, uint64_t cc)
{
	uint32_t sum = 0;

	for (uint32_t k = 0; k < n->n_link; k++)
		if (n->leaving[k].voq == v && n->leaving[k].words)
			sum += forth_left_by(n, k, cc);
	return sum;
}

uint64_t forth_voq_left_at(const struct forth_nic *n, uint32_t v,
			   uint32_t words)
{
	uint64_t lo = forth_net_now(n), hi = lo;

	words += left_sum(n, v, lo);
	for (uint32_t k = 0; k < n->n_link; k++)
		if (n->leaving[k].voq == v && n->leaving[k].end_cc > hi)
			hi = n->leaving[k].end_cc;
	if (left_sum(n, v, hi) < words)
		return UINT64_MAX;
	while (lo < hi) {
		uint64_t mid = lo + (hi - lo) / 2;

		if (left_sum(n, v, mid) >= words)
			hi = mid;
		else
			lo = mid + 1;
	}
	return forth_pc_of_cc(n, lo);
}

/* Plans the packets of a transfer that stays on chip. */
static void chip_plan(const struct forth_nic *n, uint32_t v, uint32_t qwords,
		      struct forth_plan *p)
{
	uint32_t end = 0, seg = n->voq[v].seg;
	uint32_t first = qwords < n->pkt_qwords ? qwords : n->pkt_qwords;

	p->n = 0;
	p->ext = false;
	if (seg < first)
		seg = 0;
	while (end < qwords) {
		uint32_t size = qwords - end;

		seg = seg ? seg : n->seg_qwords;
		size = size < seg ? size : seg;
		size = size < n->pkt_qwords ? size : n->pkt_qwords;
		end += size;
		seg -= size;
		p->end[p->n++] = (uint16_t)end;
	}
	p->seg = seg;
}

bool forth_voq_reserve(struct forth_nic *n, uint32_t v, uint32_t qwords)
{
	struct forth_plan *p = &n->rq.plan;

	n->rq.next_cut = 0;
	if (forth_ext_wanted(n, v, qwords)) {
		if (!forth_ext_plan(n, v, qwords, p))
			return false;
		forth_ext_take(n, v, p);
	} else {
		if (n->voq[v].cap - forth_voq_level(n, v) < qwords + 2)
			return false;
		chip_plan(n, v, qwords, p);
		n->voq[v].used += qwords + 2;
	}
	n->voq[v].seg = p->seg;
	return true;
}

/* Wakes the engine when the packets on the lines have made room for the masked
 * queue q. A free block of external memory needs no wake here, because
 * fetch_end wakes the engine when it frees a block. */
static void wake_for_room(struct forth_nic *n, const struct forth_queue *q)
{
	const struct forth_voq *v = &n->voq[q->voq];
	uint32_t level = forth_voq_level(n, q->voq), more = 1;
	uint64_t at;

	if (!ring_empty(&v->blocks))
		return;
	if (q->need + 2 + level > v->cap)
		more = q->need + 2 + level - v->cap;
	if (n->ext.total && level >= n->p.voq_hi / 8 + more)
		more = level - (uint32_t)(n->p.voq_hi / 8) + 1;
	at = forth_voq_left_at(n, q->voq, more);
	if (at != UINT64_MAX)
		forth_engine_wake(n, at);
}

void forth_voq_unmask(struct forth_nic *n)
{
	for (uint32_t i = 0; n->n_masked && i < n->p.queues; i++) {
		struct forth_queue *q = &n->queue[i];
		struct forth_plan p;

		if (!q->masked)
			continue;
		if (forth_ext_wanted(n, q->voq, q->need)
			    ? !forth_ext_plan(n, q->voq, q->need, &p)
			    : n->voq[q->voq].cap - forth_voq_level(n, q->voq) <
				      q->need + 2) {
			wake_for_room(n, q);
			continue;
		}
		q->masked = false;
		n->n_masked--;
	}
}

void forth_voq_abandon(struct forth_nic *n)
{
	struct forth_rq *rq = &n->rq;
	bool begun = rq->cut > 0;

	/* free the room of the CRC word and of the qwords that were not cut
	 * into packets. If no packet was cut, free the room of the header,
	 * too */
	if (rq->plan.ext)
		forth_ext_abandon(n, rq->voq, rq->plan.n - rq->next_cut);
	else
		n->voq[rq->voq].used -= rq->qwords - rq->cut + 2 - begun;
	rq->cut = rq->qwords;
	rq->next_cut = rq->plan.n;
}

/* ---- filling ---- */

/* Returns the edge at which the whole packet is in the VOQ, if its last word is
 * read at edge `read`. */
static uint64_t voq_insert(struct forth_nic *n, uint32_t words, uint64_t read)
{
	uint64_t in = read;

	if (n->p.voqs) {
		in += n->p.t_sync_dv;
		if (in < n->insert_free)
			in = n->insert_free;
		in += words;
		n->insert_free = in;
	}
	return in;
}

/* Returns the header of one packet (6.4). Only the last packet of a transfer
 * has the flags of the transfer. With completion=count the header names the
 * group (7.7). */
static uint64_t pkt_header(const struct forth_nic *n, uint32_t qwords,
			   bool last)
{
	const struct forth_rq *rq = &n->rq;
	uint64_t flags = last ? rq->q1 >> 8 & FORTH_HDR_FLAGS : 0;
	uint64_t hdr = forth_header(forth_desc_flow(rq->q1), flags, qwords,
				    (uint32_t)rq->q1 + 8 * rq->cut);

	if (n->multi && n->p.completion == COMPLETION_COUNT)
		hdr = forth_header_reseq(hdr, n->p.node << 7 |
						      (rq->q1 >> 42 & 0x7F));
	return hdr;
}

static void voq_push(struct forth_nic *n, uint64_t read)
{
	struct forth_rq *rq = &n->rq;
	struct forth_voq *v = &n->voq[rq->voq];
	uint32_t end = rq->plan.end[rq->next_cut], qwords = end - rq->cut;
	bool first = rq->cut == 0, last = end == rq->qwords;
	uint32_t slot = rq->queue * n->depth + n->queue[rq->queue].head;
	uint64_t in = voq_insert(n, qwords + first + last, read);
	struct forth_pkt p = {
		.hdr = pkt_header(n, qwords, last),
		.data = weft_slice_sub(rq->data, rq->cut * 8, qwords * 8),
		.ready = in + n->p.t_sync_vl + n->p.t_linkstart,
		.words = qwords + first + last,
		.ts1 = n->ts1 ? n->ts1[slot] : 0,
		.seq = rq->seq,
		.queue = (uint8_t)rq->queue,
		.first = first,
		.last = last,
	};

	n->h2net_start++;
	if (__builtin_expect(rq->trace != 0, 0)) {
		p.trace = weft_msg_fork(n->comp, rq->trace);
		forth_mark(n, p.trace, "DMA read: data", read);
		forth_mark(n, p.trace, "into the VOQ", in);
		forth_mark(n, p.trace, "VOQ to link", p.ready);
	}
	if (rq->plan.ext) {
		forth_ext_push(n, rq->voq, &p, in);
	} else {
		*ring_push(&v->pkts) = p;
		if (ring_count(&v->pkts) == 1)
			forth_voq_kick_one(n, rq->voq);
	}
	rq->cut = end;
	rq->next_cut++;
}

void forth_voq_feed(struct forth_nic *n, uint32_t first, uint32_t upto,
		    uint64_t pc0, bool paced)
{
	const struct forth_plan *p = &n->rq.plan;

	while (n->rq.next_cut < p->n && p->end[n->rq.next_cut] <= upto)
		voq_push(n, paced ? pc0 + p->end[n->rq.next_cut] - first : pc0);
}

/* Drops all packets except those on the lines, which must end undamaged. */
void forth_voq_reset(struct forth_nic *n)
{
	for (uint32_t i = 0; i < n->n_voq; i++) {
		struct forth_voq *v = &n->voq[i];

		drop_packets(v);
		v->used = v->seg = 0;
	}
	for (uint32_t k = 0; k < n->n_link; k++)
		n->voq[n->leaving[k].voq].used += n->leaving[k].words;
	n->n_masked = 0;
	forth_ext_reset(n);
}
