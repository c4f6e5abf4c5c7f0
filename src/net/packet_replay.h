/* SPDX-License-Identifier: Apache-2.0 */
/* One node's packets of a trace (packet_trace.h) in the order in which they may
 * go: the earliest first, of those that need not wait for others or need not
 * wait any more. */
#ifndef NET_PACKET_REPLAY_H
#define NET_PACKET_REPLAY_H

#include "base/vec.h"
#include "net/packet_trace.h"

struct packet_replay {
	struct trace *t;
	uint32_t n;	  /* packets of this node */
	uint32_t at, end; /* in t->order: packets that wait for no others */
	struct {
		VEC(uint32_t);
	} ready; /* heap, by cycle: packets that had to wait for others */
};

void packet_replay_init(struct packet_replay *r, struct trace *t,
			uint32_t node);
void packet_replay_fini(struct packet_replay *r);
/* Cycle of the next packet, UINT64_MAX = none now. */
uint64_t packet_replay_due(const struct packet_replay *r);
/* That packet, as its number in t->pkt; there must be one. */
uint32_t packet_replay_take(struct packet_replay *r);
/* Packet i of this node has nothing left to wait for. */
void packet_replay_ready(struct packet_replay *r, uint32_t i);

#endif
