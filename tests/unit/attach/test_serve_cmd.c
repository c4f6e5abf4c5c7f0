/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how an agent carries out the commands of a client: calls of the
 * endpoint, events for the client, counts, free slots. */
#include "serve_rig.h"

#include <errno.h>
#include <string.h>

#include "weft/prog.h"

static struct att_cmd send_to(uint32_t dst, uint64_t buf, uint64_t len,
			      uint64_t ctx)
{
	return (struct att_cmd){ .kind = ATT_C_SEND,
				 .flags = ctx ? 0 : ATT_F_QUIET,
				 .dst = dst,
				 .ctx = ctx,
				 .buf = buf,
				 .len = len,
				 .imm = 0xabcd };
}

static uint8_t *tx(struct att_client *c)
{
	return (uint8_t *)c->seg + c->seg->tx_off;
}

static void is_event(const struct att_event *e, uint32_t kind, int status,
		     uint32_t src, uint64_t ctx, uint64_t len)
{
	assert_int_equal(e->kind, kind);
	assert_int_equal(e->status, status);
	assert_int_equal(e->src, src);
	assert_int_equal(e->ctx, ctx);
	assert_int_equal(e->len, len);
}

/* Completes the endpoint's last operation, as the endpoint reports it. */
static void done(struct serve_rig *r, enum weft_ep_kind kind, int status,
		 size_t len, uint64_t result)
{
	struct weft_ep_event ev = { .kind = kind,
				    .status = status,
				    .len = len,
				    .result = result,
				    .ctx = rig_last(r)->ctx };

	att_op_event(&r->g[0], &ev);
}

/* ---- messages ---- */

static void message_to_another_node_goes_through_endpoint(struct serve_rig *r)
{
	struct att_client *c = &r->c[0];
	const struct rig_call *k;
	const void *stage;

	r->c[3].gen = 0x12345;
	memset(tx(c) + 64, 7, 256);
	assert_true(rig_do(c, send_to(WEFT_ATT_ADDR(1, 1), 64, 256, 5)));
	k = rig_last(r);
	assert_int_equal(k->op, RIG_SEND);
	assert_int_equal(k->dst, 1);
	assert_int_equal(k->len, 256);
	assert_true(k->imm == (0xabcd | 1ull << 32 | 0x2345ull << 48));
	assert_memory_equal(k->buf, tx(c) + 64, 256);
	assert_int_equal(r->g[0].n_ops, 1);
	assert_int_equal(rig_events(c), 0);
	assert_int_equal(c->cmd_head, 1);
	stage = k->buf;
	done(r, WEFT_EV_SENT, 0, 256, 0);
	assert_int_equal(r->g[0].n_ops, 0);
	assert_int_equal(rig_events(c), 1);
	is_event(rig_event(c, 0), WEFT_EV_SENT, 0, 0, 5, 256);
	/* A message gets the buffer of an earlier message of the same size
	 * class. The messages from here on are quiet (ctx 0), so that they make
	 * no events. */
	rig_do(c, send_to(WEFT_ATT_ADDR(1, 0), 0, 257, 0));
	assert_ptr_not_equal(rig_last(r)->buf, stage);
	done(r, WEFT_EV_SENT, 0, 257, 0);
	rig_do(c, send_to(WEFT_ATT_ADDR(1, 0), 0, 0, 0));
	assert_ptr_equal(rig_last(r)->buf, stage);
	assert_true(rig_last(r)->imm == (0xabcd | 1ull << 48));
	done(r, WEFT_EV_SENT, 0, 0, 0);
	assert_int_equal(rig_events(c), 1);
	/* an error of a quiet message is reported nevertheless */
	rig_do(c, send_to(WEFT_ATT_ADDR(1, 0), 0, 10, 0));
	done(r, WEFT_EV_ERROR, -EIO, 0, 0);
	is_event(rig_event(c, 1), WEFT_EV_ERROR, -EIO, 0, 0, 0);
	assert_int_equal(r->count[AGENT_C_SENDS], 4);
	assert_int_equal(r->count[AGENT_C_SEND_BYTES], 256 + 257 + 10);
	assert_int_equal(r->count[AGENT_C_COMMANDS], 4);
	assert_int_equal(r->count[AGENT_C_EVENTS], 2);
	assert_int_equal(r->srv.measure.sum.commands, 4);
	assert_int_equal(r->srv.measure.sum.events, 2);
	assert_int_equal(r->g[0].n_ops, 0);
}

static void message_within_a_node_is_copied_to_its_client(struct serve_rig *r)
{
	struct att_client *c = &r->c[1], *to = &r->c[0];
	const struct att_event *e;
	weft_time_t t = weft_host_now(r->h);

	memset(tx(c) + 128, 9, 1000);
	rig_do(c, send_to(WEFT_ATT_ADDR(0, 0), 128, 1000, 5));
	e = rig_event(to, 0);
	assert_int_equal(e->time, weft_prog_time(r->g[0].prog));
	assert_true(weft_host_now(r->h) - t > 100 * WEFT_NS); /* a copy */
	assert_int_equal(r->calls, 0);
	is_event(e, WEFT_EV_RECV, 0, WEFT_ATT_ADDR(0, 1), 0, 1000);
	assert_int_equal(e->imm, 0xabcd);
	assert_memory_equal(to->view.rx + e->data, tx(c) + 128, 1000);
	is_event(rig_event(c, 0), WEFT_EV_SENT, 0, 0, 5, 1000);
	rig_do(c, send_to(WEFT_ATT_ADDR(0, 0), 128, 0, 0));
	assert_int_equal(rig_events(c), 1);
	is_event(rig_event(to, 1), WEFT_EV_RECV, 0, WEFT_ATT_ADDR(0, 1), 0, 0);
	assert_true(to->wake && c->wake);
	assert_int_equal(r->srv.news, 0);
	/* a message that is sent aside (weft_att_aside) reaches any client at
	 * once and is not counted */
	c->aside = true;
	t = weft_prog_time(r->g[0].prog);
	rig_do(c, send_to(WEFT_ATT_ADDR(1, 0), 128, 1000, 0));
	assert_int_equal(weft_prog_time(r->g[0].prog), t);
	assert_int_equal(r->srv.news, 1);
	assert_memory_equal(r->c[2].view.rx + rig_event(&r->c[2], 0)->data,
			    tx(c) + 128, 1000);
	assert_int_equal(r->count[AGENT_C_SENDS], 2);
}

static void message_beyond_the_ring_detaches_its_client(struct serve_rig *r)
{
	uint64_t all = r->c[0].view.tx_bytes;
	const struct {
		uint64_t buf, len;
		bool ok;
	} rows[] = {
		{ 0, RIG_MSG, true },
		{ all - RIG_MSG, RIG_MSG, true },
		{ all, 0, true },
		{ all - 1, 1, true },
		{ all - 9, 10, false },
		{ all - RIG_MSG + 1, RIG_MSG, false },
		{ 0, RIG_MSG + 1, false },
		{ all + 1, 0, false },
		{ UINT64_MAX - 3, 4, false },
		{ 0, UINT64_MAX, false },
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct att_client *c = &r->c[0];

		rig_do(c, send_to(WEFT_ATT_ADDR(1, 0), rows[i].buf, rows[i].len,
				  0));
		assert_int_equal(c->broken, !rows[i].ok);
		if (rows[i].ok)
			done(r, WEFT_EV_SENT, 0, 0, 0);
		else
			assert_non_null(strstr(r->said, "outside"));
		c->broken = c->gone = false; /* once more */
		c->cmd_head = c->seg->cmd_tail;
		c->charged = false;
	}
}

static void message_to_an_unknown_client_fails_with_epipe(struct serve_rig *r)
{
	static const uint32_t dst[] = { WEFT_ATT_ADDR(1, 2),
					WEFT_ATT_ADDR(2, 0),
					WEFT_ATT_ADDR(0xffffff, 255) };
	struct att_client *c = &r->c[0];

	for (uint32_t i = 0; i < 3; i++) {
		rig_do(c, send_to(dst[i], 0, 10, 6));
		is_event(rig_event(c, i), WEFT_EV_ERROR, -EPIPE, dst[i], 6, 0);
	}
	assert_int_equal(r->count[AGENT_C_SENDS], 3);
	assert_int_equal(r->calls, 0);
	assert_int_equal(r->g[0].n_ops, 0);
}

/* ---- commands that wait ---- */

static void refused_send_is_retried_and_charged_once(struct serve_rig *r)
{
	struct att_client *c = &r->c[0];
	weft_time_t t;

	r->answer[RIG_SEND] = -EAGAIN;
	rig_do(&r->c[1], send_to(WEFT_ATT_ADDR(0, 0), 0, 8, 0));
	rig_do(&r->c[1], send_to(WEFT_ATT_ADDR(0, 0), 0, 8, 0));
	t = weft_prog_time(r->g[0].prog);
	rig_post(c, (struct att_cmd){ .kind = ATT_C_SEND,
				      .dst = WEFT_ATT_ADDR(1, 0),
				      .busy = 50 * WEFT_NS,
				      .len = 8 });
	rig_post(c, (struct att_cmd){ .kind = ATT_C_NOP });
	rig_post(c, (struct att_cmd){ .kind = ATT_C_RELEASE, .buf = 1 });
	rig_post(c, (struct att_cmd){ .kind = ATT_C_NOW, .ctx = 3 });
	assert_int_equal(c->n_free, ATT_RX_SLOTS - 2);
	for (uint32_t i = 1; i < 4; i++) {
		assert_false(rig_serve(c));
		assert_int_equal(r->count[AGENT_C_STALLS], i);
		assert_int_equal(c->cmd_head, 0);
		assert_int_equal(r->g[0].n_ops, 0);
		/* The agent has processed the RELEASE and the NOW, although
		 * they were posted after the send. It processes them in the
		 * first of the three tries only. */
		assert_int_equal(c->n_free, ATT_RX_SLOTS - 1);
		assert_int_equal(c->reply_seq, 3);
		assert_int_equal(r->calls, i);
	}
	/* the client's busy time counts once */
	assert_int_equal(r->srv.measure.sum.software, 50 * WEFT_NS);
	assert_true(weft_prog_time(r->g[0].prog) - t >= 50 * WEFT_NS);
	/* a slot that the client releases by a bit of seg->released counts
	 * once, too */
	atomic_store(&c->seg->released, 1);
	assert_false(rig_serve(c));
	assert_int_equal(c->n_free, ATT_RX_SLOTS);
	r->answer[RIG_SEND] = 0;
	assert_true(rig_serve(c));
	assert_int_equal(c->cmd_head, 4);
	assert_int_equal(c->n_free, ATT_RX_SLOTS);
	assert_int_equal(r->srv.measure.sum.software, 50 * WEFT_NS);
	assert_int_equal(r->srv.measure.sum.cost_call, 100);
	/* commands that were processed before the send are not counted again */
	assert_int_equal(r->srv.measure.sum.commands, 2 + 2);
}

static void
leaving_client_receives_nothing_and_goes_after_its_send(struct serve_rig *r)
{
	struct att_client *c = &r->c[0];

	r->answer[RIG_SEND] = -EAGAIN;
	rig_do(&r->c[1], send_to(WEFT_ATT_ADDR(0, 0), 0, 8, 0));
	rig_post(c, send_to(WEFT_ATT_ADDR(1, 0), 0, 8, 0));
	rig_post(c, (struct att_cmd){ .kind = ATT_C_BYE, .ctx = 9 });
	assert_false(rig_serve(c));
	assert_true(c->leaving);
	assert_false(c->msg[0].used);
	assert_false(c->gone);
	rig_do(&r->c[1], send_to(WEFT_ATT_ADDR(0, 0), 0, 8, 0));
	assert_int_equal(rig_events(c), 1); /* none more */
	r->answer[RIG_SEND] = 0;
	assert_true(rig_serve(c));
	assert_int_equal(r->calls, 2);
	assert_true(c->gone && c->left);
	assert_int_equal(c->seg->reply_seq, 9);
	assert_int_equal(c->seg->state, ATT_GONE);
	assert_int_equal(r->srv.measure.sum.died, 0);
	assert_int_equal(r->srv.live, RIG_CLIENTS - 1);
	assert_null(att_find(&r->srv, WEFT_ATT_ADDR(0, 0)));
	assert_ptr_equal(att_find(&r->srv, WEFT_ATT_ADDR(0, 1)), &r->c[1]);
}

/* ---- release of messages ---- */

static void let_go(struct att_client *c, uint64_t slot, bool ok)
{
	rig_do(c, (struct att_cmd){ .kind = ATT_C_RELEASE, .buf = slot });
	assert_int_equal(c->broken, !ok);
	c->broken = c->gone = false; /* once more */
	c->cmd_head = c->seg->cmd_tail;
}

static void
released_slot_is_used_next_and_wrong_ones_detach(struct serve_rig *r)
{
	static const uint64_t wrong[] = { 0, 63, ATT_RX_SLOTS, UINT64_MAX };
	struct att_client *c = &r->c[0];

	for (int i = 0; i < 3; i++) {
		rig_do(&r->c[1], send_to(WEFT_ATT_ADDR(0, 0), 0, 8, 0));
		assert_int_equal(rig_event(c, (uint32_t)i)->slot, i);
		assert_int_equal(rig_event(c, (uint32_t)i)->data,
				 (uint64_t)i * c->view.rx_slot);
	}
	let_go(c, 0, true);
	let_go(c, 2, true);
	let_go(c, 1, true);
	/* the slot that was released last is used next */
	rig_do(&r->c[1], send_to(WEFT_ATT_ADDR(0, 0), 0, 8, 0));
	assert_int_equal(rig_event(c, 3)->slot, 1);
	/* the endpoint is notified of the release, because the message belongs
	 * to the endpoint */
	att_push_msg(c, &(struct att_event){ .kind = WEFT_EV_RECV, .len = 3 },
		     &(struct att_msg){ .ev = { .data = "abc", .len = 3 } });
	assert_int_equal(rig_event(c, 4)->slot, 2);
	assert_memory_equal(c->view.rx + rig_event(c, 4)->data, "abc", 3);
	let_go(c, 2, true);
	assert_int_equal(rig_last(r)->op, RIG_RELEASE);
	assert_int_equal(rig_last(r)->len, 3);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		let_go(c, wrong[i], false);
	assert_non_null(strstr(r->said, "has not got"));
}

/* ---- impossible commands ---- */

static void impossible_command_detaches_its_client(struct serve_rig *r)
{
	static const struct att_cmd rows[] = {
		{ .kind = ATT_C_KINDS },
		{ .kind = 255 },
		{ .kind = ATT_C_NOP, .busy = ATT_BUSY_MAX + 1 },
		{ .kind = ATT_C_BEGIN, .buf = WEFT_ATT_STATS },
	};

	for (uint32_t i = 0; i < 4; i++) {
		struct att_client *c = &r->c[i];

		assert_true(rig_do(c, rows[i]));
		assert_true(c->gone && c->broken && !c->left);
		assert_int_equal(c->cmd_head, 0);
		assert_int_equal(r->srv.measure.sum.broken, i + 1);
		assert_int_equal(r->count[AGENT_C_BROKEN], i + 1);
		assert_int_equal(r->srv.measure.sum.died, i + 1);
	}
	assert_non_null(strstr(r->said, "no such command"));
	assert_non_null(strstr(r->said, "there is no such call"));
}

static void impossible_counts_or_times_detach_the_client(struct serve_rig *r)
{
	struct att_client *c = &r->c[0];

	for (uint32_t i = 0; i < ATT_CMDS; i++)
		rig_post(c, (struct att_cmd){ .kind = ATT_C_NOP });
	assert_true(att_has_cmds(c));
	assert_true(rig_serve(c)); /* the ring is full */
	assert_false(att_has_cmds(c));
	assert_int_equal(c->cmd_head, ATT_CMDS);
	assert_int_equal(r->srv.measure.sum.commands, ATT_CMDS);
	c->seg->cmd_tail += ATT_CMDS + 1;
	assert_true(rig_serve(c));
	assert_true(c->broken);
	assert_non_null(strstr(r->said, "command ring makes no sense"));
	assert_int_equal(c->cmd_head, ATT_CMDS);
	/* the longest busy time that a client may report */
	c = &r->c[1];
	rig_do(c, (struct att_cmd){ .kind = ATT_C_NOP, .busy = ATT_BUSY_MAX });
	assert_false(c->broken);
	assert_int_equal(r->srv.measure.sum.software, ATT_BUSY_MAX);
	for (uint32_t i = 0; i < 3; i++)
		rig_do(c, (struct att_cmd){ .kind = ATT_C_NOP,
					    .busy = ATT_BUSY_MAX });
	assert_false(c->broken);
	rig_do(c, (struct att_cmd){ .kind = ATT_C_NOP });
	assert_true(c->broken); /* a busy time of four hours is too long */
	assert_non_null(strstr(r->said, "time is at its end"));
}

/* Checks when a client sees completions: at once in an untimed run, but only
 * when the client continues in a timed run. */
static void
timed_completions_show_when_the_client_continues(struct serve_rig *r)
{
	bool timed = att_timed(&r->srv);
	struct att_client *c = &r->c[1];

	rig_do(c, send_to(WEFT_ATT_ADDR(0, 0), 0, 8, 1));
	assert_int_equal(c->seg->cmd_head, timed ? 0 : 1);
	assert_int_equal(c->seg->ev_tail, timed ? 0 : 1);
	att_show(c);
	assert_int_equal(c->seg->cmd_head, 1);
	assert_int_equal(c->seg->ev_tail, 1);
	assert_int_equal(c->seg->now, weft_prog_time(r->g[0].prog));
}

/* A command of a resumed client is late, because the client counted as waiting.
 * The client gets one violation, at its first command other than ATT_C_NOP and
 * marks (ATT_C_BEGIN, ATT_C_END). */
static void late_work_of_a_resumed_client_counts_once(struct serve_rig *r)
{
	struct att_client *c = &r->c[0];

	c->resumed = true;
	rig_do(c, (struct att_cmd){ .kind = ATT_C_NOP });
	rig_do(c, (struct att_cmd){ .kind = ATT_C_BEGIN });
	rig_do(c, (struct att_cmd){ .kind = ATT_C_END });
	assert_int_equal(r->srv.measure.sum.violations, 0);
	rig_do(c, (struct att_cmd){ .kind = ATT_C_NOW, .ctx = 1 });
	assert_int_equal(r->srv.measure.sum.violations, 1);
	assert_int_equal(r->count[AGENT_C_VIOLATIONS], 1);
	assert_int_equal(c->measured.violations, 1);
	rig_do(c, (struct att_cmd){ .kind = ATT_C_NOW, .ctx = 2 });
	assert_int_equal(c->measured.violations, 1);
	c->resumed = c->aside = true;
	rig_do(c, (struct att_cmd){ .kind = ATT_C_NOW, .ctx = 3 });
	assert_false(c->resumed);
	assert_int_equal(c->measured.violations, 1);
	c->aside = false;
	c->resumed = true;
	c->measured.over = 1;
	rig_do(c, (struct att_cmd){ .kind = ATT_C_NOW, .ctx = 4 });
	assert_int_equal(c->measured.violations, 1);
}

static void reply_to_now_shows_when_the_client_continues(struct serve_rig *r)
{
	struct att_client *c = &r->c[0];
	weft_time_t t = weft_prog_time(r->g[0].prog);

	rig_do(c, (struct att_cmd){ .kind = ATT_C_NOW, .ctx = 1 });
	assert_true(c->seg->reply.a >= t);
	assert_int_equal(c->seg->reply.status, 0);
	assert_int_equal(c->reply_seq, 1);
	assert_true(c->wake);
	assert_int_equal(c->seg->reply_seq, 0); /* not yet */
	att_show(c);
	assert_int_equal(c->seg->reply_seq, 1);
}

#define TEST(fn)                                                               \
	static void test_##fn(void **state)                                    \
	{                                                                      \
		rig_run(fn, WEFT_CLOCK_FIXED);                                 \
	}

TEST(message_to_another_node_goes_through_endpoint)
TEST(message_within_a_node_is_copied_to_its_client)
TEST(message_beyond_the_ring_detaches_its_client)
TEST(message_to_an_unknown_client_fails_with_epipe)
TEST(refused_send_is_retried_and_charged_once)
TEST(leaving_client_receives_nothing_and_goes_after_its_send)
TEST(released_slot_is_used_next_and_wrong_ones_detach)
TEST(impossible_command_detaches_its_client)
TEST(impossible_counts_or_times_detach_the_client)
TEST(late_work_of_a_resumed_client_counts_once)
TEST(reply_to_now_shows_when_the_client_continues)

static void test_timed_completions_show_when_the_client_continues(void **state)
{
	rig_run(timed_completions_show_when_the_client_continues,
		WEFT_CLOCK_FIXED);
	rig_run(timed_completions_show_when_the_client_continues,
		WEFT_CLOCK_NONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_message_to_another_node_goes_through_endpoint),
		cmocka_unit_test(
			test_message_within_a_node_is_copied_to_its_client),
		cmocka_unit_test(
			test_message_beyond_the_ring_detaches_its_client),
		cmocka_unit_test(
			test_message_to_an_unknown_client_fails_with_epipe),
		cmocka_unit_test(test_refused_send_is_retried_and_charged_once),
		cmocka_unit_test(
			test_leaving_client_receives_nothing_and_goes_after_its_send),
		cmocka_unit_test(
			test_released_slot_is_used_next_and_wrong_ones_detach),
		cmocka_unit_test(test_impossible_command_detaches_its_client),
		cmocka_unit_test(
			test_impossible_counts_or_times_detach_the_client),
		cmocka_unit_test(
			test_late_work_of_a_resumed_client_counts_once),
		cmocka_unit_test(
			test_reply_to_now_shows_when_the_client_continues),
		cmocka_unit_test(
			test_timed_completions_show_when_the_client_continues),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
