/* SPDX-License-Identifier: Apache-2.0 */
/* Source of synthetic traffic: it decides the time, destination and size of the
 * next packet, so that a generator only transmits:
 *
 *	while (room && traffic_due(&s) <= now) {
 *		p = traffic_draw(&s, &c->rng);
 *		send(p.dest, p.size);
 *		traffic_step(&s, line_time(p.size), &c->rng);
 *	}
 *
 * Time counts in units of the generator, cycles or fs. A source does not depend
 * on the network, so that a generator may draw packets before they are due. The
 * draws of one packet are its destination, its size, and the time of the next
 * packet, in this order. */
#ifndef NET_TRAFFIC_SOURCE_H
#define NET_TRAFFIC_SOURCE_H

#include "net/packet_replay.h"
#include "net/pattern.h"

/* ---- when ---- */

enum arrivals_kind {
	/* each cycle has an arrival with the same probability */
	ARRIVALS_BERNOULLI,
	ARRIVALS_PERIODIC,
	ARRIVALS_BURSTY, /* phases on and off, Bernoulli at `peak` while on */
	/* phases on and off, given by the probabilities that a burst starts and
	 * stops */
	ARRIVALS_ON_OFF,
	/* in the kinds below, rate is the share of the line that packets use */
	ARRIVALS_SATURATED, /* a packet is always due */
	/* random intervals from the start of a packet to the next start; the
	 * mean interval is the packet's line time / share */
	ARRIVALS_UNIFORM,
	/* Each packet is followed by a gap in proportion to its line time. */
	ARRIVALS_EVEN,
	/* Each packet is followed by a gap of exponential distribution. */
	ARRIVALS_POISSON,
};
#define ARRIVALS_NAMES "bernoulli|periodic|bursty|on_off"
#define ARRIVALS_NEVER UINT64_MAX

struct arrivals {
	enum arrivals_kind kind;
	double rate; /* packets per cycle, at most 1, or share of the line */
	double log_miss; /* logarithm of the probability that a cycle has no
			  * arrival */
	/* on_off: probabilities that a burst starts in a cycle, and that it
	 * stops. If one of them is 0, it follows from the rate and the peak. If
	 * neither is 0, the peak follows from them and the rate. */
	double start, stop;
	/* bursty: logarithms of the probabilities that a phase on and a phase
	 * off last another cycle */
	double end_on, end_off;
	/* periodic, uniform: time of the next arrival before `next` is rounded
	 * to a cycle */
	double at;
	uint64_t next; /* time of the next arrival */
	uint64_t off;  /* bursty: cycle in which the burst ends */
};

/* Sets up the first arrival. The caller has set a->kind and a->rate, and start
 * and stop of on_off. peak is in packets per cycle, burst the mean length of a
 * burst in cycles. Kinds whose rate is a share of the line have their first
 * arrival in cycle 0. Other kinds draw it like later arrivals. With a rate of 0
 * or less no packet ever arrives. Returns 0, or -EINVAL with a message if
 * bursts of this length and peak cannot give the rate. */
int arrivals_init(struct arrivals *a, double peak, double burst,
		  struct weft_rng *rng, struct weft_err *err);
/* Advances `next` by one arrival. `line` is the time that the packet takes on
 * the line. */
void arrivals_step(struct arrivals *a, double line, struct weft_rng *rng);
/* Postpones the next arrival and all later ones. `by` is the delay. */
void arrivals_shift(struct arrivals *a, uint64_t by);
/* Moves the next arrival to `until` or later, because the generator could not
 * send until then. */
void arrivals_wait(struct arrivals *a, uint64_t until);

/* ---- sizes ---- */

enum { TRAFFIC_SIZES = 8 };
struct traffic_mix { /* a table of sizes with weights: "64:3,512:1" */
	uint32_t size[TRAFFIC_SIZES];
	/* share of the packets that have this size or one of the sizes before
	 * it in the list */
	double upto[TRAFFIC_SIZES];
	uint32_t n;
};

/* ---- source ---- */

struct traffic_source {
	struct arrivals arrivals;
	struct pattern pattern;
	/* sizes are uniform from size to size_max; size_max 0: all packets have
	 * `size` */
	uint32_t size, size_max;
	uint64_t packets; /* number of packets to make, or 0 for no limit */
	uint64_t made;
	/* sizes that replace size and size_max, or NULL */
	struct traffic_mix *mix;
	/* packets of a trace that replace synthetic ones, or NULL */
	struct packet_replay *replay;
};

struct traffic_packet {
	uint64_t at;	 /* time at which the packet was due */
	uint64_t number; /* number of the packet at its source, from 0 on */
	uint32_t dest, size;
	uint32_t id; /* index of the packet in a replayed trace */
};

/* Reads s->mix from SIZE:WEIGHT,SIZE:WEIGHT.. Returns 0, or -EINVAL if the text
 * is malformed or a size is above `most`. In both cases traffic_source_fini()
 * frees the mix. */
int traffic_mix_read(struct traffic_source *s, const char *text, uint32_t most);
/* Makes the source replay the packets of node `node` in t, which must outlive
 * the source. */
void traffic_replay(struct traffic_source *s, struct trace *t, uint32_t node);
/* Returns the mean of cost(own, size) over all sizes. */
double traffic_mean(const struct traffic_source *s,
		    uint32_t (*cost)(const void *own, uint32_t size),
		    const void *own);

/* Returns the time from which traffic_draw() may be called. Returns
 * ARRIVALS_NEVER if all packets are made, the rate is 0, or all remaining
 * packets of a trace wait for others. */
static inline uint64_t traffic_due(const struct traffic_source *s)
{
	if (s->replay)
		return packet_replay_due(s->replay);
	return s->packets && s->made >= s->packets ? ARRIVALS_NEVER
						   : s->arrivals.next;
}
/* Returns the next packet. The generator calls traffic_step() after it. */
struct traffic_packet traffic_draw(struct traffic_source *s,
				   struct weft_rng *rng);
/* Advances to the next arrival. `line` is the time of the last packet on the
 * line, as in arrivals_step(). */
static inline void traffic_step(struct traffic_source *s, double line,
				struct weft_rng *rng)
{
	if (!s->replay)
		arrivals_step(&s->arrivals, line, rng);
}
/* Returns the number of packets that the source makes in all, or UINT64_MAX for
 * no limit. */
uint64_t traffic_total(const struct traffic_source *s);
/* Frees all that the source allocated, but not a replayed trace. */
void traffic_source_fini(struct traffic_source *s);

#endif
