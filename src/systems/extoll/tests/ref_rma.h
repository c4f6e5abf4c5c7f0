/* SPDX-License-Identifier: Apache-2.0 */
/* Cycle-by-cycle reference of EXTOLL's remote memory access (extoll.md 3.4 to
 * 3.6, 5.3, 5.4, 7.5): requester, responder and completer with their ATU
 * (ref_atu.h), on the on-chip crossbar (ref_htax.h). In every cycle of the core
 * clock each unit runs until it must wait.
 *
 * The order within a cycle: cells and packets of network port 1, cells of port
 * 2, a store, an answer. Then requester, responder, completer and ATU run until
 * none of them changes, then HTAX. Units and HTAX are repeated until HTAX
 * grants nothing. This order matters only if units request slots of one
 * notification ring, or walks of the ATU, in the same cycle.
 *
 * The network is not modelled. The inputs say which cells arrive and when
 * packets have left the network port. */
#ifndef EXTOLL_TESTS_REF_RMA_H
#define EXTOLL_TESTS_REF_RMA_H

#include "ref_htax.h"

enum {
	REF_RMA_VPIDS = 8,
	REF_RMA_MAX = 2048,
	REF_RMA_CYCLES = 16384,
	REF_RMA_VCS = 4,
	REF_RMA_UNDER_WAY = 4, /* commands in progress in a unit */
	REF_RMA_READS = 8,
	REF_RMA_QUEUE = 16,
};

struct ref_rma_cfg {
	uint32_t interval, depth, node, nodes, locks;
	uint64_t lock_base, table;
	/* reads of every n-th block of 64 bytes take t_slow; 0: none does */
	uint32_t slow_each;
	uint64_t t_slow;
	struct {
		bool enabled, physical;
		uint32_t classes, pd, slots;
		uint64_t ring;
	} vpid[REF_RMA_VPIDS];
};

enum ref_rma_what { REF_RMA_DESC, REF_RMA_RP, REF_RMA_ATU };

struct ref_rma_store { /* additions to the store of ref_htax.h */
	enum ref_rma_what what;
	uint32_t vpid, opt;
	uint64_t w[3];
};

struct ref_rma_pkt { /* a packet that arrives */
	uint64_t h[3];
	uint32_t len, pd;
	bool malformed;
};

struct ref_rma_cell {
	uint64_t cycle;
	/* end: offset in the packet behind the cell's last byte */
	uint32_t pkt, end;
	uint8_t np, vc;
	bool eop;
};

struct ref_rma_left { /* a packet has left network port 1 */
	uint64_t cycle;
	uint8_t cls;
};

struct ref_rma_gate {  /* software changes a table entry */
	uint64_t time; /* fs */
	uint64_t addr, gate;
};

struct ref_rma_out {	     /* a packet that is sent */
	uint64_t h[3], from; /* from: physical address of the data */
	uint32_t len, pd, cls;
};

struct ref_rma_req { /* additions to the request of ref_htax.h */
	uint64_t addr;
	uint64_t w[2]; /* words of a notification; unused for data */
	bool data;
	uint32_t pkt, off; /* packet and offset of the data */
	uint32_t user;
	bool granted_seen, done_seen;
};

/* State to compare at the end of a cycle. */
struct ref_rma_seen {
	struct {
		uint32_t started, over, asked, got, handed;
		uint8_t state[REF_RMA_UNDER_WAY];
	} tx[2];
	uint8_t in_state[REF_RMA_VCS];
	uint32_t in_cells[REF_RMA_VCS], writes, requests, waiting;
	uint32_t hits, misses, faults, commands, stores;
	uint32_t wp[REF_RMA_VPIDS];
};

enum ref_rma_tx_state {
	REF_TX_CMD = 1,
	REF_TX_XLATE,
	REF_TX_READ,
	REF_TX_SEND,
	REF_TX_NOTI
};

enum ref_rma_in_state {
	REF_IN_WAIT,
	REF_IN_CHECK,
	REF_IN_XLATE,
	REF_IN_LOCK,
	REF_IN_WRITE,
	REF_IN_DRAIN,
	REF_IN_NOTI
};

struct ref_rma {
	struct ref_rma_cfg cfg;
	struct ref_hx hx;
	struct ref_rma_store store[REF_HX_MAX];
	struct ref_rma_req req[REF_HX_MAX];
	struct ref_rma_pkt pkt[REF_RMA_MAX];
	struct ref_rma_cell cell[REF_HX_MAX];
	struct ref_rma_left left[REF_RMA_MAX];
	struct ref_rma_gate gate[REF_RMA_MAX];
	uint32_t n_pkt, n_cell, n_left, n_gate;
	uint64_t from; /* first cycle */
	uint32_t cycles;
	/* outcome */
	struct ref_rma_seen seen[REF_RMA_CYCLES];
	struct ref_rma_out out[REF_RMA_MAX];
	uint32_t n_out;
	uint32_t good[3], bad[3], discarded, stalls, locks, replaced, stale;
};

void ref_rma_run(struct ref_rma *x);

#endif
