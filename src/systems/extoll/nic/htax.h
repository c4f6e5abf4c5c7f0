/* SPDX-License-Identifier: Apache-2.0 */
/* HTAX, the on-chip crossbar (extoll.md 2.4, 7.1: H4, N1, N6, H5), and the
 * interface of functional units to it.
 *
 *   host stores  --posted queue--> sync 3 T --+            +--> unit.store
 *   read answers ---------------> sync 3 T ---+-- 4 T -----+--> pkt.done
 *   host loads   --after all earlier stores--> register file
 *
 *   ex_htax_send: writes, reads --- 4 T --- sync 3 HT cycles --> bus.submit
 *
 * HTAX transfers 64 bits in each cycle of the core clock. A packet of n bytes
 * occupies its output (and the host's inputs) for 1 + n/8 cycles. An output
 * transfers one packet at a time and serves the inputs round robin. A packet
 * waits while its output is occupied, the HT core's queue is full or the unit
 * has no room. Stores of read pointers pass stores that wait for room
 * (htax_pass.c), because otherwise two nodes could wait for each other. Writes
 * of one unit stay in order up to the host's memory. */
#ifndef SYSTEMS_EXTOLL_NIC_HTAX_H
#define SYSTEMS_EXTOLL_NIC_HTAX_H

#include "base/ring.h"
#include "systems/extoll/nic/regs_map.h"
#include "weft/bus.h"
#include "weft/trace.h"

struct extoll_nic;

/* A write or read of host memory by a unit. ex_pkt_new() returns it,
 * ex_htax_send() takes ownership of it. */
struct hx_pkt {
	/* The unit sets op, addr and bytes (1..64, not across a multiple of
	 * 64). For a write it also sets data. For a read HTAX sets data, and
	 * the unit may set `relaxed` (bus.h). */
	struct weft_bus_txn txn;
	/* Called when HTAX has granted the packet, which leaves the unit now.
	 * May be NULL. */
	void (*sent)(struct extoll_nic *n, struct hx_pkt *p);
	/* Read: called when the answer begins to arrive at the unit, one word
	 * per cycle. txn holds status and data of the answer. The data are all
	 * ones if the status is not WEFT_BUS_OK. Write: called when the packet
	 * has left the NIC. May be NULL. HTAX drops p and its data after the
	 * call. A unit that needs the data longer takes a reference with
	 * weft_slice_ref(). */
	void (*done)(struct extoll_nic *n, struct hx_pkt *p);
	uint64_t user[2]; /* for the unit's use */
	/* 1 + VPID of the mailbox or ring that the packet writes; 0 = none */
	uint16_t box;
	/* HTAX's own: */
	uint64_t cycle; /* cycle of the packet's next step in HTAX */
	struct hx_pkt *next;
	struct hx_pkt *chain; /* next in the list of all packets */
	uint8_t from;
};

/* A store of the host for a unit. */
struct hx_store {
	uint64_t cycle; /* HTAX's own */
	uint32_t off;	/* offset in BAR0, a multiple of 4 */
	uint8_t bytes;	/* 4..64 */
	/* enum extoll_htax_port, HX_UNIT_NONE before arbitration */
	uint8_t unit;
	uint64_t trace; /* message */
	uint8_t data[64];
};

/* Operations of a functional unit. Any may be NULL. */
struct ex_unit {
	int (*init)(struct extoll_nic *n, struct weft_err *err);
	/* Returns true if the unit has room for another store besides the
	 * `flying` stores in flight to it. The unit calls ex_htax_go() when the
	 * answer may have changed. */
	bool (*room)(struct extoll_nic *n, uint32_t flying);
	/* Delivers a store. Called in phase 1 of the cycle at which its first
	 * word is at the unit (after N1). */
	void (*store)(struct extoll_nic *n, const struct hx_store *s);
	/* Event of weft_wake(n->comp, EX_TAG_UNIT + port, t). */
	void (*event)(struct extoll_nic *n, uint32_t port);
	/* End of run: frees all frames and slices if the run came to rest. */
	int (*finish)(struct extoll_nic *n, struct weft_err *err);
	void (*fini)(struct extoll_nic *n);
};

struct hx_list {
	struct hx_pkt *head, *tail;
};

enum { HX_TO_POSTED, HX_TO_NONPOSTED, HX_TO_HOST };
enum { HX_UNIT_NONE = 0xff }; /* the unit is not yet known */

struct ex_htax {
	/* units to host, by output and input: */
	struct hx_list want[HX_TO_HOST][EXTOLL_HX_N];
	uint32_t wants[HX_TO_HOST];	    /* packets in the lists `want` */
	struct hx_list leaving[HX_TO_HOST]; /* packets in the synchroniser */
	/* number of writes in the HT core's queue, number of read tags in
	 * use */
	uint32_t in_core[HX_TO_HOST];
	uint32_t limit[HX_TO_HOST];
	/* host to units, stores in order: */
	struct {
		RING(struct hx_store);
	} store;
	/* granted stores in flight: the first ones in the ring */
	uint32_t granted;
	struct {
		struct weft_bus_note note;
		uint32_t behind; /* stores that precede the load */
		bool waits;
	} load; /* load of the host that waits behind stores (one at most) */
	struct hx_list answer;	 /* answers that wait for a grant */
	struct hx_list arriving; /* granted answers */
	/* Cycles from which the host's inputs for stores and for answers are
	 * free. */
	uint64_t in_free[2];
	uint8_t flying[EXTOLL_HX_N];
	/* outputs: */
	uint64_t free[EXTOLL_HX_N];
	uint8_t last[EXTOLL_HX_N];
	struct weft_timer timer;
	bool deciding; /* the arbitration of this cycle has not run yet */
	/* register stores cross HTAX, in order with other stores */
	bool ordered;
	struct hx_pkt *pool, *all;
};

/* Returns an empty packet from the pool. Never fails. */
struct hx_pkt *ex_pkt_new(struct extoll_nic *n);
/* Returns a write of `bytes` bytes. Its data have real bytes even in runs
 * without payload, because software depends on them. */
struct hx_pkt *ex_pkt_write(struct extoll_nic *n, weft_phys_t addr,
			    uint32_t bytes);
/* Queues a request of unit `from` that is ready at `cycle`. `cycle` must not be
 * before now, nor before the cycles of the unit's earlier requests. Takes
 * ownership of the packet and of the reference to its data. */
void ex_htax_send(struct extoll_nic *n, enum extoll_htax_port from,
		  struct hx_pkt *p, uint64_t cycle);
/* Returns the number of writes to mailbox or ring of the VPID that have not
 * left the NIC. Software needs this number, because the answer to a load can
 * overtake such writes. */
uint32_t ex_htax_pending(const struct extoll_nic *n, uint32_t vpid);
/* Tries to grant the waiting stores, because a unit may have room. */
void ex_htax_go(struct extoll_nic *n);

/* For htax_bus.c: requests arbitration at this cycle. */
void ex_htax_arm(struct extoll_nic *n, uint64_t cycle);
/* Drops the data and returns the packet to the pool. */
void ex_pkt_free(struct extoll_nic *n, struct hx_pkt *p);
/* Counts and reports an access of the host that no unit accepts. */
void ex_htax_discard(struct extoll_nic *n, uint64_t off);
/* Called when the store at the arbiter has no room at its unit. Moves a later
 * store of a read pointer in front of that store. Returns true if it has moved
 * one. */
bool ex_htax_pass(struct extoll_nic *n, uint64_t cycle);
/* Returns the first cycle after `cycle` at which another store arrives, or
 * WEFT_NEVER. That store may be able to pass the store at the arbiter. */
uint64_t ex_htax_pass_from(const struct extoll_nic *n, uint64_t cycle);
/* Called when a store in front of the waiting load has arrived at its unit. */
void ex_htax_load_moved(struct extoll_nic *n);
static inline void hx_list_push(struct hx_list *l, struct hx_pkt *p)
{
	p->next = NULL;
	if (l->head)
		l->tail->next = p;
	else
		l->head = p;
	l->tail = p;
}

/* For nic.c: */
void ex_htax_start(struct extoll_nic *n);
/* Handles all notes of the bus. Returns true if there were any. */
bool ex_htax_notes(struct extoll_nic *n);
/* Decides whether a note that the bus sends ahead of the note's time needs an
 * event. */
enum weft_told ex_htax_told(struct weft_port *p,
			    const struct weft_bus_note *note);
void ex_htax_event(struct extoll_nic *n);   /* EX_TAG_HTAX */
void ex_htax_deliver(struct extoll_nic *n); /* EX_TAG_IN */
void ex_htax_leave(struct extoll_nic *n);   /* EX_TAG_OUT */
void ex_htax_load(struct extoll_nic *n);    /* EX_TAG_LOAD */
void ex_htax_fini(struct extoll_nic *n);

#endif
