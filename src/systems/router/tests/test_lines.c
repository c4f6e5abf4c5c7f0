/* SPDX-License-Identifier: Apache-2.0 */
/* Tests runs of flits and credits on a line (lines.h) that the sender makes
 * longer and shorter while the receiver takes them. */
#include "unit/cmocka_all.h"

#include <string.h>

#include "systems/router/network/meter.h"

enum { LATENCY = 3 };

/* Two stations, joined by a line. Requests for steps enter the wheel, but no
 * step is carried out. */
struct pair {
	struct router_net net;
	struct weft_comp comp;
	struct line line[2];
	struct station a, b;
};

static void station_init(struct pair *p, struct station *s, struct line *l,
			 struct station *far)
{
	s->net = &p->comp;
	s->line = l;
	s->asked = ROUTER_NEVER;
	s->id = wheel_join(&p->net.wheel);
	weft_clock_from_hz(&s->clock, 1000000000, 1);
	*l = (struct line){ .far = far, .latency = LATENCY };
}

static void pair_init(struct pair *p)
{
	memset(p, 0, sizeof(*p));
	p->comp.state = &p->net;
	station_init(p, &p->a, &p->line[0], &p->b);
	station_init(p, &p->b, &p->line[1], &p->a);
}

static void pair_fini(struct pair *p)
{
	for (int i = 0; i < 2; i++) {
		ring_free(&p->line[i].in);
		ring_free(&p->line[i].back);
	}
	wheel_fini(&p->net.wheel);
}

static void send(struct pair *p, uint64_t t, uint32_t packet, uint32_t n,
		 bool head)
{
	station_send(&p->a, 0, t,
		     (struct flit_run){ .packet = packet,
					.n = (uint16_t)n,
					.head = head });
}

static uint64_t arrival(uint64_t t)
{
	return t + 1 + LATENCY;
}

/* Returns true if the wheel has station `id` in a cycle. */
static bool asked(struct pair *p, uint32_t id, uint64_t cycle)
{
	assert_true(cycle < WHEEL_NEAR - 1);
	return p->net.wheel.near[cycle][0] >> id & 1;
}

static void run_grows_while_flits_follow_each_other(void **state)
{
	struct pair p;

	pair_init(&p);
	send(&p, 10, 5, 1, true);
	send(&p, 11, 5, 4, false);
	assert_int_equal(ring_count(&p.line[1].in), 1);
	assert_int_equal(ring_front(&p.line[1].in)->n, 5);
	assert_true(asked(&p, 1, arrival(10)));
	assert_false(asked(&p, 1, arrival(11)));
	send(&p, 16, 5, 1, false); /* a cycle later than the next one */
	send(&p, 17, 6, 1, true);  /* another packet */
	assert_int_equal(ring_count(&p.line[1].in), 3);
	assert_true(asked(&p, 1, arrival(16)));
	assert_true(asked(&p, 1, arrival(17)));
	pair_fini(&p);
}

static void receiver_steps_where_flits_were_taken_back(void **state)
{
	struct pair p;

	pair_init(&p);
	send(&p, 10, 5, 8, true);
	ring_front(&p.line[1].in)->taken = 2;
	station_send_cut(&p.a, 0, 3);
	assert_int_equal(ring_front(&p.line[1].in)->n, 5);
	assert_true(asked(&p, 1, arrival(15)));
	assert_int_equal(p.b.cuts[0], 1);
	send(&p, 20, 5, 3, false);
	assert_int_equal(ring_count(&p.line[1].in), 2);
	pair_fini(&p);
}

static void run_that_is_taken_back_as_a_whole_is_gone(void **state)
{
	struct pair p;

	pair_init(&p);
	send(&p, 10, 5, 2, true);
	send(&p, 12, 6, 4, true);
	station_send_cut(&p.a, 0, 4);
	assert_int_equal(ring_count(&p.line[1].in), 1);
	assert_int_equal(ring_front(&p.line[1].in)->packet, 5);
	pair_fini(&p);
}

static void credits_of_a_run_arrive_one_per_cycle(void **state)
{
	struct pair p;
	uint32_t vc = 9;

	pair_init(&p);
	station_credit(&p.a, 0, 10, 2, 1);
	station_credit(&p.a, 0, 11, 2, 3);
	assert_int_equal(ring_count(&p.line[1].back), 1);
	assert_int_equal(line_credits_take(&p.line[1], arrival(10) - 1, &vc),
			 0);
	assert_int_equal(line_credits_take(&p.line[1], arrival(11), &vc), 2);
	assert_int_equal(vc, 2);
	assert_int_equal(line_credits_take(&p.line[1], arrival(11), &vc), 0);
	assert_int_equal(line_credits_take(&p.line[1], arrival(99), &vc), 2);
	assert_true(ring_empty(&p.line[1].back));
	pair_fini(&p);
}

static void credit_wakes_a_station_that_waits_for_its_vc(void **state)
{
	struct pair p;

	pair_init(&p);
	p.line[1].wants = 1u << 3;
	station_credit(&p.a, 0, 10, 2, 1);
	assert_false(asked(&p, 1, arrival(10)));
	station_credit(&p.a, 0, 11, 3, 1);
	assert_true(asked(&p, 1, arrival(11)));
	pair_fini(&p);
}

static void station_steps_where_credits_that_it_relies_on_are_missing(void **s)
{
	struct pair p;

	pair_init(&p);
	station_credit(&p.a, 0, 10, 2, 8);
	station_credit_cut(&p.a, 0, 2);
	assert_false(asked(&p, 1, arrival(16)));
	p.line[1].relies = 1u << 2;
	station_credit_cut(&p.a, 0, 1);
	assert_true(asked(&p, 1, arrival(15)));
	assert_int_equal(ring_front(&p.line[1].back)->n, 5);
	pair_fini(&p);
}

static void rings_wrap_while_runs_come_and_go(void **state)
{
	struct pair p;

	pair_init(&p);
	for (uint32_t k = 0; k < 1000; k++) {
		struct flit_run *run;

		send(&p, 10 * k, k, 3, true);
		station_send_cut(&p.a, 0, 1);
		if (k < 3)
			continue;
		run = ring_front(&p.line[1].in);
		assert_int_equal(run->packet, k - 3);
		assert_int_equal(run->cycle, arrival(10 * (k - 3)));
		assert_int_equal(run->n, 2);
		ring_pop(&p.line[1].in);
	}
	assert_int_equal(ring_count(&p.line[1].in), 3);
	pair_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(run_grows_while_flits_follow_each_other),
		cmocka_unit_test(receiver_steps_where_flits_were_taken_back),
		cmocka_unit_test(run_that_is_taken_back_as_a_whole_is_gone),
		cmocka_unit_test(credits_of_a_run_arrive_one_per_cycle),
		cmocka_unit_test(credit_wakes_a_station_that_waits_for_its_vc),
		cmocka_unit_test(
			station_steps_where_credits_that_it_relies_on_are_missing),
		cmocka_unit_test(rings_wrap_while_runs_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
