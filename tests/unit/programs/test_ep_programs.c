/* SPDX-License-Identifier: Apache-2.0 */
/* ep.pingpong and ep.traffic over an endpoint of known latency: their reports,
 * the nodes and sizes of their messages, and their detection of errors of the
 * endpoint. */
#include <string.h>

#include "../cmocka_all.h"
#include "measure/result.h"
#include "mock_ep.h"

extern const struct weft_class weft_class_ep_pingpong;
extern const struct weft_class weft_class_ep_traffic;

/* tolerance in ns: a poll of the queue every 100 ns, and some readings of the
 * clock */
enum { SLACK = 350 };

#define LATENCY_NS ((double)MOCK_LATENCY / WEFT_NS)

static struct bench *start(enum mock_fault fault, const struct weft_class *cls,
			   uint32_t nodes, const char *const *set)
{
	mock = (struct mock_net){ .fault = fault, .caps = MOCK_CAPS };
	return mock_run(cls, nodes, set);
}

#define RUN(fault, cls, nodes, ...)                                            \
	start(fault, &weft_class_##cls, nodes,                                 \
	      (const char *const[]){ __VA_ARGS__, NULL })

static void well(struct bench *b)
{
	assert_string_equal(bench_failure(b, 0), "");
	assert_false(weft_progs_running(b->sim));
	for (uint32_t i = 0; i < b->nodes; i++) {
		assert_int_equal(mock.end[i].unreleased, 0);
		assert_int_equal(mock.end[i].closes, 1);
	}
}

static void near(double value, double want, double slack)
{
	if (value < want || value > want + slack)
		fail_msg("%g is not in %g..%g", value, want, want + slack);
}

static struct hist *hist(struct bench *b, const char *name)
{
	return result_hist_get((struct weft_result *)weft_sim_result(b->sim),
			       name, "ns");
}

/* ---- ep.pingpong ---- */

static void half_a_round_is_the_latency(void **state)
{
	struct bench *b = RUN(MOCK_NONE, ep_pingpong, 3, "count=10", "size=77");
	struct hist *h;

	well(b);
	near(mock_metric(b, "n0.prog0.half_rtt"), LATENCY_NS, SLACK);
	h = hist(b, "n0.prog0.half_rtt");
	assert_int_equal(h->count, 10);
	near(h->min, LATENCY_NS, SLACK);
	near(h->max, LATENCY_NS, SLACK);
	assert_int_equal(mock.end[0].to[1], 10);
	assert_int_equal(mock.end[1].to[0], 10);
	assert_int_equal(mock.end[2].to[0] + mock.end[2].to[1], 0);
	assert_int_equal(mock.end[1].shortest, 77);
	assert_int_equal(mock.end[1].longest_msg, 77);
	bench_free(b);
	/* the mean does not contain the first round, so that a run of one round
	 * reports no mean */
	b = RUN(MOCK_NONE, ep_pingpong, 2, "count=1");
	well(b);
	assert_null(result_metric_get(weft_sim_result(b->sim),
				      "n0.prog0.half_rtt"));
	bench_free(b);
}

/* The layer adds one call for sending and one when the message has arrived. A
 * third call, for the completed send, has ended before a message arrives. */
static void layer_adds_two_calls_to_the_latency(void **state)
{
	struct bench *b = RUN(MOCK_NONE, ep_pingpong, 2, "count=4", "layer=yes",
			      "call=1us", "size=64");
	struct result_series *s;

	well(b);
	near(mock_metric(b, "n0.prog0.half_rtt"), LATENCY_NS + 2000, SLACK);
	assert_int_equal(mock.end[0].longest_msg, 64 + 32);
	s = result_series_get(weft_sim_result(b->sim), "n0.prog0.round", "",
			      "ns");
	assert_int_equal(s->n, 4);
	for (int i = 0; i < 4; i++) {
		assert_true(s->x[i] == i);
		near(s->y[i], LATENCY_NS + 2000, SLACK);
	}
	bench_free(b);
	b = RUN(MOCK_NONE, ep_pingpong, 2, "count=4", "layer=yes", "call=1us",
		"head=100", "size=3");
	well(b);
	assert_int_equal(mock.end[1].shortest, 103);
	bench_free(b);
}

static void pingpong_opens_its_endpoint_as_asked(void **state)
{
	const struct weft_ep_attr *a = &mock.end[1].attr;
	struct bench *b = RUN(MOCK_NONE, ep_pingpong, 2, "count=2", "size=4096",
			      "eager_max=99", "use_irq=yes", "start=500us");

	well(b);
	assert_int_equal(a->max_msg, 0); /* 0: the library's own limit */
	assert_int_equal(a->eager_max, 99);
	assert_true(a->use_irq);
	assert_in_range(mock.end[1].first, 500 * WEFT_US, 510 * WEFT_US);
	bench_free(b);
	b = RUN(MOCK_NONE, ep_pingpong, 2, "count=2", "size=4097");
	well(b);
	assert_int_equal(a->max_msg, 4097);
	assert_false(a->use_irq);
	assert_in_range(mock.end[1].first, 0, 50 * WEFT_US);
	bench_free(b);
	b = RUN(MOCK_NONE, ep_pingpong, 2, "count=2", "size=4096", "layer=yes");
	well(b);
	assert_int_equal(a->max_msg, 4128);
	bench_free(b);
}

static void pingpong_runs_over_sizes_with_any_partner(void **state)
{
	struct bench *b = RUN(MOCK_NONE, ep_pingpong, 3, "count=5", "size=8",
			      "size_max=29", "step=7", "partner=2");
	const struct result_series *s = result_series_get(
		weft_sim_result(b->sim), "n0.prog0.half_rtt", "B", "ns");

	well(b);
	assert_int_equal(s->n, 4);
	for (uint32_t i = 0; i < 4; i++) {
		near(s->x[i], 8 + 7 * i, 0);
		near(s->y[i], LATENCY_NS, SLACK);
	}
	near(mock_metric(b, "n0.prog0.rounds"), 20, 0);
	bench_free(b);
}

static void pingpong_notices_wrong_messages(void **state)
{
	static const struct {
		enum mock_fault fault;
		const char *set, *says;
	} t[] = {
		{ SEND_DAMAGE, "layer=no",
		  "round 0, 64 bytes: differs at byte 63" },
		{ SEND_DAMAGE, "size=1",
		  "round 0, 1 bytes: differs at byte 0" },
		{ SEND_SHORT, "layer=no", "round 0: number 0, 63 bytes" },
		{ SEND_FORGED, "layer=no",
		  "round 0: number 648518346341351424, 64 bytes" },
		{ SEND_DAMAGE, "layer=yes",
		  "round 0, 96 bytes: differs at byte 95" },
		{ OPEN_SAYS, "layer=no", "cannot open the endpoint: taken" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct bench *b =
			RUN(t[i].fault, ep_pingpong, 2, "count=3", t[i].set);

		if (!mock_failed(b, t[i].says))
			fail_msg("no \"%s\", but \"%s\"", t[i].says,
				 bench_failure(b, 0));
		bench_free(b);
	}
}

/* ---- ep.traffic ---- */

static void rates_are_of_time_and_messages(void **state)
{
	struct bench *b = RUN(MOCK_NONE, ep_traffic, 2, "count=10", "size=64",
			      "to=others", "gap=10us");
	struct hist *h;
	double rate;

	well(b);
	assert_int_equal(mock_metric(b, "n0.prog0.received"), 10);
	rate = mock_metric(b, "n1.prog0.message_rate");
	/* 10 gaps of 10 us, and 2 us for the last message and its end */
	near(10e6 / rate, 100 + 2, 3);
	near(mock_metric(b, "n1.prog0.bandwidth_in") * 1048576 / rate, 63.999,
	     0.002);
	h = hist(b, "n0.prog0.latency");
	assert_int_equal(h->count, 10);
	near(h->min, LATENCY_NS, SLACK);
	near(h->max, LATENCY_NS, SLACK + 200);
	bench_free(b);
}

static void traffic_goes_to_the_chosen_nodes(void **state)
{
	static const struct {
		const char *to, *pattern;
		uint32_t n[3];
	} t[] = {
		{ "to=all", "pattern=round-robin", { 10, 10, 10 } },
		{ "to=0,2", "pattern=round-robin", { 15, 0, 15 } },
		{ "to=1", "pattern=fixed", { 0, 30, 0 } },
		{ "to=none", "pattern=uniform", { 0, 0, 0 } },
		{ "to=2", "pattern=uniform", { 0, 0, 30 } },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct bench *b = RUN(MOCK_NONE, ep_traffic, 3, "count=30",
				      t[i].to, t[i].pattern);

		well(b);
		for (uint32_t p = 0; p < 3; p++) {
			char name[32] = "n0.prog0.received";

			name[1] = (char)('0' + p);
			assert_int_equal(mock.end[1].to[p], t[i].n[p]);
			assert_int_equal(mock_metric(b, name), 3 * t[i].n[p]);
		}
		bench_free(b);
	}
}

static void traffic_draws_destinations_and_sizes(void **state)
{
	struct bench *b = RUN(MOCK_NONE, ep_traffic, 3, "count=300", "size=8",
			      "size_max=40", "to=all");

	well(b);
	for (uint32_t p = 0; p < 3; p++)
		assert_in_range(mock.end[0].to[p], 70, 130);
	assert_int_equal(mock.end[0].shortest, 8);
	assert_int_equal(mock.end[0].longest_msg, 40);
	bench_free(b);
}

static void traffic_opens_its_endpoint_as_asked(void **state)
{
	const struct weft_ep_attr *a = &mock.end[0].attr;
	struct bench *b = RUN(MOCK_NONE, ep_traffic, 2, "count=2",
			      "size_max=4096", "rx_slots=7", "use_irq=yes");

	well(b);
	assert_int_equal(a->max_msg, 0);
	assert_int_equal(a->rx_slots, 7);
	assert_true(a->use_irq);
	bench_free(b);
	b = RUN(MOCK_NONE, ep_traffic, 2, "count=2", "size=4097");
	well(b);
	assert_int_equal(a->max_msg, 4097);
	assert_int_equal(mock.end[0].shortest, 4097);
	bench_free(b);
}

static void traffic_notices_lost_and_wrong_messages(void **state)
{
	static const struct {
		enum mock_fault fault;
		const char *set, *says;
	} t[] = {
		{ SEND_SAYS, "to=1", "send to node 1 says -5" },
		{ SEND_SAYS, "to=1", "node 0 sent 3 messages, 0 are here" },
		{ SEND_SHORT, "to=1",
		  "message 0 of node 1: number 0, wrong byte -1" },
		{ SEND_DAMAGE, "to=1",
		  "message 2 of node 0: number 2, wrong byte 55" },
		{ SEND_LOST, "to=0", "node 1 sent 3 messages, 0 are here" },
		{ SEND_ORDER, "to=0", "message 0 of node 0: number 1" },
		{ SEND_ORDER, "to=0", "message 1 of node 0: number 0" },
		{ OPEN_SAYS, "to=0", "cannot start: taken already" },
		{ MOCK_NONE, "to=5", "cannot start: a value is out of range" },
		{ MOCK_NONE, "size_max=63", "cannot start: a value is out" },
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct bench *b =
			RUN(t[i].fault, ep_traffic, 2, "count=3", t[i].set);

		if (!mock_failed(b, t[i].says))
			fail_msg("no \"%s\", but \"%s\"", t[i].says,
				 bench_failure(b, 0));
		bench_free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(half_a_round_is_the_latency),
		cmocka_unit_test(layer_adds_two_calls_to_the_latency),
		cmocka_unit_test(pingpong_opens_its_endpoint_as_asked),
		cmocka_unit_test(pingpong_runs_over_sizes_with_any_partner),
		cmocka_unit_test(pingpong_notices_wrong_messages),
		cmocka_unit_test(rates_are_of_time_and_messages),
		cmocka_unit_test(traffic_goes_to_the_chosen_nodes),
		cmocka_unit_test(traffic_draws_destinations_and_sizes),
		cmocka_unit_test(traffic_opens_its_endpoint_as_asked),
		cmocka_unit_test(traffic_notices_lost_and_wrong_messages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
