/* SPDX-License-Identifier: Apache-2.0 */
/* A plain router has up to 64 input VCs and the usual settings (plain_fits). A
 * separate step function carries out its cycles, with the results of the
 * general step.
 *
 * An input VC that is granted the switch may be able to send a flit in each of
 * the next cycles. All these flits leave in one operation, a flow. The router
 * changes the queue, the credits and the lines at once, as if the flow had
 * ended. If something interferes with the flow, its last flits are taken back.
 * With `hold` a flow that has a flit in its queue keeps the switch, and only a
 * lack of flits or credits can interfere. Any other flow ends when an input VC
 * competes with it for the switch.
 *
 * The step of cycle t carries out the requests for VCs of cycle t - 1, and then
 * the requests for the switch of cycle t. A head that arrives in cycle t is
 * routed in t + t_route - 1, requests a VC in the next cycle, and the switch
 * in the cycle after that. Only the request for the switch needs a step. The
 * end of a packet needs a step only if another packet waits for it. */
#ifndef SYSTEMS_ROUTER_NETWORK_PLAIN_H
#define SYSTEMS_ROUTER_NETWORK_PLAIN_H

#include "weft/types.h"

struct router;
struct station;

enum { PLAIN_VCS = 64, PLAIN_CREDITS = 24 /* runs that wait */ };

/* Sets of input VCs, unless noted otherwise, as bits. */
struct plain {
	uint64_t heads;	  /* the head has not requested a VC */
	uint64_t blocked; /* the head was refused a VC */
	uint64_t asking;  /* flits wait for the switch */
	uint64_t full;	  /* of these, those without a credit */
	/* `flows`: input VCs with a flow. `kept`: those whose flow keeps the
	 * switch. `tails`: those whose flow ends with the last flit of a
	 * packet. */
	uint64_t flows, kept, tails;
	uint64_t flow_end; /* cycle of the first end of a flow */
	/* `taken`: output VCs that packets hold. `freed`: output VCs whose
	 * packet has left in the last cycle before requests for VCs are carried
	 * out. */
	uint64_t taken, freed;
	bool again;		 /* blocked heads request a VC again */
	bool soon;		 /* something needs a step in the next cycle */
	uint64_t stepped;	 /* cycle of the last step */
	uint64_t flits, packets; /* sent, with those of flows */
	/* Input VC + 1 of the flow, by input and by output. */
	uint8_t by_in[PLAIN_VCS], by_out[PLAIN_VCS];
};

/* Returns true if the router can be a plain one. */
bool plain_fits(const struct router *r);
/* Carries out cycle `now`, and asks for the next step. */
void plain_step(struct station *s, uint64_t now);
/* Sets the counters to what they are at the beginning of cycle `upto`. */
void plain_count(struct router *r, uint64_t upto);

/* plain_flow.c: sends the flits of input VC i that was granted the switch, one
 * flit if another input VC shares its input or output. */
void plain_send(struct router *r, uint32_t i, uint64_t now, bool shared);
/* Ends the flow of input VC i. The flow must not keep the switch. The VC
 * requests the switch again. */
void plain_interrupt(struct router *r, uint32_t i, uint64_t now);
/* Ends flows that have sent the last flit of a packet before cycle `now`. */
void plain_finish(struct router *r, uint64_t now);
/* Makes flows shorter whose flits or credits were taken back. */
void plain_cuts(struct router *r, uint64_t now);
/* Continues flows that have sent all their flits, or that had no credit for
 * cycle `now`. */
void plain_extend(struct router *r, uint64_t now);
/* Starts the stages of the packet at the front of input VC i in cycle `from`.
 */
void plain_begin(struct router *r, uint32_t i, uint64_t from);

#endif
