/* SPDX-License-Identifier: Apache-2.0 */
/* FORTH NIC: bodies of long VOQs in external memory (external_queue.c).
 * Source: forth.md section 6. */
#ifndef SYSTEMS_FORTH_NIC_EXTERNAL_QUEUE_H
#define SYSTEMS_FORTH_NIC_EXTERNAL_QUEUE_H

#include "base/ring.h"
#include "weft/sim.h"

struct forth_nic;
struct forth_pkt;
struct forth_plan;
struct weft_comp;
struct weft_err;

/* A block of external memory in the list of its VOQ. */
struct forth_block {
	uint32_t id;
	uint32_t fill;	  /* words written to the block so far */
	uint32_t pkts;	  /* packets in the block */
	uint32_t missing; /* planned packets still to be written */
	/* PCI edge at which the latest packet of the block is complete */
	uint64_t in;
};

/* External memory: its free blocks and its one reader (external_queue.c). */
struct forth_ext {
	uint32_t total, n_free, least_free;
	uint32_t block_words;
	uint32_t *free; /* stack of the ids of free blocks */
	bool busy;
	uint32_t voq, rr;
	uint64_t end; /* pc */
	struct weft_timer timer;
};

int forth_ext_init(struct forth_nic *n, struct weft_err *err);
/* Returns whether a transfer to VOQ v goes to external memory. */
bool forth_ext_wanted(const struct forth_nic *n, uint32_t v, uint32_t qwords);
/* Plans the blocks and packets of a transfer. Returns false if too few blocks
 * are free. */
bool forth_ext_plan(const struct forth_nic *n, uint32_t v, uint32_t qwords,
		    struct forth_plan *p);
/* Removes the blocks of the plan from the free list. */
void forth_ext_take(struct forth_nic *n, uint32_t v,
		    const struct forth_plan *p);
/* Writes a packet to its block. The write ends at edge `in`. */
void forth_ext_push(struct forth_nic *n, uint32_t v, struct forth_pkt *p,
		    uint64_t in);
/* Removes the last `missing` packets of an aborted transfer from its blocks. */
void forth_ext_abandon(struct forth_nic *n, uint32_t v, uint32_t missing);
void forth_ext_reset(struct forth_nic *n);
/* Runs the reader: if the read of a block has ended, completes that read and
 * starts the next one. */
void forth_ext_run(struct forth_nic *n);
/* Wakes the reader when it can serve a VOQ. Called when levels or blocks of
 * VOQs change. */
void forth_ext_poke(struct forth_nic *n);
/* registers 0x190, 0x194 */
uint64_t forth_ext_free_read(struct weft_comp *c, uint32_t i);
uint64_t forth_ext_least_read(struct weft_comp *c, uint32_t i);

#endif
