/* SPDX-License-Identifier: Apache-2.0 */
/* Topology `fat_tree`: the k-ary n-tree (Petrini and Vanneschi 1997) and its
 * tapered forms, as XGFT(n; m1 .. mn; 1, w1 .. w(n-1)) of Ohring et al. 1995.
 *
 * A router of level l has dims[l] ports down, and up[l] ports up unless l is
 * the top level. The dims[0] ports down of level 0 lead to ends. Without `up`,
 * each router has as many ports up as down, so that no level is narrower than
 * the level below it. BookSim2's fattree is dims [k, k, k], its qtree dims
 * [4, 4, 4] with up [1, 1].
 *
 * Several routers of a level may be roots of one subtree. In level l, the root
 * `low` of subtree `high` is router first(l) + high * copies(l) + low. Its
 * ports down have the lower numbers. Its b-th port up leads to the root low + b
 * * copies(l) of the next larger subtree, at port high % dims[l + 1] of that
 * root. */
#include <errno.h>
#include <stdlib.h>

#include "base/need.h"
#include "net/graph.h"

/* A level of the tree: number of its first router, number of its routers, and
 * number of routers that are roots of one subtree (copies). */
struct level {
	uint32_t first, routers, copies, ends; /* ends below a router */
	uint32_t down, up;
};

static uint32_t tree_up(const struct net_shape *s, uint32_t l)
{
	if (l + 1 == s->dims)
		return 0;
	return s->ups ? s->up[l] : s->size[l];
}

/* Returns level l of a shape that fits. */
static struct level tree_level(const struct net_shape *s, uint32_t l)
{
	struct level v = { .copies = 1, .ends = s->size[0] };

	for (uint32_t i = 0;; i++) {
		v.routers = v.copies;
		for (uint32_t j = i + 1; j < s->dims; j++)
			v.routers *= s->size[j];
		v.down = s->size[i];
		v.up = tree_up(s, i);
		if (i == l)
			return v;
		v.first += v.routers;
		v.copies *= v.up;
		v.ends *= s->size[i + 1];
	}
}

static int tree_check(const struct net_shape *s, struct weft_err *err)
{
	if (s->ends && s->ends != s->size[0])
		return weft_fail(
			err, EINVAL,
			"a router of the lowest level has as many ends as ports down, %u: leave out ends",
			s->size[0]);
	if (s->ups && s->ups != s->dims - 1)
		return weft_fail(
			err, EINVAL,
			"up has %u levels, the tree %u below its top: write %u, or leave out up",
			s->ups, s->dims - 1, s->dims - 1);
	if (s->lengthy && s->lengthy != s->dims - 1)
		return weft_fail(
			err, EINVAL,
			"lengths has %u levels, the tree %u below its top: write the cycles of cables above each of them",
			s->lengthy, s->dims - 1);
	for (uint32_t l = 0; l < s->dims; l++) {
		if (s->size[l] < 1 || (s->dims > 1 && s->size[l] < 2))
			return weft_fail(
				err, EINVAL,
				"level %u has %u ports down: at least 2, or leave the level out",
				l, s->size[l]);
		if (l + 1 < s->dims && !tree_up(s, l))
			return weft_fail(
				err, EINVAL,
				"level %u has no ports up: at least 1 leads to the next level",
				l);
	}
	return 0;
}

/* Counts routers and ends. Returns 0, or -EINVAL if these are too many. */
static int tree_size(const struct net_shape *s, uint64_t *routers_p,
		     uint64_t *ends_p, struct weft_err *err)
{
	uint64_t copies = 1, routers = 0, ends = 1, n;

	for (uint32_t l = 0; l < s->dims; l++) {
		ends *= s->size[l];
		n = copies;
		for (uint32_t j = l + 1; j < s->dims && n <= NET_ROUTERS_MAX;
		     j++)
			n *= s->size[j];
		routers += n;
		copies *= tree_up(s, l);
		if (ends > NET_ROUTERS_MAX || routers > NET_ROUTERS_MAX ||
		    copies > NET_ROUTERS_MAX)
			return weft_fail(
				err, EINVAL,
				"the tree has more than %u routers or ends: use fewer levels, or fewer ports",
				NET_ROUTERS_MAX);
	}
	*routers_p = routers;
	*ends_p = ends;
	return 0;
}

static int level_join(struct net_graph *g, const struct net_shape *s,
		      uint32_t l, struct weft_err *err)
{
	struct level v = tree_level(s, l), up = tree_level(s, l + 1);

	for (uint32_t i = 0; i < v.routers; i++)
		for (uint32_t b = 0; b < v.up; b++) {
			uint32_t high = i / v.copies, low = i % v.copies;
			uint32_t parent =
				high / up.down * up.copies + low + b * v.copies;

			net_graph_join(g, v.first + i, v.down + b,
				       up.first + parent, high % up.down);
			if (s->lengthy &&
			    net_graph_latency(g, v.first + i, v.down + b,
					      s->length[l], err))
				return -EINVAL;
		}
	return 0;
}

static int tree_build(struct net_graph *g, const struct net_shape *s,
		      struct weft_err *err)
{
	uint64_t routers = 0, ends = 0;
	uint32_t *ports;
	int ret;

	if (tree_check(s, err) || tree_size(s, &routers, &ends, err))
		return -EINVAL;
	ports = need(calloc(routers, sizeof(*ports)));
	for (uint32_t l = 0; l < s->dims; l++) {
		struct level v = tree_level(s, l);

		for (uint32_t i = 0; i < v.routers; i++)
			ports[v.first + i] = v.down + v.up;
	}
	ret = net_graph_alloc_each(g, routers, ports, ends, err);
	free(ports);
	if (ret)
		return ret;
	g->shape.ends = s->size[0];
	for (uint32_t l = 0; l + 1 < s->dims; l++)
		if (level_join(g, s, l, err))
			return -EINVAL;
	for (uint32_t e = 0; e < ends; e++)
		net_graph_attach(g, e, e / s->size[0], e % s->size[0]);
	return 0;
}

/* Reduces ports to 3 and levels to 3. Such a tree still has several ports up,
 * several ports down, and a level between the lowest and the highest. */
static bool tree_reduce(struct net_shape *s)
{
	bool less = false;

	s->ends = 0;
	if (s->dims > 3) {
		s->dims = 3;
		s->ups = s->ups ? 2 : 0;
		s->lengthy = 0;
		less = true;
	}
	for (uint32_t l = 0; l < s->dims; l++) {
		less |= s->size[l] > 3 || (s->ups && s->up[l] > 3);
		s->size[l] = s->size[l] > 3 ? 3 : s->size[l];
		s->up[l] = s->up[l] > 3 ? 3 : s->up[l];
	}
	return less;
}

static void tree_onward(const struct net_graph *g, uint32_t router,
			uint32_t dest, struct net_onward *o)
{
	uint32_t l = 0;
	struct level v = tree_level(&g->shape, 0);

	while (router >= v.first + v.routers)
		v = tree_level(&g->shape, ++l);
	*o = (struct net_onward){ .n = 1, .level = l, .divisor = v.copies };
	if (dest / v.ends == (router - v.first) / v.copies) {
		o->first = dest / (v.ends / v.down) % v.down;
	} else {
		o->first = v.down;
		o->n = v.up;
	}
}

static const char *const keys[] = { "dims", "ends", "up", "lengths", NULL };

const struct net_topology net_topology_fat_tree = {
	.name = "fat_tree",
	.doc = "levels of routers, ends below, as wide above or narrower",
	.build = tree_build,
	.reduce = tree_reduce,
	.routing = "nearest_common_ancestor",
	.keys = keys,
	.onward = tree_onward,
};
