/* SPDX-License-Identifier: Apache-2.0 */
/* Sends messages. A short message is sent at once, and a long message is
 * announced first. */
#include "provider/tx.h"

#include <string.h>

#include "provider/bulk.h"

/* Flags with which the completion of an operation has to wait for the
 * target. */
#define TX_WANT (FI_DELIVERY_COMPLETE | FI_MATCH_COMPLETE | FI_COMMIT_COMPLETE)

bool wfi_tx_over(struct wfi_ep *ep, const struct wfi_tx *t, size_t len,
		 ssize_t *ret_p)
{
	bool inject = t->inject || (t->flags & FI_INJECT);

	if (t->iovs > WFI_IOV ||
	    (inject && !(t->kind & FI_READ) && len > WFI_INJECT))
		*ret_p = -FI_EINVAL;
	else if (len > ep->info->ep_attr->max_msg_size)
		*ret_p = -FI_EMSGSIZE;
	else if (t->flags & FI_TRIGGER)
		*ret_p = wfi_trigger_tx(ep, t);
	else
		return false;
	return true;
}

int wfi_tx_begin(struct wfi_ep *ep, const struct wfi_tx *t, uint64_t bytes,
		 struct wfi_peer **p_p, struct wire *w)
{
	int rc;

	wfi_lock(ep->hub);
	rc = wfi_ep_dest(ep, t->addr, p_p, &w->dst);
	if (rc == -FI_EAGAIN)
		wfi_hub_progress(ep->hub);
	if (rc) {
		wfi_unlock(ep->hub);
		return rc;
	}
	w->src = ep->port.num;
	if (t->flags & FI_REMOTE_CQ_DATA)
		w->flags |= WIRE_DATA;
	wfi_call_begin(ep->hub, wfi_call_of(t->kind), bytes);
	return 0;
}

ssize_t wfi_tx_ret(struct wfi_ep *ep, int rc)
{
	struct wfi_hub *h = ep->hub;

	wfi_call_end(h, rc);
	if (rc != -EAGAIN) {
		wfi_unlock(h);
		return rc;
	}
	if (!wfi_hub_progress(h)) {
		wfi_unlock(h);
		weft_att_idle(h->att);
		return -FI_EAGAIN;
	}
	wfi_unlock(h);
	return -FI_EAGAIN;
}

struct wfi_op *wfi_tx_op(struct wfi_ep *ep, const struct wfi_tx *t,
			 struct wfi_peer *p, uint16_t port)
{
	struct wfi_op *op = wfi_op_new(ep->hub, &wfi_tx_type, ep->base, p);

	if (!op)
		return NULL;
	op->port = port;
	op->context = t->context;
	op->flags = t->kind;
	op->op_flags = t->flags;
	op->quiet =
		t->inject || (ep->base->tx_sel && !(t->flags & FI_COMPLETION));
	op->tag = t->tag;
	op->data = t->data;
	op->work = t->work;
	op->iovs = t->iovs;
	if (t->iovs)
		memcpy(op->iov, t->iov, t->iovs * sizeof(*t->iov));
	return op;
}

/* ---- announced messages ---- */

static void tx_put_done(struct wfi_op *op)
{
	if (op->acked || !(op->op_flags & TX_WANT))
		wfi_op_end(op, 0);
}

/* Records an acknowledgement. The operation ends only after its puts, because
 * the transport reads the buffer until all puts are sent. */
static void tx_put_ack(struct wfi_op *op, const struct wfi_in *in)
{
	op->acked = true;
	if (!op->bulk)
		wfi_op_end(op, 0);
}

const struct wfi_op_type wfi_tx_put_type = {
	.put = tx_put_done,
	.ack = tx_put_ack,
	.end = wfi_ep_tx_end,
};

static void tx_cts(struct wfi_op *op, const struct wfi_in *in)
{
	struct wire_window to;
	void *from;

	if (in->len != sizeof(to))
		return;
	memcpy(&to, in->data, sizeof(to));
	if (to.len > op->full)
		return;
	op->type = &wfi_tx_put_type;
	from = wfi_op_flat(op, true);
	if (!from)
		wfi_op_end(op, ENOMEM);
	else
		wfi_bulk_put(op, from, to.len, &to, in->w->id2);
}

static void tx_ack(struct wfi_op *op, const struct wfi_in *in)
{
	wfi_op_end(op, 0);
}

static void tx_sent(struct wfi_op *op)
{
	wfi_op_end(op, 0);
}

const struct wfi_op_type wfi_tx_type = {
	.cts = tx_cts,
	.ack = tx_ack,
	.sent = tx_sent,
	.end = wfi_ep_tx_end,
};

/* ---- results ---- */

static void tx_result(struct wfi_op *op, const struct wfi_in *in)
{
	if (in->len != op->full) {
		wfi_op_end(op, EIO);
		return;
	}
	wfi_iov_in(op->iov, op->iovs, 0, in->data, in->len);
	wfi_op_end(op, 0);
}

const struct wfi_op_type wfi_tx_fetch_type = {
	.result = tx_result,
	.end = wfi_ep_tx_end,
};

/* ---- messages ---- */

static int tx_short(struct wfi_ep *ep, const struct wfi_tx *t,
		    struct wfi_peer *p, struct wire *w)
{
	struct wfi_hub *h = ep->hub;
	struct wfi_op *op;
	struct wfi_note *note = NULL;
	int rc = 0;

	if (t->inject && !t->work) {
		rc = wfi_hub_send(h, p, w, t->iov, t->iovs, NULL, false);
		if (!rc)
			wfi_ep_count(ep, WFI_C_SEND, false);
		return rc;
	}
	op = wfi_tx_op(ep, t, p, w->dst);
	if (!op)
		return -ENOMEM;
	if (t->flags & TX_WANT) {
		rc = wfi_op_number(op);
		w->flags |= WIRE_WANT;
		w->id = op->id;
	} else {
		note = &op->note;
		op->notes = 1;
	}
	if (!rc)
		rc = wfi_hub_send(h, p, w, t->iov, t->iovs, note, false);
	if (rc) {
		op->notes = 0;
		wfi_op_free(op);
	}
	return rc;
}

static int tx_long(struct wfi_ep *ep, const struct wfi_tx *t,
		   struct wfi_peer *p, struct wire *w, uint64_t len)
{
	struct wfi_op *op = wfi_tx_op(ep, t, p, w->dst);
	struct iovec iov = { &len, sizeof(len) };
	int rc;

	if (!op)
		return -ENOMEM;
	op->full = len;
	rc = wfi_op_number(op);
	w->op = WIRE_RTS;
	w->id = op->id;
	if (t->flags & TX_WANT)
		w->flags |= WIRE_WANT;
	if (!rc)
		rc = wfi_hub_send(ep->hub, p, w, &iov, 1, NULL, false);
	if (rc)
		wfi_op_free(op);
	return rc;
}

ssize_t wfi_send(struct wfi_ep *ep, const struct wfi_tx *t)
{
	struct wire w = { .op = WIRE_MSG,
			  .flags = t->kind & FI_TAGGED ? WIRE_TAGGED : 0,
			  .a = t->tag,
			  .b = t->data };
	size_t len = wfi_iov_len(t->iov, t->iovs);
	struct wfi_peer *p;
	ssize_t rc;

	if (wfi_tx_over(ep, t, len, &rc))
		return rc;
	rc = wfi_tx_begin(ep, t, len, &p, &w);
	if (rc)
		return rc;
	return wfi_tx_ret(ep, len <= ep->hub->eager
				      ? tx_short(ep, t, p, &w)
				      : tx_long(ep, t, p, &w, len));
}

/* ---- calls ---- */

ssize_t wfi_tx_any(struct wfi_ep *ep, const struct wfi_tx *t)
{
	return t->kind & FI_RMA ? wfi_rma(ep, t) : wfi_send(ep, t);
}

ssize_t wfi_tx_do(struct fid_ep *fid, struct wfi_tx *t)
{
	struct wfi_ep *ep = wfi_ep_of(fid);

	if (!t->inject)
		t->flags |= ep->tx_flags;
	return wfi_tx_any(ep, t);
}

ssize_t wfi_tx_buf(struct fid_ep *fid, const void *buf, size_t len,
		   struct wfi_tx *t)
{
	struct iovec iov = { (void *)buf, len };

	t->iov = &iov;
	t->iovs = 1;
	return wfi_tx_do(fid, t);
}
