/* SPDX-License-Identifier: Apache-2.0 */
/* Common part of the calls of fi_msg, fi_tagged and fi_rma. */
#ifndef PROVIDER_TX_H
#define PROVIDER_TX_H

#include "provider/obj.h"

/* Arguments of an operation that the user requests, common to all calls. */
struct wfi_tx {
	const struct iovec *iov;
	size_t iovs;
	fi_addr_t addr;
	uint64_t tag, data;
	uint64_t raddr, key; /* target address and key of rma and atomic
			      * calls */
	void *context;
	uint64_t flags;
	uint64_t kind;	       /* kind of the call: FI_SEND | FI_MSG... */
	bool inject;	       /* an inject call, which has no completion */
	struct wfi_cntr *work; /* counter that counts the end of deferred work,
				* or NULL */
};

/* Type of operations of announced messages. Such an operation waits for a
 * window of the receiver, puts the data into it, and ends. */
extern const struct wfi_op_type wfi_tx_type;
/* Type of operations that put to a known target. They end with the target's
 * acknowledgement. */
extern const struct wfi_op_type wfi_tx_put_type;
/* Type of operations whose result is a message, which is copied to iov. */
extern const struct wfi_op_type wfi_tx_fetch_type;

/* Returns true, and the result in *ret_p, if the caller must not start the
 * call, because its arguments are wrong or because it was queued until its
 * counter reaches the threshold. */
bool wfi_tx_over(struct wfi_ep *ep, const struct wfi_tx *t, size_t len,
		 ssize_t *ret_p);
/* Starts a call: takes the lock, charges the cost, finds the target and fills
 * in the header. Returns 0, or negative errno with the lock released. */
int wfi_tx_begin(struct wfi_ep *ep, const struct wfi_tx *t, uint64_t bytes,
		 struct wfi_peer **p_p, struct wire *w);
/* Ends a call and releases the lock. After -EAGAIN first handles arrived
 * messages, because the user repeats the call. Returns the result for
 * libfabric. */
ssize_t wfi_tx_ret(struct wfi_ep *ep, int rc);
/* Returns a new operation for the call, or NULL if memory is exhausted. Does
 * not copy the user's data. */
struct wfi_op *wfi_tx_op(struct wfi_ep *ep, const struct wfi_tx *t,
			 struct wfi_peer *p, uint16_t port);
/* Sends a message. Returns 0, -FI_EAGAIN if the transport has no room, or
 * another negative errno. */
ssize_t wfi_send(struct wfi_ep *ep, const struct wfi_tx *t);
/* Writes or reads memory of a peer. Returns as wfi_send does. */
ssize_t wfi_rma(struct wfi_ep *ep, const struct wfi_tx *t);
/* Calls wfi_rma or wfi_send according to t->kind. Returns as they do. */
ssize_t wfi_tx_any(struct wfi_ep *ep, const struct wfi_tx *t);
/* Calls wfi_tx_any with the flags of the endpoint, for calls that have no flags
 * argument. Returns as wfi_tx_any does. */
#define WFI_TX(...) (&(struct wfi_tx){ __VA_ARGS__ })
ssize_t wfi_tx_do(struct fid_ep *fid, struct wfi_tx *t);
/* Calls wfi_tx_do for one contiguous buffer. Returns as wfi_tx_do does. */
ssize_t wfi_tx_buf(struct fid_ep *fid, const void *buf, size_t len,
		   struct wfi_tx *t);
/* Queues the call until the counter in its context reaches the threshold.
 * Returns 0 or negative errno. */
ssize_t wfi_trigger_tx(struct wfi_ep *ep, const struct wfi_tx *t);

/* A receive as the user requests it. */
struct wfi_rxd {
	const struct iovec *iov;
	size_t iovs;
	fi_addr_t addr;
	uint64_t tag, ignore;
	void *context;
	uint64_t flags;
	bool tagged;
};

/* Posts a receive. Returns 0 or negative errno. */
ssize_t wfi_recv(struct fid_ep *fid, const struct wfi_rxd *r);

#endif
