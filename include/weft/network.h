/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies and routings of fabric `routed` in a shared object:
 *
 *	static const struct weft_topology ring = {
 *		WEFT_NETWORK(struct weft_topology), .name = "own_ring", ..
 *	};
 *	WEFT_TOPOLOGIES(&ring);
 *	WEFT_ROUTINGS(&round);
 *
 * A graph consists of routers and ends. An end is a NIC or a traffic source,
 * which sends and receives packets. Weft checks the routing of a shared object:
 * a packet must reach its destination, and the channels that packets hold and
 * request must not form a cycle. */
#ifndef WEFT_NETWORK_H
#define WEFT_NETWORK_H

#include "weft/component.h"

WEFT_C_BEGIN

/* Graph of a network. Routers and ends are each numbered from 0 on. */
struct weft_graph;

/* Numbers that the experiment gives. */
struct weft_shape {
	uint32_t dims, size[8]; /* dims: [..] */
	uint32_t ends;		/* ends, or 0 */
};

/* Result of weft_graph_far(). */
struct weft_far {
	bool any; /* false: the port has no cable */
	bool end; /* the cable leads to an end, else to a router */
	uint32_t number, port;
};

struct weft_topology {
	uint32_t api_version, struct_size; /* WEFT_NETWORK */
	const char *name, *doc;
	const char *routing; /* when the experiment names none */
	/* Builds the graph of a shape: calls weft_graph_alloc() first, then
	 * weft_graph_join() and weft_graph_attach() for each cable. Returns 0,
	 * or a negative errno with a message that names possible shapes. */
	int (*build)(struct weft_graph *g, const struct weft_shape *s,
		     struct weft_err *err);
};

/* A packet that has arrived at a router. */
struct weft_hop {
	uint32_t router, port, vc;
	bool injected;	    /* the packet comes from an end, and vc has no
			     * meaning */
	uint32_t src, dest; /* ends */
	uint32_t coins;	    /* weft_routing.coins random bits, drawn for the
			     * packet */
	uint32_t vcs;	    /* of a port */
	void *own;	    /* of the program */
};

struct weft_routing {
	uint32_t api_version, struct_size; /* WEFT_NETWORK */
	const char *name, *doc;
	const char *const *topologies; /* names, ended by NULL */
	uint32_t vcs;		       /* VCs of a port that it needs */
	const char *why;	       /* their use */
	uint32_t coins;		       /* random bits that it reads, 0 to 8 */
	/* Chooses at least one output for a packet, by weft_choose(). The
	 * choices must depend on the hop and the graph only. */
	void (*route)(const struct weft_graph *g, struct weft_hop *h);
};

/* Initializes the first members of a topology or routing of type type_. */
#define WEFT_NETWORK(type_)                                                    \
	.api_version = WEFT_API_VERSION, .struct_size = sizeof(type_)

/* Each defines a list that a shared object given by --load exports. */
#define WEFT_TOPOLOGIES(...)                                                   \
	WEFT_C_BEGIN                                                           \
	extern const struct weft_topology *const weft_plugin_topologies[];     \
	WEFT_C_END                                                             \
	__attribute__((visibility("default")))                                 \
	const struct weft_topology *const weft_plugin_topologies[] = {         \
		__VA_ARGS__, NULL                                              \
	}
#define WEFT_ROUTINGS(...)                                                     \
	WEFT_C_BEGIN                                                           \
	extern const struct weft_routing *const weft_plugin_routings[];        \
	WEFT_C_END                                                             \
	__attribute__((visibility("default")))                                 \
	const struct weft_routing *const weft_plugin_routings[] = {            \
		__VA_ARGS__, NULL                                              \
	}

/* Allocates `routers` routers with `ports` ports each, and `ends` ends, all
 * without cables. Returns 0, or -EINVAL with a message: there are no routers,
 * no ends or too many of them, a router has too many ports, or the graph is
 * already allocated. */
int weft_graph_alloc(struct weft_graph *g, uint32_t routers, uint32_t ports,
		     uint32_t ends, struct weft_err *err);
/* Joins port p of router a and port q of router b by a cable. Returns 0, or
 * -EINVAL with a message: a router or port does not exist, a port already has a
 * cable, or a and b are one router. */
int weft_graph_join(struct weft_graph *g, uint32_t a, uint32_t p, uint32_t b,
		    uint32_t q, struct weft_err *err);
/* Attaches an end to port p of router r. Returns 0, or -EINVAL with a message:
 * the end, the router or the port does not exist, or the end or the port
 * already has a cable. */
int weft_graph_attach(struct weft_graph *g, uint32_t end, uint32_t r,
		      uint32_t p, struct weft_err *err);
/* Returns the number of routers. */
uint32_t weft_graph_routers(const struct weft_graph *g);
/* Returns size i of the experiment's dims, or 0 if dims has fewer sizes. */
uint32_t weft_graph_size(const struct weft_graph *g, uint32_t i);
/* Returns the far end of the cable at port p of router r. The router and the
 * port must exist. Without a cable, `any` of the result is false. */
struct weft_far weft_graph_far(const struct weft_graph *g, uint32_t r,
			       uint32_t p);
/* Returns the router and the port to which an end is attached. */
struct weft_far weft_graph_home(const struct weft_graph *g, uint32_t end);

/* Adds an output to the choices of a packet, with VCs first..last. Returns
 * false and adds nothing if the port has no cable, a VC does not exist, or the
 * packet already has 16 choices. */
bool weft_choose(struct weft_hop *h, uint32_t port, uint32_t first,
		 uint32_t last);

WEFT_C_END

#endif
