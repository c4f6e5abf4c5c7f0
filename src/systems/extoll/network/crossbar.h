/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL crossbar, shared by its files (see crossbar.c). */
#ifndef SYSTEMS_EXTOLL_NETWORK_CROSSBAR_H
#define SYSTEMS_EXTOLL_NETWORK_CROSSBAR_H

#include "base/vec.h"
#include "systems/extoll/network/place.h"
#include "systems/extoll/network/cell_channel.h"
#include "weft/trace.h"

#define XB_NONE	  0xff
#define XB_QUEUES (EX_PORTS * EX_VCS)
#define XB_FAR	  (1 << 30) /* cycles, before the first cell */

/* What one output arbitrates: bit input * 4 + VC on which the cell came. */
struct xb_out {
	uint64_t want[EX_VCS]; /* heads of queues, by VC on which they leave */
	uint8_t lock[EX_VCS];  /* bit that owns the VC from SOP to EOP */
	uint8_t last; /* winner, state of the arbiter (extoll.md 4.2) */
} __attribute__((aligned(64)));

/* Packets of one VC as they come in. */
struct xb_open {
	uint8_t serial;	 /* of the last one */
	bool is_open;	 /* its EOP has not come */
	uint8_t cells;	 /* of it, in the queues */
	uint8_t waiting; /* cells of all, in the queues */
};

/* A packet with a hash (crossbar_order.c). */
struct xb_turn {
	uint16_t hash;
	uint8_t in, vc, serial; /* which it is */
	uint8_t out, vc_out;
};

struct xb_held {
	uint64_t cycle; /* from then on */
	uint8_t in, out, vc;
};

struct xb_in {
	uint8_t head[XB_QUEUES], tail[XB_QUEUES]; /* by output * 4 + VC */
	uint8_t accept;			     /* last output that was accepted */
	uint8_t out[EX_VCS], vc_out[EX_VCS]; /* of the packet on that VC */
	struct xb_open open[EX_VCS];
	uint32_t spacing; /* least distance of two cells */
	uint64_t pushed;  /* cycle of the last one */
};

enum {
	XB_CELLS,
	XB_PACKETS,
	XB_ILLEGAL,
	XB_NO_PORT,
	XB_VOIDS,
	XB_CONFLICTS,
	XB_SPACING, /* this and the next: by ops.sample */
	XB_VCS,
	XB_RETRIES, /* from here on: xb_link_counts */
	XB_TIMEOUTS,
	XB_NACKS,
	XB_CRC,
	XB_CODE,
	XB_SEQ,
	XB_VOIDS_IN,
	XB_DOWNS,
	XB_LOST,
	XB_RESENT,
	XB_NACKS_IN,
	XB_STALE,
	XB_IGNORED,
	XB_CONTROL,
	XB_IDLE,
	XB_PIECES,
	XB_N_COUNTERS
};

struct xb {
	struct ex_place place; /* first */
	struct weft_comp *comp;
	uint64_t armed;	     /* cycle of the live wake-up, or WEFT_NEVER */
	weft_time_t armed_t; /* its time */
	uint16_t busy;	     /* inputs with cells on their way */
	uint16_t asked;	     /* outputs somebody wants */
	uint16_t fresh;	     /* of these, with new cells since the last look */
	uint32_t datelines;  /* by port number */
	uint64_t seen[EX_PORTS];      /* of inputs in busy: next cell */
	uint64_t read_free[EX_PORTS]; /* the RAM can be read from then on */
	uint64_t grant_at[EX_PORTS];  /* outputs: not before */
	const struct eport *peer[EX_PORTS];
	struct topo_here here;
	struct xb_out out[EX_PORTS];
	struct xb_in in[EX_PORTS];
	struct eport ep[EX_PORTS];
	/* parameters */
	struct weft_clock clock;
	uint32_t width, dateline, links;
	uint32_t gap, cell_flits, slots, reserved, window;
	uint32_t t_route, t_cross, t_lp_out, t_lp_in, t_sync, mgt, mgt_ui;
	uint32_t t_transit;
	uint32_t refresh, ack_every, ack_idle, timeout, attempts;
	double ppm;
	uint32_t node;
	bool store_forward, train, hap, hash_order;
	/* packets with a hash, in the order of their arrival */
	struct xb_turn *turn;
	uint32_t n_turn, max_turn;
	/* queues whose first packet is in transit, and may not ask yet */
	struct {
		VEC(struct xb_held);
	} held;
	/* table routing without a topology: port by destination, or NULL */
	uint8_t *table;
	uint32_t n_table;
};

/* Output of the packet whose SOP cell came in at `in`; consumes its nibble.
 * XB_NONE: nowhere (counted).  Sets the cell's skip, flits, vc_out. */
uint32_t xb_route(struct xb *x, uint32_t in, struct ecell *c);
/* The same for a cell routed by table, without any effect; XB_NONE: not known
 * before. */
uint32_t xb_peek(const struct xb *x, const struct ecell *c);
int xb_set_table(struct weft_comp *c, uint32_t in, uint32_t path,
		 const uint32_t *to, uint32_t n, struct weft_err *err);

/* crossbar_queues.c: the cell, at the head of its queue, may ask for its
 * output; a cell enters the queue for output o; the one at the head of queue
 * (o, bit) leaves; it left from the middle. */
bool xb_may_ask(const struct xb_in *in, const struct ecell *c);
void xb_queue_push(struct xb *x, uint32_t i, uint32_t o, uint32_t slot);
/* Asks for packets in transit whose time has come; the next such cycle. */
uint64_t xb_queue_held(struct xb *x, uint64_t cycle);
void xb_queue_left(struct xb *x, uint32_t i, const struct ecell *c);
void xb_queue_pop(struct xb *x, uint32_t i, uint32_t o, uint32_t bit);
/* crossbar_order.c: the packet of this cell has arrived; it need not wait for
 * another with its hash; it leaves, and *next may ask now if true. */
void xb_turn_add(struct xb *x, uint32_t i, const struct ecell *c);
bool xb_turn_is(struct xb *x, uint32_t i, const struct ecell *c);
bool xb_turn_drop(struct xb *x, uint32_t i, const struct ecell *c,
		  struct xb_turn *next);
/* For who listens: cells in the queues, now; one leaves input i through output
 * o, in these cycles. */
WEFT_COLD void xb_tell_queues(const struct xb *x);
WEFT_COLD void xb_tell_cell(const struct xb *x, uint32_t i, uint32_t o,
			    uint64_t from, uint64_t to);
/* ops.waiting: cells in the queues for an output. */
void xb_waiting(struct weft_comp *c, uint32_t port, struct weft_waiting *w);
/* eport_ops.gone */
void xb_gone(void *own, struct eport *ep, uint32_t slot);
/* Tells the NIC beside it; EPORT_NEWS_XBAR: of the crossbar itself. */
void xb_news(struct xb *x, uint32_t lp, enum eport_link what);
/* eport_ops.link */
void xb_link(void *own, struct eport *ep, enum eport_link what);
/* Brings the counters from XB_RETRIES on up to date. */
void xb_link_counts(struct xb *x);

/* crossbar_tables.c: settings of the ports by the parameters. */
struct eport_cfg xb_cfg_link(const struct xb *x);
struct eport_cfg xb_cfg_internal(const struct xb *x);
/* Cells of the units fit into a cell of the crossbar. */
int xb_cells_fit(const struct xb *x, struct weft_err *err);

/* Operations of the class. */
int xb_init(struct weft_comp *c, struct weft_err *err);
int xb_start(struct weft_comp *c, struct weft_err *err);
void xb_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f);
void xb_event(struct weft_comp *c, uint32_t tag);
void xb_soon(const struct weft_comp *c, uint32_t stage);
int xb_sample(struct weft_comp *c, struct weft_err *err);
int xb_finish(struct weft_comp *c, struct weft_err *err);
void xb_fini(struct weft_comp *c);

/* ops.start: where this crossbar stands. */
void xb_place(struct xb *x);
extern const struct ex_waits xb_waits;

/* Round-robin arbiter of 4.2: the winner among req, given the last one. */
static inline uint32_t xb_arbiter(uint64_t req, uint32_t last)
{
	uint64_t masked = req & (last >= 63 ? 0 : ~0ULL << (last + 1));

	return (uint32_t)__builtin_ctzll(masked ? masked : req);
}

#endif
