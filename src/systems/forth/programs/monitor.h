/* SPDX-License-Identifier: Apache-2.0 */
/* Program forth.monitor: state that sender and receiver share. */
#ifndef SYSTEMS_FORTH_PROGRAMS_MONITOR_H
#define SYSTEMS_FORTH_PROGRAMS_MONITOR_H

#include "programs/program.h"
#include "systems/forth/lib/device.h"

#define MON_NODES 128
/* descriptors of a cluster: one line of the processor's write buffer */
#define MON_CLUSTER 4
#define MON_EMPTY   UINT64_MAX

enum mon_part { MON_NIC, MON_SWITCH, MON_TOTAL, MON_PARTS };

struct mon_tx { /* one destination */
	uint64_t quota, due, posted;
	weft_phys_t remote;
};

struct mon_rx { /* one source */
	uint64_t expected, got, size;
	uint64_t *slots;
	/* period of the clock of the source's time stamps, in ns */
	double pc_ns;
	weft_time_t first, last;
	struct weft_hist *hist[MON_PARTS];
};

struct mon {
	/* parameters */
	uint64_t count, size, link_rate;
	char to[64];
	double load;
	bool zero, stamps34;
	weft_time_t cc, wire, turn, patience;
	/* run */
	struct program w;
	struct weft_forth *f;
	struct mon_tx tx[MON_NODES];
	struct mon_rx rx[MON_NODES];
	struct weft_hist *hist[MON_PARTS];
	uint32_t dst[MON_NODES], n_dst;
	/* destination of each packet in the order of sending, or NULL unless
	 * `load` is set */
	uint8_t *plan;
	weft_phys_t local;
	uint64_t generated, sent, received, expected;
	weft_time_t next, moved;
};

/* monitor_receive.c */
/* Collects packets that have arrived from node s. Returns whether any had
 * arrived. */
bool mon_collect(struct mon *m, uint32_t s);
void mon_results(struct mon *m);

#endif
