/* SPDX-License-Identifier: Apache-2.0 */
/* Cycle-by-cycle reference of EXTOLL's VELO requester (extoll.md 3.2, 5.1) with
 * the path from the HT core through HTAX (2.4). In every cycle of the core
 * clock it takes the store that has arrived, checks all open messages, and
 * grants one store.
 *
 *   stores -> HTAX -> one open message per page -> 13 cycles -> network port */
#ifndef EXTOLL_TESTS_REF_VELO_RQ_H
#define EXTOLL_TESTS_REF_VELO_RQ_H

#include <stdbool.h>
#include <stdint.h>

#include "weft/clock.h"

enum {
	REF_VRQ_MAX = 2048,
	REF_VRQ_CYCLES = 20000,
	REF_VRQ_PAGES = 4,
	REF_VRQ_WHY = 7
};

/* Reasons to drop, numbered as the registers that count them. */
enum ref_vrq_why {
	REF_VRQ_ALIGN,
	REF_VRQ_LENGTH,
	REF_VRQ_RESERVED,
	REF_VRQ_MULTICAST,
	REF_VRQ_DISABLED,
	REF_VRQ_PARTIAL,
	REF_VRQ_NO_ROUTE
};

struct ref_vrq_cfg {
	struct weft_clock core;
	uint32_t t_req, t_sync_in, t_htax, partial; /* cycles */
	uint32_t depth; /* packets that the network port holds */
	uint32_t nodes; /* number of nodes that have a route */
	bool enabled[REF_VRQ_PAGES];
};

struct ref_vrq_store {
	uint64_t time; /* fs: arrival in the HT core */
	uint32_t page, off, bytes;
	uint8_t data[8]; /* the first bytes of the store */
};

/* State at the end of a cycle. */
struct ref_vrq_seen {
	/* cycle at which the first word of the last message is ready */
	uint64_t first;
	uint32_t sent, drop[REF_VRQ_WHY];
	bool holds; /* a message has no room in the network port */
};

struct ref_vrq {
	struct ref_vrq_cfg cfg;
	struct ref_vrq_store store[REF_VRQ_MAX];
	/* cycles at which packets left the network port */
	uint64_t left[REF_VRQ_MAX];
	uint32_t n_store, n_left;
	uint64_t from; /* first cycle */
	uint32_t cycles;
	/* outcome */
	struct ref_vrq_seen seen[REF_VRQ_CYCLES];
	uint64_t header[REF_VRQ_MAX]; /* headers of the messages sent */
	uint32_t page[REF_VRQ_MAX];
};

void ref_vrq_run(struct ref_vrq *x);

#endif
