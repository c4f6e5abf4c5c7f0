/* SPDX-License-Identifier: Apache-2.0 */
/* Ranges of virtual channels (VCs) for classes of packets, which a routing uses
 * like a network of its own, and the proof that no packets wait for each other
 * in a circle, neither in one range nor through several. */
#ifndef NET_ROUTING_RANGES_H
#define NET_ROUTING_RANGES_H

#include "net/routing.h"

/* Classes of a network, each with two kinds of requests and of replies. */
enum { NET_RANGES_MAX = 64 };

/* Ranges of a network. `before` and `after` are pairs of ranges: an end takes a
 * packet of the first when it has room for one of the second. */
struct net_ranges {
	struct net_range at[NET_RANGES_MAX];
	uint32_t n, n_pairs;
	uint8_t before[NET_RANGES_MAX], after[NET_RANGES_MAX];
};

/* Reads FIRST-LAST or a single VC. Returns 0, or -EINVAL with a message if a
 * network with `vcs` VCs has no such ones. */
int net_range_read(const char *text, uint32_t vcs, struct net_range *r,
		   struct weft_err *err);
/* Adds a range that is not in the list yet, and returns its index.
 * NET_RANGES_MAX: the list is full. */
uint32_t net_ranges_add(struct net_ranges *s, struct net_range r);
/* Notes that packets of range a wait for room for packets of range b. */
void net_ranges_pair(struct net_ranges *s, uint32_t a, uint32_t b);
/* Checks that each range has as many VCs as the routing needs, and that no
 * circle exists. Returns 0, or -EINVAL with a message that says what would do.
 */
int net_ranges_check(const struct net_ranges *s, const struct net_routing *r,
		     const struct net_graph *g, uint32_t vcs,
		     struct weft_err *err);

#endif
