/* SPDX-License-Identifier: Apache-2.0 */
/* Routings of flattened butterflies and HyperX (graph_hyperx.c), with the rules
 * of BookSim2's ran_min, xyyx, adaptive_xyyx, valiant and ugal of flatfly:
 *
 *	dimension_order		one step in each dimension, the lowest first
 *	o1turn			ascending or descending dimensions, by a coin
 *	xy_yx_adaptive		like o1turn, but the loads of the first outputs
 *				decide
 *	valiant			to a random router, then to the destination. A
 *				packet that passes the destination's router
 *				before the random router stops there.
 *	ugal			a minimal path, or a path over a random router.
 *				That router differs from the source only in
 *				dimensions in which the destination does. The
 *				first router compares hops times load of the
 *				output for both paths (Singh 2005).
 *	minimal_adaptive	a step in any dimension in which the packet is
 *				not at the destination's coordinate, with
 *				dimension_order on the escape channel
 *
 * A packet may take any of several cables between two routers. Steps in
 * ascending order of dimensions form no circle of channels. Therefore one class
 * of VCs for each order or for each phase is enough. */
#include "net/hyperx.h"
#include "net/routing.h"

static const char *const flats[] = { "flattened_butterfly", "hyperx", NULL };

static uint32_t dest_router(const struct net_graph *g,
			    const struct net_route *r)
{
	return g->in[r->dest].at;
}

/* A step in a dimension: `port` is the first of `n` ports to the same
 * router. */
struct step {
	uint32_t port, n;
};

/* Finds the step in the lowest dimension, or the highest if `down`, in which
 * the two routers have different coordinates. Returns false if all coordinates
 * are equal. */
static bool step_to(const struct net_graph *g, uint32_t from, uint32_t to,
		    bool down, struct step *s)
{
	bool found = false;

	for (uint32_t d = 0; d < g->shape.dims; d++) {
		uint32_t k = g->shape.size[d], a = from % k, b = to % k;

		from /= k;
		to /= k;
		if (a == b)
			continue;
		*s = (struct step){ hyperx_port(&g->shape, d, a, b),
				    hyperx_trunking(&g->shape, d) };
		if (!down)
			return true;
		found = true;
	}
	return found;
}

static uint32_t hops(const struct net_graph *g, uint32_t from, uint32_t to)
{
	uint32_t n = 0;

	for (uint32_t d = 0; d < g->shape.dims; d++) {
		n += from % g->shape.size[d] != to % g->shape.size[d];
		from /= g->shape.size[d];
		to /= g->shape.size[d];
	}
	return n;
}

/* Adds the cables of a step with class k of n classes of VCs. */
static void step_choose(struct net_choices *c, struct step s, uint32_t vcs,
			uint32_t k, uint32_t n)
{
	for (uint32_t i = 0; i < s.n; i++)
		net_choose_class(c, s.port + i, vcs, k, n);
}

/* Adds the next step from router `from` to router `to`. If `from` equals `to`,
 * adds the port of the packet's end. */
static void go(const struct net_graph *g, uint32_t vcs, uint32_t from,
	       uint32_t to, const struct net_route *r, bool down, uint32_t k,
	       uint32_t n, struct net_choices *c)
{
	struct step s;

	if (step_to(g, from, to, down, &s))
		step_choose(c, s, vcs, k, n);
	else
		net_choose(c, g->in[r->dest].port, 0, vcs - 1, 0);
}

/* Returns the mean load of the cables of a step. */
static uint32_t step_load(struct net_arrival in, struct step s, uint32_t vcs)
{
	uint32_t sum = 0;

	for (uint32_t i = 0; i < s.n; i++)
		sum += net_used(in, in.router, s.port + i, 0, vcs - 1);
	return sum / s.n;
}

/* ---- orders of dimensions ---- */

static uint32_t order_vcs(const struct net_graph *g, const char **why)
{
	*why = "any";
	return 1;
}

static void order_route(const struct net_graph *g, uint32_t vcs,
			struct net_arrival in, struct net_route *r,
			struct net_choices *c)
{
	go(g, vcs, in.router, dest_router(g, r), r, false, 0, 1, c);
}

const struct net_routing net_routing_hyperx_dimension_order = {
	.name = "dimension_order",
	.doc = "a step in each dimension, the lowest first",
	.topologies = flats,
	.vcs = order_vcs,
	.route = order_route,
};

static uint32_t orders_vcs(const struct net_graph *g, const char **why)
{
	*why = "one for each order of dimensions";
	return 2;
}

static void o1turn_route(const struct net_graph *g, uint32_t vcs,
			 struct net_arrival in, struct net_route *r,
			 struct net_choices *c)
{
	bool down = r->coins & 1;

	go(g, vcs, in.router, dest_router(g, r), r, down, down, 2, c);
}

const struct net_routing net_routing_hyperx_o1turn = {
	.name = "o1turn",
	.doc = "ascending or descending dimensions, by a coin",
	.topologies = flats,
	.vcs = orders_vcs,
	.route = o1turn_route,
	.coins = 1,
};

static void xy_yx_route(const struct net_graph *g, uint32_t vcs,
			struct net_arrival in, struct net_route *r,
			struct net_choices *c)
{
	uint32_t to = dest_router(g, r), a, b;
	struct step up, down = { 0 };

	if (net_injected(g, in)) {
		r->part = r->coins & 1;
		if (in.loads && step_to(g, in.router, to, false, &up)) {
			step_to(g, in.router, to, true, &down);
			a = step_load(in, up, vcs);
			b = step_load(in, down, vcs);
			r->part = a == b ? r->part : b < a;
		}
	}
	go(g, vcs, in.router, to, r, r->part, r->part, 2, c);
}

const struct net_routing net_routing_hyperx_xy_yx_adaptive = {
	.name = "xy_yx_adaptive",
	.doc = "ascending or descending dimensions, whose output is emptier",
	.topologies = flats,
	.vcs = orders_vcs,
	.route = xy_yx_route,
	.looks = true,
	.coins = 1,
};

/* ---- over a router on the way ---- */

static uint32_t phases_vcs(const struct net_graph *g, const char **why)
{
	*why = "one for each phase";
	return 2;
}

static void phases_go(const struct net_graph *g, uint32_t vcs,
		      struct net_arrival in, struct net_route *r,
		      struct net_choices *c)
{
	go(g, vcs, in.router, r->phase ? dest_router(g, r) : r->mid, r, false,
	   r->phase, 2, c);
}

static void valiant_inject(const struct net_graph *g, struct net_route *r,
			   uint64_t random)
{
	r->mid = (uint32_t)((random >> 32) * g->routers >> 32);
}

static void valiant_route(const struct net_graph *g, uint32_t vcs,
			  struct net_arrival in, struct net_route *r,
			  struct net_choices *c)
{
	r->phase |= in.router == r->mid || in.router == dest_router(g, r);
	phases_go(g, vcs, in, r, c);
}

const struct net_routing net_routing_hyperx_valiant = {
	.name = "valiant",
	.doc = "by dimension order to a random router, then to the destination",
	.topologies = flats,
	.vcs = phases_vcs,
	.inject = valiant_inject,
	.route = valiant_route,
	.phases = true,
	.coins = 1,
};

/* Draws the intermediate router r->mid. It has random coordinates in the
 * dimensions in which source and destination differ, and the coordinates of
 * both in the others. */
static void ugal_inject(const struct net_graph *g, struct net_route *r,
			uint64_t random)
{
	uint32_t from = g->out[r->src].at, to = dest_router(g, r), stride = 1;

	r->mid = 0;
	random >>= 32;
	for (uint32_t d = 0; d < g->shape.dims; d++) {
		uint32_t k = g->shape.size[d], at = from % k;

		if (at != to % k) {
			/* the fraction is left for the next dimension */
			random *= k;
			at = (uint32_t)(random >> 32);
			random &= UINT32_MAX;
		}
		r->mid += at * stride;
		stride *= k;
		from /= k;
		to /= k;
	}
}

/* Returns true if the packet should take the path over r->mid. r->mid must not
 * be the router that the packet is at. If the loads of outputs are unknown, the
 * result is random. */
static bool detour(const struct net_graph *g, uint32_t vcs,
		   struct net_arrival in, const struct net_route *r)
{
	uint32_t at = in.router, to = dest_router(g, r);
	uint32_t far = hops(g, at, r->mid) + hops(g, r->mid, to);
	struct step minimal, other = { 0 };

	if (!in.loads)
		return r->coins & 1;
	if (!step_to(g, at, to, false, &minimal))
		return false;
	step_to(g, at, r->mid, false, &other);
	return hops(g, at, to) * step_load(in, minimal, vcs) >
	       far * step_load(in, other, vcs) + g->threshold;
}

static void ugal_route(const struct net_graph *g, uint32_t vcs,
		       struct net_arrival in, struct net_route *r,
		       struct net_choices *c)
{
	r->phase |= in.router == r->mid;
	if (!r->phase && net_injected(g, in))
		r->phase = !detour(g, vcs, in, r);
	phases_go(g, vcs, in, r, c);
}

const struct net_routing net_routing_hyperx_ugal = {
	.name = "ugal",
	.doc = "minimal or over a random router, by hops and loads",
	.topologies = flats,
	.vcs = phases_vcs,
	.inject = ugal_inject,
	.route = ugal_route,
	.phases = true,
	.looks = true,
	.threshold = true,
	.coins = 1,
};

/* ---- adaptive ---- */

static uint32_t adaptive_vcs(const struct net_graph *g, const char **why)
{
	*why = "an escape VC and an adaptive one";
	return 2;
}

static void adaptive_route(const struct net_graph *g, uint32_t vcs,
			   struct net_arrival in, struct net_route *r,
			   struct net_choices *c)
{
	uint32_t from = in.router, to = dest_router(g, r);
	bool free = net_injected(g, in) || in.vc;
	struct step s;

	if (!step_to(g, from, to, false, &s)) {
		net_choose(c, g->in[r->dest].port, 0, vcs - 1, 0);
		return;
	}
	for (uint32_t i = 0; i < s.n; i++)
		net_choose(c, s.port + i, 0, 0, 0);
	for (uint32_t d = 0; free && d < g->shape.dims; d++) {
		uint32_t k = g->shape.size[d], a = from % k, b = to % k;
		uint32_t n = a == b ? 0 : hyperx_trunking(&g->shape, d);

		for (uint32_t i = 0; i < n; i++)
			net_choose(c, hyperx_port(&g->shape, d, a, b) + i, 1,
				   vcs - 1, 1);
		from /= k;
		to /= k;
	}
}

const struct net_routing net_routing_hyperx_minimal_adaptive = {
	.name = "minimal_adaptive",
	.doc = "any dimension that lacks a step; escape by dimension order",
	.topologies = flats,
	.vcs = adaptive_vcs,
	.route = adaptive_route,
	.escape = true,
	.coins = 1,
};
