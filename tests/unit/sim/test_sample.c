/* SPDX-License-Identifier: Apache-2.0 */
/* A run in steps, with counters read in between. */
#include "../cmocka_all.h"

#include "weft/sim.h"

enum { C_DONE, C_SAMPLED, C_N };
static const struct weft_counter lazy_counters[C_N] = {
	[C_DONE] = { "done", "events", "brought up to date by sample" },
	[C_SAMPLED] = { "sampled", "times", "how often" },
};

struct lazy {
	uint32_t events, stop_at, done;
};

static const struct weft_param lazy_params[] = {
	WEFT_PARAM(U32, struct lazy, events, "5", "", OWN, "10 fs apart"),
	WEFT_PARAM(U32, struct lazy, stop_at, "0", "", OWN, "stops the run"),
	{ 0 }
};

static int lazy_start(struct weft_comp *c, struct weft_err *err)
{
	weft_wake(c, 0, 10);
	return 0;
}

static void lazy_event(struct weft_comp *c, uint32_t tag)
{
	struct lazy *l = c->state;

	if (++l->done < l->events)
		weft_wake(c, 0, weft_now(c) + 10);
	if (l->done == l->stop_at)
		weft_sim_stop(c->sim);
}

static int lazy_sample(struct weft_comp *c, struct weft_err *err)
{
	c->counters[C_DONE] = ((struct lazy *)c->state)->done;
	c->counters[C_SAMPLED]++;
	return 0;
}

static WEFT_COMPONENT(lazy, .name = "test.lazy", .kind = WEFT_KIND_TRAFFIC,
		      .doc = "counts late", .state_size = sizeof(struct lazy),
		      .params = lazy_params, .counters = lazy_counters,
		      .n_counters = C_N,
		      .ops = { .start = lazy_start,
			       .event = lazy_event,
			       .sample = lazy_sample });

static struct weft_sim *started(struct weft_comp **c_p, const char *stop_at)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_err err = { 0 };

	*c_p = weft_sim_add(sim, &weft_class_lazy, "x", &err);
	assert_non_null(*c_p);
	assert_int_equal(weft_param_set(*c_p, "stop_at", stop_at, &err), 0);
	assert_int_equal(weft_comp_init(*c_p, &err), 0);
	assert_int_equal(weft_sim_start(sim, &err), 0);
	return sim;
}

/* A step moves the clock to its end only while events are pending. Therefore a
 * run in several steps ends at the same time as a run in one step. */
static void clock_follows_steps_while_events_are_pending(void **state)
{
	struct weft_comp *c;
	struct weft_sim *sim = started(&c, "0");

	assert_int_equal(weft_sim_step(sim, 25), 2);
	assert_int_equal(weft_sim_now(sim), 25);
	assert_int_equal(weft_sim_step(sim, 30), 1);
	assert_int_equal(weft_sim_now(sim), 30);
	assert_int_equal(weft_sim_step(sim, 80), 2);
	assert_int_equal(weft_sim_now(sim), 50);
	assert_true(weft_sim_idle(sim));
	assert_int_equal(weft_sim_run(sim, 80), 0);
	assert_int_equal(weft_sim_now(sim), 80);
	weft_sim_free(sim);
}

static void stopped_run_stays_at_its_time_until_the_next_step(void **state)
{
	struct weft_comp *c;
	struct weft_sim *sim = started(&c, "2");

	weft_sim_step(sim, 15);
	assert_false(weft_sim_stopped(sim));
	weft_sim_step(sim, 45);
	assert_true(weft_sim_stopped(sim));
	assert_int_equal(weft_sim_now(sim), 20);
	weft_sim_step(sim, 45);
	assert_false(weft_sim_stopped(sim));
	assert_int_equal(weft_sim_now(sim), 45);
	weft_sim_free(sim);
}

static void sample_brings_counters_up_to_date(void **state)
{
	struct weft_comp *c;
	struct weft_sim *sim = started(&c, "0");

	weft_sim_step(sim, 25);
	assert_int_equal(c->counters[C_DONE], 0);
	weft_sim_sample(sim);
	assert_int_equal(c->counters[C_DONE], 2);
	weft_sim_run(sim, 100);
	assert_int_equal(c->counters[C_DONE], 2);
	weft_sim_sample(sim);
	assert_int_equal(c->counters[C_DONE], 5);
	assert_int_equal(c->counters[C_SAMPLED], 2);
	weft_sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clock_follows_steps_while_events_are_pending),
		cmocka_unit_test(
			stopped_run_stays_at_its_time_until_the_next_step),
		cmocka_unit_test(sample_brings_counters_up_to_date),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
