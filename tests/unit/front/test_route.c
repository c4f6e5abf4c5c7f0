/* SPDX-License-Identifier: Apache-2.0 */
/* Routes by tables and the search for cycles of waiting channels: tori with
 * and without datelines, cut cables, random graphs. */
#include <string.h>

#include "../grid.h"
#include "base/rng.h"
#include "front/exp/route.h"

/* Checks that each channel of a cycle ends where the next begins. */
static void cycle_valid(const struct topology *t, const struct route_cycle *c)
{
	for (uint32_t i = 0; i + 1 < c->n && i + 1 < ROUTE_CYCLE_SHOWN; i++)
		assert_int_equal(
			topo_far(t, c->at[i].node, EX_INTERNAL + c->at[i].link),
			c->at[i + 1].node);
}

static void datelines_break_every_cycle_of_a_torus(void **st)
{
	struct topology t = grid(4, 4, 4, true);
	struct route_cycle c = route_check(&t);
	char text[480];

	assert_int_equal(c.n, 0);
	t.dateline = false;
	c = route_check(&t);
	assert_int_equal(c.n, 4);
	cycle_valid(&t, &c);
	route_cycle_text(&c, text, sizeof(text));
	assert_string_equal(text,
			    "s0.lp0/vc0 -> s1.lp0/vc0 -> s2.lp0/vc0 -> "
			    "s3.lp0/vc0 -> s0.lp0/vc0 (4 channels)");
	/* A route in a ring of 3 has at most one hop. Therefore no channels
	 * wait for each other in a circle. */
	t = grid(3, 3, 3, true);
	t.dateline = false;
	assert_int_equal(route_check(&t).n, 0);
	t = grid(5, 0, 0, true);
	t.dateline = false;
	assert_int_equal(route_check(&t).n, 5);
	t = grid(64, 32, 32, true);
	assert_int_equal(route_check(&t).n, 0);
	t = grid(65536, 0, 0, true);
	assert_int_equal(route_check(&t).n, 0);
	t.dateline = false;
	c = route_check(&t);
	assert_int_equal(c.n, 65536);
	route_cycle_text(&c, text, sizeof(text));
	assert_non_null(strstr(text, "... -> s0.lp0/vc0 (65536 channels)"));
}

static void mesh_and_cube(void **st)
{
	struct topology t = grid(4, 4, 4, false);
	struct weft_err err = { 0 };

	assert_int_equal(route_check(&t).n, 0);
	topo_cube(&t, EX_TOPO_PORTS, 6, &err);
	assert_int_equal(route_check(&t).n, 0);
}

static void cut_ring_is_a_line_without_cycles(void **st)
{
	struct topology t = grid(6, 6, 0, true);
	uint32_t a, b;

	assert_true(topo_cut(&t, 2, 3));
	assert_true(topo_cut(&t, 9, 5));
	assert_int_equal(route_check(&t).n, 0);
	assert_false(route_broken(&t, &a, &b));
	t = grid(6, 0, 0, true);
	topo_cut(&t, 5, 3);
	t.dateline = false;
	assert_int_equal(route_check(&t).n, 0);
	topo_cut(&t, 2, 3);
	assert_true(route_broken(&t, &a, &b));
}

static void all_reached(const struct topology *t)
{
	uint32_t a, b;

	assert_false(route_broken(t, &a, &b));
	for (a = 0; a < t->nodes; a++)
		for (b = 0; b < t->nodes; b++)
			assert_true(topo_hops(t, a, b) < t->nodes);
}

static void shortest_routes_wait_in_cycles_up_down_do_not(void **st)
{
	struct topology t = grid(5, 4, 0, true), g = t;
	struct weft_err err = { 0 };

	assert_int_equal(route_graph(&g, &err), 0);
	route_shortest(&g, &err);
	all_reached(&g);
	for (uint32_t a = 0; a < 20; a++)
		for (uint32_t b = 0; b < 20; b++)
			assert_int_equal(topo_hops(&g, a, b),
					 topo_hops(&t, a, b));
	assert_int_not_equal(route_check(&g).n, 0);
	route_up_down(&g, &err);
	all_reached(&g);
	assert_int_equal(route_check(&g).n, 0);
	topo_fini(&g);
}

/* Checks connected random graphs of degree up to 6. */
static void random_graphs_route_everywhere_without_cycles(void **st)
{
	struct weft_err err = { 0 };
	struct weft_rng rng;

	weft_rng_seed(&rng, 1, "graphs");
	for (uint32_t round = 0; round < 50; round++) {
		uint32_t n = 2 + (uint32_t)weft_rng_below(&rng, 40);
		struct topology t = { 0 };

		assert_int_equal(route_graph_new(&t, EX_TOPO_PORTS, n, &err),
				 0);
		/* a tree first, so that the graph is connected */
		for (uint32_t i = 1; i < n; i++) {
			uint32_t k = (uint32_t)weft_rng_below(&rng, i);

			while (route_free_port(&t, k) == TOPO_NO_PORT)
				k = (k + 1) % i;
			route_join(&t, i, route_free_port(&t, i), k,
				   route_free_port(&t, k));
		}
		for (uint32_t i = 0; i < n; i++) {
			uint32_t a = (uint32_t)weft_rng_below(&rng, n);
			uint32_t b = (uint32_t)weft_rng_below(&rng, n);
			uint32_t p = route_free_port(&t, a);
			uint32_t q = route_free_port(&t, b);

			if (a != b && p != TOPO_NO_PORT && q != TOPO_NO_PORT)
				assert_true(route_join(&t, a, p, b, q));
		}
		route_shortest(&t, &err);
		all_reached(&t);
		route_up_down(&t, &err);
		all_reached(&t);
		assert_int_equal(route_check(&t).n, 0);
		topo_fini(&t);
	}
}

static void unconnected_node_is_reported_as_broken(void **st)
{
	struct weft_err err = { 0 };
	struct topology t = { 0 };
	uint32_t a, b;

	assert_int_equal(route_graph_new(&t, EX_TOPO_PORTS, 3, &err), 0);
	assert_true(route_join(&t, 0, 3, 1, 4));
	assert_false(route_join(&t, 2, 3, 1, 4));
	assert_false(route_join(&t, 2, 3, 2, 3));
	route_shortest(&t, &err);
	assert_true(route_broken(&t, &a, &b));
	assert_int_equal(b, 2);
	route_up_down(&t, &err);
	assert_true(route_broken(&t, &a, &b));
	topo_fini(&t);
	assert_int_not_equal(route_graph_new(&t, EX_TOPO_PORTS, 9000, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(datelines_break_every_cycle_of_a_torus),
		cmocka_unit_test(mesh_and_cube),
		cmocka_unit_test(cut_ring_is_a_line_without_cycles),
		cmocka_unit_test(shortest_routes_wait_in_cycles_up_down_do_not),
		cmocka_unit_test(random_graphs_route_everywhere_without_cycles),
		cmocka_unit_test(unconnected_node_is_reported_as_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
