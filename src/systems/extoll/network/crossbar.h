/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL crossbar, shared by its files (see crossbar.c). */
#ifndef SYSTEMS_EXTOLL_NETWORK_CROSSBAR_H
#define SYSTEMS_EXTOLL_NETWORK_CROSSBAR_H

#include "base/vec.h"
#include "systems/extoll/network/place.h"
#include "systems/extoll/network/cell_channel.h"
#include "weft/trace.h"

#define EXTOLL_XBAR_NONE   0xff
#define EXTOLL_XBAR_QUEUES (EX_PORTS * EX_VCS)
#define EXTOLL_XBAR_FAR	   (1 << 30) /* cycles, before the first cell */

/* Requests for one output: bit input * 4 + VC on which the cell came. */
struct extoll_xbar_out {
	uint64_t want[EX_VCS]; /* heads of queues, by VC on which they leave */
	uint8_t lock[EX_VCS];  /* bit that owns the VC from SOP to EOP */
	uint8_t last; /* winner, state of the arbiter (extoll.md 4.2) */
} __attribute__((aligned(64)));

/* Packets of one VC as they come in. */
struct extoll_xbar_open {
	uint8_t serial;	 /* of the last one */
	bool is_open;	 /* its EOP has not come */
	uint8_t cells;	 /* of it, in the queues */
	uint8_t waiting; /* cells of all, in the queues */
};

/* A packet with a hash (crossbar_order.c). */
struct extoll_xbar_turn {
	uint16_t hash;
	uint8_t in, vc, serial; /* which it is */
	uint8_t out, vc_out;
};

struct extoll_xbar_held {
	uint64_t cycle; /* from then on */
	uint8_t in, out, vc;
};

struct extoll_xbar_in {
	uint8_t head[EXTOLL_XBAR_QUEUES],
		tail[EXTOLL_XBAR_QUEUES];    /* by output * 4 + VC */
	uint8_t accept;			     /* last output that was accepted */
	uint8_t out[EX_VCS], vc_out[EX_VCS]; /* of the packet on that VC */
	struct extoll_xbar_open open[EX_VCS];
	uint32_t spacing; /* least distance of two cells */
	uint64_t pushed;  /* cycle of the last one */
};

enum {
	EXTOLL_XBAR_CELLS,
	EXTOLL_XBAR_PACKETS,
	EXTOLL_XBAR_ILLEGAL,
	EXTOLL_XBAR_NO_PORT,
	EXTOLL_XBAR_VOIDS,
	EXTOLL_XBAR_CONFLICTS,
	EXTOLL_XBAR_SPACING, /* this and the next: by ops.sample */
	EXTOLL_XBAR_VCS,
	EXTOLL_XBAR_RETRIES, /* from here on: extoll_xbar_link_counts */
	EXTOLL_XBAR_TIMEOUTS,
	EXTOLL_XBAR_NACKS,
	EXTOLL_XBAR_CRC,
	EXTOLL_XBAR_CODE,
	EXTOLL_XBAR_SEQ,
	EXTOLL_XBAR_VOIDS_IN,
	EXTOLL_XBAR_DOWNS,
	EXTOLL_XBAR_LOST,
	EXTOLL_XBAR_RESENT,
	EXTOLL_XBAR_NACKS_IN,
	EXTOLL_XBAR_STALE,
	EXTOLL_XBAR_IGNORED,
	EXTOLL_XBAR_CONTROL,
	EXTOLL_XBAR_IDLE,
	EXTOLL_XBAR_PIECES,
	EXTOLL_XBAR_N_COUNTERS
};

struct extoll_xbar {
	struct ex_place place; /* first */
	struct weft_comp *comp;
	uint64_t armed;	     /* cycle of the live wake-up, or WEFT_NEVER */
	weft_time_t armed_t; /* its time */
	uint16_t busy;	     /* inputs with cells on their way */
	uint16_t asked;	     /* outputs that cells ask for */
	uint16_t fresh;	     /* of these, with new cells since the last look */
	uint32_t datelines;  /* by port number */
	uint64_t seen[EX_PORTS];      /* of inputs in busy: next cell */
	uint64_t read_free[EX_PORTS]; /* the RAM can be read from then on */
	uint64_t grant_at[EX_PORTS];  /* outputs: not before */
	const struct cell_channel *peer[EX_PORTS];
	struct topo_here here;
	struct extoll_xbar_out out[EX_PORTS];
	struct extoll_xbar_in in[EX_PORTS];
	struct cell_channel ep[EX_PORTS];
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
	struct extoll_xbar_turn *turn;
	uint32_t n_turn, max_turn;
	/* queues whose first packet is in transit, and may not ask yet */
	struct {
		VEC(struct extoll_xbar_held);
	} held;
	/* table routing without a topology: port by destination, or NULL */
	uint8_t *table;
	uint32_t n_table;
};

/* Output of the packet whose SOP cell came in at `in`; consumes its nibble.
 * EXTOLL_XBAR_NONE: nowhere (counted).  Sets the cell's skip, flits, vc_out. */
uint32_t extoll_xbar_route(struct extoll_xbar *x, uint32_t in, struct ecell *c);
/* The same for a cell routed by table, without any effect; EXTOLL_XBAR_NONE:
 * not known before. */
uint32_t extoll_xbar_peek(const struct extoll_xbar *x, const struct ecell *c);
int extoll_xbar_set_table(struct weft_comp *c, uint32_t in, uint32_t path,
			  const uint32_t *to, uint32_t n, struct weft_err *err);

/* crossbar_queues.c: the cell, at the head of its queue, may ask for its
 * output; a cell enters the queue for output o; the one at the head of queue
 * (o, bit) leaves; it left from the middle. */
bool extoll_xbar_may_ask(const struct extoll_xbar_in *in,
			 const struct ecell *c);
void extoll_xbar_queue_push(struct extoll_xbar *x, uint32_t i, uint32_t o,
			    uint32_t slot);
/* Asks for packets in transit whose time has come; the next such cycle. */
uint64_t extoll_xbar_queue_held(struct extoll_xbar *x, uint64_t cycle);
void extoll_xbar_queue_left(struct extoll_xbar *x, uint32_t i,
			    const struct ecell *c);
void extoll_xbar_queue_pop(struct extoll_xbar *x, uint32_t i, uint32_t o,
			   uint32_t bit);
/* crossbar_order.c: the packet of this cell has arrived; it need not wait for
 * another with its hash; it leaves, and *next may ask now if true. */
void extoll_xbar_turn_add(struct extoll_xbar *x, uint32_t i,
			  const struct ecell *c);
bool extoll_xbar_turn_is(struct extoll_xbar *x, uint32_t i,
			 const struct ecell *c);
bool extoll_xbar_turn_drop(struct extoll_xbar *x, uint32_t i,
			   const struct ecell *c,
			   struct extoll_xbar_turn *next);
/* For who listens: cells in the queues, now; one leaves input i through output
 * o, in these cycles. */
WEFT_COLD void extoll_xbar_tell_queues(const struct extoll_xbar *x);
WEFT_COLD void extoll_xbar_tell_cell(const struct extoll_xbar *x, uint32_t i,
				     uint32_t o, uint64_t from, uint64_t to);
/* ops.waiting: cells in the queues for an output. */
void extoll_xbar_waiting(struct weft_comp *c, uint32_t port,
			 struct weft_waiting *w);
/* cell_channel_ops.gone */
void extoll_xbar_gone(void *own, struct cell_channel *ep, uint32_t slot);
/* Tells the NIC beside it; CELL_CHANNEL_NEWS_XBAR: of the crossbar itself. */
void extoll_xbar_news(struct extoll_xbar *x, uint32_t lp,
		      enum cell_channel_link what);
/* cell_channel_ops.link */
void extoll_xbar_link(void *own, struct cell_channel *ep,
		      enum cell_channel_link what);
/* Brings the counters from EXTOLL_XBAR_RETRIES on up to date. */
void extoll_xbar_link_counts(struct extoll_xbar *x);

/* crossbar_tables.c: settings of the ports by the parameters. */
struct cell_channel_cfg extoll_xbar_cfg_link(const struct extoll_xbar *x);
struct cell_channel_cfg extoll_xbar_cfg_internal(const struct extoll_xbar *x);
/* Cells of the units fit into a cell of the crossbar. */
int extoll_xbar_cells_fit(const struct extoll_xbar *x, struct weft_err *err);

/* Operations of the class. */
int extoll_xbar_init(struct weft_comp *c, struct weft_err *err);
int extoll_xbar_start(struct weft_comp *c, struct weft_err *err);
void extoll_xbar_arrive(struct weft_comp *c, uint32_t port,
			struct weft_frame *f);
void extoll_xbar_event(struct weft_comp *c, uint32_t tag);
void extoll_xbar_soon(const struct weft_comp *c, uint32_t stage);
int extoll_xbar_sample(struct weft_comp *c, struct weft_err *err);
int extoll_xbar_finish(struct weft_comp *c, struct weft_err *err);
void extoll_xbar_fini(struct weft_comp *c);

extern const struct ex_waits extoll_xbar_waits;

/* Round-robin arbiter of 4.2: the winner among req, given the last one. */
static inline uint32_t extoll_xbar_arbiter(uint64_t req, uint32_t last)
{
	uint64_t masked = req & (last >= 63 ? 0 : ~0ULL << (last + 1));

	return (uint32_t)__builtin_ctzll(masked ? masked : req);
}

#endif
