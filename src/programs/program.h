/* SPDX-License-Identifier: Apache-2.0 */
/* Functions for all programs: the program's node, out-of-band values, the
 * payload pattern, and lists of nodes. */
#ifndef PROGRAMS_PROGRAM_H
#define PROGRAMS_PROGRAM_H

#include "weft/host.h"
#include "weft/sim.h"

struct program {
	struct weft_comp *c;
	struct weft_host *h;
	uint32_t me, n;
};

/* Returns the state of a program on its node. */
struct program program_from(struct weft_comp *c);

/* Returns a text with the meaning of a library's error (-E..., or E...) and its
 * remedy. */
const char *program_why(int err);

/* Two functions that mark a message for listeners (weft/trace.h): program_sent
 * as sent to a node now, program_got as received from a node now. */
void program_sent(struct program *w, uint32_t to);
void program_got(struct program *w, uint32_t from);

/* Three functions for values with the out-of-band name "<key>.<node>".
 * program_put sets the value of this node. program_get waits until `node` has
 * set its value. program_there returns true if `node` has set its value. */
void program_put(struct program *w, const char *key, uint64_t val);
uint64_t program_get(struct program *w, const char *key, uint32_t node);
bool program_there(struct program *w, const char *key, uint32_t node);
/* Waits until all nodes have called this function with the same name. Each
 * barrier of a run needs a different name, because a name stays set until the
 * run ends. */
void program_barrier(struct program *w, const char *name);
/* Waits as program_barrier does, under the name "<name>.<k>". A program can
 * repeat the barrier with a new k. */
void program_barrier_n(struct program *w, const char *name, uint32_t k);

/* Parses "0,2,4..6", "all", "others", "self", "next" or "none" into nodes, in
 * the order of the text. Returns their number, or -1 after a failed check. */
int program_nodes(struct program *w, const char *text, uint32_t *node_p,
		  uint32_t max);

/* ---- payload ----
 * Qword i of message `seq` from src to dst is base + i * PROGRAM_STEP, where
 * base is a hash of (src, dst, seq). Practically every qword of a run is
 * unique, so that a check detects data of another message. */

#define PROGRAM_STEP 0x9E3779B97F4A7C15ull

/* Returns a hash of x. */
uint64_t program_mix(uint64_t x);
/* Returns the first qword of message `seq` from src to dst. */
uint64_t program_base(uint32_t src, uint32_t dst, uint64_t seq);
/* Fills p with the qwords of a message. */
void program_fill(void *p, uint32_t qwords, uint64_t base);
/* Returns the index of the first wrong qword in [from, qwords), or -1. */
int32_t program_check(const void *p, uint32_t from, uint32_t qwords,
		      uint64_t base);

/* Returns the size of message seq in qwords: fixed if min == max, otherwise
 * uniformly distributed in [min, max]. */
uint32_t program_qwords(uint32_t src, uint32_t dst, uint64_t seq, uint32_t min,
			uint32_t max);

#endif
