/* SPDX-License-Identifier: Apache-2.0 */
/* Operations that wait until a counter reaches a threshold. These are calls
 * with FI_TRIGGER (fi_writemsg, fi_readmsg, and all calls of an alias with that
 * flag), and deferred work (FI_QUEUE_WORK) of sends, RMA and counters. */
#include <rdma/fi_trigger.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "provider/tx.h"

struct wfi_trig {
	TAILQ_ENTRY(wfi_trig) link;
	uint64_t threshold;
	struct wfi_ep *ep;
	struct wfi_tx t;
	struct iovec iov[WFI_IOV];
	struct fi_deferred_work *work;
};

/* ---- operations whose threshold is reached ---- */

static const struct wfi_op_type trig_type = { 0 };

static int trig_step(struct wfi_op *op)
{
	struct wfi_trig *g = op->bounce;

	/* The operation is posted like any other, and its end is counted. */
	g->t.iov = g->iov;
	if (wfi_tx_any(g->ep, &g->t) == -FI_EAGAIN)
		return wfi_op_again(op, trig_step);
	wfi_op_free(op);
	return 0;
}

void wfi_trigger(struct wfi_cntr *c)
{
	struct wfi_trig *g, *next;

	for (g = TAILQ_FIRST(&c->triggers); g; g = next) {
		struct wfi_op *op;

		next = TAILQ_NEXT(g, link);
		if (g->threshold > c->val)
			continue;
		TAILQ_REMOVE(&c->triggers, g, link);
		/* The operation is posted by a later wfi_hub_progress, because
		 * it is unknown here which locks the caller holds. */
		if (!g->ep) {
			struct fi_op_cntr *o = g->work->op.cntr;

			if (g->work->op_type == FI_OP_CNTR_SET)
				fi_cntr_set(o->cntr, o->value);
			else
				fi_cntr_add(o->cntr, o->value);
			free(g);
			continue;
		}
		op = wfi_op_new(c->dom->hub, &trig_type, g->ep, NULL);
		if (!op) {
			free(g);
			continue;
		}
		op->bounce = g; /* freed together with the operation */
		wfi_op_again(op, trig_step);
	}
}

void wfi_trigger_drop(struct wfi_cntr *c)
{
	struct wfi_trig *g;

	while ((g = TAILQ_FIRST(&c->triggers))) {
		TAILQ_REMOVE(&c->triggers, g, link);
		free(g);
	}
}

/* ---- waiting ---- */

/* Queues a call until the counter reaches the threshold. With t == NULL it
 * queues work on a counter. Returns 0 or -FI_ENOMEM. */
static int trig_wait(struct fid_cntr *fid, struct wfi_ep *ep,
		     const struct wfi_tx *t, uint64_t threshold,
		     struct fi_deferred_work *work)
{
	struct wfi_cntr *c = container_of(fid, struct wfi_cntr, fid);
	struct wfi_trig *g = calloc(1, sizeof(*g));

	if (!g)
		return -FI_ENOMEM;
	g->ep = ep;
	g->threshold = threshold;
	g->work = work;
	if (t) {
		g->t = *t;
		if (t->iovs)
			memcpy(g->iov, t->iov, t->iovs * sizeof(*t->iov));
	}
	wfi_lock(c->dom->hub);
	TAILQ_INSERT_TAIL(&c->triggers, g, link);
	wfi_trigger(c);
	wfi_unlock(c->dom->hub);
	return 0;
}

ssize_t wfi_trigger_tx(struct wfi_ep *ep, const struct wfi_tx *t)
{
	const struct fi_triggered_context *ctx = t->context;
	struct wfi_tx plain = *t;

	if (!ctx || ctx->event_type != FI_TRIGGER_THRESHOLD ||
	    t->iovs > WFI_IOV)
		return -FI_EINVAL;
	plain.flags &= ~FI_TRIGGER;
	return trig_wait(ctx->trigger.threshold.cntr, ep->base, &plain,
			 ctx->trigger.threshold.threshold, NULL);
}

/* ---- deferred work ---- */

/* Converts deferred work to the form of a call. Returns false for unsupported
 * kinds of work. */
static bool work_call(const struct fi_deferred_work *w, struct wfi_ep **ep_p,
		      struct wfi_tx *t)
{
	const struct fi_op_msg *m = w->op.msg;
	const struct fi_op_tagged *g = w->op.tagged;
	const struct fi_op_rma *r = w->op.rma;

	switch (w->op_type) {
	case FI_OP_SEND:
		*ep_p = wfi_ep_of(m->ep);
		*t = (struct wfi_tx){ .iov = m->msg.msg_iov,
				      .iovs = m->msg.iov_count,
				      .addr = m->msg.addr,
				      .data = m->msg.data,
				      .flags = m->flags,
				      .kind = FI_SEND | FI_MSG };
		break;
	case FI_OP_TSEND:
		*ep_p = wfi_ep_of(g->ep);
		*t = (struct wfi_tx){ .iov = g->msg.msg_iov,
				      .iovs = g->msg.iov_count,
				      .addr = g->msg.addr,
				      .tag = g->msg.tag,
				      .data = g->msg.data,
				      .flags = g->flags,
				      .kind = FI_SEND | FI_TAGGED };
		break;
	case FI_OP_READ:
	case FI_OP_WRITE:
		if (r->msg.rma_iov_count != 1)
			return false;
		*ep_p = wfi_ep_of(r->ep);
		*t = (struct wfi_tx){
			.iov = r->msg.msg_iov,
			.iovs = r->msg.iov_count,
			.addr = r->msg.addr,
			.data = r->msg.data,
			.raddr = r->msg.rma_iov->addr,
			.key = r->msg.rma_iov->key,
			.flags = r->flags,
			.kind = FI_RMA |
				(w->op_type == FI_OP_READ ? FI_READ : FI_WRITE),
		};
		break;
	default:
		return false;
	}
	t->inject = true; /* reports no completion, because a counter counts
			   * the end of the work */
	return t->iovs <= WFI_IOV;
}

static int work_queue(struct fi_deferred_work *w)
{
	struct wfi_ep *ep = NULL;
	struct wfi_tx t = { 0 };
	bool cntr =
		w->op_type == FI_OP_CNTR_SET || w->op_type == FI_OP_CNTR_ADD;

	if (!w->triggering_cntr || (!cntr && !work_call(w, &ep, &t)))
		return -FI_ENOSYS;
	if (w->completion_cntr)
		t.work = container_of(w->completion_cntr, struct wfi_cntr, fid);
	return trig_wait(w->triggering_cntr, ep, cntr ? NULL : &t, w->threshold,
			 w);
}

static int work_cancel(struct fi_deferred_work *w)
{
	struct wfi_cntr *c =
		container_of(w->triggering_cntr, struct wfi_cntr, fid);
	struct wfi_trig *g;

	wfi_lock(c->dom->hub);
	TAILQ_FOREACH(g, &c->triggers, link)
	if (g->work == w)
		break;
	if (g) {
		TAILQ_REMOVE(&c->triggers, g, link);
		free(g);
	}
	wfi_unlock(c->dom->hub);
	return g ? 0 : -FI_ENOENT;
}

int wfi_trigger_control(struct fid *domain, int command, void *arg)
{
	switch (command) {
	case FI_QUEUE_WORK:
		return work_queue(arg);
	case FI_CANCEL_WORK:
		return work_cancel(arg);
	default:
		return -FI_ENOSYS;
	}
}
