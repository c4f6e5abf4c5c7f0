/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of VPIDs in the queues behind the fetch unit (fetch_share.c). Without
 * shares a process with many instructions would fill these queues, and
 * instructions of other processes would wait behind them. */
#ifndef SYSTEMS_HOSTPORT_NIC_FETCH_SHARE_H
#define SYSTEMS_HOSTPORT_NIC_FETCH_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct hp_nic;
struct hp_req;

struct hp_ahead { /* fetched instructions of a VPID */
	uint16_t vpid;
	uint32_t n; /* number of instructions whose packet has not left the
		     * network port */
	/* part of n: number of instructions that are not decoded yet */
	uint32_t unread;
	/* number of gets and atomics whose answer is pending */
	uint32_t out;
	uint64_t at; /* cycle of the last progress of the VPID */
	/* unread + out was more than 1 at some time since this record was
	 * created */
	bool several;
};
struct hp_shares {
	struct {
		VEC(struct hp_ahead);
	} ahead; /* VPIDs with fetched instructions that can delay other VPIDs
		  */
	/* VPID fetched last, cycle of that fetch, and cycle at which a
	 * different VPID was fetched last */
	uint16_t last_vpid;
	uint64_t last, last_other;
	/* is: weight of the VPID. left: number of its VCIs that are fetched
	 * before the next VPID is served. NULL while all weights are 1 */
	struct hp_weight {
		uint8_t is, left;
	} * weight;
};

/* Counts the VCI of `req` as fetched, until its packet has left. Further calls
 * with the same `req` do nothing. */
void hp_share_add(struct hp_nic *n, uint32_t vpid, struct hp_req *req);
/* Notes that a VCI was decoded. `three` says whether an answer will arrive. An
 * invalid VCI is noted, too, with `three` false. */
void hp_share_read(struct hp_nic *n, uint32_t vpid, bool three);
/* Notes that a VCI of the VPID was fetched now. */
void hp_share_mark(struct hp_nic *n, uint32_t vpid);
/* Returns whether the VPID must wait, because it has used up its share and VCIs
 * of another VPID were fetched recently. */
bool hp_share_full(struct hp_nic *n, uint32_t vpid);
/* Kinds of counts of a VPID. HP_SHARE_PORT counts instructions whose packet has
 * not left the network port, HP_SHARE_ANSWERS counts pending answers. */
enum hp_share_of { HP_SHARE_PORT, HP_SHARE_ANSWERS };
/* Stops counting an instruction. Called when its packet has left the network
 * port, when its answer has arrived, or when the instruction was dropped. */
void hp_share_less(struct hp_nic *n, uint32_t vpid, enum hp_share_of of);
/* Sets the weight of a VPID whose context was just opened. */
void hp_fetch_weight(struct hp_nic *n, uint32_t vpid, uint32_t weight);

#endif
