/* SPDX-License-Identifier: Apache-2.0 */
/* A network port connects a functional unit, which has words of 64 bits, with
 * an internal port of the crossbar (extoll.md 5.6, 7.1: N3, N4). extoll.nic
 * embeds three network ports. Traffic components also embed them.
 *
 * Sending: packets of two classes (requests, responses) wait in a queue each.
 * Cells of both classes alternate, one at a time, as soon as the port has their
 * words and the crossbar has a slot. Receiving: ops.cell is called for each
 * good cell when its last word is assembled (N4). The unit returns the slots
 * when it has room. */
#ifndef SYSTEMS_EXTOLL_NETWORK_NETWORK_PORT_H
#define SYSTEMS_EXTOLL_NETWORK_NETWORK_PORT_H

#include "systems/extoll/network/cell_channel.h"

struct netport;

struct netport_cell { /* a received cell */
	/* Frame of the packet. With eop, the unit owns it from now on. */
	struct weft_frame *pkt;
	/* Offset and number of the cell's bytes in the packet. The first
	 * command word has offset 0, because routing flits do not count. */
	uint32_t first, bytes;
	bool sop, eop;
	uint8_t vc;
	uint8_t slot; /* for netport_release */
};

struct netport_ops {
	/* Called when a cell has arrived, in phase 1 of the cycle at which the
	 * unit sees the cell's last word. The unit must call netport_release()
	 * once for every cell, because the crossbar waits for the slot. */
	void (*cell)(void *own, struct netport *np,
		     const struct netport_cell *c);
	/* Called when the last cell of a packet of class cls has been sent. The
	 * queue then has room for another packet. May be NULL. */
	void (*sent)(void *own, struct netport *np, uint32_t cls,
		     uint64_t trace_id);
};

struct netport_pkt { /* a packet in the queue or being sent */
	struct weft_frame *f;
	uint64_t ready; /* cycle at which the first word is ready */
	uint32_t avail; /* payload bytes that may be sent, UINT32_MAX = all */
	uint32_t flit;	/* next flit to send */
	uint32_t flits; /* flits of the packet in all */
	struct netport_pkt *next;
};

struct netport_queue {
	struct netport_pkt *head, *tail;
	uint32_t n;
};

struct netport {
	struct cell_channel ep;
	const struct netport_ops *ops;
	void *own;
	uint32_t tag;
	uint64_t armed; /* cycle of the pending event, or WEFT_NEVER */
	struct netport_queue q[2];
	struct netport_pkt *free;
	uint32_t turn, depth;
	uint32_t t_rx; /* cycles of N4: 3 */
};

/* Sets up a network port. The owner forwards events with `tag` to
 * netport_event(). depth is the number of packets per class that netport_send()
 * accepts. Returns 0, or -EINVAL with a message. */
int netport_init(struct netport *np, struct weft_comp *c, struct weft_port *p,
		 const struct cell_channel_cfg *cfg, uint32_t depth,
		 const struct netport_ops *ops, void *own, uint32_t tag,
		 struct weft_err *err);
static inline int netport_start(struct netport *np, struct weft_err *err)
{
	return cell_channel_start(&np->ep, err);
}
void netport_fini(struct netport *np);
/* Frees packets that were not sent and cells that the unit has not received.
 * Called when the run has come to rest. */
void netport_abandon(struct netport *np);
/* Delivers and sends the cells that are due. */
void netport_event(struct netport *np);

/* Returns true if a packet of this class is accepted now. */
static inline bool netport_room(const struct netport *np, uint32_t cls)
{
	return np->q[cls].n < np->depth;
}
/* Queues packet f and takes ownership of it. The first word of f is ready at
 * `cycle` (>= now), and a further word in each later cycle, up to `avail` bytes
 * of payload (UINT32_MAX = all). Returns a handle for netport_more(). */
struct netport_pkt *netport_send(struct netport *np, struct weft_frame *f,
				 uint64_t cycle, uint32_t avail);
/* Sets the available payload to `avail` bytes from now on. The handle of
 * netport_send() is valid until all of the payload is available. */
void netport_more(struct netport *np, struct netport_pkt *p, uint32_t avail);
/* Returns the slot of a received cell to the crossbar. */
static inline void netport_release(struct netport *np, uint32_t slot,
				   uint64_t cycle)
{
	cell_channel_release(&np->ep, slot, cycle);
}

#endif
