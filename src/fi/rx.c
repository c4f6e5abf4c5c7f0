/* SPDX-License-Identifier: Apache-2.0 */
/* Receiving: posted receives, messages that come in, and their meeting. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bulk.h"
#include "tx.h"

/* What is known of a message, from the wire or from the early ones. */
struct rx_msg {
	struct wfi_ep *ep;
	struct wfi_peer *peer;
	wfi_name from;
	uint8_t flags;
	uint64_t tag, data;
	uint32_t id;
	size_t len;
	const void *buf; /* NULL: announced only */
};

/* ---- completions ------------------------------------------------------- */

static struct wfi_comp rx_comp(const struct rx_msg *m, void *context)
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

/* Where the message goes in the receive, and that much of it is used. */
static size_t rx_room(struct wfi_rxq *q, struct wfi_rx *rx, size_t len,
		      struct iovec *iov, size_t *iovs_p)
{
	size_t room = rx->len - rx->used;

	memcpy(iov, rx->iov, sizeof(rx->iov));
	*iovs_p = rx->iovs;
	if (rx->multi) {
		iov[0].iov_base = (char *)iov[0].iov_base + rx->used;
		iov[0].iov_len = room;
		rx->used += len < room ? len : room;
	}
	rx->pending++;
	if (!rx->multi || rx->len - rx->used < rx->least)
		wfi_rxq_remove(q, rx);
	return room;
}

/* A message is in its receive, which ends with the last of them. */
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

/* ---- long messages ----------------------------------------------------- */

static struct rx_msg rx_op_msg(struct wfi_op *op)
{
	struct rx_msg m = {
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
	struct rx_msg m;

	if (!rx)
		return;
	op->rx = NULL;
	if (!op->ep)
		return;
	m = rx_op_msg(op);
	c = rx_comp(&m, rx->context);
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

static void rx_cts(struct wfi_hub *h, const struct rx_msg *m, uint32_t window,
		   const struct wire_window *to)
{
	struct wire w = { .op = WIRE_CTS,
			  .flags = WIRE_REPLY,
			  .dst = WFI_PORT(m->from),
			  .id = m->id,
			  .id2 = window };

	wfi_hub_tell(h, m->peer, &w, to, sizeof(*to));
}

/* Nothing of it is wanted. */
static void rx_refuse(struct wfi_hub *h, const struct rx_msg *m)
{
	struct wire_window none = { 0 };

	if (!m->buf)
		rx_cts(h, m, 0, &none);
	if (m->flags & WIRE_WANT)
		wfi_hub_ack(h, m->peer, WFI_PORT(m->from), m->id, 0);
}

/* Its window, as soon as there is one, and the word to the sender. */
static int rx_long_step(struct wfi_op *op)
{
	struct rx_msg m = rx_op_msg(op);
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

static void rx_long(struct wfi_rx *rx, const struct rx_msg *m, size_t room,
		    const struct iovec *iov, size_t iovs)
{
	struct wfi_hub *h = m->ep->hub;
	struct wfi_op *op = wfi_op_new(h, &rx_long_type, m->ep, m->peer);

	if (!op)
		return;
	op->rx = rx;
	op->port = WFI_PORT(m->from);
	op->tag = m->tag;
	op->data = m->data;
	op->flags = (m->flags & WIRE_TAGGED ? FI_TAGGED : 0) |
		    (m->flags & WIRE_DATA ? FI_REMOTE_CQ_DATA : 0);
	op->full = m->len;
	op->len = m->len < room ? m->len : room;
	memcpy(op->iov, iov, sizeof(op->iov));
	op->iovs = iovs;
	op->to_id = m->id;
	op->peer_id = m->flags & WIRE_WANT ? m->id : 0;
	if (op->len) {
		rx_long_step(op);
		return;
	}
	rx_refuse(h, m);
	wfi_op_end(op, 0);
}

/* ---- a receive and a message ------------------------------------------- */

static void rx_meet(struct wfi_rxq *q, struct wfi_rx *rx,
		    const struct rx_msg *m)
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
	c = rx_comp(m, rx->context);
	rx_done(m->ep, rx, &c, iovs ? iov[0].iov_base : NULL, room);
}

static void rx_early(struct wfi_rxq *q, const struct rx_msg *m)
{
	size_t n = m->buf ? m->len : 0;
	struct wfi_unx *u = malloc(sizeof(*u) + n);

	if (!u)
		return;
	*u = (struct wfi_unx){ .ep = m->ep,
			       .peer = m->peer,
			       .from = m->from,
			       .flags = m->flags,
			       .rts = !m->buf,
			       .tag = m->tag,
			       .data = m->data,
			       .id = m->id,
			       .len = m->len };
	if (n)
		memcpy(u->buf, m->buf, n);
	wfi_rxq_add(q, u);
}

static void rx_in(const struct rx_msg *m)
{
	struct wfi_rxq *q = m->ep->rxq;
	struct wfi_rx *rx =
		wfi_rxq_find(q, m->flags & WIRE_TAGGED, m->from, m->tag);

	if (rx)
		rx_meet(q, rx, m);
	else
		rx_early(q, m);
}

void wfi_msg_in(struct wfi_ep *ep, const struct wfi_in *in)
{
	struct rx_msg m = { .ep = ep,
			    .peer = in->peer,
			    .from = in->from,
			    .flags = in->w->flags,
			    .tag = in->w->a,
			    .data = in->w->b,
			    .id = in->w->id,
			    .len = in->len,
			    .buf = in->data };

	rx_in(&m);
}

void wfi_rts_in(struct wfi_ep *ep, const struct wfi_in *in)
{
	struct rx_msg m = { .ep = ep,
			    .peer = in->peer,
			    .from = in->from,
			    .flags = in->w->flags,
			    .tag = in->w->a,
			    .data = in->w->b,
			    .id = in->w->id };
	uint64_t len;

	if (in->len != sizeof(len))
		return;
	memcpy(&len, in->data, sizeof(len));
	m.len = len;
	rx_in(&m);
}

/* ---- posting ----------------------------------------------------------- */

static struct rx_msg unx_msg(const struct wfi_unx *u)
{
	struct rx_msg m = { .ep = u->ep,
			    .peer = u->peer,
			    .from = u->from,
			    .flags = u->flags,
			    .tag = u->tag,
			    .data = u->data,
			    .id = u->id,
			    .len = u->len,
			    .buf = u->rts ? NULL : u->buf };

	return m;
}

static struct wfi_rx *rx_new(const struct wfi_rxd *r, wfi_name from,
			     struct wfi_rxq *q, bool quiet)
{
	struct wfi_rx *rx = calloc(1, sizeof(*rx));

	if (!rx)
		return NULL;
	rx->tagged = r->tagged;
	rx->multi = r->flags & FI_MULTI_RECV;
	rx->least = q->min_multi ? q->min_multi : 1;
	rx->quiet = quiet;
	rx->tag = r->tag;
	rx->ignore = r->ignore;
	rx->from = from;
	rx->context = r->context;
	rx->iovs = r->iovs;
	if (r->iovs)
		memcpy(rx->iov, r->iov, r->iovs * sizeof(*r->iov));
	rx->len = wfi_iov_len(rx->iov, rx->iovs);
	return rx;
}

/* Early messages that the receive takes; a multi one takes all it can. */
static void rx_post(struct wfi_rxq *q, struct wfi_rx *rx)
{
	struct wfi_unx *u;
	bool again;

	wfi_rxq_post(q, rx);
	do {
		struct rx_msg m;

		u = wfi_rxq_early(q, rx->tagged, rx->from, rx->tag, rx->ignore);
		if (!u)
			return;
		again = rx->multi && rx->len - rx->used >= u->len + rx->least;
		m = unx_msg(u);
		wfi_rxq_take(q, u);
		rx_meet(q, rx, &m);
		free(u);
	} while (again);
}

/* FI_CLAIM: the message that a peek has kept for this context. */
static int rx_claim(struct wfi_ep *ep, struct wfi_rxq *q,
		    const struct wfi_rxd *r, bool quiet)
{
	struct wfi_unx *u = wfi_rxq_claimed(q, r->context);
	struct wfi_rx *rx;
	struct rx_msg m;

	if (!u)
		return -FI_EINVAL;
	m = unx_msg(u);
	if (r->flags & FI_DISCARD) {
		struct wfi_comp c = rx_comp(&m, r->context);

		rx_refuse(ep->hub, &m);
		wfi_ep_rx_end(m.ep, &c, quiet);
	} else {
		rx = rx_new(r, 0, q, quiet);
		if (!rx)
			return -FI_ENOMEM;
		rx_meet(q, rx, &m);
	}
	wfi_rxq_take(q, u);
	free(u);
	return 0;
}

static int rx_peek(struct wfi_ep *ep, struct wfi_rxq *q,
		   const struct wfi_rxd *r, wfi_name from)
{
	struct wfi_unx *u;
	struct wfi_comp c = { .e.op_context = r->context,
			      .err = FI_ENOMSG,
			      .e.flags = FI_RECV | FI_TAGGED,
			      .e.tag = r->tag,
			      .src = FI_ADDR_NOTAVAIL };

	wfi_hub_progress(ep->hub);
	u = wfi_rxq_early(q, r->tagged, from, r->tag, r->ignore);
	if (u) {
		struct rx_msg m = unx_msg(u);

		c = rx_comp(&m, r->context);
		if (r->flags & FI_DISCARD) {
			rx_refuse(ep->hub, &m);
			wfi_rxq_take(q, u);
			free(u);
		} else if (r->flags & FI_CLAIM) {
			wfi_rxq_claim(q, u, r->context);
		}
	}
	/* no message has been received: nothing is counted */
	if (ep->rx_cq)
		wfi_cq_add(ep->rx_cq, &c);
	return 0;
}

/* The name behind an address, or what it can be told by. */
static int rx_from_addr(struct wfi_ep *ep, fi_addr_t addr, wfi_name *from_p)
{
	int rc;

	*from_p = 0;
	if (addr == FI_ADDR_UNSPEC || !ep->av ||
	    !(ep->info->caps & FI_DIRECTED_RECV))
		return 0;
	rc = wfi_av_name(ep->av, addr, from_p);
	if (!rc && !*from_p)
		*from_p = RX_PORT | ntohs(ep->av->at[addr].sin.sin_port);
	return rc;
}

static int rx_any(struct wfi_ep *ep, struct wfi_rxq *q, const struct wfi_rxd *r,
		  bool quiet)
{
	wfi_name from;
	struct wfi_rx *rx;
	int rc = ep ? rx_from_addr(ep, r->addr, &from) : 0;

	if (!ep)
		from = 0;
	if (rc)
		return rc;
	if (ep && (r->flags & FI_PEEK))
		return rx_peek(ep, q, r, from);
	if (ep && (r->flags & FI_CLAIM))
		return rx_claim(ep, q, r, quiet);
	rx = rx_new(r, from, q, quiet);
	if (!rx)
		return -FI_ENOMEM;
	rx_post(q, rx);
	return 0;
}

/* An endpoint's own receives, or those of a context that several share. */
ssize_t wfi_recv(struct fid_ep *fid, const struct wfi_rxd *r)
{
	bool shared = fid->fid.fclass == FI_CLASS_SRX_CTX;
	struct wfi_ep *ep = shared ? NULL : wfi_ep_of(fid)->base;
	struct wfi_srx *srx =
		shared ? container_of(fid, struct wfi_srx, fid) : NULL;
	struct wfi_hub *h = shared ? srx->dom->hub : ep->hub;
	bool quiet = ep && ep->rx_sel && !(r->flags & FI_COMPLETION);
	int rc;

	if (r->iovs > WFI_IOV)
		return -FI_EINVAL;
	wfi_lock(h);
	wfi_call_begin(h, r->tagged ? WFI_CALL_TRECV : WFI_CALL_RECV,
		       wfi_iov_len(r->iov, r->iovs));
	wfi_hub_charge(h);
	rc = rx_any(ep, shared ? &srx->rxq : ep->rxq, r, quiet);
	wfi_call_end(h, rc);
	wfi_unlock(h);
	return rc;
}
