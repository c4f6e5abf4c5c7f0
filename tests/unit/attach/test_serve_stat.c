/* SPDX-License-Identifier: Apache-2.0 */
/* Tests the measurements of clients that the server reports: a common start and
 * end, calls and their times, messages from rank to rank. */
#include "serve_rig.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "weft/prog.h"

#define SETTLE WEFT_MS
#define GRAIN  (10 * WEFT_MS)

static weft_time_t now(struct serve_rig *r)
{
	return weft_prog_time(r->g[0].prog);
}

static struct att_cmd epoch(uint64_t job, uint64_t ranks, bool end)
{
	return (struct att_cmd){ .kind = ATT_C_EPOCH,
				 .flags = end ? ATT_F_END : 0,
				 .buf = job,
				 .len = ranks,
				 .ctx = 100 + end };
}

static void aside(struct att_client *c)
{
	rig_do(c, (struct att_cmd){ .kind = ATT_C_ASIDE });
}

/* ---- start and end ---- */

/* Events and hand-overs of a client before it stood aside (weft_att_aside) are
 * not counted. Events and hand-overs of its neighbour are counted. */
static void work_before_standing_aside_is_not_counted(struct serve_rig *r)
{
	struct att_client *a = &r->c[0], *b = &r->c[1];
	struct att_event e = { .kind = WEFT_EV_PUT };

	att_push(a, &e);
	att_push(a, &e);
	att_push(b, &e);
	att_run(a);
	assert_int_equal(r->srv.measure.sum.events, 3);
	assert_int_equal(r->srv.measure.sum.handovers, 1);
	aside(a);
	aside(a);
	assert_int_equal(r->srv.measure.sum.events, 1);
	assert_int_equal(r->srv.measure.sum.handovers, 0);
	assert_int_equal(r->count[AGENT_C_EVENTS], 1);
	assert_int_equal(r->count[AGENT_C_HANDOVERS], 0);
	att_push(a, &e);
	assert_int_equal(r->srv.measure.sum.events, 1);
}

static void ranks_of_a_job_start_and_end_at_one_time(struct serve_rig *r)
{
	struct att_client *a = &r->c[0], *b = &r->c[1], *other = &r->c[2];
	weft_time_t at, t0 = now(r);

	aside(a);
	aside(a);
	aside(b);
	assert_int_equal(r->srv.measure.asides, 2);
	a->measured.violations = 3;
	r->srv.measure.sum.violations = 3;
	rig_do(other, epoch(8, 9, false)); /* a client of another job */
	rig_do(a, epoch(7, 2, false));
	assert_true(att_epoch_deadline(a) == WEFT_NEVER);
	assert_true(att_epoch_deadline(b) == WEFT_NEVER);
	assert_false(r->g[0].plans);
	rig_do(b, epoch(7, 2, false));
	at = (t0 + 2 * SETTLE) / GRAIN * GRAIN + GRAIN;
	assert_int_equal(att_epoch_deadline(a), at - SETTLE);
	assert_int_equal(att_epoch_deadline(b), at - SETTLE);
	assert_true(att_epoch_deadline(other) == WEFT_NEVER);
	assert_true(r->g[0].plans);
	assert_int_equal(r->srv.news, 2);
	att_epoch_due(&r->g[0]); /* not yet */
	assert_int_equal(a->reply_seq, 0);
	weft_host_sleep(r->h, at - SETTLE);
	att_epoch_due(&r->g[0]);
	assert_int_equal(now(r), at);
	assert_int_equal(a->reply_seq, 100);
	assert_int_equal(b->reply_seq, 100);
	assert_int_equal(other->reply_seq, 0);
	assert_int_equal(a->seg->reply.a, at);
	assert_int_equal(a->seg->reply.status, 0);
	assert_int_equal(a->measured.start, at);
	assert_int_equal(r->srv.measure.asides, 0);
	assert_int_equal(r->srv.measure.began, 2);
	assert_int_equal(r->srv.measure.job, 7);
	assert_int_equal(r->srv.measure.sum.violations, 0);
	assert_int_equal(r->measured[1], 1);
	assert_true(att_epoch_deadline(a) == WEFT_NEVER);
	aside(a); /* no effect, because the client is being measured */
	assert_int_equal(r->srv.measure.asides, 0);
	/* ATT_C_OVER ends the measurement of its client. The last client's
	 * ATT_C_OVER ends the whole measurement. */
	rig_do(a, (struct att_cmd){ .kind = ATT_C_OVER, .ctx = 5 });
	assert_int_equal(a->measured.over, at);
	assert_int_equal(a->reply_seq, 5);
	assert_int_equal(r->measured[0], 0);
	weft_host_sleep(r->h, at + WEFT_US);
	rig_do(a, (struct att_cmd){ .kind = ATT_C_OVER });
	rig_do(b, (struct att_cmd){ .kind = ATT_C_OVER });
	assert_int_equal(a->measured.over, at);
	/* the second ATT_C_OVER has no ctx, so that it gets no reply */
	assert_int_equal(a->reply_seq, 5);
	assert_int_equal(b->measured.over, at + WEFT_US);
	assert_int_equal(r->measured[0], 1);
	/* the common end need not be at a multiple of GRAIN */
	rig_do(a, epoch(7, 2, true));
	rig_do(b, epoch(7, 2, true));
	at = now(r) + 2 * SETTLE;
	assert_int_equal(att_epoch_deadline(b), at - SETTLE);
	weft_host_sleep(r->h, at - SETTLE);
	att_epoch_due(&r->g[0]);
	assert_int_equal(now(r), at);
	assert_int_equal(b->reply_seq, 101);
	assert_int_equal(r->srv.measure.asides, 2);
	assert_true(a->aside && b->aside);
	assert_int_equal(r->measured[1], 1);
}

/* Checks that a client that ends its measurement does not count as a client
 * that starts one. Checks that a start does not wait for a dead client. */
static void start_waits_for_every_live_rank_of_its_job(struct serve_rig *r)
{
	rig_do(&r->c[0], epoch(7, 2, false));
	rig_do(&r->c[1], epoch(7, 2, true));
	assert_true(att_epoch_deadline(&r->c[0]) == WEFT_NEVER);
	r->c[1].gone = true;
	rig_do(&r->c[2], epoch(7, 3, false));
	assert_true(att_epoch_deadline(&r->c[2]) == WEFT_NEVER);
	rig_do(&r->c[3], epoch(7, 3, false));
	assert_true(att_epoch_deadline(&r->c[0]) < WEFT_NEVER);
	assert_true(att_epoch_deadline(&r->c[3]) < WEFT_NEVER);
	assert_true(r->g[1].plans);
}

static void start_broken_by_a_death_lets_its_ranks_continue(struct serve_rig *r)
{
	struct att_client *a = &r->c[0];

	aside(a);
	rig_do(a, epoch(7, 3, false));
	rig_do(&r->c[1], epoch(8, 1, false));
	att_epoch_broken(&r->srv);
	assert_int_equal(a->reply_seq, 100);
	assert_int_equal(a->seg->reply.status, -EPIPE);
	assert_int_equal(a->measured.start, 0);
	assert_true(a->aside);
	assert_int_equal(r->measured[1], 0);
	assert_int_equal(r->c[1].reply_seq,
			 0); /* job 8 is complete, so not broken */
	assert_int_equal(r->c[2].reply_seq, 0);
}

/* ---- calls ---- */

static void mark(struct att_client *c, uint8_t kind, uint64_t stat,
		 uint8_t flags, weft_time_t busy)
{
	rig_do(c, (struct att_cmd){ .kind = kind,
				    .buf = stat,
				    .flags = flags,
				    .busy = busy });
}

static void nested_calls_sum_up_at_most_eight_deep(struct serve_rig *r)
{
	struct att_client *c = &r->c[0];

	mark(c, ATT_C_BEGIN, 3, 0, 10);
	mark(c, ATT_C_BEGIN, 4, 0, 100);
	mark(c, ATT_C_END, 4, 0, 1000);
	mark(c, ATT_C_END, 3, 0, 10000);
	assert_int_equal(c->calls.timed[3].sum, 11100);
	assert_int_equal(c->calls.timed[4].sum, 1000);
	mark(c, ATT_C_BEGIN, 3, 0, 0);
	mark(c, ATT_C_END, 3, 0, 20000);
	assert_int_equal(c->calls.timed[3].sum, 31100);
	assert_int_equal(c->calls.timed[3].max, 20000);
	/* an end without a begin, a dropped call, two calls that begin and do
	 * not end */
	mark(c, ATT_C_END, 4, 0, 5);
	mark(c, ATT_C_BEGIN, 4, 0, 0);
	mark(c, ATT_C_END, 4, ATT_F_DROP, 5);
	assert_int_equal(c->calls.timed[4].sum, 1000);
	assert_int_equal(c->calls.n_open, 0);
	mark(c, ATT_C_BEGIN, 3, 0, 0);
	mark(c, ATT_C_BEGIN, 4, 0, 0);
	mark(c, ATT_C_BEGIN, 5, 0, 0);
	mark(c, ATT_C_END, 3, 0, 7);
	assert_int_equal(c->calls.n_open, 0);
	assert_int_equal(c->calls.timed[3].sum, 31107);
	assert_int_equal(c->calls.timed[5].sum, 0);
	/* eight nested calls are counted, but not a ninth */
	for (uint64_t i = 0; i < ATT_OPEN + 1; i++)
		mark(c, ATT_C_BEGIN, 10 + i, 0, 0);
	assert_int_equal(c->calls.n_open, ATT_OPEN);
	for (uint64_t i = ATT_OPEN + 1; i--;)
		mark(c, ATT_C_END, 10 + i, 0, 3);
	assert_int_equal(c->calls.timed[10 + ATT_OPEN].sum, 0);
	assert_int_equal(c->calls.timed[10 + ATT_OPEN - 1].sum, 6);
	assert_int_equal(c->calls.timed[10].sum, 3 * (ATT_OPEN + 1));
	/* marks are not commands */
	assert_int_equal(r->srv.measure.sum.commands, 0);
	/* nothing is counted after the end */
	c->measured.over = 1;
	mark(c, ATT_C_BEGIN, 3, 0, 0);
	mark(c, ATT_C_END, 3, 0, 7);
	assert_int_equal(c->calls.timed[3].sum, 31107);
}

static void name_is(struct att_client *c, uint32_t i, const char *name)
{
	assert_string_equal(c->calls.stat[i].name, name);
}

static void names_of_calls_are_cleaned_and_told_apart(struct serve_rig *r)
{
	struct att_client *c = &r->c[0];
	struct att_stat *s = c->seg->stat;

	strcpy(s[0].name, "a_Z9");
	strcpy(s[1].name, "a-b c");
	strcpy(s[2].name, "a.b/c");
	strcpy(s[3].name, "a:b;c");
	memset(s[4].name, 'x', WEFT_ATT_STAT_NAME); /* no end */
	memset(s[5].name, 'x', WEFT_ATT_STAT_NAME);
	memset(s[127].name, 'x', WEFT_ATT_STAT_NAME);
	s[1].calls = 3;
	s[1].bytes = 4;
	s[1].time = 5;
	s[1].max = 6;
	att_stat_keep(c);
	name_is(c, 0, "a_Z9");
	name_is(c, 1, "a?b?c");
	name_is(c, 2, "a?b?c#2");
	name_is(c, 3, "a?b?c#3");
	name_is(c, 4, "xxxxxxxxxxxxxxxxxxxxxxx");
	name_is(c, 5, "xxxxxxxxxxxxxxxxxxxxx#5");
	name_is(c, 127, "xxxxxxxxxxxxxxxxxxx#127");
	name_is(c, 6, "");
	assert_int_equal(c->calls.stat[1].calls, 3);
	assert_int_equal(c->calls.stat[1].bytes, 4);
	assert_int_equal(c->calls.stat[1].time, 5);
	assert_int_equal(c->calls.stat[1].max, 6);
	strcpy(s[0].name, "other"); /* once */
	s[1].calls = 30;
	/* later names and numbers do not count, because the measurement has
	 * ended */
	c->measured.over = 1;
	att_stat_keep(c);
	name_is(c, 0, "a_Z9");
	assert_int_equal(c->calls.stat[1].calls, 3);
}

/* ---- messages, and the whole report ---- */

static void flows_count_messages_from_rank_to_rank(struct serve_rig *r)
{
	struct att_flow f;
	struct att_cmd k = { .dst = WEFT_ATT_ADDR(1, 0), .len = 100 };
	static const struct {
		uint8_t kind;
		uint32_t src, dst, bytes;
	} rows[] = { { ATT_C_SEND, 0, 2, 100 },
		     { ATT_C_PUT, 0, 2, 200 },
		     { ATT_C_FADD, 0, 2, 208 },
		     { ATT_C_CSWAP, 0, 2, 216 },
		     { ATT_C_GET, 2, 0, 100 } };

	assert_false(att_server_flow(&r->srv, 0, &f));
	for (uint32_t i = 0; i < 5; i++) {
		k.kind = rows[i].kind;
		att_stat_cmd(&r->c[0], &k);
		assert_true(att_server_flow(&r->srv, i / 4, &f));
		assert_int_equal(f.src, rows[i].src);
		assert_int_equal(f.dst, rows[i].dst);
		assert_int_equal(f.messages, i < 4 ? i + 1 : 1);
		assert_int_equal(f.bytes, rows[i].bytes);
	}
	assert_false(att_server_flow(&r->srv, 2, &f));
	/* other commands, commands to absent clients, and commands of a client
	 * whose measurement is over are not counted */
	k.kind = ATT_C_RELEASE;
	att_stat_cmd(&r->c[0], &k);
	k.kind = ATT_C_NOP;
	att_stat_cmd(&r->c[0], &k);
	k.kind = ATT_C_SEND;
	k.dst = WEFT_ATT_ADDR(1, 7);
	att_stat_cmd(&r->c[0], &k);
	r->c[1].measured.over = 1;
	k.dst = WEFT_ATT_ADDR(1, 0);
	att_stat_cmd(&r->c[1], &k);
	r->c[3].rank = RIG_CLIENTS; /* no such */
	k.dst = WEFT_ATT_ADDR(1, 1);
	att_stat_cmd(&r->c[0], &k);
	assert_true(att_server_flow(&r->srv, 0, &f));
	assert_int_equal(f.messages, 4);
	assert_false(att_server_flow(&r->srv, 2, &f));
	att_stat_reset(&r->c[0]);
	assert_true(att_server_flow(&r->srv, 0, &f));
	assert_int_equal(f.src, 2);
	assert_false(att_server_flow(&r->srv, 1, &f));
}

static void report_lists_ranks_and_calls_of_the_first_job(struct serve_rig *r)
{
	struct att_rank k;
	struct att_call c;

	for (uint32_t i = 0; i < RIG_CLIENTS; i++) {
		assert_true(att_server_rank(&r->srv, i, &k));
		assert_int_equal(k.rank, i);
		assert_int_equal(k.node, i / 2);
	}
	assert_false(att_server_rank(&r->srv, RIG_CLIENTS, &k));
	assert_false(att_server_call(&r->srv, 0, &c));
	strcpy(r->c[1].calls.stat[5].name, "five");
	r->c[1].calls.stat[5] = (struct att_stat){ "five", 2, 30, 400, 500 };
	r->c[1].calls.timed[5] = (struct att_timed){ 6000, 70 };
	r->c[1].calls.timed[6] = (struct att_timed){ 1, 1 }; /* never called */
	r->c[2].calls.stat[WEFT_ATT_STATS - 1].calls = 1;
	assert_true(att_server_call(&r->srv, 0, &c));
	assert_string_equal(c.name, "five");
	assert_int_equal(c.rank, 1);
	assert_int_equal(c.calls, 2);
	assert_int_equal(c.bytes, 30);
	assert_int_equal(c.time, 6400);
	assert_int_equal(c.max, 500);
	r->c[1].calls.timed[5].max = 501;
	assert_true(att_server_call(&r->srv, 0, &c));
	assert_int_equal(c.max, 501);
	assert_true(att_server_call(&r->srv, 1, &c));
	assert_int_equal(c.rank, 2);
	assert_false(att_server_call(&r->srv, 2, &c));
	/* if several clients had one rank, the report names the first that was
	 * measured to its end, otherwise the last one */
	r->c[3].rank = 0;
	assert_true(att_server_rank(&r->srv, 0, &k));
	assert_int_equal(k.node, 1);
	assert_false(att_server_rank(&r->srv, 3, &k));
	r->c[0].measured.over = 9;
	r->c[0].measured.start = 8;
	assert_true(att_server_rank(&r->srv, 0, &k));
	assert_int_equal(k.node, 0);
	assert_int_equal(k.start, 8);
	assert_int_equal(k.over, 9);
	/* if some ranks are measured, only those of the first job count */
	r->srv.measure.began = 1;
	r->srv.measure.job = 7;
	r->c[0].epoch.job = 7;
	r->c[1].epoch.job = 7;
	r->c[2].epoch.job = 8;
	r->c[2].measured.start = 1;
	assert_true(att_server_rank(&r->srv, 0, &k));
	assert_false(att_server_rank(&r->srv, 1, &k));
	assert_false(att_server_call(&r->srv, 0, &c));
}

#define TEST(fn)                                                               \
	static void test_##fn(void **state)                                    \
	{                                                                      \
		rig_run(fn, WEFT_CLOCK_FIXED);                                 \
	}

TEST(work_before_standing_aside_is_not_counted)
TEST(ranks_of_a_job_start_and_end_at_one_time)
TEST(start_waits_for_every_live_rank_of_its_job)
TEST(start_broken_by_a_death_lets_its_ranks_continue)
TEST(nested_calls_sum_up_at_most_eight_deep)
TEST(names_of_calls_are_cleaned_and_told_apart)
TEST(flows_count_messages_from_rank_to_rank)
TEST(report_lists_ranks_and_calls_of_the_first_job)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_work_before_standing_aside_is_not_counted),
		cmocka_unit_test(test_ranks_of_a_job_start_and_end_at_one_time),
		cmocka_unit_test(
			test_start_waits_for_every_live_rank_of_its_job),
		cmocka_unit_test(
			test_start_broken_by_a_death_lets_its_ranks_continue),
		cmocka_unit_test(test_nested_calls_sum_up_at_most_eight_deep),
		cmocka_unit_test(
			test_names_of_calls_are_cleaned_and_told_apart),
		cmocka_unit_test(test_flows_count_messages_from_rank_to_rank),
		cmocka_unit_test(
			test_report_lists_ranks_and_calls_of_the_first_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
