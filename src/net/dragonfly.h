/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and ports of a dragonfly (graph_dragonfly.c), for its generator and its
 * routings. */
#ifndef NET_DRAGONFLY_H
#define NET_DRAGONFLY_H

#include "net/graph.h"

/* Arrangements of the cables between groups. */
enum {
	/* Cable k of group G leads to group k if k < G, else to group k + 1, as
	 * in BookSim2. */
	NET_CONSECUTIVE,
	/* Cable k of group G leads to group G - 1 - k, modulo the number of
	 * groups, as in a palm tree. */
	NET_PALMTREE,
};

struct dragonfly {
	uint32_t routers; /* routers per group */
	uint32_t gates;	  /* routers per group with cables to other groups */
	uint32_t global;  /* cables per gate to other groups */
	uint32_t groups;
	uint32_t pairs; /* cables between two groups */
	bool plus;
};

struct dragonfly dragonfly_of(const struct net_graph *g);

/* Returns the router and the port of group `from` at which a cable to group
 * `to` begins. `pair` numbers the cables between the two groups from 0 on. */
struct net_far dragonfly_gate(const struct net_graph *g,
			      const struct dragonfly *d, uint32_t from,
			      uint32_t to, uint32_t pair);
/* Returns the port of a router whose cable leads to router `to` of the same
 * group. A cable must join the two routers. */
uint32_t dragonfly_local(const struct dragonfly *d, uint32_t router,
			 uint32_t to);

#endif
