/* SPDX-License-Identifier: Apache-2.0 */
/* Cycle-by-cycle reference of the FORTH NIC's request queues, DMA engine, VOQs
 * with segments and external memory, and Net2Host. With several paths, the
 * reference also covers the choice of the path and the order of notifications
 * (forth.md 3.3-3.8, 4.11, 5.2, 6.2-6.4, 7.2-7.4, 11.1). The bus is serial with
 * fixed priority (completion, write, read). The links are those of ref_link.h:
 * either all are bundled to one, or each is a path. Every PCI edge and every
 * NET edge is visited, and nothing is computed in advance except fixed delays.
 * Shares no code with forth/nic. */
#ifndef FORTH_TESTS_REF_DMA_H
#define FORTH_TESTS_REF_DMA_H

#include "ref_link.h"

enum {
	REF_DESCS = 256,
	REF_SENDS = 512,
	REF_PKTS = 4096,
	REF_OPS = 2048,
	REF_PATHS = 4
};

struct ref_desc {
	uint64_t pc; /* PCI edge at which the NIC sees the start flag */
	uint32_t queue, slot;
	uint64_t src, q1;
};

/* A packet to the NIC. Packets of one source are in the order of sending,
 * packets of one link in the order of `cycle`. */
struct ref_send {
	uint64_t cycle, header;
	uint32_t link, src;
	bool lost; /* never comes */
};

struct ref_dma_cfg {
	bool multi; /* each link is a path of its own */
	/* paths of successive packets to a destination */
	uint32_t path[8], n_path;
	/* for each cable: its delay beyond 24 NET cycles, in NET cycles */
	uint32_t delay[REF_PATHS];
	uint32_t links, queues, voqs, voq_words, max_qwords, min_bytes;
	uint32_t seg_qwords;
	uint32_t ext_blocks, block_words, hi, lo, rd_lat, rate; /* words */
	uint32_t lnotify_read, overlap, bench_zero;
	uint32_t t_arb, t_ph, t_split, t_gap, t_disc, chunk, mmrbc;
	uint32_t quarters; /* cut-through */
	uint32_t sink_lanes, sink_cap, sink_hold, refresh;
	uint64_t lnotify, rnotify; /* addresses */
	uint32_t pc_t, cc_t; /* periods of both clocks in units of 100 ps */
	struct ref_desc desc[REF_DESCS];
	uint32_t n_desc;
	struct ref_send send[REF_SENDS];
	uint32_t n_send;
	uint64_t end_pc;
};

struct ref_op {
	bool write;
	uint64_t req, done, addr, word;
	uint32_t bytes;
};

struct ref_arrival {
	uint64_t cycle, header;
};

struct ref_dma_log {
	struct ref_op op[REF_OPS];
	uint32_t n_op;
	struct ref_arrival pkt[REF_PATHS][REF_PKTS]; /* packets that arrived at
							the far ends */
	uint32_t n_pkt[REF_PATHS];
	/* start of each packet that the far ends sent */
	uint64_t start[REF_PATHS][REF_SENDS];
	uint32_t n_start[REF_PATHS];
	uint64_t active[2], granted[2], qwords[2], split, backpressure;
	uint32_t head[8], sent0, acked0;
	uint32_t ext_free, fetches, losses;
};

void ref_dma_run(const struct ref_dma_cfg *cfg, struct ref_dma_log *log);

#endif
