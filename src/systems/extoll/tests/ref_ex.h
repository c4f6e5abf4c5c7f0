/* SPDX-License-Identifier: Apache-2.0 */
/* Simplest possible model of EXTOLL crossbars, link ports and network ports: it
 * evaluates all of them in every cycle (extoll.md 3.9, 3.10, 4, 5.6, 7.1).
 * Shares no code with the product. */
#ifndef EXTOLL_TESTS_REF_EX_H
#define EXTOLL_TESTS_REF_EX_H

#include <stdbool.h>
#include <stdint.h>

enum {
	RX_NODES = 4,
	RX_PORTS = 9,
	RX_VCS = 4,
	RX_PKTS = 512,
	RX_NOWHERE = 0xffff,
};

struct rx_cfg {
	uint32_t nodes;
	uint32_t flit_bytes; /* 2 or 4 */
	bool framed;
	uint32_t cell_flits, gap, slots, reserved, window;
	uint32_t ack_every, ack_idle, refresh;
	uint32_t t_route, t_cross, t_lp_out, t_lp_in;
	uint32_t t_transit; /* additional cycles from link to link */
	/* cycles that a flit takes from the line of one end into the clock
	 * domain of the other end */
	uint32_t cross;
	/* far end of a link port: node * RX_PORTS + port, or RX_NOWHERE */
	uint16_t peer[RX_NODES][RX_PORTS];
	uint32_t dateline[RX_NODES]; /* mask of dateline ports */
	bool np[RX_NODES][3];	     /* a network port is attached */
	uint32_t depth;		     /* packets per class that a port accepts */
};

struct rx_pkt {
	uint32_t src, np, cls;
	uint64_t ready; /* cycle at which the packet is handed to the port */
	uint32_t flits; /* without routing flits */
	uint32_t hops;	/* nibbles */
	uint8_t nib[16];
	bool headed;	 /* the packet begins with H0 */
	uint8_t head[8]; /* lowest nibbles of H0 */
	uint32_t hold;	 /* cycles after which the receiver frees each slot */
};

struct rx_got { /* a cell that a network port handed over */
	uint64_t cycle;
	uint16_t node, np, pkt;
	uint16_t first, flits;
	bool eop;
};

struct rx_sum { /* sums for each node and port */
	uint64_t cells, flits, busy, ctl;
};

struct rx_result {
	struct rx_got *got;
	uint32_t n_got;
	struct rx_sum sum[RX_NODES][RX_PORTS];
	struct rx_sum np_sum[RX_NODES][3]; /* of network ports, as senders */
	uint64_t conflicts[RX_NODES], discards[RX_NODES];
};

/* Runs `cycles` cycles. The packets are in order of `ready`. */
void rx_run(const struct rx_cfg *c, const struct rx_pkt *pkt, uint32_t n,
	    uint64_t cycles, struct rx_result *r);

#endif
