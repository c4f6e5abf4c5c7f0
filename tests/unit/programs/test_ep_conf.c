/* SPDX-License-Identifier: Apache-2.0 */
/* ep.conformance reports every rule of weft/ep.h that an endpoint breaks, and
 * nothing for an endpoint that keeps them. */
#include <string.h>

#include "../cmocka_all.h"
#include "mock_ep.h"
#include "programs/ep_conformance.h"

extern const struct weft_class weft_class_ep_conformance;

static void reset(enum mock_fault fault)
{
	mock = (struct mock_net){ .fault = fault, .caps = MOCK_CAPS };
}

static struct bench *conf(const char *set)
{
	const char *const few[] = { "messages=8", "puts=3",  "gets=3",
				    "atomics=6",  "regs=10", set,
				    NULL };

	return mock_run(&weft_class_ep_conformance, 2, few);
}

static void well(const char *set)
{
	struct bench *b = conf(set);

	assert_string_equal(bench_failure(b, 0), "");
	assert_false(weft_progs_running(b->sim));
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(mock.end[i].unreleased, 0);
		assert_int_equal(mock.end[i].opens, 1);
		assert_int_equal(mock.end[i].closes, 1);
	}
	bench_free(b);
}

/* Each node sends 8 messages to each of two nodes, then two rounds of 8 / 4 + 1
 * messages to each. Messages that must be refused are not counted. */
static void conformance_sends_every_kind_and_length(void **state)
{
	static const size_t edge[] = { 0, 1, 7, 8, 9, MOCK_MAX - 1, MOCK_MAX };
	struct bench *b;

	reset(MOCK_NONE);
	b = conf("test=all");
	assert_string_equal(bench_failure(b, 0), "");
	assert_int_equal(mock_metric(b, "n0.prog0.tests"), 11);
	assert_int_equal(mock_metric(b, "n1.prog0.skipped"), 0);
	bench_free(b);
	for (uint32_t i = 0; i < 2; i++) {
		const struct mock_end *e = &mock.end[i];

		assert_int_equal(e->datas, 2 * (8 + 3 + 3));
		assert_int_equal(e->puts, 2 * 3);
		/* includes the gets of the test of deregistration */
		assert_int_equal(e->gets, 2 * 3 + 2);
		assert_int_equal(e->fadds, 1 + 6 + 1);
		assert_in_range(e->cswaps, 1 + 2 + 1, 50);
		assert_int_equal(e->regs, 1 + 10 + 1);
		assert_int_equal(e->deregs, 10 + 1);
		assert_memory_equal(e->lengths, edge, sizeof(edge));
	}
}

static void late_or_busy_endpoint_passes_as_well(void **state)
{
	reset(MOCK_NONE);
	mock.late = true;
	well("test=all");
	reset(MOCK_NONE);
	mock.busy = true;
	well("test=all");
	reset(MOCK_NONE);
	well("max_msg=100000");
	reset(MOCK_NONE);
	well("group=3");
}

/* Node 0 needs 20 us for each message, and the other nodes need no time. */
static void slow_receiver_takes_20_us_for_each_message(void **state)
{
	reset(MOCK_NONE);
	well("test=slow");
	assert_in_range(mock.end[0].longest, 20 * WEFT_US, 21 * WEFT_US);
	assert_in_range(mock.end[1].longest, 0, WEFT_US);
	reset(MOCK_NONE);
	well("test=messages");
	assert_in_range(mock.end[0].longest, 0, WEFT_US);
}

static void receiver_holds_at_most_its_slots_or_four(void **state)
{
	static const struct {
		const char *set;
		uint32_t most;
	} t[] = {
		{ "rx_slots=0", 4 }, { "rx_slots=1", 1 }, { "rx_slots=2", 2 },
		{ "rx_slots=3", 3 }, { "rx_slots=4", 4 }, { "rx_slots=9", 4 }
	};

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		reset(MOCK_NONE);
		well(t[i].set);
		assert_int_equal(mock.end[0].most_unreleased, t[i].most);
		assert_int_equal(mock.end[0].out_of_order > 0, t[i].most > 2);
	}
}

static void attributes_reach_the_endpoint(void **state)
{
	const char *const set[] = { "max_msg=333", "rx_slots=5",
				    "use_irq=yes", "eager_max=77",
				    "group=2",	   "test=fadd",
				    NULL };
	const struct weft_ep_attr *a = &mock.end[1].attr;

	reset(MOCK_NONE);
	bench_free(mock_run(&weft_class_ep_conformance, 2, set));
	assert_int_equal(a->max_msg, 333);
	assert_int_equal(a->rx_slots, 5);
	assert_int_equal(a->eager_max, 77);
	assert_int_equal(a->group, 2);
	assert_true(a->use_irq);
	reset(MOCK_NONE);
	well("test=fadd");
	assert_false(a->use_irq);
}

static void missing_capability_is_skipped_and_not_used(void **state)
{
	static const struct {
		uint32_t without;
		int skipped;
	} t[] = { { WEFT_EP_PUT, 1 },
		  { WEFT_EP_GET, 2 }, /* get, dereg */
		  { WEFT_EP_FADD, 1 },
		  { WEFT_EP_CSWAP, 1 },
		  { WEFT_EP_FADD | WEFT_EP_CSWAP | WEFT_EP_GET, 4 },
		  { WEFT_EP_MSG, 8 } };

	for (size_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct bench *b;

		reset(MOCK_NONE);
		mock.caps &= ~t[i].without;
		b = conf("test=all");
		assert_string_equal(bench_failure(b, 0), "");
		assert_int_equal(mock_metric(b, "n0.prog0.skipped"),
				 t[i].skipped);
		assert_int_equal(mock_metric(b, "n0.prog0.tests"),
				 11 - t[i].skipped);
		bench_free(b);
	}
}

static const struct {
	enum mock_fault fault;
	const char *set, *says;
} faults[] = {
	{ OPEN_SAYS, "test=all", "cannot open the endpoint: taken already" },
	{ SEND_SAYS, "test=messages", "messages: send of 1 bytes says -5" },
	{ SEND_ORDER, "test=messages",
	  "messages: message 2 of node 0 came as number 1" },
	{ SEND_SHORT, "test=messages", "messages: length 6 instead of 7" },
	{ SEND_DAMAGE, "test=messages",
	  "messages: message 2 of node 1 differs at byte 6" },
	{ SEND_LOST, "test=messages", "messages: stuck" },
	{ SEND_LOST, "test=slow", "slow: stuck" },
	{ SEND_LOST, "test=holding", "holding: stuck" },
	{ SEND_FORGED, "test=messages", "messages: unknown message" },
	{ PUT_SAYS, "test=put", "say -5" },
	{ PUT_DAMAGE, "test=put", "is not in place" },
	{ PUT_LATE, "test=put", "is not in place" },
	{ PUT_TAIL, "test=put", "is not in place" },
	{ PUT_IMM, "test=put", "put: wrong imm" },
	{ PUT_SILENT, "test=put", "put: stuck" },
	{ GET_SAYS, "test=get", "say -5" },
	{ GET_STATUS, "test=get", "get: the NIC did not do" },
	{ GET_DAMAGE, "test=get", "differ at byte" },
	{ GET_AGAIN, "test=get", "get: an operation ended twice" },
	{ GET_OVER, "test=get", "get: wrote beyond its length" },
	{ FADD_NONE, "test=fadd", "fadd: 0 after 0" },
	{ FADD_NONE, "test=fadd", "fadd: counter grew by 0" },
	{ FADD_TWICE, "test=fadd", "fadd: counter grew by 24" },
	{ FADD_STATUS, "test=fadd", "fadd: the NIC did not do" },
	{ CSWAP_ALWAYS, "test=cswap", "cswap: counter grew by" },
	{ CSWAP_NEVER, "test=cswap", "cswap: counter grew by 0" },
	{ CSWAP_STATUS, "test=cswap", "cswap: the NIC did not do" },
	{ REG_SAYS, "test=regions", "regions: number 0 of " },
	{ REG_LEN, "test=regions", "regions: number 0 of " },
	{ REG_SAYS, "test=dereg", "dereg: cannot register" },
	{ REG_KEEPS, "test=all", "dereg: cannot register" },
	{ DEREG_SAYS, "test=regions", "regions: number 4 goes with -5" },
	{ DEREG_SAYS, "test=regions", "regions: one does not go" },
	{ DEREG_TWICE, "test=regions", "regions: one goes twice" },
	{ DEREG_SAYS, "test=dereg", "dereg: it does not go" },
	{ GET_GONE, "test=dereg",
	  "dereg: get from node 1 says 0, the region is gone" },
	{ GET_STATUS, "test=dereg",
	  "dereg: get from node 1 says -5, the region is there" },
	{ GET_DAMAGE, "test=dereg",
	  "dereg: get from node 1 brings something else" },
	{ SEND_LONG, "test=errors", "longer than max_msg was taken" },
	{ SEND_NOBODY, "test=errors", "a message to nobody was accepted" },
	{ PUT_BEYOND, "test=errors", "a put beyond its region was accepted" },
	{ PUT_KEY, "test=errors", "a put with a wrong key was accepted" },
	{ GET_BEYOND, "test=errors", "a get beyond its region was accepted" },
	{ FADD_BEYOND, "test=errors", "an atomic beyond its region was acc" },
	{ FADD_UNALIGNED, "test=errors", "an unaligned atomic was accepted" },
	{ WAIT_EARLY, "test=deadline", "wait: gave up before its deadline" },
};

static void conformance_finds_each_fault(void **state)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct bench *b;

		reset(faults[i].fault);
		b = conf(faults[i].set);
		if (!mock_failed(b, faults[i].says))
			fail_msg("fault %d, %s: no \"%s\", but \"%s\"",
				 faults[i].fault, faults[i].set, faults[i].says,
				 bench_failure(b, 0));
		bench_free(b);
	}
}

/* The second end of a get comes while the next get is in flight. */
static void an_operation_that_ends_twice_ends_no_other(void **state)
{
	struct bench *b;

	reset(GET_AGAIN);
	b = conf("test=get");
	for (size_t i = 0; *bench_failure(b, i); i++)
		assert_non_null(strstr(bench_failure(b, i), "ended twice"));
	bench_free(b);
}

/* The longest gap without an event lies between the last message that arrives
 * and the barrier after the test. It may exceed 200 ms, because waits end only
 * each millisecond. */
static void an_endpoint_is_stuck_after_200_ms_without_an_event(void **state)
{
	struct bench *b;

	reset(SEND_LOST);
	b = conf("test=messages");
	assert_true(mock_failed(b, "messages: stuck"));
	for (uint32_t i = 0; i < 2; i++)
		assert_in_range(mock.end[i].quiet, 200 * WEFT_MS,
				202 * WEFT_MS);
	bench_free(b);
}

static void each_accepted_error_fails_one_check_per_node(void **state)
{
	for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++) {
		struct bench *b;

		if (strcmp(faults[i].set, "test=errors"))
			continue;
		reset(faults[i].fault);
		b = conf("test=errors");
		assert_string_not_equal(bench_failure(b, 1), "");
		assert_string_equal(bench_failure(b, 2), "");
		bench_free(b);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(conformance_sends_every_kind_and_length),
		cmocka_unit_test(late_or_busy_endpoint_passes_as_well),
		cmocka_unit_test(slow_receiver_takes_20_us_for_each_message),
		cmocka_unit_test(receiver_holds_at_most_its_slots_or_four),
		cmocka_unit_test(attributes_reach_the_endpoint),
		cmocka_unit_test(missing_capability_is_skipped_and_not_used),
		cmocka_unit_test(conformance_finds_each_fault),
		cmocka_unit_test(an_operation_that_ends_twice_ends_no_other),
		cmocka_unit_test(
			an_endpoint_is_stuck_after_200_ms_without_an_event),
		cmocka_unit_test(each_accepted_error_fails_one_check_per_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
