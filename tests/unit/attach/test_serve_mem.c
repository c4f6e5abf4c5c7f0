/* SPDX-License-Identifier: Apache-2.0 */
/* Tests how an agent handles memory of its clients: remote operations, regions,
 * shadows and the lifetime of shadows. */
#include "serve_rig.h"

#include <errno.h>
#include <string.h>

static uint8_t area[3 * 4096] __attribute__((aligned(4096)));
#define VA ((uint64_t)(uintptr_t)area)

static struct att_cmd remote(enum att_cmd_kind kind, uint64_t buf, uint64_t len)
{
	return (struct att_cmd){ .kind = (uint8_t)kind,
				 .flags = ATT_F_NOTIFY,
				 .dst = WEFT_ATT_ADDR(1, 1),
				 .ctx = 6,
				 .buf = buf,
				 .len = len,
				 .raddr = 0x1111,
				 .rkey = 0x2222,
				 .imm = 33 };
}

static void end(struct serve_rig *r, const struct rig_call *k,
		enum weft_ep_kind kind, uint64_t result)
{
	struct weft_ep_event ev = {
		.kind = kind, .len = k->len, .result = result, .ctx = k->ctx
	};

	att_op_event(&r->g[0], &ev);
}

static void remote_operations_pass_their_arguments_on(struct serve_rig *r)
{
	static const struct {
		enum att_cmd_kind cmd;
		enum rig_op op;
		enum weft_ep_kind ev;
		uint32_t count, bytes;
		bool local;
	} rows[] = {
		{ ATT_C_PUT, RIG_PUT, WEFT_EV_PUT, AGENT_C_PUTS,
		  AGENT_C_PUT_BYTES, true },
		{ ATT_C_GET, RIG_GET, WEFT_EV_GET, AGENT_C_GETS,
		  AGENT_C_GET_BYTES, true },
		{ ATT_C_FADD, RIG_FADD, WEFT_EV_ATOMIC, AGENT_C_ATOMICS,
		  AGENT_C_N, false },
		{ ATT_C_CSWAP, RIG_CSWAP, WEFT_EV_ATOMIC, AGENT_C_ATOMICS,
		  AGENT_C_N, false },
	};
	struct att_client *c = &r->c[0];

	for (uint32_t i = 0; i < 4; i++) {
		const struct rig_call *k;

		memset(r->count, 0, sizeof(r->count));
		assert_true(rig_do(c, remote(rows[i].cmd, VA + 100, 200)));
		k = rig_last(r);
		assert_int_equal(k->op, rows[i].op);
		assert_int_equal(k->dst, 1);
		assert_int_equal(k->raddr, 0x1111);
		assert_int_equal(k->rkey, 0x2222);
		assert_int_equal(r->g[0].n_ops, 1);
		assert_int_equal(r->g[0].shadows.n, rows[i].local);
		if (rows[i].local)
			assert_int_equal(k->len, 200);
		else
			assert_int_equal(k->a, VA + 100);
		if (i == 0) {
			assert_true(k->notify);
			assert_true(k->imm == (33 | 1ull << 32 | 1ull << 48));
		}
		if (i == 3)
			assert_int_equal(k->b, 200);
		end(r, k, rows[i].ev, 99);
		assert_int_equal(rig_events(c), i + 1);
		assert_int_equal(rig_event(c, i)->kind, rows[i].ev);
		assert_int_equal(rig_event(c, i)->result, 99);
		assert_int_equal(rig_event(c, i)->ctx, 6);
		assert_int_equal(r->count[rows[i].count], 1);
		if (rows[i].bytes < AGENT_C_N)
			assert_int_equal(r->count[rows[i].bytes], 200);
		/* no shadow is kept, because the run is timed */
		assert_int_equal(r->g[0].shadows.n, 0);
		assert_int_equal(r->g[0].n_ops, 0);
	}
	rig_do(c, (struct att_cmd){ .kind = ATT_C_PUT,
				    .dst = WEFT_ATT_ADDR(1, 0),
				    .buf = VA,
				    .len = 8 });
	assert_false(rig_last(r)->notify);
	end(r, rig_last(r), WEFT_EV_PUT, 0);
}

static void ranges_beyond_the_address_space_are_refused(struct serve_rig *r)
{
	static const struct {
		uint64_t buf, len;
		int status;
	} rows[] = {
		{ 0, (1ull << 46) - 1, -ENOMEM }, /* too long for a shadow */
		{ 0, 1ull << 46, -EFAULT },	  { (1ull << 56) - 1, 8, 0 },
		{ 1ull << 56, 8, -EFAULT },	  { UINT64_MAX, 8, -EFAULT },
		{ 0, UINT64_MAX, -EFAULT },	  { 4096, 0, 0 },
	};
	struct att_client *c = &r->c[0];

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint32_t before = rig_events(c), calls = r->calls;

		rig_do(c, remote(ATT_C_PUT, rows[i].buf, rows[i].len));
		if (!rows[i].status)
			end(r, rig_last(r), WEFT_EV_PUT, 0);
		assert_int_equal(rig_events(c), before + 1);
		assert_int_equal(rig_event(c, before)->status, rows[i].status);
		assert_int_equal(r->calls - calls, !rows[i].status);
		assert_int_equal(r->g[0].n_ops, 0);
		assert_int_equal(r->g[0].shadows.n, 0);
		rig_do(c, (struct att_cmd){ .kind = ATT_C_MR_REG,
					    .buf = rows[i].buf,
					    .len = rows[i].len,
					    .ctx = i + 1 });
		assert_int_equal(c->reply_seq, i + 1);
		assert_int_equal(c->seg->reply.status, rows[i].status);
		if (!rows[i].status)
			assert_int_equal(rig_last(r)->op, RIG_REG);
		att_shadows_drop(&r->g[0]);
		assert_int_equal(r->g[0].mrs.n, !rows[i].status);
		r->g[0].mrs.n = 0;
		while (r->g[0].shadows.n) /* of regions */
			att_shadow_put(&r->g[0], r->g[0].shadows.at[0].p);
	}
}

static void refused_operation_leaves_no_shadow_behind(struct serve_rig *r)
{
	struct att_client *c = &r->c[0];

	/* no process has this slot */
	for (int k = ATT_C_PUT; k <= ATT_C_CSWAP; k++) {
		struct att_cmd cmd = remote((enum att_cmd_kind)k, VA, 8);

		cmd.dst = WEFT_ATT_ADDR(1, 5);
		rig_do(c, cmd);
		assert_int_equal(
			rig_event(c, (uint32_t)(k - ATT_C_PUT))->status,
			-EPIPE);
	}
	assert_int_equal(r->calls, 0);
	/* the endpoint refuses the operation */
	r->answer[RIG_GET] = -EMSGSIZE;
	rig_do(c, remote(ATT_C_GET, VA, 8));
	assert_int_equal(rig_event(c, 4)->status, -EMSGSIZE);
	assert_int_equal(rig_event(c, 4)->src, WEFT_ATT_ADDR(1, 1));
	assert_int_equal(r->g[0].n_ops, 0);
	assert_int_equal(r->g[0].shadows.n, 0);
	r->answer[RIG_GET] = -EAGAIN;
	assert_false(rig_do(c, remote(ATT_C_GET, VA, 8)));
	assert_int_equal(r->g[0].n_ops, 0);
	assert_int_equal(rig_events(c), 5);
}

static struct att_cmd region(enum att_cmd_kind kind, uint64_t ctx)
{
	return (struct att_cmd){
		.kind = (uint8_t)kind, .buf = VA, .len = 4096, .ctx = ctx
	};
}

static struct att_cmd dereg(uint64_t key, uint64_t addr, uint64_t len,
			    uint64_t ctx)
{
	return (struct att_cmd){ .kind = ATT_C_MR_DEREG,
				 .rkey = key,
				 .raddr = addr,
				 .len = len,
				 .ctx = ctx };
}

static void only_its_owner_deregisters_a_region(struct serve_rig *r)
{
	struct att_client *c = &r->c[0];
	struct att_reply *p = &c->seg->reply;
	uint64_t addr;

	assert_true(rig_do(c, region(ATT_C_MR_REG, 1)));
	assert_int_equal(p->status, 0);
	assert_int_equal(p->a, 77);
	addr = p->b;
	assert_ptr_equal(rig_last(r)->buf, (void *)(uintptr_t)addr);
	assert_int_equal(r->g[0].mrs.n, 1);
	assert_int_equal(r->g[0].shadows.n, 1);
	assert_true(rig_do(&r->c[1], region(ATT_C_MR_REG, 1)));
	/* refuses a region that does not exist, and a region of another
	 * client */
	rig_do(c, dereg(78, addr, 4096, 2));
	assert_int_equal(p->status, -EINVAL);
	rig_do(c, dereg(77, addr + 1, 4096, 3));
	assert_int_equal(p->status, -EINVAL);
	rig_do(c, dereg(77, addr, 4095, 4));
	assert_int_equal(p->status, -EINVAL);
	rig_do(&r->c[1], dereg(77, addr, 4096, 5));
	assert_int_equal(r->c[1].seg->reply.status, -EINVAL);
	assert_int_equal(r->g[0].mrs.n, 2);
	/* an operation in flight needs the region */
	r->answer[RIG_DEREG] = -EAGAIN;
	assert_false(rig_do(c, dereg(77, addr, 4096, 6)));
	assert_int_equal(r->g[0].mrs.n, 2);
	r->answer[RIG_DEREG] = 0;
	assert_true(rig_serve(c));
	assert_int_equal(p->status, 0);
	assert_int_equal(c->reply_seq, 6);
	assert_int_equal(r->g[0].mrs.n, 1);
	assert_ptr_equal(r->g[0].mrs.at[0].c, &r->c[1]);
	assert_int_equal(r->g[0].shadows.n, 1);
	assert_ptr_equal(r->g[0].shadows.at[0].c, &r->c[1]);
	/* A command waits if the endpoint has no room now, and fails if it can
	 * never have room. */
	r->answer[RIG_REG] = -EAGAIN;
	assert_false(rig_do(c, region(ATT_C_MR_REG, 7)));
	assert_int_equal(r->g[0].shadows.n, 1);
	r->answer[RIG_REG] = -ENOMEM;
	assert_true(rig_serve(c));
	assert_int_equal(p->status, -ENOMEM);
	assert_int_equal(r->g[0].shadows.n, 1);
	assert_int_equal(r->g[0].mrs.n, 1);
}

static void
regions_of_a_gone_client_end_after_their_last_use(struct serve_rig *r)
{
	struct att_client *c = &r->c[0];

	rig_do(c, region(ATT_C_MR_REG, 1));
	rig_do(&r->c[1], region(ATT_C_MR_REG, 1));
	rig_do(c, region(ATT_C_MR_REG, 2));
	att_gone(c);
	assert_true(r->g[0].mourns);
	assert_int_equal(r->g[0].graves.n, 1);
	r->answer[RIG_DEREG] = -EAGAIN;
	att_release_after_exit(&r->g[0]);
	assert_true(r->g[0].mourns);
	assert_int_equal(r->g[0].graves.n, 0);
	assert_int_equal(r->g[0].mrs.n, 3);
	r->answer[RIG_DEREG] = 0;
	att_release_after_exit(&r->g[0]);
	assert_false(r->g[0].mourns);
	assert_int_equal(r->g[0].mrs.n, 1);
	assert_int_equal(r->g[0].shadows.n, 1);
	assert_ptr_equal(r->g[0].shadows.at[0].c, &r->c[1]);
}

/* ---- shadows ---- */

static void untimed_agent_keeps_the_youngest_64_shadows(struct serve_rig *r)
{
	struct att_agent *g = &r->g[0];
	struct att_client *c = &r->c[0];
	uint8_t *p = att_shadow_get(g, c, VA, 4096), *q;

	/* a range inside a shadow uses that shadow */
	assert_ptr_equal(att_shadow_get(g, c, VA + 10, 100), p + 10);
	assert_ptr_equal(att_shadow_get(g, c, VA + 4095, 1), p + 4095);
	assert_ptr_equal(att_shadow_get(g, c, VA, 0), p);
	assert_int_equal(g->shadows.n, 1);
	assert_int_equal(g->shadows.at[0].users, 4);
	/* not inside */
	q = att_shadow_get(g, c, VA + 10, 4087);
	assert_ptr_not_equal(q, p + 10);
	assert_int_equal(g->shadows.n, 2);
	att_shadow_get(g, &r->c[1], VA, 10);
	assert_int_equal(g->shadows.n, 3);
	att_shadow_put(g, p + 4095); /* any address in a shadow names it */
	assert_int_equal(g->shadows.at[0].users, 3);
	att_shadow_put(g, q + 4086);
	assert_int_equal(g->shadows.at[1].users, 0);
	for (int i = 0; i < 3; i++)
		att_shadow_put(g, p);
	assert_int_equal(g->shadows.n, 3);
	for (uint64_t i = 0; i < 62; i++) /* 64 shadows together with q and p */
		att_shadow_put(g, att_shadow_get(g, c, VA + 8192 + i, 1 + i));
	assert_int_equal(g->shadows.n, 65);
	/* uses p again, so that q is the shadow used least recently and is
	 * dropped when the next shadow is made */
	att_shadow_put(g, att_shadow_get(g, c, VA + 20, 10));
	att_shadow_put(g, att_shadow_get(g, c, VA + 12000, 100));
	assert_int_equal(g->shadows.n, 65);
	for (size_t i = 0; i < g->shadows.n; i++)
		assert_false(g->shadows.at[i].p == q);
	/* Shadows in use, and those of other clients, stay when a client
	 * ends. */
	c->gone = true;
	att_shadow_get(g, c, VA, 4096);
	att_shadows_drop(g);
	assert_int_equal(g->shadows.n, 2);
	for (int i = 0; i < 2; i++)
		assert_int_equal(g->shadows.at[i].users, 1);
}

/* A timed agent drops unused shadows, because results must not depend on the
 * address of a buffer. */
static void timed_agent_drops_unused_shadows(struct serve_rig *r)
{
	struct att_agent *g = &r->g[0];
	struct att_client *c = &r->c[0];
	uint8_t *p = att_shadow_get(g, c, VA, 4096);

	assert_ptr_equal(att_shadow_get(g, c, VA, 100), p);
	assert_ptr_not_equal(att_shadow_get(g, c, VA + 64, 100), p + 64);
	assert_int_equal(g->shadows.n, 2);
	att_shadow_put(g, p);
	assert_int_equal(g->shadows.n, 2);
	att_shadow_put(g, p);
	assert_int_equal(g->shadows.n, 1);
	assert_int_equal(g->shadows.at[0].va, VA + 64);
}

#define TEST(fn, clock)                                                        \
	static void test_##fn(void **state)                                    \
	{                                                                      \
		rig_run(fn, clock);                                            \
	}

TEST(remote_operations_pass_their_arguments_on, WEFT_CLOCK_FIXED)
TEST(ranges_beyond_the_address_space_are_refused, WEFT_CLOCK_FIXED)
TEST(refused_operation_leaves_no_shadow_behind, WEFT_CLOCK_FIXED)
TEST(only_its_owner_deregisters_a_region, WEFT_CLOCK_FIXED)
TEST(regions_of_a_gone_client_end_after_their_last_use, WEFT_CLOCK_FIXED)
TEST(untimed_agent_keeps_the_youngest_64_shadows, WEFT_CLOCK_NONE)
TEST(timed_agent_drops_unused_shadows, WEFT_CLOCK_CPU)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_remote_operations_pass_their_arguments_on),
		cmocka_unit_test(
			test_ranges_beyond_the_address_space_are_refused),
		cmocka_unit_test(
			test_refused_operation_leaves_no_shadow_behind),
		cmocka_unit_test(test_only_its_owner_deregisters_a_region),
		cmocka_unit_test(
			test_regions_of_a_gone_client_end_after_their_last_use),
		cmocka_unit_test(
			test_untimed_agent_keeps_the_youngest_64_shadows),
		cmocka_unit_test(test_timed_agent_drops_unused_shadows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
