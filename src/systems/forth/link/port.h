/* SPDX-License-Identifier: Apache-2.0 */
/* One end of a FORTH link: transmit and receive machines, framing, credits
 * (forth.md 4.7 to 4.12, 5). The NIC's network interface, every switch port and
 * the traffic generator embed a struct forth_port.
 *
 *            owner                    link end                     cable
 *   next() / forth_port_tx_commit  ->  SOP, credits, packet  ->  weft_port_send
 *   packet()                  <-  receive machine       <-  forth_port_arrive
 *   forth_port_fwd, forth_port_fwd_ramp  ->  F counters  ->  credits to peer
 *
 * Time is counted in cycles of the NET clock `clk` of this end. A cycle number
 * names a clock edge. The time of a frame is the time of its delimiter word.
 *
 * Credits. The credits that this end owes its peer are a list of (cycle, lane,
 * value): "from that cycle on F[11:5] of that lane may be on the line".
 * Credit-only frames are computed late, to avoid an event for each frame:
 * before this end starts a packet, when the peer calls forth_port_tx_ready, or
 * in an event while the peer waits for credits or the line carries real frames.
 * A credit that was put on the line lies in the receiver's inbox with the cycle
 * at which it takes effect. With port.needs_frames every transmission is a real
 * frame, and the receiver reads credits from the frames. A listener
 * (port.listener) is notified of the same frames (listen.c). */
#ifndef SYSTEMS_FORTH_LINK_PORT_H
#define SYSTEMS_FORTH_LINK_PORT_H

#include "base/ring.h"
#include "systems/forth/link/wire.h"
#include "weft/sim.h"

#define FORTH_PORT_LINKS_MAX 4

/* ---- the cable: class forth.link ---- */

struct forth_link {
	struct weft_link_state head;
	/* line rate in bit/s after 8b/10b, 32 bits per NET cycle */
	uint64_t rate;
	uint32_t t_ser;	   /* NET cycles from serialiser to deserialiser */
	weft_time_t cable; /* additional flight time */
	/* both receivers are out of sync at time 0, as after power-up */
	bool powerup;
	struct weft_clock clk; /* rate / 32 */
};

extern const struct weft_class weft_class_forth_link;
/* names of the cable's class and the gateway's class, for routed networks
 * (cable.c) */
extern const struct weft_network_parts forth_network_parts;

/* Returns the NET clock of the cable at p: rate/32 of its forth.link, or 78.125
 * MHz when the cable has none. Valid once p is connected. */
struct weft_clock forth_port_net_clock(const struct weft_port *p);

/* ---- configuration by the owner ---- */

struct forth_port;

struct forth_port_cfg {
	/* number of ports that are bundled byte by byte: 1, 2 or 4 */
	uint32_t links;
	/* enum forth_layout. The packed layout needs links = 1 */
	uint32_t layout;
	/* number of credit flows for which this end returns credits: 1, or one
	 * per crosspoint */
	uint32_t rx_lanes;
	/* capacity in link words of this end's buffer for each lane, which the
	 * peer uses as its B */
	uint32_t rx_cap;
	uint32_t tx_cap; /* B in link words, or 0 to use the peer's rx_cap */
	/* largest payload in bytes of packets that this end creates, or 0 for
	 * an end that only forwards */
	uint32_t max_payload;
	bool one_size; /* all packets of this end have the size max_payload */
	/* payload bytes to which shorter payloads are padded, or 0 for no
	 * padding */
	uint32_t min_payload;
	/* cycles between refreshes of credits, 1024 in forth.md, or 0 for no
	 * refresh */
	uint32_t refresh_cc;
	uint32_t t_crtx, t_crrx; /* 3, 2 */
	/* largest number of extra credit words in a frame */
	uint32_t credit_words;
	int32_t ppm;	       /* deviation of this end's crystal */
	bool credit_filter;    /* ignore implausible credits (5.4) */
	bool crc32_complement; /* */
	/* Words of a discarded packet return as credits (5.7). A NIC sets this.
	 * A switch does not: it only counts the words, because it cannot know
	 * the lane of the packet. */
	bool return_discards;
	/* Table that maps a packet to a lane of this end's buffer. The index is
	 * forth_way(path, flow), and the table has path_mask + 1 rows of
	 * FORTH_FLOWS. If NULL, the lane is the flow, or 0 if there is one
	 * lane. The table may change until forth_port_start(). */
	const uint8_t *route;
	uint32_t path_mask;
	/* number of paths behind this port among which a sender may choose, or
	 * 0 for no choice. The first path is path 1 */
	uint32_t paths;
	/* Cycles without credits after which the credits of a lane are reset on
	 * both sides (credit_resync.c), or 0 to never reset them. */
	uint32_t resync_cc;
};

/* Returns the configuration that forth.md specifies for one link. The owner
 * then changes single values. */
struct forth_port_cfg forth_port_cfg_default(void);

/* A packet to send. */
struct forth_port_pkt {
	uint64_t header;
	/* the payload, whose reference the link end takes over */
	struct weft_slice payload;
	uint64_t trace_id;
	/* If not NULL, this frame is sent with its own header and payload, and
	 * the members header, payload and trace_id are unused. */
	struct weft_frame *f;
	/* True if the owner has no packet behind this one. The owner then calls
	 * forth_port_kick() as soon as it has another packet. If false, the
	 * link end calls next() again as soon as the line is free. */
	bool last;
};

/* Errors of a packet that was delivered. */
enum { FORTH_PORT_BODY_BAD = 1, FORTH_PORT_TRUNC = 2 };

struct forth_port_rx {
	/* cycle of the delimiter, on the clock of this end */
	uint64_t cycle;
	uint32_t shift; /* number of extra credit words before the header */
	uint32_t words; /* words on the wire, delimiter and credits included */
	/* FORTH_PORT_* bits. They are known at the start of the packet, but the
	 * owner acts on them only at the end of the packet, where a receiver
	 * checks the CRC. */
	uint32_t bad;
};

struct forth_port_ops {
	/* Called in phase 1 when the line is free at this edge. Fills *p with
	 * the packet that starts now and returns true, or returns false. The
	 * owner calls forth_port_credit() for each packet that could start. If
	 * one of these packets lacks credits, the link end calls next() again
	 * once the credits have arrived. When a packet becomes ready later, the
	 * owner calls forth_port_kick(). */
	bool (*next)(void *own, struct forth_port *l, struct forth_port_pkt *p);
	/* Called when the packet leaves: its delimiter is at cycle `start`, its
	 * header word at start + 1 + shift, and the line is free at `end`. */
	void (*sent)(void *own, struct forth_port *l, uint64_t start,
		     uint64_t end, uint32_t shift);
	/* Called in phase 0 when the delimiter of a packet with a good header
	 * CRC arrives (headers are checked 2 + shift or 3 + shift cycles
	 * later). The callback takes over f, which has the header in u[0] and
	 * the payload without padding. */
	void (*packet)(void *own, struct forth_port *l, struct weft_frame *f,
		       const struct forth_port_rx *rx);
	/* Called on a header CRC error (NetPcktError). May be NULL. */
	void (*bad_header)(void *own, struct forth_port *l, uint64_t cycle);
	/* Called while forth_port_watch() is on. If `in` is false, this end has
	 * put a credit on its line at `cycle`. If `in` is true, a credit of the
	 * peer takes effect at `cycle`. The call may come later than that
	 * cycle, because credits are computed late. forth_port_counts() makes
	 * all calls up to now. */
	void (*credit)(void *own, struct forth_port *l, uint64_t cycle,
		       uint16_t credit, bool in);
	/* Returns whether the receive buffer holds no packet of this line. May
	 * be NULL if the owner forwards packets at once (forth_port_fwd). */
	bool (*drained)(void *own, struct forth_port *l);
	/* Called in phase 1 when a lane that forth_port_tx_ready() found short
	 * of credits can send again. If `woken` is NULL, the link end calls
	 * next() instead. */
	void (*woken)(void *own, struct forth_port *l);
};

/* Counters of a link end. The NIC shows them as registers. */
struct forth_port_count {
	uint64_t out_cycles;			  /* 0x80 */
	uint64_t in_cycles;			  /* 0x84 */
	uint64_t bad_char[FORTH_PORT_LINKS_MAX];  /* 0x88 */
	uint64_t sync_loss[FORTH_PORT_LINKS_MAX]; /* 0x8C */
	uint64_t disparity[FORTH_PORT_LINKS_MAX]; /* 0x90 */
	uint64_t tx_full[FORTH_PORT_LINKS_MAX];	  /* 0x94: always 0 */
	uint64_t tx_packets;			  /* 0xA8 */
	/* 0xAC: qwords sent, with header, payload and CRC word */
	uint64_t tx_qwords;
	uint64_t rx_packets;	/* 0xB0 */
	uint64_t rx_qwords;	/* 0xB4: qwords, header and payload */
	uint64_t header_crc;	/* 0xB8 */
	uint64_t align;		/* 0xBC */
	uint64_t backpressure;	/* 0xC0 */
	uint64_t body_crc;	/* 0x68 */
	uint64_t header_align;	/* 0x6C */
	uint64_t credit_parity; /* 0x140 */
	uint64_t credit_leak;	/* 0x144: words never returned */
	/* credits sent and received, refreshes included */
	uint64_t credits_out, credits_in;
	/* credits ignored, because the lane is unknown or the value
	 * implausible */
	uint64_t credits_odd;
	/* packets that were lost because they arrived out of sync */
	uint64_t unsync;
	uint64_t resyncs; /* lanes that were resynchronised (credit_resync.c) */
	uint64_t deaf; /* packets of the line that were dropped in loopback */
	/* frames lost because the delays of the links differ too much */
	uint64_t skew_full;
};

/* ---- the link end ---- */

struct forth_port_lane_tx {
	uint16_t sent, acked; /* T, F' */
	/* charge of the smallest packet that waits for credits, or 0 if none
	 * waits */
	uint16_t need;
};

struct forth_port_lane_rx {
	/* F, counting all words whose time of forwarding is known, even if that
	 * time is in the future */
	uint16_t fwd;
	uint8_t value; /* F[11:5] that the line may carry now */
	uint8_t given; /* value last sent */
};

struct forth_port_due { /* F[11:5] of a lane, from a cycle on */
	uint64_t cycle;
	uint8_t lane, value;
};

struct forth_port_inbox { /* credit in flight that counts from `cycle` on */
	uint64_t cycle;
	/* the credit, or 0 in an entry for a credit-only frame without credits,
	 * which counts `words` only */
	uint16_t credit;
	/* number of words of a credit-only frame in the entry of the frame's
	 * first credit, otherwise 0 */
	uint16_t words;
};

/* Number of invalid codes within 16 symbols that ends synchronisation (4.9). */
enum { FORTH_PORT_BAD_CODES = 4 };

struct forth_port_mask {
	uint64_t w[FORTH_FLOWS / 64];
};

struct forth_port {
	/* transmitter */
	struct weft_comp *comp;
	struct weft_port *port; /* first of the cfg.links ports of the bundle */
	struct forth_port *peer; /* other end of the line, the end itself for a
				    loop, or NULL if not connected */
	/* first cycle in which the line carries no transmission */
	uint64_t line_free;
	/* cycle in which the latest transmission began, from which the refresh
	 * period counts */
	uint64_t last_start;
	uint64_t kick; /* cycle at which next() is to be called, or NEVER */
	/* cycle since which a packet lacks credits, or NEVER */
	uint64_t blocked;
	/* latest cycle up to which this end has pulled credits from the peer */
	uint64_t pulled;
	/* cycle at which credits suffice for a packet that waits, or NEVER */
	uint64_t wake_at;
	struct forth_port_lane_tx *tx;
	struct { /* inbox: credits in flight, ordered by cycle */
		RING(struct forth_port_inbox);
	} in;
	uint32_t tx_lanes, tx_cap;
	/* lanes for which a packet waits (need != 0) */
	struct forth_port_mask wait;
	/* credits that this end returns */
	struct forth_port_lane_rx *rx;
	struct { /* by cycle */
		RING(struct forth_port_due);
	} due;
	uint32_t rr_active, rr_refresh;
	/* latest time for which the owner has announced forwarded words */
	weft_time_t fwd_last;
	/* lanes whose F[11:5] differs from the value last sent */
	struct forth_port_mask active;
	/* the line */
	struct weft_clock clk;
	uint64_t word_fs; /* period of clk in fs, rounded down */
	/* 2^64 / period of clk if the period is a whole number of fs, otherwise
	 * 0 */
	uint64_t inverse;
	weft_time_t delay; /* delay of the slowest link of the bundle */
	/* time by which the fastest link is ahead of the slowest */
	weft_time_t skew;
	uint64_t delay_cc; /* the delay in cycles, if same_clk */
	/* both ends share their clock edges, and the delay is whole cycles */
	bool same_clk;
	bool needs_frames, loop, lost_sync, clk_set, watched;
	/* This end and its loop end share one transmitter. While `muted` is
	 * true, this end does not have the transmitter and sends only
	 * commas. */
	bool muted;
	/* told: a listener hears the frames of this end. telling: a
	 * notification of the listener is in progress */
	bool told, telling;
	uint32_t tag;
	struct weft_timer timer;
	const struct forth_port_ops *ops;
	void *own;
	struct forth_port_cfg cfg;
	struct forth_port_count count;
	/* receiver of damaged or bundled frames */
	/* cycle at which the latest received frame has ended */
	uint64_t rx_quiet;
	/* bad_at: for each link, positions of the latest invalid codes, as
	 * cycle * 4 + number of the symbol in its word. n_bad: for each link,
	 * number of invalid codes since sync */
	uint64_t bad_at[FORTH_PORT_LINKS_MAX][FORTH_PORT_BAD_CODES];
	uint32_t n_bad[FORTH_PORT_LINKS_MAX];
	/* per link of a bundle: shares that wait for the shares of the other
	 * links, oldest first */
	struct weft_frame *line_q[FORTH_PORT_LINKS_MAX];
	struct weft_frame *loop_q;
	/* back: loop end that belongs to this cable end, or NULL. line: cable
	 * end that belongs to this loop end, or NULL */
	struct forth_port *back, *line;
	struct forth_port_epoch *epoch; /* NULL without resync */
	uint16_t seq;
};

/* Binds ports port..port+links-1 of c to l and publishes l as their iface.
 * Called from ops.init. `tag` is the event tag that the owner forwards to
 * forth_port_event(). The tag should be larger than the tags of the owner's own
 * events: then the link end runs after the owner at equal times and sees the
 * packets that the owner has just made ready. Returns 0 or an error. */
int forth_port_init(struct forth_port *l, struct weft_comp *c,
		    struct weft_port *port, const struct forth_port_cfg *cfg,
		    const struct forth_port_ops *ops, void *own, uint32_t tag,
		    struct weft_err *err);
/* Connects this end to its peer: sets clock, B and lanes. Called from
 * ops.start, because peers are known then. Returns 0 or an error. */
int forth_port_start(struct forth_port *l, struct weft_err *err);
void forth_port_fini(struct forth_port *l);
/* Checks that the peer's buffer suffices for packets of `bytes` payload. If it
 * did not, such packets would wait for credits for ever (5.2). Returns 0 or an
 * error. */
int forth_port_room_check(const struct forth_port *l, uint32_t bytes,
			  bool one_size, struct weft_err *err);

/* Receives a frame from ops.arrive on link j of the bundle. Loopback posts
 * pokes under tag n_ports + index of the first port. For such a poke the owner
 * calls this function with the arguments (l, 0, NULL). */
void forth_port_arrive(struct forth_port *l, uint32_t j, struct weft_frame *f);
/* Handles ops.event with the tag of the link. */
void forth_port_event(struct forth_port *l);

/* Calls ops.next at the first edge >= t at which the line is free. */
void forth_port_kick(struct forth_port *l, weft_time_t t);
/* Returns, inside ops.next, whether a packet of `qwords` may start at this
 * edge. `way` is forth_way(path, flow), which is the flow alone for path 0. If
 * credits are missing, the link end calls ops.next again once they have
 * arrived. */
bool forth_port_credit(struct forth_port *l, uint32_t way, uint32_t qwords);

/* Returns the first cycle >= cycle at which the credits known now suffice for a
 * packet of this header and `bytes` payload on the wire. If these credits do
 * not suffice, returns WEFT_NEVER, and the link end calls ops.woken when enough
 * credits have arrived. Only a switch calls this function, because a switch
 * schedules its packets itself and uses neither kick nor next. */
uint64_t forth_port_tx_ready(struct forth_port *l, uint64_t header,
			     uint32_t bytes, uint64_t cycle);
/* Returns the first cycle >= cycle at which the line is free of credit frames.
 * Computes the frames on the line before that cycle, so that they are final. */
uint64_t forth_port_tx_slot(struct forth_port *l, uint64_t cycle);
/* Starts a packet at `cycle` (>= now), a result of forth_port_tx_slot().
 * Credits must suffice. Takes over the reference to the payload. Returns the
 * cycle at which the line is free again. */
uint64_t forth_port_tx_commit(struct forth_port *l,
			      const struct forth_port_pkt *p, uint64_t cycle);

/* Adds `words` to F of `lane` at time t (>= now). The times of calls for one
 * lane must not decrease. */
void forth_port_fwd(struct forth_port *l, uint32_t lane, uint32_t words,
		    weft_time_t t);
/* Adds `words` to F of `lane` in steps of `step` at edges first+1, first+2 ..
 * of clk. The last step may be smaller. */
void forth_port_fwd_ramp(struct forth_port *l, uint32_t lane, uint32_t words,
			 uint32_t step, const struct weft_clock *clk,
			 uint64_t first);

/* Notes that the owner drops a delivered packet and does not return its
 * credits. */
void forth_port_dropped(struct forth_port *l, uint32_t lane, uint32_t words);

/* Returns whether this end is in sync, so that it receives and may send
 * (4.9). */
bool forth_port_in_sync(const struct forth_port *l);

/* Switches loopback on or off (loopback.c). In loopback this end receives its
 * own packets, and the cable carries commas. The loop is a separate link end
 * with its own credits. The functions of ops get the loop end for packets that
 * it sends or receives. forth_port_fwd needs the end at which the packet
 * arrived. */
void forth_port_loopback(struct forth_port *l, bool on);
/* Returns the end that has the transmitter: l, or its loop end. */
static inline struct forth_port *forth_port_active(struct forth_port *l)
{
	return l->muted ? l->back : l;
}
/* Returns the end on the cable that belongs to loop end l, or l itself. */
static inline struct forth_port *forth_port_line(struct forth_port *l)
{
	return l->line ? l->line : l;
}
/* Sets T = F = F' = 0 on this side (port reset). The caller resets both sides
 * while nothing is in flight, because otherwise the counters differ for
 * ever. */
void forth_port_credit_reset(struct forth_port *l);

/* Returns the counters, brought up to the present time. */
struct forth_port_count *forth_port_counts(struct forth_port *l);
/* Returns the time for which packets lacked credits, the counter
 * `backpressure`. */
weft_time_t forth_port_blocked(struct forth_port *l);

/* Switches calls of ops.credit on or off. */
void forth_port_watch(struct forth_port *l, bool on);

/* Returns the payload bytes on the wire of a packet of `qwords`, padding
 * included. */
static inline uint32_t forth_port_wire_len(const struct forth_port *l,
					   uint32_t qwords)
{
	uint32_t n = qwords * 8;

	return n < l->cfg.min_payload ? l->cfg.min_payload : n;
}
static inline uint32_t forth_port_charge(const struct forth_port *l,
					 uint32_t qwords)
{
	return forth_charge(l->cfg.links, forth_port_wire_len(l, qwords));
}
/* Returns the wire words of a packet of `qwords` with its delimiter, without
 * extra credit words. */
static inline uint32_t forth_port_words(const struct forth_port *l,
					uint32_t qwords)
{
	return forth_words(l->cfg.layout, l->cfg.links,
			   forth_port_wire_len(l, qwords));
}
/* Returns the number of paths from which a sender into this link may choose
 * (cfg.paths). */
static inline uint32_t forth_port_paths(const struct forth_port *l)
{
	return l->peer ? l->peer->cfg.paths : 0;
}
/* Returns the lane whose credits a packet with this path and flow needs. */
static inline uint32_t forth_port_lane(const struct forth_port *l, uint32_t way)
{
	if (l->tx_lanes == 1)
		return 0;
	return l->peer->cfg.route ? l->peer->cfg.route[way] : way;
}
static inline uint32_t forth_port_lane_of(const struct forth_port *l,
					  uint64_t header)
{
	if (l->tx_lanes == 1)
		return 0;
	return forth_port_lane(l,
			       forth_hdr_way(header, l->peer->cfg.path_mask));
}
/* Returns weft_clock_cycle(&l->clk, t). Avoids the division where possible,
 * because every frame needs this function. */
static inline uint64_t forth_port_cycle(const struct forth_port *l,
					weft_time_t t)
{
	uint64_t d, q;

	if (!l->inverse || t <= l->clk.phase)
		return weft_clock_cycle(&l->clk, t);
	d = t - l->clk.phase + l->clk.num - 1;
	q = (uint64_t)((unsigned __int128)d * l->inverse >> 64);
	return q + (d - q * l->clk.num >= l->clk.num);
}
static inline uint64_t forth_port_now(const struct forth_port *l)
{
	return forth_port_cycle(l, weft_now(l->comp));
}

#endif
