/* SPDX-License-Identifier: Apache-2.0 */
/* ATOLL's network side (hostport.md 2.1 to 2.3): 8x8 crossbar, wormhole, with
 * four link ports; embedded by atoll.nic.  Ports 0..3 are the network ports of
 * the host ports, 4..7 the links.
 *
 *   link in -> buffer, t_in -> crossbar, t_xbar -> t_out -> link out
 *
 * A hop takes t_in + t_xbar + t_out = 30 cycles from first character in to
 * first character out, of which the crossbar 3.  An OutPort belongs to one
 * packet from its head to its last flit; round robin among InPorts that ask.
 * A link whose buffer has less than stop_free bytes left tells its peer to
 * stop, and to go on when there are cont_free again.
 *
 * Deadlock (2.3): an OutPort that is granted, stopped, and wanted by another
 * InPort for dl_counter cycles without a break.
 *
 * State characters (stop, continue, acknowledge) take the way and the time of
 * data but no room on the line: not modelled.  Times are cycles. */
#ifndef SYSTEMS_ATOLL_NETWORK_CROSSBAR_H
#define SYSTEMS_ATOLL_NETWORK_CROSSBAR_H

#include "base/ring.h"
#include "systems/atoll/network/wire.h"
#include "weft/trace.h"

#define AX_NONE 0xff

struct atoll_xbar;
struct atoll_xbar_ops {
	/* A flit leaves to host port np: its first character is there now, one
	 * more each cycle.  Takes f. */
	void (*flit)(void *own, uint32_t np, struct weft_frame *f);
	/* Does host port np take a flit now?  Changes: atoll_xbar_kick. */
	bool (*room)(void *own, uint32_t np);
	/* InPort np holds less than before: atoll_xbar_np_room. */
	void (*ready)(void *own, uint32_t np);
	/* The deadlock counter of an OutPort has run out. */
	void (*deadlock)(void *own, uint32_t out);
	/* The packet at InPort `in` has a route that cannot be: it goes to the
	 * management's host port. */
	void (*misrouted)(void *own, uint32_t in);
};

/* X(id, name, unit, doc): the owner's counters, in this order. */
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

struct atoll_link_left { /* room in a buffer from `cycle` on */
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
	uint32_t used; /* bytes of the buffer */
	uint8_t want;  /* OutPort the first packet asks for, AX_NONE */
	uint8_t out;   /* granted one */
	bool redirect; /* its request is overwritten */
	uint64_t free; /* network port: the next flit may begin */
};

struct atoll_link_out {
	uint8_t owner, last; /* InPort; of the arbiter */
	uint64_t free;	     /* line */
	bool stopped;
	uint64_t stopped_at;
	/* deadlock counter */
	bool cond, fired;
	uint64_t since;
};

/* Link port: what its cable needs. */
struct atoll_link_link {
	struct weft_port *port;
	uint8_t tx_seq, rx_seq, acked;
	bool stop_said, nacked, open; /* open: a packet's end has not come */
	uint64_t heard; /* cycle of the last sign of life; framed */
	uint32_t tries; /* timeouts since anything got better */
	struct {
		RING(struct weft_frame *);
	} again;	 /* not acknowledged; framed only */
	uint32_t resend; /* of these, next to be sent again */
	bool replay;	 /* some are */
	struct {
		RING(struct weft_frame *);
	} came; /* seen at AT_CAME */
	struct {
		RING(struct weft_frame *);
	} state; /* state that has come, acts at AT_READY */
};

struct atoll_xbar {
	/* parameters */
	struct weft_clock clk;
	uint32_t t_in, t_xbar, t_out, buffer, stop_free, cont_free;
	uint32_t dl_counter, mgmt, timeout, attempts;
	uint32_t counter0; /* first of AX_COUNTERS in the owner's */
	/* the rest is state */
	struct weft_comp *comp;
	const struct atoll_xbar_ops *ops;
	void *own;
	uint32_t tag;
	uint64_t armed;
	struct atoll_link_in in[AT_PORTS];
	struct atoll_link_out out[AT_PORTS];
	struct atoll_link_link link[AT_LINKS];
	struct weft_hist *hop, *fall; /* cycles, link to link; crossbar */
	struct weft_hist *way;	      /* ns, from host port to host port */
};

void atoll_xbar_init(struct atoll_xbar *x, struct weft_comp *c,
		     struct weft_port *link_ports,
		     const struct atoll_xbar_ops *ops, void *own, uint32_t tag);
int atoll_xbar_start(struct atoll_xbar *x, struct weft_err *err);
void atoll_xbar_fini(struct atoll_xbar *x);
void atoll_xbar_arrive(struct atoll_xbar *x, uint32_t link,
		       struct weft_frame *f);
void atoll_xbar_event(struct atoll_xbar *x);
/* Flits that np's InPort takes now. */
bool atoll_xbar_np_room(const struct atoll_xbar *x, uint32_t np);
/* A flit of host port np; one after the other. */
void atoll_xbar_inject(struct atoll_xbar *x, uint32_t np, struct weft_frame *f);
void atoll_xbar_kick(struct atoll_xbar *x);

/* Flits in the InPorts for an OutPort. */
uint32_t atoll_xbar_queued(const struct atoll_xbar *x, uint32_t out);

/* dl_cond(out): InPorts i (granted) and j (one that waits). */
bool atoll_xbar_dl_cond(const struct atoll_xbar *x, uint32_t out, uint32_t *i_p,
			uint32_t *j_p);
/* The request of InPort j, which has no grant, is overwritten: its packet goes
 * to the management's host port.  False: there is no such request. */
bool atoll_xbar_redirect(struct atoll_xbar *x, uint32_t j);

/* link port, link_port.c */
void atoll_link_link_send(struct atoll_xbar *x, uint32_t l,
			  struct weft_frame *f, uint64_t start);
/* Its buffer is fuller or emptier than before. */
void atoll_link_link_state(struct atoll_xbar *x, uint32_t l);
/* May a flit go out there, as far as the far end and replays go? */
bool atoll_link_link_can(const struct atoll_xbar *x, uint32_t l);
/* Arrivals, states, replays due at cycle c: good flits go into the InPort.
 * Returns the next cycle at which something is due. */
uint64_t atoll_link_link_step(struct atoll_xbar *x, uint32_t l, uint64_t c);
void atoll_link_link_fini(struct atoll_xbar *x, uint32_t l);

static inline void atoll_link_count(struct atoll_xbar *x, uint32_t k,
				    uint64_t n)
{
	weft_count(x->comp, x->counter0 + k, n);
}
/* The message of f was up to this cycle busy with a stage. */
static inline void atoll_link_mark(const struct atoll_xbar *x,
				   const struct weft_frame *f,
				   const char *stage, uint64_t cycle)
{
	if (__builtin_expect(f->trace_id != 0, 0))
		weft_mark(x->comp, f->trace_id, stage,
			  weft_clock_edge(&x->clk, cycle));
}
void atoll_link_arm(struct atoll_xbar *x, uint64_t cycle);
static inline uint64_t atoll_link_now(const struct atoll_xbar *x)
{
	return weft_clock_cycle(&x->clk, weft_now(x->comp));
}

#endif
