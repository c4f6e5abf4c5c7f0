/* SPDX-License-Identifier: Apache-2.0 */
/* See ref_xbar.h. */
#include "ref_xbar.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

static void fifo_put(struct ref_fifo *q, struct ref_pkt *p)
{
	p->next = NULL;
	if (q->head)
		q->tail->next = p;
	else
		q->head = p;
	q->tail = p;
	q->n++;
}

static struct ref_pkt *fifo_get(struct ref_fifo *q)
{
	struct ref_pkt *p = q->head;

	q->head = p->next;
	q->n--;
	return p;
}

static void log_start(struct ref_fab *f, uint32_t where,
		      const struct ref_pkt *p)
{
	if (f->n_log == f->cap_log) {
		f->cap_log = f->cap_log ? 2 * f->cap_log : 256;
		f->log = realloc(f->log, f->cap_log * sizeof(*f->log));
		assert(f->log);
	}
	f->log[f->n_log++] =
		(struct ref_log){ f->cycle, where, p->src, p->dst, p->seq };
}

/* ---- numbers of ports and outputs ---- */

uint32_t ref_ports(const struct ref_cfg *c)
{
	uint32_t rest = c->n - c->half;

	if (!c->trunks)
		return c->n;
	return (rest > c->half ? rest : c->half) + c->trunks;
}

uint32_t ref_place(const struct ref_cfg *c, uint32_t node)
{
	if (!c->trunks || node < c->half)
		return node;
	return ref_ports(c) + node - c->half;
}

static uint32_t outs(const struct ref_cfg *c)
{
	return c->direct ? 0 : c->trunks ? 2 * ref_ports(c) : ref_ports(c);
}

/* Returns the trunk number of an output, or -1 if it is not a trunk. */
static int trunk(const struct ref_cfg *c, uint32_t o)
{
	uint32_t p = o % ref_ports(c), first = ref_ports(c) - c->trunks;

	return p >= first ? (int)(p - first) : -1;
}

/* Returns the port by which p leaves switch `sw`. */
static uint32_t route(const struct ref_cfg *c, uint32_t sw,
		      const struct ref_pkt *p)
{
	uint32_t at = ref_place(c, p->dst), ports = ref_ports(c);

	if (at / ports == sw)
		return at % ports;
	return ports - c->trunks + p->path % c->trunks;
}

static uint32_t base(const struct ref_cfg *c, uint32_t o)
{
	return o / ref_ports(c) * ref_ports(c);
}

/* Returns the lane of packet p at the next receiver behind output o. */
static uint32_t lane_behind(const struct ref_cfg *c, uint32_t o,
			    const struct ref_pkt *p)
{
	return trunk(c, o) < 0 ? 0 : route(c, !(o / ref_ports(c)), p);
}

/* ---- node: source ---- */

static uint32_t lane_of(const struct ref_fab *f, uint32_t me,
			const struct ref_pkt *p)
{
	if (f->cfg.direct)
		return 0;
	return route(&f->cfg, ref_place(&f->cfg, me) / ref_ports(&f->cfg), p);
}

static void node_arrivals(struct ref_fab *f, struct ref_node *n)
{
	while (n->script.head && n->script.head->ready <= f->cycle) {
		struct ref_pkt *p = fifo_get(&n->script);

		fifo_put(&n->voq[p->dst], p);
	}
}

static void node_decide(struct ref_fab *f, uint32_t me)
{
	struct ref_node *n = &f->node[me];
	uint32_t i, d;

	if (!ref_end_free(&n->end))
		return;
	for (i = 0; i < f->cfg.n; i++) {
		struct ref_pkt *p;
		uint32_t charge;

		d = (n->rr + i) % f->cfg.n;
		p = n->voq[d].head;
		if (!p)
			continue;
		charge = ref_charge(&n->end, p->wire);
		if (!ref_enough(&n->end, lane_of(f, me, p), charge)) {
			n->end.blocked = true;
			continue;
		}
		fifo_get(&n->voq[d]);
		n->rr = d + 1;
		log_start(f, me, p);
		p->sop = f->cycle;
		ref_end_packet(&n->end, f->cycle, p, lane_of(f, me, p));
		return;
	}
	ref_end_idle(&n->end, f->cycle);
}

/* ---- node: sink ---- */

/* Returns the number of link words that return as credits when the sink takes a
 * qword. With four links that number is 0: two qwords leave at once, and the
 * whole charge returns with the last qword (a choice of scripted_node.c). */
static uint32_t sink_step(const struct ref_cfg *c)
{
	return c->links == 1 ? 2 : c->links == 2;
}

/* Handles a word of the line. Ignores all words but headers. Computes the time
 * from which on the sink may drain the packet: l2d cycles plus 3/4 of the
 * packet's words (1/4 with more links) after the delimiter. The bus then needs
 * t_bus cycles, and one cycle per qword. */
static void sink_receive(struct ref_fab *f, struct ref_node *n,
			 const struct ref_word *w)
{
	const struct ref_cfg *c = &f->cfg;
	uint32_t words, quarters = c->links == 1 ? 3 : 1;

	if (!w->header)
		return;
	words = (w->pkt->wire + 4 * c->links - 1) / (4 * c->links);
	words += c->packed ? 4 : c->links == 1 ? 5 : 4;
	words += (uint32_t)(f->cycle - w->pkt->sop - c->t_ser) - 1;
	w->pkt->notice =
		w->pkt->sop + c->t_ser + c->l2d + (words * quarters + 3) / 4;
	if (w->pkt->notice < c->hold)
		w->pkt->notice = c->hold;
	fifo_put(&n->rx, w->pkt);
}

static void bus_edge(struct ref_fab *f, struct ref_node *n, uint64_t t)
{
	struct ref_pkt *p = n->rx.head;
	uint32_t *fwd = &n->end.fwd[0];

	if (n->wait && --n->wait == 0) {
		*fwd = (*fwd + n->step) & 4095;
		if (n->left)
			return;
	} else if (n->left && !n->wait) {
		*fwd = (*fwd + n->step) & 4095;
		if (--n->left)
			return;
		*fwd = (*fwd + n->rest) & 4095;
	}
	if (n->wait || n->left || !p || p->notice * f->cfg.net_fs > t)
		return;
	/* take a packet, because the bus is free */
	fifo_get(&n->rx);
	n->wait = f->cfg.t_bus;
	n->left = p->qwords;
	n->step = sink_step(&f->cfg);
	n->rest = ref_charge(&n->end, p->wire) - n->step - n->step * n->left;
	/* the tail of the packet may still be in flight */
	fifo_put(&n->done, p);
}

static void node_bus(struct ref_fab *f, struct ref_node *n)
{
	uint64_t t = f->cycle * f->cfg.net_fs;

	for (; n->bus_edge * f->cfg.bus_fs <= t; n->bus_edge++)
		bus_edge(f, n, n->bus_edge * f->cfg.bus_fs);
}

/* ---- switch ---- */

static bool bottom(const struct ref_cfg *c, uint32_t port)
{
	return c->domains == 2 && port % ref_ports(c) >= ref_ports(c) / 2;
}

static uint32_t out_of(const struct ref_fab *f, uint32_t i,
		       const struct ref_pkt *p)
{
	const struct ref_cfg *c = &f->cfg;

	return base(c, i) + route(c, i / ref_ports(c), p);
}

static struct ref_fifo *crosspoint(struct ref_fab *f, uint32_t i,
				   const struct ref_pkt *p)
{
	return &f->out[out_of(f, i, p)].xp[i - base(&f->cfg, i)];
}

/* Stores a word in the crosspoint unless it is the header CRC. */
static void xp_write(struct ref_fab *f, struct ref_out *in, uint32_t i,
		     const struct ref_word *w)
{
	struct ref_fifo *xp;
	bool crc;

	if (w->header)
		in->in_at = 0;
	if (!w->pkt)
		return;
	xp = crosspoint(f, i, w->pkt);
	crc = !f->cfg.packed && in->in_at == 2;
	in->in_at++;
	xp->words += !crc;
}

static void xbar_receive(struct ref_fab *f, uint32_t i,
			 const struct ref_word *w)
{
	const struct ref_cfg *c = &f->cfg;

	if (w->header) {
		uint32_t o = out_of(f, i, w->pkt);

		w->pkt->notice =
			f->cycle + (bottom(c, i) == bottom(c, o) ? c->xp_same
								 : c->xp_sync);
		fifo_put(crosspoint(f, i, w->pkt), w->pkt);
	}
	xp_write(f, &f->out[i], i, w);
}

static void os_choose(struct ref_fab *f, uint32_t o)
{
	struct ref_out *out = &f->out[o];
	const struct ref_cfg *c = &f->cfg;
	uint32_t k, i;

	if (out->chosen ||
	    (out->served && f->cycle + c->presched < out->line_end))
		return;
	for (k = 0; k < ref_ports(c); k++) {
		struct ref_pkt *p;
		uint64_t turn;

		i = ((out->served ? out->last + 1 : 0) + k) % ref_ports(c);
		p = out->xp[i].head;
		if (!p || p->notice > f->cycle)
			continue;
		out->chosen = true;
		out->choice = i;
		out->begin = p->notice + 4;
		if (!out->served)
			return;
		turn = out->line_end +
		       (i == out->last ? c->pipe_same : c->pipe_change);
		turn = turn > c->presched ? turn - c->presched : 0;
		if (turn < out->line_end)
			turn = out->line_end;
		if (out->begin < turn)
			out->begin = turn;
		return;
	}
}

static void os_start(struct ref_fab *f, uint32_t o)
{
	struct ref_out *out = &f->out[o];
	struct ref_fifo *xp = &out->xp[out->choice];
	struct ref_pkt *p = fifo_get(xp);
	struct ref_end *in = &f->out[base(&f->cfg, o) + out->choice].end;
	uint32_t lane = o - base(&f->cfg, o);
	uint32_t charge = ref_charge(in, p->wire);

	if (xp->words > xp->high)
		xp->high = xp->words;
	log_start(f, trunk(&f->cfg, o) < 0 ? 100 + p->dst : 200 + o, p);
	p->sop = f->cycle;
	ref_end_packet(&out->end, f->cycle, p, lane_behind(&f->cfg, o, p));
	out->line_end = f->cycle + out->end.cur_n;
	out->out_xp = xp;
	out->out_at = 0;
	out->last = out->choice;
	out->served = true;
	out->chosen = false;
	if (f->cfg.per_word) {
		out->pay_left = charge;
		out->pay_in = base(&f->cfg, o) + out->choice;
	} else {
		in->fwd[lane] = (in->fwd[lane] + charge) & 4095;
	}
}

static void os_decide(struct ref_fab *f, uint32_t o)
{
	struct ref_out *out = &f->out[o];
	const struct ref_pkt *p;

	os_choose(f, o);
	if (out->chosen && f->cycle >= out->begin) {
		p = out->xp[out->choice].head;
		if (!ref_enough(&out->end, lane_behind(&f->cfg, o, p),
				ref_charge(&out->end, p->wire)))
			out->end.blocked = true;
		else if (ref_end_free(&out->end))
			os_start(f, o);
	}
	if (ref_end_free(&out->end))
		ref_end_idle(&out->end, f->cycle);
}

/* Returns credits word by word, one word per cycle, from the cycle after the
 * start on. */
static void os_pay(struct ref_fab *f, uint32_t o)
{
	struct ref_out *out = &f->out[o];
	struct ref_end *in = &f->out[out->pay_in].end;

	if (!out->pay_left)
		return;
	out->pay_left--;
	o -= base(&f->cfg, o);
	in->fwd[o] = (in->fwd[o] + 1) & 4095;
}

/* Removes from the crosspoint the word that leaves in this cycle. */
static void xp_read(struct ref_fab *f, uint32_t o)
{
	struct ref_out *out = &f->out[o];
	const struct ref_end *e = &out->end;
	const struct ref_word *w;

	if (ref_end_free(e))
		return;
	w = &e->cur[e->cur_at];
	if (!w->pkt)
		return;
	if (f->cfg.packed || out->out_at != 2)
		out->out_xp->words--;
	out->out_at++;
}

/* ---- the whole fabric ---- */

static void fab_cycle(struct ref_fab *f)
{
	uint32_t i, n = f->cfg.n, m = outs(&f->cfg);
	const struct ref_word *w;

	for (i = 0; i < n; i++) {
		w = ref_end_receive(&f->node[i].end, f->cycle);
		sink_receive(f, &f->node[i], w);
	}
	for (i = 0; i < m; i++) {
		if (!f->out[i].end.peer)
			continue;
		w = ref_end_receive(&f->out[i].end, f->cycle);
		xbar_receive(f, i, w);
	}
	for (i = 0; i < n; i++) {
		node_bus(f, &f->node[i]);
		node_arrivals(f, &f->node[i]);
		ref_end_parse(&f->node[i].end, f->cycle);
		node_decide(f, i);
	}
	for (i = 0; i < m; i++)
		os_pay(f, i);
	for (i = 0; i < m; i++) {
		if (!f->out[i].end.peer)
			continue;
		ref_end_parse(&f->out[i].end, f->cycle);
		os_decide(f, i);
		xp_read(f, i);
	}
	for (i = 0; i < n; i++)
		ref_end_line(&f->node[i].end, f->cycle);
	for (i = 0; i < m; i++)
		if (f->out[i].end.peer)
			ref_end_line(&f->out[i].end, f->cycle);
	f->cycle++;
}

void ref_fab_run(struct ref_fab *f, uint64_t until)
{
	while (f->cycle < until)
		fab_cycle(f);
}

static void end_init(struct ref_end *e, const struct ref_cfg *c,
		     struct ref_end *peer, bool at_switch, bool to_switch)
{
	e->links = c->links;
	e->packed = c->packed;
	e->delay = c->t_ser;
	e->crtx = c->crtx + (at_switch ? c->cs_sync : 0);
	e->crrx = c->crrx;
	e->refresh = c->refresh;
	e->credit_words = c->credit_words;
	e->rx_lanes = at_switch ? ref_ports(c) : 1;
	e->tx_lanes = to_switch ? ref_ports(c) : 1;
	e->cap = to_switch ? c->xp_words : c->rx_words;
	e->peer = peer;
}

struct ref_fab *ref_fab_new(const struct ref_cfg *cfg)
{
	struct ref_fab *f = calloc(1, sizeof(*f));
	uint32_t i;

	assert(f);
	f->cfg = *cfg;
	for (i = 0; i < cfg->n; i++) {
		struct ref_end *me = &f->node[i].end;
		struct ref_end *far = &f->out[ref_place(cfg, i)].end;

		if (cfg->direct)
			far = &f->node[1 - i].end;
		end_init(me, cfg, far, false, !cfg->direct);
		if (!cfg->direct)
			end_init(far, cfg, me, true, false);
	}
	for (i = 0; i < 2 * cfg->trunks; i++) {
		uint32_t at = ref_ports(cfg) - cfg->trunks + i / 2;
		struct ref_end *a = &f->out[at].end;
		struct ref_end *b = &f->out[at + ref_ports(cfg)].end;

		end_init(i % 2 ? a : b, cfg, i % 2 ? b : a, true, true);
	}
	return f;
}

static void fifo_free(struct ref_fifo *q)
{
	while (q->head)
		free(fifo_get(q));
}

void ref_fab_free(struct ref_fab *f)
{
	uint32_t i, k;

	for (i = 0; i < f->cfg.n; i++) {
		fifo_free(&f->node[i].script);
		fifo_free(&f->node[i].rx);
		fifo_free(&f->node[i].done);
		for (k = 0; k < f->cfg.n; k++)
			fifo_free(&f->node[i].voq[k]);
	}
	for (i = 0; i < outs(&f->cfg); i++)
		for (k = 0; k < ref_ports(&f->cfg); k++)
			fifo_free(&f->out[i].xp[k]);
	free(f->log);
	free(f);
}

void ref_fab_offer(struct ref_fab *f, uint32_t src, uint32_t dst, uint32_t path,
		   uint32_t qwords, uint32_t seq, uint64_t ready)
{
	struct ref_pkt *p = calloc(1, sizeof(*p));

	assert(p);
	p->src = src;
	p->dst = dst;
	p->path = path;
	p->qwords = qwords;
	p->wire = qwords * 8 < f->cfg.min_payload ? f->cfg.min_payload
						  : qwords * 8;
	p->seq = seq;
	p->ready = ready;
	fifo_put(&f->node[src].script, p);
}
