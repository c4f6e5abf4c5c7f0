/* SPDX-License-Identifier: Apache-2.0 */
/* Listens to a run and keeps the messages that `weft explain` needs. */
#ifndef FRONT_TRACE_MESSAGE_SAMPLER_H
#define FRONT_TRACE_MESSAGE_SAMPLER_H

#include "measure/result.h"
#include "weft/trace.h"

/* A part of a message, which lasts to the end of a stage. The last part may
 * last to the end of the message ("end"). */
struct keep_part {
	const char *name, *until;
};

struct keeper;
/* Returns a keeper that listens from now on, as long as the simulation exists.
 * The array `part` must live as long as the keeper. */
struct keeper *keeper_open(struct weft_sim *sim, const struct keep_part *part,
			   size_t n);
/* Adds the story of the run, and metrics part.NAME, to r. */
void keeper_result(struct keeper *k, struct weft_result *r);
/* Frees the keeper. Called after the simulation has ended. */
void keeper_free(struct keeper *k);

/* message_sampler_use.c: measures how long parts of components were in use. */
struct uses;
struct uses *uses_new(void);
void uses_hear(struct uses *u, const struct weft_trace *t);
/* Starts to count use when the first message begins. Earlier use does not
 * count. */
void uses_begin(struct uses *u, weft_time_t t);
/* Counts the use up to now. Called when a message ends, so that use after the
 * last message does not count. */
void uses_commit(struct uses *u);
void uses_result(const struct uses *u, struct story *s);
void uses_free(struct uses *u);

/* message_sampler_pick.c: keeps a few messages, and sums the stages of all
 * messages. */
struct kept_stage {
	const struct weft_comp *comp;
	const char *stage;
	weft_time_t end;
};
struct kept {
	uint64_t number;
	const struct weft_comp *from, *to; /* components of the sending and the
					    * receiving node */
	weft_time_t begin, turn, end;
	struct kept_stage *stages;
	size_t n;
};
struct picks;
struct picks *picks_new(const struct keep_part *part, size_t n);
/* Adds a message. Owns and frees m->stages. */
void picks_add(struct picks *p, struct kept *m);
uint64_t picks_count(const struct picks *p);
void picks_result(struct picks *p, struct weft_result *r);
void picks_free(struct picks *p);

/* message_sampler_parts.c: cuts messages into parts. NULL stands for no
 * parts. */
struct parts;
struct parts *parts_new(const struct keep_part *part, size_t n);
void parts_add(struct parts *p, const struct kept *m);
void parts_result(const struct parts *p, struct weft_result *r);
void parts_free(struct parts *p);

#endif
