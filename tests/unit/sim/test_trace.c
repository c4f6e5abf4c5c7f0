/* SPDX-License-Identifier: Apache-2.0 */
/* Listeners are notified of messages, spans and states, and of frames in
 * flight. Without a listener no message is recorded. */
#include "../cmocka_all.h"

#include <string.h>

#include "weft/trace.h"

enum { HEARD = 16 };

struct ear {
	struct weft_listener l;
	struct weft_trace got[HEARD];
	uint32_t n;
};

static void ear_hear(struct weft_listener *l, const struct weft_trace *t)
{
	struct ear *e = (struct ear *)l;

	assert_true(e->n < HEARD);
	e->got[e->n++] = *t;
}

static const struct weft_wire wire = { .name = "w" };
static const struct weft_port_decl ports[] = {
	{ "link", WEFT_PORT_LINK, NULL, &wire, false, "cable" }, { 0 }
};

static void end_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f)
{
	weft_frame_free(f);
}

static WEFT_COMPONENT(end, .name = "test.end", .kind = WEFT_KIND_TRAFFIC,
		      .doc = "end", .state_size = 8, .ports = ports,
		      .ops = { .arrive = end_arrive });

static struct weft_sim *two_ends(struct weft_comp **a, struct weft_comp **b)
{
	struct weft_sim *sim = weft_sim_new(1);
	struct weft_err err = { 0 };

	*a = weft_sim_add(sim, &weft_class_end, "a", &err);
	*b = weft_sim_add(sim, &weft_class_end, "b", &err);
	assert_int_equal(weft_comp_init(*a, &err), 0);
	assert_int_equal(weft_comp_init(*b, &err), 0);
	assert_int_equal(weft_connect((*a)->ports, (*b)->ports, NULL, 70, &err),
			 0);
	assert_int_equal(weft_sim_start(sim, &err), 0);
	return sim;
}

static void run_without_a_listener_has_no_messages(void **state)
{
	struct weft_comp *a, *b;
	struct weft_sim *sim = two_ends(&a, &b);

	assert_false(weft_heard(a));
	assert_int_equal(weft_msg_open(a), 0);
	assert_int_equal(weft_msg_fork(a, 5), 0);
	weft_mark(a, 7, "nothing", 3);
	weft_sim_free(sim);
}

static void every_listener_hears_every_mark(void **state)
{
	struct ear one = { .l.hear = ear_hear }, two = { .l.hear = ear_hear };
	struct weft_comp *a, *b;
	struct weft_sim *sim = two_ends(&a, &b);
	uint64_t id, part;

	weft_sim_listen(sim, &one.l);
	weft_sim_listen(sim, &two.l);
	id = weft_msg_open(a);
	part = weft_msg_fork(b, id);
	assert_true(id && part && id != part);
	weft_mark(b, part, "ahead", 1000);
	weft_msg_end(b, part, true);
	assert_int_equal(one.n, 4);
	assert_int_equal(two.n, 4);
	assert_int_equal(one.got[1].kind, WEFT_TRACE_OPEN);
	assert_int_equal(one.got[1].value, id);
	assert_int_equal(two.got[2].to, 1000);
	assert_string_equal(two.got[2].name, "ahead");
	assert_int_equal(two.got[3].value, true);
	weft_mark(b, 0, "of no message", 1000);
	assert_int_equal(one.n, 4);
	weft_sim_free(sim);
}

/* A frame of 4 words of 10 fs each leaves at 100 fs over a cable of 70 fs. */
static void frame_of_a_message_is_heard_on_line_and_cable(void **state)
{
	struct ear ear = { .l.hear = ear_hear };
	struct weft_comp *a, *b;
	struct weft_sim *sim = two_ends(&a, &b);
	struct weft_frame *f;
	uint64_t id;

	weft_sim_listen(sim, &ear.l);
	id = weft_msg_open(a);
	f = weft_frame_new(sim);
	f->words = 4;
	f->word_fs = 10;
	f->trace_id = id;
	weft_port_send(a->ports, f, 100);
	assert_int_equal(ear.n, 4);
	assert_int_equal(ear.got[1].kind, WEFT_TRACE_SPAN);
	assert_int_equal(ear.got[1].from, 100);
	assert_int_equal(ear.got[1].to, 140);
	assert_string_equal(ear.got[2].name, "waits for the line");
	assert_int_equal(ear.got[2].to, 100);
	assert_string_equal(ear.got[3].name, "cable");
	assert_int_equal(ear.got[3].to, 170);
	assert_int_equal(ear.got[3].id, id);
	/* other values in trace_id are not a message */
	f = weft_frame_new(sim);
	f->trace_id = 12345;
	weft_port_send(a->ports, f, 200);
	assert_int_equal(ear.n, 5);
	weft_sim_run(sim, 1000);
	weft_sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(run_without_a_listener_has_no_messages),
		cmocka_unit_test(every_listener_hears_every_mark),
		cmocka_unit_test(frame_of_a_message_is_heard_on_line_and_cable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
