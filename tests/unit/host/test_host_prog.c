/* SPDX-License-Identifier: Apache-2.0 */
/* Programs: start, end, detection of stuck programs; the out-of-band store. */
#include "../cmocka_all.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "host/host_internal.h"
#include "node.h"

static void start_and_run(struct bench *b)
{
	bench_start(b);
	bench_run(b);
}

static int ends(struct weft_host *h, struct bench *b)
{
	weft_host_cpu(h, (1 + weft_host_node(h)) * WEFT_US);
	b->v[weft_host_node(h)] = 1;
	return 0;
}

static int ends_badly(struct weft_host *h, struct bench *b)
{
	return -EIO;
}

static void failing_program_is_reported_with_its_value(void **state)
{
	struct bench *b = bench_new(1);

	bench_prog(b, 0, ends_badly);
	start_and_run(b);
	assert_string_equal(bench_failure(b, 0),
			    "n0.prog0: ended with -5: Input/output error");
	bench_free(b);
}

static void running_programs_are_counted_until_they_end(void **state)
{
	struct bench *b = bench_new(3);

	for (uint32_t i = 0; i < 3; i++)
		bench_prog(b, i, ends);
	bench_start(b);
	assert_int_equal(weft_progs_running(b->sim), 3);
	weft_sim_run(b->sim, 1500 * WEFT_NS);
	assert_int_equal(weft_progs_running(b->sim), 2);
	assert_int_equal(b->v[0], 1);
	assert_int_equal(b->v[1], 0);
	bench_run(b);
	assert_int_equal(weft_progs_running(b->sim), 0);
	assert_string_equal(bench_failure(b, 0), "");
	bench_free(b);
}

static void program_attaches_once_and_only_to_a_host(void **state)
{
	struct bench *b = bench_new(2);
	struct node *n = b->node;

	bench_prog(b, 0, ends);
	bench_start(b);
	assert_int_equal(weft_prog_attach(n[0].bus, n[0].prog[0]), -EINVAL);
	assert_int_equal(weft_prog_attach(n[0].host, n[0].dev), -EINVAL);
	assert_int_equal(weft_prog_attach(n[1].host, n[0].prog[0]), -EBUSY);
	assert_null(weft_prog_host(n[0].dev));
	assert_int_equal(weft_progs_running(b->sim), 1);
	bench_run(b);
	bench_free(b);
}

static int forever(struct weft_host *h, struct bench *b)
{
	while (b)
		weft_host_sleep(h, weft_host_now(h) + WEFT_US);
	return 0;
}

static void background_program_does_not_keep_the_run_going(void **state)
{
	struct bench *b = bench_new(1);
	struct weft_err err = { 0 };

	bench_prog(b, 0, forever);
	bench_prog(b, 0, ends);
	bench_start(b);
	weft_prog_set_background(b->node[0].prog[0], true);
	assert_int_equal(weft_progs_running(b->sim), 1);
	weft_progs_stop_at_end(b->sim, true);
	weft_sim_run(b->sim, WEFT_SEC);
	assert_int_equal(weft_sim_now(b->sim), WEFT_US);
	assert_int_equal(weft_progs_running(b->sim), 0);
	assert_int_equal(weft_sim_finish(b->sim, &err), 0);
	assert_string_equal(bench_failure(b, 0), "");
	bench_free(b);
}

/* A program that is moved to the background twice counts once. A program that
 * has ended does not count. */
static void program_may_go_to_the_background_and_back(void **state)
{
	static const struct {
		bool background;
		uint32_t running;
	} said[] = { { true, 1 }, { true, 1 },	{ false, 2 }, { false, 2 },
		     { true, 1 }, { false, 2 }, { true, 1 } };
	struct bench *b = bench_new(1);
	struct weft_comp **prog = b->node[0].prog;

	bench_prog(b, 0, forever);
	bench_prog(b, 0, ends);
	bench_start(b);
	assert_int_equal(weft_progs_running(b->sim), 2);
	for (uint32_t i = 0; i < sizeof(said) / sizeof(*said); i++) {
		weft_prog_set_background(prog[0], said[i].background);
		assert_int_equal(weft_progs_running(b->sim), said[i].running);
	}
	weft_sim_run(b->sim, 2 * WEFT_US);
	assert_int_equal(weft_progs_running(b->sim), 0);
	for (uint32_t i = 0; i < 4; i++) {
		weft_prog_set_background(prog[1], i % 2 == 0);
		assert_int_equal(weft_progs_running(b->sim), 0);
	}
	weft_prog_set_background(prog[0], false);
	assert_int_equal(weft_progs_running(b->sim), 1);
	bench_free(b);
}

/* ---- stuck programs ---- */

static int stuck_poll(struct weft_host *h, struct bench *b)
{
	weft_phys_t phys;
	uint64_t *p = weft_mem_alloc(h, 64, 4096, &phys);

	b->v[0] = phys;
	weft_host_poll64(h, p + 1, 0, WEFT_NEVER);
	return 0;
}

static int stuck_irq(struct weft_host *h, struct bench *b)
{
	weft_host_irq_wait(h, weft_dev_open(h, 0), WEFT_NEVER);
	return 0;
}

static int stuck_key(struct weft_host *h, struct bench *b)
{
	weft_oob_get(h, "a key without value");
	return 0;
}

static void stuck_programs_say_what_they_wait_for(void **state)
{
	struct bench *b = bench_new(1);
	char text[120];

	bench_prog(b, 0, stuck_poll);
	bench_prog(b, 0, stuck_irq);
	bench_prog(b, 0, stuck_key);
	start_and_run(b);
	snprintf(text, sizeof(text),
		 "n0.prog0: still waits for a store to its memory at 0x%llx, "
		 "8 bytes",
		 (unsigned long long)b->v[0] + 8);
	assert_string_equal(bench_failure(b, 0), text);
	assert_string_equal(bench_failure(b, 1),
			    "n0.prog1: still waits for an interrupt of "
			    "device 0");
	assert_string_equal(bench_failure(b, 2),
			    "n0.prog2: still waits for the out-of-band key "
			    "'a key without value'");
	assert_int_equal(weft_progs_running(b->sim), 3);
	bench_free(b);
}

/* ---- out-of-band store ---- */

static int exchange(struct weft_host *h, struct bench *b)
{
	uint32_t me = weft_host_node(h), n = weft_host_nodes(h);
	char key[32];

	weft_host_cpu(h, me * WEFT_US);
	snprintf(key, sizeof(key), "addr.%u", me);
	weft_oob_put(h, key, 100 + me);
	for (uint32_t i = 0; i < n; i++) {
		snprintf(key, sizeof(key), "addr.%u", i);
		b->v[4 * me + i] = weft_oob_get(h, key);
	}
	b->t[me] = weft_host_now(h);
	return 0;
}

static void out_of_band_values_are_seen_50_us_later(void **state)
{
	struct bench *b = bench_new(3);

	bench_set(b, "host.pc", "cost_clock", "0");
	for (uint32_t i = 0; i < 3; i++)
		bench_prog(b, i, exchange);
	start_and_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	for (uint32_t i = 0; i < 3; i++) {
		for (uint32_t k = 0; k < 3; k++)
			assert_int_equal(b->v[4 * i + k], 100 + k);
		assert_int_equal(b->t[i], 52 * WEFT_US);
	}
	bench_free(b);
}

static int overwrite(struct weft_host *h, struct bench *b)
{
	uint32_t me = weft_host_node(h);

	if (!me) { /* node 0 reads the values one after the other */
		for (int i = 0; i < 4; i++) {
			weft_host_sleep(h, (50 + i) * WEFT_US);
			b->v[i] = weft_oob_get(h, "k");
		}
		return 0;
	}
	/* nodes 1 and 2 write the values one after the other */
	weft_oob_put(h, "k", me);
	weft_host_sleep(h, WEFT_US);
	if (me == 1) {
		weft_oob_put(h, "k", 11);
		weft_oob_put(h, "k", 12);
	}
	weft_host_sleep(h, 2 * WEFT_US);
	if (me == 2)
		weft_oob_put(h, "k", 22);
	return 0;
}

/* If two nodes put a value at one time, the value of the higher node
 * remains. */
static void out_of_band_values_are_ordered_by_time_and_node(void **state)
{
	struct bench *b = bench_new(3);

	for (uint32_t i = 0; i < 3; i++)
		bench_prog(b, i, overwrite);
	start_and_run(b);
	assert_string_equal(bench_failure(b, 0), "");
	assert_int_equal(b->v[0], 2);
	assert_int_equal(b->v[1], 12);
	assert_int_equal(b->v[2], 22);
	assert_int_equal(b->v[3], 22);
	bench_free(b);
}

enum { PUTS = 1000 };

static int puts_often(struct weft_host *h, struct bench *b)
{
	for (uint32_t k = 1; k <= 2; k++) {
		for (uint32_t i = 0; i < PUTS; i++)
			weft_oob_put(h, "often", k * PUTS + i);
		weft_host_sleep(h, k * WEFT_MS);
		b->v[k] = weft_oob_get(h, "often");
	}
	return 0;
}

/* The last of many values of a name replaces all others. */
static void a_name_may_be_put_often(void **state)
{
	struct bench *b = bench_new(1);

	bench_well(b, puts_often);
	assert_int_equal(b->v[1], 2 * PUTS - 1);
	assert_int_equal(b->v[2], 3 * PUTS - 1);
	bench_free(b);
}

static void two_simulations_share_nothing(void **state)
{
	struct bench *a = bench_new(2), *b = bench_new(3);

	for (uint32_t i = 0; i < 2; i++)
		bench_prog(a, i, exchange);
	for (uint32_t i = 0; i < 3; i++)
		bench_prog(b, i, exchange);
	bench_start(a);
	bench_start(b);
	for (weft_time_t t = 0; t < 60 * WEFT_US; t += WEFT_US) {
		weft_sim_run(a->sim, t);
		weft_sim_run(b->sim, t);
	}
	bench_run(a);
	bench_run(b);
	assert_int_equal(a->v[2], 0);
	assert_int_equal(b->v[2], 102);
	assert_string_equal(bench_failure(a, 0), "");
	assert_string_equal(bench_failure(b, 0), "");
	bench_free(a);
	bench_free(b);
}

static uint32_t mappings(void)
{
	FILE *f = fopen("/proc/self/maps", "r");
	uint32_t n = 0;
	int c;

	assert_non_null(f);
	while ((c = fgetc(f)) != EOF)
		n += c == '\n';
	fclose(f);
	return n;
}

/* Stacks of programs are mappings. A sanitizer does not detect a mapping that
 * is never unmapped, therefore the test counts mappings. */
static void simulation_is_freed_with_programs_in_the_middle(void **state)
{
	uint32_t first = 0;

	for (uint32_t i = 0; i < 12; i++) {
		struct bench *b = bench_new(2);

		bench_prog(b, 0, forever);
		bench_prog(b, 1, stuck_key);
		bench_start(b);
		weft_sim_run(b->sim, 10 * WEFT_US);
		assert_int_equal(weft_progs_running(b->sim), 2);
		bench_free(b);
		if (i == 1)
			first = mappings();
	}
	/* the 20 stacks are unmapped */
	assert_in_range(mappings(), 0, first + 9);
}

/* "n12.host" is on node 12. Any other name belongs to no node. */
static void name_of_a_host_says_its_node(void **state)
{
	static const struct {
		const char *name;
		uint32_t node;
	} t[] = {
		{ "n12.host", 12 }, { "n3", 3 },       { "n0.host", 0 },
		{ "x12.host", 77 }, { "nx.host", 77 }, { "n12x.host", 77 },
		{ "n", 77 },	    { "7.host", 77 },
	};
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_err err = { 0 };

	for (uint32_t i = 0; i < sizeof(t) / sizeof(t[0]); i++) {
		struct weft_comp *c =
			weft_sim_add(sim, &weft_class_host_pc, t[i].name, &err);
		struct host *hp = c->state;

		assert_int_equal(weft_param_set(c, "node", "77", &err), 0);
		assert_int_equal(weft_comp_init(c, &err), 0);
		assert_int_equal(hp->p.node, t[i].node);
	}
	weft_sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(name_of_a_host_says_its_node),
		cmocka_unit_test(failing_program_is_reported_with_its_value),
		cmocka_unit_test(running_programs_are_counted_until_they_end),
		cmocka_unit_test(program_attaches_once_and_only_to_a_host),
		cmocka_unit_test(
			background_program_does_not_keep_the_run_going),
		cmocka_unit_test(program_may_go_to_the_background_and_back),
		cmocka_unit_test(stuck_programs_say_what_they_wait_for),
		cmocka_unit_test(out_of_band_values_are_seen_50_us_later),
		cmocka_unit_test(
			out_of_band_values_are_ordered_by_time_and_node),
		cmocka_unit_test(a_name_may_be_put_often),
		cmocka_unit_test(two_simulations_share_nothing),
		cmocka_unit_test(
			simulation_is_freed_with_programs_in_the_middle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
