/* SPDX-License-Identifier: Apache-2.0 */
/* Class net.class: a class of packets. A source with `classes` sends packets of
 * each of these classes. A source without `classes` has the same parameters for
 * its own packets.
 *
 * A class may have separate virtual channels (VCs). Requests are packets to
 * which the destination sends a reply. Requests and replies must use different
 * VCs, because an end without room for another reply accepts no requests. In a
 * common VC, replies could be blocked by such requests, and packets would wait
 * in a circle. */
#ifndef SYSTEMS_ROUTER_TRAFFIC_CLASS_H
#define SYSTEMS_ROUTER_TRAFFIC_CLASS_H

#include "net/network_source.h"
#include "net/routing_ranges.h"

/* Kinds of a packet. A class without replies has only the first kind. */
enum packet_kind {
	PACKET_READ, /* a request, or a packet without a reply */
	PACKET_WRITE,
	PACKET_READ_REPLY,
	PACKET_WRITE_REPLY,
	PACKET_KINDS,
	/* packet of a class without replies and without a limit */
	PACKET_PLAIN = PACKET_KINDS,
	PACKET_TRACED, /* packet of a trace, on which others may depend */
};

/* Fields of a class. The states of net.source and net.class have these fields
 * and NET_SOURCE_FIELDS (network_source.h). */
#define CLASS_FIELDS                                                           \
	uint32_t flits, flits_max, priority, outstanding;                      \
	uint32_t reply, write_flits, write_reply;                              \
	uint64_t batch;                                                        \
	double writes;                                                         \
	char sizes[48];                                                        \
	/* ranges of VCs by kind, as text */                                   \
	char vcs[8], write_vcs[8], reply_vcs[8], write_reply_vcs[8]

struct class_own {
	CLASS_FIELDS;
};

#define CLASS_PARAM(state, type, field, def, range, doc)                       \
	WEFT_PARAM(type, state, field, def, range, OWN, doc)
/* clang-format off */
#define CLASS_PARAMS(state)                                                    \
	CLASS_PARAM(state, U32, flits, "1", "1..4096", "flits of a packet"),   \
	CLASS_PARAM(state, U32, flits_max, "0", "0..4096",                     \
		    "uniform from flits to this; 0 = always flits"),           \
	CLASS_PARAM(state, STR, sizes, "", "",                                 \
		    "a mix of flits instead: FLITS:WEIGHT,FLITS:WEIGHT.."),    \
	CLASS_PARAM(state, U32, priority, "0", "0..255",                       \
		    "rank at its source, and in routers with arbiter=class: "  \
		    "the higher goes first"),                                  \
	CLASS_PARAM(state, STR, vcs, "", "",                                   \
		    "VCs of packets, FIRST-LAST; empty = all, or the lower "   \
		    "half if there are replies"),                              \
	CLASS_PARAM(state, U32, outstanding, "0", "0..1000000",                \
		    "packets of a source in the network at most, requests "    \
		    "until the reply has arrived; arrivals wait; 0 = any "     \
		    "number"),                                                 \
	CLASS_PARAM(state, U64, batch, "0", "0..1000000000000",                \
		    "packets that each source sends as soon as it can, "       \
		    "without arrivals; 0 = as `arrivals` says"),               \
	CLASS_PARAM(state, U32, reply, "0", "0..4096",                         \
		    "flits of the reply to a packet; 0 = no reply"),           \
	CLASS_PARAM(state, STR, reply_vcs, "", "",                             \
		    "VCs of replies, FIRST-LAST; empty = the upper half"),     \
	CLASS_PARAM(state, REAL, writes, "0", "0..1",                          \
		    "share of requests that are writes, with sizes of their "  \
		    "own"),                                                    \
	CLASS_PARAM(state, U32, write_flits, "1", "1..4096",                   \
		    "flits of a write"),                                       \
	CLASS_PARAM(state, U32, write_reply, "1", "1..4096",                   \
		    "flits of the reply to a write"),                          \
	CLASS_PARAM(state, STR, write_vcs, "", "",                             \
		    "VCs of writes, FIRST-LAST; empty = as vcs"),              \
	CLASS_PARAM(state, STR, write_reply_vcs, "", "",                       \
		    "VCs of replies to writes; empty = as reply_vcs")
/* clang-format on */

/* State of net.class. */
struct router_class {
	union {
		struct {
			NET_SOURCE_FIELDS;
		};
		struct net_source own;
	};
	union {
		struct {
			CLASS_FIELDS;
		};
		struct class_own cls;
	};
	char name[24];
	struct weft_comp *comp;
};

/* Reads the range of VCs of each kind of packet of the class, for routers with
 * `vcs` VCs. Sets range[k].n to 0 if the class has no packets of kind k.
 * Returns 0, or -EINVAL with a message. */
int class_ranges(const struct class_own *c, uint32_t vcs,
		 struct net_range range[PACKET_KINDS], struct weft_err *err);
/* Sets the sizes of packets in t. Returns 0, or -EINVAL with a message if the
 * sizes are malformed or larger than `places` flits. 0 places mean no limit. */
int class_sizes(const struct class_own *c, struct traffic_source *t,
		uint32_t places, struct weft_err *err);
/* Returns the number of flits of a packet of this kind. For PACKET_READ, which
 * has no fixed size, returns `size`. */
static inline uint32_t class_flits(const struct class_own *c,
				   enum packet_kind kind, uint32_t size)
{
	switch (kind) {
	case PACKET_WRITE:
		return c->write_flits;
	case PACKET_READ_REPLY:
		return c->reply;
	case PACKET_WRITE_REPLY:
		return c->write_reply;
	default:
		return size;
	}
}
/* Returns true if the class has no replies, no limit, no separate VCs and no
 * batch. */
bool class_plain(const struct class_own *c);

extern const struct weft_class weft_class_net_class;

#endif
