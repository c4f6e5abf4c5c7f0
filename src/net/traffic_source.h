/* SPDX-License-Identifier: Apache-2.0 */
/* Source of synthetic traffic: when the next packet is made, where it goes and
 * how large it is.  A generator only transmits:
 *
 *	while (room && traffic_due(&s) <= now) {
 *		p = traffic_draw(&s, &c->rng);
 *		send(p.dest, p.size);
 *		traffic_step(&s, line_time(p.size), &c->rng);
 *	}
 *
 * Time counts in units of the generator, cycles or fs.  A source knows nothing
 * of the network, so a generator may draw packets before they are due.  Draws
 * of one packet: destination, size, time of the next one. */
#ifndef NET_TRAFFIC_SOURCE_H
#define NET_TRAFFIC_SOURCE_H

#include "net/packet_replay.h"
#include "net/pattern.h"

/* ---- when ---- */

enum arrivals_kind {
	ARRIVALS_BERNOULLI, /* each cycle with the same probability */
	ARRIVALS_PERIODIC,
	ARRIVALS_BURSTY, /* on and off; Bernoulli at `peak` while on */
	/* these take a share of the line: */
	ARRIVALS_SATURATED, /* one is always due */
	ARRIVALS_UNIFORM,   /* from start to start, around line time / share */
	ARRIVALS_EVEN,	    /* line time, then a gap in proportion to it */
	ARRIVALS_POISSON,   /* line time, then an exponential gap */
};
#define ARRIVALS_NAMES "bernoulli|periodic|bursty"
#define ARRIVALS_NEVER UINT64_MAX

struct arrivals {
	enum arrivals_kind kind;
	double rate;	 /* packets per cycle, at most 1; share of the line */
	double log_miss; /* of the probability that a cycle brings none */
	double end_on, end_off; /* bursty: logs for the ends of the phases */
	double at;     /* periodic, uniform: next arrival, with its fraction */
	uint64_t next; /* time of the next arrival */
	uint64_t off;  /* bursty: cycle in which the burst is over */
};

/* peak: packets per cycle; burst: mean length of a burst in cycles.  The first
 * arrival is drawn, no cycle is special; where they take a share of the line it
 * is at 0.  A rate of 0 or less: never.  -EINVAL with a message: bursts that do
 * not give the rate. */
int arrivals_init(struct arrivals *a, double peak, double burst,
		  struct weft_rng *rng, struct weft_err *err);
/* From next to the one behind it; line: time the packet takes on the line. */
void arrivals_step(struct arrivals *a, double line, struct weft_rng *rng);
/* All arrivals that are not drawn yet come so much later. */
void arrivals_shift(struct arrivals *a, uint64_t by);
/* The next arrival is not before that: the generator was held up. */
void arrivals_wait(struct arrivals *a, uint64_t until);

/* ---- how large ---- */

enum { TRAFFIC_SIZES = 8 };
struct traffic_mix { /* a table: "64:3,512:1" */
	uint32_t size[TRAFFIC_SIZES];
	double upto[TRAFFIC_SIZES]; /* share of this size and those before */
	uint32_t n;
};

/* ---- source ---- */

struct traffic_source {
	struct arrivals arrivals;
	struct pattern pattern;
	uint32_t size, size_max; /* uniform between them; size_max may be 0 */
	uint64_t packets;	 /* to make; 0 = no end */
	uint64_t made;
	struct traffic_mix *mix;      /* sizes instead; NULL: none */
	struct packet_replay *replay; /* packets instead; NULL: none */
};

struct traffic_packet {
	uint64_t at;	 /* when it was due */
	uint64_t number; /* of its source, from 0 on */
	uint32_t dest, size;
	uint32_t id; /* in the trace that is replayed */
};

/* Reads s->mix from SIZE:WEIGHT,SIZE:WEIGHT..; -EINVAL: that is none, or a size
 * is above `most`. */
int traffic_mix_read(struct traffic_source *s, const char *text, uint32_t most);
/* Packets of node `node` in t, which must outlive the source. */
void traffic_replay(struct traffic_source *s, struct trace *t, uint32_t node);
/* Mean over all sizes of what one costs. */
double traffic_mean(const struct traffic_source *s,
		    uint32_t (*cost)(const void *own, uint32_t size),
		    const void *own);

/* When traffic_draw may be called; ARRIVALS_NEVER: all are made, or none ever
 * is, or those of a trace wait for others. */
static inline uint64_t traffic_due(const struct traffic_source *s)
{
	if (s->replay)
		return packet_replay_due(s->replay);
	return s->packets && s->made >= s->packets ? ARRIVALS_NEVER
						   : s->arrivals.next;
}
struct traffic_packet traffic_draw(struct traffic_source *s,
				   struct weft_rng *rng);
/* The packet was sent and takes `line` of time: see arrivals_step. */
static inline void traffic_step(struct traffic_source *s, double line,
				struct weft_rng *rng)
{
	if (!s->replay)
		arrivals_step(&s->arrivals, line, rng);
}
/* Packets it makes in all, UINT64_MAX = no end. */
uint64_t traffic_total(const struct traffic_source *s);
void traffic_source_fini(struct traffic_source *s);

#endif
