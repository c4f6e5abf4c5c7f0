/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies `clos` and `benes`. Packets pass their stages in one direction. In
 * the first half of the stages, every output of a router leads to every end
 * (Dally and Towles 6.3 and 6.4).
 *
 * clos: dims [n, m, r]. The first stage has r routers with n ends each, the
 * second stage has m routers, and the third stage has r routers, which lead to
 * the ends. The first ports of a router are its inputs. A folded Clos network
 * is a fat_tree with dims [n, r] and up [m].
 *
 * benes: dims [k, .., k] with n numbers. There are 2n - 1 stages of k^(n-1)
 * routers, with ports as in a fly. For each s < n - 1, the cables from stage s
 * to stage s + 1 exchange the lowest digit of a channel's number with digit
 * s + 1. The stages from n - 1 on form a fly. */
#include <errno.h>
#include <stdlib.h>

#include "base/need.h"
#include "net/graph.h"

static int clos_build(struct net_graph *g, const struct net_shape *s,
		      struct weft_err *err)
{
	uint32_t n = s->size[0], m = s->size[1], r = s->size[2], *ports;
	uint64_t routers = 2ull * r + m;
	int ret;

	if (s->dims != 3 || r < 2)
		return weft_fail(
			err, EINVAL,
			"a clos has dims: [ends of a router, routers in the middle, routers of the first stage, at least 2], e.g. [4, 4, 8]");
	if (routers > NET_ROUTERS_MAX)
		return weft_fail(err, EINVAL,
				 "%llu routers are too many: at most %u",
				 (unsigned long long)routers, NET_ROUTERS_MAX);
	ports = need(calloc(routers, sizeof(*ports)));
	for (uint32_t i = 0; i < routers; i++)
		ports[i] = i >= r && i < r + m ? 2 * r : n + m;
	ret = net_graph_alloc_each(g, routers, ports, (uint64_t)n * r, err);
	free(ports);
	if (ret)
		return ret;
	g->shape.ends = n;
	for (uint32_t i = 0; i < r; i++)
		for (uint32_t k = 0; k < m; k++) {
			net_graph_join(g, i, n + k, r + k, i);
			net_graph_join(g, r + k, r + i, r + m + i, k);
		}
	for (uint32_t e = 0; e < g->ends; e++)
		net_graph_attach_two(g, e, e / n, e % n, r + m + e / n,
				     m + e % n);
	return 0;
}

static bool clos_reduce(struct net_shape *s)
{
	bool less = false;

	for (uint32_t d = 0; d < s->dims; d++)
		if (s->size[d] > 3) {
			s->size[d] = 3;
			less = true;
		}
	return less;
}

static void clos_onward(const struct net_graph *g, uint32_t router,
			uint32_t dest, struct net_onward *o)
{
	uint32_t n = g->shape.size[0], m = g->shape.size[1];
	uint32_t r = g->shape.size[2];

	*o = (struct net_onward){ .n = 1, .divisor = 1 };
	if (router < r) {
		o->first = n;
		o->n = m;
	} else if (router < r + m) {
		o->first = r + dest / n;
	} else {
		o->first = m + dest % n;
	}
}

static const char *const keys[] = { "dims", NULL };

const struct net_topology net_topology_clos = {
	.name = "clos",
	.doc = "three stages, passed in one direction over any middle router",
	.build = clos_build,
	.reduce = clos_reduce,
	.routing = "nearest_common_ancestor",
	.keys = keys,
	.onward = clos_onward,
	.one_way = true,
};

/* ---- benes ---- */

static uint32_t power(uint32_t k, uint32_t n)
{
	uint32_t p = 1;

	while (n--)
		p *= k;
	return p;
}

static int benes_check(const struct net_shape *s, struct weft_err *err)
{
	for (uint32_t d = 0; d < s->dims; d++)
		if (s->size[d] != s->size[0] || s->size[d] < 2)
			return weft_fail(
				err, EINVAL,
				"a benes has equal stages of at least 2: write dims as the radix once per stage behind the middle, e.g. [2, 2, 2]");
	return 0;
}

/* Joins stage s to the next one. The cables exchange two digits of a channel's
 * number: the lowest digit and digit j. */
static void stage_join(struct net_graph *g, uint32_t s, uint32_t j)
{
	uint32_t k = g->shape.size[0], stage = g->ends / k, unit = power(k, j);

	for (uint32_t c = 0; c < g->ends; c++) {
		uint32_t low = c % k, high = c / unit % k;
		uint32_t to = c - low - high * unit + high + low * unit;

		net_graph_join(g, s * stage + c / k, k + low,
			       (s + 1) * stage + to / k, to % k);
	}
}

static int benes_build(struct net_graph *g, const struct net_shape *s,
		       struct weft_err *err)
{
	uint32_t k = s->size[0], n = s->dims, last;
	uint64_t stage = 1;

	if (benes_check(s, err))
		return -EINVAL;
	for (uint32_t d = 1; d < n && stage <= NET_ROUTERS_MAX; d++)
		stage *= k;
	if (net_graph_alloc(g, (2ull * n - 1) * stage, 2ull * k, stage * k,
			    err))
		return -EINVAL;
	g->shape.ends = k;
	for (uint32_t i = 0; i + 1 < 2 * n - 1; i++)
		stage_join(g, i, i + 1 < n ? i + 1 : 2 * n - 2 - i);
	last = (2 * n - 2) * (uint32_t)stage;
	for (uint32_t e = 0; e < g->ends; e++)
		net_graph_attach_two(g, e, e / k, e % k, last + e / k,
				     k + e % k);
	return 0;
}

static bool benes_reduce(struct net_shape *s)
{
	bool less = s->dims > 3 || s->size[0] > 3;

	s->dims = s->dims > 3 ? 3 : s->dims;
	for (uint32_t d = 0; d < s->dims; d++)
		s->size[d] = s->size[d] > 3 ? 3 : s->size[d];
	return less;
}

static void benes_onward(const struct net_graph *g, uint32_t router,
			 uint32_t dest, struct net_onward *o)
{
	uint32_t k = g->shape.size[0], n = g->shape.dims;
	uint32_t s = router / (g->ends / k);

	*o = (struct net_onward){ .first = k, .n = 1, .level = s };
	o->divisor = power(k, s < n ? s : 0);
	if (s + 1 < n)
		o->n = k;
	else
		o->first += dest / power(k, 2 * n - 2 - s) % k;
}

const struct net_topology net_topology_benes = {
	.name = "benes",
	.doc = "two butterflies back to back, passed in one direction",
	.build = benes_build,
	.reduce = benes_reduce,
	.routing = "nearest_common_ancestor",
	.keys = keys,
	.onward = benes_onward,
	.one_way = true,
};
