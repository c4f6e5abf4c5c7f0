/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by all workloads: their place, meeting the other nodes out of band,
 * the payload pattern, lists of nodes. */
#ifndef PROGRAMS_PROGRAM_H
#define PROGRAMS_PROGRAM_H

#include "weft/host.h"
#include "weft/sim.h"

struct program {
	struct weft_comp *c;
	struct weft_host *h;
	uint32_t me, n;
};

struct program program_from(struct weft_comp *c);

/* Meaning of a library's error (-E..., or E...) here, and its remedy. */
const char *program_why(int err);

/* For those who watch (weft/trace.h): a message to a node begins now; one from
 * a node is seen now. */
void program_sent(struct program *w, uint32_t to);
void program_got(struct program *w, uint32_t from);
/* Both at once: one is answered. */
void program_turn(struct program *w, uint32_t peer);

/* A value under "<key>.<node>"; get waits until that node has put it. */
void program_put(struct program *w, const char *key, uint64_t val);
uint64_t program_get(struct program *w, const char *key, uint32_t node);
bool program_there(struct program *w, const char *key, uint32_t node);
/* All nodes have come here. Each barrier of a run needs its own name. */
void program_barrier(struct program *w, const char *name);
/* The same for repeated use: name and number. */
void program_barrier_n(struct program *w, const char *name, uint32_t k);

/* "0,2,4..6", "all", "others", "self", "next", "none": the nodes in order.
 * Returns how many, or -1 (message given as a failed check). */
int program_nodes(struct program *w, const char *text, uint32_t *node_p,
		  uint32_t max);

/* ---- payload ----
 * Qword i of message `seq` from src to dst is base + i * PROGRAM_STEP, where
 * base is a mix of (src, dst, seq): every qword of a run is as good as unique.
 */

#define PROGRAM_STEP 0x9E3779B97F4A7C15ull

uint64_t program_mix(uint64_t x);
uint64_t program_base(uint32_t src, uint32_t dst, uint64_t seq);
void program_fill(void *p, uint32_t qwords, uint64_t base);
/* First wrong qword in [from, qwords), or -1. */
int32_t program_check(const void *p, uint32_t from, uint32_t qwords,
		      uint64_t base);

/* Size in qwords of message seq: fixed when min == max, else spread evenly. */
uint32_t program_qwords(uint32_t src, uint32_t dst, uint64_t seq, uint32_t min,
			uint32_t max);

#endif
