/* SPDX-License-Identifier: Apache-2.0 */
/* A user's own topology and routing: a ring with chords. Packets pass it in one
 * direction.
 *
 *	topology: own_ring, dims: [12, 4]	routers, length of a chord
 *
 * Ports: 0 leads to the next router, 1 to the router before. Port 2 has the
 * chord that begins here, 3 the chord that ends here, 4 the end. Chords begin
 * at each multiple of their length. */
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

/* A packet that has yet to pass the last router takes class 0 of the VCs, any
 * other packet class 1. Channels of class 0 lead upwards and from the last
 * router to the first ones, channels of class 1 only upwards. Therefore no
 * circle of waiting packets can form. */
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

/* Without classes packets wait for each other round the ring. */
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
