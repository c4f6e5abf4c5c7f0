/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over EXTOLL (extoll.md 6.3): shared state of its files.
 *
 *   up to 56 bytes    one VELO message: imm and data
 *   up to eager_max   several VELO messages in order, put together here
 *   longer            rendezvous: VELO "ready to send", RMA gets, VELO "fin"
 *   put, get          RMA, from where they are or through bounce buffers
 *   put with notify   a notification put behind it on the same way
 *   atomics           VELO messages to the library there
 *
 * eager_max is 1024 bytes by default (6.3).  Measured, both ways of sending
 * take equally long at 4 KB; below, the rendezvous leaves the processors free.
 *
 * Messages of a peer are delivered in the order in which they were sent; a
 * sender has `slots` of them on the way.  Puts and messages overtake each
 * other. */
#ifndef SYSTEMS_EXTOLL_LIB_ENDPOINT_H
#define SYSTEMS_EXTOLL_LIB_ENDPOINT_H

#include "weft/ep.h"
#include "weft/rma.h"
#include "weft/velo.h"

/* Kinds of VELO messages, in their tags. */
enum extoll_ep_kind {
	EXTOLL_EP_MSG = 1, /* imm, data: a whole message */
	EXTOLL_EP_FIRST,   /* imm, length, data: MOREs follow */
	EXTOLL_EP_MORE,	   /* data */
	EXTOLL_EP_RTS,	   /* struct extoll_ep_rts */
	EXTOLL_EP_FIN,	   /* struct extoll_ep_done: data were fetched */
	EXTOLL_EP_ATOMIC,  /* struct extoll_ep_atomic */
	EXTOLL_EP_ANSWER,  /* struct extoll_ep_done */
	EXTOLL_EP_CREDIT,  /* struct extoll_ep_done: id = messages consumed */
	EXTOLL_EP_KINDS
};

enum {
	EXTOLL_EP_OPS = 64,	/* of the user, outstanding */
	EXTOLL_EP_REQUESTS = 8, /* atomics outstanding per peer */
	EXTOLL_EP_VELO = 64,	/* bytes of a VELO message */
	EXTOLL_EP_EAGER_MAX = 65536,
	EXTOLL_EP_BOUNCES = 16,
	EXTOLL_EP_PAGE = 4096,
	EXTOLL_EP_BOUNCE = EXTOLL_EP_PAGE,
	EXTOLL_EP_QUEUE =
		16 * EXTOLL_EP_PAGE, /* of puts, in the NIC's command queue */
	EXTOLL_EP_STEP = 4 * EXTOLL_EP_PAGE,
	EXTOLL_EP_PIECES = 64, /* RMA requests whose end is awaited */
	EXTOLL_EP_CACHE = 6,   /* registrations kept (6.3) */
	EXTOLL_EP_STAGES =
		2, /* buffers for long messages that no device reaches */
};
#define EXTOLL_EP_CALL_COST (20 * WEFT_NS) /* of one call into the library */

struct extoll_ep_first {
	uint64_t imm;
	uint64_t len;
};
struct extoll_ep_rts {
	uint64_t imm, nla;
	uint32_t len, id;
};
struct extoll_ep_atomic {
	uint64_t raddr, rkey, a, b;
	uint32_t id, swap; /* swap 0: add a; 1: if equal to a set to b */
};
struct extoll_ep_done {
	uint64_t result;
	uint32_t id;
	int32_t status;
};

/* A registration in the cache, or the user's. */
struct extoll_ep_reg {
	struct extoll_ep_reg *next; /* of the user's */
	uint8_t *p;
	size_t len;
	struct rma_region *region; /* NULL: free */
	uint32_t users;
	uint64_t age;
};

/* A pinned buffer of the library. */
struct extoll_ep_buf {
	uint8_t *p;
	size_t at; /* in the pool's region */
	bool busy;
};

/* An operation of the user. */
struct extoll_ep_op {
	struct extoll_ep_op *next;
	enum weft_ep_kind event;
	uint32_t dst, id;
	bool used, waiting; /* waiting: for a VELO message of the peer */
	bool get, notify;
	const uint8_t *buf;
	uint8_t *into;
	size_t len, off, done; /* asked for; finished */
	uint64_t imm, raddr;
	struct extoll_ep_reg *reg;
	struct extoll_ep_buf *stage;
	struct extoll_ep_atomic atomic;
	int32_t status;
	uint64_t result;
	void *ctx;
};

struct extoll_ep_list {
	struct extoll_ep_op *head, **tail;
};

/* A piece of an RMA operation, or of a fetch; ends are told in order. */
struct extoll_ep_msg;
struct extoll_ep_piece {
	struct extoll_ep_op *op;      /* NULL: */
	struct extoll_ep_msg *msg;    /* a fetch */
	struct extoll_ep_buf *bounce; /* or NULL */
	size_t off, len;
	uint64_t end; /* local address behind the last byte */
	bool failed;
	struct extoll_ep_piece *next;
};
struct extoll_ep_pieces {
	struct extoll_ep_piece *head, **tail;
};

enum extoll_ep_msg_state {
	EXTOLL_EP_EMPTY,
	EXTOLL_EP_PART,	 /* MOREs are to come */
	EXTOLL_EP_WANT,	 /* long: waits for a landing buffer */
	EXTOLL_EP_FETCH, /* long: on its way */
	EXTOLL_EP_READY,
	EXTOLL_EP_GIVEN, /* the user has it */
	EXTOLL_EP_FREED, /* but earlier ones are not */
};
struct extoll_ep_msg {
	enum extoll_ep_msg_state state;
	uint64_t imm;
	uint32_t len, got;
	uint8_t *eager; /* its place for short ones */
	struct extoll_ep_buf *land;
	struct extoll_ep_rts rts;
	const uint8_t *data;
};

struct extoll_ep_peer {
	struct velo_connection velo;
	struct rma_handle *rma;
	bool irq;
	uint64_t sent, acked; /* messages; as the peer says */
	uint64_t got, given, consumed, returned; /* of its messages */
	uint32_t requests;	   /* atomics of mine outstanding */
	struct extoll_ep_msg *msg; /* slots */
	struct extoll_ep_list todo;
	struct extoll_ep_pieces gets; /* in order of this peer's answers */
};

struct extoll_ep {
	struct weft_ep ep;
	struct weft_host *h;
	struct velo_port *velo;
	struct rma_port *rma;
	uint32_t me, n, slots;
	uint32_t eager_max;
	bool irq;
	struct extoll_ep_peer *peer;
	struct extoll_ep_op *ops, *free_ops;
	struct extoll_ep_list rma_todo; /* puts and gets, in order */
	struct extoll_ep_pieces puts;	/* requester notifications in order */
	size_t out;			/* bytes of them */
	struct extoll_ep_piece piece[EXTOLL_EP_PIECES], *free_pieces;
	uint32_t wants; /* messages in state EXTOLL_EP_WANT */
	/* pinned memory: bounces, stages, landings */
	uint8_t *pool;
	struct rma_region *pool_region;
	struct extoll_ep_buf bounce[EXTOLL_EP_BOUNCES], stage[EXTOLL_EP_STAGES],
		*land;
	uint32_t lands;
	uint8_t *eager;
	struct extoll_ep_reg cache[EXTOLL_EP_CACHE], *mr;
	uint64_t age;
	struct weft_ep_event *ev; /* ring of events */
	uint32_t ev_head, ev_tail, ev_size;
	uint32_t turn; /* peer to look at first: the next when not all got on */
	const uint8_t *watch; /* VELO mailbox and notification ring */
	size_t watch_bytes;
};

static inline struct extoll_ep *extoll_ep_of(struct weft_ep *ep)
{
	return (struct extoll_ep *)ep;
}

/* endpoint.c */
struct extoll_ep_op *extoll_ep_op_new(struct extoll_ep *e, uint32_t dst,
				      void *ctx, enum weft_ep_kind event);
void extoll_ep_complete(struct extoll_ep *e, struct extoll_ep_op *op);
void extoll_ep_event(struct extoll_ep *e, const struct weft_ep_event *ev);
void extoll_ep_list_init(struct extoll_ep_list *l);
void extoll_ep_list_push(struct extoll_ep_list *l, struct extoll_ep_op *op);
struct extoll_ep_op *extoll_ep_list_pop(struct extoll_ep_list *l);

extern const struct weft_ep_ops extoll_ep_ops;

/* endpoint_open.c, also of what was opened in part. */
void extoll_ep_close(struct weft_ep *ep);

/* endpoint_tx.c: messages out. */
void extoll_ep_velo(struct extoll_ep *e, uint32_t dst, enum extoll_ep_kind kind,
		    const void *data, size_t len);
void extoll_ep_progress_tx(struct extoll_ep *e);
void extoll_ep_return_credits(struct extoll_ep *e);

/* endpoint_rx.c: VELO messages in, messages to the user. */
void extoll_ep_progress_rx(struct extoll_ep *e);
bool extoll_ep_rx_ready(struct extoll_ep *e);
int extoll_ep_give(struct extoll_ep *e, struct weft_ep_event *ev, int max);
void extoll_ep_release(struct weft_ep *ep, const struct weft_ep_event *ev);

/* endpoint_rma.c: puts, gets, fetches of long messages. */
void extoll_ep_progress_rma(struct extoll_ep *e);
/* The message waits for a landing buffer, then is fetched. */
void extoll_ep_fetch(struct extoll_ep *e, struct extoll_ep_msg *m);

/* endpoint_mem.c: registered memory. */
bool extoll_ep_reachable(struct extoll_ep *e, const void *p, size_t len);
/* Registration that covers the bytes; NULL: all places are in use now.  To be
 * given back. */
struct extoll_ep_reg *extoll_ep_reg_get(struct extoll_ep *e, const void *p,
					size_t len);
void extoll_ep_reg_put(struct extoll_ep_reg *r);
int extoll_ep_mr_reg(struct weft_ep *ep, void *p, size_t len,
		     struct weft_ep_mr *mr_p);
int extoll_ep_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr);
bool extoll_ep_key_covers(uint64_t key, uint64_t addr, size_t len);
/* Bytes of a registered region, or NULL. */
uint8_t *extoll_ep_mr_at(struct extoll_ep *e, uint64_t addr, size_t len);
void extoll_ep_mem_free(struct extoll_ep *e);

#endif
