/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel agent: manages VIs and their entries on the card, puts clients to
 * sleep until a completion, and handles asynchronous errors (hvia.md 3.4, 5.1,
 * 5.6, 6.4). */
#include "systems/hvia/lib/agent.h"

#include <errno.h>
#include <string.h>

#include "host/times.h"

/* ---- the card's table ---- */

static void agent_vi_arm(struct hvia_agent *a, struct weft_host *h,
			 const struct hvia_armed *q)
{
	agent_store(a, h, hvia_vi_entry(q->vi, HVIA_VI_3),
		    q->queue == HVIA_Q_SEND ? HVIA_VIF_IRQ_SEND
					    : HVIA_VIF_IRQ_RECV);
}

void agent_vi_write(struct hvia_agent *a, struct weft_host *h, uint32_t vi)
{
	const struct hvia_kvi *k = &a->vi[vi];
	uint32_t seq = (uint32_t)k->id & 0xffff;

	agent_store(a, h, hvia_vi_entry(vi, HVIA_VI_1),
		    hvia_vi_1(k->remote.mac, seq, seq));
	agent_store(a, h, hvia_vi_entry(vi, HVIA_VI_2), k->attr.max_transfer);
	agent_store(a, h, hvia_vi_entry(vi, HVIA_VI_0),
		    hvia_vi_0(k->state,
			      (k->attr.rdma_write ? HVIA_VIF_RDMA_WRITE : 0) |
				      (k->attr.stamped ? HVIA_VIF_STAMP : 0),
			      k->attr.ptag, k->remote_vi, k->remote.mac));
	/* Arms the queues of sleeping clients again, because the store of
	 * HVIA_VI_0 has cleared their interrupt flags. */
	for (size_t i = 0; i < a->waits.n; i++)
		if (a->waits.at[i].q.vi == vi)
			agent_vi_arm(a, h, &a->waits.at[i].q);
}

void agent_vi_flush(struct hvia_agent *a, struct weft_host *h, uint32_t vi)
{
	uint64_t at = hvia_vi_entry(vi, HVIA_VI_3);

	agent_store(a, h, at, HVIA_VIF_FLUSH);
	while (agent_load(a, h, at) & HVIA_VIF_FLUSH)
		host_nap(h, T_hvia_turn);
}

/* ---- creating and destroying ---- */

int agent_vi(struct hvia_agent *a, struct weft_host *h, void *arg)
{
	struct hvia_vi_arg *v = arg;
	struct weft_proc *p = weft_proc_self(h);
	uint32_t i = 0;

	if (!agent_ptag_valid(a, p, v->attr.ptag))
		return -EPERM;
	while (i < HVIA_VIS && a->vi[i].proc)
		i++;
	if (i == HVIA_VIS)
		return -ENOSPC;
	a->vi[i] = (struct hvia_kvi){ .proc = p,
				      .client = v->client,
				      .attr = v->attr };
	if (!weft_proc_map(h, p, a->dev, HVIA_BAR_DOORBELL,
			   (uint64_t)i * HVIA_PAGE, HVIA_PAGE, WEFT_UC,
			   &a->vi[i].page)) {
		a->vi[i].proc = NULL;
		return -ENOMEM;
	}
	agent_vi_write(a, h, i);
	v->vi = i;
	v->k = &a->vi[i];
	return 0;
}

static void vi_drop(struct hvia_agent *a, struct weft_host *h, uint32_t vi)
{
	struct hvia_kvi *k = &a->vi[vi];

	agent_vi_flush(a, h, vi);
	weft_proc_unmap(h, k->proc, &k->page);
	for (size_t i = a->waits.n; i--;)
		if (a->waits.at[i].q.vi == vi)
			a->waits.at[i] = vec_pop(&a->waits);
	k->proc = NULL;
}

int agent_vi_free(struct hvia_agent *a, struct weft_host *h, void *arg)
{
	struct hvia_vi_arg *v = arg;

	if (a->vi[v->vi].state != HVIA_VI_IDLE)
		return -EBUSY;
	vi_drop(a, h, v->vi);
	return 0;
}

int agent_vi_set(struct hvia_agent *a, struct weft_host *h, void *arg)
{
	struct hvia_vi_arg *v = arg;
	struct hvia_kvi *k = &a->vi[v->vi];

	if (k->state != HVIA_VI_IDLE)
		return -EBUSY;
	if (!agent_ptag_valid(a, weft_proc_self(h), v->attr.ptag))
		return -EPERM;
	k->attr = v->attr;
	agent_vi_write(a, h, v->vi);
	return 0;
}

void agent_vi_gone(struct hvia_agent *a, struct weft_host *h,
		   struct weft_proc *p)
{
	for (uint32_t i = 0; i < HVIA_VIS; i++)
		if (a->vi[i].proc == p) {
			agent_conn_end(a, h, i);
			vi_drop(a, h, i);
		}
}

/* ---- sleeping for completions ---- */

/* Sets the interrupt flags of the queues. Returns true if none of them has a
 * completion. A load follows the stores, so that any later completion raises
 * the interrupt. */
static bool arm_all(struct hvia_agent *a, struct weft_host *h,
		    const struct hvia_arm_arg *w)
{
	for (uint32_t i = 0; i < w->n; i++) {
		struct hvia_wait e = { w->client, w->armed[i], false };

		if (e.q.vi >= HVIA_VIS || a->vi[e.q.vi].proc != w->client->proc)
			/* the queue does not belong to the caller, or its VI
			 * was destroyed */
			continue;
		vec_push(&a->waits, e);
		agent_vi_arm(a, h, &e.q);
	}
	if (w->n)
		agent_load(a, h, HVIA_STATUS);
	for (uint32_t i = 0; i < w->n; i++)
		if (*w->armed[i].status & HVIA_ST_DONE)
			return false;
	return true;
}

int agent_arm(struct hvia_agent *a, struct weft_host *h, void *arg)
{
	struct hvia_arm_arg *w = arg;
	bool slept = arm_all(a, h, w), hit = true;

	if (slept)
		hit = weft_host_wait(h, &w->client->event, w->seen,
				     w->deadline);
	for (uint32_t i = 0; i < w->n; i++)
		for (size_t k = a->waits.n; k--;) {
			const struct hvia_armed *q = &a->waits.at[k].q;

			if (a->waits.at[k].client == w->client &&
			    q->vi == w->armed[i].vi &&
			    q->queue == w->armed[i].queue &&
			    q->status == w->armed[i].status) {
				a->waits.at[k] = vec_pop(&a->waits);
				break;
			}
		}
	weft_host_nap(
		h, weft_host_time(h, T_hvia_return) +
			   (slept && hit ? weft_host_time(h, T_hvia_miss) : 0));
	return hit ? 0 : -ETIMEDOUT;
}

/* ---- asynchronous errors ---- */

void hvia_client_tell(struct weft_host *h, struct hvia_client *c,
		      const struct hvia_async *e)
{
	c->err[c->err_in++ % HVIA_ERR_QUEUE_LEN] = *e;
	if (c->err_in - c->err_out > HVIA_ERR_QUEUE_LEN)
		c->err_out++;
	hvia_notify(h, &c->event);
}

void agent_error(struct hvia_agent *a, struct weft_host *h,
		 const struct hvia_async *e)
{
	struct hvia_kvi *k = &a->vi[e->vi % HVIA_VIS];

	if (!k->proc)
		return;
	/* Errors that a VI does not survive (5.1). */
	if (e->code == HVIA_ERROR_POST_DESC ||
	    e->code == HVIA_ERROR_CONN_LOST ||
	    e->code == HVIA_ERROR_VI_OVERRUN ||
	    e->code == HVIA_ERROR_COMP_PROT ||
	    e->code == HVIA_ERROR_CATASTROPHIC) {
		k->state = HVIA_VI_ERROR;
		agent_vi_write(a, h, e->vi);
		agent_vi_flush(a, h, e->vi);
		/* Waits for doorbells in flight, so that the card flushes their
		 * descriptors too. */
		host_nap(h, T_hvia_flush_settle);
		k->flushed = true;
		hvia_notify(h, &k->event);
	}
	hvia_client_tell(h, k->client, e);
}

void agent_errors(struct hvia_agent *a, struct weft_host *h)
{
	uint64_t e;

	agent_lock(a, h);
	while ((e = agent_load(a, h, HVIA_ERR_POP)) & HVIA_ERR_VALID) {
		struct hvia_async err = { .code = HVIA_ERR_CODE(e),
					  .vi = HVIA_ERR_VI(e),
					  .queue = HVIA_ERR_QUEUE(e) };

		err.token = agent_load(a, h, HVIA_ERR_INFO);
		if (e & HVIA_ERR_OVERFLOW) {
			struct hvia_async lost = {
				.code = HVIA_ERROR_CATASTROPHIC, .vi = HVIA_VIS
			};

			for (struct hvia_client *c = a->clients; c; c = c->next)
				hvia_client_tell(h, c, &lost);
		}
		agent_error(a, h, &err);
	}
	agent_unlock(a);
}
