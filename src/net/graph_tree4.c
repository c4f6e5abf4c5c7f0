/* SPDX-License-Identifier: Apache-2.0 */
/* Topology `tree4` of BookSim2 (networks/tree4.cpp): 64 ends at 16 routers with
 * two ports up, 8 routers with four ports up, and 4 routers at the top. Routers
 * 2i and 2i + 1 of the middle level have cables to the same four routers below
 * them. Each router at the top has cables to all 8 routers of the middle level.
 * Routers are numbered from the ends up. The ports down of a router have the
 * lower numbers. */
#include "net/graph.h"

enum { LEAVES = 16, MIDDLES = 8, TOPS = 4, DOWN = 4, ENDS = 64 };

static int tree4_build(struct net_graph *g, const struct net_shape *s,
		       struct weft_err *err)
{
	uint32_t ports[LEAVES + MIDDLES + TOPS], n = 0;

	while (n < LEAVES)
		ports[n++] = DOWN + 2;
	while (n < LEAVES + MIDDLES + TOPS)
		ports[n++] = 8;
	if (net_graph_alloc_each(g, n, ports, ENDS, err))
		return -1;
	g->shape.ends = DOWN;
	for (uint32_t m = 0; m < MIDDLES; m++) {
		for (uint32_t p = 0; p < DOWN; p++)
			net_graph_join(g, m / 2 * DOWN + p, DOWN + m % 2,
				       LEAVES + m, p);
		for (uint32_t t = 0; t < TOPS; t++)
			net_graph_join(g, LEAVES + m, DOWN + t,
				       LEAVES + MIDDLES + t, m);
	}
	for (uint32_t e = 0; e < ENDS; e++)
		net_graph_attach(g, e, e / DOWN, e % DOWN);
	return 0;
}

/* A tree4 has one size. */
static bool tree4_reduce(struct net_shape *s)
{
	return false;
}

static void tree4_onward(const struct net_graph *g, uint32_t router,
			 uint32_t dest, struct net_onward *o)
{
	*o = (struct net_onward){ .n = 1, .divisor = 1 };
	if (router < LEAVES) {
		bool below = dest / DOWN == router;

		o->first = below ? dest % DOWN : DOWN;
		o->n = below ? 1 : 2;
	} else if (router < LEAVES + MIDDLES) {
		bool below = dest / 16 == (router - LEAVES) / 2;

		o->first = below ? dest / DOWN % DOWN : DOWN;
		o->n = below ? 1 : TOPS;
		o->level = 1;
		o->divisor = 2;
	} else {
		o->first = dest / 16 * 2;
		o->n = 2;
		o->level = 2;
		o->divisor = 8;
	}
}

static const char *const keys[] = { NULL };

const struct net_topology net_topology_tree4 = {
	.name = "tree4",
	.doc = "BookSim2's tree of 64 ends with four routers at its top",
	.build = tree4_build,
	.reduce = tree4_reduce,
	.routing = "nearest_common_ancestor",
	.keys = keys,
	.onward = tree4_onward,
};
