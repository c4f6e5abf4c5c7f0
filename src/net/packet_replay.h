/* SPDX-License-Identifier: Apache-2.0 */
/* Orders one node's packets of a trace (packet_trace.h): the next packet is
 * always the earliest one whose dependences have all arrived. Packets without
 * dependences are taken from the sorted trace, so that only packets with
 * dependences need a heap. */
#ifndef NET_PACKET_REPLAY_H
#define NET_PACKET_REPLAY_H

#include "base/vec.h"
#include "net/packet_trace.h"

struct packet_replay {
	struct trace *t;
	uint32_t n;	  /* number of packets of this node */
	uint32_t at, end; /* range in t->order of the packets that remain */
	struct {
		VEC(uint32_t);
		/* dependent packets that may be sent now, as a heap ordered by
		 * cycle */
	} ready;
};

/* Starts at the first packet of `node`. The trace must outlive r. The owner of
 * r frees the heap. */
void packet_replay_init(struct packet_replay *r, struct trace *t,
			uint32_t node);
/* Returns the cycle of the next packet, or UINT64_MAX if none may be sent
 * now. */
uint64_t packet_replay_due(const struct packet_replay *r);
/* Removes the next packet, which leaves now, and returns its index in t->pkt.
 * Packets whose only missing dependence was this departure become ready.
 * packet_replay_due() must not be UINT64_MAX. */
uint32_t packet_replay_take(struct packet_replay *r);
/* Adds packet i of this node to the heap. Called once the last packet on which
 * i depends has arrived, if i does not wait for a departure any more. */
void packet_replay_ready(struct packet_replay *r, uint32_t i);

#endif
