/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over the Host Port: user calls, events, waiting.  See
 * endpoint.h. */
#include <errno.h>

#include "systems/hostport/lib/endpoint.h"

/* ---- operations ---- */

void hostport_ep_list_init(struct hostport_ep_list *l)
{
	l->head = NULL;
	l->tail = &l->head;
}

void hostport_ep_list_push(struct hostport_ep_list *l,
			   struct hostport_ep_op *op)
{
	op->next = NULL;
	*l->tail = op;
	l->tail = &op->next;
}

/* Every operation leaves an event: one half of the ring is for those under way,
 * the other for those that were not polled yet. */
static struct hostport_ep_op *hostport_ep_op_new(struct hostport_ep *e,
						 uint32_t dst,
						 enum weft_ep_kind event,
						 void *ctx)
{
	struct hostport_ep_op *op = e->free_ops;
	uint32_t id;

	if (!op || e->ev_tail - e->ev_head >= e->ev_size / 2)
		return NULL;
	e->free_ops = op->next;
	id = (uint32_t)(op - e->ops);
	*op = (struct hostport_ep_op){
		.event = event, .dst = dst, .id = id, .ctx = ctx, .used = true
	};
	return op;
}

void hostport_ep_complete(struct hostport_ep *e, struct hostport_ep_op *op)
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
	hostport_ep_reg_put(op->reg);
	if (op->stage)
		op->stage->busy = false;
	op->used = op->waiting = false;
	op->next = e->free_ops;
	e->free_ops = op;
}

static void hostport_ep_progress(struct hostport_ep *e)
{
	hostport_ep_progress_rx(e);
	hostport_ep_progress_rma(e);
	hostport_ep_progress_tx(e);
	hport_flush(e->p);
}

static int hostport_ep_submit(struct hostport_ep *e, struct hostport_ep_op *op)
{
	bool rma = op->event == WEFT_EV_PUT || op->event == WEFT_EV_GET;

	weft_host_cpu(e->h, HOSTPORT_EP_CALL_COST);
	hostport_ep_list_push(rma ? &e->rma_todo : &e->peer[op->dst].todo, op);
	if (rma)
		hostport_ep_progress_rma(e);
	hostport_ep_progress_tx(e);
	hport_flush(e->p);
	return 0;
}

/* ---- user calls ---- */

static int hostport_ep_send(struct weft_ep *ep, uint32_t dst, const void *buf,
			    size_t len, uint64_t imm, void *ctx)
{
	struct hostport_ep *e = hostport_ep_of(ep);
	struct hostport_ep_op *op;

	if (dst >= e->n)
		return -EINVAL;
	if (len > ep->info.max_msg)
		return -EMSGSIZE;
	op = hostport_ep_op_new(e, dst, WEFT_EV_SENT, ctx);
	if (!op)
		return -EAGAIN;
	op->buf = buf;
	op->len = len;
	op->imm = imm;
	return hostport_ep_submit(e, op);
}

/* A put or get; the window is checked by the NIC that has it. */
static struct hostport_ep_op *
hostport_ep_remote(struct hostport_ep *e, uint32_t dst, enum weft_ep_kind event,
		   const void *buf, size_t len, uint64_t raddr, uint64_t rkey,
		   void *ctx)
{
	struct hostport_ep_op *op = hostport_ep_op_new(e, dst, event, ctx);

	if (!op)
		return NULL;
	op->get = event == WEFT_EV_GET;
	op->buf = buf;
	op->len = len;
	op->raddr = raddr;
	op->rkey = rkey;
	return op;
}

static int hostport_ep_put(struct weft_ep *ep, uint32_t dst, const void *buf,
			   size_t len, uint64_t raddr, uint64_t rkey,
			   bool notify, uint64_t imm, void *ctx)
{
	struct hostport_ep *e = hostport_ep_of(ep);
	struct hostport_ep_op *op;

	if (dst >= e->n)
		return -EINVAL;
	op = hostport_ep_remote(e, dst, WEFT_EV_PUT, buf, len, raddr, rkey,
				ctx);
	if (!op)
		return -EAGAIN;
	op->notify = notify;
	op->imm = imm;
	return hostport_ep_submit(e, op);
}

static int hostport_ep_get(struct weft_ep *ep, uint32_t dst, void *buf,
			   size_t len, uint64_t raddr, uint64_t rkey, void *ctx)
{
	struct hostport_ep *e = hostport_ep_of(ep);
	struct hostport_ep_op *op;

	if (dst >= e->n)
		return -EINVAL;
	op = hostport_ep_remote(e, dst, WEFT_EV_GET, buf, len, raddr, rkey,
				ctx);
	return op ? hostport_ep_submit(e, op) : -EAGAIN;
}

static int hostport_ep_atomic(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
			      uint64_t rkey, const uint64_t *abs, void *ctx)
{
	struct hostport_ep *e = hostport_ep_of(ep);
	struct hostport_ep_op *op;

	if (dst >= e->n || raddr % 8)
		return -EINVAL;
	if (e->peer[dst].requests >= HOSTPORT_EP_REQUESTS)
		return -EAGAIN;
	op = hostport_ep_op_new(e, dst, WEFT_EV_ATOMIC, ctx);
	if (!op)
		return -EAGAIN;
	e->peer[dst].requests++;
	op->raddr = raddr;
	op->rkey = rkey;
	op->a = abs[0];
	op->b = abs[1];
	op->swap = abs[2];
	return hostport_ep_submit(e, op);
}

static int hostport_ep_fadd(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
			    uint64_t rkey, uint64_t add, void *ctx)
{
	return hostport_ep_atomic(ep, dst, raddr, rkey,
				  (uint64_t[]){ add, 0, 0 }, ctx);
}

static int hostport_ep_cswap(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
			     uint64_t rkey, uint64_t expect, uint64_t desired,
			     void *ctx)
{
	return hostport_ep_atomic(ep, dst, raddr, rkey,
				  (uint64_t[]){ expect, desired, 1 }, ctx);
}

/* ---- events and waiting ---- */

static int hostport_ep_poll(struct weft_ep *ep, struct weft_ep_event *ev,
			    int max)
{
	struct hostport_ep *e = hostport_ep_of(ep);
	int n = 0;

	weft_host_cpu(e->h, HOSTPORT_EP_CALL_COST);
	hostport_ep_progress(e);
	for (; n < max && e->ev_head != e->ev_tail; n++)
		ev[n] = e->ev[e->ev_head++ % e->ev_size];
	return n + hostport_ep_give(e, ev + n, max - n);
}

static int hostport_ep_wait(struct weft_ep *ep, weft_time_t deadline)
{
	struct hostport_ep *e = hostport_ep_of(ep);

	for (;;) {
		hostport_ep_progress(e);
		if (e->ev_head != e->ev_tail || hostport_ep_rx_ready(e))
			return 0;
		if (!hport_idle(e->p, e->irq, deadline))
			return -ETIMEDOUT;
	}
}

static int hostport_ep_post(struct weft_ep *ep, const struct weft_ep_op *op)
{
	switch (op->code) {
	case WEFT_EP_MSG:
		return hostport_ep_send(ep, op->dst, op->buf, op->len, op->imm,
					op->ctx);
	case WEFT_EP_PUT:
		return hostport_ep_put(ep, op->dst, op->buf, op->len, op->raddr,
				       op->rkey, op->notify, op->imm, op->ctx);
	case WEFT_EP_GET:
		return hostport_ep_get(ep, op->dst, op->into, op->len,
				       op->raddr, op->rkey, op->ctx);
	case WEFT_EP_FADD:
		return hostport_ep_fadd(ep, op->dst, op->raddr, op->rkey,
					op->operand, op->ctx);
	case WEFT_EP_CSWAP:
		return hostport_ep_cswap(ep, op->dst, op->raddr, op->rkey,
					 op->operand, op->desired, op->ctx);
	}
	return -EOPNOTSUPP;
}

const struct weft_ep_ops hostport_ep_ops = {
	.close = hostport_ep_close,
	.mr_reg = hostport_ep_mr_reg,
	.mr_dereg = hostport_ep_mr_dereg,
	.post = hostport_ep_post,
	.poll = hostport_ep_poll,
	.release = hostport_ep_release,
	.wait = hostport_ep_wait,
};
