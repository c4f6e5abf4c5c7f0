/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL crossbar: state and functions that its files share (see
 * crossbar.c). */
#ifndef SYSTEMS_EXTOLL_NETWORK_CROSSBAR_H
#define SYSTEMS_EXTOLL_NETWORK_CROSSBAR_H

#include "base/vec.h"
#include "systems/extoll/network/place.h"
#include "systems/extoll/network/cell_channel.h"
#include "weft/trace.h"

#define EXTOLL_XBAR_NONE   0xff
#define EXTOLL_XBAR_QUEUES (EX_PORTS * EX_VCS)
#define EXTOLL_XBAR_FAR	   (1 << 30) /* spacing before two cells have arrived */

/* Requests for one output. Bit input * 4 + VC stands for the queue of cells
 * that arrived at that input on that VC. */
struct extoll_xbar_out {
	uint64_t want[EX_VCS]; /* queue heads that request, by outgoing VC */
	/* bit that owns the VC from SOP to EOP, or NONE */
	uint8_t lock[EX_VCS];
	uint8_t last; /* last winner: the arbiter's state (extoll.md 4.2) */
} __attribute__((aligned(64)));

/* The cells of one incoming VC, and the packet that arrived last on it. */
struct extoll_xbar_open {
	uint8_t serial;	 /* serial of the last packet */
	bool is_open;	 /* the EOP of that packet has not arrived */
	uint8_t cells;	 /* cells of that packet in the queues */
	uint8_t waiting; /* cells of all packets in the queues */
};

/* Entry of x->turn: a packet with a hash. The entries are in order of arrival
 * (crossbar_order.c). in, vc and serial identify the packet. */
struct extoll_xbar_turn {
	uint16_t hash;
	uint8_t in, vc, serial;
	uint8_t out, vc_out;
};

struct extoll_xbar_held {
	uint64_t cycle; /* cycle from which the packet may request */
	uint8_t in, out, vc;
};

struct extoll_xbar_in {
	uint8_t head[EXTOLL_XBAR_QUEUES],
		/* first and last slot of each queue, by output * 4 + VC */
		tail[EXTOLL_XBAR_QUEUES];
	uint8_t accept; /* last output whose grant was accepted */
	/* Output and outgoing VC of the last packet on each incoming VC. */
	uint8_t out[EX_VCS], vc_out[EX_VCS];
	struct extoll_xbar_open open[EX_VCS];
	uint32_t spacing; /* least cycles between two cells so far */
	uint64_t pushed;  /* arrival cycle of the last cell */
};

enum {
	EXTOLL_XBAR_CELLS,
	EXTOLL_XBAR_PACKETS,
	EXTOLL_XBAR_ILLEGAL,
	EXTOLL_XBAR_NO_PORT,
	EXTOLL_XBAR_VOIDS,
	EXTOLL_XBAR_CONFLICTS,
	EXTOLL_XBAR_SPACING, /* set by ops.sample, like EXTOLL_XBAR_VCS */
	EXTOLL_XBAR_VCS,
	/* The counters from here on are set by extoll_xbar_link_counts. */
	EXTOLL_XBAR_RETRIES,
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
	/* first member, because ex_place() casts the state */
	struct ex_place place;
	struct weft_comp *comp;
	uint64_t armed;	     /* cycle of the pending event, or WEFT_NEVER */
	weft_time_t armed_t; /* time of the event at `armed` */
	uint16_t busy;	     /* mask of inputs with cells in flight */
	uint16_t asked;	     /* mask of outputs that queue heads request */
	/* mask of outputs with a new request or a sent cell, since the last
	 * decision began */
	uint16_t fresh;
	uint32_t datelines; /* mask of ports with a dateline */
	/* by input in `busy`: cycle at which its next cell is seen */
	uint64_t seen[EX_PORTS];
	/* by input: cycle from which its RAM can be read */
	uint64_t read_free[EX_PORTS];
	uint64_t grant_at[EX_PORTS]; /* by output: earliest grant */
	const struct cell_channel *peer[EX_PORTS];
	struct topo_here here;
	struct extoll_xbar_out out[EX_PORTS];
	struct extoll_xbar_in in[EX_PORTS];
	struct cell_channel ep[EX_PORTS];
	/* parameters: */
	struct weft_clock clock;
	uint32_t width, dateline, links;
	uint32_t gap, cell_flits, slots, reserved, window;
	uint32_t t_route, t_cross, t_lp_out, t_lp_in, t_sync, mgt, mgt_ui;
	uint32_t t_transit;
	uint32_t refresh, ack_every, ack_idle, timeout, attempts;
	double ppm;
	uint32_t node;
	bool store_forward, train, hap, hash_order;
	/* packets with a hash, in order of arrival: */
	struct extoll_xbar_turn *turn;
	uint32_t n_turn, max_turn;
	/* Queues whose first packet still has t_transit cycles to wait before
	 * it may request. */
	struct {
		VEC(struct extoll_xbar_held);
	} held;
	/* Table routing without a topology: output by destination. Otherwise
	 * NULL. */
	uint8_t *table;
	uint32_t n_table;
};

/* Returns the output of the packet whose SOP cell arrived at `in`. Consumes one
 * nibble of its route. Sets skip, flits and vc_out of the cell. If the route
 * names no valid output, counts the packet and returns EXTOLL_XBAR_NONE. */
uint32_t extoll_xbar_route(struct extoll_xbar *x, uint32_t in, struct ecell *c);
/* Returns the output of a table-routed SOP cell without side effects. Returns
 * EXTOLL_XBAR_NONE for other cells. */
uint32_t extoll_xbar_peek(const struct extoll_xbar *x, const struct ecell *c);
/* ops.route: stores a table of outputs by destination. Returns 0, or a negative
 * errno with a message. */
int extoll_xbar_set_table(struct weft_comp *c, uint32_t in, uint32_t path,
			  const uint32_t *to, uint32_t n, struct weft_err *err);

/* crossbar_queues.c: returns true if the cell may request its output once it is
 * at the head of its queue. */
bool extoll_xbar_may_ask(const struct extoll_xbar_in *in,
			 const struct ecell *c);
/* Puts the cell in `slot` of input i into the queue for output o. */
void extoll_xbar_queue_push(struct extoll_xbar *x, uint32_t i, uint32_t o,
			    uint32_t slot);
/* Lets packets whose transit time has ended request their outputs. Returns the
 * next cycle at which a transit time ends, or WEFT_NEVER. */
uint64_t extoll_xbar_queue_held(struct extoll_xbar *x, uint64_t cycle);
/* Updates the counts after a cell has left its queue, and lets cells that
 * waited for this cell request their outputs. */
void extoll_xbar_queue_left(struct extoll_xbar *x, uint32_t i,
			    const struct ecell *c);
/* Removes the cell at the head of queue (o, bit). */
void extoll_xbar_queue_pop(struct extoll_xbar *x, uint32_t i, uint32_t o,
			   uint32_t bit);
/* crossbar_order.c: adds the packet of this cell to the order of packets with a
 * hash. Has no effect if the packet has no hash or is in the order already. */
void extoll_xbar_turn_add(struct extoll_xbar *x, uint32_t i,
			  const struct ecell *c);
/* Returns true if the packet of this cell has no hash, or no packet with the
 * same output, VC and hash precedes it. */
bool extoll_xbar_turn_is(struct extoll_xbar *x, uint32_t i,
			 const struct ecell *c);
/* Removes the packet of this cell from the order. Returns true if another
 * packet of its hash remains, and stores the first such packet in *next. */
bool extoll_xbar_turn_drop(struct extoll_xbar *x, uint32_t i,
			   const struct ecell *c,
			   struct extoll_xbar_turn *next);
/* extoll_xbar_tell_queues() reports to listeners the number of queued cells.
 * extoll_xbar_tell_cell() reports that a cell leaves input i through output o
 * in the cycles `from` to `to`. */
WEFT_COLD void extoll_xbar_tell_queues(const struct extoll_xbar *x);
WEFT_COLD void extoll_xbar_tell_cell(const struct extoll_xbar *x, uint32_t i,
				     uint32_t o, uint64_t from, uint64_t to);
/* ops.waiting: reports the cells in the queues for an output. */
void extoll_xbar_waiting(struct weft_comp *c, uint32_t port,
			 struct weft_waiting *w);
/* cell_channel_ops.gone: drops a void cell from its queue */
void extoll_xbar_gone(void *own, struct cell_channel *ep, uint32_t slot);
/* Sends an event of a link to the NIC beside the crossbar. lp is the link port,
 * or CELL_CHANNEL_NEWS_XBAR for the crossbar itself. */
void extoll_xbar_news(struct extoll_xbar *x, uint32_t lp,
		      enum cell_channel_link what);
/* cell_channel_ops.link: passes the event on to the NIC */
void extoll_xbar_link(void *own, struct cell_channel *ep,
		      enum cell_channel_link what);
/* Updates the counters from EXTOLL_XBAR_RETRIES on. */
void extoll_xbar_link_counts(struct extoll_xbar *x);

/* crossbar_tables.c: return the settings of link ports and of internal ports,
 * computed from the parameters. */
struct cell_channel_cfg extoll_xbar_cfg_link(const struct extoll_xbar *x);
struct cell_channel_cfg extoll_xbar_cfg_internal(const struct extoll_xbar *x);
/* Returns 0, or -EINVAL with a message if the cells of a network port do not
 * suit the crossbar. */
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

/* Round-robin arbiter of 4.2. Returns the bit of req that wins after the last
 * winner. req is not 0. */
static inline uint32_t extoll_xbar_arbiter(uint64_t req, uint32_t last)
{
	uint64_t masked = req & (last >= 63 ? 0 : ~0ULL << (last + 1));

	return (uint32_t)__builtin_ctzll(masked ? masked : req);
}

#endif
