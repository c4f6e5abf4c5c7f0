/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over the FORTH NIC (forth.md 3). The hardware only writes
 * aligned qwords to 32-bit physical addresses. Therefore software implements
 * messages, the bytes of a put that do not fill a qword, gets, and atomics.
 *
 * Each ordered pair of nodes has one ring of slots in the receiver's memory. A
 * message lies at the end of its slot, so that its last qword, the sequence
 * number, is always at the same offset and is written last:
 *
 *         | unused | data, padded to 8 | imm | arg | meta | seq |
 *
 * The receiver returns credits inside its own messages or by a put of one qword
 * into the sender's credit word.
 *
 * Over several paths packets overtake each other, so that a message may lack
 * words although its sequence number has arrived. Only notifications keep the
 * order of posting (forth.md 7.4), and one word counts the notifications of all
 * senders. Therefore every message requests a notification. The endpoint counts
 * the messages that have arrived, in each ring up to its first gap, and
 * subtracts the number of notifications. If the difference is k, at most k
 * messages are incomplete, and each of them is among the last k of its ring.
 * Therefore the endpoint does not yet process the last k messages of any
 * ring. */
#ifndef SYSTEMS_FORTH_LIB_ENDPOINT_H
#define SYSTEMS_FORTH_LIB_ENDPOINT_H

#include "endpoint/core.h"
#include "weft/forth.h"

struct forth_ep_trailer {
	uint64_t imm, arg;
	/* [23:0] length, [31:24] kind, [63:32] number of messages that this
	 * sender has consumed, which returns credits to the receiver */
	uint64_t meta;
	uint64_t seq; /* 1, 2, ... */
};

struct forth_ep_peer {
	/* bus addresses at the peer: the ring that this node fills, the credit
	 * word that this node writes */
	weft_phys_t rx, credit;
	bool irq;
	/* the members below serve NICs with several paths */
	/* messages of the peer that have arrived before the first gap in its
	 * ring */
	uint64_t landed;
	/* number of messages for which credits had been returned before the
	 * last put of credits. The put has arrived once the peer has sent more
	 * messages than put_from + slots. */
	uint64_t put_from;
	bool putting; /* the last put of credits may be in flight */
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
	/* the NIC uses several paths, on which packets overtake each other */
	bool paths;
	/* count of notifications of the NIC when the endpoint was opened */
	uint32_t noted;
	/* number of messages at the end of each ring that the endpoint does not
	 * process yet, because any of them may be incomplete */
	uint64_t late;
	struct forth_ep_peer *peer;
	/* memory that the host polls: notification words, credit words, receive
	 * rings */
	uint8_t *block;
	weft_phys_t block_phys;
	size_t block_bytes;
	volatile uint64_t *credit;
	uint8_t *rx;
	/* memory that the DMA reads: counts of consumed messages, staging
	 * rings, bounce buffers */
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

/* Returns the offset of message `seq`, counted from 0, in the ring from or to a
 * peer. */
static inline size_t forth_ep_slot(const struct forth_ep *x, uint32_t peer,
				   uint64_t seq)
{
	return ((size_t)peer * x->core.slots + seq % x->core.slots) *
	       x->slot_bytes;
}

/* endpoint_messages.c */
/* Sends a message of any kind. Returns false when it must be tried again later,
 * because the ring or the request queue has no room. */
bool forth_ep_message(struct ep *e, uint32_t dst, const struct ep_head *h,
		      const void *data);
/* Reads the credits that the peer has written into its credit word. */
void forth_ep_credits(struct ep *e, uint32_t dst);
/* Handles all messages that have arrived. Each call begins with a different
 * peer than the call before. */
void forth_ep_poll(struct ep *e);
/* Returns whether a message has arrived from any peer. */
bool forth_ep_ready(struct ep *e);
/* Returns the number of transfers that a put of `bytes` needs. */
uint32_t forth_ep_parts(const struct forth_ep *x, size_t bytes);
/* Puts `bytes` (whole qwords) in as many transfers as the NIC needs. The caller
 * has checked that the request queue has room. */
void forth_ep_put(struct forth_ep *x, uint32_t p, weft_phys_t from,
		  weft_phys_t to, size_t bytes, uint32_t flags);

#endif
