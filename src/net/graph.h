/* SPDX-License-Identifier: Apache-2.0 */
/* Graph of a network: routers, ends and the cables between their ports. A
 * router may have several ends, or none. Each topology has a generator that
 * builds its graph (net_topologies), in a source file of its own.
 *
 * A cable joins two ports and carries flits in both directions. Some networks
 * consist of stages that packets pass in one direction. There one direction of
 * each cable is unused, and an end has two ports: packets leave the end through
 * one and reach it through the other. */
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
	/* end: 1 = an end, 0 = a router; trunk: 1 = the cable leads to another
	 * group and may be longer */
	uint8_t end : 1, trunk : 1;
	uint8_t kind; /* 0: default latency, k: latency[k - 1] */
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
	uint32_t ends; /* of routers with ends; 0: topology's default */
	uint32_t ups, up[NET_DIMS]; /* ports that lead up, by level of a tree */
	/* number of cables between two routers, for each of the first `trunked`
	 * dimensions; 0: 1 */
	uint32_t trunked, trunking[NET_DIMS];
	uint32_t arrangement; /* of cables between groups (dragonfly.h) */
	/* latency, in cycles, of the cables above each level of a tree; 0: the
	 * default latency */
	uint32_t lengthy, length[NET_DIMS];
	uint64_t seed;
	/* List of cables, for topologies that take one. The caller owns the
	 * list. The graph does not keep the pointer. */
	const struct net_cables *cables;
};

struct net_graph;

/* Ports through which a packet may leave a router towards an end: any of first
 * .. first + n - 1. */
struct net_onward {
	uint32_t first, n;
	uint32_t level;	  /* of the router, from the ends on */
	uint32_t divisor; /* dest / divisor % n spreads the ends best */
};

/* A generator. */
struct net_topology {
	const char *name, *doc;
	/* Builds the graph of a shape whose keys have been checked. Returns 0,
	 * or -EINVAL with a message that names possible shapes. */
	int (*build)(struct net_graph *g, const struct net_shape *s,
		     struct weft_err *err);
	/* Makes the shape smaller. If a routing has a circle of channels in the
	 * larger graph, it has one in the smaller graph, too. Returns false if
	 * the shape stays as it is. */
	bool (*reduce)(struct net_shape *s);
	/* Name of the routing that the topology has by default. */
	const char *routing;
	/* If each router has one end, an end's number gives its coordinates in
	 * dims. */
	bool grid;
	/* The dimensions of the grid are rings. */
	bool rings;
	/* Cables are used in one direction, from stage to stage. */
	bool one_way;
	/* Keys of the shape that the topology takes, ended by NULL. Without
	 * this list the topology takes `dims` and `ends`. */
	const char *const *keys;
	/* Writes the ports through which packets for end `dest` may leave a
	 * router: one port down, or any port up. NULL in topologies in which
	 * some port up does not lead to `dest`. */
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

/* Loads that routings read. NET_LOADS_CREDITS counts flits behind an output.
 * NET_LOADS_QUEUES also counts flits that wait for the output in its router. */
enum { NET_LOADS_CREDITS, NET_LOADS_QUEUES };

/* Rules that give packets their class of VCs in a ring (route_grid.c). */
enum { NET_DATELINES_ONE, NET_DATELINES_BALANCED };

struct net_graph {
	const struct net_topology *type;
	const struct net_routing
		*routing;   /* of its packets, set by the fabric */
	uint32_t loads;	    /* enum, set by the fabric */
	uint32_t datelines; /* enum, set by the fabric */
	uint32_t threshold; /* in flits, for routings that compare the loads of
			     * two ways; set by the fabric */
	struct net_shape shape;
	uint32_t routers, ends;
	/* Ports of router r are port[first[r]] .. port[first[r + 1] - 1]. */
	uint32_t *first;
	struct net_far *port;
	/* By end. `out`: router and port that packets from the end enter. `in`:
	 * router and port from which packets reach the end. */
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
/* Returns the number of ends of a group if trunks divide the network into
 * groups, all groups have equally many ends, and the ends of a group have
 * consecutive numbers. Otherwise returns 0. */
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
/* Allocates `routers` routers and `ends` ends. Router r has ports[r] ports.
 * Returns 0, or -EINVAL with a message if these are too many. */
int net_graph_alloc_each(struct net_graph *g, uint64_t routers,
			 const uint32_t *ports, uint64_t ends,
			 struct weft_err *err);
/* Joins port p of router a and port q of router b. */
void net_graph_join(struct net_graph *g, uint32_t a, uint32_t p, uint32_t b,
		    uint32_t q);
/* Joins two ports by a trunk, a cable between groups. */
void net_graph_join_trunk(struct net_graph *g, uint32_t a, uint32_t p,
			  uint32_t b, uint32_t q);
/* Gives the cable at port p of router r a latency, for both directions. Returns
 * 0, or -EINVAL with a message if the graph has too many latencies. */
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
