/* SPDX-License-Identifier: Apache-2.0 */
/* A small network of routers for a test, with sources at all ends and one kind
 * of cable. Settings are written as "vcs=1 buf_flits=8".
 *
 *	bench_init(&b, "mesh", &shape, "dimension_order");
 *	bench_add(&b, &weft_class_net_router, "vcs=1", "flits=4 load=0.1");
 *	bench_set(b.end[0], "pattern=none");
 *	bench_start(&b);
 *	weft_sim_run(b.sim, WEFT_MS);
 *	weft_sim_free(b.sim); */
#ifndef SYSTEMS_ROUTER_TESTS_BENCH_H
#define SYSTEMS_ROUTER_TESTS_BENCH_H

#include "systems/router/network/meter.h"

struct bench {
	struct weft_sim *sim;
	struct net_graph graph;
	struct weft_comp *net, **router, **end;
};

/* Builds the graph and its net.meter. */
void bench_init(struct bench *b, const char *topology,
		const struct net_shape *shape, const char *routing);
/* Adds routers of a class, and ends. */
void bench_add(struct bench *b, const struct weft_class *cls,
	       const char *router, const char *end);
/* Sets parameters of a component that has not started. */
void bench_set(struct weft_comp *c, const char *settings);
/* Initialises all components and connects them. Returns 0, or a negative errno
 * with a message. */
int bench_try(struct bench *b, struct weft_err *err);
/* Calls bench_try(), and fails the test if it returns an error. */
void bench_start(struct bench *b);
/* Sets a function seen(own, packet, cycle) that is called for each packet that
 * arrives. */
void bench_seen(struct bench *b,
		void (*seen)(void *own, const struct packet *p, uint64_t cycle),
		void *own);
/* Frees the network. */
void bench_fini(struct bench *b);

#endif
