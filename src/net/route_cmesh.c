/* SPDX-License-Identifier: Apache-2.0 */
/* Routings of a cmesh (graph_cmesh.c). Packets move in the first dimension,
 * then in the second. express_order uses an express cable at the edge if the
 * remaining distance is at least half a row or column, like BookSim2's
 * dor_cmesh. dimension_order uses no express cables, like BookSim2's
 * dor_no_express. */
#include "net/routing.h"

static const char *const meshes[] = { "cmesh", NULL };

static uint32_t any_vcs(const struct net_graph *g, const char **why)
{
	*why = "any";
	return 1;
}

/* Returns the port of the next step. */
static uint32_t step(uint32_t k, uint32_t at, uint32_t to, bool express)
{
	uint32_t d = at % k == to % k; /* dimension */
	uint32_t from = d ? at / k : at % k, goal = d ? to / k : to % k;
	uint32_t edge = d ? at % k : at / k;
	uint32_t far = from < goal ? goal - from : from - goal;

	/* Express cables along the x dimension are at ports of the y dimension,
	 * which are free at the edge, and vice versa. */
	if (express && far >= k / 2 && edge == 0)
		return 2 * !d + 1;
	if (express && far >= k / 2 && edge == k - 1)
		return 2 * !d;
	return 2 * d + (from > goal);
}

static void cmesh_choose(const struct net_graph *g, uint32_t vcs, uint32_t at,
			 uint32_t dest, bool express, struct net_choices *c)
{
	const struct net_far *in = &g->in[dest];

	net_choose(c,
		   at == in->at ? in->port
				: step(g->shape.size[0], at, in->at, express),
		   0, vcs - 1, 0);
}

static void express_route(const struct net_graph *g, uint32_t vcs,
			  struct net_arrival in, struct net_route *r,
			  struct net_choices *c)
{
	cmesh_choose(g, vcs, in.router, r->dest, true, c);
}

const struct net_routing net_routing_express_order = {
	.name = "express_order",
	.doc = "the first dimension, then the second, over express cables",
	.topologies = meshes,
	.vcs = any_vcs,
	.route = express_route,
};

static void order_route(const struct net_graph *g, uint32_t vcs,
			struct net_arrival in, struct net_route *r,
			struct net_choices *c)
{
	cmesh_choose(g, vcs, in.router, r->dest, false, c);
}

const struct net_routing net_routing_cmesh_dimension_order = {
	.name = "dimension_order",
	.doc = "the first dimension, then the second, without express cables",
	.topologies = meshes,
	.vcs = any_vcs,
	.route = order_route,
};
