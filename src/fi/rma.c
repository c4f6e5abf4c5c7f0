/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of fi_rma: this side. */
#include <errno.h>
#include <string.h>

#include "bulk.h"
#include "region.h"
#include "tx.h"

#define WRITE (FI_RMA | FI_WRITE)
#define READ  (FI_RMA | FI_READ)

/* ---- write ------------------------------------------------------------- */

/* Its message, with a number that the other side acknowledges. */
static int rma_post(struct wfi_op *op, struct wire *w, const struct iovec *iov,
		    size_t n)
{
	int rc = op->id ? 0 : wfi_op_number(op);

	w->id = op->id;
	if (!rc)
		rc = wfi_hub_send(op->hub, op->peer, w, iov, n, NULL, false);
	if (rc)
		wfi_op_free(op);
	return rc;
}

static int rma_write_short(struct wfi_op *op, const struct wfi_tx *t,
			   struct wire *w)
{
	struct iovec iov[WFI_IOV + 1] = { { &op->data, sizeof(op->data) } };

	memcpy(iov + 1, t->iov, t->iovs * sizeof(*iov));
	return rma_post(op, w, iov, t->iovs + 1);
}

static int rma_write_long(struct wfi_op *op, const struct wfi_tx *t,
			  struct wire *w, size_t len)
{
	struct wire_long l = { .len = len, .data = t->data };
	struct iovec iov = { &l, sizeof(l) };

	memcpy(op->iov, t->iov, t->iovs * sizeof(*t->iov));
	op->iovs = t->iovs;
	op->full = len;
	op->op_flags |= FI_DELIVERY_COMPLETE;
	w->op = WIRE_WREQ;
	return rma_post(op, w, &iov, 1);
}

/* Straight into the region. */
static int rma_write_direct(struct wfi_op *op, const struct wfi_tx *t,
			    const struct wire_window *to)
{
	int rc = wfi_op_number(op);
	void *from;

	memcpy(op->iov, t->iov, t->iovs * sizeof(*t->iov));
	op->iovs = t->iovs;
	op->op_flags |= FI_DELIVERY_COMPLETE;
	op->type = &wfi_tx_put_type;
	from = wfi_op_flat(op, true);
	if (!from || rc) {
		wfi_op_free(op);
		return -FI_ENOMEM;
	}
	wfi_bulk_put(op, from, to->len, to, op->id | WFI_DIRECT);
	return 0;
}

static bool rma_direct(struct wfi_ep *ep, const struct wfi_tx *t,
		       struct wfi_peer *p, uint16_t port, size_t len,
		       struct wire_window *to)
{
	return !t->inject && !(t->flags & (FI_REMOTE_CQ_DATA | FI_INJECT)) &&
	       wfi_region_find(ep, p, port, t->key, t->raddr, len,
			       t->kind & FI_READ ? FI_REMOTE_READ
						 : FI_REMOTE_WRITE,
			       to);
}

static ssize_t rma_write_any(struct wfi_ep *ep, const struct wfi_tx *t)
{
	struct wire w = { .op = WIRE_WRITE, .a = t->raddr, .b = t->key };
	size_t len = wfi_iov_len(t->iov, t->iovs);
	struct wire_window to;
	struct wfi_peer *p;
	struct wfi_op *op;
	int rc;

	if (t->iovs > WFI_IOV)
		return -FI_EINVAL;
	if (t->flags & FI_TRIGGER)
		return wfi_trigger_tx(ep, t);
	if ((t->inject || (t->flags & FI_INJECT)) && len > WFI_INJECT)
		return -FI_EINVAL;
	rc = wfi_tx_begin(ep, t, len, &p, &w.dst);
	if (rc)
		return rc;
	w.src = ep->port.num;
	if (t->flags & FI_REMOTE_CQ_DATA)
		w.flags |= WIRE_DATA;
	op = wfi_tx_op(ep, t, p, w.dst);
	if (!op)
		rc = -FI_ENOMEM;
	else if (rma_direct(ep, t, p, w.dst, len, &to))
		rc = rma_write_direct(op, t, &to);
	else if (len + sizeof(uint64_t) <= ep->hub->eager)
		rc = rma_write_short(op, t, &w);
	else
		rc = rma_write_long(op, t, &w, len);
	return wfi_tx_ret(ep, rc);
}

/* ---- read -------------------------------------------------------------- */

static void rma_read_result(struct wfi_op *op, const struct wfi_in *in)
{
	if (in->len != op->full) {
		wfi_op_end(op, EIO);
		return;
	}
	wfi_iov_in(op->iov, op->iovs, 0, in->data, in->len);
	wfi_op_end(op, 0);
}

static void rma_read_filled(struct wfi_op *op)
{
	if (op->bounce)
		wfi_iov_in(op->iov, op->iovs, 0, op->bounce, op->full);
	wfi_op_end(op, 0);
}

static const struct wfi_op_type rma_read_type = {
	.result = rma_read_result,
	.end = wfi_ep_tx_end,
};

static const struct wfi_op_type rma_read_long_type = {
	.filled = rma_read_filled,
	.end = wfi_ep_tx_end,
};

static int rma_read_short(struct wfi_op *op, struct wire *w, uint64_t len)
{
	struct iovec iov = { &len, sizeof(len) };

	op->type = &rma_read_type;
	return rma_post(op, w, &iov, 1);
}

static int rma_read_long(struct wfi_op *op, struct wire *w, size_t len)
{
	struct wire_long l = { .len = len };
	struct iovec iov = { &l, sizeof(l) };
	void *flat = wfi_op_flat(op, false);
	int rc = flat ? wfi_window_open(op, flat, len, &l.to) : -FI_ENOMEM;

	op->type = &rma_read_long_type;
	w->op = WIRE_RREQ;
	if (!rc)
		return rma_post(op, w, &iov, 1);
	wfi_op_free(op);
	return rc;
}

static const struct wfi_op_type rma_read_direct_type = {
	.sent = rma_read_filled,
	.end = wfi_ep_tx_end,
};

static int rma_read_direct(struct wfi_op *op, const struct wire_window *from)
{
	void *flat = wfi_op_flat(op, false);
	struct weft_ep *ep = op->hub->ep;
	int rc = -FI_ENOMEM;

	op->type = &rma_read_direct_type;
	if (flat)
		rc = ep->ops->get(ep, op->peer->addr, flat, from->len,
				  from->addr, from->key, &op->note);
	if (rc)
		wfi_op_free(op);
	else
		op->notes = 1;
	return rc;
}

static ssize_t rma_read_any(struct wfi_ep *ep, const struct wfi_tx *t)
{
	struct wire w = { .op = WIRE_READ, .a = t->raddr, .b = t->key };
	size_t len = wfi_iov_len(t->iov, t->iovs);
	struct wire_window from;
	struct wfi_peer *p;
	struct wfi_op *op;
	int rc;

	if (t->iovs > WFI_IOV)
		return -FI_EINVAL;
	if (t->flags & FI_TRIGGER)
		return wfi_trigger_tx(ep, t);
	rc = wfi_tx_begin(ep, t, len, &p, &w.dst);
	if (rc)
		return rc;
	w.src = ep->port.num;
	op = wfi_tx_op(ep, t, p, w.dst);
	if (!op)
		return wfi_tx_ret(ep, -FI_ENOMEM);
	memcpy(op->iov, t->iov, t->iovs * sizeof(*t->iov));
	op->iovs = t->iovs;
	op->full = len;
	if (rma_direct(ep, t, p, w.dst, len, &from))
		rc = rma_read_direct(op, &from);
	else
		rc = len <= ep->hub->eager ? rma_read_short(op, &w, len)
					   : rma_read_long(op, &w, len);
	return wfi_tx_ret(ep, rc);
}

ssize_t wfi_rma(struct wfi_ep *ep, const struct wfi_tx *t)
{
	return t->kind & FI_READ ? rma_read_any(ep, t) : rma_write_any(ep, t);
}

/* ---- calls ------------------------------------------------------------- */

static ssize_t rma_readv(struct fid_ep *fid, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t addr,
			 uint64_t raddr, uint64_t key, void *context)
{
	struct wfi_ep *ep = wfi_ep_of(fid);
	struct wfi_tx t = { .iov = iov,
			    .iovs = count,
			    .addr = addr,
			    .raddr = raddr,
			    .key = key,
			    .context = context,
			    .kind = READ,
			    .flags = ep->tx_flags };

	return rma_read_any(ep, &t);
}

static ssize_t rma_read(struct fid_ep *fid, void *buf, size_t len, void *desc,
			fi_addr_t addr, uint64_t raddr, uint64_t key,
			void *context)
{
	struct iovec iov = { buf, len };

	return rma_readv(fid, &iov, &desc, 1, addr, raddr, key, context);
}

static ssize_t rma_msg(struct fid_ep *fid, const struct fi_msg_rma *msg,
		       uint64_t flags, uint64_t kind)
{
	struct wfi_tx t = { .iov = msg->msg_iov,
			    .iovs = msg->iov_count,
			    .addr = msg->addr,
			    .data = msg->data,
			    .context = msg->context,
			    .kind = kind,
			    .flags = flags };

	if (msg->rma_iov_count != 1 ||
	    msg->rma_iov->len != wfi_iov_len(msg->msg_iov, msg->iov_count))
		return -FI_EINVAL;
	t.raddr = msg->rma_iov->addr;
	t.key = msg->rma_iov->key;
	return wfi_rma(wfi_ep_of(fid), &t);
}

static ssize_t rma_readmsg(struct fid_ep *fid, const struct fi_msg_rma *msg,
			   uint64_t flags)
{
	return rma_msg(fid, msg, flags, READ);
}

static ssize_t rma_writemsg(struct fid_ep *fid, const struct fi_msg_rma *msg,
			    uint64_t flags)
{
	return rma_msg(fid, msg, flags, WRITE);
}

static ssize_t rma_writev(struct fid_ep *fid, const struct iovec *iov,
			  void **desc, size_t count, fi_addr_t addr,
			  uint64_t raddr, uint64_t key, void *context)
{
	struct wfi_ep *ep = wfi_ep_of(fid);
	struct wfi_tx t = { .iov = iov,
			    .iovs = count,
			    .addr = addr,
			    .raddr = raddr,
			    .key = key,
			    .context = context,
			    .kind = WRITE,
			    .flags = ep->tx_flags };

	return rma_write_any(ep, &t);
}

static ssize_t rma_write(struct fid_ep *fid, const void *buf, size_t len,
			 void *desc, fi_addr_t addr, uint64_t raddr,
			 uint64_t key, void *context)
{
	struct iovec iov = { (void *)buf, len };

	return rma_writev(fid, &iov, &desc, 1, addr, raddr, key, context);
}

static ssize_t rma_inject(struct fid_ep *fid, const void *buf, size_t len,
			  fi_addr_t addr, uint64_t raddr, uint64_t key)
{
	struct iovec iov = { (void *)buf, len };
	struct wfi_tx t = { .iov = &iov,
			    .iovs = 1,
			    .addr = addr,
			    .raddr = raddr,
			    .key = key,
			    .kind = WRITE,
			    .inject = true };

	return rma_write_any(wfi_ep_of(fid), &t);
}

static ssize_t rma_writedata(struct fid_ep *fid, const void *buf, size_t len,
			     void *desc, uint64_t data, fi_addr_t addr,
			     uint64_t raddr, uint64_t key, void *context)
{
	struct wfi_ep *ep = wfi_ep_of(fid);
	struct iovec iov = { (void *)buf, len };
	struct wfi_tx t = { .iov = &iov,
			    .iovs = 1,
			    .addr = addr,
			    .raddr = raddr,
			    .key = key,
			    .data = data,
			    .context = context,
			    .kind = WRITE,
			    .flags = ep->tx_flags | FI_REMOTE_CQ_DATA };

	return rma_write_any(ep, &t);
}

static ssize_t rma_injectdata(struct fid_ep *fid, const void *buf, size_t len,
			      uint64_t data, fi_addr_t addr, uint64_t raddr,
			      uint64_t key)
{
	struct iovec iov = { (void *)buf, len };
	struct wfi_tx t = { .iov = &iov,
			    .iovs = 1,
			    .addr = addr,
			    .raddr = raddr,
			    .key = key,
			    .data = data,
			    .kind = WRITE,
			    .flags = FI_REMOTE_CQ_DATA,
			    .inject = true };

	return rma_write_any(wfi_ep_of(fid), &t);
}

struct fi_ops_rma wfi_ops_rma = {
	.size = sizeof(struct fi_ops_rma),
	.read = rma_read,
	.readv = rma_readv,
	.readmsg = rma_readmsg,
	.write = rma_write,
	.writev = rma_writev,
	.writemsg = rma_writemsg,
	.inject = rma_inject,
	.writedata = rma_writedata,
	.injectdata = rma_injectdata,
};
