/* SPDX-License-Identifier: Apache-2.0 */
/* The direct endpoint: the segment, and what its files share (direct.c: life,
 * waiting; direct_ring.c: messages; direct_rma.c, direct_ask.c: memory;
 * direct_ep.c: calls and events; direct_bell.c: waking). */
#ifndef ATTACH_DIRECT_INT_H
#define ATTACH_DIRECT_INT_H

#include "attach/direct.h"
#include "attach/proto.h"

enum {
	DIRECT_MAGIC = 0x44464557,
	DIRECT_VERSION = 1,
	DIRECT_REGIONS = 4096, /* of a process */
	DIRECT_OPS = 128,      /* of a process that wait for an answer */
	DIRECT_EVENTS = 1024,  /* of its own operations; a power of two */
	DIRECT_UNIT = 64,
};

/* ---- the segment ---- */

enum direct_kind {
	DIRECT_NONE, /* not there yet */
	DIRECT_MSG,
	DIRECT_PUT_IN,
	DIRECT_ASK,    /* struct direct_ask, bytes of a put */
	DIRECT_ANSWER, /* struct direct_answer, bytes of a get */
	DIRECT_SKIP,   /* go on at the start of the ring */
	DIRECT_FREED,  /* by the receiver */
};

/* In front of each message, at a multiple of DIRECT_UNIT.  With 48 bytes of
 * payload it is one cache line. */
struct direct_head {
	_Atomic uint32_t mark; /* kind << 24 | bytes behind the head */
	uint32_t imm;
	uint64_t unused;
};

struct direct_ring {
	ATT_LINE _Atomic uint64_t taken; /* bytes the receiver has given back */
	_Atomic uint32_t wanted;	 /* the sender waits for room */
	ATT_LINE uint8_t data[];
};

struct direct_region {
	_Atomic uint64_t addr, len; /* len 0: none */
	_Atomic uint32_t age;
	uint32_t unused;
};

enum direct_state { DIRECT_EMPTY, DIRECT_HERE, DIRECT_LEFT, DIRECT_DEAD };

/* How it wants to be woken: on the futex, or by a datagram. */
enum direct_sleep { DIRECT_AWAKE, DIRECT_ASLEEP, DIRECT_ARMED };

struct direct_place {
	ATT_LINE _Atomic uint32_t state;
	_Atomic uint32_t pid;
	_Atomic uint32_t cpu;		  /* + 1, when it last waited */
	ATT_LINE _Atomic uint32_t asleep; /* enum direct_sleep, futex */
	/* who has ever sent something */
	ATT_LINE _Atomic uint64_t senders[DIRECT_PLACES / 64];
	struct direct_region region[DIRECT_REGIONS];
};

struct direct_seg {
	uint32_t magic, version;
	uint64_t bytes;
	uint32_t nodes, places;
	uint32_t ring_bytes, max_msg;
	uint64_t place_off, ring_off, ring_step;
	uint64_t start_ns, id; /* id: of the datagram sockets' names */
	ATT_LINE _Atomic uint32_t leavers; /* how many have left */
	_Atomic uint32_t joined;	   /* how many have ever come */
};

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
	struct direct_place *place;
	struct direct_ring *out, *in;
	uint64_t put, room;  /* bytes sent; up to where there is room */
	uint64_t got, freed; /* bytes seen; bytes given back */
	uint64_t told;	     /* of them, what the sender knows */
	bool met;	     /* we are in its list of senders */
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
	const uint8_t *data;
	size_t len;
};

struct direct {
	struct weft_ep ep; /* first */
	struct direct_seg *seg;
	struct direct_seg lay; /* what stood at its start, checked */
	int fd;		       /* armed, or -1 */
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
};

static inline struct direct_head *
direct_head_at(const struct direct *d, struct direct_ring *r, uint64_t at)
{
	return (struct direct_head *)(r->data + at % d->ring_bytes);
}

static inline uint64_t direct_size(uint64_t len)
{
	return (sizeof(struct direct_head) + len + DIRECT_UNIT - 1) &
	       ~(uint64_t)(DIRECT_UNIT - 1);
}

/* direct.c */
struct direct_place *direct_place(struct direct_seg *s,
				  const struct direct_seg *lay, uint32_t i);

/* direct_bell.c */
/* Somebody has news for the process at a place; to be called after a fence. */
void direct_wake(struct direct_place *p, uint64_t id, uint32_t place);

/* direct_ring.c */
/* Room for a message; its payload goes behind the head.  NULL: none now. */
struct direct_head *direct_begin(struct direct *d, uint32_t to, size_t len);
void direct_commit(struct direct *d, uint32_t to, struct direct_head *h,
		   enum direct_kind kind, size_t len, uint32_t imm);
/* The next message of a peer, or NULL; len_p: its length, checked. */
struct direct_head *direct_next(struct direct *d, struct direct_peer *p,
				enum direct_kind *kind_p, uint32_t *len_p);
void direct_free(struct direct *d, struct direct_peer *p,
		 struct direct_head *h);
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
int direct_put(struct direct *d, uint32_t to, const void *buf, size_t len,
	       uint64_t raddr, uint64_t rkey, bool notify, uint32_t imm,
	       void *ctx);
int direct_get(struct direct *d, uint32_t to, void *buf, size_t len,
	       uint64_t raddr, uint64_t rkey, void *ctx);
int direct_atomic(struct direct *d, uint32_t to, enum direct_what what,
		  uint64_t raddr, uint64_t rkey, uint64_t a, uint64_t b,
		  void *ctx);
bool direct_covers(struct direct_place *p, uint64_t addr, uint64_t key,
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
