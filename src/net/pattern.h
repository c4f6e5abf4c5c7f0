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
	/* one node, or one of `spots`, is chosen with probability `hot`, all
	 * others are equally likely */
	PATTERN_HOTSPOT,
	PATTERN_PERMUTATION, /* random, but one permutation for all nodes */
	PATTERN_FIXED,
	PATTERN_NONE,
	PATTERN_DIAGONAL,   /* itself twice as often as the next node */
	PATTERN_ASYMMETRIC, /* itself modulo half the nodes, in either half */
	/* half of the packets are uniform, half go to nodes at most one step
	 * away in each of the first two dimensions */
	PATTERN_TAPER,
	PATTERN_BACKGROUND, /* uniform, but none of `spots` */
	/* uniform over the nodes of the next group: all packets of a group need
	 * the cable between these two groups */
	PATTERN_ADVERSARIAL,
	/* a random node of the column that has the number of the sender's
	 * row */
	PATTERN_ROW_COLUMN,
	PATTERN_TURN,	/* the nodes of `set`, one after another */
	PATTERN_OFFSET, /* node + dest, modulo the number of nodes */
	PATTERN_RUNS,	/* uniform, but in runs of packets to one node */
	PATTERN_KINDS
};
/* Range of an ENUM parameter whose value is the kind, for patterns that need
 * only the shape of a network. A class that gives patterns other names has a
 * table from its names to kinds. */
#define PATTERN_NAMES                                                          \
	"uniform|transpose|bit_complement|bit_reverse|shuffle|tornado|"        \
	"neighbour|hotspot|permutation|fixed|none|diagonal|asymmetric|taper|"  \
	"background|adversarial|row_column"

/* Finds the kind with this name. Returns 0, or -EINVAL with a message that
 * lists all names. */
int pattern_parse(const char *name, enum pattern_kind *kind_p,
		  struct weft_err *err);

/* Nodes with weights: "3:2,7:1". */
enum { PATTERN_SPOTS = 16 };
struct pattern_spots {
	uint32_t node[PATTERN_SPOTS];
	/* share of the packets for this node and all nodes before it in the
	 * list */
	double upto[PATTERN_SPOTS];
	uint32_t n;
};
/* Reads NODE:WEIGHT,NODE:WEIGHT.. for a network of `nodes` nodes. A weight that
 * is left out is 1. Returns 0, or -EINVAL with a message. */
int pattern_spots_read(struct pattern_spots *s, const char *text,
		       uint32_t nodes, struct weft_err *err);

struct pattern {
	enum pattern_kind kind;
	uint32_t node, nodes;
	/* destination if the kind always sends to one node; the hot spot if the
	 * kind is hotspot */
	uint32_t partner;
	bool self;  /* random destinations may include the sender */
	double hot; /* probability of the hot spot, whose node is partner */
	/* For hotspot, the hot spots that replace `partner`, or NULL. For
	 * background, the nodes that receive no packets. The caller owns the
	 * list. */
	const struct pattern_spots *spots;
	uint32_t group; /* adversarial: nodes of a group */
	uint32_t row;	/* nodes of a row, 0: one dimension */
	double run;	/* runs: mean number of packets in a run */
	/* Nodes that turn, uniform and hotspot choose from, or NULL for all
	 * nodes. The caller owns this list of n_set > 0 nodes. */
	const uint32_t *set;
	uint32_t n_set;
	/* state */
	uint32_t turn; /* number of packets of PATTERN_TURN so far */
	/* PATTERN_RUNS: destination of the current run, and number of packets
	 * that it still sends */
	uint32_t run_dest, run_left;
};

/* Shape of the network. With dims = 0, the network has one dimension of all
 * nodes. `perm` lists all nodes for PATTERN_PERMUTATION. `dest` is the
 * destination of patterns hotspot and fixed, and the distance of pattern
 * offset. */
struct pattern_shape {
	const uint32_t *size;
	uint32_t dims;
	const uint32_t *perm;
	uint32_t dest;
	uint32_t group; /* nodes of a group of the topology, 0: no groups */
};
/* Finds the partner of p->node. Returns 0, or -EINVAL with a message if the
 * partner does not exist or the pattern does not fit the number of nodes. Keeps
 * no reference to shape. */
int pattern_init(struct pattern *p, const struct pattern_shape *shape,
		 struct weft_err *err);
/* Returns false if this node sends no packets, because it would be its own
 * partner and `self` is not set. Random patterns draw again in that case. */
bool pattern_sends(const struct pattern *p);
/* Returns the destination of the next packet. rng may be NULL for patterns that
 * are not random. */
uint32_t pattern_dest(struct pattern *p, struct weft_rng *rng);

/* Writes a random permutation of 0..n-1 to at. The permutation depends on seed
 * and n only, so that every node can compute it for itself. */
void pattern_permute(uint64_t seed, uint32_t *at, uint32_t n);

#endif
