/* SPDX-License-Identifier: Apache-2.0 */
/* Places of components in a direct network of EXTOLL crossbars, and routes
 * of its packets (extoll.md 4.5, 4.6).  Crossbars, NICs and traffic components
 * have a struct ex_place as the first member of their state and ex_stand as
 * their ops.place; the fabric calls it between init and start. */
#ifndef SYSTEMS_EXTOLL_NETWORK_PLACE_H
#define SYSTEMS_EXTOLL_NETWORK_PLACE_H

#include "net/topology.h"
#include "systems/extoll/network/wire.h"
#include "weft/sim.h"

/* Ports of a crossbar. */
#define EX_TOPO_PORTS ((struct topo_ports){ EX_INTERNAL, EX_LINKS })

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

/* Cells that wait in a crossbar, and for what; deadlock.c asks. */
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
	uint32_t node;
	const struct topology *topo; /* of `net`; NULL: in no network */
	struct weft_comp *net; /* class extoll.net: measurement, watchdog */
	const struct ex_waits *waits; /* crossbars */
};

static inline struct ex_place *ex_place(const struct weft_comp *c)
{
	return c->state;
}

int ex_stand(struct weft_comp *c, const struct weft_place *at,
	     struct weft_err *err);
/* The component's state begins with a struct ex_place. */
static inline bool ex_stands(const struct weft_comp *c)
{
	return c->cls->ops.place == ex_stand;
}

/* Parts of a network around classes of this system. */
extern const struct weft_network_parts ex_network_parts;

/* ---- routes ---- */

/* Channel on which a cell leaves through a link port: its class, the channel
 * and dimension it came with (0xff: from inside). */
static inline uint32_t ex_route_vc(const struct topology *t, uint32_t vc_in,
				   uint32_t dim_in, uint32_t port,
				   uint32_t datelines)
{
	uint32_t odd = dim_in == t->dim[port] ? vc_in & 1 : 0;

	return (vc_in & 2) | odd | (datelines >> port & 1);
}

/* The route of a packet from s to internal port `port` of d, as the topology
 * wants it (path or table): writes meta (pos, hops, dest, port, dim) and the
 * nibbles.  `coins` are for TOPO_TIE_RANDOM.  False: no way, or more than
 * EX_ROUTE_MAX nibbles. */
bool ex_route_make(const struct topology *t, uint32_t s, uint32_t d,
		   uint32_t port, uint32_t coins, struct weft_frame *f);

#endif
