/* SPDX-License-Identifier: Apache-2.0 */
/* Gives devices and the endpoint's library access to the memory of clients. The
 * access goes through shadows (host/process_memory.h). */
#include <errno.h>

#include "attach/serve_internal.h"

/* Returns true if a region of an address space can have this address and
 * length. */
static bool serve_mem_sane(uint64_t va, uint64_t len)
{
	return len < (uint64_t)1 << 46 && va < (uint64_t)1 << 56;
}

/* ---- operations ---- */

static const struct {
	enum weft_ep_code code;
	bool local; /* buf and len name memory of the client */
} ops[ATT_C_KINDS] = {
	[ATT_C_PUT] = { WEFT_EP_PUT, true },
	[ATT_C_GET] = { WEFT_EP_GET, true },
	[ATT_C_FADD] = { WEFT_EP_FADD, false },
	[ATT_C_CSWAP] = { WEFT_EP_CSWAP, false },
};

int att_cmd_remote(struct att_agent *g, struct att_client *c,
		   const struct att_cmd *cmd)
{
	struct att_client *to = att_find(c->srv, cmd->dst);
	bool local = ops[cmd->kind].local;
	struct weft_ep_op o = {
		.code = ops[cmd->kind].code,
		.len = cmd->len,
		.raddr = cmd->raddr,
		.rkey = cmd->rkey,
		.notify = cmd->flags & ATT_F_NOTIFY,
		.operand = cmd->buf,
		.desired = cmd->len,
	};
	struct att_op *op;
	int ret;

	if (!to)
		return -EPIPE;
	if (local && !serve_mem_sane(cmd->buf, cmd->len))
		return -EFAULT;
	op = att_op_new(g, c, cmd);
	if (local)
		op->shadow = att_shadow_get(g, c, cmd->buf, cmd->len);
	o.dst = to->node;
	o.imm = att_imm(cmd->imm, to, c);
	o.buf = o.into = op->shadow;
	o.ctx = op;
	ret = local && !op->shadow ? -ENOMEM : weft_ep_post(g->ep, &o);
	if (ret)
		att_op_free(g, op);
	return ret;
}

/* ---- regions ---- */

int att_cmd_mr_reg(struct att_agent *g, struct att_client *c,
		   const struct att_cmd *cmd)
{
	struct att_reply r = { .status = -EFAULT };
	struct att_mr m = { .c = c };

	if (serve_mem_sane(cmd->buf, cmd->len)) {
		m.shadow = att_shadow_get(g, c, cmd->buf, cmd->len);
		r.status = m.shadow ? g->ep->ops->mr_reg(g->ep, m.shadow,
							 cmd->len, &m.mr)
				    : -ENOMEM;
	}
	if (r.status == -EAGAIN || (r.status && m.shadow))
		att_shadow_put(g, m.shadow);
	if (r.status == -EAGAIN)
		return -EAGAIN;
	if (!r.status)
		vec_push(&g->mrs, m);
	r.a = m.mr.key;
	r.b = m.mr.addr;
	att_reply(c, &r, cmd->ctx);
	return 0;
}

/* Deregisters region i. Returns 0, or -EAGAIN while an operation in flight
 * uses it. */
static int mr_drop(struct att_agent *g, size_t i)
{
	int ret = g->ep->ops->mr_dereg(g->ep, &g->mrs.at[i].mr);

	if (ret == -EAGAIN)
		return ret;
	att_shadow_put(g, g->mrs.at[i].shadow);
	g->mrs.at[i] = vec_last(&g->mrs);
	g->mrs.n--;
	return 0;
}

int att_cmd_mr_dereg(struct att_agent *g, struct att_client *c,
		     const struct att_cmd *cmd)
{
	struct att_reply r = { .status = -EINVAL };

	for (size_t i = 0; i < g->mrs.n; i++) {
		const struct att_mr *m = &g->mrs.at[i];

		if (m->c != c || m->mr.key != cmd->rkey ||
		    m->mr.addr != cmd->raddr || m->mr.len != cmd->len)
			continue;
		if (mr_drop(g, i) == -EAGAIN)
			return -EAGAIN;
		r.status = 0;
		break;
	}
	att_reply(c, &r, cmd->ctx);
	return 0;
}

void att_drop_msgs(struct att_agent *g, struct att_client *c)
{
	for (uint32_t i = 0; i < ATT_RX_SLOTS; i++)
		if (c->msg[i].used)
			att_msg_done(g, &c->msg[i]);
	while (!ring_empty(&c->late)) {
		struct att_late l = *ring_front(&c->late);

		ring_pop(&c->late);
		if (l.e.kind == WEFT_EV_RECV)
			att_msg_done(g, &l.m);
	}
}

void att_release_after_exit(struct att_agent *g)
{
	while (g->graves.n)
		att_drop_msgs(g, vec_pop(&g->graves));
	g->mourns = false;
	for (size_t i = g->mrs.n; i--;)
		if (g->mrs.at[i].c->gone)
			g->mourns |= mr_drop(g, i) != 0;
	att_shadows_drop(g);
}
