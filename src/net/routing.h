/* SPDX-License-Identifier: Apache-2.0 */
/* Routing of packets through a graph (graph.h), as tables of operations. A
 * routing draws its random decisions when a packet is injected, and stores them
 * in the packet. The choices at each router are then a function of the router,
 * the way in, and the packet.
 *
 * A routing divides the virtual channels (VCs) of a port into classes, so that
 * no circle of waiting packets can form. net_routing_check() proves this for a
 * graph: it searches the channels that a packet may hold while it waits for
 * another (Dally and Seitz 1987). Adaptive routings have escape channels, which
 * are proved instead (Duato 1993). */
#ifndef NET_ROUTING_H
#define NET_ROUTING_H

#include "net/graph.h"

enum { NET_CHOICES = 16, NET_VCS_MAX = 32 };

/* State of a packet. */
struct net_route {
	uint32_t src, dest; /* ends */
	uint32_t mid;	    /* router on the way, for routings with phases */
	uint32_t coins;	    /* random bits */
	uint8_t phase;	    /* 0: on the way to mid, 1: to dest */
	uint8_t part;	    /* class of VCs in the present ring */
};

/* An output that a packet may take, with VCs first..last. */
struct net_choice {
	uint16_t port;
	uint8_t first, last;
	/* A choice of higher priority is taken if it is free. */
	uint32_t priority;
};
struct net_choices {
	uint32_t n;
	struct net_choice at[NET_CHOICES];
};

/* Loads of outputs that a router knows: its own ones and, in an idealised
 * routing, those of others. */
struct net_loads {
	/* Returns the load of VCs first..last of an output at the end of the
	 * cycle before: places in use in the queues behind them, by flits there
	 * or on their way. With NET_LOADS_QUEUES flits that wait for the output
	 * in its router count, too: those that have not left of packets in
	 * front of their queue, for the first VC of their first choice until
	 * they have a VC. */
	uint32_t (*used)(const void *own, uint32_t router, uint32_t port,
			 uint32_t first, uint32_t last);
	const void *own; /* of the caller */
};

/* Router, port and VC at which a packet arrives. */
struct net_arrival {
	uint32_t router, port, vc;
	/* NULL: none, in the search for circles. A coin of the packet decides
	 * where loads would. */
	const struct net_loads *loads;
	/* In the search for circles, of a routing that draws at each router:
	 * 1, 2 .. for the first, the second draw that there may be, else 0. */
	uint32_t draw;
	/* First VC of the packet's range, of which all others count. */
	uint32_t base;
};

/* VCs first .. first + n - 1, which packets of a class use like a network of
 * their own. */
struct net_range {
	uint8_t first, n;
};

struct net_routing {
	const char *name, *doc;
	/* Topologies for which it is made, ended by NULL. NULL: all whose
	 * cables are used in both directions. */
	const char *const *topologies;
	/* Makes tables, g->table, which the graph frees. Returns 0, or -EINVAL
	 * with a message. NULL: none. */
	int (*prepare)(struct net_graph *g, struct weft_err *err);
	/* Returns the least number of VCs in this graph, and in *why what they
	 * are for. */
	uint32_t (*vcs)(const struct net_graph *g, const char **why);
	/* Draws the decisions of a packet. r->src, dest and coins are set.
	 * `mid` is a random number below g->routers. NULL: none. */
	void (*inject)(const struct net_graph *g, struct net_route *r,
		       uint64_t random);
	/* Writes the choices of a packet that has arrived, and updates its
	 * state. All choices at the destination's router lead to its end. */
	void (*route)(const struct net_graph *g, uint32_t vcs,
		      struct net_arrival in, struct net_route *r,
		      struct net_choices *c);
	/* Packets pass `mid` first, in phase 0, or change to phase 1 at a
	 * router before it. In the search for circles the destination of phase
	 * 0 is an end of `mid`, so that the way to mid may not depend on both.
	 */
	bool phases;
	/* Choices of priority 0 are escape channels. A packet on one stays on
	 * escape channels. */
	bool escape;
	/* Draws at each router, among any number of choices. It writes those of
	 * net_arrival.draw, and none behind the last draw. */
	bool draws;
	/* Depends on the router of the destination, not on the end, and has no
	 * coins. */
	bool by_router;
	/* Follows g->way. The search takes the whole graph. */
	bool user;
	/* Advice if the search finds a circle. NULL: none. */
	const char *instead;
	/* Reads the loads of outputs. */
	bool looks;
	/* Compares loads of two ways with net_graph.threshold. */
	bool threshold;
	/* Number of the lowest coins that decide about the way, at most 8,
	 * which a packet has for each of two phases (from coin NET_DIMS on for
	 * the second). The search for circles tries them all. 0: one per
	 * dimension. */
	uint8_t coins;
};
extern const struct net_routing *const net_routings[]; /* ended by NULL */
/* Returns the routing of that name for a topology, which may be NULL, or else
 * one for another topology, or NULL. */
const struct net_routing *net_routing_called(const char *name,
					     const struct net_topology *t);

/* Makes the tables of the routing for the graph, which the routing needs from
 * then on. Checks that it is one for the graph, that there are enough VCs, and
 * that packets cannot wait for each other in a circle. In a graph with more
 * than a few million pairs of ends the circle is searched in a smaller one of
 * the same topology. Returns 0, or -EINVAL with a message that says what would
 * do, or names the circle. */
int net_routing_check(const struct net_routing *r, struct net_graph *g,
		      uint32_t vcs, struct weft_err *err);
/* Searches for a circle of channels, in which packets of each of n ranges of
 * the VCs wait. Returns true and writes it to text if there is one. In a graph
 * with many pairs of ends a smaller one is searched. */
bool net_routing_circle(const struct net_routing *r, const struct net_graph *g,
			uint32_t vcs, const struct net_range *range, uint32_t n,
			char *text, size_t size);
/* Searches for such a circle in this graph, whatever its size
 * (routing_cycle.c). */
bool net_routing_cycle(const struct net_routing *r, const struct net_graph *g,
		       uint32_t vcs, const struct net_range *range, uint32_t n,
		       char *text, size_t size);
/* Calls r->route() for a packet of a range. */
static inline void
net_range_route(const struct net_routing *r, const struct net_graph *g,
		struct net_range range, struct net_arrival in,
		struct net_route *route, struct net_choices *c)
{
	in.vc -= range.first;
	in.base = range.first;
	r->route(g, range.n, in, route, c);
	for (uint32_t i = 0; range.first && i < c->n; i++) {
		c->at[i].first = (uint8_t)(c->at[i].first + range.first);
		c->at[i].last = (uint8_t)(c->at[i].last + range.first);
	}
}

/* ---- for routings ---- */

static inline void net_choose(struct net_choices *c, uint32_t port,
			      uint32_t first, uint32_t last, uint32_t priority)
{
	c->at[c->n++] = (struct net_choice){ (uint16_t)port, (uint8_t)first,
					     (uint8_t)last, priority };
}
/* Adds the output with class k of 2 classes of the VCs first..last. Class 0 has
 * the odd VC. */
void net_choose_half(struct net_choices *c, uint32_t port, uint32_t first,
		     uint32_t last, uint32_t k);
/* Adds the output with class k of n classes of `vcs` VCs. */
void net_choose_class(struct net_choices *c, uint32_t port, uint32_t vcs,
		      uint32_t k, uint32_t n);
/* Returns a number below n that depends on the packet and the salt alone. */
static inline uint32_t net_drawn(const struct net_route *r, uint32_t salt,
				 uint32_t n)
{
	uint32_t x = r->coins + salt * 0x9e3779b9u;

	x = (x ^ x >> 16) * 0x85ebca6bu;
	x = (x ^ x >> 13) * 0xc2b2ae35u;
	x ^= x >> 16;
	return (uint32_t)((uint64_t)x * n >> 32);
}
/* Returns the load of VCs first..last of an output of a router. There are
 * loads. */
static inline uint32_t net_used(struct net_arrival in, uint32_t router,
				uint32_t port, uint32_t first, uint32_t last)
{
	return in.loads->used(in.loads->own, router, port, in.base + first,
			      in.base + last);
}
/* Returns true if output a of the present router, of which all `vcs` count, has
 * fewer places in use than output b. If both have as many, or there are no
 * loads, a coin decides. */
bool net_emptier(struct net_arrival in, uint32_t vcs, uint32_t a, uint32_t b,
		 bool coin);
/* Returns true if the packet has arrived through the port of an end. */
static inline bool net_injected(const struct net_graph *g,
				struct net_arrival in)
{
	return net_graph_far(g, in.router, in.port)->end;
}

#endif
