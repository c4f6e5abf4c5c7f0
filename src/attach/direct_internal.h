/* SPDX-License-Identifier: Apache-2.0 */
/* The direct endpoint: memory of the run and of its processes, and what its
 * files share (direct_hub.c: in the simulator; direct.c: life, waiting;
 * direct_link.c: the socket; direct_ring.c: messages; direct_rma.c,
 * direct_ask.c: memory; direct_ep.c: calls and events). */
#ifndef ATTACH_DIRECT_INTERNAL_H
#define ATTACH_DIRECT_INTERNAL_H

#include "attach/direct.h"
#include "attach/proto.h"
#include "base/pidfd.h"

enum {
	DIRECT_MAGIC = 0x44464557,
	DIRECT_VERSION = 2,
	DIRECT_REGIONS = 4096, /* of a process */
	DIRECT_OPS = 128,      /* of a process that wait for an answer */
	DIRECT_EVENTS = 1024,  /* of its own operations; a power of two */
	DIRECT_UNIT = 64,
};

/* ---- messages ---- */

enum direct_kind {
	DIRECT_NONE, /* not there yet */
	DIRECT_MSG,
	DIRECT_PUT_IN,
	DIRECT_ASK,    /* struct direct_ask, bytes of a put */
	DIRECT_ANSWER, /* struct direct_answer, bytes of a get */
	DIRECT_SKIP,   /* go on at the start of the ring */
};

/* In front of each message, at a multiple of DIRECT_UNIT.  With 48 bytes of
 * payload it is one cache line. */
struct direct_head {
	_Atomic uint32_t mark; /* kind << 24 | bytes behind the head */
	uint32_t imm;
	uint64_t at; /* bytes before it: what is left of a former round is none
		      */
};

/* ---- memory of a process: it writes, all others read ---- */

/* What it has to do with another one. */
struct direct_pair {
	ATT_LINE _Atomic uint64_t taken;  /* bytes it has given back to him */
	ATT_LINE _Atomic uint32_t wanted; /* it waits for room in its ring */
};

struct direct_region {
	_Atomic uint64_t addr, len; /* len 0: none */
	_Atomic uint32_t age;
	uint32_t unused;
};

/* Behind it a ring for each place, of what it sends there. */
struct direct_place {
	ATT_LINE _Atomic uint32_t cpu; /* + 1, when it last waited */
	struct direct_region region[DIRECT_REGIONS];
	struct direct_pair pair[];
};

/* ---- memory of the run: the simulator writes, all read ---- */

enum direct_state { DIRECT_EMPTY, DIRECT_HERE, DIRECT_LEFT, DIRECT_DEAD };

struct direct_post {
	ATT_LINE _Atomic uint32_t state;
	/* who has begun to send to it */
	_Atomic uint64_t senders[DIRECT_PLACES / 64];
};

struct direct_lay {
	uint32_t magic, version;
	uint64_t bytes;
	uint32_t nodes, places;
	uint32_t ring_bytes, max_msg;
	uint64_t ring_off, ring_step, place_bytes; /* of a process's memory */
	uint64_t start_ns;
};

struct direct_seg {
	struct direct_lay lay;
	ATT_LINE _Atomic uint32_t leavers; /* how many have left */
	_Atomic uint32_t joined;	   /* how many have ever come */
	struct direct_post post[];
};

/* ---- bells: everybody writes ----
 * Damage here makes a process look more often, or only when it would have
 * looked anyway, and nothing else. */

/* How it wants to be woken: on the futex, or through its socket. */
enum direct_sleep { DIRECT_AWAKE, DIRECT_ASLEEP, DIRECT_ARMED };

struct direct_bell {
	ATT_LINE _Atomic uint32_t asleep; /* enum direct_sleep, futex */
};

/* ---- on the socket ---- */

enum direct_want {
	WANT_PLACE, /* this descriptor is my memory */
	WANT_MEET,  /* I am going to send to him: his memory */
	WANT_PEER,  /* the memory of one who sends to me */
	WANT_WHO,   /* his process */
	WANT_LEAVE,
	WANT_RING, /* wake him; no answer, and the other way: wake up */
	WANTS
};

struct direct_req {
	uint32_t what, place;
};

struct direct_rep {
	uint32_t what;
	int32_t status; /* 0: with a descriptor, where one was asked for */
};

/* ---- asking ---- */

/* What the library of the target does: put, get and atomics by message. */
enum direct_what { ASK_PUT, ASK_GET, ASK_FADD, ASK_CSWAP };

struct direct_ask {
	uint32_t what, id;
	uint64_t raddr, rkey;
	uint64_t a, b; /* GET: a = bytes */
};

struct direct_answer {
	uint32_t id;
	int32_t status;
	uint64_t result;
};

/* ---- the process ---- */

/* A peer, by place. */
struct direct_peer {
	const struct direct_place *place; /* NULL: not mapped */
	uint8_t *out;			  /* ring to him, in our memory */
	const uint8_t *in;		  /* ring of his to us */
	uint16_t *units; /* of messages of his, where they begin; FREED */
	struct pidfd who;
	bool knows_who;
	uint64_t put, room;  /* bytes sent; up to where there is room */
	uint64_t got, freed; /* bytes seen; bytes given back */
	uint64_t told;	     /* of them, what the sender knows */
	bool met;	     /* we are in his list of senders */
	bool wants;	     /* we said that we wait for room */
	bool left, broken;   /* gone, and told so; not to be trusted */
};

/* An operation that the target's library carries out, piece by piece. */
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
	uint64_t raddr, rkey, len; /* what goes along; looked at when it goes */
};

/* A region as its owner knows it: nobody else can write here. */
struct direct_own {
	uint64_t addr, len;
	uint32_t age;
};

struct direct {
	struct weft_ep ep; /* first */
	const struct direct_seg *seg;
	struct direct_lay lay; /* what stood at its start, checked */
	struct direct_bell *bell;
	int sock; /* the caller's */
	uint32_t me, n, nodes, ring_bytes, cpus;
	struct direct_place *self;
	struct direct_peer *peer;
	uint32_t *active, n_active; /* those who have sent something */
	uint32_t turn, leavers;
	uint32_t blocked; /* place + 1 whose ring was full for blocked_len */
	size_t blocked_len;
	uint64_t senders[DIRECT_PLACES / 64];
	struct weft_ep_event ev[DIRECT_EVENTS];
	uint32_t ev_head, ev_tail;
	struct direct_op op[DIRECT_OPS];
	uint32_t n_ops; /* used */
	struct direct_op *todo, **todo_tail;
	struct direct_reply *reply; /* ring; those that found no room */
	uint32_t reply_head, reply_tail;
	uint64_t acts;
	bool no_cma; /* the kernel refuses */
	uint32_t region_next;
	struct direct_own region[DIRECT_REGIONS];
};

enum { DIRECT_FREED = 0x8000 }; /* of direct_peer.units */

static inline struct direct_head *
direct_head_at(const struct direct *d, const uint8_t *ring, uint64_t at)
{
	return (struct direct_head *)(uintptr_t)(ring + at % d->ring_bytes);
}

static inline uint64_t direct_size(uint64_t len)
{
	return (sizeof(struct direct_head) + len + DIRECT_UNIT - 1) &
	       ~(uint64_t)(DIRECT_UNIT - 1);
}

/* direct_hub.c */
struct direct_lay direct_layout(uint32_t nodes, uint32_t slots);
/* What a descriptor of memory must promise: its size stays, and nobody but who
 * has mapped it can write (where the kernel knows that). */
int direct_seals(bool readers);
/* Memory without a name, mapped; readers: nobody else can write. */
void *direct_memory(uint64_t bytes, bool readers, int *fd_p);

/* direct.c */
/* His memory is mapped; 0, -EAGAIN (he is not there yet) or what is wrong. */
int direct_peer_open(struct direct *d, uint32_t place, enum direct_want why);

/* direct_link.c */
/* give: a descriptor to go along, or -1; fd_p: that of the answer, or NULL. */
int direct_want(struct direct *d, enum direct_want what, uint32_t place,
		int give, int *fd_p);
/* One message with a descriptor (-1: none); 0 or negative errno. */
int direct_say(int sock, const void *msg, size_t len, int fd);
/* fd_p: -1 when none came.  Bytes, or negative errno. */
int direct_hear(int sock, void *msg, size_t len, int how, int *fd_p);
/* How he wants to be woken, if he sleeps; a futex is woken here. */
enum direct_sleep direct_knock(struct direct_bell *b);
/* There is news for the process at a place; to be called after a fence. */
void direct_wake(struct direct *d, uint32_t place);

/* direct_ring.c */
/* Room for a message; its payload goes behind the head.  NULL: none now. */
struct direct_head *direct_begin(struct direct *d, uint32_t to, size_t len);
void direct_commit(struct direct *d, uint32_t to, struct direct_head *h,
		   enum direct_kind kind, size_t len, uint32_t imm);
/* The next message of a peer, or NULL; len_p: its length, checked. */
const struct direct_head *direct_next(struct direct *d, struct direct_peer *p,
				      enum direct_kind *kind_p,
				      uint32_t *len_p);
void direct_free(struct direct *d, struct direct_peer *p,
		 const struct direct_head *h);
/* Senders learn what was given back. */
void direct_tell_room(struct direct *d, struct direct_peer *p);
bool direct_has_room(struct direct *d, uint32_t to, size_t len);
/* Those who have begun to send. */
void direct_meet(struct direct *d);

/* direct_ep.c */
extern const struct weft_ep_ops direct_ops;
/* False: no place for it now. */
bool direct_event(struct direct *d, const struct weft_ep_event *ev);
uint32_t direct_addr(const struct direct *d, uint32_t place);
/* Whether a poll could find something. */
bool direct_news(struct direct *d);

/* direct_rma.c */
int direct_mr_reg(struct weft_ep *ep, void *p, size_t len,
		  struct weft_ep_mr *mr_p);
int direct_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr);
int direct_put(struct direct *d, uint32_t to, const struct weft_ep_op *op);
int direct_get(struct direct *d, uint32_t to, const struct weft_ep_op *op);
int direct_atomic(struct direct *d, uint32_t to, const struct weft_ep_op *op);
/* Of ours. */
bool direct_covers(const struct direct *d, uint64_t addr, uint64_t key,
		   uint64_t len);

/* direct_ask.c */
bool direct_is_left(const struct direct *d, uint32_t place);
/* NULL: too many are under way. */
struct direct_op *direct_op_new(struct direct *d, uint32_t to,
				enum weft_ep_kind event, void *ctx);
void direct_op_start(struct direct *d, struct direct_op *op);
void direct_asked(struct direct *d, uint32_t from, const uint8_t *data,
		  size_t len);
void direct_answered(struct direct *d, uint32_t from, const uint8_t *data,
		     size_t len);
/* Operations and answers that wait for room; those to peers that have left. */
void direct_progress(struct direct *d);

#endif
