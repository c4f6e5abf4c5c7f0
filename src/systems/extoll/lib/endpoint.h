/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over EXTOLL (extoll.md 6.3).
 *
 *     up to 56 bytes     one VELO message: imm and data
 *     up to eager_max    several VELO messages in order, reassembled here
 *     longer             the receiver fetches the message by RMA gets
 *     put, get           RMA, directly or through bounce buffers
 *     put with notify    a notification put follows on the same route
 *
 * eager_max is 1024 bytes by default (6.3). Measured, both ways of sending take
 * equally long at 4 KB. Below that size the fetch leaves the processors free,
 * therefore the default is lower. */
#ifndef SYSTEMS_EXTOLL_LIB_ENDPOINT_H
#define SYSTEMS_EXTOLL_LIB_ENDPOINT_H

#include "endpoint/core.h"
#include "weft/rma.h"
#include "weft/velo.h"

enum {
	EXTOLL_EP_VELO = 64, /* bytes of a VELO message */
	/* Bytes of puts that may wait in the NIC's queue. */
	EXTOLL_EP_QUEUE = 16 * EP_PAGE,
	EXTOLL_EP_STEP = 4 * EP_PAGE,
};

/* Pieces whose completions arrive in this order. */
struct extoll_ep_pieces {
	struct ep_piece *head, **tail;
};

struct extoll_ep_peer {
	struct velo_connection velo;
	struct rma_handle *rma;
	bool irq;
	/* gets in flight, in order of this peer's answers */
	struct extoll_ep_pieces gets;
};

struct extoll_ep {
	struct ep core; /* first member, because extoll_ep_of() casts it */
	struct velo_port *velo;
	struct rma_port *rma;
	struct extoll_ep_peer *peer;
	/* Puts in flight, in order of requester notifications. */
	struct extoll_ep_pieces puts;
	size_t out;	      /* bytes of `puts` */
	const uint8_t *watch; /* VELO mailbox and notification ring */
	size_t watch_bytes;
};

static inline struct extoll_ep *extoll_ep_of(struct ep *e)
{
	return (struct extoll_ep *)e;
}

/* endpoint_velo.c: sends a message. Always returns true. */
bool extoll_ep_message(struct ep *e, uint32_t dst, const struct ep_head *h,
		       const void *data);
/* Receives all messages in the VELO mailbox. */
void extoll_ep_poll(struct ep *e);

/* endpoint_rma.c: starts part of a put or get. Returns false if it must wait
 * for room. */
bool extoll_ep_remote(struct ep *e, struct ep_op *op);
/* Sends the notification of a put. It follows the data because both take one
 * route. */
void extoll_ep_notify(struct ep *e, struct ep_op *op);
/* Starts the get that fetches a long message. Always returns true. */
bool extoll_ep_fetch(struct ep *e, struct ep_msg *m, struct ep_piece *p);
/* Handles notifications of the RMA. */
void extoll_ep_reap(struct ep *e);

#endif
