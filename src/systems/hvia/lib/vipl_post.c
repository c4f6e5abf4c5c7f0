/* SPDX-License-Identifier: Apache-2.0 */
/* VIPL calls that post, poll and wait (hvia.md 2.3, 6.1, 6.4). */
#include <errno.h>

#include "host/times.h"
#include "systems/hvia/lib/vipl_internal.h"

/* ---- queues ---- */

uint32_t vipl_status_op(const VIP_DESCRIPTOR *d, uint32_t dir)
{
	static const uint32_t op[] = { VIP_STATUS_OP_SEND,
				       VIP_STATUS_OP_RDMA_WRITE,
				       VIP_STATUS_OP_RDMA_READ,
				       VIP_STATUS_OP_SEND };

	return dir == HVIA_Q_RECV ? VIP_STATUS_OP_RECEIVE
				  : op[d->CS.Control & VIP_CONTROL_OP_MASK];
}

static void complete_flushed(VIP_DESCRIPTOR *d, uint32_t dir)
{
	if (!(*vipl_status(d) & VIP_STATUS_DONE))
		d->CS.Status = vipl_status_op(d, dir) | VIP_STATUS_DONE |
			       VIP_STATUS_DESC_FLUSHED_ERROR;
}

/* Returns true if the VI is in error and the card has completed or dropped all
 * descriptors. */
static bool vipl_post_dead(struct vipl_vi *v)
{
	if (v->k->state != HVIA_VI_ERROR || !v->k->flushed)
		return false;
	if (v->rel)
		vipl_rel_last(v);
	return true;
}

bool vipl_queue_done(struct vipl_queue *q)
{
	struct vipl_posted *p = vipl_queue_at(q, q->first);

	if (!p)
		return false;
	if (vipl_post_dead(q->vi))
		complete_flushed(p->d, q->dir);
	return *vipl_status(p->d) & VIP_STATUS_DONE;
}

VIP_DESCRIPTOR *vipl_queue_take(struct vipl_queue *q)
{
	struct vipl_posted *p = vipl_queue_at(q, q->first);

	if (q->cq) {
		vipl_cq_collect(q->cq);
		/* clears the number of the completion, which the card has
		 * stored in this field */
		p->d->CS.Reserved = 0;
	}
	q->first++;
	q->n--;
	/* The program may take a descriptor before the reliable service has
	 * completed it. Such a descriptor is not open any more. */
	q->open -= p->open;
	q->entered -= q->entered != 0;
	return p->d;
}

void vipl_queue_flush(struct vipl_queue *q)
{
	for (uint32_t i = 0; i < q->n; i++)
		complete_flushed(vipl_queue_at(q, q->first + i)->d, q->dir);
}

bool vipl_queue_link(struct vipl_queue *q, VIP_DESCRIPTOR *d,
		     VIP_MEM_HANDLE handle)
{
	uint32_t size = q->size ? 2 * q->size : VIPL_RING;
	struct weft_host *h = weft_host_self();
	struct vipl_posted *last, *ring;

	if (q->n == q->size) { /* the ring is full and has to grow */
		ring = weft_host_calloc(h, size, sizeof(*ring));
		if (!ring)
			return false;
		for (uint64_t i = q->first; i != q->first + q->n; i++)
			ring[i % size] = *vipl_queue_at(q, i);
		weft_host_free(h, q->ring);
		q->ring = ring;
		q->size = size;
	}
	last = vipl_queue_at(q, q->first + q->n - 1);
	if (last) {
		last->d->CS.NextHandle = handle;
		last->d->CS.Next.AddressBits = (uintptr_t)d;
	}
	q->ring[(q->first + q->n++) % q->size] =
		(struct vipl_posted){ .d = d, .handle = handle };
	return true;
}

/* ---- posting ---- */

/* Returns the token of a descriptor: its offset in its region. A descriptor
 * outside its region gets an offset that no region reaches, so that the card
 * reports the error (5.6). */
uint64_t vipl_token(const struct vipl_nic *n, const VIP_DESCRIPTOR *d,
		    VIP_MEM_HANDLE handle)
{
	uint64_t at = (uintptr_t)d, va, len;
	uint32_t ptag;

	if (!hvia_region(n->client, handle, &va, &len, &ptag) || at < va ||
	    at - va >= len)
		return hvia_token(handle, UINT32_MAX & ~(HVIA_DESC_ALIGN - 1u));
	return hvia_token(handle, (uint32_t)(at - hvia_desc_base(va)));
}

void vipl_ring(struct weft_host *h, struct vipl_vi *v, uint32_t dir,
	       const VIP_DESCRIPTOR *d, VIP_MEM_HANDLE handle)
{
	weft_io_store64(h, &v->k->page,
			dir == HVIA_Q_SEND ? HVIA_DB_SEND : HVIA_DB_RECV,
			vipl_token(v->nic, d, handle));
	weft_host_cpu(h, weft_host_time(h, T_vipl_post_store));
}

/* Posts a descriptor. Other threads cannot post after a link and before its
 * doorbell. Therefore doorbells of a queue reach the card in the order of the
 * links. */
static VIP_RETURN vipl_post_post(struct vipl_vi *v, uint32_t dir,
				 VIP_DESCRIPTOR *d, VIP_MEM_HANDLE handle)
{
	struct weft_host *h = weft_host_self();
	struct vipl_queue *q;
	bool linked;

	if (!v || !d)
		return VIP_INVALID_PARAMETER;
	q = &v->q[dir];
	while (q->posting)
		weft_host_cpu(h, weft_host_time(h, T_vipl_poll));
	q->posting = true;
	d->CS.Next.AddressBits = 0;
	d->CS.NextHandle = 0;
	d->CS.Status = 0;
	weft_host_cpu(h, weft_host_time(h, T_vipl_post));
	linked = vipl_queue_link(q, d, handle);
	if (linked && v->rel)
		vipl_rel_posted(v, dir);
	else if (linked && vipl_post_dead(v))
		complete_flushed(d, dir);
	else if (linked)
		vipl_ring(h, v, dir, d, handle);
	q->posting = false;
	if (q->notify || (q->cq && q->cq->notify))
		vipl_serve(v->nic);
	return linked ? VIP_SUCCESS : VIP_ERROR_RESOURCE;
}

VIP_RETURN VipPostSend(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR *DescriptorPtr,
		       VIP_MEM_HANDLE MemoryHandle)
{
	struct vipl_vi *v = vipl_vi_enter(ViHandle);

	return vipl_vi_leave(
		v, vipl_post_post(v, HVIA_Q_SEND, DescriptorPtr, MemoryHandle));
}

VIP_RETURN VipPostRecv(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR *DescriptorPtr,
		       VIP_MEM_HANDLE MemoryHandle)
{
	struct vipl_vi *v = vipl_vi_enter(ViHandle);

	return vipl_vi_leave(
		v, vipl_post_post(v, HVIA_Q_RECV, DescriptorPtr, MemoryHandle));
}

/* ---- polling ---- */

static VIP_RETURN vipl_post_taken(struct weft_host *h, struct vipl_queue *q,
				  weft_time_t cost, VIP_DESCRIPTOR **d_p)
{
	*d_p = vipl_queue_take(q);
	weft_host_cpu(h, cost);
	return *vipl_status(*d_p) & VIP_STATUS_ERROR_MASK ? VIP_DESCRIPTOR_ERROR
							  : VIP_SUCCESS;
}

static VIP_RETURN vipl_post_done(struct vipl_vi *v, uint32_t dir,
				 weft_time_t cost, VIP_DESCRIPTOR **d_p)
{
	struct weft_host *h = weft_host_self();

	if (!v || !d_p)
		return VIP_INVALID_PARAMETER;
	*d_p = NULL;
	weft_host_cpu(h, cost);
	if (!v->q[dir].n)
		return VIP_DESCRIPTOR_ERROR;
	if (!vipl_queue_done(&v->q[dir]))
		return VIP_NOT_DONE;
	return vipl_post_taken(h, &v->q[dir],
			       weft_host_time(h, T_vipl_found) +
				       weft_host_time(h, T_vipl_take),
			       d_p);
}

VIP_RETURN vipl_done(VIP_VI_HANDLE vi, uint32_t dir, weft_time_t cost,
		     VIP_DESCRIPTOR **d_p)
{
	struct vipl_vi *v = vipl_vi_enter(vi);

	return vipl_vi_leave(v, vipl_post_done(v, dir, cost, d_p));
}

static weft_time_t poll_cost(void)
{
	return weft_host_time(weft_host_self(), T_vipl_poll);
}

VIP_RETURN VipSendDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR **DescriptorPtr)
{
	return vipl_done(ViHandle, HVIA_Q_SEND, poll_cost(), DescriptorPtr);
}

VIP_RETURN VipRecvDone(VIP_VI_HANDLE ViHandle, VIP_DESCRIPTOR **DescriptorPtr)
{
	return vipl_done(ViHandle, HVIA_Q_RECV, poll_cost(), DescriptorPtr);
}

/* ---- waiting ---- */

int vipl_sleep(struct vipl_nic *n, struct vipl_queue **q, uint32_t count,
	       uint32_t seen, weft_time_t deadline)
{
	struct hvia_armed armed[count + 1];
	struct hvia_arm_arg a = { .client = n->client,
				  .armed = armed,
				  .seen = seen,
				  .deadline = deadline };

	for (uint32_t i = 0; i < count; i++) {
		const struct vipl_posted *p =
			vipl_queue_at(q[i], q[i]->first + q[i]->entered);

		if (p && (!q[i]->vi->rel || q[i]->raw))
			armed[a.n++] = (struct hvia_armed){
				.vi = q[i]->vi->vi,
				.queue = q[i]->dir,
				.status = vipl_status(p->d)
			};
	}
	return weft_drv_call(weft_host_self(), n->dev, HVIA_CALL_ARM, &a);
}

static VIP_RETURN vipl_post_await(struct vipl_vi *v, uint32_t dir,
				  VIP_ULONG timeout, VIP_DESCRIPTOR **d_p)
{
	struct weft_host *h = weft_host_self();
	weft_time_t deadline;
	VIP_RETURN ret;

	/* refused, because the completions go to the completion queue */
	if (v && v->q[dir].cq)
		return VIP_ERROR_RESOURCE;
	ret = vipl_post_done(v, dir, poll_cost(), d_p);
	if (ret != VIP_NOT_DONE)
		return ret;
	deadline = vipl_deadline(h, timeout);
	for (;;) {
		struct vipl_queue *q = &v->q[dir];
		uint32_t seen = v->nic->client->event;
		bool late;

		if (!q->n)
			return VIP_DESCRIPTOR_ERROR;
		if (vipl_queue_done(q))
			return vipl_post_taken(
				h, q, weft_host_time(h, T_vipl_take), d_p);
		late = vipl_sleep(v->nic, &q, 1, seen, deadline) == -ETIMEDOUT;
		if (late && !vipl_queue_done(q))
			return VIP_TIMEOUT;
	}
}

VIP_RETURN VipSendWait(VIP_VI_HANDLE ViHandle, VIP_ULONG TimeOut,
		       VIP_DESCRIPTOR **DescriptorPtr)
{
	struct vipl_vi *v = vipl_vi_enter(ViHandle);

	return vipl_vi_leave(
		v, vipl_post_await(v, HVIA_Q_SEND, TimeOut, DescriptorPtr));
}

VIP_RETURN VipRecvWait(VIP_VI_HANDLE ViHandle, VIP_ULONG TimeOut,
		       VIP_DESCRIPTOR **DescriptorPtr)
{
	struct vipl_vi *v = vipl_vi_enter(ViHandle);

	return vipl_vi_leave(
		v, vipl_post_await(v, HVIA_Q_RECV, TimeOut, DescriptorPtr));
}
