/* SPDX-License-Identifier: Apache-2.0 */
/* FORTH NIC: request queues and the order in which their transfers depart
 * (request_queue.c). Source: forth.md sections 3.1, 3.3 and 3.7. */
#ifndef SYSTEMS_FORTH_NIC_REQUEST_QUEUE_H
#define SYSTEMS_FORTH_NIC_REQUEST_QUEUE_H

#include <stdbool.h>
#include "base/ring.h"

struct forth_nic;

struct forth_track {
	uint64_t gone; /* PCI edge of departure, valid if `done` */
	uint16_t slot;
	bool lnotify, done;
};

struct forth_queue {
	uint32_t head, tail, pending; /* pending: released slots, 0 to depth */
	/* the queue waits, because the outgoing buffer had no room for its next
	 * transfer */
	bool masked;
	/* if masked: qwords of the next transfer, and VOQ of the next
	 * transfer */
	uint32_t need, voq;
	uint32_t departed; /* transfers departed */
	/* PCI edge of the latest departure from the queue */
	uint64_t gone;
	/* Transfers that the engine has begun and that have not departed,
	 * oldest first. */
	struct {
		RING(struct forth_track);
	} track;
};

/* Releases the slots up to descriptor `desc`, whose start flag was set
 * (R-14). */
void forth_queue_trigger(struct forth_nic *n, uint32_t desc);
/* Returns the pointer register of queue q. */
uint32_t forth_queue_pointers(struct forth_nic *n, uint32_t q);
/* Adds a transfer to the departure order of its queue. Returns its number for
 * forth_track_done(). */
uint32_t forth_track_add(struct forth_nic *n, uint32_t q, bool lnotify);
/* Notes that a transfer departs at PCI edge `pc`, which may lie in the future.
 * Queues local notifications in order of departure. */
void forth_track_done(struct forth_nic *n, uint32_t q, uint32_t seq,
		      uint64_t pc);

#endif
