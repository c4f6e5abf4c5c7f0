/* SPDX-License-Identifier: Apache-2.0 */
/* Runs experiments: a case in this process with a progress line, a sweep in
 * several worker processes. */
#ifndef FRONT_RUN_H
#define FRONT_RUN_H

#include <sys/types.h>

#include "front/exp/exp.h"

struct run_point;
/* Observer that is called while a run lasts. */
struct run_watch {
	/* Called for each finished point, in the order in which points end. */
	void (*point)(struct run_watch *w, const struct run_point *p);
	/* Called five times a second when points run in this process. */
	void (*tick)(struct run_watch *w, const char *point,
		     struct weft_sim *sim);
};

struct run_opts {
	bool quiet;
	struct run_watch *watch; /* observer, or NULL */
	uint32_t jobs;		 /* processes that run points of a sweep */
	bool partial; /* SIGINT and SIGTERM end the run with the results so
		       * far */
	/* Number of this experiment and of all experiments of the command, for
	 * the progress line; parts is 0 for a single experiment. */
	size_t part, parts;
	uint64_t began_ns; /* progress_now() at the start of the first
			    * experiment */
};

/* A finished point. */
struct run_point {
	char *point; /* settings of the point: "" or "workload.size=24" */
	struct weft_result *result;
	size_t search; /* points of a search have its number */
};

/* All points of one experiment, in their order. */
struct run_set {
	char *name, *about, *label;
	struct run_point *points;
	size_t n_points;
	/* Signal that ended the set, or 0. Points that had not begun are then
	 * missing, and points that were running have `partial` in their
	 * manifest. */
	int signal;
	size_t n_wanted;
	bool lost; /* a file that records the run could not be written */
	/* number of searches to which the points belong, ordered by search and
	 * load; 0 if the points are not those of a search */
	size_t curves;
	struct run_watch *watch;
	/* Patterns of --show, ended by NULL. */
	char **show;
};

/* Builds every point, so that mistakes are reported before a run, then runs all
 * points. Returns 0, or a negative errno with a message. Failed checks are not
 * errors but entries of result->failures. */
int run_exp(struct exp *e, const struct run_opts *opts, struct run_set *s,
	    struct weft_err *err);
void run_set_free(struct run_set *s);
/* Builds every point and frees it, so that mistakes are found without a run.
 * Stores the names of points in s unless it is NULL. Returns 0, or a negative
 * errno with a message. */
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
/* workers.c: runs all points of s in up to `jobs` processes. Returns 0, or a
 * negative errno with a message. */
int run_workers(struct exp *e, struct run_set *s, uint32_t jobs,
		struct progress *p, struct weft_err *err);

/* pack.c. result_pack converts a result to bytes, and result_unpack converts
 * the bytes back, because results of workers cross a process boundary. */
void *result_pack(const struct weft_result *r, size_t *len_p);
struct weft_result *result_unpack(const void *buf, size_t len);

/* crash.c: from now on a crash report names the running component of sim. After
 * crash_watch(NULL) weft reports no crash. */
void crash_watch(struct weft_sim *sim);

/* watchdog.c */
struct watchdog {
	weft_time_t period, due; /* interval of checks, and time of the next
				  * check (WEFT_NEVER: no watchdog) */
	uint64_t steps;		 /* steps of programs at the last check */
	uint32_t quiet;		 /* number of checks in a row without a step */
};
/* Checks the programs at time w->due. Returns true if the run must end, with
 * the reason in the result. */
bool watchdog_barks(struct watchdog *w, struct weft_sim *sim);

/* signals.c. Handlers only stop the simulation and set a flag, because they may
 * interrupt any code. The run then reads the flag. */
/* With `on`, SIGINT, SIGTERM and SIGHUP end the run instead of the process, and
 * a second signal ends the process. Without `on` these signals end the process
 * again. */
void signals_catch(bool on);
/* Ignores SIGINT in a worker, because the parent asks the worker to end. */
void signals_worker(void);
/* Returns the signal that asked for the end of the run, or 0. */
int signals_caught(void);
/* Sets the process whose end also ends the run, or none if pid is 0. The first
 * signal that asks for the end of the run is passed on to this process as
 * SIGTERM and does not stop the run. */
void signals_ward(pid_t pid);
/* Sets the simulation that signals stop, or none if sim is NULL. With `ticks` a
 * timer also stops the simulation five times a second. */
void signals_watch(struct weft_sim *sim, bool ticks);
/* Returns true if a tick of the timer has stopped the run since the last
 * call. */
bool signals_ticked(void);

/* sample.c: records all counters at intervals of simulated time. */
struct sampler;
/* Opens the sampler of a case. *s_p is NULL when the experiment asks for no
 * samples. Returns 0, or a negative errno with a message when it asks for a
 * counter that does not exist. */
int sampler_open(const struct exp_case *c, struct sampler **s_p,
		 struct weft_err *err);
void sampler_free(struct sampler *s);
/* sampler_due returns the time of the next sample, WEFT_NEVER without a
 * sampler. sampler_tick records that sample. */
weft_time_t sampler_due(const struct sampler *s);
void sampler_tick(struct sampler *s);
/* Adds the last sample, and all samples as series sample.<counter>. */
void sampler_series(struct sampler *s, struct weft_result *r);

/* view.c: records all ports of the network at intervals of simulated time. */
struct viewer;
/* Returns the viewer of the case, or NULL when results do not contain ports
 * over time. */
struct viewer *viewer_open(const struct exp_case *c);
void viewer_free(struct viewer *v);
weft_time_t viewer_due(const struct viewer *v);
void viewer_tick(struct viewer *v);
/* Records a last interval and stops recording, because no events are left. */
void viewer_rest(struct viewer *v);
/* Adds the recorded ports to r. Called at the end, before components are
 * finished. */
void viewer_result(struct viewer *v, struct weft_result *r);

/* progress.c: shows one line on a terminal. Shows nothing if the output is not
 * a terminal. */
struct progress {
	bool on;
	const char *name;
	uint64_t start_ns, shown_ns, began_ns;
	size_t done, total; /* number of finished points, number of all
			     * points */
	size_t part, parts; /* number of this experiment, number of all
			     * experiments */
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
