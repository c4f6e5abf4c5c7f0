/* SPDX-License-Identifier: Apache-2.0 */
/* Routings of meshes and tori (graph_grid.c), with the rules of BookSim2's
 * functions dim_order, valiant, romm, xy_yx, adaptive_xy_yx and min_adapt:
 *
 *	dimension_order		the lowest dimension first, the shorter way
 *				round a ring; a coin decides at a tie
 *	valiant			to a random router, then to the destination
 *	romm			like valiant, over a random router in the box
 *				between source and destination (mesh)
 *	ugal			by dimension order, or like valiant; the first
 *				router compares the loads of both ways (Singh
 *				2005)
 *	o1turn			ascending or descending dimensions, by a coin
 *				(mesh)
 *	xy_yx_adaptive		like o1turn, but the loads of the first outputs
 *				decide (mesh)
 *	minimal_adaptive	a step in any dimension whose coordinate still
 *				differs from the destination's; escape channels
 *				by dimension order
 *
 * The VCs of a ring have two classes. A packet keeps the class that it gets at
 *the router where it enters the ring. No packet goes further than half the
 *ring. Each phase has two classes of its own. At the destination all VCs may be
 * used.
 *
 * With one dateline, packets get class 1 if the destination has the lower
 * coordinate, else class 0. The dateline lies between the last router and the
 * first. Packets that pass it upwards have class 1, packets that pass it
 * downwards class 0. Packets of the other class do not pass it in that
 * direction.
 *
 * With balanced datelines, packets that pass between the last router and the
 * first get class 1 in both directions. Packets that pass the middle of the
 *ring get class 0. No packet passes both, because half the ring lies between
 *them. All other packets get a class by a coin, so that both classes have
 *packets at most cables (BookSim2's dim_order_bal). */
#include "net/routing.h"

static const char *const grids[] = { "torus", "mesh", NULL };
static const char *const meshes[] = { "mesh", NULL };

static bool wraps(const struct net_graph *g)
{
	return g->type->rings;
}

static uint32_t grid_router(const struct net_graph *g, uint32_t end)
{
	return g->out[end].at;
}

/* Adds the port of the packet's end, with all VCs. */
static void grid_eject(const struct net_graph *g, uint32_t vcs,
		       const struct net_route *r, struct net_choices *c)
{
	net_choose(c, g->in[r->dest].port, 0, vcs - 1, 0);
}

/* Coordinates of two routers in a dimension. */
struct step {
	uint32_t dim, size, at, to;
};

/* Finds the lowest dimension, or the highest if `down`, in which the two
 * routers have different coordinates. Returns false if all coordinates are
 * equal. */
static bool grid_step(const struct net_graph *g, uint32_t from, uint32_t to,
		      bool down, struct step *s)
{
	bool found = false;

	for (uint32_t d = 0; d < g->shape.dims; d++) {
		uint32_t k = g->shape.size[d];

		if (from % k != to % k) {
			*s = (struct step){ d, k, from % k, to % k };
			found = true;
			if (!down)
				return true;
		}
		from /= k;
		to /= k;
	}
	return found;
}

/* Returns the port of the next step in a row. */
static uint32_t row_port(struct step s)
{
	return 2 * s.dim + (s.at < s.to ? 0 : 1);
}

/* Returns the class of a packet that enters a ring. */
static uint8_t ring_class(const struct net_graph *g, struct step s, bool down,
			  bool coin)
{
	uint32_t middle = (s.size - 1) / 2;

	if (g->datelines == NET_DATELINES_ONE)
		return s.to < s.at;
	if (down ? s.to > s.at : s.to < s.at)
		return 1;
	if ((s.at > middle) != (s.to > middle))
		return 0;
	return coin;
}

/* Returns the port of the next step in a ring. At the router where the packet
 * enters the ring, sets the packet's class. One coin decides about direction
 * and class, because a packet to the far side of a ring passes a dateline in
 * either direction. */
static uint32_t ring_port(const struct net_graph *g, struct step s,
			  uint32_t in_port, struct net_route *r)
{
	uint32_t ahead = (s.to + s.size - s.at) % s.size;
	bool coin = r->coins >> (s.dim + NET_DIMS * r->phase) & 1;
	bool down = 2 * ahead > s.size || (2 * ahead == s.size && !coin);

	if (in_port / 2 == s.dim)
		return in_port ^ 1; /* straight on */
	r->part = ring_class(g, s, down, coin);
	return 2 * s.dim + down;
}

/* ---- dimension order ---- */

static uint32_t order_vcs(const struct net_graph *g, const char **why)
{
	*why = "one for each class of packets in a ring";
	return wraps(g) ? 2 : 1;
}

static void order_route(const struct net_graph *g, uint32_t vcs,
			struct net_arrival in, struct net_route *r,
			struct net_choices *c)
{
	struct step s;
	uint32_t port;

	if (!grid_step(g, in.router, grid_router(g, r->dest), false, &s)) {
		grid_eject(g, vcs, r, c);
	} else if (wraps(g)) {
		port = ring_port(g, s, in.port, r);
		net_choose_half(c, port, 0, vcs - 1, r->part);
	} else {
		net_choose(c, row_port(s), 0, vcs - 1, 0);
	}
}

const struct net_routing net_routing_dimension_order = {
	.name = "dimension_order",
	.doc = "one dimension after another, the lowest first",
	.topologies = grids,
	.vcs = order_vcs,
	.route = order_route,
	.datelines = true,
};

/* ---- over a router on the way ---- */

static uint32_t valiant_vcs(const struct net_graph *g, const char **why)
{
	*why = wraps(g) ? "two phases, two classes in a ring"
			: "one for each phase";
	return wraps(g) ? 4 : 2;
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
	uint32_t dest = grid_router(g, r->dest), half, first, last, port;
	uint32_t in_port = in.port;
	struct step s;

	if (!r->phase && in.router == r->mid) {
		r->phase = 1;
		in_port = 2 * g->shape.dims; /* enters its rings anew */
	}
	if (!grid_step(g, in.router, r->phase ? dest : r->mid, false, &s)) {
		grid_eject(g, vcs, r, c);
		return;
	}
	port = wraps(g) ? ring_port(g, s, in_port, r) : row_port(s);
	if (!wraps(g)) {
		net_choose_half(c, port, 0, vcs - 1, r->phase);
		return;
	}
	/* A class has half of the VCs, and each phase uses half of a class. */
	half = vcs / 2;
	first = r->part ? vcs - half : 0;
	last = r->part ? vcs - 1 : vcs - half - 1;
	net_choose_half(c, port, first, last, r->phase);
}

const struct net_routing net_routing_valiant = {
	.name = "valiant",
	.doc = "by dimension order to a random router, then to the destination",
	.topologies = grids,
	.vcs = valiant_vcs,
	.inject = valiant_inject,
	.route = valiant_route,
	.phases = true,
	.datelines = true,
};

static void romm_inject(const struct net_graph *g, struct net_route *r,
			uint64_t random)
{
	uint32_t from = grid_router(g, r->src), to = grid_router(g, r->dest);
	uint32_t stride = 1;

	r->mid = 0;
	random >>= 32;
	for (uint32_t d = 0; d < g->shape.dims; d++) {
		uint32_t k = g->shape.size[d], a = from % k, b = to % k;
		uint32_t low = a < b ? a : b, n = (a < b ? b - a : a - b) + 1;

		/* The integer part is the coordinate in this dimension. The
		 * fraction is the random number for the next dimension. */
		random *= n;
		r->mid += (low + (uint32_t)(random >> 32)) * stride;
		random &= UINT32_MAX;
		stride *= k;
		from /= k;
		to /= k;
	}
}

const struct net_routing net_routing_romm = {
	.name = "romm",
	.doc = "as valiant, over a router on a shortest way",
	.topologies = meshes,
	.vcs = valiant_vcs,
	.inject = romm_inject,
	.route = valiant_route,
	.phases = true,
};

/* Returns the load of the way between two routers: the sum over its steps of
 * the load of this router's own output in the direction of the step. A router
 * knows no other loads. */
static uint64_t way_load(const struct net_graph *g, uint32_t vcs,
			 struct net_arrival in, struct net_route r,
			 uint32_t from, uint32_t to)
{
	uint64_t sum = 0;

	for (uint32_t d = 0; d < g->shape.dims; d++) {
		uint32_t k = g->shape.size[d], port, steps;
		struct step s = { d, k, from % k, to % k };

		from /= k;
		to /= k;
		if (s.at == s.to)
			continue;
		port = wraps(g) ? ring_port(g, s, 2 * g->shape.dims, &r)
				: row_port(s);
		steps = port & 1 ? s.at + k - s.to : s.to + k - s.at;
		sum += (uint64_t)(steps % k) *
		       net_used(in, in.router, port, 0, vcs - 1);
	}
	return sum;
}

/* Returns true if the packet should take the way over r->mid. The load of the
 * minimal way counts twice. When a full output has filled the queue of this
 * router, the queues of earlier routers are already full. */
static bool detour(const struct net_graph *g, uint32_t vcs,
		   struct net_arrival in, const struct net_route *r)
{
	uint32_t at = in.router, to = grid_router(g, r->dest);
	struct net_route behind = *r;

	behind.phase = 1;
	return 2 * way_load(g, vcs, in, *r, at, to) >
	       way_load(g, vcs, in, *r, at, r->mid) +
		       way_load(g, vcs, in, behind, r->mid, to) + g->threshold;
}

/* A minimal packet takes the destination's router as r->mid and stays in phase
 * 0. It does not use the VCs of phase 1, which are for packets that have passed
 * their random router. The search for circles has no loads. Its walks to each
 * random router include all minimal ways. */
static void ugal_route(const struct net_graph *g, uint32_t vcs,
		       struct net_arrival in, struct net_route *r,
		       struct net_choices *c)
{
	if (!r->phase && in.loads && net_injected(g, in) &&
	    (in.router == r->mid || !detour(g, vcs, in, r)))
		r->mid = grid_router(g, r->dest);
	valiant_route(g, vcs, in, r, c);
}

const struct net_routing net_routing_ugal = {
	.name = "ugal",
	.doc = "minimal or over a random router, by the loads of both ways",
	.topologies = grids,
	.vcs = valiant_vcs,
	.inject = valiant_inject,
	.route = ugal_route,
	.phases = true,
	.looks = true,
	.threshold = true,
	.datelines = true,
};

/* ---- two orders of dimensions ---- */

static uint32_t o1turn_vcs(const struct net_graph *g, const char **why)
{
	*why = "one for each order of dimensions";
	return 2;
}

static void o1turn_route(const struct net_graph *g, uint32_t vcs,
			 struct net_arrival in, struct net_route *r,
			 struct net_choices *c)
{
	bool down = r->coins & 1;
	struct step s;

	if (!grid_step(g, in.router, grid_router(g, r->dest), down, &s))
		grid_eject(g, vcs, r, c);
	else
		net_choose_half(c, row_port(s), 0, vcs - 1, down);
}

const struct net_routing net_routing_o1turn = {
	.name = "o1turn",
	.doc = "ascending or descending dimensions, by a coin",
	.topologies = meshes,
	.vcs = o1turn_vcs,
	.route = o1turn_route,
};

/* Takes the order of dimensions whose first output has the lower load, like
 * BookSim2's adaptive_xy_yx_mesh. */
static void xy_yx_route(const struct net_graph *g, uint32_t vcs,
			struct net_arrival in, struct net_route *r,
			struct net_choices *c)
{
	uint32_t to = grid_router(g, r->dest);
	struct step up, down;

	if (!grid_step(g, in.router, to, false, &up)) {
		grid_eject(g, vcs, r, c);
		return;
	}
	grid_step(g, in.router, to, true, &down);
	if (net_injected(g, in))
		r->part = net_emptier(in, vcs, row_port(down), row_port(up),
				      r->coins & 1);
	net_choose_half(c, row_port(r->part ? down : up), 0, vcs - 1, r->part);
}

const struct net_routing net_routing_xy_yx_adaptive = {
	.name = "xy_yx_adaptive",
	.doc = "ascending or descending dimensions, whose output is emptier",
	.topologies = meshes,
	.vcs = o1turn_vcs,
	.route = xy_yx_route,
	.looks = true,
};

/* ---- adaptive ---- */

static uint32_t adaptive_vcs(const struct net_graph *g, const char **why)
{
	*why = wraps(g) ? "two escape VCs of a ring, and an adaptive one"
			: "an escape VC and an adaptive one";
	return wraps(g) ? 3 : 2;
}

static void adaptive_route(const struct net_graph *g, uint32_t vcs,
			   struct net_arrival in, struct net_route *r,
			   struct net_choices *c)
{
	uint32_t from = in.router, to = grid_router(g, r->dest);
	uint32_t escapes = wraps(g) ? 2 : 1;
	bool free = net_injected(g, in) || in.vc >= escapes;
	struct step s;

	if (!grid_step(g, from, to, false, &s)) {
		grid_eject(g, vcs, r, c);
		return;
	}
	if (!wraps(g)) {
		net_choose(c, row_port(s), 0, 0, 0);
	} else {
		/* A packet that is not on an escape channel gets its class as
		 * if it entered the ring at this router. */
		uint32_t port =
			ring_port(g, s, free ? 2 * g->shape.dims : in.port, r);

		net_choose(c, port, r->part, r->part, 0);
	}
	for (uint32_t d = 0; free && d < g->shape.dims; d++) {
		uint32_t k = g->shape.size[d], a = from % k, b = to % k;
		bool down = wraps(g) ? 2 * ((b + k - a) % k) >= k : b < a;

		if (a != b)
			net_choose(c, 2 * d + down, escapes, vcs - 1, 1);
		from /= k;
		to /= k;
	}
}

const struct net_routing net_routing_minimal_adaptive = {
	.name = "minimal_adaptive",
	.doc = "any dimension on a shortest way; escape by dimension order",
	.topologies = grids,
	.vcs = adaptive_vcs,
	.route = adaptive_route,
	.escape = true,
	.datelines = true,
};
