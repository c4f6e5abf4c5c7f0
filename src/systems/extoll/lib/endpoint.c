/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over EXTOLL: user calls, events, waiting.  See
 * endpoint.h. */
#include <errno.h>

#include "systems/extoll/lib/endpoint.h"

/* ---- operations ---- */

void epx_list_init(struct epx_list *l)
{
	l->head = NULL;
	l->tail = &l->head;
}

void epx_list_push(struct epx_list *l, struct epx_op *op)
{
	op->next = NULL;
	*l->tail = op;
	l->tail = &op->next;
}

struct epx_op *epx_list_pop(struct epx_list *l)
{
	struct epx_op *op = l->head;

	l->head = op->next;
	if (!l->head)
		l->tail = &l->head;
	return op;
}

/* Every operation leaves an event: there is a place for those of all that are
 * under way beside the half of the ring that the peers' puts may fill. */
struct epx_op *epx_op_new(struct epx *e, uint32_t dst, void *ctx,
			  enum weft_ep_kind event)
{
	struct epx_op *op = e->free_ops;

	if (!op || e->ev_tail - e->ev_head >= e->ev_size / 2)
		return NULL;
	e->free_ops = op->next;
	*op = (struct epx_op){ .dst = dst,
			       .id = (uint32_t)(op - e->ops),
			       .used = true,
			       .ctx = ctx,
			       .event = event };
	return op;
}

void epx_event(struct epx *e, const struct weft_ep_event *ev)
{
	e->ev[e->ev_tail++ % e->ev_size] = *ev;
}

void epx_complete(struct epx *e, struct epx_op *op)
{
	struct weft_ep_event ev = { .kind = op->status ? WEFT_EV_ERROR
						       : op->event,
				    .status = op->status,
				    .src = op->dst,
				    .imm = op->imm,
				    .len = op->len,
				    .result = op->result,
				    .ctx = op->ctx };

	epx_event(e, &ev);
	epx_reg_put(op->reg);
	if (op->stage)
		op->stage->busy = false;
	op->used = op->waiting = false;
	op->next = e->free_ops;
	e->free_ops = op;
}

static void epx_progress(struct epx *e)
{
	epx_progress_rx(e);
	epx_progress_rma(e);
	epx_progress_tx(e);
	epx_return_credits(e);
}

static int epx_submit(struct epx *e, struct epx_list *to, struct epx_op *op)
{
	weft_host_cpu(e->h, EPX_CALL_COST);
	epx_list_push(to, op);
	if (to == &e->rma_todo)
		epx_progress_rma(e);
	else
		epx_progress_tx(e);
	return 0;
}

/* ---- user calls ---- */

static int epx_send(struct weft_ep *ep, uint32_t dst, const void *buf,
		    size_t len, uint64_t imm, void *ctx)
{
	struct epx *e = epx_of(ep);
	struct epx_op *op;

	if (dst >= e->n)
		return -EINVAL;
	if (len > ep->info.max_msg)
		return -EMSGSIZE;
	op = epx_op_new(e, dst, ctx, WEFT_EV_SENT);
	if (!op)
		return -EAGAIN;
	op->buf = buf;
	op->len = len;
	op->imm = imm;
	return epx_submit(e, &e->peer[dst].todo, op);
}

static int epx_put(struct weft_ep *ep, uint32_t dst, const void *buf,
		   size_t len, uint64_t raddr, uint64_t rkey, bool notify,
		   uint64_t imm, void *ctx)
{
	struct epx *e = epx_of(ep);
	struct epx_op *op;

	if (dst >= e->n || !epx_key_covers(rkey, raddr, len))
		return -EINVAL;
	op = epx_op_new(e, dst, ctx, WEFT_EV_PUT);
	if (!op)
		return -EAGAIN;
	op->buf = buf;
	op->len = len;
	op->raddr = raddr;
	op->notify = notify;
	op->imm = imm;
	return epx_submit(e, &e->rma_todo, op);
}

static int epx_get(struct weft_ep *ep, uint32_t dst, void *buf, size_t len,
		   uint64_t raddr, uint64_t rkey, void *ctx)
{
	struct epx *e = epx_of(ep);
	struct epx_op *op;

	if (dst >= e->n || !epx_key_covers(rkey, raddr, len))
		return -EINVAL;
	op = epx_op_new(e, dst, ctx, WEFT_EV_GET);
	if (!op)
		return -EAGAIN;
	op->get = true;
	op->buf = op->into = buf;
	op->len = len;
	op->raddr = raddr;
	return epx_submit(e, &e->rma_todo, op);
}

static int epx_atomic_op(struct epx *e, uint32_t dst,
			 const struct epx_atomic *a, void *ctx)
{
	struct epx_op *op;

	if (dst >= e->n || a->raddr % 8 ||
	    !epx_key_covers(a->rkey, a->raddr, 8))
		return -EINVAL;
	if (e->peer[dst].requests >= EPX_REQUESTS)
		return -EAGAIN;
	op = epx_op_new(e, dst, ctx, WEFT_EV_ATOMIC);
	if (!op)
		return -EAGAIN;
	e->peer[dst].requests++;
	op->atomic = *a;
	op->atomic.id = op->id;
	return epx_submit(e, &e->peer[dst].todo, op);
}

static int epx_fadd(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
		    uint64_t rkey, uint64_t add, void *ctx)
{
	struct epx_atomic a = { .raddr = raddr, .rkey = rkey, .a = add };

	return epx_atomic_op(epx_of(ep), dst, &a, ctx);
}

static int epx_cswap(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
		     uint64_t rkey, uint64_t expect, uint64_t desired,
		     void *ctx)
{
	struct epx_atomic a = { .raddr = raddr,
				.rkey = rkey,
				.a = expect,
				.b = desired,
				.swap = 1 };

	return epx_atomic_op(epx_of(ep), dst, &a, ctx);
}

/* ---- events and waiting ---- */

static int epx_events(struct epx *e, struct weft_ep_event *ev, int max)
{
	int n = 0;

	while (n < max && e->ev_head != e->ev_tail)
		ev[n++] = e->ev[e->ev_head++ % e->ev_size];
	return n;
}

static int epx_poll(struct weft_ep *ep, struct weft_ep_event *ev, int max)
{
	struct epx *e = epx_of(ep);
	int n;

	weft_host_cpu(e->h, EPX_CALL_COST);
	epx_progress(e);
	n = epx_events(e, ev, max);
	return n + epx_give(e, ev + n, max - n);
}

static bool epx_news(struct epx *e)
{
	return e->ev_head != e->ev_tail || epx_rx_ready(e);
}

static bool epx_idle_wait(struct epx *e, weft_time_t deadline)
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

static int epx_wait(struct weft_ep *ep, weft_time_t deadline)
{
	struct epx *e = epx_of(ep);

	for (;;) {
		epx_progress(e);
		if (epx_news(e))
			return 0;
		if (!epx_idle_wait(e, deadline))
			return -ETIMEDOUT;
	}
}

const struct weft_ep_ops epx_ops = {
	.close = epx_close,
	.mr_reg = epx_mr_reg,
	.mr_dereg = epx_mr_dereg,
	.send = epx_send,
	.put = epx_put,
	.get = epx_get,
	.fadd = epx_fadd,
	.cswap = epx_cswap,
	.poll = epx_poll,
	.release = epx_release,
	.wait = epx_wait,
};
