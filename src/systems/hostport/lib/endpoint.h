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

/* Kinds of messages: in the API tag, with an id and the length. */
enum hostport_ep_kind {
	HOSTPORT_EP_MSG = 1, /* imm, data: a whole message */
	HOSTPORT_EP_RTS,     /* imm; window and capability, offset */
	HOSTPORT_EP_PUT_IN,  /* imm */
	HOSTPORT_EP_FIN,     /* id; status: data were fetched */
	HOSTPORT_EP_ATOMIC,  /* id; raddr, rkey, a, b, swap */
	HOSTPORT_EP_ANSWER,  /* id; status, result */
	HOSTPORT_EP_CREDIT,  /* messages consumed */
	HOSTPORT_EP_PIECE,   /* id: of an RMA instruction, never a message */
	HOSTPORT_EP_KINDS
};

enum {
	HOSTPORT_EP_OPS = 64,	  /* of the user, outstanding */
	HOSTPORT_EP_REQUESTS = 8, /* atomics outstanding per peer */
	HOSTPORT_EP_FAST = 40,	  /* bytes of a FAST_SEND */
	HOSTPORT_EP_FAST_RMA = 24,
	HOSTPORT_EP_EAGER_MAX = 65536,
	HOSTPORT_EP_PAGE = 4096,
	HOSTPORT_EP_BOUNCES = 16,
	HOSTPORT_EP_BOUNCE = HOSTPORT_EP_PAGE,
	HOSTPORT_EP_STAGES =
		2, /* buffers for long messages that no device reaches */
	HOSTPORT_EP_LANDS = 4, /* for long messages that come */
	HOSTPORT_EP_PIECES = 64,
	HOSTPORT_EP_CACHE = 6, /* registrations kept */
	HOSTPORT_EP_SDR_MAX = 64,
	HOSTPORT_EP_UNIT = 64, /* words of the RDR that go back together */
};
#define HOSTPORT_EP_CALL_COST                                                  \
	(20 * WEFT_NS) /* of one call into the library                         \
			*/

/* A window over memory of the process: the user's, or kept for a while. */
struct hostport_ep_reg {
	struct hostport_ep_reg *next;
	uint8_t *p; /* NULL: free */
	size_t len;
	uint64_t va;
	uint32_t win, capability;
	uint32_t users;
	uint64_t age;
};

/* A buffer of the library; `at` in the window of the pool. */
struct hostport_ep_buf {
	uint8_t *p;
	uint64_t at;
	bool busy;
};

struct hostport_ep_op {
	struct hostport_ep_op *next;
	enum weft_ep_kind event;
	uint32_t dst, id, pieces; /* pieces under way */
	bool used, waiting;	  /* waiting: for a message of the peer */
	bool get, notify;
	const uint8_t *buf;
	size_t len, off; /* off: asked for */
	uint64_t imm, raddr, rkey;
	uint64_t a, b, swap; /* atomics */
	struct hostport_ep_reg *reg;
	struct hostport_ep_buf *stage;
	int32_t status;
	uint64_t result;
	void *ctx;
};

struct hostport_ep_list {
	struct hostport_ep_op *head, **tail;
};

enum hostport_ep_msg_state {
	HOSTPORT_EP_EMPTY,
	HOSTPORT_EP_WANT,  /* long: waits for a landing buffer */
	HOSTPORT_EP_FETCH, /* long: on its way */
	HOSTPORT_EP_READY,
	HOSTPORT_EP_GIVEN, /* the user has it */
	HOSTPORT_EP_FREED, /* but earlier ones are not */
};
struct hostport_ep_msg {
	enum hostport_ep_msg_state state;
	enum weft_ep_kind event;
	uint32_t src, len, id;
	uint64_t imm;
	uint8_t *eager; /* its place for short ones */
	struct hostport_ep_buf *land;
	struct hport_far from;
	const uint8_t *data;
};

/* An RMA instruction under way. */
struct hostport_ep_piece {
	struct hostport_ep_piece *next;
	struct hostport_ep_op *op;   /* or: */
	struct hostport_ep_msg *msg; /* a fetch */
	struct hostport_ep_buf *bounce;
	size_t off, len;
	uint32_t skip; /* bytes in front of the wanted ones */
};

/* A message about a message; posted when the work queue has room. */
struct hostport_ep_note {
	uint32_t dst, id;
	enum hostport_ep_kind kind;
	uint64_t w[2];
};

struct hostport_ep_peer {
	struct hport_peer to;
	uint32_t slots;	      /* it has for us */
	uint64_t sent, acked; /* messages; as the peer says */
	uint64_t got, given, consumed, returned; /* of its messages */
	uint32_t requests;	     /* atomics of mine outstanding */
	struct hostport_ep_msg *msg; /* slots */
	struct hostport_ep_list todo;
};

struct hostport_ep {
	struct weft_ep ep;
	struct weft_host *h;
	struct hport *p;
	uint32_t me, n, group, slots, eager_max;
	bool irq;
	struct hostport_ep_peer *peer;
	struct hostport_ep_op *ops, *free_ops;
	struct hostport_ep_list rma_todo; /* puts and gets, in order */
	struct hostport_ep_piece piece[HOSTPORT_EP_PIECES], *free_pieces;
	struct hostport_ep_note *note; /* ring */
	uint32_t note_head, note_tail, note_size;
	uint32_t wants; /* messages in state HOSTPORT_EP_WANT */
	/* send data region */
	uint8_t *sdr;
	uint32_t sdr_slots;
	bool sdr_busy[HOSTPORT_EP_SDR_MAX];
	/* bounces, stages, landings: one window */
	struct hostport_ep_reg pool;
	struct hostport_ep_buf bounce[HOSTPORT_EP_BOUNCES],
		stage[HOSTPORT_EP_STAGES], land[HOSTPORT_EP_LANDS];
	uint8_t *eager;
	struct hostport_ep_reg cache[HOSTPORT_EP_CACHE], *mr;
	uint32_t windows; /* ids there are */
	uint64_t *win_used;
	uint64_t age;
	struct weft_ep_event *ev; /* ring of events */
	uint32_t ev_head, ev_tail, ev_size;
	uint32_t turn; /* peer to look at first: the next when not all got on */
};

static inline struct hostport_ep *hostport_ep_of(struct weft_ep *ep)
{
	return (struct hostport_ep *)ep;
}

/* API tag: kind, id, length. */
static inline uint64_t hostport_ep_tag(enum hostport_ep_kind kind, uint32_t id,
				       size_t len)
{
	return (uint64_t)kind << 44 | (uint64_t)id << 24 | len;
}
#define HOSTPORT_EP_KIND(api) ((uint32_t)((api) >> 44 & 15))
#define HOSTPORT_EP_ID(api)   ((uint32_t)((api) >> 24 & 0xfffff))
#define HOSTPORT_EP_LEN(api)  ((uint32_t)(api)&0xffffff)

/* endpoint.c */
void hostport_ep_complete(struct hostport_ep *e, struct hostport_ep_op *op);
void hostport_ep_list_init(struct hostport_ep_list *l);
void hostport_ep_list_push(struct hostport_ep_list *l,
			   struct hostport_ep_op *op);
extern const struct weft_ep_ops hostport_ep_ops;

/* endpoint_open.c, also of what was opened in part. */
void hostport_ep_close(struct weft_ep *ep);

/* endpoint_tx.c: messages out. */
void hostport_ep_tell(struct hostport_ep *e, uint32_t dst,
		      enum hostport_ep_kind kind, uint32_t id, uint64_t w0,
		      uint64_t w1);
void hostport_ep_progress_tx(struct hostport_ep *e);
void hostport_ep_sent(struct hostport_ep *e, const struct hport_note *n);

/* endpoint_rx.c: notifications in, messages to the user. */
void hostport_ep_progress_rx(struct hostport_ep *e);
bool hostport_ep_rx_ready(struct hostport_ep *e);
int hostport_ep_give(struct hostport_ep *e, struct weft_ep_event *ev, int max);
void hostport_ep_release(struct weft_ep *ep, const struct weft_ep_event *ev);

/* endpoint_rma.c: puts, gets, fetches of long messages. */
void hostport_ep_progress_rma(struct hostport_ep *e);
void hostport_ep_piece_done(struct hostport_ep *e, const struct hport_note *n);
void hostport_ep_fetch(struct hostport_ep *e, struct hostport_ep_msg *m);

/* endpoint_mem.c: registered memory. */
struct hostport_ep_buf *hostport_ep_buf_get(struct hostport_ep_buf *b,
					    uint32_t n);
bool hostport_ep_reachable(struct hostport_ep *e, const void *p, size_t len);
/* Registration that covers the bytes; NULL: all places are in use now.  To be
 * given back. */
struct hostport_ep_reg *hostport_ep_reg_get(struct hostport_ep *e,
					    const void *p, size_t len);
void hostport_ep_reg_put(struct hostport_ep_reg *r);
/* Place of one of its bytes in the window. */
uint64_t hostport_ep_reg_at(const struct hostport_ep_reg *r, const uint8_t *p);
int hostport_ep_win_open(struct hostport_ep *e, struct hostport_ep_reg *r,
			 uint32_t rights);
int hostport_ep_mr_reg(struct weft_ep *ep, void *p, size_t len,
		       struct weft_ep_mr *mr_p);
int hostport_ep_mr_dereg(struct weft_ep *ep, const struct weft_ep_mr *mr);
/* The word of a registered region that another node means, or NULL. */
uint8_t *hostport_ep_mr_word(struct hostport_ep *e, uint64_t raddr,
			     uint64_t rkey);
void hostport_ep_mem_free(struct hostport_ep *e);

#endif
