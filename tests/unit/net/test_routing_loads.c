/* SPDX-License-Identifier: Apache-2.0 */
/* Decisions of routings that read the loads of outputs: which way a packet
 * takes with empty outputs and with full ones. */
#include "../cmocka_all.h"

#include <stdlib.h>

#include "net/routing.h"

enum { VCS = 8 };

/* A network whose outputs have the loads that a test sets. */
struct bed {
	struct net_graph g;
	uint32_t *load; /* by output */
	struct net_loads loads;
};

static uint32_t bed_used(const void *own, uint32_t router, uint32_t port,
			 uint32_t first, uint32_t last)
{
	const struct bed *b = own;

	return b->load[b->g.first[router] + port];
}

static void bed_init(struct bed *b, const char *topology, const char *routing,
		     struct net_shape shape)
{
	struct weft_err err = { 0 };

	assert_int_equal(net_graph_init(&b->g, net_topology_called(topology),
					&shape, &err),
			 0);
	b->g.routing = net_routing_called(routing, b->g.type);
	assert_non_null(b->g.routing);
	b->load = calloc(b->g.first[b->g.routers], sizeof(*b->load));
	b->loads = (struct net_loads){ bed_used, b };
}

static void bed_fini(struct bed *b)
{
	net_graph_fini(&b->g);
	free(b->load);
}

static void load(struct bed *b, uint32_t router, uint32_t port, uint32_t used)
{
	b->load[b->g.first[router] + port] = used;
}

/* Routes a packet that arrives at a port of a router. Returns its only
 * choice. */
static struct net_choice choice_at(struct bed *b, struct net_route *r,
				   uint32_t router, uint32_t port)
{
	struct net_arrival in = { router, port, 0, &b->loads };
	struct net_choices c = { 0 };

	b->g.routing->route(&b->g, VCS, in, r, &c);
	assert_int_equal(c.n, 1);
	return c.at[0];
}

/* Routes a packet at its source. Returns the port of its only choice. */
static uint32_t first_port(struct bed *b, struct net_route *r)
{
	const struct net_far *out = &b->g.out[r->src];

	return choice_at(b, r, out->at, out->port).port;
}

/* Returns the first port of a packet with route r. Routing changes only a copy
 * of r. */
static uint32_t port_of(struct bed *b, struct net_route r)
{
	return first_port(b, &r);
}

static void xy_yx_takes_the_emptier_first_output(void **state)
{
	struct net_route r = { .src = 0, .dest = 15 }, at_tie = r;
	struct bed b;

	bed_init(&b, "mesh", "xy_yx_adaptive",
		 (struct net_shape){ 2, { 4, 4 } });
	load(&b, 0, 0, 3);
	load(&b, 0, 2, 2);
	assert_int_equal(first_port(&b, &r), 2);
	load(&b, 0, 2, 4);
	assert_int_equal(first_port(&b, &r), 0);
	load(&b, 0, 2, 3);
	assert_int_equal(first_port(&b, &at_tie), 0);
	at_tie.coins = 1;
	assert_int_equal(first_port(&b, &at_tie), 2);
	bed_fini(&b);
}

/* A dragonfly of 9 groups of 4 routers with 2 ends. In group 0 the cable to
 * group 5 leaves router 2 at port 3. The cable to group 7 leaves router 3 at
 * port 3. Router 0 reaches routers 2 and 3 through ports 1 and 2. */
static const struct net_shape groups = { 2, { 4, 2 } };
static const struct net_route over_seven = { .src = 0,
					     .dest = 5 * 8,
					     .mid = 7 * 4 };
enum { TO_FIVE = 1, TO_SEVEN = 2, TRUNK = 3 };

static void ugal_compares_the_first_outputs(void **state)
{
	struct bed b;

	bed_init(&b, "dragonfly", "ugal", groups);
	assert_int_equal(port_of(&b, over_seven), TO_FIVE);
	load(&b, 0, TO_FIVE, 5);
	assert_int_equal(port_of(&b, over_seven), TO_SEVEN);
	load(&b, 0, TO_SEVEN, 2);
	assert_int_equal(port_of(&b, over_seven), TO_SEVEN);
	load(&b, 0, TO_FIVE, 4);
	assert_int_equal(port_of(&b, over_seven), TO_FIVE);
	load(&b, 0, TO_FIVE, 34);
	b.g.threshold = 30;
	assert_int_equal(port_of(&b, over_seven), TO_FIVE);
	load(&b, 0, TO_FIVE, 35);
	assert_int_equal(port_of(&b, over_seven), TO_SEVEN);
	bed_fini(&b);
}

/* Three groups of 4 routers, with one cable of each router to another group, so
 * that two cables join any two groups. Router 0 has a cable to one of the other
 * groups. It reaches the third group through two ports, of which a packet draws
 * one. */
static void ugal_goes_the_minimal_way_that_it_compared(void **state)
{
	struct net_shape three = { 3, { 4, 1, 3 }, 1 };
	uint32_t own, taken = 0;
	struct bed b;

	bed_init(&b, "dragonfly", "ugal", three);
	own = net_graph_far(&b.g, 0, TRUNK)->at / 4;
	for (uint32_t port = 0; port < TRUNK; port++) {
		load(&b, 0, port, 100);
		for (uint32_t k = 0; k < 64; k++) {
			struct net_route r = { .src = 0,
					       .dest = (3 - own) * 4,
					       .mid = own * 4,
					       .coins = k * 0x01000193 };

			assert_int_not_equal(first_port(&b, &r), port);
			taken |= r.phase;
		}
		load(&b, 0, port, 0);
	}
	assert_true(taken);
	bed_fini(&b);
}

static void ugal_stays_minimal_inside_a_group(void **state)
{
	struct net_route inside = over_seven;
	struct bed b;

	bed_init(&b, "dragonfly", "ugal", groups);
	for (uint32_t p = 0; p < 3; p++)
		load(&b, 0, p, p == TO_FIVE ? 100 : 0);
	inside.dest = 2 * 2; /* at router 2 of the same group */
	assert_int_equal(port_of(&b, inside), TO_FIVE);
	inside = over_seven;
	inside.mid = 3; /* the random group is that of the source */
	assert_int_equal(port_of(&b, inside), TO_FIVE);
	inside.mid = 5 * 4 + 1; /* or of the destination */
	assert_int_equal(port_of(&b, inside), TO_FIVE);
	bed_fini(&b);
}

static void ugal_global_compares_the_cables_between_groups(void **state)
{
	struct bed b;

	bed_init(&b, "dragonfly", "ugal_global", groups);
	load(&b, 0, TO_FIVE, 100);
	assert_int_equal(port_of(&b, over_seven), TO_FIVE);
	load(&b, 2, TRUNK, 5);
	assert_int_equal(port_of(&b, over_seven), TO_SEVEN);
	load(&b, 3, TRUNK, 3);
	assert_int_equal(port_of(&b, over_seven), TO_FIVE);
	bed_fini(&b);
}

static void progressive_decides_again_at_the_cable_to_the_group(void **state)
{
	struct net_route r = over_seven, full;
	struct net_choice c;
	struct bed b;

	bed_init(&b, "dragonfly", "progressive", groups);
	load(&b, 2, TRUNK, 9);
	assert_int_equal(first_port(&b, &r), TO_FIVE);
	full = r;
	/* router 2 sends through port 2 to router 3, which has the cable to
	 * group 7 */
	c = choice_at(&b, &full, 2, 0);
	assert_int_equal(c.port, 2);
	assert_int_equal(c.first, 2);
	assert_int_equal(c.last, 3);
	load(&b, 2, 2, 9);
	c = choice_at(&b, &r, 2, 0);
	assert_int_equal(c.port, TRUNK);
	assert_int_equal(c.first, 6);
	bed_fini(&b);
}

/* A packet that has chosen the way over another group does not decide again. */
static void a_detour_is_final(void **state)
{
	struct net_route r = over_seven;
	struct bed b;

	bed_init(&b, "dragonfly", "progressive", groups);
	load(&b, 0, TO_FIVE, 9);
	assert_int_equal(first_port(&b, &r), TO_SEVEN);
	load(&b, 3, TRUNK, 100);
	assert_int_equal(choice_at(&b, &r, 3, 0).port, TRUNK);
	bed_fini(&b);
}

static void ugal_of_a_hyperx_weighs_loads_with_hops(void **state)
{
	/* from (0, 0) to (1, 1): 2 hops, or 4 hops over (2, 2) */
	struct net_route r = { .src = 0, .dest = 5, .mid = 10 };
	struct bed b;

	bed_init(&b, "hyperx", "ugal", (struct net_shape){ 2, { 4, 4 } });
	assert_int_equal(port_of(&b, r), 0);
	load(&b, 0, 0, 2);
	load(&b, 0, 1, 1);
	assert_int_equal(port_of(&b, r), 0);
	load(&b, 0, 0, 3);
	assert_int_equal(port_of(&b, r), 1);
	b.g.threshold = 2;
	assert_int_equal(port_of(&b, r), 0);
	r.mid = 0; /* no way at all */
	load(&b, 0, 0, 100);
	assert_int_equal(port_of(&b, r), 0);
	bed_fini(&b);
}

/* From (0, 0) to (1, 1): right and up. Over (0, 3): three steps up, then right
 * and two steps down. */
static void ugal_of_a_mesh_weighs_the_steps_of_both_ways(void **state)
{
	struct net_route r = { .src = 0, .dest = 5, .mid = 12 };
	struct bed b;

	bed_init(&b, "mesh", "ugal", (struct net_shape){ 2, { 4, 4 } });
	assert_int_equal(port_of(&b, r), 0);
	load(&b, 0, 0, 6);
	load(&b, 0, 2, 6); /* twice 6 + 6, and 3 times 6 + 6 */
	assert_int_equal(port_of(&b, r), 0);
	load(&b, 0, 0, 7);
	assert_int_equal(port_of(&b, r), 2);
	b.g.threshold = 1;
	assert_int_equal(port_of(&b, r), 0);
	load(&b, 0, 0, 10);
	assert_int_equal(port_of(&b, r), 2);
	load(&b, 0, 3, 2); /* down */
	assert_int_equal(port_of(&b, r), 0);
	r.mid = 0; /* no way at all */
	load(&b, 0, 0, 100);
	assert_int_equal(port_of(&b, r), 0);
	bed_fini(&b);
}

/* From router 7 to router 3 both directions have four steps, and a coin
 * decides. */
static void ugal_of_a_torus_goes_round_the_other_way(void **state)
{
	struct net_route r = { .src = 0, .dest = 3, .mid = 7 };
	struct bed b;

	bed_init(&b, "torus", "ugal", (struct net_shape){ 1, { 8 } });
	assert_int_equal(port_of(&b, r), 0);
	load(&b, 0, 0, 5);
	load(&b, 0, 1, 6);
	assert_int_equal(port_of(&b, r), 0);
	load(&b, 0, 1, 5);
	assert_int_equal(port_of(&b, r), 1);
	r.coins = 1 << NET_DIMS; /* up again, past the source */
	load(&b, 0, 1, 10);
	assert_int_equal(port_of(&b, r), 0);
	load(&b, 0, 1, 9);
	assert_int_equal(port_of(&b, r), 1);
	bed_fini(&b);
}

/* VCs 0, 1, 4 and 5 are those of phase 0 in a torus, 0 to 3 in a mesh. */
static void minimal_packets_of_ugal_leave_the_second_phase_its_vcs(void **state)
{
	struct net_route r = { .src = 0, .dest = 3, .mid = 7 };
	struct net_choice c;
	struct bed b;

	bed_init(&b, "torus", "ugal", (struct net_shape){ 1, { 8 } });
	for (uint32_t at = 0; at < 3; at++) {
		c = choice_at(&b, &r, at, at ? 1 : 2);
		assert_int_equal(c.port, 0);
		assert_int_equal(c.first, 0);
		assert_int_equal(c.last, 1);
	}
	assert_int_equal(choice_at(&b, &r, 3, 1).port, 2);
	bed_fini(&b);
	bed_init(&b, "mesh", "ugal", (struct net_shape){ 1, { 8 } });
	r = (struct net_route){ .src = 0, .dest = 1, .mid = 7 };
	c = choice_at(&b, &r, 0, 2);
	assert_int_equal(c.first, 0);
	assert_int_equal(c.last, 3);
	bed_fini(&b);
}

static void xy_yx_of_a_hyperx_takes_the_emptier_output(void **state)
{
	struct net_route r = { .src = 0, .dest = 5 };
	struct bed b;

	bed_init(&b, "flattened_butterfly", "xy_yx_adaptive",
		 (struct net_shape){ 2, { 4, 4 }, 1 });
	assert_int_equal(port_of(&b, r), 0);
	load(&b, 0, 0, 1);
	assert_int_equal(port_of(&b, r), 3);
	bed_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(xy_yx_takes_the_emptier_first_output),
		cmocka_unit_test(ugal_compares_the_first_outputs),
		cmocka_unit_test(ugal_goes_the_minimal_way_that_it_compared),
		cmocka_unit_test(ugal_stays_minimal_inside_a_group),
		cmocka_unit_test(
			ugal_global_compares_the_cables_between_groups),
		cmocka_unit_test(
			progressive_decides_again_at_the_cable_to_the_group),
		cmocka_unit_test(a_detour_is_final),
		cmocka_unit_test(ugal_of_a_mesh_weighs_the_steps_of_both_ways),
		cmocka_unit_test(ugal_of_a_torus_goes_round_the_other_way),
		cmocka_unit_test(
			minimal_packets_of_ugal_leave_the_second_phase_its_vcs),
		cmocka_unit_test(ugal_of_a_hyperx_weighs_loads_with_hops),
		cmocka_unit_test(xy_yx_of_a_hyperx_takes_the_emptier_output),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
