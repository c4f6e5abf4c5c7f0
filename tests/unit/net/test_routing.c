/* SPDX-License-Identifier: Apache-2.0 */
/* Graphs of networks and their routings. The far port of every cable leads back
 * to the near port. Packets arrive, and take a shortest way if the routing
 * promises it. Circles of channels are found. The message that refuses a wrong
 * combination names a valid combination. */
#include "../cmocka_all.h"

#include <string.h>

#include "base/rng.h"
#include "net/routing.h"

static const struct {
	const char *topology;
	struct net_shape shape;
	uint32_t routers, ends, ports, datelines;
} nets[] = {
	{ "mesh", { 2, { 4, 3 } }, 12, 12, 5 },
	{ "mesh", { 1, { 6 }, 3 }, 6, 18, 5 },
	{ "mesh", { 3, { 3, 4, 2 } }, 24, 24, 7 },
	{ "torus", { 2, { 5, 4 } }, 20, 20, 5 },
	{ "torus", { 3, { 2, 3, 4 }, 2 }, 24, 48, 8 },
	{ "torus", { 2, { 5, 4 } }, 20, 20, 5, NET_DATELINES_BALANCED },
	{ "torus", { 3, { 2, 3, 4 }, 2 }, 24, 48, 8, NET_DATELINES_BALANCED },
	{ "torus", { 1, { 8 } }, 8, 8, 3, NET_DATELINES_BALANCED },
	{ "fly", { 1, { 5 } }, 1, 5, 10 },
	{ "fly", { 3, { 3, 3, 3 } }, 27, 27, 6 },
	{ "fat_tree", { 1, { 5 } }, 1, 5, 5 },
	{ "fat_tree", { 3, { 3, 3, 3 } }, 27, 27, 6 },
	{ "hypercube", { 1, { 4 }, 2 }, 16, 32, 6 },
	{ "slim_fly", { 1, { 3 }, 1 }, 18, 18, 6 },
	{ "random_regular", { 2, { 12, 3 } }, 12, 12, 4 },
	{ "clos", { 3, { 2, 3, 4 } }, 11, 8, 8 },
	{ "benes", { 3, { 2, 2, 2 } }, 20, 8, 4 },
	{ "tree4", { 0 }, 28, 64, 8 },
	{ "cmesh", { 2, { 4, 4 } }, 16, 64, 8 },
	{ "fat_tree", { 3, { 4, 2, 3 }, 0, 2, { 2, 1 } }, 14, 24, 6 },
	{ "dragonfly", { 2, { 4, 2 } }, 36, 72, 7 },
	{ "dragonfly", { 3, { 4, 2, 3 }, 1 }, 12, 12, 6 },
	{ "dragonfly",
	  { 2, { 3, 1 }, 2, .arrangement = 1 /* palmtree */ },
	  12,
	  24,
	  5 },
	{ "dragonfly", { 3, { 2, 3, 4 }, .arrangement = 1 }, 8, 24, 7 },
	{ "dragonfly_plus", { 3, { 2, 2, 2 } }, 20, 20, 4 },
	{ "dragonfly_plus", { 4, { 3, 2, 2, 3 }, 1 }, 15, 9, 5 },
	{ "flattened_butterfly", { 2, { 3, 3 } }, 9, 27, 7 },
	{ "hyperx", { 3, { 2, 3, 4 }, 1 }, 24, 24, 7 },
	{ "hyperx",
	  { 2, { 3, 2 }, 2, .trunked = 2, .trunking = { 2, 3 } },
	  6,
	  12,
	  9 },
};
enum { NETS = sizeof(nets) / sizeof(*nets), VCS = 4 };

static void graph_of(struct net_graph *g, uint32_t i)
{
	struct weft_err err = { 0 };

	assert_int_equal(net_graph_init(g,
					net_topology_called(nets[i].topology),
					&nets[i].shape, &err),
			 0);
	g->datelines = nets[i].datelines;
}

static void cables_lead_back_and_ends_are_attached(void **state)
{
	for (uint32_t i = 0; i < NETS; i++) {
		struct net_graph g;
		uint32_t ends = 0;

		graph_of(&g, i);
		assert_int_equal(g.routers, nets[i].routers);
		assert_int_equal(g.ends, nets[i].ends);
		for (uint32_t r = 0; r < g.routers; r++)
			for (uint32_t p = 0; p < net_graph_ports(&g, r); p++) {
				const struct net_far *f = net_graph_far(&g, r,
									p),
						     *back;

				assert_in_range(net_graph_ports(&g, r), 1,
						nets[i].ports);
				ends += f->at != NET_NOWHERE && f->end;
				if (f->at == NET_NOWHERE || f->end)
					continue;
				back = net_graph_far(&g, f->at, f->port);
				assert_int_equal(back->at, r);
				assert_int_equal(back->port, p);
			}
		assert_int_equal(ends, g.ends * (g.type->one_way ? 2 : 1));
		net_graph_fini(&g);
	}
}

/* Walks a packet by a random choice at each router. Returns the number of hops.
 */
static uint32_t walk(const struct net_graph *g, struct net_route r,
		     struct weft_rng *rng)
{
	struct net_arrival at = { g->out[r.src].at, g->out[r.src].port, 3 };

	for (uint32_t hops = 1; hops < 200; hops++) {
		struct net_choices c = { 0 };
		const struct net_choice *k;
		const struct net_far *f;

		g->routing->route(g, VCS, at, &r, &c);
		assert_in_range(c.n, 1, NET_CHOICES);
		k = &c.at[weft_rng_below(rng, c.n)];
		assert_true(k->first <= k->last && k->last < VCS);
		f = net_graph_far(g, at.router, k->port);
		assert_int_not_equal(f->at, NET_NOWHERE);
		if (f->end) {
			assert_int_equal(f->at, r.dest);
			return hops;
		}
		at = (struct net_arrival){
			f->at, f->port,
			k->first + (uint32_t)weft_rng_below(
					   rng, k->last - k->first + 1u)
		};
	}
	fail();
	return 0;
}

/* Returns the number of routers on a shortest way between two ends of a grid.
 */
static uint32_t shortest(const struct net_graph *g, uint32_t from, uint32_t to)
{
	uint32_t a = g->out[from].at, b = g->out[to].at, hops = 1;
	char type = g->type->name[0];

	for (uint32_t d = 0; d < g->shape.dims; d++) {
		uint32_t k = g->shape.size[d], n = (b % k + k - a % k) % k;

		if (type == 'm')
			n = a % k < b % k ? b % k - a % k : a % k - b % k;
		else if (type != 't')
			n = a % k != b % k;
		else if (n > k - n)
			n = k - n;
		hops += n;
		a /= k;
		b /= k;
	}
	return hops;
}

/* Ways over a random router may be longer. */
static void hops_check(const struct net_graph *g, struct net_route r,
		       uint32_t hops)
{
	const char *name = g->routing->name;
	uint32_t least = shortest(g, r.src, r.dest);

	if (!strcmp(name, "minimal"))
		assert_in_range(hops, 1, g->shape.dims == 4 ? 5 : 4);
	if (g->type->grid &&
	    (!strcmp(name, "valiant") || !strcmp(name, "ugal")))
		assert_in_range(hops, least, UINT32_MAX);
	else if (g->type->grid && strcmp(name, "up_down"))
		assert_int_equal(hops, least);
}

static void walk_all(struct net_graph *g)
{
	struct weft_rng rng;

	weft_rng_seed(&rng, 1, g->routing->name);
	for (uint32_t s = 0; s < g->ends; s++)
		for (uint32_t d = 0; d < g->ends; d++) {
			struct net_route r = { .src = s, .dest = d };

			r.coins = (uint32_t)weft_rng_u64(&rng);
			if (g->routing->inject)
				g->routing->inject(g, &r, weft_rng_u64(&rng));
			assert_in_range(r.mid, 0, g->routers - 1);
			hops_check(g, r, walk(g, r, &rng));
		}
}

static void every_packet_arrives_by_every_routing(void **state)
{
	for (uint32_t i = 0; i < NETS; i++)
		for (const struct net_routing *const *r = net_routings; *r;
		     r++) {
			struct weft_err err = { 0 };
			struct net_graph g;

			graph_of(&g, i);
			g.routing = *r;
			if (!net_routing_check(*r, &g, VCS, &err))
				walk_all(&g);
			net_graph_fini(&g);
		}
}

/* Each routing fits its topologies with its least number of VCs, and one VC
 * less is refused. */
static void least_vcs_do_and_one_less_is_refused(void **state)
{
	for (uint32_t i = 0; i < NETS; i++)
		for (const struct net_routing *const *r = net_routings; *r;
		     r++) {
			struct weft_err err = { 0 };
			const char *why;
			struct net_graph g;
			uint32_t n;

			graph_of(&g, i);
			if (net_routing_check(*r, &g, NET_VCS_MAX, &err)) {
				assert_non_null(strstr(err.msg, "use "));
				net_graph_fini(&g);
				continue;
			}
			n = (*r)->vcs(&g, &why);
			for (uint32_t v = n; v < n + 4; v++)
				assert_int_equal(
					net_routing_check(*r, &g, v, &err), 0);
			if (n > 1) {
				assert_int_not_equal(
					net_routing_check(*r, &g, n - 1, &err),
					0);
				assert_non_null(
					strstr(err.msg, "set switch.vcs to"));
			}
			net_graph_fini(&g);
		}
}

/* ---- classes of a ring ---- */

/* Counts the packets that go three routers ahead in a ring of eight with either
 * value of their coin: class_of[r][k] packets of class k leave router r. */
static void tornado_walk(uint32_t datelines, uint32_t class_of[8][2])
{
	const struct net_shape ring = { 1, { 8 } };
	struct weft_err err = { 0 };
	struct net_graph g;

	memset(class_of, 0, sizeof(uint32_t[8][2]));
	assert_int_equal(
		net_graph_init(&g, net_topology_called("torus"), &ring, &err),
		0);
	g.routing = net_routing_called("dimension_order", g.type);
	g.datelines = datelines;
	for (uint32_t i = 0; i < 16; i++) {
		struct net_route r = { .src = i / 2,
				       .dest = (i / 2 + 3) % 8,
				       .coins = i & 1 };
		struct net_arrival in = { i / 2, 2, 0 };

		for (uint32_t hop = 0; hop < 3; hop++) {
			struct net_choices c = { 0 };
			const struct net_far *f;

			g.routing->route(&g, VCS, in, &r, &c);
			assert_int_equal(c.n, 1);
			assert_int_equal(c.at[0].port, 0);
			class_of[in.router][c.at[0].first >= VCS / 2]++;
			f = net_graph_far(&g, in.router, 0);
			in = (struct net_arrival){ f->at, f->port,
						   c.at[0].first };
		}
	}
	net_graph_fini(&g);
}

static void balanced_datelines_share_the_cables_of_a_ring(void **state)
{
	uint32_t n[8][2];

	tornado_walk(NET_DATELINES_BALANCED, n);
	for (uint32_t r = 0; r < 8; r++) {
		assert_int_equal(n[r][0] + n[r][1], 6);
		assert_int_equal(!n[r][0], r == 7);
		assert_int_equal(!n[r][1], r == 3);
	}
	tornado_walk(NET_DATELINES_ONE, n);
	for (uint32_t r = 2; r < 5; r++)
		assert_int_equal(n[r][1], 0);
	assert_int_equal(n[7][0], 0);
}

/* ---- circles ---- */

static const char *const anywhere[] = { "torus", "mesh", "dragonfly", NULL };

static uint32_t any_vcs(const struct net_graph *g, const char **why)
{
	*why = "any";
	return 1;
}

/* Dimension order without classes in a ring. */
static void careless_route(const struct net_graph *g, uint32_t vcs,
			   struct net_arrival in, struct net_route *r,
			   struct net_choices *c)
{
	net_routing_called("dimension_order", g->type)->route(g, 2, in, r, c);
	c->at[0].first = 0;
	c->at[0].last = (uint8_t)(vcs - 1);
}

static const struct net_routing careless = { .name = "careless",
					     .topologies = anywhere,
					     .vcs = any_vcs,
					     .route = careless_route };

/* Two orders of dimensions in the same VCs. */
static void turning_route(const struct net_graph *g, uint32_t vcs,
			  struct net_arrival in, struct net_route *r,
			  struct net_choices *c)
{
	net_routing_called("o1turn", g->type)->route(g, 2, in, r, c);
	c->at[0].first = 0;
	c->at[0].last = (uint8_t)(vcs - 1);
}

static const struct net_routing turning = { .name = "turning",
					    .topologies = anywhere,
					    .vcs = any_vcs,
					    .route = turning_route };

/* Phases without classes of their own. */
static void phases_route(const struct net_graph *g, uint32_t vcs,
			 struct net_arrival in, struct net_route *r,
			 struct net_choices *c)
{
	net_routing_called("valiant", g->type)->route(g, 2, in, r, c);
	c->at[0].first = 0;
	c->at[0].last = (uint8_t)(vcs - 1);
}

static const struct net_routing phased = { .name = "phased",
					   .topologies = anywhere,
					   .vcs = any_vcs,
					   .route = phases_route,
					   .phases = true };

/* Moves the only VC of each choice by a table. */
static void classes_map(struct net_choices *c, const uint8_t *to)
{
	for (uint32_t i = 0; i < c->n; i++)
		c->at[i].first = c->at[i].last = to[c->at[i].first];
}

/* A plane in which packets that ascend and those that descend share VCs. */
static void plane_route(const struct net_graph *g, uint32_t vcs,
			struct net_arrival in, struct net_route *r,
			struct net_choices *c)
{
	static const uint8_t to[] = { 0, 0, 2 };

	net_routing_called("planar_adaptive", g->type)->route(g, 3, in, r, c);
	classes_map(c, to);
}

static const struct net_routing plane = { .name = "plane",
					  .topologies = anywhere,
					  .vcs = any_vcs,
					  .route = plane_route };

/* Routes over a random router (valiant). The way to that router has one class
 * of VCs on both sides of its cable between groups, as in BookSim2's
 * ugal_dragonflynew. */
static void ladder_route(const struct net_graph *g, uint32_t vcs,
			 struct net_arrival in, struct net_route *r,
			 struct net_choices *c)
{
	static const uint8_t to[] = { 0, 0, 1, 2 };
	const struct net_far *eject = &g->in[r->dest];

	net_routing_called("valiant", g->type)->route(g, 4, in, r, c);
	if (in.router != eject->at || c->at[0].port != eject->port)
		classes_map(c, to);
}

static const struct net_routing ladder = { .name = "ladder",
					   .topologies = anywhere,
					   .vcs = any_vcs,
					   .route = ladder_route,
					   .phases = true,
					   .draws = true,
					   .coins = 1 };

/* Packets of coin 1 take the ways of `ladder`, others those of valiant. */
static void tossed_route(const struct net_graph *g, uint32_t vcs,
			 struct net_arrival in, struct net_route *r,
			 struct net_choices *c)
{
	if (r->coins & 1)
		ladder_route(g, vcs, in, r, c);
	else
		net_routing_called("valiant", g->type)->route(g, 4, in, r, c);
}

static const struct net_routing tossed = { .name = "tossed",
					   .topologies = anywhere,
					   .vcs = any_vcs,
					   .route = tossed_route,
					   .phases = true,
					   .draws = true,
					   .coins = 1 };

static void refuses(const struct net_routing *r, const char *topology,
		    struct net_shape shape, bool refused)
{
	struct weft_err err = { 0 };
	struct net_graph g;

	assert_int_equal(
		net_graph_init(&g, net_topology_called(topology), &shape, &err),
		0);
	assert_int_equal(net_routing_check(r, &g, 4, &err) != 0, refused);
	if (refused) {
		assert_non_null(strstr(err.msg, "may deadlock: s"));
		assert_non_null(strstr(err.msg, " -> "));
	}
	net_graph_fini(&g);
}

/* The VCs of one output are in two words of a set. The search starts with the
 * last VC, therefore the circle that it reports has the highest VC. */
static void circles_are_found_in_all_vcs(void **state)
{
	static const struct net_shape shape = { 2, { 2, 4 } };
	struct weft_err err = { 0 };
	struct net_graph g;
	char text[300];

	assert_int_equal(
		net_graph_init(&g, net_topology_called("torus"), &shape, &err),
		0);
	assert_true(net_routing_cycle(&careless, &g, 20,
				      &(struct net_range){ 0, 20 }, 1, text,
				      sizeof(text)));
	assert_non_null(strstr(text, "p3 VC 19 -> "));
	assert_true(net_routing_cycle(&careless, &g, 32,
				      &(struct net_range){ 0, 32 }, 1, text,
				      sizeof(text)));
	assert_non_null(strstr(text, "p3 VC 31 -> "));
	net_graph_fini(&g);
}

static void circles_are_found_and_named(void **state)
{
	refuses(&careless, "torus", (struct net_shape){ 1, { 4 } }, true);
	refuses(&careless, "torus", (struct net_shape){ 2, { 2, 5 } }, true);
	/* searched in a smaller network */
	refuses(&careless, "torus", (struct net_shape){ 3, { 16, 16, 16 } },
		true);
	refuses(&careless, "torus", (struct net_shape){ 2, { 600, 2 } }, true);
	refuses(&careless, "torus", (struct net_shape){ 2, { 601, 2 } }, true);
	/* a packet in a ring of 3 holds one cable at most, so that no circle
	 * exists */
	refuses(&careless, "torus", (struct net_shape){ 1, { 3 } }, false);
	refuses(&careless, "mesh", (struct net_shape){ 2, { 4, 4 } }, false);
	refuses(&turning, "mesh", (struct net_shape){ 1, { 9 } }, false);
	refuses(&turning, "mesh", (struct net_shape){ 2, { 2, 2 } }, true);
	refuses(&phased, "mesh", (struct net_shape){ 1, { 3 } }, true);
	refuses(&plane, "mesh", (struct net_shape){ 2, { 4, 2 } }, true);
	refuses(&plane, "mesh", (struct net_shape){ 2, { 40, 40 } }, true);
	refuses(&ladder, "dragonfly", (struct net_shape){ 2, { 2, 1 } }, true);
	refuses(&tossed, "dragonfly", (struct net_shape){ 2, { 2, 1 } }, true);
	/* searched in smaller networks */
	refuses(&ladder, "dragonfly", (struct net_shape){ 2, { 8, 4 } }, true);
	refuses(&ladder, "dragonfly", (struct net_shape){ 3, { 16, 8, 20 } },
		true);
	refuses(&phased, "mesh", (struct net_shape){ 2, { 40, 40 } }, true);
}

/* A shipped routing whose VCs are moved by a table. */
static struct {
	const struct net_routing *r;
	uint32_t vcs;
	uint8_t to[4];
} shared;

static void shared_route(const struct net_graph *g, uint32_t vcs,
			 struct net_arrival in, struct net_route *r,
			 struct net_choices *c)
{
	shared.r->route(g, shared.vcs, in, r, c);
	/* the port of an end has all VCs */
	if (c->n && c->at[0].first == c->at[0].last)
		classes_map(c, shared.to);
}

/* Each routing needs the classes that the table makes one. A search that does
 * not try all ways of a packet (with each coin, in each phase) finds no
 * circle. */
static void classes_that_share_vcs_are_refused(void **state)
{
	static const struct {
		const char *topology, *routing;
		struct net_shape shape;
		uint8_t to[4];
	} rows[] = {
		{ "mesh", "o1turn", { 2, { 3, 3 } }, { 0, 0 } },
		{ "mesh", "xy_yx_adaptive", { 2, { 3, 3 } }, { 0, 0 } },
		{ "mesh", "valiant", { 2, { 3, 3 } }, { 0, 0 } },
		{ "mesh", "ugal", { 2, { 3, 3 } }, { 0, 0 } },
		{ "hyperx", "o1turn", { 2, { 3, 3 } }, { 0, 0 } },
		{ "hyperx", "xy_yx_adaptive", { 2, { 3, 3 } }, { 0, 0 } },
		{ "hyperx", "valiant", { 2, { 3, 3 } }, { 0, 0 } },
		{ "hyperx", "ugal", { 2, { 3, 3 } }, { 0, 0 } },
		{ "dragonfly", "valiant", { 2, { 2, 1 } }, { 0, 0, 1, 2 } },
		{ "dragonfly", "valiant_group", { 2, { 2, 1 } }, { 0, 0, 1 } },
		{ "dragonfly", "ugal", { 2, { 2, 1 } }, { 0, 0, 1 } },
		{ "dragonfly", "ugal_global", { 2, { 2, 1 } }, { 0, 0, 1 } },
		{ "dragonfly", "progressive", { 2, { 2, 1 } }, { 0, 1, 1, 2 } },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct net_topology *t =
			net_topology_called(rows[i].topology);
		struct net_shape shape = rows[i].shape;
		struct weft_err err = { 0 };
		struct net_routing copy;
		struct net_graph g;
		const char *why;

		shared.r = net_routing_called(rows[i].routing, t);
		assert_non_null(shared.r);
		copy = *shared.r;
		copy.vcs = any_vcs;
		copy.route = shared_route;
		assert_int_equal(net_graph_init(&g, t, &shape, &err), 0);
		shared.vcs = shared.r->vcs(&g, &why);
		assert_in_range(shared.vcs, 2, 4);
		for (uint8_t k = 0; k < 4; k++)
			shared.to[k] = k;
		if (net_routing_check(&copy, &g, shared.vcs, &err))
			fail_msg("row %zu: %s", i, err.msg);
		memcpy(shared.to, rows[i].to, sizeof(shared.to));
		if (!net_routing_check(&copy, &g, shared.vcs, &err))
			fail_msg("row %zu passes", i);
		assert_non_null(strstr(err.msg, "may deadlock: s"));
		net_graph_fini(&g);
	}
}

/* ---- wrong shapes ---- */

static void wrong_shapes_are_refused_with_what_would_do(void **state)
{
	static const struct {
		const char *topology;
		struct net_shape shape;
		const char *text;
	} wrong[] = {
		{ "mesh", { 2, { 4, 1 } }, "at least 2, or leave it out" },
		{ "torus", { 2, { 65536, 65536 } }, "are too many" },
		{ "mesh",
		  { 8, { 2, 2, 2, 2, 2, 2, 2, 2 }, 120 },
		  "at most 128" },
		{ "fly", { 2, { 4, 5 } }, "e.g. [4, 4, 4]" },
		{ "fly", { 1, { 70 } }, "at most 128" },
		{ "fly", { 2, { 4, 4 }, 3 }, "leave out ends" },
		{ "dragonfly", { 1, { 4 } }, "e.g. [4, 2] or [4, 2, 9]" },
		{ "dragonfly",
		  { 3, { 4, 2, 10 } },
		  "4 routers of a group have 2 cables each to other groups, which join 2 to 9 groups" },
		{ "dragonfly", { 2, { 65536, 65536 } }, "are too many" },
		{ "dragonfly", { 3, { 4, 2, 1 } }, "join 2 to 9" },
		{ "dragonfly_plus", { 2, { 4, 2 } }, "e.g. [4, 4, 4]" },
		{ "flattened_butterfly", { 2, { 4, 5 } }, "topology: hyperx" },
		{ "hyperx", { 2, { 4, 1 } }, "at least 2, or leave it out" },
		{ "hyperx",
		  { 2, { 4, 4 }, .trunked = 1, .trunking = { 2 } },
		  "write one for each" },
		{ "hyperx",
		  { 2, { 4, 4 }, .trunked = 2, .trunking = { 9, 9 } },
		  "at most 16: use fewer" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct weft_err err = { 0 };
		struct net_graph g;

		assert_int_not_equal(
			net_graph_init(&g,
				       net_topology_called(wrong[i].topology),
				       &wrong[i].shape, &err),
			0);
		assert_non_null(strstr(err.msg, wrong[i].text));
	}
	assert_null(net_topology_called("ring"));
	assert_null(net_routing_called("xy", NULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cables_lead_back_and_ends_are_attached),
		cmocka_unit_test(every_packet_arrives_by_every_routing),
		cmocka_unit_test(least_vcs_do_and_one_less_is_refused),
		cmocka_unit_test(balanced_datelines_share_the_cables_of_a_ring),
		cmocka_unit_test(circles_are_found_and_named),
		cmocka_unit_test(classes_that_share_vcs_are_refused),
		cmocka_unit_test(circles_are_found_in_all_vcs),
		cmocka_unit_test(wrong_shapes_are_refused_with_what_would_do),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
