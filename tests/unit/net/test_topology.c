/* SPDX-License-Identifier: Apache-2.0 */
/* Routes in direct networks (extoll.md 4.5, 4.6) against a plain search: every
 * pair has a shortest route in order of dimensions. Also port numbers, strings,
 * datelines, and routes in the other direction where a cable is missing. */
#include <stdlib.h>
#include <string.h>

#include "../grid.h"

/* Computes distances from d by breadth-first search over the cables. */
static void distances(const struct topology *t, uint32_t d, uint32_t *dist)
{
	uint32_t *todo = calloc(t->nodes, sizeof(*todo)), head = 0, tail = 0;

	memset(dist, 0xff, t->nodes * sizeof(*dist));
	dist[d] = 0;
	todo[tail++] = d;
	while (head < tail) {
		uint32_t s = todo[head++];

		for (uint32_t p = EX_INTERNAL; p < EX_PORTS; p++) {
			uint32_t n = topo_far(t, s, p);

			if (n == TOPO_FAR_NONE || dist[n] != UINT32_MAX)
				continue;
			dist[n] = dist[s] + 1;
			todo[tail++] = n;
		}
	}
	free(todo);
}

/* Checks that the far port of each cable leads back to the near port. */
static void check_cables(const struct topology *t)
{
	for (uint32_t s = 0; s < t->nodes; s++)
		for (uint32_t p = EX_INTERNAL; p < EX_PORTS; p++) {
			uint32_t n = topo_far(t, s, p), q;

			if (n == TOPO_FAR_NONE)
				continue;
			q = topo_far_port(t, s, p);
			assert_int_equal(topo_far(t, n, q), s);
			assert_int_equal(topo_far_port(t, n, q), p);
		}
}

/* Checks that the dimension never falls along a route. */
static void check_order(const struct topology *t, uint32_t s, uint32_t d)
{
	uint32_t dim = 0, p;

	for (; s != d; s = topo_far(t, s, p)) {
		p = topo_port(t, s, d);
		assert_int_not_equal(p, TOPO_NO_PORT);
		assert_true(topo_dim(t, p) >= dim);
		dim = topo_dim(t, p);
	}
}

static void check_all(const struct topology *t, bool shortest)
{
	uint32_t *dist = calloc(t->nodes, sizeof(*dist));

	check_cables(t);
	for (uint32_t d = 0; d < t->nodes; d++) {
		distances(t, d, dist);
		for (uint32_t s = 0; s < t->nodes; s++) {
			uint32_t n = topo_hops(t, s, d);

			assert_true(n != UINT32_MAX && n >= dist[s]);
			if (shortest)
				assert_int_equal(n, dist[s]);
			check_order(t, s, d);
		}
	}
	free(dist);
}

static void routes_in_grids_are_shortest_and_in_order(void **st)
{
	static const struct {
		uint32_t x, y, z;
		bool wrap;
	} shapes[] = {
		{ 4, 4, 4, true },  { 3, 5, 2, true },	{ 2, 2, 2, true },
		{ 7, 0, 0, true },  { 8, 3, 0, true },	{ 1, 6, 1, true },
		{ 4, 3, 2, false }, { 9, 0, 0, false }, { 2, 2, 0, false },
	};

	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
		struct topology t = grid(shapes[i].x, shapes[i].y, shapes[i].z,
					 shapes[i].wrap);

		check_all(&t, true);
		t.tie = TOPO_TIE_BALANCED;
		check_all(&t, true);
	}
}

/* Checks port numbers and examples of 4.5. A tie uses the positive side. */
static void ports_are_numbered_by_dimension_and_side(void **st)
{
	struct topology t = grid(4, 4, 4, true);

	assert_int_equal(topo_port(&t, 0, 1), 3);
	assert_int_equal(topo_port(&t, 0, 3), 4);
	assert_int_equal(topo_port(&t, 0, 2), 3); /* tie */
	assert_int_equal(topo_port(&t, 1, 3), 3);
	assert_int_equal(topo_port(&t, 0, 4), 5);
	assert_int_equal(topo_port(&t, 0, 12), 6);
	assert_int_equal(topo_port(&t, 0, 16), 7);
	assert_int_equal(topo_port(&t, 0, 48), 8);
	assert_int_equal(topo_hops(&t, 0, 42), 6); /* the farthest */
	t.tie = TOPO_TIE_BALANCED;
	assert_int_equal(topo_port(&t, 0, 2), 3);
	assert_int_equal(topo_port(&t, 1, 3), 4);
}

/* From (0, 0, 0) to (2, 2, 2) each dimension is a tie. The random bits of a
 * packet (coins) select one of eight routes, all of six hops. */
static void coins_decide_ties(void **st)
{
	struct topology t = grid(4, 4, 4, true);

	t.path = true;
	t.tie = TOPO_TIE_RANDOM;
	for (uint32_t coins = 0; coins < 8; coins++) {
		struct weft_frame f = { 0 };

		assert_true(ex_route_make(&t, 0, 42, 1, coins, &f));
		assert_int_equal(ex_meta(&f)->hops, 7);
		for (uint32_t i = 0; i < 6; i++)
			assert_int_equal(ex_route_nibble(&f, i),
					 3 + i / 2 * 2 + (coins >> i / 2 & 1));
		/* without a tie the coins have no effect */
		assert_true(ex_route_make(&t, 0, 1, 1, coins, &f));
		assert_int_equal(ex_route_nibble(&f, 0), 3);
	}
}

/* Each coin falls on either side nearly equally often, and every combination of
 * coins occurs. */
static void coins_are_fair(void **st)
{
	uint32_t heads[TOPO_DIMS] = { 0 }, seen[1 << TOPO_DIMS] = { 0 };

	for (uint32_t i = 0; i < 6400; i++) {
		uint32_t c = topo_coins((uint64_t)5 << 48 | i);

		assert_true(c < 1 << TOPO_DIMS);
		seen[c]++;
		for (uint32_t k = 0; k < TOPO_DIMS; k++)
			heads[k] += c >> k & 1;
	}
	for (uint32_t k = 0; k < TOPO_DIMS; k++)
		assert_in_range(heads[k], 3000, 3400);
	for (uint32_t c = 0; c < 1 << TOPO_DIMS; c++)
		assert_in_range(seen[c], 60, 150);
	assert_int_equal(topo_coins_pair(3, 9), topo_coins_pair(3, 9));
}

static void path_holds_a_hop_for_each_crossbar(void **st)
{
	struct topology t = grid(4, 4, 4, true);
	struct weft_frame f = { 0 };

	t.path = true;
	/* node 42 is (2, 2, 2) */
	assert_true(ex_route_make(&t, 0, 42, 1, 0, &f));
	assert_int_equal(ex_meta(&f)->hops, 7);
	assert_int_equal(f.u[4] & 0xfffffff, 0x1775533);
	assert_int_equal(ex_meta(&f)->dest, 42);
	assert_true(ex_route_make(&t, 5, 5, 2, 0, &f)); /* to itself */
	assert_int_equal(ex_meta(&f)->hops, 1);
	assert_int_equal(ex_route_nibble(&f, 0), 2);
	t.path = false;
	assert_true(ex_route_make(&t, 0, 42, 1, 0, &f));
	assert_int_equal(ex_meta(&f)->hops, 0);
	t = grid(128, 0, 0, true);
	t.path = true;
	assert_true(ex_route_make(&t, 0, 63, 0, 0, &f)); /* 64 nibbles */
	assert_false(ex_route_make(&t, 0, 64, 0, 0, &f));
}

/* e-cube: lowest bit first, hops = popcount (T-37). */
static void cube_routes_change_the_lowest_bit_first(void **st)
{
	struct weft_err err = { 0 };
	struct topology t;

	assert_int_equal(topo_cube(&t, EX_TOPO_PORTS, 6, &err), 0);
	assert_int_equal(t.nodes, 64);
	check_cables(&t);
	for (uint32_t s = 0; s < 64; s++)
		for (uint32_t d = 0; d < 64; d++) {
			assert_int_equal(topo_hops(&t, s, d),
					 __builtin_popcount(s ^ d));
			if (s != d)
				assert_int_equal(topo_port(&t, s, d),
						 3 + __builtin_ctz(s ^ d));
			assert_int_equal(topo_datelines(&t, s), 0);
		}
	assert_int_not_equal(topo_cube(&t, EX_TOPO_PORTS, 7, &err), 0);
	assert_string_equal(err.msg, "7 dimensions: give 1 to 6");
}

/* A dimension of size 2 needs only one port. Therefore four dimensions fit the
 * six ports of a crossbar if two of them have size 2. Ports are numbered in
 * order. */
static void four_dimensions_fit_if_two_have_size_2(void **st)
{
	uint32_t fit[] = { 3, 2, 2, 4 }, wide[] = { 3, 3, 3, 3 };
	struct weft_err err = { 0 };
	struct topology t;

	assert_int_equal(
		topo_grid(&t, EX_TOPO_PORTS, fit, 4, true, false, &err), 0);
	assert_int_equal(t.port[1][0], 5);
	assert_int_equal(t.port[1][1], 5);
	assert_int_equal(t.port[3][1], 8);
	check_all(&t, true);
	assert_int_not_equal(
		topo_grid(&t, EX_TOPO_PORTS, wide, 4, true, false, &err), 0);
	assert_non_null(strstr(err.msg, "6 links"));
}

static void two_cables_may_join_a_dimension_of_size_2(void **st)
{
	uint32_t size[] = { 2, 3 };
	struct weft_err err = { 0 };
	struct topology t;

	assert_int_equal(
		topo_grid(&t, EX_TOPO_PORTS, size, 2, true, true, &err), 0);
	assert_int_equal(topo_far(&t, 0, 3), 1);
	assert_int_equal(topo_far(&t, 0, 4), 1);
	assert_int_equal(topo_far_port(&t, 0, 3), 4);
	check_all(&t, true);
	assert_int_equal(
		topo_grid(&t, EX_TOPO_PORTS, size, 2, true, false, &err), 0);
	assert_int_equal(topo_far(&t, 0, 4), TOPO_FAR_NONE);
}

/* Checks the channel of every hop: even, odd behind the wrap cable, even again
 * in the next dimension. */
static void packet_changes_its_channel_at_the_wrap_cable(void **st)
{
	struct topology t = grid(4, 4, 0, true);
	uint32_t dl3 = topo_datelines(&t, 3);

	assert_int_equal(dl3, 1u << 3 | 1u << 6);
	assert_int_equal(topo_datelines(&t, 0), 1u << 4 | 1u << 6);
	assert_int_equal(topo_datelines(&t, 5), 0);
	assert_int_equal(ex_route_vc(&t, 0, 0xff, 3, 0), 0);
	assert_int_equal(ex_route_vc(&t, 0, 0, 3, dl3), 1);
	assert_int_equal(ex_route_vc(&t, 1, 0, 3, 0), 1);
	assert_int_equal(ex_route_vc(&t, 1, 0, 5, 0), 0);
	assert_int_equal(ex_route_vc(&t, 3, 0, 6, dl3), 3);
	assert_int_equal(ex_route_vc(&t, 3, 0, 5, 0), 2);
	t.dateline = false;
	assert_int_equal(topo_datelines(&t, 3), 0);
}

static void route_takes_the_other_way_round_a_cut(void **st)
{
	struct topology t = grid(5, 4, 0, true);

	assert_true(topo_cut(&t, 1, 3)); /* cable from (1,0) to (2,0) */
	/* fails, because this cable was cut from its other end */
	assert_false(topo_cut(&t, 2, 4));
	assert_true(topo_cut(&t, 4, 5)); /* cable from (4,0) to (4,1) */
	assert_int_equal(topo_far(&t, 1, 3), TOPO_FAR_NONE);
	check_all(&t, false);
	assert_int_equal(topo_hops(&t, 1, 2), 4);
	assert_int_equal(topo_hops(&t, 2, 0), 3);
	assert_int_equal(topo_hops(&t, 6, 7), 1);
	assert_int_equal(topo_hops(&t, 4, 9), 3);
	/* cuts the cable from (4,0) to (0,0), so that the first row becomes two
	 * separate lines */
	assert_true(topo_cut(&t, 4, 3));
	assert_int_equal(topo_hops(&t, 1, 2), UINT32_MAX);
	assert_int_equal(topo_hops(&t, 1, 0), 1);
}

static void routes_of_65536_nodes_have_the_mean_length(void **st)
{
	struct topology t = grid(32, 32, 64, true);
	uint64_t sum = 0;

	assert_int_equal(t.nodes, 65536);
	for (uint32_t i = 0; i < 65536; i++)
		sum += topo_hops(&t, 12345, i);
	/* mean of |distance| in rings of 32, 32, 64: 8 + 8 + 16 */
	assert_int_equal(sum, 65536 * 32);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(routes_in_grids_are_shortest_and_in_order),
		cmocka_unit_test(ports_are_numbered_by_dimension_and_side),
		cmocka_unit_test(coins_decide_ties),
		cmocka_unit_test(coins_are_fair),
		cmocka_unit_test(path_holds_a_hop_for_each_crossbar),
		cmocka_unit_test(cube_routes_change_the_lowest_bit_first),
		cmocka_unit_test(four_dimensions_fit_if_two_have_size_2),
		cmocka_unit_test(two_cables_may_join_a_dimension_of_size_2),
		cmocka_unit_test(packet_changes_its_channel_at_the_wrap_cable),
		cmocka_unit_test(route_takes_the_other_way_round_a_cut),
		cmocka_unit_test(routes_of_65536_nodes_have_the_mean_length),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
