/* SPDX-License-Identifier: Apache-2.0 */
/* Routing `table`. The user's table g->way has the next port for each router
 * and destination end. It must lead packets from each end to every other
 * end. */
#include <errno.h>
#include <stdlib.h>

#include "base/need.h"
#include "net/routing.h"

static uint32_t user_vcs(const struct net_graph *g, const char **why)
{
	uint32_t most = 0;

	*why = "the table names them";
	for (size_t i = 0; i < (size_t)g->routers * g->ends; i++)
		if (g->way[i].last != NET_WAY_ALL && g->way[i].last > most)
			most = g->way[i].last;
	return most + 1;
}

static void user_route(const struct net_graph *g, uint32_t vcs,
		       struct net_arrival in, struct net_route *r,
		       struct net_choices *c)
{
	const struct net_way *w =
		&g->way[(size_t)in.router * g->ends + r->dest];

	/* A router that no packet for this end passes may have no port in the
	 * table. The search for circles calls this function for such routers,
	 * too. */
	if (w->port == NET_WAY_NONE)
		return;
	net_choose(c, w->port, w->first,
		   w->last == NET_WAY_ALL ? vcs - 1 : w->last, 0);
}

/* Records in `known` that router `r` and all later routers on the path lead
 * packets to end `dest`. */
static void way_note(const struct net_graph *g, uint32_t r, uint32_t dest,
		     uint32_t *known)
{
	while (known[r] != dest) {
		const struct net_way *w = &g->way[(size_t)r * g->ends + dest];
		const struct net_far *f = net_graph_far(g, r, w->port);

		known[r] = dest;
		if (!f->end)
			r = f->at;
	}
}

/* Follows the table from end `src` to end `dest`, or up to a router that is
 * known to lead packets to `dest`. Returns 0, or -EINVAL with a message if the
 * table does not lead to `dest`. */
static int way_follow(const struct net_graph *g, uint32_t src, uint32_t dest,
		      const uint32_t *known, struct weft_err *err)
{
	uint32_t r = g->out[src].at;

	for (uint32_t hops = 0; hops <= g->routers; hops++) {
		const struct net_way *w = &g->way[(size_t)r * g->ends + dest];
		const struct net_far *f;

		if (known[r] == dest)
			return 0;
		if (w->port == NET_WAY_NONE)
			return weft_fail(
				err, EINVAL,
				"the table has no way from router %u to end %u: add a line '%u %u PORT'",
				r, dest, r, dest);
		f = net_graph_far(g, r, w->port);
		if (f->end && f->at == dest)
			return 0;
		if (f->end)
			return weft_fail(
				err, EINVAL,
				"the table leads packets for end %u from router %u to end %u",
				dest, r, f->at);
		r = f->at;
	}
	return weft_fail(
		err, EINVAL,
		"the table leads packets from end %u to end %u round and round: they pass router %u twice",
		src, dest, r);
}

static int user_prepare(struct net_graph *g, struct weft_err *err)
{
	uint32_t *known;
	int ret = 0;

	if (!g->way)
		return weft_fail(
			err, EINVAL,
			"routing table has no table: write routes: FILE, with lines 'ROUTER END PORT', or use up_down");
	known = need(calloc(g->routers, sizeof(*known)));
	for (uint32_t r = 0; r < g->routers; r++)
		known[r] = NET_NOWHERE;
	for (uint32_t d = 0; d < g->ends && !ret; d++)
		for (uint32_t s = 0; s < g->ends && !ret; s++) {
			ret = way_follow(g, s, d, known, err);
			if (!ret)
				way_note(g, g->out[s].at, d, known);
		}
	free(known);
	return ret;
}

const struct net_routing net_routing_table = {
	.name = "table",
	.doc = "ways of a file, by router and end",
	.prepare = user_prepare,
	.vcs = user_vcs,
	.route = user_route,
	.user = true,
	.instead = "name VCs in the table, or use routing up_down",
};
