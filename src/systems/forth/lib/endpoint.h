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
enum epf_kind {
	EPF_MSG = 1,  /* for the user */
	EPF_PUT,      /* bytes for address arg */
	EPF_NOTIFY,   /* an earlier put has landed: imm */
	EPF_GET,      /* request: struct epf_get */
	EPF_GET_DATA, /* bytes for offset arg of request imm */
	EPF_ATOMIC,   /* request: struct epf_atomic */
	EPF_DONE,     /* answer to request imm: arg = result, data = status */
};

struct epf_trailer {
	uint64_t imm, arg;
	uint64_t meta; /* [23:0] length, [31:24] kind, [63:32] consumed */
	uint64_t seq;  /* 1, 2, ... */
};

struct epf_get {
	uint64_t raddr, rkey, len;
	uint64_t back; /* physical address to put to, 0 = by message */
};

struct epf_atomic {
	uint64_t raddr, rkey;
	uint64_t swap; /* 0 = add a, 1 = if equal to a set to b */
	uint64_t a, b;
};

/* An operation on its way.  The owner is one list at a time. */
struct epf_op {
	struct epf_op *next;
	enum epf_kind kind;
	bool internal; /* an answer: no event, from the peer's own pool */
	bool waiting;  /* sent, the answer is outstanding */
	uint32_t dst, id;
	/* direct part [0, direct) of buf goes to address `to`, the rest
	 * travels in messages of `data_kind` */
	const uint8_t *buf;
	uint8_t *into; /* get: where the data go */
	size_t len, direct, off;
	weft_phys_t local, to;		    /* local 0: bounce */
	enum epf_kind data_kind, last_kind; /* last_kind 0 = none */
	uint64_t imm, arg;		    /* of the last message */
	int32_t status;
	enum weft_ep_kind event;
	uint64_t departs; /* queue count at which buf is free */
	void *ctx;
	union {
		struct epf_get get;
		struct epf_atomic atomic;
	} req;
};

struct epf_list {
	struct epf_op *head, **tail;
};

struct epf_peer {
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
	struct epf_list todo, departing;
	struct epf_op *answers; /* free ones */
};

struct epf_bounce {
	uint8_t *p;
	weft_phys_t phys;
	uint32_t dst;
	uint64_t departs;
	bool busy;
};

struct epf_mr {
	uint8_t *p;
	weft_phys_t phys;
	size_t len;
};

#define EPF_OPS		 64 /* of the user, outstanding */
#define EPF_REQUESTS	 8  /* gets and atomics outstanding per peer */
#define EPF_BOUNCES	 8
#define EPF_BOUNCE_BYTES 4096
#define EPF_CALL_COST	 (20 * WEFT_NS) /* of one call into the library */

struct epf {
	struct weft_ep ep;
	struct weft_forth *f;
	struct weft_host *h;
	uint32_t me, n, slots;
	size_t slot_bytes;
	bool irq;
	bool paths;	/* several: packets overtake each other */
	uint32_t noted; /* notifications given before we began */
	uint64_t late;	/* messages that may be incomplete */
	struct epf_peer *peer;
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
	struct epf_bounce bounce[EPF_BOUNCES];
	uint32_t bounce_next;
	struct epf_mr *mr;
	uint32_t n_mr;
	struct epf_op *ops, *free_ops, *answers;
	struct weft_ep_event *ev; /* ring of local completions */
	uint32_t ev_head, ev_tail, ev_size;
	uint32_t turn; /* peer to look at first: the next when not all got on */
};

static inline struct epf *epf_of(struct weft_ep *ep)
{
	return (struct epf *)ep;
}

static inline uint8_t *epf_rx_slot(struct epf *e, uint32_t peer, uint64_t seq)
{
	return e->rx +
	       ((size_t)peer * e->slots + seq % e->slots) * e->slot_bytes;
}

static inline struct epf_trailer *epf_trailer_of(struct epf *e, uint8_t *slot)
{
	return (struct epf_trailer *)(slot + e->slot_bytes -
				      sizeof(struct epf_trailer));
}

static inline size_t epf_pad(size_t len)
{
	return (len + 7) & ~(size_t)7;
}

/* endpoint_tx.c: the sending engine. */
void epf_list_init(struct epf_list *l);
void epf_list_push(struct epf_list *l, struct epf_op *op);
struct epf_op *epf_list_pop(struct epf_list *l);
/* Issues what credits and queue space allow; true when something moved. */
bool epf_progress(struct epf *e);
void epf_event(struct epf *e, const struct weft_ep_event *ev);
void epf_complete(struct epf *e, struct epf_op *op);
void epf_op_free(struct epf *e, struct epf_op *op);
void epf_return_credits(struct epf *e);

/* endpoint_rx.c: arrived messages. */
/* Handles messages; up to max events for the user. */
int epf_receive(struct epf *e, struct weft_ep_event *ev, int max);
bool epf_rx_ready(struct epf *e);
void epf_release(struct weft_ep *ep, const struct weft_ep_event *ev);

/* endpoint_mem.c: regions of the user. */
bool epf_key_covers(uint64_t key, uint64_t addr, size_t len);
struct epf_mr *epf_mr_find(struct epf *e, uint64_t raddr, size_t len);
/* Where their bytes are, or NULL. */
uint8_t *epf_mr_at(struct epf *e, uint64_t raddr, size_t len);
int epf_mr_reg(struct weft_ep *ep, void *p, size_t len,
	       struct weft_ep_mr *mr_p);
int epf_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr);

#endif
