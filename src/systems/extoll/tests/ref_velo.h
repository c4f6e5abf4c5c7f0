/* SPDX-License-Identifier: Apache-2.0 */
/* Cycle-by-cycle reference of EXTOLL's VELO completer (extoll.md 3.3, 5.2) with
 * the path through HTAX to the HT core (2.4). In every cycle of the core clock
 * it handles the cells and register stores of that cycle, runs the state table
 * of 5.2 until it must wait, and grants one write.
 *
 *   cells -> one message at a time -> room? -> 21 cycles -> writes -> HTAX */
#ifndef EXTOLL_TESTS_REF_VELO_H
#define EXTOLL_TESTS_REF_VELO_H

#include <stdbool.h>
#include <stdint.h>

#include "weft/clock.h"

enum {
	REF_VELO_MAX = 2048,
	REF_VELO_CYCLES = 20000,
	REF_VELO_BOXES = 4,
	REF_VELO_VCS = 4,
	REF_VELO_WHY = 5
};

/* State of the completer between cycles. */
enum ref_velo_state {
	REF_VELO_WAIT,
	REF_VELO_STALL,
	REF_VELO_DATA,
	REF_VELO_WRITE
};

/* Reasons to discard, numbered as the registers that count them. */
enum ref_velo_why {
	REF_VELO_DISABLED,
	REF_VELO_PROTECTION,
	REF_VELO_MISROUTED,
	REF_VELO_FULL,
	REF_VELO_FORMAT
};

struct ref_velo_cfg {
	struct weft_clock core, ht;
	uint32_t t_comp, t_sync_in, t_htax, t_sync_out; /* cycles */
	uint32_t posted;	       /* depth of the HT core's queue */
	uint64_t t_write;	       /* fs on the bus */
	uint64_t timeout;	       /* cycles */
	bool drop;		       /* policy 1 */
	uint64_t base[REF_VELO_BOXES]; /* addresses of the mailboxes */
};

struct ref_velo_msg {
	uint32_t box, len, pd;
	bool misrouted, malformed;
	/* status of the slot, without length and end of message */
	uint64_t status;
};

struct ref_velo_cell {
	uint64_t cycle;
	uint32_t msg;
	uint8_t vc;
	bool last;
};

/* A store to the register of a mailbox (slots 0: disabled) or of a read
 * pointer. */
struct ref_velo_set {
	uint64_t time; /* fs: arrival in the HT core */
	uint32_t box;
	bool is_rp;
	uint32_t rp, slots, slot_bytes, pd;
};

struct ref_velo_write {
	uint64_t addr, status; /* status: last quadword of the write */
	uint32_t bytes;
	uint64_t given; /* HT cycle */
};

struct ref_velo {
	struct ref_velo_cfg cfg;
	struct ref_velo_msg msg[REF_VELO_MAX];
	struct ref_velo_cell cell[REF_VELO_MAX];
	struct ref_velo_set set[REF_VELO_MAX];
	uint32_t n_msg, n_cell, n_set;
	uint64_t from; /* first cycle */
	uint32_t cycles;
	/* outcome */
	uint8_t state[REF_VELO_CYCLES]; /* state at the end of each cycle */
	struct ref_velo_write write[REF_VELO_MAX];
	uint32_t n_write;
	uint32_t received, stalls, discard[REF_VELO_WHY];
};

void ref_velo_run(struct ref_velo *x);

#endif
