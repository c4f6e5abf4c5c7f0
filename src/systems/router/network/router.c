/* SPDX-License-Identifier: Apache-2.0 */
/* Class net.router: tables, set-up, see router.h. */
#include "systems/router/network/router.h"

#include <errno.h>
#include <stdlib.h>

#include "base/need.h"
#include "systems/router/network/meter.h"

/* clang-format off */
#define ROUTER_PARAM(type_, field, def_, range_, doc_)                         \
	{ .name = #field, .type = WEFT_P_##type_,                              \
	  .offset = offsetof(struct router, p.field),                          \
	  .size = sizeof(((struct router *)0)->p.field), .def = def_,          \
	  .range = range_, .source = WEFT_OWN, .doc = doc_ }
static const struct weft_param router_params[] = {
	ROUTER_PARAM(U32, ports, "5", "1..128", "set by the fabric"),
	ROUTER_PARAM(U32, vcs, "4", "1..32", "virtual channels of a port"),
	ROUTER_PARAM(U32, buf_flits, "8", "1..4096",
		     "places for flits of each VC"),
	ROUTER_PARAM(ENUM, flow, "wormhole",
		     "wormhole|cut_through|store_and_forward",
		     "condition to go on: a free place, places for the whole "
		     "packet, and the whole packet has arrived"),
	ROUTER_PARAM(U32, t_route, "1", "0..16",
		     "cycles of routing; 0 = done ahead in the router before"),
	ROUTER_PARAM(U32, t_vc_alloc, "1", "1..16", "cycles of VC allocation"),
	ROUTER_PARAM(U32, t_sw_alloc, "1", "1..16",
		     "cycles of switch allocation"),
	ROUTER_PARAM(U32, t_cross, "1", "1..16", "cycles of the crossbar"),
	{ .name = "credit_delay", .type = WEFT_P_U32,
	  .offset = offsetof(struct router, s.credit_delay), .size = 4,
	  .def = "0", .range = "0..1024", .source = WEFT_OWN,
	  .doc = "cycles until a credit that has arrived counts" },
	ROUTER_PARAM(ENUM, vc_alloc, "islip", ALLOCATOR_NAMES,
		     "allocator of VCs"),
	ROUTER_PARAM(ENUM, sw_alloc, "islip", ALLOCATOR_NAMES,
		     "allocator of the switch"),
	ROUTER_PARAM(U32, vc_iterations, "1", "1..16",
		     "iterations of islip for VCs"),
	ROUTER_PARAM(U32, sw_iterations, "1", "1..16",
		     "iterations of islip for the switch"),
	ROUTER_PARAM(ENUM, arbiter, "round_robin", "round_robin|matrix|age|class",
		     "arbiters of the allocators; age = the oldest packet "
		     "first, class = that of the highest priority, then round "
		     "robin"),
	ROUTER_PARAM(BOOL, speculative, "no", "",
		     "requests the switch together with a VC"),
	ROUTER_PARAM(BOOL, hold, "no", "",
		     "the switch is held for a packet while flits can leave"),
	ROUTER_PARAM(BOOL, wait_for_tail, "no", "",
		     "a VC is free when all its flits have left the next "
		     "router, not when the last has left this one"),
	ROUTER_PARAM(BOOL, busy_when_full, "no", "",
		     "a VC without a free place is not allocated; always so "
		     "for routings with escape channels"),
	ROUTER_PARAM(BOOL, pipelined, "yes", "",
		     "a stage of several cycles takes packets or flits in each "
		     "of them; no = when it has ended with those before"),
	ROUTER_PARAM(REAL, speedup, "1", "1..8",
		     "steps of allocators and crossbar in a cycle"),
	ROUTER_PARAM(U32, input_speedup, "1", "1..8",
		     "inputs of the crossbar at each port, which its VCs share"),
	ROUTER_PARAM(U32, output_speedup, "1", "1..8",
		     "outputs of the crossbar at each port, which the other "
		     "ports share; flits leave one in a cycle"),
	{ .name = "clock", .type = WEFT_P_CLOCK,
	  .offset = offsetof(struct router, s.clock),
	  .size = sizeof(struct weft_clock), .def = "1GHz", .range = "",
	  .source = WEFT_OWN, .doc = "the same for the whole network" },
	{ 0 }
};
/* clang-format on */

static const struct weft_counter router_counters[ROUTER_N_COUNTERS] = {
	[ROUTER_FLITS] = { "flits", "flits", "flits through the crossbar" },
	[ROUTER_PACKETS] = { "packets", "packets",
			     "packets through the crossbar" },
};

static const struct weft_port_decl router_ports[] = {
	{ "p%u", WEFT_PORT_LINK, "ports", &router_wire, true,
	  "to routers and ends" },
	{ 0 },
};

/* ---- set-up ---- */

static int router_check(const struct router *r, struct weft_err *err)
{
	const struct router_params *p = &r->p;

	if (p->speculative && (p->t_vc_alloc > 1 || p->t_sw_alloc > 1))
		return weft_fail(
			err, EINVAL,
			"%s: speculative requests need t_vc_alloc and t_sw_alloc of 1, because both are decided in one cycle",
			r->s.comp->name);
	if (p->speedup != 1 &&
	    (!p->pipelined || p->t_vc_alloc > 1 || p->t_sw_alloc > 1))
		return weft_fail(
			err, EINVAL,
			"%s: a speedup needs pipelined=yes and t_vc_alloc and t_sw_alloc of 1, because a cycle has several allocations",
			r->s.comp->name);
	if (p->arbiter == ROUTER_MATRIX &&
	    (p->vc_alloc == ALLOCATOR_ISLIP || p->sw_alloc == ALLOCATOR_ISLIP))
		return weft_fail(
			err, EINVAL,
			"%s: islip has turns of its own, not arbiter=matrix: use input_first or output_first",
			r->s.comp->name);
	return 0;
}

static void stage_init(struct router *r, struct stage *s, uint32_t delay)
{
	s->delay = delay ? delay : 1;
	s->fresh = need(calloc(r->words, 8));
	s->due = need(calloc((size_t)r->words * s->delay, 8));
}

/* Shares the memory that an allocator needs for a run between routers of one
 * shape. Allocators run one after another. */
static void rooms_share(struct router *r)
{
	struct router_net *net = r->s.net->state;
	const struct router *first = net->shape;

	if (!first || first->p.ports != r->p.ports ||
	    first->p.vcs != r->p.vcs ||
	    !allocator_share(&r->vcs, &first->vcs) ||
	    !allocator_share(&r->switches, &first->switches))
		net->shape = r;
}

/* Sets the properties that other stations read. `silence` includes the time of
 * flits in all stages. With store and forward, it also includes the wait for a
 * whole packet. */
static void face_init(struct router *r)
{
	const struct router_params *p = &r->p;

	r->s.face = (struct router_face){
		.vcs = p->vcs,
		.places = p->buf_flits,
		.flow = p->flow,
		.wait_for_tail = p->wait_for_tail,
		.hold = p->hold,
		.silence = 2ull * (p->t_route + p->t_vc_alloc + p->t_sw_alloc +
				   p->t_cross) +
			   r->s.credit_delay +
			   (p->flow == ROUTER_STORE ? p->buf_flits : 0),
		.count = router_count,
	};
}

static void allocators_init(struct router *r)
{
	const struct router_params *p = &r->p;
	uint32_t n = p->ports * p->vcs;
	struct allocator_spec vc = {
		.kind = p->vc_alloc,
		.arbiter = p->arbiter == ROUTER_MATRIX ? ARBITER_MATRIX
						       : ARBITER_ROUND_ROBIN,
		.iterations = p->vc_iterations,
		.ranked = p->arbiter >= ROUTER_AGE,
	};
	struct allocator_spec sw = vc;

	sw.kind = p->sw_alloc;
	sw.iterations = p->sw_iterations;
	sw.ranked |= p->speculative;
	allocator_init(&r->switches, &sw, p->ports * p->input_speedup,
		       p->ports * p->output_speedup);
	/* Routings rank their choices. */
	vc.ranked |= r->routing->escape;
	allocator_init(&r->vcs, &vc, n, n);
	rooms_share(r);
}

static void crossbar_init(struct router *r)
{
	uint32_t ins = r->p.ports * r->p.input_speedup;
	uint32_t outs = r->p.ports * r->p.output_speedup;

	r->hold_in = need(calloc(ins, sizeof(*r->hold_in)));
	r->hold_out = need(calloc(outs, sizeof(*r->hold_out)));
	r->asking = need(calloc((size_t)ins * outs, 1));
	r->turn = need(calloc(ins, 1));
	for (uint32_t i = 0; i < ins; i++)
		r->turn[i] = (uint8_t)(i % r->p.input_speedup);
}

static int net_router_init(struct weft_comp *c, struct weft_err *err)
{
	struct router *r = c->state;
	uint32_t n = r->p.ports * r->p.vcs;

	r->s.comp = c;
	r->s.step = router_step;
	if (router_check(r, err))
		return -EINVAL;
	face_init(r);
	r->words = (n + 63) / 64;
	for (r->buf_mask = 1; r->buf_mask < r->p.buf_flits;)
		r->buf_mask *= 2;
	r->s.line = need(calloc(r->p.ports, sizeof(*r->s.line)));
	r->in = need(calloc(n, sizeof(*r->in)));
	r->out = need(calloc(n, sizeof(*r->out)));
	for (uint32_t i = 0; i < n; i++)
		r->in[i] = (struct in_vc){
			.packets = weft_comp_alloc(c, r->buf_mask *
							      sizeof(uint32_t)),
			.port = (uint8_t)(i / r->p.vcs),
			.vc = (uint8_t)(i % r->p.vcs),
			.side = (uint16_t)(i / r->p.vcs * r->p.input_speedup +
					   i % r->p.vcs % r->p.input_speedup),
		};
	r->buf_mask--;
	stage_init(r, &r->route, r->p.t_route);
	stage_init(r, &r->vc, r->p.t_vc_alloc);
	stage_init(r, &r->sw, r->p.t_sw_alloc);
	r->held = need(calloc(r->words, 8));
	crossbar_init(r);
	r->flit_free = need(calloc(r->p.ports, 8));
	r->credit_free = need(calloc(r->p.ports, 8));
	r->credit_step = need(calloc(r->p.ports, 8));
	return 0;
}

static int net_router_start(struct weft_comp *c, struct weft_err *err)
{
	struct router *r = c->state;

	if (station_start(&r->s, err))
		return -EINVAL;
	r->s.packets = router_packets(r->s.net);
	r->routing = r->s.graph->routing;
	/* A packet that holds a VC requests no escape channel. Packets around a
	 * ring that all hold VCs without a place would wait for ever. */
	r->p.busy_when_full |= r->routing->escape;
	router_loads_init(r);
	router_streams_init(r);
	allocators_init(r);
	if (plain_fits(r)) {
		r->s.step = plain_step;
		r->plain.flow_end = ROUTER_NEVER;
	}
	return station_outputs(&r->s, r->out, err);
}

/* Frames do not arrive in phase 0, because runs of flits are not frames. */
static void net_router_arrive(struct weft_comp *c, uint32_t port,
			      struct weft_frame *f)
{
	if (f)
		weft_frame_free(f);
}

static void net_router_event(struct weft_comp *c, uint32_t tag)
{
}

/* Counts the flits that streams have sent up to the present cycle, including
 * this cycle. */
static int net_router_sample(struct weft_comp *c, struct weft_err *err)
{
	struct router *r = c->state;

	if (r->s.comp)
		router_count(&r->s,
			     weft_clock_cycle(&r->s.clock, weft_now(c) + 1));
	return 0;
}

static void stage_fini(struct stage *s)
{
	free(s->fresh);
	free(s->due);
}

static void net_router_fini(struct weft_comp *c)
{
	struct router *r = c->state;

	station_fini(&r->s);
	stage_fini(&r->route);
	stage_fini(&r->vc);
	stage_fini(&r->sw);
	allocator_fini(&r->vcs);
	allocator_fini(&r->switches);
	for (uint32_t i = 0; r->in && i < r->p.ports * r->p.vcs; i++)
		free(r->in[i].choices);
	free(r->in);
	free(r->out);
	free(r->held);
	free(r->hold_in);
	free(r->hold_out);
	free(r->asking);
	free(r->turn);
	free(r->flit_free);
	free(r->credit_free);
	free(r->credit_step);
	free(r->noted);
	router_streams_fini(r);
}

WEFT_COMPONENT(net_router, .name = "net.router", .kind = WEFT_KIND_SWITCH,
	       .doc = "router with input queues and virtual channels",
	       .source = "own; stages and allocators as BookSim2's router iq",
	       .not_modelled = "errors, multicast",
	       .state_size = sizeof(struct router), .params = router_params,
	       .counters = router_counters, .n_counters = ROUTER_N_COUNTERS,
	       .ports = router_ports,
	       .ops = { .init = net_router_init,
			.start = net_router_start,
			.arrive = net_router_arrive,
			.event = net_router_event,
			.finish = net_router_sample,
			.sample = net_router_sample,
			.fini = net_router_fini,
			.place = station_place });
