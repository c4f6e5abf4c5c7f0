/* SPDX-License-Identifier: Apache-2.0 */
/* Reference model of a network of routers. Every flit is a struct, every queue
 * is an array, and every router executes all its stages in every cycle. Only
 * the graph, the routing and the drawing of packets are code of the tested
 * network. Routers with input queues are in ref_network.c, routers with output
 * queues in ref_queued.c. */
#ifndef SYSTEMS_ROUTER_TESTS_REF_NETWORK_H
#define SYSTEMS_ROUTER_TESTS_REF_NETWORK_H

#include "base/vec.h"
#include "net/traffic_source.h"
#include "systems/router/network/queued.h"
#include "systems/router/traffic/source_classes.h"

/* A class of packets of an end. */
struct ref_class {
	struct traffic_source t;
	struct weft_rng rng;
	const struct class_own *own;
	struct net_range range[PACKET_KINDS];
};

struct ref_source {
	struct ref_class *cls;
	uint32_t n;
	bool limits; /* replies or limits exist */
	struct weft_rng coins;
};

struct ref_case {
	const struct net_graph *graph;
	struct router_params p;
	/* Parameters of routers with output queues, or NULL for routers with
	 * input queues. In both cases ends use vcs, buf_flits, flow and hold of
	 * `p`. */
	const struct queued_params *queued;
	bool memory;			     /* output queues share a memory */
	uint32_t credit_delay, link, access; /* latencies of cables */
	struct ref_source *source;	     /* by end */
	uint64_t cycles;
};

/* A packet that has arrived: its end, its source, and the cycles of its
 * arrival, birth and injection. A reply also has the cycle of its request. */
struct ref_arrival {
	uint32_t end, src;
	uint64_t cycle, born, injected, asked;
};

struct ref_result {
	struct {
		VEC(struct ref_arrival);
	} arrived;
	uint64_t *flits;   /* through each router */
	uint64_t *peak;	   /* most flits in its output queues */
	bool stuck;	   /* the tested network found a deadlock */
	uint32_t leftover; /* number of queues and VCs that have not returned
			    * to their initial state */
};

/* Runs the case, and fills in the result, whose arrays the caller frees. */
void ref_network_run(const struct ref_case *c, struct ref_result *r);

#endif
