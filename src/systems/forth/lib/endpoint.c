/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over the FORTH NIC (weft/ep.h, forth.md 3): opening,
 * user calls, waiting.  The hardware writes aligned qwords to 32-bit physical
 * addresses and nothing else; messages, unaligned pieces, get and atomics are
 * done here.  Keys carry base and length of a region, so a put outside it is
 * refused before it reaches a NIC that would not check.
 *
 * Not covered: recovery of lost packets (the network does not lose any). */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "endpoint/ep_open.h"
#include "systems/forth/lib/endpoint.h"
#include "systems/forth/nic/regs_map.h"
#include "weft/forth.h"

/* ---- user operations ---- */

static struct forth_ep_op *forth_ep_op_new(struct forth_ep *e, uint32_t dst,
					   void *ctx, enum weft_ep_kind event)
{
	struct forth_ep_op *op = e->free_ops;
	uint32_t id;

	/* Every operation leaves an event; there must be a place for it. */
	if (!op || e->ev_tail - e->ev_head >= FORTH_EP_OPS)
		return NULL;
	e->free_ops = op->next;
	id = (uint32_t)(op - e->ops);
	*op = (struct forth_ep_op){
		.dst = dst, .id = id, .ctx = ctx, .event = event
	};
	return op;
}

static int forth_ep_submit(struct forth_ep *e, struct forth_ep_op *op)
{
	weft_host_cpu(e->h, FORTH_EP_CALL_COST);
	forth_ep_list_push(&e->peer[op->dst].todo, op);
	forth_ep_progress(e);
	return 0;
}

static int forth_ep_send(struct weft_ep *ep, uint32_t dst, const void *buf,
			 size_t len, uint64_t imm, void *ctx)
{
	struct forth_ep *e = forth_ep_of(ep);
	struct forth_ep_op *op;

	if (dst >= e->n)
		return -EINVAL;
	if (len > ep->info.max_msg)
		return -EMSGSIZE;
	op = forth_ep_op_new(e, dst, ctx, WEFT_EV_SENT);
	if (!op)
		return -EAGAIN;
	op->buf = buf;
	op->len = len;
	op->imm = imm;
	if (len)
		op->data_kind = FORTH_EP_MSG;
	else
		op->last_kind = FORTH_EP_MSG;
	return forth_ep_submit(e, op);
}

static int forth_ep_put_op(struct weft_ep *ep, uint32_t dst, const void *buf,
			   size_t len, uint64_t raddr, uint64_t rkey,
			   bool notify, uint64_t imm, void *ctx)
{
	struct forth_ep *e = forth_ep_of(ep);
	struct forth_ep_op *op;

	if (dst >= e->n || !forth_ep_key_covers(rkey, raddr, len) ||
	    (dst == e->me && !forth_ep_mr_find(e, raddr, len)))
		return -EINVAL;
	op = forth_ep_op_new(e, dst, ctx, WEFT_EV_PUT);
	if (!op)
		return -EAGAIN;
	op->buf = buf;
	op->len = len;
	op->to = raddr;
	op->data_kind = FORTH_EP_PUT;
	if (raddr % 8 == 0) {
		op->direct = len & ~(size_t)7;
		if (!weft_mem_phys(e->h, buf, &op->local) || op->local % 8)
			op->local = 0;
	}
	if (notify) {
		op->last_kind = FORTH_EP_NOTIFY;
		op->arg = len;
		op->imm = imm;
	}
	return forth_ep_submit(e, op);
}

/* A request that the peer's library answers; -EAGAIN beyond FORTH_EP_REQUESTS.
 */
static struct forth_ep_op *forth_ep_request_new(struct forth_ep *e,
						uint32_t dst, void *ctx,
						enum weft_ep_kind event)
{
	struct forth_ep_op *op;

	if (e->peer[dst].requests >= FORTH_EP_REQUESTS)
		return NULL;
	op = forth_ep_op_new(e, dst, ctx, event);
	if (op)
		e->peer[dst].requests++;
	return op;
}

static int forth_ep_get_op(struct weft_ep *ep, uint32_t dst, void *buf,
			   size_t len, uint64_t raddr, uint64_t rkey, void *ctx)
{
	struct forth_ep *e = forth_ep_of(ep);
	weft_phys_t back;
	struct forth_ep_op *op;

	if (dst >= e->n || !forth_ep_key_covers(rkey, raddr, len))
		return -EINVAL;
	op = forth_ep_request_new(e, dst, ctx, WEFT_EV_GET);
	if (!op)
		return -EAGAIN;
	if (!weft_mem_phys(e->h, buf, &back) || back > UINT32_MAX)
		back = 0;
	op->into = buf;
	op->len = len;
	op->last_kind = FORTH_EP_GET;
	op->req.get = (struct forth_ep_get){
		.raddr = raddr, .rkey = rkey, .len = len, .back = back
	};
	return forth_ep_submit(e, op);
}

static int forth_ep_atomic_op(struct forth_ep *e, uint32_t dst,
			      const struct forth_ep_atomic *a, void *ctx)
{
	struct forth_ep_op *op;

	if (dst >= e->n || a->raddr % 8 ||
	    !forth_ep_key_covers(a->rkey, a->raddr, 8))
		return -EINVAL;
	op = forth_ep_request_new(e, dst, ctx, WEFT_EV_ATOMIC);
	if (!op)
		return -EAGAIN;
	op->last_kind = FORTH_EP_ATOMIC;
	op->req.atomic = *a;
	return forth_ep_submit(e, op);
}

static int forth_ep_fadd(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
			 uint64_t rkey, uint64_t add, void *ctx)
{
	struct forth_ep_atomic a = { .raddr = raddr, .rkey = rkey, .a = add };

	return forth_ep_atomic_op(forth_ep_of(ep), dst, &a, ctx);
}

static int forth_ep_cswap(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
			  uint64_t rkey, uint64_t expect, uint64_t desired,
			  void *ctx)
{
	struct forth_ep_atomic a = { .raddr = raddr,
				     .rkey = rkey,
				     .swap = 1,
				     .a = expect,
				     .b = desired };

	return forth_ep_atomic_op(forth_ep_of(ep), dst, &a, ctx);
}

/* ---- events and waiting ---- */

static int forth_ep_events(struct forth_ep *e, struct weft_ep_event *ev,
			   int max)
{
	int n = 0;

	while (n < max && e->ev_head != e->ev_tail)
		ev[n++] = e->ev[e->ev_head++ % e->ev_size];
	return n;
}

static int forth_ep_poll(struct weft_ep *ep, struct weft_ep_event *ev, int max)
{
	struct forth_ep *e = forth_ep_of(ep);
	int n;

	weft_host_cpu(e->h, FORTH_EP_CALL_COST);
	n = forth_ep_events(e, ev, max);
	n += forth_ep_receive(e, ev + n, max - n);
	forth_ep_progress(e);
	forth_ep_return_credits(e);
	return n + forth_ep_events(e, ev + n, max - n);
}

/* Something waits for the NIC itself, which raises no interrupt for it. */
static bool forth_ep_needs_spin(struct forth_ep *e)
{
	for (uint32_t p = 0; p < e->n; p++)
		if (e->peer[p].departing.head || e->peer[p].todo.head)
			return true;
	return false;
}

static bool forth_ep_idle_wait(struct forth_ep *e, weft_time_t deadline)
{
	if (!e->irq || forth_ep_needs_spin(e))
		return weft_host_poll_range(e->h, e->block, e->block_bytes,
					    deadline);
	if (!weft_forth_irq_wait(e->f, deadline))
		return false;
	weft_forth_irq_ack(e->f);
	return true;
}

static int forth_ep_wait(struct weft_ep *ep, weft_time_t deadline)
{
	struct forth_ep *e = forth_ep_of(ep);

	for (;;) {
		forth_ep_progress(e);
		forth_ep_return_credits(e);
		if (e->ev_head != e->ev_tail || forth_ep_rx_ready(e))
			return 0;
		if (!forth_ep_idle_wait(e, deadline))
			return -ETIMEDOUT;
	}
}

/* ---- opening ---- */

static uint64_t forth_ep_exchange(struct forth_ep *e, uint32_t node,
				  const char *what)
{
	char key[40];

	snprintf(key, sizeof(key), "ep%u.%s", node, what);
	return weft_oob_get(e->h, key);
}

static void forth_ep_publish(struct forth_ep *e, const char *what, uint64_t val)
{
	char key[40];

	snprintf(key, sizeof(key), "ep%u.%s", e->me, what);
	weft_oob_put(e->h, key, val);
}

static bool forth_ep_alloc(struct forth_ep *e, weft_phys_t *block_phys_p)
{
	size_t ring = (size_t)e->n * e->slots * e->slot_bytes;
	size_t words = forth_ep_pad(8 * e->n);
	size_t out = words + ring + FORTH_EP_BOUNCES * FORTH_EP_BOUNCE_BYTES;

	e->block_bytes = WEFT_FORTH_NOTIFY_BYTES + words + ring;
	e->block = weft_mem_alloc(e->h, e->block_bytes, 64, block_phys_p);
	e->out = weft_mem_alloc(e->h, out, 64, &e->out_phys);
	e->peer = weft_host_calloc(e->h, e->n, sizeof(*e->peer));
	e->ops = weft_host_calloc(e->h, FORTH_EP_OPS, sizeof(*e->ops));
	e->answers = weft_host_calloc(e->h, (size_t)e->n * FORTH_EP_REQUESTS,
				      sizeof(*e->answers));
	e->ev_size = 2 * FORTH_EP_OPS;
	e->ev = weft_host_calloc(e->h, e->ev_size, sizeof(*e->ev));
	if (!e->block || !e->out || !e->peer || !e->ops || !e->answers ||
	    !e->ev)
		return false;
	e->credit = (uint64_t *)(e->block + WEFT_FORTH_NOTIFY_BYTES);
	e->rx = e->block + WEFT_FORTH_NOTIFY_BYTES + words;
	e->consumed = (uint64_t *)e->out;
	e->tx = e->out + words;
	for (uint32_t i = 0; i < FORTH_EP_BOUNCES; i++) {
		size_t at = words + ring + (size_t)i * FORTH_EP_BOUNCE_BYTES;

		e->bounce[i].p = e->out + at;
		e->bounce[i].phys = e->out_phys + at;
	}
	return true;
}

static bool forth_ep_init_peers(struct forth_ep *e)
{
	for (uint32_t i = 0; i < FORTH_EP_OPS; i++)
		forth_ep_op_free(e, &e->ops[i]);
	for (uint32_t p = 0; p < e->n; p++) {
		struct forth_ep_peer *peer = &e->peer[p];

		forth_ep_list_init(&peer->todo);
		forth_ep_list_init(&peer->departing);
		peer->done = weft_host_calloc(e->h, e->slots, sizeof(bool));
		if (!peer->done)
			return false;
		for (uint32_t i = 0; i < FORTH_EP_REQUESTS; i++) {
			struct forth_ep_op *op =
				&e->answers[p * FORTH_EP_REQUESTS + i];

			op->internal = true;
			op->dst = p;
			forth_ep_op_free(e, op);
		}
	}
	return true;
}

static void forth_ep_meet_peers(struct forth_ep *e, weft_phys_t block_phys)
{
	size_t ring = e->slots * e->slot_bytes;

	forth_ep_publish(e, "credit", block_phys + WEFT_FORTH_NOTIFY_BYTES);
	forth_ep_publish(e, "irq", e->irq);
	forth_ep_publish(e, "rx", block_phys + (weft_phys_t)(e->rx - e->block));
	for (uint32_t p = 0; p < e->n; p++) {
		e->peer[p].irq = forth_ep_exchange(e, p, "irq");
		e->peer[p].credit =
			forth_ep_exchange(e, p, "credit") + 8 * e->me;
		e->peer[p].rx = forth_ep_exchange(e, p, "rx") + e->me * ring;
	}
}

static void forth_ep_close(struct weft_ep *ep)
{
	struct forth_ep *e = forth_ep_of(ep);

	if (e->f)
		weft_forth_close(e->f);
	for (uint32_t p = 0; e->peer && p < e->n; p++)
		weft_host_free(e->h, e->peer[p].done);
	if (e->block)
		weft_mem_free(e->h, e->block);
	if (e->out)
		weft_mem_free(e->h, e->out);
	weft_host_free(e->h, e->peer);
	weft_host_free(e->h, e->ops);
	weft_host_free(e->h, e->answers);
	weft_host_free(e->h, e->ev);
	weft_host_free(e->h, e->mr);
	weft_host_free(e->h, e);
}

static int forth_ep_post(struct weft_ep *ep, const struct weft_ep_op *op)
{
	switch (op->code) {
	case WEFT_EP_MSG:
		return forth_ep_send(ep, op->dst, op->buf, op->len, op->imm,
				     op->ctx);
	case WEFT_EP_PUT:
		return forth_ep_put_op(ep, op->dst, op->buf, op->len, op->raddr,
				       op->rkey, op->notify, op->imm, op->ctx);
	case WEFT_EP_GET:
		return forth_ep_get_op(ep, op->dst, op->into, op->len,
				       op->raddr, op->rkey, op->ctx);
	case WEFT_EP_FADD:
		return forth_ep_fadd(ep, op->dst, op->raddr, op->rkey,
				     op->operand, op->ctx);
	case WEFT_EP_CSWAP:
		return forth_ep_cswap(ep, op->dst, op->raddr, op->rkey,
				      op->operand, op->desired, op->ctx);
	}
	return -EOPNOTSUPP;
}

static const struct weft_ep_ops forth_ep_ops = {
	.close = forth_ep_close,
	.mr_reg = forth_ep_mr_reg,
	.mr_dereg = forth_ep_mr_dereg,
	.post = forth_ep_post,
	.poll = forth_ep_poll,
	.release = forth_ep_release,
	.wait = forth_ep_wait,
};

static void forth_ep_init_info(struct forth_ep *e,
			       const struct weft_ep_attr *attr)
{
	struct weft_ep_info *i = &e->ep.info;

	i->name = "forth";
	i->caps = WEFT_EP_MSG | WEFT_EP_PUT | WEFT_EP_GET | WEFT_EP_FADD |
		  WEFT_EP_CSWAP;
	i->emulated = WEFT_EP_GET | WEFT_EP_FADD | WEFT_EP_CSWAP;
	i->max_msg = attr->max_msg ? attr->max_msg : 4096;
	i->max_put = UINT32_MAX;
	i->align = 1;
	e->slots = attr->rx_slots ? attr->rx_slots : 16;
	e->slot_bytes =
		forth_ep_pad(i->max_msg) + sizeof(struct forth_ep_trailer);
	if (e->slot_bytes < 64 + sizeof(struct forth_ep_trailer))
		e->slot_bytes = 64 + sizeof(struct forth_ep_trailer);
}

static int forth_ep_start(struct forth_ep *e, weft_phys_t block_phys)
{
	struct weft_forth_attr fa = { .irq = e->irq, .notify = e->block };
	int ret = weft_forth_open(e->h, &fa, &e->f);

	if (ret)
		return ret;
	if (block_phys + e->block_bytes > UINT32_MAX)
		return -ENOMEM;
	if (weft_forth_info(e->f)->groups)
		return -EOPNOTSUPP; /* messages need notifications in order */
	e->paths = weft_forth_info(e->f)->multipath;
	if (e->paths)
		e->noted = weft_forth_load(e->f, FORTH_RNOTIFY_TOTAL);
	forth_ep_meet_peers(e, block_phys);
	return 0;
}

static int ep_forth_open(struct weft_host *h, const struct weft_ep_attr *attr,
			 struct weft_ep **ep_p)
{
	struct forth_ep *e;
	weft_phys_t block_phys;
	int ret = -ENOMEM;

	if (attr->max_msg >= 1u << 24)
		return -EINVAL;
	e = weft_host_calloc(h, 1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->ep.ops = &forth_ep_ops;
	e->ep.host = e->h = h;
	e->me = weft_host_node(h);
	e->n = weft_host_nodes(h);
	e->irq = attr->use_irq;
	forth_ep_init_info(e, attr);
	if (forth_ep_alloc(e, &block_phys) && forth_ep_init_peers(e))
		ret = forth_ep_start(e, block_phys);
	if (ret) {
		forth_ep_close(&e->ep);
		return ret;
	}
	*ep_p = &e->ep;
	return 0;
}

const struct ep_nic ep_nic_forth = { .probe = weft_forth_probe,
				     .open = ep_forth_open };
