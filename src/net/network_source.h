/* SPDX-License-Identifier: Apache-2.0 */
/* A source of traffic as a component of a network: its parameters, its start
 * and its backlog. Packets are drawn by traffic_source.h.
 *
 * Arrivals do not depend on the network. Packets that are due and have not left
 * the source therefore need no queue: the source draws a packet when the
 * network has room, and gives it the cycle at which it was due. An unbounded
 * queue costs no memory. The backlog is found by drawing packets from a copy of
 * the source. */
#ifndef NET_NETWORK_SOURCE_H
#define NET_NETWORK_SOURCE_H

#include "net/network_meter.h"
#include "net/traffic_source.h"

/* Fields of the source. The state of a class holds them in an anonymous union
 * with a struct net_source. Code and parameters of the class can then name the
 * fields directly. */
#define NET_SOURCE_FIELDS                                                      \
	struct traffic_source t;                                               \
	uint32_t node, nodes, pattern, dest, arrivals, group;                  \
	struct weft_clock clock;                                               \
	uint64_t permutation, packets;                                         \
	double hot, load, burst, peak, start, stop;                            \
	char spots[72];                                                        \
	bool self

struct net_source {
	NET_SOURCE_FIELDS;
};

/* Parameters of a source. `things` is the word for packets in the class's
 * documentation, and `rests` says what a source with pattern `none` does.
 * Parameters for sizes belong to the class. */
#define NET_SOURCE_PARAM(state, type, field, def, range, doc)                  \
	WEFT_PARAM(type, state, field, def, range, OWN, doc)
#define NET_SOURCE_PARAMS(state, things, rests)                                \
	NET_SOURCE_PARAM(state, U32, node, "0", "0..1048575", "own number"),   \
		NET_SOURCE_PARAM(state, U32, nodes, "1", "1..1048576",         \
				 "nodes there are"),                           \
		NET_SOURCE_TRAFFIC(state, things, rests)
/* Parameters of a source without `node` and `nodes`. */
#define NET_SOURCE_TRAFFIC(state, things, rests)                               \
	NET_SOURCE_PARAM(state, ENUM, pattern, "uniform", PATTERN_NAMES,       \
			 "whom it sends to; none = " rests),                   \
		NET_SOURCE_PARAM(state, U32, dest, "0", "0..1048575",          \
				 "fixed, hotspot: that node"),                 \
		NET_SOURCE_PARAM(state, REAL, hot, "0.2", "0..1",              \
				 "hotspot: share that goes to `dest`"),        \
		NET_SOURCE_PARAM(state, STR, spots, "", "",                    \
				 "NODE:WEIGHT,NODE:WEIGHT.., hotspot: in "     \
				 "place of `dest`; background: nodes that "    \
				 "get nothing"),                               \
		NET_SOURCE_PARAM(state, U32, group, "0", "0..1048576",         \
				 "adversarial: nodes of a group; 0 = as the "  \
				 "topology has them"),                         \
		NET_SOURCE_PARAM(                                              \
			state, U64, permutation, "1", "",                      \
			"permutation: which one, the same at every node"),     \
		NET_SOURCE_PARAM(state, BOOL, self, "no", "",                  \
				 "may send to itself"),                        \
		NET_SOURCE_PARAM(state, ENUM, arrivals, "bernoulli",           \
				 ARRIVALS_NAMES, "when " things " are made"),  \
		NET_SOURCE_PARAM(                                              \
			state, REAL, load, "0.1", "0..1000",                   \
			"offered flits per cycle, routing flits included"),    \
		NET_SOURCE_PARAM(state, REAL, burst, "100", "1..",             \
				 "bursty: mean length of a burst in cycles"),  \
		NET_SOURCE_PARAM(state, REAL, peak, "1", "0..",                \
				 "bursty, on_off: flits per cycle in a "       \
				 "burst"),                                     \
		NET_SOURCE_PARAM(                                              \
			state, REAL, start, "0", "0..1",                       \
			"on_off: probability that a burst starts in a "        \
			"cycle; 0 = as stop, load and peak give it"),          \
		NET_SOURCE_PARAM(                                              \
			state, REAL, stop, "0", "0..1",                        \
			"on_off: probability that it stops; 0 = as start, "    \
			"load and peak give it; with both the peak follows")
#define NET_SOURCE_PACKETS(state, things)                                      \
	NET_SOURCE_PARAM(state, U64, packets, "0", "",                         \
			 things " to make; 0 = no end")

/* Function flits(own, size) returns the number of flits of a packet of the
 * given size. The caller owns `own`. */
struct net_source_cost {
	uint32_t (*flits)(const void *own, uint32_t size);
	const void *own;
};

/* Draws the first arrival. Called in ops.start, after the sizes in s->t have
 * been set. `shape` has the dimensions of the network, or zeros. `meter` stores
 * the permutations, and is NULL for a source outside a network. Returns 0, or
 * -EINVAL with a message. */
int net_source_start(struct weft_comp *c, struct net_source *s,
		     struct net_meter *meter, struct pattern_shape shape,
		     struct net_source_cost cost, struct weft_err *err);
/* Returns the time of the next arrival like traffic_due(). Synthetic traffic
 * has no arrivals if `over`, after the measurement. A trace continues to its
 * last packet. */
static inline uint64_t net_source_due(const struct net_source *s, bool over)
{
	return !s->t.replay && over ? ARRIVALS_NEVER : traffic_due(&s->t);
}
/* Returns the packets that are due in from..cycle-1 and not drawn yet. `rng` is
 * the component's generator. */
struct net_backlog net_source_backlog(const struct net_source *s,
				      const struct weft_rng *rng,
				      struct net_source_cost cost,
				      uint64_t from, uint64_t cycle);

/* Copy of a source that draws packets ahead of it. The meter asks for the
 * backlog of later and later cycles. The scout remembers the packets that it
 * has drawn, so that they are not drawn again for each request. */
struct net_scout {
	struct traffic_source t;
	struct weft_rng rng;
	uint64_t cycle; /* the packets before it are drawn */
	uint64_t flits; /* of all packets drawn by the source and ahead */
};
/* Returns the same as net_source_backlog(). k[0] draws packets up to `cycle`,
 * and k[1] draws packets up to `from`. Both may be zeroed at first. `made` is
 * the number of flits of all packets that the source has drawn. */
struct net_backlog net_scout_backlog(struct net_scout k[2],
				     const struct net_source *s,
				     const struct weft_rng *rng,
				     struct net_source_cost cost, uint64_t made,
				     uint64_t from, uint64_t cycle);

#endif
