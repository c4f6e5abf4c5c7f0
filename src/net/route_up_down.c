/* SPDX-License-Identifier: Apache-2.0 */
/* Routing `up_down` of any graph: up*\/down* (Schroeder et al. 1991). The
 * routers have ranks in the order in which a spanning tree reaches them,
 * breadth first. A packet goes up, towards lower ranks, then down, and never up
 * again, so that any number of VCs is free of circles. Among such paths the
 * routing chooses one with the fewest cables.
 *
 * The root is the router with the most cables. If several routers have the most
 * cables, the one with the lowest number is the root. The first table has ports
 * for packets that may still go up, the second table for packets that have gone
 * down. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "net/route_table.h"

enum { NO_PORT = 255, FAR = 0xffff };

/* Returns the ranks of the routers, which are stored behind the tables. */
static uint32_t *ranks(const struct net_graph *g)
{
	size_t n = 2ul * g->routers * g->routers;

	return (uint32_t *)(void *)(g->table->port + (n + 3) / 4 * 4);
}

static uint32_t root_of(const struct net_graph *g)
{
	uint32_t best = 0, most = 0;

	for (uint32_t r = 0; r < g->routers; r++) {
		uint32_t n = 0;

		for (uint32_t p = 0; p < net_graph_ports(g, r); p++) {
			const struct net_far *f = net_graph_far(g, r, p);

			n += f->at != NET_NOWHERE && !f->end;
		}
		if (n > most) {
			most = n;
			best = r;
		}
	}
	return best;
}

/* Ranks the routers, and writes them to order[] by rank. */
static void rank_all(const struct net_graph *g, uint32_t *rank, uint32_t *order)
{
	uint32_t n = 1;

	memset(rank, 0xff, g->routers * sizeof(*rank));
	order[0] = root_of(g);
	rank[order[0]] = 0;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t p = 0; p < net_graph_ports(g, order[i]); p++) {
			const struct net_far *f = net_graph_far(g, order[i], p);

			if (f->at == NET_NOWHERE || f->end ||
			    rank[f->at] != NET_NOWHERE)
				continue;
			rank[f->at] = n;
			order[n++] = f->at;
		}
}

struct ways {
	const struct net_graph *g;
	const uint32_t *rank, *order;
	uint16_t *any, *down; /* cables to the destination */
};

/* Finds the port of router r, among its ports up or its ports down, with the
 * shortest path to the destination. Sets *dist and *port if that path is
 * shorter than *dist. */
static void step_find(struct ways *w, uint32_t r, bool up, uint16_t *dist,
		      uint8_t *port)
{
	for (uint32_t p = 0; p < net_graph_ports(w->g, r); p++) {
		const struct net_far *f = net_graph_far(w->g, r, p);
		const uint16_t *far = up ? w->any : w->down;

		if (f->at == NET_NOWHERE || f->end ||
		    (w->rank[f->at] < w->rank[r]) != up ||
		    far[f->at] + 1 >= *dist)
			continue;
		*dist = far[f->at] + 1;
		*port = (uint8_t)p;
	}
}

/* Fills in the columns of a destination in both tables. Finds paths down first,
 * from the highest rank to the root, then paths up, from the root to the
 * highest rank. */
static void column_fill(struct ways *w, struct net_table *t, uint32_t to)
{
	uint32_t n = t->routers;

	for (uint32_t i = n; i-- > 0;) {
		uint32_t r = w->order[i];
		uint8_t *port = net_table_port(t, r + n, to);

		*port = NO_PORT;
		w->down[r] = r == to ? 0 : FAR;
		if (r != to)
			step_find(w, r, false, &w->down[r], port);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t r = w->order[i];
		uint8_t *port = net_table_port(t, r, to);

		*port = *net_table_port(t, r + n, to);
		w->any[r] = w->down[r];
		if (r != to)
			step_find(w, r, true, &w->any[r], port);
		t->hops = w->any[r] > t->hops ? w->any[r] : t->hops;
	}
}

static int up_down_prepare(struct net_graph *g, struct weft_err *err)
{
	struct net_table *t = net_table_new(g, 2, err);
	struct ways w = { .g = g };
	uint32_t *order;

	if (!t)
		return -EINVAL;
	g->table = t =
		need(realloc(t, sizeof(*t) + 2ul * g->routers * g->routers + 4 +
					g->routers * sizeof(uint32_t)));
	order = need(calloc(g->routers, sizeof(*order)));
	rank_all(g, ranks(g), order);
	w.rank = ranks(g);
	w.order = order;
	w.any = need(calloc(g->routers, sizeof(*w.any)));
	w.down = need(calloc(g->routers, sizeof(*w.down)));
	for (uint32_t to = 0; to < g->routers; to++)
		column_fill(&w, t, to);
	free(order);
	free(w.any);
	free(w.down);
	return 0;
}

static uint32_t up_down_vcs(const struct net_graph *g, const char **why)
{
	*why = "any";
	return 1;
}

static void up_down_route(const struct net_graph *g, uint32_t vcs,
			  struct net_arrival in, struct net_route *r,
			  struct net_choices *c)
{
	const struct net_far *back = net_graph_far(g, in.router, in.port);
	const uint32_t *rank = ranks(g);
	uint32_t to = g->in[r->dest].at, row = in.router;

	if (in.router == to) {
		net_choose(c, g->in[r->dest].port, 0, vcs - 1, 0);
		return;
	}
	if (!back->end && rank[back->at] < rank[in.router])
		row += g->routers;
	net_choose(c,
		   net_table_side(g, in.router,
				  *net_table_port(g->table, row, to), to),
		   0, vcs - 1, 0);
}

const struct net_routing net_routing_up_down = {
	.name = "up_down",
	.doc = "up a spanning tree, then down, by the shortest such way",
	.prepare = up_down_prepare,
	.vcs = up_down_vcs,
	.route = up_down_route,
	.by_router = true,
};
