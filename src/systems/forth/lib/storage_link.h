/* SPDX-License-Identifier: Apache-2.0 */
/* The link of the block protocol over the FORTH NIC (forth.md 3, 13).
 *
 * Each node has a table of slots for each peer, in memory that the peer's NIC
 * writes.  Everything for one peer uses one request queue, so that data land
 * before the record behind them (forth.md 3.8).
 *
 *       descriptors of a queue, oldest first
 *
 *       | departed | released: NIC serves them | pending: in the library |
 *
 * Pending descriptors go to the NIC together: the last of them alone has the
 * start flag (forth.md 3.3).  The last descriptor of a put or of a release
 * requests a local notification, by which the library learns of departures
 * without a load. */
#ifndef SYSTEMS_FORTH_LIB_STORAGE_LINK_H
#define SYSTEMS_FORTH_LIB_STORAGE_LINK_H

#include "storage/link.h"
#include "weft/forth.h"

enum {
	FORTH_STORAGE_QUEUES = 8,
	/* records to a peer that have not departed */
	FORTH_STORAGE_RECORDS = 64,
	FORTH_STORAGE_TABLE = STORAGE_SLOTS * STORAGE_SLOT_BYTES,
};

enum forth_storage_notify {
	FORTH_STORAGE_REQUEST,
	FORTH_STORAGE_PAGE,
	FORTH_STORAGE_PACKET,
};

struct forth_storage_peer {
	uint32_t node;
	uint64_t table; /* slots of this node at the peer; 0: not known yet */
	bool irq;	/* the peer sleeps */
	uint64_t started, departed; /* puts */
	uint8_t *slots;		    /* of the peer, here */
	uint32_t expect;	    /* slot of its next record */
	/* copies of records on their way, and the number of descriptors of the
	 * queue that have departed with each */
	uint8_t *out;
	weft_phys_t out_phys;
	uint64_t record_end[FORTH_STORAGE_RECORDS];
	uint32_t record_next;
};

struct forth_storage_queue {
	struct weft_forth_desc *pending;
	uint32_t n_pending;
	uint64_t made;	   /* descriptors, pending ones included */
	uint64_t departed; /* of these, as far as puts have been counted */
	/* peer + 1 whose put ends with the descriptor; one for each slot */
	uint8_t *ends;
};

struct forth_storage {
	struct storage_link link; /* first member: the caller's pointer */
	struct weft_forth *f;
	enum forth_storage_notify notify;
	uint32_t cluster; /* 0: up to half a queue */
	bool target, irq;
	uint32_t queues, depth;
	uint32_t part; /* bytes of a descriptor */
	struct forth_storage_peer *peer;
	uint32_t peers;
	uint8_t *index; /* of a node: peer + 1, or 0 */
	uint32_t nodes;
	struct forth_storage_queue queue[FORTH_STORAGE_QUEUES];
	uint8_t *words;	 /* notifications */
	uint8_t *tables; /* slots of all peers */
	uint8_t *out;	 /* copies of records */
	uint32_t seen;	 /* remote notifications that were counted */
	uint32_t due;	 /* those that may have brought a record */
	uint32_t turn;	 /* peer that is polled first */
	uint32_t paid;	 /* interrupts of notifications to come */
};

static inline struct forth_storage *forth_storage_of(struct storage_link *l)
{
	return (struct forth_storage *)l;
}

/* Returns the peer on a node, or NULL. */
struct forth_storage_peer *forth_storage_peer(struct forth_storage *x,
					      uint32_t node);
/* Learns the table of a target that has opened its link.  Returns false if it
 * has not. */
bool forth_storage_meet(struct forth_storage *x, struct forth_storage_peer *p);

/* storage_link_out.c */
int forth_storage_put(struct storage_link *l, uint32_t node, const void *p,
		      size_t len, uint64_t addr, uint64_t key, uint32_t mark);
int forth_storage_record(struct storage_link *l, uint32_t node, uint32_t slot,
			 const struct storage_record *rec);
/* Gives all pending descriptors to the NIC. */
void forth_storage_release(struct forth_storage *x);
/* Counts puts that have departed.  Returns true if all descriptors have. */
bool forth_storage_refresh(struct forth_storage *x);

/* storage_link_in.c */
int forth_storage_poll(struct storage_link *l, struct storage_event *ev,
		       int max);
/* Counts remote notifications.  Returns true if one may have brought a
 * record. */
bool forth_storage_ready(struct forth_storage *x);

#endif
