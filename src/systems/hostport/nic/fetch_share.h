/* SPDX-License-Identifier: Apache-2.0 */
/* Shares of VPIDs in the queues behind the turn (fetch_share.c). */
#ifndef SYSTEMS_HOSTPORT_NIC_FETCH_SHARE_H
#define SYSTEMS_HOSTPORT_NIC_FETCH_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/vec.h"

struct hp_nic;
struct hp_req;

struct hp_ahead { /* VCIs of a VPID that were fetched */
	uint16_t vpid;
	uint32_t n;	 /* until their packet has left the network port */
	uint32_t unread; /* of these, until their kind is known */
	uint32_t out;	 /* gets and atomics, until their answer has come */
	uint64_t at;	 /* when one of them went on */
	bool several;	 /* unread and out, since there was none */
};
struct hp_shares {
	struct {
		VEC(struct hp_ahead);
	} ahead; /* fetched, and not yet out of the way of others */
	/* the VPID fetched last, and when another one was */
	uint16_t last_vpid;
	uint64_t last, last_other;
	/* by VPID its weight and what is left of it in this turn; NULL: all
	 * are 1 */
	struct hp_weight {
		uint8_t is, left;
	} * weight;
};

/* The VCI of `req` is fetched, and counts until its packet has left; once. */
void hp_share_add(struct hp_nic *n, uint32_t vpid, struct hp_req *req);
/* It has been read: `three` when an answer comes, or it will have no kind. */
void hp_share_read(struct hp_nic *n, uint32_t vpid, bool three);
/* The VPID had a turn. */
void hp_share_mark(struct hp_nic *n, uint32_t vpid);
/* The VPID has its share, and others want theirs. */
bool hp_share_full(struct hp_nic *n, uint32_t vpid);
/* Places that are counted: in front of the network port, or for answers. */
enum hp_share_of { HP_SHARE_PORT, HP_SHARE_ANSWERS };
/* The packet of an instruction of this VPID has left the network port; its
 * answer has come; or neither will ever be. */
void hp_share_less(struct hp_nic *n, uint32_t vpid, enum hp_share_of of);
/* The VPID has been opened, with this weight. */
void hp_fetch_weight(struct hp_nic *n, uint32_t vpid, uint32_t weight);

#endif
