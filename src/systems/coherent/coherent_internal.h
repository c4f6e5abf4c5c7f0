/* SPDX-License-Identifier: Apache-2.0 */
/* Parts of coh.system, shared by its files.
 *
 * All events are on edges of one clock. Within an edge the order is: the
 * interconnect (states and data change), the cores by number, the network
 * interface, and the arbiter. The arbiter is last, because it must see every
 * request of the edge. The events below are numbered in this order. */
#ifndef SYSTEMS_COHERENT_COHERENT_INTERNAL_H
#define SYSTEMS_COHERENT_COHERENT_INTERNAL_H

#include "systems/coherent/coherent.h"

enum { EV_NET, EV_CORE, EV_NI = EV_CORE + COH_CORES_MAX, EV_ARB };

enum {
	C_LOADS,
	C_STORES,
	C_HITS,
	C_MISSES,
	C_PRIVATE,
	C_UNCACHED,
	C_RD,
	C_RDX,
	C_UPGR,
	C_UPDATE,
	C_WRITE,
	C_MEM_RD,
	C_MEM_WR,
	C_CANCELLED,
	C_SUPPLIES,
	C_WRITE_BACKS,
	C_INVALIDATIONS,
	C_MERGES,
	C_ALLOCATIONS,
	C_BUSY,
	C_DDR_READS,
	C_DDR_WRITES,
	C_ROW_HITS,
	C_ARRIVED,
	C_DELIVERED,
	C_HELD_UP,
	C_POLLS,
	C_SEEN,
	C_CHECKS,
	C_ERRORS,
	C_N
};

enum coh_where { COH_COHERENT, COH_UNCACHED, COH_PRIVATE };

enum core_state { CORE_END, CORE_LOOKUP, CORE_UNCACHED, CORE_PLB, CORE_BUS };

struct coh_core {
	enum core_state state;
	bool poller;
	struct weft_timer timer;
	struct coh_op op;
	struct coh_cache cache;
	struct coh_mem priv;
	const struct coh_op *script;
	uint32_t n_script, pos;
	uint64_t left;	  /* random accesses that the core has still to make */
	uint64_t seen;	  /* words of the mailbox that the core has read */
	uint64_t see_sum; /* sum, over the words read, of the cycles from the
			   * word's arrival to its poll */
	uint64_t see_min, see_max;
};

enum ni_state { NI_END, NI_WAIT, NI_SLOT, NI_BUS };

struct coh_ni {
	enum ni_state state;
	struct weft_timer timer;
	struct coh_item item;
	const struct coh_item *items;
	uint32_t n_items, pos;
	uint64_t made;	     /* words generated */
	uint64_t last_cycle; /* cycle of the latest arrival */
	uint64_t held_since;
	uint64_t *arrival; /* cycle at which the word in each slot arrived */
};

enum net_state { NET_IDLE, NET_SNOOP, NET_DATA, NET_END };

struct coh_net {
	enum net_state state;
	struct weft_timer timer, arb;
	uint64_t due;
	uint32_t last; /* requester that got the latest grant */
	struct coh_txn txn;
	/* cache line into which the data will be written, and its state
	 * afterwards */
	struct coh_line *place;
	enum coh_state fill;
	uint8_t line[COH_LINE_MAX];
};

/* Flat memory on which every access and item is executed again, for
 * comparison. */
struct coh_check {
	struct coh_mem flat, priv[COH_CORES_MAX];
};

struct coh_system {
	/* parameters */
	struct weft_clock clock;
	uint32_t cores, ways, line;
	uint64_t size, ddr_bytes, uncached_bytes, private_bytes, row_bytes;
	uint64_t private_base;
	bool update_alloc, supply_shared, verify;
	uint32_t banks, width;
	uint32_t t_hit, t_port, t_plb, t_arb, t_req, t_snoop, t_supply;
	uint32_t t_reply, t_ni, t_ctrl, t_rp, t_rcd, t_cas, t_cwl;
	uint32_t delivery, into, target, pollers, poll_gap, slots, stride;
	uint64_t words, start, interval, jitter, mailbox;
	uint64_t ops, region, region_base;
	uint32_t gap;
	double stores, privately, uncached;
	/* state of the run */
	struct coh_core core[COH_CORES_MAX];
	struct coh_ni ni;
	struct coh_net net;
	struct coh_ddr ddr;
	struct coh_check check;
	struct coh_watch watch;
	struct weft_hist *seen;
	uint64_t last; /* cycle of the latest event */
};

static inline uint64_t coh_cycle(struct weft_comp *c)
{
	struct coh_system *s = c->state;

	return weft_clock_cycle(&s->clock, weft_now(c));
}

static inline void coh_at(struct weft_comp *c, struct weft_timer *tm,
			  uint32_t event, uint64_t cycle)
{
	struct coh_system *s = c->state;

	weft_timer_arm(c, tm, event, weft_clock_edge(&s->clock, cycle));
}

/* setup.c: returns the kind of memory at an address (forth.md 9) as enum
 * coh_where, or -1 if the address is invalid. */
int coh_where(const struct coh_system *s, uint64_t addr, uint32_t bytes);

/* Checks parameters that depend on each other. Returns 0 or -EINVAL. */
int coh_setup_check(struct weft_comp *c, struct weft_err *err);

/* net.c: coh_net_ask() registers a pending request. The kind of the request is
 * determined at the grant, because the cache line may change before the
 * grant. */
void coh_net_ask(struct weft_comp *c);
void coh_net_event(struct weft_comp *c);
/* Grants the idle interconnect to the next requester, round robin. Runs last in
 * an edge, so that it sees every request of that edge. */
void coh_net_arbitrate(struct weft_comp *c);

/* net_snoop.c: frees a line of a cache for addr. Returns the cycles in which
 * the old bytes of the line are written back, or 0 if the line was clean. */
uint32_t coh_net_evict(struct weft_comp *c, uint32_t cache, uint64_t addr);
/* Functions by kind of request. Each lets all snoopers answer the request and
 * sets the cycle at which the requester has the data. Returns the cycle at
 * which the interconnect is free. */
extern uint64_t (*const coh_net_serve[COH_BUSES])(struct weft_comp *c,
						  struct coh_txn *t);

/* core.c */
/* Issues the next access of core i, if it has one. */
void coh_core_issue(struct weft_comp *c, uint32_t i);
void coh_core_event(struct weft_comp *c, uint32_t i);
/* Executes the access of core i on `bytes`. The core then continues. */
void coh_core_perform(struct weft_comp *c, uint32_t i, uint8_t *bytes);

/* ni.c */
/* Requests an event at the arrival of the next word, if there is one. */
void coh_ni_start(struct weft_comp *c);
/* Requests the interconnect for the word that has arrived, or waits until its
 * slot of the mailbox is free. */
void coh_ni_event(struct weft_comp *c);
/* Returns the address of the mailbox slot of word `seq`, which counts from 0.
 */
uint64_t coh_ni_slot(const struct coh_system *s, uint64_t seq);

/* check.c: executes an access of core i on the flat memory too, and checks the
 * value of a load. */
void coh_check_op(struct weft_comp *c, uint32_t i, const struct coh_op *op,
		  uint64_t value);
/* Checks the line of a transaction that has ended, in all caches and in
 * memory. */
void coh_check_txn(struct weft_comp *c, const struct coh_txn *t);

#endif
