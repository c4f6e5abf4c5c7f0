/* SPDX-License-Identifier: Apache-2.0 */
/* Class net.meter: a network of routers as a whole. It owns the graph and the
 * packets, carries out the cycles of all stations, and measures
 * (net/network_meter.h). It also owns the topology that NICs in front of
 * gateways see. */
#ifndef SYSTEMS_ROUTER_NETWORK_METER_H
#define SYSTEMS_ROUTER_NETWORK_METER_H

#include "net/packet_trace.h"
#include "net/routing_ranges.h"
#include "systems/router/network/lines.h"
#include "systems/router/network/use.h"
#include "systems/router/network/wheel.h"

struct router;

struct router_net {
	struct net_meter m;
	uint64_t watchdog; /* parameter */
	bool detail;	   /* parameter */
	struct router_use use;
	struct net_graph *graph;
	struct topology *topo; /* or NULL */
	struct weft_comp **router;
	uint32_t n_routers;
	uint32_t group; /* ends of a group (net_graph_group), set by the first
			 * call of router_net_group() */
	struct station **end; /* gateways by end, or NULL if there are none */
	struct packets packets;
	/* Free structs, for the choices of packets that wait for a VC. */
	struct {
		VEC(struct net_choices *);
	} choices;
	const struct router *shape; /* whose allocators others share */
	struct wheel wheel;
	struct station **station; /* by number in the wheel */
	/* Cycle of the next event; 0: a cycle is being carried out and steps
	 * ask for no event. */
	uint64_t event;
	struct net_ranges ranges; /* of VCs that packets of sources use */
	/* Packets of a trace or a collective operation, or NULL. `step`: cycle
	 * in which each step of the operation has ended. */
	struct trace *trace;
	uint64_t *step;
	const struct router_source
		*first_source; /* that has started, or NULL */
	/* Observer of packets that arrive, for tests; NULL: none. */
	void (*seen)(void *own, const struct packet *p, uint64_t cycle);
	void *own;
	uint64_t moved; /* flits moved and made at the watchdog's last run */
};

static inline struct packets *router_packets(struct weft_comp *net)
{
	return &((struct router_net *)net->state)->packets;
}

/* Adds a station, in the order of components. */
void router_net_join(struct station *s);

/* Brings the counters of all routers up to the cycles before `upto`. */
void router_net_count(const struct router_net *n, uint64_t upto);
/* Asks the kernel for an event in `cycle`, in which a station has a step. */
void router_net_event(struct station *s, uint64_t cycle);
/* Asks for a step in `cycle`, which is later than all cycles that the network
 * has begun. A step without need changes nothing. */
static inline void station_wake(struct station *s, uint64_t cycle)
{
	struct router_net *n = s->net->state;

	if (cycle == s->asked || !net_cycle_comes(&s->clock, cycle))
		return;
	s->asked = cycle;
	wheel_add(&n->wheel, cycle, s->id);
	if (cycle < n->event)
		router_net_event(s, cycle);
}

/* Sets the clock of the measurement to that of the routers. A source calls it,
 * because the source may start before the network. */
void router_net_clock(struct weft_comp *net);

/* Returns the number of ends of a group, or 0 if there are no groups. */
uint32_t router_net_group(struct weft_comp *net);
/* Notes a gateway, in its ops.start. */
void router_net_end(struct weft_comp *net, struct station *s);
/* router_net_sent() counts a packet that a gateway has made.
 * router_net_received() counts a packet whose last flit has arrived at a
 * gateway. The measurement ignores packets of gateways. */
void router_net_sent(struct weft_comp *net, const struct packet *p);
void router_net_received(struct weft_comp *net, const struct packet *p,
			 uint64_t cycle);

/* Adds VCs that a source uses: `range` for requests and `reply` for replies (n
 * = 0: no replies). Returns 0, or -EINVAL with a message if packets may wait
 * for each other in a circle. */
int router_net_range(struct weft_comp *net, struct net_range range,
		     struct net_range reply, struct weft_err *err);

extern const struct weft_class weft_class_net_meter;

#endif
