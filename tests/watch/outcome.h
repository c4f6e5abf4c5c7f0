/* SPDX-License-Identifier: Apache-2.0 */
/* The outcome of one input of a fuzz target, as digests of its parts. Events
 * whose order does not matter are added up: their digest is the sum of the
 * digests of each. */
#ifndef TESTS_REPLAY_OUTCOME_H
#define TESTS_REPLAY_OUTCOME_H

#include <stddef.h>
#include <stdint.h>

enum outcome_part {
	OUTCOME_COUNTERS,  /* of components and of ports */
	OUTCOME_REGISTERS, /* as loads at the end of the run read them */
	OUTCOME_MEMORY,	   /* of hosts, what is not zero */
	OUTCOME_FRAMES,	   /* port, time, symbols */
	OUTCOME_NOTES,	   /* notes of buses for devices and hosts */
	OUTCOME_TRACE,	   /* stages of messages, states, levels of queues */
	OUTCOME_RESULT,	   /* metrics, histograms, failed checks */
	OUTCOME_SEEN,	   /* values from the target (fuzz/see.h) */
	OUTCOME_PARTS,
};

struct outcome {
	uint64_t digest[OUTCOME_PARTS];
	/* for the reader of a difference */
	uint64_t end_ns, frames, words, notes, marks, counted;
};

extern const char *const outcome_names[OUTCOME_PARTS];

/* outcome_begin starts a new outcome. outcome_end returns what has happened
 * since then. */
void outcome_begin(void);
const struct outcome *outcome_end(void);

/* As a line of text. */
enum { OUTCOME_LINE = 512 };
void outcome_tell(const struct outcome *o, char *buf, size_t size);
/* Prints which sums and parts of two lines differ. Modifies both lines. */
void outcome_explain(char *want, char *got);

#endif
