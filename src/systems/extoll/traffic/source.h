/* SPDX-License-Identifier: Apache-2.0 */
/* Source of traffic in a direct network of EXTOLL crossbars: parameters and
 * drawing of packets, for extoll.gen and extoll.load. struct extoll_source is
 * the first member of their state, because it starts with the struct
 * ex_place. */
#ifndef SYSTEMS_EXTOLL_TRAFFIC_SOURCE_H
#define SYSTEMS_EXTOLL_TRAFFIC_SOURCE_H

#include "net/network_source.h"
#include "systems/extoll/network/direct_network.h"

struct extoll_source {
	struct ex_place place;
	struct extoll_net *net; /* extoll.net of its place, or NULL */
	union {
		struct {
			NET_SOURCE_FIELDS;
		};
		struct net_source own;
	};
	/* Command words in front of the payload; 0: sizes are flits of the
	 * whole packet. */
	uint32_t words;
	uint32_t width; /* parameter */
};

#define EXTOLL_SOURCE_PARAMS(things, rests)                                    \
	NET_SOURCE_PARAMS(struct extoll_source, things, rests)
#define EXTOLL_SOURCE_PACKETS(things)                                          \
	NET_SOURCE_PACKETS(struct extoll_source, things)

/* ops.init: returns 0, or -EINVAL with a message if the node does not exist. */
int extoll_source_init(const struct weft_comp *c, struct weft_err *err);
/* ops.start of a source with packets of its own. Requires s->words, sizes and
 * place. Draws the first arrival. Returns 0, or -EINVAL with a message. */
int extoll_source_start(struct weft_comp *c, struct weft_err *err);
/* Adds the source to the measurement of its network. A source without network
 * is not measured. Returns 0, or -EINVAL with a message. */
int extoll_source_join(struct weft_comp *c, const struct net_source_ops *ops,
		       struct weft_err *err);

/* Returns the cycle of the next arrival like traffic_due(), or ARRIVALS_NEVER
 * once the measurement has ended. The end of the measurement does not stop a
 * trace. */
static inline uint64_t extoll_source_due(const struct extoll_source *s)
{
	return net_source_due(&s->own, extoll_net_over(s->net));
}
/* Returns the flits of a packet of `size`, including one routing flit. */
uint32_t extoll_source_flits(const struct extoll_source *s, uint32_t size);
/* For net_source_ops: returns the packets that are due in the cycles
 * from..cycle-1 and have not been drawn. */
struct net_backlog extoll_source_backlog(const struct weft_comp *c,
					 uint64_t from, uint64_t cycle);

#endif
