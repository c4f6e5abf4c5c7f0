/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over VIs: what arrives, see endpoint.h. */
#include <errno.h>
#include <string.h>

#include "endpoint/ep_open.h"
#include "systems/hvia/lib/endpoint.h"

static void give_back(struct hvia_ep *e, struct hvia_ep_peer *p,
		      struct hvia_ep_slot *s)
{
	p->owed++;
	hvia_ep_post(e, p, s);
}

static struct hvia_ep_op *op_of(struct hvia_ep *e, uint32_t id)
{
	return id < HVIA_EP_OPS && e->op[id].used && e->op[id].waits
		       ? &e->op[id]
		       : NULL;
}

static void endpoint_rx_answer(struct hvia_ep *e, uint32_t src, uint32_t id,
			       int32_t status, uint64_t result)
{
	struct hvia_ep_op *op = hvia_ep_op_new(e, HVIA_EP_DONE, src);

	if (!op) /* its asker waits for ever: there are as many as askers */
		return;
	op->answered = true;
	op->head.id = id;
	op->head.status = status;
	op->head.arg = result;
	hvia_ep_op_start(e, op);
}

static void got_put(struct hvia_ep *e, uint32_t src,
		    const struct hvia_ep_slot *s)
{
	const struct hvia_ep_head *h = &s->head;
	uint8_t *to = hvia_ep_at(e, h->key, h->addr, h->len);

	if (to)
		weft_host_copy(e->h, to, s->data, h->len);
	if (!(h->flags & HVIA_EP_LAST))
		return;
	if (to && h->flags & HVIA_EP_NOTIFY)
		hvia_ep_push(e, &(struct weft_ep_event){ .kind = WEFT_EV_PUT_IN,
							 .src = src,
							 .imm = h->imm });
	endpoint_rx_answer(e, src, h->id, to ? 0 : -EFAULT, 0);
}

static void got_get(struct hvia_ep *e, uint32_t src,
		    const struct hvia_ep_slot *s)
{
	const struct hvia_ep_head *h = &s->head;
	const uint8_t *from = hvia_ep_at(e, h->key, h->addr, h->arg);
	struct hvia_ep_op *op;

	if (!from) {
		endpoint_rx_answer(e, src, h->id, -EFAULT, 0);
		return;
	}
	op = hvia_ep_op_new(e, HVIA_EP_GET_DATA, src);
	if (!op)
		return;
	op->answered = true;
	op->buf = from;
	op->len = h->arg;
	op->head.id = h->id;
	hvia_ep_op_start(e, op);
}

static void got_get_data(struct hvia_ep *e, uint32_t src,
			 const struct hvia_ep_slot *s)
{
	struct hvia_ep_op *op = op_of(e, s->head.id);

	if (!op || !op->into || s->head.addr + s->head.len > op->len)
		return;
	weft_host_copy(e->h, op->into + s->head.addr, s->data, s->head.len);
	if (!(s->head.flags & HVIA_EP_LAST))
		return;
	hvia_ep_event(e, WEFT_EV_GET, 0, op->ctx, 0);
	op->used = false;
}

uint64_t hvia_ep_atomic(struct hvia_ep *e, const struct hvia_ep_head *h,
			int32_t *status_p)
{
	uint8_t *word = hvia_ep_at(e, h->key, h->addr, 8);

	*status_p = -EFAULT;
	if (!word || (uintptr_t)word % 8)
		return 0;
	*status_p = 0;
	return ep_atomic(e->h, word, h->kind == HVIA_EP_CSWAP, h->arg, h->imm);
}

static void got_atomic(struct hvia_ep *e, uint32_t src,
		       const struct hvia_ep_slot *s)
{
	int32_t status;
	uint64_t old = hvia_ep_atomic(e, &s->head, &status);

	endpoint_rx_answer(e, src, s->head.id, status, old);
}

static void got_done(struct hvia_ep *e, uint32_t src,
		     const struct hvia_ep_slot *s)
{
	struct hvia_ep_op *op = op_of(e, s->head.id);

	if (!op)
		return;
	hvia_ep_event(e, s->head.status ? WEFT_EV_ERROR : op->event,
		      s->head.status, op->ctx, s->head.arg);
	op->used = false;
}

static void got_places(struct hvia_ep *e, uint32_t src,
		       const struct hvia_ep_slot *s)
{
}

/* A message for the user stays where it is until it is released. */
static void got_message(struct hvia_ep *e, uint32_t src, struct hvia_ep_slot *s)
{
	hvia_ep_push(e, &(struct weft_ep_event){ .kind = WEFT_EV_RECV,
						 .src = src,
						 .imm = s->head.imm,
						 .data = s->data,
						 .len = s->head.len });
}

static void endpoint_rx_receive(struct hvia_ep *e, uint32_t src,
				struct hvia_ep_slot *s)
{
	static void (*const got[])(struct hvia_ep * e, uint32_t src,
				   const struct hvia_ep_slot *s) = {
		[HVIA_EP_PUT] = got_put,	   [HVIA_EP_GET] = got_get,
		[HVIA_EP_GET_DATA] = got_get_data, [HVIA_EP_FADD] = got_atomic,
		[HVIA_EP_CSWAP] = got_atomic,	   [HVIA_EP_DONE] = got_done,
		[HVIA_EP_PLACES] = got_places,
	};
	struct hvia_ep_peer *p = &e->peer[src];

	p->places += s->head.places;
	if (s->head.kind == HVIA_EP_MSG) {
		got_message(e, src, s);
		return;
	}
	if (s->head.kind && s->head.kind <= HVIA_EP_PLACES)
		got[s->head.kind](e, src, s);
	if (s->head.kind == HVIA_EP_PLACES)
		hvia_ep_post(e, p, s); /* it took no place */
	else
		give_back(e, p, s);
}

void hvia_ep_receive(struct hvia_ep *e)
{
	for (uint32_t i = 0; i < e->n; i++) {
		VIP_DESCRIPTOR *d;

		if (i == e->me)
			continue;
		while (VipSendDone(e->peer[i].vi, &d) == VIP_SUCCESS)
			e->peer[i].sending--;
		while (VipRecvDone(e->peer[i].vi, &d) == VIP_SUCCESS)
			endpoint_rx_receive(e, i, (struct hvia_ep_slot *)d);
	}
}

void hvia_ep_release(struct weft_ep *ep, const struct weft_ep_event *ev)
{
	struct hvia_ep *e = (struct hvia_ep *)ep;
	struct hvia_ep_slot *s =
		(struct hvia_ep_slot *)((uintptr_t)ev->data -
					offsetof(struct hvia_ep_slot, data));

	if (ev->kind != WEFT_EV_RECV)
		return;
	if (ev->src == e->me)
		weft_host_free(e->h, (void *)(uintptr_t)ev->data);
	else
		give_back(e, &e->peer[ev->src], s);
}
