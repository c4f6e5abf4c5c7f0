/* SPDX-License-Identifier: Apache-2.0 */
/* Packets, and the lines between the ports of routers and ends.
 *
 * Flits are not objects. A packet is a record, and a line carries runs. A run
 * is a number of flits of one packet on one virtual channel (VC), one flit in
 * each cycle. In the other direction a line carries runs of credits. A sender
 * adds runs to the line ahead of time, for the flits that will leave if nothing
 * interferes. If something interferes, the sender makes the run shorter. If
 * more flits will leave, it makes the run longer. The part of a run that has
 * arrived never changes, because each flit takes at least two cycles.
 *
 * A sender adds runs and credits to the line of the receiver, with the cycle
 * of their arrival, and requests a step of the receiver in this cycle. All
 * routers and ends have one clock. The kernel runs an event of the network in
 * each cycle in which a router or an end has a step.
 *
 *   cycle t: leaves the router or end       t + 1 + latency: is at the far end
 */
#ifndef SYSTEMS_ROUTER_NETWORK_LINES_H
#define SYSTEMS_ROUTER_NETWORK_LINES_H

#include "base/ring.h"
#include "net/network_meter.h"
#include "net/routing.h"

#define ROUTER_NEVER UINT64_MAX

/* A packet in the network. */
struct packet {
	struct net_route route;
	struct net_range range; /* VCs of its class */
	uint8_t kind;		/* enum packet_kind of the sources */
	uint8_t rank;		/* the higher goes first, if routers look */
	struct net_packet measured;
	/* In a reply, the cycle of its request. In a packet of a trace, its
	 * number. */
	uint64_t tag;
	uint32_t flits;
	uint32_t next; /* in the list of free ones */
	void *cargo;   /* content, which belongs to the ends; NULL: none */
};

/* The packets of a network, which its net.meter owns. */
struct packets {
	struct packet *at;
	uint32_t n, free; /* free: head of the list, or UINT32_MAX */
	uint32_t live;
};

/* Returns a new packet. Pointers to packets are valid until the next call. */
uint32_t packet_new(struct packets *p);
void packet_free(struct packets *p, uint32_t i);

struct flit_run {
	uint64_t cycle; /* arrival of the first flit */
	uint32_t packet;
	uint16_t n, taken; /* flits, and those that the receiver has taken */
	uint8_t vc;
	bool head; /* the first flit is the packet's head */
};

struct credit_run {
	uint64_t cycle;
	uint16_t n, taken;
	uint8_t vc;
};

struct station;

/* A port. */
struct line {
	struct {
		RING(struct flit_run);
	} in; /* flits on their way to this port */
	struct {
		RING(struct credit_run);
	} back; /* credits on their way to it */
	struct station *far;
	uint32_t far_port;
	uint32_t latency;
	/* Sets of VCs, as bits. `wants`: VCs that wait for a credit. `relies`:
	 * VCs with flits sent ahead of time that rely on credits in flight. */
	uint32_t wants, relies;
};

enum router_flow {
	ROUTER_WORMHOLE,    /* a flit needs a free place */
	ROUTER_CUT_THROUGH, /* a packet needs places for all its flits */
	ROUTER_STORE,	    /* and begins when it has arrived */
};

/* Counters of routers of all classes. */
enum {
	ROUTER_FLITS,
	ROUTER_PACKETS,
	ROUTER_N_COUNTERS,
};

/* VC of the next router's queue. */
struct out_vc {
	uint16_t credits, places;
	bool taken;	/* by a packet */
	bool tail_sent; /* and its last flit has left */
};

/* Properties of a router that other stations of the network read. */
struct router_face {
	uint32_t vcs, places; /* VCs of a port, and places of each */
	uint32_t flow;	      /* enum router_flow */
	bool wait_for_tail;   /* a VC is free when its packet has left */
	bool hold;	      /* packets are kept together */
	/* Largest number of cycles in which a busy router moves no flit, not
	 * counting the latency of its cables. */
	uint64_t silence;
	/* Counts the flits of all cycles before `upto`. NULL if the router
	 * counts each flit when it leaves. */
	void (*count)(struct station *s, uint64_t upto);
};

/* First member of the state of routers and ends. */
struct station {
	/* Carries out a cycle. */
	void (*step)(struct station *s, uint64_t now);
	uint32_t id; /* in the wheel of the network */
	struct weft_comp *comp;
	struct line *line; /* by port */
	/* Ports with runs of flits in flight, and ports with credits in flight.
	 */
	uint64_t flits[NET_PORTS_MAX / 64], credits[NET_PORTS_MAX / 64];
	uint64_t asked; /* cycle that was asked for last */
	/* Ports at which flits or credits sent ahead of time were taken back.
	 */
	uint64_t cuts[NET_PORTS_MAX / 64];
	bool hungry; /* any credit wakes the station */
	bool end;
	struct router_face face; /* of a router */
	uint32_t credit_delay;	 /* cycles a credit takes inside the station */
	uint32_t defer;		 /* cycles from a head's arrival to its step */
	struct weft_clock clock;
	/* The network: its component, its graph, and its packets. */
	struct weft_comp *net;
	const struct net_graph *graph;
	uint32_t number; /* of the router or end in the graph */
	struct packets *packets;
};

static inline uint64_t station_now(const struct station *s)
{
	return weft_clock_cycle(&s->clock, weft_now(s->comp));
}
/* Returns the cycle in which the next flit arrives, or the next flit or credit
 * if `credits`. Returns ROUTER_NEVER if none is in flight. */
uint64_t station_arrival(const struct station *s, bool credits);

/* Sends a run that leaves port p from cycle `t` on. If the run continues the
 * last run, the last run becomes longer. */
void station_send(struct station *s, uint32_t p, uint64_t t,
		  struct flit_run run);
/* Takes back the last n flits of the last run, which have not left. */
void station_send_cut(struct station *s, uint32_t p, uint32_t n);
/* Sends n credits back, for flits that leave the queue of port p from cycle `t`
 * on. */
void station_credit(struct station *s, uint32_t p, uint64_t t, uint32_t vc,
		    uint32_t n);
void station_credit_cut(struct station *s, uint32_t p, uint32_t n);

/* Adds n credits to a line, which arrive from `cycle` on. Returns true if they
 * are a new run, false if they make the last run longer. */
bool line_credits_add(struct line *l, uint64_t cycle, uint32_t vc, uint32_t n);
/* Takes back the last n credits. Returns the cycle in which the first of them
 * would have arrived. */
uint64_t line_credits_cut(struct line *l, uint32_t n);
/* Takes the credits of the first run that have arrived by `now`. Returns their
 * number, which may be 0, and their VC in *vc_p. */
static inline uint32_t line_credits_take(struct line *l, uint64_t now,
					 uint32_t *vc_p)
{
	struct credit_run *c = ring_first(&l->back);
	uint64_t n;

	if (!c || c->cycle + c->taken > now)
		return 0;
	n = now - c->cycle + 1;
	n = (n < c->n ? n : c->n) - c->taken;
	*vc_p = c->vc;
	c->taken += (uint16_t)n;
	if (c->taken == c->n)
		ring_pop(&l->back);
	return (uint32_t)n;
}

/* Sets the credits of a router's output VCs to the places of the queues at the
 * other ends of its lines. Checks that the next router has the same clock,
 * number of VCs and flow control, and places for each packet that this router
 * accepts. Returns 0, or -EINVAL with a message. */
int station_outputs(const struct station *s, struct out_vc *out,
		    struct weft_err *err);

/* ops.place of routers and ends. Returns 0. */
int station_place(struct weft_comp *c, const struct weft_place *at,
		  struct weft_err *err);
/* Joins the lines of all ports by their cables, in ops.start. Returns 0, or
 * -EINVAL with a message. */
int station_start(struct station *s, struct weft_err *err);
void station_fini(struct station *s);

extern const struct weft_wire router_wire;
extern const struct weft_class weft_class_net_channel;

/* State of net.channel. */
struct net_channel {
	struct weft_link_state head;
	uint32_t latency;
	struct weft_clock clock;
};

#endif
