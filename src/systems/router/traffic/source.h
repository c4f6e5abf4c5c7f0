/* SPDX-License-Identifier: Apache-2.0 */
/* State of net.source (source.c). */
#ifndef SYSTEMS_ROUTER_TRAFFIC_SOURCE_H
#define SYSTEMS_ROUTER_TRAFFIC_SOURCE_H

#include "systems/router/network/router.h"
#include "systems/router/traffic/class.h"

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
	char digits[32], trace[128];
	uint32_t collective, flit_bytes;
	union {
		struct {
			CLASS_FIELDS;
		};
		struct class_own cls;
	};
	/* Classes of the experiment, if there are any. `classes` are the
	 * classes of this source, NULL if it only has plain packets
	 * (source_classes.h). */
	struct weft_comp *part[NET_CLASSES_MAX];
	uint32_t n_parts;
	struct source_classes *classes;
	struct net_range range; /* VCs of plain packets */
	/* the router behind the port, and its queues: */
	const struct router_face *router;
	struct out_vc *vc;
	uint32_t last_vc;	  /* of the last packet, or ARBITER_NONE */
	uint32_t packet;	  /* that is being sent, or ARBITER_NONE */
	uint32_t sent;		  /* flits of it */
	uint64_t made;		  /* flits of all packets */
	struct net_scout *scouts; /* two, once the backlog was asked for */
	uint64_t free;		  /* cycle from which the next flit may leave */
	uint64_t last_sent;
	/* Random numbers for decisions of the routing. They have a stream of
	 * their own, because the backlog is found by drawing packets from a
	 * copy of the packets' stream. */
	struct weft_rng coins;
};

/* source_send.c: takes the credits that have arrived. */
void source_credits(struct router_source *s, uint64_t now);
/* Sends flits of a source without classes, and asks for the next step. */
void source_send(struct router_source *s, uint64_t now);
/* Takes back flits if credits that they rely on were taken back. */
void source_cut(struct router_source *s, uint64_t now);

/* Checks that all sources of a network have the same trace or collective
 * operation as the first source, or that none has one. Returns 0, or -EINVAL
 * with a message. */
int source_trace_alike(struct router_source *s, struct weft_err *err);
/* Starts a source whose packets are those of a trace or a collective operation
 * (source_trace.c). Returns 0, or -EINVAL with a message. */
int source_trace_start(struct router_source *s, struct weft_err *err);
/* Returns the number of flits of a packet. `size` is in bytes in a trace, in
 * flits in a collective operation. */
uint32_t source_trace_flits(const struct router_source *s, uint32_t size);
/* Notes that packet number i has arrived. Releases the packets that now wait
 * for no other packet. */
void source_trace_done(struct router_source *s, uint32_t i, uint64_t now);

extern const struct weft_class weft_class_net_source;

#endif
