/* SPDX-License-Identifier: Apache-2.0 */
/* Outgoing buffers of the FORTH NIC: eight VOQs, or the single Host2Net FIFO.
 * Source: forth.md sections 3.5, 4.1, 4.10, 6.3-6.5 (VOQs on chip, departure),
 * 11.1 (T_SYNC_DV, T_VOQ, T_SYNC_VL, T_LINKSTART), 11.6.
 *
 *   engine --T_SYNC_DV--> VOQ (1 word per pc) --T_SYNC_VL, T_LINKSTART--> link
 *
 * A transfer is cut into packets as it enters: packet k is one segment, enters
 * the VOQ once all of it has been read, and may depart when all of it is in.
 * The Host2Net FIFO is filled by the engine directly: no first two stages.
 * Words leave as they go on the line: the header word when it is out, payload
 * words one by one, the CRC word at the end of the packet.
 * Not modelled: bodies of long VOQs in external memory. */
#include <assert.h>

#include "nic/forth/nic.h"

void forth_voq_init(struct forth_nic *n)
{
	n->n_voq = n->voqs ? n->voqs : 1;
	n->seg_qwords = n->voqs ? (uint32_t)n->max_payload / 8 : FORTH_SIZE_MAX;
	for (uint32_t v = 0; v < n->n_voq; v++)
		n->voq[v].cap =
			n->voqs ? (uint32_t)(n->voq_bytes / 8) : n->h2n_words;
}

void forth_voq_fini(struct forth_nic *n)
{
	for (uint32_t v = 0; v < FORTH_QUEUES_MAX; v++) {
		struct forth_voq *q = &n->voq[v];

		for (; !ring_empty(&q->pkts); ring_pop(&q->pkts))
			weft_slice_drop(&ring_front(&q->pkts)->data);
		ring_free(&q->pkts);
	}
}

/* ---- words that leave with the packet on the line --------------------- */

/* How many have left by NET cycle cc. */
static uint32_t left_by(const struct forth_nic *n, uint64_t cc)
{
	const struct forth_leaving *l = &n->leaving;
	uint64_t data = 0;

	if (cc > l->data_cc)
		data = (cc - l->data_cc) * n->links / 2;
	if (data > l->qwords)
		data = l->qwords;
	return (uint32_t)data + (l->first && cc >= l->head_cc) +
	       (l->last && cc >= l->end_cc);
}

/* NET cycle by which `words` (> 0) have left. */
static uint64_t left_at(const struct forth_nic *n, uint32_t words)
{
	const struct forth_leaving *l = &n->leaving;
	uint32_t data = words - l->first;

	if (!data)
		return l->head_cc;
	if (data > l->qwords)
		return l->end_cc;
	return l->data_cc + (2ull * data + n->links - 1) / n->links;
}

/* Last NET edge at or before now. */
static uint64_t net_now(const struct forth_nic *n)
{
	weft_time_t now = weft_now(n->comp);
	uint64_t cc = weft_clock_cycle(&n->link.clk, now);

	return weft_clock_edge(&n->link.clk, cc) > now ? cc - 1 : cc;
}

static uint32_t voq_free(const struct forth_nic *n, uint32_t v)
{
	uint32_t left = 0; /* still part of `used` */

	if (n->leaving.voq == v && n->leaving.words)
		left = left_by(n, net_now(n));
	assert(n->voq[v].used - left <= n->voq[v].cap);
	return n->voq[v].cap + left - n->voq[v].used;
}

/* ---- room --------------------------------------------------------------- */

bool forth_voq_reserve(struct forth_nic *n, uint32_t v, uint32_t words)
{
	if (voq_free(n, v) < words)
		return false;
	n->voq[v].used += words;
	return true;
}

void forth_voq_mask(struct forth_nic *n, uint32_t q, uint32_t v, uint32_t words)
{
	n->queue[q].masked = true;
	n->queue[q].voq = v;
	n->queue[q].need = words;
	n->n_masked++;
}

/* The packet on the line makes room later: look again then. */
static void wake_for_room(struct forth_nic *n, const struct forth_queue *q)
{
	const struct forth_voq *v = &n->voq[q->voq];
	uint32_t more = q->need + v->used - v->cap; /* than if all stayed */

	if (n->leaving.voq != q->voq || more > n->leaving.words)
		return;
	forth_engine_wake(n, forth_pc_of_cc(n, left_at(n, more)));
}

void forth_voq_unmask(struct forth_nic *n)
{
	for (uint32_t i = 0; n->n_masked && i < n->queues; i++) {
		struct forth_queue *q = &n->queue[i];

		if (!q->masked)
			continue;
		if (voq_free(n, q->voq) < q->need) {
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

	/* header and CRC word, and what was not cut into packets */
	n->voq[rq->voq].used -= rq->qwords - rq->cut + 2 - begun;
	rq->cut = rq->qwords;
}

/* ---- filling --------------------------------------------------------------
 */

/* Edge from which the link may start a packet whose last word is read at
 * `read`. */
static uint64_t voq_insert(struct forth_nic *n, uint32_t words, uint64_t read)
{
	uint64_t in = read;

	if (n->voqs) {
		in += n->t_sync_dv;
		if (in < n->insert_free)
			in = n->insert_free;
		in += words;
		n->insert_free = in;
	}
	return in + n->t_sync_vl + n->t_linkstart;
}

/* Header of one packet (6.4): flags only on the packet that ends the
 * transfer. */
static uint64_t pkt_header(const struct forth_rq *rq, uint32_t qwords,
			   bool last)
{
	uint64_t flags = last ? rq->q1 >> 8 & FORTH_HDR_FLAGS : 0;

	return forth_header(forth_desc_flow(rq->q1), flags, qwords,
			    (uint32_t)rq->q1 + 8 * rq->cut);
}

static void voq_push(struct forth_nic *n, uint32_t end, uint64_t read)
{
	struct forth_rq *rq = &n->rq;
	struct forth_voq *v = &n->voq[rq->voq];
	uint32_t qwords = end - rq->cut;
	bool first = rq->cut == 0, last = end == rq->qwords;
	uint64_t ready = voq_insert(n, qwords + first + last, read);

	*ring_push(&v->pkts) = (struct forth_pkt){
		.hdr = pkt_header(rq, qwords, last),
		.data = weft_slice_sub(rq->data, rq->cut * 8, qwords * 8),
		.ready = ready,
		.words = qwords + first + last,
		.ts1 = forth_bench_ts1(n, rq->queue, n->queue[rq->queue].head),
		.seq = rq->seq,
		.queue = (uint8_t)rq->queue,
		.first = first,
		.last = last,
	};
	rq->cut = end;
	n->h2net_start++;
	flink_kick(&n->link, weft_clock_edge(&n->pci, ready));
}

static uint32_t segment_end(const struct forth_nic *n)
{
	uint32_t end = n->rq.cut + n->seg_qwords;

	return end < n->rq.qwords ? end : n->rq.qwords;
}

void forth_voq_feed(struct forth_nic *n, uint32_t first, uint32_t upto,
		    uint64_t pc0)
{
	while (n->rq.cut < n->rq.qwords && segment_end(n) <= upto)
		voq_push(n, segment_end(n), pc0 + segment_end(n) - first);
}

/* Benchmark mode: words are made as fast as they enter the VOQ. */
void forth_voq_generate(struct forth_nic *n, uint64_t pc0)
{
	while (n->rq.cut < n->rq.qwords)
		voq_push(n, segment_end(n),
			 n->voqs ? pc0 : pc0 + segment_end(n));
}

/* ---- leaving --------------------------------------------------------------
 */

/* Called after the link's own event: what it was told inside is forgotten. */
void forth_voq_kick(struct forth_nic *n)
{
	weft_time_t at = WEFT_NEVER;

	for (uint32_t v = 0; v < n->n_voq; v++) {
		const struct forth_voq *q = &n->voq[v];
		weft_time_t t;

		if (ring_empty(&q->pkts))
			continue;
		t = weft_clock_edge(&n->pci, ring_front(&q->pkts)->ready);
		if (t > weft_now(n->comp) && t < at)
			at = t;
	}
	if (at != WEFT_NEVER)
		flink_kick(&n->link, at);
}

static bool may_go(struct forth_nic *n, uint32_t v)
{
	const struct forth_pkt *p;

	if (ring_empty(&n->voq[v].pkts))
		return false;
	p = ring_front(&n->voq[v].pkts);
	return weft_clock_edge(&n->pci, p->ready) <= weft_now(n->comp) &&
	       flink_credit(&n->link, forth_hdr_flow(p->hdr),
			    forth_hdr_size(p->hdr));
}

/* Round robin over VOQs with a packet and credits for it (6.3). */
bool forth_voq_next(struct forth_nic *n, struct flink_pkt *out)
{
	for (uint32_t i = 0; i < n->n_voq; i++) {
		uint32_t v = (n->rr_voq + i) % n->n_voq;
		const struct forth_pkt *p;

		if (!may_go(n, v))
			continue;
		n->rr_voq = v + 1;
		n->going = v;
		p = ring_front(&n->voq[v].pkts);
		if (forth_bench_mode(n))
			forth_bench_stamp(n, p, flink_now(&n->link));
		*out = (struct flink_pkt){ .header = p->hdr,
					   .payload = p->data,
					   .last = true };
		return true;
	}
	return false;
}

static void leave(struct forth_nic *n, const struct forth_pkt *p,
		  uint64_t start, uint64_t end, uint32_t shift)
{
	uint32_t wire = flink_words(&n->link, forth_hdr_size(p->hdr));
	uint32_t bytes = flink_wire_len(&n->link, forth_hdr_size(p->hdr));
	uint32_t data = (bytes + 4 * n->links - 1) / (4 * n->links);
	uint64_t payload = start + shift + wire - data - 1;

	n->voq[n->leaving.voq].used -= n->leaving.words;
	n->leaving = (struct forth_leaving){
		.voq = n->going,
		.words = p->words,
		.qwords = forth_hdr_size(p->hdr),
		.first = p->first,
		.last = p->last,
		.head_cc = payload - 1,
		.data_cc = payload,
		.end_cc = end,
	};
}

void forth_voq_sent(struct forth_nic *n, uint64_t start, uint64_t end,
		    uint32_t shift)
{
	struct forth_voq *v = &n->voq[n->going];
	struct forth_pkt p = *ring_front(&v->pkts);

	ring_pop(&v->pkts);
	leave(n, &p, start, end, shift);
	weft_count(n->comp, C_PACKETS_OUT, 1);
	if (p.last && n->lnotify_at == LNOTIFY_DEPARTED)
		forth_track_done(n, p.queue, p.seq, forth_pc_of_cc(n, end));
	if (n->n_masked && n->rq.state == FORTH_NO_PND_OP)
		forth_engine_wake(n, forth_pc(n));
	for (uint32_t i = 0; i < n->n_voq; i++)
		if (!ring_empty(&n->voq[i].pkts)) {
			flink_kick(&n->link,
				   weft_clock_edge(&n->link.clk, end));
			break;
		}
}

/* The packet on the line goes on; everything behind it is thrown away. */
void forth_voq_reset(struct forth_nic *n)
{
	for (uint32_t i = 0; i < n->n_voq; i++) {
		struct forth_voq *v = &n->voq[i];

		for (; !ring_empty(&v->pkts); ring_pop(&v->pkts))
			weft_slice_drop(&ring_front(&v->pkts)->data);
		v->used = n->leaving.voq == i ? n->leaving.words : 0;
	}
	n->n_masked = 0;
}
