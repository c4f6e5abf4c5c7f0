/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint of an attached process. Each call of the endpoint becomes a command,
 * and the agent answers with events. */
#include <errno.h>
#include <string.h>

#include "attach/client.h"

/* ---- commands ---- */

void att_look_head(struct weft_att *a)
{
	uint32_t head =
		atomic_load_explicit(&a->seg->cmd_head, memory_order_acquire);

	for (; a->head != head; a->head++)
		a->tx_head = a->tx_end[a->head & (a->seg->n_cmds - 1)];
}

struct att_cmd *att_cmd_new(struct weft_att *a, enum att_cmd_kind kind)
{
	struct att_cmd *c;
	uint32_t i;

	att_woken(a);
	if (atomic_load(&a->n_marks))
		att_marks_put(a);
	i = a->tail & (a->seg->n_cmds - 1);
	c = &a->cmd[i];
	if (a->tail - a->head == a->seg->n_cmds)
		att_look_head(a);
	if (a->tail - a->head == a->seg->n_cmds) {
		atomic_store(&a->seg->want_room, 1);
		return NULL;
	}
	*c = (struct att_cmd){ .kind = (uint8_t)kind, .busy = a->busy };
	a->tx_end[i] = a->tx_tail;
	return c;
}

/* Resets the counts of empty polls and the length of the next sleep, after the
 * process has posted a command or received an event. */
static void att_not_idle(struct weft_att *a)
{
	a->empty = 0;
	a->vain = 0;
	a->idle_us = 0;
	a->glanced = 0;
}

void att_post(struct weft_att *a)
{
	const struct att_cmd *c = &a->cmd[a->tail & (a->seg->n_cmds - 1)];

	a->busy = 0;
	if (atomic_load(&a->n_marks))
		att_marks_after(a);
	/* NOP, RELEASE, BEGIN and END take no time, or a time that the process
	 * knows. After these commands the process can read the clock without a
	 * reply. */
	a->posted |= c->kind != ATT_C_NOP && c->kind != ATT_C_RELEASE &&
		     c->kind != ATT_C_BEGIN && c->kind != ATT_C_END;
	if (c->kind != ATT_C_NOP || c->busy) {
		att_not_idle(a);
	}
	if (atomic_load(&a->seg->state) != ATT_RUN)
		att_resume(a);
	atomic_store(&a->seg->cmd_tail, ++a->tail);
	if (a->info.clock == WEFT_CLOCK_NONE &&
	    !atomic_exchange(&a->seg->told, 1))
		att_bell_ring(a->bell);
}

int att_call(struct weft_att *a, const struct att_cmd *cmd,
	     struct att_reply *r_p)
{
	struct att_cmd *c;
	uint64_t busy;

	while (!(c = att_cmd_new(a, cmd->kind)) && !weft_att_gone(a))
		att_hand_over(a, 1000000000);
	if (!c)
		return -EIO;
	busy = c->busy;
	*c = *cmd;
	c->busy = busy;
	c->ctx = ++a->seq;
	att_post(a);
	while (atomic_load(&a->seg->reply_seq) != a->seq) {
		if (weft_att_gone(a))
			return -EIO;
		att_hand_over(a, 1000000000);
	}
	*r_p = a->seg->reply;
	return r_p->status;
}

/* ---- messages ---- */

bool att_tx_new(struct weft_att *a, size_t len, uint64_t *off_p)
{
	uint64_t size = a->seg->tx_bytes, at = a->tx_tail % size;
	uint64_t need = (len + 63) & ~63ul;
	uint64_t skip = at + need > size ? size - at : 0;

	if (a->tx_tail + skip + need - a->tx_head > size)
		att_look_head(a);
	if (a->tail == a->head)
		a->tx_head = a->tx_tail;
	if (a->tx_tail + skip + need - a->tx_head > size) {
		atomic_store(&a->seg->want_room, 1);
		return false;
	}
	a->tx_tail += skip + need;
	*off_p = skip ? 0 : at;
	return true;
}

static int att_send(struct weft_att *a, const struct weft_ep_op *op)
{
	struct att_cmd *c;
	uint64_t off = 0;

	if (op->len > a->info.max_msg)
		return -EMSGSIZE;
	att_cpu_charge(a);
	if (a->tail - a->head == a->seg->n_cmds)
		att_look_head(a);
	if (a->tail - a->head == a->seg->n_cmds ||
	    (op->len && !att_tx_new(a, op->len, &off))) {
		atomic_store(&a->seg->want_room, 1);
		return -EAGAIN;
	}
	if (op->len)
		memcpy(a->tx + off, op->buf, op->len);
	c = att_cmd_new(a, ATT_C_SEND);
	c->flags = op->ctx ? 0 : ATT_F_QUIET;
	c->dst = op->dst;
	c->ctx = (uintptr_t)op->ctx;
	c->buf = off;
	c->len = op->len;
	c->imm = (uint32_t)op->imm;
	att_post(a);
	return 0;
}

/* ---- remote memory ---- */

static int att_remote(struct weft_att *a, const struct weft_ep_op *op)
{
	static const enum att_cmd_kind kinds[] = {
		[WEFT_EP_PUT] = ATT_C_PUT,
		[WEFT_EP_GET] = ATT_C_GET,
		[WEFT_EP_FADD] = ATT_C_FADD,
		[WEFT_EP_CSWAP] = ATT_C_CSWAP,
	};
	struct att_cmd *c;

	att_cpu_charge(a);
	c = att_cmd_new(a, kinds[op->code]);
	if (!c)
		return -EAGAIN;
	c->dst = op->dst;
	c->ctx = (uintptr_t)op->ctx;
	c->raddr = op->raddr;
	c->rkey = op->rkey;
	switch (c->kind) {
	case ATT_C_PUT:
		c->flags = (uint8_t)((op->ctx ? 0 : ATT_F_QUIET) |
				     (op->notify ? ATT_F_NOTIFY : 0));
		c->buf = (uintptr_t)op->buf;
		c->len = op->len;
		c->imm = (uint32_t)op->imm;
		break;
	case ATT_C_GET:
		c->buf = (uintptr_t)op->into;
		c->len = op->len;
		break;
	case ATT_C_FADD:
		c->buf = op->operand;
		break;
	case ATT_C_CSWAP:
		c->buf = op->operand;
		c->len = op->desired;
		break;
	}
	att_post(a);
	return 0;
}

static int att_ep_post(struct weft_ep *ep, const struct weft_ep_op *op)
{
	bool imm = op->code == WEFT_EP_MSG || op->code == WEFT_EP_PUT;
	struct weft_att *a = (struct weft_att *)ep;

	if (weft_att_gone(a))
		return -EIO;
	if (imm && op->imm > UINT32_MAX)
		return -EINVAL;
	switch (op->code) {
	case WEFT_EP_MSG:
		return att_send(a, op);
	case WEFT_EP_PUT:
	case WEFT_EP_GET:
	case WEFT_EP_FADD:
	case WEFT_EP_CSWAP:
		return att_remote(a, op);
	}
	return -EOPNOTSUPP;
}

static int att_mr_reg(struct weft_ep *ep, void *p, size_t len,
		      struct weft_ep_mr *mr_p)
{
	struct att_cmd c = { .kind = ATT_C_MR_REG,
			     .buf = (uintptr_t)p,
			     .len = len };
	struct weft_att *a = (struct weft_att *)ep;
	struct att_reply r;
	int ret;

	if (weft_att_gone(a))
		return -EIO;
	att_cpu_charge(a);
	ret = att_call(a, &c, &r);
	if (!ret)
		*mr_p = (struct weft_ep_mr){ .key = r.a,
					     .addr = r.b,
					     .len = len };
	return ret;
}

static int att_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr)
{
	struct att_cmd c = { .kind = ATT_C_MR_DEREG,
			     .raddr = mr->addr,
			     .rkey = mr->key,
			     .len = mr->len };
	struct weft_att *a = (struct weft_att *)ep;
	struct att_reply r;

	if (weft_att_gone(a))
		return -EIO;
	att_cpu_charge(a);
	return att_call(a, &c, &r);
}

/* ---- events ---- */

static int att_poll(struct weft_ep *ep, struct weft_ep_event *ev, int max)
{
	struct weft_att *a = (struct weft_att *)ep;
	uint32_t tail, mask;
	int n = 0;

	if (a->gone || att_blind(a))
		return 0;
	att_woken(a);
	mask = a->seg->n_events - 1;
	tail = atomic_load_explicit(&a->seg->ev_tail, memory_order_acquire);
	for (; n < max && a->ev_head != tail; a->ev_head++, n++) {
		const struct att_event *e = &a->ev[a->ev_head & mask];

		ev[n] = (struct weft_ep_event){
			.kind = (enum weft_ep_kind)e->kind,
			.status = e->status,
			.src = e->src,
			.imm = e->imm,
			.data = e->kind == WEFT_EV_RECV ? a->rx + e->data
							: NULL,
			.len = e->len,
			.result = e->result,
			.ctx = (void *)(uintptr_t)e->ctx,
		};
	}
	if (!n)
		return 0;
	atomic_store_explicit(&a->seg->ev_head, a->ev_head,
			      memory_order_release);
	att_not_idle(a);
	return n;
}

static void att_release(struct weft_ep *ep, const struct weft_ep_event *ev)
{
	struct weft_att *a = (struct weft_att *)ep;
	struct att_cmd *c;
	uint64_t slot;

	if (ev->kind != WEFT_EV_RECV || weft_att_gone(a))
		return;
	slot = (uint64_t)((const uint8_t *)ev->data - a->rx) / a->seg->rx_slot;
	c = att_cmd_new(a, ATT_C_RELEASE);
	if (!c) { /* the ring may be full of commands that wait for this release
		   */
		atomic_fetch_or(&a->seg->released, 1ull << slot);
		return;
	}
	c->buf = slot;
	att_post(a);
}

static int att_wait(struct weft_ep *ep, weft_time_t deadline)
{
	struct weft_att *a = (struct weft_att *)ep;

	while (!att_has_event(a)) {
		if (weft_att_gone(a))
			return -EIO;
		att_cpu_charge(a);
		att_flush(a);
		if (atomic_load(&a->seg->now) + a->ahead >= deadline &&
		    !a->posted)
			return -ETIMEDOUT;
		/* Rings the bell for a new deadline, because the agent knows
		 * only the deadline from the start of the client's wait. */
		if (atomic_exchange(&a->seg->deadline, deadline) != deadline &&
		    a->naps)
			att_bell_ring(a->bell);
		att_hand_over(a, 1000000000);
	}
	return 0;
}

static void att_close(struct weft_ep *ep)
{
	(void)ep; /* Does nothing, because the attachment owns the endpoint. */
}

const struct weft_ep_ops att_ep_ops = {
	.close = att_close,
	.mr_reg = att_mr_reg,
	.mr_dereg = att_mr_dereg,
	.post = att_ep_post,
	.poll = att_poll,
	.release = att_release,
	.wait = att_wait,
};
