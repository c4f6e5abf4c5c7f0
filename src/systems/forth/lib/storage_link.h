/* SPDX-License-Identifier: Apache-2.0 */
/* The link of the block protocol over the FORTH NIC (forth.md 3, 13).
 *
 * Each node has a table of slots for each peer, in memory that the peer's NIC
 * writes. All puts and records for one peer use one request queue, so that data
 * land before the record behind them (forth.md 3.8).
 *
 *       descriptors of a queue, oldest first
 *
 *       | departed | released: NIC serves them | pending: in the library |
 *
 * A release writes the pending descriptors to the NIC as one cluster. Only the
 * last of them has the start flag (forth.md 3.3). The last descriptor of a put
 * or of a release requests a local notification, so that the library can count
 * departures without a load. */
#ifndef SYSTEMS_FORTH_LIB_STORAGE_LINK_H
#define SYSTEMS_FORTH_LIB_STORAGE_LINK_H

#include "storage/link.h"
#include "weft/forth.h"

enum {
	FORTH_STORAGE_QUEUES = 8,
	/* number of records to one peer that can be in flight: each needs a
	 * copy until it has departed */
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
	/* bus address of the slots that the peer has for this node, or 0 if not
	 * known yet */
	uint64_t table;
	bool irq;		    /* the peer sleeps until an interrupt */
	uint64_t started, departed; /* puts */
	uint8_t *slots;		    /* slots here that the peer writes */
	uint32_t expect;	    /* slot of the peer's next record */
	/* out: ring of copies of records, which the DMA reads. record_end:
	 * value that `departed` of the queue must reach before the copy with
	 * this index may be overwritten */
	uint8_t *out;
	weft_phys_t out_phys;
	uint64_t record_end[FORTH_STORAGE_RECORDS];
	uint32_t record_next;
};

struct forth_storage_queue {
	struct weft_forth_desc *pending;
	uint32_t n_pending;
	uint64_t made;	   /* descriptors made, pending ones included */
	uint64_t departed; /* descriptors known to have departed */
	/* for each slot of the queue: 1 + index of the peer if the slot's
	 * descriptor is the last one of a put to that peer, otherwise 0 */
	uint8_t *ends;
};

struct forth_storage {
	struct storage_link
		link; /* first member, because callers point to it */
	struct weft_forth *f;
	enum forth_storage_notify notify;
	uint32_t cluster; /* descriptors per release, or 0 for half a queue */
	bool target, irq;
	uint32_t queues, depth;
	uint32_t part; /* most bytes of a descriptor */
	struct forth_storage_peer *peer;
	uint32_t peers;
	uint8_t *index; /* for each node: 1 + index in peer[], or 0 */
	uint32_t nodes;
	struct forth_storage_queue queue[FORTH_STORAGE_QUEUES];
	uint8_t *words;	 /* words of notifications */
	uint8_t *tables; /* slots that the peers write */
	uint8_t *out;	 /* copies of records to all peers */
	uint32_t seen;	 /* remote notifications counted so far */
	/* counted notifications whose records have not been read */
	uint32_t due;
	uint32_t turn; /* index of the peer that is polled first */
	/* number of further notifications for which the processor is not
	 * charged, because it has handled their interrupt already */
	uint32_t paid;
};

static inline struct forth_storage *forth_storage_of(struct storage_link *l)
{
	return (struct forth_storage *)l;
}

/* Returns the peer on a node, or NULL. */
struct forth_storage_peer *forth_storage_peer(struct forth_storage *x,
					      uint32_t node);
/* Reads the address of a target's table. Returns false if the target has not
 * opened its link yet. */
bool forth_storage_meet(struct forth_storage *x, struct forth_storage_peer *p);

/* storage_link_out.c */
int forth_storage_put(struct storage_link *l, uint32_t node, const void *p,
		      size_t len, uint64_t addr, uint64_t key, uint32_t mark);
int forth_storage_record(struct storage_link *l, uint32_t node, uint32_t slot,
			 const struct storage_record *rec);
/* Gives all pending descriptors to the NIC. */
void forth_storage_release(struct forth_storage *x);
/* Counts puts that have departed. Returns true if all descriptors have
 * departed. */
bool forth_storage_refresh(struct forth_storage *x);

/* storage_link_in.c */
int forth_storage_poll(struct storage_link *l, struct storage_event *ev,
		       int max);
/* Counts remote notifications. Returns true if one of them may belong to a
 * record. */
bool forth_storage_ready(struct forth_storage *x);

#endif
