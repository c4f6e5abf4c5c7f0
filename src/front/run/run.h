/* SPDX-License-Identifier: Apache-2.0 */
/* Running experiments: one case with a progress line, a sweep over several
 * worker processes. */
#ifndef FRONT_RUN_H
#define FRONT_RUN_H

#include "front/exp/exp.h"

struct run_point;
/* Observer of a run that is still going on. */
struct run_watch {
	/* Called when a point is finished, in the order of their ends. */
	void (*point)(struct run_watch *w, const struct run_point *p);
	/* Called five times a second when points run in this process. */
	void (*tick)(struct run_watch *w, const char *point,
		     struct weft_sim *sim);
};

struct run_opts {
	bool quiet;
	struct run_watch *watch; /* or NULL */
	uint32_t jobs;		 /* processes for the points of a sweep */
	bool partial; /* SIGINT and SIGTERM leave the results so far */
	/* One of several experiments, the first of which began then: for the
	 * progress line; 0 when there is only one. */
	size_t part, parts;
	uint64_t began_ns; /* progress_now() */
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
	/* A signal ended it: points that were not begun are missing, those that
	 * were running have `partial` in their manifest. */
	int signal;
	size_t n_wanted;
	bool lost;  /* a file that records the run could not be written */
	bool curve; /* points of a search, ordered by load */
	struct run_watch *watch;
	/* Patterns of --show; ended by NULL. */
	char **show;
};

/* Builds every point (so that mistakes show before anything runs), then runs
 * them.  0, or negative errno with a message; failed checks are not errors but
 * entries of result->failures. */
int run_exp(struct exp *e, const struct run_opts *opts, struct run_set *s,
	    struct weft_err *err);
void run_set_free(struct run_set *s);
/* Builds every point and frees it, so that mistakes show without a run. Stores
 * the names in s unless it is NULL. */
int run_check(struct exp *e, struct run_set *s, struct weft_err *err);
/* Returns the number of failed checks. */
size_t run_set_failures(const struct run_set *s);

/* Runs an open case, closes it and returns its result as bytes.  Returns NULL
 * with a message when the case cannot run. */
struct progress;
void *case_bytes(struct exp_case *c, struct progress *p, size_t *len_p,
		 struct weft_err *err);
int set_store(struct run_set *s, size_t i, const void *buf, size_t len,
	      struct weft_err *err);
/* workers.c: all points of s in up to `jobs` processes. */
int run_workers(struct exp *e, struct run_set *s, uint32_t jobs,
		struct progress *p, struct weft_err *err);

/* pack.c: a result as bytes, to cross a process boundary. */
void *result_pack(const struct weft_result *r, size_t *len_p);
struct weft_result *result_unpack(const void *buf, size_t len);

/* crash.c: from now on a crash names the component of sim that runs; NULL ends
 * it. */
void crash_watch(struct weft_sim *sim);

/* watchdog.c */
struct watchdog {
	weft_time_t period, due; /* WEFT_NEVER: none */
	uint64_t steps;		 /* steps of programs at the last check */
	uint32_t quiet;		 /* consecutive checks without a step */
};
/* Called at time w->due. Returns true to end the run, with the reason in the
 * result. */
bool watchdog_barks(struct watchdog *w, struct weft_sim *sim);

/* signals.c.  Handlers stop the simulation (no event is touched) and leave a
 * note; the run then comes back to look. */
/* SIGINT and SIGTERM end the run from now on instead of the process; the second
 * one ends the process. */
void signals_catch(bool on);
/* Ignores SIGINT in a worker, because the parent tells it to end. */
void signals_worker(void);
/* Returns the signal that asked for the end, or 0. */
int signals_caught(void);
/* Chooses the simulation that signals stop, or none (NULL). With `ticks` it
 * also stops five times a second. */
void signals_watch(struct weft_sim *sim, bool ticks);
bool signals_ticked(void); /* since the last look */

/* sample.c: all counters at intervals of simulated time. */
struct sampler;
/* NULL when the experiment does not ask for it; 0, or negative errno with a
 * message when it asks for what is not there. */
int sampler_open(const struct exp_case *c, struct sampler **s_p,
		 struct weft_err *err);
void sampler_free(struct sampler *s);
/* When the next is to be taken (WEFT_NEVER without a sampler), and that it is
 * time. */
weft_time_t sampler_due(const struct sampler *s);
void sampler_tick(struct sampler *s);
/* Adds the last sample, and all samples as series sample.<counter>. */
void sampler_series(struct sampler *s, struct weft_result *r);

/* view.c: all ports of the network at intervals of simulated time. */
struct viewer;
/* Returns the viewer of the case, or NULL when no results show the ports over
 * time. */
struct viewer *viewer_open(const struct exp_case *c);
void viewer_free(struct viewer *v);
weft_time_t viewer_due(const struct viewer *v);
void viewer_tick(struct viewer *v);
/* No events are left. Time that passes from now on is not recorded. */
void viewer_rest(struct viewer *v);
/* Called at the end, before components are finished. */
void viewer_result(struct viewer *v, struct weft_result *r);

/* progress.c: one line on a terminal, nothing elsewhere. */
struct progress {
	bool on;
	const char *name;
	uint64_t start_ns, shown_ns, began_ns;
	size_t done, total; /* points */
	size_t part, parts; /* experiments */
	bool shown;
	struct run_watch *watch;
};
uint64_t progress_now(void);
void progress_start(struct progress *p, const struct run_opts *o,
		    const char *name, size_t total);
void progress_sim(struct progress *p, struct weft_sim *sim, weft_time_t until);
void progress_points(struct progress *p, size_t done);
void progress_end(struct progress *p);

#endif
