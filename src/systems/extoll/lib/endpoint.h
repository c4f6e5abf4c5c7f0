/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over EXTOLL (extoll.md 6.3).
 *
 *   up to 56 bytes    one VELO message: imm and data
 *   up to eager_max   several VELO messages in order, put together here
 *   longer            the receiver fetches it by RMA gets
 *   put, get          RMA, from where the bytes are or through bounce buffers
 *   put with notify   a notification put behind it on the same way
 *
 * eager_max is 1024 bytes by default (6.3).  Measured, both ways of sending
 * take equally long at 4 KB; below, the long way leaves the processors free. */
#ifndef SYSTEMS_EXTOLL_LIB_ENDPOINT_H
#define SYSTEMS_EXTOLL_LIB_ENDPOINT_H

#include "endpoint/core.h"
#include "weft/rma.h"
#include "weft/velo.h"

enum {
	EXTOLL_EP_VELO = 64,		/* bytes of a VELO message */
	EXTOLL_EP_QUEUE = 16 * EP_PAGE, /* of puts, in the NIC's queue */
	EXTOLL_EP_STEP = 4 * EP_PAGE,
};

/* Pieces of one way; their ends are told in this order. */
struct extoll_ep_pieces {
	struct ep_piece *head, **tail;
};

struct extoll_ep_peer {
	struct velo_connection velo;
	struct rma_handle *rma;
	bool irq;
	struct extoll_ep_pieces gets; /* in order of this peer's answers */
};

struct extoll_ep {
	struct ep core; /* first */
	struct velo_port *velo;
	struct rma_port *rma;
	struct extoll_ep_peer *peer;
	struct extoll_ep_pieces puts; /* requester notifications in order */
	size_t out;		      /* bytes of them */
	const uint8_t *watch;	      /* VELO mailbox and notification ring */
	size_t watch_bytes;
};

static inline struct extoll_ep *extoll_ep_of(struct ep *e)
{
	return (struct extoll_ep *)e;
}

/* endpoint_velo.c */
bool extoll_ep_message(struct ep *e, uint32_t dst, const struct ep_head *h,
		       const void *data);
void extoll_ep_poll(struct ep *e);

/* endpoint_rma.c */
bool extoll_ep_remote(struct ep *e, struct ep_op *op);
void extoll_ep_notify(struct ep *e, struct ep_op *op);
bool extoll_ep_fetch(struct ep *e, struct ep_msg *m, struct ep_piece *p);
void extoll_ep_reap(struct ep *e);

#endif
