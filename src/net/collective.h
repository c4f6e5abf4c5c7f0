/* SPDX-License-Identifier: Apache-2.0 */
/* Collective operations among N nodes, as packets that wait for each other
 * (packet_trace.h). In step k = 0, 1 .. a node sends when the packet that
 * reaches it in step k - 1 has arrived.
 *
 *	all_to_all   N - 1 steps: node i sends to i + k + 1 (linear shift)
 *	ring	     2 (N - 1) steps: each node sends to the next (all-reduce)
 *	doubling     log2 N steps: node i exchanges with i xor 2^k (all-reduce).
 *		     N must be a power of 2.
 *	broadcast    log2 N steps, rounded up: node 0 has a message. Each node
 *		     that has the message sends it to one that does not have it
 *		     (binomial tree), and does not wait between its packets.
 *	barrier	     log2 N steps, rounded up: node i sends to i + 2^k
 *		     (dissemination) */
#ifndef NET_COLLECTIVE_H
#define NET_COLLECTIVE_H

#include "net/packet_trace.h"

enum collective_kind {
	COLLECTIVE_NONE,
	COLLECTIVE_ALL_TO_ALL,
	COLLECTIVE_RING,
	COLLECTIVE_DOUBLING,
	COLLECTIVE_BROADCAST,
	COLLECTIVE_BARRIER,
};
#define COLLECTIVE_NAMES "none|all_to_all|ring|doubling|broadcast|barrier"
enum { COLLECTIVE_PACKETS = 1 << 24 };

/* Returns the packets of an operation among `nodes` nodes, and their steps
 * (trace.step). Each packet has size `size`. Returns NULL with a message if the
 * operation does not fit the number of nodes. trace_free() frees the result. */
struct trace *collective_make(enum collective_kind kind, uint32_t nodes,
			      uint32_t size, struct weft_err *err);

#endif
