/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of networks (graph.h). Allocates a graph, joins its routers and checks
 * that all ends can reach each other. */
#include "net/graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"

extern const struct net_topology net_topology_torus, net_topology_mesh,
	net_topology_fly, net_topology_fat_tree, net_topology_dragonfly,
	net_topology_dragonfly_plus, net_topology_flattened_butterfly,
	net_topology_hyperx, net_topology_graph, net_topology_hypercube,
	net_topology_slim_fly, net_topology_random_regular, net_topology_clos,
	net_topology_benes, net_topology_tree4, net_topology_cmesh;

const struct net_topology *const net_topologies[] = {
	&net_topology_torus,
	&net_topology_mesh,
	&net_topology_fly,
	&net_topology_fat_tree,
	&net_topology_dragonfly,
	&net_topology_dragonfly_plus,
	&net_topology_flattened_butterfly,
	&net_topology_hyperx,
	&net_topology_graph,
	&net_topology_hypercube,
	&net_topology_slim_fly,
	&net_topology_random_regular,
	&net_topology_clos,
	&net_topology_benes,
	&net_topology_tree4,
	&net_topology_cmesh,
	NULL,
};

const struct net_topology *net_topology_called(const char *name)
{
	for (const struct net_topology *const *t = net_topologies; *t; t++)
		if (!strcmp((*t)->name, name))
			return *t;
	return NULL;
}

static int size_check(uint64_t routers, uint64_t ports, uint64_t ends,
		      struct weft_err *err)
{
	if (routers > NET_ROUTERS_MAX || ends > NET_ROUTERS_MAX)
		return weft_fail(
			err, EINVAL,
			"%llu routers and %llu ends are too many: at most %u each",
			(unsigned long long)routers, (unsigned long long)ends,
			NET_ROUTERS_MAX);
	if (ports > NET_PORTS_MAX)
		return weft_fail(
			err, EINVAL,
			"a router would have %llu ports: at most %u, use more dimensions or fewer ends at each router",
			(unsigned long long)ports, NET_PORTS_MAX);
	return 0;
}

/* Allocates ports and ends. first[] must be filled in. */
static void tables_alloc(struct net_graph *g, uint64_t ends)
{
	uint32_t ports = g->first[g->routers];

	g->ends = (uint32_t)ends;
	g->port = need(calloc(ports + 1ul, sizeof(*g->port)));
	g->out = need(calloc(ends + 1, sizeof(*g->out)));
	g->in = need(calloc(ends + 1, sizeof(*g->in)));
	for (uint32_t p = 0; p < ports; p++)
		g->port[p].at = NET_NOWHERE;
}

int net_graph_alloc(struct net_graph *g, uint64_t routers, uint64_t ports,
		    uint64_t ends, struct weft_err *err)
{
	if (size_check(routers, ports, ends, err))
		return -EINVAL;
	g->routers = (uint32_t)routers;
	g->first = need(calloc(routers + 1, sizeof(*g->first)));
	for (uint32_t r = 0; r <= g->routers; r++)
		g->first[r] = r * (uint32_t)ports;
	tables_alloc(g, ends);
	return 0;
}

int net_graph_alloc_each(struct net_graph *g, uint64_t routers,
			 const uint32_t *ports, uint64_t ends,
			 struct weft_err *err)
{
	if (size_check(routers, 0, ends, err))
		return -EINVAL;
	for (uint64_t r = 0; r < routers; r++)
		if (size_check(routers, ports[r], ends, err))
			return -EINVAL;
	g->routers = (uint32_t)routers;
	g->first = need(calloc(routers + 1, sizeof(*g->first)));
	for (uint64_t r = 0; r < routers; r++)
		g->first[r + 1] = g->first[r] + ports[r];
	tables_alloc(g, ends);
	return 0;
}

void net_graph_join(struct net_graph *g, uint32_t a, uint32_t p, uint32_t b,
		    uint32_t q)
{
	g->port[g->first[a] + p] = (struct net_far){ b, (uint16_t)q, 0, 0, 0 };
	g->port[g->first[b] + q] = (struct net_far){ a, (uint16_t)p, 0, 0, 0 };
}

void net_graph_join_trunk(struct net_graph *g, uint32_t a, uint32_t p,
			  uint32_t b, uint32_t q)
{
	g->port[g->first[a] + p] = (struct net_far){ b, (uint16_t)q, 0, 1 };
	g->port[g->first[b] + q] = (struct net_far){ a, (uint16_t)p, 0, 1 };
}

void net_graph_attach(struct net_graph *g, uint32_t end, uint32_t r, uint32_t p)
{
	g->port[g->first[r] + p] = (struct net_far){ end, 0, 1, 0, 0 };
	g->out[end] = g->in[end] = (struct net_far){ r, (uint16_t)p, 0, 0, 0 };
}

void net_graph_attach_two(struct net_graph *g, uint32_t end, uint32_t r,
			  uint32_t p, uint32_t s, uint32_t q)
{
	g->port[g->first[r] + p] = (struct net_far){ end, 0, 1, 0, 0 };
	g->port[g->first[s] + q] = (struct net_far){ end, 1, 1, 0, 0 };
	g->out[end] = (struct net_far){ r, (uint16_t)p, 0, 0, 0 };
	g->in[end] = (struct net_far){ s, (uint16_t)q, 0, 0, 0 };
}

/* Returns the kind of cables of this latency, which may be a new kind. Returns
 * 0 if there are too many kinds. */
static uint8_t kind_of(struct net_graph *g, uint32_t cycles)
{
	uint32_t k = 0;

	while (k < g->kinds && g->latency[k] != cycles)
		k++;
	if (k == UINT8_MAX)
		return 0;
	if (k == g->kinds) {
		g->latency = grown(g->latency, k, sizeof(*g->latency));
		g->latency[g->kinds++] = cycles;
	}
	return (uint8_t)(k + 1);
}

int net_graph_latency(struct net_graph *g, uint32_t r, uint32_t p,
		      uint32_t cycles, struct weft_err *err)
{
	struct net_far *f = &g->port[g->first[r] + p];
	uint8_t kind = kind_of(g, cycles);

	if (!kind)
		return weft_fail(
			err, EINVAL,
			"cables have more than %u different latencies: round some of them",
			UINT8_MAX);
	f->kind = kind;
	if (!f->end)
		g->port[g->first[f->at] + f->port].kind = kind;
	return 0;
}

void net_graph_fini(struct net_graph *g)
{
	free(g->first);
	free(g->port);
	free(g->out);
	free(g->in);
	free(g->latency);
	free(g->table);
	free(g->way);
	*g = (struct net_graph){ 0 };
}

/* Returns the number of routers that cables connect with router 0, directly or
 * over other routers. Router 0 counts, too. */
static uint32_t graph_reached(const struct net_graph *g)
{
	uint32_t *queue = need(calloc(g->routers, sizeof(*queue)));
	bool *seen = need(calloc(g->routers, sizeof(*seen)));
	uint32_t n = 1;

	seen[0] = true;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t p = 0; p < net_graph_ports(g, queue[i]); p++) {
			const struct net_far *f = net_graph_far(g, queue[i], p);

			if (f->at == NET_NOWHERE || f->end || seen[f->at])
				continue;
			seen[f->at] = true;
			queue[n++] = f->at;
		}
	free(queue);
	free(seen);
	return n;
}

/* Writes the number of each router's group to `of`. Two routers are of one
 * group if cables other than trunks connect them, directly or over other
 * routers. Returns the number of groups. */
static uint32_t graph_groups(const struct net_graph *g, uint32_t *of)
{
	uint32_t *queue = need(calloc(g->routers, sizeof(*queue)));
	uint32_t groups = 0;

	for (uint32_t r = 0; r < g->routers; r++)
		of[r] = NET_NOWHERE;
	for (uint32_t r = 0; r < g->routers; r++) {
		uint32_t n = 0;

		if (of[r] != NET_NOWHERE)
			continue;
		queue[n++] = r;
		of[r] = groups;
		for (uint32_t i = 0; i < n; i++)
			for (uint32_t p = 0; p < net_graph_ports(g, queue[i]);
			     p++) {
				const struct net_far *f =
					net_graph_far(g, queue[i], p);

				if (f->at == NET_NOWHERE || f->end ||
				    f->trunk || of[f->at] != NET_NOWHERE)
					continue;
				of[f->at] = groups;
				queue[n++] = f->at;
			}
		groups++;
	}
	free(queue);
	return groups;
}

uint32_t net_graph_group(const struct net_graph *g)
{
	uint32_t *of = need(calloc(g->routers, sizeof(*of)));
	uint32_t groups = graph_groups(g, of), size = g->ends / groups;

	for (uint32_t e = 0; e < g->ends && size; e++)
		if (of[g->out[e].at] != of[g->out[e / size * size].at] ||
		    (e % size == 0 && e &&
		     of[g->out[e].at] == of[g->out[e - 1].at]))
			size = 0;
	free(of);
	return groups > 1 && g->ends % groups == 0 ? size : 0;
}

int net_graph_init(struct net_graph *g, const struct net_topology *type,
		   const struct net_shape *shape, struct weft_err *err)
{
	uint32_t n;

	*g = (struct net_graph){ .type = type, .shape = *shape };
	if (type->build(g, shape, err)) {
		net_graph_fini(g);
		return -EINVAL;
	}
	/* A network that packets pass in one direction need not be connected by
	 * cables, because its ends connect the last stage to the first. */
	g->shape.cables = NULL;
	n = graph_reached(g);
	if (n == g->routers || g->out[0].at != g->in[0].at)
		return 0;
	weft_fail(
		err, EINVAL,
		"the network is not connected: cables join %u of %u routers to router 0",
		n, g->routers);
	net_graph_fini(g);
	return -EINVAL;
}
