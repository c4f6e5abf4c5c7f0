/* SPDX-License-Identifier: Apache-2.0 */
/* Endpoint over VIs: operations and sending, see endpoint.h. */
#include "systems/hvia/lib/endpoint.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Memory of the program: it is freed also when a run ends in the middle. */
void *hvia_ep_grow(struct hvia_ep *e, void *at, size_t n, size_t *cap,
		   size_t size)
{
	size_t more = *cap ? 2 * *cap : 16;
	void *to;

	if (n < *cap)
		return at;
	to = weft_host_calloc(e->h, more, size);
	if (!to)
		abort();
	if (at)
		memcpy(to, at, n * size);
	weft_host_free(e->h, at);
	*cap = more;
	return to;
}

void hvia_ep_push(struct hvia_ep *e, const struct weft_ep_event *ev)
{
	e->event.at = hvia_ep_grow(e, e->event.at, e->event.n, &e->event.cap,
				   sizeof(*ev));
	e->event.at[e->event.n++] = *ev;
}

void hvia_ep_event(struct hvia_ep *e, enum weft_ep_kind kind, int status,
		   void *ctx, uint64_t result)
{
	hvia_ep_push(e, &(struct weft_ep_event){ .kind = kind,
						 .status = status,
						 .ctx = ctx,
						 .result = result });
}

/* ---- sending ---- */

/* A quarter is for answers alone: who asks finds none before they run out. */
struct hvia_ep_op *hvia_ep_op_new(struct hvia_ep *e, enum hvia_ep_kind kind,
				  uint32_t dst)
{
	bool reply = kind == HVIA_EP_DONE || kind == HVIA_EP_GET_DATA;

	for (uint32_t i = reply ? 0 : HVIA_EP_OPS / 4 * 3; i < HVIA_EP_OPS;
	     i++) {
		if (e->op[i].used)
			continue;
		e->op[i] = (struct hvia_ep_op){
			.used = true, .kind = kind, .dst = dst, .id = i
		};
		return &e->op[i];
	}
	return NULL;
}

void hvia_ep_op_start(struct hvia_ep *e, struct hvia_ep_op *op)
{
	struct hvia_ep_peer *p = &e->peer[op->dst];

	op->next = NULL;
	*p->tail = op;
	p->tail = &op->next;
}

static void endpoint_transmit(struct hvia_ep *e, struct hvia_ep_peer *p,
			      struct hvia_ep_head *h, const uint8_t *data)
{
	struct hvia_ep_slot *s =
		hvia_ep_slot(e, p, p->next++ % (e->slots + HVIA_EP_SPARE));
	uint32_t bytes = (uint32_t)sizeof(*h) + h->len;

	h->places = p->owed;
	p->owed = 0;
	memset(&s->desc, 0, sizeof(s->desc));
	s->head = *h;
	if (h->len)
		weft_host_copy(e->h, s->data, data, h->len);
	s->desc.CS.SegCount = 1;
	s->desc.CS.Length = bytes;
	s->desc.DS[0].Local.Data.Address = &s->head;
	s->desc.DS[0].Local.Handle = p->handle;
	s->desc.DS[0].Local.Length = bytes;
	p->sending++;
	VipPostSend(p->vi, &s->desc, p->handle);
}

/* The next message of an operation; true: it was the last one. */
static bool op_step(struct hvia_ep *e, struct hvia_ep_peer *p,
		    struct hvia_ep_op *op)
{
	size_t left = op->len - op->off;
	struct hvia_ep_head h = op->head;
	bool data = op->kind == HVIA_EP_MSG || op->kind == HVIA_EP_PUT ||
		    op->kind == HVIA_EP_GET_DATA;

	h.kind = op->kind;
	if (op->kind != HVIA_EP_DONE && op->kind != HVIA_EP_GET_DATA)
		h.id = op->id;
	h.len = !data			    ? 0
		: left < e->ep.info.max_msg ? (uint32_t)left
					    : e->ep.info.max_msg;
	if (op->kind == HVIA_EP_PUT)
		h.addr += op->off;
	if (op->kind == HVIA_EP_GET_DATA)
		h.addr = op->off;
	if (!data || h.len == left)
		h.flags |= HVIA_EP_LAST;
	endpoint_transmit(e, p, &h, op->buf ? op->buf + op->off : NULL);
	op->off += h.len;
	p->places--;
	return h.flags & HVIA_EP_LAST;
}

static void peer_pump(struct hvia_ep *e, struct hvia_ep_peer *p)
{
	uint32_t limit = e->slots;

	while (p->head && p->places && p->sending < limit) {
		struct hvia_ep_op *op = p->head;

		if (!op_step(e, p, op))
			continue;
		p->head = op->next;
		if (!p->head)
			p->tail = &p->head;
		if (op->waits)
			continue;
		if (!op->answered)
			hvia_ep_event(e, op->event, 0, op->ctx, 0);
		op->used = false;
	}
	if (p->owed >= (e->slots + 1) / 2 &&
	    p->sending < limit + HVIA_EP_SPARE) {
		struct hvia_ep_head h = { .kind = HVIA_EP_PLACES };

		endpoint_transmit(e, p, &h, NULL);
	}
}

void hvia_ep_pump(struct hvia_ep *e)
{
	for (uint32_t i = 0; i < e->n; i++)
		if (i != e->me)
			peer_pump(e, &e->peer[i]);
}

/* ---- operations ---- */

static int op_begin(struct hvia_ep *e, enum hvia_ep_kind kind, uint32_t dst,
		    enum weft_ep_kind event, void *ctx,
		    struct hvia_ep_op **op_p)
{
	if (dst >= e->n)
		return -EINVAL;
	*op_p = hvia_ep_op_new(e, kind, dst);
	if (!*op_p)
		return -EAGAIN;
	(*op_p)->event = event;
	(*op_p)->ctx = ctx;
	(*op_p)->waits = kind != HVIA_EP_MSG;
	return 0;
}

static int self_send(struct hvia_ep *e, const void *buf, size_t len,
		     uint64_t imm, void *ctx)
{
	uint8_t *copy = weft_host_calloc(e->h, 1, len ? len : 1);

	if (!copy)
		return -EAGAIN;
	weft_host_copy(e->h, copy, buf, len);
	hvia_ep_event(e, WEFT_EV_SENT, 0, ctx, 0);
	hvia_ep_push(e, &(struct weft_ep_event){ .kind = WEFT_EV_RECV,
						 .src = e->me,
						 .imm = imm,
						 .data = copy,
						 .len = len });
	return 0;
}

static int hvia_ep_send(struct weft_ep *ep, uint32_t dst, const void *buf,
			size_t len, uint64_t imm, void *ctx)
{
	struct hvia_ep *e = (struct hvia_ep *)ep;
	struct hvia_ep_op *op;
	int ret;

	if (len > ep->info.max_msg)
		return -EMSGSIZE;
	if (dst == e->me)
		return self_send(e, buf, len, imm, ctx);
	ret = op_begin(e, HVIA_EP_MSG, dst, WEFT_EV_SENT, ctx, &op);
	if (ret)
		return ret;
	op->buf = buf;
	op->len = len;
	op->head.imm = imm;
	hvia_ep_op_start(e, op);
	hvia_ep_pump(e);
	return 0;
}

static int self_copy(struct hvia_ep *e, uint8_t *to, const uint8_t *from,
		     size_t len, enum weft_ep_kind kind, void *ctx)
{
	if (!to || !from)
		return -EFAULT;
	weft_host_copy(e->h, to, from, len);
	hvia_ep_event(e, kind, 0, ctx, 0);
	return 0;
}

static int hvia_ep_put(struct weft_ep *ep, uint32_t dst, const void *buf,
		       size_t len, uint64_t raddr, uint64_t rkey, bool notify,
		       uint64_t imm, void *ctx)
{
	struct hvia_ep *e = (struct hvia_ep *)ep;
	struct hvia_ep_op *op;
	int ret;

	if (dst == e->me) {
		ret = self_copy(e, hvia_ep_at(e, rkey, raddr, len), buf, len,
				WEFT_EV_PUT, ctx);
		if (!ret && notify)
			hvia_ep_push(e, &(struct weft_ep_event){
						.kind = WEFT_EV_PUT_IN,
						.src = dst,
						.imm = imm });
		return ret;
	}
	ret = op_begin(e, HVIA_EP_PUT, dst, WEFT_EV_PUT, ctx, &op);
	if (ret)
		return ret;
	op->buf = buf;
	op->len = len;
	op->head = (struct hvia_ep_head){ .flags = notify ? HVIA_EP_NOTIFY : 0,
					  .imm = imm,
					  .addr = raddr,
					  .key = rkey };
	hvia_ep_op_start(e, op);
	hvia_ep_pump(e);
	return 0;
}

static int hvia_ep_get(struct weft_ep *ep, uint32_t dst, void *buf, size_t len,
		       uint64_t raddr, uint64_t rkey, void *ctx)
{
	struct hvia_ep *e = (struct hvia_ep *)ep;
	struct hvia_ep_op *op;
	int ret;

	if (dst == e->me)
		return self_copy(e, buf, hvia_ep_at(e, rkey, raddr, len), len,
				 WEFT_EV_GET, ctx);
	ret = op_begin(e, HVIA_EP_GET, dst, WEFT_EV_GET, ctx, &op);
	if (ret)
		return ret;
	op->into = buf;
	op->len = len;
	op->head =
		(struct hvia_ep_head){ .addr = raddr, .key = rkey, .arg = len };
	hvia_ep_op_start(e, op);
	hvia_ep_pump(e);
	return 0;
}

static int endpoint_atomic(struct weft_ep *ep, uint32_t dst,
			   struct hvia_ep_head h, void *ctx)
{
	struct hvia_ep *e = (struct hvia_ep *)ep;
	struct hvia_ep_op *op;
	int ret;

	if (dst == e->me) {
		int32_t status;
		uint64_t old = hvia_ep_atomic(e, &h, &status);

		if (!status)
			hvia_ep_event(e, WEFT_EV_ATOMIC, 0, ctx, old);
		return status;
	}
	ret = op_begin(e, (enum hvia_ep_kind)h.kind, dst, WEFT_EV_ATOMIC, ctx,
		       &op);
	if (ret)
		return ret;
	op->head = h;
	hvia_ep_op_start(e, op);
	hvia_ep_pump(e);
	return 0;
}

static int hvia_ep_fadd(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
			uint64_t rkey, uint64_t add, void *ctx)
{
	struct hvia_ep_head h = {
		.kind = HVIA_EP_FADD, .addr = raddr, .key = rkey, .arg = add
	};

	return endpoint_atomic(ep, dst, h, ctx);
}

static int hvia_ep_cswap(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
			 uint64_t rkey, uint64_t expect, uint64_t desired,
			 void *ctx)
{
	struct hvia_ep_head h = { .kind = HVIA_EP_CSWAP,
				  .imm = desired,
				  .addr = raddr,
				  .key = rkey,
				  .arg = expect };

	return endpoint_atomic(ep, dst, h, ctx);
}

static int hvia_ep_poll(struct weft_ep *ep, struct weft_ep_event *ev, int max)
{
	struct hvia_ep *e = (struct hvia_ep *)ep;
	int n;

	hvia_ep_receive(e);
	hvia_ep_pump(e);
	if (!e->event.n)
		return 0;
	n = e->event.n < (size_t)max ? (int)e->event.n : max;
	memcpy(ev, e->event.at, (size_t)n * sizeof(*ev));
	memmove(e->event.at, e->event.at + n,
		(e->event.n - (size_t)n) * sizeof(*ev));
	e->event.n -= (size_t)n;
	return n;
}

static int hvia_ep_wait(struct weft_ep *ep, weft_time_t deadline)
{
	struct hvia_ep *e = (struct hvia_ep *)ep;
	struct vipl_nic *n = vipl_nic(e->nic);
	bool late = false;

	for (;;) {
		uint32_t seen = n->client->event;

		hvia_ep_receive(e);
		hvia_ep_pump(e);
		if (e->event.n)
			return 0;
		if (late || weft_host_now(e->h) >= deadline)
			return -ETIMEDOUT;
		if (e->irq)
			late = vipl_sleep(n, NULL, 0, seen, deadline) ==
			       -ETIMEDOUT;
		else
			weft_host_cpu(e->h, VIPL_POLL);
	}
}

static int hvia_ep_submit(struct weft_ep *ep, const struct weft_ep_op *op)
{
	switch (op->code) {
	case WEFT_EP_MSG:
		return hvia_ep_send(ep, op->dst, op->buf, op->len, op->imm,
				    op->ctx);
	case WEFT_EP_PUT:
		return hvia_ep_put(ep, op->dst, op->buf, op->len, op->raddr,
				   op->rkey, op->notify, op->imm, op->ctx);
	case WEFT_EP_GET:
		return hvia_ep_get(ep, op->dst, op->into, op->len, op->raddr,
				   op->rkey, op->ctx);
	case WEFT_EP_FADD:
		return hvia_ep_fadd(ep, op->dst, op->raddr, op->rkey,
				    op->operand, op->ctx);
	case WEFT_EP_CSWAP:
		return hvia_ep_cswap(ep, op->dst, op->raddr, op->rkey,
				     op->operand, op->desired, op->ctx);
	}
	return -EOPNOTSUPP;
}

const struct weft_ep_ops hvia_ep_ops = {
	.close = hvia_ep_close,
	.mr_reg = hvia_ep_mr_reg,
	.mr_dereg = hvia_ep_mr_dereg,
	.post = hvia_ep_submit,
	.poll = hvia_ep_poll,
	.release = hvia_ep_release,
	.wait = hvia_ep_wait,
};
