/* SPDX-License-Identifier: Apache-2.0 */
/* Calls the handlers of VIPL programs (hvia.md 5.6, 6.1). The library runs one
 * thread per open NIC for this purpose. */
#include "systems/hvia/lib/vipl_internal.h"

/* Returns the descriptor that the error's token points to, or NULL. */
static VIP_DESCRIPTOR *err_descriptor(const struct vipl_nic *n,
				      const struct hvia_async *e)
{
	uint64_t va, len, at;
	uint32_t ptag;

	if (e->code != HVIA_ERROR_POST_DESC ||
	    !hvia_region(n->client, HVIA_TOKEN_HANDLE(e->token), &va, &len,
			 &ptag))
		return NULL;
	at = hvia_desc_base(va) + HVIA_TOKEN_OFFSET(e->token);
	if (at < va || at - va >= len)
		return NULL;
	return (VIP_DESCRIPTOR *)(uintptr_t)at;
}

/* Logs an error for which the program has no handler. */
static void log_error(const struct hvia_async *e)
{
	static const char *const names[HVIA_ERRORS] = {
		[HVIA_ERROR_POST_DESC] = "POST_DESC",
		[HVIA_ERROR_CONN_LOST] = "CONN_LOST",
		[HVIA_ERROR_RECVQ_EMPTY] = "RECVQ_EMPTY",
		[HVIA_ERROR_VI_OVERRUN] = "VI_OVERRUN",
		[HVIA_ERROR_RDMAW_PROT] = "RDMAW_PROT",
		[HVIA_ERROR_RDMAW_DATA] = "RDMAW_DATA",
		[HVIA_ERROR_RDMAW_ABORT] = "RDMAW_ABORT",
		[HVIA_ERROR_RDMAR_PROT] = "RDMAR_PROT",
		[HVIA_ERROR_COMP_PROT] = "COMP_PROT",
		[HVIA_ERROR_RDMA_TRANSPORT] = "RDMA_TRANSPORT",
		[HVIA_ERROR_CATASTROPHIC] = "CATASTROPHIC",
	};
	const char *name = e->code < HVIA_ERRORS ? names[e->code] : "unknown";
	struct weft_host *h = weft_host_self();

	if (e->cq)
		weft_host_log(h, "VIP_ERROR_%s, completion queue", name);
	else if (e->vi < HVIA_VIS)
		weft_host_log(h, "VIP_ERROR_%s, VI %u, %s queue", name, e->vi,
			      e->queue == HVIA_Q_RECV ? "receive" : "send");
	else
		weft_host_log(h, "VIP_ERROR_%s", name);
}

static void call_error(struct vipl_nic *n, const struct hvia_async *e)
{
	VIP_ERROR_DESCRIPTOR d = {
		.NicHandle = n->self,
		.DescriptorPtr = err_descriptor(n, e),
		.ErrorCode = (VIP_ERROR_CODE)e->code,
	};
	struct vipl_vi *v = n->vis;

	/* an RDMA write of the remote side belongs to no local queue, therefore
	 * its operation code follows from the error */
	if (e->code == HVIA_ERROR_RDMAW_PROT ||
	    e->code == HVIA_ERROR_RDMAW_DATA ||
	    e->code == HVIA_ERROR_RDMAW_ABORT)
		d.OpCode = VIP_STATUS_OP_REMOTE_RDMA_WRITE;
	else
		d.OpCode = e->queue == HVIA_Q_RECV ? VIP_STATUS_OP_RECEIVE
						   : VIP_STATUS_OP_SEND;
	if (e->cq)
		d.ResourceCode = VIP_RESOURCE_CQ;
	else if (e->code == HVIA_ERROR_POST_DESC)
		d.ResourceCode = VIP_RESOURCE_DESCRIPTOR;
	else
		d.ResourceCode =
			e->vi < HVIA_VIS ? VIP_RESOURCE_VI : VIP_RESOURCE_NIC;
	while (v && v->vi != e->vi)
		v = v->next;
	d.ViHandle = v ? v->self : NULL;
	d.CQHandle = e->cq;
	if (n->handler)
		n->handler(n->handler_ctx, &d);
	else
		log_error(e);
}

/* ---- completions ---- */

void vipl_notify_add(struct vipl_notify **list, struct vipl_notify *n)
{
	while (*list)
		list = &(*list)->next;
	*list = n;
}

void vipl_notify_drop(struct vipl_notify **list)
{
	while (*list) {
		struct vipl_notify *n = *list;

		*list = n->next;
		weft_host_free(weft_host_self(), n);
	}
}

/* Removes and returns the oldest request before its handler runs, because the
 * handler may make a new request. */
static struct vipl_notify notify_pop(struct vipl_notify **list)
{
	struct vipl_notify *n = *list, copy = *n;

	*list = n->next;
	weft_host_free(weft_host_self(), n);
	return copy;
}

/* Runs one handler if one is due. The handler may change the lists. */
static bool serve_one(struct vipl_nic *n)
{
	struct hvia_client *client = n->client;
	struct vipl_notify r;
	struct vipl_queue *q;
	VIP_DESCRIPTOR *d;

	if (client->err_in != client->err_out) {
		struct hvia_async e =
			client->err[client->err_out++ % HVIA_ERR_QUEUE_LEN];

		call_error(n, &e);
		return true;
	}
	for (struct vipl_vi *v = n->vis; v; v = v->next)
		for (uint32_t i = 0; i < 2; i++) {
			q = &v->q[i];
			if (!q->notify || !vipl_queue_done(q))
				continue;
			r = notify_pop(&q->notify);
			d = vipl_queue_take(q);
			r.fn(r.ctx, n->self, v->self, d);
			return true;
		}
	for (struct vipl_cq *c = n->cqs; c; c = c->next)
		if (c->notify && vipl_cq_look(c, &q)) {
			r = notify_pop(&c->notify);
			r.cq_fn(r.ctx, n->self, q->vi->self,
				q->dir == HVIA_Q_RECV);
			return true;
		}
	return false;
}

static int vipl_notify_serve(struct weft_host *h, void *arg)
{
	struct vipl_nic *n = arg;
	struct hvia_client *c = n->client;

	while (!c->closed) {
		uint32_t seen = c->event, count = 0;

		if (serve_one(n))
			continue;
		struct vipl_queue *q[2 * n->n_vis + 1];

		for (struct vipl_vi *v = n->vis; v; v = v->next)
			for (uint32_t i = 0; i < 2; i++) {
				struct vipl_queue *k = &v->q[i];

				if (k->n &&
				    (k->notify || (k->cq && k->cq->notify)))
					q[count++] = k;
			}
		vipl_sleep(n, q, count, seen, WEFT_NEVER);
	}
	weft_host_cpu(h, 0);
	return 0;
}

void vipl_serve(struct vipl_nic *n)
{
	struct weft_host *h = weft_host_self();

	if (!n->served) {
		n->served = true;
		weft_thread_start(h, vipl_notify_serve, n);
	}
	hvia_notify(h, &n->client->event);
}

static VIP_RETURN vipl_notify_notify(struct vipl_vi *v, uint32_t dir,
				     VIP_PVOID ctx, VIP_VI_CALLBACK fn)
{
	struct vipl_notify *r;

	if (!v || !fn)
		return VIP_INVALID_PARAMETER;
	if (v->q[dir].cq)
		return VIP_ERROR_RESOURCE;
	r = weft_host_calloc(weft_host_self(), 1, sizeof(*r));
	if (!r)
		return VIP_ERROR_RESOURCE;
	r->ctx = ctx;
	r->fn = fn;
	vipl_notify_add(&v->q[dir].notify, r);
	vipl_serve(v->nic);
	return VIP_SUCCESS;
}

VIP_RETURN VipSendNotify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context,
			 VIP_VI_CALLBACK Callback)
{
	struct vipl_vi *v = vipl_vi_enter(ViHandle);

	return vipl_vi_leave(
		v, vipl_notify_notify(v, HVIA_Q_SEND, Context, Callback));
}

VIP_RETURN VipRecvNotify(VIP_VI_HANDLE ViHandle, VIP_PVOID Context,
			 VIP_VI_CALLBACK Callback)
{
	struct vipl_vi *v = vipl_vi_enter(ViHandle);

	return vipl_vi_leave(
		v, vipl_notify_notify(v, HVIA_Q_RECV, Context, Callback));
}
