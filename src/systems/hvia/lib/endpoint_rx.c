/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over VIs: what arrives, see endpoint.h. */
#include <errno.h>
#include <string.h>

#include "endpoint/ep_open.h"
#include "systems/hvia/lib/endpoint.h"

static void give_back(struct epv *e, struct epv_peer *p, struct epv_slot *s)
{
	p->owed++;
	epv_post(e, p, s);
}

static struct epv_op *op_of(struct epv *e, uint32_t id)
{
	return id < EPV_OPS && e->op[id].used && e->op[id].waits ? &e->op[id]
								 : NULL;
}

static void answer(struct epv *e, uint32_t src, uint32_t id, int32_t status,
		   uint64_t result)
{
	struct epv_op *op = epv_op_new(e, EPV_DONE, src);

	if (!op) /* its asker waits for ever: there are as many as askers */
		return;
	op->answered = true;
	op->head.id = id;
	op->head.status = status;
	op->head.arg = result;
	epv_op_start(e, op);
}

static void got_put(struct epv *e, uint32_t src, const struct epv_slot *s)
{
	const struct epv_head *h = &s->head;
	uint8_t *to = epv_at(e, h->key, h->addr, h->len);

	if (to)
		weft_host_copy(e->h, to, s->data, h->len);
	if (!(h->flags & EPV_LAST))
		return;
	if (to && h->flags & EPV_NOTIFY)
		epv_push(e, &(struct weft_ep_event){ .kind = WEFT_EV_PUT_IN,
						     .src = src,
						     .imm = h->imm });
	answer(e, src, h->id, to ? 0 : -EFAULT, 0);
}

static void got_get(struct epv *e, uint32_t src, const struct epv_slot *s)
{
	const struct epv_head *h = &s->head;
	const uint8_t *from = epv_at(e, h->key, h->addr, h->arg);
	struct epv_op *op;

	if (!from) {
		answer(e, src, h->id, -EFAULT, 0);
		return;
	}
	op = epv_op_new(e, EPV_GET_DATA, src);
	if (!op)
		return;
	op->answered = true;
	op->buf = from;
	op->len = h->arg;
	op->head.id = h->id;
	epv_op_start(e, op);
}

static void got_get_data(struct epv *e, uint32_t src, const struct epv_slot *s)
{
	struct epv_op *op = op_of(e, s->head.id);

	if (!op || !op->into || s->head.addr + s->head.len > op->len)
		return;
	weft_host_copy(e->h, op->into + s->head.addr, s->data, s->head.len);
	if (!(s->head.flags & EPV_LAST))
		return;
	epv_event(e, WEFT_EV_GET, 0, op->ctx, 0);
	op->used = false;
}

uint64_t epv_atomic(struct epv *e, const struct epv_head *h, int32_t *status_p)
{
	uint8_t *word = epv_at(e, h->key, h->addr, 8);

	*status_p = -EFAULT;
	if (!word || (uintptr_t)word % 8)
		return 0;
	*status_p = 0;
	return ep_atomic(e->h, word, h->kind == EPV_CSWAP, h->arg, h->imm);
}

static void got_atomic(struct epv *e, uint32_t src, const struct epv_slot *s)
{
	int32_t status;
	uint64_t old = epv_atomic(e, &s->head, &status);

	answer(e, src, s->head.id, status, old);
}

static void got_done(struct epv *e, uint32_t src, const struct epv_slot *s)
{
	struct epv_op *op = op_of(e, s->head.id);

	if (!op)
		return;
	epv_event(e, s->head.status ? WEFT_EV_ERROR : op->event, s->head.status,
		  op->ctx, s->head.arg);
	op->used = false;
}

static void got_places(struct epv *e, uint32_t src, const struct epv_slot *s)
{
}

/* A message for the user stays where it is until it is released. */
static void got_message(struct epv *e, uint32_t src, struct epv_slot *s)
{
	epv_push(e, &(struct weft_ep_event){ .kind = WEFT_EV_RECV,
					     .src = src,
					     .imm = s->head.imm,
					     .data = s->data,
					     .len = s->head.len });
}

static void receive(struct epv *e, uint32_t src, struct epv_slot *s)
{
	static void (*const got[])(struct epv * e, uint32_t src,
				   const struct epv_slot *s) = {
		[EPV_PUT] = got_put,	       [EPV_GET] = got_get,
		[EPV_GET_DATA] = got_get_data, [EPV_FADD] = got_atomic,
		[EPV_CSWAP] = got_atomic,      [EPV_DONE] = got_done,
		[EPV_PLACES] = got_places,
	};
	struct epv_peer *p = &e->peer[src];

	p->places += s->head.places;
	if (s->head.kind == EPV_MSG) {
		got_message(e, src, s);
		return;
	}
	if (s->head.kind && s->head.kind <= EPV_PLACES)
		got[s->head.kind](e, src, s);
	if (s->head.kind == EPV_PLACES)
		epv_post(e, p, s); /* it took no place */
	else
		give_back(e, p, s);
}

void epv_receive(struct epv *e)
{
	for (uint32_t i = 0; i < e->n; i++) {
		VIP_DESCRIPTOR *d;

		if (i == e->me)
			continue;
		while (VipSendDone(e->peer[i].vi, &d) == VIP_SUCCESS)
			e->peer[i].sending--;
		while (VipRecvDone(e->peer[i].vi, &d) == VIP_SUCCESS)
			receive(e, i, (struct epv_slot *)d);
	}
}

void epv_release(struct weft_ep *ep, const struct weft_ep_event *ev)
{
	struct epv *e = (struct epv *)ep;
	struct epv_slot *s =
		(struct epv_slot *)((uintptr_t)ev->data -
				    offsetof(struct epv_slot, data));

	if (ev->kind != WEFT_EV_RECV)
		return;
	if (ev->src == e->me)
		weft_host_free(e->h, (void *)(uintptr_t)ev->data);
	else
		give_back(e, &e->peer[ev->src], s);
}
