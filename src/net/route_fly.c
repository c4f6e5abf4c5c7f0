/* SPDX-License-Identifier: Apache-2.0 */
/* Routing `destination_tag` of a fly (graph_fly.c). A router of stage s sends a
 * packet to the output whose number is digit n-1-s of the destination. Packets
 * pass the stages in one direction, so any number of VCs is free of circles. */
#include "net/routing.h"

static const char *const flies[] = { "fly", NULL };

static uint32_t tag_vcs(const struct net_graph *g, const char **why)
{
	*why = "any";
	return 1;
}

static void tag_route(const struct net_graph *g, uint32_t vcs,
		      struct net_arrival in, struct net_route *r,
		      struct net_choices *c)
{
	uint32_t k = g->shape.size[0], n = g->shape.dims;
	uint32_t stage = in.router / (g->routers / n), digit = r->dest;

	while (++stage < n)
		digit /= k;
	net_choose(c, k + digit % k, 0, vcs - 1, 0);
}

const struct net_routing net_routing_destination_tag = {
	.name = "destination_tag",
	.doc = "a digit of the destination at each stage",
	.topologies = flies,
	.vcs = tag_vcs,
	.route = tag_route,
};
