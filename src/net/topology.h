/* SPDX-License-Identifier: Apache-2.0 */
/* Direct networks, a switch at every node: which port of the switch at node s
 * a packet takes for destination d, and whether that cable is a dateline.
 * Arithmetic where the network is regular (mesh, torus, hypercube), a table
 * where it is not.
 *
 * Numbers: node = x + X * (y + Y * (z ...)).  Ports of a switch: those to its
 * node first, then the links.  Up to three dimensions: link 2 * dimension is
 * the positive direction, the next one the negative; with more dimensions, and
 * in hypercubes, a dimension of size 2 has one port only, and ports are given
 * out in order.  A dimension of size 2 has one cable, also
 * in a torus, unless `both` says that there are two.
 *
 * Dimension order, the shorter way round, a tie as enum topo_tie says.  Where
 * the way is cut (cables that do not exist) the packet goes the other way
 * round. */
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

/* Half way round: to the positive side; by the parity of the coordinate;
 * by coins the sender throws; to the negative side. */
enum topo_tie {
	TOPO_TIE_POSITIVE,
	TOPO_TIE_BALANCED,
	TOPO_TIE_RANDOM,
	TOPO_TIE_NEGATIVE
};

enum topo_kind { TOPO_GRID, TOPO_GRAPH };

/* Of every switch: its first link port, and how many links it has. */
struct topo_ports {
	uint8_t first, links;
};

/* A cable that does not exist: it would leave `node` in the positive direction
 * of `dim`. */
struct topo_cut {
	uint32_t node, dim;
};

struct topology {
	enum topo_kind kind;
	struct topo_ports ports;
	uint32_t nodes;
	uint32_t dims;		     /* grid */
	uint32_t size[TOPO_DIMS];    /* of each dimension */
	uint32_t stride[TOPO_DIMS];  /* node number per step */
	uint64_t recip[TOPO_DIMS];   /* 2^32 / size, rounded up */
	uint32_t wrap;		     /* mask: the dimension is a ring */
	uint8_t port[TOPO_DIMS][2];  /* positive, negative; TOPO_NO_PORT */
	uint8_t dim[TOPO_PORTS_MAX]; /* of a port; 0xff */
	bool path;		     /* senders give the whole route */
	bool dateline;		     /* the odd channels are used */
	bool both;
	enum topo_tie tie;
	struct topo_cut cut[TOPO_CUTS]; /* grid */
	uint32_t n_cuts;
	/* graph: */
	uint8_t *table;	   /* port by [node * nodes + destination] */
	uint32_t *far;	   /* neighbour by [node * links + port - first] */
	uint8_t *far_port; /* and its port there */
};

/* ---- routes ---- */

static inline uint32_t topo_coord(const struct topology *t, uint32_t node,
				  uint32_t dim)
{
	return node / t->stride[dim] % t->size[dim];
}

/* Link port at node s for destination d != s, or TOPO_NO_PORT. */
uint32_t topo_port(const struct topology *t, uint32_t s, uint32_t d);
/* With TOPO_TIE_RANDOM, for a packet with these coins. */
uint32_t topo_way(const struct topology *t, uint32_t s, uint32_t d,
		  uint32_t coins);
/* The same with the nodes' coordinates at hand: what a crossbar keeps of
 * itself, so that nothing is divided for its own place. */
struct topo_here {
	uint32_t node;
	uint16_t at[TOPO_DIMS];
};
void topo_here_init(struct topo_here *h, const struct topology *t,
		    uint32_t node);
uint32_t topo_here_way(const struct topo_here *h, const struct topology *t,
		       uint32_t d, uint32_t coins);
static inline uint32_t topo_here_port(const struct topo_here *h,
				      const struct topology *t, uint32_t d)
{
	return topo_here_way(h, t, d, 0);
}

/* Node at the other end of the cable at `port`, or TOPO_FAR_NONE. */
uint32_t topo_far(const struct topology *t, uint32_t s, uint32_t port);
/* Port at the other end; there is a cable. */
uint32_t topo_far_port(const struct topology *t, uint32_t s, uint32_t port);
/* Mask of ports of s whose cables are datelines. */
uint32_t topo_datelines(const struct topology *t, uint32_t s);
/* Dimension of a port, for the change to the even channel; 0xff = none. */
static inline uint32_t topo_dim(const struct topology *t, uint32_t port)
{
	return t->dim[port];
}
/* Ports behind the last link port. */
static inline uint32_t topo_ports_end(const struct topology *t)
{
	return (uint32_t)t->ports.first + t->ports.links;
}
/* Entry of a link port in far and far_port. */
static inline uint32_t topo_link(const struct topology *t, uint32_t node,
				 uint32_t port)
{
	return node * t->ports.links + port - t->ports.first;
}

/* Hops from s to d, 0 when they are the same, UINT32_MAX when there is no
 * way. */
uint32_t topo_hops(const struct topology *t, uint32_t s, uint32_t d);
/* A coin for each dimension: equal keys, equal coins. */
uint32_t topo_coins(uint64_t key);
/* Those of a pair of nodes, whose packets must not overtake each other. */
static inline uint32_t topo_coins_pair(uint32_t s, uint32_t d)
{
	return topo_coins((uint64_t)s << 32 | d);
}
/* ---- making them ---- */

/* Grid of these sizes; 0, or a negative errno with a message. */
int topo_grid(struct topology *t, struct topo_ports ports, const uint32_t *size,
	      uint32_t dims, bool wrap, bool both, struct weft_err *err);
int topo_cube(struct topology *t, struct topo_ports ports, uint32_t dims,
	      struct weft_err *err);
/* Frees tables and cables; topo_free also frees t itself, which may be NULL. */
void topo_fini(struct topology *t);
void topo_free(struct topology *t);

/* Takes the cable away; false: there is none. */
bool topo_cut(struct topology *t, uint32_t node, uint32_t port);

#endif
