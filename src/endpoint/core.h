/* SPDX-License-Identifier: Apache-2.0 */
/* The part of the common endpoint that does not depend on the NIC: operations,
 * events, ordered messages with credits, long messages and registrations. It
 * also executes atomics, puts and gets by message. The library of a NIC fills
 * struct ep_nic_ops.
 *
 *   MSG   up to eager_max bytes  one message of kind EP_MSG
 *         longer                 EP_RTS, the receiver fetches the bytes, EP_FIN
 *   PUT, GET                     executed by the NIC (ep_nic_ops.remote), or by
 *                                messages EP_PUT, EP_GET, EP_GET_DATA
 *   FADD, CSWAP                  EP_ATOMIC, EP_DONE
 *
 * Credits. A receiver has `slots` receive slots for each sender. The sender
 * never has more messages in flight, so that each message finds a free slot.
 * MSG, RTS and NOTIFY use a slot. If all kinds share one ring
 * (ep_nic_ops.one_ring), all kinds except CREDIT use a slot. The receiver
 * counts the messages that it has consumed. It sends EP_CREDIT with this count
 * when the sender lacks half of its credits. With one_ring every message of the
 * receiver carries the count, too. */
#ifndef ENDPOINT_CORE_H
#define ENDPOINT_CORE_H

#include "host/times.h"
#include "weft/ep.h"

/* Kinds of messages between two libraries. A comment names the fields of
 * struct ep_head that the kind uses. */
enum ep_kind {
	/* a message of the user. Fields: imm, data */
	EP_MSG = 1,
	/* request to fetch len bytes at addr of region key. Fields: imm, id */
	EP_RTS,
	/* an earlier put of `a` bytes is complete. Field: imm */
	EP_NOTIFY,
	/* the receiver has fetched the bytes of an RTS. Fields: id, status */
	EP_FIN,
	/* request for an atomic on the word at addr of region key, with the
	 * operands a and b. Fields: id, swap */
	EP_ATOMIC,
	/* answer to a PUT, GET or ATOMIC. Fields: id, status, a */
	EP_DONE,
	EP_CREDIT, /* credits only */
	/* bytes to write at addr of region key. The last message requests an
	 * answer with this id. Fields: id, data */
	EP_PUT,
	/* request for `a` bytes at addr of region key. Fields: id, back */
	EP_GET,
	/* bytes at offset addr of the result of operation id. The last message
	 * ends the operation. Field: data */
	EP_GET_DATA,
	EP_KINDS
};

struct ep_head {
	enum ep_kind kind;
	uint32_t id;  /* number of an operation of the requester */
	uint32_t len; /* bytes of data, or of the whole message for EP_RTS */
	bool last, notify, swap;
	int32_t status; /* 0 or negative errno */
	uint64_t imm, addr, key, a, b;
	/* EP_GET: address to which the NIC may write the answer, or 0 */
	uint64_t back;
};

enum {
	EP_OPS = 64, /* operations of the user in flight */
	EP_EVENTS = 8 * EP_OPS,
	EP_PIECES = 64,
	EP_PAGE = 4096,
	EP_BOUNCE = EP_PAGE, /* bytes of a bounce buffer */
	EP_BOUNCES = 16,
	EP_STAGES = 2, /* buffers for copies of long messages in memory
			* that the NIC cannot reach */
	EP_LANDS = 8,  /* landing buffers for received long messages */
	EP_CACHE = 6,  /* registrations kept for single transfers */
	EP_MAX_LEN = 1 << 24,
};

/* Memory that the NIC reaches: a region of the user, or a cached one. */
struct ep_region {
	struct ep_region *next;
	uint8_t *p; /* NULL: free */
	size_t len;
	/* base address and key by which peers name the region */
	uint64_t addr, key;
	uint32_t users; /* operations in flight */
	uint64_t age;
	void *handle; /* handle of the region in the NIC's library */
	uint64_t va;
};

/* A buffer of the library, at offset `at` of e->pool. */
struct ep_buf {
	uint8_t *p;
	size_t at;
	bool busy;
};

/* An operation of the user, or an answer to an operation of a peer (internal).
 * The NIC moves the bytes [0, direct) itself. The remaining bytes leave as
 * messages of data_kind, and one message of last_kind follows. A kind of 0
 * means no such message. */
struct ep_op {
	struct ep_op *next;
	/* the request; an answer sets only dst, buf and len */
	struct weft_ep_op req;
	enum weft_ep_kind event;
	uint32_t id;
	bool internal;
	bool waiting; /* the answer, a FIN or a DONE, has not arrived */
	bool asks;    /* the operation counts as a request to the peer */
	bool issued;  /* all pieces of the operation are in flight */
	enum ep_kind data_kind, last_kind;
	size_t off, direct;
	uint32_t pieces; /* number of pieces in flight */
	struct ep_region *reg;
	struct ep_buf *stage;
	uint64_t local, departs; /* fields of the NIC's library */
	int32_t status;
	uint64_t result;
};

struct ep_list {
	struct ep_op *head, **tail;
};

enum ep_msg_state {
	EP_EMPTY,
	EP_PART,  /* the message is incomplete */
	EP_WANT,  /* a long message that waits for a landing buffer */
	EP_FETCH, /* the NIC fetches the bytes of a long message */
	EP_READY,
	EP_GIVEN, /* the user has the message */
	/* released by the user before an earlier message was released */
	EP_FREED,
};

/* A receive slot. The slots for one sender are used in the order of its
 * messages. */
struct ep_msg {
	enum ep_msg_state state;
	enum weft_ep_kind event;
	uint32_t src, len, got, id;
	/* RTS: address and key of the bytes at the sender */
	uint64_t imm, addr, key;
	uint8_t *eager; /* ep_nic_ops.copies: buffer for a short message */
	struct ep_buf *land;
	const uint8_t *data;
};

/* A transfer of the NIC that is in flight. */
struct ep_piece {
	struct ep_piece *next;
	/* operation of the transfer, or NULL for a fetch of msg */
	struct ep_op *op;
	struct ep_msg *msg; /* message whose bytes the transfer fetches */
	struct ep_buf *bounce;
	size_t off, len;
	uint32_t skip; /* bytes of the transfer before the wanted bytes */
	uint64_t end;  /* end of the transfer, for the NIC's library */
	bool failed;
};

struct ep_peer {
	uint32_t slots; /* number of receive slots of the peer for messages of
			 * this node */
	/* number of sent messages that need a slot, and how many of them the
	 * peer has consumed */
	uint64_t sent, acked;
	/* counts of the peer's messages: received, delivered to the user,
	 * consumed, reported to the peer as consumed */
	uint64_t got, given, consumed, returned;
	uint32_t requests;  /* requests of this node without an answer */
	struct ep_msg *msg; /* array of e->slots receive slots */
	struct ep_list todo;
	struct ep_op *answers; /* free answers */
};

struct ep_nic_ops;

struct ep {
	/* first member, because the core casts to struct ep */
	struct weft_ep ep;
	struct weft_host *h;
	const struct ep_nic_ops *nic;
	uint32_t me, n, slots, group;
	uint32_t eager_max;
	bool irq;
	struct ep_peer *peer;
	struct ep_op *ops, *free_ops, *answers;
	struct ep_list notes; /* answers to send; with one_ring they are in
			       * ep_peer.todo */
	/* puts and gets that the NIC executes, in the order of their issue */
	struct ep_list remote_todo;
	struct ep_piece piece[EP_PIECES], *free_pieces;
	uint32_t wants; /* number of messages in state EP_WANT */
	struct ep_region pool, cache[EP_CACHE], *mr;
	struct ep_buf bounce[EP_BOUNCES], stage[EP_STAGES], land[EP_LANDS];
	uint32_t lands;
	uint8_t *eager;
	/* counter of uses of registrations and of keys that the core chooses;
	 * every use and every key gets a new value */
	uint64_t age;
	struct weft_ep_event *ev;
	uint32_t ev_head, ev_tail;
	/* peer to serve first; advances when a call cannot serve all peers, so
	 * that no peer starves */
	uint32_t turn;
};

/* The library for a NIC. A function may be NULL only if its comment says so. */
struct ep_nic_ops {
	const char *name;
	/* size of the library's endpoint struct, whose first member is struct
	 * ep */
	size_t bytes;
	uint32_t emulated; /* operations (WEFT_EP_...) that the core executes by
			    * message */
	/* default sizes. eager 0 sends all messages as short ones */
	uint32_t max_msg, slots, eager;
	uint32_t requests; /* limit of unanswered requests to one peer */
	/* number of landing buffers, or 0 for no long messages */
	uint32_t lands;
	/* A remote key is (base << key_len_bits) | length of the region. With
	 * 0 bits a key has no length, and the owner of the region compares
	 * keys. */
	uint32_t key_len_bits;
	bool one_ring; /* all kinds of messages share one ring */
	bool copies;   /* short messages are copied to ep_msg.eager */
	enum host_time_id call_time; /* time that one call costs */

	/* Opens the NIC for the sizes in e (max_msg, slots, eager_max), which
	 * it may lower. Called before all other functions. Returns 0 or
	 * negative errno. */
	int (*start)(struct ep *e);
	/* Exchanges addresses with all peers, after all memory was allocated.
	 * Returns 0 or negative errno. */
	int (*meet)(struct ep *e);
	/* Closes the NIC. Called after a failed start, too. */
	void (*stop)(struct ep *e);

	/* Sends one message with h->len bytes of data (EP_RTS: none). On return
	 * the data are copied or sent, so the caller may reuse their memory.
	 * Returns false if the NIC has no room. */
	bool (*message)(struct ep *e, uint32_t dst, const struct ep_head *h,
			const void *data);
	/* Passes all arrived messages, puts and completions to ep_in, ep_put_in
	 * and ep_piece_done. */
	void (*poll)(struct ep *e);
	/* Waits until a poll may find an arrival. Returns false at the
	 * deadline. */
	bool (*idle)(struct ep *e, weft_time_t deadline);
	/* Called after each post and poll. Issues operations that the library
	 * has collected, or completes operations whose op->buf the NIC no
	 * longer reads. NULL if neither is necessary. */
	void (*flush)(struct ep *e);
	/* Reads credits that arrive without a message. NULL if all credits
	 * arrive in messages. */
	void (*credits)(struct ep *e, uint32_t dst);
	/* Frees a receive slot, whose message was handled or released. NULL if
	 * the library keeps no state of slots. */
	void (*msg_free)(struct ep *e, struct ep_msg *m);

	/* Registers [r->p, r->p + r->len) with the NIC, and allows peers to
	 * write to it if `write` is true. Fills in r->addr, r->key and the
	 * library's own fields of r. Returns 0 or negative errno. If
	 * region_open and region_close are NULL, the NIC needs no regions, and
	 * the core chooses address and key. */
	int (*region_open)(struct ep *e, struct ep_region *r, bool write);
	/* Undoes region_open. */
	void (*region_close)(struct ep *e, struct ep_region *r);
	/* Allocates a pool of r->len bytes for the library and opens it like a
	 * region. Returns 0 or negative errno. The function is NULL if the
	 * library needs no pool. */
	int (*pool_open)(struct ep *e, struct ep_region *r);

	/* Calls ep_piece_done for transfers whose end `poll` does not report.
	 * NULL if `poll` reports the ends of all transfers. */
	void (*reap)(struct ep *e);
	/* Issues the next piece of a put or get. Returns false if the NIC has
	 * no room. If `remote` is NULL, puts and gets wait in the list of their
	 * peer with all other operations (see `direct`). */
	bool (*remote)(struct ep *e, struct ep_op *op);
	/* Announces a put after its last piece. If `notify` is NULL, the core
	 * sends EP_NOTIFY when all pieces have ended. */
	void (*notify)(struct ep *e, struct ep_op *op);
	/* Fetches the bytes of an EP_RTS into m->land, as piece p, and sets
	 * m->data. Returns false if the NIC has no room. */
	bool (*fetch)(struct ep *e, struct ep_msg *m, struct ep_piece *p);

	/* `prepare`, `direct` and `issued` are for NICs that carry out a put
	 * without a list of pieces, and are NULL for other NICs. `prepare` may
	 * set op->direct. If h is NULL, op is a put or get of this node.
	 * Otherwise op is the answer to the get request h of a peer. */
	void (*prepare)(struct ep *e, struct ep_op *op,
			const struct ep_head *h);
	/* Issues a part of [op->off, op->direct). Returns false if the NIC has
	 * no room. */
	bool (*direct)(struct ep *e, struct ep_op *op);
	/* Returns true if the NIC still reads op->buf. The library must then
	 * call ep_complete later. */
	bool (*issued)(struct ep *e, struct ep_op *op);
};

/* ---- core.c: operations and events ---- */

/* Opens an endpoint on a NIC and stores it in *ep_p. Returns 0 or negative
 * errno. */
int ep_open(struct weft_host *h, const struct weft_ep_attr *attr,
	    const struct ep_nic_ops *nic, struct weft_ep **ep_p);
/* Initialises a list of operations. ep_list_pop removes and returns the first
 * operation of a list, which must not be empty. */
void ep_list_init(struct ep_list *l);
void ep_list_push(struct ep_list *l, struct ep_op *op);
struct ep_op *ep_list_pop(struct ep_list *l);
/* Queues an event. The queue must have room. */
void ep_event(struct ep *e, const struct weft_ep_event *ev);
/* Returns true if a new operation may start. Half of the event queue is kept
 * for operations in flight, because each of them ends with an event. */
bool ep_event_room(const struct ep *e);
/* Queues the event of a completed operation and frees the operation. */
void ep_complete(struct ep *e, struct ep_op *op);
/* Returns a new answer to src, or NULL if all answers for src are in use,
 * because src has sent more requests than allowed. */
struct ep_op *ep_answer(struct ep *e, uint32_t src, uint32_t id,
			enum ep_kind last_kind);
/* Queues an answer for sending. */
void ep_answer_push(struct ep *e, struct ep_op *op);
/* Publishes a word under the key "NAME.GROUP.NODE.WHAT". */
void ep_tell(struct ep *e, const char *what, uint64_t val);
/* Waits until the node has published the word. Returns its value. */
uint64_t ep_ask(struct ep *e, uint32_t node, const char *what);

/* ---- core_out.c ---- */

/* Returns true if a message of this kind needs a credit. */
bool ep_takes_place(const struct ep *e, enum ep_kind kind);
/* Sends the operations for which there are credits and room in the NIC. */
void ep_progress_out(struct ep *e);
/* Sends EP_CREDIT to each peer that lacks half of its credits. */
void ep_return_credits(struct ep *e);

/* ---- core_in.c ---- */

/* Handles a message of src < e->n. The data must stay valid until
 * ep_nic_ops.msg_free. A malformed message is ignored. Returns false, and keeps
 * nothing of the message, if all receive slots for src are in use. */
bool ep_in(struct ep *e, uint32_t src, const struct ep_head *h,
	   const uint8_t *data);
/* Returns a receive slot for a message of kind EP_MSG, or NULL if the message
 * is too long or src exceeds its credits. The caller copies the bytes to
 * m->eager. */
struct ep_msg *ep_msg_new(struct ep *e, uint32_t src, const struct ep_head *h);
/* Adds the credits that follow from the count of consumed messages that src
 * reports. */
void ep_credits_in(struct ep *e, uint32_t src, uint32_t consumed);
/* Returns true if ep_give would return a message. */
bool ep_in_ready(struct ep *e);
/* Writes up to `max` events of received messages. Returns their number. */
int ep_give(struct ep *e, struct weft_ep_event *ev, int max);
/* Releases a message by the rules of weft/ep.h. */
void ep_release(struct weft_ep *ep, const struct weft_ep_event *ev);

/* ---- core_remote.c ---- */

/* Returns a new piece of op that starts at op->off, with a bounce buffer if
 * `bounce`. Returns NULL if no piece or buffer is free. */
struct ep_piece *ep_piece_new(struct ep *e, struct ep_op *op, bool bounce);
/* Records that the piece is in flight with len bytes, or frees it if len is 0.
 * Returns true if it is in flight. */
bool ep_piece_issued(struct ep *e, struct ep_piece *p, size_t len);
/* Ends a piece. data holds bytes of a get that still have to be copied, or is
 * NULL if the NIC wrote them to their destination. */
void ep_piece_done(struct ep *e, struct ep_piece *p, const uint8_t *data);
/* Starts fetches, puts and gets while the NIC has room. */
void ep_progress_remote(struct ep *e);

/* ---- core_memory.c ---- */

/* Returns true if the bytes are device-visible and physically contiguous. */
bool ep_reachable(struct ep *e, const void *p, size_t len);
/* Returns a free buffer of the n buffers at b and marks it busy. Returns NULL
 * if all are busy. */
struct ep_buf *ep_buf_get(struct ep_buf *b, uint32_t n);
/* Returns a region that covers the bytes, or NULL if all entries of the cache
 * are in use. The region counts one more user until the end of the
 * operation. */
struct ep_region *ep_region_get(struct ep *e, const void *p, size_t len);
/* Returns the user's region with the key that a peer sent, or NULL. */
struct ep_region *ep_region_find(struct ep *e, uint64_t key, uint64_t addr,
				 uint64_t len);
/* Returns the address of the bytes in the region of that key, or NULL. */
uint8_t *ep_region_at(struct ep *e, uint64_t key, uint64_t addr, uint64_t len);
/* Returns true if a key can cover the bytes. If keys have no length
 * (key_len_bits is 0), the result is always true, because only the owner of the
 * region knows its keys. */
bool ep_key_covers(const struct ep *e, uint64_t key, uint64_t addr, size_t len);
/* Allocates bounce, staging and landing buffers. Returns 0 or negative
 * errno. */
int ep_pool_open(struct ep *e);
/* Each function implements the operation of struct weft_ep with the same name
 * and returns the results of weft/ep.h. */
int ep_mr_reg(struct weft_ep *ep, void *p, size_t len, struct weft_ep_mr *mr_p);
int ep_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr);

#endif
