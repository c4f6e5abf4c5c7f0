/* SPDX-License-Identifier: Apache-2.0 */
/* One end of a FORTH link: transmit and receive machines, framing, credits
 * (forth.md 4.7 to 4.12, 5). Embedded by the NIC's network interface, by every
 * switch port and by the traffic component.
 *
 *            owner                      flink                       cable
 *   next() / forth_port_tx_commit  ->  SOP, credits, packet  ->  weft_port_send
 *   packet()                  <-  receive machine       <-  forth_port_arrive
 *   forth_port_fwd, forth_port_fwd_ramp ->  F counters -> credits on this end's
 * line
 *
 * Time is counted in cycles of the NET clock `clk` of this end. A cycle number
 * names an edge. The time of a frame is that of its delimiter word.
 *
 * Credits. The credits that this end owes its peer are a list of (cycle, lane,
 * value): "from that cycle on F[11:5] of that lane may be on the line".
 * Credit-only frames are computed only when they can make a difference, to
 * avoid an event for each: before this end starts a packet, when the peer asks
 * (forth_port_tx_ready), or in an event of their own while the peer is blocked
 * or the port is framed. A credit that was put on the line lies in the
 * receiver's inbox with the cycle at which it counts. With port.needs_frames
 * every transmission is a real frame, and credits are taken from the frames. A
 * listener (port.listener) is notified of the same frames (listen.c). */
#ifndef SYSTEMS_FORTH_LINK_PORT_H
#define SYSTEMS_FORTH_LINK_PORT_H

#include "base/ring.h"
#include "systems/forth/link/wire.h"
#include "weft/sim.h"

#define FORTH_PORT_LINKS_MAX 4

/* ---- the cable: class forth.link ---- */

struct forth_link {
	struct weft_link_state head;
	uint64_t rate;	       /* bit/s after 8b/10b; 32 bits per NET cycle */
	uint32_t t_ser;	       /* NET cycles, serialiser to deserialiser */
	weft_time_t cable;     /* additional flight time */
	bool powerup;	       /* at time 0 both receivers are out of sync */
	struct weft_clock clk; /* rate / 32 */
};

extern const struct weft_class weft_class_forth_link;

/* Returns the NET clock of the cable at p: rate/32 of its forth.link, 78.125
 * MHz when there is none. Valid once p is connected. */
struct weft_clock forth_port_net_clock(const struct weft_port *p);

/* ---- configuration by the owner ---- */

struct forth_port;

struct forth_port_cfg {
	uint32_t links;	   /* ports bundled byte by byte: 1, 2 or 4 */
	uint32_t layout;   /* enum forth_layout; packed only with links = 1 */
	uint32_t rx_lanes; /* credit flows that we return: 1, or crosspoints */
	uint32_t rx_cap;   /* our buffer per lane in link words, the peer's B */
	uint32_t tx_cap;   /* B; 0 = the peer's rx_cap */
	uint32_t max_payload; /* of packets that this end creates, bytes; 0 =
			       * it only forwards */
	bool one_size;	      /* all packets have that size */
	uint32_t min_payload; /* shorter payloads are padded; 0 = off */
	uint32_t refresh_cc;  /* 1024; 0 = no refresh */
	uint32_t t_crtx, t_crrx; /* 3, 2 */
	uint32_t credit_words;	 /* extra credit words allowed per frame */
	int32_t ppm;		 /* of our crystal */
	bool credit_filter;	 /* 5.4 plausibility */
	bool crc32_complement;	 /* */
	bool return_discards;	 /* 5.7: NIC true; switch false, because it
				  * cannot tell the lane: counted */
	/* Lane of a way (forth_way) in our buffer: path_mask + 1 rows. NULL:
	 * the flow, or 0 with one lane. May change until forth_port_start(). */
	const uint8_t *route;
	uint32_t path_mask;
	uint32_t paths;	    /* to choose from, numbered from 1; 0 = no choice */
	uint32_t resync_cc; /* a lane that lacks credits for that long starts
			     * anew on both sides (credit_resync.c); 0 = off */
};

/* Returns the values of the specification for one link, in which the owner
 * changes some. */
struct forth_port_cfg forth_port_cfg_default(void);

/* A packet to send. */
struct forth_port_pkt {
	uint64_t header;
	struct weft_slice payload; /* the reference is taken over */
	uint64_t trace_id;
	struct weft_frame *f; /* or: this frame again, with its header and
			       * payload (header, payload, id unused) */
	bool last; /* the owner calls forth_port_kick() when it has more;
		    * otherwise next() is called again as soon as the line is
		    * free */
};

/* Errors of a packet that was delivered. */
enum { FORTH_PORT_BODY_BAD = 1, FORTH_PORT_TRUNC = 2 };

struct forth_port_rx {
	uint64_t cycle; /* of the delimiter, on our clock */
	uint32_t shift; /* extra credit words before the header */
	uint32_t words; /* wire words, delimiter and credits included */
	uint32_t bad;	/* FORTH_PORT_*; known in advance, but act on them
			 * only at the end of the packet */
};

struct forth_port_ops {
	/* Phase 1, the line is free at this edge. Fills *p with the packet that
	 * starts now and returns true. Calls forth_port_credit() for each
	 * candidate: a candidate without credits is remembered and wakes the
	 * link when it can go. A packet that becomes ready later needs
	 * forth_port_kick(). */
	bool (*next)(void *own, struct forth_port *l, struct forth_port_pkt *p);
	/* The packet has left: delimiter at cycle `start`, the line is free at
	 * `end`, its header word is at start + 1 + shift. */
	void (*sent)(void *own, struct forth_port *l, uint64_t start,
		     uint64_t end, uint32_t shift);
	/* Phase 0, at the delimiter's arrival: a packet with a good header CRC
	 * (headers are checked 2 + shift or 3 + shift cycles later). The owner
	 * takes f: header u[0], payload (true bytes, padding cut). */
	void (*packet)(void *own, struct forth_port *l, struct weft_frame *f,
		       const struct forth_port_rx *rx);
	/* Header CRC error (NetPcktError); may be NULL. */
	void (*bad_header)(void *own, struct forth_port *l, uint64_t cycle);
	/* While forth_port_watch() is on: a credit was put on our line, or
	 * (`in`) one from the peer counts, at `cycle`. Called when the credit
	 * is computed, which may be later; forth_port_counts() makes up for all
	 * of them up to now. */
	void (*credit)(void *own, struct forth_port *l, uint64_t cycle,
		       uint16_t credit, bool in);
	/* Returns whether the receive buffer holds nothing of this line. NULL
	 * when packets are forwarded at once (forth_port_fwd). */
	bool (*drained)(void *own, struct forth_port *l);
	/* Called in phase 1 when a lane that forth_port_tx_ready() found short
	 * of credits can send. If it is NULL, forth_port_kick() runs at once
	 * instead. */
	void (*woken)(void *own, struct forth_port *l);
};

/* Counters; the NIC shows them as registers. */
struct forth_port_count {
	uint64_t out_cycles;			  /* 0x80 */
	uint64_t in_cycles;			  /* 0x84 */
	uint64_t bad_char[FORTH_PORT_LINKS_MAX];  /* 0x88 */
	uint64_t sync_loss[FORTH_PORT_LINKS_MAX]; /* 0x8C */
	uint64_t disparity[FORTH_PORT_LINKS_MAX]; /* 0x90 */
	uint64_t tx_full[FORTH_PORT_LINKS_MAX];	  /* 0x94: cannot happen */
	uint64_t tx_packets;			  /* 0xA8 */
	uint64_t tx_qwords;		  /* 0xAC: header, payload, CRC word */
	uint64_t rx_packets;		  /* 0xB0 */
	uint64_t rx_qwords;		  /* 0xB4: header, payload */
	uint64_t header_crc;		  /* 0xB8 */
	uint64_t align;			  /* 0xBC */
	uint64_t backpressure;		  /* 0xC0 */
	uint64_t body_crc;		  /* 0x68 */
	uint64_t header_align;		  /* 0x6C */
	uint64_t credit_parity;		  /* 0x140 */
	uint64_t credit_leak;		  /* 0x144: words */
	uint64_t credits_out, credits_in; /* on the line, refresh included */
	uint64_t credits_odd; /* ignored: unknown lane or implausible */
	uint64_t unsync;      /* packets that arrived while out of sync */
	uint64_t resyncs;     /* lanes that started anew */
	uint64_t deaf;	      /* packets that arrived in loopback */
	uint64_t skew_full;   /* frames lost: links too far apart */
};

/* ---- the link end ---- */

struct forth_port_lane_tx {
	uint16_t sent, acked; /* T, F' */
	uint16_t need;	      /* charge of the packet that waits, 0 = none */
};

struct forth_port_lane_rx {
	uint16_t fwd;  /* F with everything known so far */
	uint8_t value; /* F[11:5] as visible at the line */
	uint8_t given; /* value last sent */
};

struct forth_port_due { /* F[11:5] of lane is `value` from cycle on */
	uint64_t cycle;
	uint8_t lane, value;
};

struct forth_port_inbox { /* credit that counts from cycle on */
	uint64_t cycle;
	uint16_t credit; /* 0 = none, only words */
	uint16_t words;	 /* received with it: a credit-only frame */
};

/* 4.9: so many invalid codes in 16 symbols end synchronisation. */
enum { FORTH_PORT_BAD_CODES = 4 };

struct forth_port_mask {
	uint64_t w[FORTH_FLOWS / 64];
};

struct forth_port {
	/* transmitter */
	struct weft_comp *comp;
	struct weft_port *port; /* first of cfg.links ports */
	struct forth_port
		*peer;	     /* other end; self of a loop end; NULL = none */
	uint64_t line_free;  /* first cycle without a transmission */
	uint64_t last_start; /* of any transmission, for refresh */
	uint64_t kick;	     /* cycle at which next() is called, or NEVER */
	uint64_t blocked; /* cycle since which a packet lacks credits, or NEVER
			   */
	uint64_t pulled;  /* cycle in which the peer was last asked for
			   * credits */
	uint64_t wake_at; /* cycle at which enough credits count, or NEVER */
	struct forth_port_lane_tx *tx;
	struct { /* credits received, by cycle */
		RING(struct forth_port_inbox);
	} in;
	uint32_t tx_lanes, tx_cap;
	struct forth_port_mask wait; /* lanes with need != 0 */
	/* credits to give */
	struct forth_port_lane_rx *rx;
	struct { /* by cycle */
		RING(struct forth_port_due);
	} due;
	uint32_t rr_active, rr_refresh;
	weft_time_t fwd_last;	       /* latest time at which F is known to
					* grow */
	struct forth_port_mask active; /* lanes with value != given */
	/* the line */
	struct weft_clock clk;
	uint64_t word_fs;  /* period, rounded down */
	uint64_t inverse;  /* 2^64 / period when that is whole, otherwise 0 */
	weft_time_t delay; /* of the slowest link of the bundle */
	weft_time_t skew;  /* lead of the fastest link */
	uint64_t delay_cc; /* same_clk: the delay in cycles */
	bool same_clk;	   /* the peer's edges are ours, and the delay is
			    * whole cycles */
	bool needs_frames, loop, lost_sync, clk_set, watched;
	bool muted; /* the other end has the transmitter, so that this line
		     * carries commas */
	bool told, telling; /* a listener hears our frames; a notification is
			     * in progress */
	uint32_t tag;
	struct weft_timer timer;
	const struct forth_port_ops *ops;
	void *own;
	struct forth_port_cfg cfg;
	struct forth_port_count count;
	/* receiver of damaged or bundled frames, loopback */
	uint64_t rx_quiet; /* cycle since which nothing was received */
	/* symbols with invalid codes: the last ones, and how many since sync */
	uint64_t bad_at[FORTH_PORT_LINKS_MAX][FORTH_PORT_BAD_CODES];
	uint32_t n_bad[FORTH_PORT_LINKS_MAX];
	struct weft_frame *line_q[FORTH_PORT_LINKS_MAX]; /* oldest first */
	struct weft_frame *loop_q;
	struct forth_port *back,
		*line; /* loopback: end of the line, of its loop end */
	struct forth_port_epoch *epoch; /* NULL without resync */
	uint16_t seq;
};

/* Binds ports port..port+links-1 of c to l and publishes l as their iface.
 * Called from ops.init. `tag` is the event tag that the owner forwards to
 * forth_port_event(). Within one time it should run after the owner's own
 * events (larger tag), so that the link sees their packets. Returns 0 or an
 * error. */
int forth_port_init(struct forth_port *l, struct weft_comp *c,
		    struct weft_port *port, const struct forth_port_cfg *cfg,
		    const struct forth_port_ops *ops, void *own, uint32_t tag,
		    struct weft_err *err);
/* Fixes clock, B and lanes. Called from ops.start, when peers are known.
 * Returns 0 or an error. */
int forth_port_start(struct forth_port *l, struct weft_err *err);
void forth_port_fini(struct forth_port *l);
/* Checks that packets of `bytes` payload can be sent here, because otherwise
 * they wait for credits for ever (5.2). Returns 0 or an error. */
int forth_port_room_check(const struct forth_port *l, uint32_t bytes,
			  bool one_size, struct weft_err *err);

/* Takes a frame from ops.arrive on link j of the bundle. Loopback posts without
 * a frame under tag n_ports + index of the first port: pass those as (l, 0,
 * NULL). */
void forth_port_arrive(struct forth_port *l, uint32_t j, struct weft_frame *f);
/* Handles ops.event with the tag of the link. */
void forth_port_event(struct forth_port *l);

/* Calls ops.next at the first edge >= t at which the line is free. */
void forth_port_kick(struct forth_port *l, weft_time_t t);
/* Returns, inside ops.next, whether a packet of `qwords` to `way` may start at
 * this edge. The way is forth_way(path, flow), the flow alone for path 0. A way
 * without credits wakes the link later. */
bool forth_port_credit(struct forth_port *l, uint32_t way, uint32_t qwords);

/* Returns the first cycle >= cycle at which the credits known now suffice for a
 * packet of this header and `bytes` payload on the wire. Returns WEFT_NEVER if
 * they do not suffice, and calls ops.woken when enough credits have arrived.
 * Only a switch calls it, because it schedules its packets itself and uses
 * neither kick nor next. */
uint64_t forth_port_tx_ready(struct forth_port *l, uint64_t header,
			     uint32_t bytes, uint64_t cycle);
/* Returns the first cycle >= cycle at which the line is free, because a credit
 * frame may be on it. Fixes the frames on the line before that cycle. */
uint64_t forth_port_tx_slot(struct forth_port *l, uint64_t cycle);
/* Starts the packet at `cycle` (>= now), which forth_port_tx_slot() gave.
 * Credits must suffice. Takes the payload. Returns the cycle at which the line
 * is free again. */
uint64_t forth_port_tx_commit(struct forth_port *l,
			      const struct forth_port_pkt *p, uint64_t cycle);

/* Lets F of `lane` grow by `words` at time t (>= now). Calls for one lane must
 * be in order of time. */
void forth_port_fwd(struct forth_port *l, uint32_t lane, uint32_t words,
		    weft_time_t t);
/* Lets F grow by `step` words at edges first+1, first+2 .. of clk, `words` in
 * all (the last step may be smaller). */
void forth_port_fwd_ramp(struct forth_port *l, uint32_t lane, uint32_t words,
			 uint32_t step, const struct weft_clock *clk,
			 uint64_t first);

/* Drops a packet that was delivered. Its credits stay charged. */
void forth_port_dropped(struct forth_port *l, uint32_t lane, uint32_t words);

/* Returns whether this end is in sync, so that it receives and may send
 * (4.9). */
bool forth_port_in_sync(const struct forth_port *l);

/* Switches loopback (loopback.c): the packets of this end return to it, and the
 * cable carries commas. A loop has a link end of its own with its own credits.
 * ops are called with that end while it sends and for packets that return by
 * it; words are forwarded (forth_port_fwd) on the end at which they arrived. */
void forth_port_loopback(struct forth_port *l, bool on);
/* Returns the end that has the transmitter: l, or its loop end. */
static inline struct forth_port *forth_port_active(struct forth_port *l)
{
	return l->muted ? l->back : l;
}
/* Returns the end on the cable, for that end and for its loop end. */
static inline struct forth_port *forth_port_line(struct forth_port *l)
{
	return l->line ? l->line : l;
}
/* Sets T = F = F' = 0 on this side (port reset). Do it on both sides, with
 * nothing in flight, because otherwise the counters differ for ever. */
void forth_port_credit_reset(struct forth_port *l);

/* Returns the counters, brought up to the present time. */
struct forth_port_count *forth_port_counts(struct forth_port *l);
/* Returns the counter `backpressure` as a time. */
weft_time_t forth_port_blocked(struct forth_port *l);

/* Switches calls of ops.credit on or off. */
void forth_port_watch(struct forth_port *l, bool on);

/* Returns the payload bytes on the wire for `qwords`, padded. */
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
/* Returns the wire words of a packet with its delimiter, without extra credit
 * words. */
static inline uint32_t forth_port_words(const struct forth_port *l,
					uint32_t qwords)
{
	return forth_words(l->cfg.layout, l->cfg.links,
			   forth_port_wire_len(l, qwords));
}
/* Returns the number of paths from which a sender into this link may choose,
 * see cfg.paths. */
static inline uint32_t forth_port_paths(const struct forth_port *l)
{
	return l->peer ? l->peer->cfg.paths : 0;
}
/* Returns the lane whose credits pay for a packet of this way out of here. */
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
/* Returns weft_clock_cycle(&l->clk, t), without a division where that is
 * possible, because every frame needs it. */
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
