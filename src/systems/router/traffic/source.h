/* SPDX-License-Identifier: Apache-2.0 */
/* State of net.source (source.c). */
#ifndef SYSTEMS_ROUTER_TRAFFIC_SOURCE_H
#define SYSTEMS_ROUTER_TRAFFIC_SOURCE_H

#include "net/network_source.h"
#include "systems/router/network/router.h"

enum { SOURCE_SENT, SOURCE_RECEIVED, SOURCE_BACKLOG, SOURCE_N_COUNTERS };

struct router_source {
	struct station s;
	union {
		struct {
			NET_SOURCE_FIELDS;
		};
		struct net_source own;
	};
	/* parameters: */
	uint32_t flits, flits_max;
	char sizes[48], digits[32];
	/* the router behind the port, and its queues: */
	const struct router *router;
	struct out_vc *vc;
	uint32_t last_vc; /* of the last packet, or ARBITER_NONE */
	uint32_t packet;  /* that is being sent, or ARBITER_NONE */
	uint32_t sent;	  /* flits of it */
	uint64_t free;	  /* cycle from which the next flit may leave */
	uint64_t last_sent;
	/* Decisions of the routing. They have a stream of their own, because
	 * the backlog is found by drawing packets from a copy of the other. */
	struct weft_rng coins;
};

extern const struct weft_class weft_class_net_source;

#endif
