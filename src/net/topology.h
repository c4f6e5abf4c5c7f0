/* SPDX-License-Identifier: Apache-2.0 */
/* Routes of direct networks with a switch at every node. For a packet to node
 * d, the functions return the port by which it leaves the switch at node s, and
 * whether the cable of that port is a dateline. In regular networks (mesh,
 * torus, hypercube) the port is computed, in other networks it is in a table.
 *
 * The number of a node is x + X * (y + Y * (z ...)). The first ports of a
 * switch lead to its node, the next ports are links. With up to three
 * dimensions, link 2 * dimension leads in the positive direction and the next
 * link in the negative direction. With more dimensions, and in hypercubes, a
 * dimension of size 2 has one port only, and the ports of all dimensions are
 * numbered one after another. A dimension of size 2 has one cable, also in a
 * torus. It has two cables if `both` is true.
 *
 * Packets use dimension order. In a ring they take the shorter direction, and
 * enum topo_tie decides if both are equally long. If a cable in that direction
 * is cut, packets take the other direction. */
#ifndef NET_DIRECT_ROUTE_H
#define NET_DIRECT_ROUTE_H

#include "weft/types.h"

enum {
	TOPO_DIMS = 6,
	TOPO_CUTS = 256,
	TOPO_PORTS_MAX = 32,
	TOPO_NO_PORT = 0xff,
	TOPO_NODES_MAX = 65536,
};
#define TOPO_FAR_NONE UINT32_MAX

/* Rule that chooses the direction to a node half way round a ring. BALANCED
 * uses the parity of the coordinate, and RANDOM uses coins (random bits) of the
 * sender. Both divide the load between the two directions. */
enum topo_tie {
	TOPO_TIE_POSITIVE,
	TOPO_TIE_BALANCED,
	TOPO_TIE_RANDOM,
	TOPO_TIE_NEGATIVE
};

/* In a TOPO_HUB, the first link of each node leads to a network that routes
 * packets on its own. */
enum topo_kind { TOPO_GRID, TOPO_GRAPH, TOPO_HUB };

/* Ports of every switch: its first link port and its number of links. */
struct topo_ports {
	uint8_t first, links;
};

/* A cut cable. Before the cut it led from `node` in the positive direction of
 * `dim`. */
struct topo_cut {
	uint32_t node, dim;
};

struct topology {
	enum topo_kind kind;
	struct topo_ports ports;
	uint32_t nodes;
	uint32_t dims;		  /* grid */
	uint32_t size[TOPO_DIMS]; /* number of nodes along each dimension */
	/* difference of node numbers per step in each dimension */
	uint32_t stride[TOPO_DIMS];
	/* 2^32 / size of each dimension, to avoid divisions */
	uint64_t recip[TOPO_DIMS];
	uint32_t wrap;		     /* bit per dimension that is a ring */
	uint8_t port[TOPO_DIMS][2];  /* port of each dimension in the positive
				      * and the negative direction, or
				      * TOPO_NO_PORT */
	uint8_t dim[TOPO_PORTS_MAX]; /* dimension of each port, 0xff for none */
	bool path;     /* senders supply the whole route of a packet */
	bool dateline; /* the network needs the odd virtual channels */
	bool both;
	enum topo_tie tie;
	struct topo_cut cut[TOPO_CUTS]; /* grid */
	uint32_t n_cuts;
	/* graph: */
	uint8_t *table;	   /* ports, at [node * nodes + destination] */
	uint32_t *far;	   /* neighbours, at [node * links + port - first] */
	uint8_t *far_port; /* port of the same cable at the neighbour */
};

/* ---- routes ---- */

/* Returns the coordinate of a node in `dim`. The network must be a grid. */
static inline uint32_t topo_coord(const struct topology *t, uint32_t node,
				  uint32_t dim)
{
	return node / t->stride[dim] % t->size[dim];
}

/* Returns the link port at node s for destination d != s, or TOPO_NO_PORT. */
uint32_t topo_port(const struct topology *t, uint32_t s, uint32_t d);
/* Returns a port like topo_port(), but the packet's `coins` decide a
 * TOPO_TIE_RANDOM tie. */
uint32_t topo_way(const struct topology *t, uint32_t s, uint32_t d,
		  uint32_t coins);
/* Coordinates of one node. A crossbar stores the coordinates of its node, so
 * that routing a packet needs no divisions. */
struct topo_here {
	uint32_t node;
	uint16_t at[TOPO_DIMS];
};
void topo_here_init(struct topo_here *h, const struct topology *t,
		    uint32_t node);
/* Returns the port that topo_way() returns at the node of h. */
uint32_t topo_here_way(const struct topo_here *h, const struct topology *t,
		       uint32_t d, uint32_t coins);
static inline uint32_t topo_here_port(const struct topo_here *h,
				      const struct topology *t, uint32_t d)
{
	return topo_here_way(h, t, d, 0);
}

/* Returns the node at the far end of the cable at `port`, or TOPO_FAR_NONE. */
uint32_t topo_far(const struct topology *t, uint32_t s, uint32_t port);
/* Returns the port at the far end of a cable, which must exist. */
uint32_t topo_far_port(const struct topology *t, uint32_t s, uint32_t port);
/* Returns the mask of the ports of s whose cable is a dateline. */
uint32_t topo_datelines(const struct topology *t, uint32_t s);
/* Returns the dimension of a port, or 0xff. Callers need the dimension, because
 * a packet that changes to another dimension returns to the even channel. */
static inline uint32_t topo_dim(const struct topology *t, uint32_t port)
{
	return t->dim[port];
}
/* Returns the number of the last link port, plus 1. */
static inline uint32_t topo_ports_end(const struct topology *t)
{
	return (uint32_t)t->ports.first + t->ports.links;
}
/* Returns the index of a link port in far and far_port. */
static inline uint32_t topo_link(const struct topology *t, uint32_t node,
				 uint32_t port)
{
	return node * t->ports.links + port - t->ports.first;
}

/* Returns the number of hops from s to d, 0 if s == d, or UINT32_MAX if no
 * route exists. */
uint32_t topo_hops(const struct topology *t, uint32_t s, uint32_t d);
/* Returns one random bit for each dimension. Equal keys give equal bits. */
uint32_t topo_coins(uint64_t key);
/* Returns the coins of a pair of nodes. They depend on the pair only, because
 * packets of a pair must not overtake each other. */
static inline uint32_t topo_coins_pair(uint32_t s, uint32_t d)
{
	return topo_coins((uint64_t)s << 32 | d);
}
/* ---- construction ---- */

/* Make a grid of these sizes, or a hypercube. Return 0, or a negative errno
 * with a message. The caller calls topo_fini(). */
int topo_grid(struct topology *t, struct topo_ports ports, const uint32_t *size,
	      uint32_t dims, bool wrap, bool both, struct weft_err *err);
int topo_cube(struct topology *t, struct topo_ports ports, uint32_t dims,
	      struct weft_err *err);
/* Makes a hub with this number of nodes. Packets need no route from their
 * senders. */
void topo_hub(struct topology *t, struct topo_ports ports, uint32_t nodes);
/* Free tables and cables. topo_free() also frees t itself, which may be
 * NULL. */
void topo_fini(struct topology *t);
void topo_free(struct topology *t);

/* Removes the cable at this port. Returns false if the port has no cable, or if
 * a grid already has TOPO_CUTS cuts. */
bool topo_cut(struct topology *t, uint32_t node, uint32_t port);

#endif
