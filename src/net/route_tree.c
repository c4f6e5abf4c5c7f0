/* SPDX-License-Identifier: Apache-2.0 */
/* Routings of topologies in which a packet may choose among several ports up
 * (net_topology.onward). A packet goes up to a router above both ends. From
 * there one path leads down.
 *
 *	nearest_common_ancestor	a random port up (BookSim2's fattree_nca)
 *	d_mod_k			a port up by the number of the destination
 *				(Zahavi 2010)
 *	nca_adaptive		the emptier of two random ports up (BookSim2's
 *				fattree_anca)
 *
 * No packet goes up after it went down, so that any number of VCs is free of
 * circles. */
#include "net/routing.h"

static const char *const trees[] = { "fat_tree", "tree4", "clos", "benes",
				     NULL };

static uint32_t tree_vcs(const struct net_graph *g, const char **why)
{
	*why = "any";
	return 1;
}

static void nca_route(const struct net_graph *g, uint32_t vcs,
		      struct net_arrival in, struct net_route *r,
		      struct net_choices *c)
{
	struct net_onward o;
	uint32_t k;

	g->type->onward(g, in.router, r->dest, &o);
	k = in.draw ? in.draw - 1 : net_drawn(r, o.level, o.n);
	if (k < o.n)
		net_choose(c, o.first + k, 0, vcs - 1, 0);
}

const struct net_routing net_routing_nearest_common_ancestor = {
	.name = "nearest_common_ancestor",
	.doc = "random ways up to a router above both ends, then down",
	.topologies = trees,
	.vcs = tree_vcs,
	.route = nca_route,
	.draws = true,
};

static void d_mod_k_route(const struct net_graph *g, uint32_t vcs,
			  struct net_arrival in, struct net_route *r,
			  struct net_choices *c)
{
	struct net_onward o;

	g->type->onward(g, in.router, r->dest, &o);
	net_choose(c, o.first + r->dest / o.divisor % o.n, 0, vcs - 1, 0);
}

const struct net_routing net_routing_d_mod_k = {
	.name = "d_mod_k",
	.doc = "ways up by the number of the destination, then down",
	.topologies = trees,
	.vcs = tree_vcs,
	.route = d_mod_k_route,
};

/* Adds the less loaded of two random ports up. The salts of their draws are
 * `level` and `level` + NET_DIMS. */
static void adaptive_route(const struct net_graph *g, uint32_t vcs,
			   struct net_arrival in, struct net_route *r,
			   struct net_choices *c)
{
	struct net_onward o;
	uint32_t a, b;

	g->type->onward(g, in.router, r->dest, &o);
	if (o.n == 1 || !in.loads) {
		nca_route(g, vcs, in, r, c);
		return;
	}
	a = o.first + net_drawn(r, o.level, o.n);
	b = o.first + net_drawn(r, o.level + NET_DIMS, o.n);
	if (net_used(in, in.router, a, 0, vcs - 1) >
	    net_used(in, in.router, b, 0, vcs - 1))
		a = b;
	net_choose(c, a, 0, vcs - 1, 0);
}

const struct net_routing net_routing_nca_adaptive = {
	.name = "nca_adaptive",
	.doc = "ways up through the emptier of two random ports, then down",
	.topologies = trees,
	.vcs = tree_vcs,
	.route = adaptive_route,
	.draws = true,
	.looks = true,
};
