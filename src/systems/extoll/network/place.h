/* SPDX-License-Identifier: Apache-2.0 */
/* Places of components in a direct network of EXTOLL crossbars, and routes of
 * its packets (extoll.md 4.5, 4.6). A place is a node number, the topology and
 * the component extoll.net. The state of crossbars, NICs and traffic components
 * starts with a struct ex_place. The fabric sets the place by their ops.place,
 * which is ex_stand(), between init and start. */
#ifndef SYSTEMS_EXTOLL_NETWORK_PLACE_H
#define SYSTEMS_EXTOLL_NETWORK_PLACE_H

#include "net/topology.h"
#include "systems/extoll/network/wire.h"
#include "weft/sim.h"

/* Ports of a crossbar. */
#define EX_TOPO_PORTS ((struct topo_ports){ EX_INTERNAL, EX_LINKS })

#define EX_UNLOCKED UINT32_MAX
struct ex_wait {	  /* a cell that waits at an input */
	uint32_t out, vc; /* output and outgoing VC of the cell */
	uint64_t since;	  /* cycle of the cell's arrival */
	/* input * EX_VCS + VC of another packet that holds the outgoing VC, or
	 * EX_UNLOCKED */
	uint32_t lock;
	/* The cell may not request yet: its packet is neither whole nor the
	 * first of its VC. */
	bool early;
	bool room; /* a slot for the cell is free behind the output */
	/* Mask of VCs that use slots of the pool behind the output. */
	uint8_t pool;
};

/* Operations by which deadlock.c finds the cells that wait in a crossbar. */
struct ex_waits {
	/* Stores in w the first cells of the queues of an input VC, by output.
	 * Returns the number of these cells. */
	uint32_t (*heads)(struct weft_comp *c, uint32_t in, uint32_t vc,
			  struct ex_wait w[EX_PORTS]);
	/* Returns true if cells are in flight to the input VC, or may still be
	 * sent to it. */
	bool (*comes)(struct weft_comp *c, uint32_t in, uint32_t vc);
	/* Returns the packet that holds VC vc of output `out`, in the form of
	 * ex_wait.lock. */
	uint32_t (*lock)(struct weft_comp *c, uint32_t out, uint32_t vc);
};

struct ex_place {
	uint32_t node;
	/* topology of `net`; NULL: not in a network */
	const struct topology *topo;
	struct weft_comp *net;	      /* extoll.net: measurement, watchdog */
	const struct ex_waits *waits; /* operations of a crossbar, else NULL */
};

static inline struct ex_place *ex_place(const struct weft_comp *c)
{
	return c->state;
}

/* ops.place: stores the place. Always returns 0. */
int ex_stand(struct weft_comp *c, const struct weft_place *at,
	     struct weft_err *err);
/* Returns true if the state of c starts with a struct ex_place. */
static inline bool ex_stands(const struct weft_comp *c)
{
	return c->cls->ops.place == ex_stand;
}

/* Classes from which the fabric builds a network of this system. */
extern const struct weft_network_parts ex_network_parts;

/* ---- routes ---- */

/* Returns the VC on which a cell leaves through a link port. vc_in is the VC on
 * which the cell arrived, dim_in the dimension of the link (0xff: it arrived at
 * an internal port). */
static inline uint32_t ex_route_vc(const struct topology *t, uint32_t vc_in,
				   uint32_t dim_in, uint32_t port,
				   uint32_t datelines)
{
	uint32_t odd = dim_in == t->dim[port] ? vc_in & 1 : 0;

	return (vc_in & 2) | odd | (datelines >> port & 1);
}

/* Writes the route of a packet from node s to internal port `port` of node d
 * into meta (pos, hops, dest, port) and nibbles. A topology without paths uses
 * table routing, and then no nibble is written. netport_send() writes the field
 * `dim` of meta. `coins` are random bits for TOPO_TIE_RANDOM. Returns false if
 * no route exists, or if the route has more than EX_ROUTE_MAX nibbles. */
bool ex_route_make(const struct topology *t, uint32_t s, uint32_t d,
		   uint32_t port, uint32_t coins, struct weft_frame *f);

#endif
