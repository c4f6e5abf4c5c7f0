/* SPDX-License-Identifier: Apache-2.0 */
/* The common endpoint over the Host Port (hostport.md 1.6, 2.3.3 of the
 * thesis): shared state of its files.
 *
 *   up to 40 bytes    one FAST_SEND: the tags carry imm, kind and length
 *   up to eager_max   one SEND through both data regions
 *   longer            rendezvous: FAST_SEND "ready to send", GET, FAST_SEND
 *                     "fin"
 *   put, get          FAST_PUT, PUT, FAST_GET, GET from where the data are, or
 *                     through bounce buffers where words do not lie on words;
 *                     ends of a put by MISALIGNED_PUT
 *   put with notify   a message behind the last acknowledge
 *   atomics           messages to the library there: CAS of this NIC does not
 *                     tell who was first (14.3), and what adds has to agree
 *                     with what swaps
 *
 * eager_max is 2048 bytes by default.  Measured (experiment ep-pingpong), both
 * ways of sending take equally long at 2 KB on PCI 66, at 1.8 KB on htx100_wire
 * and at 1.2 KB on a HyperTransport bus of full width.
 *
 * Messages of a peer are delivered in the order in which they were sent; a
 * sender has `slots` of them on the way, for which there is room in all queues
 * of the receiver: no packet ever blocks in the network for want of it.
 * Processes of one group, one on each node, are peers; a node may have many
 * groups.  Translations are served by the node's driver (hport_serve). */
#ifndef SYSTEMS_HOSTPORT_LIB_ENDPOINT_H
#define SYSTEMS_HOSTPORT_LIB_ENDPOINT_H

#include "weft/ep.h"
#include "weft/hostport.h"

/* What a message is: in the API tag, with an id and the length. */
enum eph_kind {
	EPH_MSG = 1, /* imm, data: a whole message */
	EPH_RTS,     /* imm; window and capability, offset */
	EPH_PUT_IN,  /* imm */
	EPH_FIN,     /* id; status: data were fetched */
	EPH_ATOMIC,  /* id; raddr, rkey, a, b, swap */
	EPH_ANSWER,  /* id; status, result */
	EPH_CREDIT,  /* messages consumed */
	EPH_PIECE,   /* id: of an RMA instruction, never a message */
	EPH_KINDS
};

enum {
	EPH_OPS = 64,	  /* of the user, outstanding */
	EPH_REQUESTS = 8, /* atomics outstanding per peer */
	EPH_FAST = 40,	  /* bytes of a FAST_SEND */
	EPH_FAST_RMA = 24,
	EPH_EAGER_MAX = 65536,
	EPH_PAGE = 4096,
	EPH_BOUNCES = 16,
	EPH_BOUNCE = EPH_PAGE,
	EPH_STAGES = 2, /* buffers for long messages that no device reaches */
	EPH_LANDS = 4,	/* for long messages that come */
	EPH_PIECES = 64,
	EPH_CACHE = 6, /* registrations kept */
	EPH_SDR_MAX = 64,
	EPH_UNIT = 64, /* words of the RDR that go back together */
};
#define EPH_CALL_COST (20 * WEFT_NS) /* of one call into the library */

/* A window over memory of the process: the user's, or kept for a while. */
struct eph_reg {
	struct eph_reg *next;
	uint8_t *p; /* NULL: free */
	size_t len;
	uint64_t va;
	uint32_t win, capability;
	uint32_t users;
	uint64_t age;
};

/* A buffer of the library; `at` in the window of the pool. */
struct eph_buf {
	uint8_t *p;
	uint64_t at;
	bool busy;
};

struct eph_op {
	struct eph_op *next;
	enum weft_ep_kind event;
	uint32_t dst, id, pieces; /* pieces under way */
	bool used, waiting;	  /* waiting: for a message of the peer */
	bool get, notify;
	const uint8_t *buf;
	size_t len, off; /* off: asked for */
	uint64_t imm, raddr, rkey;
	uint64_t a, b, swap; /* atomics */
	struct eph_reg *reg;
	struct eph_buf *stage;
	int32_t status;
	uint64_t result;
	void *ctx;
};

struct eph_list {
	struct eph_op *head, **tail;
};

enum eph_msg_state {
	EPH_EMPTY,
	EPH_WANT,  /* long: waits for a landing buffer */
	EPH_FETCH, /* long: on its way */
	EPH_READY,
	EPH_GIVEN, /* the user has it */
	EPH_FREED, /* but earlier ones are not */
};
struct eph_msg {
	enum eph_msg_state state;
	enum weft_ep_kind event;
	uint32_t src, len, id;
	uint64_t imm;
	uint8_t *eager; /* its place for short ones */
	struct eph_buf *land;
	struct hport_far from;
	const uint8_t *data;
};

/* An RMA instruction under way. */
struct eph_piece {
	struct eph_piece *next;
	struct eph_op *op;   /* or: */
	struct eph_msg *msg; /* a fetch */
	struct eph_buf *bounce;
	size_t off, len;
	uint32_t skip; /* bytes in front of the wanted ones */
};

/* A message about a message; posted when the work queue has room. */
struct eph_note {
	uint32_t dst, id;
	enum eph_kind kind;
	uint64_t w[2];
};

struct eph_peer {
	struct hport_peer to;
	uint32_t slots;	      /* it has for us */
	uint64_t sent, acked; /* messages; as the peer says */
	uint64_t got, given, consumed, returned; /* of its messages */
	uint32_t requests;   /* atomics of mine outstanding */
	struct eph_msg *msg; /* slots */
	struct eph_list todo;
};

struct eph {
	struct weft_ep ep;
	struct weft_host *h;
	struct hport *p;
	uint32_t me, n, group, slots, eager_max;
	bool irq;
	struct eph_peer *peer;
	struct eph_op *ops, *free_ops;
	struct eph_list rma_todo; /* puts and gets, in order */
	struct eph_piece piece[EPH_PIECES], *free_pieces;
	struct eph_note *note; /* ring */
	uint32_t note_head, note_tail, note_size;
	uint32_t wants; /* messages in state EPH_WANT */
	/* send data region */
	uint8_t *sdr;
	uint32_t sdr_slots;
	bool sdr_busy[EPH_SDR_MAX];
	/* bounces, stages, landings: one window */
	struct eph_reg pool;
	struct eph_buf bounce[EPH_BOUNCES], stage[EPH_STAGES], land[EPH_LANDS];
	uint8_t *eager;
	struct eph_reg cache[EPH_CACHE], *mr;
	uint32_t windows; /* ids there are */
	uint64_t *win_used;
	uint64_t age;
	struct weft_ep_event *ev; /* ring of events */
	uint32_t ev_head, ev_tail, ev_size;
	uint32_t turn; /* peer to look at first: the next when not all got on */
};

static inline struct eph *eph_of(struct weft_ep *ep)
{
	return (struct eph *)ep;
}

/* API tag: kind, id, length. */
static inline uint64_t eph_tag(enum eph_kind kind, uint32_t id, size_t len)
{
	return (uint64_t)kind << 44 | (uint64_t)id << 24 | len;
}
#define EPH_KIND(api) ((uint32_t)((api) >> 44 & 15))
#define EPH_ID(api)   ((uint32_t)((api) >> 24 & 0xfffff))
#define EPH_LEN(api)  ((uint32_t)(api)&0xffffff)

/* endpoint.c */
void eph_complete(struct eph *e, struct eph_op *op);
void eph_list_init(struct eph_list *l);
void eph_list_push(struct eph_list *l, struct eph_op *op);
extern const struct weft_ep_ops eph_ops;

/* endpoint_open.c, also of what was opened in part. */
void eph_close(struct weft_ep *ep);

/* endpoint_tx.c: messages out. */
void eph_tell(struct eph *e, uint32_t dst, enum eph_kind kind, uint32_t id,
	      uint64_t w0, uint64_t w1);
void eph_progress_tx(struct eph *e);
void eph_sent(struct eph *e, const struct hport_note *n);

/* endpoint_rx.c: notifications in, messages to the user. */
void eph_progress_rx(struct eph *e);
bool eph_rx_ready(struct eph *e);
int eph_give(struct eph *e, struct weft_ep_event *ev, int max);
void eph_release(struct weft_ep *ep, const struct weft_ep_event *ev);

/* endpoint_rma.c: puts, gets, fetches of long messages. */
void eph_progress_rma(struct eph *e);
void eph_piece_done(struct eph *e, const struct hport_note *n);
void eph_fetch(struct eph *e, struct eph_msg *m);

/* endpoint_mem.c: registered memory. */
struct eph_buf *eph_buf_get(struct eph_buf *b, uint32_t n);
bool eph_reachable(struct eph *e, const void *p, size_t len);
/* Registration that covers the bytes; NULL: all places are in use now.  To be
 * given back. */
struct eph_reg *eph_reg_get(struct eph *e, const void *p, size_t len);
void eph_reg_put(struct eph_reg *r);
/* Where a byte of it is in the window. */
uint64_t eph_reg_at(const struct eph_reg *r, const uint8_t *p);
int eph_win_open(struct eph *e, struct eph_reg *r, uint32_t rights);
int eph_mr_reg(struct weft_ep *ep, void *p, size_t len,
	       struct weft_ep_mr *mr_p);
int eph_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr);
/* The word of a registered region that another node means, or NULL. */
uint8_t *eph_mr_word(struct eph *e, uint64_t raddr, uint64_t rkey);
void eph_mem_free(struct eph *e);

#endif
