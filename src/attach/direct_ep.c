/* SPDX-License-Identifier: Apache-2.0 */
/* Calls and events of a direct endpoint. */
#include <errno.h>
#include <string.h>

#include "attach/direct_internal.h"

uint32_t direct_addr(const struct direct *d, uint32_t place)
{
	return WEFT_ATT_ADDR(place % d->nodes, place / d->nodes);
}

static bool place_of(const struct direct *d, uint32_t addr, uint32_t *place_p)
{
	uint64_t i =
		(uint64_t)WEFT_ATT_SLOT(addr) * d->nodes + WEFT_ATT_NODE(addr);

	*place_p = (uint32_t)i;
	return WEFT_ATT_NODE(addr) < d->nodes && i < d->n;
}

/* ---- events of this process ---- */

bool direct_event(struct direct *d, const struct weft_ep_event *ev)
{
	if (d->ev_tail - d->ev_head == DIRECT_EVENTS)
		return false;
	d->ev[d->ev_tail++ % DIRECT_EVENTS] = *ev;
	return true;
}

/* Returns true if a new operation may start. DIRECT_OPS entries of the queue
 * stay free, so that operations in flight always find room for their events. */
static bool ev_room(const struct direct *d)
{
	return d->ev_tail - d->ev_head < DIRECT_EVENTS - DIRECT_OPS;
}

/* ---- calls ---- */

static int direct_send(struct direct *d, uint32_t to,
		       const struct weft_ep_op *op)
{
	struct weft_ep_event ev = { .kind = WEFT_EV_SENT,
				    .src = op->dst,
				    .imm = op->imm,
				    .len = op->len,
				    .ctx = op->ctx };
	struct direct_head *h;

	if (op->len > d->ep.info.max_msg)
		return -EMSGSIZE;
	if (op->ctx && !ev_room(d))
		return -EAGAIN;
	if (direct_is_left(d, to)) {
		ev.kind = WEFT_EV_ERROR;
		ev.status = -EPIPE;
	} else {
		h = direct_begin(d, to, op->len);
		if (!h)
			return -EAGAIN;
		if (op->len)
			memcpy(h + 1, op->buf, op->len);
		direct_commit(d, to, h, DIRECT_MSG, op->len, (uint32_t)op->imm);
	}
	if (op->ctx)
		direct_event(d, &ev);
	return 0;
}

static int ep_post(struct weft_ep *ep, const struct weft_ep_op *op)
{
	static int (*const remote[])(struct direct *, uint32_t,
				     const struct weft_ep_op *) = {
		[WEFT_EP_PUT] = direct_put,
		[WEFT_EP_GET] = direct_get,
		[WEFT_EP_FADD] = direct_atomic,
		[WEFT_EP_CSWAP] = direct_atomic,
	};
	bool imm = op->code == WEFT_EP_MSG || op->code == WEFT_EP_PUT;
	struct direct *d = (struct direct *)ep;
	uint32_t to;

	if (d->forked)
		return -EIO;
	d->acts++;
	if (!(op->code & ep->info.caps) || op->code & (op->code - 1))
		/* The operation code must be a single bit, because it is also
		 * an index. */
		return -EOPNOTSUPP;
	if (!place_of(d, op->dst, &to) || (imm && op->imm > UINT32_MAX))
		return -EINVAL;
	if (op->code == WEFT_EP_MSG)
		return direct_send(d, to, op);
	return ev_room(d) ? remote[op->code](d, to, op) : -EAGAIN;
}

/* ---- messages in ---- */

/* Handles one message. Returns true if the message is reported as the event
 * *ev. */
static bool direct_ep_take(struct direct *d, uint32_t from,
			   const struct direct_head *h, enum direct_kind kind,
			   uint32_t len, struct weft_ep_event *ev)
{
	const uint8_t *data = (const uint8_t *)(h + 1);

	*ev = (struct weft_ep_event){ .kind = WEFT_EV_RECV,
				      .src = direct_addr(d, from),
				      .imm = h->imm };
	if (kind == DIRECT_MSG) {
		ev->data = data;
		ev->len = len;
		return true;
	}
	if (kind == DIRECT_ASK)
		direct_asked(d, from, data, len);
	else if (kind == DIRECT_ANSWER)
		direct_answered(d, from, data, len);
	direct_free(d, &d->peer[from], h);
	ev->kind = WEFT_EV_PUT_IN;
	return kind == DIRECT_PUT_IN;
}

static int take_all(struct direct *d, struct weft_ep_event *ev, int max)
{
	int n = 0;

	direct_meet(d);
	for (uint32_t k = 0; k < d->n_active && n < max; k++) {
		uint32_t from = d->active[(d->turn + k) % d->n_active];
		enum direct_kind kind;
		uint64_t end = d->peer[from].got + d->ring_bytes;
		const struct direct_head *h;
		uint32_t len;

		/* A poll reads at most one full ring of messages from each
		 * peer, because a sender may refill its ring without end. */
		while (n < max && d->peer[from].got < end &&
		       (h = direct_next(d, &d->peer[from], &kind, &len)))
			n += direct_ep_take(d, from, h, kind, len, &ev[n]);
	}
	d->turn++;
	return n;
}

static bool direct_ep_unread(struct direct *d, struct direct_peer *p)
{
	const struct direct_head *h;

	if (!p->place || p->broken)
		return false;
	h = direct_head_at(d, p->in, p->got);
	return atomic_load_explicit(&h->mark, memory_order_acquire);
}

/* Reports peers that have left or died, after all their messages were read. */
static int direct_ep_farewell(struct direct *d, struct weft_ep_event *ev,
			      int max)
{
	uint32_t leavers = atomic_load(&d->seg->leavers);
	bool again = false;
	int n = 0;

	for (uint32_t i = 0; i < d->n; i++) {
		struct direct_peer *p = &d->peer[i];
		uint32_t state = atomic_load(&d->seg->post[i].state);

		if (p->left || state < DIRECT_LEFT)
			continue;
		again |= direct_ep_unread(d, p) || n == max;
		if (again)
			continue;
		p->left = true;
		if (state == DIRECT_DEAD)
			ev[n++] = (struct weft_ep_event){
				.kind = WEFT_EV_ERROR,
				.status = -EPIPE,
				.src = direct_addr(d, i),
			};
	}
	if (!again)
		d->leavers = leavers;
	return n;
}

static int own_events(struct direct *d, struct weft_ep_event *ev, int max)
{
	int n = 0;

	while (n < max && d->ev_head != d->ev_tail)
		ev[n++] = d->ev[d->ev_head++ % DIRECT_EVENTS];
	return n;
}

static int ep_poll(struct weft_ep *ep, struct weft_ep_event *ev, int max)
{
	struct direct *d = (struct direct *)ep;
	int n, got;

	if (d->forked)
		return 0;
	n = own_events(d, ev, max);
	got = take_all(d, ev + n, max - n);
	if (!got)
		for (uint32_t k = 0; k < d->n_active; k++)
			direct_tell_room(d, &d->peer[d->active[k]]);
	n += got;
	d->blocked = 0;
	if (n < max && atomic_load_explicit(&d->seg->leavers,
					    memory_order_relaxed) != d->leavers)
		n += direct_ep_farewell(d, ev + n, max - n);
	if (d->n_ops || d->reply_head != d->reply_tail)
		direct_progress(d);
	n += own_events(d, ev + n, max - n);
	d->acts += n > 0;
	return n;
}

static void ep_release(struct weft_ep *ep, const struct weft_ep_event *ev)
{
	struct direct *d = (struct direct *)ep;
	struct direct_peer *p;
	const struct direct_head *h;
	uint64_t at;
	uint32_t from;

	if (ev->kind != WEFT_EV_RECV || !place_of(d, ev->src, &from) ||
	    !d->peer[from].place)
		return;
	p = &d->peer[from];
	h = (const struct direct_head *)((uintptr_t)ev->data - sizeof(*h));
	at = (uint64_t)((const uint8_t *)h - p->in);
	if (at < d->ring_bytes && !(at % DIRECT_UNIT))
		direct_free(d, p, h);
}

bool direct_news(struct direct *d)
{
	if (d->ev_head != d->ev_tail ||
	    atomic_load_explicit(&d->seg->leavers, memory_order_relaxed) !=
		    d->leavers)
		return true;
	direct_meet(d);
	for (uint32_t k = 0; k < d->n_active; k++)
		if (direct_ep_unread(d, &d->peer[d->active[k]]))
			return true;
	return d->blocked && direct_has_room(d, d->blocked - 1, d->blocked_len);
}

static int ep_wait(struct weft_ep *ep, weft_time_t deadline)
{
	struct direct *d = (struct direct *)ep;

	while (direct_wait(d, 1000))
		if (d->forked || direct_now(d) >= deadline)
			return d->forked ? -EIO : -ETIMEDOUT;
	return 0;
}

static void ep_close(struct weft_ep *ep)
{
	(void)ep; /* Does nothing, because the attachment owns the endpoint. */
}

const struct weft_ep_ops direct_ops = {
	.close = ep_close,
	.mr_reg = direct_mr_reg,
	.mr_dereg = direct_mr_dereg,
	.post = ep_post,
	.poll = ep_poll,
	.release = ep_release,
	.wait = ep_wait,
};
