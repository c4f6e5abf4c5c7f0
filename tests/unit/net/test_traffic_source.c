/* SPDX-License-Identifier: Apache-2.0 */
/* Sources of traffic: rate, variance and bursts of arrivals, sizes, ends, and
 * the order of a trace. */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "../cmocka_all.h"
#include "base/rng.h"
#include "net/network_source.h"
#include "net/traffic_source.h"

enum { LINE = 1000 }; /* time of a packet on the line, in cycles */

/* ---- arrivals ---- */

struct gaps {
	double mean, var;
	uint64_t least, longest;
};

static struct gaps gaps_of(struct arrivals *a, struct weft_rng *rng, int n)
{
	struct gaps g = { .least = UINT64_MAX };
	double sum2 = 0;

	for (int i = 0; i < n; i++) {
		uint64_t was = a->next, gap;

		arrivals_step(a, LINE, rng);
		gap = a->next - was;
		g.mean += (double)gap / n;
		sum2 += (double)gap * (double)gap / n;
		g.least = gap < g.least ? gap : g.least;
		g.longest = gap > g.longest ? gap : g.longest;
	}
	g.var = sum2 - g.mean * g.mean;
	return g;
}

/* The mean is 1/p, the variance (1 - p)/p^2. */
static void gaps_of_bernoulli_arrivals_are_geometric(void **st)
{
	struct arrivals a = { .rate = 0.05 };
	struct weft_err err = { 0 };
	struct weft_rng rng;
	uint64_t first = 0;
	struct gaps g;

	weft_rng_seed(&rng, 1, "");
	for (int i = 0; i < 20000; i++) {
		assert_int_equal(arrivals_init(&a, 0, 0, &rng, &err), 0);
		first += a.next == 0;
	}
	/* 5 % of the sources begin in cycle 0 */
	assert_in_range(first, 850, 1150);
	g = gaps_of(&a, &rng, 200000);
	assert_true(fabs(g.mean - 20) < 0.25);
	assert_true(fabs(g.var - 380) < 12);
	assert_int_equal(g.least, 1);
	a.rate = 2;
	arrivals_init(&a, 0, 0, &rng, &err);
	assert_int_equal(a.next, 0);
	g = gaps_of(&a, &rng, 100);
	assert_int_equal(g.longest, 1);
	a.rate = 0;
	arrivals_init(&a, 0, 0, &rng, &err);
	assert_true(a.next == UINT64_MAX);
}

static void periodic_arrivals_are_even(void **st)
{
	struct arrivals a = { .kind = ARRIVALS_PERIODIC, .rate = 0.3 };
	struct weft_err err = { 0 };
	struct weft_rng rng;
	struct gaps g;

	weft_rng_seed(&rng, 1, "");
	arrivals_init(&a, 0, 0, &rng, &err);
	assert_true(a.next < 4);
	g = gaps_of(&a, &rng, 30000);
	assert_true(fabs(g.mean - 1 / 0.3) < 0.001);
	assert_int_equal(g.least, 3);
	assert_int_equal(g.longest, 4);
	/* later than 64 bits can count */
	a.rate = 1e-30;
	arrivals_init(&a, 0, 0, &rng, &err);
	assert_true(a.next == ARRIVALS_NEVER);
	arrivals_step(&a, 0, &rng);
	assert_true(a.next == ARRIVALS_NEVER);
}

static void bursts_have_the_rate_and_more_variance(void **st)
{
	struct arrivals a = { .kind = ARRIVALS_BURSTY, .rate = 0.02 };
	struct weft_err err = { 0 };
	struct weft_rng rng;
	struct gaps g;

	weft_rng_seed(&rng, 1, "");
	assert_int_equal(arrivals_init(&a, 0.125, 200, &rng, &err), 0);
	g = gaps_of(&a, &rng, 400000);
	assert_true(fabs(g.mean - 50) < 1.5);
	/* geometric gaps would have a variance of 2450 */
	assert_true(g.var > 4 * 2450);
	assert_int_not_equal(arrivals_init(&a, 0.01, 200, &rng, &err), 0);
	/* consecutive bursts are less than a cycle apart */
	a.rate = 0.5;
	assert_int_equal(arrivals_init(&a, 0.6, 2, &rng, &err), 0);
	g = gaps_of(&a, &rng, 100000);
	assert_true(g.mean > 1.9 && g.mean < 2.6);
	a.rate = 0.5;
	assert_int_equal(arrivals_init(&a, 0.5, 1, &rng, &err), 0);
}

/* BookSim2's process, cycle by cycle: the state changes, then a packet is made
 * with the probability of the peak. Returns packets per cycle, and in *again_p
 * the share of packets that follow another in the next cycle. */
static double on_off_reference(double start, double stop, double peak,
			       double *again_p)
{
	enum { CYCLES = 2000000 };
	uint32_t made = 0, again = 0;
	struct weft_rng rng;
	bool on = false, was = false;

	weft_rng_seed(&rng, 2, "");
	for (int i = 0; i < CYCLES; i++) {
		bool now;

		on = on ? weft_rng_real(&rng) >= stop
			: weft_rng_real(&rng) < start;
		now = on && weft_rng_real(&rng) < peak;
		made += now;
		again += now && was;
		was = now;
	}
	*again_p = (double)again / made;
	return (double)made / CYCLES;
}

static void on_off_is_the_process_that_two_probabilities_define(void **st)
{
	static const struct {
		double start, stop, peak, rate;
	} rows[] = { { 0.02, 0.08, 1, 0.1 },
		     { 0, 0.05, 0.5, 0.1 },
		     { 0.01, 0, 0.75, 0.2 },
		     { 0.5, 0.5, 1, 0.3 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct arrivals a = { .kind = ARRIVALS_ON_OFF,
				      .rate = rows[i].rate,
				      .start = rows[i].start,
				      .stop = rows[i].stop };
		double start = rows[i].start, stop = rows[i].stop;
		double peak = rows[i].peak, again, want;
		struct weft_err err = { 0 };
		struct weft_rng rng;
		uint32_t next = 0;
		struct gaps g;

		if (!start)
			start = stop * a.rate / (peak - a.rate);
		else if (!stop)
			stop = start * (peak - a.rate) / a.rate;
		else
			peak = a.rate * (start + stop) / start;
		weft_rng_seed(&rng, 1, "");
		assert_int_equal(arrivals_init(&a, rows[i].peak, 0, &rng, &err),
				 0);
		g = gaps_of(&a, &rng, 200000);
		want = on_off_reference(start, stop, peak, &again);
		assert_true(fabs(1 / g.mean - want) < 0.05 * want);
		for (int k = 0; k < 200000; k++) {
			uint64_t was = a.next;

			arrivals_step(&a, LINE, &rng);
			next += a.next == was + 1;
		}
		assert_true(fabs(next / 200000.0 - again) < 0.02);
	}
}

static void on_off_that_cannot_give_the_load_is_refused(void **st)
{
	static const struct {
		double start, stop, peak, rate;
	} rows[] = { { 0, 0, 1, 0.1 },
		     { 0.1, 0.9, 1, 0.2 },
		     { 0, 0.9, 0.5, 0.4 },
		     { 0.1, 0, 0.5, 0.6 } };

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct arrivals a = { .kind = ARRIVALS_ON_OFF,
				      .rate = rows[i].rate,
				      .start = rows[i].start,
				      .stop = rows[i].stop };
		struct weft_err err = { 0 };
		struct weft_rng rng;

		weft_rng_seed(&rng, 1, "");
		assert_int_not_equal(
			arrivals_init(&a, rows[i].peak, 0, &rng, &err), 0);
		assert_non_null(strstr(err.msg, "start"));
	}
}

static void a_burst_is_at_least_a_cycle_long(void **st)
{
	struct arrivals a = { .kind = ARRIVALS_BURSTY, .rate = 0.25 };
	struct weft_err err = { 0 };
	struct weft_rng rng;

	weft_rng_seed(&rng, 1, "");
	assert_int_equal(arrivals_init(&a, 0.5, 0.75, &rng, &err), -EINVAL);
	assert_string_equal(
		err.msg,
		"bursts of 0.75 cycles at 0.5 packets per cycle do not give 0.25");
	assert_int_equal(arrivals_init(&a, 0.5, 0, &rng, &err), -EINVAL);
}

/* At a share of 0.4, 1500 idle cycles follow a packet of 1000 cycles. */
static void a_share_of_the_line_gives_the_mean_gap(void **st)
{
	static const struct {
		enum arrivals_kind kind;
		double var;
		uint64_t least, longest;
	} want[] = {
		{ ARRIVALS_UNIFORM, 5000.0 * 5000 / 12, 0, 5000 },
		{ ARRIVALS_EVEN, 0, 2500, 2500 },
		{ ARRIVALS_POISSON, 1500.0 * 1500, 1000, UINT64_MAX },
	};

	for (size_t i = 0; i < 3; i++) {
		struct arrivals a = { .kind = want[i].kind, .rate = 0.4 };
		struct weft_err err = { 0 };
		struct weft_rng rng;
		struct gaps g;

		weft_rng_seed(&rng, 1, "");
		assert_int_equal(arrivals_init(&a, 0, 0, &rng, &err), 0);
		assert_int_equal(a.next, 0);
		g = gaps_of(&a, &rng, 200000);
		assert_true(fabs(g.mean - 2500) < 25);
		assert_true(fabs(g.var - want[i].var) < 0.02 * 2500 * 2500);
		assert_true(g.least >= want[i].least &&
			    g.longest <= want[i].longest);
	}
}

static void a_saturated_source_is_always_due(void **st)
{
	struct arrivals a = { .kind = ARRIVALS_SATURATED, .rate = 2 };
	struct weft_err err = { 0 };

	arrivals_init(&a, 0, 0, NULL, &err);
	for (int i = 0; i < 10; i++)
		arrivals_step(&a, LINE, NULL);
	assert_int_equal(a.next, 0);
	arrivals_wait(&a, 77);
	assert_int_equal(a.next, 77);
	arrivals_wait(&a, 70);
	assert_int_equal(a.next, 77);
}

/* The load is so small that the next packet is beyond the range of counters. */
static void what_is_too_far_off_never_comes(void **st)
{
	struct arrivals a = { .kind = ARRIVALS_UNIFORM, .rate = 1e-30 };
	struct weft_err err = { 0 };
	struct weft_rng rng;

	weft_rng_seed(&rng, 1, "");
	arrivals_init(&a, 0, 0, &rng, &err);
	arrivals_step(&a, LINE, &rng);
	assert_true(a.next == ARRIVALS_NEVER);
	arrivals_shift(&a, 5);
	assert_true(a.next == ARRIVALS_NEVER);
}

/* ---- source ---- */

static void a_mix_has_its_shares_and_mean(void **st)
{
	struct traffic_source s = { .pattern = { .kind = PATTERN_FIXED } };
	struct weft_rng rng;
	uint32_t small = 0;

	weft_rng_seed(&rng, 1, "");
	assert_int_equal(traffic_mix_read(&s, "64:3,512:1", 4096), 0);
	for (int i = 0; i < 40000; i++)
		small += traffic_draw(&s, &rng).size == 64;
	assert_in_range(small, 29500, 30500);
	traffic_source_fini(&s);
}

static void a_mix_that_is_none_is_refused(void **st)
{
	static const char *const wrong[] = { "64:0", "x", "64;3", "4097",
					     "1,2,3,4,5,6,7,8,9" };

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct traffic_source s = { 0 };

		assert_int_equal(traffic_mix_read(&s, wrong[i], 4096), -EINVAL);
		traffic_source_fini(&s);
	}
}

static void the_last_packet_ends_the_source(void **st)
{
	struct traffic_source s = {
		.pattern = { .kind = PATTERN_FIXED, .partner = 9 },
		.arrivals = { .kind = ARRIVALS_EVEN, .rate = 1 },
		.size = 24,
		.packets = 3
	};

	assert_int_equal(traffic_total(&s), 3);
	for (uint32_t i = 0; i < 3; i++) {
		struct traffic_packet p;

		assert_int_equal(traffic_due(&s), i * LINE);
		p = traffic_draw(&s, NULL);
		traffic_step(&s, LINE, NULL);
		assert_int_equal(p.number, i);
		assert_int_equal(p.at, i * LINE);
		assert_int_equal(p.dest, 9);
		assert_int_equal(p.size, 24);
	}
	assert_true(traffic_due(&s) == ARRIVALS_NEVER);
}

/* Node 5 has a packet at cycle 7 that waits for another packet, and two that do
 * not wait. */
static void a_trace_is_played_in_the_order_in_which_packets_may_go(void **st)
{
	static const char text[] =
		"1 2 5 8 a\n"
		"7 5 1 8 b a\n"
		"8 5 2 16\n"
		"9 5 3 24\n";
	struct weft_err err = { 0 };
	struct trace *t = trace_parse("t", text, sizeof(text) - 1, 8, 64, &err);
	struct traffic_source s = { 0 };
	struct traffic_packet p;

	assert_non_null(t);
	traffic_replay(&s, t, 5);
	assert_int_equal(traffic_total(&s), 3);
	assert_int_equal(traffic_due(&s), 8);
	p = traffic_draw(&s, NULL);
	assert_int_equal(p.dest, 2);
	assert_int_equal(traffic_due(&s), 9);
	packet_replay_ready(s.replay, 1);
	assert_int_equal(traffic_due(&s), 7);
	p = traffic_draw(&s, NULL);
	assert_int_equal(p.id, 1);
	assert_int_equal(p.dest, 1);
	p = traffic_draw(&s, NULL);
	assert_int_equal(p.size, 24);
	assert_true(traffic_due(&s) == ARRIVALS_NEVER);
	traffic_source_fini(&s);
	trace_free(t);
}

/* Packet b waits for the departure of a, and c for that of b and the arrival of
 * x. Their cycles are not before those of the packets for which they wait. */
static void a_packet_leaves_behind_the_one_that_it_names(void **st)
{
	static const char text[] =
		"1 2 5 8 x\n"
		"20 5 1 8 a\n"
		"7 5 2 8 b >a\n"
		"8 5 3 8 c >b,x\n"
		"30 5 4 8 d\n";
	struct weft_err err = { 0 };
	struct trace *t = trace_parse("t", text, sizeof(text) - 1, 8, 64, &err);
	struct traffic_source s = { 0 };
	struct traffic_packet p;

	assert_non_null(t);
	traffic_replay(&s, t, 5);
	assert_int_equal(traffic_due(&s), 20);
	p = traffic_draw(&s, NULL);
	assert_int_equal(p.dest, 1);
	assert_int_equal(traffic_due(&s), 20);
	p = traffic_draw(&s, NULL);
	assert_int_equal(p.dest, 2);
	assert_int_equal(traffic_due(&s), 30);
	assert_int_equal(t->pkt[3].wait, 1);
	assert_int_equal(t->pkt[3].cycle, 20);
	traffic_source_fini(&s);
	trace_free(t);
}

static uint32_t flits_of(const void *own, uint32_t size)
{
	return size;
}

/* Asks at random cycles, mostly later ones, while the source falls behind,
 * catches up and overtakes the scouts. */
static void scouts_find_the_backlog_that_a_new_copy_finds(void **st)
{
	struct net_source_cost cost = { flits_of, NULL };
	struct net_source s = { .t = { .size = 1, .size_max = 9 } };
	struct net_scout scouts[2] = { 0 };
	struct weft_err err = { 0 };
	struct weft_rng rng, luck;
	uint64_t cycle = 1, flits = 0, found = 0;

	weft_rng_seed(&rng, 1, "packets");
	weft_rng_seed(&luck, 1, "luck");
	s.t.arrivals.rate = 0.2;
	s.t.pattern.nodes = 4;
	assert_int_equal(arrivals_init(&s.t.arrivals, 0, 0, &rng, &err), 0);
	for (int i = 0; i < 5000; i++) {
		uint64_t from = weft_rng_below(&luck, cycle + 20);
		struct net_backlog got, want;

		from = weft_rng_below(&luck, 2) ? 0 : from;
		got = net_scout_backlog(scouts, &s, &rng, cost, flits, from,
					cycle);
		want = net_source_backlog(&s, &rng, cost, from, cycle);
		assert_int_equal(got.packets, want.packets);
		assert_int_equal(got.flits, want.flits);
		found += want.packets > 0;
		cycle += weft_rng_below(&luck, 40);
		if (cycle > 50 && !weft_rng_below(&luck, 10))
			cycle -= 50;
		for (uint64_t n = weft_rng_below(&luck, i / 500 % 2 ? 9 : 5); n;
		     n--) {
			flits += traffic_draw(&s.t, &rng).size;
			traffic_step(&s.t, 0, &rng);
		}
	}
	assert_in_range(found, 500, 4500);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_packet_leaves_behind_the_one_that_it_names),
		cmocka_unit_test(gaps_of_bernoulli_arrivals_are_geometric),
		cmocka_unit_test(periodic_arrivals_are_even),
		cmocka_unit_test(bursts_have_the_rate_and_more_variance),
		cmocka_unit_test(
			on_off_is_the_process_that_two_probabilities_define),
		cmocka_unit_test(on_off_that_cannot_give_the_load_is_refused),
		cmocka_unit_test(a_burst_is_at_least_a_cycle_long),
		cmocka_unit_test(a_share_of_the_line_gives_the_mean_gap),
		cmocka_unit_test(a_saturated_source_is_always_due),
		cmocka_unit_test(what_is_too_far_off_never_comes),
		cmocka_unit_test(a_mix_has_its_shares_and_mean),
		cmocka_unit_test(a_mix_that_is_none_is_refused),
		cmocka_unit_test(the_last_packet_ends_the_source),
		cmocka_unit_test(
			a_trace_is_played_in_the_order_in_which_packets_may_go),
		cmocka_unit_test(scouts_find_the_backlog_that_a_new_copy_finds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
