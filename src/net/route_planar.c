/* SPDX-License-Identifier: Apache-2.0 */
/* Routing `planar_adaptive` of meshes (Chien and Kim, ISCA 1992), with the
 * classes of VCs of BookSim2's planar_adapt. A packet moves in the plane of two
 * dimensions. One is the lowest dimension in which the packet is not at the
 * destination's coordinate, the other is the next higher dimension. A step in
 * the lower dimension uses VCs of class 2. A step in the higher dimension uses
 * VCs of class 0 if the packet ascends in the lower dimension, and of class 1
 * if it descends in the lower dimension.
 *
 * Packets pass planes in ascending order. Packets that ascend in the lower
 * dimension of a plane and packets that descend share no VCs of the higher
 * dimension, and a packet never turns back. */
#include "net/routing.h"

static const char *const meshes[] = { "mesh", NULL };

static uint32_t planar_vcs(const struct net_graph *g, const char **why)
{
	*why = "one in the first dimension of a plane, two in the other";
	return 3;
}

static void planar_route(const struct net_graph *g, uint32_t vcs,
			 struct net_arrival in, struct net_route *r,
			 struct net_choices *c)
{
	uint32_t from = in.router, to = g->in[r->dest].at, d = 0, k = 1;
	bool down;

	for (; d < g->shape.dims; d++) {
		k = g->shape.size[d];
		if (from % k != to % k)
			break;
		from /= k;
		to /= k;
	}
	if (d == g->shape.dims) {
		net_choose(c, g->in[r->dest].port, 0, vcs - 1, 0);
		return;
	}
	down = to % k < from % k;
	net_choose_class(c, 2 * d + down, vcs, 2, 3);
	if (++d == g->shape.dims)
		return;
	from /= k;
	to /= k;
	k = g->shape.size[d];
	if (from % k != to % k)
		net_choose_class(c, 2 * d + (to % k < from % k), vcs, down, 3);
}

const struct net_routing net_routing_planar_adaptive = {
	.name = "planar_adaptive",
	.doc = "the lowest dimension that lacks steps, or the one behind it",
	.topologies = meshes,
	.vcs = planar_vcs,
	.route = planar_route,
	.coins = 1,
};
