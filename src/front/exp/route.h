/* SPDX-License-Identifier: Apache-2.0 */
/* Routes of direct networks that cannot be computed by arithmetic
 * (net/topology.h), and the check that routes cannot deadlock. Routes cannot
 * deadlock if no cycle exists among channels that wait for each other. */
#ifndef FRONT_EXP_ROUTE_H
#define FRONT_EXP_ROUTE_H

#include "net/topology.h"

/* Largest number of nodes with a table, which has nodes x nodes entries. */
#define ROUTE_TABLE_NODES 8192u

/* Turns t into a graph with the cables of t and without routes. */
int route_graph(struct topology *t, struct weft_err *err);
/* Makes a graph of `nodes` nodes without cables. */
int route_graph_new(struct topology *t, struct topo_ports ports, uint32_t nodes,
		    struct weft_err *err);
/* Joins two free link ports by a cable. Returns false if one of them is in
 * use. */
bool route_join(struct topology *t, uint32_t a, uint32_t ap, uint32_t b,
		uint32_t bp);
/* Returns the first port without a cable, or TOPO_NO_PORT. */
uint32_t route_free_port(const struct topology *t, uint32_t node);

/* Makes shortest routes by breadth-first search. Of several shortest routes the
 * lowest port wins. */
int route_shortest(struct topology *t, struct weft_err *err);
/* Makes routes that go up to a common node of a spanning tree rooted at node 0,
 * then down. These routes have no cycle, but may be longer than the shortest
 * routes. */
int route_up_down(struct topology *t, struct weft_err *err);

/* A direction of a cable, named by its sending port, and a virtual channel on
 * it. */
struct route_chan {
	uint32_t node, link, vc;
};
enum { ROUTE_CYCLE_SHOWN = 8 };
struct route_cycle {
	uint32_t n; /* number of channels in the cycle; 0: no cycle exists */
	struct route_chan at[ROUTE_CYCLE_SHOWN]; /* first channels of the cycle,
						  * for messages */
};
struct route_cycle route_check(const struct topology *t);
/* Writes the cycle as "s0.lp0/vc0 -> s1.lp0/vc0 -> ... -> s0.lp0/vc0 (4
 * channels)". */
void route_cycle_text(const struct route_cycle *c, char *buf, size_t size);

/* Finds two nodes without a route between them. Returns false if all have
 * routes. */
bool route_broken(const struct topology *t, uint32_t *s_p, uint32_t *d_p);

#endif
