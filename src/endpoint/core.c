/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the common endpoint that does not depend on the NIC: operations,
 * events, opening and waiting. See core.h.
 *
 * Nodes with different attributes are not supported. */
#include <errno.h>
#include <stdio.h>

#include "endpoint/core.h"

/* ---- lists ---- */

void ep_list_init(struct ep_list *l)
{
	l->head = NULL;
	l->tail = &l->head;
}

void ep_list_push(struct ep_list *l, struct ep_op *op)
{
	op->next = NULL;
	*l->tail = op;
	l->tail = &op->next;
}

struct ep_op *ep_list_pop(struct ep_list *l)
{
	struct ep_op *op = l->head;

	l->head = op->next;
	if (!l->head)
		l->tail = &l->head;
	return op;
}

/* ---- operations ---- */

bool ep_event_room(const struct ep *e)
{
	return e->ev_tail - e->ev_head < EP_EVENTS / 2;
}

void ep_event(struct ep *e, const struct weft_ep_event *ev)
{
	e->ev[e->ev_tail++ % EP_EVENTS] = *ev;
}

static struct ep_op *op_new(struct ep *e, const struct weft_ep_op *req,
			    enum weft_ep_kind event)
{
	struct ep_op *op = e->free_ops;

	/* An operation starts only if the queue has room for its event, because
	 * otherwise its end could not be reported. */
	if (!op || e->ev_tail - e->ev_head >= EP_OPS)
		return NULL;
	e->free_ops = op->next;
	*op = (struct ep_op){ .req = *req,
			      .id = (uint32_t)(op - e->ops),
			      .event = event };
	return op;
}

static void op_free(struct ep *e, struct ep_op *op)
{
	struct ep_op **pool =
		op->internal ? &e->peer[op->req.dst].answers : &e->free_ops;

	op->waiting = false;
	op->next = *pool;
	*pool = op;
}

void ep_complete(struct ep *e, struct ep_op *op)
{
	struct weft_ep_event ev = { .kind = op->status ? WEFT_EV_ERROR
						       : op->event,
				    .status = op->status,
				    .src = op->req.dst,
				    .imm = op->req.imm,
				    .len = op->req.len,
				    .result = op->result,
				    .ctx = op->req.ctx };

	if (!op->internal)
		ep_event(e, &ev);
	if (op->asks)
		e->peer[op->req.dst].requests--;
	if (op->reg)
		op->reg->users--;
	if (op->stage)
		op->stage->busy = false;
	op_free(e, op);
}

struct ep_op *ep_answer(struct ep *e, uint32_t src, uint32_t id,
			enum ep_kind last_kind)
{
	struct ep_op *op = e->peer[src].answers;

	if (!op)
		return NULL;
	e->peer[src].answers = op->next;
	*op = (struct ep_op){ .req = { .dst = src },
			      .id = id,
			      .internal = true,
			      .last_kind = last_kind };
	return op;
}

/* Queues an answer. With one_ring an answer needs a receive slot of the peer,
 * so it is queued with the operations for that peer. Without one_ring an answer
 * needs no slot, so it need not wait behind these operations. */
void ep_answer_push(struct ep *e, struct ep_op *op)
{
	ep_list_push(e->nic->one_ring ? &e->peer[op->req.dst].todo : &e->notes,
		     op);
}

/* ---- calls of the user ---- */

static int req_check(const struct ep *e, const struct weft_ep_op *o)
{
	bool atomic = o->code == WEFT_EP_FADD || o->code == WEFT_EP_CSWAP;

	if (!(o->code & e->ep.info.caps) || o->code & (o->code - 1))
		return -EOPNOTSUPP; /* the code must be a single bit, because it
				     * is also an index of an array */
	if (o->dst >= e->n)
		return -EINVAL;
	if (o->code == WEFT_EP_MSG)
		return o->len > e->ep.info.max_msg ? -EMSGSIZE : 0;
	if (atomic && o->raddr % 8)
		return -EINVAL;
	return ep_key_covers(e, o->rkey, o->raddr, atomic ? 8 : o->len)
		       ? 0
		       : -EINVAL;
}

/* Chooses the messages of an operation that the NIC does not execute itself. */
static void op_plan(struct ep *e, struct ep_op *op)
{
	switch (op->req.code) {
	case WEFT_EP_MSG:
		if (op->req.len <= e->eager_max)
			op->data_kind = EP_MSG;
		else
			op->last_kind = EP_RTS;
		break;
	case WEFT_EP_PUT:
		if (op->req.len || op->asks)
			op->data_kind = EP_PUT;
		if (op->req.notify && !op->asks)
			op->last_kind = EP_NOTIFY;
		break;
	case WEFT_EP_GET:
		op->last_kind = EP_GET;
		break;
	default:
		op->last_kind = EP_ATOMIC;
	}
	if (e->nic->prepare && op->req.code & (WEFT_EP_PUT | WEFT_EP_GET))
		e->nic->prepare(e, op, NULL);
}

static int ep_post(struct weft_ep *ep, const struct weft_ep_op *req)
{
	static const enum weft_ep_kind event[] = {
		[WEFT_EP_MSG] = WEFT_EV_SENT,
		[WEFT_EP_PUT] = WEFT_EV_PUT,
		[WEFT_EP_GET] = WEFT_EV_GET,
		[WEFT_EP_FADD] = WEFT_EV_ATOMIC,
		[WEFT_EP_CSWAP] = WEFT_EV_ATOMIC,
	};
	struct ep *e = (struct ep *)ep;
	int ret = req_check(e, req);
	bool asks = req->code & e->nic->emulated;
	struct ep_op *op = NULL;

	if (ret)
		return ret;
	if (!asks || e->peer[req->dst].requests < e->nic->requests)
		op = op_new(e, req, event[req->code]);
	if (!op)
		return -EAGAIN;
	op->asks = asks;
	e->peer[req->dst].requests += asks;
	weft_host_cpu(e->h, weft_host_time(e->h, e->nic->call_time));
	if (e->nic->remote && req->code & (WEFT_EP_PUT | WEFT_EP_GET)) {
		ep_list_push(&e->remote_todo, op);
		ep_progress_remote(e);
	} else {
		op_plan(e, op);
		ep_list_push(&e->peer[req->dst].todo, op);
	}
	ep_progress_out(e);
	if (e->nic->flush)
		e->nic->flush(e);
	return 0;
}

static void ep_progress(struct ep *e)
{
	e->nic->poll(e);
	ep_progress_remote(e);
	ep_progress_out(e);
	ep_return_credits(e);
	if (e->nic->flush)
		e->nic->flush(e);
}

static int ep_poll(struct weft_ep *ep, struct weft_ep_event *ev, int max)
{
	struct ep *e = (struct ep *)ep;
	int n = 0;

	weft_host_cpu(e->h, weft_host_time(e->h, e->nic->call_time));
	ep_progress(e);
	for (; n < max && e->ev_head != e->ev_tail; n++)
		ev[n] = e->ev[e->ev_head++ % EP_EVENTS];
	return n + ep_give(e, ev + n, max - n);
}

static int ep_wait(struct weft_ep *ep, weft_time_t deadline)
{
	struct ep *e = (struct ep *)ep;

	for (;;) {
		ep_progress(e);
		if (e->ev_head != e->ev_tail || ep_in_ready(e))
			return 0;
		if (!e->nic->idle(e, deadline))
			return -ETIMEDOUT;
	}
}

/* ---- meeting ---- */

static void word_name(const struct ep *e, uint32_t node, const char *what,
		      char *name, size_t bytes)
{
	snprintf(name, bytes, "ep.%s.%u.%u.%s", e->nic->name, e->group, node,
		 what);
}

void ep_tell(struct ep *e, const char *what, uint64_t val)
{
	char name[64];

	word_name(e, e->me, what, name, sizeof(name));
	weft_oob_put(e->h, name, val);
}

uint64_t ep_ask(struct ep *e, uint32_t node, const char *what)
{
	char name[64];

	word_name(e, node, what, name, sizeof(name));
	return weft_oob_get(e->h, name);
}

/* ---- opening, closing ---- */

static int peers_make(struct ep *e)
{
	uint32_t answers = e->nic->requests + (e->nic->lands ? e->slots : 0);
	size_t eager = e->nic->copies ? (e->eager_max + 7ul) & ~7ul : 0;
	size_t slots = (size_t)e->n * e->slots;
	struct ep_msg *m = weft_host_calloc(e->h, slots, sizeof(*m));

	e->peer = weft_host_calloc(e->h, e->n, sizeof(*e->peer));
	e->eager = weft_host_calloc(e->h, slots, eager + 1);
	e->answers = weft_host_calloc(e->h, (size_t)e->n * answers,
				      sizeof(*e->answers));
	if (!m || !e->peer || !e->eager || !e->answers) {
		weft_host_free(e->h, m);
		return -ENOMEM;
	}
	for (size_t i = 0; i < slots; i++)
		m[i].eager = e->eager + i * eager;
	for (uint32_t i = 0; i < e->n; i++) {
		struct ep_peer *p = &e->peer[i];

		p->slots = e->slots;
		p->msg = m + (size_t)i * e->slots;
		ep_list_init(&p->todo);
		for (uint32_t k = answers; k--;) {
			struct ep_op *op = &e->answers[i * answers + k];

			op->internal = true;
			op->req.dst = i;
			op_free(e, op);
		}
	}
	return 0;
}

static int lists_make(struct ep *e)
{
	e->ev = weft_host_calloc(e->h, EP_EVENTS, sizeof(*e->ev));
	e->ops = weft_host_calloc(e->h, EP_OPS, sizeof(*e->ops));
	if (!e->ev || !e->ops)
		return -ENOMEM;
	for (uint32_t i = EP_OPS; i--;)
		op_free(e, &e->ops[i]);
	for (uint32_t i = EP_PIECES; i--; e->free_pieces = &e->piece[i])
		e->piece[i].next = e->free_pieces;
	ep_list_init(&e->notes);
	ep_list_init(&e->remote_todo);
	return 0;
}

static void ep_close(struct weft_ep *ep)
{
	struct ep *e = (struct ep *)ep;

	e->nic->stop(e);
	/* region_close is not called, because the NIC is closed and no longer
	 * has regions. */
	while (e->mr) {
		struct ep_region *r = e->mr;

		e->mr = r->next;
		weft_host_free(e->h, r);
	}
	if (e->peer)
		weft_host_free(e->h, e->peer[0].msg);
	weft_host_free(e->h, e->peer);
	weft_host_free(e->h, e->eager);
	weft_host_free(e->h, e->answers);
	weft_host_free(e->h, e->ops);
	weft_host_free(e->h, e->ev);
	weft_host_free(e->h, e);
}

static const struct weft_ep_ops core_ops = {
	.close = ep_close,
	.mr_reg = ep_mr_reg,
	.mr_dereg = ep_mr_dereg,
	.post = ep_post,
	.poll = ep_poll,
	.release = ep_release,
	.wait = ep_wait,
};

static void sizes_set(struct ep *e, const struct weft_ep_attr *attr)
{
	const struct ep_nic_ops *nic = e->nic;
	struct weft_ep_info *i = &e->ep.info;

	i->name = nic->name;
	i->caps = WEFT_EP_MSG | WEFT_EP_PUT | WEFT_EP_GET | WEFT_EP_FADD |
		  WEFT_EP_CSWAP;
	i->emulated = nic->emulated;
	i->max_msg = attr->max_msg ? attr->max_msg : nic->max_msg;
	i->max_put = UINT32_MAX;
	i->align = 1;
	e->slots = attr->rx_slots ? attr->rx_slots : nic->slots;
	e->eager_max = !nic->eager	 ? i->max_msg
		       : attr->eager_max ? attr->eager_max
					 : nic->eager;
}

int ep_open(struct weft_host *h, const struct weft_ep_attr *attr,
	    const struct ep_nic_ops *nic, struct weft_ep **ep_p)
{
	struct ep *e;
	int ret;

	if (attr->max_msg >= EP_MAX_LEN)
		return -EINVAL;
	e = weft_host_calloc(h, 1, nic->bytes);
	if (!e)
		return -ENOMEM;
	e->ep.ops = &core_ops;
	e->ep.host = e->h = h;
	e->nic = nic;
	e->me = weft_host_node(h);
	e->n = weft_host_nodes(h);
	e->group = attr->group;
	e->irq = attr->use_irq;
	sizes_set(e, attr);
	ret = lists_make(e);
	if (!ret)
		ret = nic->start(e);
	if (!ret)
		ret = peers_make(e);
	if (!ret && nic->pool_open)
		ret = ep_pool_open(e);
	if (!ret)
		ret = nic->meet(e);
	*ep_p = ret ? NULL : &e->ep;
	if (ret)
		ep_close(&e->ep);
	return ret;
}
