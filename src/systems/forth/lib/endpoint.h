/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over the FORTH NIC (forth.md 3). The hardware only writes
 * aligned qwords to 32-bit physical addresses. Therefore messages, ends of puts
 * that are not qwords, gets and atomics are done here.
 *
 * Each ordered pair of nodes has one ring of slots in the receiver's memory. A
 * message lies at the end of its slot, so that its last qword, the sequence
 * number, is always at the same place and lands last:
 *
 *         | unused | data, padded to 8 | imm | arg | meta | seq |
 *
 * The receiver returns credits inside its own messages or by a put of one qword
 * into the sender's credit word.
 *
 * Over several paths packets overtake each other, and only notifications keep
 * order (forth.md 7.4), in one word for all senders. Therefore every message
 * requests one. The messages that lie in the rings without a gap, of all
 * senders together, minus the notifications given are not confirmed: so many at
 * the end of each ring may be incomplete, and are left there. */
#ifndef SYSTEMS_FORTH_LIB_ENDPOINT_H
#define SYSTEMS_FORTH_LIB_ENDPOINT_H

#include "endpoint/core.h"
#include "weft/forth.h"

struct forth_ep_trailer {
	uint64_t imm, arg;
	uint64_t meta; /* [23:0] length, [31:24] kind, [63:32] consumed */
	uint64_t seq;  /* 1, 2, ... */
};

struct forth_ep_peer {
	weft_phys_t rx, credit; /* our ring and our credit word at the peer */
	bool irq;
	/* for several paths */
	uint64_t landed;   /* messages in our ring, without a gap */
	uint64_t put_from; /* messages returned before the last put of
			    * credits */
	bool putting;	   /* that put may still be in flight */
	struct ep_list departing;
};

struct forth_ep_bounce {
	uint8_t *p;
	weft_phys_t phys;
	uint32_t dst;
	uint64_t departs;
	bool busy;
};

enum { FORTH_EP_BOUNCES = 8 };

struct forth_ep {
	struct ep core; /* first member, because the core casts to it */
	struct weft_forth *f;
	size_t slot_bytes;
	bool paths;	/* several paths, so that packets overtake each other */
	uint32_t noted; /* notifications given before the endpoint was opened */
	uint64_t late;	/* messages that may be incomplete */
	struct forth_ep_peer *peer;
	/* memory that is polled: notification words, credit words, receive
	 * rings */
	uint8_t *block;
	weft_phys_t block_phys;
	size_t block_bytes;
	volatile uint64_t *credit;
	uint8_t *rx;
	/* sources of DMA: consumed words, staging rings, bounce buffers */
	uint8_t *out;
	weft_phys_t out_phys;
	uint64_t *consumed;
	uint8_t *tx;
	struct forth_ep_bounce bounce[FORTH_EP_BOUNCES];
	uint32_t bounce_next;
};

static inline struct forth_ep *forth_ep_of(struct ep *e)
{
	return (struct forth_ep *)e;
}

static inline size_t forth_ep_pad(size_t len)
{
	return (len + 7) & ~(size_t)7;
}

/* Returns the offset in the rings of message seq (from 0) from or to a peer. */
static inline size_t forth_ep_slot(const struct forth_ep *x, uint32_t peer,
				   uint64_t seq)
{
	return ((size_t)peer * x->core.slots + seq % x->core.slots) *
	       x->slot_bytes;
}

/* endpoint_messages.c */
/* Sends a message of any kind. Returns false when it has to be tried again
 * later. */
bool forth_ep_message(struct ep *e, uint32_t dst, const struct ep_head *h,
		      const void *data);
/* Takes credits from the word that the peer writes. */
void forth_ep_credits(struct ep *e, uint32_t dst);
/* Handles all messages that have arrived, each peer first in its turn. */
void forth_ep_poll(struct ep *e);
/* Returns whether a message has arrived. */
bool forth_ep_ready(struct ep *e);
/* Returns the number of transfers that `bytes` take. */
uint32_t forth_ep_parts(const struct forth_ep *x, size_t bytes);
/* Puts `bytes` (whole qwords) in as many transfers as the NIC needs. The caller
 * has checked that the request queue has room. */
void forth_ep_put(struct forth_ep *x, uint32_t p, weft_phys_t from,
		  weft_phys_t to, size_t bytes, uint32_t flags);

#endif
