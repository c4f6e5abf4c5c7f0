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

/* What a VELO message is: its tag. */
enum epx_kind {
	EPX_MSG = 1, /* imm, data: a whole message */
	EPX_FIRST,   /* imm, length, data: MOREs follow */
	EPX_MORE,    /* data */
	EPX_RTS,     /* struct epx_rts */
	EPX_FIN,     /* struct epx_done: data were fetched */
	EPX_ATOMIC,  /* struct epx_atomic */
	EPX_ANSWER,  /* struct epx_done */
	EPX_CREDIT,  /* struct epx_done: id = messages consumed */
	EPX_KINDS
};

enum {
	EPX_OPS = 64,	  /* of the user, outstanding */
	EPX_REQUESTS = 8, /* atomics outstanding per peer */
	EPX_VELO = 64,	  /* bytes of a VELO message */
	EPX_EAGER_MAX = 65536,
	EPX_BOUNCES = 16,
	EPX_PAGE = 4096,
	EPX_BOUNCE = EPX_PAGE,
	EPX_QUEUE = 16 * EPX_PAGE, /* of puts, in the NIC's command queue */
	EPX_STEP = 4 * EPX_PAGE,
	EPX_PIECES = 64, /* RMA requests whose end is awaited */
	EPX_CACHE = 6,	 /* registrations kept (6.3) */
	EPX_STAGES = 2,	 /* buffers for long messages that no device reaches */
};
#define EPX_CALL_COST (20 * WEFT_NS) /* of one call into the library */

struct epx_first {
	uint64_t imm;
	uint64_t len;
};
struct epx_rts {
	uint64_t imm, nla;
	uint32_t len, id;
};
struct epx_atomic {
	uint64_t raddr, rkey, a, b;
	uint32_t id, swap; /* swap 0: add a; 1: if equal to a set to b */
};
struct epx_done {
	uint64_t result;
	uint32_t id;
	int32_t status;
};

/* A registration in the cache, or the user's. */
struct epx_reg {
	struct epx_reg *next; /* of the user's */
	uint8_t *p;
	size_t len;
	struct rma_region *region; /* NULL: free */
	uint32_t users;
	uint64_t age;
};

/* A pinned buffer of the library. */
struct epx_buf {
	uint8_t *p;
	size_t at; /* in the pool's region */
	bool busy;
};

/* An operation of the user. */
struct epx_op {
	struct epx_op *next;
	enum weft_ep_kind event;
	uint32_t dst, id;
	bool used, waiting; /* waiting: for a VELO message of the peer */
	bool get, notify;
	const uint8_t *buf;
	uint8_t *into;
	size_t len, off, done; /* asked for; finished */
	uint64_t imm, raddr;
	struct epx_reg *reg;
	struct epx_buf *stage;
	struct epx_atomic atomic;
	int32_t status;
	uint64_t result;
	void *ctx;
};

struct epx_list {
	struct epx_op *head, **tail;
};

/* A piece of an RMA operation, or of a fetch; ends are told in order. */
struct epx_msg;
struct epx_piece {
	struct epx_op *op;	/* NULL: */
	struct epx_msg *msg;	/* a fetch */
	struct epx_buf *bounce; /* or NULL */
	size_t off, len;
	uint64_t end; /* local address behind the last byte */
	bool failed;
	struct epx_piece *next;
};
struct epx_pieces {
	struct epx_piece *head, **tail;
};

enum epx_msg_state {
	EPX_EMPTY,
	EPX_PART,  /* MOREs are to come */
	EPX_WANT,  /* long: waits for a landing buffer */
	EPX_FETCH, /* long: on its way */
	EPX_READY,
	EPX_GIVEN, /* the user has it */
	EPX_FREED, /* but earlier ones are not */
};
struct epx_msg {
	enum epx_msg_state state;
	uint64_t imm;
	uint32_t len, got;
	uint8_t *eager; /* its place for short ones */
	struct epx_buf *land;
	struct epx_rts rts;
	const uint8_t *data;
};

struct epx_peer {
	struct velo_connection velo;
	struct rma_handle *rma;
	bool irq;
	uint64_t sent, acked; /* messages; as the peer says */
	uint64_t got, given, consumed, returned; /* of its messages */
	uint32_t requests;   /* atomics of mine outstanding */
	struct epx_msg *msg; /* slots */
	struct epx_list todo;
	struct epx_pieces gets; /* in order of this peer's answers */
};

struct epx {
	struct weft_ep ep;
	struct weft_host *h;
	struct velo_port *velo;
	struct rma_port *rma;
	uint32_t me, n, slots;
	uint32_t eager_max;
	bool irq;
	struct epx_peer *peer;
	struct epx_op *ops, *free_ops;
	struct epx_list rma_todo; /* puts and gets, in order */
	struct epx_pieces puts;	  /* requester notifications in order */
	size_t out;		  /* bytes of them */
	struct epx_piece piece[EPX_PIECES], *free_pieces;
	uint32_t wants; /* messages in state EPX_WANT */
	/* pinned memory: bounces, stages, landings */
	uint8_t *pool;
	struct rma_region *pool_region;
	struct epx_buf bounce[EPX_BOUNCES], stage[EPX_STAGES], *land;
	uint32_t lands;
	uint8_t *eager;
	struct epx_reg cache[EPX_CACHE], *mr;
	uint64_t age;
	struct weft_ep_event *ev; /* ring of events */
	uint32_t ev_head, ev_tail, ev_size;
	uint32_t turn; /* peer to look at first: the next when not all got on */
	const uint8_t *watch; /* VELO mailbox and notification ring */
	size_t watch_bytes;
};

static inline struct epx *epx_of(struct weft_ep *ep)
{
	return (struct epx *)ep;
}

/* endpoint.c */
struct epx_op *epx_op_new(struct epx *e, uint32_t dst, void *ctx,
			  enum weft_ep_kind event);
void epx_complete(struct epx *e, struct epx_op *op);
void epx_event(struct epx *e, const struct weft_ep_event *ev);
void epx_list_init(struct epx_list *l);
void epx_list_push(struct epx_list *l, struct epx_op *op);
struct epx_op *epx_list_pop(struct epx_list *l);

extern const struct weft_ep_ops epx_ops;

/* endpoint_open.c, also of what was opened in part. */
void epx_close(struct weft_ep *ep);

/* endpoint_tx.c: messages out. */
void epx_velo(struct epx *e, uint32_t dst, enum epx_kind kind, const void *data,
	      size_t len);
void epx_progress_tx(struct epx *e);
void epx_return_credits(struct epx *e);

/* endpoint_rx.c: VELO messages in, messages to the user. */
void epx_progress_rx(struct epx *e);
bool epx_rx_ready(struct epx *e);
int epx_give(struct epx *e, struct weft_ep_event *ev, int max);
void epx_release(struct weft_ep *ep, const struct weft_ep_event *ev);

/* endpoint_rma.c: puts, gets, fetches of long messages. */
void epx_progress_rma(struct epx *e);
/* The message waits for a landing buffer, then is fetched. */
void epx_fetch(struct epx *e, struct epx_msg *m);

/* endpoint_mem.c: registered memory. */
bool epx_reachable(struct epx *e, const void *p, size_t len);
/* Registration that covers the bytes; NULL: all places are in use now.  To be
 * given back. */
struct epx_reg *epx_reg_get(struct epx *e, const void *p, size_t len);
void epx_reg_put(struct epx_reg *r);
int epx_mr_reg(struct weft_ep *ep, void *p, size_t len,
	       struct weft_ep_mr *mr_p);
int epx_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr);
bool epx_key_covers(uint64_t key, uint64_t addr, size_t len);
/* Where the bytes of a registered region are, or NULL. */
uint8_t *epx_mr_at(struct epx *e, uint64_t addr, size_t len);
void epx_mem_free(struct epx *e);

#endif
