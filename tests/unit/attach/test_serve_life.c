/* SPDX-License-Identifier: Apache-2.0 */
/* Tests a client from the creation of its segment to its end: events and
 * messages without room, hand-overs of the processor, death in every state. */
#include "serve_rig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "weft/prog.h"

static void push(struct att_client *c, uint64_t n)
{
	att_push(c, &(struct att_event){ .kind = WEFT_EV_PUT, .ctx = n });
}

static void message(struct att_client *c, uint32_t imm)
{
	struct att_event e = { .kind = WEFT_EV_RECV, .imm = imm, .len = 4 };
	struct att_msg m = { .own = malloc(4) };

	memcpy(m.own, &imm, 4);
	att_push_msg(c, &e, &m);
}

/* ---- the segment ---- */

static void segment_describes_rings_costs_and_endpoint(struct serve_rig *r)
{
	const struct att_seg *s = r->c[3].seg;
	const struct weft_att_info *i = &s->info;

	assert_int_equal(s->magic, ATT_MAGIC);
	assert_int_equal(s->version, WEFT_ATT_VERSION);
	assert_int_equal(s->n_cmds, ATT_CMDS);
	assert_int_equal(s->n_events, ATT_EVENTS);
	assert_int_equal(s->rx_slot, 1024); /* of 1000 */
	assert_int_equal(s->rx_bytes, ATT_RX_SLOTS * 1024);
	assert_int_equal(s->tx_bytes, ATT_TX_MIN);
	assert_int_equal(s->cmd_off, (sizeof(*s) + 4095) / 4096 * 4096);
	assert_int_equal(s->ev_off - s->cmd_off, ATT_CMDS * 64);
	assert_int_equal(s->tx_off - s->ev_off, ATT_EVENTS * 64);
	assert_int_equal(s->rx_off - s->tx_off, s->tx_bytes);
	assert_int_equal(s->bytes - s->rx_off, s->rx_bytes);
	assert_int_equal(s->bytes, r->c[3].seg_bytes);
	assert_int_equal(s->spin, 5);
	assert_int_equal(s->trace, 0);
	assert_int_equal(s->cpu_factor, 9);
	assert_int_equal(s->cost_clock, 3);
	assert_int_equal(s->state, ATT_WAIT);
	assert_true(s->deadline == WEFT_NEVER);
	assert_int_equal(i->version, WEFT_ATT_VERSION);
	assert_int_equal(i->node, 1);
	assert_int_equal(i->nodes, 2);
	assert_int_equal(i->slot, 1);
	assert_int_equal(i->slots, 256);
	assert_int_equal(i->rank, 3);
	assert_int_equal(i->ranks, RIG_CLIENTS);
	assert_int_equal(i->clock, WEFT_CLOCK_CPU);
	assert_int_equal(i->cost_call, 100);
	assert_int_equal(i->max_msg, RIG_MSG);
	assert_int_equal(i->max_put, 7000);
	assert_int_equal(i->align, 4);
	assert_int_equal(i->caps, 3);
	assert_int_equal(i->emulated, 2);
	assert_string_equal(i->nic, "rig");
}

/* Checks that messages that are too large, and nodes without an endpoint, are
 * refused. */
static void segment_has_room_for_the_largest_message(struct serve_rig *r)
{
	static const struct {
		uint32_t max;
		uint64_t tx, slot;
	} rows[] = { { 65536, 256 << 10, 65536 },
		     { 65537, (256 << 10) + 4096, 65600 },
		     { 1, ATT_TX_MIN, 64 } };

	for (int i = 0; i < 4; i++) {
		struct att_client c = { .srv = &r->srv, .g = &r->g[0] };
		struct att_agent g = r->g[0];

		r->ep.info.max_msg = i < 3 ? rows[i].max : 0;
		g.ep = i < 3 ? &r->ep : NULL;
		close(att_seg_new(&c, &g));
		assert_int_equal(c.seg->tx_bytes, rows[i < 3 ? i : 0].tx);
		assert_int_equal(c.seg->rx_slot, rows[i < 3 ? i : 0].slot);
		assert_int_equal(c.seg->info.max_msg, i < 3 ? rows[i].max : 0);
		assert_int_equal(c.n_free, ATT_RX_SLOTS);
		assert_int_equal(c.free_slot[c.n_free - 1], 0);
		munmap(c.seg, c.seg_bytes);
	}
}

/* ---- events ---- */

static void events_beyond_the_ring_wait_in_order(struct serve_rig *r)
{
	struct att_client *c = &r->c[0];

	c->ev_tail = c->seg->ev_head = UINT32_MAX - 5; /* counts wrap */
	for (uint32_t i = 0; i < ATT_EVENTS + 3; i++)
		push(c, i);
	assert_int_equal(rig_events(c), ATT_EVENTS);
	assert_int_equal(ring_count(&c->late), 3);
	assert_int_equal(r->srv.measure.sum.events, ATT_EVENTS);
	att_push_late(c);
	assert_int_equal(ring_count(&c->late), 3);
	c->seg->ev_head += 2;
	att_push_late(c);
	assert_int_equal(ring_count(&c->late), 1);
	push(c, 999); /* queued behind the messages that wait */
	assert_int_equal(ring_count(&c->late), 2);
	c->seg->ev_head += 100;
	push(c, 1000);
	assert_int_equal(ring_count(&c->late), 3);
	att_push_late(c);
	assert_int_equal(ring_count(&c->late), 0);
	for (uint32_t i = 0; i < ATT_EVENTS - 102 + 3; i++)
		assert_int_equal(rig_event(c, i)->ctx, 102 + i);
	assert_int_equal(rig_event(c, ATT_EVENTS - 99)->ctx, 999);
	assert_int_equal(rig_event(c, ATT_EVENTS - 98)->ctx, 1000);
	assert_int_equal(rig_events(c), ATT_EVENTS - 97);
}

static void impossible_event_counts_detach_the_client(struct serve_rig *r)
{
	struct att_client *c = &r->c[0];

	c->seg->ev_head = (uint32_t)-ATT_EVENTS;
	push(c, 1); /* fills the queue, which is allowed */
	assert_false(c->gone);
	assert_int_equal(ring_count(&c->late), 1);
	c->seg->ev_head = (uint32_t)-ATT_EVENTS - 1;
	att_push_late(c);
	assert_true(c->gone && c->broken);
	assert_non_null(strstr(r->said, "event ring makes no sense"));
	c = &r->c[1];
	rig_taken(c); /* takes the event of client 0's death */
	c->seg->ev_head++;
	push(c, 1);
	assert_true(c->broken);
	assert_int_equal(ring_count(&c->late), 0);
}

static void messages_beyond_64_wait_for_a_released_slot(struct serve_rig *r)
{
	struct att_client *c = &r->c[0];

	for (uint32_t i = 0; i < ATT_RX_SLOTS + 2; i++)
		message(c, i);
	/* this event waits behind the last two messages, because events stay in
	 * order */
	push(c, 7);
	assert_int_equal(rig_events(c), ATT_RX_SLOTS);
	assert_int_equal(ring_count(&c->late), 3);
	for (uint32_t i = 0; i < ATT_RX_SLOTS; i++) {
		assert_int_equal(rig_event(c, i)->imm, i);
		assert_int_equal(rig_event(c, i)->slot, i);
		assert_memory_equal(c->view.rx + rig_event(c, i)->data, &i, 4);
	}
	rig_do(c, (struct att_cmd){ .kind = ATT_C_RELEASE, .buf = 40 });
	att_push_late(c);
	assert_int_equal(ring_count(&c->late), 2);
	assert_int_equal(rig_event(c, ATT_RX_SLOTS)->slot, 40);
	assert_int_equal(rig_event(c, ATT_RX_SLOTS)->imm, ATT_RX_SLOTS);
	rig_do(c, (struct att_cmd){ .kind = ATT_C_RELEASE, .buf = 0 });
	att_push_late(c);
	assert_int_equal(ring_count(&c->late), 0);
	assert_int_equal(rig_event(c, ATT_RX_SLOTS + 2)->ctx, 7);
	assert_int_equal(c->n_free, 0);
}

/* ---- the processor ---- */

static void resumed_client_runs_and_sees_its_events(struct serve_rig *r)
{
	struct att_client *c = &r->c[0];
	bool timed = att_timed(&r->srv);
	char buf[8];

	c->wake = c->resumed = true;
	push(c, 1);
	att_run(c);
	assert_false(c->wake);
	assert_false(c->resumed);
	assert_int_equal(c->seg->state, ATT_RUN);
	assert_int_equal(c->seg->ev_tail, 1);
	assert_int_equal(c->running, timed);
	assert_int_equal(r->srv.running.n, timed);
	assert_int_equal(r->count[AGENT_C_HANDOVERS], 1);
	assert_int_equal(c->far.epoch, 1);
	att_run(c); /* a second hand-over does not list the client again */
	assert_int_equal(r->srv.running.n, timed);
	assert_int_equal(r->srv.measure.sum.handovers, 2);
	/* A client that sleeps outside the gate gets no hand-over. The client
	 * sees the event later. */
	c->seg->state = ATT_OUT;
	att_run(c);
	assert_int_equal(c->seg->state, ATT_OUT);
	assert_int_equal(r->srv.measure.sum.handovers, 2);
	/* the client posted this command before its hand-over, so that the
	 * command counts as late */
	c->seg->state = ATT_WAIT;
	c->resumed = true;
	rig_post(c, (struct att_cmd){ .kind = ATT_C_NOP });
	att_run(c);
	assert_true(c->resumed);
	/* a hand-over to a client that stands aside (weft_att_aside) is not
	 * counted */
	c->aside = true;
	att_run(c);
	assert_int_equal(r->srv.measure.sum.handovers, 3);
	/* a client that sleeps in poll() is woken by one byte on its socket */
	assert_int_equal(recv(r->sock[1], buf, 8, MSG_DONTWAIT), -1);
	c->seg->armed = 1;
	att_run(c);
	assert_int_equal(recv(r->sock[1], buf, 8, MSG_DONTWAIT), 1);
	att_run(c);
	assert_int_equal(recv(r->sock[1], buf, 8, MSG_DONTWAIT), -1);
	c->gone = true;
	c->seg->state = ATT_WAIT;
	att_run(c);
	assert_int_equal(c->seg->state, ATT_WAIT);
}

/* Repeats a hand-over. A client that runs, or sleeps outside the gate, at the
 * time of its hand-over may begin to wait without having seen the event. Such a
 * client gets exactly one more hand-over. */
static void missed_hand_over_is_repeated_once(struct serve_rig *r)
{
	static const enum att_state states[] = { ATT_RUN, ATT_OUT };
	struct att_client *c = &r->c[0];
	struct att_bell bell = { 0 };

	r->srv.bell = &bell;
	r->srv.sim = r->g[0].prog->sim;
	r->srv.joinable = r->srv.started = true;
	for (uint32_t i = 0; i < 2; i++) {
		c->seg->state = states[i];
		push(c, i);
		att_run(c);
		assert_int_equal(c->seg->ev_tail, i + 1);
		assert_false(c->wake);
		c->seg->state = ATT_WAIT;
		bell.seq++;
		assert_false(att_gate(&r->srv, false));
		assert_true(c->wake);
		att_run(c);
		assert_int_equal(c->seg->state, ATT_RUN);
		c->seg->state = ATT_WAIT;
		bell.seq++;
		assert_false(att_gate(&r->srv, false));
		assert_false(c->wake);
	}
}

/* ---- ends ---- */

static void is_death(const struct att_event *e, uint32_t src)
{
	assert_int_equal(e->kind, WEFT_EV_ERROR);
	assert_int_equal(e->status, -EPIPE);
	assert_int_equal(e->src, src);
	assert_int_equal(e->ctx, 0);
}

/* Lets a client die while it has received messages, further messages wait for a
 * slot, the client is aside, and an operation is in flight. */
static void death_frees_messages_and_notifies_all_clients(struct serve_rig *r)
{
	struct att_client *c = &r->c[2];

	for (uint32_t i = 0; i < ATT_RX_SLOTS + 1; i++)
		message(c, i);
	att_push_msg(c, &(struct att_event){ .kind = WEFT_EV_RECV },
		     &(struct att_msg){ .ev = { .data = c } });
	push(c, 5);
	c->aside = c->wake = true;
	r->srv.measure.asides = 1;
	rig_do(c, (struct att_cmd){ .kind = ATT_C_PUT, .dst = 0, .len = 8 });
	assert_int_equal(r->g[1].n_ops, 1);
	att_gone(c);
	att_gone(c); /* once */
	assert_int_equal(r->srv.live, RIG_CLIENTS - 1);
	assert_int_equal(r->srv.measure.asides, 0);
	assert_int_equal(r->srv.measure.sum.died, 1);
	assert_true(r->srv.died_ns > 0);
	assert_true(c->far.dead && !c->wake);
	assert_int_equal(c->seg->state, ATT_GONE);
	assert_int_equal(r->g[1].clients.n, 1);
	assert_ptr_equal(r->g[1].clients.at[0], &r->c[3]);
	assert_int_equal(r->g[1].graves.n, 1);
	assert_true(r->g[1].mourns);
	assert_int_equal(r->srv.news, 3);
	for (uint32_t i = 0; i < RIG_CLIENTS; i++)
		if (i != 2)
			is_death(rig_event(&r->c[i], 0), WEFT_ATT_ADDR(1, 0));
	/* a dead client receives nothing any more */
	push(c, 6);
	message(c, 7);
	att_reply(c, &(struct att_reply){ 0 }, 8);
	assert_int_equal(c->reply_seq, 0);
	assert_int_equal(rig_events(c), ATT_RX_SLOTS);
	att_op_event(&r->g[1],
		     &(struct weft_ep_event){ .kind = WEFT_EV_PUT,
					      .ctx = rig_last(r)->ctx });
	assert_int_equal(r->g[1].n_ops, 0);
	att_release_after_exit(&r->g[1]);
	for (uint32_t i = 0; i < ATT_RX_SLOTS; i++)
		assert_false(c->msg[i].used);
	assert_true(ring_empty(&c->late));
	assert_int_equal(rig_last(r)->op, RIG_RELEASE);
	assert_ptr_equal(rig_last(r)->buf, c);
	assert_false(r->g[1].mourns);
}

static void
leaving_is_silent_and_breaking_rules_is_reported(struct serve_rig *r)
{
	struct att_client *c = &r->c[0];

	c->left = true;
	att_gone(c);
	assert_int_equal(r->srv.measure.sum.died, 0);
	assert_int_equal(r->srv.died_ns, 0);
	assert_int_equal(rig_events(&r->c[1]), 0);
	assert_int_equal(r->srv.news, 0);
	assert_int_equal(r->g[0].graves.n, 1);
	/* a client that breaks the rules is reported by name, once */
	att_break(&r->c[3], "it sings");
	att_break(&r->c[3], "it dances");
	assert_non_null(strstr(r->said, "rank 3 on n1 (process "));
	assert_non_null(strstr(r->said, ") is detached: it sings"));
	assert_null(strstr(r->said, "dances"));
	assert_int_equal(recv(r->sock[1], &(char){ 0 }, 1, 0), 0); /* its end */
	is_death(rig_event(&r->c[2], 0), WEFT_ATT_ADDR(1, 1));
	assert_int_equal(rig_events(c), 0);
}

static void
early_end_is_reported_to_present_and_later_clients(struct serve_rig *r)
{
	uint32_t slot[] = { 0, 1, 0, 5 };

	r->srv.map = r->map;
	r->srv.slot = slot;
	att_unborn(&r->srv, 2, 4711);
	/* the client is still attached */
	assert_int_equal(r->srv.measure.sum.died, 0);
	r->c[3].rank = 17;
	att_unborn(&r->srv, 3, 4711);
	assert_int_equal(r->srv.measure.sum.died, 1);
	assert_non_null(strstr(r->said,
			       "rank 3 on n1 (process 4711) has ended "
			       "before it was attached"));
	is_death(rig_event(&r->c[0], 0), WEFT_ATT_ADDR(1, 5));
	rig_taken(&r->c[0]);
	att_tell_unborn(&r->c[0]);
	is_death(rig_event(&r->c[0], 0), WEFT_ATT_ADDR(1, 5));
	assert_int_equal(rig_events(&r->c[0]), 1);
	r->srv.o.raw = true; /* with raw calls a client gets no events */
	att_tell_unborn(&r->c[1]);
	assert_int_equal(rig_events(&r->c[1]), 1);
}

#define TEST(fn, clock)                                                        \
	static void test_##fn(void **state)                                    \
	{                                                                      \
		rig_run(fn, clock);                                            \
	}

TEST(segment_describes_rings_costs_and_endpoint, WEFT_CLOCK_CPU)
TEST(segment_has_room_for_the_largest_message, WEFT_CLOCK_FIXED)
TEST(events_beyond_the_ring_wait_in_order, WEFT_CLOCK_FIXED)
TEST(impossible_event_counts_detach_the_client, WEFT_CLOCK_FIXED)
TEST(messages_beyond_64_wait_for_a_released_slot, WEFT_CLOCK_FIXED)
TEST(death_frees_messages_and_notifies_all_clients, WEFT_CLOCK_FIXED)
TEST(leaving_is_silent_and_breaking_rules_is_reported, WEFT_CLOCK_FIXED)
TEST(early_end_is_reported_to_present_and_later_clients, WEFT_CLOCK_FIXED)
TEST(missed_hand_over_is_repeated_once, WEFT_CLOCK_FIXED)

static void test_resumed_client_runs_and_sees_its_events(void **state)
{
	rig_run(resumed_client_runs_and_sees_its_events, WEFT_CLOCK_FIXED);
	rig_run(resumed_client_runs_and_sees_its_events, WEFT_CLOCK_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_segment_describes_rings_costs_and_endpoint),
		cmocka_unit_test(test_segment_has_room_for_the_largest_message),
		cmocka_unit_test(test_events_beyond_the_ring_wait_in_order),
		cmocka_unit_test(
			test_impossible_event_counts_detach_the_client),
		cmocka_unit_test(
			test_messages_beyond_64_wait_for_a_released_slot),
		cmocka_unit_test(test_resumed_client_runs_and_sees_its_events),
		cmocka_unit_test(
			test_death_frees_messages_and_notifies_all_clients),
		cmocka_unit_test(
			test_leaving_is_silent_and_breaking_rules_is_reported),
		cmocka_unit_test(
			test_early_end_is_reported_to_present_and_later_clients),
		cmocka_unit_test(test_missed_hand_over_is_repeated_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
