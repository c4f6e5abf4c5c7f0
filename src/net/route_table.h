/* SPDX-License-Identifier: Apache-2.0 */
/* Tables of routings for any graph, and what these have in common. */
#ifndef NET_ROUTE_TABLE_H
#define NET_ROUTE_TABLE_H

#include "net/routing.h"

/* A port for each pair of routers, in one table or in several. */
struct net_table {
	uint32_t routers;
	uint32_t hops; /* most cables on a way */
	uint8_t port[];
};

/* Returns tables of `n` ports for each pair of routers, or NULL with a message:
 * the graph has so many routers that these are too large. */
struct net_table *net_table_new(const struct net_graph *g, uint32_t n,
				struct weft_err *err);
/* Returns an entry of the first table. */
static inline uint8_t *net_table_port(struct net_table *t, uint32_t at,
				      uint32_t to)
{
	return &t->port[(size_t)at * t->routers + to];
}
/* Returns one of the cables side by side that begin at a port of a router, by
 * the router of the destination. */
uint32_t net_table_side(const struct net_graph *g, uint32_t router,
			uint32_t port, uint32_t to);
/* Returns the cycles of a cable, with 1 for those that have no latency of their
 * own. */
static inline uint32_t net_table_length(const struct net_graph *g,
					const struct net_far *f)
{
	return f->kind ? g->latency[f->kind - 1] : 1;
}

#endif
