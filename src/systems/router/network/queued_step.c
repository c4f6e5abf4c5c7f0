/* SPDX-License-Identifier: Apache-2.0 */
/* A cycle of a router that queues flits at its outputs (queued.h). A router
 * sleeps while none of its flits can move. If the router is empty, the next
 * flit wakes it. Otherwise a flit, a credit or the end of a delay wakes it. */
#include <assert.h>
#include <stdlib.h>

#include "base/need.h"
#include "systems/router/network/meter.h"
#include "systems/router/network/queued.h"

/* ---- arrivals ---- */

static void flits_take(struct queued *r, uint32_t i, const struct flit_run *run,
		       uint32_t n, uint64_t now)
{
	struct queued_in *v = &r->in[i];

	assert(v->flits + n <= r->p.buf_flits);
	v->flits += n;
	set_add(r->busy, i);
	if (!run->head || run->taken)
		return;
	*ring_push(&v->packets) =
		(struct queued_head){ run->packet, now + r->p.t_route };
	if (r->p.t_route)
		station_wake(&r->s, now + r->p.t_route);
	if (v->state == QUEUED_IDLE)
		v->state = QUEUED_WAIT;
}

static void line_take(struct queued *r, uint32_t p, uint64_t now)
{
	struct line *l = &r->s.line[p];

	while (!ring_empty(&l->in) && ring_front(&l->in)->cycle <= now) {
		struct flit_run *run = ring_front(&l->in);
		uint64_t n = now - run->cycle + 1;

		n = (n < run->n ? n : run->n) - run->taken;
		if (!n)
			break;
		flits_take(r, p * r->p.vcs + run->vc, run, (uint32_t)n, now);
		run->taken += (uint16_t)n;
		if (run->taken == run->n)
			ring_pop(&l->in);
	}
	if (ring_empty(&l->in))
		set_remove(r->s.flits, p);
}

static void credits_take(struct queued *r, uint64_t now)
{
	SET_EACH(r->s.credits, NET_PORTS_MAX / 64, p)
	{
		struct line *l = &r->s.line[p];

		router_credits_take(l, r->behind + p * r->p.vcs, false, now);
		if (ring_empty(&l->back))
			set_remove(r->s.credits, p);
	}
}

/* ---- loads ---- */

/* Stores the loads of the end of the previous cycle in r->noted, unless an
 * earlier call in this cycle has stored them. Called in each step, and when
 * another router reads the loads. */
static void loads_note(struct queued *r, uint64_t now)
{
	uint32_t n = r->p.ports * r->p.vcs;

	if (r->noted_at == now)
		return;
	r->noted_at = now;
	if (now)
		credits_take(r, now - 1);
	for (uint32_t o = 0; o < n; o++) {
		r->noted[o] = r->behind[o].places - r->behind[o].credits;
		if (r->s.graph->loads == NET_LOADS_QUEUES)
			r->noted[o] += r->out[o].flits;
	}
}

static uint32_t queued_used(const void *own, uint32_t router, uint32_t port,
			    uint32_t first, uint32_t last)
{
	const struct queued *r = own;
	const struct router_net *net = r->s.net->state;
	struct queued *of = net->router[router]->state;
	uint32_t sum = 0;

	loads_note(of, station_now(&r->s));
	for (uint32_t v = first; v <= last; v++)
		sum += of->noted[port * r->p.vcs + v];
	return sum;
}

void queued_loads_init(struct queued *r)
{
	r->noted_at = ROUTER_NEVER;
	r->loads = (struct net_loads){ queued_used, r };
	if (r->routing->looks)
		r->noted = need(calloc((size_t)r->p.ports * r->p.vcs,
				       sizeof(*r->noted)));
}

/* ---- the cycle ---- */

/* Routes the heads that are at the front of their buffers and arrived t_route
 * cycles ago. */
static void heads_route(struct queued *r, uint64_t now)
{
	SET_EACH(r->busy, r->words, i)
	{
		struct queued_in *v = &r->in[i];
		struct net_arrival at = { r->s.number, i / r->p.vcs,
					  i % r->p.vcs, &r->loads };
		struct packet *p;

		if (v->state != QUEUED_WAIT ||
		    ring_front(&v->packets)->ready > now)
			continue;
		if (!v->choices)
			v->choices = need(malloc(sizeof(*v->choices)));
		v->choices->n = 0;
		p = queued_packet(r, queued_front(v));
		net_range_route(r->routing, r->s.graph, p->range, at, &p->route,
				v->choices);
		v->state = QUEUED_HEAD;
		r->worked = true;
	}
}

/* Sets a wake for the next step. The wakes at the ends of t_route and t_cross
 * are already set. */
static void step_next(struct queued *r, uint64_t now)
{
	r->s.hungry = r->flits || !set_empty(r->busy, r->words);
	if (r->worked) {
		station_wake(&r->s, now + 1);
		return;
	}
	now = station_arrival(&r->s, r->s.hungry);
	if (now != ROUTER_NEVER)
		station_wake(&r->s, now);
}

void queued_step(struct station *s, uint64_t now)
{
	struct queued *r = (struct queued *)s;

	r->worked = false;
	if (r->noted)
		loads_note(r, now);
	SET_EACH(r->s.flits, NET_PORTS_MAX / 64, p)
	line_take(r, p, now);
	credits_take(r, now);
	heads_route(r, now);
	queued_arrived(r, now);
	queued_lines(r, now);
	queued_fabric(r, now);
	step_next(r, now);
}
