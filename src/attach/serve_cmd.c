/* SPDX-License-Identifier: Apache-2.0 */
/* Executes commands of a client on the node's endpoint, on behalf of its
 * agent. */
#include <errno.h>

#include "attach/serve_internal.h"
#include "weft/prog.h"

/* ---- buffers and operations ---- */

void *att_stage(struct att_agent *g, size_t len, uint32_t *class_p)
{
	uint32_t k = 8;
	weft_phys_t phys;

	while (((size_t)1 << k) < len)
		k++;
	*class_p = k;
	if (g->stage[k].n)
		return vec_pop(&g->stage[k]);
	return weft_mem_alloc(g->h, (size_t)1 << k, 64, &phys);
}

struct att_op *att_op_new(struct att_agent *g, struct att_client *c,
			  const struct att_cmd *cmd)
{
	struct att_op *op = g->free_ops;

	if (op) {
		g->free_ops = op->next;
	} else {
		op = weft_host_calloc(g->h, 1, sizeof(*op));
		if (!op)
			abort();
	}
	g->n_ops++;
	*op = (struct att_op){ .c = c,
			       .ctx = cmd->ctx,
			       .quiet = cmd->flags & ATT_F_QUIET };
	return op;
}

void att_op_free(struct att_agent *g, struct att_op *op)
{
	if (op->stage)
		vec_push(&g->stage[op->class_], op->stage);
	if (op->shadow)
		att_shadow_put(g, op->shadow);
	op->next = g->free_ops;
	g->free_ops = op;
	g->n_ops--;
}

void att_op_event(struct att_agent *g, const struct weft_ep_event *ev)
{
	struct att_op *op = ev->ctx;
	struct att_event e = { .kind = (uint32_t)ev->kind,
			       .status = ev->status,
			       .ctx = op->ctx,
			       .len = ev->len,
			       .result = ev->result };

	if (!op->quiet || ev->kind == WEFT_EV_ERROR)
		att_push(op->c, &e);
	att_op_free(g, op);
}

/* ---- messages ---- */

static int cmd_send(struct att_agent *g, struct att_client *c,
		    const struct att_cmd *cmd)
{
	struct att_client *to = att_find(c->srv, cmd->dst);
	struct att_op *op;
	int ret;

	if (cmd->len > c->view.max_msg ||
	    cmd->buf > c->view.tx_bytes - cmd->len) {
		att_break(c, "a message lies outside of its segment");
		return 0;
	}
	if (!to)
		return -EPIPE;
	if (to->g == g || c->aside) {
		/* The message is copied if the receiver is on this node. It is
		 * also copied if the sender is outside the measured part, where
		 * messages take no time. */
		struct att_event e = { .kind = WEFT_EV_RECV,
				       .src = WEFT_ATT_ADDR(c->node, c->slot),
				       .imm = cmd->imm,
				       .len = cmd->len };
		struct att_event sent = { .kind = WEFT_EV_SENT,
					  .ctx = cmd->ctx,
					  .len = cmd->len };
		struct att_msg m = { .own = malloc(cmd->len + 1) };

		if (!m.own)
			abort();
		if (c->aside)
			memcpy(m.own, c->view.tx + cmd->buf, cmd->len);
		else
			weft_host_copy(g->h, m.own, c->view.tx + cmd->buf,
				       cmd->len);
		att_push_msg(to, &e, &m);
		if (to->g != g)
			atomic_fetch_add(&c->srv->news,
					 1); /* makes the gate call the
					      * receiver's agent */
		if (!(cmd->flags & ATT_F_QUIET))
			att_push(c, &sent);
		return 0;
	}
	op = att_op_new(g, c, cmd);
	op->stage = att_stage(g, cmd->len, &op->class_);
	if (op->stage)
		memcpy(op->stage, c->view.tx + cmd->buf, cmd->len);
	ret = !op->stage ? -EAGAIN
			 : weft_ep_send(g->ep, to->node, op->stage, cmd->len,
					att_imm(cmd->imm, to, c), op);
	if (ret)
		att_op_free(g, op);
	return ret;
}

static int cmd_release(struct att_agent *g, struct att_client *c,
		       const struct att_cmd *cmd)
{
	if (c->leaving)
		return 0;
	if (cmd->buf >= ATT_RX_SLOTS || !c->msg[cmd->buf].used) {
		att_break(c, "it releases what it has not got");
		return 0;
	}
	c->free_slot[c->n_free++] = (uint32_t)cmd->buf;
	att_msg_done(g, &c->msg[cmd->buf]);
	return 0;
}

/* ---- the rest ---- */

static int cmd_now(struct att_agent *g, struct att_client *c,
		   const struct att_cmd *cmd)
{
	struct att_reply r = { .a = weft_host_now(g->h) };

	att_reply(c, &r, cmd->ctx);
	return 0;
}

static int cmd_bye(struct att_agent *g, struct att_client *c,
		   const struct att_cmd *cmd)
{
	struct att_reply r = { 0 };

	att_reply(c, &r, cmd->ctx);
	att_show(c);
	c->left = true;
	att_gone(c);
	return 0;
}

static const struct {
	att_cmd_fn fn;
	uint32_t count, bytes; /* counters of a kind of command; AGENT_C_N:
				* none */
} cmds[ATT_C_KINDS] = {
	[ATT_C_NOP] = { NULL, AGENT_C_N, AGENT_C_N },
	[ATT_C_SEND] = { cmd_send, AGENT_C_SENDS, AGENT_C_SEND_BYTES },
	[ATT_C_PUT] = { att_cmd_remote, AGENT_C_PUTS, AGENT_C_PUT_BYTES },
	[ATT_C_GET] = { att_cmd_remote, AGENT_C_GETS, AGENT_C_GET_BYTES },
	[ATT_C_FADD] = { att_cmd_remote, AGENT_C_ATOMICS, AGENT_C_N },
	[ATT_C_CSWAP] = { att_cmd_remote, AGENT_C_ATOMICS, AGENT_C_N },
	[ATT_C_RELEASE] = { cmd_release, AGENT_C_N, AGENT_C_N },
	[ATT_C_MR_REG] = { att_cmd_mr_reg, AGENT_C_N, AGENT_C_N },
	[ATT_C_MR_DEREG] = { att_cmd_mr_dereg, AGENT_C_N, AGENT_C_N },
	[ATT_C_NOW] = { cmd_now, AGENT_C_N, AGENT_C_N },
	[ATT_C_BEGIN] = { att_cmd_begin, AGENT_C_N, AGENT_C_N },
	[ATT_C_END] = { att_cmd_end, AGENT_C_N, AGENT_C_N },
	[ATT_C_ASIDE] = { att_cmd_aside, AGENT_C_N, AGENT_C_N },
	[ATT_C_EPOCH] = { att_cmd_epoch, AGENT_C_N, AGENT_C_N },
	[ATT_C_OVER] = { att_cmd_over, AGENT_C_N, AGENT_C_N },
	[ATT_C_BYE] = { cmd_bye, AGENT_C_N, AGENT_C_N },
};

/* ---- in order ---- */

bool att_has_cmds(const struct att_client *c)
{
	return !c->gone && atomic_load(&c->seg->cmd_tail) != c->cmd_head;
}

/* Copies a command into private memory and checks it. All decisions use the
 * copy, because the client can change the ring at any time. */
static bool cmd_read(struct att_client *c, uint32_t i, struct att_cmd *cmd)
{
	*cmd = c->view.cmd[i % ATT_CMDS];
	/* keeps the compiler from reading the ring again */
	__asm__ volatile("" ::: "memory");
	if (weft_now(c->g->prog) >= ATT_TIME_MAX)
		att_break(c, "simulated time is at its end");
	else if (cmd->kind >= ATT_C_KINDS || cmd->busy > ATT_BUSY_MAX)
		att_break(c, "no such command");
	return !c->gone;
}

static bool is_mark(const struct att_cmd *cmd)
{
	return cmd->kind == ATT_C_BEGIN || cmd->kind == ATT_C_END;
}

static void cmd_done(struct att_client *c, const struct att_cmd *cmd, int ret)
{
	struct weft_comp *p = c->g->prog;

	if (is_mark(cmd))
		return;
	if (ret && !c->gone) {
		struct att_event e = { .kind = WEFT_EV_ERROR,
				       .status = ret,
				       .src = cmd->dst,
				       .ctx = cmd->ctx };

		att_push(c, &e);
	}
	if (!ret)
		att_stat_cmd(c, cmd);
	if (c->aside)
		return;
	if (cmds[cmd->kind].count < AGENT_C_N)
		weft_count(p, cmds[cmd->kind].count, 1);
	if (cmds[cmd->kind].bytes < AGENT_C_N)
		weft_count(p, cmds[cmd->kind].bytes, cmd->len);
	weft_count(p, AGENT_C_COMMANDS, 1);
	c->srv->measure.sum.commands++;
}

static int cmd_run(struct att_agent *g, struct att_client *c,
		   const struct att_cmd *cmd)
{
	if (!c->charged && cmd->busy && !c->aside) {
		weft_host_cpu(g->h, cmd->busy);
		c->srv->measure.sum.software += cmd->busy;
		c->srv->measure.sum.cost_call = g->cost_call;
	}
	c->charged = true;
	/* The client was detached while its processor time passed, or the
	 * command has no effect besides that time. */
	if (c->gone || cmd->kind == ATT_C_NOP)
		return 0;
	/* Counts a causality violation, because simulated time passed while the
	 * gate counted the client as waiting. */
	if (c->resumed && !is_mark(cmd)) {
		c->resumed = false;
		if (!c->measured.over && !c->aside) {
			c->measured.violations++;
			c->srv->measure.sum.violations++;
			weft_count(g->prog, AGENT_C_VIOLATIONS, 1);
		}
	}
	return cmds[cmd->kind].fn(g, c, cmd);
}

/* Returns true for releases and for calls whose reply the client awaits. */
static bool serve_cmd_overtakes(uint32_t kind)
{
	return kind == ATT_C_RELEASE || kind == ATT_C_NOW ||
	       kind == ATT_C_MR_REG || kind == ATT_C_MR_DEREG;
}

static void serve_released(struct att_agent *g, struct att_client *c)
{
	uint64_t bits = atomic_exchange(&c->seg->released, 0);
	struct att_cmd cmd = { .kind = ATT_C_RELEASE };

	for (; bits && !c->gone; bits &= bits - 1) {
		cmd.buf = (uint64_t)__builtin_ctzll(bits);
		cmd_release(g, c, &cmd);
	}
}

/* Executes later commands that must not wait for the first one. A release may
 * free the room that the first command waits for. A call whose reply the client
 * awaits must not be delayed, because two clients that send to each other and
 * then ask for the time would never read messages again. */
static void serve_early(struct att_agent *g, struct att_client *c,
			uint32_t tail)
{
	struct att_cmd cmd;

	for (uint32_t i = c->cmd_head + 1; i != tail && !c->gone; i++) {
		uint32_t kind = c->view.cmd[i % ATT_CMDS].kind;

		if (kind == ATT_C_BYE && !c->leaving) {
			/* A leaving client reads no more messages, but the
			 * messages that it has sent must leave first. Messages
			 * to this client are dropped, so that two leaving
			 * clients do not wait for each other. */
			serve_released(g, c);
			c->leaving = true;
			if (!c->gone)
				att_drop_msgs(g, c);
		}
		if (c->early[i % ATT_CMDS] || !serve_cmd_overtakes(kind))
			continue;
		if (!cmd_read(c, i, &cmd) || !serve_cmd_overtakes(cmd.kind))
			continue;
		if (cmds[cmd.kind].fn(g, c, &cmd) != -EAGAIN)
			c->early[i % ATT_CMDS] = true;
	}
}

bool att_serve(struct att_agent *g, struct att_client *c)
{
	uint32_t tail = atomic_load(&c->seg->cmd_tail);
	struct att_cmd cmd;
	int ret;

	c->far.epoch++; /* makes cached reads of the client's memory invalid */
	if (tail - c->cmd_head > ATT_CMDS)
		att_break(c, "its command ring makes no sense");
	while (!c->gone && c->cmd_head != tail) {
		bool *early = &c->early[c->cmd_head % ATT_CMDS];

		if (!*early && !cmd_read(c, c->cmd_head, &cmd))
			return false;
		ret = *early ? 0 : cmd_run(g, c, &cmd);
		if (ret == -EAGAIN && !c->gone) {
			weft_count(g->prog, AGENT_C_STALLS, !c->aside);
			serve_early(g, c, tail);
			serve_released(g, c);
			return true;
		}
		if (!*early)
			cmd_done(c, &cmd, ret);
		*early = c->charged = false;
		if (c->gone)
			return false;
		c->cmd_head++;
		if (!att_timed(c->srv))
			atomic_store(&c->seg->cmd_head, c->cmd_head);
	}
	if (!c->gone && atomic_load(&c->seg->released))
		serve_released(g, c);
	return false;
}
