/* SPDX-License-Identifier: Apache-2.0 */
/* What the calls of msg, tagged and rma have in common. */
#ifndef PROVIDER_TX_H
#define PROVIDER_TX_H

#include "provider/obj.h"

/* An operation as the user asked for it, in one shape for all calls. */
struct wfi_tx {
	const struct iovec *iov;
	size_t iovs;
	fi_addr_t addr;
	uint64_t tag, data;
	uint64_t raddr, key; /* rma, atomic */
	void *context;
	uint64_t flags;
	uint64_t kind;	       /* FI_SEND | FI_MSG... */
	bool inject;	       /* one of the inject calls: no completion */
	struct wfi_cntr *work; /* of deferred work: counts its end */
};

/* Operations that announce themselves, get a window, put, and end. */
extern const struct wfi_op_type wfi_tx_type;
/* The same, with a place to put to: ends with the acknowledge. */
extern const struct wfi_op_type wfi_tx_put_type;
/* Those that get their result as a message: all of it, into iov. */
extern const struct wfi_op_type wfi_tx_fetch_type;

/* A call of this many bytes is over before it begins: wrong, or to be made when
 * a counter has got there.  True: with this answer. */
bool wfi_tx_over(struct wfi_ep *ep, const struct wfi_tx *t, size_t len,
		 ssize_t *ret_p);
/* Begins it: the lock, its cost, a place to go, what every header says.
 * 0, or an error (without the lock). */
int wfi_tx_begin(struct wfi_ep *ep, const struct wfi_tx *t, uint64_t bytes,
		 struct wfi_peer **p_p, struct wire *w);
/* Ends it: the transport's answer as libfabric's. */
ssize_t wfi_tx_ret(struct wfi_ep *ep, int rc);
/* A new operation of the call; what is in its memory is not copied. */
struct wfi_op *wfi_tx_op(struct wfi_ep *ep, const struct wfi_tx *t,
			 struct wfi_peer *p, uint16_t port);
ssize_t wfi_send(struct wfi_ep *ep, const struct wfi_tx *t);
ssize_t wfi_rma(struct wfi_ep *ep, const struct wfi_tx *t);
/* The one or the other, by its kind. */
ssize_t wfi_tx_any(struct wfi_ep *ep, const struct wfi_tx *t);
/* A call that has no flags of its own: with those of the endpoint. */
#define WFI_TX(...) (&(struct wfi_tx){ __VA_ARGS__ })
ssize_t wfi_tx_do(struct fid_ep *fid, struct wfi_tx *t);
/* The same from one piece of memory. */
ssize_t wfi_tx_buf(struct fid_ep *fid, const void *buf, size_t len,
		   struct wfi_tx *t);
/* The same when the counter of its context has got there. */
ssize_t wfi_trigger_tx(struct wfi_ep *ep, const struct wfi_tx *t);

/* A receive. */
struct wfi_rxd {
	const struct iovec *iov;
	size_t iovs;
	fi_addr_t addr;
	uint64_t tag, ignore;
	void *context;
	uint64_t flags;
	bool tagged;
};

ssize_t wfi_recv(struct fid_ep *fid, const struct wfi_rxd *r);

#endif
