/* SPDX-License-Identifier: Apache-2.0 */
/* Source of traffic in a direct network of EXTOLL crossbars: parameters and
 * drawing of packets, for extoll.gen and extoll.load. struct extoll_source is
 * the first member of their state, because it starts with the struct
 * ex_place. */
#ifndef SYSTEMS_EXTOLL_TRAFFIC_SOURCE_H
#define SYSTEMS_EXTOLL_TRAFFIC_SOURCE_H

#include "net/traffic_source.h"
#include "systems/extoll/network/direct_network.h"

struct extoll_source {
	struct ex_place place;
	struct extoll_net *net; /* state of the network of its place, or NULL */
	struct traffic_source t;
	/* Command words in front of the payload; 0: sizes are flits of the
	 * whole packet. */
	uint32_t words;
	/* parameters: */
	uint32_t node, nodes, pattern, dest, arrivals, width;
	struct weft_clock clock;
	uint64_t permutation, packets;
	double hot, load, burst, peak;
	bool self;
};

/* Rows of the parameters. `things` names what is sent, `rests` what a source
 * without a pattern does. Parameters of sizes belong to the class. */
#define EXTOLL_SOURCE_PARAM(type, field, def, range, doc)                      \
	WEFT_PARAM(type, struct extoll_source, field, def, range, OWN, doc)
#define EXTOLL_SOURCE_PARAMS(things, rests)                                    \
	EXTOLL_SOURCE_PARAM(U32, node, "0", "0..65535", "own number"),         \
		EXTOLL_SOURCE_PARAM(U32, nodes, "1", "1..65536",               \
				    "nodes there are"),                        \
		EXTOLL_SOURCE_PARAM(ENUM, pattern, "uniform", PATTERN_NAMES,   \
				    "whom it sends to; none = " rests),        \
		EXTOLL_SOURCE_PARAM(U32, dest, "0", "0..65535",                \
				    "fixed, hotspot: that node"),              \
		EXTOLL_SOURCE_PARAM(REAL, hot, "0.2", "0..1",                  \
				    "hotspot: share that goes to `dest`"),     \
		EXTOLL_SOURCE_PARAM(                                           \
			U64, permutation, "1", "",                             \
			"permutation: which one, the same at every node"),     \
		EXTOLL_SOURCE_PARAM(BOOL, self, "no", "",                      \
				    "may send to itself"),                     \
		EXTOLL_SOURCE_PARAM(ENUM, arrivals, "bernoulli",               \
				    ARRIVALS_NAMES,                            \
				    "when " things " are made"),               \
		EXTOLL_SOURCE_PARAM(                                           \
			REAL, load, "0.1", "0..1000",                          \
			"offered flits per cycle, routing flits included"),    \
		EXTOLL_SOURCE_PARAM(                                           \
			REAL, burst, "100", "1..",                             \
			"bursty: mean length of a burst in cycles"),           \
		EXTOLL_SOURCE_PARAM(REAL, peak, "1", "0..",                    \
				    "bursty: flits per cycle in a burst")
#define EXTOLL_SOURCE_PACKETS(things)                                          \
	EXTOLL_SOURCE_PARAM(U64, packets, "0", "",                             \
			    things " to make; 0 = no end")

/* ops.init: returns 0, or -EINVAL with a message if the node does not exist. */
int extoll_source_init(const struct weft_comp *c, struct weft_err *err);
/* ops.start of a source with packets of its own. Requires s->words, sizes and
 * place. Draws the first arrival. Returns 0, or -EINVAL with a message. */
int extoll_source_start(struct weft_comp *c, struct weft_err *err);
/* Adds the source to the measurement of its network, if it is in one. Returns
 * 0, or -EINVAL with a message. */
int extoll_source_join(struct weft_comp *c, const struct extoll_net_source *ops,
		       struct weft_err *err);

/* Returns the cycle of the next arrival like traffic_due(). Returns
 * ARRIVALS_NEVER once the measurement has ended, but a trace is sent to its
 * end. */
static inline uint64_t extoll_source_due(const struct extoll_source *s)
{
	return !s->t.replay && extoll_net_over(s->net) ? ARRIVALS_NEVER
						       : traffic_due(&s->t);
}
/* Returns the flits of a packet of that size, including one routing flit. */
uint32_t extoll_source_flits(const struct extoll_source *s, uint32_t size);
/* extoll_net_source.backlog: returns the packets that are due in the cycles
 * from .. cycle - 1 and not drawn. */
struct extoll_net_backlog extoll_source_backlog(const struct weft_comp *c,
						uint64_t from, uint64_t cycle);

#endif
