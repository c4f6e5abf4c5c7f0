/* SPDX-License-Identifier: Apache-2.0 */
/* Running experiments: one case with a progress line, a sweep over several
 * worker processes. */
#ifndef FRONT_RUN_H
#define FRONT_RUN_H

#include "front/exp/exp.h"

struct run_opts {
	bool quiet;
	uint32_t jobs; /* processes for the points of a sweep */
};

/* One finished point. */
struct run_point {
	char *point; /* "" or "workload.size=24" */
	struct weft_result *result;
};

/* All points of one experiment, in order. */
struct run_set {
	char *name, *about, *label;
	struct run_point *points;
	size_t n_points;
};

/* Builds every point (so that mistakes show before anything runs), then runs
 * them.  0, or negative errno with a message; failed checks are not errors but
 * entries of result->failures. */
int run_exp(struct exp *e, const struct run_opts *opts, struct run_set *s,
	    struct weft_err *err);
void run_set_free(struct run_set *s);
/* Builds every point and throws it away. */
int run_check(struct exp *e, struct weft_err *err);
/* Number of failed checks. */
size_t run_set_failures(const struct run_set *s);

/* pack.c: a result as bytes, to cross a process boundary. */
void *result_pack(const struct weft_result *r, size_t *len_p);
struct weft_result *result_unpack(const void *buf, size_t len);

/* progress.c.  A timer stops the simulation five times a second (no event is
 * touched) so that the line can be drawn; off a terminal nothing happens. */
struct progress {
	bool on;
	const char *name;
	struct weft_sim *sim;
	void *stack; /* of the signal handler: programs have small ones */
	uint64_t start_ns, shown_ns;
	weft_time_t until;
	size_t done, total; /* points */
	bool shown;
};
void progress_start(struct progress *p, bool quiet, const char *name,
		    size_t total);
/* From now on watch sim; NULL = none. */
void progress_watch(struct progress *p, struct weft_sim *sim);
/* Call when weft_sim_run came back: true when it was stopped for the line,
 * which is now drawn. */
bool progress_sim(struct progress *p);
void progress_points(struct progress *p, size_t done);
void progress_end(struct progress *p);

#endif
