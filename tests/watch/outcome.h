/* SPDX-License-Identifier: Apache-2.0 */
/* The outcome of one input of a fuzz target, as digests of its parts. If the
 * order of the events of a part has no meaning, the digest of that part is the
 * sum of the digests of the events. */
#ifndef TESTS_REPLAY_OUTCOME_H
#define TESTS_REPLAY_OUTCOME_H

#include <stddef.h>
#include <stdint.h>

enum outcome_part {
	OUTCOME_COUNTERS, /* counters of components and of ports */
	/* registers, as loads at the end of the run read them */
	OUTCOME_REGISTERS,
	OUTCOME_MEMORY, /* memory of hosts that is not zero */
	OUTCOME_FRAMES, /* frames: port, time, symbols */
	OUTCOME_NOTES,	/* notes of buses for devices and hosts */
	OUTCOME_TRACE,	/* stages of messages, states, levels of queues */
	OUTCOME_RESULT, /* metrics, histograms, failed checks */
	OUTCOME_SEEN,	/* values from the target (fuzz/see.h) */
	OUTCOME_PARTS,
};

struct outcome {
	uint64_t digest[OUTCOME_PARTS];
	/* sums that help to understand a difference */
	uint64_t end_ns, frames, words, notes, marks, counted;
};

extern const char *const outcome_names[OUTCOME_PARTS];

/* Starts a new outcome. outcome_end() returns everything that has happened
 * since then. */
void outcome_begin(void);
const struct outcome *outcome_end(void);

/* Writes the outcome as a line of text. */
enum { OUTCOME_LINE = 512 };
void outcome_tell(const struct outcome *o, char *buf, size_t size);
/* Prints which sums and parts of two lines differ. Modifies both lines. */
void outcome_explain(char *want, char *got);

#endif
