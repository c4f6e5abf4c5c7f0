/* SPDX-License-Identifier: Apache-2.0 */
/* Reference model of a router with output queues. Each flit in a buffer or a
 * queue is a struct. Whenever a flit needs a place, the places in use are
 * counted again. */
#include <stdlib.h>

#include "systems/router/tests/ref_parts.h"

/* A flit in a buffer, with the cycle of its arrival, or in a queue, with the
 * first cycle in which it may leave. */
struct timed {
	struct flit f;
	uint64_t cycle;
};

/* A packet in a queue, with its flits that have entered and not left. */
struct line_up {
	uint32_t packet, sent;
	struct {
		VEC(struct timed);
	} flits;
};

struct buffer {
	struct {
		VEC(struct timed);
	} flits;
	bool routed, inside; /* its first packet has choices, has a queue */
	uint32_t out;
	struct net_choices choices;
};

struct out_queue {
	struct {
		VEC(struct line_up);
	} packets;
	uint32_t places; /* in use, without the spare one */
	bool spare;
};

struct ref_queued {
	struct buffer *in;
	struct out_queue *out;
	uint32_t ports, vcs, n;	  /* n: input VCs */
	uint32_t own, pool, most; /* places of a queue, of all, limit */
	double alpha;		  /* 0: none */
	uint32_t per_input, per_server, per_cycle;
	uint32_t *turn_server, *turn_line, turn_out;
};

/* ---- places ---- */

static bool whole(const struct net *n)
{
	return n->c->p.flow != ROUTER_WORMHOLE;
}

static uint32_t beyond(const struct ref_queued *r, uint32_t places)
{
	return places > r->own ? places - r->own : 0;
}

static uint32_t pool_left(const struct ref_queued *r)
{
	uint32_t left = r->pool;

	for (uint32_t o = 0; o < r->n; o++)
		left -= beyond(r, r->out[o].places);
	return left;
}

/* Returns true if queue o can have `flits` more places without its spare
 * place. */
static bool ordinary(const struct ref_queued *r, uint32_t o, uint32_t flits)
{
	uint32_t before = beyond(r, r->out[o].places);
	uint32_t after = beyond(r, r->out[o].places + flits);

	if (after == before)
		return true;
	if (r->out[o].places + flits > r->most)
		return false;
	if (after - before > pool_left(r))
		return false;
	return r->alpha == 0 || before < r->alpha * pool_left(r);
}

/* Returns true if a flit of a packet may enter queue o. */
static bool may_enter(const struct net *n, uint32_t id, const struct buffer *b,
		      uint32_t o)
{
	const struct ref_router *of = &n->router[id];
	const struct ref_queued *r = of->queued;
	const struct out_queue *q = &r->out[o];
	uint32_t packet = b->flits.at[0].f.packet;
	bool first = true;

	for (size_t i = 0; i < q->packets.n; i++) {
		const struct line_up *l = &q->packets.at[i];

		if (l->packet == packet)
			break;
		first &= l->sent + l->flits.n == n->packets.at[l->packet].flits;
	}
	if (whole(n))
		return b->inside || ordinary(r, o, n->packets.at[packet].flits);
	/* With escape channels a head enters only an empty queue that leads to
	 * an empty buffer, because a head can choose the escape channel only
	 * while it is at the front of a buffer. */
	if (n->c->graph->routing->escape && !b->inside &&
	    (q->packets.n || of->out[o].credits != of->out[o].places))
		return false;
	return ordinary(r, o, 1) || (first && !q->spare);
}

static void enter(struct net *n, struct ref_queued *r, struct buffer *b)
{
	struct out_queue *q = &r->out[b->out];
	struct flit f = TAKE(&b->flits).f;
	uint32_t flits = n->packets.at[f.packet].flits;
	struct line_up *l = NULL;

	if (whole(n))
		q->places += b->inside ? 0 : flits;
	else if (ordinary(r, b->out, 1))
		q->places++;
	else
		q->spare = true;
	if (!b->inside)
		vec_push(&q->packets, (struct line_up){ .packet = f.packet });
	for (size_t i = 0; i < q->packets.n; i++)
		if (q->packets.at[i].packet == f.packet)
			l = &q->packets.at[i];
	vec_push(&l->flits,
		 (struct timed){ f, n->now + n->c->queued->t_cross });
	b->inside = !f.tail;
	if (f.tail)
		b->routed = false;
}

/* ---- lines ---- */

static uint64_t rank_of(const struct net *n, uint32_t packet)
{
	if (n->c->queued->arbiter == QUEUED_CLASS)
		return n->packets.at[packet].rank;
	if (n->c->queued->arbiter == QUEUED_AGE)
		return UINT32_MAX - n->packets.at[packet].born;
	return 0;
}

static bool may_leave(const struct net *n, uint32_t id, uint32_t o)
{
	const struct ref_router *of = &n->router[id];
	const struct out_queue *q = &of->queued->out[o];
	const struct line_up *l = q->packets.n ? &q->packets.at[0] : NULL;
	uint32_t flits;

	if (!l || !l->flits.n || l->flits.at[0].cycle > n->now ||
	    !of->out[o].credits)
		return false;
	flits = n->packets.at[l->packet].flits;
	if (l->sent || !whole(n))
		return true;
	if (of->out[o].credits < flits)
		return false;
	return n->c->p.flow == ROUTER_CUT_THROUGH ||
	       (l->flits.n == flits && l->flits.at[flits - 1].cycle <= n->now);
}

static int choose_vc(const struct net *n, uint32_t id, uint32_t p)
{
	const struct ref_queued *r = n->router[id].queued;
	uint32_t turn = r->turn_line[p];
	uint32_t last = (turn + r->vcs - 1) % r->vcs;
	const struct out_queue *held = &r->out[p * r->vcs + last];
	int best = -1;
	uint64_t rank = 0;

	if (n->c->queued->hold && may_leave(n, id, p * r->vcs + last) &&
	    held->packets.at[0].sent)
		return (int)last;
	for (uint32_t k = r->vcs; k-- > 0;) {
		uint32_t v = (turn + k) % r->vcs;
		uint64_t own;

		if (!may_leave(n, id, p * r->vcs + v))
			continue;
		own = rank_of(n, r->out[p * r->vcs + v].packets.at[0].packet);
		if (best >= 0 && own < rank)
			continue;
		best = (int)v;
		rank = own;
	}
	return best;
}

static void leave(struct net *n, uint32_t id, uint32_t p, uint32_t v)
{
	struct ref_router *of = &n->router[id];
	struct out_queue *q = &of->queued->out[p * of->queued->vcs + v];
	struct line_up *l = &q->packets.at[0];
	struct flit f = TAKE(&l->flits).f;
	struct ref_port *to;
	uint32_t latency;

	l->sent++;
	if (q->spare)
		q->spare = false;
	else
		q->places--;
	of->out[p * of->queued->vcs + v].credits--;
	f.vc = v;
	to = far_port(n, id, p, &latency);
	cable_put(&to->in, n->now + 1 + latency, f, 0);
	n->r->flits[id]++;
	if (!f.tail)
		return;
	vec_free(&l->flits);
	(void)TAKE(&q->packets);
}

static void lines(struct net *n, uint32_t id)
{
	struct ref_queued *r = n->router[id].queued;
	uint32_t first = r->turn_out, left = r->per_cycle;

	for (uint32_t k = 0; k < r->ports && left; k++) {
		uint32_t p = (first + k) % r->ports;
		int v = choose_vc(n, id, p);

		if (v < 0)
			continue;
		leave(n, id, p, (uint32_t)v);
		r->turn_line[p] = ((uint32_t)v + 1) % r->vcs;
		r->turn_out = (p + 1) % r->ports;
		left--;
	}
}

/* ---- fabric ---- */

static uint32_t in_queue(const struct out_queue *q)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < q->packets.n; i++)
		sum += (uint32_t)q->packets.at[i].flits.n;
	return sum;
}

/* Sets b->out to the queue that a head requests. Returns false if the head can
 * enter no queue. */
static bool aim(const struct net *n, uint32_t id, struct buffer *b)
{
	const struct ref_router *of = &n->router[id];
	bool found = false;
	uint64_t least = 0;

	for (uint32_t c = 0; c < b->choices.n; c++) {
		const struct net_choice *w = &b->choices.at[c];

		for (uint32_t v = w->first; v <= w->last; v++) {
			uint32_t o = w->port * of->queued->vcs + v;
			uint64_t cost = in_queue(&of->queued->out[o]) +
					of->out[o].places - of->out[o].credits;

			if (!may_enter(n, id, b, o))
				continue;
			cost |= (uint64_t)(UINT32_MAX - w->priority) << 32;
			if (found && cost >= least)
				continue;
			found = true;
			least = cost;
			b->out = o;
		}
	}
	return found;
}

static void flit_cross(struct net *n, uint32_t id, uint32_t i)
{
	struct ref_queued *r = n->router[id].queued;
	uint32_t latency, vcs = r->vcs;
	const struct net_far *f = net_graph_far(n->c->graph, id, i / vcs);
	struct ref_port *back = far_port(n, id, i / vcs, &latency);

	enter(n, r, &r->in[i]);
	cable_put(&back->back,
		  n->now + 1 + latency + (f->end ? 0 : n->c->credit_delay),
		  (struct flit){ 0 }, i % vcs);
}

/* Serves the input VCs i whose request wants[i] is for this server. */
static void serve(struct net *n, uint32_t id, uint32_t server, int64_t *wants,
		  uint32_t *given)
{
	struct ref_queued *r = n->router[id].queued;
	uint32_t turn = r->turn_server[server];

	for (uint32_t left = r->per_server; left;) {
		int64_t best = -1;
		uint64_t rank = 0;

		turn = r->turn_server[server];
		for (uint32_t k = r->n; k-- > 0;) {
			uint32_t i = (turn + k) % r->n;
			uint64_t own;

			if (wants[i] != server)
				continue;
			own = rank_of(n, r->in[i].flits.at[0].f.packet);
			if (best >= 0 && own < rank)
				continue;
			best = i;
			rank = own;
		}
		if (best < 0)
			return;
		wants[best] = -1;
		if (given[best / r->vcs] == r->per_input ||
		    !may_enter(n, id, &r->in[best], r->in[best].out))
			continue;
		given[best / r->vcs]++;
		flit_cross(n, id, (uint32_t)best);
		r->turn_server[server] = ((uint32_t)best + 1) % r->n;
		left--;
	}
}

static void fabric(struct net *n, uint32_t id)
{
	struct ref_queued *r = n->router[id].queued;
	uint32_t servers = n->c->memory ? 1 : r->ports;
	int64_t *wants = calloc(r->n, sizeof(*wants));
	uint32_t *given = calloc(r->ports, sizeof(*given));
	uint64_t flits = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		struct buffer *b = &r->in[i];

		wants[i] = -1;
		if (!b->flits.n || !b->routed)
			continue;
		if (b->inside ? may_enter(n, id, b, b->out) : aim(n, id, b))
			wants[i] = n->c->memory ? 0 : b->out / r->vcs;
	}
	for (uint32_t k = 0; k < servers; k++)
		serve(n, id, (uint32_t)((n->now + k) % servers), wants, given);
	for (uint32_t o = 0; o < r->n; o++)
		flits += in_queue(&r->out[o]);
	if (flits > n->r->peak[id])
		n->r->peak[id] = flits;
	free(wants);
	free(given);
}

/* ---- the cycle ---- */

static void receive(struct net *n, uint32_t id)
{
	struct ref_router *of = &n->router[id];
	struct ref_queued *r = of->queued;
	struct on_cable got;

	for (uint32_t p = 0; p < r->ports; p++) {
		while (cable_get(&of->port[p].in, n->now, &got))
			vec_push(&r->in[p * r->vcs + got.f.vc].flits,
				 (struct timed){ got.f, n->now });
		while (cable_get(&of->port[p].back, n->now, &got))
			place_free(n, &of->out[p * r->vcs + got.vc]);
	}
}

void ref_queued_look(struct net *n, uint32_t id)
{
	struct ref_router *of = &n->router[id];

	for (uint32_t o = 0; o < of->queued->n; o++) {
		of->used[o] = of->out[o].places - of->out[o].credits;
		if (n->c->graph->loads == NET_LOADS_QUEUES)
			of->used[o] += in_queue(&of->queued->out[o]);
	}
}

void ref_queued_cycle(struct net *n, uint32_t id)
{
	struct ref_queued *r = n->router[id].queued;

	receive(n, id);
	for (uint32_t i = 0; i < r->n; i++) {
		struct buffer *b = &r->in[i];

		if (!b->flits.n || b->routed ||
		    b->flits.at[0].cycle + n->c->queued->t_route > n->now)
			continue;
		packet_route(n, id, i, b->flits.at[0].f.packet, &b->choices);
		b->routed = true;
	}
	lines(n, id);
	fabric(n, id);
}

/* Returns the number of ports through which flits can leave a router. */
static uint32_t ways_out(const struct net *n, uint32_t id)
{
	const struct net_graph *g = n->c->graph;
	uint32_t ways = 0;

	for (uint32_t p = 0; p < net_graph_ports(g, id); p++) {
		const struct net_far *f = net_graph_far(g, id, p);

		if (f->at == NET_NOWHERE)
			continue;
		if (!g->type->one_way)
			ways++;
		else if (f->end)
			ways += g->in[f->at].at == id && g->in[f->at].port == p;
		else
			ways += f->at > id;
	}
	return ways;
}

static void memory_init(const struct net *n, uint32_t id, struct ref_queued *r)
{
	const struct queued_params *q = n->c->queued;
	uint32_t queues = ways_out(n, id) * r->vcs;

	r->own = q->reserved;
	r->pool = q->cells - queues * q->reserved;
	r->most = q->limit ? q->limit : q->cells;
	r->alpha = q->share == QUEUED_DYNAMIC ? q->alpha : 0;
	if (q->share == QUEUED_STATIC) {
		r->own = r->most = q->cells / queues;
		r->pool = 0;
	}
	r->per_input = UINT32_MAX;
	r->per_server = q->writes ? q->writes : UINT32_MAX;
	r->per_cycle = q->reads ? q->reads : UINT32_MAX;
}

void ref_queued_init(struct net *n, uint32_t id)
{
	const struct queued_params *q = n->c->queued;
	struct ref_queued *r = calloc(1, sizeof(*r));

	n->router[id].queued = r;
	r->ports = net_graph_ports(n->c->graph, id);
	r->vcs = n->c->p.vcs;
	r->n = r->ports * r->vcs;
	r->in = calloc(r->n, sizeof(*r->in));
	r->out = calloc(r->n, sizeof(*r->out));
	r->turn_server = calloc(r->ports, sizeof(*r->turn_server));
	r->turn_line = calloc(r->ports, sizeof(*r->turn_line));
	r->own = r->most = q->queue_flits;
	r->per_input = r->per_server = q->speedup ? q->speedup : UINT32_MAX;
	r->per_cycle = r->ports;
	if (n->c->memory)
		memory_init(n, id, r);
	if (!whole(n)) {
		r->own--;
		r->most--;
	}
}

uint32_t ref_queued_fini(struct net *n, uint32_t id)
{
	struct ref_queued *r = n->router[id].queued;
	uint32_t left = 0;

	for (uint32_t i = 0; i < r->n; i++) {
		left += (uint32_t)r->in[i].flits.n + r->out[i].places +
			r->out[i].spare + (uint32_t)r->out[i].packets.n;
		vec_free(&r->in[i].flits);
		vec_foreach (&r->out[i].packets, struct line_up, l)
			vec_free(&l->flits);
		vec_free(&r->out[i].packets);
	}
	free(r->in);
	free(r->out);
	free(r->turn_server);
	free(r->turn_line);
	free(r);
	return left;
}
