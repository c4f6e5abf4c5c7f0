/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of VPIDs in the queues behind the turn (fetch_share.c). Without them a
 * process that is ahead would fill these queues, and others would wait behind
 * it. */
#ifndef SYSTEMS_HOSTPORT_NIC_FETCH_SHARE_H
#define SYSTEMS_HOSTPORT_NIC_FETCH_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct hp_nic;
struct hp_req;

struct hp_ahead { /* instructions of a VPID that were fetched */
	uint16_t vpid;
	uint32_t n; /* number of instructions whose packet has not left the
		       network port */
	/* number of the instructions in n that are not decoded yet */
	uint32_t unread;
	/* number of gets and atomics whose answer is pending */
	uint32_t out;
	uint64_t at; /* time of the last progress of the VPID */
	/* since unread and out were last both 0, more than one instruction was
	 * in one of them at once */
	bool several;
};
struct hp_shares {
	struct {
		VEC(struct hp_ahead);
	} ahead; /* VPIDs with fetched instructions that can delay other VPIDs
		  */
	/* VPID fetched last, time of that fetch, and time at which a different
	 * VPID was fetched last */
	uint16_t last_vpid;
	uint64_t last, last_other;
	/* weight of each VPID, and the part of it that is left in this turn;
	 * NULL while all weights are 1 */
	struct hp_weight {
		uint8_t is, left;
	} * weight;
};

/* Counts the VCI of `req` as fetched, until its packet has left. Called once
 * for each VCI. */
void hp_share_add(struct hp_nic *n, uint32_t vpid, struct hp_req *req);
/* Notes that a VCI was decoded. `three` says whether an answer will arrive.
 * Also called for a VCI that turns out to be invalid. */
void hp_share_read(struct hp_nic *n, uint32_t vpid, bool three);
/* Notes that the VPID had a turn. */
void hp_share_mark(struct hp_nic *n, uint32_t vpid);
/* Returns whether the VPID has used up its share while other VPIDs want
 * theirs. */
bool hp_share_full(struct hp_nic *n, uint32_t vpid);
/* Kinds of places that are counted: in front of the network port, and for
 * pending answers. */
enum hp_share_of { HP_SHARE_PORT, HP_SHARE_ANSWERS };
/* Frees a place, because the packet of an instruction has left the network
 * port, its answer has arrived, or neither will ever happen. */
void hp_share_less(struct hp_nic *n, uint32_t vpid, enum hp_share_of of);
/* Sets the weight of a VPID that was opened. */
void hp_fetch_weight(struct hp_nic *n, uint32_t vpid, uint32_t weight);

#endif
