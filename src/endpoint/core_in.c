/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint: handlers of received messages, by kind. The messages of
 * a sender are delivered to the user in the order in which they were sent. */
#include <errno.h>

#include "base/minmax.h"
#include "endpoint/core.h"

/* A message, with the values that its handler needs. */
struct in {
	uint32_t src;
	const struct ep_head *h;
	const uint8_t *data;
	struct ep_msg *m; /* receive slot of the message, or NULL if it uses
			   * none */
};

static struct ep_msg *msg_nth(struct ep *e, uint32_t src, uint64_t seq)
{
	return &e->peer[src].msg[seq % e->slots];
}

/* Allocates the next receive slot for a message of src. Returns NULL if src
 * exceeds its credits. */
static struct ep_msg *msg_take(struct ep *e, uint32_t src,
			       const struct ep_head *h)
{
	struct ep_msg *m = msg_nth(e, src, e->peer[src].got);

	if (m->state != EP_EMPTY)
		return NULL;
	e->peer[src].got++;
	*m = (struct ep_msg){ .state = EP_READY,
			      .event = WEFT_EV_RECV,
			      .src = src,
			      .len = h->len,
			      .id = h->id,
			      .imm = h->imm,
			      .addr = h->addr,
			      .key = h->key,
			      .eager = m->eager,
			      .data = m->eager };
	return m;
}

struct ep_msg *ep_msg_new(struct ep *e, uint32_t src, const struct ep_head *h)
{
	return h->len > e->ep.info.max_msg ? NULL : msg_take(e, src, h);
}

/* Frees a receive slot. Credits return to the sender in the order of its
 * messages, because a credit is a count and does not name a slot. */
static void msg_free(struct ep *e, struct ep_msg *m)
{
	struct ep_peer *p = &e->peer[m->src];

	if (m->land)
		m->land->busy = false;
	m->land = NULL;
	if (e->nic->msg_free)
		e->nic->msg_free(e, m);
	m->state = EP_FREED;
	for (uint32_t src = m->src;
	     (m = msg_nth(e, src, p->consumed))->state == EP_FREED;
	     p->consumed++)
		m->state = EP_EMPTY;
}

/* ---- kinds ---- */

static void answer(struct ep *e, const struct in *in, int32_t status,
		   uint64_t result)
{
	struct ep_op *op = ep_answer(e, in->src, in->h->id, EP_DONE);

	if (!op)
		return;
	op->status = status;
	op->result = result;
	ep_answer_push(e, op);
}

static void in_put(struct ep *e, const struct in *in)
{
	const struct ep_head *h = in->h;
	uint8_t *to = ep_region_at(e, h->key, h->addr, h->len);

	if (to)
		weft_host_copy(e->h, to, in->data, h->len);
	if (!h->last)
		return;
	if (to && h->notify && in->m) {
		in->m->state = EP_READY;
		in->m->event = WEFT_EV_PUT_IN;
		in->m->len = 0;
	}
	answer(e, in, to ? 0 : -EFAULT, 0);
}

static void in_get(struct ep *e, const struct in *in)
{
	const struct ep_head *h = in->h;
	struct ep_region *r = ep_region_find(e, h->key, h->addr, h->a);
	struct ep_op *op;

	if (!r) {
		answer(e, in, -EFAULT, 0);
		return;
	}
	op = ep_answer(e, in->src, h->id, 0);
	if (!op)
		return;
	op->reg = r;
	r->users++;
	op->req.buf = r->p + (h->addr - r->addr);
	op->req.len = h->a;
	op->data_kind = EP_GET_DATA;
	if (e->nic->prepare)
		e->nic->prepare(e, op, h);
	ep_answer_push(e, op);
}

/* Returns the operation of this node that waits for the message, or NULL. */
static struct ep_op *op_of(struct ep *e, const struct in *in)
{
	struct ep_op *op = in->h->id < EP_OPS ? &e->ops[in->h->id] : NULL;

	return op && op->waiting && op->req.dst == in->src ? op : NULL;
}

static void in_get_data(struct ep *e, const struct in *in)
{
	const struct ep_head *h = in->h;
	struct ep_op *op = op_of(e, in);

	if (!op || op->event != WEFT_EV_GET || h->addr > op->req.len ||
	    h->len > op->req.len - h->addr)
		return;
	weft_host_copy(e->h, (uint8_t *)op->req.into + h->addr, in->data,
		       h->len);
	if (h->last)
		ep_complete(e, op);
}

static void in_atomic(struct ep *e, const struct in *in)
{
	const struct ep_head *h = in->h;
	uint8_t *at = h->addr % 8 ? NULL : ep_region_at(e, h->key, h->addr, 8);
	uint64_t old, new;

	if (!at) {
		answer(e, in, -EFAULT, 0);
		return;
	}
	weft_host_move(e->h, &old, at, sizeof(old));
	new = h->swap ? (old == h->a ? h->b : old) : old + h->a;
	if (new != old)
		weft_host_move(e->h, at, &new, sizeof(new));
	answer(e, in, 0, old);
}

void ep_credits_in(struct ep *e, uint32_t src, uint32_t consumed)
{
	struct ep_peer *p = &e->peer[src];
	uint32_t news = consumed - (uint32_t)p->acked;

	/* ignore an impossible count, because peers are not trusted */
	if (news <= p->sent - p->acked)
		p->acked += news;
}

static void in_kind(struct ep *e, const struct in *in)
{
	struct ep_op *op;

	switch (in->h->kind) {
	case EP_MSG:
		in->m->state = EP_READY;
		break;
	case EP_RTS:
		/* Landing buffers go to long messages in order. If a younger
		 * message took the last buffer, it could not be delivered
		 * before the older message, and the older message would wait
		 * for the buffer for ever. */
		if (e->nic->fetch) {
			in->m->state = EP_WANT;
			e->wants++;
		}
		break;
	case EP_NOTIFY:
		in->m->state = EP_READY;
		in->m->event = WEFT_EV_PUT_IN;
		in->m->len = (uint32_t)in->h->a;
		break;
	case EP_FIN:
	case EP_DONE:
		op = op_of(e, in);
		if (op) {
			op->status = in->h->status;
			op->result = in->h->a;
			ep_complete(e, op);
		}
		break;
	case EP_ATOMIC:
		in_atomic(e, in);
		break;
	case EP_CREDIT:
		ep_credits_in(e, in->src, (uint32_t)in->h->a);
		break;
	case EP_PUT:
		in_put(e, in);
		break;
	case EP_GET:
		in_get(e, in);
		break;
	case EP_GET_DATA:
		in_get_data(e, in);
		break;
	default: /* libraries send no other kinds */
		break;
	}
}

bool ep_in(struct ep *e, uint32_t src, const struct ep_head *h,
	   const uint8_t *data)
{
	struct in in = { .src = src, .h = h, .data = data };

	if (ep_takes_place(e, h->kind)) {
		in.m = msg_take(e, src, h);
		if (!in.m)
			return false;
		in.m->data = data;
		in.m->state = EP_PART;
	}
	if (h->len <= e->ep.info.max_msg)
		in_kind(e, &in);
	/* This message is wrong or is for the library, so the user does not get
	 * it. Its receive slot is freed, because otherwise the sender would
	 * lose a credit. */
	if (in.m && in.m->state == EP_PART)
		msg_free(e, in.m);
	return true;
}

/* ---- delivery to the user ---- */

static struct ep_msg *msg_ready(struct ep *e, uint32_t src)
{
	struct ep_peer *p = &e->peer[src];
	struct ep_msg *m;

	/* Skip slots that were freed without delivery to the user. With
	 * one_ring, messages for the library use receive slots, too. */
	p->given = max_of(p->given, p->consumed);
	while (p->given < p->got &&
	       msg_nth(e, src, p->given)->state == EP_FREED)
		p->given++;
	m = msg_nth(e, src, p->given);
	return p->given < p->got && m->state == EP_READY ? m : NULL;
}

bool ep_in_ready(struct ep *e)
{
	for (uint32_t p = 0; p < e->n; p++)
		if (msg_ready(e, p))
			return true;
	return false;
}

int ep_give(struct ep *e, struct weft_ep_event *ev, int max)
{
	struct ep_msg *m;
	int n = 0;

	for (uint32_t i = 0; i < e->n; i++)
		while (n < max && (m = msg_ready(e, (e->turn + i) % e->n))) {
			e->peer[m->src].given++;
			ev[n++] = (struct weft_ep_event){
				.kind = m->event,
				.src = m->src,
				.imm = m->imm,
				.len = m->len,
				.data = m->event == WEFT_EV_RECV ? m->data
								 : NULL
			};
			if (m->event == WEFT_EV_RECV)
				m->state = EP_GIVEN;
			else
				msg_free(e, m);
		}
	if (n == max || e->wants)
		e->turn = (e->turn + 1) % e->n;
	return n;
}

void ep_release(struct weft_ep *ep, const struct weft_ep_event *ev)
{
	struct ep *e = (struct ep *)ep;
	struct ep_msg *m;

	if (ev->kind != WEFT_EV_RECV || ev->src >= e->n)
		return;
	m = e->peer[ev->src].msg;
	for (uint32_t i = 0; i < e->slots; i++, m++)
		if (m->state == EP_GIVEN && m->data == ev->data) {
			msg_free(e, m);
			return;
		}
}
