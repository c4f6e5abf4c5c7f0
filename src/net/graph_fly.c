/* SPDX-License-Identifier: Apache-2.0 */
/* Topology `fly`: the k-ary n-fly, a butterfly of n stages of k^(n-1) routers
 * (Dally and Towles 4.1). `dims` is [k, k, ..], n times the same number,
 * because each stage resolves one digit of the destination.
 *
 * Packets pass the stages in one direction. Router = stage * k^(n-1) + address.
 * Ports 0 .. k-1 of a router face the stage before it and k .. 2k-1 the stage
 * behind it. Cables behind stage s exchange two digits of a channel's number,
 * address * k + output: the lowest digit and digit n-1-s. An end sends into
 * stage 0 and receives from the last stage. */
#include <errno.h>

#include "net/graph.h"

static int fly_check(const struct net_shape *s, struct weft_err *err)
{
	for (uint32_t d = 0; d < s->dims; d++)
		if (s->size[d] != s->size[0] || s->size[d] < 2)
			return weft_fail(
				err, EINVAL,
				"a fly has equal stages of at least 2: write dims as the radix once per stage, e.g. [4, 4, 4]");
	if (s->ends && s->ends != s->size[0])
		return weft_fail(
			err, EINVAL,
			"a router of a fly has as many ends as its radix, %u: leave out ends",
			s->size[0]);
	return 0;
}

static int fly_build(struct net_graph *g, const struct net_shape *s,
		     struct weft_err *err)
{
	uint32_t k = s->size[0], n = s->dims, shift;
	uint64_t stage = 1, last;

	if (fly_check(s, err))
		return -EINVAL;
	for (uint32_t d = 1; d < n && stage <= NET_ROUTERS_MAX; d++)
		stage *= k;
	if (net_graph_alloc(g, n * stage, 2ull * k, stage * k, err))
		return -EINVAL;
	g->shape.ends = k;
	last = (n - 1) * stage;
	shift = (uint32_t)stage / k;
	for (uint32_t s1 = 1; s1 < n; s1++, shift /= k)
		for (uint32_t a = 0; a < stage; a++)
			for (uint32_t p = 0; p < k; p++) {
				/* Joins input p of router a to output `digit`
				 * of the router whose address has p in place of
				 * this digit. */
				uint32_t digit = a / shift % k;
				uint32_t from = a - digit * shift + p * shift;

				net_graph_join(
					g, (s1 - 1) * (uint32_t)stage + from,
					k + digit, s1 * (uint32_t)stage + a, p);
			}
	for (uint32_t e = 0; e < g->ends; e++)
		net_graph_attach_two(g, e, e / k, e % k, (uint32_t)last + e / k,
				     k + e % k);
	return 0;
}

/* Leaves out a stage. Returns false if only two stages are left. */
static bool fly_reduce(struct net_shape *s)
{
	return s->dims > 2 && s->dims--;
}

const struct net_topology net_topology_fly = {
	.name = "fly",
	.doc = "a butterfly of equal stages, passed in one direction",
	.build = fly_build,
	.reduce = fly_reduce,
	.routing = "destination_tag",
	.one_way = true,
};
