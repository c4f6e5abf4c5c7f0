/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies `dragonfly` and `dragonfly_plus`: groups of routers, joined by
 * cables between groups (trunks).
 *
 *	dragonfly	dims [a, h] or [a, h, g]: g groups of a routers. Each
 *			router is joined to all others of its group, and has h
 *			cables to other groups (Kim et al., ISCA 2008). Ports
 *			0 .. a-2 lead to the routers of the group, the next h
 *			ports to other groups, the last ports to ends.
 *	dragonfly_plus	dims [l, s, h] or [l, s, h, g]: a group has l leaves
 *			with ends, and s spines with h cables each to other
 *			groups. Each leaf is joined to each spine (Shpiner et
 *			al., HiPINEB 2017). Routers of a group are its leaves,
 *			then its spines. Ports of a leaf lead to the spines,
 *			then to ends. Ports of a spine lead to the leaves, then
 *			to other groups.
 *
 * Without g, one cable joins each pair of groups, and g is 1 more than the
 * number of cables that leave a group. With a smaller g, the same number of
 * cables joins each pair of groups, as many as the ports allow. Ports stay
 * unused if the cables of a group do not divide evenly. The default of `ends`
 * is h. */
#include <errno.h>

#include "net/dragonfly.h"

/* Returns the index in dims of the number of groups. */
static uint32_t groups_dim(const struct net_shape *s, bool plus)
{
	return plus ? 3 : 2;
}

struct dragonfly dragonfly_of(const struct net_graph *g)
{
	const uint32_t *size = g->shape.size;
	bool plus = g->shape.dims == 4;
	struct dragonfly d = {
		.routers = plus ? size[0] + size[1] : size[0],
		.gates = plus ? size[1] : size[0],
		.global = plus ? size[2] : size[1],
		.groups = plus ? size[3] : size[2],
		.plus = plus,
	};

	d.pairs = d.gates * d.global / (d.groups - 1);
	return d;
}

struct net_far dragonfly_gate(const struct net_graph *g,
			      const struct dragonfly *d, uint32_t from,
			      uint32_t to, uint32_t pair)
{
	uint32_t n = d->groups, k = to < from ? to : to - 1;
	uint32_t first = d->plus ? d->routers - d->gates : 0;
	uint32_t port = d->plus ? d->routers - d->gates : d->routers - 1;

	if (g->shape.arrangement == NET_PALMTREE)
		k = (from + n - to - 1) % n;
	k += pair * (n - 1);
	return (struct net_far){
		.at = from * d->routers + first + k / d->global,
		.port = (uint16_t)(port + k % d->global),
	};
}

uint32_t dragonfly_local(const struct dragonfly *d, uint32_t router,
			 uint32_t to)
{
	uint32_t a = router % d->routers, b = to % d->routers;
	uint32_t leaves = d->routers - d->gates;

	if (d->plus)
		return b < leaves ? b : b - leaves;
	return b < a ? b : b - 1;
}

/* ---- generators ---- */

static void local_join(struct net_graph *g, const struct dragonfly *d,
		       uint32_t a, uint32_t b)
{
	net_graph_join(g, a, dragonfly_local(d, a, b), b,
		       dragonfly_local(d, b, a));
}

static void groups_join(struct net_graph *g, const struct dragonfly *d)
{
	for (uint32_t a = 0; a < d->groups; a++)
		for (uint32_t b = a + 1; b < d->groups; b++)
			for (uint32_t k = 0; k < d->pairs; k++) {
				struct net_far p = dragonfly_gate(g, d, a, b,
								  k),
					       q = dragonfly_gate(g, d, b, a,
								  k);

				net_graph_join_trunk(g, p.at, p.port, q.at,
						     q.port);
			}
}

/* Checks the sizes. Sets the number of groups and the number of ends if the
 * experiment leaves them out. `gates` routers of a group have cables to other
 * groups, `global` cables each. */
static int shape_check(struct net_shape *s, uint32_t gates, uint32_t global,
		       bool plus, struct weft_err *err)
{
	uint32_t at = groups_dim(s, plus);
	uint64_t most = (uint64_t)gates * global + 1;

	if (s->dims == at)
		s->size[s->dims++] =
			(uint32_t)(most < NET_NOWHERE ? most : NET_NOWHERE);
	if (s->size[at] < 2 || s->size[at] > most)
		return weft_fail(
			err, EINVAL,
			"%u groups: %u routers of a group have %u cables each to other groups, which join 2 to %llu groups",
			s->size[at], gates, global, (unsigned long long)most);
	if (!s->ends)
		s->ends = global;
	return 0;
}

static int dragonfly_build(struct net_graph *g, const struct net_shape *shape,
			   struct weft_err *err)
{
	struct net_shape *s = &g->shape;
	uint32_t a = s->size[0], h = s->size[1];
	struct dragonfly d;
	uint64_t n;

	if (s->dims < 2 || s->dims > 3)
		return weft_fail(
			err, EINVAL,
			"dims of a dragonfly are routers of a group, cables of each to other groups, and groups, if not all: write e.g. [4, 2] or [4, 2, 9]");
	if (shape_check(s, a, h, false, err))
		return -EINVAL;
	n = (uint64_t)a * s->size[2];
	if (net_graph_alloc(g, n, a - 1ull + h + s->ends, n * s->ends, err))
		return -EINVAL;
	d = dragonfly_of(g);
	for (uint32_t r = 0; r < g->routers; r++)
		for (uint32_t b = r % a + 1; b < a; b++)
			local_join(g, &d, r, r - r % a + b);
	groups_join(g, &d);
	for (uint32_t e = 0; e < g->ends; e++)
		net_graph_attach(g, e, e / s->ends, a - 1 + h + e % s->ends);
	return 0;
}

static int plus_build(struct net_graph *g, const struct net_shape *shape,
		      struct weft_err *err)
{
	struct net_shape *s = &g->shape;
	uint32_t l = s->size[0], m = s->size[1], h = s->size[2], p;
	struct dragonfly d;
	uint64_t n, ports;

	if (s->dims < 3 || s->dims > 4)
		return weft_fail(
			err, EINVAL,
			"dims of a dragonfly_plus are leaves of a group, spines, cables of each spine to other groups, and groups, if not all: write e.g. [4, 4, 4] or [4, 4, 4, 17]");
	if (shape_check(s, m, h, true, err))
		return -EINVAL;
	p = s->ends;
	n = s->size[3];
	ports = (uint64_t)l + h > m + p ? (uint64_t)l + h : m + p;
	if (net_graph_alloc(g, n * ((uint64_t)l + m), ports, n * l * p, err))
		return -EINVAL;
	d = dragonfly_of(g);
	for (uint32_t r = 0; r < g->routers; r++)
		for (uint32_t b = l; r % d.routers < l && b < d.routers; b++)
			local_join(g, &d, r, r - r % d.routers + b);
	groups_join(g, &d);
	for (uint32_t e = 0; e < g->ends; e++)
		net_graph_attach(g, e, e / p / l * d.routers + e / p % l,
				 m + e % p);
	return 0;
}

/* Lowers a size that is larger than `most`. Returns true if it was larger. */
static bool lower(uint32_t *size, uint32_t most)
{
	bool larger = *size > most;

	if (larger)
		*size = most;
	return larger;
}

/* Reduces a group to at most four routers, or two leaves and two spines, with
 * two cables per gate to other groups. Every kind of path through a group still
 * exists. If several cables join each pair of groups, two cables join each pair
 * in the smaller graph. */
static bool groups_reduce(struct net_shape *s, bool plus)
{
	uint32_t at = groups_dim(s, plus), gates = plus ? 1 : 0;
	uint64_t cables = (uint64_t)s->size[gates] * s->size[gates + 1];
	bool several = s->dims > at && 2ull * (s->size[at] - 1) <= cables;
	bool less = lower(&s->size[gates], plus ? 2 : 4);

	less |= lower(&s->size[gates + 1], 2);
	less |= plus && lower(&s->size[0], 2);
	less |= lower(&s->ends, 1);
	s->dims = at;
	if (!less || !several)
		return less;
	s->size[s->dims++] = s->size[gates] * s->size[gates + 1] / 2 + 1;
	return true;
}

static bool dragonfly_reduce(struct net_shape *s)
{
	return groups_reduce(s, false);
}

static bool plus_reduce(struct net_shape *s)
{
	return groups_reduce(s, true);
}

static const char *const dragonfly_keys[] = { "dims", "ends", "arrangement",
					      NULL };

const struct net_topology net_topology_dragonfly = {
	.name = "dragonfly",
	.doc = "groups of routers, each joined to all others of its group",
	.build = dragonfly_build,
	.reduce = dragonfly_reduce,
	.routing = "minimal",
	.keys = dragonfly_keys,
};

const struct net_topology net_topology_dragonfly_plus = {
	.name = "dragonfly_plus",
	.doc = "groups of leaves and spines, spines joined to other groups",
	.build = plus_build,
	.reduce = plus_reduce,
	.routing = "minimal",
	.keys = dragonfly_keys,
};
