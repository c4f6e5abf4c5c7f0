/* SPDX-License-Identifier: Apache-2.0 */
/* Where the time of messages went: what `weft explain` tells.  Bounded: some
 * messages of a run whole (the first, the fastest, the slowest, some in
 * between), sums over all of them, and how long each part of the system was in
 * use meanwhile. */
#ifndef MEASURE_MESSAGE_STAGES_H
#define MEASURE_MESSAGE_STAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the time up to `end`, since the end of the stage before, was spent
 * with. */
struct story_stage {
	char *comp, *stage;
	uint64_t end; /* fs */
};

struct story_msg {
	uint64_t number; /* in order of arrival, from 1 */
	char *from, *to; /* nodes */
	/* fs; there and back: turn is when it was answered, else 0 */
	uint64_t begin, turn, end;
	struct story_stage *stages;
	size_t n_stages;
};

/* One stage of all messages. */
struct story_sum {
	char *comp, *stage;
	uint64_t n, total; /* fs */
};

/* Time in which a part of a component did something. */
struct story_use {
	char *comp, *part, *kind; /* "n0.bus" "bus" "bus" */
	char *doing;
	uint64_t busy; /* fs */
};

struct story {
	uint64_t n_messages, begin, end; /* all of them; fs */
	bool programs;			 /* messages as programs saw them */
	struct story_msg *msgs;
	size_t n_msgs;
	struct story_sum *sums;
	size_t n_sums;
	struct story_use *uses;
	size_t n_uses;
};

/* What they return is valid until the next is added. */
struct story_msg *story_msg_add(struct story *s, const char *from,
				const char *to);
void story_stage_add(struct story_msg *m, const char *comp, const char *stage,
		     uint64_t end);
struct story_sum *story_sum_add(struct story *s, const char *comp,
				const char *stage);
struct story_use *story_use_add(struct story *s, const char *comp,
				const char *part, const char *kind,
				const char *doing);
void story_fini(struct story *s);

#endif
