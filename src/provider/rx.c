/* SPDX-License-Identifier: Apache-2.0 */
/* Receives messages and assigns each to a receive that matches. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/minmax.h"
#include "provider/bulk.h"
#include "provider/obj.h"

/* ---- completions ---- */

struct wfi_comp wfi_rx_comp(const struct wfi_msg *m, void *context)
{
	bool tagged = m->flags & WIRE_TAGGED;
	struct wfi_comp c = {
		.e.op_context = context,
		.e.flags = FI_RECV | (tagged ? FI_TAGGED : FI_MSG),
		.e.len = m->len,
		.e.tag = tagged ? m->tag : 0,
		.src = FI_ADDR_NOTAVAIL,
	};

	if (m->flags & WIRE_DATA) {
		c.e.flags |= FI_REMOTE_CQ_DATA;
		c.e.data = m->data;
	}
	if (m->ep->av && (m->ep->info->caps & FI_SOURCE))
		c.src = wfi_av_addr(m->ep->av, m->from);
	return c;
}

/* Reserves memory of a receive for a message, and stores it in iov. Returns the
 * number of bytes that the receive has room for. */
static size_t rx_room(struct wfi_rxq *q, struct wfi_rx *rx, size_t len,
		      struct iovec *iov, size_t *iovs_p)
{
	size_t room = rx->len - rx->used;

	memcpy(iov, rx->iov, sizeof(rx->iov));
	*iovs_p = rx->iovs;
	if (rx->multi) {
		iov[0].iov_base = (char *)iov[0].iov_base + rx->used;
		iov[0].iov_len = room;
		rx->used += min_of(len, room);
	}
	rx->pending++;
	if (!rx->multi || rx->len - rx->used < rx->least)
		wfi_rxq_remove(q, rx);
	return room;
}

/* Completes one message of a receive. Frees the receive if it is not posted any
 * more and no other message is pending. */
static void rx_done(struct wfi_ep *ep, struct wfi_rx *rx, struct wfi_comp *c,
		    void *buf, size_t room)
{
	bool last = !--rx->pending && !rx->posted;
	bool quiet = rx->quiet;

	c->e.buf = buf;
	if (c->e.len > room) {
		c->olen = c->e.len - room;
		c->e.len = room;
		c->err = c->err ? c->err : FI_ETRUNC;
	}
	if (rx->multi && last)
		c->e.flags |= FI_MULTI_RECV;
	if (last)
		free(rx);
	wfi_ep_rx_end(ep, c, quiet);
}

/* ---- long messages ---- */

static struct wfi_msg rx_op_msg(struct wfi_op *op)
{
	struct wfi_msg m = {
		.ep = op->ep,
		.peer = op->peer,
		.from = WFI_NAME(op->peer->addr, op->port),
		.flags = (op->flags & FI_TAGGED ? WIRE_TAGGED : 0) |
			 (op->flags & FI_REMOTE_CQ_DATA ? WIRE_DATA : 0),
		.tag = op->tag,
		.data = op->data,
		.len = op->full,
	};

	return m;
}

static void rx_long_end(struct wfi_op *op, int err)
{
	struct wfi_rx *rx = op->rx;
	struct wfi_comp c;
	struct wfi_msg m;

	if (!rx)
		return;
	op->rx = NULL;
	if (!op->ep)
		return;
	m = rx_op_msg(op);
	c = wfi_rx_comp(&m, rx->context);
	c.err = err;
	rx_done(op->ep, rx, &c, op->iov[0].iov_base,
		wfi_iov_len(op->iov, op->iovs));
}

static void rx_long_filled(struct wfi_op *op)
{
	if (op->bounce)
		wfi_iov_in(op->iov, op->iovs, 0, op->bounce, op->len);
	if (op->peer_id)
		wfi_hub_ack(op->hub, op->peer, op->port, op->peer_id, 0);
	wfi_op_end(op, 0);
}

static const struct wfi_op_type rx_long_type = {
	.filled = rx_long_filled,
	.end = rx_long_end,
};

static void rx_cts(struct wfi_hub *h, const struct wfi_msg *m, uint32_t window,
		   const struct wire_window *to)
{
	struct wire w = { .op = WIRE_CTS,
			  .flags = WIRE_REPLY,
			  .dst = WFI_PORT(m->from),
			  .id = m->id,
			  .id2 = window };

	wfi_hub_tell(h, m->peer, &w, to, sizeof(*to));
}

void wfi_rx_refuse(struct wfi_hub *h, const struct wfi_msg *m)
{
	struct wire_window none = { 0 };

	if (!m->buf)
		rx_cts(h, m, 0, &none);
	if (m->flags & WIRE_WANT)
		wfi_hub_ack(h, m->peer, WFI_PORT(m->from), m->id, 0);
}

/* Opens the window of a long message when the NIC has room, and notifies the
 * sender. */
static int rx_long_step(struct wfi_op *op)
{
	struct wfi_msg m = rx_op_msg(op);
	struct wire_window to;
	void *flat = wfi_op_flat(op, false);
	int rc = !flat		  ? -ENOMEM
		 : op->peer->dead ? -EPIPE
				  : wfi_window_later(op, flat, op->len, &to);

	if (rc == -EAGAIN)
		return wfi_op_again(op, rx_long_step);
	m.id = op->to_id;
	if (!rc) {
		rx_cts(op->hub, &m, op->id, &to);
		return 0;
	}
	wfi_hub_ack(op->hub, op->peer, op->port, m.id, -rc);
	wfi_op_end(op, -rc);
	return 0;
}

/* Reports the loss of a message to its sender, if the sender waits for an
 * answer. */
static void rx_lost(const struct wfi_msg *m, int err)
{
	if (!m->buf || m->flags & WIRE_WANT)
		wfi_hub_ack(m->ep->hub, m->peer, WFI_PORT(m->from), m->id, err);
}

static void rx_long(struct wfi_rx *rx, const struct wfi_msg *m, size_t room,
		    const struct iovec *iov, size_t iovs)
{
	struct wfi_hub *h = m->ep->hub;
	struct wfi_op *op = wfi_op_new(h, &rx_long_type, m->ep, m->peer);

	if (!op) {
		struct wfi_comp c = wfi_rx_comp(m, rx->context);

		rx_lost(m, FI_ENOMEM);
		c.err = FI_ENOMEM;
		rx_done(m->ep, rx, &c, NULL, room);
		return;
	}
	op->rx = rx;
	op->port = WFI_PORT(m->from);
	op->tag = m->tag;
	op->data = m->data;
	op->flags = (m->flags & WIRE_TAGGED ? FI_TAGGED : 0) |
		    (m->flags & WIRE_DATA ? FI_REMOTE_CQ_DATA : 0);
	op->full = m->len;
	op->len = min_of(m->len, room);
	memcpy(op->iov, iov, sizeof(op->iov));
	op->iovs = iovs;
	op->to_id = m->id;
	op->peer_id = m->flags & WIRE_WANT ? m->id : 0;
	if (op->len) {
		rx_long_step(op);
		return;
	}
	wfi_rx_refuse(h, m);
	wfi_op_end(op, 0);
}

/* ---- matching ---- */

void wfi_rx_meet(struct wfi_rxq *q, struct wfi_rx *rx, const struct wfi_msg *m)
{
	struct iovec iov[WFI_IOV];
	size_t iovs, room = rx_room(q, rx, m->len, iov, &iovs);
	struct wfi_comp c;

	if (!m->buf) {
		rx_long(rx, m, room, iov, iovs);
		return;
	}
	wfi_iov_in(iov, iovs, 0, m->buf, m->len);
	if (m->flags & WIRE_WANT)
		wfi_hub_ack(m->ep->hub, m->peer, WFI_PORT(m->from), m->id, 0);
	c = wfi_rx_comp(m, rx->context);
	rx_done(m->ep, rx, &c, iovs ? iov[0].iov_base : NULL, room);
}

static void rx_early(struct wfi_rxq *q, const struct wfi_msg *m)
{
	size_t n = m->buf ? m->len : 0;
	bool room = wfi_rxq_room(q, n);
	struct wfi_unx *u = room ? malloc(sizeof(*u) + n) : NULL;

	if (!u) {
		int err = room ? FI_ENOMEM : FI_EOVERRUN;
		struct wfi_comp c = wfi_rx_comp(m, NULL);

		/* No receive matches, and the queue has no room for the
		 * message. The error has no receive, because none was
		 * posted. */
		rx_lost(m, err);
		c.err = err;
		c.olen = c.e.len;
		c.e.len = 0;
		wfi_ep_rx_end(m->ep, &c, false);
		return;
	}
	*u = (struct wfi_unx){ .m = *m };
	if (m->buf)
		u->m.buf = memcpy(u->buf, m->buf, n);
	wfi_rxq_add(q, u);
}

/* Handles a message (WIRE_MSG), or the announcement of a long message
 * (WIRE_RTS), whose payload is the length. */
void wfi_msg_in(struct wfi_ep *ep, const struct wfi_in *in)
{
	bool tagged = in->w->flags & WIRE_TAGGED;
	struct wfi_msg m = { .ep = ep,
			     .peer = in->peer,
			     .from = in->from,
			     .flags = in->w->flags,
			     .tag = in->w->a,
			     .data = in->w->b,
			     .id = in->w->id };
	uint64_t len = in->len;
	struct wfi_rx *rx;

	if (in->w->op == WIRE_MSG) {
		m.buf = in->data;
	} else {
		if (in->len != sizeof(len))
			return;
		memcpy(&len, in->data, sizeof(len));
	}
	m.len = len;
	rx = wfi_rxq_find(ep->rxq, tagged, m.from, m.tag);
	if (rx)
		wfi_rx_meet(ep->rxq, rx, &m);
	else
		rx_early(ep->rxq, &m);
}
