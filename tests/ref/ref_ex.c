/* SPDX-License-Identifier: Apache-2.0 */
#include "ref_ex.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* One direction of a channel: the sender's half and the receiver's RAM. */
struct cell {
	uint16_t pkt, first;
	uint8_t flits, vc, vc_out, skip;
	bool sop, eop;
	uint64_t seen;
	uint32_t order; /* of arrival at this input */
};

struct note { /* control that takes effect, or becomes ready, at a cycle */
	uint64_t at;
	uint8_t kind, n; /* 0..3 credits, 4 ACK */
};

struct list {
	struct note v[4096];
	uint32_t n;
};

struct line {
	bool there, framed;
	uint32_t t_out;
	uint64_t busy_till; /* first slot not planned */
	uint64_t last_cell;
	bool any_cell;
	uint32_t used[RX_VCS], unacked;
	struct list effects; /* control heard, not yet in effect */
	/* what the receiving end of this line owes on the other line: */
	struct list due;  /* credits: ready at */
	struct list ends; /* cells: ACK ready at */
	uint32_t owed[RX_VCS];
	uint64_t refresh_at;
	/* cells on their way to, or at, the receiver */
	struct cell way[128];
	uint32_t n_way;
};

struct queue {
	struct cell c[160];
	uint32_t n;
};

struct port_np {
	uint16_t q[2][RX_PKTS];
	uint32_t head[2], n[2], flit[2]; /* of the packet at the head */
	uint32_t turn;
	struct {
		uint64_t at;
		uint8_t vc;
	} held[256];
	uint32_t n_held;
};

struct node {
	struct line out[RX_PORTS]; /* crossbar to the outside */
	struct line in[3];	   /* network port to crossbar */
	struct queue q[RX_PORTS][RX_PORTS][RX_VCS]; /* in, out, vc in */
	uint64_t read_free[RX_PORTS];
	uint32_t route_out[RX_PORTS][RX_VCS], route_vc[RX_PORTS][RX_VCS];
	int lock[RX_PORTS][RX_VCS];  /* by output and VC: bit, or -1 */
	uint64_t mask_out[RX_PORTS]; /* thermometers of the arbiters */
	uint32_t mask_in[RX_PORTS];
	struct port_np np[3];
	uint32_t arrived;
};

struct world {
	const struct rx_cfg *c;
	const struct rx_pkt *pkt;
	struct rx_result *r;
	struct node *node;
	uint8_t pos[RX_PKTS], dim[RX_PKTS];
	uint8_t head[RX_PKTS][8]; /* nibbles of its first flit now */
	uint64_t now, end;
};

/* ---- lines
 * ---------------------------------------------------------------------- */

/* The line that leads back from the far end of (n, o), or from NP p. */
static struct line *back(struct world *w, uint32_t n, uint32_t o, bool np_side)
{
	uint32_t peer;

	if (np_side)
		return &w->node[n].out[o];
	if (o < 3)
		return &w->node[n].in[o];
	peer = w->c->peer[n][o];
	return &w->node[peer / RX_PORTS].out[peer % RX_PORTS];
}

static void list_add(struct list *l, uint64_t at, uint32_t kind, uint32_t n)
{
	assert(l->n < 4096);
	l->v[l->n++] = (struct note){ at, (uint8_t)kind, (uint8_t)n };
}

static void list_drop(struct list *l, uint32_t i)
{
	memmove(&l->v[i], &l->v[i + 1], (l->n - i - 1) * sizeof(l->v[0]));
	l->n--;
}

static void take_effect(struct line *l, uint64_t now)
{
	uint32_t i = 0;

	while (i < l->effects.n) {
		struct note e = l->effects.v[i];

		if (e.at > now) {
			i++;
			continue;
		}
		if (e.kind == 4)
			l->unacked -= e.n;
		else
			l->used[e.kind] -= e.n;
		list_drop(&l->effects, i);
	}
}

static bool may_send(const struct rx_cfg *c, const struct line *l, uint32_t vc)
{
	uint32_t v, pool = 0;

	for (v = 0; v < RX_VCS; v++)
		pool += l->used[v] > c->reserved ? l->used[v] - c->reserved : 0;
	if (l->framed && l->unacked >= c->window)
		return false;
	return l->used[vc] < c->reserved ||
	       pool < c->slots - RX_VCS * c->reserved;
}

static bool ack_wanted(const struct rx_cfg *c, struct list *ends, uint64_t slot,
		       uint32_t *n_p)
{
	uint64_t last = 0;
	uint32_t i, n = 0;

	for (i = 0; i < ends->n; i++) {
		if (ends->v[i].at > slot)
			continue;
		n++;
		if (ends->v[i].at > last)
			last = ends->v[i].at;
	}
	*n_p = n;
	return n >= c->ack_every || (n && slot - last >= c->ack_idle);
}

static void ends_drop(struct list *ends, uint64_t slot)
{
	uint32_t i = 0;

	while (i < ends->n)
		if (ends->v[i].at <= slot)
			list_drop(ends, i);
		else
			i++;
}

/* Plans one slot of line l: true when a cell may have it.  `rev` is the line
 * whose receiver sits at the sending end of l. */
static bool plan(struct world *w, struct line *l, struct line *rev,
		 struct rx_sum *sum)
{
	const struct rx_cfg *c = w->c;
	uint64_t slot = w->now + l->t_out;
	uint32_t ctl = c->flit_bytes == 2 ? 2 : 1, i = 0, n, v;

	if (slot < l->busy_till)
		return false;
	if (!l->framed)
		return !l->any_cell || slot >= l->last_cell + c->gap;
	while (i < rev->due.n) {
		if (rev->due.v[i].at <= slot) {
			rev->owed[rev->due.v[i].kind]++;
			list_drop(&rev->due, i);
		} else {
			i++;
		}
	}
	for (v = 0; v < RX_VCS && !rev->owed[v]; v++)
		;
	if (ack_wanted(c, &rev->ends, slot, &n)) {
		ends_drop(&rev->ends, slot);
		list_add(&rev->effects, slot + ctl + c->cross + c->t_lp_in, 4,
			 n);
	} else if (v < RX_VCS) {
		list_add(&rev->effects, slot + ctl + c->cross + c->t_lp_in, v,
			 rev->owed[v]);
		rev->owed[v] = 0;
	} else if (slot >= l->refresh_at) {
		l->refresh_at += c->refresh;
	} else {
		return !l->any_cell || slot >= l->last_cell + c->gap;
	}
	l->busy_till = slot + ctl;
	if (slot < w->end) {
		sum->busy += ctl;
		sum->ctl++;
	}
	return false;
}

/* The cell leaves on line l in the slot planned now. */
static void leave(struct world *w, struct line *l, struct cell x, uint32_t vc,
		  uint32_t t_in, struct rx_sum *sum)
{
	const struct rx_cfg *c = w->c;
	uint32_t over = !l->framed ? 0 : c->flit_bytes == 2 ? 5 : 2;
	uint64_t start = w->now + l->t_out;

	sum->cells++;
	sum->flits += x.flits;
	sum->busy += x.flits + over;
	l->used[vc]++;
	l->last_cell = start;
	l->any_cell = true;
	start += x.skip;
	l->busy_till = start + x.flits + over;
	if (l->framed) {
		l->unacked++;
		list_add(&l->ends,
			 start + x.flits + over + c->cross + 2 + c->t_lp_out, 4,
			 1);
	}
	x.skip = 0;
	x.vc = (uint8_t)vc;
	x.seen = start + t_in;
	assert(l->n_way < 128);
	l->way[l->n_way++] = x;
}

/* A slot of vc at the receiving end of line l is free at `at`. */
static void freed(struct world *w, struct line *l, uint32_t vc, uint64_t at,
		  bool link)
{
	const struct rx_cfg *c = w->c;

	if (l->framed)
		list_add(&l->due, at + 5 + c->t_lp_out, vc, 1);
	else if (link)
		list_add(&l->effects, at + 1 + c->cross + c->t_lp_in, vc, 1);
	else
		list_add(&l->effects, at + 2, vc, 1);
}

/* ---- crossbar
 * --------------------------------------------------------------------- */

static uint32_t removes(const struct rx_cfg *c, const struct rx_pkt *p,
			uint32_t pos)
{
	uint32_t k = c->flit_bytes * 2, left = p->hops, used = 0;

	/* flits hold k - 1 nibbles while more than k are left */
	while (left > k) {
		used += k - 1;
		left -= k - 1;
		if (pos + 1 == used)
			return 1;
	}
	return pos + 1 == p->hops;
}

/* A packet without a route is routed by what stands there instead. */
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
		struct line *l = i < 3 ? &d->in[i] : back(w, n, i, false);

		freed(w, l, x.vc, x.seen + x.flits, i >= 3);
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

/* 4.2, word for word. */
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

/* 4.3, and no deadlock: a packet that is not whole yet does not overtake what
 * came before it on its VC. */
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

static uint64_t requests(struct world *w, struct node *d, uint32_t o)
{
	uint64_t req = 0;
	uint32_t i, v;

	for (i = 0; i < RX_PORTS; i++) {
		for (v = 0; v < RX_VCS; v++) {
			struct queue *q = &d->q[i][o][v];
			int lock;

			if (!q->n || d->read_free[i] > w->now ||
			    !may_start(d, i, o, v))
				continue;
			lock = d->lock[o][q->c[0].vc_out];
			if (lock >= 0 && lock != (int)(i * 4 + v))
				continue;
			if (may_send(w->c, &d->out[o], q->c[0].vc_out))
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
	struct line *from = i < 3 ? &d->in[i] : back(w, n, i, false);
	uint64_t end = w->now + x.flits + x.skip;
	uint32_t t_in =
		o < 3 ? 0
		      : (c->framed || 1) + c->cross + c->t_lp_in + c->t_route;

	memmove(&q->c[0], &q->c[1], --q->n * sizeof(q->c[0]));
	d->lock[o][x.vc_out] = x.eop ? -1 : (int)bit;
	d->read_free[i] = end;
	leave(w, &d->out[o], x, x.vc_out, t_in, &w->r->sum[n][o]);
	freed(w, from, v, end, i >= 3);
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

/* ---- network ports
 * ------------------------------------------------------------------ */

static uint32_t route_flits(const struct rx_cfg *c, const struct rx_pkt *p)
{
	uint32_t k = c->flit_bytes * 2, left = p->hops, n = 1;

	for (; left > k; left -= k - 1)
		n++;
	return n;
}

static bool np_cell(struct world *w, uint32_t n, uint32_t p, uint32_t cls)
{
	struct port_np *np = &w->node[n].np[p];
	uint32_t id, rf, total, len, max = w->c->cell_flits;
	struct cell x;

	if (np->head[cls] == np->n[cls])
		return false;
	id = np->q[cls][np->head[cls]];
	if (w->pkt[id].ready > w->now ||
	    !may_send(w->c, &w->node[n].in[p], cls * 2))
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
	leave(w, &w->node[n].in[p], x, cls * 2, w->c->t_route,
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
		freed(w, l, np->held[i].vc, w->now, false);
		np->held[i] = np->held[--np->n_held];
	}
}

/* ---- all of it, cycle by cycle
 * ------------------------------------------------------ */

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
			take_effect(&w->node[n].out[o], w->now);
			if (o < 3)
				take_effect(&w->node[n].in[o], w->now);
		}
	for (n = 0; n < c->nodes; n++)
		for (o = 0; o < RX_PORTS; o++)
			if (w->node[n].out[o].there)
				arrivals(w,
					 o < 3 ? &w->node[n].in[o]
					       : back(w, n, o, false),
					 n, o);
	for (n = 0; n < c->nodes; n++) {
		bool slot[RX_PORTS];

		for (o = 0; o < RX_PORTS; o++)
			slot[o] = w->node[n].out[o].there &&
				  plan(w, &w->node[n].out[o],
				       back(w, n, o, false), &w->r->sum[n][o]);
		crossbar(w, n, slot);
	}
	for (n = 0; n < c->nodes; n++)
		for (o = 0; o < 3; o++) {
			struct port_np *np = &w->node[n].np[o];

			if (!c->np[n][o])
				continue;
			np_take(w, n, o);
			if (plan(w, &w->node[n].in[o], &w->node[n].out[o],
				 &w->r->np_sum[n][o]) &&
			    !np_cell(w, n, o, np->turn))
				np_cell(w, n, o, !np->turn);
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
