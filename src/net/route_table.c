/* SPDX-License-Identifier: Apache-2.0 */
/* Routings of any graph along shortest paths, by a table of ports:
 *
 *	shortest		The k-th cable of a path uses VCs of class k, so
 *				that a packet waits only for packets that have
 *				passed more cables.
 *	shortest_all_vcs	like shortest, but on any VC (BookSim2's min of
 *				anynet)
 *	valiant			a shortest path to the router of a random end,
 *				then a shortest path to the destination. The
 *				second path continues with higher classes.
 *
 * A shortest path has the smallest sum of cable latencies. A tree of shortest
 * paths leads from each router to all others. If several neighbours can precede
 * a router in the tree, the neighbour nearest to the root is its predecessor.
 * If several are equally near, the lowest number decides, as in BookSim2. */
#include "net/route_table.h"

#include <errno.h>
#include <stdlib.h>

#include "base/need.h"

enum { TABLE_MAX = 1 << 30 };

struct net_table *net_table_new(const struct net_graph *g, uint32_t n,
				struct weft_err *err)
{
	uint64_t bytes = (uint64_t)g->routers * g->routers * n;
	struct net_table *t;

	if (bytes > TABLE_MAX) {
		weft_fail(
			err, EINVAL,
			"tables of %u routers have %llu MiB: use fewer routers, or a topology with a routing of its own (weft list fabrics)",
			g->routers, (unsigned long long)(bytes >> 20));
		return NULL;
	}
	t = need(calloc(1, sizeof(*t) + bytes));
	t->routers = g->routers;
	return t;
}

uint32_t net_table_side(const struct net_graph *g, uint32_t router,
			uint32_t port, uint32_t to)
{
	uint32_t n = 1, far = net_graph_far(g, router, port)->at;

	while (port + n < net_graph_ports(g, router)) {
		const struct net_far *f = net_graph_far(g, router, port + n);

		if (f->end || f->at != far)
			break;
		n++;
	}
	return n > 1 ? port + to % n : port;
}

/* ---- ways ---- */

struct ways {
	const struct net_graph *g;
	uint32_t *dist, *before, *queue;
	uint32_t *first; /* the router behind the first cable of a way */
	bool *queued;
};

/* Finds the distances of all routers from one router by repeated relaxing. If
 * all cables have one length, each router is relaxed once. */
static void distances(struct ways *w, uint32_t from)
{
	const struct net_graph *g = w->g;
	uint32_t head = 0, n = 1;

	for (uint32_t r = 0; r < g->routers; r++)
		w->dist[r] = NET_NOWHERE;
	w->dist[from] = 0;
	w->queue[0] = from;
	while (n) {
		uint32_t r = w->queue[head];

		head = head + 1 == g->routers ? 0 : head + 1;
		n--;
		w->queued[r] = false;
		for (uint32_t p = 0; p < net_graph_ports(g, r); p++) {
			const struct net_far *f = net_graph_far(g, r, p);
			uint32_t d = w->dist[r] + net_table_length(g, f);

			if (f->at == NET_NOWHERE || f->end ||
			    d >= w->dist[f->at])
				continue;
			w->dist[f->at] = d;
			if (w->queued[f->at])
				continue;
			w->queued[f->at] = true;
			w->queue[(head + n++) % g->routers] = f->at;
		}
	}
}

/* Finds the predecessor of each router in the tree. */
static void tree_make(struct ways *w)
{
	const struct net_graph *g = w->g;

	for (uint32_t r = 0; r < g->routers; r++)
		w->before[r] = NET_NOWHERE;
	for (uint32_t r = 0; r < g->routers; r++)
		for (uint32_t p = 0; p < net_graph_ports(g, r); p++) {
			const struct net_far *f = net_graph_far(g, r, p);
			uint32_t *b;

			if (f->at == NET_NOWHERE || f->end ||
			    w->dist[r] + net_table_length(g, f) !=
				    w->dist[f->at])
				continue;
			b = &w->before[f->at];
			if (*b == NET_NOWHERE || w->dist[r] < w->dist[*b])
				*b = r;
		}
}

/* Returns the port of router r with the shortest cable to router `next`: the
 * first one if several cables are equally short. */
static uint32_t port_to(const struct net_graph *g, uint32_t r, uint32_t next)
{
	uint32_t best = NET_NOWHERE, least = NET_NOWHERE;

	for (uint32_t p = 0; p < net_graph_ports(g, r); p++) {
		const struct net_far *f = net_graph_far(g, r, p);

		if (f->at == next && !f->end &&
		    net_table_length(g, f) < least) {
			best = p;
			least = net_table_length(g, f);
		}
	}
	return best;
}

/* Returns the first router after `from` on the path to `to`. Stores this result
 * in w->first for all routers on the path, so that a search passes each router
 * only once. */
static uint32_t first_find(struct ways *w, uint32_t from, uint32_t to)
{
	uint32_t r = to, first;

	while (w->first[r] == NET_NOWHERE && w->before[r] != from)
		r = w->before[r];
	first = w->first[r] == NET_NOWHERE ? r : w->first[r];
	for (uint32_t k = to; k != r; k = w->before[k])
		w->first[k] = first;
	return w->first[r] = first;
}

/* Fills in the row of a router from its tree. */
static void row_fill(struct ways *w, struct net_table *t, uint32_t from)
{
	for (uint32_t r = 0; r < t->routers; r++)
		w->first[r] = NET_NOWHERE;
	for (uint32_t to = 0; to < t->routers; to++)
		if (to != from)
			*net_table_port(t, from, to) = (uint8_t)port_to(
				w->g, from, first_find(w, from, to));
}

static uint32_t next_router(const struct net_graph *g, struct net_table *t,
			    uint32_t r, uint32_t to)
{
	return net_graph_far(g, r, *net_table_port(t, r, to))->at;
}

/* Returns the number of cables on the longest path in the table. left[r] is the
 * number of cables from router r to `to`. A path that reaches a router with a
 * known left[r] need not be followed further. */
static uint32_t hops_most(const struct net_graph *g, struct net_table *t,
			  uint32_t *left)
{
	uint32_t most = 0;

	for (uint32_t to = 0; to < g->routers; to++) {
		for (uint32_t r = 0; r < g->routers; r++)
			left[r] = r == to ? 0 : NET_NOWHERE;
		for (uint32_t from = 0; from < g->routers; from++) {
			uint32_t r = from, n = 0;

			for (; left[r] == NET_NOWHERE; n++)
				r = next_router(g, t, r, to);
			n += left[r];
			most = n > most ? n : most;
			for (r = from; left[r] == NET_NOWHERE; n--) {
				left[r] = n;
				r = next_router(g, t, r, to);
			}
		}
	}
	return most;
}

static int shortest_prepare(struct net_graph *g, struct weft_err *err)
{
	struct net_table *t = net_table_new(g, 1, err);
	struct ways w = { .g = g };

	if (!t)
		return -EINVAL;
	w.dist = need(calloc(g->routers, sizeof(*w.dist)));
	w.before = need(calloc(g->routers, sizeof(*w.before)));
	w.queue = need(calloc(g->routers, sizeof(*w.queue)));
	w.queued = need(calloc(g->routers, sizeof(*w.queued)));
	w.first = need(calloc(g->routers, sizeof(*w.first)));
	for (uint32_t r = 0; r < g->routers; r++) {
		distances(&w, r);
		tree_make(&w);
		row_fill(&w, t, r);
	}
	t->hops = hops_most(g, t, w.dist);
	free(w.dist);
	free(w.before);
	free(w.queue);
	free(w.queued);
	free(w.first);
	g->table = t;
	return 0;
}

/* ---- routings ---- */

/* Returns the class of VC `vc` if `vcs` VCs are divided among n classes. Class
 * k begins at VC k * vcs / n. */
static uint32_t class_of(uint32_t vcs, uint32_t n, uint32_t vc)
{
	return ((vc + 1) * n - 1) / vcs;
}

/* Adds the port from router `at` towards router `to`, with class k of n. At the
 * destination's router, adds the port of the packet's end. */
static void hop(const struct net_graph *g, uint32_t vcs, uint32_t at,
		uint32_t to, const struct net_route *r, uint32_t k, uint32_t n,
		struct net_choices *c)
{
	if (at == g->in[r->dest].at)
		net_choose(c, g->in[r->dest].port, 0, vcs - 1, 0);
	else
		net_choose(c,
			   net_table_side(g, at,
					  *net_table_port(g->table, at, to),
					  to),
			   k * vcs / n, (k + 1) * vcs / n - 1, 0);
}

static uint32_t classes(const struct net_graph *g)
{
	return g->table->hops ? g->table->hops : 1;
}

static uint32_t shortest_vcs(const struct net_graph *g, const char **why)
{
	*why = "one for each cable on the longest way; up_down needs 1";
	return classes(g);
}

static void shortest_route(const struct net_graph *g, uint32_t vcs,
			   struct net_arrival in, struct net_route *r,
			   struct net_choices *c)
{
	uint32_t n = classes(g), k = 0;

	if (!net_injected(g, in))
		k = class_of(vcs, n, in.vc) + 1;
	hop(g, vcs, in.router, g->in[r->dest].at, r, k, n, c);
}

const struct net_routing net_routing_shortest = {
	.name = "shortest",
	.doc = "a shortest way by a table, a class of VCs for each cable on it",
	.prepare = shortest_prepare,
	.vcs = shortest_vcs,
	.route = shortest_route,
	.by_router = true,
};

static uint32_t all_vcs(const struct net_graph *g, const char **why)
{
	*why = "any";
	return 1;
}

static void all_vcs_route(const struct net_graph *g, uint32_t vcs,
			  struct net_arrival in, struct net_route *r,
			  struct net_choices *c)
{
	hop(g, vcs, in.router, g->in[r->dest].at, r, 0, 1, c);
}

const struct net_routing net_routing_shortest_all_vcs = {
	.name = "shortest_all_vcs",
	.doc = "a shortest way by a table, any VC, if no circle forms",
	.prepare = shortest_prepare,
	.vcs = all_vcs,
	.route = all_vcs_route,
	.by_router = true,
	.instead = "use routing shortest or up_down",
};

static uint32_t valiant_vcs(const struct net_graph *g, const char **why)
{
	*why = "one for each cable on the longest way, for two phases";
	return 2 * classes(g);
}

static void valiant_inject(const struct net_graph *g, struct net_route *r,
			   uint64_t random)
{
	r->mid = g->in[(random >> 32) * g->ends >> 32].at;
}

static void valiant_route(const struct net_graph *g, uint32_t vcs,
			  struct net_arrival in, struct net_route *r,
			  struct net_choices *c)
{
	uint32_t n = 2 * classes(g), k = r->phase * n / 2;

	if (!net_injected(g, in))
		k = class_of(vcs, n, in.vc) + 1;
	if (!r->phase && in.router == r->mid) {
		r->phase = 1;
		k = n / 2;
	}
	hop(g, vcs, in.router, r->phase ? g->in[r->dest].at : r->mid, r, k, n,
	    c);
}

const struct net_routing net_routing_table_valiant = {
	.name = "valiant",
	.doc = "a shortest way to the router of a random end, then on",
	.prepare = shortest_prepare,
	.vcs = valiant_vcs,
	.inject = valiant_inject,
	.route = valiant_route,
	.phases = true,
	.by_router = true,
};
