/* SPDX-License-Identifier: Apache-2.0 */
/* A user's own topology and routing: a ring with chords. Packets travel in one
 * direction only.
 *
 *	topology: own_ring, dims: [12, 4]	routers, length of a chord
 *
 * Port 0 is cabled to the next router, port 1 to the previous one, and port 4
 * to a NIC. A chord starts at port 2 and ends at port 3.
 * Chords start at the routers whose number is a multiple of the chord
 * length. */
#include "weft/network.h"

#include <errno.h>

enum { NEXT, BEFORE, CHORD, CHORD_END, END, PORTS };

static int chords_join(struct weft_graph *g, uint32_t n, uint32_t chord,
		       struct weft_err *err)
{
	for (uint32_t r = 0; r < n; r += chord)
		if (weft_graph_join(g, r, CHORD, (r + chord) % n, CHORD_END,
				    err))
			return -EINVAL;
	return 0;
}

static int ring_build(struct weft_graph *g, const struct weft_shape *s,
		      struct weft_err *err)
{
	uint32_t n = s->size[0], chord = s->size[1];

	if (s->dims != 2 || chord < 2 || n % chord || n / chord < 2)
		return weft_fail(
			err, EINVAL,
			"an own_ring has dims: [routers, length of a "
			"chord] that fits at least twice, e.g. [12, 4]");
	if (weft_graph_alloc(g, n, PORTS, n, err))
		return -EINVAL;
	for (uint32_t r = 0; r < n; r++)
		if (weft_graph_join(g, r, NEXT, (r + 1) % n, BEFORE, err) ||
		    weft_graph_attach(g, r, r, END, err))
			return -EINVAL;
	return chords_join(g, n, chord, err);
}

static const struct weft_topology own_ring = {
	WEFT_NETWORK(struct weft_topology),
	.name = "own_ring",
	.doc = "a ring with chords",
	.routing = "own_round",
	.build = ring_build,
};

/* A packet that still has to wrap around from the last router to the first ones
 * uses VCs of class 0, every other packet class 1. In class 1 packets only
 * travel to higher routers, so class 1 cannot deadlock. Packets leave class 0
 * when they wrap around, so class 0 cannot deadlock either. */
static void ring_route(const struct weft_graph *g, struct weft_hop *h)
{
	uint32_t n = weft_graph_routers(g), chord = weft_graph_size(g, 1);
	uint32_t left = (h->dest + n - h->router) % n, half = h->vcs / 2;
	bool first = h->dest < h->router;
	uint32_t port = NEXT;

	if (!left) {
		weft_choose(h, END, 0, h->vcs - 1);
		return;
	}
	if (h->router % chord == 0 && left >= chord)
		port = CHORD;
	weft_choose(h, port, first ? 0 : half, (first ? half : h->vcs) - 1);
}

static const char *const topologies[] = { "own_ring", NULL };

static const struct weft_routing own_round = {
	WEFT_NETWORK(struct weft_routing),
	.name = "own_round",
	.doc = "upwards, over chords",
	.topologies = topologies,
	.vcs = 2,
	.why = "before and behind the last router",
	.route = ring_route,
};

/* Uses all VCs alike, so packets can deadlock around the ring. */
static void careless_route(const struct weft_graph *g, struct weft_hop *h)
{
	uint32_t port = h->dest == h->router ? END : NEXT;

	weft_choose(h, port, 0, h->vcs - 1);
}

static const struct weft_routing own_careless = {
	WEFT_NETWORK(struct weft_routing),
	.name = "own_careless",
	.doc = "upwards, refused because of its circle",
	.topologies = topologies,
	.vcs = 1,
	.why = "any",
	.route = careless_route,
};

WEFT_TOPOLOGIES(&own_ring);
WEFT_ROUTINGS(&own_round, &own_careless);
