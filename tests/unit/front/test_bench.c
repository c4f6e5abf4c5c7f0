/* SPDX-License-Identifier: Apache-2.0 */
/* The benches of the simulator alone. */
#include <stdio.h>

#include "bench_rig.h"

static void event_bench_reports_ns_per_event_at_three_depths(void **state)
{
	struct bench_ctx b;

	bench_run(&b, bench_events);
	exactly(bench_figure(&b, "pending_100", "ns/event"), 0.1);
	exactly(bench_figure(&b, "pending_10k", "ns/event"), 0.1);
	exactly(bench_figure(&b, "pending_1m", "ns/event"), 0.1);
	assert_int_equal(b.read, b.n);
}

/* Returns the expected number of hops. A packet has 5 words besides its `size`
 * bytes, and a word takes 12.8 ns. The bench advances by 100 us until 3000
 * packets have arrived. */
static double crossbar(uint32_t ports, uint32_t size, double load)
{
	double step = ports * 100e3 / (12.8 * (5 + size / 4)) * load, done = 0;

	while (done < 3000)
		done += step;
	return done;
}

static void switch_bench_hops_follow_load_and_packet_size(void **state)
{
	static const struct bench_held held[] = {
		{ "hops_8x8_24B_half", 5698 },
		{ "hops_8x8_24B_full", 4808 },
		{ "hops_8x8_128B_half", 3384 },
		{ "hops_8x8_128B_full", 3202 },
		{ "hops_8x8_512B_half", 3038 },
		{ "hops_8x8_512B_full", 3233 },
		{ "hops_32x32_24B_half", 11360 },
		{ "hops_32x32_24B_full", 19232 },
		{ "hops_32x32_128B_half", 3429 },
		{ "hops_32x32_128B_full", 6406 },
		{ "hops_32x32_512B_half", 3722 },
		{ "hops_32x32_512B_full", 3688 },
		{ 0 },
	};
	static const uint32_t ports[] = { 8, 32 }, size[] = { 24, 128, 512 };
	struct bench_ctx b;
	char name[64];

	bench_run(&b, bench_switch);
	exactly(bench_figure(&b, "idle_port", "bytes"), (1 << 20) / (16 * 32));
	for (uint32_t i = 0; i < 6; i++) {
		uint32_t n = ports[i / 3], s = size[i % 3];

		snprintf(name, sizeof(name), "hops_%ux%u_%uB_half", n, n, s);
		near(bench_figure(&b, name, "M/s"), crossbar(n, s, 0.5), 0.03);
		/* traffic above the rate of a link uses most of its capacity */
		snprintf(name, sizeof(name), "hops_%ux%u_%uB_full", n, n, s);
		near(bench_figure(&b, name, "M/s"), 0.92 * crossbar(n, s, 1),
		     0.09);
	}
	bench_hold(&b, held);
	assert_int_equal(b.read, b.n);
}

static void nic_bench_reports_messages_and_events_of_each(void **state)
{
	static const struct bench_held held[] = {
		{ "events_24B", 22.30875 },
		{ "events_512B", 23.2225 },
		{ 0 },
	};
	struct bench_ctx b;

	bench_run(&b, bench_nic);
	exactly(bench_figure(&b, "messages_24B", "M/s"), 8 * 100);
	near(bench_figure(&b, "events_24B", "events/message"), 22, 0.3);
	exactly(bench_figure(&b, "messages_512B", "M/s"), 8 * 100);
	near(bench_figure(&b, "events_512B", "events/message"), 22, 0.3);
	bench_hold(&b, held);
	assert_int_equal(b.read, b.n);
}

static void scale_bench_hops_follow_nodes_and_distance(void **state)
{
	static const struct bench_held held[] = {
		{ "hops_8^3", 26578 },
		{ 0 },
	};
	struct bench_ctx b;

	bench_run(&b, bench_scale);
	/* the run takes 1 us, and the network fills during the first third of
	 * it */
	near(bench_figure(&b, "hops_8^3", "M/s"),
	     512 * 156.25 * 0.5 / 8 * torus_way(8) * 0.8, 0.25);
	exactly(bench_figure(&b, "bytes_8^3", "bytes/node"), (1 << 20) / 512);
	exactly(bench_figure(&b, "cost_8^3_to_8^3", "times"), 1);
	bench_hold(&b, held);
	assert_int_equal(b.read, b.n);
}

/* Messages of 5 flits for 1 us keep links of all sizes equally busy. */
static void nic_network_bench_keeps_links_of_all_sizes_busy(void **state)
{
	static const struct bench_held held[] = {
		{ "hops_8^3", 30963 },
		{ "messages_8^3", 4411 },
		{ "hops_4^3", 4444 },
		{ "messages_4^3", 1108 },
		{ 0 },
	};
	double load = 0.278 * 156.25 / 5, small, large;
	struct bench_ctx b;

	bench_run(&b, bench_nics);
	small = bench_figure(&b, "hops_8^3", "M/s");
	near(small, 512 * load * torus_way(8), 0.05);
	near(bench_figure(&b, "messages_8^3", "M/s"), 512 * load, 0.05);
	exactly(bench_figure(&b, "bytes_8^3", "bytes/node"), (1 << 20) / 512);
	large = bench_figure(&b, "hops_4^3", "M/s");
	near(large, 64 * 2 * load * torus_way(4), 0.05);
	near(bench_figure(&b, "messages_4^3", "M/s"), 64 * 2 * load, 0.05);
	exactly(bench_figure(&b, "bytes_4^3", "bytes/node"), (1 << 20) / 64);
	exactly(bench_figure(&b, "cost_4^3_to_8^3", "times"), small / large);
	near(bench_figure(&b, "peak", "MB"), 500, 0.99);
	bench_hold(&b, held);
	assert_int_equal(b.read, b.n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			event_bench_reports_ns_per_event_at_three_depths),
		cmocka_unit_test(switch_bench_hops_follow_load_and_packet_size),
		cmocka_unit_test(nic_bench_reports_messages_and_events_of_each),
		cmocka_unit_test(scale_bench_hops_follow_nodes_and_distance),
		cmocka_unit_test(
			nic_network_bench_keeps_links_of_all_sizes_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
