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
 * Credits.  A receiver has `slots` places for the messages of one sender, and
 * the sender never has more in flight, so that a message always finds a place.
 * Messages that take a place are MSG, RTS and NOTIFY, or all but CREDIT if all
 * kinds share one ring (ep_nic_ops.one_ring).  The receiver reports how many it
 * has consumed, in other messages (one_ring) or by EP_CREDIT when it owes half
 * of the places. */
#ifndef ENDPOINT_CORE_H
#define ENDPOINT_CORE_H

#include "host/times.h"
#include "weft/ep.h"

/* Kinds of messages between two libraries. */
enum ep_kind {
	EP_MSG = 1, /* imm, data: a message */
	EP_RTS,	   /* imm, id: len bytes at addr of region key, to be fetched */
	EP_NOTIFY, /* imm: an earlier put of a bytes is in place */
	EP_FIN,	   /* id, status: the bytes of an RTS were fetched */
	EP_ATOMIC, /* id: on the word at addr of region key, with a, b, swap */
	EP_DONE,   /* id, status, a: answer to PUT, GET or ATOMIC */
	EP_CREDIT, /* credits only */
	EP_PUT,	   /* data for addr of region key; last: answer to id */
	EP_GET,	   /* id: a bytes from addr of region key, see back */
	EP_GET_DATA, /* data for offset addr of id; last: the end */
	EP_KINDS
};

struct ep_head {
	enum ep_kind kind;
	uint32_t id;  /* of an operation of the requester */
	uint32_t len; /* bytes of data; EP_RTS: of the message */
	bool last, notify, swap;
	int32_t status; /* 0 or negative errno */
	uint64_t imm, addr, key, a, b;
	uint64_t back; /* EP_GET: address the NIC may write, or 0 */
};

enum {
	EP_OPS = 64, /* of the user, in flight */
	EP_EVENTS = 8 * EP_OPS,
	EP_PIECES = 64,
	EP_PAGE = 4096,
	EP_BOUNCE = EP_PAGE, /* bytes of a bounce buffer */
	EP_BOUNCES = 16,
	EP_STAGES = 2, /* for long messages the NIC cannot reach */
	EP_LANDS = 8,  /* buffers for long messages in */
	EP_CACHE = 6,  /* registrations kept for single transfers */
	EP_MAX_LEN = 1 << 24,
};

/* Memory that the NIC reaches: a region of the user, or a cached one. */
struct ep_region {
	struct ep_region *next;
	uint8_t *p; /* NULL: free */
	size_t len;
	uint64_t addr, key; /* as peers name it */
	uint32_t users;	    /* operations in flight */
	uint64_t age;
	void *handle; /* of the NIC's library */
	uint64_t va;
};

/* A buffer of the library, `at` bytes into e->pool. */
struct ep_buf {
	uint8_t *p;
	size_t at;
	bool busy;
};

/* An operation of the user, or an answer to one of a peer (internal). It is
 * sent as a direct part [0, direct) by the NIC, then as messages of data_kind,
 * then as one message of last_kind. A kind of 0 is left out. */
struct ep_op {
	struct ep_op *next;
	struct weft_ep_op req; /* of an answer: dst, buf, len */
	enum weft_ep_kind event;
	uint32_t id;
	bool internal;
	bool waiting; /* a FIN or a DONE has not arrived */
	bool asks;    /* counts as a request to the peer */
	bool issued;  /* all pieces are in flight */
	enum ep_kind data_kind, last_kind;
	size_t off, direct;
	uint32_t pieces; /* in flight */
	struct ep_region *reg;
	struct ep_buf *stage;
	uint64_t local, departs; /* of the NIC's library */
	int32_t status;
	uint64_t result;
};

struct ep_list {
	struct ep_op *head, **tail;
};

enum ep_msg_state {
	EP_EMPTY,
	EP_PART,  /* incomplete */
	EP_WANT,  /* long: waits for a landing buffer */
	EP_FETCH, /* long: being fetched */
	EP_READY,
	EP_GIVEN, /* delivered to the user */
	EP_FREED, /* released, but earlier messages are not */
};

/* A place of a receiver, in the order of its sender. */
struct ep_msg {
	enum ep_msg_state state;
	enum weft_ep_kind event;
	uint32_t src, len, got, id;
	uint64_t imm, addr, key; /* RTS: source of the bytes */
	uint8_t *eager;		 /* ep_nic_ops.copies: buffer for a short one */
	struct ep_buf *land;
	const uint8_t *data;
};

/* A transfer of the NIC in flight. */
struct ep_piece {
	struct ep_piece *next;
	struct ep_op *op;   /* or msg: */
	struct ep_msg *msg; /* a fetch */
	struct ep_buf *bounce;
	size_t off, len;
	uint32_t skip; /* bytes in front of the wanted ones */
	uint64_t end;  /* of the NIC's library */
	bool failed;
};

struct ep_peer {
	uint32_t slots;	      /* places for us */
	uint64_t sent, acked; /* messages with a slot; how many of them were
				 consumed */
	uint64_t got, given, consumed, returned; /* of its messages */
	uint32_t requests;			 /* of ours, unanswered */
	struct ep_msg *msg;			 /* e->slots of them */
	struct ep_list todo;
	struct ep_op *answers; /* free ones */
};

struct ep_nic_ops;

struct ep {
	struct weft_ep ep; /* first, for the cast */
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
	uint64_t age; /* of registrations, each is new */
	struct weft_ep_event *ev;
	uint32_t ev_head, ev_tail;
	uint32_t turn; /* first peer to serve; rotates, so that none starves */
};

/* A library for a NIC. A function that may be NULL says so. */
struct ep_nic_ops {
	const char *name;
	size_t bytes;	   /* of its endpoint, which starts with struct ep */
	uint32_t emulated; /* WEFT_EP_... by message */
	uint32_t max_msg, slots, eager; /* defaults; eager 0: all messages */
	uint32_t requests;		/* unanswered, to one peer */
	uint32_t lands;	       /* landing buffers; 0: no long messages */
	uint32_t key_len_bits; /* keys are base << bits | length; 0: the owner
				  compares keys */
	bool one_ring;	       /* see above */
	bool copies;	       /* short messages are copied to ep_msg.eager */
	enum host_time_id call_time; /* cost of one call */

	/* Opens the NIC for the sizes in e (max_msg, slots, eager_max), which
	 * it may lower. Called before all others. Returns 0 or negative
	 * errno. */
	int (*start)(struct ep *e);
	/* Exchanges addresses with all peers, after all memory was allocated.
	 * Returns 0 or negative errno. */
	int (*meet)(struct ep *e);
	/* Closes the NIC. Called after a failed start, too. */
	void (*stop)(struct ep *e);

	/* Sends one message with h->len bytes of data (EP_RTS: none), which it
	 * copies or sends before it returns, so that the caller may reuse them.
	 * Returns false without room. */
	bool (*message)(struct ep *e, uint32_t dst, const struct ep_head *h,
			const void *data);
	/* Passes everything that has arrived to ep_in, ep_put_in and
	 * ep_piece_done. */
	void (*poll)(struct ep *e);
	/* Waits until a poll may find something. Returns false at the
	 * deadline. */
	bool (*idle)(struct ep *e, weft_time_t deadline);
	/* Pushes out a series of calls. NULL: not necessary. */
	void (*flush)(struct ep *e);
	/* Reads credits that arrive without a message. NULL: none do. */
	void (*credits)(struct ep *e, uint32_t dst);
	/* Frees the message of a place after it was handled or released. NULL:
	 * ignored. */
	void (*msg_free)(struct ep *e, struct ep_msg *m);

	/* Makes [r->p, r->p + r->len) known to the NIC, and to writers if
	 * `write`. Fills in addr, key and its own fields. Returns 0 or
	 * negative errno. NULL, as
	 * region_close: the NIC needs none, so the core names the region. */
	int (*region_open)(struct ep *e, struct ep_region *r, bool write);
	/* Undoes region_open. */
	void (*region_close)(struct ep *e, struct ep_region *r);
	/* Allocates and opens r->len bytes for the library. Returns 0 or
	 * negative errno. NULL: not used. */
	int (*pool_open)(struct ep *e, struct ep_region *r);

	/* Calls ep_piece_done for transfers whose end poll does not report.
	 * NULL: none. */
	void (*reap)(struct ep *e);
	/* Issues the next piece of a put or get. Returns false without room.
	 * NULL: all are sent by the peer's list, see `direct`. */
	bool (*remote)(struct ep *e, struct ep_op *op);
	/* Announces a put after its last piece. NULL: the core sends EP_NOTIFY
	 * when all pieces have ended. */
	void (*notify)(struct ep *e, struct ep_op *op);
	/* Gets the bytes of an EP_RTS into m->land, as piece p, and sets
	 * m->data. Returns false without room. */
	bool (*fetch)(struct ep *e, struct ep_msg *m, struct ep_piece *p);

	/* The next three are for NICs that put without a list of pieces, else
	 * NULL. prepare may set op->direct of a put, a get, or (with h) the
	 * answer to a get. */
	void (*prepare)(struct ep *e, struct ep_op *op,
			const struct ep_head *h);
	/* Issues a part of [op->off, op->direct). Returns false without
	 * room. */
	bool (*direct)(struct ep *e, struct ep_op *op);
	/* Returns true if the NIC still reads op->buf. The library then calls
	 * ep_complete later. */
	bool (*issued)(struct ep *e, struct ep_op *op);
};

/* ---- core.c: operations and events ---- */

/* Opens an endpoint on a NIC. Returns 0 and *ep_p, or negative errno. */
int ep_open(struct weft_host *h, const struct weft_ep_attr *attr,
	    const struct ep_nic_ops *nic, struct weft_ep **ep_p);
/* Each works on a list of operations. pop returns the first one; the list must
 * not be empty. */
void ep_list_init(struct ep_list *l);
void ep_list_push(struct ep_list *l, struct ep_op *op);
struct ep_op *ep_list_pop(struct ep_list *l);
/* Queues an event; there must be room. */
void ep_event(struct ep *e, const struct weft_ep_event *ev);
/* Returns true if a new operation may start. Half of the ring is kept for
 * operations in flight, because each of them ends with an event. */
bool ep_event_room(const struct ep *e);
/* Ends an operation: queues its event and frees it. */
void ep_complete(struct ep *e, struct ep_op *op);
/* Returns an answer to src, or NULL if src exceeds its number of requests. */
struct ep_op *ep_answer(struct ep *e, uint32_t src, uint32_t id,
			enum ep_kind last_kind);
/* Queues an answer for sending. */
void ep_answer_push(struct ep *e, struct ep_op *op);
/* Publishes a word under the key "NAME.GROUP.NODE.WHAT". */
void ep_tell(struct ep *e, const char *what, uint64_t val);
/* Waits until the node has published the word. Returns it. */
uint64_t ep_ask(struct ep *e, uint32_t node, const char *what);

/* ---- core_out.c ---- */

/* Returns true if a message of this kind needs a credit. */
bool ep_takes_place(const struct ep *e, enum ep_kind kind);
/* Sends what credits and the NIC allow. */
void ep_progress_out(struct ep *e);
/* Sends EP_CREDIT to peers that wait for half of their places. */
void ep_return_credits(struct ep *e);

/* ---- core_in.c ---- */

/* Handles a message of src < e->n. Its data must stay until
 * ep_nic_ops.msg_free. A wrong message is ignored. Returns false if src has no
 * place for it; nothing is kept then. */
bool ep_in(struct ep *e, uint32_t src, const struct ep_head *h,
	   const uint8_t *data);
/* Returns the place of a message of kind EP_MSG, whose bytes the caller copies
 * to m->eager, or NULL if the sender broke a rule. */
struct ep_msg *ep_msg_new(struct ep *e, uint32_t src, const struct ep_head *h);
/* Takes the count of consumed messages that src reports. */
void ep_credits_in(struct ep *e, uint32_t src, uint32_t consumed);
/* Returns true if ep_give would return a message. */
bool ep_in_ready(struct ep *e);
/* Writes up to `max` events of received messages. Returns their number. */
int ep_give(struct ep *e, struct weft_ep_event *ev, int max);
/* Releases a message, as weft/ep.h says. */
void ep_release(struct weft_ep *ep, const struct weft_ep_event *ev);

/* ---- core_remote.c ---- */

/* Returns a piece of op that starts at op->off, with a buffer if `bounce`.
 * Returns NULL if none is free. */
struct ep_piece *ep_piece_new(struct ep *e, struct ep_op *op, bool bounce);
/* Records that the piece is in flight with len bytes, or (0) frees it. Returns
 * true if it is in flight. */
bool ep_piece_issued(struct ep *e, struct ep_piece *p, size_t len);
/* Ends a piece. data: bytes of a get that are not in place yet; NULL: as
 * issued. */
void ep_piece_done(struct ep *e, struct ep_piece *p, const uint8_t *data);
/* Starts fetches, puts and gets as far as there is room. */
void ep_progress_remote(struct ep *e);

/* ---- core_memory.c ---- */

/* Returns true if devices reach the bytes as one piece. */
bool ep_reachable(struct ep *e, const void *p, size_t len);
/* Returns a free buffer of n, marked busy, or NULL. */
struct ep_buf *ep_buf_get(struct ep_buf *b, uint32_t n);
/* Returns a region that covers the bytes, or NULL if all places are in use.
 * It has one more user, until the end of the operation. */
struct ep_region *ep_region_get(struct ep *e, const void *p, size_t len);
/* Returns the user's region that a peer names, or NULL. */
struct ep_region *ep_region_find(struct ep *e, uint64_t key, uint64_t addr,
				 uint64_t len);
/* Returns the address of the bytes in such a region, or NULL. */
uint8_t *ep_region_at(struct ep *e, uint64_t key, uint64_t addr, uint64_t len);
/* Returns true if a key can cover the bytes: always if the owner compares
 * keys, because only the owner knows them. */
bool ep_key_covers(const struct ep *e, uint64_t key, uint64_t addr, size_t len);
/* Allocates bounce, staging and landing buffers. Returns 0 or negative
 * errno. */
int ep_pool_open(struct ep *e);
/* Each is the operation of struct weft_ep and returns what weft/ep.h says. */
int ep_mr_reg(struct weft_ep *ep, void *p, size_t len, struct weft_ep_mr *mr_p);
int ep_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr);

#endif
