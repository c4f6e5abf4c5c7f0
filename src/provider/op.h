/* SPDX-License-Identifier: Apache-2.0 */
/* An operation in flight: of the user (a send, a write...), or serving a peer
 * (a window that the peer fills, data that it reads). Peers answer to its
 * number. An answer counts only if it comes from the peer that was asked and
 * fits what the operation waits for, because peers are not trusted. */
#ifndef PROVIDER_OP_H
#define PROVIDER_OP_H

#include <rdma/fabric.h>

#include "provider/hub.h"

enum { WFI_IOV = 4 };

struct wfi_ep;
struct wfi_mr;
struct wfi_cntr;
struct wfi_reg;
struct wfi_rx;

/* Handlers of an operation's events. NULL: it does not expect that one. */
struct wfi_op_type {
	void (*cts)(struct wfi_op *op, const struct wfi_in *in);
	void (*ack)(struct wfi_op *op, const struct wfi_in *in);
	void (*result)(struct wfi_op *op, const struct wfi_in *in);
	void (*sent)(struct wfi_op *op);   /* its message is sent */
	void (*put)(struct wfi_op *op);	   /* all of its puts are sent */
	void (*filled)(struct wfi_op *op); /* its window is full */
	void (*end)(struct wfi_op *op,
		    int err); /* reports to the user; err >= 0 */
};

struct wfi_op {
	struct wfi_note note;
	TAILQ_ENTRY(wfi_op) link; /* again, or idle */
	TAILQ_ENTRY(wfi_op) all;  /* live */
	bool queued;
	int (*step)(struct wfi_op *op); /* returns -EAGAIN if queued again */
	const struct wfi_op_type *type;
	struct wfi_hub *hub;
	struct wfi_ep *ep; /* NULL: closed in the meantime */
	struct wfi_peer *peer;
	uint16_t port; /* of the peer */
	uint32_t id;   /* 0: none */

	/* of the user */
	void *context;
	uint64_t flags;	   /* FI_SEND | FI_MSG..., for the completion */
	uint64_t op_flags; /* FI_DELIVERY_COMPLETE... */
	bool quiet;	   /* no completion on success */
	uint64_t tag, data;
	uint64_t src;	       /* fi_addr_t */
	struct wfi_cntr *work; /* of deferred work: counts its end */
	size_t full;	       /* length of the whole message */

	/* memory */
	struct iovec iov[WFI_IOV];
	size_t iovs, len;
	void *bounce;	   /* in place of iov */
	struct wfi_mr *mr; /* region of its memory */

	/* window and puts */
	struct wfi_reg *reg;
	uint64_t left; /* puts not yet arrived */
	struct wire_window to;
	uint32_t to_id;
	const char *from;
	size_t at;
	unsigned notes;	 /* of the transport, in flight */
	bool bulk, more; /* puts; some are not posted yet */
	uint64_t drops;	 /* value of reg_drops when the window had no room */
	int err;
	uint32_t peer_id;  /* operation to acknowledge; 0: none */
	bool acked;	   /* before its puts were sent */
	struct wfi_rx *rx; /* the receive that it fills */
};

/* Immediate of a put that fills no window: the target must acknowledge the
 * writer's operation. */
#define WFI_DIRECT (1u << 31)

/* Type of an operation that has ended while the transport still holds it. */
extern const struct wfi_op_type wfi_op_ghost;

/* Returns a zeroed operation, or NULL without memory. */
struct wfi_op *wfi_op_new(struct wfi_hub *h, const struct wfi_op_type *type,
			  struct wfi_ep *ep, struct wfi_peer *p);
/* Gives it a number. Returns 0 or -ENOMEM. */
int wfi_op_number(struct wfi_op *op);
/* Returns the operation with this number, or NULL. */
struct wfi_op *wfi_op_find(struct wfi_hub *h, uint32_t id);
/* Queues it for another step when there is room. Returns -EAGAIN. */
int wfi_op_again(struct wfi_op *op, int (*step)(struct wfi_op *op));
/* Reports the end to the user and frees it. status: 0 or errno of either
 * sign. */
void wfi_op_end(struct wfi_op *op, int status);
/* Frees it without a report. One that the transport holds stays a ghost until
 * its last note. */
void wfi_op_free(struct wfi_op *op);
/* Handles an answer of a peer. */
void wfi_op_reply(struct wfi_hub *h, const struct wfi_in *in);
/* Handles many acknowledgements in one message. */
void wfi_op_acks(struct wfi_hub *h, const struct wfi_in *in);
/* Ends all operations with a dead peer. */
void wfi_ops_fail(struct wfi_hub *h, struct wfi_peer *p);
/* Frees the operations of a closing endpoint without completions. */
void wfi_ops_leave(struct wfi_hub *h, struct wfi_ep *ep);
/* Ends operations on a closing region with ECANCELED. */
void wfi_ops_leave_mr(struct wfi_hub *h, struct wfi_mr *mr);
/* Frees all operations, and the records of registrations, after the attachment
 * was closed. */
void wfi_ops_free(struct wfi_hub *h);

#endif
