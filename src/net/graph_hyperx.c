/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies `hyperx` and `flattened_butterfly`: a router at each point of a
 * grid, joined to all routers that differ in one coordinate (Ahn et al., SC
 * 2009). `trunking` is the number of cables between two joined routers, by
 * dimension. A flattened butterfly is the k-ary n-flat: n - 1 dimensions of k
 * routers (Kim et al., ISCA 2007; BookSim2's flatfly, whose n is the number of
 * dimensions). Each router has k ends unless `ends` gives another number.
 *
 * Router = x + X * (y + Y * z ..). Ports lead to the other coordinates in
 * ascending order, dimension by dimension, then to the ends. End k of a router
 * has the number router * ends + k. */
#include <errno.h>

#include "net/hyperx.h"
#include "net/routing.h"

static int hyperx_check(const struct net_shape *s, struct weft_err *err)
{
	uint32_t sum = 0, most = 0;

	for (uint32_t d = 0; d < s->dims; d++) {
		uint32_t k = hyperx_trunking(s, d);

		if (s->size[d] < 2)
			return weft_fail(
				err, EINVAL,
				"dimension %u has size %u: at least 2, or leave it out",
				d, s->size[d]);
		sum += k <= NET_CHOICES ? k : NET_CHOICES;
		most = k > most ? k : most;
	}
	if (s->trunked && s->trunked != s->dims)
		return weft_fail(
			err, EINVAL,
			"trunking has %u numbers for %u dimensions: write one for each",
			s->trunked, s->dims);
	if (sum + most > NET_CHOICES)
		return weft_fail(
			err, EINVAL,
			"trunking: the cables of one step in each dimension and those of the widest one again are %u, at most %u: use fewer",
			sum + most, NET_CHOICES);
	return 0;
}

static void hyperx_join(struct net_graph *g, uint32_t dim, uint32_t stride)
{
	const struct net_shape *s = &g->shape;

	for (uint32_t r = 0; r < g->routers; r++) {
		uint32_t a = r / stride % s->size[dim];

		for (uint32_t b = a + 1; b < s->size[dim]; b++)
			for (uint32_t k = 0; k < hyperx_trunking(s, dim); k++)
				net_graph_join(g, r,
					       hyperx_port(s, dim, a, b) + k,
					       r + (b - a) * stride,
					       hyperx_port(s, dim, b, a) + k);
	}
}

static int hyperx_build(struct net_graph *g, const struct net_shape *s,
			struct weft_err *err)
{
	uint32_t ends = s->ends ? s->ends : 1, stride = 1;
	uint64_t n = 1, ports = 0;

	if (hyperx_check(s, err))
		return -EINVAL;
	g->shape.ends = ends;
	for (uint32_t d = 0; d < s->dims && n <= NET_ROUTERS_MAX; d++) {
		n *= s->size[d];
		ports += (s->size[d] - 1ull) * hyperx_trunking(s, d);
	}
	if (net_graph_alloc(g, n, ports + ends, n * ends, err))
		return -EINVAL;
	for (uint32_t d = 0; d < s->dims; stride *= s->size[d++])
		hyperx_join(g, d, stride);
	for (uint32_t e = 0; e < g->ends; e++)
		net_graph_attach(g, e, e / ends, (uint32_t)ports + e % ends);
	return 0;
}

static int flat_build(struct net_graph *g, const struct net_shape *s,
		      struct weft_err *err)
{
	struct net_shape full = *s;

	for (uint32_t d = 0; d < s->dims; d++)
		if (s->size[d] != s->size[0])
			return weft_fail(
				err, EINVAL,
				"a flattened_butterfly has equal dimensions: write e.g. [4, 4], or use topology: hyperx");
	if (!full.ends)
		full.ends = s->size[0];
	return hyperx_build(g, &full, err);
}

/* Reduces each dimension to four routers. A packet makes at most two steps in a
 * dimension, and four routers are enough for every combination of such
 * steps. */
static bool hyperx_reduce(struct net_shape *s)
{
	bool less = s->ends != 1;

	s->ends = 1;
	for (uint32_t d = 0; d < s->dims; d++) {
		less |= s->size[d] > 4 || s->trunking[d] > 1;
		s->size[d] = s->size[d] > 4 ? 4 : s->size[d];
		s->trunking[d] = 1;
	}
	return less;
}

static const char *const flat_keys[] = { "dims", "ends", NULL };
static const char *const hyperx_keys[] = { "dims", "ends", "trunking", NULL };

const struct net_topology net_topology_flattened_butterfly = {
	.name = "flattened_butterfly",
	.doc = "a grid with equal dimensions, joined to all others in a dimension",
	.build = flat_build,
	.reduce = hyperx_reduce,
	.routing = "dimension_order",
	.keys = flat_keys,
	.grid = true,
};

const struct net_topology net_topology_hyperx = {
	.name = "hyperx",
	.doc = "a grid, joined to all others in a dimension by one cable or more",
	.build = hyperx_build,
	.reduce = hyperx_reduce,
	.routing = "dimension_order",
	.keys = hyperx_keys,
	.grid = true,
};
