/* SPDX-License-Identifier: Apache-2.0 */
/* How rows depend on parameters (`weft reproduce --sensitivity`).
 *
 * Each parameter of each class that an experiment uses is halved and doubled
 * (switched, when it is no number), one at a time, and all rows of the
 * experiment are read again.  Where a row fails, the last value at which it
 * passes is searched, in steps of 1/256.  Every trial is a process of its own:
 * a machine that is refused, runs too long or crashes costs that trial only. */
#ifndef FRONT_REPRO_SENSE_H
#define FRONT_REPRO_SENSE_H

#include "front/repro/jobs.h"

/* Scale of numbers, in 1/256. */
enum { SENSE_ONE = 256, SENSE_HALF = 128, SENSE_DOUBLE = 512 };
enum { SENSE_TEXT = 48 };

/* A parameter as the machine of a job has it. */
struct sense_param {
	const struct weft_class *cls;
	const struct weft_param *param;
	char value[SENSE_TEXT];
	bool varied; /* components or points of the job differ in it */
};

struct sense_params {
	VEC(struct sense_param);
};

/* How a trial ended. */
enum sense_end {
	SENSE_NONE, /* there is no such value */
	SENSE_RAN,
	SENSE_REFUSED, /* the machine is not built, or the run fails */
	SENSE_SLOW,    /* beyond its share of processor time */
};

/* One side of a row's answer to a parameter. */
struct sense_side {
	enum sense_end end;
	char value[SENSE_TEXT]; /* that was tried */
	double model;		/* the row there; NAN: no value */
	bool pass;
	char last[SENSE_TEXT]; /* numbers: last value that passes; "" where
				* all up to `value` do */
};

struct sense_move {
	struct sense_side low, high;
};

/* Effect of one parameter on all rows of its job, in their order. */
struct sense_found {
	size_t job;
	const struct weft_class *cls;
	const struct weft_param *param;
	char value[SENSE_TEXT];
	struct sense_move *moves;
};

struct sense {
	struct repro *repro;
	struct {
		VEC(struct sense_found);
	} found;
};

/* Parameters that may be varied, of all points of a job. */
int sense_collect(struct exp *e, struct sense_params *ps, struct weft_err *err);
/* The value times scale / 256 as text; switches take the next (scale above 1)
 * or the previous word.  False: there is none, or it is out of range. */
bool sense_scaled(const struct sense_param *p, uint32_t scale,
		  char text[SENSE_TEXT]);
bool sense_is_number(const struct sense_param *p);

/* Runs a job with one more setting, in a process; models[] gets the rows of the
 * job in order.  cpu_s: limit, 0 = none; *used_s is what it took. */
enum sense_end sense_try(struct repro *r, size_t job, const char *set,
			 double *models, double cpu_s, double *used_s);
/* Rows of a job. */
size_t sense_rows(const struct repro *r, size_t job);
const struct out_row *sense_row(const struct repro *r, size_t job, size_t i);

/* Both sides of a parameter for all rows of the job. */
void sense_measure(struct repro *r, size_t job, const struct sense_param *p,
		   double cpu_s, struct sense_move *moves);

/* All parameters of all jobs, `jobs` at a time.  The repro was run. */
int sense_run(struct sense *s, uint32_t jobs, struct weft_err *err);
void sense_free(struct sense *s);

/* sense_print.c */
void sense_table(const struct sense *s, FILE *f);
void sense_json(const struct sense *s, FILE *f);

#endif
