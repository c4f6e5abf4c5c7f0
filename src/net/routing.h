/* SPDX-License-Identifier: Apache-2.0 */
/* Routing of packets through a graph (graph.h), as tables of operations. A
 * routing draws its random decisions when a packet is injected, and stores them
 * in the packet. The choices at each router are then a function of the router,
 * the port and VC of arrival, the packet, and for some routings the loads of
 * outputs.
 *
 * A routing divides the virtual channels (VCs) of a port into classes, so that
 * no circle of waiting packets can form. net_routing_check() proves this for a
 * graph: it searches for circles of channels, in which packets hold one channel
 * while they wait for the next (Dally and Seitz 1987). For an adaptive routing
 * it searches the escape channels only (Duato 1993). */
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
	/* A router takes a free choice of higher priority before all choices of
	 * lower priority. */
	uint32_t priority;
};
struct net_choices {
	uint32_t n;
	struct net_choice at[NET_CHOICES];
};

/* Loads of outputs that a router knows. In an idealised routing, these include
 * outputs of other routers. */
struct net_loads {
	/* Returns the load of VCs first..last of an output at the end of the
	 * previous cycle. The load is the number of places in use in the queues
	 * that these VCs lead to. Flits in flight to a queue use places, too.
	 * With NET_LOADS_QUEUES, the load also includes flits that wait for the
	 * output in its router. Only flits of the first packet of a queue
	 * count. A packet without a VC waits for the first VC of its first
	 * choice. */
	uint32_t (*used)(const void *own, uint32_t router, uint32_t port,
			 uint32_t first, uint32_t last);
	const void *own; /* of the caller */
};

/* Router, port and VC at which a packet arrives. */
struct net_arrival {
	uint32_t router, port, vc;
	/* NULL in the search for circles. A coin of the packet then decides in
	 * place of loads. */
	const struct net_loads *loads;
	/* Number of the draw that the search for circles tries, from 1 on, for
	 * a routing that draws at each router; else 0. */
	uint32_t draw;
	/* First VC of the packet's range. All other numbers of VCs in a routing
	 * count from this VC. */
	uint32_t base;
};

/* VCs first .. first + n - 1. The packets of a class only use these VCs. */
struct net_range {
	uint8_t first, n;
};

struct net_routing {
	const char *name, *doc;
	/* Names of the topologies that the routing is for, ended by NULL.
	 * Without this list the routing is for all topologies whose cables are
	 * used in both directions. */
	const char *const *topologies;
	/* Checks a graph for this routing, or makes its tables in g->table,
	 * which the graph frees. Returns 0, or -EINVAL with a message. NULL if
	 * the routing needs neither. */
	int (*prepare)(struct net_graph *g, struct weft_err *err);
	/* Returns the least number of VCs that the routing needs in this graph.
	 * *why says what these VCs are for. */
	uint32_t (*vcs)(const struct net_graph *g, const char **why);
	/* Draws the decisions of a packet at its source, such as r->mid. The
	 * caller has set r->src, dest and coins. NULL if the routing draws
	 * none. */
	void (*inject)(const struct net_graph *g, struct net_route *r,
		       uint64_t random);
	/* Writes the choices of a packet that has arrived, and updates the
	 * packet's state. At the destination's router all choices lead to the
	 * destination. */
	void (*route)(const struct net_graph *g, uint32_t vcs,
		      struct net_arrival in, struct net_route *r,
		      struct net_choices *c);
	/* In phase 0 a packet travels to `mid`, or changes to phase 1 at an
	 * earlier router. In the search for circles, phase 0 has an end of
	 * router `mid` as destination. The way in phase 0 may therefore depend
	 * on `mid` or on the destination, but not on both. */
	bool phases;
	/* Choices of priority 0 are escape channels. A packet that has entered
	 * an escape channel only uses escape channels from then on. */
	bool escape;
	/* The routing draws one of several choices at each router. In the
	 * search for circles, route() only writes the choices of draw
	 * net_arrival.draw, or none if there are fewer draws. */
	bool draws;
	/* The choices depend on the destination's router, but neither on the
	 * end there nor on coins. */
	bool by_router;
	/* Follows the user's table, g->way. The search for circles takes the
	 * whole graph. */
	bool user;
	/* Advice if the search finds a circle. NULL: none. */
	const char *instead;
	/* Reads the loads of outputs. */
	bool looks;
	/* Uses net_graph.threshold when it compares the loads of two ways. */
	bool threshold;
	/* In rings, packets have the classes of net_graph.datelines. */
	bool datelines;
	/* Number of coins, at most 8, that decide about the way. Phase 0 uses
	 * coins 0, 1 .. and phase 1 uses as many coins from NET_DIMS on. The
	 * search for circles tries all their values. 0: one coin for each
	 * dimension, or none if the routing draws or is by_router. */
	uint8_t coins;
};
extern const struct net_routing *const net_routings[]; /* ended by NULL */
/* Returns the routing called `name` that fits topology t. If t is NULL or no
 * routing fits, returns a routing of that name for another topology. Returns
 * NULL if no routing has that name. */
const struct net_routing *net_routing_called(const char *name,
					     const struct net_topology *t);

/* Makes the tables of the routing, which the graph keeps. Checks that the
 * routing is for graphs of this topology, that there are enough VCs, and that
 * packets cannot wait for each other in a circle. For a graph with more than
 * 2^18 pairs of a router and an end, circles are searched in a smaller graph of
 * the same topology. Returns 0, or -EINVAL with a message that says what to
 * change, or names the circle. */
int net_routing_check(const struct net_routing *r, struct net_graph *g,
		      uint32_t vcs, struct weft_err *err);
/* Searches for a circle of channels in which packets wait. Packets use n ranges
 * of the VCs. Returns true and writes the circle to text if there is one. For a
 * graph with more than 2^18 pairs of a router and an end, a smaller graph of
 * the same topology is searched. */
bool net_routing_circle(const struct net_routing *r, const struct net_graph *g,
			uint32_t vcs, const struct net_range *range, uint32_t n,
			char *text, size_t size);
/* Searches like net_routing_circle(), but always in this graph
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
/* Adds an output with one half of the VCs first..last: the lower half for k =
 * 0, else the upper half. If their number is odd, the lower half has one VC
 * more. */
void net_choose_half(struct net_choices *c, uint32_t port, uint32_t first,
		     uint32_t last, uint32_t k);
/* Adds an output with class k, if `vcs` VCs are divided among n classes. */
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
/* Returns the load of VCs first..last of an output of a router. in.loads must
 * not be NULL. */
static inline uint32_t net_used(struct net_arrival in, uint32_t router,
				uint32_t port, uint32_t first, uint32_t last)
{
	return in.loads->used(in.loads->own, router, port, in.base + first,
			      in.base + last);
}
/* Returns true if output a of the present router has less load than output b,
 * over all `vcs` VCs. `coin` decides if the loads are equal, or if there are no
 * loads. */
bool net_emptier(struct net_arrival in, uint32_t vcs, uint32_t a, uint32_t b,
		 bool coin);
/* Returns true if the packet has arrived through the port of an end. */
static inline bool net_injected(const struct net_graph *g,
				struct net_arrival in)
{
	return net_graph_far(g, in.router, in.port)->end;
}

#endif
