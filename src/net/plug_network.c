/* SPDX-License-Identifier: Apache-2.0 */
/* Topologies and routings of shared objects (plug_network.h). Each cable is
 * checked when it is joined, and the ends are checked when the graph is
 * complete. Before the search for circles, the choices of a routing are checked
 * by following packets from end to end. */
#include "net/plug_network.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"

/* plug_prepare() follows packets from at most PAIRS_SIDE ends to at most
 * PAIRS_SIDE ends. It skips some ends of a larger graph, but the search for
 * circles includes all ends. */
enum { PAIRS_SIDE = 1024 };

/* net_topology and net_routing must be the first members, because pointers to
 * them are cast to pointers to these structs. */
struct plug_topology {
	struct net_topology t;
	const struct weft_topology *own;
};
struct plug_routing {
	struct net_routing r;
	const struct weft_routing *own;
};

/* Choices of a hop. */
struct choosing {
	const struct net_graph *g;
	struct net_choices *c;
};

static struct net_graph *graph_of(struct weft_graph *g)
{
	return (struct net_graph *)(void *)g;
}
static const struct net_graph *graph_read(const struct weft_graph *g)
{
	return (const struct net_graph *)(const void *)g;
}

/* ---- graphs ---- */

int weft_graph_alloc(struct weft_graph *g, uint32_t routers, uint32_t ports,
		     uint32_t ends, struct weft_err *err)
{
	if (!routers || !ends || graph_of(g)->first)
		return weft_fail(err, EINVAL,
				 "a graph has routers and ends, and is "
				 "allocated once");
	return net_graph_alloc(graph_of(g), routers, ports, ends, err);
}

/* Returns 0 if the port exists and is free, or -EINVAL with a message. */
static int port_check(const struct net_graph *g, uint32_t r, uint32_t p,
		      struct weft_err *err)
{
	if (!g->first || r >= g->routers || p >= net_graph_ports(g, r))
		return weft_fail(err, EINVAL,
				 "a cable leads to port %u of router %u, which "
				 "does not exist",
				 p, r);
	if (net_graph_far(g, r, p)->at != NET_NOWHERE)
		return weft_fail(err, EINVAL,
				 "two cables lead to port %u of router %u", p,
				 r);
	return 0;
}

int weft_graph_join(struct weft_graph *g, uint32_t a, uint32_t p, uint32_t b,
		    uint32_t q, struct weft_err *err)
{
	if (port_check(graph_of(g), a, p, err) ||
	    port_check(graph_of(g), b, q, err))
		return -EINVAL;
	if (a == b)
		return weft_fail(err, EINVAL, "router %u is cabled to itself",
				 a);
	net_graph_join(graph_of(g), a, p, b, q);
	return 0;
}

int weft_graph_attach(struct weft_graph *g, uint32_t end, uint32_t r,
		      uint32_t p, struct weft_err *err)
{
	struct net_graph *n = graph_of(g);

	if (port_check(n, r, p, err))
		return -EINVAL;
	if (end >= n->ends || n->out[end].end)
		return weft_fail(err, EINVAL,
				 "end %u does not exist or has two cables",
				 end);
	net_graph_attach(n, end, r, p);
	n->out[end].end = 1; /* attached, until the graph is built */
	return 0;
}

uint32_t weft_graph_routers(const struct weft_graph *g)
{
	return graph_read(g)->routers;
}

uint32_t weft_graph_size(const struct weft_graph *g, uint32_t i)
{
	const struct net_shape *s = &graph_read(g)->shape;

	return i < s->dims ? s->size[i] : 0;
}

struct weft_far weft_graph_far(const struct weft_graph *g, uint32_t r,
			       uint32_t p)
{
	const struct net_far *f = net_graph_far(graph_read(g), r, p);

	return (struct weft_far){ f->at != NET_NOWHERE, f->end, f->at,
				  f->port };
}

struct weft_far weft_graph_home(const struct weft_graph *g, uint32_t end)
{
	const struct net_far *f = &graph_read(g)->in[end];

	return (struct weft_far){ true, false, f->at, f->port };
}

static int plug_build(struct net_graph *g, const struct net_shape *s,
		      struct weft_err *err)
{
	const struct plug_topology *t =
		(const struct plug_topology *)(const void *)g->type;
	struct weft_shape shape = { .dims = s->dims, .ends = s->ends };

	memcpy(shape.size, s->size, sizeof(shape.size));
	if (t->own->build((struct weft_graph *)(void *)g, &shape, err))
		return -EINVAL;
	if (!g->first)
		return weft_fail(err, EINVAL,
				 "topology %s allocates no routers",
				 t->own->name);
	for (uint32_t e = 0; e < g->ends; e++) {
		if (!g->out[e].end)
			return weft_fail(err, EINVAL,
					 "topology %s attaches end %u to no "
					 "router",
					 t->own->name, e);
		g->out[e].end = 0;
	}
	return 0;
}

/* The search takes the whole graph. */
static bool plug_reduce(struct net_shape *s)
{
	return false;
}

struct net_topology *net_plug_topology(const struct weft_topology *own,
				       struct weft_err *err)
{
	struct plug_topology *t;

	if (own->api_version != WEFT_API_VERSION ||
	    own->struct_size != sizeof(*own) || !own->name || !own->routing ||
	    !own->build) {
		weft_fail(
			err, EINVAL,
			"topology '%.60s' is incomplete or built for another interface: begin with WEFT_NETWORK, give name, routing and build, and build it again",
			own->struct_size == sizeof(*own) && own->name
				? own->name
				: "");
		return NULL;
	}
	t = need(calloc(1, sizeof(*t)));
	t->own = own;
	t->t = (struct net_topology){ .name = own->name,
				      .doc = own->doc ? own->doc : "",
				      .routing = own->routing,
				      .build = plug_build,
				      .reduce = plug_reduce };
	return &t->t;
}

/* ---- routings ---- */

bool weft_choose(struct weft_hop *h, uint32_t port, uint32_t first,
		 uint32_t last)
{
	struct choosing *k = h->own;

	if (port >= net_graph_ports(k->g, h->router) || first > last ||
	    last >= h->vcs || k->c->n == NET_CHOICES ||
	    net_graph_far(k->g, h->router, port)->at == NET_NOWHERE)
		return false;
	net_choose(k->c, port, first, last, 0);
	return true;
}

static void hop_route(const struct weft_routing *own, const struct net_graph *g,
		      uint32_t vcs, struct net_arrival in,
		      const struct net_route *r, struct net_choices *c)
{
	struct choosing k = { g, c };
	struct weft_hop h = {
		.router = in.router,
		.port = in.port,
		.vc = in.vc,
		.injected = net_injected(g, in),
		.src = r->src,
		.dest = r->dest,
		.coins = r->coins & ((1u << own->coins) - 1),
		.vcs = vcs,
		.own = &k,
	};

	own->route((const struct weft_graph *)(const void *)g, &h);
}

static void plug_route(const struct net_graph *g, uint32_t vcs,
		       struct net_arrival in, struct net_route *r,
		       struct net_choices *c)
{
	const struct plug_routing *p =
		(const struct plug_routing *)(const void *)g->routing;

	hop_route(p->own, g, vcs, in, r, c);
}

static uint32_t plug_vcs(const struct net_graph *g, const char **why)
{
	const struct plug_routing *p =
		(const struct plug_routing *)(const void *)g->routing;

	*why = p->own->why ? p->own->why : "it says so";
	return p->own->vcs;
}

/* Follows the first choice of a packet at each router. Returns 0, or -EINVAL
 * with a message if the packet does not reach its end. */
static int walk_check(const struct weft_routing *own, const struct net_graph *g,
		      struct net_route r, struct weft_err *err)
{
	struct net_arrival at = { .router = g->out[r.src].at,
				  .port = g->out[r.src].port };

	for (uint32_t hops = 0; hops <= 4 * g->routers; hops++) {
		struct net_choices c = { 0 };
		const struct net_far *f;

		hop_route(own, g, own->vcs, at, &r, &c);
		if (!c.n)
			return weft_fail(
				err, EINVAL,
				"routing %s chooses no output at router %u for end %u that exists: choose a port with a cable, and VCs below %u",
				own->name, at.router, r.dest, own->vcs);
		f = net_graph_far(g, at.router, c.at[0].port);
		if (f->end && f->at == r.dest)
			return 0;
		if (f->end)
			return weft_fail(
				err, EINVAL,
				"routing %s leads packets for end %u to end %u",
				own->name, r.dest, f->at);
		at = (struct net_arrival){ .router = f->at,
					   .port = f->port,
					   .vc = c.at[0].first };
	}
	return weft_fail(err, EINVAL,
			 "routing %s leads packets from end %u to end %u round "
			 "and round",
			 own->name, r.src, r.dest);
}

static int plug_prepare(struct net_graph *g, struct weft_err *err)
{
	const struct plug_routing *p =
		(const struct plug_routing *)(const void *)g->routing;

	uint32_t step = g->ends / PAIRS_SIDE + 1;

	for (uint32_t s = 0; s < g->ends; s += step)
		for (uint32_t d = 0; d < g->ends; d += step)
			for (uint32_t k = 0; k < 1u << p->own->coins; k++)
				if (walk_check(p->own, g,
					       (struct net_route){ .src = s,
								   .dest = d,
								   .coins = k },
					       err))
					return -EINVAL;
	return 0;
}

struct net_routing *net_plug_routing(const struct weft_routing *own,
				     struct weft_err *err)
{
	struct plug_routing *p;

	if (own->api_version != WEFT_API_VERSION ||
	    own->struct_size != sizeof(*own) || !own->name ||
	    !own->topologies || !own->route || !own->vcs ||
	    own->vcs > NET_VCS_MAX || own->coins > NET_DIMS) {
		weft_fail(
			err, EINVAL,
			"routing '%.60s' is incomplete or built for another interface: begin with WEFT_NETWORK, give name, topologies, route, 1 to %u vcs and up to %u coins, and build it again",
			own->struct_size == sizeof(*own) && own->name
				? own->name
				: "",
			NET_VCS_MAX, NET_DIMS);
		return NULL;
	}
	p = need(calloc(1, sizeof(*p)));
	p->own = own;
	p->r = (struct net_routing){ .name = own->name,
				     .doc = own->doc ? own->doc : "",
				     .topologies = own->topologies,
				     .prepare = plug_prepare,
				     .vcs = plug_vcs,
				     .route = plug_route,
				     .coins = (uint8_t)own->coins };
	return &p->r;
}
