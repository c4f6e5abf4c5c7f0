/* SPDX-License-Identifier: Apache-2.0 */
/* Cycle-by-cycle reference of a whole fabric in one NET clock (forth.md 5, 8):
 * nodes around one buffered crossbar, or two nodes face to face, or two
 * crossbars joined by trunks. The path of a packet decides which trunk it
 * takes. A node has a queue per destination, served round robin, credits, and a
 * sink behind a bus. */
#ifndef FORTH_TESTS_REF_XBAR_H
#define FORTH_TESTS_REF_XBAR_H

#include "ref_link.h"

enum { REF_PORTS = 8, REF_TRUNKS = 3, REF_SWITCH = REF_PORTS + REF_TRUNKS };

struct ref_cfg {
	/* n: number of nodes. direct: 2 nodes without a switch */
	uint32_t n, direct;
	/* With two switches, nodes below `half` are at the first switch. All
	 * other nodes are at the second switch, from its port 0 on. The last
	 * `trunks` ports of each switch lead to the other switch. If trunks is
	 * 0, there is one switch of n ports. */
	uint32_t half, trunks;
	uint32_t links, packed, t_ser, crtx, crrx, refresh, credit_words;
	uint32_t min_payload, xp_words, rx_words, l2d, t_bus;
	uint32_t domains, xp_sync, xp_same, cs_sync, per_word;
	uint32_t presched, pipe_change, pipe_same;
	uint64_t net_fs, bus_fs; /* clock periods */
	uint64_t hold;		 /* cycle until which sinks take nothing */
};

struct ref_fifo {
	struct ref_pkt *head, *tail;
	/* n: number of packets. words: number of words in the crosspoint now.
	 * high: largest value of `words` so far */
	uint32_t n, words, high;
};

struct ref_node {
	struct ref_end end;
	struct ref_fifo script, voq[REF_PORTS];
	uint32_t rr;
	/* sink */
	struct ref_fifo rx, done;
	uint64_t bus_edge; /* next edge of the bus clock */
	uint32_t wait, left, rest, step;
};

struct ref_out {
	struct ref_end end;
	struct ref_fifo xp[REF_SWITCH]; /* by input */
	uint32_t last;
	bool served, chosen;
	uint32_t choice;
	uint64_t begin, line_end;
	/* The next two members are used with cfg.per_word. pay_left: words of
	 * the packet on the line whose credits have not returned yet. pay_in:
	 * index of the input that returns these credits */
	uint32_t pay_left, pay_in;
	/* index of the next word of the packet that is entering */
	uint32_t in_at;
	struct ref_fifo *out_xp; /* crosspoint of the packet that is leaving */
	uint32_t out_at;
};

/* A log entry: the start of a packet at a source or at a switch. */
struct ref_log {
	uint64_t cycle;
	/* number of the source or output: i for source i, 100 + i for the
	 * output that leads to node i, or 200 + o for output o if it is a
	 * trunk */
	uint32_t where, src, dst, seq;
};

struct ref_fab {
	struct ref_cfg cfg;
	struct ref_node node[REF_PORTS];
	struct ref_out out[2 * REF_SWITCH]; /* outputs of both switches */
	uint64_t cycle;
	struct ref_log *log;
	uint32_t n_log, cap_log;
};

struct ref_fab *ref_fab_new(const struct ref_cfg *cfg);
void ref_fab_free(struct ref_fab *f);
/* ref_ports returns the number of ports of a switch, ref_place the output that
 * leads to node i. */
uint32_t ref_ports(const struct ref_cfg *c);
uint32_t ref_place(const struct ref_cfg *c, uint32_t node);
/* Offers a packet from cycle `ready` on. Calls for one node must be in order of
 * `ready`. */
void ref_fab_offer(struct ref_fab *f, uint32_t src, uint32_t dst, uint32_t path,
		   uint32_t qwords, uint32_t seq, uint64_t ready);
/* Runs all cycles below `until`. */
void ref_fab_run(struct ref_fab *f, uint64_t until);

#endif
