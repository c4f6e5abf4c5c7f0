/* SPDX-License-Identifier: Apache-2.0 */
/* Class net.router: a router with input queues and virtual channels (VCs),
 * exact to the flit and the cycle. Its stages and their order within a cycle
 * are those of BookSim2's router `iq` (Jiang et al., ISPASS 2013), so that both
 * can be compared.
 *
 *   flits in -> queue per VC -> route -> VC allocation -> switch allocation
 *                                                   -> crossbar -> flits out
 *
 * The head of a packet waits at the front of its queue for a route (IDLE,
 * ROUTE), then for a VC of the next queue (VC). After that each flit of the
 * packet waits for the crossbar (ACTIVE). A stage begins in the cycle after the
 * stage before it and takes t_route, t_vc_alloc, t_sw_alloc or t_cross cycles.
 * An allocator decides in the first cycle of its stage. */
#ifndef SYSTEMS_ROUTER_NETWORK_ROUTER_H
#define SYSTEMS_ROUTER_NETWORK_ROUTER_H

#include "systems/router/network/allocator.h"
#include "systems/router/network/lines.h"
#include "systems/router/network/plain.h"

enum { ROUTER_DELAY_MAX = 16 };

/* Arbiters of the allocators (allocator.h). */
enum { ROUTER_ROUND_ROBIN, ROUTER_MATRIX, ROUTER_AGE, ROUTER_CLASS };

struct router_params {
	uint32_t ports, vcs, buf_flits, flow;
	uint32_t t_route, t_vc_alloc, t_sw_alloc, t_cross;
	uint32_t vc_alloc, sw_alloc, vc_iterations, sw_iterations, arbiter;
	bool speculative, hold, wait_for_tail, busy_when_full, pipelined;
	double speedup;
	/* number of inputs and outputs of the crossbar at each port */
	uint32_t input_speedup, output_speedup;
};

/* Queue of an input VC. Flits of different packets do not interleave in a VC.
 * Therefore the queue stores packets, and counts flits without storing them. */
struct in_vc {
	uint32_t *packets; /* ring of buf_mask + 1 */
	uint16_t head, n;  /* first packet, and their number */
	uint16_t flits;	   /* in the queue */
	uint16_t sent;	   /* flits of the first packet that have left */
	uint8_t state;	   /* enum in_state */
	uint8_t port, vc;  /* its own */
	uint16_t side;	   /* its input of the crossbar */
	uint8_t out, out_vc;
	/* Results of allocation: output VC as port * vcs + vc, and output of
	 * the switch. ARBITER_NONE: no result. */
	uint32_t granted, cross;
	struct net_choices *choices; /* in state VC */
	/* The router has put the flits and credits of all cycles before this
	 * one on the lines, in their cycle or ahead of time. */
	uint64_t until;
	/* In a flow: first cycle that has not been carried out, and cycle of
	 * the step that ends the flow. */
	uint64_t from, end;
	uint16_t flow; /* length of the stream that is planned */
	uint64_t due;  /* cycle in which a head first requests a VC */
	/* Of a plain router: output VCs that the head may request, as bits,
	 * flits of the packet that no flow has sent, and whether the head is
	 * one of them. */
	uint64_t want;
	uint16_t left;
	bool fresh;
};

/* Sets of input VCs in a stage. Those in `fresh` enter the stage in the next
 * step, and those in `due[t % delay]` leave the stage in cycle t. */
struct stage {
	uint64_t *fresh, *due;
	uint32_t delay;
};

struct router {
	struct station s;
	struct router_params p;
	const struct net_routing *routing;
	uint32_t words; /* of a set of input VCs */
	uint32_t buf_mask;
	struct in_vc *in;   /* by port * vcs + vc */
	struct out_vc *out; /* the same */
	struct stage route, vc, sw;
	/* Input VCs that hold the switch: `held` take part in steps, and
	 * `flowing` have a flow (router_flow.c). */
	uint64_t *held, *flowing;
	uint64_t flow_end; /* cycle of the first step of those that flow */
	/* `streams`: input VCs that send a flit in each cycle since `from`
	 * without steps. `grabs`: those of them that hold the switch from their
	 * first flit on (router_stream.c). */
	uint64_t *streams, *grabs;
	uint64_t from;
	/* Input VCs that have flits ahead of time on the lines, and input VCs
	 * that have a flit for the next cycle. */
	uint64_t *ahead, *ready;
	uint64_t wanting[NET_PORTS_MAX / 64]; /* outputs with wants */
	bool steady;			      /* streams are possible */
	/* The router takes credits only when an output VC has none, because
	 * nothing else depends on them. */
	bool lazy;
	/* If `defers`, the router only steps when a head requests the switch.
	 * In this step it first carries out all earlier stages of the head.
	 * `heads`: input VCs whose head has not requested a VC. `again`: heads
	 * that were refused a VC request it again, because the step in cycle
	 * `stepped` has changed something. */
	bool defers, again;
	uint64_t *heads, stepped;
	struct plain plain;
	uint64_t now; /* cycle of the step */
	/* Input VC + 1 that holds an input or an output of the crossbar, or 0.
	 */
	uint32_t *hold_in, *hold_out;
	struct allocator vcs, switches;
	/* `asking`: VC that requests an output of the crossbar, by input *
	 * outputs + output. `turn`: first VC in turn, by input. */
	uint8_t *asking, *turn;
	/* Cycles from which the next flit and the next credit may leave, by
	 * port. */
	uint64_t *flit_free, *credit_free;
	/* Number of steps of the crossbar. By port: step in which the last
	 * credit left. Further credits of this step leave together with it. */
	uint64_t steps, *credit_step;
	/* First cycle in which a crossbar that is not pipelined can accept
	 * further flits; 0: it is empty. */
	uint64_t cross_free;
	/* Loads that the routing reads: places in use by VC of an output at the
	 * beginning of cycle noted_at (router_loads.c). */
	struct net_loads loads;
	uint32_t *noted;
	uint64_t noted_at;
	bool worked; /* a stage did something in this step */
	bool freed;  /* a packet has left an output VC in this step */
	bool last;   /* this is the last part of the cycle (speedup) */
};

enum in_state { IN_IDLE, IN_ROUTE, IN_VC, IN_ACTIVE };

static inline uint32_t router_packet(const struct router *r,
				     const struct in_vc *v)
{
	return v->packets[v->head & r->buf_mask];
}
static inline struct packet *router_front(const struct router *r,
					  const struct in_vc *v)
{
	return &r->s.packets->at[router_packet(r, v)];
}
static inline uint32_t router_port(const struct router *r, uint32_t i)
{
	return r->in[i].port;
}
static inline uint64_t *stage_due(const struct router *r, const struct stage *s,
				  uint64_t cycle)
{
	return s->due + (s->delay > 1 ? cycle % s->delay : 0) * r->words;
}
/* Takes the credits of output p that have arrived (router_step.c). */
void router_line_credits(struct router *r, uint32_t p);
/* Returns true if output VC o has no place for a flit. */
static inline bool router_full(struct router *r, uint32_t o)
{
	if (r->out[o].credits)
		return false;
	if (r->lazy)
		router_line_credits(r, o / r->p.vcs);
	return !r->out[o].credits;
}
/* Returns the output VC of an input VC that has one. */
static inline uint32_t router_out(const struct router *r, const struct in_vc *v)
{
	return v->granted;
}
/* Returns the output of the crossbar by which a VC sends to a port. A port may
 * have several outputs, and each serves the inputs of several ports. */
static inline uint32_t router_lane(const struct router *r,
				   const struct in_vc *v, uint32_t port)
{
	return port * r->p.output_speedup + v->port % r->p.output_speedup;
}
/* Returns the rank of a packet. With arbiter `age` an older packet has a higher
 * rank. With arbiter `class` the rank is that of the packet's class. Otherwise
 * all ranks are 0. */
uint32_t router_age(const struct router *r, const struct in_vc *v);

/* Returns true if a packet may request output VC o. The VC must be free. It
 * needs a place for a flit with busy_when_full, and places for the whole packet
 * unless the flow control is wormhole. */
bool router_eligible(const struct router *r, const struct packet *p,
		     uint32_t o);

extern const struct weft_class weft_class_net_router;

/* router_step.c: takes the credits of a line that have arrived by `now`. `out`
 * are the output VCs of the line. */
void router_credits_take(struct line *l, struct out_vc *out, bool wait_for_tail,
			 uint64_t now);

/* router_stages.c, router_switch.c: each stage in two halves. All first halves
 * of a step come before all second halves. Results of a first half take effect
 * in the cycle in which the stage ends. */
void router_route_begin(struct router *r, uint64_t now);
void router_route_end(struct router *r, uint64_t now);
void router_vc_begin(struct router *r, uint64_t now);
void router_vc_end(struct router *r, uint64_t now);
void router_hold_set(struct router *r, uint32_t i);
/* Updates turns as if the VC had been granted the switch without competitors.
 */
void router_switch_pass(struct router *r, const struct in_vc *v);
/* Adds a request of input VC i for the switch to output `out`. Sets `cross` of
 * the VC if it was granted the switch. */
void router_switch_request(struct router *r, uint32_t i, uint32_t out);
void router_switch_grant(struct router *r, uint32_t i);
void router_hold_begin(struct router *r);
void router_hold_end(struct router *r, uint64_t now);
void router_switch_begin(struct router *r, uint64_t now);
void router_switch_end(struct router *r, uint64_t now);
/* Starts the stages of the packet at the front of input VC i in cycle `from`.
 */
void router_begin(struct router *r, uint32_t i, uint64_t from);
/* Carries out the stages of heads since the last step, up to requests for a VC
 * in cycle `now` - 1. Heads that first request a VC in cycle `now` take part in
 * the step. */
void router_heads_step(struct router *r, uint64_t now);
/* Returns true if the stage begins with fresh input VCs in this step. A stage
 * that is not pipelined must first end with earlier input VCs. */
bool router_stage_starts(const struct router *r, const struct stage *s);
/* Moves input VCs that began in this step to the set of the cycle in which they
 * end. */
void router_stage_move(struct router *r, struct stage *s, uint64_t now);

/* router_loads.c: prepares the loads that a routing reads. Notes them in the
 * first part of cycle `now`, after the credits of earlier cycles were taken. */
void router_loads_init(struct router *r);
void router_loads_note(struct router *r, uint64_t now);

/* Counts the flits of all cycles before `upto`. */
void router_count(struct station *s, uint64_t upto);

/* router_flow.c: carries out the cycles of flows that are before `upto`. */
void router_flows_commit(struct router *r, uint64_t upto);
/* Ends flows that need a step in cycle `now`. */
void router_flows_end(struct router *r, uint64_t now);
/* Begins flows of VCs that hold the switch. */
void router_flows_begin(struct router *r, uint64_t now);

/* router_length() returns the number of flits that VC i can send one per cycle
 * from the next cycle on. router_credits() returns the number of credits for
 * these flits, and may stop counting at `most`. */
uint32_t router_length(struct router *r, uint32_t i, uint64_t now);
uint32_t router_credits(struct router *r, const struct in_vc *v, uint32_t most,
			uint64_t now);
/* Puts flits on the line ahead of time, up to cycle `until`. */
void router_put_ahead(struct router *r, uint32_t i, uint64_t now,
		      uint64_t until);

/* router_stream.c: allocates and frees the sets of streams. */
void router_streams_init(struct router *r);
void router_streams_fini(struct router *r);
/* Carries out what streams did in the cycles before `upto`. */
void router_commit(struct router *r, uint64_t upto);
/* Ends all streams. Their VCs take part in the present step. */
void router_streams_end(struct router *r);
/* Puts n flits of input VC i on the line, which leave from cycle t on. */
void router_flits_put(struct router *r, uint32_t i, uint64_t t, uint32_t n,
		      bool head);
/* Puts n flits at the front of input VC i on the line, and their credits on the
 * line back. The flits enter the crossbar from cycle t on. */
void router_put(struct router *r, uint32_t i, uint64_t t, uint32_t n,
		bool head);
/* Takes back flits sent ahead of time if their VC does not send in this step.
 * Called after the switch has been allocated and before the step sends flits.
 */
void router_cut(struct router *r, uint64_t now);
/* Begins streams, and asks for the next step. */
void router_plan(struct router *r, uint64_t now);

/* router_step.c: carries out cycle `now`, and asks for the next step. */
void router_step(struct station *s, uint64_t now);
/* Sends the flit at the front of input VC i through the crossbar. Returns true
 * if it is the last of its packet. */
bool router_send(struct router *r, uint32_t i, uint64_t now);

#endif
