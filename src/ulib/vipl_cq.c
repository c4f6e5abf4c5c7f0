/* SPDX-License-Identifier: Apache-2.0 */
/* VIPL: completion queues in software.  The card has none (hvia.md 6.1, MaxCQ
 * 0): without the option "+cq" nothing of this is there.  A queue has no
 * entries of its own: it looks at the descriptors of its work queues, in turn,
 * and remembers how many completions of each it has told. */
#include <errno.h>

#include "ulib/vipl_priv.h"

void vipl_cq_attach(struct vipl_cq *c, struct vipl_queue *q)
{
	struct vipl_queue **pp;

	if (!c)
		return;
	for (pp = &c->queues; *pp; pp = &(*pp)->cq_next)
		;
	*pp = q;
	q->cq = c;
	c->users++;
}

void vipl_cq_detach(struct vipl_queue *q)
{
	struct vipl_cq *c = q->cq;
	struct vipl_queue **pp;

	if (!c)
		return;
	for (pp = &c->queues; *pp != q; pp = &(*pp)->cq_next)
		;
	*pp = q->cq_next;
	c->turn = NULL;
	c->users--;
	q->cq = NULL;
}

/* A completion of the queue that has not been told. */
static bool untold(struct vipl_queue *q)
{
	VIP_DESCRIPTOR *d = q->head;

	if (!vipl_queue_done(q) || q->reported >= q->n)
		return false;
	for (uint32_t i = 0; i < q->reported; i++)
		d = d->CS.Next.Descriptor;
	if (*vipl_status(d) & VIP_STATUS_DONE)
		return true;
	/* behind an error everything is flushed */
	return q->vi->k->state == HVIA_VI_ERROR && q->vi->k->flushed;
}

bool vipl_cq_look(struct vipl_cq *c, struct vipl_queue **q_p)
{
	struct vipl_queue *q = c->turn;

	for (uint32_t i = 0; i < c->users; i++) {
		q = q && q->cq_next ? q->cq_next : c->queues;
		if (!untold(q))
			continue;
		q->reported++;
		c->turn = q;
		*q_p = q;
		return true;
	}
	return false;
}

VIP_RETURN VipCreateCQ(VIP_NIC_HANDLE NicHandle, VIP_ULONG EntryCount,
		       VIP_CQ_HANDLE *CQHandle)
{
	struct vipl_nic *n = vipl_nic(NicHandle);
	struct vipl_cq *c;

	if (!n || !CQHandle)
		return VIP_INVALID_PARAMETER;
	if (!n->with_cq)
		return VIP_ERROR_NOT_SUPPORTED;
	if (!EntryCount)
		return VIP_INVALID_PARAMETER;
	if (EntryCount > VIPL_CQ_ENTRIES || n->n_cqs == VIPL_CQS)
		return VIP_ERROR_RESOURCE;
	c = weft_host_calloc(weft_host_self(), 1, sizeof(*c));
	if (!c)
		return VIP_ERROR_RESOURCE;
	*c = (struct vipl_cq){ .magic = VIPL_CQ_MAGIC,
			       .nic = n,
			       .entries = (uint32_t)EntryCount,
			       .next = n->cqs };
	n->cqs = c;
	n->n_cqs++;
	*CQHandle = c;
	return VIP_SUCCESS;
}

VIP_RETURN VipDestroyCQ(VIP_CQ_HANDLE CQHandle)
{
	struct vipl_cq *c = vipl_cq(CQHandle), **pp;

	if (!c)
		return VIP_INVALID_PARAMETER;
	if (c->users)
		return VIP_ERROR_RESOURCE;
	for (pp = &c->nic->cqs; *pp != c; pp = &(*pp)->next)
		;
	*pp = c->next;
	c->nic->n_cqs--;
	c->magic = 0;
	weft_host_free(weft_host_self(), c);
	return VIP_SUCCESS;
}

VIP_RETURN VipResizeCQ(VIP_CQ_HANDLE CQHandle, VIP_ULONG EntryCount)
{
	struct vipl_cq *c = vipl_cq(CQHandle);

	if (!c || !EntryCount)
		return VIP_INVALID_PARAMETER;
	if (EntryCount > VIPL_CQ_ENTRIES)
		return VIP_ERROR_RESOURCE;
	c->entries = (uint32_t)EntryCount;
	return VIP_SUCCESS;
}

static VIP_RETURN look(struct weft_host *h, struct vipl_cq *c,
		       weft_time_t found, VIP_VI_HANDLE *vi, VIP_BOOLEAN *recv)
{
	struct vipl_queue *q;

	if (!vipl_cq_look(c, &q))
		return VIP_NOT_DONE;
	*vi = q->vi;
	*recv = q->dir == HVIA_Q_RECV;
	weft_host_cpu(h, found);
	return VIP_SUCCESS;
}

VIP_RETURN VipCQDone(VIP_CQ_HANDLE CQHandle, VIP_VI_HANDLE *ViHandle,
		     VIP_BOOLEAN *RecvQueue)
{
	struct weft_host *h = weft_host_self();
	struct vipl_cq *c = vipl_cq(CQHandle);

	if (!c || !ViHandle || !RecvQueue)
		return VIP_INVALID_PARAMETER;
	/* a line for each work queue */
	weft_host_cpu(h, VIPL_POLL * (c->users ? c->users : 1));
	return look(h, c, VIPL_FOUND, ViHandle, RecvQueue);
}

VIP_RETURN VipCQWait(VIP_CQ_HANDLE CQHandle, VIP_ULONG Timeout,
		     VIP_VI_HANDLE *ViHandle, VIP_BOOLEAN *RecvQueue)
{
	struct weft_host *h = weft_host_self();
	struct vipl_cq *c = vipl_cq(CQHandle);
	VIP_RETURN ret = VipCQDone(CQHandle, ViHandle, RecvQueue);
	weft_time_t deadline;

	if (ret != VIP_NOT_DONE)
		return ret;
	deadline = vipl_deadline(h, Timeout);
	for (;;) {
		struct vipl_queue *all[c->users + 1];
		uint32_t seen = c->nic->client->event, n = 0;
		int late;

		ret = look(h, c, 0, ViHandle, RecvQueue);
		if (ret != VIP_NOT_DONE)
			return ret;
		for (struct vipl_queue *q = c->queues; q; q = q->cq_next)
			if (!q->reported) /* what is told is in its head */
				all[n++] = q;
		late = vipl_sleep(c->nic, all, n, seen, deadline);
		ret = look(h, c, 0, ViHandle, RecvQueue);
		if (ret != VIP_NOT_DONE)
			return ret;
		if (late == -ETIMEDOUT)
			return VIP_TIMEOUT;
	}
}

VIP_RETURN VipCQNotify(VIP_CQ_HANDLE CQHandle, VIP_PVOID Context,
		       VIP_CQ_CALLBACK Callback)
{
	struct vipl_cq *c = vipl_cq(CQHandle);
	struct vipl_notify *r;

	if (!c || !Callback)
		return VIP_INVALID_PARAMETER;
	r = weft_host_calloc(weft_host_self(), 1, sizeof(*r));
	if (!r)
		return VIP_ERROR_RESOURCE;
	r->ctx = Context;
	r->cq_fn = Callback;
	vipl_notify_add(&c->notify, r);
	vipl_serve(c->nic);
	return VIP_SUCCESS;
}
