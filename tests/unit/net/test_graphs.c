/* SPDX-License-Identifier: Apache-2.0 */
/* Structure of topologies, as their definitions say: routers, ends, cables,
 * degree and diameter. */
#include "../cmocka_all.h"

#include <stdlib.h>
#include <string.h>

#include "net/routing.h"

/* A ring of 6 with two parallel cables between 0 and 1, and between 3 and 4.
 * Routers 0 to 3 have an end each, router 5 has two. */
static struct net_cable ring_at[] = {
	{ 0, 0, 0, 1, true }, { 1, 1, 0, 1, true }, { 2, 2, 0, 1, true },
	{ 3, 3, 0, 1, true }, { 5, 5, 0, 1, true }, { 5, 4, 7, 1, true },
	{ 0, 1, 0, 2 },	      { 1, 2, 0, 1 },	    { 2, 3, 9, 1 },
	{ 3, 4, 4, 2 },	      { 4, 5, 0, 1 },	    { 5, 0, 4, 1 },
};
static const struct net_cables ring = { 12, 6, 6, ring_at };

static const struct {
	const char *topology;
	struct net_shape shape;
	/* cables: number between routers. degree: largest number of cables of a
	 * router. diameter: in cables, between routers that have ends */
	uint32_t routers, ends, cables, degree, diameter;
} nets[] = {
	{ "mesh", { 2, { 4, 3 } }, 12, 12, 17, 4, 5 },
	{ "torus", { 2, { 5, 4 }, 2 }, 20, 40, 40, 4, 4 },
	/* k-ary n-trees: n * k^(n-1) routers, (n - 1) * k^n cables */
	{ "fat_tree", { 1, { 6 } }, 1, 6, 0, 0, 0 },
	{ "fat_tree", { 2, { 3, 3 } }, 6, 9, 9, 3, 2 },
	{ "fat_tree", { 3, { 4, 4, 4 } }, 48, 64, 128, 8, 4 },
	{ "fat_tree", { 4, { 2, 2, 2, 2 } }, 32, 16, 48, 4, 6 },
	{ "fat_tree",
	  { 3, { 2, 2, 2 }, .lengthy = 2, .length = { 1, 9 } },
	  12,
	  8,
	  16,
	  4,
	  4 },
	/* tapered: 12 + 12 + 3 routers */
	{ "fat_tree", { 3, { 4, 3, 4 }, 0, 2, { 3, 1 } }, 27, 48, 48, 4, 4 },
	/* BookSim2's qtree */
	{ "fat_tree", { 3, { 4, 4, 4 }, 0, 2, { 1, 1 } }, 21, 64, 20, 5, 4 },
	{ "graph", { .cables = &ring }, 6, 6, 8, 3, 3 },
	{ "hypercube", { 1, { 1 }, 3 }, 2, 6, 1, 1, 1 },
	{ "hypercube", { 1, { 6 } }, 64, 64, 192, 6, 6 },
	/* Slim flies have 2 q^2 routers of degree (3 q - d) / 2 and diameter 2
	 * (Besta and Hoefler 2014). q is a prime or a power of a prime, and d
	 * is -1, 0 or 1. */
	{ "slim_fly", { 1, { 3 } }, 18, 54, 45, 5, 2 },
	{ "slim_fly", { 1, { 4 } }, 32, 96, 96, 6, 2 },
	{ "slim_fly", { 1, { 5 } }, 50, 200, 175, 7, 2 },
	{ "slim_fly", { 1, { 7 }, 1 }, 98, 98, 539, 11, 2 },
	{ "slim_fly", { 1, { 8 }, 1 }, 128, 128, 768, 12, 2 },
	{ "slim_fly", { 1, { 9 }, 1 }, 162, 162, 1053, 13, 2 },
	{ "slim_fly", { 1, { 11 }, 1 }, 242, 242, 2057, 17, 2 },
	{ "slim_fly", { 1, { 13 }, 1 }, 338, 338, 3211, 19, 2 },
	{ "slim_fly", { 1, { 16 }, 1 }, 512, 512, 6144, 24, 2 },
	{ "slim_fly", { 1, { 17 }, 1 }, 578, 578, 7225, 25, 2 },
	{ "slim_fly", { 1, { 19 }, 1 }, 722, 722, 10469, 29, 2 },
	{ "random_regular", { 2, { 20, 3 }, 2 }, 20, 40, 30, 3, 5 },
	{ "random_regular", { 2, { 500, 8 } }, 500, 500, 2000, 8, 5 },
	{ "random_regular", { 2, { 6, 5 } }, 6, 6, 15, 5, 1 },
	{ "clos", { 3, { 3, 4, 5 } }, 14, 15, 40, 10, 2 },
	{ "benes", { 1, { 4 } }, 1, 4, 0, 0, 0 },
	{ "benes", { 3, { 2, 2, 2 } }, 20, 8, 32, 4, 4 },
	{ "benes", { 2, { 5, 5 } }, 15, 25, 50, 10, 2 },
	{ "tree4", { 0 }, 28, 64, 64, 8, 4 },
	{ "cmesh", { 2, { 4, 4 } }, 16, 64, 32, 4, 4 },
	{ "cmesh", { 2, { 8, 8 } }, 64, 256, 128, 4, 8 },
};
enum { NETS = sizeof(nets) / sizeof(*nets) };

static void graph_of(struct net_graph *g, uint32_t i)
{
	struct weft_err err = { 0 };

	if (net_graph_init(g, net_topology_called(nets[i].topology),
			   &nets[i].shape, &err))
		fail_msg("%s: %s", nets[i].topology, err.msg);
}

/* Returns the distance in cables from a router to the farthest router that has
 * ends. */
static uint32_t farthest(const struct net_graph *g, uint32_t from)
{
	uint32_t *queue = calloc(g->routers, sizeof(*queue)), n = 1, most = 0;
	uint32_t *dist = calloc(g->routers, sizeof(*dist));

	queue[0] = from;
	dist[from] = 1;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t r = queue[i];

		for (uint32_t p = 0; p < net_graph_ports(g, r); p++) {
			const struct net_far *f = net_graph_far(g, r, p);

			if (f->at == NET_NOWHERE)
				continue;
			if (f->end)
				most = dist[r] - 1;
			else if (!dist[f->at]) {
				dist[f->at] = dist[r] + 1;
				queue[n++] = f->at;
			}
		}
	}
	assert_int_equal(n, g->routers);
	free(queue);
	free(dist);
	return most;
}

static void topologies_have_the_structure_of_their_definitions(void **state)
{
	for (uint32_t i = 0; i < NETS; i++) {
		uint32_t cables = 0, degree = 0, diameter = 0, far;
		struct net_graph g;

		graph_of(&g, i);
		for (uint32_t r = 0; r < g.routers; r++) {
			uint32_t n = 0;

			for (uint32_t p = 0; p < net_graph_ports(&g, r); p++) {
				const struct net_far *f =
					net_graph_far(&g, r, p);

				n += f->at != NET_NOWHERE && !f->end;
			}
			cables += n;
			degree = n > degree ? n : degree;
		}
		for (uint32_t e = 0; e < g.ends; e++) {
			far = farthest(&g, g.out[e].at);
			diameter = far > diameter ? far : diameter;
		}
		if (g.routers != nets[i].routers || g.ends != nets[i].ends ||
		    cables != 2 * nets[i].cables || degree != nets[i].degree ||
		    diameter != nets[i].diameter)
			fail_msg(
				"%s (row %u): %u routers, %u ends, %u cables, degree %u, diameter %u",
				nets[i].topology, i, g.routers, g.ends,
				cables / 2, degree, diameter);
		net_graph_fini(&g);
	}
}

/* The ports through which an end sends and receives both lead to this end. */
static void each_end_is_attached_once(void **state)
{
	for (uint32_t i = 0; i < NETS; i++) {
		uint32_t ports = 0, expected = 0;
		struct net_graph g;

		graph_of(&g, i);
		for (uint32_t p = 0; p < g.first[g.routers]; p++)
			ports += g.port[p].at != NET_NOWHERE && g.port[p].end;
		for (uint32_t e = 0; e < g.ends; e++) {
			const struct net_far *a = &g.out[e], *b = &g.in[e];
			bool one = a->at == b->at && a->port == b->port;

			assert_int_equal(net_graph_far(&g, a->at, a->port)->at,
					 e);
			assert_int_equal(
				net_graph_far(&g, a->at, a->port)->port, 0);
			assert_int_equal(net_graph_far(&g, b->at, b->port)->at,
					 e);
			assert_int_equal(
				net_graph_far(&g, b->at, b->port)->port, !one);
			expected += one ? 1 : 2;
		}
		assert_int_equal(ports, expected);
		net_graph_fini(&g);
	}
}

static void both_directions_of_a_cable_agree(void **state)
{
	for (uint32_t i = 0; i < NETS; i++) {
		struct net_graph g;

		graph_of(&g, i);
		for (uint32_t r = 0; r < g.routers; r++)
			for (uint32_t p = 0; p < net_graph_ports(&g, r); p++) {
				const struct net_far *f =
					net_graph_far(&g, r, p);
				const struct net_far *b;

				if (f->at == NET_NOWHERE || f->end)
					continue;
				b = net_graph_far(&g, f->at, f->port);
				assert_int_equal(b->at, r);
				assert_int_equal(b->port, p);
				assert_int_equal(b->trunk, f->trunk);
				assert_int_equal(b->kind, f->kind);
			}
		net_graph_fini(&g);
	}
}

/* Checks that every smaller shape that reduce() returns can be built. */
static void reduced_shapes_are_shapes(void **state)
{
	for (uint32_t i = 0; i < NETS; i++) {
		const struct net_topology *t =
			net_topology_called(nets[i].topology);
		struct net_shape s = nets[i].shape;
		struct weft_err err = { 0 };
		uint32_t steps = 0;

		while (t->reduce(&s)) {
			struct net_graph g;

			assert_in_range(++steps, 1, 20);
			assert_int_equal(net_graph_init(&g, t, &s, &err), 0);
			net_graph_fini(&g);
		}
	}
}

static void wrong_shapes_are_refused_with_what_would_do(void **state)
{
	static const struct {
		const char *topology;
		struct net_shape shape;
		const char *text;
	} wrong[] = {
		{ "fat_tree", { 2, { 4, 1 } }, "or leave the level out" },
		{ "fat_tree", { 2, { 4, 4 }, 2 }, "leave out ends" },
		{ "fat_tree", { 3, { 4, 4, 4 }, 0, 1, { 2 } }, "write 2" },
		{ "fat_tree",
		  { 3, { 4, 4, 4 }, 0, 2, { 0, 1 } },
		  "at least 1 leads" },
		{ "fat_tree", { 2, { 100, 100 } }, "at most 128" },
		{ "fat_tree",
		  { 3, { 4, 4, 4 }, .lengthy = 1, .length = { 2 } },
		  "above each of them" },
		{ "hypercube", { 2, { 2, 2 } }, "dims: [6]" },
		{ "hypercube", { 1, { 21 } }, "up to 20" },
		{ "slim_fly", { 1, { 6 } }, "a prime power q" },
		{ "slim_fly", { 1, { 2 } }, "from 3 to 83" },
		{ "slim_fly", { 1, { 83 }, 4 }, "at most 128" },
		{ "random_regular", { 1, { 64 } }, "e.g. [64, 6]" },
		{ "random_regular", { 2, { 64, 2 } }, "at least 3" },
		{ "random_regular", { 2, { 9, 3 } }, "one of both even" },
		{ "random_regular", { 2, { 5, 6 } }, "at most 4" },
		{ "clos", { 3, { 4, 4, 1 } }, "at least 2" },
		{ "clos", { 2, { 4, 4 } }, "e.g. [4, 4, 8]" },
		{ "clos", { 3, { 100, 100, 3 } }, "at most 128" },
		{ "benes", { 2, { 2, 3 } }, "e.g. [2, 2, 2]" },
		{ "cmesh", { 2, { 5, 5 } }, "e.g. dims: [4, 4]" },
		{ "cmesh", { 2, { 4, 6 } }, "e.g. dims: [4, 4]" },
		{ "fat_tree",
		  { 8, { 64, 64, 64, 64, 64, 64, 64, 64 } },
		  "use fewer levels" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct weft_err err = { 0 };
		struct net_graph g;

		assert_int_not_equal(
			net_graph_init(&g,
				       net_topology_called(wrong[i].topology),
				       &wrong[i].shape, &err),
			0);
		if (!strstr(err.msg, wrong[i].text))
			fail_msg("%s: %s", wrong[i].topology, err.msg);
	}
}

static void wrong_lists_are_refused_with_what_would_do(void **state)
{
	static struct net_cable itself[] = { { 0, 0, 0, 1, true },
					     { 1, 1, 0, 1 } };
	static struct net_cable apart[] = { { 0, 0, 0, 1, true },
					    { 0, 1, 0, 1 },
					    { 2, 3, 0, 1 } };
	static struct net_cable twice[] = { { 0, 0, 0, 1, true },
					    { 1, 0, 0, 1, true },
					    { 0, 1, 0, 1 } };
	static struct net_cable wide[] = { { 0, 0, 0, 1, true },
					   { 0, 1, 0, 128 } };
	static struct net_cable beyond[] = { { 0, 0, 0, 1, true },
					     { 0, 7, 0, 1 } };
	static const struct {
		struct net_cables list;
		const char *text;
	} wrong[] = {
		{ { 0, 0, 0, NULL }, "no routers or no ends" },
		{ { 2, 2, 1, itself }, "write two routers" },
		{ { 3, 4, 1, apart }, "cables join 2 of 4" },
		{ { 3, 2, 1, twice }, "attached to one router" },
		{ { 2, 2, 2, wide }, "end 1 has no cable" },
		{ { 2, 2, 1, wide }, "at most 128" },
		{ { 2, 2, 1, beyond }, "there are 2 routers" },
	};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct net_shape s = { .cables = &wrong[i].list };
		struct weft_err err = { 0 };
		struct net_graph g;

		assert_int_not_equal(
			net_graph_init(&g, net_topology_called("graph"), &s,
				       &err),
			0);
		if (!strstr(err.msg, wrong[i].text))
			fail_msg("%s: %s", wrong[i].text, err.msg);
	}
}

/* Follows a packet by the choices of a routing. Returns its hops, and its
 * cycles in *cycles_p. */
static uint32_t way(const struct net_graph *g, uint32_t vcs, uint32_t src,
		    uint32_t dest, uint32_t *cycles_p)
{
	struct net_route r = { .src = src, .dest = dest };
	struct net_arrival at = { g->out[src].at, g->out[src].port };
	uint32_t hops = 0;

	*cycles_p = 0;
	for (;; hops++) {
		struct net_choices c = { 0 };
		const struct net_far *f;

		g->routing->route(g, vcs, at, &r, &c);
		assert_int_equal(c.n, 1);
		assert_in_range(c.at[0].last, c.at[0].first, vcs - 1);
		f = net_graph_far(g, at.router, c.at[0].port);
		if (f->end) {
			assert_int_equal(f->at, dest);
			return hops;
		}
		*cycles_p += f->kind ? g->latency[f->kind - 1] : 1;
		at = (struct net_arrival){ f->at, f->port, c.at[0].last };
		assert_in_range(hops, 0, g->routers);
	}
}

/* Router 2 reaches router 5 over router 0 in 6 cycles. The way over router 3
 * would take 14. Router 2 reaches router 4 over router 5 in 7 cycles. */
static void shortest_ways_have_the_fewest_cycles(void **state)
{
	static const uint32_t cycles[6] = { 2, 1, 0, 9, 6, 6 };
	struct weft_err err = { 0 };
	struct net_shape s = { .cables = &ring };
	struct net_graph g;
	uint32_t n;

	assert_int_equal(
		net_graph_init(&g, net_topology_called("graph"), &s, &err), 0);
	assert_int_equal(g.kinds, 3);
	g.routing = net_routing_called("shortest", NULL);
	assert_int_not_equal(net_routing_check(g.routing, &g, 2, &err), 0);
	assert_non_null(strstr(err.msg, "set switch.vcs to"));
	assert_int_equal(net_routing_check(g.routing, &g, 5, &err), 0);
	for (uint32_t e = 0; e < g.ends; e++) {
		way(&g, 5, 2, e, &n);
		assert_int_equal(n, cycles[e]);
	}
	net_graph_fini(&g);
}

/* In a ring of 6 the tree of router 0 has all cables except 3-4. */
static void up_down_takes_the_shortest_of_its_ways(void **state)
{
	struct weft_err err = { 0 };
	struct net_shape s = { .cables = &ring };
	struct net_graph g;
	uint32_t n;

	assert_int_equal(
		net_graph_init(&g, net_topology_called("graph"), &s, &err), 0);
	g.routing = net_routing_called("up_down", NULL);
	assert_int_equal(net_routing_check(g.routing, &g, 1, &err), 0);
	assert_int_equal(way(&g, 1, 3, 0, &n), 3);
	assert_int_equal(way(&g, 1, 2, 4, &n), 3);
	assert_int_equal(way(&g, 1, 0, 3, &n), 3);
	net_graph_fini(&g);
}

/* Three cables join routers 0 and 1. Behind router 1 are three routers, two
 * cables to each. The ways from router 0 to the four others are spread over the
 * three cables, and each cable leads back. */
static void ways_to_several_routers_share_parallel_cables(void **state)
{
	static const char *const routings[] = { "shortest", "shortest_all_vcs",
						"valiant", "up_down" };
	struct net_cable at[14];
	struct net_cables l = { 14, 5, 5, at };
	struct net_shape s = { .cables = &l };
	struct weft_err err = { 0 };
	struct net_graph g;

	for (uint32_t i = 0; i < 5; i++)
		at[i] = (struct net_cable){ i, i, 0, 1, true };
	for (uint32_t i = 5; i < 14; i++)
		at[i] = (struct net_cable){ i > 7, i > 7 ? i / 2 - 2 : 1, 0, 1,
					    false };
	assert_int_equal(
		net_graph_init(&g, net_topology_called("graph"), &s, &err), 0);
	for (uint32_t k = 0; k < sizeof(routings) / sizeof(*routings); k++) {
		uint32_t used[4] = { 0 };

		g.routing = net_routing_called(routings[k], g.type);
		assert_int_equal(net_routing_check(g.routing, &g, 4, &err), 0);
		for (uint32_t d = 1; d < 5; d++) {
			struct net_route r = { .src = 0, .dest = d };
			struct net_arrival in = { 0, g.out[0].port };
			struct net_choices c = { 0 };

			g.routing->route(&g, 4, in, &r, &c);
			assert_int_equal(c.n, 1);
			assert_in_range(c.at[0].port, 1, 3);
			used[c.at[0].port]++;
		}
		for (uint32_t p = 1; p < 4; p++)
			assert_in_range(used[p], 1, 2);
	}
	net_graph_fini(&g);
}

static void shortest_ways_without_classes_may_form_a_circle(void **state)
{
	struct net_cable at[10];
	struct net_cables l = { 10, 5, 5, at };
	struct net_shape s = { .cables = &l };
	struct weft_err err = { 0 };
	struct net_graph g;

	for (uint32_t i = 0; i < 5; i++) {
		at[i] = (struct net_cable){ i, i, 0, 1, true };
		at[i + 5] = (struct net_cable){ i, (i + 1) % 5, 0, 1, false };
	}
	assert_int_equal(
		net_graph_init(&g, net_topology_called("graph"), &s, &err), 0);
	assert_int_not_equal(
		net_routing_check(net_routing_called("shortest_all_vcs", NULL),
				  &g, 8, &err),
		0);
	assert_non_null(strstr(err.msg, "use routing shortest or up_down: s"));
	assert_int_equal(net_routing_check(net_routing_called("shortest", NULL),
					   &g, 2, &err),
			 0);
	assert_int_equal(
		net_routing_check(net_routing_called("valiant", g.type), &g, 4,
				  &err),
		0);
	net_graph_fini(&g);
}

/* A tree of any size has no circle of channels, with any number of VCs. */
static void trees_of_any_size_are_proved(void **state)
{
	static const char *const routings[] = { "nearest_common_ancestor",
						"d_mod_k", "nca_adaptive" };
	static const struct net_shape shapes[] = {
		{ 3, { 4, 4, 4 } },
		{ 2, { 40, 40 } },
		{ 4, { 16, 8, 8, 8 }, 0, 3, { 8, 4, 4 } },
		{ 5, { 4, 4, 4, 4, 4 } },
	};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++)
		for (uint32_t k = 0; k < 3; k++) {
			struct weft_err err = { 0 };
			struct net_graph g;

			assert_int_equal(
				net_graph_init(&g,
					       net_topology_called("fat_tree"),
					       &shapes[i], &err),
				0);
			for (uint32_t vcs = 1; vcs < 5; vcs += 3)
				assert_int_equal(
					net_routing_check(
						net_routing_called(routings[k],
								   g.type),
						&g, vcs, &err),
					0);
			net_graph_fini(&g);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			topologies_have_the_structure_of_their_definitions),
		cmocka_unit_test(each_end_is_attached_once),
		cmocka_unit_test(both_directions_of_a_cable_agree),
		cmocka_unit_test(reduced_shapes_are_shapes),
		cmocka_unit_test(wrong_shapes_are_refused_with_what_would_do),
		cmocka_unit_test(wrong_lists_are_refused_with_what_would_do),
		cmocka_unit_test(shortest_ways_have_the_fewest_cycles),
		cmocka_unit_test(up_down_takes_the_shortest_of_its_ways),
		cmocka_unit_test(ways_to_several_routers_share_parallel_cables),
		cmocka_unit_test(
			shortest_ways_without_classes_may_form_a_circle),
		cmocka_unit_test(trees_of_any_size_are_proved),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
