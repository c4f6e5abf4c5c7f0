/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs: cables, shortest routes, and routes up and down (see route.h). */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "front/exp/route.h"

/* ---- cables ---- */

int route_graph_new(struct topology *t, struct topo_ports ports, uint32_t nodes,
		    struct weft_err *err)
{
	if (nodes > ROUTE_TABLE_NODES)
		return weft_fail(
			err, E2BIG,
			"%u nodes: routes that need tables are made for up to %u",
			nodes, ROUTE_TABLE_NODES);
	t->kind = TOPO_GRAPH;
	t->ports = ports;
	t->nodes = nodes;
	t->dims = 0;
	t->table = NULL;
	t->far = need(calloc((size_t)nodes * t->ports.links, sizeof(*t->far)));
	t->far_port = need(calloc((size_t)nodes * t->ports.links, 1));
	memset(t->far, 0xff, (size_t)nodes * t->ports.links * sizeof(*t->far));
	memset(t->dim, 0, sizeof(t->dim));
	return 0;
}

int route_graph(struct topology *t, struct weft_err *err)
{
	struct topology from = *t;

	if (route_graph_new(t, from.ports, from.nodes, err))
		return -E2BIG;
	for (uint32_t s = 0; s < t->nodes; s++)
		for (uint32_t p = t->ports.first; p < topo_ports_end(t); p++) {
			uint32_t far = topo_far(&from, s, p);

			if (far != TOPO_FAR_NONE)
				route_join(t, s, p, far,
					   topo_far_port(&from, s, p));
		}
	return 0;
}

bool route_join(struct topology *t, uint32_t a, uint32_t ap, uint32_t b,
		uint32_t bp)
{
	uint32_t i = topo_link(t, a, ap);
	uint32_t k = topo_link(t, b, bp);

	if (i == k || t->far[i] != TOPO_FAR_NONE || t->far[k] != TOPO_FAR_NONE)
		return false;
	t->far[i] = b;
	t->far_port[i] = (uint8_t)bp;
	t->far[k] = a;
	t->far_port[k] = (uint8_t)ap;
	return true;
}

uint32_t route_free_port(const struct topology *t, uint32_t node)
{
	for (uint32_t p = t->ports.first; p < topo_ports_end(t); p++)
		if (topo_far(t, node, p) == TOPO_FAR_NONE)
			return p;
	return TOPO_NO_PORT;
}

/* ---- searching ---- */

#define FOR_PORTS(t, s, p, n)                                                  \
	for (uint32_t p = (t)->ports.first, n; p < topo_ports_end(t); p++)     \
		if ((n = topo_far(t, s, p)) != TOPO_FAR_NONE)

struct search {
	const struct topology *t;
	uint32_t *dist, *todo; /* arrays with an entry for each node */
	/* rank of each node in the tree, and node of each rank, for routes up
	 * and down */
	uint32_t *rank, *order;
	uint32_t *up;
};

static struct search search_new(const struct topology *t)
{
	struct search s = { .t = t };

	s.dist = need(calloc(t->nodes, sizeof(*s.dist)));
	s.todo = need(calloc(t->nodes, sizeof(*s.todo)));
	s.rank = need(calloc(t->nodes, sizeof(*s.rank)));
	s.order = need(calloc(t->nodes, sizeof(*s.order)));
	s.up = need(calloc(t->nodes, sizeof(*s.up)));
	return s;
}

static void search_free(struct search *s)
{
	free(s->dist);
	free(s->todo);
	free(s->rank);
	free(s->order);
	free(s->up);
}

/* Computes the distances of nodes to d over all cables, or with `ranked` only
 * over routes that go down to d. Lists the nodes that were reached in s->todo,
 * and returns their number. */
static uint32_t search_from(struct search *s, uint32_t d, bool ranked)
{
	uint32_t head = 0, tail = 0;

	memset(s->dist, 0xff, s->t->nodes * sizeof(*s->dist));
	s->dist[d] = 0;
	s->todo[tail++] = d;
	while (head < tail) {
		uint32_t at = s->todo[head++];

		FOR_PORTS(s->t, at, p, n)
		{
			if (s->dist[n] != UINT32_MAX ||
			    (ranked && s->rank[n] > s->rank[at]))
				continue;
			s->dist[n] = s->dist[at] + 1;
			s->todo[tail++] = n;
		}
	}
	return tail;
}

/* Returns the lowest port of node `at` whose neighbour is nearer to the
 * destination. */
static uint8_t route_graph_nearer(const struct search *s, uint32_t at,
				  bool ranked)
{
	FOR_PORTS(s->t, at, p, n)
	{
		if (s->dist[n] == s->dist[at] - 1 &&
		    !(ranked && s->rank[n] < s->rank[at]))
			return (uint8_t)p;
	}
	return TOPO_NO_PORT;
}

static void table_new(struct topology *t)
{
	size_t n = (size_t)t->nodes * t->nodes;

	free(t->table);
	t->table = need(calloc(n, 1));
	memset(t->table, TOPO_NO_PORT, n);
}

int route_shortest(struct topology *t, struct weft_err *err)
{
	struct search s = search_new(t);

	table_new(t);
	for (uint32_t d = 0; d < t->nodes; d++) {
		search_from(&s, d, false);
		for (uint32_t i = 0; i < t->nodes; i++)
			if (i != d && s.dist[i] != UINT32_MAX)
				t->table[(size_t)i * t->nodes + d] =
					route_graph_nearer(&s, i, false);
	}
	search_free(&s);
	return 0;
}

/* ---- up and down ---- */

/* Returns a port up for a node without a route down to the destination. The
 * port leads to the neighbour that is nearest to the destination. The caller
 * handles nodes in ascending rank, because a node needs the distances of nodes
 * of lower rank. */
static uint8_t route_graph_upward(struct search *s, uint32_t at)
{
	uint32_t best = UINT32_MAX, port = TOPO_NO_PORT;

	FOR_PORTS(s->t, at, p, n)
	{
		uint32_t far = s->dist[n] != UINT32_MAX ? s->dist[n] : s->up[n];

		if (s->rank[n] > s->rank[at] || far >= best)
			continue;
		best = far;
		port = p;
	}
	s->up[at] = best == UINT32_MAX ? best : best + 1;
	return (uint8_t)port;
}

int route_up_down(struct topology *t, struct weft_err *err)
{
	struct search s = search_new(t);
	uint32_t n;

	table_new(t);
	n = search_from(&s, 0, false);
	memcpy(s.order, s.todo, n * sizeof(*s.order));
	memset(s.rank, 0xff, t->nodes * sizeof(*s.rank));
	for (uint32_t i = 0; i < n; i++)
		s.rank[s.order[i]] = i;
	/* Routes depend on node and destination alone. A packet that has gone
	 * down stays on nodes with a route down to its destination, therefore
	 * it never climbs again. */
	for (uint32_t d = 0; d < t->nodes; d++) {
		search_from(&s, d, true);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t at = s.order[i];
			uint8_t *to = &t->table[(size_t)at * t->nodes + d];

			s.up[at] = UINT32_MAX;
			if (at == d)
				continue;
			*to = s.dist[at] != UINT32_MAX
				      ? route_graph_nearer(&s, at, true)
				      : route_graph_upward(&s, at);
		}
	}
	search_free(&s);
	return 0;
}

/* Tries all pairs. A grid without cuts is skipped, because each of its pairs
 * has a route. */
bool route_broken(const struct topology *t, uint32_t *s_p, uint32_t *d_p)
{
	if (t->kind == TOPO_GRID && !t->n_cuts)
		return false;
	for (*s_p = 0; *s_p < t->nodes; ++*s_p)
		for (*d_p = 0; *d_p < t->nodes; ++*d_p)
			if (*s_p != *d_p &&
			    topo_port(t, *s_p, *d_p) == TOPO_NO_PORT)
				return true;
	return false;
}
