/* SPDX-License-Identifier: Apache-2.0 */
/* Time of messages by stage, for `weft explain`. Memory is bounded: only a few
 * messages of a run are kept whole (the first, the fastest, the slowest, and
 * every n-th). In addition the sum of each stage over all messages is kept, and
 * the busy time of each part of the system. */
#ifndef MEASURE_MESSAGE_STAGES_H
#define MEASURE_MESSAGE_STAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One stage: the time from the end of the previous stage to `end`. */
struct story_stage {
	char *comp, *stage;
	uint64_t end; /* fs */
};

struct story_msg {
	uint64_t number; /* number of the message in order of arrival, from 1 */
	char *from, *to; /* nodes */
	/* in fs: begin of the message, begin of the answer (0 without one),
	 * end */
	uint64_t begin, turn, end;
	struct story_stage *stages;
	size_t n_stages;
};

/* One stage, summed over all messages. */
struct story_sum {
	char *comp, *stage;
	uint64_t n, total; /* total in fs */
};

/* Time for which a part of a component was busy. */
struct story_use {
	char *comp, *part, *kind; /* "n0.bus" "bus" "bus" */
	char *doing;
	uint64_t busy; /* fs */
};

struct story {
	/* number of all messages; begin of the first and end of the last, in
	 * fs */
	uint64_t n_messages, begin, end;
	/* true if programs report the messages, false if NICs do */
	bool programs;
	struct story_msg *msgs;
	size_t n_msgs;
	struct story_sum *sums;
	size_t n_sums;
	struct story_use *uses;
	size_t n_uses;
};

/* Add an element and return a pointer to it, which is valid until the next
 * element is added. */
struct story_msg *story_msg_add(struct story *s, const char *from,
				const char *to);
void story_stage_add(struct story_msg *m, const char *comp, const char *stage,
		     uint64_t end);
struct story_sum *story_sum_add(struct story *s, const char *comp,
				const char *stage);
struct story_use *story_use_add(struct story *s, const char *comp,
				const char *part, const char *kind,
				const char *doing);
/* Frees everything that was added. */
void story_fini(struct story *s);

#endif
