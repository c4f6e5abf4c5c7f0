/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over EXTOLL (extoll.md 6.3).
 *
 *     up to 56 bytes     one VELO message: imm and data
 *     up to eager_max    several VELO messages in order, joined by the endpoint
 *     longer             the receiver fetches the message by RMA gets
 *     put, get           RMA, directly or through bounce buffers
 *     put with notify    a notification put follows on the same route
 *
 * eager_max is 1024 bytes by default (6.3). In measurements a message
 * of 4 KB takes equally long by several VELO messages and by a fetch. The
 * default is lower than 4 KB, because a fetch leaves the processors free. */
#ifndef SYSTEMS_EXTOLL_LIB_ENDPOINT_H
#define SYSTEMS_EXTOLL_LIB_ENDPOINT_H

#include "endpoint/core.h"
#include "weft/rma.h"
#include "weft/velo.h"

enum {
	EXTOLL_EP_VELO = 64, /* bytes of a VELO message */
	/* Bytes of puts that may wait in the NIC's queue, and bytes of one part
	 * of a put. */
	EXTOLL_EP_QUEUE = 16 * EP_PAGE,
	EXTOLL_EP_STEP = 4 * EP_PAGE,
};

/* A list of pieces, in the order in which they complete. */
struct extoll_ep_pieces {
	struct ep_piece *head, **tail;
};

struct extoll_ep_peer {
	struct velo_connection velo;
	struct rma_handle *rma;
	bool irq;
	/* gets in flight, in the order in which this peer answers them */
	struct extoll_ep_pieces gets;
};

struct extoll_ep {
	struct ep core; /* first member, because extoll_ep_of() casts it */
	struct velo_port *velo;
	struct rma_port *rma;
	struct extoll_ep_peer *peer;
	/* Puts in flight, in the order of their requester notifications. */
	struct extoll_ep_pieces puts;
	size_t out; /* bytes of `puts` */
	/* memory whose writes wake the endpoint: VELO mailbox, notification
	 * ring */
	const uint8_t *watch;
	size_t watch_bytes;
};

static inline struct extoll_ep *extoll_ep_of(struct ep *e)
{
	return (struct extoll_ep *)e;
}

/* endpoint_velo.c: sends a message. Always returns true: while the NIC has no
 * room, the stores of the processor wait. */
bool extoll_ep_message(struct ep *e, uint32_t dst, const struct ep_head *h,
		       const void *data);
/* Receives all messages in the VELO mailbox. */
void extoll_ep_poll(struct ep *e);

/* endpoint_rma.c: starts a put or get, or a part of it. Returns false if no
 * part can start now, because the NIC's queue or the bounce buffers are
 * full. */
bool extoll_ep_remote(struct ep *e, struct ep_op *op);
/* Sends the notification of a put. The notification follows the data, because
 * both take one route. */
void extoll_ep_notify(struct ep *e, struct ep_op *op);
/* Starts the get that fetches a long message. Always returns true. */
bool extoll_ep_fetch(struct ep *e, struct ep_msg *m, struct ep_piece *p);
/* Handles notifications of the RMA. */
void extoll_ep_reap(struct ep *e);

#endif
