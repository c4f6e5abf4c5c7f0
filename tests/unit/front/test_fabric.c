/* SPDX-License-Identifier: Apache-2.0 */
/* Fabrics of several switches: tables, deadlock freedom, exact latency, every
 * byte over every path, all credits returned at the end, refused settings. */
#include <stdio.h>
#include <string.h>

#include "net.h"
#include "systems/forth/traffic/generator.h"

#define XBAR "switch: {type: forth.xbar}, link: {type: forth.link}"
#define CC   12800000ull

/* Functions that return the number of switches between s and d. */
static uint32_t hops_clos4(uint32_t s, uint32_t d)
{
	return s / 4 == d / 4 ? 1 : 3;
}
static uint32_t hops_clos2(uint32_t s, uint32_t d)
{
	return s / 2 == d / 2 ? 1 : 3;
}
static uint32_t hops_5(uint32_t s, uint32_t d)
{
	(void)s, (void)d;
	return 5;
}
static uint32_t hops_7(uint32_t s, uint32_t d)
{
	(void)s, (void)d;
	return 7;
}
static uint32_t hops_tree(uint32_t k, uint32_t s, uint32_t d)
{
	uint32_t n = 1;

	for (s /= k, d /= k; s != d; s /= k, d /= k)
		n += 2;
	return n;
}
static uint32_t hops_tree2(uint32_t s, uint32_t d)
{
	return hops_tree(2, s, d);
}
static uint32_t hops_tree3(uint32_t s, uint32_t d)
{
	return hops_tree(3, s, d);
}
static uint32_t hops_1(uint32_t s, uint32_t d)
{
	(void)s, (void)d;
	return 1;
}

static const struct shape {
	const char *fabric;
	uint32_t ends, switches, paths;
	uint32_t (*hops)(uint32_t s, uint32_t d);
} shapes[] = {
	{ "type: clos, " XBAR, 16, 8, 4, hops_clos4 },
	{ "type: clos, hosts: 4, spines: 2, " XBAR, 16, 6, 2, hops_clos4 },
	{ "type: clos, hosts: 4, spines: 7, leaves: 5, " XBAR, 13, 12, 7,
	  hops_clos4 },
	{ "type: clos, hosts: 2, spines: 1, " XBAR, 8, 5, 0, hops_clos2 },
	{ "type: benes, " XBAR, 8, 12, 4, hops_5 },
	{ "type: benes, " XBAR, 16, 32, 8, hops_7 },
	{ "type: benes, radix: 3, " XBAR, 27, 27, 9, hops_5 },
	{ "type: benes, radix: 4, levels: 3, " XBAR, 10, 48, 16, hops_5 },
	{ "type: benes, radix: 8, " XBAR, 8, 1, 0, hops_1 },
	{ "type: fat-tree, arity: 2, " XBAR, 16, 32, 8, hops_tree2 },
	{ "type: fat-tree, arity: 3, up: 2, " XBAR, 27, 9 + 6 + 4, 4,
	  hops_tree3 },
	{ "type: fat-tree, arity: 2, levels: 7, " XBAR, 128, 448, 64,
	  hops_tree2 },
};
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static uint32_t count_switches(const struct net *n)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < weft_sim_count(n->c.sim); i++)
		k += net_xbar(weft_sim_at(n->c.sim, i)) != NULL;
	return k;
}

static void every_path_reaches_its_end_in_the_right_hops(void **state)
{
	for (uint32_t i = 0; i < SHAPES; i++) {
		const struct shape *f = &shapes[i];
		struct net n;

		net_open(&n, f->ends, "pattern: none", "", f->fabric);
		assert_int_equal(count_switches(&n), f->switches);
		assert_int_equal(
			forth_port_paths(
				&((struct forth_gen *)net_end(&n, 0)->state)
					 ->link),
			f->paths);
		for (uint32_t s = 0; s < f->ends; s++)
			for (uint32_t d = 0; d < f->ends; d++)
				for (uint32_t p = 0; p <= f->paths; p++) {
					struct net_way w =
						net_walk(&n, s, d, p);

					assert_ptr_equal(w.to, net_end(&n, d));
					assert_int_equal(w.hops, f->hops(s, d));
				}
		net_close(&n);
	}
}

/* The `paths` paths from the first to the last end lead through different
 * switches at the top. */
static void paths_of_a_pair_use_different_links(void **state)
{
	for (uint32_t i = 0; i < SHAPES; i++) {
		const struct shape *f = &shapes[i];
		uint32_t s = 0, d = f->ends - 1, p, q;
		struct net_way w[65];
		struct net n;

		net_open(&n, f->ends, "pattern: none", "", f->fabric);
		for (p = 1; p <= f->paths; p++)
			w[p] = net_walk(&n, s, d, p);
		for (p = 1; p <= f->paths; p++)
			for (q = 1; q < p; q++)
				assert_memory_not_equal(
					w[p].link, w[q].link,
					w[p].hops * sizeof(w[p].link[0]));
		net_close(&n);
	}
}

/* Packets without a path are spread over the spines by destination (7.1). Of
 * the twelve ends outside leaf 0, each spine gets the packets for three
 * ends. */
static void path_zero_spreads(void **state)
{
	uint32_t used[4] = { 0 }, d;
	struct net n;

	net_open(&n, 16, "pattern: none", "", "type: clos, " XBAR);
	for (d = 4; d < 16; d++)
		used[net_walk(&n, 0, d, 0).link[0] % 64 - 4]++;
	for (d = 0; d < 4; d++)
		assert_int_equal(used[d], 3);
	net_close(&n);
}

static void fabrics_have_no_cycle_of_outputs_but_a_ring_has(void **state)
{
	static const char ring[] =
		"type: list, link: {type: forth.link}, switches: {"
		"a: {type: forth.xbar, ports: 3, routes: '0:0,1:2,2:2'}, "
		"b: {type: forth.xbar, ports: 3, routes: '1:0,0:2,2:2'}, "
		"c: {type: forth.xbar, ports: 3, routes: '2:0,0:2,1:2'}}, "
		"cables: [[t0.link, a.port0], [t1.link, b.port0], "
		"[t2.link, c.port0], [a.port2, b.port1], "
		"[b.port2, c.port1], [c.port2, a.port1]]";
	struct net n;

	for (uint32_t i = 0; i < SHAPES; i++) {
		net_open(&n, shapes[i].ends, "pattern: none", "",
			 shapes[i].fabric);
		assert_false(net_cyclic(&n, shapes[i].ends, shapes[i].paths));
		net_close(&n);
	}
	net_open(&n, 3, "pattern: none", "", ring);
	assert_ptr_equal(net_walk(&n, 0, 2, 0).to, net_end(&n, 2));
	assert_true(net_cyclic(&n, 3, 0));
	net_close(&n);
}

/* ---- runs ---- */

/* A link takes 24 cycles, a switch 8 across clock domains and 6 within one
 * (8.5). Ports of the lower half are one domain. End 0 sends one packet. */
static void single_packet_takes_link_and_switch_times(void **state)
{
	static const struct {
		const char *fabric;
		uint32_t ends, dst, cycles;
	} v[] = {
		{ "type: clos, " XBAR, 16, 1, 2 * 24 + 6 },
		{ "type: clos, " XBAR, 16, 4, 4 * 24 + 8 + 6 + 8 },
		{ "type: clos, " XBAR, 16, 15, 4 * 24 + 8 + 8 + 8 },
		{ "type: clos, trunk: {t_ser: 30}, " XBAR, 16, 15,
		  2 * 24 + 2 * 30 + 3 * 8 },
		{ "type: clos, switch: {type: forth.xbar, domains: 1}, "
		  "link: {type: forth.link}",
		  16, 15, 4 * 24 + 3 * 6 },
		{ "type: benes, " XBAR, 8, 1, 6 * 24 + 4 * 8 + 6 },
		{ "type: benes, " XBAR, 8, 7, 6 * 24 + 5 * 8 },
		{ "type: fat-tree, arity: 2, " XBAR, 8, 1, 2 * 24 + 6 },
		{ "type: fat-tree, arity: 2, " XBAR, 8, 2, 4 * 24 + 2 * 8 + 6 },
		{ "type: fat-tree, arity: 2, " XBAR, 8, 7, 6 * 24 + 5 * 8 },
	};

	for (uint32_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		const struct forth_gen *sink;
		char set[128];
		struct net n;

		snprintf(set, sizeof(set),
			 "t0.pattern: fixed, t0.packets: 1, t0.size: %u, "
			 "t0.dest: %u",
			 i % 2 ? 512 : 24, v[i].dst);
		net_open(&n, v[i].ends, "pattern: none", set, v[i].fabric);
		weft_sim_run(n.c.sim, WEFT_MS);
		sink = net_end(&n, v[i].dst)->state;
		assert_int_equal(sink->sink.first, v[i].cycles * CC);
		if (!strstr(v[i].fabric, "t_ser"))
			assert_int_equal(net_walk(&n, 0, v[i].dst, 1).cycles,
					 v[i].cycles);
		net_close(&n);
	}
}

/* Checks that every lane has its credits back. Less than one unit may be
 * missing, because credits return in units. */
static void credits_home(struct forth_port *l)
{
	if (!l->peer)
		return;
	forth_port_counts(l);
	for (uint32_t k = 0; k < l->tx_lanes; k++)
		assert_in_range((l->tx[k].sent - l->tx[k].acked) &
					FORTH_COUNT_MASK,
				0, FORTH_CREDIT_GRAN - 1);
}

static void quiet(const struct net *n, uint32_t ends)
{
	for (uint32_t i = 0; i < weft_sim_count(n->c.sim); i++) {
		struct forth_xbar *x = net_xbar(weft_sim_at(n->c.sim, i));

		for (uint32_t p = 0; x && p < x->ports; p++) {
			credits_home(&x->port[p].link);
			assert_int_equal(x->port[p].overflow, 0);
			assert_int_equal(x->port[p].unknown, 0);
		}
	}
	for (uint32_t i = 0; i < ends; i++) {
		struct forth_gen *g = net_end(n, i)->state;

		credits_home(&g->link);
		assert_int_equal(g->sink.held, 0);
	}
}

static uint64_t total(const struct net *n, uint32_t ends, uint32_t counter)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < ends; i++)
		sum += net_end(n, i)->counters[counter];
	return sum;
}

/* Overloads a fabric with packets of all sizes under one policy of balancing.
 * Every packet arrives once with right bytes, and in order where order is
 * guaranteed. Returns the number of packets that others overtook. */
static uint64_t drains(const struct shape *f, const char *balance,
		       uint32_t packets)
{
	struct weft_err err = { 0 };
	uint64_t late;
	char set[160];
	struct net n;

	snprintf(set, sizeof(set),
		 "balance: %s, packets: %u, load: 5, size: 8, size_max: 512",
		 balance, packets);
	net_open(&n, f->ends, set, "", f->fabric);
	weft_sim_run(n.c.sim, WEFT_SEC);
	assert_true(weft_sim_idle(n.c.sim));
	assert_int_equal(total(&n, f->ends, C_SENT), f->ends * packets);
	assert_int_equal(total(&n, f->ends, C_RECEIVED), f->ends * packets);
	assert_int_equal(total(&n, f->ends, C_BYTES),
			 total(&n, f->ends, C_SENT_BYTES));
	assert_int_equal(total(&n, f->ends, C_CORRUPT), 0);
	assert_int_equal(total(&n, f->ends, C_BAD_BODY), 0);
	assert_int_equal(total(&n, f->ends, C_DISORDER), 0);
	assert_int_equal(total(&n, f->ends, C_DUPLICATE), 0);
	assert_int_equal(total(&n, f->ends, C_MISSING), 0);
	late = total(&n, f->ends, C_LATE);
	quiet(&n, f->ends);
	assert_int_equal(weft_sim_finish(n.c.sim, &err), 0);
	net_close(&n);
	return late;
}

static void overloaded_fabric_drains_under_every_balancing(void **state)
{
	static const char *const policy[] = { "packet", "destination", "static",
					      "fabric" };

	for (uint32_t i = 0; i < SHAPES; i++)
		for (uint32_t k = 0; k < 4; k++) {
			uint32_t many = shapes[i].ends > 32 ? 20 : 150;
			uint64_t late = drains(&shapes[i], policy[k], many);

			/* Two paths of different load change the order, which
			 * shows that the test detects reordering. */
			assert_int_equal(late > 0,
					 shapes[i].paths > 1 && k < 2);
		}
}

/* Offers admissible traffic (forth.md 7.1). A permutation whose static paths
 * collide runs at line rate when every flow is spread over the spines, because
 * then no link is offered more than its rate. */
static void spread_flows_run_at_line_rate_static_ones_collide(void **state)
{
	static const char *const policy[] = { "packet", "destination",
					      "static" };
	double got[3];

	for (uint32_t k = 0; k < 3; k++) {
		double worst = 1;
		char set[160];
		struct net n;

		snprintf(set, sizeof(set),
			 "balance: %s, load: 5, size: 512, warmup: 500us, "
			 "pattern: permutation, dest: 4",
			 policy[k]);
		net_open(&n, 16, set, "", "type: clos, " XBAR);
		weft_sim_run(n.c.sim, 2 * WEFT_MS);
		for (uint32_t i = 0; i < 16; i++) {
			const struct forth_gen *g = net_end(&n, i)->state;
			double r = (double)g->sink.words * CC / (1.5 * WEFT_MS);

			worst = r < worst ? r : worst;
		}
		got[k] = worst;
		net_close(&n);
	}
	assert_true(got[0] > 0.95);
	assert_true(got[1] > 0.95);
	assert_true(got[2] < 0.55); /* at least two flows share a link */
}

static void ends_draw_one_common_permutation(void **state)
{
	bool hit[64] = { false };
	struct net n;

	net_open(&n, 64, "pattern: shuffle, packets: 1", "",
		 "type: fat-tree, " XBAR);
	for (uint32_t i = 0; i < 64; i++) {
		const struct forth_gen *g = net_end(&n, i)->state;

		assert_false(hit[g->source.pattern.partner]);
		hit[g->source.pattern.partner] = true;
	}
	net_close(&n);
}

/* ---- refused ---- */

static WEFT_COMPONENT(plain, .name = "test.plain", .kind = WEFT_KIND_SWITCH);

static void impossible_fabric_is_refused_with_a_reason(void **state)
{
	static const struct {
		uint32_t ends;
		const char *traffic, *fabric, *says;
	} v[] = {
		{ 16, "size: 8", "type: clos, link: {type: forth.link}",
		  "no 'switch'" },
		{ 16, "size: 8", "type: benes, switch: {type: forth.xbar}",
		  "no 'link'" },
		{ 16, "size: 8", "type: clos, leaves: 3, " XBAR,
		  "16 ends do not fit: this fabric has room for 12" },
		{ 4, "size: 8", "type: clos, " XBAR, "1 leaf is a switch" },
		{ 9, "size: 8", "type: benes, levels: 3, " XBAR,
		  "9 ends do not fit: this fabric has room for 8" },
		{ 9, "size: 8", "type: benes, radix: 1, " XBAR, "radix" },
		{ 9, "size: 8", "type: fat-tree, levels: 8, " XBAR, "levels" },
		{ 16, "size: 8",
		  "type: clos, switch: {type: forth.xbar, ports: 6}, "
		  "link: {type: forth.link}",
		  "s1_0 has no port 6" },
		{ 16, "size: 8", "type: clos, width: 3, " XBAR, "width" },
		{ 16, "size: 8, paths: 5", "type: clos, " XBAR,
		  "paths = 5: the fabric has 4" },
		{ 16, "size: 8, paths: 2", "type: clos, spines: 1, " XBAR,
		  "paths = 2: the fabric has 1" },
		{ 16, "pattern: list, targets: '1,2'", "type: clos, " XBAR,
		  "entry 2" },
		{ 2, "pattern: list, targets: '1,2'", "type: clos, " XBAR,
		  "entry 1" },
		{ 16, "pattern: list, targets: '1+2+'", "type: clos, " XBAR,
		  "entry 0" },
		{ 16, "pattern: list, targets: '1;2'", "type: clos, " XBAR,
		  "entry 0" },
		{ 16, "size: 8",
		  "type: clos, switch: {type: coh.plain}, "
		  "link: {type: forth.link}",
		  "no switch is called" },
	};

	for (uint32_t i = 0; i < sizeof(v) / sizeof(v[0]); i++) {
		struct net n;

		assert_true(net_try(&n, v[i].ends, v[i].traffic, "",
				    v[i].fabric) < 0);
		if (!strstr(n.err.msg, v[i].says))
			fail_msg("'%s' does not say '%s'", n.err.msg,
				 v[i].says);
		net_close(&n);
	}
}

static void switch_without_tables_is_refused_in_benes(void **state)
{
	static const char text[] =
		"traffic: {count: 8, type: forth.gen}\n"
		"fabric: {type: benes, switch: {type: test.plain}, "
		"link: {type: forth.link}}\nrun: {until: 1us}\n";
	struct exp_opts o = { 0 };
	struct net n = { 0 };

	registry_init(&n.reg);
	assert_int_equal(registry_add(&n.reg, &weft_class_plain, "t", &n.err),
			 0);
	assert_int_equal(exp_load_text("f", text, strlen(text), &o, &n.reg,
				       &n.e, &n.err),
			 0);
	assert_true(exp_case_open(n.e, 0, &n.c, &n.err) < 0);
	assert_non_null(strstr(n.err.msg, "test.plain has no routing tables"));
	net_close(&n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_path_reaches_its_end_in_the_right_hops),
		cmocka_unit_test(paths_of_a_pair_use_different_links),
		cmocka_unit_test(path_zero_spreads),
		cmocka_unit_test(
			fabrics_have_no_cycle_of_outputs_but_a_ring_has),
		cmocka_unit_test(single_packet_takes_link_and_switch_times),
		cmocka_unit_test(
			overloaded_fabric_drains_under_every_balancing),
		cmocka_unit_test(
			spread_flows_run_at_line_rate_static_ones_collide),
		cmocka_unit_test(ends_draw_one_common_permutation),
		cmocka_unit_test(impossible_fabric_is_refused_with_a_reason),
		cmocka_unit_test(switch_without_tables_is_refused_in_benes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
