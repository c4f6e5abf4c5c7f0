/* SPDX-License-Identifier: Apache-2.0 */
/* HTAX, the on-chip crossbar (extoll.md 2.4, 7.1: H4, N1, N6, H5), and what a
 * functional unit offers to it.
 *
 *   host stores  --posted queue--> sync 3 T --+            +--> unit.store
 *   read answers ---------------> sync 3 T ---+-- 4 T -----+--> pkt.done
 *   host loads   --behind the stores in front of them--> register file
 *
 *   ex_htax_send: writes, reads --- 4 T --- sync 3 HT cycles --> bus.submit
 *
 * 64 bit wide at the core clock: a packet of n bytes keeps its output (and the
 * host's inputs) busy for 1 + n/8 cycles.  One packet at a time per output,
 * round robin among inputs; a packet waits while its output is taken, the HT
 * core's queue is full or the unit has no room; read pointers pass stores that
 * wait for room (htax_pass.c).  Writes of one unit stay in order, also behind
 * the host's memory. */
#ifndef SYSTEMS_EXTOLL_NIC_HTAX_H
#define SYSTEMS_EXTOLL_NIC_HTAX_H

#include "base/ring.h"
#include "systems/extoll/nic/regs_map.h"
#include "weft/bus.h"
#include "weft/trace.h"

struct extoll_nic;

/* A write or read of a unit; from ex_pkt_new, given away with ex_htax_send. */
struct hx_pkt {
	/* op, addr, bytes (1..64, not across a multiple of 64) and, for
	 * writes, data are the unit's; a read gets its data slice from HTAX
	 * and may set `relaxed` (bus.h). */
	struct weft_bus_txn txn;
	/* It has left the unit: granted by HTAX, now.  May be NULL. */
	void (*sent)(struct extoll_nic *n, struct hx_pkt *p);
	/* Read: the answer is at the unit from now on, one word per cycle;
	 * status and data in txn (WEFT_BUS_OK or all ones).  Write: it is out
	 * of the NIC.  May be NULL.  p and its data are dropped afterwards
	 * (keep data with weft_slice_ref). */
	void (*done)(struct extoll_nic *n, struct hx_pkt *p);
	uint64_t user[2]; /* the unit's */
	uint16_t box; /* 1 + VPID whose mailbox or ring it writes; 0 = none */
	/* HTAX's own */
	uint64_t cycle; /* waits for it */
	struct hx_pkt *next;
	struct hx_pkt *chain; /* of all there are */
	uint8_t from;
};

/* One store of the host into a requester page. */
struct hx_store {
	uint64_t cycle; /* HTAX's own */
	uint32_t off;	/* in BAR0, 4-byte steps */
	uint8_t bytes;	/* 4..64 */
	uint8_t unit;	/* enum extoll_htax_port, when it is at the arbiter */
	uint64_t trace; /* message */
	uint8_t data[64];
};

/* A functional unit: everything the NIC asks of it.  Any may be NULL. */
struct ex_unit {
	int (*init)(struct extoll_nic *n, struct weft_err *err);
	/* May one more store come, besides `flying` that are on the way?
	 * When the answer may have changed: ex_htax_go. */
	bool (*room)(struct extoll_nic *n, uint32_t flying);
	/* Phase 1; now = the first word is at the unit (after N1). */
	void (*store)(struct extoll_nic *n, const struct hx_store *s);
	/* weft_wake(n->comp, EX_TAG_UNIT + port, t). */
	void (*event)(struct extoll_nic *n);
	/* End of run: nothing may be left that holds frames or slices when
	 * the run came to its end. */
	int (*finish)(struct extoll_nic *n, struct weft_err *err);
	void (*fini)(struct extoll_nic *n);
};

struct hx_list {
	struct hx_pkt *head, *tail;
};

enum { HX_TO_POSTED, HX_TO_NONPOSTED, HX_TO_HOST };
enum { HX_UNIT_NONE = 0xff }; /* not looked at yet */

struct ex_htax {
	/* units to host, by output and input */
	struct hx_list want[HX_TO_HOST][EXTOLL_HX_N];
	uint32_t wants[HX_TO_HOST];	    /* how many there are */
	struct hx_list leaving[HX_TO_HOST]; /* in the sync FIFO */
	uint32_t in_core[HX_TO_HOST];	    /* HT core queue, tags */
	uint32_t limit[HX_TO_HOST];
	/* host to units */
	struct {
		RING(struct hx_store);
	} store;
	uint32_t granted; /* stores on their way, first in the ring */
	struct {
		struct weft_bus_note note;
		uint32_t behind; /* stores */
		bool waits;
	} load;			 /* of the host; one at a time */
	struct hx_list answer;	 /* waiting */
	struct hx_list arriving; /* granted */
	uint64_t in_free[2];	 /* posted input, response input */
	uint8_t flying[EXTOLL_HX_N];
	/* outputs */
	uint64_t free[EXTOLL_HX_N];
	uint8_t last[EXTOLL_HX_N];
	struct weft_timer timer;
	bool deciding; /* arbitration is about to begin */
	bool ordered;  /* register stores come through here */
	struct hx_pkt *pool, *all;
};

struct hx_pkt *ex_pkt_new(struct extoll_nic *n);
/* An own write of `bytes` bytes with data that is carried in every run. */
struct hx_pkt *ex_pkt_write(struct extoll_nic *n, weft_phys_t addr,
			    uint32_t bytes);
/* The request of unit `from` is up at `cycle` (>= now, not before that of its
 * earlier packets).  Takes the packet and the reference of its data. */
void ex_htax_send(struct extoll_nic *n, enum extoll_htax_port from,
		  struct hx_pkt *p, uint64_t cycle);
/* Writes into mailbox or ring of the VPID that are still in the NIC: the answer
 * to a load would pass them. */
uint32_t ex_htax_pending(const struct extoll_nic *n, uint32_t vpid);
/* A unit may have room again. */
void ex_htax_go(struct extoll_nic *n);

/* For htax_bus.c: arbitrate at this cycle. */
void ex_htax_arm(struct extoll_nic *n, uint64_t cycle);
void ex_pkt_free(struct extoll_nic *n, struct hx_pkt *p);
/* Nobody takes this access of the host. */
void ex_htax_discard(struct extoll_nic *n, uint64_t off);
/* The store at the arbiter finds no room: false if none may pass it, else the
 * one that may is at the arbiter now. */
bool ex_htax_pass(struct extoll_nic *n, uint64_t cycle);
/* First cycle after this one at which one more store could pass it. */
uint64_t ex_htax_pass_from(const struct extoll_nic *n, uint64_t cycle);
/* A store in front of the load has been taken. */
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

/* For nic.c. */
void ex_htax_start(struct extoll_nic *n);
/* Takes what the bus has said by now; false: nothing. */
bool ex_htax_notes(struct extoll_nic *n);
/* Told of the bus port. */
enum weft_told ex_htax_told(struct weft_port *p,
			    const struct weft_bus_note *note);
void ex_htax_event(struct extoll_nic *n);   /* EX_TAG_HTAX */
void ex_htax_deliver(struct extoll_nic *n); /* EX_TAG_IN */
void ex_htax_leave(struct extoll_nic *n);   /* EX_TAG_OUT */
void ex_htax_load(struct extoll_nic *n);    /* EX_TAG_LOAD */
void ex_htax_fini(struct extoll_nic *n);

#endif
