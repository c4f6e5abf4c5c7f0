/* SPDX-License-Identifier: Apache-2.0 */
/* Topology `graph`: routers, ends and cables of a list (net_cables), which the
 * fabric reads from the experiment or from a file.
 *
 * Ports of a router are those of its ends, in order of their numbers, then its
 * cables in order of the list. A cable of width n is n cables side by side, at
 * ports one after another. */
#include <errno.h>
#include <stdlib.h>

#include "base/need.h"
#include "net/graph.h"

static int cable_check(const struct net_cables *l, const struct net_cable *c,
		       struct weft_err *err)
{
	uint32_t most = c->end ? l->ends : l->routers;

	if (c->a >= l->routers || c->b >= most)
		return weft_fail(
			err, EINVAL,
			"a cable leads from router %u to %s %u: there are %u routers and %u ends",
			c->a, c->end ? "end" : "router", c->b, l->routers,
			l->ends);
	if (!c->end && c->a == c->b)
		return weft_fail(
			err, EINVAL,
			"router %u is cabled to itself: write two routers, e.g. [0, 1]",
			c->a);
	return 0;
}

/* Counts the ports of each router, and checks that each end has one cable. */
static int ports_count(const struct net_cables *l, uint32_t *ports,
		       uint8_t *attached, struct weft_err *err)
{
	for (uint32_t i = 0; i < l->n; i++) {
		const struct net_cable *c = &l->at[i];

		if (cable_check(l, c, err))
			return -EINVAL;
		ports[c->a] += c->width;
		if (!c->end)
			ports[c->b] += c->width;
		else if (attached[c->b]++)
			return weft_fail(
				err, EINVAL,
				"end %u has two cables: an end is attached to one router",
				c->b);
	}
	for (uint32_t e = 0; e < l->ends; e++)
		if (!attached[e])
			return weft_fail(
				err, EINVAL,
				"end %u has no cable: attach it to a router, or number ends from 0 on",
				e);
	return 0;
}

/* Attaches ends and joins routers at their next free ports. */
static int cables_join(struct net_graph *g, const struct net_cables *l,
		       uint32_t *next, struct weft_err *err)
{
	for (uint32_t i = 0; i < l->n; i++)
		if (l->at[i].end)
			g->out[l->at[i].b].at = l->at[i].a;
	for (uint32_t e = 0; e < g->ends; e++)
		net_graph_attach(g, e, g->out[e].at, next[g->out[e].at]++);
	for (uint32_t i = 0; i < l->n; i++) {
		const struct net_cable *c = &l->at[i];
		uint32_t p = c->end ? g->out[c->b].port : next[c->a];

		for (uint32_t k = 0; !c->end && k < c->width; k++)
			net_graph_join(g, c->a, next[c->a]++, c->b,
				       next[c->b]++);
		for (uint32_t k = 0; c->latency && k < c->width; k++)
			if (net_graph_latency(g, c->a, p + k, c->latency, err))
				return -EINVAL;
	}
	return 0;
}

static int list_build(struct net_graph *g, const struct net_shape *s,
		      struct weft_err *err)
{
	const struct net_cables *l = s->cables;
	uint32_t *ports, *next;
	uint8_t *attached;
	int ret;

	if (!l || !l->routers || !l->ends)
		return weft_fail(
			err, EINVAL,
			"the graph has no routers or no ends: write e.g. cables: [[0, 1], [1, 2]]");
	if (l->routers > NET_ROUTERS_MAX || l->ends > NET_ROUTERS_MAX)
		return weft_fail(err, EINVAL,
				 "%u routers and %u ends are too many: at most "
				 "%u each",
				 l->routers, l->ends, NET_ROUTERS_MAX);
	ports = need(calloc(l->routers, sizeof(*ports)));
	next = need(calloc(l->routers, sizeof(*next)));
	attached = need(calloc(l->ends, 1));
	ret = ports_count(l, ports, attached, err) ||
	      net_graph_alloc_each(g, l->routers, ports, l->ends, err) ||
	      cables_join(g, l, next, err);
	free(ports);
	free(next);
	free(attached);
	return ret ? -EINVAL : 0;
}

/* Keeps the whole graph for the search for circles of channels, because a part
 * of the graph may contain fewer circles. */
static bool list_reduce(struct net_shape *s)
{
	return false;
}

static const char *const keys[] = { "cables", "file", "ends", NULL };

const struct net_topology net_topology_graph = {
	.name = "graph",
	.doc = "routers and any cables between them",
	.build = list_build,
	.reduce = list_reduce,
	.routing = "up_down",
	.keys = keys,
};
