/* SPDX-License-Identifier: Apache-2.0 */
/* The calls of fi_msg and fi_tagged. */
#include "provider/tx.h"

#define MSG    (FI_SEND | FI_MSG)
#define TAGGED (FI_SEND | FI_TAGGED)

#define RXD(...) (&(struct wfi_rxd){ __VA_ARGS__ })

/* Posts a receive with the flags of the endpoint. */
static ssize_t recv_do(struct fid_ep *fid, struct wfi_rxd *r)
{
	if (fid->fid.fclass != FI_CLASS_SRX_CTX)
		r->flags |= wfi_ep_of(fid)->rx_flags;
	if (r->tagged)
		r->flags &= ~FI_MULTI_RECV;
	return wfi_recv(fid, r);
}

static ssize_t recv_buf(struct fid_ep *fid, void *buf, size_t len,
			struct wfi_rxd *r)
{
	struct iovec iov = { buf, len };

	r->iov = &iov;
	r->iovs = 1;
	return recv_do(fid, r);
}

static ssize_t msg_recvv(struct fid_ep *fid, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t addr,
			 void *context)
{
	return recv_do(fid, RXD(.iov = iov, .iovs = count, .addr = addr,
				.context = context));
}

static ssize_t msg_recv(struct fid_ep *fid, void *buf, size_t len, void *desc,
			fi_addr_t addr, void *context)
{
	return recv_buf(fid, buf, len, RXD(.addr = addr, .context = context));
}

static ssize_t msg_recvmsg(struct fid_ep *fid, const struct fi_msg *m,
			   uint64_t flags)
{
	return wfi_recv(fid, RXD(.iov = m->msg_iov, .iovs = m->iov_count,
				 .addr = m->addr, .context = m->context,
				 .flags = flags));
}

static ssize_t msg_sendv(struct fid_ep *fid, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t addr,
			 void *context)
{
	return wfi_tx_do(fid, WFI_TX(.iov = iov, .iovs = count, .addr = addr,
				     .context = context, .kind = MSG));
}

static ssize_t msg_send(struct fid_ep *fid, const void *buf, size_t len,
			void *desc, fi_addr_t addr, void *context)
{
	return wfi_tx_buf(
		fid, buf, len,
		WFI_TX(.addr = addr, .context = context, .kind = MSG));
}

static ssize_t msg_sendmsg(struct fid_ep *fid, const struct fi_msg *m,
			   uint64_t flags)
{
	return wfi_send(wfi_ep_of(fid),
			WFI_TX(.iov = m->msg_iov, .iovs = m->iov_count,
			       .addr = m->addr, .context = m->context,
			       .data = m->data, .kind = MSG, .flags = flags));
}

static ssize_t msg_inject(struct fid_ep *fid, const void *buf, size_t len,
			  fi_addr_t addr)
{
	return wfi_tx_buf(fid, buf, len,
			  WFI_TX(.addr = addr, .kind = MSG, .inject = true));
}

static ssize_t msg_senddata(struct fid_ep *fid, const void *buf, size_t len,
			    void *desc, uint64_t data, fi_addr_t addr,
			    void *context)
{
	return wfi_tx_buf(fid, buf, len,
			  WFI_TX(.addr = addr, .data = data, .context = context,
				 .kind = MSG, .flags = FI_REMOTE_CQ_DATA));
}

static ssize_t msg_injectdata(struct fid_ep *fid, const void *buf, size_t len,
			      uint64_t data, fi_addr_t addr)
{
	return wfi_tx_buf(fid, buf, len,
			  WFI_TX(.addr = addr, .data = data, .kind = MSG,
				 .flags = FI_REMOTE_CQ_DATA, .inject = true));
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

/* ---- tagged ---- */

static ssize_t tag_recvv(struct fid_ep *fid, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t addr,
			 uint64_t tag, uint64_t ignore, void *context)
{
	return recv_do(fid, RXD(.iov = iov, .iovs = count, .addr = addr,
				.tag = tag, .ignore = ignore,
				.context = context, .tagged = true));
}

static ssize_t tag_recv(struct fid_ep *fid, void *buf, size_t len, void *desc,
			fi_addr_t addr, uint64_t tag, uint64_t ignore,
			void *context)
{
	return recv_buf(fid, buf, len,
			RXD(.addr = addr, .tag = tag, .ignore = ignore,
			    .context = context, .tagged = true));
}

static ssize_t tag_recvmsg(struct fid_ep *fid, const struct fi_msg_tagged *m,
			   uint64_t flags)
{
	return wfi_recv(fid,
			RXD(.iov = m->msg_iov, .iovs = m->iov_count,
			    .addr = m->addr, .tag = m->tag, .ignore = m->ignore,
			    .context = m->context,
			    .flags = flags & ~FI_MULTI_RECV, .tagged = true));
}

static ssize_t tag_sendv(struct fid_ep *fid, const struct iovec *iov,
			 void **desc, size_t count, fi_addr_t addr,
			 uint64_t tag, void *context)
{
	return wfi_tx_do(fid, WFI_TX(.iov = iov, .iovs = count, .addr = addr,
				     .tag = tag, .context = context,
				     .kind = TAGGED));
}

static ssize_t tag_send(struct fid_ep *fid, const void *buf, size_t len,
			void *desc, fi_addr_t addr, uint64_t tag, void *context)
{
	return wfi_tx_buf(fid, buf, len,
			  WFI_TX(.addr = addr, .tag = tag, .context = context,
				 .kind = TAGGED));
}

static ssize_t tag_sendmsg(struct fid_ep *fid, const struct fi_msg_tagged *m,
			   uint64_t flags)
{
	return wfi_send(wfi_ep_of(fid),
			WFI_TX(.iov = m->msg_iov, .iovs = m->iov_count,
			       .addr = m->addr, .tag = m->tag, .data = m->data,
			       .context = m->context, .kind = TAGGED,
			       .flags = flags));
}

static ssize_t tag_inject(struct fid_ep *fid, const void *buf, size_t len,
			  fi_addr_t addr, uint64_t tag)
{
	return wfi_tx_buf(fid, buf, len,
			  WFI_TX(.addr = addr, .tag = tag, .kind = TAGGED,
				 .inject = true));
}

static ssize_t tag_senddata(struct fid_ep *fid, const void *buf, size_t len,
			    void *desc, uint64_t data, fi_addr_t addr,
			    uint64_t tag, void *context)
{
	return wfi_tx_buf(fid, buf, len,
			  WFI_TX(.addr = addr, .tag = tag, .data = data,
				 .context = context, .kind = TAGGED,
				 .flags = FI_REMOTE_CQ_DATA));
}

static ssize_t tag_injectdata(struct fid_ep *fid, const void *buf, size_t len,
			      uint64_t data, fi_addr_t addr, uint64_t tag)
{
	return wfi_tx_buf(fid, buf, len,
			  WFI_TX(.addr = addr, .tag = tag, .data = data,
				 .kind = TAGGED, .flags = FI_REMOTE_CQ_DATA,
				 .inject = true));
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
