/* SPDX-License-Identifier: Apache-2.0 */
/* Destinations of synthetic traffic: for generators and for programs on hosts.
 * Patterns as in the literature (Dally and Towles, Principles and Practices of
 * Interconnection Networks, 3.2), digits and bits as in BookSim. */
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
	PATTERN_TURN,	/* those of `set`, one after another */
	PATTERN_OFFSET, /* the node so many numbers further on */
	PATTERN_RUNS,	/* uniform, several packets to one in a row */
	PATTERN_KINDS
};
/* Range of an ENUM parameter whose value is the kind: patterns that need no
 * more than the shape of a network.  A class with other words for its patterns
 * has a table of the kinds in the order of its words. */
#define PATTERN_NAMES                                                          \
	"uniform|transpose|bit_complement|bit_reverse|shuffle|tornado|"        \
	"neighbour|hotspot|permutation|fixed|none"

/* The kind of that name.  -EINVAL: no pattern has it; err lists all names. */
int pattern_parse(const char *name, enum pattern_kind *kind_p,
		  struct weft_err *err);

struct pattern {
	enum pattern_kind kind;
	uint32_t node, nodes;
	uint32_t partner; /* of all that have one */
	bool self;	  /* random ones may hit the sender */
	double hot;	  /* share of the hot spot, partner */
	double run;	  /* runs: mean packets to one node */
	/* turn, uniform, hotspot: choose among these n_set > 0 nodes, the
	 * caller's; NULL: among all nodes */
	const uint32_t *set;
	uint32_t n_set;
	/* state */
	uint32_t turn;		     /* packets of this pattern */
	uint32_t run_dest, run_left; /* of the run that has begun */
};

/* Shape of the network for tornado and neighbour; one dimension of `nodes`
 * otherwise.  perm: of all nodes, for PATTERN_PERMUTATION.  dest: hotspot,
 * fixed; offset: how far. */
struct pattern_shape {
	const uint32_t *size;
	uint32_t dims;
	const uint32_t *perm;
	uint32_t dest;
};
/* Finds the partner of p->node.  -EINVAL with a message: there is no such
 * node, or the pattern does not fit the number of nodes. */
int pattern_init(struct pattern *p, const struct pattern_shape *shape,
		 struct weft_err *err);
/* False: this node sends nothing (it would be its own partner and `self` is
 * not wanted). */
bool pattern_sends(const struct pattern *p);
/* Destination of the next packet.  Only random patterns draw, so that rng may
 * be NULL for the others. */
uint32_t pattern_dest(struct pattern *p, struct weft_rng *rng);

/* A random permutation of 0..n-1 into at: depends on seed and n only. */
void pattern_permute(uint64_t seed, uint32_t *at, uint32_t n);

#endif
