/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the reference of EXTOLL's networks: lines with their credits and
 * ACKs (ref_ex_line.c), crossbars and network ports (ref_ex.c). */
#ifndef EXTOLL_TESTS_REF_EX_INTERNAL_H
#define EXTOLL_TESTS_REF_EX_INTERNAL_H

#include "ref_ex.h"

/* A cell in one direction of a channel, at the sender or in the receiver's
 * RAM. */
struct cell {
	uint16_t pkt, first;
	uint8_t flits, vc, vc_out, skip;
	bool sop, eop;
	uint64_t seen;
	uint32_t order; /* order of arrival at this input */
};

/* credit or ACK that takes effect, or becomes ready, at a cycle */
struct note {
	uint64_t at;
	uint8_t kind, n; /* kind: 0..3 credits of that VC, 4 ACK */
};

struct list {
	struct note v[4096];
	uint32_t n;
};

struct line {
	bool there, framed;
	uint32_t t_out;
	uint64_t busy_till; /* first cycle of the line that is not planned */
	uint64_t last_cell;
	bool any_cell;
	uint32_t used[RX_VCS], unacked;
	/* received credits and ACKs that are not yet in effect */
	struct list effects;
	/* Credits and ACKs that the receiving end of this line owes. They are
	 * sent on the line in the opposite direction: */
	struct list due; /* credits, by the cycle at which they are ready */
	/* ACKs of cells, by the cycle at which they are ready */
	struct list ends;
	uint32_t owed[RX_VCS];
	uint64_t refresh_at;
	/* cells in flight to, or at, the receiver */
	struct cell way[128];
	uint32_t n_way;
};

struct queue {
	struct cell c[160];
	uint32_t n;
};

struct port_np {
	uint16_t q[2][RX_PKTS];
	/* by class: first packet of the queue, length of the queue, next flit
	 * of the first packet */
	uint32_t head[2], n[2], flit[2];
	uint32_t turn;
	struct {
		uint64_t at;
		uint8_t vc;
	} held[256];
	uint32_t n_held;
};

struct node {
	struct line out[RX_PORTS]; /* crossbar to the outside */
	struct line in[3];	   /* network port to crossbar */
	/* queues by input, output and incoming VC */
	struct queue q[RX_PORTS][RX_PORTS][RX_VCS];
	uint64_t read_free[RX_PORTS];
	uint32_t route_out[RX_PORTS][RX_VCS], route_vc[RX_PORTS][RX_VCS];
	int lock[RX_PORTS][RX_VCS]; /* bit that owns a VC of an output, or -1 */
	uint64_t mask_out[RX_PORTS]; /* thermometer masks of the arbiters */
	uint32_t mask_in[RX_PORTS];
	struct port_np np[3];
	uint32_t arrived;
};

struct world {
	const struct rx_cfg *c;
	const struct rx_pkt *pkt;
	struct rx_result *r;
	struct node *node;
	uint8_t pos[RX_PKTS], dim[RX_PKTS];
	/* by packet: nibbles left in the first flit of the packet's header */
	uint8_t head[RX_PKTS][8];
	uint64_t now, end;
};

struct line *rx_back(struct world *w, uint32_t n, uint32_t o, bool np_side);
void rx_take_effect(struct line *l, uint64_t now);
bool rx_may_send(const struct rx_cfg *c, const struct line *l, uint32_t vc);
bool rx_plan(struct world *w, struct line *l, struct line *rev,
	     struct rx_sum *sum);
void rx_leave(struct world *w, struct line *l, struct cell x, uint32_t vc,
	      uint32_t t_in, struct rx_sum *sum);
void rx_freed(struct world *w, struct line *l, uint32_t vc, uint64_t at,
	      bool link);

#endif
