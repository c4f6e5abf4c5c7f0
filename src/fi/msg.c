/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of fi_msg and fi_tagged. */
#include "tx.h"

#define MSG    (FI_SEND | FI_MSG)
#define TAGGED (FI_SEND | FI_TAGGED)

static ssize_t msg_recvv(struct fid_ep *fid, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t addr,
			 void *context)
{
	struct wfi_rxd r = {
		.iov = iov, .iovs = count, .addr = addr, .context = context
	};

	if (fid->fid.fclass != FI_CLASS_SRX_CTX)
		r.flags = wfi_ep_of(fid)->rx_flags;
	return wfi_recv(fid, &r);
}

static ssize_t msg_recv(struct fid_ep *fid, void *buf, size_t len, void *desc,
			fi_addr_t addr, void *context)
{
	struct iovec iov = { buf, len };

	return msg_recvv(fid, &iov, &desc, 1, addr, context);
}

static ssize_t msg_recvmsg(struct fid_ep *fid, const struct fi_msg *msg,
			   uint64_t flags)
{
	struct wfi_rxd r = { .iov = msg->msg_iov,
			     .iovs = msg->iov_count,
			     .addr = msg->addr,
			     .context = msg->context,
			     .flags = flags };

	return wfi_recv(fid, &r);
}

static ssize_t msg_sendv(struct fid_ep *fid, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t addr,
			 void *context)
{
	struct wfi_ep *ep = wfi_ep_of(fid);
	struct wfi_tx t = { .iov = iov,
			    .iovs = count,
			    .addr = addr,
			    .context = context,
			    .kind = MSG,
			    .flags = ep->tx_flags };

	return wfi_send(ep, &t);
}

static ssize_t msg_send(struct fid_ep *fid, const void *buf, size_t len,
			void *desc, fi_addr_t addr, void *context)
{
	struct iovec iov = { (void *)buf, len };

	return msg_sendv(fid, &iov, &desc, 1, addr, context);
}

static ssize_t msg_sendmsg(struct fid_ep *fid, const struct fi_msg *msg,
			   uint64_t flags)
{
	struct wfi_tx t = { .iov = msg->msg_iov,
			    .iovs = msg->iov_count,
			    .addr = msg->addr,
			    .context = msg->context,
			    .data = msg->data,
			    .kind = MSG,
			    .flags = flags };

	return wfi_send(wfi_ep_of(fid), &t);
}

static ssize_t msg_inject(struct fid_ep *fid, const void *buf, size_t len,
			  fi_addr_t addr)
{
	struct iovec iov = { (void *)buf, len };
	struct wfi_tx t = { .iov = &iov,
			    .iovs = 1,
			    .addr = addr,
			    .kind = MSG,
			    .inject = true };

	return wfi_send(wfi_ep_of(fid), &t);
}

static ssize_t msg_senddata(struct fid_ep *fid, const void *buf, size_t len,
			    void *desc, uint64_t data, fi_addr_t addr,
			    void *context)
{
	struct wfi_ep *ep = wfi_ep_of(fid);
	struct iovec iov = { (void *)buf, len };
	struct wfi_tx t = { .iov = &iov,
			    .iovs = 1,
			    .addr = addr,
			    .data = data,
			    .context = context,
			    .kind = MSG,
			    .flags = ep->tx_flags | FI_REMOTE_CQ_DATA };

	return wfi_send(ep, &t);
}

static ssize_t msg_injectdata(struct fid_ep *fid, const void *buf, size_t len,
			      uint64_t data, fi_addr_t addr)
{
	struct iovec iov = { (void *)buf, len };
	struct wfi_tx t = { .iov = &iov,
			    .iovs = 1,
			    .addr = addr,
			    .data = data,
			    .kind = MSG,
			    .flags = FI_REMOTE_CQ_DATA,
			    .inject = true };

	return wfi_send(wfi_ep_of(fid), &t);
}

struct fi_ops_msg wfi_ops_msg = {
	.size = sizeof(struct fi_ops_msg),
	.recv = msg_recv,
	.recvv = msg_recvv,
	.recvmsg = msg_recvmsg,
	.send = msg_send,
	.sendv = msg_sendv,
	.sendmsg = msg_sendmsg,
	.inject = msg_inject,
	.senddata = msg_senddata,
	.injectdata = msg_injectdata,
};

/* ---- tagged ------------------------------------------------------------ */

static ssize_t tag_recvv(struct fid_ep *fid, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t addr,
			 uint64_t tag, uint64_t ignore, void *context)
{
	struct wfi_rxd r = { .iov = iov,
			     .iovs = count,
			     .addr = addr,
			     .tag = tag,
			     .ignore = ignore,
			     .context = context,
			     .tagged = true };

	if (fid->fid.fclass != FI_CLASS_SRX_CTX)
		r.flags = wfi_ep_of(fid)->rx_flags & ~FI_MULTI_RECV;
	return wfi_recv(fid, &r);
}

static ssize_t tag_recv(struct fid_ep *fid, void *buf, size_t len, void *desc,
			fi_addr_t addr, uint64_t tag, uint64_t ignore,
			void *context)
{
	struct iovec iov = { buf, len };

	return tag_recvv(fid, &iov, &desc, 1, addr, tag, ignore, context);
}

static ssize_t tag_recvmsg(struct fid_ep *fid, const struct fi_msg_tagged *msg,
			   uint64_t flags)
{
	struct wfi_rxd r = { .iov = msg->msg_iov,
			     .iovs = msg->iov_count,
			     .addr = msg->addr,
			     .tag = msg->tag,
			     .ignore = msg->ignore,
			     .context = msg->context,
			     .flags = flags & ~FI_MULTI_RECV,
			     .tagged = true };

	return wfi_recv(fid, &r);
}

static ssize_t tag_sendv(struct fid_ep *fid, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t addr,
			 uint64_t tag, void *context)
{
	struct wfi_ep *ep = wfi_ep_of(fid);
	struct wfi_tx t = { .iov = iov,
			    .iovs = count,
			    .addr = addr,
			    .tag = tag,
			    .context = context,
			    .kind = TAGGED,
			    .flags = ep->tx_flags };

	return wfi_send(ep, &t);
}

static ssize_t tag_send(struct fid_ep *fid, const void *buf, size_t len,
			void *desc, fi_addr_t addr, uint64_t tag, void *context)
{
	struct iovec iov = { (void *)buf, len };

	return tag_sendv(fid, &iov, &desc, 1, addr, tag, context);
}

static ssize_t tag_sendmsg(struct fid_ep *fid, const struct fi_msg_tagged *msg,
			   uint64_t flags)
{
	struct wfi_tx t = { .iov = msg->msg_iov,
			    .iovs = msg->iov_count,
			    .addr = msg->addr,
			    .tag = msg->tag,
			    .data = msg->data,
			    .context = msg->context,
			    .kind = TAGGED,
			    .flags = flags };

	return wfi_send(wfi_ep_of(fid), &t);
}

static ssize_t tag_inject(struct fid_ep *fid, const void *buf, size_t len,
			  fi_addr_t addr, uint64_t tag)
{
	struct iovec iov = { (void *)buf, len };
	struct wfi_tx t = { .iov = &iov,
			    .iovs = 1,
			    .addr = addr,
			    .tag = tag,
			    .kind = TAGGED,
			    .inject = true };

	return wfi_send(wfi_ep_of(fid), &t);
}

static ssize_t tag_senddata(struct fid_ep *fid, const void *buf, size_t len,
			    void *desc, uint64_t data, fi_addr_t addr,
			    uint64_t tag, void *context)
{
	struct wfi_ep *ep = wfi_ep_of(fid);
	struct iovec iov = { (void *)buf, len };
	struct wfi_tx t = { .iov = &iov,
			    .iovs = 1,
			    .addr = addr,
			    .tag = tag,
			    .data = data,
			    .context = context,
			    .kind = TAGGED,
			    .flags = ep->tx_flags | FI_REMOTE_CQ_DATA };

	return wfi_send(ep, &t);
}

static ssize_t tag_injectdata(struct fid_ep *fid, const void *buf, size_t len,
			      uint64_t data, fi_addr_t addr, uint64_t tag)
{
	struct iovec iov = { (void *)buf, len };
	struct wfi_tx t = { .iov = &iov,
			    .iovs = 1,
			    .addr = addr,
			    .tag = tag,
			    .data = data,
			    .kind = TAGGED,
			    .flags = FI_REMOTE_CQ_DATA,
			    .inject = true };

	return wfi_send(wfi_ep_of(fid), &t);
}

struct fi_ops_tagged wfi_ops_tagged = {
	.size = sizeof(struct fi_ops_tagged),
	.recv = tag_recv,
	.recvv = tag_recvv,
	.recvmsg = tag_recvmsg,
	.send = tag_send,
	.sendv = tag_sendv,
	.sendmsg = tag_sendmsg,
	.inject = tag_inject,
	.senddata = tag_senddata,
	.injectdata = tag_injectdata,
};
