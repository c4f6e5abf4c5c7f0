/* SPDX-License-Identifier: Apache-2.0 */
/* Whom a source of synthetic traffic sends to, and when.  Patterns as in the
 * literature (Dally and Towles, Principles and Practices of Interconnection
 * Networks, 3.2), digits and bits as in BookSim. */
#ifndef NET_PATTERN_H
#define NET_PATTERN_H

#include "weft/rng.h"

enum pattern_kind {
	PATTERN_UNIFORM,
	PATTERN_TRANSPOSE, /* upper and lower half of the bits change places */
	PATTERN_BIT_COMPLEMENT,
	PATTERN_BIT_REVERSE,
	PATTERN_SHUFFLE,     /* bits rotated by one */
	PATTERN_TORNADO,     /* nearly half way round in every dimension */
	PATTERN_NEIGHBOUR,   /* one step in every dimension */
	PATTERN_HOTSPOT,     /* one node gets a share, the rest is uniform */
	PATTERN_PERMUTATION, /* a random one, the same at all nodes */
	PATTERN_FIXED,
	PATTERN_NONE,
};
#define PATTERN_NAMES                                                          \
	"uniform|transpose|bit_complement|bit_reverse|shuffle|tornado|"        \
	"neighbour|hotspot|permutation|fixed|none"

struct pattern {
	enum pattern_kind kind;
	uint32_t node, nodes;
	uint32_t partner; /* of all that have one */
	bool self;	  /* random ones may hit the sender */
	double hot;	  /* share of the hot spot, partner */
};

/* Shape of the network for tornado and neighbour; one dimension of `nodes`
 * otherwise.  perm: of all nodes, for PATTERN_PERMUTATION.  dest: hotspot,
 * fixed.  0, or negative errno with a message. */
struct pattern_shape {
	const uint32_t *size;
	uint32_t dims;
	const uint32_t *perm;
	uint32_t dest;
};
int pattern_init(struct pattern *p, const struct pattern_shape *shape,
		 struct weft_err *err);
/* False: this node sends nothing (it would be its own partner and `self` is
 * not wanted). */
bool pattern_sends(const struct pattern *p);
uint32_t pattern_dest(const struct pattern *p, struct weft_rng *rng);

/* A random permutation of 0..n-1 into at: depends on seed and n only. */
void pattern_permute(uint64_t seed, uint32_t *at, uint32_t n);

/* ---- when ---- */

enum arrivals_kind {
	ARRIVALS_BERNOULLI, /* each cycle with the same probability */
	ARRIVALS_PERIODIC,
	ARRIVALS_BURSTY, /* on and off; Bernoulli at `peak` while on */
};
#define ARRIVALS_NAMES "bernoulli|periodic|bursty"

struct arrivals {
	enum arrivals_kind kind;
	double rate;	 /* packets per cycle, at most 1 */
	double log_miss; /* of the probability that a cycle brings none */
	double end_on, end_off; /* bursty: logs for the ends of the phases */
	double at;		/* periodic: next arrival, with its fraction */
	uint64_t next;		/* cycle of the next arrival */
	uint64_t off;		/* bursty: cycle in which the burst is over */
};

/* rate, peak: packets per cycle; burst: mean length of a burst in cycles.  The
 * first arrival is drawn: no cycle is special. */
int arrivals_init(struct arrivals *a, double peak, double burst,
		  struct weft_rng *rng, struct weft_err *err);
/* From next to the one behind it. */
void arrivals_step(struct arrivals *a, struct weft_rng *rng);

#endif
