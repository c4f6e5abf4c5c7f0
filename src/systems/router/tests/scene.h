/* SPDX-License-Identifier: Apache-2.0 */
/* Random networks that run on the tested network and on the reference model
 * (ref_network.h). A test program links test_network_ref.c with one kind of
 * router. */
#ifndef SYSTEMS_ROUTER_TESTS_SCENE_H
#define SYSTEMS_ROUTER_TESTS_SCENE_H

#include "base/rng.h"
#include "systems/router/tests/ref_network.h"

/* A class of packets, with parameters as text. */
struct scene_class {
	uint32_t flits, flits_max, packets, pattern, reply, write_flits;
	uint32_t write_reply, outstanding, priority, batch;
	double load, writes;
	struct net_range range[PACKET_KINDS];
	struct weft_comp *comp;
};

enum { CLASSES = 3 };

struct scene {
	struct ref_case c;
	struct queued_params queued;
	struct net_graph graph;
	struct weft_rng rng;
	/* If `parts` is false, cls[0] has the parameters of the source. */
	struct scene_class cls[CLASSES];
	uint32_t n;
	bool parts;
	bool plain; /* the routers are plain ones (router.h) */
	struct weft_sim *sim;
	struct weft_comp **router, **end, *net;
	struct ref_result got, want;
};

/* A kind of router. */
struct scene_kind {
	/* Draws the parameters of routers. */
	void (*make)(struct scene *s);
	/* Draws parameters that depend on the graph. NULL if there are none. */
	void (*fit)(struct scene *s);
	/* Adds router i, whose ports and place are set afterwards. */
	struct weft_comp *(*add)(struct scene *s, uint32_t i);
	/* Counts the credits that are still in flight to router i. Returns the
	 * number of its flits and places that are still in use after that. */
	uint32_t (*left)(struct scene *s, uint32_t i);
	void (*print)(const struct scene *s);
};
extern const struct scene_kind scene_kind;

/* Returns a number below n. */
static inline uint32_t pick(struct scene *s, uint32_t n)
{
	return (uint32_t)weft_rng_below(&s->rng, n);
}
static inline uint32_t pick_delay(struct scene *s)
{
	return pick(s, 3) ? 1 : 1 + pick(s, 4);
}

#endif
