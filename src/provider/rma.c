/* SPDX-License-Identifier: Apache-2.0 */
/* Calls of fi_rma, in the process that makes the call. */
#include <string.h>

#include "provider/bulk.h"
#include "provider/region.h"
#include "provider/tx.h"

#define WRITE (FI_RMA | FI_WRITE)
#define READ  (FI_RMA | FI_READ)

/* ---- write ---- */

/* Sends a request. The request carries the number of the operation, because the
 * target acknowledges this number. */
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

static int rma_write(struct wfi_op *op, struct wire *w,
		     const struct wire_window *to)
{
	struct wire_long l = { .len = op->full, .data = op->data };
	struct iovec request = { &l, sizeof(l) };

	if (to) {
		/* Puts the data into the region directly. */
		int rc = wfi_op_number(op);
		void *from;

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
	if (op->full + sizeof(uint64_t) <= op->hub->eager) {
		struct iovec iov[WFI_IOV + 1] = { { &op->data,
						    sizeof(op->data) } };

		memcpy(iov + 1, op->iov, op->iovs * sizeof(*iov));
		return rma_post(op, w, iov, op->iovs + 1);
	}
	op->op_flags |= FI_DELIVERY_COMPLETE;
	w->op = WIRE_WREQ;
	return rma_post(op, w, &request, 1);
}

/* ---- read ---- */

static void rma_read_filled(struct wfi_op *op)
{
	if (op->bounce)
		wfi_iov_in(op->iov, op->iovs, 0, op->bounce, op->full);
	wfi_op_end(op, 0);
}

static const struct wfi_op_type rma_read_long_type = {
	.filled = rma_read_filled,
	.end = wfi_ep_tx_end,
};

static int rma_read_long(struct wfi_op *op, struct wire *w)
{
	struct wire_long l = { .len = op->full };
	struct iovec iov = { &l, sizeof(l) };
	void *flat = wfi_op_flat(op, false);
	int rc = flat ? wfi_window_open(op, flat, op->full, &l.to) : -FI_ENOMEM;

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

static int rma_read(struct wfi_op *op, struct wire *w,
		    const struct wire_window *from)
{
	if (from) {
		void *flat = wfi_op_flat(op, false);
		struct weft_ep *ep = op->hub->ep;
		int rc = -FI_ENOMEM;

		op->type = &rma_read_direct_type;
		if (flat)
			rc = weft_ep_post(
				ep, &(struct weft_ep_op){ .code = WEFT_EP_GET,
							  .dst = op->peer->addr,
							  .into = flat,
							  .len = from->len,
							  .raddr = from->addr,
							  .rkey = from->key,
							  .ctx = &op->note });
		if (rc)
			wfi_op_free(op);
		else
			op->notes = 1;
		return rc;
	}
	if (op->full <= op->hub->eager) {
		uint64_t len = op->full;
		struct iovec iov = { &len, sizeof(len) };

		op->type = &wfi_tx_fetch_type;
		return rma_post(op, w, &iov, 1);
	}
	return rma_read_long(op, w);
}

/* ---- writes and reads ---- */

static int rma_start(struct wfi_ep *ep, const struct wfi_tx *t,
		     struct wfi_peer *p, struct wire *w, size_t len)
{
	struct wfi_op *op = wfi_tx_op(ep, t, p, w->dst);
	struct wire_window win, *known = NULL;

	if (!op)
		return -FI_ENOMEM;
	op->full = len;
	/* Remote CQ data need a message, because a direct access cannot carry
	 * them. FI_INJECT needs a message, because in a direct access the NIC
	 * would read the buffer after the call has returned. */
	if (!t->inject && !(t->flags & (FI_REMOTE_CQ_DATA | FI_INJECT)) &&
	    wfi_region_find(
		    ep, p, w->dst, t->key, t->raddr, len,
		    t->kind & FI_READ ? FI_REMOTE_READ : FI_REMOTE_WRITE, &win))
		known = &win;
	return t->kind & FI_READ ? rma_read(op, w, known)
				 : rma_write(op, w, known);
}

ssize_t wfi_rma(struct wfi_ep *ep, const struct wfi_tx *t)
{
	struct wire w = { .op = t->kind & FI_READ ? WIRE_READ : WIRE_WRITE,
			  .a = t->raddr,
			  .b = t->key };
	size_t len = wfi_iov_len(t->iov, t->iovs);
	struct wfi_peer *p;
	ssize_t rc;

	if (!wfi_tx_over(ep, t, len, &rc)) {
		rc = wfi_tx_begin(ep, t, len, &p, &w);
		if (!rc)
			rc = wfi_tx_ret(ep, rma_start(ep, t, p, &w, len));
	}
	return rc;
}

/* ---- calls ---- */

static ssize_t rma_call_readv(struct fid_ep *fid, const struct iovec *iov,
			      void **desc, size_t count, fi_addr_t addr,
			      uint64_t raddr, uint64_t key, void *context)
{
	return wfi_tx_do(fid, WFI_TX(.iov = iov, .iovs = count, .addr = addr,
				     .raddr = raddr, .key = key,
				     .context = context, .kind = READ));
}

static ssize_t rma_call_read(struct fid_ep *fid, void *buf, size_t len,
			     void *desc, fi_addr_t addr, uint64_t raddr,
			     uint64_t key, void *context)
{
	return wfi_tx_buf(fid, buf, len,
			  WFI_TX(.addr = addr, .raddr = raddr, .key = key,
				 .context = context, .kind = READ));
}

static ssize_t rma_msg(struct fid_ep *fid, const struct fi_msg_rma *m,
		       uint64_t flags, uint64_t kind)
{
	if (m->rma_iov_count != 1 ||
	    m->rma_iov->len != wfi_iov_len(m->msg_iov, m->iov_count))
		return -FI_EINVAL;
	return wfi_rma(wfi_ep_of(fid),
		       WFI_TX(.iov = m->msg_iov, .iovs = m->iov_count,
			      .addr = m->addr, .raddr = m->rma_iov->addr,
			      .key = m->rma_iov->key, .data = m->data,
			      .context = m->context, .kind = kind,
			      .flags = flags));
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

static ssize_t rma_call_writev(struct fid_ep *fid, const struct iovec *iov,
			       void **desc, size_t count, fi_addr_t addr,
			       uint64_t raddr, uint64_t key, void *context)
{
	return wfi_tx_do(fid, WFI_TX(.iov = iov, .iovs = count, .addr = addr,
				     .raddr = raddr, .key = key,
				     .context = context, .kind = WRITE));
}

static ssize_t rma_call_write(struct fid_ep *fid, const void *buf, size_t len,
			      void *desc, fi_addr_t addr, uint64_t raddr,
			      uint64_t key, void *context)
{
	return wfi_tx_buf(fid, buf, len,
			  WFI_TX(.addr = addr, .raddr = raddr, .key = key,
				 .context = context, .kind = WRITE));
}

static ssize_t rma_inject(struct fid_ep *fid, const void *buf, size_t len,
			  fi_addr_t addr, uint64_t raddr, uint64_t key)
{
	return wfi_tx_buf(fid, buf, len,
			  WFI_TX(.addr = addr, .raddr = raddr, .key = key,
				 .kind = WRITE, .inject = true));
}

static ssize_t rma_writedata(struct fid_ep *fid, const void *buf, size_t len,
			     void *desc, uint64_t data, fi_addr_t addr,
			     uint64_t raddr, uint64_t key, void *context)
{
	return wfi_tx_buf(fid, buf, len,
			  WFI_TX(.addr = addr, .raddr = raddr, .key = key,
				 .data = data, .context = context,
				 .kind = WRITE, .flags = FI_REMOTE_CQ_DATA));
}

static ssize_t rma_injectdata(struct fid_ep *fid, const void *buf, size_t len,
			      uint64_t data, fi_addr_t addr, uint64_t raddr,
			      uint64_t key)
{
	return wfi_tx_buf(fid, buf, len,
			  WFI_TX(.addr = addr, .raddr = raddr, .key = key,
				 .data = data, .kind = WRITE,
				 .flags = FI_REMOTE_CQ_DATA, .inject = true));
}

struct fi_ops_rma wfi_ops_rma = {
	.size = sizeof(struct fi_ops_rma),
	.read = rma_call_read,
	.readv = rma_call_readv,
	.readmsg = rma_readmsg,
	.write = rma_call_write,
	.writev = rma_call_writev,
	.writemsg = rma_writemsg,
	.inject = rma_inject,
	.writedata = rma_writedata,
	.injectdata = rma_injectdata,
};
