/* SPDX-License-Identifier: Apache-2.0 */
/* Routings of dragonflies (graph_dragonfly.c):
 *
 *	minimal		over one cable between the groups of source and
 *			destination: a cable of the present router if it has
 *			one, else a random one
 *	valiant		to a random router (dragonfly_plus: leaf), then to the
 *			destination
 *	valiant_group	to the router at which a random group is entered, then
 *			to the destination
 *	ugal		minimal or valiant_group (dragonfly_plus: valiant).
 *			The first router compares the outputs of both ways, and
 *			chooses minimal if its load is at most twice the load
 *			of the other way plus a threshold (Kim et al., ISCA
 *			2008; BookSim2's ugal_dragonflynew)
 *	ugal_global	like ugal, but compares the loads of the cables between
 *			groups, also of cables at other routers of the group:
 *			an idealised routing
 *	progressive	like ugal, but a packet on its minimal way decides
 *			again at the router with the cable between groups (PAR;
 *			Jiang et al., ISCA 2009)
 *
 * A packet gets a higher class of VCs with each cable between groups and at the
 * random router or group, so that classes ascend along each way. In a
 * dragonfly_plus, the way to the random router and the way from there to the
 * destination have one class each, because such a way goes up, over and
 * down. */
#include "net/dragonfly.h"
#include "net/routing.h"

static const char *const dragonfly[] = { "dragonfly", NULL };
static const char *const both[] = { "dragonfly", "dragonfly_plus", NULL };

/* A packet at a router. */
struct hop {
	const struct net_graph *g;
	struct dragonfly d;
	struct net_arrival in;
	struct net_route *r;
	uint32_t vcs;
};

static struct hop hop_of(const struct net_graph *g, uint32_t vcs,
			 struct net_arrival in, struct net_route *r)
{
	return (struct hop){ g, dragonfly_of(g), in, r, vcs };
}

static uint32_t group(const struct hop *h, uint32_t router)
{
	return router / h->d.routers;
}

/* ---- ways ---- */

/* First steps of the minimal ways to a router. */
struct ways {
	uint32_t n;
	uint32_t port;	     /* of the way that is asked for */
	struct net_far gate; /* cable between groups of that way */
};

/* Finds the ways inside the present group. There is one way, except that a leaf
 * of a dragonfly_plus has one over each spine. */
static struct ways ways_inside(const struct hop *h, uint32_t to, uint32_t k)
{
	uint32_t from = h->in.router, leaves = h->d.routers - h->d.gates;
	struct ways w = { .n = 1 };

	if (h->d.plus && from % h->d.routers < leaves) {
		w.n = h->d.gates;
		to = group(h, from) * h->d.routers + leaves + k % w.n;
	}
	w.port = dragonfly_local(&h->d, from, to);
	return w;
}

/* Finds the ways to a router. Returns their number n, and the first step of way
 * k % n. */
static struct ways ways_to(const struct hop *h, uint32_t to, uint32_t k)
{
	uint32_t from = h->in.router, a = group(h, from), b = group(h, to);
	struct ways w = { .n = 0 };

	if (a == b)
		return ways_inside(h, to, k);
	for (uint32_t i = 0; i < h->d.pairs; i++)
		w.n += dragonfly_gate(h->g, &h->d, a, b, i).at == from;
	for (uint32_t i = 0, own = 0; w.n && i < h->d.pairs; i++) {
		w.gate = dragonfly_gate(h->g, &h->d, a, b, i);
		if (w.gate.at == from && own++ == k % w.n)
			break;
	}
	w.port = w.gate.port;
	if (w.n)
		return w;
	w.n = h->d.pairs;
	w.gate = dragonfly_gate(h->g, &h->d, a, b, k % w.n);
	w.port = dragonfly_local(&h->d, from, w.gate.at);
	return w;
}

static uint32_t dest_router(const struct hop *h)
{
	return h->g->in[h->r->dest].at;
}

/* Returns the way to `to`, which is the destination's router or r->mid, that
 * the packet has drawn at this router. The draw depends on the target and not
 * on the phase. A packet therefore takes the way whose load it has compared. */
static struct ways way_to(const struct hop *h, uint32_t to)
{
	return ways_to(h, to,
		       h->in.draw ? h->in.draw - 1
				  : net_drawn(h->r, to == dest_router(h),
					      NET_NOWHERE));
}

/* Adds the next step to the router `to`. Cables before a cable between groups
 * use class `low` of VCs. This cable and those after it use class `high`. At
 * the router `to`, adds the port of the packet's end. */
static void go(const struct hop *h, uint32_t to, uint32_t low, uint32_t high,
	       uint32_t classes, struct net_choices *c)
{
	struct ways w;

	if (h->in.router == to) {
		if (h->in.draw <= 1)
			net_choose(c, h->g->in[h->r->dest].port, 0, h->vcs - 1,
				   0);
		return;
	}
	w = way_to(h, to);
	if (h->in.draw > w.n)
		return;
	if (net_graph_far(h->g, h->in.router, w.port)->trunk)
		h->r->part = 1;
	net_choose_class(c, w.port, h->vcs, h->r->part ? high : low, classes);
}

/* Ends phase 0 when the packet has reached r->mid, or any router of its group
 * if `group_does`. */
static void phase_end(const struct hop *h, bool group_does)
{
	uint32_t at = h->in.router, mid = h->r->mid;

	if (h->r->phase ||
	    (group_does ? group(h, at) != group(h, mid) : at != mid))
		return;
	h->r->phase = 1;
	h->r->part = 0;
}

/* ---- minimal, Valiant ---- */

static uint32_t minimal_vcs(const struct net_graph *g, const char **why)
{
	*why = "in front of and behind a cable between groups";
	return dragonfly_of(g).plus ? 1 : 2;
}

static void minimal_route(const struct net_graph *g, uint32_t vcs,
			  struct net_arrival in, struct net_route *r,
			  struct net_choices *c)
{
	struct hop h = hop_of(g, vcs, in, r);

	go(&h, dest_router(&h), 0, !h.d.plus, h.d.plus ? 1 : 2, c);
}

const struct net_routing net_routing_dragonfly_minimal = {
	.name = "minimal",
	.doc = "over one cable between groups",
	.topologies = both,
	.vcs = minimal_vcs,
	.route = minimal_route,
	.draws = true,
};

/* Draws a router on the way that has ends. */
static void mid_inject(const struct net_graph *g, struct net_route *r,
		       uint64_t random)
{
	struct dragonfly d = dragonfly_of(g);
	uint32_t leaves = d.plus ? d.routers - d.gates : d.routers;
	uint32_t n = (uint32_t)((random >> 32) * d.groups * leaves >> 32);

	r->mid = n / leaves * d.routers + n % leaves;
}

static uint32_t valiant_vcs(const struct net_graph *g, const char **why)
{
	bool plus = dragonfly_of(g).plus;

	*why = plus ? "one for each phase"
		    : "two phases, in front of and behind a cable between groups";
	return plus ? 2 : 4;
}

static void valiant_route(const struct net_graph *g, uint32_t vcs,
			  struct net_arrival in, struct net_route *r,
			  struct net_choices *c)
{
	struct hop h = hop_of(g, vcs, in, r);
	uint32_t low;

	phase_end(&h, false);
	low = h.d.plus ? r->phase : 2 * r->phase;
	go(&h, r->phase ? dest_router(&h) : r->mid, low, low + !h.d.plus,
	   h.d.plus ? 2 : 4, c);
}

const struct net_routing net_routing_dragonfly_valiant = {
	.name = "valiant",
	.doc = "to a random router, then to the destination",
	.topologies = both,
	.vcs = valiant_vcs,
	.inject = mid_inject,
	.route = valiant_route,
	.phases = true,
	.draws = true,
};

static uint32_t group_vcs(const struct net_graph *g, const char **why)
{
	if (dragonfly_of(g).plus)
		return valiant_vcs(g, why);
	*why = "to the group on the way, and in front of and behind the second cable between groups";
	return 3;
}

/* Adds the next step of the present phase. `first` is the class of VCs for
 * phase 0. */
static void group_go(const struct hop *h, uint32_t first, struct net_choices *c)
{
	if (h->d.plus)
		go(h, h->r->phase ? dest_router(h) : h->r->mid, h->r->phase,
		   h->r->phase, 2, c);
	else if (h->r->phase)
		go(h, dest_router(h), first + 1, first + 2, first + 3, c);
	else
		go(h, h->r->mid, first, first, first + 3, c);
}

static void group_route(const struct net_graph *g, uint32_t vcs,
			struct net_arrival in, struct net_route *r,
			struct net_choices *c)
{
	struct hop h = hop_of(g, vcs, in, r);

	phase_end(&h, true);
	group_go(&h, 0, c);
}

const struct net_routing net_routing_dragonfly_valiant_group = {
	.name = "valiant_group",
	.doc = "to a random group, then to the destination",
	.topologies = dragonfly,
	.vcs = group_vcs,
	.inject = mid_inject,
	.route = group_route,
	.phases = true,
	.draws = true,
};

/* ---- adaptive ---- */

/* Returns the load of the way to a router: the load of its first output, or
 * with `global` the load of its cable between groups. */
static uint32_t way_load(const struct hop *h, uint32_t to, bool global)
{
	struct ways w = way_to(h, to);

	if (global)
		return net_used(h->in, w.gate.at, w.gate.port, 0, h->vcs - 1);
	return net_used(h->in, h->in.router, w.port, 0, h->vcs - 1);
}

/* Returns true if the packet should take the way over r->mid. `coin` decides if
 * there are no loads. */
static bool detour(const struct hop *h, bool global, bool coin)
{
	uint32_t a = group(h, h->in.router), b = group(h, dest_router(h));
	uint32_t m = group(h, h->r->mid);

	if (!h->in.loads)
		return coin;
	if (a == b || a == m || b == m)
		return false;
	return way_load(h, dest_router(h), global) >
	       2 * way_load(h, h->r->mid, global) + h->g->threshold;
}

static void ugal(const struct net_graph *g, uint32_t vcs, struct net_arrival in,
		 struct net_route *r, struct net_choices *c, bool global)
{
	struct hop h = hop_of(g, vcs, in, r);

	phase_end(&h, !h.d.plus);
	if (!r->phase && net_injected(g, in) &&
	    !detour(&h, global, r->coins & 1))
		r->phase = 1;
	group_go(&h, 0, c);
}

static void ugal_route(const struct net_graph *g, uint32_t vcs,
		       struct net_arrival in, struct net_route *r,
		       struct net_choices *c)
{
	ugal(g, vcs, in, r, c, false);
}

const struct net_routing net_routing_dragonfly_ugal = {
	.name = "ugal",
	.doc = "minimal or over a random group, by the loads of both first outputs",
	.topologies = both,
	.vcs = group_vcs,
	.inject = mid_inject,
	.route = ugal_route,
	.phases = true,
	.draws = true,
	.looks = true,
	.threshold = true,
	.coins = 1,
};

static void ugal_global_route(const struct net_graph *g, uint32_t vcs,
			      struct net_arrival in, struct net_route *r,
			      struct net_choices *c)
{
	ugal(g, vcs, in, r, c, true);
}

const struct net_routing net_routing_dragonfly_ugal_global = {
	.name = "ugal_global",
	.doc = "as ugal, by the loads of cables between groups (idealised)",
	.topologies = both,
	.vcs = group_vcs,
	.inject = mid_inject,
	.route = ugal_global_route,
	.phases = true,
	.draws = true,
	.looks = true,
	.threshold = true,
	.coins = 1,
};

static uint32_t progressive_vcs(const struct net_graph *g, const char **why)
{
	*why = "until the last decision, to the group on the way, and in front of and behind the second cable between groups";
	return 4;
}

/* While `part` is 0 in phase 0, the packet can still change to the way over
 * r->mid. It decides for the last time at the router with the cable between
 * groups. A packet that arrives over a cable of its group is at this router. */
static void progressive_route(const struct net_graph *g, uint32_t vcs,
			      struct net_arrival in, struct net_route *r,
			      struct net_choices *c)
{
	struct hop h = hop_of(g, vcs, in, r);
	bool first = net_injected(g, in);
	struct ways w;

	phase_end(&h, true);
	if (r->phase || r->part) {
		group_go(&h, 1, c);
		return;
	}
	if (detour(&h, false, r->coins >> !first & 1)) {
		r->part = 1;
		group_go(&h, 1, c);
		return;
	}
	w = way_to(&h, dest_router(&h));
	if (first && group(&h, in.router) != group(&h, dest_router(&h)) &&
	    w.gate.at != in.router) {
		if (in.draw <= w.n)
			net_choose_class(c, w.port, vcs, 0, 4);
		return;
	}
	r->phase = 1;
	group_go(&h, 1, c);
}

const struct net_routing net_routing_dragonfly_progressive = {
	.name = "progressive",
	.doc = "as ugal, decided again at the router with the cable to the group",
	.topologies = dragonfly,
	.vcs = progressive_vcs,
	.inject = mid_inject,
	.route = progressive_route,
	.phases = true,
	.draws = true,
	.looks = true,
	.threshold = true,
	.coins = 2,
};
