/* SPDX-License-Identifier: Apache-2.0 */
/* An experiment: text, overrides, the points of its sweep; and a case, one
 * point built into a simulation that is ready to run. */
#ifndef FRONT_EXP_H
#define FRONT_EXP_H

#include "front/exp/doc.h"
#include "front/exp/override.h"
#include "measure/result.h"
#include "weft/sim.h"

struct exp_opts {
	const char *const *set; /* PATH=VALUE, later ones win */
	/* Option of the user behind each --set, for messages. Entries, or the
	 * list, may be NULL. */
	const char *const *option;
	size_t n_set;
	size_t n_lenient; /* the last n_lenient overrides may match nothing */
	/* Edits the text's tree before overrides and defaults apply; may be
	 * NULL. */
	int (*edit)(struct doc *d, const struct registry *reg,
		    struct weft_err *err);
};

struct exp_axis;
struct exp_auto;
struct exp {
	struct doc *doc; /* with --set applied */
	const struct registry *reg;
	char *label;		/* as the user named it */
	struct exp_overs overs; /* CLASS.PARAM of --set */
	struct exp_set *sets;
	size_t n_sets;
	/* The sweep: axes of a product, or explicit points, or points that
	 * follow from the results of those before. */
	struct exp_axis *axes;
	size_t n_axes, n_points;
	struct exp_auto *search;
	uint32_t crc; /* of the text */
	bool view;    /* results show the ports over time */
	/* Called with every simulation before it starts and before it is freed;
	 * may be NULL. */
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
	struct doc *doc; /* with this point applied */
	char *name;	 /* of the experiment */
	char *point;	 /* "" or "workload.size=24 seed=2" */
	const char *about;
	uint64_t seed;
	bool carried;
	weft_time_t until;    /* WEFT_NEVER: until programs have ended */
	weft_time_t drain;    /* run on this long */
	weft_time_t watchdog; /* limit for a run without progress; 0: none */
	uint32_t shuffle;     /* order of construction */
	uint32_t n_progs;
	const struct doc_node *record, *expect;
	weft_time_t sample; /* time between samples of all counters; 0 = none */
	const struct doc_node *sample_of, *show; /* patterns, or NULL */
	bool partial; /* the run was stopped early, so no check is judged */
	bool hung;    /* the watchdog stopped the run */
	struct exp_overs overs;
	struct exp_set *sets;
	size_t n_sets;
	struct weft_sim *sim; /* started */
};

/* Builds point i.  On error nothing is left to close. */
int exp_case_open(struct exp *e, size_t i, struct exp_case *c,
		  struct weft_err *err);
void exp_case_close(struct exp_case *c);
/* Completes the result after the run: adds the manifest's head, checks `expect`
 * (failures go to r) and drops the parts that `record` does not name. */
void exp_case_judge(const struct exp_case *c, struct weft_result *r);

/* sweep.c */
int sweep_read(struct exp *e, struct weft_err *err);

/* The settings of point i as overrides (c->sets, c->point). */
int sweep_point(struct exp_case *c, size_t i, struct weft_err *err);
/* sweep_auto.c: the load at which a network saturates.  The first point is
 * there from the start; _next adds one after the result of the last. */
int sweep_auto_read(struct exp *e, const struct doc_node *n,
		    struct weft_err *err);
void sweep_auto_fini(struct exp *e);
void sweep_auto_point(const struct exp *e, size_t i, const char **path_p,
		      struct doc_node **val_p);
bool sweep_auto_next(struct exp *e, const struct weft_result *last);
/* expect.c */
int expect_valid(const struct doc_node *expect, struct weft_err *err);
void expect_judge(const struct doc_node *expect, struct weft_result *r);
enum { RECORD_PARTS = 32 }; /* at most, of record.parts */
int record_valid(const struct doc_node *record, struct weft_err *err);
void record_apply(const struct doc_node *record, struct weft_result *r);
/* `all`, `none`, a pattern or a list of patterns; NULL: everything. */
bool record_matches(const struct doc_node *list, const char *name);
/* Returns a list of patterns as texts, ended by NULL.  The caller frees it. */
char **record_patterns(const struct doc_node *list);

/* Experiments that are part of the program; generated from
 * src/systems/NAME/experiments and experiments/. */
struct exp_shipped {
	const char *name; /* SYSTEM/FILE */
	const char *text;
	size_t len;
};
extern const struct exp_shipped exp_shipped[]; /* ended by name == NULL */
const char *exp_shipped_next(void *unused, size_t i);

#endif
