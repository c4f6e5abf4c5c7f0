/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over EXTOLL: opening, user calls, waiting.  See
 * ep_extoll.h.
 *
 * Not covered: nodes with different attributes. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "ulib/ep_extoll.h"
#include "ulib/ep_open.h"

enum {
	EPX_MAX_MSG = 65536,   /* default */
	EPX_EAGER = 1024,      /* default, extoll.md 6.3 */
	EPX_MAILBOX = 8 << 20, /* at most */
	EPX_SLOT = 128,	       /* of a mailbox */
	EPX_NOTIS = 4096,
};

/* ---- operations ---- */

void epx_list_init(struct epx_list *l)
{
	l->head = NULL;
	l->tail = &l->head;
}

void epx_list_push(struct epx_list *l, struct epx_op *op)
{
	op->next = NULL;
	*l->tail = op;
	l->tail = &op->next;
}

struct epx_op *epx_list_pop(struct epx_list *l)
{
	struct epx_op *op = l->head;

	l->head = op->next;
	if (!l->head)
		l->tail = &l->head;
	return op;
}

/* Every operation leaves an event: there is a place for those of all that are
 * under way beside the half of the ring that the peers' puts may fill. */
struct epx_op *epx_op_new(struct epx *e, uint32_t dst, void *ctx,
			  enum weft_ep_kind event)
{
	struct epx_op *op = e->free_ops;

	if (!op || e->ev_tail - e->ev_head >= e->ev_size / 2)
		return NULL;
	e->free_ops = op->next;
	*op = (struct epx_op){ .dst = dst,
			       .id = (uint32_t)(op - e->ops),
			       .used = true,
			       .ctx = ctx,
			       .event = event };
	return op;
}

void epx_event(struct epx *e, const struct weft_ep_event *ev)
{
	e->ev[e->ev_tail++ % e->ev_size] = *ev;
}

void epx_complete(struct epx *e, struct epx_op *op)
{
	struct weft_ep_event ev = { .kind = op->status ? WEFT_EV_ERROR
						       : op->event,
				    .status = op->status,
				    .src = op->dst,
				    .imm = op->imm,
				    .len = op->len,
				    .result = op->result,
				    .ctx = op->ctx };

	epx_event(e, &ev);
	epx_reg_put(op->reg);
	if (op->stage)
		op->stage->busy = false;
	op->used = op->waiting = false;
	op->next = e->free_ops;
	e->free_ops = op;
}

static void epx_progress(struct epx *e)
{
	epx_progress_rx(e);
	epx_progress_rma(e);
	epx_progress_tx(e);
	epx_return_credits(e);
}

static int epx_submit(struct epx *e, struct epx_list *to, struct epx_op *op)
{
	weft_host_cpu(e->h, EPX_CALL_COST);
	epx_list_push(to, op);
	if (to == &e->rma_todo)
		epx_progress_rma(e);
	else
		epx_progress_tx(e);
	return 0;
}

/* ---- user calls ---- */

static int epx_send(struct weft_ep *ep, uint32_t dst, const void *buf,
		    size_t len, uint64_t imm, void *ctx)
{
	struct epx *e = epx_of(ep);
	struct epx_op *op;

	if (dst >= e->n)
		return -EINVAL;
	if (len > ep->info.max_msg)
		return -EMSGSIZE;
	op = epx_op_new(e, dst, ctx, WEFT_EV_SENT);
	if (!op)
		return -EAGAIN;
	op->buf = buf;
	op->len = len;
	op->imm = imm;
	return epx_submit(e, &e->peer[dst].todo, op);
}

static int epx_put(struct weft_ep *ep, uint32_t dst, const void *buf,
		   size_t len, uint64_t raddr, uint64_t rkey, bool notify,
		   uint64_t imm, void *ctx)
{
	struct epx *e = epx_of(ep);
	struct epx_op *op;

	if (dst >= e->n || !epx_key_covers(rkey, raddr, len))
		return -EINVAL;
	op = epx_op_new(e, dst, ctx, WEFT_EV_PUT);
	if (!op)
		return -EAGAIN;
	op->buf = buf;
	op->len = len;
	op->raddr = raddr;
	op->notify = notify;
	op->imm = imm;
	return epx_submit(e, &e->rma_todo, op);
}

static int epx_get(struct weft_ep *ep, uint32_t dst, void *buf, size_t len,
		   uint64_t raddr, uint64_t rkey, void *ctx)
{
	struct epx *e = epx_of(ep);
	struct epx_op *op;

	if (dst >= e->n || !epx_key_covers(rkey, raddr, len))
		return -EINVAL;
	op = epx_op_new(e, dst, ctx, WEFT_EV_GET);
	if (!op)
		return -EAGAIN;
	op->get = true;
	op->buf = op->into = buf;
	op->len = len;
	op->raddr = raddr;
	return epx_submit(e, &e->rma_todo, op);
}

static int epx_atomic_op(struct epx *e, uint32_t dst,
			 const struct epx_atomic *a, void *ctx)
{
	struct epx_op *op;

	if (dst >= e->n || a->raddr % 8 ||
	    !epx_key_covers(a->rkey, a->raddr, 8))
		return -EINVAL;
	if (e->peer[dst].requests >= EPX_REQUESTS)
		return -EAGAIN;
	op = epx_op_new(e, dst, ctx, WEFT_EV_ATOMIC);
	if (!op)
		return -EAGAIN;
	e->peer[dst].requests++;
	op->atomic = *a;
	op->atomic.id = op->id;
	return epx_submit(e, &e->peer[dst].todo, op);
}

static int epx_fadd(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
		    uint64_t rkey, uint64_t add, void *ctx)
{
	struct epx_atomic a = { .raddr = raddr, .rkey = rkey, .a = add };

	return epx_atomic_op(epx_of(ep), dst, &a, ctx);
}

static int epx_cswap(struct weft_ep *ep, uint32_t dst, uint64_t raddr,
		     uint64_t rkey, uint64_t expect, uint64_t desired,
		     void *ctx)
{
	struct epx_atomic a = { .raddr = raddr,
				.rkey = rkey,
				.a = expect,
				.b = desired,
				.swap = 1 };

	return epx_atomic_op(epx_of(ep), dst, &a, ctx);
}

/* ---- events and waiting ---- */

static int epx_events(struct epx *e, struct weft_ep_event *ev, int max)
{
	int n = 0;

	while (n < max && e->ev_head != e->ev_tail)
		ev[n++] = e->ev[e->ev_head++ % e->ev_size];
	return n;
}

static int epx_poll(struct weft_ep *ep, struct weft_ep_event *ev, int max)
{
	struct epx *e = epx_of(ep);
	int n;

	weft_host_cpu(e->h, EPX_CALL_COST);
	epx_progress(e);
	n = epx_events(e, ev, max);
	return n + epx_give(e, ev + n, max - n);
}

static bool epx_news(struct epx *e)
{
	return e->ev_head != e->ev_tail || epx_rx_ready(e);
}

static bool epx_idle_wait(struct epx *e, weft_time_t deadline)
{
	if (!e->irq)
		return weft_host_poll_range(e->h, e->watch, e->watch_bytes,
					    deadline);
	velo_arm(e->velo);
	rma_noti_arm(e->rma);
	if (velo_check(e->velo) == VELO_SUCCESS || rma_noti_ready(e->rma))
		return true;
	return rma_irq_wait(e->rma, deadline);
}

static int epx_wait(struct weft_ep *ep, weft_time_t deadline)
{
	struct epx *e = epx_of(ep);

	for (;;) {
		epx_progress(e);
		if (epx_news(e))
			return 0;
		if (!epx_idle_wait(e, deadline))
			return -ETIMEDOUT;
	}
}

/* ---- opening ---- */

static uint64_t epx_ask(struct epx *e, uint32_t node, const char *what)
{
	char key[40];

	snprintf(key, sizeof(key), "epx%u.%s", node, what);
	return weft_oob_get(e->h, key);
}

static void epx_tell(struct epx *e, const char *what, uint64_t val)
{
	char key[40];

	snprintf(key, sizeof(key), "epx%u.%s", e->me, what);
	weft_oob_put(e->h, key, val);
}

static int epx_meet(struct epx *e)
{
	uint32_t opt = e->irq ? RMA_CONN_IRQ : RMA_CONN_DEFAULT;

	epx_tell(e, "velo", velo_vpid(e->velo));
	epx_tell(e, "rma", rma_get_vpid(e->rma));
	epx_tell(e, "irq", e->irq);
	for (uint32_t i = 0; i < e->n; i++) {
		struct epx_peer *p = &e->peer[i];

		p->irq = epx_ask(e, i, "irq");
		if (velo_connect(e->velo, &p->velo, i,
				 (uint32_t)epx_ask(e, i, "velo")) ||
		    rma_connect(e->rma, i, (uint32_t)epx_ask(e, i, "rma"), opt,
				&p->rma))
			return -ENODEV;
	}
	return 0;
}

/* What the peers together may have in our mailbox without being asked. */
static size_t epx_mailbox(const struct epx *e, uint32_t eager)
{
	size_t msg = 3 + (eager + EPX_VELO - 1) / EPX_VELO;

	return (size_t)e->n * (e->slots * msg + 4 * EPX_REQUESTS) * EPX_SLOT;
}

static int epx_ports(struct epx *e)
{
	struct velo_attr va = { .mailbox = epx_mailbox(e, e->eager_max) };
	struct rma_attr ra = { .slots = EPX_NOTIS };
	const uint8_t *box, *ring;
	size_t box_n, ring_n;

	if (velo_open(e->h, &va, &e->velo) || rma_open(e->h, &ra, &e->rma))
		return -ENODEV;
	box = velo_mailbox(e->velo, &box_n);
	ring = (const uint8_t *)rma_noti_ring(e->rma, &ring_n);
	e->watch = box < ring ? box : ring;
	e->watch_bytes =
		(size_t)((box < ring ? ring + ring_n : box + box_n) - e->watch);
	return 0;
}

/* Pinned memory: bounces, stages, landings. */
static int epx_pool(struct epx *e)
{
	size_t big = (e->ep.info.max_msg / EPX_PAGE + 2) * EPX_PAGE;
	size_t bytes = EPX_BOUNCES * EPX_BOUNCE, at = 0;
	weft_phys_t phys;

	e->lands = big > 128 << 10 ? 4 : 8;
	bytes += (EPX_STAGES + e->lands) * big;
	e->land = weft_host_calloc(e->h, e->lands, sizeof(*e->land));
	e->pool = weft_mem_alloc(e->h, bytes, EPX_PAGE, &phys);
	if (!e->pool || !e->land ||
	    rma_register(e->rma, e->pool, bytes, &e->pool_region))
		return -ENOMEM;
	for (uint32_t i = 0; i < EPX_BOUNCES; i++, at += EPX_BOUNCE)
		e->bounce[i] = (struct epx_buf){ .p = e->pool + at, .at = at };
	for (uint32_t i = 0; i < EPX_STAGES; i++, at += big)
		e->stage[i] = (struct epx_buf){ .p = e->pool + at, .at = at };
	for (uint32_t i = 0; i < e->lands; i++, at += big)
		e->land[i] = (struct epx_buf){ .p = e->pool + at, .at = at };
	return 0;
}

static int epx_peers(struct epx *e)
{
	size_t eager = (e->eager_max + 7) & ~7u;
	struct epx_msg *m =
		weft_host_calloc(e->h, (size_t)e->n * e->slots, sizeof(*m));

	e->peer = weft_host_calloc(e->h, e->n, sizeof(*e->peer));
	e->eager = weft_host_calloc(e->h, (size_t)e->n * e->slots, eager);
	if (!m || !e->peer || !e->eager)
		return -ENOMEM;
	for (uint32_t i = 0; i < e->n * e->slots; i++)
		m[i].eager = e->eager + i * eager;
	for (uint32_t i = 0; i < e->n; i++) {
		e->peer[i].msg = m + (size_t)i * e->slots;
		epx_list_init(&e->peer[i].todo);
		e->peer[i].gets.tail = &e->peer[i].gets.head;
	}
	return 0;
}

static int epx_lists(struct epx *e)
{
	e->ev_size = 8 * EPX_OPS;
	e->ev = weft_host_calloc(e->h, e->ev_size, sizeof(*e->ev));
	e->ops = weft_host_calloc(e->h, EPX_OPS, sizeof(*e->ops));
	if (!e->ev || !e->ops)
		return -ENOMEM;
	for (uint32_t i = 0; i < EPX_OPS; i++) {
		e->ops[i].next = e->free_ops;
		e->free_ops = &e->ops[i];
	}
	for (uint32_t i = 0; i < EPX_PIECES; i++) {
		e->piece[i].next = e->free_pieces;
		e->free_pieces = &e->piece[i];
	}
	epx_list_init(&e->rma_todo);
	e->puts.tail = &e->puts.head;
	return 0;
}

static void epx_close(struct weft_ep *ep)
{
	struct epx *e = epx_of(ep);

	if (e->velo)
		velo_close(e->velo);
	if (e->rma)
		rma_close(e->rma);
	if (e->pool)
		weft_mem_free(e->h, e->pool);
	epx_mem_free(e);
	if (e->peer)
		weft_host_free(e->h, e->peer[0].msg);
	weft_host_free(e->h, e->peer);
	weft_host_free(e->h, e->eager);
	weft_host_free(e->h, e->land);
	weft_host_free(e->h, e->ops);
	weft_host_free(e->h, e->ev);
	weft_host_free(e->h, e);
}

static const struct weft_ep_ops epx_ops = {
	.close = epx_close,
	.mr_reg = epx_mr_reg,
	.send = epx_send,
	.put = epx_put,
	.get = epx_get,
	.fadd = epx_fadd,
	.cswap = epx_cswap,
	.poll = epx_poll,
	.release = epx_release,
	.wait = epx_wait,
};

static void epx_info(struct epx *e, const struct weft_ep_attr *attr)
{
	struct weft_ep_info *i = &e->ep.info;

	i->name = "extoll";
	i->caps = WEFT_EP_MSG | WEFT_EP_PUT | WEFT_EP_GET | WEFT_EP_FADD |
		  WEFT_EP_CSWAP;
	i->emulated = WEFT_EP_FADD | WEFT_EP_CSWAP;
	i->max_msg = attr->max_msg ? attr->max_msg : EPX_MAX_MSG;
	i->max_put = UINT32_MAX;
	i->align = 1;
	e->slots = attr->rx_slots ? attr->rx_slots : 16;
	e->eager_max = attr->eager_max ? attr->eager_max : EPX_EAGER;
	if (e->eager_max > EPX_EAGER_MAX)
		e->eager_max = EPX_EAGER_MAX;
	while (e->eager_max > EPX_VELO &&
	       epx_mailbox(e, e->eager_max) > EPX_MAILBOX)
		e->eager_max /= 2;
	if (e->eager_max < EPX_VELO - sizeof(uint64_t))
		e->eager_max = EPX_VELO - sizeof(uint64_t);
}

static int epx_start(struct epx *e)
{
	int ret = epx_peers(e);

	if (!ret)
		ret = epx_lists(e);
	if (!ret)
		ret = epx_ports(e);
	if (!ret)
		ret = epx_pool(e);
	return ret ? ret : epx_meet(e);
}

int ep_extoll_open(struct weft_host *h, const struct weft_ep_attr *attr,
		   struct weft_ep **ep_p)
{
	struct epx *e;
	int ret;

	if (attr->max_msg >= 1u << 24)
		return -EINVAL;
	e = weft_host_calloc(h, 1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	e->ep.ops = &epx_ops;
	e->ep.host = e->h = h;
	e->me = weft_host_node(h);
	e->n = weft_host_nodes(h);
	e->irq = attr->use_irq;
	epx_info(e, attr);
	ret = epx_start(e);
	if (ret) {
		epx_close(&e->ep);
		return ret;
	}
	*ep_p = &e->ep;
	return 0;
}
