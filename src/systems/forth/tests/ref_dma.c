/* SPDX-License-Identifier: Apache-2.0 */
/* Links and clocks of the reference, see ref_dma.h. */
#include <stdlib.h>
#include <string.h>

#include "ref_dma_internal.h"

/* ---- NET side ---- */

/* Removes from the packet's buffer the words that the wire word of the last
 * cycle carried: header word, payload words or CRC word. */
static void words_left(struct ref *r, uint32_t k)
{
	const struct ref_end *e = &r->nic[k];
	struct rline *l = &r->line[k];
	struct rpkt *p = l->going;
	uint32_t pre = r->width == 1 ? 3 : 2, out, v;

	if (!p || !e->cur_at || e->cur[e->cur_at - 1].pkt != &p->wire)
		return;
	v = r->c->voqs ? flow_of(p->header) : 0;
	l->line_word++;
	if (p->first && l->line_word == pre - 1)
		r->used[v]--;
	if (l->line_word > pre) {
		out = min32((l->line_word - pre) * r->width / 2, p->qwords);
		r->used[v] -= out - l->out_qwords;
		l->out_qwords = out;
	}
	if (!ref_end_free(e))
		return;
	r->used[v] -= p->qwords - l->out_qwords + p->last;
	if (p->last && !r->c->lnotify_read)
		ref_engine_gone(r, p->queue, p->xfer, r->now,
				REF_PATHS * l->start + k);
	l->going = NULL;
}

/* Checks the header when four words have arrived behind the delimiter. */
static void nic_receive(struct ref *r, uint32_t k, const struct ref_word *w)
{
	struct rfifo *f = &r->fifo[k];
	struct rxpkt *x = &f->rx[f->tail];
	uint32_t beats;

	if (!w->header)
		return;
	beats = (w->pkt->wire + 4 * r->width - 1) / (4 * r->width) +
		(r->width == 1 ? 5 : 4);
	x->send = w->pkt->seq;
	x->header = r->c->send[x->send].header;
	x->qwords = size_of(x->header);
	x->charge = ref_charge(&r->nic[k], w->pkt->wire);
	x->ready =
		(r->cc - 1 + 5 + (r->c->quarters * beats + 3) / 4) * r->c->cc_t;
	f->tail++;
	r->reseq.pkt[x->send].checked = (r->cc - 1 + 4) * r->c->cc_t;
}

static uint32_t lane_of(const struct ref *r, uint64_t header)
{
	return r->c->sink_lanes == 1 ? 0 : flow_of(header);
}

static void far_receive(struct ref *r, uint32_t k, const struct ref_word *w)
{
	const struct rpkt *p = (const struct rpkt *)w->pkt;
	struct rhold *h = &r->hold[k];

	if (!w->header)
		return;
	r->log->pkt[k][r->log->n_pkt[k]++] =
		(struct ref_arrival){ r->cc - 1, p->header };
	h->at[h->tail].cycle = r->cc - 1 + r->c->sink_hold;
	h->at[h->tail].lane = lane_of(r, p->header);
	h->at[h->tail++].words = ref_charge(&r->far[k], p->wire.wire);
}

static void far_forward(struct ref *r, uint32_t k)
{
	struct rhold *h = &r->hold[k];

	for (; h->head != h->tail && h->at[h->head].cycle <= r->cc; h->head++) {
		uint32_t *f = &r->far[k].fwd[h->at[h->head].lane];

		*f = (*f + h->at[h->head].words) & 4095;
	}
}

/* ---- departure ---- */

/* Returns the path of the n-th packet from now on that VOQ v sends (forth.md
 * 7.2). */
static uint32_t path_ahead(const struct ref *r, uint32_t v, uint32_t n)
{
	return r->c->path[(r->turn[v] + n) % r->c->n_path];
}

/* Returns whether the front packet of VOQ v may be sent on line k now. */
static bool may_leave(struct ref *r, uint32_t v, uint32_t k,
		      const struct rpkt *p)
{
	if (!p || !p->in || p->block || p->ready * r->c->pc_t > r->now)
		return false;
	return !r->c->multi ||
	       (path_ahead(r, v, 0) == k && r->voq_free[v] <= r->cc);
}

/* Writes the resequencing field of a packet: source 0, number on this path, the
 * next two paths (7.3). */
static void give_field(struct ref *r, uint32_t v, uint32_t k, struct rpkt *p)
{
	uint64_t field = (r->number[v][k]++ & 7) << 4 |
			 path_ahead(r, v, 1) << 2 | path_ahead(r, v, 2);

	p->header = (p->header & ~(1023ull << 42)) | field << 42;
	r->turn[v]++;
	r->voq_free[v] = r->cc + 1;
}

static void nic_decide(struct ref *r, uint32_t k)
{
	struct ref_end *e = &r->nic[k];
	bool short_of = false;

	if (!ref_end_free(e))
		return;
	for (uint32_t i = 0; i < n_voq(r); i++) {
		uint32_t v = (r->rr_voq[k] + i) % n_voq(r), lane;
		struct rpkt *p = ref_voq_front(r, v);

		if (!may_leave(r, v, k, p))
			continue;
		lane = lane_of(r, p->header);
		if (!ref_enough(e, lane, ref_charge(e, p->wire.wire))) {
			short_of = true;
			continue;
		}
		r->rr_voq[k] = v + 1;
		r->line[k] = (struct rline){ .going = p, .start = r->cc };
		p->gone = true;
		if (r->c->multi)
			give_field(r, v, k, p);
		ref_end_packet(e, r->cc, &p->wire, lane);
		return;
	}
	e->blocked |= short_of;
	ref_end_idle(e, r->cc);
}

/* Returns the next packet that arrives at the NIC on link k, or n_send if none
 * is left. */
static uint32_t next_send(const struct ref *r, uint32_t k)
{
	uint32_t i = r->fifo[k].sent;

	while (i < r->c->n_send &&
	       (r->c->send[i].link != k || r->c->send[i].lost))
		i++;
	return i;
}

static void far_decide(struct ref *r, uint32_t k)
{
	struct ref_end *e = &r->far[k];
	uint32_t i = next_send(r, k);
	const struct ref_send *s = &r->c->send[i];
	struct ref_pkt *p = &r->spkt[i];

	if (!ref_end_free(e))
		return;
	p->seq = i;
	p->wire = wire_of(r, size_of(s->header));
	if (i < r->c->n_send && s->cycle <= r->cc &&
	    ref_enough(e, 0, ref_charge(e, p->wire))) {
		r->log->start[k][r->log->n_start[k]++] = r->cc;
		r->fifo[k].sent = i + 1;
		ref_end_packet(e, r->cc, p, 0);
		return;
	}
	ref_end_idle(e, r->cc);
}

static void net_edge(struct ref *r, uint32_t k)
{
	nic_receive(r, k, ref_end_receive(&r->nic[k], r->cc));
	far_receive(r, k, ref_end_receive(&r->far[k], r->cc));
	far_forward(r, k);
	ref_end_parse(&r->nic[k], r->cc);
	ref_end_parse(&r->far[k], r->cc);
	nic_decide(r, k);
	far_decide(r, k);
	ref_end_line(&r->nic[k], r->cc);
	ref_end_line(&r->far[k], r->cc);
}

/* ---- running ---- */

static void end_init(const struct ref *r, struct ref_end *e, uint32_t delay,
		     uint32_t tx_lanes, uint32_t rx_lanes, uint32_t cap)
{
	e->links = r->width;
	e->delay = 24 + delay;
	e->crtx = 3;
	e->crrx = 2;
	e->refresh = r->c->refresh;
	e->tx_lanes = tx_lanes;
	e->rx_lanes = rx_lanes;
	e->cap = cap;
}

static void links_init(struct ref *r)
{
	const struct ref_dma_cfg *c = r->c;

	r->ends = c->multi ? c->links : 1;
	r->width = c->multi ? 1 : c->links;
	for (uint32_t k = 0; k < r->ends; k++) {
		end_init(r, &r->nic[k], c->delay[k], c->sink_lanes, 1,
			 c->sink_cap);
		end_init(r, &r->far[k], c->delay[k], 1, c->sink_lanes,
			 2046 / r->width);
		r->nic[k].peer = &r->far[k];
		r->far[k].peer = &r->nic[k];
	}
}

static void ref_init(struct ref *r)
{
	const struct ref_dma_cfg *c = r->c;

	links_init(r);
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
	ref_reseq_init(&r->reseq, c->n_send);
	for (uint32_t i = 0; i < c->n_send; i++)
		r->reseq.pkt[i] = (struct ref_reseq_pkt){
			.header = c->send[i].header,
			.src = c->send[i].src,
			.path = c->send[i].link,
			.lost = c->send[i].lost,
			.checked = REF_NEVER,
		};
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
	r->log->backpressure = r->nic[0].backpressure;
	r->log->sent0 = r->nic[0].sent[0];
	r->log->acked0 = r->nic[0].acked[0];
	r->log->losses = r->reseq.losses;
	ref_reseq_fini(&r->reseq);
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
		for (uint32_t k = 0; k < r->ends && net == r->now; k++)
			words_left(r, k);
		if (pci == r->now) {
			ref_engine_edge(r);
			r->pc++;
		}
		for (uint32_t k = 0; k < r->ends && net == r->now; k++)
			net_edge(r, k);
		r->cc += net == r->now;
	}
	ref_fini(r);
}
