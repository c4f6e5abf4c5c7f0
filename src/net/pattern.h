/* SPDX-License-Identifier: Apache-2.0 */
/* Destinations of synthetic traffic, for generators and for programs on hosts.
 * The patterns are those of the literature (Dally and Towles, Principles and
 * Practices of Interconnection Networks, 3.2). Digits and bits are numbered
 * like in BookSim, so that curves can be compared. */
#ifndef NET_PATTERN_H
#define NET_PATTERN_H

#include "weft/rng.h"

enum pattern_kind {
	PATTERN_UNIFORM,
	/* the upper and lower halves of the bits are exchanged */
	PATTERN_TRANSPOSE,
	PATTERN_BIT_COMPLEMENT,
	PATTERN_BIT_REVERSE,
	PATTERN_SHUFFLE,   /* the bits are rotated by one */
	PATTERN_TORNADO,   /* nearly half way round the ring of each
			    * dimension */
	PATTERN_NEIGHBOUR, /* one step in each dimension */
	/* one node is chosen with probability `hot`, all others are equally
	 * likely */
	PATTERN_HOTSPOT,
	PATTERN_PERMUTATION, /* random, but one permutation for all nodes */
	PATTERN_FIXED,
	PATTERN_NONE,
	PATTERN_TURN,	/* the nodes of `set`, one after another */
	PATTERN_OFFSET, /* node + dest, modulo the number of nodes */
	PATTERN_RUNS,	/* uniform, but several packets in a row go to one
			 * node */
	PATTERN_KINDS
};
/* Range of an ENUM parameter whose value is the kind, for patterns that need
 * only the shape of a network. A class that gives patterns other names has a
 * table from its names to kinds. */
#define PATTERN_NAMES                                                          \
	"uniform|transpose|bit_complement|bit_reverse|shuffle|tornado|"        \
	"neighbour|hotspot|permutation|fixed|none"

/* Finds the kind with this name. Returns 0, or -EINVAL with a message that
 * lists all names. */
int pattern_parse(const char *name, enum pattern_kind *kind_p,
		  struct weft_err *err);

struct pattern {
	enum pattern_kind kind;
	uint32_t node, nodes;
	/* destination, for kinds in which it never changes; hotspot: the hot
	 * spot */
	uint32_t partner;
	bool self;  /* random destinations may include the sender */
	double hot; /* probability of the hot spot, whose node is partner */
	double run; /* runs: mean number of packets to one node in a row */
	/* turn, uniform, hotspot: the nodes to choose from, n_set > 0 of them,
	 * owned by the caller; NULL: all nodes */
	const uint32_t *set;
	uint32_t n_set;
	/* state */
	uint32_t turn; /* number of packets of PATTERN_TURN so far */
	/* destination of the current run, and number of packets left in the
	 * run */
	uint32_t run_dest, run_left;
};

/* Shape of the network, which tornado and neighbour need. Other kinds use one
 * dimension of `nodes`. perm lists all nodes, for PATTERN_PERMUTATION. dest is
 * the node of hotspot and fixed, and the distance of offset. */
struct pattern_shape {
	const uint32_t *size;
	uint32_t dims;
	const uint32_t *perm;
	uint32_t dest;
};
/* Finds the partner of p->node. Returns 0, or -EINVAL with a message if that
 * node does not exist or the pattern does not fit the number of nodes. Keeps no
 * reference to shape. */
int pattern_init(struct pattern *p, const struct pattern_shape *shape,
		 struct weft_err *err);
/* Returns false if this node sends no packets, because it would be its own
 * partner and `self` is not set. */
bool pattern_sends(const struct pattern *p);
/* Returns the destination of the next packet. rng may be NULL for patterns that
 * are not random. */
uint32_t pattern_dest(struct pattern *p, struct weft_rng *rng);

/* Writes a random permutation of 0..n-1 to at. The permutation depends on seed
 * and n only, so that every node can compute it for itself. */
void pattern_permute(uint64_t seed, uint32_t *at, uint32_t n);

#endif
