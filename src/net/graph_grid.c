/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies `torus` and `mesh`: a router at each point of a grid, in up to 8
 * dimensions, with one end or several (k-ary n-cube and its concentrated form;
 * Dally and Towles, Principles and Practices of Interconnection Networks, 5.1).
 *
 * Router = x + X * (y + Y * z ..). Port 2 * d leads to the next router in
 * dimension d, and port 2 * d + 1 to the previous one. The ports after these
 * lead to the ends: end = router * ends + k. A dimension of size 2 has two
 * cables in a torus and one in a mesh. */
#include <errno.h>

#include "net/graph.h"

/* Smallest ring in which packets pass two cables one after another. */
enum { RING = 4 };

static int grid_check(const struct net_shape *s, bool wrap,
		      struct weft_err *err)
{
	for (uint32_t d = 0; d < s->dims; d++)
		if (s->size[d] < 2)
			return weft_fail(
				err, EINVAL,
				"dimension %u has size %u: at least 2, or leave it out",
				d, s->size[d]);
	return 0;
}

static int grid_build(struct net_graph *g, const struct net_shape *s, bool wrap,
		      struct weft_err *err)
{
	uint32_t ends = s->ends ? s->ends : 1, stride = 1;
	uint64_t n = 1;

	if (grid_check(s, wrap, err))
		return -EINVAL;
	for (uint32_t d = 0; d < s->dims && n <= NET_ROUTERS_MAX; d++)
		n *= s->size[d];
	if (net_graph_alloc(g, n, 2ull * s->dims + ends, n * ends, err))
		return -EINVAL;
	g->shape.ends = ends;
	for (uint32_t d = 0; d < s->dims; stride *= s->size[d++])
		for (uint32_t r = 0; r < g->routers; r++) {
			uint32_t at = r / stride % s->size[d];

			if (at + 1 < s->size[d])
				net_graph_join(g, r, 2 * d, r + stride,
					       2 * d + 1);
			else if (wrap)
				net_graph_join(g, r, 2 * d, r - at * stride,
					       2 * d + 1);
		}
	for (uint32_t e = 0; e < g->ends; e++)
		net_graph_attach(g, e, e / ends, 2 * s->dims + e % ends);
	return 0;
}

/* Reduces the number of ends or the largest dimension. An even size stays even,
 * because only in an even ring both directions can be equally long. */
static bool grid_reduce(struct net_shape *s)
{
	uint32_t most = 0;

	if (s->ends > 1) {
		s->ends = 1;
		return true;
	}
	for (uint32_t d = 1; d < s->dims; d++)
		most = s->size[d] > s->size[most] ? d : most;
	if (s->size[most] < RING + 2)
		return false;
	s->size[most] = RING + (s->size[most] & 1);
	return true;
}

static int torus_build(struct net_graph *g, const struct net_shape *s,
		       struct weft_err *err)
{
	return grid_build(g, s, true, err);
}

static int mesh_build(struct net_graph *g, const struct net_shape *s,
		      struct weft_err *err)
{
	return grid_build(g, s, false, err);
}

const struct net_topology net_topology_torus = {
	.name = "torus",
	.doc = "a grid whose dimensions are rings",
	.build = torus_build,
	.reduce = grid_reduce,
	.routing = "dimension_order",
	.grid = true,
	.rings = true,
};

const struct net_topology net_topology_mesh = {
	.name = "mesh",
	.doc = "a grid whose dimensions are rows",
	.build = mesh_build,
	.reduce = grid_reduce,
	.routing = "dimension_order",
	.grid = true,
};
