/* SPDX-License-Identifier: Apache-2.0 */
/* Cables, filters, arrival order, and refused connections. */
#include "../cmocka_all.h"

#include <string.h>

#include "measure/result.h"
#include "weft/sim.h"

struct end {
	uint32_t n;
	uint64_t got[16];
	weft_time_t at[16];
};

static const struct weft_wire wire_a = { .name = "a" },
			      wire_b = { .name = "b" };
static const struct weft_port_decl end_ports[] = {
	{ "link%u", WEFT_PORT_LINK, "2", &wire_a, true, "cable" },
	{ "other", WEFT_PORT_LINK, NULL, &wire_b, true, "another format" },
	{ "must", WEFT_PORT_LINK, NULL, &wire_b, false, "needs a cable" },
	{ 0 }
};

static void end_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	struct end *e = c->state;

	e->at[e->n] = weft_now(c);
	e->got[e->n++] = f->u[0] + 100 * port;
	weft_frame_free(f);
}

static WEFT_COMPONENT(end, .name = "test.end", .kind = WEFT_KIND_TRAFFIC,
		      .doc = "end", .state_size = sizeof(struct end),
		      .ports = end_ports, .ops = { .arrive = end_arrive });

/* Drops frames with u[0] == 13. Doubles all others, with the copy 5 fs
 * later. */
static void twice_filter(struct weft_comp *c, struct weft_frame *f)
{
	struct weft_frame *d;

	if (f->u[0] == 13) {
		weft_frame_free(f);
		return;
	}
	d = weft_frame_dup(f);
	d->time += 5;
	d->u[0] += 50;
	weft_filter_pass(c, f);
	weft_filter_pass(c, d);
}

static WEFT_COMPONENT(twice, .name = "test.twice", .kind = WEFT_KIND_FAULT,
		      .doc = "doubles", .ops = { .filter = twice_filter });

struct pair {
	struct weft_sim *sim;
	struct weft_comp *a, *b;
	struct weft_err err;
};

static struct weft_comp *add(struct pair *p, const struct weft_class *cls,
			     const char *name)
{
	struct weft_comp *c = weft_sim_add(p->sim, cls, name, &p->err);

	assert_int_equal(weft_comp_init(c, &p->err), 0);
	return c;
}

static void pair_new(struct pair *p)
{
	memset(p, 0, sizeof(*p));
	p->sim = weft_sim_new(1);
	p->a = add(p, &weft_class_end, "a");
	p->b = add(p, &weft_class_end, "b");
	assert_int_equal(weft_connect(weft_port_find(p->a, "must"),
				      weft_port_find(p->b, "must"), NULL, 7,
				      &p->err),
			 0);
	assert_int_equal(weft_connect(weft_port_find(p->a, "link1"),
				      weft_port_find(p->b, "link0"), NULL, 30,
				      &p->err),
			 0);
	weft_port_find(p->a, "link1")->beside = true;
}

static void send(struct pair *p, uint64_t id, weft_time_t start)
{
	struct weft_frame *f = weft_frame_new(p->sim);

	f->u[0] = id;
	f->words = 4;
	f->word_fs = 10;
	weft_port_send(weft_port_find(p->a, "link1"), f, start);
}

static void frames_arrive_in_time(void **state)
{
	struct pair p;
	struct end *e;

	pair_new(&p);
	e = p.b->state;
	assert_int_equal(weft_sim_start(p.sim, &p.err), 0);
	for (uint64_t i = 0; i < 12; i++)
		send(&p, i, i / 2);
	weft_sim_run(p.sim, WEFT_NEVER);
	assert_int_equal(e->n, 12);
	for (uint32_t i = 0; i < 12; i++) {
		assert_int_equal(e->got[i], i);
		assert_int_equal(e->at[i], i / 2 + 30);
	}
	assert_int_equal(weft_port_find(p.a, "link1")->out_words, 48);
	assert_int_equal(weft_port_find(p.a, "link1")->out_busy, 480);
	assert_int_equal(weft_sim_finish(p.sim, &p.err), 0);
	weft_sim_free(p.sim);
}

/* Sends frames closer together than the 40 fs that each takes on the line. */
static void frames_that_overlap_on_a_line_fail_the_run_once(void **state)
{
	const struct weft_result *r;
	struct pair p;

	pair_new(&p);
	weft_port_find(p.a, "link1")->beside = false;
	assert_int_equal(weft_sim_start(p.sim, &p.err), 0);
	r = weft_sim_result(p.sim);
	send(&p, 1, 0);
	send(&p, 2, 40);
	assert_int_equal(r->n_failures, 0);
	send(&p, 3, 79);
	assert_int_equal(r->n_failures, 1);
	assert_non_null(strstr(r->failures[0], "a: link1: a frame starts"));
	send(&p, 4, 80);
	assert_int_equal(r->n_failures, 1);
	weft_sim_run(p.sim, WEFT_NEVER);
	weft_sim_free(p.sim);
}

static void
frames_may_lie_beside_each_other_where_the_owner_says_so(void **state)
{
	struct pair p;

	pair_new(&p);
	assert_int_equal(weft_sim_start(p.sim, &p.err), 0);
	send(&p, 1, 0);
	send(&p, 2, 1);
	assert_int_equal(weft_sim_result(p.sim)->n_failures, 0);
	weft_sim_run(p.sim, WEFT_NEVER);
	weft_sim_free(p.sim);
}

static void filter_sees_every_frame(void **state)
{
	static const uint64_t want[] = { 1, 2, 51, 52 };
	static const weft_time_t at[] = { 30, 34, 35, 39 };
	struct pair p;
	struct end *e;
	struct weft_comp *f;

	pair_new(&p);
	e = p.b->state;
	f = add(&p, &weft_class_twice, "f");
	assert_int_equal(
		weft_filter_add(weft_port_find(p.a, "link1"), f, &p.err), 0);
	assert_int_equal(weft_sim_start(p.sim, &p.err), 0);
	send(&p, 1, 0);
	send(&p, 13, 2);
	send(&p, 2, 4);
	weft_sim_run(p.sim, WEFT_NEVER);
	assert_int_equal(e->n, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(e->got[i], want[i]);
		assert_int_equal(e->at[i], at[i]);
	}
	assert_int_equal(weft_sim_finish(p.sim, &p.err), 0);
	weft_sim_free(p.sim);
}

/* The second filter sees the output of the first. */
static void filters_stand_in_a_row(void **state)
{
	static const uint64_t want[] = { 1, 51, 51, 101 };
	static const weft_time_t at[] = { 30, 35, 35, 40 };
	struct pair p;
	struct end *e;

	pair_new(&p);
	e = p.b->state;
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(weft_filter_add(weft_port_find(p.a, "link1"),
						 add(&p, &weft_class_twice,
						     i ? "g" : "f"),
						 &p.err),
				 0);
	assert_int_equal(weft_sim_start(p.sim, &p.err), 0);
	send(&p, 1, 0);
	weft_sim_run(p.sim, WEFT_NEVER);
	assert_int_equal(e->n, 4);
	for (uint32_t i = 0; i < 4; i++) {
		assert_int_equal(e->got[i], want[i]);
		assert_int_equal(e->at[i], at[i]);
	}
	assert_int_equal(weft_sim_finish(p.sim, &p.err), 0);
	weft_sim_free(p.sim);
}

static void bad_cables_are_refused(void **state)
{
	struct pair p;
	struct weft_port *l0;

	pair_new(&p);
	l0 = weft_port_find(p.a, "link0");
	assert_null(weft_port_find(p.a, "link2"));
	assert_true(weft_connect(l0, l0, NULL, 1, &p.err) < 0);
	assert_string_equal(p.err.msg, "a.link0 is cabled to itself");
	p.err = (struct weft_err){ 0 };
	assert_true(weft_connect(l0, weft_port_find(p.b, "link0"), NULL, 1,
				 &p.err) < 0);
	assert_string_equal(p.err.msg,
			    "b.link0 already has a cable, to a.link1");
	p.err = (struct weft_err){ 0 };
	assert_true(weft_connect(l0, weft_port_find(p.b, "other"), NULL, 1,
				 &p.err) < 0);
	assert_string_equal(p.err.msg,
			    "a.link0 and b.other do not fit: "
			    "different kind of port");
	p.err = (struct weft_err){ 0 };
	assert_true(weft_connect(l0, weft_port_find(p.b, "link1"), NULL, 0,
				 &p.err) < 0);
	assert_non_null(strstr(p.err.msg, "has no latency"));
	weft_sim_free(p.sim);
}

static void dangling_port_is_refused(void **state)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_err err = { 0 };
	struct weft_comp *c = weft_sim_add(sim, &weft_class_end, "a", &err);

	assert_int_equal(weft_comp_init(c, &err), 0);
	assert_true(weft_sim_start(sim, &err) < 0);
	assert_string_equal(err.msg,
			    "a.must is not connected: every port of "
			    "test.end needs a cable");
	weft_sim_free(sim);
}

/* The end of a run detects a frame that a model never freed. */
static void frame_that_is_never_freed_is_found(void **state)
{
	struct pair p;

	pair_new(&p);
	assert_int_equal(weft_sim_start(p.sim, &p.err), 0);
	weft_frame_new(p.sim);
	assert_true(weft_sim_finish(p.sim, &p.err) < 0);
	assert_string_equal(p.err.msg,
			    "1 frames and 0 payloads were lost "
			    "inside the models");
	weft_sim_free(p.sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_arrive_in_time),
		cmocka_unit_test(
			frames_that_overlap_on_a_line_fail_the_run_once),
		cmocka_unit_test(
			frames_may_lie_beside_each_other_where_the_owner_says_so),
		cmocka_unit_test(filter_sees_every_frame),
		cmocka_unit_test(filters_stand_in_a_row),
		cmocka_unit_test(bad_cables_are_refused),
		cmocka_unit_test(dangling_port_is_refused),
		cmocka_unit_test(frame_that_is_never_freed_is_found),
	};

	return cmocka_run_group_tests_name("ports", tests, NULL, NULL);
}
