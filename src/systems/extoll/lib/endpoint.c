/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over EXTOLL: user calls, events, waiting.  See
 * endpoint.h. */
#include <errno.h>

#include "systems/extoll/lib/endpoint.h"

/* ---- operations ---- */

void extoll_ep_list_init(struct extoll_ep_list *l)
{
	l->head = NULL;
	l->tail = &l->head;
}

void extoll_ep_list_push(struct extoll_ep_list *l, struct extoll_ep_op *op)
{
	op->next = NULL;
	*l->tail = op;
	l->tail = &op->next;
}

struct extoll_ep_op *extoll_ep_list_pop(struct extoll_ep_list *l)
{
	struct extoll_ep_op *op = l->head;

	l->head = op->next;
	if (!l->head)
		l->tail = &l->head;
	return op;
}

/* Every operation leaves an event: there is a place for those of all that are
 * under way beside the half of the ring that the peers' puts may fill. */
struct extoll_ep_op *extoll_ep_op_new(struct extoll_ep *e, uint32_t dst,
				      void *ctx, enum weft_ep_kind event)
{
	struct extoll_ep_op *op = e->free_ops;

	if (!op || e->ev_tail - e->ev_head >= e->ev_size / 2)
		return NULL;
	e->free_ops = op->next;
	*op = (struct extoll_ep_op){ .dst = dst,
				     .id = (uint32_t)(op - e->ops),
				     .used = true,
				     .ctx = ctx,
				     .event = event };
	return op;
}

void extoll_ep_event(struct extoll_ep *e, const struct weft_ep_event *ev)
{
	e->ev[e->ev_tail++ % e->ev_size] = *ev;
}

void extoll_ep_complete(struct extoll_ep *e, struct extoll_ep_op *op)
{
	struct weft_ep_event ev = { .kind = op->status ? WEFT_EV_ERROR
						       : op->event,
				    .status = op->status,
				    .src = op->dst,
				    .imm = op->imm,
				    .len = op->len,
				    .result = op->result,
				    .ctx = op->ctx };

	extoll_ep_event(e, &ev);
	extoll_ep_reg_put(op->reg);
	if (op->stage)
		op->stage->busy = false;
	op->used = op->waiting = false;
	op->next = e->free_ops;
	e->free_ops = op;
}

static void extoll_ep_progress(struct extoll_ep *e)
{
	extoll_ep_progress_rx(e);
	extoll_ep_progress_rma(e);
	extoll_ep_progress_tx(e);
	extoll_ep_return_credits(e);
}

static int extoll_ep_submit(struct extoll_ep *e, struct extoll_ep_list *to,
			    struct extoll_ep_op *op)
{
	weft_host_cpu(e->h, EXTOLL_EP_CALL_COST);
	extoll_ep_list_push(to, op);
	if (to == &e->rma_todo)
		extoll_ep_progress_rma(e);
	else
		extoll_ep_progress_tx(e);
	return 0;
}

/* ---- user calls ---- */

static int extoll_ep_send(struct weft_ep *ep, uint32_t dst, const void *buf,
			  size_t len, uint64_t imm, void *ctx)
{
	struct extoll_ep *e = extoll_ep_of(ep);
	struct extoll_ep_op *op;

	if (dst >= e->n)
		return -EINVAL;
	if (len > ep->info.max_msg)
		return -EMSGSIZE;
	op = extoll_ep_op_new(e, dst, ctx, WEFT_EV_SENT);
	if (!op)
		return -EAGAIN;
	op->buf = buf;
	op->len = len;
	op->imm = imm;
	return extoll_ep_submit(e, &e->peer[dst].todo, op);
}

static int extoll_ep_put(struct weft_ep *ep, uint32_t dst, const void *buf,
			 size_t len, uint64_t raddr, uint64_t rkey, bool notify,
			 uint64_t imm, void *ctx)
{
	struct extoll_ep *e = extoll_ep_of(ep);
	struct extoll_ep_op *op;

	if (dst >= e->n || !extoll_ep_key_covers(rkey, raddr, len))
		return -EINVAL;
	op = extoll_ep_op_new(e, dst, ctx, WEFT_EV_PUT);
	if (!op)
		return -EAGAIN;
	op->buf = buf;
	op->len = len;
	op->raddr = raddr;
	op->notify = notify;
	op->imm = imm;
	return extoll_ep_submit(e, &e->rma_todo, op);
}

static int extoll_ep_get(struct weft_ep *ep, uint32_t dst, void *buf,
			 size_t len, uint64_t raddr, uint64_t rkey, void *ctx)
{
	struct extoll_ep *e = extoll_ep_of(ep);
	struct extoll_ep_op *op;

	if (dst >= e->n || !extoll_ep_key_covers(rkey, raddr, len))
		return -EINVAL;
	op = extoll_ep_op_new(e, dst, ctx, WEFT_EV_GET);
	if (!op)
		return -EAGAIN;
	op->get = true;
	op->buf = op->into = buf;
	op->len = len;
	op->raddr = raddr;
	return extoll_ep_submit(e, &e->rma_todo, op);
}

static int extoll_ep_atomic_op(struct extoll_ep *e, uint32_t dst,
			       const struct extoll_ep_atomic *a, void *ctx)
{
	struct extoll_ep_op *op;

	if (dst >= e->n || a->raddr % 8 ||
	    !extoll_ep_key_covers(a->rkey, a->raddr, 8))
		return -EINVAL;
	if (e->peer[dst].requests >= EXTOLL_EP_REQUESTS)
		return -EAGAIN;
	op = extoll_ep_op_new(e, dst, ctx, WEFT_EV_ATOMIC);
	if (!op)
		return -EAGAIN;
	e->peer[dst].requests++;
	op->atomic = *a;
	op->atomic.id = op->id;
	return extoll_ep_submit(e, &e->peer[dst].todo, op);
}

static int extoll_ep_fadd(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
			  uint64_t rkey, uint64_t add, void *ctx)
{
	struct extoll_ep_atomic a = { .raddr = raddr, .rkey = rkey, .a = add };

	return extoll_ep_atomic_op(extoll_ep_of(ep), dst, &a, ctx);
}

static int extoll_ep_cswap(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
			   uint64_t rkey, uint64_t expect, uint64_t desired,
			   void *ctx)
{
	struct extoll_ep_atomic a = { .raddr = raddr,
				      .rkey = rkey,
				      .a = expect,
				      .b = desired,
				      .swap = 1 };

	return extoll_ep_atomic_op(extoll_ep_of(ep), dst, &a, ctx);
}

/* ---- events and waiting ---- */

static int extoll_ep_events(struct extoll_ep *e, struct weft_ep_event *ev,
			    int max)
{
	int n = 0;

	while (n < max && e->ev_head != e->ev_tail)
		ev[n++] = e->ev[e->ev_head++ % e->ev_size];
	return n;
}

static int extoll_ep_poll(struct weft_ep *ep, struct weft_ep_event *ev, int max)
{
	struct extoll_ep *e = extoll_ep_of(ep);
	int n;

	weft_host_cpu(e->h, EXTOLL_EP_CALL_COST);
	extoll_ep_progress(e);
	n = extoll_ep_events(e, ev, max);
	return n + extoll_ep_give(e, ev + n, max - n);
}

static bool extoll_ep_news(struct extoll_ep *e)
{
	return e->ev_head != e->ev_tail || extoll_ep_rx_ready(e);
}

static bool extoll_ep_idle_wait(struct extoll_ep *e, weft_time_t deadline)
{
	if (!e->irq)
		return weft_host_poll_range(e->h, e->watch, e->watch_bytes,
					    deadline);
	velo_arm(e->velo);
	rma_noti_arm(e->rma);
	if (velo_check(e->velo) == VELO_SUCCESS || rma_noti_ready(e->rma))
		return true;
	return rma_irq_wait(e->rma, deadline);
}

static int extoll_ep_wait(struct weft_ep *ep, weft_time_t deadline)
{
	struct extoll_ep *e = extoll_ep_of(ep);

	for (;;) {
		extoll_ep_progress(e);
		if (extoll_ep_news(e))
			return 0;
		if (!extoll_ep_idle_wait(e, deadline))
			return -ETIMEDOUT;
	}
}

static int extoll_ep_post(struct weft_ep *ep, const struct weft_ep_op *op)
{
	switch (op->code) {
	case WEFT_EP_MSG:
		return extoll_ep_send(ep, op->dst, op->buf, op->len, op->imm,
				      op->ctx);
	case WEFT_EP_PUT:
		return extoll_ep_put(ep, op->dst, op->buf, op->len, op->raddr,
				     op->rkey, op->notify, op->imm, op->ctx);
	case WEFT_EP_GET:
		return extoll_ep_get(ep, op->dst, op->into, op->len, op->raddr,
				     op->rkey, op->ctx);
	case WEFT_EP_FADD:
		return extoll_ep_fadd(ep, op->dst, op->raddr, op->rkey,
				      op->operand, op->ctx);
	case WEFT_EP_CSWAP:
		return extoll_ep_cswap(ep, op->dst, op->raddr, op->rkey,
				       op->operand, op->desired, op->ctx);
	}
	return -EOPNOTSUPP;
}

const struct weft_ep_ops extoll_ep_ops = {
	.close = extoll_ep_close,
	.mr_reg = extoll_ep_mr_reg,
	.mr_dereg = extoll_ep_mr_dereg,
	.post = extoll_ep_post,
	.poll = extoll_ep_poll,
	.release = extoll_ep_release,
	.wait = extoll_ep_wait,
};
