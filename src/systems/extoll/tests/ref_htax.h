/* SPDX-License-Identifier: Apache-2.0 */
/* Cycle-by-cycle reference of EXTOLL's on-chip crossbar (extoll.md 2.2 to 2.4,
 * 7.1: H4, N1, N6, H5). In every cycle of the core clock it evaluates all
 * requests.
 *
 *   units:  write or read, requested at a cycle -> granted -> given to the HT
 *           core -> a fixed time on the bus; the answer to a read goes to the
 *           unit of the request
 *   host:   stores, each with its time, in order, 16 in the core -> unit */
#ifndef EXTOLL_TESTS_REF_HTAX_H
#define EXTOLL_TESTS_REF_HTAX_H

#include <stdbool.h>
#include <stdint.h>

#include "weft/clock.h"

enum { REF_HX_UNITS = 9, REF_HX_RF = 3, REF_HX_MAX = 4096 };

struct ref_hx_cfg {
	struct weft_clock core, ht;
	uint32_t t_sync_in, t_htax, t_sync_out; /* cycles */
	uint32_t posted, reads;	  /* depths of the HT core's queues */
	uint64_t t_write, t_read; /* fs that a request takes on the bus */
};

/* A unit's request. Requests of one unit are in order, at most one in a
 * cycle. */
struct ref_hx_req {
	uint64_t cycle;
	uint8_t unit, bytes;
	bool read;
	uint64_t t_bus; /* fs on the bus; 0: t_write or t_read */
	/* Outcome in core cycles, but `given` in HT cycles. */
	uint64_t granted, given, done;
};

/* A store of the host. */
struct ref_hx_store {
	uint64_t time; /* fs: arrival in the HT core, if that has room */
	uint8_t unit, bytes;
	/* the store sets a read pointer, and may pass stores for which a unit
	 * has no room */
	bool pass;
	uint64_t taken; /* outcome: cycle at which the unit has the store */
};

/* State between cycles. */
struct ref_hx_work {
	uint64_t now; /* cycle */
	/* Cycles until which the outputs to the host are busy. */
	uint64_t busy[2];
	uint64_t unit_busy[REF_HX_UNITS];
	/* Cycles until which the host's inputs for stores and answers are
	 * busy. */
	uint64_t in_busy[2];
	uint32_t turn[2]; /* unit that won last, by output to the host */
	/* the unit's last arrival was a store, not an answer */
	bool store_last[REF_HX_UNITS];
	/* by store: cycle at which it is ready for the arbiter */
	uint64_t ready[REF_HX_MAX];
	/* by read: cycle at which its answer is ready for the arbiter */
	uint64_t answer[REF_HX_MAX];
	/* by read: cycle at which its granted answer is at the unit */
	uint64_t at_unit[REF_HX_MAX];
	uint32_t first; /* first request that is not done */
	uint32_t told;	/* number of stores that have entered the HT core */
	uint32_t line[REF_HX_MAX], n_line; /* stores at the arbiter */
};

struct ref_hx {
	struct ref_hx_cfg cfg;
	/* Returns true if the unit has room for one more store besides the
	 * `flying` stores in flight. NULL: every unit always has room. */
	bool (*room)(void *own, uint32_t unit, uint32_t flying);
	void *own;
	struct ref_hx_req req[REF_HX_MAX];
	struct ref_hx_store store[REF_HX_MAX];
	uint32_t n_req, n_store;
	uint32_t went[REF_HX_MAX], n_went; /* stores in the order of grants */
	struct ref_hx_work w;
};

/* Computes all outcomes. Returns false if a request or store is not complete
 * after `cycles`. */
bool ref_hx_run(struct ref_hx *x, uint64_t cycles);

/* Run the reference one cycle at a time, for tests that add requests during the
 * run. ref_hx_begin() handles the arrivals of cycle `now`. ref_hx_end() issues
 * the grants for requests and for stores. It returns true if it issued any. */
void ref_hx_reset(struct ref_hx *x);
void ref_hx_begin(struct ref_hx *x, uint64_t now);
bool ref_hx_end(struct ref_hx *x);
/* Returns the time in fs at which the bus has finished a granted request. */
uint64_t ref_hx_bus_end(const struct ref_hx *x, const struct ref_hx_req *r);

/* Returns the cycle of another clock at which a signal leaves a synchroniser.
 * The signal enters at time t, takes k - 1/2 periods and then waits for the
 * next edge: k cycles on average. */
uint64_t ref_hx_cross(const struct weft_clock *to, uint64_t t, uint32_t k);

#endif
