/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over the Host Port (hostport.md 1.6, 2.3.3 of the
 * thesis).
 *
 *   up to 40 bytes    one FAST_SEND: the tags carry imm, kind and length
 *   up to eager_max   one SEND through both data regions
 *   longer            the receiver fetches it by GET
 *   put, get          FAST_PUT, PUT, FAST_GET, GET from the user's memory, or
 *                     through bounce buffers where source and target are not
 *                     aligned alike. MISALIGNED_PUT writes the first and
 *                     last bytes of a put that do not fill a word
 *   put with notify   a message after the last acknowledge
 *   atomics           messages to the library of the target. The NIC's CAS
 *                     does not say whether the word was swapped (14.3), and
 *                     its FAA would not be atomic with swaps of the library
 *
 * eager_max is 2048 bytes by default. Measured (experiment ep-pingpong), SEND
 * and GET take equally long at 2 KB on PCI 66, at 1.8 KB on htx100_wire and at
 * 1.2 KB on a HyperTransport bus of full width.
 *
 * All queues of a receiver have room for `slots` messages of each sender, so
 * that a packet never blocks in the network for lack of room. Processes of one
 * group, one on each node, are peers. A node may have many groups. The node's
 * driver serves translations (hport_serve). */
#ifndef SYSTEMS_HOSTPORT_LIB_ENDPOINT_H
#define SYSTEMS_HOSTPORT_LIB_ENDPOINT_H

#include "endpoint/core.h"
#include "weft/hostport.h"

enum {
	/* kind in the tag of an instruction of a put, get or fetch, because
	 * these are not messages */
	HOSTPORT_EP_PIECE = 15,
	HOSTPORT_EP_FAST = 40, /* largest FAST_SEND in bytes */
	HOSTPORT_EP_FAST_RMA = 24,
	/* largest number of messages in the send data region */
	HOSTPORT_EP_SDR_MAX = 64,
};

struct hostport_ep {
	struct ep core; /* first member, because the core casts to it */
	struct hport *p;
	struct hport_peer *peer;
	uint8_t *sdr; /* send data region, in slots of eager_max bytes */
	uint32_t sdr_slots;
	bool sdr_busy[HOSTPORT_EP_SDR_MAX];
	uint32_t windows; /* number of window ids */
	uint64_t *win_used;
};

static inline struct hostport_ep *hostport_ep_of(struct ep *e)
{
	return (struct hostport_ep *)e;
}

/* Returns the API tag of a message: its kind, id and length. */
static inline uint64_t hostport_ep_tag(uint32_t kind, uint32_t id, size_t len)
{
	return (uint64_t)kind << 44 | (uint64_t)id << 24 | len;
}
#define HOSTPORT_EP_KIND(api) ((uint32_t)((api) >> 44 & 15))
#define HOSTPORT_EP_ID(api)   ((uint32_t)((api) >> 24 & 0xfffff))
#define HOSTPORT_EP_LEN(api)  ((uint32_t)(api)&0xffffff)

/* endpoint_messages.c */
/* Sends a message of any kind. Returns false when the caller has to try again
 * later. */
bool hostport_ep_message(struct ep *e, uint32_t dst, const struct ep_head *h,
			 const void *data);
/* Handles all notifications that have arrived. */
void hostport_ep_poll(struct ep *e);

/* endpoint_rma.c */
/* Posts the next instruction of a put or get. Returns false when the caller has
 * to try again later. */
bool hostport_ep_remote(struct ep *e, struct ep_op *op);
/* Posts the get for a long message. Returns false when the caller has to try
 * again later. */
bool hostport_ep_fetch(struct ep *e, struct ep_msg *m, struct ep_piece *p);

#endif
