/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that a command asks for, and the experiments they read: every
 * distinct pair of experiment and overrides is one job, which runs once. */
#ifndef FRONT_REPRO_JOBS_H
#define FRONT_REPRO_JOBS_H

#include "front/cli/cli.h"
#include "front/out/out.h"
#include "front/repro/repro.h"

/* One experiment with the overrides of its rows. */
struct repro_job {
	const char *experiment, *set;
	struct exp *exp;
};

struct repro {
	struct cli *cli;
	struct {
		VEC(struct repro_job);
	} jobs;
	struct run_set *sets; /* one per job */
	struct repro_data *data;
	size_t n_run;
	uint32_t *used; /* per --set of the command line */
	struct out_rows rows;
	size_t failed;
};

/* Collects the rows that the command line names and loads their experiments.
 * `r->cli` is set, the rest zero.  repro_free frees, also after an error. */
int repro_load(struct repro *r, struct weft_err *err);
/* Runs every job; fills `sets` and `data`. */
int repro_run(struct repro *r, struct weft_err *err);
/* Returns the row's value in the data of its job, or NAN when it is missing. */
double repro_read(const struct repro_row *row, const struct repro_data *d);
/* Judges every row and reports those without a value. */
void repro_judge_all(struct repro *r);
void repro_free(struct repro *r);

/* Loads a job's experiment with its own overrides, those of the command line,
 * and one more (NULL: none). */
int repro_job_load(struct repro *r, const struct repro_job *j, const char *more,
		   struct exp **exp_p, struct weft_err *err);

#endif
