/* SPDX-License-Identifier: Apache-2.0 */
/* Random work for the RMA on the bench of velo_rig.h and for its reference
 * (ref_rma.h): valid and invalid commands of several processes and packets of
 * others, on pages that are mapped and unmapped, into rings that fill, on buses
 * that are fast, slow and out of order. */
#ifndef EXTOLL_TESTS_RMA_PLAY_H
#define EXTOLL_TESTS_RMA_PLAY_H

#include "exref.h"
#include "ref_rma.h"
#include "rma_msg.h"

enum {
	RP_FIRST = 2, /* VPID */
	RP_PROCS = 4, /* the last one is not enabled */
	/* pages that no write changes, so that reads have known data */
	RP_READABLE = 32,
};

struct rma_play {
	struct ref_rma ref;
	uint32_t first; /* store */
	/* packets that have left the network port, by class */
	uint32_t left[2];
};
extern struct rma_play rp;

/* Returns byte i of the payload of packet `pkt`. */
uint8_t rp_byte(uint32_t pkt, uint32_t i);
void rp_open(void);
/* Plays all cycles and calls `look` at the end of each. */
void rp_play(void (*look)(uint32_t cycle));
void rp_close(void);

#endif
