/* SPDX-License-Identifier: Apache-2.0 */
/* Order of events, timers, and independence of construction order. */
#include "../cmocka_all.h"

#include <stdio.h>
#include <string.h>

#include "measure/result.h"
#include "weft/sim.h"

static struct {
	char text[4096];
} journal;

static void note(struct weft_comp *c, const char *what, uint32_t tag)
{
	size_t n = strlen(journal.text);

	snprintf(journal.text + n, sizeof(journal.text) - n, "%llu:%s:%s%u ",
		 (unsigned long long)weft_now(c), c->name, what, tag);
}

struct probe {
	struct weft_timer timer;
	uint32_t plan;
};

static const struct weft_param probe_params[] = {
	WEFT_PARAM(U32, struct probe, plan, "0", "", OWN, "plan of start"),
	{ 0 }
};

static int probe_start(struct weft_comp *c, struct weft_err *err)
{
	struct probe *p = c->state;

	if (p->plan == 1) {
		weft_wake(c, 3, 10);
		weft_wake(c, 1, 10);
		weft_post(c, 9, 10);
	} else if (p->plan == 2) {
		weft_timer_arm(c, &p->timer, 5, 100);
		weft_timer_arm(c, &p->timer, 5, 50);
		weft_timer_arm(c, &p->timer, 5, 70);
	} else if (p->plan == 3) {
		weft_watch(c, 7, 20);
		weft_wake(c, 1, 30);
	}
	return 0;
}

static void probe_arrive(struct weft_comp *c, uint32_t tag,
			 struct weft_frame *f)
{
	assert_null(f);
	note(c, "a", tag);
	weft_wake(c, 2, weft_now(c));
}

static void probe_event(struct weft_comp *c, uint32_t tag)
{
	struct probe *p = c->state;

	if (tag == 5 && !weft_timer_due(c, &p->timer))
		return;
	note(c, "e", tag);
	if (tag == 7)
		weft_watch(c, 7, weft_now(c) + 20);
}

static WEFT_COMPONENT(probe, .name = "test.probe", .kind = WEFT_KIND_TRAFFIC,
		      .doc = "journal of events",
		      .state_size = sizeof(struct probe),
		      .params = probe_params,
		      .ops = { .start = probe_start,
			       .arrive = probe_arrive,
			       .event = probe_event });

static void run_named(const char *const *names, uint32_t n, const char *plan)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_err err = { 0 };

	journal.text[0] = 0;
	for (uint32_t i = 0; i < n; i++) {
		struct weft_comp *c =
			weft_sim_add(sim, &weft_class_probe, names[i], &err);

		assert_int_equal(weft_param_set(c, "plan", plan, &err), 0);
		assert_int_equal(weft_comp_init(c, &err), 0);
	}
	assert_int_equal(weft_sim_start(sim, &err), 0);
	weft_sim_run(sim, WEFT_NEVER);
	assert_true(weft_sim_idle(sim));
	assert_int_equal(weft_sim_finish(sim, &err), 0);
	weft_sim_free(sim);
}

/* Phase 0 of all components runs first, then phase 1 by component and by tag. A
 * wake-up that phase 0 requests for the present time runs in phase 1. */
static void order_of_events_is_total(void **state)
{
	const char *ab[] = { "a", "b" }, *ba[] = { "b", "a" };
	char first[4096];

	run_named(ab, 2, "1");
	assert_string_equal(journal.text,
			    "10:a:a9 10:b:a9 10:a:e1 10:a:e2 10:a:e3 "
			    "10:b:e1 10:b:e2 10:b:e3 ");
	strcpy(first, journal.text);
	run_named(ba, 2, "1");
	assert_string_equal(journal.text, first);
}

static void timer_keeps_the_earliest(void **state)
{
	const char *a[] = { "a" };

	run_named(a, 1, "2");
	assert_string_equal(journal.text, "50:a:e5 ");
}

/* A timer is armed for 100, then for 50, then for 100 again. The last call
 * reuses the wake-up of the first call, because that wake-up is still
 * queued. */
static void timer_uses_a_wake_up_again(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_err err = { 0 };
	struct weft_comp *c = weft_sim_add(sim, &weft_class_probe, "a", &err);
	struct probe *p = c->state;

	journal.text[0] = 0;
	assert_int_equal(weft_comp_init(c, &err), 0);
	assert_int_equal(weft_sim_start(sim, &err), 0);
	weft_timer_arm(c, &p->timer, 5, 100);
	weft_timer_arm(c, &p->timer, 5, 50);
	assert_int_equal(weft_sim_run(sim, 60), 1);
	weft_timer_arm(c, &p->timer, 5, 100);
	weft_timer_cancel(&p->timer);
	weft_timer_arm(c, &p->timer, 5, 100);
	assert_int_equal(weft_sim_run(sim, 100), 1);
	/* a wake-up at the present time is not reused, because it may have run
	 * already */
	weft_timer_arm(c, &p->timer, 5, 100);
	assert_int_equal(weft_sim_run(sim, 200), 1);
	assert_string_equal(journal.text, "50:a:e5 100:a:e5 100:a:e5 ");
	weft_sim_free(sim);
}

/* A timer of 50 has run without a call of weft_timer_due(). From the next
 * femtosecond on it is over, and can be armed for any time. */
static void timer_that_nobody_asked_for_is_armed_again(void **state)
{
	for (weft_time_t now = 51; now < 54; now++) {
		struct weft_sim *sim = weft_sim_new(1);
		struct weft_err err = { 0 };
		struct weft_comp *c =
			weft_sim_add(sim, &weft_class_probe, "a", &err);
		struct probe *p = c->state;

		journal.text[0] = 0;
		assert_int_equal(weft_comp_init(c, &err), 0);
		assert_int_equal(weft_sim_start(sim, &err), 0);
		weft_timer_arm(c, &p->timer, 6, 50);
		weft_wake(c, 6, now);
		weft_sim_run(sim, now);
		assert_int_equal(weft_sim_now(sim), now);
		weft_timer_arm(c, &p->timer, 5, 60);
		weft_sim_run(sim, 100);
		if (!strstr(journal.text, "60:a:e5 "))
			fail_msg("%s", journal.text);
		weft_sim_free(sim);
	}
}

static void run_until_advances_time(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_err err = { 0 };
	struct weft_comp *c = weft_sim_add(sim, &weft_class_probe, "a", &err);

	journal.text[0] = 0;
	assert_int_equal(weft_comp_init(c, &err), 0);
	assert_int_equal(weft_sim_start(sim, &err), 0);
	weft_wake(c, 0, 40);
	assert_int_equal(weft_sim_run(sim, 30), 0);
	assert_int_equal(weft_sim_now(sim), 30);
	weft_wake(c, 1, 31);
	assert_int_equal(weft_sim_run(sim, 40), 2);
	assert_string_equal(journal.text, "31:a:e1 40:a:e0 ");
	weft_sim_free(sim);
}

static void two_names_clash(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_err err = { 0 };

	for (int i = 0; i < 2; i++)
		weft_comp_init(weft_sim_add(sim, &weft_class_probe, "x", &err),
			       &err);
	assert_true(weft_sim_start(sim, &err) < 0);
	assert_string_equal(err.msg, "two components are called x");
	weft_sim_free(sim);
}

static void random_streams_follow_names(void **state)
{
	struct weft_sim *s1 = weft_sim_new(1), *s2 = weft_sim_new(1);
	struct weft_err err = { 0 };
	struct weft_comp *a1 = weft_sim_add(s1, &weft_class_probe, "a", &err);
	struct weft_comp *b2 = weft_sim_add(s2, &weft_class_probe, "b", &err);
	struct weft_comp *a2 = weft_sim_add(s2, &weft_class_probe, "a", &err);

	weft_comp_init(a1, &err);
	weft_comp_init(b2, &err);
	weft_comp_init(a2, &err);
	assert_int_equal(weft_rng_u64(&a1->rng), weft_rng_u64(&a2->rng));
	assert_int_not_equal(weft_rng_u64(&a1->rng), weft_rng_u64(&b2->rng));
	weft_sim_free(s1);
	weft_sim_free(s2);
}

static void measurements_are_kept_in_the_result(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_err err = { 0 };
	struct weft_comp *c = weft_sim_add(sim, &weft_class_probe, "a", &err);
	struct weft_hist *h;
	const struct weft_result *r = weft_sim_result(sim);

	weft_comp_init(c, &err);
	weft_sim_start(sim, &err);
	weft_metric(c, "speed", "m/s", 2.5);
	weft_metric(c, "speed", "m/s", 3.5);
	weft_series_add(c, "curve", "B", "ns", 8, 1);
	h = weft_hist(c, "lat", "ns");
	weft_hist_put(h, 10);
	weft_hist_add(c, "lat", "ns", 20);
	weft_check_failed(c, "lost %d", 7);
	assert_int_equal(weft_sim_finish(sim, &err), 0);
	assert_int_equal(r->n_metrics, 1);
	assert_float_equal(result_metric_get(r, "a.speed")->value, 3.5, 0);
	assert_int_equal(r->n_hists, 1);
	assert_int_equal(r->hists[0].h.count, 2);
	assert_string_equal(r->failures[0], "a: lost 7");
	assert_string_equal(r->manifest[1].name, "a.plan");
	assert_string_equal(r->manifest[1].value, "0");
	weft_sim_free(sim);
}

static void manifest_holds_a_class_once_and_what_differs(void **state)
{
	enum { N = 5000 };
	struct weft_sim *sim = weft_sim_new(1);
	const struct weft_result *r = weft_sim_result(sim);
	struct weft_comp *c;
	uint32_t i, n = 0;
	char name[16];

	for (i = 0; i < N; i++) {
		snprintf(name, sizeof(name), "c%u", i);
		c = weft_sim_add(sim, &weft_class_probe, name, NULL);
		if (i == 77)
			weft_param_set(c, "plan", "3", NULL);
		weft_comp_init(c, NULL);
	}
	assert_int_equal(weft_sim_start(sim, NULL), 0);
	for (i = 0; i < r->n_manifest; i++) {
		n += !strcmp(r->manifest[i].value, "test.probe");
		if (!strcmp(r->manifest[i].name, "test.probe.plan"))
			assert_string_equal(r->manifest[i].value, "0");
		if (!strcmp(r->manifest[i].name, "c77.plan"))
			assert_string_equal(r->manifest[i].value, "3");
	}
	assert_int_equal(n, N);
	assert_int_equal(r->n_manifest, N + 2);
	weft_sim_free(sim);
}

/* A watch runs while other events are pending, and does not prolong a run. */
static void a_watch_keeps_no_run_going(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_err err = { 0 };
	struct weft_comp *c;

	journal.text[0] = 0;
	c = weft_sim_add(sim, &weft_class_probe, "p", &err);
	assert_non_null(c);
	assert_int_equal(weft_param_set(c, "plan", "3", &err), 0);
	assert_int_equal(weft_comp_init(c, &err), 0);
	assert_int_equal(weft_sim_start(sim, &err), 0);
	assert_false(weft_sim_idle(sim));
	weft_sim_step(sim, 1000);
	assert_string_equal(journal.text, "20:p:e7 30:p:e1 ");
	assert_true(weft_sim_idle(sim));
	assert_int_equal(weft_sim_now(sim), 30);
	assert_int_equal(weft_sim_finish(sim, &err), 0);
	weft_sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(manifest_holds_a_class_once_and_what_differs),
		cmocka_unit_test(a_watch_keeps_no_run_going),
		cmocka_unit_test(order_of_events_is_total),
		cmocka_unit_test(timer_keeps_the_earliest),
		cmocka_unit_test(timer_uses_a_wake_up_again),
		cmocka_unit_test(timer_that_nobody_asked_for_is_armed_again),
		cmocka_unit_test(run_until_advances_time),
		cmocka_unit_test(two_names_clash),
		cmocka_unit_test(random_streams_follow_names),
		cmocka_unit_test(measurements_are_kept_in_the_result),
	};

	return cmocka_run_group_tests_name("events", tests, NULL, NULL);
}
