/* SPDX-License-Identifier: Apache-2.0 */
/* Topology `cmesh` of BookSim2 (networks/cmesh.cpp; Balfour and Dally, ICS
 * 2006): a mesh of k x k routers with four ends each, dims [k, k]. The ports
 * that a mesh leaves free at its edges have express cables, which are trunks.
 * An express cable at the left or right edge joins routers that are k/2 rows
 * apart. An express cable at the bottom or top edge joins routers that are k/2
 * columns apart.
 *
 * Ports of a router are those of a mesh (+x, -x, +y, -y), then those of the
 * ends. Ends are numbered as points of a grid of 2k x 2k. Each router has a
 * square of 2 x 2 of these points. */
#include <errno.h>

#include "net/graph.h"

enum { ENDS = 4, UP_X = 0, DOWN_X, UP_Y, DOWN_Y };

static void express_join(struct net_graph *g, uint32_t k)
{
	for (uint32_t i = 0; i < k / 2; i++) {
		uint32_t on = i + k / 2, top = k * (k - 1);

		net_graph_join_trunk(g, i * k, DOWN_X, on * k, DOWN_X);
		net_graph_join_trunk(g, i * k + k - 1, UP_X, on * k + k - 1,
				     UP_X);
		net_graph_join_trunk(g, i, DOWN_Y, on, DOWN_Y);
		net_graph_join_trunk(g, top + i, UP_Y, top + on, UP_Y);
	}
}

static int cmesh_build(struct net_graph *g, const struct net_shape *s,
		       struct weft_err *err)
{
	uint32_t k = s->size[0];

	if (s->dims != 2 || s->size[1] != k || k % 2 || k < 2)
		return weft_fail(
			err, EINVAL,
			"a cmesh has two equal, even dimensions, because express cables pass half of one: write e.g. dims: [4, 4], or use a mesh with ends: 4");
	if (net_graph_alloc(g, (uint64_t)k * k, 4 + ENDS,
			    (uint64_t)k * k * ENDS, err))
		return -EINVAL;
	g->shape.ends = ENDS;
	for (uint32_t r = 0; r < g->routers; r++) {
		if (r % k + 1 < k)
			net_graph_join(g, r, UP_X, r + 1, DOWN_X);
		if (r + k < g->routers)
			net_graph_join(g, r, UP_Y, r + k, DOWN_Y);
	}
	express_join(g, k);
	for (uint32_t e = 0; e < g->ends; e++) {
		uint32_t x = e % (2 * k), y = e / (2 * k);

		net_graph_attach(g, e, y / 2 * k + x / 2,
				 4 + y % 2 * 2 + x % 2);
	}
	return 0;
}

/* Reduces the mesh to 4 x 4, the smallest size that has both routers with
 * express cables and routers without. */
static bool cmesh_reduce(struct net_shape *s)
{
	if (s->size[0] <= 4)
		return false;
	s->size[0] = s->size[1] = 4;
	return true;
}

static const char *const keys[] = { "dims", NULL };

const struct net_topology net_topology_cmesh = {
	.name = "cmesh",
	.doc = "a mesh with four ends at a router and express cables",
	.build = cmesh_build,
	.reduce = cmesh_reduce,
	.routing = "express_order",
	.keys = keys,
};
