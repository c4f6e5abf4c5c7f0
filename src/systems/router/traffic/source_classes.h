/* SPDX-License-Identifier: Apache-2.0 */
/* Packets of a source that has several classes, replies, or a limit of packets
 * in the network. Each class has a queue. The source sends one flit in each
 * cycle, from the class with the highest priority among those that have a VC
 * with a place. Classes of equal priority are served in round robin.
 *
 * A class sends waiting replies first, in the order of the requests, then its
 * own packets. A request that arrives in cycle t is answered from cycle t + 1
 * on. A packet counts under the limit of its source until the end of the cycle
 * in which it arrives, or in which its reply arrives. */
#ifndef SYSTEMS_ROUTER_TRAFFIC_SOURCE_CLASSES_H
#define SYSTEMS_ROUTER_TRAFFIC_SOURCE_CLASSES_H

#include "systems/router/traffic/source.h"

/* A reply that has not been made. */
struct pending {
	uint32_t dest;
	uint8_t kind; /* of the reply */
	uint8_t cls;  /* of both */
	uint16_t flits;
	uint64_t asked;	  /* cycle in which the request was made */
	uint64_t arrived; /* and in which it arrived */
};

struct source_class {
	struct net_source own;
	const struct class_own *c;
	struct weft_rng rng;
	struct net_range range[PACKET_KINDS];
	uint8_t number; /* in the measurement, or NET_CLASS_NONE */
	uint32_t packet, sent, last_vc; /* as those of router_source */
	uint32_t out;			/* packets under the limit */
	/* for each packet that has arrived, the cycle from which it no longer
	 * counts in `out` */
	struct {
		RING(uint64_t);
	} back;
	struct {
		RING(struct pending);
	} replies;
};

struct source_classes {
	uint32_t n, last; /* last: the class of the last flit */
	struct source_class at[];
};

/* Draws the next arrival, which is a request or a packet without reply. Sets
 * *kind_p to PACKET_WRITE or PACKET_READ. */
static inline struct traffic_packet class_next(struct traffic_source *t,
					       const struct class_own *c,
					       struct weft_rng *rng,
					       enum packet_kind *kind_p)
{
	struct traffic_packet p = traffic_draw(t, rng);

	*kind_p = c->writes > 0 && weft_rng_real(rng) < c->writes ? PACKET_WRITE
								  : PACKET_READ;
	traffic_step(t, 0, rng);
	return p;
}

static inline bool limit_reached(const struct source_class *k)
{
	return k->c->outstanding && k->out >= k->c->outstanding;
}

/* Makes the classes of a source in ops.start. Returns 0, or -EINVAL with a
 * message. */
int source_classes_start(struct router_source *s, struct pattern_shape shape,
			 struct weft_err *err);
void source_classes_fini(struct router_source *s);
/* Makes a class of the packets of a source without classes. Called when the
 * first request arrives at the source. */
void source_classes_plain(struct router_source *s);
/* Sends a flit, or sets a wake for the cycle in which a flit may leave. */
void source_classes_send(struct router_source *s, uint64_t now);
/* Handles packet p, which has arrived. */
void source_classes_take(struct router_source *s, const struct packet *p,
			 uint64_t now);
/* Returns the packets of a class that are due in cycles `from` to `cycle` - 1
 * and are not made. If cls is NET_CLASSES_MAX, counts all classes. */
struct net_backlog source_classes_backlog(const struct router_source *s,
					  uint32_t cls, uint64_t from,
					  uint64_t cycle);
/* Returns the number of packets that all classes send, with the replies to
 * them, or UINT64_MAX if there is no bound. */
uint64_t source_classes_total(const struct router_source *s);

#endif
