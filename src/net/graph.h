/* SPDX-License-Identifier: Apache-2.0 */
/* Graph of a network: routers, ends and the cables between their ports. A
 * router may have several ends, or none. A generator for each topology builds
 * it (net_topologies), in a file of its own.
 *
 * A cable joins two ports and carries flits in both directions. In a network
 * whose stages are passed in one direction, one direction of each cable is
 * unused, and an end has a second port, at which its packets arrive. */
#ifndef NET_GRAPH_H
#define NET_GRAPH_H

#include "weft/types.h"

enum {
	NET_DIMS = 8,
	NET_PORTS_MAX = 128, /* of a router */
	NET_ROUTERS_MAX = 1 << 20,
};
#define NET_NOWHERE UINT32_MAX

/* Far end of a port. */
struct net_far {
	uint32_t at; /* number of the router or end; NET_NOWHERE: no cable */
	uint16_t port;
	/* 1: an end, 0: a router; 1: a cable between groups, which may be
	 * longer */
	uint8_t end : 1, trunk : 1;
	uint8_t kind; /* 0, or a cable of latency[kind - 1] of the graph */
};

/* Cables of a topology that is a list of them. */
struct net_cable {
	uint32_t a, b;	  /* routers, or router and end */
	uint32_t latency; /* in cycles; 0: as other cables */
	uint16_t width;	  /* cables side by side, at least 1 */
	bool end;	  /* b is an end */
};
struct net_cables {
	uint32_t n, routers, ends;
	struct net_cable *at; /* between routers in order of their ports */
};

/* Numbers that a generator takes from the experiment. */
struct net_shape {
	uint32_t dims, size[NET_DIMS];
	uint32_t ends; /* of each router that has ends; 0: as the topology
			* says */
	uint32_t ups, up[NET_DIMS]; /* ports that lead up, by level of a tree */
	/* cables between two routers in a dimension; 0: one */
	uint32_t trunked, trunking[NET_DIMS];
	uint32_t arrangement; /* of cables between groups (dragonfly.h) */
	/* cycles of the cables above each level of a tree; 0: as others */
	uint32_t lengthy, length[NET_DIMS];
	uint64_t seed;
	/* The caller's, of topologies that are lists. Not kept by the graph. */
	const struct net_cables *cables;
};

struct net_graph;

/* Ports of a router that lead on to an end: any of first .. first + n - 1. */
struct net_onward {
	uint32_t first, n;
	uint32_t level;	  /* of the router, from the ends on */
	uint32_t divisor; /* dest / divisor % n spreads the ends best */
};

/* A generator. */
struct net_topology {
	const char *name, *doc;
	/* Builds the graph of a checked shape. Returns 0, or -EINVAL with a
	 * message that says what would do. */
	int (*build)(struct net_graph *g, const struct net_shape *s,
		     struct weft_err *err);
	/* Makes the shape smaller, without losing a circle of channels that any
	 * routing has in it. Returns false if it is small already. */
	bool (*reduce)(struct net_shape *s);
	/* Routing that a network has when none is named. */
	const char *routing;
	/* With one end at each router, numbers of ends are coordinates in
	 * dims. */
	bool grid;
	/* Cables are used in one direction, from stage to stage. */
	bool one_way;
	/* Keys of the shape that it has, ended by NULL. NULL: dims, ends. */
	const char *const *keys;
	/* Writes the ports that lead on from a router to an end, in topologies
	 * in which any way up leads to it. NULL: others. */
	void (*onward)(const struct net_graph *g, uint32_t router,
		       uint32_t dest, struct net_onward *o);
};
extern const struct net_topology *const net_topologies[]; /* ended by NULL */
/* Returns the topology of that name, or NULL. */
const struct net_topology *net_topology_called(const char *name);

/* A way in a table of the user. */
struct net_way {
	uint16_t port;	     /* NET_WAY_NONE: none */
	uint8_t first, last; /* VCs; NET_WAY_ALL: all */
};
enum { NET_WAY_NONE = UINT16_MAX, NET_WAY_ALL = UINT8_MAX };

/* Loads that routings read: flits behind an output, or those and the ones that
 * wait for it in its router. */
enum { NET_LOADS_CREDITS, NET_LOADS_QUEUES };

struct net_graph {
	const struct net_topology *type;
	const struct net_routing
		*routing;   /* of its packets, set by the fabric */
	uint32_t loads;	    /* enum, set by the fabric */
	uint32_t threshold; /* of a routing that compares loads of two ways, in
			     * flits, set by the fabric */
	struct net_shape shape;
	uint32_t routers, ends;
	/* Ports of router r are port[first[r]] .. port[first[r + 1] - 1]. */
	uint32_t *first;
	struct net_far *port;
	/* Routers and ports at which the packets of an end leave it and reach
	 * it. */
	struct net_far *out, *in;
	/* Cycles of cables of kind 1, 2 .. */
	uint32_t kinds, *latency;
	struct net_way *way; /* of the user, by router * ends + end, or NULL */
	struct net_table *table; /* of the routing, made by its prepare() */
};

/* Builds the graph of a topology, which net_graph_fini() frees. Returns 0, or a
 * negative errno with a message: a shape that does not fit, or a graph that is
 * not connected. */
int net_graph_init(struct net_graph *g, const struct net_topology *type,
		   const struct net_shape *shape, struct weft_err *err);
void net_graph_fini(struct net_graph *g);
/* Returns the number of ends of a group, if trunks divide the network into
 * groups of equally many ends with numbers one after another, or 0. */
uint32_t net_graph_group(const struct net_graph *g);

static inline uint32_t net_graph_ports(const struct net_graph *g, uint32_t r)
{
	return g->first[r + 1] - g->first[r];
}
static inline const struct net_far *net_graph_far(const struct net_graph *g,
						  uint32_t r, uint32_t port)
{
	return &g->port[g->first[r] + port];
}

/* ---- for generators ---- */

/* Allocates `routers` routers with `ports` ports each, and `ends` ends. Returns
 * 0, or -EINVAL with a message if these are too many. */
int net_graph_alloc(struct net_graph *g, uint64_t routers, uint64_t ports,
		    uint64_t ends, struct weft_err *err);
/* Allocates routers, of which router r has ports[r] ports, and ends. Returns as
 * net_graph_alloc() does. */
int net_graph_alloc_each(struct net_graph *g, uint64_t routers,
			 const uint32_t *ports, uint64_t ends,
			 struct weft_err *err);
/* Joins port p of router a and port q of router b. */
void net_graph_join(struct net_graph *g, uint32_t a, uint32_t p, uint32_t b,
		    uint32_t q);
/* Joins two ports by a trunk, a cable between groups. */
void net_graph_join_trunk(struct net_graph *g, uint32_t a, uint32_t p,
			  uint32_t b, uint32_t q);
/* Gives cables at port p of router r a latency in both directions. Returns 0,
 * or -EINVAL with a message if the graph has too many latencies. */
int net_graph_latency(struct net_graph *g, uint32_t r, uint32_t p,
		      uint32_t cycles, struct weft_err *err);
/* Attaches an end to port p of router r, at which its packets leave and
 * arrive. */
void net_graph_attach(struct net_graph *g, uint32_t end, uint32_t r,
		      uint32_t p);
/* Attaches an end to two ports: packets leave it into port p of router r, and
 * reach it from port q of router s. */
void net_graph_attach_two(struct net_graph *g, uint32_t end, uint32_t r,
			  uint32_t p, uint32_t s, uint32_t q);

#endif
