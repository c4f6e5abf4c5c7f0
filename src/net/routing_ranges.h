/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of virtual channels (VCs) for classes of packets. A routing uses the
 * VCs of a range as if the network had no others. net_ranges_check() proves
 * that packets cannot wait for each other in a circle, within a range or across
 * ranges. */
#ifndef NET_ROUTING_RANGES_H
#define NET_ROUTING_RANGES_H

#include "net/routing.h"

/* Up to 16 classes of packets, each with two kinds of requests and two kinds of
 * replies. */
enum { NET_RANGES_MAX = 64 };

/* Ranges of a network. before[i] and after[i] are a pair of ranges. An end
 * accepts a packet of range before[i] only when it has room for a packet of
 * range after[i]. */
struct net_ranges {
	struct net_range at[NET_RANGES_MAX];
	uint32_t n, n_pairs;
	uint8_t before[NET_RANGES_MAX], after[NET_RANGES_MAX];
};

/* Reads FIRST-LAST or a single VC. Returns 0, or -EINVAL with a message if the
 * text is malformed or names a VC that a network with `vcs` VCs lacks. */
int net_range_read(const char *text, uint32_t vcs, struct net_range *r,
		   struct weft_err *err);
/* Adds a range unless the list already has it. Returns the range's index, or
 * NET_RANGES_MAX if the list is full. */
uint32_t net_ranges_add(struct net_ranges *s, struct net_range r);
/* Adds the pair (a, b): packets of range a wait for room for packets of range
 * b. Ignores pairs beyond NET_RANGES_MAX. */
void net_ranges_pair(struct net_ranges *s, uint32_t a, uint32_t b);
/* Checks that each range has as many VCs as the routing needs, and that packets
 * cannot wait for each other in a circle. Returns 0, or -EINVAL with a message
 * that says what to change. */
int net_ranges_check(const struct net_ranges *s, const struct net_routing *r,
		     const struct net_graph *g, uint32_t vcs,
		     struct weft_err *err);

#endif
