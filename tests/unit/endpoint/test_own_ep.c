/* SPDX-License-Identifier: Apache-2.0 */
/* The endpoint library of own_ep.c, which is not part of the tree, keeps all
 * rules of weft/ep.h over the NIC of the examples. */
#include <stdio.h>
#include <stdlib.h>

#include "../cmocka_all.h"
#include "../host/node.h"
#include "host/host_internal.h"
#include "measure/result.h"

extern const struct weft_class weft_class_bus_pcix, weft_class_own_nic;
extern const struct weft_class weft_class_ep_conformance;
extern const struct weft_class weft_class_ep_traffic;

static void join(struct bench *b)
{
	struct weft_err err = { 0 };

	assert_int_equal(weft_connect(&b->node[0].dev->ports[1],
				      &b->node[1].dev->ports[1], NULL,
				      50 * WEFT_NS, &err),
			 0);
}

static struct bench *pair(const struct weft_class *program)
{
	struct bench *b =
		bench_make(2, &weft_class_bus_pcix, &weft_class_own_nic);
	struct weft_err err = { 0 };

	b->join = join;
	for (uint32_t i = 0; i < 2; i++) {
		struct node *n = &b->node[i];
		char name[16];

		snprintf(name, sizeof(name), "n%u.prog0", i);
		n->prog[n->progs++] = weft_sim_add(b->sim, program, name, &err);
		assert_non_null(n->prog[0]);
	}
	return b;
}

static void run(struct bench *b)
{
	bench_start(b);
	bench_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	assert_false(weft_progs_running(b->sim));
}

static double metric(struct bench *b, const char *name)
{
	const struct result_metric *m =
		result_metric_get(weft_sim_result(b->sim), name);

	assert_non_null(m);
	return m->value;
}

static void it_passes_the_conformance_program(void **state)
{
	struct bench *b = pair(&weft_class_ep_conformance);

	run(b);
	assert_int_equal(metric(b, "n0.prog0.tests"), 11);
	assert_int_equal(metric(b, "n0.prog0.skipped"), 0);
	bench_free(b);
}

static void it_passes_with_few_and_small_slots(void **state)
{
	struct bench *b = pair(&weft_class_ep_conformance);

	bench_set(b, "ep.conformance", "rx_slots", "1");
	bench_set(b, "ep.conformance", "max_msg", "64");
	run(b);
	bench_free(b);
}

/* Checks that shadows of another process's memory are freed when the program
 * ends. */
static void conformance_leaves_no_shadow_behind(void **state)
{
	struct bench *b = pair(&weft_class_ep_conformance);

	bench_set(b, "ep.conformance", "far", "yes");
	run(b);
	for (uint32_t i = 0; i < 2; i++) {
		const struct host *hp = b->node[i].host->state;

		assert_int_equal(hp->mem.far.n, 0);
	}
	bench_free(b);
}

static void it_carries_traffic_both_ways(void **state)
{
	struct bench *b = pair(&weft_class_ep_traffic);

	bench_set(b, "ep.traffic", "count", "200");
	run(b);
	assert_int_equal(metric(b, "n0.prog0.received") +
				 metric(b, "n1.prog0.received"),
			 400);
	bench_free(b);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(it_passes_the_conformance_program),
		cmocka_unit_test(it_passes_with_few_and_small_slots),
		cmocka_unit_test(conformance_leaves_no_shadow_behind),
		cmocka_unit_test(it_carries_traffic_both_ways),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
