/* SPDX-License-Identifier: Apache-2.0 */
/* Whole direct networks of EXTOLL crossbars: every pair of nodes, order and
 * bytes, hops, latency per hop (T-35 .. T-38 of extoll.md 9), detection of
 * deadlocks, cut cables, traces, refused settings. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../cmocka_all.h"
#include "direct_rig.h"

/* ---- every pair ---- */

static char *all_pairs(uint32_t n)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (uint32_t s = 0; s < n; s++)
		for (uint32_t d = 0; d < n; d++)
			fprintf(f, "%u %u %u %u\n", d * 20, s, d, d % 65);
	fclose(f);
	return text;
}

/* Sends a packet from every node to every node. Checks the total number of
 * crossbars that the packets pass. */
static void pairs(uint32_t n, const char *fabric, uint64_t hops)
{
	char *text = all_pairs(n);
	struct direct_rig g;

	net_run_trace(&g, n, text, fabric);
	assert_int_equal(net_counter(&g, "net.received"), n * n);
	assert_int_equal(net_counter(&g, "net.hops"), hops + n * n);
	for (uint32_t i = 0; i < n; i++) {
		char name[24];

		snprintf(name, sizeof(name), "t%u.received", i);
		assert_int_equal(net_counter(&g, name), n);
		snprintf(name, sizeof(name), "t%u.misrouted", i);
		assert_int_equal(net_counter(&g, name), 0);
	}
	net_close(&g);
	free(text);
}

static void packets_of_all_pairs_take_shortest_routes(void **st)
{
	/* Sum of distances in one dimension over all pairs: the side, times the
	 * sum of distances from one node of a ring, times the square of the
	 * number of nodes in the other dimensions. */
	pairs(64, "type: torus, dims: [4, 4, 4]", 3 * 64 * 64);
	pairs(64, "type: torus, dims: [4, 4, 4], routing: table", 3 * 64 * 64);
	pairs(64, "type: hypercube", 64 * 6 * 32); /* T-37 */
	pairs(64, "type: hypercube, routing: table", 64 * 6 * 32);
	pairs(9, "type: mesh, dims: [9]",
	      2 * (8 + 14 + 18 + 20 + 20 + 18 + 14 + 8));
	pairs(8, "type: torus, dims: [2, 2, 2]", 8 * 12);
	pairs(4, "type: graph, cables: [[0, 1], [0, 2], [0, 3]]", 6 + 12);
	pairs(48, "type: torus, dims: [3, 2, 2, 4], routing: table",
	      48 * 48 * 2 / 3 + 2 * 48 * 24 + 48 * 48);
	pairs(16,
	      "type: torus, dims: [16], switch: {width: w16}, "
	      "net: {watchdog: 0}, routing: table",
	      16 * 64);
}

/* ---- order and bytes under load (T-35) ---- */

static void every_traffic_pattern_arrives_in_order(void **st)
{
	static const char *const patterns[] = { "uniform", "tornado",
						"neighbour", "hotspot",
						"permutation" };
	char traffic[160];
	struct direct_rig g;

	for (size_t i = 0; i < 5; i++) {
		snprintf(traffic, sizeof(traffic),
			 "verify: yes, packets: 150, load: 0.6, size: 0, "
			 "size_max: 300, pattern: %s",
			 patterns[i]);
		net_run(&g, 64, traffic, "type: torus, dims: [4, 4, 4]");
		net_good(&g);
		assert_int_equal(net_counter(&g, "net.received"), 64 * 150);
		assert_int_equal(net_counter(&g, "t7.disorder"), 0);
		net_close(&g);
	}
}

/* If order is checked, all packets of a pair resolve ties by the same random
 * bits (coins). Otherwise the packets of a pair use both directions. */
static void random_ties_keep_order_where_it_is_promised(void **st)
{
	const char *ring = "type: torus, dims: [4], tie: random";
	struct direct_rig g;

	net_run(&g, 4,
		"verify: yes, packets: 300, load: 0.6, size: 0, "
		"size_max: 300",
		ring);
	net_good(&g);
	assert_int_equal(net_counter(&g, "net.received"), 4 * 300);
	for (uint32_t i = 0; i < 4; i++) {
		char name[24];

		snprintf(name, sizeof(name), "t%u.disorder", i);
		assert_int_equal(net_counter(&g, name), 0);
	}
	net_close(&g);
	net_run(&g, 4, "packets: 300, load: 0.1, pattern: bit_complement",
		ring);
	net_good(&g);
	/* Nodes 0 and 3 are neighbours, and so are 1 and 2. Therefore no tie
	 * occurs, and each node uses one port. */
	assert_int_equal(net_counter(&g, "s0.packets"), 600);
	net_close(&g);
	net_run(&g, 4, "packets: 300, load: 0.1, pattern: fixed, dest: 2",
		ring);
	net_good(&g);
	/* node 0 sends through nodes 1 and 3, which also send their own
	 * packets */
	assert_in_range(net_counter(&g, "s1.packets"), 300 + 110, 300 + 190);
	assert_in_range(net_counter(&g, "s3.packets"), 300 + 110, 300 + 190);
	net_close(&g);
}

static void bursts_of_mixed_sizes_arrive_whole(void **st)
{
	struct direct_rig g;

	net_run(&g, 12,
		"verify: yes, packets: 200, load: 0.4, sizes: '8:3,4096:1', "
		"arrivals: bursty, burst: 500, kind: response, words: 3",
		"type: mesh, dims: [4, 3]");
	net_good(&g);
	assert_int_equal(net_counter(&g, "net.received"), 12 * 200);
	net_close(&g);
}

static uint64_t flits_of_sizes(const char *sizes)
{
	struct direct_rig g;
	char text[80];
	uint64_t n;

	snprintf(text, sizeof(text), "packets: 50, load: 0.2, sizes: '%s'",
		 sizes);
	net_run(&g, 4, text, "type: mesh, dims: [4]");
	net_good(&g);
	n = net_counter(&g, "net.flits");
	net_close(&g);
	return n;
}

static void a_size_without_a_weight_weighs_one(void **st)
{
	uint64_t n = flits_of_sizes("8:1,256:1");

	assert_int_equal(flits_of_sizes("8,256:1"), n);
	assert_true(flits_of_sizes("8:2,256:1") < n);
}

/* ---- latency per hop (T-38) ---- */

static double one_packet(uint32_t hops, const char *width)
{
	char text[64], fabric[160];
	struct direct_rig g;
	double res;

	snprintf(text, sizeof(text), "100 0 %u 8", hops);
	snprintf(fabric, sizeof(fabric),
		 "type: torus, dims: [13], routing: table, "
		 "switch: {width: %s}, net: {watchdog: 0}",
		 width);
	net_run_trace(&g, 13, text, fabric);
	res = net_metric(&g, "net.latency");
	net_close(&g);
	return res;
}

static void each_hop_adds_359_ns_at_both_widths(void **st)
{
	static const char *const width[] = { "w16", "w32" };
	double cycle = 1e3 / 156, first, slope;

	for (uint32_t w = 0; w < 2; w++) {
		first = one_packet(1, width[w]);
		for (uint32_t h = 2; h <= 6; h++) {
			slope = (one_packet(h, width[w]) - first) / (h - 1);
			assert_true(fabs(slope * cycle - 359.4) < 1);
		}
	}
}

static void latency_without_load_grows_by_five_cycles_per_hop(void **st)
{
	const char *fabric =
		"type: torus, dims: [5, 3, 2], routing: table, "
		"switch: {preset: plain}, link: {length: 0.0001}";
	double base, hop, sum = 0, hops = 0;
	char *text = NULL;
	struct direct_rig g;
	size_t len;
	FILE *f;

	net_run_trace(&g, 30, "0 0 0 8", fabric);
	base = net_metric(&g, "net.latency");
	net_close(&g);
	net_run_trace(&g, 30, "0 0 1 8", fabric);
	hop = net_metric(&g, "net.latency") - base;
	net_close(&g);
	assert_true(hop == 5);
	f = open_memstream(&text, &len);
	for (uint32_t d = 0; d < 30; d++) {
		uint32_t x = d % 5, y = d / 5 % 3, z = d / 15;

		hops += (x < 3 ? x : 5 - x) + (y > 0) + z;
		fprintf(f, "%u 0 %u 8\n", d * 1000, d);
	}
	fclose(f);
	net_run_trace(&g, 30, text, fabric);
	sum = net_metric(&g, "net.latency") * 30;
	assert_true(fabs(sum - (30 * base + hops * hop)) < 1e-6);
	assert_int_equal(net_counter(&g, "net.hops"), 30 + (uint64_t)hops);
	net_close(&g);
	free(text);
}

/* ---- starvation ---- */

/* Offers a ring of 8 twice its capacity. At each switch the node's own port is
 * served as often as the port of the ring, so that the node farthest from the
 * dateline sends almost nothing. Half of the capacity is delivered
 * (docs/networks.md). */
static void tornado_at_twice_capacity_starves_a_node(void **st)
{
	struct direct_rig g;

	net_run(&g, 8,
		"preset: plain, flits: 8, load: 0.6, pattern: tornado, "
		"packets: 12000",
		"type: torus, dims: [8], routing: table, "
		"switch: {preset: plain}, net: {warmup: 5000, measure: 80000}");
	assert_string_equal(net_manifest(&g, "net.state"), "starved");
	assert_true(net_metric(&g, "net.starved") >= 1);
	assert_true(fabs(net_metric(&g, "net.accepted") - 0.16) < 0.01);
	assert_int_equal(g.r->n_failures, 0);
	net_close(&g);
}

/* ---- deadlock (T-36) ---- */

static void torus_without_datelines_deadlocks_and_says_where(void **st)
{
	struct direct_rig g;

	net_run(&g, 64, "load: 1, size: 256, pattern: tornado",
		"type: torus, dims: [8, 8], routing: table, dateline: no");
	assert_int_equal(g.r->n_failures, 1);
	assert_non_null(strstr(g.r->failures[0], "deadlock"));
	assert_non_null(strstr(g.r->failures[0], "(8 inputs)"));
	assert_string_equal(net_manifest(&g, "net.state"), "deadlock");
	assert_non_null(strstr(net_manifest(&g, "net.note"), "may deadlock"));
	net_close(&g);
	net_run(&g, 64, "load: 1, size: 256, pattern: tornado, packets: 200",
		"type: torus, dims: [8, 8], routing: table");
	net_good(&g);
	assert_int_equal(net_counter(&g, "net.received"), 64 * 200);
	net_close(&g);
}

/* Cells wait long in a saturated network. Some cells even wait for each other
 * in a circle, but such a circle dissolves. Therefore a long wait does not
 * prove a deadlock. */
static void long_waits_are_no_deadlock(void **st)
{
	static const char *const nets[] = {
		"type: torus, dims: [4, 4], net: {watchdog: 200}",
		"type: torus, dims: [8], routing: table, "
		"net: {watchdog: 200}",
	};
	static const uint32_t ends[] = { 16, 8 };
	struct direct_rig g;

	for (size_t i = 0; i < 2; i++) {
		net_run(&g, ends[i],
			"load: 2, sizes: '8:3,1000:1', packets: 300, "
			"pattern: tornado",
			nets[i]);
		net_good(&g);
		assert_int_equal(net_counter(&g, "net.received"),
				 ends[i] * 300);
		net_close(&g);
	}
}

/* ---- cut cables ---- */

static void packets_route_around_cut_cables(void **st)
{
	static const struct {
		uint32_t ends;
		const char *fabric, *note;
	} nets[] = {
		{ 27, "type: torus, dims: [3, 3, 3], cut: [s0.lp0, [4, 5]]",
		  "" },
		{ 27,
		  "type: torus, dims: [3, 3, 3], "
		  "cut: [s0.lp0, s0.lp1, [4, 5]]",
		  "by table" },
		{ 16, "type: mesh, dims: [4, 4], cut: [[5, 6], [9, 10]]",
		  "by table" },
		{ 16, "type: hypercube, cut: [[0, 1], [6, 7]], routing: table",
		  "by table" },
		{ 5,
		  "type: graph, cables: [[0,1],[1,2],[2,3],[3,4],[4,0]], "
		  "cut: [[2, 3]]",
		  "shortest" },
	};

	for (size_t i = 0; i < sizeof(nets) / sizeof(nets[0]); i++) {
		struct direct_rig g;

		net_run(&g, nets[i].ends,
			"verify: yes, packets: 300, load: 1, size: 200",
			nets[i].fabric);
		net_good(&g);
		assert_int_equal(net_counter(&g, "net.received"),
				 nets[i].ends * 300);
		assert_non_null(
			strstr(net_manifest(&g, "net.note"), nets[i].note));
		net_close(&g);
	}
}

/* ---- traces ---- */

static double span(const char *trace)
{
	struct direct_rig g;
	double res;

	net_run_trace(&g, 4, trace, "type: mesh, dims: [4]");
	res = net_metric(&g, "net.latency");
	net_close(&g);
	return res;
}

static void packet_leaves_a_cycle_after_those_it_waits_for(void **st)
{
	double one = span("0 0 1 8 a"), two, three;
	struct direct_rig g;

	two = span("0 0 1 8 a\n0 1 2 8 b a\n");
	three = span("0 0 1 8 a\n5 3 2 8 b -\n0 1 0 8 c a,b\n");
	assert_true(two == one && three == one);
	net_run_trace(&g, 4, "0 0 1 8 a\n0 1 2 8 b a\n0 2 3 8 c b\n",
		      "type: mesh, dims: [4]");
	/* The last packet arrives after the latencies of three packets. One
	 * cycle lies between two packets that follow each other. */
	assert_true(
		fabs(net_metric(&g, "net.accepted") * 4 * (3 * one + 2 + 1) -
		     3 * 5) < 1e-6);
	net_close(&g);
}

/* ---- refused fabrics ---- */

static void impossible_network_is_refused_with_a_reason(void **st)
{
	static const struct {
		uint32_t ends;
		const char *traffic, *fabric, *says;
	} bad[] = {
		{ 8, "size: 8", "type: torus, dims: [3, 3]", "9 nodes" },
		{ 8, "size: 8", "type: torus", "no 'dims'" },
		{ 1, "size: 8", "type: torus, dims: [0]", "dims" },
		{ 8, "size: 8", "type: torus, dims: [8], cut: [s0.lp2]",
		  "no cable at s0.lp2" },
		{ 8, "size: 8", "type: torus, dims: [8], cut: [nic]",
		  "is no link port" },
		{ 8, "size: 8", "type: torus, dims: [8], cut: [[0, 2]]",
		  "no cable from node 0 to 2" },
		{ 8, "size: 8", "type: mesh, dims: [8], cut: [[3, 4]]",
		  "no way from node" },
		{ 200, "size: 8", "type: mesh, dims: [200]", "routing: table" },
		{ 4, "size: 8",
		  "type: torus, dims: [4], tie: random, routing: table",
		  "use routing: path" },
		{ 5, "size: 8",
		  "type: graph, cables: [[0,1],[1,2],[2,3],[3,4],[4,0]]",
		  "may deadlock: s0.lp0/vc0 -> " },
		{ 3, "size: 8", "type: graph, cables: [[0, 1]]",
		  "no way from node" },
		{ 3, "size: 8", "type: graph, cables: [[0, 3]]",
		  "neither a node below 3" },
		{ 3, "size: 8", "type: graph, cables: [[1, 1]]",
		  "cabled to itself" },
		{ 3, "size: 8", "type: graph, file: /nonexistent",
		  "/nonexistent" },
		{ 9, "pattern: transpose", "type: mesh, dims: [3, 3]",
		  "power of 4" },
		{ 9, "sizes: '8:x'", "type: mesh, dims: [3, 3]",
		  "SIZE:WEIGHT" },
		{ 9, "trace: /nonexistent", "type: mesh, dims: [3, 3]",
		  "/nonexistent" },
		{ 4, "width: w16", "type: mesh, dims: [4]", "width" },
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct direct_rig g;

		assert_int_not_equal(
			net_try(&g, bad[i].ends, bad[i].traffic, bad[i].fabric),
			0);
		if (!strstr(g.err.msg, bad[i].says))
			fail_msg("'%s' instead of '%s'", g.err.msg,
				 bad[i].says);
		net_close(&g);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_of_all_pairs_take_shortest_routes),
		cmocka_unit_test(every_traffic_pattern_arrives_in_order),
		cmocka_unit_test(random_ties_keep_order_where_it_is_promised),
		cmocka_unit_test(bursts_of_mixed_sizes_arrive_whole),
		cmocka_unit_test(a_size_without_a_weight_weighs_one),
		cmocka_unit_test(each_hop_adds_359_ns_at_both_widths),
		cmocka_unit_test(
			latency_without_load_grows_by_five_cycles_per_hop),
		cmocka_unit_test(tornado_at_twice_capacity_starves_a_node),
		cmocka_unit_test(
			torus_without_datelines_deadlocks_and_says_where),
		cmocka_unit_test(long_waits_are_no_deadlock),
		cmocka_unit_test(packets_route_around_cut_cables),
		cmocka_unit_test(
			packet_leaves_a_cycle_after_those_it_waits_for),
		cmocka_unit_test(impossible_network_is_refused_with_a_reason),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
