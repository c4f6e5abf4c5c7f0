/* SPDX-License-Identifier: Apache-2.0 */
/* Routings of a hypercube (graph_cube.c). dimension_order corrects the lowest
 * bit that differs first (e-cube). valiant uses e-cube to a random router and
 * from there to the destination. minimal_adaptive corrects any bit that
 * differs, with e-cube on the escape channel. */
#include "net/routing.h"

static const char *const cubes[] = { "hypercube", NULL };

/* Adds the port of the packet's end and returns true if the packet is at the
 * router of that end. Otherwise returns false. */
static bool cube_ejects(const struct net_graph *g, uint32_t vcs, uint32_t at,
			const struct net_route *r, struct net_choices *c)
{
	const struct net_far *in = &g->in[r->dest];

	if (at == in->at)
		net_choose(c, in->port, 0, vcs - 1, 0);
	return at == in->at;
}

static uint32_t lowest(uint32_t bits)
{
	return (uint32_t)__builtin_ctz(bits);
}

static uint32_t order_vcs(const struct net_graph *g, const char **why)
{
	*why = "any";
	return 1;
}

static void order_route(const struct net_graph *g, uint32_t vcs,
			struct net_arrival in, struct net_route *r,
			struct net_choices *c)
{
	if (!cube_ejects(g, vcs, in.router, r, c))
		net_choose(c, lowest(in.router ^ g->in[r->dest].at), 0, vcs - 1,
			   0);
}

const struct net_routing net_routing_cube_dimension_order = {
	.name = "dimension_order",
	.doc = "the lowest bit that differs first",
	.topologies = cubes,
	.vcs = order_vcs,
	.route = order_route,
};

static uint32_t valiant_vcs(const struct net_graph *g, const char **why)
{
	*why = "one for each phase";
	return 2;
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
	if (in.router == r->mid)
		r->phase = 1;
	if (cube_ejects(g, vcs, in.router, r, c))
		return;
	net_choose_half(
		c, lowest(in.router ^ (r->phase ? g->in[r->dest].at : r->mid)),
		0, vcs - 1, r->phase);
}

const struct net_routing net_routing_cube_valiant = {
	.name = "valiant",
	.doc = "by dimension order to a random router, then to the destination",
	.topologies = cubes,
	.vcs = valiant_vcs,
	.inject = valiant_inject,
	.route = valiant_route,
	.phases = true,
};

static uint32_t adaptive_vcs(const struct net_graph *g, const char **why)
{
	*why = "an escape VC and an adaptive one";
	return 2;
}

static void adaptive_route(const struct net_graph *g, uint32_t vcs,
			   struct net_arrival in, struct net_route *r,
			   struct net_choices *c)
{
	uint32_t bits = in.router ^ g->in[r->dest].at;

	if (cube_ejects(g, vcs, in.router, r, c))
		return;
	net_choose(c, lowest(bits), 0, 0, 0);
	if (!net_injected(g, in) && !in.vc)
		return; /* stays on escape VCs */
	for (; bits && c->n < NET_CHOICES; bits &= bits - 1)
		net_choose(c, lowest(bits), 1, vcs - 1, 1);
}

const struct net_routing net_routing_cube_minimal_adaptive = {
	.name = "minimal_adaptive",
	.doc = "any bit that differs; escape by dimension order",
	.topologies = cubes,
	.vcs = adaptive_vcs,
	.route = adaptive_route,
	.escape = true,
};
