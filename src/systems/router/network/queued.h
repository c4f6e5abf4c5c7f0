/* SPDX-License-Identifier: Apache-2.0 */
/* Routers that queue flits at their outputs: class net.router_oq, whose queues
 * have places of their own (output_queued.c), and class net.router_sm, whose
 * queues share a memory (shared_memory.c). Both are exact to the flit and the
 * cycle.
 *
 *   flits in -> buffer per VC -> route -> queue of an output VC -> flits out
 *
 * Flits wait in a buffer until they move to a queue. A credit of a sender
 * stands for a place in a buffer, so queues cannot overcommit credits. There is
 * a queue for each output and VC. The VC is that of the buffer at the other end
 * of the line. A queue is a list of packets in the order of their heads.
 * Packets from several buffers may enter a queue at the same time. They leave
 * it one after another, because flits of two packets must not mix in a VC.
 *
 * A cycle has these parts, in this order:
 *
 * arrivals   Arriving flits enter their buffers. Arriving credits are counted.
 * routes     The routing gives choices to heads that are at the front of their
 *            buffer and arrived t_route cycles ago.
 * lines      Each output sends a flit from one of its queues, and frees the
 *            place of the flit.
 * fabric     Flits move from buffers to queues, at most one from each input VC.
 *            A head chooses one of the queues that it may enter. A flit may
 *            leave its queue t_cross cycles later.
 *
 * Packets cannot wait for each other in a circle if the routing has no circle.
 * Each queue has reserved places. Therefore a packet in a buffer waits only for
 * packets of one queue, and these wait for the buffer at the other end of the
 * line, as in a router with input queues. With wormhole flow control each queue
 * has a spare place for its first packet that is not whole, because the packets
 * after it wait for its last flit. With other flow controls a packet enters a
 * queue only when the queue has places for the whole packet.
 *
 * A routing with escape channels (Duato 1993) has one more condition. A packet
 * whose head waits behind another packet in a queue must not have flits left in
 * a buffer. Packets that enter as a whole meet this condition. With wormhole
 * flow control a head enters only if the queue, and the buffer at the other end
 * of its line, are empty. */
#ifndef SYSTEMS_ROUTER_NETWORK_QUEUED_H
#define SYSTEMS_ROUTER_NETWORK_QUEUED_H

#include "systems/router/network/router.h"

/* Order of flits that compete for the fabric or for a line. */
enum queued_arbiter { QUEUED_ROUND_ROBIN, QUEUED_AGE, QUEUED_CLASS };

/* Shares of queues in a memory. */
enum queued_share { QUEUED_STATIC, QUEUED_COMPLETE, QUEUED_DYNAMIC };

enum { QUEUED_PEAK = ROUTER_N_COUNTERS, QUEUED_N_COUNTERS };

struct queued_params {
	uint32_t ports, vcs, buf_flits, flow;
	uint32_t t_route, t_cross, arbiter;
	bool hold;
	/* net.router_oq: */
	uint32_t queue_flits, speedup;
	/* net.router_sm: */
	uint32_t cells, share, reserved, limit, writes, reads;
	double alpha;
};

/* Places for flits in the queues of a router. */
struct queued_room {
	bool spare;	/* each queue has a spare place */
	uint32_t own;	/* other places reserved for each queue */
	uint32_t pool;	/* places that all queues share */
	uint32_t limit; /* most places of a queue, without the spare one */
	double alpha;	/* dynamic threshold; 0: none */
	uint32_t used;	/* places of the pool in use */
};

/* Limits of the number of flits that move in a cycle. QUEUED_ANY: no limit. */
#define QUEUED_ANY UINT32_MAX
struct queued_rates {
	uint32_t input;	 /* from the buffers of an input */
	uint32_t server; /* from the buffers, by each server */
	uint32_t lines;	 /* from the queues to the lines */
	/* Number of servers of the fabric: one per output, or one in all. */
	uint32_t servers;
};

enum queued_state {
	QUEUED_IDLE, /* the buffer has no head */
	QUEUED_WAIT, /* a head at the front waits for its route */
	QUEUED_HEAD, /* it has choices */
	QUEUED_BODY, /* it is in its queue, further flits follow */
};

/* Packet in a buffer. */
struct queued_head {
	uint32_t packet;
	uint64_t ready; /* cycle from which it may have choices */
};

/* Buffer of an input VC. */
struct queued_in {
	struct {
		RING(struct queued_head);
	} packets;
	uint32_t flits; /* in the buffer */
	uint32_t sent;	/* flits of the first packet that have left */
	uint8_t state;	/* enum queued_state */
	uint32_t out;	/* output VC as port * vcs + vc */
	uint32_t entry; /* number of the first packet's entry in its queue */
	struct net_choices *choices; /* allocated with the first packet */
};

/* Packet in a queue. */
struct queued_entry {
	uint32_t packet;
	uint32_t flits; /* that may leave */
	bool whole;	/* its last flit has entered */
};

/* Flit on its way to a queue. */
struct queued_flit {
	uint64_t from; /* first cycle in which it may leave */
	uint32_t out, entry;
};

/* Queue of an output VC. */
struct queued_out {
	struct {
		RING(struct queued_entry);
	} packets;
	uint32_t open;	/* entry of the first packet that is not whole */
	uint32_t flits; /* in the queue or on their way to it */
	uint32_t used;	/* places in use or reserved for packets that enter */
	bool spare;	/* the spare place is in use */
	uint32_t sent;	/* flits of the first packet that have left */
};

struct queued {
	struct station s;
	struct queued_params p;
	struct queued_room room;
	struct queued_rates rates;
	const struct net_routing *routing;
	bool whole; /* packets enter and leave only as a whole */
	bool alone; /* a head enters only if queue and next buffer are empty */
	uint32_t words; /* of a set of input VCs */
	/* Indexed by port * vcs + vc. `behind` counts places of the buffers at
	 * the other ends of the lines. */
	struct queued_in *in;
	struct queued_out *out;
	struct out_vc *behind;
	struct {
		RING(struct queued_flit);
	} moving;			   /* flits in the fabric */
	uint64_t *busy;			   /* input VCs with flits */
	uint32_t *queued;		   /* flits in the queues, by output */
	uint64_t live[NET_PORTS_MAX / 64]; /* outputs with flits */
	uint32_t flits;			   /* in all queues */
	uint32_t *turn_line;		   /* first VC in turn, by output */
	uint32_t turn_out;		   /* first output in turn */
	/* Fabric. want: for each server, the set of input VCs that request it.
	 * turn: for each server, the first input VC in round robin. left: for
	 * each input, the number of flits that it may still send. */
	uint64_t *want;
	uint32_t *turn, *left;
	/* noted: load of each output VC at the beginning of cycle noted_at, or
	 * NULL if the routing reads no loads. */
	struct net_loads loads;
	uint32_t *noted;
	uint64_t noted_at;
	bool worked; /* something moved in this step */
};

extern const struct weft_class weft_class_net_router_oq;
extern const struct weft_class weft_class_net_router_sm;

static inline struct packet *queued_packet(const struct queued *r, uint32_t i)
{
	return &r->s.packets->at[i];
}
/* Returns the number of the packet at the front of a buffer. */
static inline uint32_t queued_front(const struct queued_in *v)
{
	return ring_front(&v->packets)->packet;
}

/* queued.c: operations that both classes share. queued_start() calls `start`
 * when the lines are connected. `start` sets room and rates, and returns 0 or
 * -EINVAL with a message. */
int queued_init(struct weft_comp *c, struct weft_err *err);
int queued_start(struct weft_comp *c,
		 int (*start)(struct queued *r, struct weft_err *err),
		 struct weft_err *err);
void queued_arrive(struct weft_comp *c, uint32_t port, struct weft_frame *f);
void queued_event(struct weft_comp *c, uint32_t tag);
void queued_fini(struct weft_comp *c);
/* Returns the number of outputs through which packets can leave. */
uint32_t queued_outputs(const struct queued *r);

/* queued_room.c: returns true if a queue has places for n more flits of a
 * packet. `first` is true if all packets before that packet are whole. */
bool queued_fits(const struct queued *r, const struct queued_out *q, uint32_t n,
		 bool first);
/* Reserves n places. queued_fits() must be true. */
void queued_take(struct queued *r, struct queued_out *q, uint32_t n);
/* Frees the place of a flit that leaves. */
void queued_return(struct queued *r, struct queued_out *q);

/* queued_lines.c: sends flits from queues. */
void queued_lines(struct queued *r, uint64_t now);
/* Returns the rank of a packet. A packet of higher rank is served first. */
uint32_t queued_rank(const struct queued *r, uint32_t packet);

/* queued_fabric.c: counts flits that have passed the fabric, so that they may
 * leave their queues. */
void queued_arrived(struct queued *r, uint64_t now);
/* Moves flits from buffers to queues. */
void queued_fabric(struct queued *r, uint64_t now);

/* queued_step.c: executes cycle `now`, and sets a wake for the next step. */
void queued_step(struct station *s, uint64_t now);
void queued_loads_init(struct queued *r);

/* Ports, and parameters of both classes. */
extern const struct weft_port_decl queued_ports[];
/* clang-format off */
#define QUEUED_PARAM(type_, field, def_, range_, doc_)                         \
	{ .name = #field, .type = WEFT_P_##type_,                              \
	  .offset = offsetof(struct queued, p.field),                          \
	  .size = sizeof(((struct queued *)0)->p.field), .def = def_,          \
	  .range = range_, .source = WEFT_OWN, .doc = doc_ }
#define QUEUED_PARAMS                                                          \
	QUEUED_PARAM(U32, ports, "5", "1..128", "set by the fabric"),          \
	QUEUED_PARAM(U32, vcs, "4", "1..32", "virtual channels of a port"),    \
	QUEUED_PARAM(U32, buf_flits, "8", "1..4096",                           \
		     "places for flits of each VC at an input, for which "     \
		     "senders have credits"),                                  \
	QUEUED_PARAM(ENUM, flow, "wormhole",                                   \
		     "wormhole|cut_through|store_and_forward",                 \
		     "condition to go on: a free place, places for the whole " \
		     "packet, and the whole packet is in the queue"),          \
	QUEUED_PARAM(U32, t_route, "1", "0..16",                               \
		     "cycles of routing; 0 = done ahead in the router before"),\
	QUEUED_PARAM(U32, t_cross, "1", "1..16",                               \
		     "cycles from a buffer to the end of a queue"),            \
	{ .name = "credit_delay", .type = WEFT_P_U32,                          \
	  .offset = offsetof(struct queued, s.credit_delay), .size = 4,        \
	  .def = "0", .range = "0..1024", .source = WEFT_OWN,                  \
	  .doc = "cycles until a credit that has arrived counts" },            \
	QUEUED_PARAM(ENUM, arbiter, "round_robin", "round_robin|age|class",    \
		     "order of flits that compete; age = the oldest packet "   \
		     "first, class = that of the highest priority, then "      \
		     "round robin"),                                           \
	QUEUED_PARAM(BOOL, hold, "no", "",                                     \
		     "a line is held for a packet while its flits can leave")
#define QUEUED_CLOCK                                                           \
	{ .name = "clock", .type = WEFT_P_CLOCK,                               \
	  .offset = offsetof(struct queued, s.clock),                          \
	  .size = sizeof(struct weft_clock), .def = "1GHz", .range = "",       \
	  .source = WEFT_OWN, .doc = "the same for the whole network" },       \
	{ 0 }
#define QUEUED_COUNTERS(peak_doc_)                                             \
	[ROUTER_FLITS] = { "flits", "flits", "flits onto lines" },             \
	[ROUTER_PACKETS] = { "packets", "packets", "packets onto lines" },     \
	[QUEUED_PEAK] = { "peak", "flits", peak_doc_ }
/* clang-format on */

#endif
