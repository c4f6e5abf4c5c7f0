/* SPDX-License-Identifier: Apache-2.0 */
/* An operation in flight. It belongs to the user (a send, a write...) or serves
 * a peer (a window that the peer fills, data that the peer reads). Answers of
 * peers contain the number of the operation. An answer counts only if it comes
 * from the peer that was asked and is of a kind for which the operation waits,
 * because peers are not trusted. */
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

/* Handlers of an operation's events. NULL: the operation does not expect the
 * event. */
struct wfi_op_type {
	void (*cts)(struct wfi_op *op, const struct wfi_in *in);
	void (*ack)(struct wfi_op *op, const struct wfi_in *in);
	void (*result)(struct wfi_op *op, const struct wfi_in *in);
	/* the message of the operation is sent */
	void (*sent)(struct wfi_op *op);
	/* all puts of the operation are sent */
	void (*put)(struct wfi_op *op);
	/* the window of the operation is full */
	void (*filled)(struct wfi_op *op);
	void (*end)(struct wfi_op *op,
		    int err); /* reports the end to the user; err >= 0 */
};

struct wfi_op {
	struct wfi_note note;
	/* link in the list `again` or `idle` of the hub */
	TAILQ_ENTRY(wfi_op) link;
	TAILQ_ENTRY(wfi_op) all; /* link in the list `live` of the hub */
	bool queued;
	/* next step; returns -EAGAIN if the operation is queued again */
	int (*step)(struct wfi_op *op);
	const struct wfi_op_type *type;
	struct wfi_hub *hub;
	struct wfi_ep *ep; /* endpoint; NULL: closed in the meantime */
	struct wfi_peer *peer;
	uint16_t port; /* port of the peer */
	uint32_t id;   /* number of the operation; 0: none */

	/* The next fields are values of the user's call. */
	void *context;
	uint64_t flags;	   /* FI_SEND | FI_MSG..., for the completion */
	uint64_t op_flags; /* flags such as FI_DELIVERY_COMPLETE */
	bool quiet;	   /* success gives no completion */
	uint64_t tag, data;
	uint64_t src;	       /* fi_addr_t of the sender */
	struct wfi_cntr *work; /* counter that counts the end of deferred work,
				* or NULL */
	size_t full;	       /* bytes of the whole message */

	/* The next fields are the operation's memory. */
	struct iovec iov[WFI_IOV];
	size_t iovs, len;
	void *bounce;	   /* buffer in place of iov, or NULL */
	struct wfi_mr *mr; /* region to which the memory belongs, or NULL */

	/* The next fields are for windows and puts. */
	struct wfi_reg *reg;
	uint64_t left; /* number of puts that have not arrived yet */
	struct wire_window to;
	uint32_t to_id;
	const char *from;
	size_t at;
	unsigned notes;	 /* operations that the transport still holds */
	bool bulk, more; /* bulk: the operation sends its data by puts; more:
			  * not all of these puts are posted yet */
	uint64_t drops;	 /* value of reg_drops when the NIC had no room for the
			  * window */
	int err;
	uint32_t peer_id;  /* operation of the peer to acknowledge; 0: none */
	bool acked;	   /* the acknowledgement arrived before the puts were
			    * sent */
	struct wfi_rx *rx; /* receive that the operation fills */
};

/* Marks the immediate value of a put that fills no window. The target
 * acknowledges the writer's operation, whose number is in the other bits. */
#define WFI_DIRECT (1u << 31)

/* Type of an operation that has ended but that the transport still uses. */
extern const struct wfi_op_type wfi_op_ghost;

/* Returns a zeroed operation of this type, or NULL if memory is exhausted. */
struct wfi_op *wfi_op_new(struct wfi_hub *h, const struct wfi_op_type *type,
			  struct wfi_ep *ep, struct wfi_peer *p);
/* Assigns a number to the operation. Returns 0 or -ENOMEM. */
int wfi_op_number(struct wfi_op *op);
/* Returns the operation with this number, or NULL. */
struct wfi_op *wfi_op_find(struct wfi_hub *h, uint32_t id);
/* Queues the operation for another step when the transport has room. Returns
 * -EAGAIN. */
int wfi_op_again(struct wfi_op *op, int (*step)(struct wfi_op *op));
/* Reports the end to the user and frees the operation. status is 0 or an errno
 * of either sign. */
void wfi_op_end(struct wfi_op *op, int status);
/* Frees the operation without a report. If the transport still uses the
 * operation, it becomes a ghost until the last wfi_note. */
void wfi_op_free(struct wfi_op *op);
/* Handles a peer's answer to an operation. */
void wfi_op_reply(struct wfi_hub *h, const struct wfi_in *in);
/* Handles many acknowledgements in one message. */
void wfi_op_acks(struct wfi_hub *h, const struct wfi_in *in);
/* Ends all operations with a dead peer. */
void wfi_ops_fail(struct wfi_hub *h, struct wfi_peer *p);
/* Frees the operations of an endpoint that is being closed, without
 * completions. */
void wfi_ops_leave(struct wfi_hub *h, struct wfi_ep *ep);
/* Ends all operations on a region that is being closed. Their error is
 * ECANCELED. */
void wfi_ops_leave_mr(struct wfi_hub *h, struct wfi_mr *mr);
/* Frees all operations, and the records of registrations, after the attachment
 * was closed. */
void wfi_ops_free(struct wfi_hub *h);

#endif
