/* SPDX-License-Identifier: Apache-2.0 */
/* Crossbars and network ports of the reference: see ref_ex.h. */
#include "ref_ex_internal.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* ---- crossbar ---- */

static uint32_t removes(const struct rx_cfg *c, const struct rx_pkt *p,
			uint32_t pos)
{
	uint32_t k = c->flit_bytes * 2, left = p->hops, used = 0;

	/* while more than k nibbles are left, a flit of the route holds k - 1
	 * of them */
	while (left > k) {
		used += k - 1;
		left -= k - 1;
		if (pos + 1 == used)
			return 1;
	}
	return pos + 1 == p->hops;
}

/* Returns the next nibble of a packet whose route is used up. It is the first
 * nibble of the header. */
static uint32_t head_nibble(struct world *w, uint32_t pkt)
{
	uint32_t i, k = w->c->flit_bytes * 2, left = 0;
	uint8_t nib = w->head[pkt][0];

	if (!w->pkt[pkt].headed)
		return RX_NOWHERE;
	for (i = 0; i < k; i++) {
		w->head[pkt][i] = i + 1 < k ? w->head[pkt][i + 1] : 0xf;
		left += w->head[pkt][i] != 0xf;
	}
	return left ? nib : RX_NOWHERE;
}

static void enter(struct world *w, uint32_t n, uint32_t i, struct cell x)
{
	const struct rx_cfg *c = w->c;
	struct node *d = &w->node[n];
	const struct rx_pkt *p = &w->pkt[x.pkt];
	struct queue *q;

	if (x.sop) {
		uint32_t pos = w->pos[x.pkt], o = RX_NOWHERE;
		uint32_t dim, odd;

		if (pos < p->hops) {
			o = p->nib[pos];
			x.skip = (uint8_t)removes(c, p, pos);
			x.flits -= x.skip;
			w->pos[x.pkt]++;
		} else {
			o = head_nibble(w, x.pkt);
		}
		if (o >= RX_PORTS || !d->out[o].there) {
			w->r->discards[n]++;
			d->route_out[i][x.vc] = RX_NOWHERE;
		} else {
			dim = o < 3 ? 0xff : (o - 3) / 2;
			odd = dim == w->dim[x.pkt] ? x.vc & 1 : 0;
			w->dim[x.pkt] = (uint8_t)dim;
			if (c->dateline[n] >> o & 1)
				odd = 1;
			d->route_out[i][x.vc] = o;
			d->route_vc[i][x.vc] = p->cls * 2 + (o < 3 ? 0 : odd);
		}
	}
	if (d->route_out[i][x.vc] == RX_NOWHERE) {
		struct line *l = i < 3 ? &d->in[i] : rx_back(w, n, i, false);

		rx_freed(w, l, x.vc, x.seen + x.flits, i >= 3);
		return;
	}
	x.vc_out = (uint8_t)d->route_vc[i][x.vc];
	q = &d->q[i][d->route_out[i][x.vc]][x.vc];
	assert(q->n < 160);
	x.order = d->arrived++;
	q->c[q->n++] = x;
}

static void arrivals(struct world *w, struct line *l, uint32_t n, uint32_t i)
{
	while (l->n_way && l->way[0].seen <= w->now) {
		enter(w, n, i, l->way[0]);
		memmove(&l->way[0], &l->way[1], --l->n_way * sizeof(l->way[0]));
	}
}

/* Arbitrates as extoll.md 4.2 says, word for word. */
static int arbiter(uint64_t req, uint64_t *t, uint32_t n)
{
	uint64_t all = n == 64 ? ~0ULL : (1ULL << n) - 1;
	uint64_t masked = req & *t, pick = masked ? masked : req;
	uint64_t grant = pick & (~pick + 1);

	if (!grant)
		return -1;
	*t = ~(grant | (grant - 1)) & all;
	return __builtin_ctzll(grant);
}

/* Returns whether the first packet of a queue may start. By 4.3, an incomplete
 * packet does not overtake earlier packets on its VC, because that could cause
 * deadlock. */
static bool may_start(const struct node *d, uint32_t i, uint32_t o, uint32_t v)
{
	const struct queue *q = &d->q[i][o][v];
	uint32_t k;

	if (!q->c[0].sop)
		return true;
	for (k = 0; k < q->n; k++)
		if (q->c[k].pkt == q->c[0].pkt && q->c[k].eop)
			return true;
	for (k = 0; k < RX_PORTS; k++)
		if (d->q[i][k][v].n && d->q[i][k][v].c[0].order < q->c[0].order)
			return false;
	return true;
}

/* Returns true if the packet may not request yet. The first cell of a packet
 * from link to link requests t_transit cycles later than other cells. Later
 * cells of the packet follow in order. */
static bool in_transit(const struct world *w, const struct cell *x, uint32_t i,
		       uint32_t o)
{
	return i >= 3 && o >= 3 && x->sop && x->seen + w->c->t_transit > w->now;
}

static uint64_t requests(struct world *w, struct node *d, uint32_t o)
{
	uint64_t req = 0;
	uint32_t i, v;

	for (i = 0; i < RX_PORTS; i++) {
		for (v = 0; v < RX_VCS; v++) {
			struct queue *q = &d->q[i][o][v];
			int lock;

			if (!q->n || d->read_free[i] > w->now ||
			    in_transit(w, &q->c[0], i, o) ||
			    !may_start(d, i, o, v))
				continue;
			lock = d->lock[o][q->c[0].vc_out];
			if (lock >= 0 && lock != (int)(i * 4 + v))
				continue;
			if (rx_may_send(w->c, &d->out[o], q->c[0].vc_out))
				req |= 1ULL << (i * 4 + v);
		}
	}
	return req;
}

static void depart(struct world *w, uint32_t n, uint32_t o, uint32_t bit)
{
	const struct rx_cfg *c = w->c;
	struct node *d = &w->node[n];
	uint32_t i = bit / 4, v = bit % 4;
	struct queue *q = &d->q[i][o][v];
	struct cell x = q->c[0];
	struct line *from = i < 3 ? &d->in[i] : rx_back(w, n, i, false);
	uint64_t end = w->now + x.flits + x.skip;
	uint32_t t_in =
		o < 3 ? 0
		      : (c->framed || 1) + c->cross + c->t_lp_in + c->t_route;

	memmove(&q->c[0], &q->c[1], --q->n * sizeof(q->c[0]));
	d->lock[o][x.vc_out] = x.eop ? -1 : (int)bit;
	d->read_free[i] = end;
	rx_leave(w, &d->out[o], x, x.vc_out, t_in, &w->r->sum[n][o]);
	rx_freed(w, from, v, end, i >= 3);
}

static void crossbar(struct world *w, uint32_t n, const bool *slot)
{
	struct node *d = &w->node[n];
	int grant[RX_PORTS];
	uint32_t o, i;

	for (o = 0; o < RX_PORTS; o++) {
		grant[o] = -1;
		if (slot[o])
			grant[o] =
				arbiter(requests(w, d, o), &d->mask_out[o], 36);
	}
	for (i = 0; i < RX_PORTS; i++) {
		uint64_t req = 0, t = d->mask_in[i];
		int win;

		for (o = 0; o < RX_PORTS; o++)
			if (grant[o] >= 0 && (uint32_t)grant[o] / 4 == i)
				req |= 1ULL << o;
		win = arbiter(req, &t, RX_PORTS);
		d->mask_in[i] = (uint32_t)t;
		if (win < 0)
			continue;
		w->r->conflicts[n] += (uint64_t)__builtin_popcountll(req) - 1;
		depart(w, n, (uint32_t)win, (uint32_t)grant[win]);
	}
}

/* ---- network ports ---- */

static uint32_t route_flits(const struct rx_cfg *c, const struct rx_pkt *p)
{
	uint32_t k = c->flit_bytes * 2, left = p->hops, n = 1;

	for (; left > k; left -= k - 1)
		n++;
	return n;
}

static bool netport_cell(struct world *w, uint32_t n, uint32_t p, uint32_t cls)
{
	struct port_np *np = &w->node[n].np[p];
	uint32_t id, rf, total, len, max = w->c->cell_flits;
	struct cell x;

	if (np->head[cls] == np->n[cls])
		return false;
	id = np->q[cls][np->head[cls]];
	if (w->pkt[id].ready > w->now ||
	    !rx_may_send(w->c, &w->node[n].in[p], cls * 2))
		return false;
	rf = route_flits(w->c, &w->pkt[id]);
	total = rf + w->pkt[id].flits;
	len = total - np->flit[cls] < max ? total - np->flit[cls] : max;
	x = (struct cell){ .pkt = (uint16_t)id,
			   .first = (uint16_t)(np->flit[cls] > rf
						       ? np->flit[cls] - rf
						       : 0),
			   .flits = (uint8_t)len,
			   .sop = !np->flit[cls],
			   .eop = np->flit[cls] + len == total };
	if (x.sop) {
		w->pos[id] = 0;
		w->dim[id] = 0xff;
		memcpy(w->head[id], w->pkt[id].head, 8);
	}
	np->flit[cls] += len;
	if (x.eop) {
		np->flit[cls] = 0;
		np->head[cls]++;
	}
	rx_leave(w, &w->node[n].in[p], x, cls * 2, w->c->t_route,
		 &w->r->np_sum[n][p]);
	np->turn = !cls;
	return true;
}

static void np_take(struct world *w, uint32_t n, uint32_t p)
{
	struct line *l = &w->node[n].out[p];
	struct port_np *np = &w->node[n].np[p];
	uint32_t i = 0;

	while (l->n_way && l->way[0].seen + l->way[0].flits + 3 <= w->now) {
		struct cell x = l->way[0];

		memmove(&l->way[0], &l->way[1], --l->n_way * sizeof(l->way[0]));
		w->r->got[w->r->n_got++] = (struct rx_got){
			.cycle = w->now,
			.node = (uint16_t)n,
			.np = (uint16_t)p,
			.pkt = x.pkt,
			.first = x.first,
			.flits = x.flits,
			.eop = x.eop,
		};
		np->held[np->n_held].at = w->now + w->pkt[x.pkt].hold;
		np->held[np->n_held++].vc = x.vc;
	}
	while (i < np->n_held) {
		if (np->held[i].at > w->now) {
			i++;
			continue;
		}
		rx_freed(w, l, np->held[i].vc, w->now, false);
		np->held[i] = np->held[--np->n_held];
	}
}

/* ---- the whole network, cycle by cycle ---- */

static void world_init(struct world *w)
{
	const struct rx_cfg *c = w->c;
	uint32_t n, o;

	for (n = 0; n < c->nodes; n++) {
		struct node *d = &w->node[n];

		memset(d->lock, 0xff, sizeof(d->lock));
		for (o = 0; o < RX_PORTS; o++) {
			struct line *l = &d->out[o];

			d->mask_out[o] = (1ULL << 36) - 1;
			d->mask_in[o] = (1u << RX_PORTS) - 1;
			l->there = o < 3 ? c->np[n][o]
					 : c->peer[n][o] != RX_NOWHERE;
			l->framed = o >= 3 && c->framed;
			l->t_out = c->t_cross + (o < 3 ? 0 : c->t_lp_out);
			l->refresh_at = c->refresh;
		}
		for (o = 0; o < 3; o++) {
			d->in[o].there = c->np[n][o];
			d->in[o].t_out = 3;
		}
	}
}

static void step(struct world *w, uint32_t *next, uint32_t n_pkts)
{
	const struct rx_cfg *c = w->c;
	uint32_t n, o;

	for (; *next < n_pkts && w->pkt[*next].ready <= w->now; ++*next) {
		const struct rx_pkt *p = &w->pkt[*next];
		struct port_np *np = &w->node[p->src].np[p->np];

		np->q[p->cls][np->n[p->cls]++] = (uint16_t)*next;
	}
	for (n = 0; n < c->nodes; n++)
		for (o = 0; o < RX_PORTS; o++) {
			rx_take_effect(&w->node[n].out[o], w->now);
			if (o < 3)
				rx_take_effect(&w->node[n].in[o], w->now);
		}
	for (n = 0; n < c->nodes; n++)
		for (o = 0; o < RX_PORTS; o++)
			if (w->node[n].out[o].there)
				arrivals(w,
					 o < 3 ? &w->node[n].in[o]
					       : rx_back(w, n, o, false),
					 n, o);
	for (n = 0; n < c->nodes; n++) {
		bool slot[RX_PORTS];

		for (o = 0; o < RX_PORTS; o++)
			slot[o] = w->node[n].out[o].there &&
				  rx_plan(w, &w->node[n].out[o],
					  rx_back(w, n, o, false),
					  &w->r->sum[n][o]);
		crossbar(w, n, slot);
	}
	for (n = 0; n < c->nodes; n++)
		for (o = 0; o < 3; o++) {
			struct port_np *np = &w->node[n].np[o];

			if (!c->np[n][o])
				continue;
			np_take(w, n, o);
			if (rx_plan(w, &w->node[n].in[o], &w->node[n].out[o],
				    &w->r->np_sum[n][o]) &&
			    !netport_cell(w, n, o, np->turn))
				netport_cell(w, n, o, !np->turn);
		}
}

void rx_run(const struct rx_cfg *c, const struct rx_pkt *pkt, uint32_t n,
	    uint64_t cycles, struct rx_result *r)
{
	struct world *w = calloc(1, sizeof(*w));
	uint32_t next = 0;

	w->c = c;
	w->pkt = pkt;
	w->r = r;
	w->node = calloc(c->nodes, sizeof(*w->node));
	memset(r, 0, sizeof(*r));
	r->got = calloc(65536, sizeof(*r->got));
	w->end = cycles;
	world_init(w);
	for (w->now = 0; w->now < cycles; w->now++)
		step(w, &next, n);
	free(w->node);
	free(w);
}
