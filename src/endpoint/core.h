/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint without its NIC: operations, events, messages in order
 * with credits, long messages, registrations, atomics and remote memory by
 * message.  A library for a NIC fills struct ep_nic_ops.
 *
 *   MSG   up to eager_max bytes  one message of kind EP_MSG
 *         longer                 EP_RTS, the receiver gets the bytes, EP_FIN
 *   PUT, GET                     by the NIC (ep_nic_ops.remote), or by messages
 *                                EP_PUT, EP_GET, EP_GET_DATA
 *   FADD, CSWAP                  EP_ATOMIC, EP_DONE
 *
 * Credits.  A sender has at most `slots` messages of the kinds that take a
 * place on the way to one receiver: MSG, RTS and NOTIFY, or all but CREDIT
 * where everything shares one ring (ep_nic_ops.one_ring).  The receiver says
 * how many it has consumed, in other messages (one_ring) or by EP_CREDIT when
 * half of the places are owed. */
#ifndef ENDPOINT_CORE_H
#define ENDPOINT_CORE_H

#include "host/times.h"
#include "weft/ep.h"

/* Messages between two libraries. */
enum ep_kind {
	EP_MSG = 1, /* imm, data: a message */
	EP_RTS,	    /* imm, id: len bytes wait at addr of region key */
	EP_NOTIFY,  /* imm: an earlier put of a bytes is in place */
	EP_FIN,	    /* id, status: the bytes of an RTS were fetched */
	EP_ATOMIC,  /* id: on the word at addr of region key, with a, b, swap */
	EP_DONE,    /* id, status, a: answer to PUT, GET or ATOMIC */
	EP_CREDIT,  /* nothing else */
	EP_PUT,	    /* data for addr of region key; last: answer to id */
	EP_GET,	    /* id: a bytes from addr of region key, see back */
	EP_GET_DATA, /* data for offset addr of request id; last: that was all
		      */
	EP_KINDS
};

struct ep_head {
	enum ep_kind kind;
	uint32_t id;  /* of an operation of the node that asked */
	uint32_t len; /* bytes of data, for EP_RTS of the message */
	bool last, notify, swap;
	int32_t status; /* 0 or negative errno */
	uint64_t imm, addr, key, a, b;
	uint64_t back; /* EP_GET: where the NIC may write; 0: by message */
};

enum {
	EP_OPS = 64, /* of the user, outstanding */
	EP_EVENTS = 8 * EP_OPS,
	EP_PIECES = 64,
	EP_PAGE = 4096,
	EP_BOUNCE = EP_PAGE, /* bytes of a bounce buffer */
	EP_BOUNCES = 16,
	EP_STAGES = 2, /* buffers for long messages out of the NIC's reach */
	EP_LANDS = 8,  /* for long messages that come */
	EP_CACHE = 6,  /* registrations kept for single transfers */
	EP_MAX_LEN = 1 << 24,
};

/* Memory that the NIC reaches: the user's region, or one kept for a while. */
struct ep_region {
	struct ep_region *next;
	uint8_t *p; /* NULL: free */
	size_t len;
	uint64_t addr, key; /* as other nodes name it */
	uint32_t users;	    /* operations under way */
	uint64_t age;
	void *handle; /* the NIC library's */
	uint64_t va;
};

/* A buffer of the library, `at` bytes into e->pool. */
struct ep_buf {
	uint8_t *p;
	size_t at;
	bool busy;
};

/* An operation of the user, or an answer to one of a peer (internal).  It goes
 * as a direct part [0, direct) by the NIC, then as messages of data_kind, then
 * as one of last_kind; a kind of 0 is left out. */
struct ep_op {
	struct ep_op *next;
	struct weft_ep_op req; /* of an answer: dst, buf, len */
	enum weft_ep_kind event;
	uint32_t id;
	bool internal;
	bool waiting; /* for FIN or DONE */
	bool asks;    /* counts as a request to the peer */
	bool issued;  /* all pieces are under way */
	enum ep_kind data_kind, last_kind;
	size_t off, direct;
	uint32_t pieces; /* under way */
	struct ep_region *reg;
	struct ep_buf *stage;
	uint64_t local, departs; /* the NIC library's */
	int32_t status;
	uint64_t result;
};

struct ep_list {
	struct ep_op *head, **tail;
};

enum ep_msg_state {
	EP_EMPTY,
	EP_PART,  /* more of it is to come */
	EP_WANT,  /* long: waits for a landing buffer */
	EP_FETCH, /* long: on its way */
	EP_READY,
	EP_GIVEN, /* the user has it */
	EP_FREED, /* but earlier ones are not */
};

/* A place of a receiver, in the order of its sender. */
struct ep_msg {
	enum ep_msg_state state;
	enum weft_ep_kind event;
	uint32_t src, len, got, id;
	uint64_t imm, addr, key; /* RTS: where it waits */
	uint8_t *eager;		 /* ep_nic_ops.copies: room for a short one */
	struct ep_buf *land;
	const uint8_t *data;
};

/* A transfer of the NIC that is under way. */
struct ep_piece {
	struct ep_piece *next;
	struct ep_op *op;   /* or: */
	struct ep_msg *msg; /* a fetch */
	struct ep_buf *bounce;
	size_t off, len;
	uint32_t skip; /* bytes in front of the wanted ones */
	uint64_t end;  /* the NIC library's */
	bool failed;
};

struct ep_peer {
	uint32_t slots;	      /* it has for us */
	uint64_t sent, acked; /* messages that take a place; consumed there */
	uint64_t got, given, consumed, returned; /* of its messages */
	uint32_t requests;			 /* of ours, unanswered */
	struct ep_msg *msg;			 /* e->slots */
	struct ep_list todo;
	struct ep_op *answers; /* free ones */
};

struct ep_nic_ops;

struct ep {
	struct weft_ep ep; /* first */
	struct weft_host *h;
	const struct ep_nic_ops *nic;
	uint32_t me, n, slots, group;
	uint32_t eager_max;
	bool irq;
	struct ep_peer *peer;
	struct ep_op *ops, *free_ops, *answers;
	struct ep_list notes;	    /* answers, unless one_ring */
	struct ep_list remote_todo; /* puts and gets of the NIC, in order */
	struct ep_piece piece[EP_PIECES], *free_pieces;
	uint32_t wants; /* messages in state EP_WANT */
	struct ep_region pool, cache[EP_CACHE], *mr;
	struct ep_buf bounce[EP_BOUNCES], stage[EP_STAGES], land[EP_LANDS];
	uint32_t lands;
	uint8_t *eager;
	uint64_t age; /* of registrations; each is new */
	struct weft_ep_event *ev;
	uint32_t ev_head, ev_tail;
	uint32_t turn; /* peer to look at first; the next when one is held up */
};

/* A library for a NIC.  Functions that may be NULL say so. */
struct ep_nic_ops {
	const char *name;
	size_t bytes;	   /* of its endpoint, which begins with struct ep */
	uint32_t emulated; /* WEFT_EP_... by message */
	uint32_t max_msg, slots, eager; /* defaults; eager 0: all messages */
	uint32_t requests;		/* unanswered, to one peer */
	uint32_t lands;	       /* landing buffers; 0: no long messages */
	uint32_t key_len_bits; /* keys are base << bits | length; 0: they are
				* compared by the owner */
	bool one_ring;	       /* see above */
	bool copies;	       /* short messages are copied to ep_msg.eager */
	enum host_time_id call_time; /* of one call into the library */

	/* Opens the NIC for the sizes in e (max_msg, slots, eager_max), which
	 * it may lower.  Before any other call. */
	int (*start)(struct ep *e);
	/* Exchanges addresses with all peers, when all memory is there. */
	int (*meet)(struct ep *e);
	/* Also after a start that failed. */
	void (*stop)(struct ep *e);

	/* Sends one message with h->len bytes of data (EP_RTS: none); false: no
	 * room now.  Takes the data before it returns. */
	bool (*message)(struct ep *e, uint32_t dst, const struct ep_head *h,
			const void *data);
	/* Hands all that has come to ep_in, ep_put_in and ep_piece_done. */
	void (*poll)(struct ep *e);
	/* Waits until there may be something to poll; false: deadline. */
	bool (*idle)(struct ep *e, weft_time_t deadline);
	/* NULL: there is nothing to push after a series of calls. */
	void (*flush)(struct ep *e);
	/* Credits that came without a message; NULL: none do. */
	void (*credits)(struct ep *e, uint32_t dst);
	/* The message of a place was handled or released; NULL: ignored. */
	void (*msg_free)(struct ep *e, struct ep_msg *m);

	/* Makes [r->p, r->p + r->len) known, to writers too if `write`: fills
	 * addr, key and its own.  NULL with region_close: nothing to do, the
	 * core names the region. */
	int (*region_open)(struct ep *e, struct ep_region *r, bool write);
	void (*region_close)(struct ep *e, struct ep_region *r);
	/* Allocates r->len bytes for the library, opened; NULL: not used. */
	int (*pool_open)(struct ep *e, struct ep_region *r);

	/* Calls ep_piece_done for ends that do not come by poll; NULL: none. */
	void (*reap)(struct ep *e);
	/* Issues the next piece of a put or get; false: no room now.  NULL: all
	 * goes by the peer's list, see `direct`. */
	bool (*remote)(struct ep *e, struct ep_op *op);
	/* Behind the last piece of a put; NULL: by EP_NOTIFY when all pieces
	 * have ended. */
	void (*notify)(struct ep *e, struct ep_op *op);
	/* Gets the bytes of an EP_RTS into m->land, as piece p; sets m->data.
	 * False: no room now. */
	bool (*fetch)(struct ep *e, struct ep_msg *m, struct ep_piece *p);

	/* NICs that put without a list of pieces, else NULL.  prepare: a put,
	 * a get, or the answer to a get with h may set op->direct.  direct:
	 * issues a part of it.  issued: true if the NIC still reads op->buf and
	 * the library calls ep_complete later. */
	void (*prepare)(struct ep *e, struct ep_op *op,
			const struct ep_head *h);
	bool (*direct)(struct ep *e, struct ep_op *op);
	bool (*issued)(struct ep *e, struct ep_op *op);
};

/* ---- core.c: operations and events ---- */

int ep_open(struct weft_host *h, const struct weft_ep_attr *attr,
	    const struct ep_nic_ops *nic, struct weft_ep **ep_p);
void ep_list_init(struct ep_list *l);
void ep_list_push(struct ep_list *l, struct ep_op *op);
struct ep_op *ep_list_pop(struct ep_list *l);
void ep_event(struct ep *e, const struct weft_ep_event *ev);
/* Half of the ring is for operations under way. */
bool ep_event_room(const struct ep *e);
void ep_complete(struct ep *e, struct ep_op *op);
/* An answer to src; NULL: it has asked for more than it may. */
struct ep_op *ep_answer(struct ep *e, uint32_t src, uint32_t id,
			enum ep_kind last_kind);
void ep_answer_push(struct ep *e, struct ep_op *op);
/* Exchange of words between nodes: key "NAME.GROUP.NODE.WHAT". */
void ep_tell(struct ep *e, const char *what, uint64_t val);
uint64_t ep_ask(struct ep *e, uint32_t node, const char *what);

/* ---- core_out.c ---- */

bool ep_takes_place(const struct ep *e, enum ep_kind kind);
void ep_progress_out(struct ep *e);
void ep_return_credits(struct ep *e);

/* ---- core_in.c ---- */

/* A message of src < e->n; its data stay until ep_nic_ops.msg_free.  One that
 * is wrong is ignored.  False: src has no place for it, nothing is kept. */
bool ep_in(struct ep *e, uint32_t src, const struct ep_head *h,
	   const uint8_t *data);
/* A place for a message of kind EP_MSG, whose bytes the caller copies to
 * m->eager; NULL: the sender broke a rule. */
struct ep_msg *ep_msg_new(struct ep *e, uint32_t src, const struct ep_head *h);
void ep_credits_in(struct ep *e, uint32_t src, uint32_t consumed);
bool ep_in_ready(struct ep *e);
int ep_give(struct ep *e, struct weft_ep_event *ev, int max);
void ep_release(struct weft_ep *ep, const struct weft_ep_event *ev);

/* ---- core_remote.c ---- */

/* A piece of op that begins at op->off; bounce: with a buffer.  NULL: there is
 * none now. */
struct ep_piece *ep_piece_new(struct ep *e, struct ep_op *op, bool bounce);
/* The piece is under way with len bytes (0: it is not). */
bool ep_piece_issued(struct ep *e, struct ep_piece *p, size_t len);
/* Its end; data: bytes of a get that are not in place, NULL: as issued. */
void ep_piece_done(struct ep *e, struct ep_piece *p, const uint8_t *data);
void ep_progress_remote(struct ep *e);

/* ---- core_memory.c ---- */

bool ep_reachable(struct ep *e, const void *p, size_t len);
struct ep_buf *ep_buf_get(struct ep_buf *b, uint32_t n);
/* Region that covers the bytes; NULL: all places are in use now.  To be given
 * back. */
struct ep_region *ep_region_get(struct ep *e, const void *p, size_t len);
void ep_region_put(struct ep_region *r);
/* The user's region that a peer names, or NULL; the bytes. */
struct ep_region *ep_region_find(struct ep *e, uint64_t key, uint64_t addr,
				 uint64_t len);
uint8_t *ep_region_at(struct ep *e, uint64_t key, uint64_t addr, uint64_t len);
/* Whether a key can cover the bytes: always where the owner compares keys. */
bool ep_key_covers(const struct ep *e, uint64_t key, uint64_t addr, size_t len);
int ep_pool_open(struct ep *e);
int ep_mr_reg(struct weft_ep *ep, void *p, size_t len, struct weft_ep_mr *mr_p);
int ep_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr);
void ep_regions_free(struct ep *e);

/* Atomics of a library for its peers: adds a to the word, or (swap) sets it to
 * b if it is a; its old value. */
uint64_t ep_atomic(struct weft_host *h, void *at, bool swap, uint64_t a,
		   uint64_t b);

#endif
