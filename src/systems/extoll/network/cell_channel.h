/* SPDX-License-Identifier: Apache-2.0 */
/* One end of an EXTOLL cell channel: cells, credits, acknowledgements
 * (extoll.md 3.10, 4.4, 4.7). The crossbar embeds nine of them. Network ports
 * of NICs and of traffic components embed one each.
 *
 *   owner                  cell channel               peer's owner
 *   cell_channel_can,
 *   cell_channel_commit    -> line, peer's slot ->    ops.wake or ops.cell,
 *                                                     cell_channel_take,
 *   cell_channel_can       <- credits <-              cell_channel_release
 *
 * There are two kinds of channel. A channel between a network port and the
 * crossbar has no framing, and its credits take no time on the line. A channel
 * between two link ports has framing, in-band control cells and a replay
 * window. Times are numbers of edges of this end's core clock ("cycles").
 *
 * Reference points. The line is planned t_out cycles ahead. At cycle g this end
 * decides which cell starts on the line at g + t_out. A control cell that is
 * ready by g + t_out has precedence. Otherwise this end may grant and commit a
 * data cell at g. At g + t_out the cell's start flit is on the line, or without
 * framing its first flit. The peer's owner sees the cell after the flight time
 * (ops.cell, cell_channel_take).
 *
 * Control cells are not events. They depend only on the credits and ACKs that
 * this end owes and on the cells it sends, so that this end computes them when
 * it commits a cell or when the peer reads them. Control cells that are ready
 * at or before g + t_out are known at g, because more than t_out cycles pass
 * from the grant that frees a slot until the slot's credit is ready.
 *
 * Framed lines (a fault sits on the cable, or the link may go down): every cell
 * and control cell is a real frame with sequence numbers, CRC and replay
 * (cell_channel_framed.c). Without errors, every cell starts and ends at the
 * cycles at which it would on a line without frames. A listener alone does not
 * make a line framed, because this end builds equal frames for the listener
 * (cell_channel_listen.c). */
#ifndef SYSTEMS_EXTOLL_NETWORK_CELL_CHANNEL_H
#define SYSTEMS_EXTOLL_NETWORK_CELL_CHANNEL_H

#include "base/ring.h"
#include "systems/extoll/network/wire.h"
#include "weft/sim.h"

/* ---- the cable: class extoll.cable ---- */

struct extoll_cable {
	struct weft_link_state head; /* its delay is the flight time only */
	double length;		     /* m */
	weft_time_t per_metre;
};
extern const struct weft_class weft_class_extoll_cable;

/* ---- parameters fixed by the owner ---- */

struct cell_channel_cfg {
	struct weft_clock clk; /* core clock of this end */
	uint32_t width;	       /* enum ex_width */
	uint32_t overhead;     /* flits of framing per cell: 0, 2 or 5 */
	/* Flits of a control cell. 0 = credits take no time on the line. */
	uint32_t ctl_flits;
	uint32_t gap; /* least cycles between cell starts, 4 */
	/* flits of a full cell of a network port; 0 = cells of 64 bytes */
	uint32_t cell_flits;
	uint32_t t_out; /* cycles from grant to start of cell on the line */
	/* latency of both transceivers and the codec in half cycles, 41 */
	uint32_t t_ser;
	/* latency of the receive FIFO in half cycles, 10 */
	uint32_t t_sync;
	/* cycles from the first flit until the owner sees a cell */
	uint32_t t_in;
	/* cycles from receipt of a control cell to its effect, 10 */
	uint32_t t_ctl_in;
	/* cycles from a freed slot until its credit is ready */
	uint32_t t_credit;
	/* cycles from the end of a cell until its ACK is ready */
	uint32_t t_ack;
	uint32_t slots; /* cells that this end can hold, 64 */
	/* slots reserved for each VC, 8. All VCs share the remaining slots
	 * (the pool) */
	uint32_t reserved;
	uint32_t window;    /* most cells without ACK, 32; 0 = no limit */
	uint32_t ack_every; /* cells from one ACK to the next, 4 */
	/* idle cycles after which an ACK is due although fewer than ack_every
	 * cells wait for it, 64 */
	uint32_t ack_idle;
	uint32_t refresh; /* cycles between refreshes, 256; 0 = none */
	uint32_t timeout; /* cycles without progress before a replay, 1024 */
	/* replays or trainings before the link goes down, 15 */
	uint32_t attempts;
	bool link;	    /* link port (framing, control, replay) */
	bool store_forward; /* no cut-through at this input (5.6) */
	/* The link trains at the start (5.7). Otherwise it is ready at once. */
	bool train;
	uint32_t node; /* own node number, sent when a link comes up */
};
/* Return the values of the specification for a link port and for an internal
 * channel. */
struct cell_channel_cfg cell_channel_cfg_link(uint32_t width,
					      const struct weft_clock *clk);
struct cell_channel_cfg cell_channel_cfg_internal(uint32_t width,
						  const struct weft_clock *clk);

/* ---- a cell ---- */

enum {
	ECELL_SOP = 1,
	ECELL_EOP = 2,
	/* void cell: dropped, since its good copy follows (5.6) */
	ECELL_VOID = 4,
	ECELL_GONE = 8, /* void cell whose forwarding has not begun */
	/* SOP of a table-routed packet: the fields `dest` to `dim` of the cell
	 * hold the route */
	ECELL_TABLE = 16,
};

struct ecell {
	struct weft_frame
		*pkt;	/* owned by the holder of the EOP cell; a void cell has
			 * a copy of its own, which lives as long as its slot
			 * (cell_channel_put, cell_channel_release) */
	uint64_t cycle; /* cycle at which the owner sees the first flit */
	/* Index of the cell's first flit in the packet. Routing flits do not
	 * count. */
	uint16_t first;
	uint8_t flits; /* flits in the cell now, routing flits included */
	uint8_t flags; /* ECELL_* */
	uint8_t vc;    /* VC on which it arrived */
	/* number of routing flits that this crossbar has removed; each removed
	 * flit leaves an idle cycle on the line */
	uint8_t skip;
	uint8_t vc_out; /* outgoing VC, set by the owner */
	uint8_t next;	/* next slot in the owner's list, 0xff = end */
	/* With ECELL_TABLE: copies of the fields of ex_meta with these
	 * names. */
	uint16_t dest;
	uint8_t port, cls, dim;
	uint8_t serial; /* number of the packet in its VC, set and used by the
			   owner */
	uint8_t hint;	/* for the owner: output + 1, or 0 if not known yet */
};

/* Events of a link (5.7, 4.7). */
enum cell_channel_link {
	CELL_CHANNEL_LINK_LOST, /* alignment is lost */
	/* all attempts to resend or train have failed; the link keeps its
	 * credits */
	CELL_CHANNEL_LINK_DOWN,
	CELL_CHANNEL_LINK_UP,	 /* ready again after LOST or DOWN */
	CELL_CHANNEL_LINK_ERROR, /* a cell arrived damaged and is resent */
};
/* First tag of weft_post() from a crossbar to the NIC beside it. */
enum { CELL_CHANNEL_NEWS = 0x100 };
/* Value of lp for a notification that the crossbar itself has dropped a
 * packet. */
enum { CELL_CHANNEL_NEWS_XBAR = 7 };
#define CELL_CHANNEL_NEWS_TAG(lp, what) (CELL_CHANNEL_NEWS + (what)*8u + (lp))
#define CELL_CHANNEL_NEWS_LP(tag)	((tag) % 8u)
#define CELL_CHANNEL_NEWS_WHAT(tag)	(((tag)-CELL_CHANNEL_NEWS) / 8u)

struct cell_channel;
struct cell_channel_ops {
	/* Makes sure that an event of the owner runs at `cycle`, because a
	 * credit or an ACK may arrive then. Called before that cycle. */
	void (*wake)(void *own, struct cell_channel *ep, uint64_t cycle);
	/* Makes sure that an event of the owner runs at `cycle`, the cycle at
	 * which the owner sees the cell that was sent last. If `cell` is NULL,
	 * the cell channel calls `wake` instead of `cell`. */
	void (*cell)(void *own, struct cell_channel *ep, uint64_t cycle);
	/* Notifies the owner that the cell in `slot` is void and that
	 * forwarding of the cell has not begun. The owner drops the cell with
	 * cell_channel_release(). May be NULL. */
	void (*gone)(void *own, struct cell_channel *ep, uint32_t slot);
	/* Reports an event of the link. May be NULL. */
	void (*link)(void *own, struct cell_channel *ep,
		     enum cell_channel_link what);
};

struct cell_channel_count {
	/* Sent cells and their payload flits. cell_channel_counts() sets all
	 * fields up to `busy`. */
	uint64_t tx_cells, tx_flits;
	uint64_t tx_packets, rx_packets, rx_cells;
	uint64_t busy; /* cycles in which the line was not idle */
	uint64_t ctl_out, ctl_in;
	uint64_t acks, nacks, replays, timeouts, crc, code, seq, voids;
	uint64_t no_credit; /* cycles in which a cell waited for a credit */
	/* fifo: cells lost because the receive FIFO was full. */
	uint64_t downs, fifo;
};

/* Fields are sorted into cache lines of 64 bytes by use, because a large
 * network does not fit into a cache. */
struct cell_channel {
	/* used when a cell leaves: */
	struct cell_channel *peer; /* NULL = nothing connected */
	uint64_t line_free; /* first cycle at which the line is not allocated */
	uint64_t next_grant; /* earliest cycle for cell_channel_commit */
	/* Cycles from the start of a cell on the line until the peer's owner
	 * sees it. Valid if same_clk. */
	uint32_t way;
	/* Cycles from the last flit of a cell until the peer can send its ACK.
	 * Valid if same_clk. */
	uint32_t way_end;
	uint8_t used[EX_VCS]; /* credits in use: slots of the peer */
	uint8_t shared;	      /* used credits that come from the pool */
	uint8_t unacked;
	bool needs_frames, same_clk;
	/* copies from cfg of both ends: */
	uint8_t lim_reserved, lim_pool, lim_window, t_out, gap, overhead, ctl;
	bool far_whole; /* the peer's store_forward */
	uint64_t tx_packets;
	struct cell_channel_listener
		*listener; /* hears frames of this end, or NULL */
	/* fields that are used when a cell arrives and when its credit
	 * returns: */
	struct ecell *slot __attribute__((aligned(64)));
	void *own;
	const struct cell_channel_ops *ops;
	struct {
		RING(uint64_t);
		/* Credits that this end returns, sorted: cycle << 8 | vc. An
		 * in-band credit is ready at that cycle. A credit that is not
		 * sent in-band counts at the peer from that cycle on. */
	} due;
	/* cycles from start to effect of a control cell, if same_clk */
	uint32_t way_ctl;
	uint8_t n_slots;  /* slots allocated so far */
	uint8_t t_credit; /* as cfg */
	bool in_slow;	  /* copy of needs_frames in this cache line */
	bool aside;	  /* credits travel beside the data (ctl is 0) */
	/* Lists of slots, 0xff = empty: first free slot, first and last cell in
	 * flight to this end. */
	uint8_t free_slot, way_head, way_tail;
	uint8_t held;	  /* slots in use */
	bool listened;	  /* the peer's owner waits for a credit or ACK */
	uint8_t ack_owed; /* cells received, but not yet acknowledged */
	/* volume: */
	uint64_t tx_cells __attribute__((aligned(64)));
	uint64_t tx_flits, busy;
	/* link ports only: */
	uint8_t owed[EX_VCS]; /* in-band credits that are ready, but not sent */
	uint8_t refresh_vc;
	uint64_t next_refresh;
	uint64_t last_end; /* end cycle of the last cell that ack_owed counts */
	struct {
		RING(uint64_t);
	} end; /* cycles from which cells can be acknowledged, sorted */
	struct {
		RING(uint64_t);
		/* control cells to this end, sorted by effect: cycle << 16 |
		 * kind << 8 | n */
	} in;
	/* others: */
	struct weft_comp *comp;
	struct weft_port *port;
	struct cell_channel_framed *slow; /* framed only */
	struct cell_channel_cfg cfg;
	struct cell_channel_count count;
};

/* Sets up an end at port p. Copies cfg, but ops and own must outlive ep.
 * Returns 0, or -EINVAL with a message if slots or times contradict each
 * other. */
int cell_channel_init(struct cell_channel *ep, struct weft_comp *c,
		      struct weft_port *p, const struct cell_channel_cfg *cfg,
		      const struct cell_channel_ops *ops, void *own,
		      struct weft_err *err);
/* Connects this end with its peer. Called once all components are initialised.
 * Returns 0, also without a cable, or a negative errno with a message if the
 * two ends are incompatible. */
int cell_channel_start(struct cell_channel *ep, struct weft_err *err);
void cell_channel_fini(struct cell_channel *ep);
/* Frees the packets whose last cell is in flight from or to this end. If
 * `taken`, also frees the packets whose last cell the owner holds. Called at
 * the end of a run, when nothing else frees them. */
void cell_channel_abandon(struct cell_channel *ep, bool taken);

/* ---- sending ---- */

/* Returns the first cycle >= g (g >= now) at which a data cell may be
 * committed, because the line is free t_out cycles later. If the result is g,
 * it is final. If the result is later, a control cell that becomes ready
 * meanwhile may delay it further. */
uint64_t cell_channel_next(struct cell_channel *ep, uint64_t g);
/* Returns true if credits and replay window allow a cell on `vc` at cycle g (>=
 * now). Does not check the line. If the result is false, ops.wake announces the
 * cycle at which it may change. */
bool cell_channel_can(struct cell_channel *ep, uint32_t vc, uint64_t g);
/* Returns true if a slot at the peer is free for a cell on `vc`, or if the
 * credit for such a slot is in flight. Has no side effect. */
bool cell_channel_room(const struct cell_channel *ep, uint32_t vc);
/* Commits the cell at g. Requires cell_channel_can(vc) and cell_channel_next(g)
 * == g. The peer owns the packet once its EOP cell is committed. */
void cell_channel_commit(struct cell_channel *ep, const struct ecell *cell,
			 uint32_t vc, uint64_t g);

/* ---- receiving ---- */

/* Returns the cycle at which the owner sees the first cell in flight, or
 * WEFT_NEVER. */
static inline uint64_t cell_channel_seen(const struct cell_channel *ep)
{
	return ep->way_head == 0xff ? WEFT_NEVER : ep->slot[ep->way_head].cycle;
}
/* Takes the first cell in flight if the owner sees it by `cycle`. Returns its
 * slot, whose ecell.next the owner may use, or 0xff. */
uint32_t cell_channel_take(struct cell_channel *ep, uint64_t cycle);
/* Frees the slot at `cycle`, when the last flit of its cell has left or the
 * cell was void. Gives the peer a credit for the cell's VC, unless the cell was
 * damaged and is resent. */
void cell_channel_release(struct cell_channel *ep, uint32_t slot,
			  uint64_t cycle);

/* Returns the counters, updated to the present cycle. */
struct cell_channel_count *cell_channel_counts(struct cell_channel *ep);
/* Updates frames, words and busy time of the port (weft_port.out_*). The owner
 * calls it from ops.sample and ops.finish. */
void cell_channel_volume(struct cell_channel *ep);

static inline uint64_t cell_channel_now(const struct cell_channel *ep)
{
	return weft_clock_cycle(&ep->cfg.clk, weft_now(ep->comp));
}

/* ---- framed ---- */

/* Receives a frame on a framed port. Called by the owner's ops.arrive. Takes
 * ownership of f. */
void cell_channel_arrive(struct cell_channel *ep, struct weft_frame *f);
/* Handles events of a framed port that are due. Called by the owner's ops.event
 * for tag 1 + index of the port. Has no effect on other ports. */
void cell_channel_event(struct cell_channel *ep);

#endif
