/* SPDX-License-Identifier: Apache-2.0 */
/* Routes in direct networks of crossbars with up to six links (extoll.md 4.5,
 * 4.6): which output a packet takes at node s for destination d, and whether
 * that cable is a dateline.  Arithmetic where the network is regular (mesh,
 * torus, hypercube), a table where it is not.
 *
 * Numbers: node = x + X * (y + Y * (z ...)).  Up to three dimensions: port
 * 3 + 2 * dimension is the positive direction, the next one the negative; with
 * more dimensions, and in hypercubes, a dimension of size 2 has one port only,
 * and ports are given out in order.  A dimension of size 2 has one cable, also
 * in a torus, unless `both` says that there are two.
 *
 * Dimension order, the shorter way round, a tie as enum ex_tie says.  Where the
 * way is cut (cables that do not exist) the packet goes the other way round. */
#ifndef NET_DIRECT_ROUTE_H
#define NET_DIRECT_ROUTE_H

#include "systems/extoll/network/wire.h"
#include "weft/sim.h"

enum { EX_DIMS = 6, EX_CUTS = 256, EX_NO_PORT = 0xff, EX_NODES_MAX = 65536 };
#define EX_FAR_NONE UINT32_MAX

/* Half way round: to the positive side (4.5); by the parity of the coordinate;
 * by coins the sender throws; to the negative side. */
enum ex_tie {
	EX_TIE_POSITIVE,
	EX_TIE_BALANCED,
	EX_TIE_RANDOM,
	EX_TIE_NEGATIVE
};

enum ex_topo_kind { EX_TOPO_GRID, EX_TOPO_GRAPH };

/* A cable that does not exist: it would leave `node` in the positive direction
 * of `dim`. */
struct ex_cut {
	uint32_t node, dim;
};

struct ex_topo {
	enum ex_topo_kind kind;
	uint32_t nodes;
	uint32_t dims;		  /* grid */
	uint32_t size[EX_DIMS];	  /* of each dimension */
	uint32_t stride[EX_DIMS]; /* node number per step */
	uint64_t recip[EX_DIMS];  /* 2^32 / size, rounded up */
	uint32_t wrap;		  /* mask: the dimension is a ring */
	uint8_t port[EX_DIMS][2]; /* positive, negative; EX_NO_PORT */
	uint8_t dim[EX_PORTS];	  /* of a port; 0xff */
	bool path;		  /* senders give the whole route */
	bool dateline;		  /* the odd channels are used */
	bool both;
	enum ex_tie tie;
	struct ex_cut cut[EX_CUTS]; /* grid */
	uint32_t n_cuts;
	/* graph: */
	uint8_t *table;	   /* port by [node * nodes + destination] */
	uint32_t *far;	   /* neighbour by [node * EX_LINKS + port - 3] */
	uint8_t *far_port; /* and its port there */
};

/* The first member of the state of every class that stands in such a network
 * (crossbars, NICs, traffic components); ops.init sets `magic`, the fabric the
 * rest, between init and start.  topo == NULL: nobody has told.  It belongs to
 * the component `net`. */
enum { EX_PLACE_MAGIC = 0x45580001 };

#define EX_UNLOCKED UINT32_MAX
struct ex_wait {	  /* a cell that waits at an input */
	uint32_t out, vc; /* for this output, to leave on this channel */
	uint64_t since;	  /* cycle since which it is here */
	uint32_t lock;	  /* input * EX_VCS + VC whose packet holds that
			   * channel, EX_UNLOCKED: none but its own */
	bool early;	  /* it asks when its packet is whole, or the first */
	bool room;	  /* behind the output there is a slot for it */
	uint8_t pool;	  /* channels that have slots of the pool there */
};

/* Cells that wait in a crossbar, and for what;
 * systems/extoll/network/deadlock.c.
 */
struct ex_waits {
	/* The first cells of all queues of an input channel, by output. */
	uint32_t (*heads)(struct weft_comp *c, uint32_t in, uint32_t vc,
			  struct ex_wait w[EX_PORTS]);
	/* Cells are on their way there, or may be sent. */
	bool (*comes)(struct weft_comp *c, uint32_t in, uint32_t vc);
	/* The packet that holds this channel of an output, as in ex_wait. */
	uint32_t (*lock)(struct weft_comp *c, uint32_t out, uint32_t vc);
};

struct ex_place {
	uint32_t magic;
	uint32_t node;
	const struct ex_topo *topo;
	struct weft_comp *net; /* class extoll.net: measurement, watchdog */
	const struct ex_waits *waits; /* crossbars */
};

static inline struct ex_place *ex_place(const struct weft_comp *c)
{
	return c->state;
}

/* ---- routes ---- */

static inline uint32_t ex_coord(const struct ex_topo *t, uint32_t node,
				uint32_t dim)
{
	return node / t->stride[dim] % t->size[dim];
}

/* Output at node s for destination d != s: 3..8, or EX_NO_PORT. */
uint32_t ex_topo_port(const struct ex_topo *t, uint32_t s, uint32_t d);
/* With EX_TIE_RANDOM, for a packet with these coins. */
uint32_t ex_topo_way(const struct ex_topo *t, uint32_t s, uint32_t d,
		     uint32_t coins);
/* The same with the nodes' coordinates at hand: what a crossbar keeps of
 * itself, so that nothing is divided for its own place. */
struct ex_here {
	uint32_t node;
	uint16_t at[EX_DIMS];
};
void ex_here_init(struct ex_here *h, const struct ex_topo *t, uint32_t node);
uint32_t ex_here_port(const struct ex_here *h, const struct ex_topo *t,
		      uint32_t d);

/* Node at the other end of the cable at `port`, or EX_FAR_NONE. */
uint32_t ex_topo_far(const struct ex_topo *t, uint32_t s, uint32_t port);
/* Port at the other end; there is a cable. */
uint32_t ex_topo_far_port(const struct ex_topo *t, uint32_t s, uint32_t port);
/* Mask of ports of s whose cables are datelines (4.6). */
uint32_t ex_topo_datelines(const struct ex_topo *t, uint32_t s);
/* Dimension of a port, for the change to the even channel; 0xff = none. */
static inline uint32_t ex_topo_dim(const struct ex_topo *t, uint32_t port)
{
	return t->dim[port];
}
/* Channel on which a cell leaves through a link port: its class, the channel
 * and dimension it came with (0xff: from inside). */
static inline uint32_t ex_topo_vc(const struct ex_topo *t, uint32_t vc_in,
				  uint32_t dim_in, uint32_t port,
				  uint32_t datelines)
{
	uint32_t odd = dim_in == t->dim[port] ? vc_in & 1 : 0;

	return (vc_in & 2) | odd | (datelines >> port & 1);
}

/* Hops from s to d, 0 when they are the same, UINT32_MAX when there is no
 * way. */
uint32_t ex_topo_hops(const struct ex_topo *t, uint32_t s, uint32_t d);
/* A coin for each dimension: equal keys, equal coins. */
uint32_t ex_coins(uint64_t key);
/* Those of a pair of nodes, whose packets must not overtake each other. */
static inline uint32_t ex_coins_pair(uint32_t s, uint32_t d)
{
	return ex_coins((uint64_t)s << 32 | d);
}
/* The route of a packet from s to internal port `port` of d, as the topology
 * wants it (path or table): writes meta (pos, hops, dest, port, dim) and the
 * nibbles.  `coins` are for EX_TIE_RANDOM.  False: no way, or more than
 * EX_ROUTE_MAX nibbles. */
bool ex_topo_route(const struct ex_topo *t, uint32_t s, uint32_t d,
		   uint32_t port, uint32_t coins, struct weft_frame *f);

/* ---- making them ---- */

/* Grid of these sizes; 0, or a negative errno with a message. */
int ex_topo_grid(struct ex_topo *t, const uint32_t *size, uint32_t dims,
		 bool wrap, bool both, struct weft_err *err);
int ex_topo_cube(struct ex_topo *t, uint32_t dims, struct weft_err *err);
void ex_topo_fini(struct ex_topo *t);

/* Takes the cable away; false: there is none. */
bool ex_topo_cut(struct ex_topo *t, uint32_t node, uint32_t port);

#endif
