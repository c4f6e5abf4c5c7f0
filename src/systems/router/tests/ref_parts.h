/* SPDX-License-Identifier: Apache-2.0 */
/* Structs and functions that ref_network.c and ref_queued.c share. */
#ifndef SYSTEMS_ROUTER_TESTS_REF_PARTS_H
#define SYSTEMS_ROUTER_TESTS_REF_PARTS_H

#include <string.h>

#include "systems/router/tests/ref_network.h"

enum { REF_SPEEDUP = 8 };

struct flit {
	uint32_t packet, vc;
	bool head, tail;
};

struct ref_packet {
	struct net_route route;
	struct net_range range;
	uint32_t kind, cls, rank;
	uint64_t born, injected, asked;
	uint32_t flits;
};

/* Entry of ref_queue.owed or ref_queue.back. In `owed` it is a reply that the
 * end must make. In `back` it is a packet that will no longer count towards the
 * limit of the end. */
struct owed {
	uint64_t from; /* cycle */
	uint32_t dest, kind;
	uint64_t asked;
};

/* Queue of a class at an end. */
struct ref_queue {
	int64_t packet; /* that is being sent, or -1 */
	uint32_t sent, out;
	int64_t last_vc;
	struct {
		VEC(struct owed);
	} owed, back;
};

/* Flits and credits on a cable, in order of arrival. */
struct on_cable {
	uint64_t cycle;
	struct flit f;
	uint32_t vc;
};
struct cable {
	VEC(struct on_cable);
};

/* Input VC at a stage. */
struct item {
	int64_t end; /* cycle in which the stage ends; -1: not begun */
	uint32_t vc;
	int64_t result; /* -1: none */
};
struct list {
	VEC(struct item);
};

struct crossing {
	int64_t end;
	uint32_t order; /* within a step */
	struct flit f;
	uint32_t out;
};

struct queue {
	VEC(struct flit);
	enum { IDLE, ROUTING, ALLOCATING, ACTIVE } state;
	struct net_choices choices;
	uint32_t out, out_vc;
	int64_t granted; /* in this cycle */
	uint32_t packet; /* in front; `sent` of its flits have left */
	uint32_t sent;
};

struct place {
	uint32_t credits, places;
	bool taken, tail_sent;
};

struct ref_port {
	struct cable in, back; /* flits and credits on their way here */
	struct {
		VEC(struct flit);
	} leaving; /* flits behind the crossbar */
	struct {
		VEC(uint32_t);
	} credits;	/* sets of VCs; in each cycle, credits of one set
			 * leave */
	uint32_t freed; /* VCs whose credits leave by this step */
	/* inputs and outputs of the crossbar: */
	int64_t held_by[REF_SPEEDUP];
	int64_t held_for[REF_SPEEDUP];
	uint32_t turn[REF_SPEEDUP];
};

struct ref_router {
	struct ref_port *port;
	struct ref_queued *queued; /* of a router with output queues */
	struct queue *in;
	struct place *out;
	struct list route, vcs, hold, sw;
	struct {
		VEC(struct crossing);
	} cross;
	struct ref_allocator *va, *sa;
	uint32_t ports;
	uint32_t *used; /* places in use at the end of the cycle before */
};

struct ref_end {
	struct ref_port port[2];
	struct place *out;
	struct ref_queue queue[4];
	uint32_t last; /* class of the last flit */
};

struct net {
	const struct ref_case *c;
	struct ref_result *r;
	struct ref_router *router;
	struct ref_end *end;
	struct {
		VEC(struct ref_packet);
	} packets;
	uint64_t now;
};

/* Takes the first element of a vector. */
#define TAKE(v)                                                                \
	({                                                                     \
		__typeof__(*(v)->at) first_ = (v)->at[0];                      \
                                                                               \
		memmove((v)->at, (v)->at + 1, --(v)->n * sizeof(first_));      \
		first_;                                                        \
	})

/* Returns the port at the other end of a cable, and the cable's latency. */
struct ref_port *far_port(struct net *n, uint32_t router, uint32_t port,
			  uint32_t *latency_p);
void cable_put(struct cable *to, uint64_t cycle, struct flit f, uint32_t vc);
/* Removes the next flit or credit that has arrived from the cable. Returns
 * false if there is none. */
bool cable_get(struct cable *c, uint64_t now, struct on_cable *got);
/* Returns a place to a sender. */
void place_free(const struct net *n, struct place *p);
/* Calls the routing for the choices of a packet at input VC `vc`. */
void packet_route(struct net *n, uint32_t id, uint32_t vc, uint32_t packet,
		  struct net_choices *c);

/* ref_queued.c: a router with output queues. */
void ref_queued_init(struct net *n, uint32_t id);
void ref_queued_look(struct net *n, uint32_t id);
void ref_queued_cycle(struct net *n, uint32_t id);
/* Frees the router. Returns the number of its flits and places in use. */
uint32_t ref_queued_fini(struct net *n, uint32_t id);

#endif
