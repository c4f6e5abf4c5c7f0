/* SPDX-License-Identifier: Apache-2.0 */
/* The outcome of one input of a fuzz target, as digests of its parts.  What is
 * told in no order that matters is added up: a digest of several things is the
 * sum of theirs. */
#ifndef TESTS_REPLAY_OUTCOME_H
#define TESTS_REPLAY_OUTCOME_H

#include <stddef.h>
#include <stdint.h>

enum outcome_part {
	OUTCOME_COUNTERS,  /* of components and of ports */
	OUTCOME_REGISTERS, /* as a load at the end finds them */
	OUTCOME_MEMORY,	   /* of hosts, what is not zero */
	OUTCOME_FRAMES,	   /* port, time, symbols */
	OUTCOME_NOTES,	   /* what buses tell devices and hosts */
	OUTCOME_TRACE,	   /* stages of messages, states, levels of queues */
	OUTCOME_RESULT,	   /* metrics, histograms, failed checks */
	OUTCOME_SEEN,	   /* what the target shows (fuzz/see.h) */
	OUTCOME_PARTS,
};

struct outcome {
	uint64_t digest[OUTCOME_PARTS];
	/* for the reader of a difference */
	uint64_t end_ns, frames, words, notes, marks, counted;
};

extern const char *const outcome_names[OUTCOME_PARTS];

/* From now on a new one; what has happened since the last call. */
void outcome_begin(void);
const struct outcome *outcome_end(void);

/* As a line of text. */
enum { OUTCOME_LINE = 512 };
void outcome_tell(const struct outcome *o, char *buf, size_t size);
/* Says which sums and parts of two lines differ; cuts them up. */
void outcome_explain(char *want, char *got);

#endif
