/* SPDX-License-Identifier: Apache-2.0 */
/* Topology `hypercube`: 2^n routers for dims [n]. Port d < n leads to the
 * router whose number differs in bit d. The ports from n on lead to ends. */
#include <errno.h>

#include "net/graph.h"

enum { DIMS_MAX = 20, REDUCED = 5 };

static int cube_build(struct net_graph *g, const struct net_shape *s,
		      struct weft_err *err)
{
	uint32_t n = s->size[0], ends = s->ends ? s->ends : 1;

	if (s->dims != 1 || n < 1 || n > DIMS_MAX)
		return weft_fail(
			err, EINVAL,
			"a hypercube has one number of dimensions up to %u: write e.g. dims: [6]",
			DIMS_MAX);
	if (net_graph_alloc(g, 1ull << n, (uint64_t)n + ends,
			    (uint64_t)ends << n, err))
		return -EINVAL;
	g->shape.ends = ends;
	for (uint32_t r = 0; r < g->routers; r++)
		for (uint32_t d = 0; d < n; d++)
			if (!(r >> d & 1))
				net_graph_join(g, r, d, r | 1u << d, d);
	for (uint32_t e = 0; e < g->ends; e++)
		net_graph_attach(g, e, e / ends, n + e % ends);
	return 0;
}

/* Reduces ends, then dimensions. */
static bool cube_reduce(struct net_shape *s)
{
	if (s->ends > 1) {
		s->ends = 1;
		return true;
	}
	if (s->size[0] <= REDUCED)
		return false;
	s->size[0] = REDUCED;
	return true;
}

const struct net_topology net_topology_hypercube = {
	.name = "hypercube",
	.doc = "2^n routers, joined where one bit of their numbers differs",
	.build = cube_build,
	.reduce = cube_reduce,
	.routing = "dimension_order",
};
