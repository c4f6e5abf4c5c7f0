/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL: address translation unit (extoll.md 3.7, 3.8, 5.5).
 *
 * A unit calls atu_translate() with a request r. The ATU answers by r->done, 4
 * cycles later if the TLB has the page, otherwise after a host read of 8 bytes.
 * From the answer until atu_finish() the translation is in use. A flush of its
 * page, and a fence, wait until that use has ended. */
#ifndef SYSTEMS_EXTOLL_NIC_ATU_H
#define SYSTEMS_EXTOLL_NIC_ATU_H

#include "base/assoc.h"
#include "systems/extoll/nic/rma_regs_map.h"
#include "weft/sim.h"

struct extoll_nic;
struct hx_pkt;

enum {
	ATU_SETS = 16,
	ATU_WAYS = 4,
	ATU_HIT = 4,	/* cycles */
	ATU_UNITS = 3,	/* requester, responder, completer */
	ATU_QUEUE = 16, /* depth of the command queue */
};

/* ---- the TLB alone (atu_tlb.c) ---- */

struct atu_tlb {
	struct assoc dir; /* directory of entries by VPID and page */
	uint64_t gate[ATU_SETS * ATU_WAYS];
};

void atu_tlb_init(struct atu_tlb *t);
void atu_tlb_fini(struct atu_tlb *t);
/* Returns the GATe of (page, vpid), or 0. */
uint64_t atu_tlb_find(const struct atu_tlb *t, uint32_t page, uint32_t vpid);
/* Stores an entry in the set of its page. New entries replace the entries of
 * the set in turn. */
void atu_tlb_fill(struct atu_tlb *t, uint32_t page, uint32_t vpid,
		  uint64_t gate);
/* Removes pages first .. first + n - 1 of all VPIDs, or all pages of `vpid` if
 * n is 0. Returns the number of removed entries. */
uint32_t atu_tlb_flush(struct atu_tlb *t, uint32_t first, uint32_t n,
		       uint32_t vpid);

/* ---- checks ---- */

enum atu_access { ATU_READ = GATE_READ, ATU_WRITE = GATE_WRITE };

enum atu_fault {
	ATU_OK,
	ATU_F_NLA,    /* bits 63:39 set */
	ATU_F_CROSS,  /* access crosses a page */
	ATU_F_GAT,    /* table not valid */
	ATU_F_GATE,   /* entry not valid, or of a page size not modelled */
	ATU_F_ACCESS, /* page is read only, or write only */
	ATU_F_VPID,   /* page of another process */
	ATU_F_BUS,    /* the table could not be read */
	ATU_FAULTS
};
extern const char *const atu_fault_name[ATU_FAULTS];

/* Check an address, and check an entry for an access of `vpid`. Return ATU_OK
 * or the fault. */
enum atu_fault atu_check_nla(uint64_t nla, uint32_t bytes);
enum atu_fault atu_check_gate(uint64_t gate, uint32_t vpid,
			      enum atu_access access);

/* ---- the unit ---- */

struct atu_req {
	/* set by the unit that asks: */
	uint64_t nla;
	uint32_t bytes;
	uint8_t vpid, unit; /* unit: 0..2 */
	enum atu_access access;
	void (*done)(struct atu_req *r);
	void *own;
	/* answer: */
	enum atu_fault fault;
	weft_phys_t phys;
	/* of the ATU: */
	struct atu *atu;
	uint64_t when;	/* cycle at which the TLB lookup ends */
	uint32_t epoch; /* atu.epoch at the answer */
	bool walking, stale, used;
	struct atu_req *next; /* next request in `looking` or `in_use` */
};

struct atu {
	struct extoll_nic *nic;
	bool enable;
	uint32_t n_gats;
	uint32_t *gat; /* first level: n_gats words; NULL until first written */
	struct atu_tlb tlb;
	struct atu_req *looking, *in_use;
	uint64_t cmd[ATU_QUEUE];
	uint32_t head, tail; /* of cmd */
	bool begun;	     /* the command at the head has begun */
	uint32_t epoch;	     /* number of commands begun so far */
	struct weft_timer timer;
	uint64_t faults[ATU_FAULTS];
};

/* Starts a lookup of the translation r. r must live until atu_finish(), or
 * until the answer if the answer is a fault. */
void atu_translate(struct atu *a, struct atu_req *r);
/* Ends the use of a translation. Has no effect after a fault. */
void atu_finish(struct atu *a, struct atu_req *r);
/* Stores to and loads from registers of the ATU. A command that finds the queue
 * full is dropped and reported as an event. */
void atu_command(struct atu *a, uint64_t word);
uint64_t atu_gat_get(const struct atu *a, uint32_t i);

/* Answers the lookups that are due, then executes commands. */
void atu_run(struct atu *a);
/* Requests a run of the ATU at this cycle. */
void atu_wake(struct atu *a, uint64_t cycle);
/* atu_cmd.c: executes commands in order until a command has to wait. */
void atu_cmd_run(struct atu *a);

#endif
