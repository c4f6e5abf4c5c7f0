/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over the FORTH NIC: shared state of its files.
 *
 * Per ordered pair of nodes one ring of slots in the receiver's memory.  A
 * message lies at the end of its slot, so that its last qword, the sequence
 * number, is always at the same place and lands last:
 *
 *	| unused | data, padded to 8 | imm | arg | meta | seq |
 *
 * The receiver returns credits (messages consumed) inside its own messages or
 * by a put of one qword into the sender's credit word.
 *
 * Over several paths packets overtake each other and only notifications keep
 * order (forth.md 7.4), in one word for all senders.  Every message asks for
 * one.  Of the messages that lie in the rings without a gap, those of all
 * senders together minus the notifications given are not confirmed: so many
 * at the end of each ring may be incomplete, and are left there. */
#ifndef SYSTEMS_FORTH_LIB_ENDPOINT_H
#define SYSTEMS_FORTH_LIB_ENDPOINT_H

#include "weft/ep.h"
#include "weft/forth.h"

/* What the peer's library does with a message. */
enum forth_ep_kind {
	FORTH_EP_MSG = 1,  /* for the user */
	FORTH_EP_PUT,	   /* bytes for address arg */
	FORTH_EP_NOTIFY,   /* an earlier put has landed: imm */
	FORTH_EP_GET,	   /* request: struct forth_ep_get */
	FORTH_EP_GET_DATA, /* bytes for offset arg of request imm */
	FORTH_EP_ATOMIC,   /* request: struct forth_ep_atomic */
	FORTH_EP_DONE, /* answer to request imm: arg = result, data = status */
};

struct forth_ep_trailer {
	uint64_t imm, arg;
	uint64_t meta; /* [23:0] length, [31:24] kind, [63:32] consumed */
	uint64_t seq;  /* 1, 2, ... */
};

struct forth_ep_get {
	uint64_t raddr, rkey, len;
	uint64_t back; /* physical address to put to, 0 = by message */
};

struct forth_ep_atomic {
	uint64_t raddr, rkey;
	uint64_t swap; /* 0 = add a, 1 = if equal to a set to b */
	uint64_t a, b;
};

/* An operation on its way.  The owner is one list at a time. */
struct forth_ep_op {
	struct forth_ep_op *next;
	enum forth_ep_kind kind;
	bool internal; /* an answer: no event, from the peer's own pool */
	bool waiting;  /* sent, the answer is outstanding */
	uint32_t dst, id;
	/* direct part [0, direct) of buf goes to address `to`, the rest
	 * travels in messages of `data_kind` */
	const uint8_t *buf;
	uint8_t *into; /* get: where the data go */
	size_t len, direct, off;
	weft_phys_t local, to;			 /* local 0: bounce */
	enum forth_ep_kind data_kind, last_kind; /* last_kind 0 = none */
	uint64_t imm, arg;			 /* of the last message */
	int32_t status;
	enum weft_ep_kind event;
	uint64_t departs; /* queue count at which buf is free */
	void *ctx;
	union {
		struct forth_ep_get get;
		struct forth_ep_atomic atomic;
	} req;
};

struct forth_ep_list {
	struct forth_ep_op *head, **tail;
};

struct forth_ep_peer {
	weft_phys_t rx, credit; /* my ring and my credit word over there */
	bool irq;
	uint64_t sent, acked; /* messages */
	uint64_t got, consumed, returned;
	/* several paths */
	uint64_t landed;   /* messages in my ring, without a gap */
	uint64_t put_from; /* returned before the last put of credits */
	bool putting;	   /* which may still be under way */
	bool *done;	   /* per slot: may be given back */
	uint32_t requests; /* of mine outstanding */
	struct forth_ep_list todo, departing;
	struct forth_ep_op *answers; /* free ones */
};

struct forth_ep_bounce {
	uint8_t *p;
	weft_phys_t phys;
	uint32_t dst;
	uint64_t departs;
	bool busy;
};

struct forth_ep_mr {
	uint8_t *p;
	weft_phys_t phys;
	size_t len;
};

#define FORTH_EP_OPS	      64 /* of the user, outstanding */
#define FORTH_EP_REQUESTS     8	 /* gets and atomics outstanding per peer */
#define FORTH_EP_BOUNCES      8
#define FORTH_EP_BOUNCE_BYTES 4096
#define FORTH_EP_CALL_COST    (20 * WEFT_NS) /* of one call into the library */

struct forth_ep {
	struct weft_ep ep;
	struct weft_forth *f;
	struct weft_host *h;
	uint32_t me, n, slots;
	size_t slot_bytes;
	bool irq;
	bool paths;	/* several: packets overtake each other */
	uint32_t noted; /* notifications given before we began */
	uint64_t late;	/* messages that may be incomplete */
	struct forth_ep_peer *peer;
	/* watched block: notification words, credit words, receive rings */
	uint8_t *block;
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
	struct forth_ep_mr *mr;
	uint32_t n_mr;
	struct forth_ep_op *ops, *free_ops, *answers;
	struct weft_ep_event *ev; /* ring of local completions */
	uint32_t ev_head, ev_tail, ev_size;
	uint32_t turn; /* peer to look at first: the next when not all got on */
};

static inline struct forth_ep *forth_ep_of(struct weft_ep *ep)
{
	return (struct forth_ep *)ep;
}

static inline uint8_t *forth_ep_rx_slot(struct forth_ep *e, uint32_t peer,
					uint64_t seq)
{
	return e->rx +
	       ((size_t)peer * e->slots + seq % e->slots) * e->slot_bytes;
}

static inline struct forth_ep_trailer *forth_ep_trailer_of(struct forth_ep *e,
							   uint8_t *slot)
{
	return (struct forth_ep_trailer *)(slot + e->slot_bytes -
					   sizeof(struct forth_ep_trailer));
}

static inline size_t forth_ep_pad(size_t len)
{
	return (len + 7) & ~(size_t)7;
}

/* endpoint_tx.c: the sending engine. */
void forth_ep_list_init(struct forth_ep_list *l);
void forth_ep_list_push(struct forth_ep_list *l, struct forth_ep_op *op);
struct forth_ep_op *forth_ep_list_pop(struct forth_ep_list *l);
/* Issues what credits and queue space allow; true when something moved. */
bool forth_ep_progress(struct forth_ep *e);
void forth_ep_event(struct forth_ep *e, const struct weft_ep_event *ev);
void forth_ep_complete(struct forth_ep *e, struct forth_ep_op *op);
void forth_ep_op_free(struct forth_ep *e, struct forth_ep_op *op);
void forth_ep_return_credits(struct forth_ep *e);

/* endpoint_rx.c: arrived messages. */
/* Handles messages; up to max events for the user. */
int forth_ep_receive(struct forth_ep *e, struct weft_ep_event *ev, int max);
bool forth_ep_rx_ready(struct forth_ep *e);
void forth_ep_release(struct weft_ep *ep, const struct weft_ep_event *ev);

/* endpoint_mem.c: regions of the user. */
bool forth_ep_key_covers(uint64_t key, uint64_t addr, size_t len);
struct forth_ep_mr *forth_ep_mr_find(struct forth_ep *e, uint64_t raddr,
				     size_t len);
/* Where their bytes are, or NULL. */
uint8_t *forth_ep_mr_at(struct forth_ep *e, uint64_t raddr, size_t len);
int forth_ep_mr_reg(struct weft_ep *ep, void *p, size_t len,
		    struct weft_ep_mr *mr_p);
int forth_ep_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr);

#endif
