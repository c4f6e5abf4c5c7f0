/* SPDX-License-Identifier: Apache-2.0 */
/* An operation under way: of the user (a send, a write...), or one that serves
 * a peer (a window that it fills, data that it reads).  It has a number that
 * peers answer to; an answer counts only when it comes from the peer that was
 * asked and fits what the operation waits for. */
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

/* What happens to an operation; NULL: it does not wait for that. */
struct wfi_op_type {
	void (*cts)(struct wfi_op *op, const struct wfi_in *in);
	void (*ack)(struct wfi_op *op, const struct wfi_in *in);
	void (*result)(struct wfi_op *op, const struct wfi_in *in);
	void (*sent)(struct wfi_op *op);	 /* its message is out */
	void (*put)(struct wfi_op *op);		 /* all of its puts are out */
	void (*filled)(struct wfi_op *op);	 /* its window is full */
	void (*end)(struct wfi_op *op, int err); /* tell the user; err >= 0 */
};

struct wfi_op {
	struct wfi_note note;
	TAILQ_ENTRY(wfi_op) link; /* again, or idle */
	TAILQ_ENTRY(wfi_op) all;  /* live */
	bool queued;
	int (*step)(struct wfi_op *op); /* -EAGAIN: is in the list again */
	const struct wfi_op_type *type;
	struct wfi_hub *hub;
	struct wfi_ep *ep; /* NULL: closed in the meantime */
	struct wfi_peer *peer;
	uint16_t port; /* of the peer */
	uint32_t id;   /* 0: none */

	/* the user's */
	void *context;
	uint64_t flags;	   /* FI_SEND | FI_MSG..., for the completion */
	uint64_t op_flags; /* FI_DELIVERY_COMPLETE... */
	bool quiet;	   /* no completion when it is well */
	uint64_t tag, data;
	uint64_t src;	       /* fi_addr_t */
	struct wfi_cntr *work; /* of deferred work: counts its end */
	size_t full;	       /* length of the whole message */

	/* memory */
	struct iovec iov[WFI_IOV];
	size_t iovs, len;
	void *bounce;	   /* in place of iov */
	struct wfi_mr *mr; /* the region it is in */

	/* window and puts */
	struct wfi_reg *reg;
	uint64_t left; /* puts that have not arrived */
	struct wire_window to;
	uint32_t to_id;
	const char *from;
	size_t at;
	unsigned notes;	 /* of the transport, under way */
	bool bulk, more; /* puts; not all are posted */
	uint64_t drops;	 /* when there was no room for its window */
	int err;
	uint32_t peer_id;  /* whom to acknowledge; 0: nobody */
	bool acked;	   /* before its puts were out */
	struct wfi_rx *rx; /* the receive it fills */
};

/* Immediate of a put that fills no window: the writer's operation is to be
 * acknowledged. */
#define WFI_DIRECT (1u << 31)

/* Has ended, but the transport still holds it. */
extern const struct wfi_op_type wfi_op_ghost;

struct wfi_op *wfi_op_new(struct wfi_hub *h, const struct wfi_op_type *type,
			  struct wfi_ep *ep, struct wfi_peer *p);
/* Gives it a number.  0 or -ENOMEM. */
int wfi_op_number(struct wfi_op *op);
struct wfi_op *wfi_op_find(struct wfi_hub *h, uint32_t id);
/* To be stepped again when there is room.  Returns -EAGAIN. */
int wfi_op_again(struct wfi_op *op, int (*step)(struct wfi_op *op));
/* Tells the user and forgets it.  status: 0 or errno, either sign. */
void wfi_op_end(struct wfi_op *op, int status);
void wfi_op_free(struct wfi_op *op);
/* An answer. */
void wfi_op_reply(struct wfi_hub *h, const struct wfi_in *in);
/* Many of the same. */
void wfi_op_acks(struct wfi_hub *h, const struct wfi_in *in);
/* Ends all that wait for a dead peer. */
void wfi_ops_fail(struct wfi_hub *h, struct wfi_peer *p);
/* No operation belongs to the endpoint any more. */
void wfi_ops_leave(struct wfi_hub *h, struct wfi_ep *ep);
void wfi_ops_leave_mr(struct wfi_hub *h, struct wfi_mr *mr);
void wfi_ops_free(struct wfi_hub *h);

#endif
