/* SPDX-License-Identifier: Apache-2.0 */
/* Load of direct networks: states and their names, saturation, the window of
 * measurement, latency with the wait in the source. */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../cmocka_all.h"
#include "direct_rig.h"

static void run_is_steady_below_capacity_and_saturated_above(void **st)
{
	const char *torus =
		"type: torus, dims: [4, 4], routing: table, "
		"tie: balanced, switch: {preset: plain}, net: "
		"{warmup: 7000, measure: 14000}";
	struct direct_rig g;

	net_run(&g, 16, "preset: plain, flits: 8, load: 0.3", torus);
	net_good(&g);
	assert_string_equal(net_manifest(&g, "net.state"), "steady");
	assert_true(fabs(net_metric(&g, "net.accepted") - 0.3) < 0.01);
	assert_true(fabs(net_metric(&g, "net.offered") - 0.3) < 0.01);
	assert_true(net_metric(&g, "net.latency_ci") <
		    0.05 * net_metric(&g, "net.latency"));
	/* A packet crosses 2.1 links in the mean, and a node has four links.
	 * The share of busy time is that of the measured window only. */
	assert_true(net_metric(&g, "net.link_busy") > 0.10 &&
		    net_metric(&g, "net.link_busy") < 0.16);
	net_close(&g);
	/* a packet of 8 bytes has two words of header, one of data, and a flit
	 * for the route */
	net_run(&g, 16, "preset: plain, size: 8, load: 0.3", torus);
	assert_true(fabs(net_metric(&g, "net.offered") - 0.3) < 0.01);
	assert_true(fabs(net_metric(&g, "net.accepted") - 0.3) < 0.01);
	net_close(&g);
	/* all nodes send to one node, which receives one flit per cycle */
	net_run(&g, 16,
		"preset: plain, flits: 8, load: 0.3, pattern: fixed, "
		"dest: 5",
		torus);
	assert_string_equal(net_manifest(&g, "net.state"), "saturated");
	assert_true(net_metric(&g, "net.accepted") <= 1.0 / 16);
	assert_true(net_metric(&g, "net.accepted") > 0.9 / 16);
	net_close(&g);
}

static const char *state_of(struct direct_rig *g, uint32_t ends, double load,
			    const char *more, const char *dims,
			    uint32_t measure)
{
	char traffic[160], fabric[200];

	snprintf(traffic, sizeof(traffic),
		 "preset: plain, flits: 8, load: %g, %s", load, more);
	snprintf(fabric, sizeof(fabric),
		 "type: torus, dims: [%s], routing: table, tie: balanced, "
		 "switch: {preset: plain}, link: {length: 0.0001}, "
		 "net: {warmup: 1000, measure: %u}",
		 dims, measure);
	net_run(g, ends, traffic, fabric);
	return net_manifest(g, "net.state");
}

/* Four sources send to one sink that takes a flit per cycle, so that 1/4 is the
 * limit. */
static void a_load_just_above_what_is_taken_saturates(void **st)
{
	static const struct {
		double load;
		const char *state;
	} cases[] = { { 0.24, "steady" },
		      { 0.2475, "steady" },
		      { 0.2525, "saturated" },
		      { 0.256, "saturated" },
		      { 0.3, "saturated" } };
	struct direct_rig g;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *state =
			state_of(&g, 4, cases[i].load,
				 "arrivals: periodic, pattern: fixed, dest: 0",
				 "2, 2", 8000);

		if (strcmp(state, cases[i].state))
			fail_msg("%g is %s", cases[i].load, state);
		assert_true(net_metric(&g, "net.accepted") < 0.2501);
		net_close(&g);
	}
}

/* A source's port can offer a flit per cycle. A network cannot take that load
 * for long, so that the state is saturated however short the window is. */
static void short_and_long_windows_agree(void **st)
{
	static const uint32_t windows[] = { 3000, 7500, 12000 };
	struct direct_rig g;

	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(
			state_of(&g, 64, 1, "", "4, 4, 4", windows[i]),
			"saturated");
		net_close(&g);
	}
	for (size_t i = 0; i < 2; i++) {
		assert_string_equal(
			state_of(&g, 64, 0.9, "", "4, 4, 4", windows[i]),
			"steady");
		net_close(&g);
	}
}

/* The first window starts in an empty network, so that the time in which the
 * network fills is part of it. The second window starts later. */
static void a_network_that_fills_up_is_not_saturated(void **st)
{
	struct direct_rig g;

	net_run(&g, 64, "preset: plain, flits: 32, load: 0.85",
		"type: torus, dims: [8, 8], routing: table, tie: balanced, "
		"switch: {preset: plain}, link: {length: 0.0001}, "
		"net: {warmup: 0, measure: 400}");
	net_good(&g);
	assert_string_equal(net_manifest(&g, "net.window"),
			    "cycles 400 to 1200");
	net_close(&g);
	net_run(&g, 64, "preset: plain, flits: 32, load: 0.3",
		"type: torus, dims: [8, 8], routing: table, tie: balanced, "
		"switch: {preset: plain}, link: {length: 0.0001}, "
		"net: {warmup: 0, measure: 400}");
	net_good(&g);
	assert_string_equal(net_manifest(&g, "net.state"), "steady");
	net_close(&g);
}

static uint64_t observed(const struct direct_rig *g, const char *name)
{
	for (size_t i = 0; i < g->r->n_hists; i++)
		if (!strcmp(g->r->hists[i].name, name))
			return g->r->hists[i].h.count;
	fail_msg("no histogram %s", name);
	return 0;
}

/* Every source makes one packet per 80 cycles. The window counts only packets
 * that were made inside it. Sources continue while the last packets of the
 * window are in flight, but those later packets are not counted. */
static void packets_of_the_window_are_counted(void **st)
{
	struct direct_rig g;

	net_run(&g, 16,
		"preset: plain, flits: 8, load: 0.1, arrivals: periodic",
		"type: torus, dims: [4, 4], routing: table, "
		"switch: {preset: plain}, link: {length: 0.0001}, "
		"net: {warmup: 800, measure: 8000}");
	net_good(&g);
	assert_int_equal(observed(&g, "net.latency"), 16 * 100);
	assert_true(net_counter(&g, "net.received") > 16 * 110);
	assert_true(fabs(net_metric(&g, "net.offered") - 0.1) < 1e-9);
	net_close(&g);
}

/* Ten packets of 9 flits are made in one cycle and leave one by one. Each
 * packet waits 9 cycles for each packet before it. */
static void latency_has_the_wait_in_the_source(void **st)
{
	const char *ring =
		"type: torus, dims: [3], routing: table, "
		"switch: {preset: plain}, link: {length: 0.0001}";
	char path[32], traffic[120];
	double one = 0, all = 0;
	struct direct_rig g;

	for (int n = 1; n <= 10; n += 9) {
		char *text = NULL;
		size_t len;
		FILE *f = open_memstream(&text, &len);

		for (int i = 0; i < n; i++)
			fprintf(f, "5 0 1 24\n");
		fclose(f);
		net_trace_file(path, text);
		free(text);
		snprintf(traffic, sizeof(traffic), "preset: plain, trace: %s",
			 path);
		net_run(&g, 3, traffic, ring);
		unlink(path);
		net_good(&g);
		*(n == 1 ? &one : &all) = net_metric(&g, "net.latency");
		net_close(&g);
	}
	assert_true(one == 6 + 9 + 5);
	assert_true(fabs(all - (one + 9 * 4.5)) < 1e-9);
}

static void detected_warmup_ends_in_a_steady_network(void **st)
{
	struct direct_rig g;

	net_run(&g, 16, "preset: plain, flits: 8, load: 0.5",
		"type: torus, dims: [4, 4], routing: table, "
		"switch: {preset: plain}, net: {detect: yes, measure: 100000, "
		"precision: 0.02}");
	net_good(&g);
	assert_string_equal(net_manifest(&g, "net.state"), "steady");
	assert_true(net_metric(&g, "net.latency_ci") <
		    0.04 * net_metric(&g, "net.latency"));
	net_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			run_is_steady_below_capacity_and_saturated_above),
		cmocka_unit_test(a_load_just_above_what_is_taken_saturates),
		cmocka_unit_test(short_and_long_windows_agree),
		cmocka_unit_test(a_network_that_fills_up_is_not_saturated),
		cmocka_unit_test(packets_of_the_window_are_counted),
		cmocka_unit_test(latency_has_the_wait_in_the_source),
		cmocka_unit_test(detected_warmup_ends_in_a_steady_network),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
