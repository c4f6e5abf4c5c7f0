/* SPDX-License-Identifier: Apache-2.0 */
/* Random networks of net.router (scene.h). */
#include <stdio.h>

#include "systems/router/tests/scene.h"

/* Makes the router one that defers steps (router.h). Few random routers are. */
static void router_plain(struct router_params *p)
{
	p->flow = ROUTER_WORMHOLE;
	p->t_route = p->t_route ? 1 : 0;
	p->t_vc_alloc = p->t_sw_alloc = 1;
	p->speculative = p->wait_for_tail = p->busy_when_full = false;
	p->pipelined = true;
	p->speedup = 1;
	p->input_speedup = p->output_speedup = 1;
}

static void input_make(struct scene *s)
{
	struct router_params *p = &s->c.p;

	*p = (struct router_params){
		.vcs = 1 + pick(s, 6),
		.buf_flits = 1 + pick(s, pick(s, 2) ? 4 : 16),
		.flow = pick(s, 2) ? 0 : pick(s, 3),
		.t_route = pick(s, 3) ? pick_delay(s) : 0,
		.t_vc_alloc = pick_delay(s),
		.t_sw_alloc = pick_delay(s),
		.t_cross = pick_delay(s),
		.vc_alloc = pick(s, 5),
		.sw_alloc = pick(s, 5),
		.vc_iterations = 1 + pick(s, 3),
		.sw_iterations = 1 + pick(s, 3),
		.arbiter = pick(s, 4),
		.speculative = !pick(s, 4),
		.hold = !pick(s, 2),
		.wait_for_tail = !pick(s, 4),
		.busy_when_full = !pick(s, 4),
		.pipelined = pick(s, 3),
		.speedup = pick(s, 4) ? 1 : 1 + pick(s, 4) * 0.5,
		.input_speedup = pick(s, 3) ? 1 : 1 + pick(s, 3),
		.output_speedup = pick(s, 4) ? 1 : 1 + pick(s, 3),
	};
	if (p->speculative)
		p->t_vc_alloc = p->t_sw_alloc = 1;
	if (p->speedup != 1) {
		p->pipelined = true;
		p->t_vc_alloc = p->t_sw_alloc = 1;
	}
	if (p->arbiter == ROUTER_MATRIX &&
	    (p->vc_alloc == ALLOCATOR_ISLIP || p->sw_alloc == ALLOCATOR_ISLIP))
		p->arbiter = ROUTER_ROUND_ROBIN;
	if (s->plain)
		router_plain(p);
}

static struct weft_comp *input_add(struct scene *s, uint32_t i)
{
	struct weft_err err = { 0 };
	char name[16];
	struct weft_comp *c;

	snprintf(name, sizeof(name), "s%u", i);
	c = weft_sim_add(s->sim, &weft_class_net_router, name, &err);
	((struct router *)c->state)->p = s->c.p;
	return c;
}

static uint32_t input_left(struct scene *s, uint32_t i)
{
	struct router *r = s->router[i]->state;
	uint32_t left = 0;

	r->s.step(&r->s, station_now(&r->s) + 1);
	for (uint32_t p = 0; p < r->p.ports; p++)
		router_line_credits(r, p);
	for (uint32_t k = 0; k < r->p.ports * r->p.vcs; k++)
		left += r->in[k].flits || r->out[k].taken ||
			(r->plain.taken & ~r->plain.freed) ||
			r->out[k].credits != r->out[k].places;
	return left;
}

static void input_print(const struct scene *s)
{
	const struct router_params *p = &s->c.p;

	fprintf(stderr,
		"vcs %u, buf %u, flow %u, stages %u %u %u %u, allocators %u/%u %u/%u, arbiter %u, speculative %d, hold %d, tail %d, full %d, pipelined %d, speedup %g (%u to %u)\n",
		p->vcs, p->buf_flits, p->flow, p->t_route, p->t_vc_alloc,
		p->t_sw_alloc, p->t_cross, p->vc_alloc, p->vc_iterations,
		p->sw_alloc, p->sw_iterations, p->arbiter, p->speculative,
		p->hold, p->wait_for_tail, p->busy_when_full, p->pipelined,
		p->speedup, p->input_speedup, p->output_speedup);
}

const struct scene_kind scene_kind = { input_make, NULL, input_add, input_left,
				       input_print };
