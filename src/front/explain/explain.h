/* SPDX-License-Identifier: Apache-2.0 */
/* `weft explain`: shows from a results file in which stages a message spent its
 * time, and which part limited a run. */
#ifndef FRONT_EXPLAIN_H
#define FRONT_EXPLAIN_H

#include <stdio.h>

#include "base/vec.h"
#include "measure/message_stages.h"
#include "weft/types.h"

/* A link port that had packets to send and no credits for them. */
struct explain_port {
	char *name, *peer;
	uint64_t blocked; /* time without credits, in fs */
};

/* One run of a results file. */
struct explain {
	char *experiment, *point;
	uint64_t run, n_runs; /* number of this run, from 1, and number of all
			       * runs */
	struct story story;
	struct {
		VEC(struct explain_port);
	} ports;
	/* Metrics whose unit is a time, in fs. */
	struct {
		VEC(struct explain_metric {
			char *name;
			double fs;
		});
	} metrics;
};

/* load.c */
int explain_load(const char *path, uint64_t run, struct explain *e,
		 struct weft_err *err);
void explain_fini(struct explain *e);

/* stage_table.c: a line of the table. A round trip has a time for each
 * direction. */
struct explain_row {
	char *where, *stage;
	uint64_t fs[2]; /* time in fs of the message, and of its answer */
};
struct explain_rows {
	VEC(struct explain_row);
};
/* Returns the message that `which` names: first, fastest, slowest or a number
 * (NULL: fastest). Returns NULL with a message when it does not exist. */
const struct story_msg *explain_pick(const struct explain *e, const char *which,
				     struct weft_err *err);
void explain_rows(const struct story_msg *m, struct explain_rows *rows);
void explain_rows_free(struct explain_rows *rows);

/* limits.c */
struct explain_limit {
	const char *kind; /* kind of part: bus, dma, link, switch, host,
			   * credits */
	char *name, *doing;
	double share; /* share of the messages' time in which the part was in
		       * use, 0..1 */
};
struct explain_limits {
	VEC(struct explain_limit); /* ordered by share, the busiest first */
};
void explain_limits(const struct explain *e, struct explain_limits *l);
void explain_limits_free(struct explain_limits *l);
/* Returns the average number of messages in flight at a time. */
double explain_overlap(const struct explain *e);
/* Returns true when the run has more than one message in flight at a time. */
bool explain_streams(const struct explain *e);
/* Returns the bottleneck of l, or NULL when no part was in use all the time. */
const struct explain_limit *explain_bottleneck(const struct explain_limits *l);

/* print.c */
int explain_table(const struct explain *e, const char *which, FILE *f,
		  struct weft_err *err);
int explain_json(const struct explain *e, const char *which, FILE *f,
		 struct weft_err *err);

#endif
