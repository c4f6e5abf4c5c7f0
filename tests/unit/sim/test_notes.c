/* SPDX-License-Identifier: Apache-2.0 */
/* Notes of a bus: order, and the three reactions of a receiver that is notified
 * ahead of time (weft/bus.h). */
#include "../cmocka_all.h"

#include "weft/bus.h"

enum { NOTES = 8 };

struct ear {
	enum weft_told how;
	/* the port has no told(), so that it is not notified ahead of time */
	bool deaf;
	uint32_t told, arrivals, n;
	weft_time_t told_at, at[NOTES], due[NOTES];
};

static const struct weft_port_decl one_bus[] = {
	{ "bus", WEFT_PORT_BUS, .doc = "bus" }, { 0 }
};

static enum weft_told ear_told(struct weft_port *p,
			       const struct weft_bus_note *note)
{
	struct ear *e = p->comp->state;

	assert_true(note->time > weft_now(p->comp));
	e->told++;
	e->told_at = weft_now(p->comp);
	return e->how;
}

static void ear_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	struct ear *e = c->state;
	struct weft_bus_note note;

	assert_null(f);
	e->arrivals++;
	while (weft_bus_next(&c->ports[port], &note)) {
		e->due[e->n] = note.time;
		e->at[e->n++] = weft_now(c);
	}
}

/* If tag is 0, polls the notes, although no arrival was reported. Otherwise
 * requests arrivals. */
static void ear_event(struct weft_comp *c, uint32_t tag)
{
	if (tag)
		weft_bus_expect(&c->ports[0]);
	else
		ear_arrive(c, 0, NULL);
}

static WEFT_COMPONENT(ear, .name = "test.ear", .kind = WEFT_KIND_NIC,
		      .doc = "hears notes", .state_size = sizeof(struct ear),
		      .ports = one_bus,
		      .ops = { .arrive = ear_arrive, .event = ear_event });

/* Sends three notes at time 10, which are due at 30, 20 and 30. */
static void mouth_event(struct weft_comp *c, uint32_t tag)
{
	static const weft_time_t at[] = { 30, 20, 30 };

	for (uint32_t i = 0; i < 3; i++) {
		struct weft_bus_note note = { .kind = WEFT_NOTE_STORED,
					      .time = at[i] };

		weft_bus_tell(&c->ports[0], &note);
	}
}

static int mouth_start(struct weft_comp *c, struct weft_err *err)
{
	weft_wake(c, 0, 10);
	return 0;
}

static void mouth_arrive(struct weft_comp *c, uint32_t port,
			 struct weft_frame *f)
{
	fail();
}

static WEFT_COMPONENT(mouth, .name = "test.mouth", .kind = WEFT_KIND_BUS,
		      .doc = "tells notes", .ports = one_bus,
		      .ops = { .start = mouth_start,
			       .arrive = mouth_arrive,
			       .event = mouth_event });

/* Runs to time 100. At time `look` the receiver polls (tag 0) or requests
 * arrivals (tag 1). */
static struct ear hear(struct ear init, uint32_t tag, weft_time_t look)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_err err = { 0 };
	struct weft_comp *e = weft_sim_add(sim, &weft_class_ear, "ear", &err);
	struct weft_comp *m = weft_sim_add(sim, &weft_class_mouth, "m", &err);
	struct ear got;

	assert_int_equal(weft_comp_init(e, &err), 0);
	assert_int_equal(weft_comp_init(m, &err), 0);
	*(struct ear *)e->state = init;
	if (!init.deaf)
		e->ports[0].told = ear_told;
	assert_int_equal(
		weft_connect(&e->ports[0], &m->ports[0], NULL, 0, &err), 0);
	assert_int_equal(weft_sim_start(sim, &err), 0);
	if (look)
		weft_wake(e, tag, look);
	weft_sim_run(sim, 100);
	got = *(struct ear *)e->state;
	weft_sim_free(sim);
	return got;
}

static void in_order_of_time(struct ear e)
{
	assert_int_equal(e.n, 3);
	assert_int_equal(e.due[0], 20);
	assert_int_equal(e.due[1], 30);
	assert_int_equal(e.due[2], 30);
}

static void receiver_that_is_not_told_wakes_for_each_note(void **state)
{
	struct ear e = hear((struct ear){ .deaf = true }, 0, 0);

	in_order_of_time(e);
	assert_int_equal(e.told, 0);
	assert_int_equal(e.arrivals, 3);
	assert_int_equal(e.at[0], 20);
	assert_int_equal(e.at[2], 30);
}

static void note_told_ahead_is_queued_for_its_time(void **state)
{
	struct ear e = hear((struct ear){ .how = WEFT_TOLD_POST }, 0, 0);

	in_order_of_time(e);
	assert_int_equal(e.told, 3);
	assert_int_equal(e.told_at, 10);
	assert_int_equal(e.at[0], 20);
}

static void note_that_is_taken_is_not_queued(void **state)
{
	struct ear e = hear((struct ear){ .how = WEFT_TOLD_TAKEN }, 0, 50);

	assert_int_equal(e.told, 3);
	assert_int_equal(e.n, 0);
}

static void quiet_note_waits_for_a_look(void **state)
{
	struct ear e = hear((struct ear){ .how = WEFT_TOLD_QUIET }, 0, 50);

	in_order_of_time(e);
	assert_int_equal(e.arrivals, 1);
	assert_int_equal(e.at[0], 50);
	/* a poll sees notes that are due and no others */
	e = hear((struct ear){ .how = WEFT_TOLD_QUIET }, 0, 25);
	assert_int_equal(e.n, 1);
	assert_int_equal(e.due[0], 20);
	e = hear((struct ear){ .how = WEFT_TOLD_QUIET }, 0, 0);
	assert_int_equal(e.n, 0);
}

static void quiet_note_wakes_a_receiver_that_expects_it(void **state)
{
	struct ear e = hear((struct ear){ .how = WEFT_TOLD_QUIET }, 1, 15);

	in_order_of_time(e);
	assert_int_equal(e.at[0], 20);
	assert_int_equal(e.at[1], 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(receiver_that_is_not_told_wakes_for_each_note),
		cmocka_unit_test(note_told_ahead_is_queued_for_its_time),
		cmocka_unit_test(note_that_is_taken_is_not_queued),
		cmocka_unit_test(quiet_note_waits_for_a_look),
		cmocka_unit_test(quiet_note_wakes_a_receiver_that_expects_it),
	};

	return cmocka_run_group_tests_name("notes", tests, NULL, NULL);
}
