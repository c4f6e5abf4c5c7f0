/* SPDX-License-Identifier: Apache-2.0 */
/* VIPL: completion queues in software. The card has none (hvia.md 6.1, MaxCQ
 * 0), therefore they exist only with the option "+cq". The library enters
 * completions when it polls the work queues. The entries are in the order of
 * the completions, because the card numbers the completions of VIs with a
 * completion queue. A full queue loses completions and reports that once
 * (VI_OVERRUN of the queue). */
#include <errno.h>

#include "host/times.h"
#include "systems/hvia/lib/vipl_internal.h"

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
	uint32_t n = 0;

	if (!c)
		return;
	for (pp = &c->queues; *pp != q; pp = &(*pp)->cq_next)
		;
	*pp = q->cq_next;
	c->users--;
	q->cq = NULL;
	/* removes the entries of the work queue too */
	for (uint32_t i = 0; i < c->n; i++) {
		struct vipl_queue *e = c->entry[(c->first + i) % c->size];

		if (e != q)
			c->entry[(c->first + n++) % c->size] = e;
	}
	c->n = n;
}

/* Returns the work queue with the oldest completion that has no entry yet. A
 * descriptor that the library has flushed has no number and counts as newer
 * than all others. */
static struct vipl_queue *completion_queue_oldest(struct vipl_cq *c)
{
	struct vipl_queue *best = NULL;
	uint32_t best_stamp = 0;
	bool best_last = false;

	for (struct vipl_queue *q = c->queues; q; q = q->cq_next) {
		struct vipl_posted *p = vipl_queue_at(q, q->first + q->entered);
		const struct hvia_kvi *k = q->vi->k;
		uint32_t stamp;
		bool last;

		if (!p)
			continue;
		/* In a VI in error, flushes the oldest descriptor. If the VI is
		 * reliable, this call also applies the remote side's last
		 * acknowledgement, which may complete descriptors. */
		vipl_queue_done(q);
		stamp = p->d->CS.Reserved;
		last = !stamp;
		if (!(*vipl_status(p->d) & VIP_STATUS_DONE) &&
		    (k->state != HVIA_VI_ERROR || !k->flushed))
			continue;
		if (best &&
		    (last || (!best_last && (int32_t)(stamp - best_stamp) > 0)))
			continue;
		best = q;
		best_stamp = stamp;
		best_last = last;
	}
	return best;
}

void vipl_cq_collect(struct vipl_cq *c)
{
	struct vipl_queue *q;

	while ((q = completion_queue_oldest(c))) {
		q->entered++;
		if (c->n < c->size) {
			c->entry[(c->first + c->n++) % c->size] = q;
		} else if (!c->overrun) {
			struct hvia_async e = { .code = HVIA_ERROR_VI_OVERRUN,
						.vi = HVIA_VIS,
						.cq = c->self };

			c->overrun = true;
			hvia_client_tell(weft_host_self(), c->nic->client, &e);
		}
	}
}

bool vipl_cq_look(struct vipl_cq *c, struct vipl_queue **q_p)
{
	vipl_cq_collect(c);
	if (!c->n)
		return false;
	*q_p = c->entry[c->first];
	c->first = (c->first + 1) % c->size;
	c->n--;
	c->overrun = false;
	return true;
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
	*c = (struct vipl_cq){ .nic = n,
			       .entry = weft_host_calloc(weft_host_self(),
							 EntryCount,
							 sizeof(*c->entry)),
			       .size = (uint32_t)EntryCount,
			       .next = n->cqs };
	if (c->entry)
		c->self = vipl_handle(VIPL_CQ, c, 0);
	if (!c->self) {
		weft_host_free(weft_host_self(), c->entry);
		weft_host_free(weft_host_self(), c);
		return VIP_ERROR_RESOURCE;
	}
	n->cqs = c;
	n->n_cqs++;
	*CQHandle = c->self;
	return VIP_SUCCESS;
}

VIP_RETURN VipDestroyCQ(VIP_CQ_HANDLE CQHandle)
{
	struct vipl_cq *c = vipl_cq(CQHandle), **pp;

	if (!c)
		return VIP_INVALID_PARAMETER;
	if (c->users || c->inside)
		return VIP_ERROR_RESOURCE;
	for (pp = &c->nic->cqs; *pp != c; pp = &(*pp)->next)
		;
	*pp = c->next;
	c->nic->n_cqs--;
	vipl_forget(VIPL_CQ, CQHandle);
	vipl_notify_drop(&c->notify);
	weft_host_free(weft_host_self(), c->entry);
	weft_host_free(weft_host_self(), c);
	return VIP_SUCCESS;
}

VIP_RETURN VipResizeCQ(VIP_CQ_HANDLE CQHandle, VIP_ULONG EntryCount)
{
	struct vipl_cq *c = vipl_cq(CQHandle);
	struct vipl_queue **entry;

	if (!c || !EntryCount)
		return VIP_INVALID_PARAMETER;
	vipl_cq_collect(c);
	if (EntryCount > VIPL_CQ_ENTRIES || EntryCount < c->n)
		/* fails, because a smaller queue would lose entries */
		return VIP_ERROR_RESOURCE;
	entry = weft_host_calloc(weft_host_self(), EntryCount, sizeof(*entry));
	if (!entry)
		return VIP_ERROR_RESOURCE;
	for (uint32_t i = 0; i < c->n; i++)
		entry[i] = c->entry[(c->first + i) % c->size];
	weft_host_free(weft_host_self(), c->entry);
	c->entry = entry;
	c->size = (uint32_t)EntryCount;
	c->first = 0;
	return VIP_SUCCESS;
}

static VIP_RETURN completion_queue_look(struct weft_host *h, struct vipl_cq *c,
					weft_time_t found, VIP_VI_HANDLE *vi,
					VIP_BOOLEAN *recv)
{
	struct vipl_queue *q;

	if (!vipl_cq_look(c, &q))
		return VIP_NOT_DONE;
	*vi = q->vi->self;
	*recv = q->dir == HVIA_Q_RECV;
	weft_host_cpu(h, found);
	return VIP_SUCCESS;
}

static VIP_RETURN cq_done(struct vipl_cq *c, VIP_VI_HANDLE *vi,
			  VIP_BOOLEAN *recv)
{
	struct weft_host *h = weft_host_self();

	if (!c || !vi || !recv)
		return VIP_INVALID_PARAMETER;
	/* charges a load of one cache line for each work queue */
	weft_host_cpu(h, weft_host_time(h, T_vipl_poll) *
				 (c->users ? c->users : 1));
	return completion_queue_look(h, c, weft_host_time(h, T_vipl_found), vi,
				     recv);
}

VIP_RETURN VipCQDone(VIP_CQ_HANDLE CQHandle, VIP_VI_HANDLE *ViHandle,
		     VIP_BOOLEAN *RecvQueue)
{
	struct vipl_cq *c = vipl_cq_enter(CQHandle);

	return vipl_cq_leave(c, cq_done(c, ViHandle, RecvQueue));
}

VIP_RETURN VipCQWait(VIP_CQ_HANDLE CQHandle, VIP_ULONG Timeout,
		     VIP_VI_HANDLE *ViHandle, VIP_BOOLEAN *RecvQueue)
{
	struct weft_host *h = weft_host_self();
	struct vipl_cq *c = vipl_cq_enter(CQHandle);
	VIP_RETURN ret = cq_done(c, ViHandle, RecvQueue);
	weft_time_t deadline;

	if (ret != VIP_NOT_DONE)
		return vipl_cq_leave(c, ret);
	deadline = vipl_deadline(h, Timeout);
	do {
		uint32_t seen = c->nic->client->event, n = 0;
		bool late;

		ret = completion_queue_look(h, c, 0, ViHandle, RecvQueue);
		if (ret != VIP_NOT_DONE)
			break;
		struct vipl_queue *all[c->users + 1];

		for (struct vipl_queue *q = c->queues; q; q = q->cq_next)
			all[n++] = q;
		late = vipl_sleep(c->nic, all, n, seen, deadline) == -ETIMEDOUT;
		ret = completion_queue_look(h, c, 0, ViHandle, RecvQueue);
		if (ret == VIP_NOT_DONE && late)
			ret = VIP_TIMEOUT;
	} while (ret == VIP_NOT_DONE);
	return vipl_cq_leave(c, ret);
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
