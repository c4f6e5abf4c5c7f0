/* SPDX-License-Identifier: Apache-2.0 */
/* ATOLL's network side (hostport.md 2.1 to 2.3): an 8x8 wormhole crossbar with
 * four link ports. atoll.nic embeds it. Ports 0..3 are the network ports of the
 * host ports, and ports 4..7 are the link ports.
 *
 *   link in -> buffer, t_in -> crossbar, t_xbar -> t_out -> link out
 *
 * A hop takes t_in + t_xbar + t_out = 30 cycles from first character in to
 * first character out, of which the crossbar takes t_xbar = 3. An OutPort
 * belongs to one packet from its head to its last flit. Free OutPorts are
 * granted round robin among the InPorts that request them. A link whose buffer
 * has less than stop_free bytes left sends "stop" to its peer. It sends
 * "continue" once cont_free bytes are free again.
 *
 * Deadlock (2.3): for dl_counter consecutive cycles an OutPort is granted to
 * one InPort, is stopped by its peer, and is requested by another InPort.
 *
 * Not modelled: the line time of state characters (stop, continue,
 * acknowledge). They are delayed like data but occupy no cycles of the line.
 * Times are in cycles. */
#ifndef SYSTEMS_ATOLL_NETWORK_CROSSBAR_H
#define SYSTEMS_ATOLL_NETWORK_CROSSBAR_H

#include "base/ring.h"
#include "systems/atoll/network/wire.h"
#include "weft/trace.h"

#define AX_NONE 0xff

struct atoll_xbar;
struct atoll_xbar_ops {
	/* Called when a flit leaves to host port np. Its first character
	 * arrives now, and each of the next cycles brings one more character.
	 * The callee owns f. */
	void (*flit)(void *own, uint32_t np, struct weft_frame *f);
	/* Returns true if host port np accepts a flit now. The owner calls
	 * atoll_xbar_kick() when the answer changes. */
	bool (*room)(void *own, uint32_t np);
	/* Called when InPort np has freed room (atoll_xbar_np_room()). */
	void (*ready)(void *own, uint32_t np);
	/* Called when the deadlock counter of OutPort `out` has expired. */
	void (*deadlock)(void *own, uint32_t out);
	/* Called when the packet at InPort `in` has an impossible route. The
	 * crossbar sends the packet to the management's host port. */
	void (*misrouted)(void *own, uint32_t in);
};

/* X(id, name, unit, doc): the owner declares these counters, in this order. */
#define AX_COUNTERS(X)                                                         \
	X(FLITS, "flits", "flits", "through the crossbar")                     \
	X(PACKETS, "packets", "packets", "through the crossbar")               \
	X(STOPS, "stops", "times", "a link was told to stop")                  \
	X(STOPPED, "stopped", "cycles", "links had to be silent")              \
	X(OVERFLOWS, "overflows", "flits", "found no room: sent again")        \
	X(CRC, "bad_flits", "flits", "received damaged or out of order")       \
	X(RESENT, "resent", "flits", "sent again")                             \
	X(DOWNS, "downs", "times", "a link gave up after attempts in vain")    \
	X(FRAMING, "framing", "flits", "without a head, or heads too early")   \
	X(PARITY, "parity", "packets", "whose routing characters were wrong")  \
	X(DEADLOCKS, "deadlocks", "times", "a deadlock counter ran out")       \
	X(RETRIEVED, "retrieved", "packets", "taken out of the network")
enum {
#define X(id, name, unit, doc) AX_K_##id,
	AX_COUNTERS(X)
#undef X
		AX_K_N
};

struct atoll_link_left { /* bytes of a buffer that become free at `cycle` */
	uint64_t cycle;
	uint32_t bytes;
};

struct atoll_link_in {
	struct {
		RING(struct weft_frame *);
	} q;
	struct {
		RING(struct atoll_link_left);
	} left;
	uint32_t used; /* bytes of the buffer in use */
	/* OutPort that the first packet in the queue requests, or AX_NONE. */
	uint8_t want;
	uint8_t out;   /* OutPort granted to that packet, or AX_NONE */
	bool redirect; /* the management overwrote its request */
	uint64_t free; /* network port: first cycle at which a flit may start */
};

struct atoll_link_out {
	uint8_t owner, last; /* owner: InPort that holds the OutPort, or
				AX_NONE; last: InPort granted last */
	uint64_t free;	     /* cycle from which the line is free */
	bool stopped;
	uint64_t stopped_at;
	/* Deadlock counter. cond: the deadlock condition has held since cycle
	 * `since`. fired: the counter has expired since then. */
	bool cond, fired;
	uint64_t since;
};

/* Link port: state of one cable. The cable is guarded if a fault is attached to
 * it. */
struct atoll_link_link {
	struct weft_port *port;
	uint8_t tx_seq, rx_seq, acked;
	/* stop_said: the peer was told to stop; nacked: a resend was requested;
	 * open: the end of a packet has not arrived yet */
	bool stop_said, nacked, open;
	uint64_t heard; /* cycle of the last answer on a guarded cable */
	uint32_t tries; /* timeouts since the last progress */
	struct {
		RING(struct weft_frame *);
	} again; /* copies of the unacknowledged flits of a guarded cable */
	uint32_t resend; /* index in `again` of the next flit to resend */
	bool replay;	 /* a resend is under way */
	struct {
		RING(struct weft_frame *);
	} came; /* flits that arrive at AT_CAME */
	struct {
		RING(struct weft_frame *);
	} state; /* received state flits, which act at AT_READY */
};

struct atoll_xbar {
	/* parameters: */
	struct weft_clock clk;
	uint32_t t_in, t_xbar, t_out, buffer, stop_free, cont_free;
	uint32_t dl_counter, mgmt, timeout, attempts;
	/* Index of the first counter of AX_COUNTERS among the owner's
	 * counters. */
	uint32_t counter0;
	/* state: */
	struct weft_comp *comp;
	const struct atoll_xbar_ops *ops;
	void *own;
	uint32_t tag;
	uint64_t armed;
	struct atoll_link_in in[AT_PORTS];
	struct atoll_link_out out[AT_PORTS];
	struct atoll_link_link link[AT_LINKS];
	/* Histograms in cycles. hop: latency from link to link. fall: latency
	 * of the crossbar alone. */
	struct weft_hist *hop, *fall;
	/* histogram of the time in ns from host port to host port */
	struct weft_hist *way;
};

/* Sets up a crossbar whose parameters the owner has filled in. The owner calls
 * atoll_xbar_event() for events whose tag is `tag`, and atoll_xbar_fini() when
 * it is freed. */
void atoll_xbar_init(struct atoll_xbar *x, struct weft_comp *c,
		     struct weft_port *link_ports,
		     const struct atoll_xbar_ops *ops, void *own, uint32_t tag);
/* Returns 0, or -EINVAL with a message if thresholds do not suit the cables. */
int atoll_xbar_start(struct atoll_xbar *x, struct weft_err *err);
void atoll_xbar_fini(struct atoll_xbar *x);
/* Receives f, which arrives now at a link. Takes ownership of f. */
void atoll_xbar_arrive(struct atoll_xbar *x, uint32_t link,
		       struct weft_frame *f);
/* Runs the cycle that is due, if any. */
void atoll_xbar_event(struct atoll_xbar *x);
/* Returns true if the InPort of np accepts a flit now. */
bool atoll_xbar_np_room(const struct atoll_xbar *x, uint32_t np);
/* Queues the next flit of host port np. Takes ownership of f. */
void atoll_xbar_inject(struct atoll_xbar *x, uint32_t np, struct weft_frame *f);
/* Runs a cycle now. Called when a host port may have freed room, a packet was
 * redirected, or a deadlock counter was restarted. */
void atoll_xbar_kick(struct atoll_xbar *x);

/* Returns true if the deadlock condition of `out` holds. Sets *i_p to the
 * InPort with the grant and *j_p to an InPort that requests `out` without a
 * grant. */
bool atoll_xbar_dl_cond(const struct atoll_xbar *x, uint32_t out, uint32_t *i_p,
			uint32_t *j_p);
/* Overwrites the request of InPort j, so that its packet goes to the host port
 * of the management. Returns false if j has no request, has a grant already, or
 * was redirected before. */
bool atoll_xbar_redirect(struct atoll_xbar *x, uint32_t j);

/* Sends a flit through link port l (link_port.c). Its first character leaves at
 * `start`. Takes ownership of f. */
void atoll_link_link_send(struct atoll_xbar *x, uint32_t l,
			  struct weft_frame *f, uint64_t start);
/* Sends stop or continue to the peer if the fill level of the buffer has
 * crossed a threshold. Called after each change of the buffer. */
void atoll_link_link_state(struct atoll_xbar *x, uint32_t l);
/* Returns true if a flit may leave: the peer has not stopped the link, no
 * resend is under way, and fewer flits than the limit await acknowledgement. */
bool atoll_link_link_can(const struct atoll_xbar *x, uint32_t l);
/* Handles arrivals, received states and resends that are due at cycle c, and
 * puts good flits into the InPort. Returns the cycle of the next call. */
uint64_t atoll_link_link_step(struct atoll_xbar *x, uint32_t l, uint64_t c);

static inline void atoll_link_count(struct atoll_xbar *x, uint32_t k,
				    uint64_t n)
{
	weft_count(x->comp, x->counter0 + k, n);
}
/* Records for listeners that the message of f was in `stage` until `cycle`. */
static inline void atoll_link_mark(const struct atoll_xbar *x,
				   const struct weft_frame *f,
				   const char *stage, uint64_t cycle)
{
	if (__builtin_expect(f->trace_id != 0, 0))
		weft_mark(x->comp, f->trace_id, stage,
			  weft_clock_edge(&x->clk, cycle));
}
/* Requests a run of the crossbar at this cycle. */
void atoll_link_arm(struct atoll_xbar *x, uint64_t cycle);
static inline uint64_t atoll_link_now(const struct atoll_xbar *x)
{
	return weft_clock_cycle(&x->clk, weft_now(x->comp));
}

#endif
