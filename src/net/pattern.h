/* SPDX-License-Identifier: Apache-2.0 */
/* Destinations of synthetic traffic, for generators and for programs on hosts.
 * Patterns as in the literature (Dally and Towles, Principles and Practices of
 * Interconnection Networks, 3.2), digits and bits as in BookSim, so that curves
 * can be compared. */
#ifndef NET_PATTERN_H
#define NET_PATTERN_H

#include "weft/rng.h"

enum pattern_kind {
	PATTERN_UNIFORM,
	PATTERN_TRANSPOSE, /* halves of the bits change places */
	PATTERN_BIT_COMPLEMENT,
	PATTERN_BIT_REVERSE,
	PATTERN_SHUFFLE,     /* bits rotated by one */
	PATTERN_TORNADO,     /* nearly half way round in every dimension */
	PATTERN_NEIGHBOUR,   /* one step in every dimension */
	PATTERN_HOTSPOT,     /* one node gets a share, the rest is uniform */
	PATTERN_PERMUTATION, /* random, but equal at all nodes */
	PATTERN_FIXED,
	PATTERN_NONE,
	PATTERN_TURN,	/* nodes of `set`, one after another */
	PATTERN_OFFSET, /* node + dest, modulo nodes */
	PATTERN_RUNS,	/* uniform, several packets to one node in a row */
	PATTERN_KINDS
};
/* Range of an ENUM parameter whose value is the kind: patterns that need only
 * the shape of a network. A class with other words for its patterns has a table
 * of the kinds in the order of its words. */
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
	uint32_t partner; /* destination, for kinds with a fixed one */
	bool self;	  /* random destinations may be the sender */
	double hot;	  /* probability of the hot spot, which is partner */
	double run;	  /* runs: mean packets to one node */
	/* turn, uniform, hotspot: choose among these n_set > 0 nodes, which
	 * belong to the caller; NULL: choose among all nodes */
	const uint32_t *set;
	uint32_t n_set;
	/* state */
	uint32_t turn;		     /* packets of PATTERN_TURN so far */
	uint32_t run_dest, run_left; /* of the current run */
};

/* Shape of the network for tornado and neighbour; otherwise one dimension of
 * `nodes`. perm lists all nodes, for PATTERN_PERMUTATION. dest is the node of
 * hotspot and fixed, and the distance of offset. */
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
/* Returns false if this node sends nothing, because it would be its own partner
 * and `self` is not set. */
bool pattern_sends(const struct pattern *p);
/* Returns the destination of the next packet. rng may be NULL for patterns that
 * are not random, since these draw nothing. */
uint32_t pattern_dest(struct pattern *p, struct weft_rng *rng);

/* Writes a random permutation of 0..n-1 to at. It depends on seed and n only,
 * so that every node can compute it by itself. */
void pattern_permute(uint64_t seed, uint32_t *at, uint32_t n);

#endif
