/* SPDX-License-Identifier: Apache-2.0 */
/* Source of synthetic traffic: it decides the time, destination and size of the
 * next packet. A generator only transmits:
 *
 *	while (room && traffic_due(&s) <= now) {
 *		p = traffic_draw(&s, &c->rng);
 *		send(p.dest, p.size);
 *		traffic_step(&s, line_time(p.size), &c->rng);
 *	}
 *
 * Time counts in units of the generator, cycles or fs. A source does not depend
 * on the network, so that a generator may draw packets before they are due.
 * Order of the draws of one packet: destination, size, time of the next one. */
#ifndef NET_TRAFFIC_SOURCE_H
#define NET_TRAFFIC_SOURCE_H

#include "net/packet_replay.h"
#include "net/pattern.h"

/* ---- when ---- */

enum arrivals_kind {
	ARRIVALS_BERNOULLI, /* each cycle with the same probability */
	ARRIVALS_PERIODIC,
	ARRIVALS_BURSTY, /* on and off; Bernoulli at `peak` while on */
	/* rate is a share of the line: */
	ARRIVALS_SATURATED, /* a packet is always due */
	ARRIVALS_UNIFORM,   /* from start to start, around line time / share */
	ARRIVALS_EVEN,	    /* line time, then a gap in proportion to it */
	ARRIVALS_POISSON,   /* line time, then an exponential gap */
};
#define ARRIVALS_NAMES "bernoulli|periodic|bursty"
#define ARRIVALS_NEVER UINT64_MAX

struct arrivals {
	enum arrivals_kind kind;
	double rate; /* packets per cycle, at most 1, or share of the line */
	double log_miss; /* log of the probability of a cycle without one */
	double end_on, end_off; /* bursty: logs for the ends of the phases */
	double at;     /* periodic, uniform: next arrival, with its fraction */
	uint64_t next; /* time of the next arrival */
	uint64_t off;  /* bursty: cycle in which the burst ends */
};

/* Sets up the first arrival. a->kind and a->rate are set by the caller; peak is
 * in packets per cycle, burst the mean length of a burst in cycles. The first
 * arrival is drawn so that cycle 0 is not special, but kinds with a share of
 * the line start at 0. A rate of 0 or less never sends. Returns 0, or -EINVAL
 * with a message if such bursts do not give the rate. */
int arrivals_init(struct arrivals *a, double peak, double burst,
		  struct weft_rng *rng, struct weft_err *err);
/* Advances `next` by one arrival; `line` is the time that the packet takes on
 * the line. */
void arrivals_step(struct arrivals *a, double line, struct weft_rng *rng);
/* Delays all arrivals that are not yet drawn. */
void arrivals_shift(struct arrivals *a, uint64_t by);
/* Moves the next arrival to `until` or later, because the generator was held up
 * until then. */
void arrivals_wait(struct arrivals *a, uint64_t until);

/* ---- how large ---- */

enum { TRAFFIC_SIZES = 8 };
struct traffic_mix { /* a table: "64:3,512:1" */
	uint32_t size[TRAFFIC_SIZES];
	double upto[TRAFFIC_SIZES]; /* share of this size and all before it */
	uint32_t n;
};

/* ---- source ---- */

struct traffic_source {
	struct arrivals arrivals;
	struct pattern pattern;
	uint32_t size, size_max; /* uniform between them; size_max may be 0 */
	uint64_t packets;	 /* to make; 0 = no limit */
	uint64_t made;
	struct traffic_mix *mix; /* replaces size and size_max unless NULL */
	struct packet_replay *replay; /* packets instead, or NULL */
};

struct traffic_packet {
	uint64_t at;	 /* time at which it was due */
	uint64_t number; /* of its source, from 0 on */
	uint32_t dest, size;
	uint32_t id; /* index in the trace that is replayed */
};

/* Reads s->mix from SIZE:WEIGHT,SIZE:WEIGHT.. Returns 0, or -EINVAL if the text
 * is malformed or a size is above `most`. traffic_source_fini() frees the mix
 * in both cases. */
int traffic_mix_read(struct traffic_source *s, const char *text, uint32_t most);
/* Makes the source replay the packets of node `node` in t, which must outlive
 * the source. */
void traffic_replay(struct traffic_source *s, struct trace *t, uint32_t node);
/* Returns the mean of cost(own, size) over all sizes. */
double traffic_mean(const struct traffic_source *s,
		    uint32_t (*cost)(const void *own, uint32_t size),
		    const void *own);

/* Returns the time from which traffic_draw() may be called. Returns
 * ARRIVALS_NEVER if all packets are made, the rate is 0, or all packets left in
 * a trace wait for others. */
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
/* Advances to the next arrival after a packet that takes `line` of time, see
 * arrivals_step(). */
static inline void traffic_step(struct traffic_source *s, double line,
				struct weft_rng *rng)
{
	if (!s->replay)
		arrivals_step(&s->arrivals, line, rng);
}
/* Returns the number of packets the source makes in all, UINT64_MAX = no
 * limit. */
uint64_t traffic_total(const struct traffic_source *s);
/* Frees all that the source allocated, but not a replayed trace. */
void traffic_source_fini(struct traffic_source *s);

#endif
