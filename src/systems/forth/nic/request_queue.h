/* SPDX-License-Identifier: Apache-2.0 */
/* FORTH NIC: request queues and the order in which their transfers depart
 * (request_queue.c). Source: forth.md sections 3.1, 3.3 and 3.7. */
#ifndef SYSTEMS_FORTH_NIC_REQUEST_QUEUE_H
#define SYSTEMS_FORTH_NIC_REQUEST_QUEUE_H

#include <stdbool.h>
#include "base/ring.h"

struct forth_nic;

struct forth_track {
	uint64_t gone; /* pc of departure, valid when done */
	uint16_t slot;
	bool lnotify, done;
};

struct forth_queue {
	uint32_t head, tail, pending; /* slots; pending up to the depth */
	bool masked;	    /* the outgoing buffer had no room for the queue */
	uint32_t need, voq; /* masked: words that it needs, and in which VOQ */
	uint32_t departed;  /* cumulative transfers */
	uint64_t gone;	    /* pc of the latest departure */
	/* Transfers between the engine and their departure, oldest first. */
	struct {
		RING(struct forth_track);
	} track;
};

/* Releases descriptor number `desc`, whose start flag was set. */
void forth_queue_trigger(struct forth_nic *n, uint32_t desc);
/* Returns the pointer register of queue q. */
uint32_t forth_queue_pointers(struct forth_nic *n, uint32_t q);
/* Adds a transfer to its queue's departure order. Returns its number, which
 * forth_track_done() takes. */
uint32_t forth_track_add(struct forth_nic *n, uint32_t q, bool lnotify);
/* Notes that a transfer departs at pc, which may lie ahead. Notifies in
 * order. */
void forth_track_done(struct forth_nic *n, uint32_t q, uint32_t seq,
		      uint64_t pc);

#endif
