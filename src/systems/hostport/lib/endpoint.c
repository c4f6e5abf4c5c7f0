/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over the Host Port: user calls, events, waiting.  See
 * endpoint.h. */
#include <errno.h>

#include "systems/hostport/lib/endpoint.h"

/* ---- operations ---- */

void eph_list_init(struct eph_list *l)
{
	l->head = NULL;
	l->tail = &l->head;
}

void eph_list_push(struct eph_list *l, struct eph_op *op)
{
	op->next = NULL;
	*l->tail = op;
	l->tail = &op->next;
}

/* Every operation leaves an event: one half of the ring is for those under way,
 * the other for those that nobody has looked at. */
static struct eph_op *eph_op_new(struct eph *e, uint32_t dst,
				 enum weft_ep_kind event, void *ctx)
{
	struct eph_op *op = e->free_ops;
	uint32_t id;

	if (!op || e->ev_tail - e->ev_head >= e->ev_size / 2)
		return NULL;
	e->free_ops = op->next;
	id = (uint32_t)(op - e->ops);
	*op = (struct eph_op){
		.event = event, .dst = dst, .id = id, .ctx = ctx, .used = true
	};
	return op;
}

void eph_complete(struct eph *e, struct eph_op *op)
{
	e->ev[e->ev_tail++ % e->ev_size] = (struct weft_ep_event){
		.kind = op->status ? WEFT_EV_ERROR : op->event,
		.status = op->status,
		.src = op->dst,
		.imm = op->imm,
		.len = op->len,
		.result = op->result,
		.ctx = op->ctx,
	};
	eph_reg_put(op->reg);
	if (op->stage)
		op->stage->busy = false;
	op->used = op->waiting = false;
	op->next = e->free_ops;
	e->free_ops = op;
}

static void eph_progress(struct eph *e)
{
	eph_progress_rx(e);
	eph_progress_rma(e);
	eph_progress_tx(e);
	hport_flush(e->p);
}

static int eph_submit(struct eph *e, struct eph_op *op)
{
	bool rma = op->event == WEFT_EV_PUT || op->event == WEFT_EV_GET;

	weft_host_cpu(e->h, EPH_CALL_COST);
	eph_list_push(rma ? &e->rma_todo : &e->peer[op->dst].todo, op);
	if (rma)
		eph_progress_rma(e);
	eph_progress_tx(e);
	hport_flush(e->p);
	return 0;
}

/* ---- user calls ---- */

static int eph_send(struct weft_ep *ep, uint32_t dst, const void *buf,
		    size_t len, uint64_t imm, void *ctx)
{
	struct eph *e = eph_of(ep);
	struct eph_op *op;

	if (dst >= e->n)
		return -EINVAL;
	if (len > ep->info.max_msg)
		return -EMSGSIZE;
	op = eph_op_new(e, dst, WEFT_EV_SENT, ctx);
	if (!op)
		return -EAGAIN;
	op->buf = buf;
	op->len = len;
	op->imm = imm;
	return eph_submit(e, op);
}

/* A put or get; the window is checked by the NIC that has it. */
static struct eph_op *eph_remote(struct eph *e, uint32_t dst,
				 enum weft_ep_kind event, const void *buf,
				 size_t len, uint64_t raddr, uint64_t rkey,
				 void *ctx)
{
	struct eph_op *op = eph_op_new(e, dst, event, ctx);

	if (!op)
		return NULL;
	op->get = event == WEFT_EV_GET;
	op->buf = buf;
	op->len = len;
	op->raddr = raddr;
	op->rkey = rkey;
	return op;
}

static int eph_put(struct weft_ep *ep, uint32_t dst, const void *buf,
		   size_t len, uint64_t raddr, uint64_t rkey, bool notify,
		   uint64_t imm, void *ctx)
{
	struct eph *e = eph_of(ep);
	struct eph_op *op;

	if (dst >= e->n)
		return -EINVAL;
	op = eph_remote(e, dst, WEFT_EV_PUT, buf, len, raddr, rkey, ctx);
	if (!op)
		return -EAGAIN;
	op->notify = notify;
	op->imm = imm;
	return eph_submit(e, op);
}

static int eph_get(struct weft_ep *ep, uint32_t dst, void *buf, size_t len,
		   uint64_t raddr, uint64_t rkey, void *ctx)
{
	struct eph *e = eph_of(ep);
	struct eph_op *op;

	if (dst >= e->n)
		return -EINVAL;
	op = eph_remote(e, dst, WEFT_EV_GET, buf, len, raddr, rkey, ctx);
	return op ? eph_submit(e, op) : -EAGAIN;
}

static int eph_atomic(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
		      uint64_t rkey, const uint64_t *abs, void *ctx)
{
	struct eph *e = eph_of(ep);
	struct eph_op *op;

	if (dst >= e->n || raddr % 8)
		return -EINVAL;
	if (e->peer[dst].requests >= EPH_REQUESTS)
		return -EAGAIN;
	op = eph_op_new(e, dst, WEFT_EV_ATOMIC, ctx);
	if (!op)
		return -EAGAIN;
	e->peer[dst].requests++;
	op->raddr = raddr;
	op->rkey = rkey;
	op->a = abs[0];
	op->b = abs[1];
	op->swap = abs[2];
	return eph_submit(e, op);
}

static int eph_fadd(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
		    uint64_t rkey, uint64_t add, void *ctx)
{
	return eph_atomic(ep, dst, raddr, rkey, (uint64_t[]){ add, 0, 0 }, ctx);
}

static int eph_cswap(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
		     uint64_t rkey, uint64_t expect, uint64_t desired,
		     void *ctx)
{
	return eph_atomic(ep, dst, raddr, rkey,
			  (uint64_t[]){ expect, desired, 1 }, ctx);
}

/* ---- events and waiting ---- */

static int eph_poll(struct weft_ep *ep, struct weft_ep_event *ev, int max)
{
	struct eph *e = eph_of(ep);
	int n = 0;

	weft_host_cpu(e->h, EPH_CALL_COST);
	eph_progress(e);
	for (; n < max && e->ev_head != e->ev_tail; n++)
		ev[n] = e->ev[e->ev_head++ % e->ev_size];
	return n + eph_give(e, ev + n, max - n);
}

static int eph_wait(struct weft_ep *ep, weft_time_t deadline)
{
	struct eph *e = eph_of(ep);

	for (;;) {
		eph_progress(e);
		if (e->ev_head != e->ev_tail || eph_rx_ready(e))
			return 0;
		if (!hport_idle(e->p, e->irq, deadline))
			return -ETIMEDOUT;
	}
}

const struct weft_ep_ops eph_ops = {
	.close = eph_close,
	.mr_reg = eph_mr_reg,
	.mr_dereg = eph_mr_dereg,
	.send = eph_send,
	.put = eph_put,
	.get = eph_get,
	.fadd = eph_fadd,
	.cswap = eph_cswap,
	.poll = eph_poll,
	.release = eph_release,
	.wait = eph_wait,
};
