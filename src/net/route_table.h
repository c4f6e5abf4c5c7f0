/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of ports for routings of any graph, and functions that these routings
 * share. */
#ifndef NET_ROUTE_TABLE_H
#define NET_ROUTE_TABLE_H

#include "net/routing.h"

/* One or more tables, each with a port for each pair of routers. */
struct net_table {
	uint32_t routers;
	uint32_t hops; /* most cables on a way */
	uint8_t port[];
};

/* Returns `n` tables, each with a port for each pair of routers. The caller
 * frees them. Returns NULL with a message if the graph has too many routers for
 * them. */
struct net_table *net_table_new(const struct net_graph *g, uint32_t n,
				struct weft_err *err);
/* Returns an entry of the first table. */
static inline uint8_t *net_table_port(struct net_table *t, uint32_t at,
				      uint32_t to)
{
	return &t->port[(size_t)at * t->routers + to];
}
/* Returns `port`, or one of the ports that follow it if their cables lead to
 * the same neighbour. The number of the destination's router `to` selects among
 * these parallel cables. */
uint32_t net_table_side(const struct net_graph *g, uint32_t router,
			uint32_t port, uint32_t to);
/* Returns the latency of a cable in cycles, or 1 if the graph gives the cable
 * no latency. */
static inline uint32_t net_table_length(const struct net_graph *g,
					const struct net_far *f)
{
	return f->kind ? g->latency[f->kind - 1] : 1;
}

#endif
