/* SPDX-License-Identifier: Apache-2.0 */
/* Random networks of net.router_oq and net.router_sm (scene.h). */
#include <stdio.h>

#include "systems/router/tests/scene.h"

static uint32_t some(struct scene *s, uint32_t odds, uint32_t most)
{
	return pick(s, odds) ? 0 : 1 + pick(s, most);
}

/* Returns true if flits can leave through port p of router i. */
static bool leads_out(const struct net_graph *g, uint32_t i, uint32_t p)
{
	const struct net_far *f = net_graph_far(g, i, p);

	if (f->at == NET_NOWHERE || !g->type->one_way)
		return f->at != NET_NOWHERE;
	if (!f->end)
		return f->at > i;
	return g->in[f->at].at == i && g->in[f->at].port == p;
}

/* Draws the size of the memory. It is large enough for the reserved cells of
 * the router with the most outputs. */
static void memory_fit(struct scene *s)
{
	struct queued_params *q = &s->queued;
	uint32_t most = 0;

	for (uint32_t i = 0; i < s->graph.routers; i++) {
		uint32_t n = 0;

		for (uint32_t p = 0; p < net_graph_ports(&s->graph, i); p++)
			n += leads_out(&s->graph, i, p);
		most = n > most ? n : most;
	}
	q->cells = most * q->vcs * q->reserved + some(s, 2, 40);
}

static void memory_make(struct scene *s, struct queued_params *q)
{
	uint32_t least = s->c.p.flow == ROUTER_WORMHOLE ? 1 : q->buf_flits;

	q->share = pick(s, 3);
	q->alpha = 0.25 * (1 + pick(s, 12));
	q->reserved = least + some(s, 2, 6);
	q->limit = pick(s, 2) ? 0 : q->reserved + pick(s, 12);
	q->writes = some(s, 2, 6);
	q->reads = some(s, 2, 6);
}

static void queued_make(struct scene *s)
{
	struct queued_params *q = &s->queued;

	*q = (struct queued_params){
		.vcs = 1 + pick(s, 6),
		.buf_flits = 1 + pick(s, pick(s, 2) ? 4 : 16),
		.flow = pick(s, 2) ? 0 : pick(s, 3),
		.t_route = pick(s, 3) ? pick_delay(s) : 0,
		.t_cross = pick_delay(s),
		.arbiter = pick(s, 3),
		.hold = pick(s, 2),
		.speedup = some(s, 2, 4),
	};
	q->queue_flits = 1 + pick(s, pick(s, 2) ? 4 : 24);
	if (q->flow != ROUTER_WORMHOLE)
		q->queue_flits += q->buf_flits - 1;
	s->c.p = (struct router_params){ .vcs = q->vcs,
					 .buf_flits = q->buf_flits,
					 .flow = q->flow,
					 .hold = q->hold };
	s->c.queued = q;
	s->c.memory = pick(s, 2);
	if (s->c.memory)
		memory_make(s, q);
}

static struct weft_comp *queued_add(struct scene *s, uint32_t i)
{
	struct weft_err err = { 0 };
	char name[16];
	struct weft_comp *c;

	snprintf(name, sizeof(name), "s%u", i);
	c = weft_sim_add(s->sim,
			 s->c.memory ? &weft_class_net_router_sm
				     : &weft_class_net_router_oq,
			 name, &err);
	((struct queued *)c->state)->p = s->queued;
	return c;
}

static uint32_t queued_left(struct scene *s, uint32_t i)
{
	struct queued *r = s->router[i]->state;
	uint32_t left = r->room.used + r->flits;

	queued_step(&r->s, station_now(&r->s) + 1);
	for (uint32_t p = 0; p < r->p.ports; p++)
		router_credits_take(&r->s.line[p], r->behind + p * r->p.vcs,
				    false, UINT64_MAX / 2);
	for (uint32_t k = 0; k < r->p.ports * r->p.vcs; k++)
		left += r->in[k].flits + r->out[k].used + r->out[k].spare +
			r->out[k].flits +
			(r->behind[k].credits != r->behind[k].places);
	return left;
}

static void queued_print(const struct scene *s)
{
	const struct queued_params *p = &s->queued;

	fprintf(stderr,
		"%s: vcs %u, buf %u, flow %u, stages %u %u, arbiter %u, hold %d, ",
		s->c.memory ? "memory" : "queues", p->vcs, p->buf_flits,
		p->flow, p->t_route, p->t_cross, p->arbiter, p->hold);
	if (s->c.memory)
		fprintf(stderr,
			"cells %u, share %u, alpha %g, reserved %u, limit %u, writes %u, reads %u\n",
			p->cells, p->share, p->alpha, p->reserved, p->limit,
			p->writes, p->reads);
	else
		fprintf(stderr, "places %u, speedup %u\n", p->queue_flits,
			p->speedup);
}

const struct scene_kind scene_kind = { queued_make, memory_fit, queued_add,
				       queued_left, queued_print };
