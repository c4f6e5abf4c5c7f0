/* SPDX-License-Identifier: Apache-2.0 */
/* The rows that a command asks for, and the experiments that the rows read.
 * Every distinct pair of experiment and overrides is one job, which runs
 * once. */
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
	struct run_set *sets; /* results of each job */
	struct repro_data *data;
	size_t n_run;
	uint32_t *used; /* number of times that each --set of the command line
			 * was used */
	struct out_rows rows;
	size_t failed;
};

/* Collects the rows that the command line names and loads their experiments.
 * r->cli must be set and the rest zero. Returns 0, or a negative errno with a
 * message. repro_free frees r even after an error. */
int repro_load(struct repro *r, struct weft_err *err);
/* Runs every job and fills `sets` and `data`. Returns 0, or a negative errno
 * with a message. */
int repro_run(struct repro *r, struct weft_err *err);
/* Returns the row's value in the data of its job, or NAN when it is missing. */
double repro_read(const struct repro_row *row, const struct repro_data *d);
/* Judges every row and reports those without a value. */
void repro_judge_all(struct repro *r);
void repro_free(struct repro *r);

/* Loads a job's experiment with the overrides of the job, those of the command
 * line, and `more` (may be NULL). Returns 0, or a negative errno with a
 * message. */
int repro_job_load(struct repro *r, const struct repro_job *j, const char *more,
		   struct exp **exp_p, struct weft_err *err);

#endif
