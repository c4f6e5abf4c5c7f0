/* SPDX-License-Identifier: Apache-2.0 */
/* An experiment has a text, overrides and a sweep. A case is the simulation of
 * one point of the sweep, ready to run. */
#ifndef FRONT_EXP_H
#define FRONT_EXP_H

#include "front/exp/doc.h"
#include "front/exp/override.h"
#include "measure/result.h"
#include "weft/sim.h"

struct exp_opts {
	const char *const *set; /* overrides PATH=VALUE; a later one wins over
				 * an earlier one */
	/* Option of the command line that gave each --set, for messages. An
	 * entry or the whole list may be NULL. */
	const char *const *option;
	size_t n_set;
	size_t n_lenient; /* number of overrides at the end of `set` that may
			   * match nothing */
	/* Edits the text's tree before overrides and defaults apply; may be
	 * NULL. */
	int (*edit)(struct doc *d, const struct registry *reg,
		    struct weft_err *err);
};

struct exp_axis;
struct exp_auto;
struct exp {
	struct doc *doc; /* text with --set applied */
	const struct registry *reg;
	char *label;		/* name that the user gave */
	struct exp_overs overs; /* CLASS.PARAM settings of --set */
	struct exp_set *sets;
	size_t n_sets;
	/* The sweep: axes whose product gives the points, or explicit points,
	 * or points that depend on earlier results, for each combination of
	 * the axes. */
	struct exp_axis *axes;
	size_t n_axes, n_points;
	struct exp_auto *search;
	uint32_t crc; /* checksum of the text */
	bool view;    /* results contain the traffic of ports over time */
	/* Called with every simulation before it starts, and before it is
	 * freed. May be NULL. */
	int (*on_open)(void *arg, struct weft_sim *sim, struct weft_err *err);
	void (*on_close)(void *arg);
	void *hook_arg;
};

/* Loads an experiment: `what` is a file ("-" = standard input) or the name of a
 * shipped experiment. */
int exp_load(const char *what, const struct exp_opts *opts,
	     const struct registry *reg, struct exp **exp_p,
	     struct weft_err *err);
/* Loads an experiment from text in memory; `label` names it in messages. */
int exp_load_text(const char *label, const char *text, size_t len,
		  const struct exp_opts *opts, const struct registry *reg,
		  struct exp **exp_p, struct weft_err *err);
void exp_free(struct exp *e);
/* Returns true when a case that was opened has used --set number i. */
bool exp_set_used(const struct exp *e, size_t i);

struct exp_case {
	struct exp *exp;
	struct doc *doc; /* text with this point applied */
	char *name;	 /* name of the experiment */
	char *point;	 /* settings of the point: "" or "workload.size=24
			  * seed=2" */
	const char *about;
	uint64_t seed;
	bool carried;
	/* end of the run, or WEFT_NEVER if the run ends when all programs have
	 * ended */
	weft_time_t until;
	weft_time_t drain;    /* time for which the run continues after
			       * `until` */
	weft_time_t watchdog; /* limit for a run without progress; 0: none */
	uint32_t shuffle;     /* order of construction, see exp_build.shuffle */
	uint32_t n_progs;
	const struct doc_node *record, *expect;
	weft_time_t sample; /* interval of samples of all counters; 0 = no
			     * samples */
	const struct doc_node *sample_of, *show; /* patterns of names, or
						  * NULL */
	bool partial; /* the run was stopped early, therefore `expect` is not
		       * checked */
	bool hung;    /* the watchdog stopped the run */
	struct exp_overs overs;
	struct exp_set *sets;
	size_t n_sets;
	struct weft_sim *sim; /* simulation, which has been started */
};

/* Builds point i. After an error the case needs no exp_case_close. Returns 0,
 * or a negative errno with a message. */
int exp_case_open(struct exp *e, size_t i, struct exp_case *c,
		  struct weft_err *err);
void exp_case_close(struct exp_case *c);
/* Completes the result after the run: adds the manifest's head, checks `expect`
 * (failures go to r) and drops the parts that `record` does not name. */
void exp_case_judge(const struct exp_case *c, struct weft_result *r);

/* sweep.c */
int sweep_read(struct exp *e, struct weft_err *err);

/* Sets c->sets and c->point to the settings of point i. Returns 0, or a
 * negative errno with a message. */
int sweep_point(struct exp_case *c, size_t i, struct weft_err *err);
/* sweep_auto.c: searches the load at which a network saturates, n_searches
 * times. The first point of each search exists from the start. sweep_auto_next
 * takes the results of points in their order, adds points that depend on them,
 * and returns false when all searches have ended. sweep_auto_point returns the
 * number of the point's search. */
int sweep_auto_read(struct exp *e, const struct doc_node *n, size_t n_searches,
		    struct weft_err *err);
void sweep_auto_fini(struct exp *e);
size_t sweep_auto_point(const struct exp *e, size_t i, const char **path_p,
			struct doc_node **val_p);
bool sweep_auto_next(struct exp *e, const struct weft_result *last);
/* expect.c */
int expect_valid(const struct doc_node *expect, struct weft_err *err);
void expect_judge(const struct doc_node *expect, struct weft_result *r);
enum { RECORD_PARTS = 32 }; /* largest number of record.parts */
int record_valid(const struct doc_node *record, struct weft_err *err);
void record_apply(const struct doc_node *record, struct weft_result *r);
/* Returns true when `list` matches the name. The list is one pattern or
 * several. NULL and `all` match every name, and `none` matches no name. */
bool record_matches(const struct doc_node *list, const char *name);
/* Returns a list of patterns as texts, ended by NULL, which the caller
 * frees. */
char **record_patterns(const struct doc_node *list);

/* Experiments that are part of the program, generated from
 * src/systems/NAME/experiments and experiments/. */
struct exp_shipped {
	const char *name; /* name of the form SYSTEM/FILE */
	const char *text;
	size_t len;
};
extern const struct exp_shipped exp_shipped[]; /* ended by name == NULL */
const char *exp_shipped_next(void *unused, size_t i);

#endif
