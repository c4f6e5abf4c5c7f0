/* SPDX-License-Identifier: Apache-2.0 */
/* Layout of the memory of a direct run and of its processes, and declarations
 * that the files of the direct endpoint share: the simulator's part
 * (direct_hub.c), joining, leaving and waiting (direct.c), the socket
 * (direct_link.c), messages (direct_ring.c), remote memory (direct_rma.c,
 * direct_ask.c), calls and events (direct_ep.c). */
#ifndef ATTACH_DIRECT_INTERNAL_H
#define ATTACH_DIRECT_INTERNAL_H

#include "attach/direct.h"
#include "attach/proto.h"
#include "base/pidfd.h"

enum {
	DIRECT_MAGIC = 0x44464557,
	DIRECT_VERSION = 2,
	DIRECT_REGIONS = 4096, /* largest number of regions of a process */
	DIRECT_OPS = 128,      /* largest number of operations of a process that
				* targets execute at a time (direct_ask.c) */
	DIRECT_EVENTS = 1024,  /* size of the queue of a process's own events, a
				* power of two */
	DIRECT_UNIT = 64,
};

/* ---- messages ---- */

enum direct_kind {
	DIRECT_NONE, /* the message is not yet complete */
	DIRECT_MSG,
	DIRECT_PUT_IN,
	DIRECT_ASK,    /* a struct direct_ask, and the bytes of a put */
	DIRECT_ANSWER, /* a struct direct_answer, and the bytes of a get */
	DIRECT_SKIP,   /* the next message is at the ring's start */
};

/* Head of a message, at a multiple of DIRECT_UNIT. The head and 48 bytes of
 * payload fill one cache line, so that a short message costs one cache miss. */
struct direct_head {
	_Atomic uint32_t mark; /* kind << 24 | bytes after the head */
	uint32_t imm;
	uint64_t at; /* Bytes sent before this message. A stale head has another
		      * number. */
};

/* ---- memory of a process, which peers map read-only ---- */

/* State of a process towards one peer. */
struct direct_pair {
	ATT_LINE _Atomic uint64_t taken;  /* bytes of the peer's ring that have
					   * been read and are free again */
	ATT_LINE _Atomic uint32_t wanted; /* this process waits for room in its
					   * ring to the peer */
};

struct direct_region {
	_Atomic uint64_t addr, len; /* address and length of the region; len 0:
				     * the entry is unused */
	_Atomic uint32_t age;
	uint32_t unused;
};

/* Memory of a process. A ring for each place follows, with the messages to
 * that place. */
struct direct_place {
	ATT_LINE _Atomic uint32_t
		cpu; /* processor on which the process last waited, plus 1 */
	struct direct_region region[DIRECT_REGIONS];
	struct direct_pair pair[];
};

/* ---- memory of the run, which only the simulator writes ---- */

enum direct_state { DIRECT_EMPTY, DIRECT_HERE, DIRECT_LEFT, DIRECT_DEAD };

struct direct_post {
	ATT_LINE _Atomic uint32_t state;
	/* a bit for each place that has started to send to this place */
	_Atomic uint64_t senders[DIRECT_PLACES / 64];
};

struct direct_lay {
	uint32_t magic, version;
	uint64_t bytes;
	uint32_t nodes, places;
	uint32_t ring_bytes, max_msg;
	uint64_t ring_off, ring_step, place_bytes; /* offsets and sizes in a
						    * process's memory */
	uint64_t start_ns;
};

struct direct_seg {
	struct direct_lay lay;
	ATT_LINE _Atomic uint32_t leavers; /* number of processes that have
					    * left */
	_Atomic uint32_t joined;	   /* number of processes that have ever
					    * joined */
	struct direct_post post[];
};

/* ---- bells, which all processes write ----
 * A bell shows whether its process sleeps. If a bell is damaged, its process
 * polls more often, or wakes only when its sleep expires. Damage has no other
 * effect, because bells contain no data. */

/* State of a bell: its process is awake, sleeps on the futex (ASLEEP), or must
 * be woken through its socket (ARMED). */
enum direct_sleep { DIRECT_AWAKE, DIRECT_ASLEEP, DIRECT_ARMED };

struct direct_bell {
	ATT_LINE _Atomic uint32_t asleep; /* an enum direct_sleep, used as a
					   * futex */
};

/* ---- on the socket ---- */

enum direct_want {
	WANT_PLACE, /* gives the caller's memory to the simulator */
	WANT_MEET,  /* asks for the memory of a target, and registers as a
		     * sender */
	WANT_PEER,  /* asks for the memory of a sender */
	WANT_WHO,   /* asks for the pidfd of a peer */
	WANT_LEAVE,
	WANT_RING, /* asks to wake the peer; as a reply: wake up */
	WANTS
};

struct direct_req {
	uint32_t what, place;
};

struct direct_rep {
	uint32_t what;
	int32_t status; /* 0, or negative errno; a requested descriptor arrives
			 * only with status 0 */
};

/* ---- operations by message ---- */

/* Remote operations that the target's library executes. Messages carry their
 * requests and replies. */
enum direct_what { ASK_PUT, ASK_GET, ASK_FADD, ASK_CSWAP };

struct direct_ask {
	uint32_t what, id;
	uint64_t raddr, rkey;
	uint64_t a, b; /* operands; GET: a is the number of bytes */
};

struct direct_answer {
	uint32_t id;
	int32_t status;
	uint64_t result;
};

/* ---- the process ---- */

/* A peer. The index in direct.peer is its place. */
struct direct_peer {
	const struct direct_place *place; /* memory of the peer; NULL: not
					   * mapped */
	uint8_t *out;			  /* this process's ring to the peer */
	const uint8_t *in;		  /* ring of the peer to this process */
	uint16_t *units; /* element u is the size, in units, of the message at
			  * unit u of the ring, with DIRECT_FREED set once the
			  * message is freed; 0: no message */
	struct pidfd who;
	bool knows_who;
	uint64_t put, room;  /* bytes sent to the peer; largest value of `put`
			      * for which the ring has room */
	uint64_t got, freed; /* number of bytes read from the peer; number of
			      * these bytes that were freed */
	uint64_t told;	     /* value of `freed` last reported to the sender */
	bool met;	     /* this process is listed in the peer's senders */
	bool wants;	     /* the peer knows that this process needs room */
	bool left, broken; /* left: the user has been notified that the peer has
			    * left; broken: the peer broke the format */
};

/* An operation that the target's library executes in pieces. */
struct direct_op {
	struct direct_op *next;
	bool used, asked;
	enum weft_ep_kind event;
	uint32_t place, id;
	struct direct_ask ask;
	uint8_t *buf;
	size_t len, off, step;
	bool notify;
	uint32_t imm;
	int32_t status;
	void *ctx;
};

struct direct_reply {
	uint32_t place;
	struct direct_answer a;
	uint64_t raddr, rkey, len; /* region of the data to send, checked when
				    * the reply is sent */
};

/* The owner's private record of a region. Requests are checked against this
 * record, because no peer can write to it. */
struct direct_own {
	uint64_t addr, len;
	uint32_t age;
};

struct direct {
	struct weft_ep ep; /* first member, so that a weft_ep pointer can be
			    * cast */
	const struct direct_seg *seg;
	struct direct_lay lay; /* checked copy of seg->lay */
	struct direct_bell *bell;
	int sock; /* socket to the simulator, owned by the caller */
	uint32_t me, n, nodes, ring_bytes, cpus;
	struct direct_place *self;
	struct direct_peer *peer;
	uint32_t *active, n_active; /* peers that have sent to this process, and
				     * their number */
	uint32_t turn, leavers;
	uint32_t blocked; /* 1 + place whose ring was full at the last post; 0:
			   * none */
	size_t blocked_len;
	uint64_t senders[DIRECT_PLACES / 64];
	struct weft_ep_event ev[DIRECT_EVENTS];
	uint32_t ev_head, ev_tail;
	struct direct_op op[DIRECT_OPS];
	uint32_t n_ops; /* operations in use */
	struct direct_op *todo, **todo_tail;
	struct direct_reply *reply; /* ring of replies that wait for room */
	uint32_t reply_head, reply_tail;
	uint64_t acts;
	bool no_cma; /* the kernel refuses copies between processes */
	bool forked; /* The process is a child of fork. All calls fail, because
		      * the child does not inherit the memory. */
	uint32_t region_next;
	struct direct_own region[DIRECT_REGIONS];
};

enum { DIRECT_FREED = 0x8000 }; /* flag in direct_peer.units */

static inline struct direct_head *
direct_head_at(const struct direct *d, const uint8_t *ring, uint64_t at)
{
	return (struct direct_head *)(uintptr_t)(ring + at % d->ring_bytes);
}

/* Returns the number of bytes that a message fills in a ring, head included. */
static inline uint64_t direct_size(uint64_t len)
{
	return (sizeof(struct direct_head) + len + DIRECT_UNIT - 1) &
	       ~(uint64_t)(DIRECT_UNIT - 1);
}

/* direct_hub.c */
/* Returns the sizes and offsets of a run's memory. */
struct direct_lay direct_layout(uint32_t nodes, uint32_t slots);
/* Returns the seals that shared memory must have. The seals fix the size of the
 * memory. With `readers` they also forbid writing through mappings that are
 * made after the sealing, where the kernel supports that. */
int direct_seals(bool readers);
/* Makes and maps anonymous shared memory. With `readers` it is sealed so that
 * later mappings are read-only. Returns NULL on failure, else the descriptor
 * in *fd_p. */
void *direct_memory(uint64_t bytes, bool readers, int *fd_p);

/* direct.c */
/* Maps the peer's memory for the purpose `why`. Returns 0, -EAGAIN if the peer
 * has not joined yet, or another negative errno. */
int direct_peer_open(struct direct *d, uint32_t place, enum direct_want why);

/* direct_link.c */
/* Sends a request to the simulator and waits for its reply. `give` is a
 * descriptor to send, or -1. *fd_p receives the reply's descriptor unless fd_p
 * is NULL. Returns the reply's status or negative errno. */
int direct_want(struct direct *d, enum direct_want what, uint32_t place,
		int give, int *fd_p);
/* Sends one message with a descriptor (-1: none). Returns 0 or negative
 * errno. */
int direct_say(int sock, const void *msg, size_t len, int fd);
/* Receives one message with recvmsg flags `how`. Returns the number of bytes,
 * or negative errno. *fd_p is -1 if the message had no descriptor. */
int direct_hear(int sock, void *msg, size_t len, int how, int *fd_p);
/* Wakes a process that sleeps on its futex. Returns the previous state of the
 * bell, because the caller must wake an armed process through its socket. */
enum direct_sleep direct_knock(struct direct_bell *b);
/* Wakes the process at a place. Called after a fence, which makes the new
 * message or the freed room visible before the sleep flag is read. */
void direct_wake(struct direct *d, uint32_t place);

/* direct_ring.c */
/* Reserves room for a message to `to`. The caller writes the payload behind the
 * head, then direct_commit publishes the message. Returns NULL if the ring is
 * full. */
struct direct_head *direct_begin(struct direct *d, uint32_t to, size_t len);
/* Publishes a message of `len` bytes and wakes its receiver. */
void direct_commit(struct direct *d, uint32_t to, struct direct_head *h,
		   enum direct_kind kind, size_t len, uint32_t imm);
/* Returns the next message of a peer with its checked length in *len_p, or
 * NULL if there is none or the peer broke the format. */
const struct direct_head *direct_next(struct direct *d, struct direct_peer *p,
				      enum direct_kind *kind_p,
				      uint32_t *len_p);
/* Frees the memory of a message, whose data is invalid afterwards. */
void direct_free(struct direct *d, struct direct_peer *p,
		 const struct direct_head *h);
/* Reports freed room to the sender, and wakes a sender that waits for room. */
void direct_tell_room(struct direct *d, struct direct_peer *p);
/* Returns true if direct_begin would find room for `len` bytes. */
bool direct_has_room(struct direct *d, uint32_t to, size_t len);
/* Maps the memory of all peers that have started to send. */
void direct_meet(struct direct *d);

/* direct_ep.c */
extern const struct weft_ep_ops direct_ops;
/* Queues the event of an operation of this process. Returns false if the queue
 * is full. */
bool direct_event(struct direct *d, const struct weft_ep_event *ev);
/* Returns the endpoint address of a place. */
uint32_t direct_addr(const struct direct *d, uint32_t place);
/* Returns true if a poll could return an event, or if a full ring has room
 * again. */
bool direct_news(struct direct *d);

/* direct_rma.c. Each carries out an operation of struct weft_ep and returns as
 * weft/ep.h specifies. `to` is the place of the target. */
int direct_mr_reg(struct weft_ep *ep, void *p, size_t len,
		  struct weft_ep_mr *mr_p);
int direct_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr);
int direct_put(struct direct *d, uint32_t to, const struct weft_ep_op *op);
int direct_get(struct direct *d, uint32_t to, const struct weft_ep_op *op);
int direct_atomic(struct direct *d, uint32_t to, const struct weft_ep_op *op);
/* Returns true if [addr, addr + len) lies in the region of this process that
 * has this key. */
bool direct_covers(const struct direct *d, uint64_t addr, uint64_t key,
		   uint64_t len);

/* direct_ask.c */
/* Returns true if the process at `place` has left or died. */
bool direct_is_left(const struct direct *d, uint32_t place);
/* Returns a free operation, or NULL if DIRECT_OPS are in flight. */
struct direct_op *direct_op_new(struct direct *d, uint32_t to,
				enum weft_ep_kind event, void *ctx);
/* Sends the first request of an operation of direct_op_new. Queues the
 * operation if the ring is full or other operations wait. */
void direct_op_start(struct direct *d, struct direct_op *op);
/* Executes a request of a peer and sends or queues the reply. */
void direct_asked(struct direct *d, uint32_t from, const uint8_t *data,
		  size_t len);
/* Continues or ends the operation that a reply belongs to. */
void direct_answered(struct direct *d, uint32_t from, const uint8_t *data,
		     size_t len);
/* Sends operations and replies that waited for room. Ends operations to peers
 * that have left. */
void direct_progress(struct direct *d);

#endif
