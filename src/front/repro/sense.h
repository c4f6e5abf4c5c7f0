/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how rows depend on parameters (`weft reproduce --sensitivity`).
 *
 * Each parameter of each class that an experiment uses is halved and doubled,
 * one parameter at a time. A parameter that is not a number is switched to
 * another word. All rows of the experiment are then read again. If a row then
 * fails, and the parameter is one of those that change the row most, a search
 * finds the last value at which the row passes. Every trial runs in a new
 * process. A machine that is refused, runs too long or crashes therefore costs
 * only that trial. Points of a sweep that no row reads, or whose machine has no
 * component of the class, keep their results and do not run again. */
#ifndef FRONT_REPRO_SENSE_H
#define FRONT_REPRO_SENSE_H

#include "front/repro/jobs.h"

/* Scales of numbers, in units of 1/256. */
enum { SENSE_ONE = 256, SENSE_HALF = 128, SENSE_DOUBLE = 512 };
enum { SENSE_TEXT = 48 };
/* SENSE_SHOWN is the number of parameters that are shown for each row: those
 * that change the row most, with the last value at which the row passes. The
 * search for this value stops at 1/SENSE_STEPS of the interval from the
 * unchanged value to half or double. */
enum { SENSE_SHOWN = 3, SENSE_STEPS = 16 };

/* A parameter with its value in the machines of a job. */
struct sense_param {
	char of[SENSE_TEXT]; /* name of the class, or "a.*" for a family of
			      * classes */
	const struct weft_class *cls; /* class; NULL: a family of classes */
	const struct weft_param *param;
	char value[SENSE_TEXT];
	bool varied; /* components or points of the job have different values */
};

struct sense_params {
	VEC(struct sense_param);
};

/* How a trial ended. */
enum sense_end {
	SENSE_NONE, /* the parameter has no such value */
	SENSE_RAN,
	SENSE_REFUSED, /* the machine cannot be built, or a program in it
			* fails */
	SENSE_SLOW,    /* the run took more than its limit of processor time */
};

/* Result of a row when the parameter has a smaller value (low) or a larger one
 * (high). */
struct sense_side {
	enum sense_end end;
	char value[SENSE_TEXT]; /* value that was tried */
	uint32_t scale;		/* factor from the unchanged value to `value`,
				 * in 1/256 */
	double model;		/* value of the row in the trial; NAN: no
				 * value */
	bool pass;
	bool search; /* `last` is to be searched */
	/* last value at which the row passes, if the parameter is a number; ""
	 * if the row passes up to `value` */
	char last[SENSE_TEXT];
};

struct sense_move {
	struct sense_side low, high;
};

/* Effect of one parameter on all rows of a job, in the order of the rows. */
struct sense_found {
	size_t job;
	struct sense_param param;
	double cpu_s; /* limit of processor time for one trial, in s */
	struct sense_move *moves;
};

struct sense {
	struct repro *repro;
	struct {
		VEC(struct sense_found);
	} found;
};

/* Collects the parameters that may be varied, from all points of a job. Returns
 * 0, or a negative errno with a message. */
int sense_collect(struct exp *e, struct sense_params *ps, struct weft_err *err);
/* Writes the value times scale / 256 as text. A switch is set to its next word
 * (scale above 1) or to its previous word. Returns false if no such value
 * exists or the value is out of range. */
bool sense_scaled(const struct sense_param *p, uint32_t scale,
		  char text[SENSE_TEXT]);
bool sense_is_number(const struct sense_param *p);

/* Runs a job with the parameter at this value (NULL: unchanged) in a process.
 * models[] receives the values of the job's rows in order. cpu_s is the limit
 * of processor time, 0 = none, and *used_s the time used. Returns how the trial
 * ended. */
enum sense_end sense_try(struct repro *r, size_t job,
			 const struct sense_param *p, const char *value,
			 double *models, double cpu_s, double *used_s);
/* sense_rows returns the number of rows of a job. sense_row returns row i. */
size_t sense_rows(const struct repro *r, size_t job);
const struct out_row *sense_row(const struct repro *r, size_t job, size_t i);

/* Without `search` tries both sides of a parameter for all rows of the job.
 * With `search` only searches the last values at which rows pass, on the sides
 * with sense_side.search. */
void sense_measure(struct repro *r, struct sense_found *f, bool search);

/* Varies all parameters of all jobs in `jobs` processes, after the reproduction
 * has run. Returns 0, or a negative errno with a message. */
int sense_run(struct sense *s, uint32_t jobs, struct weft_err *err);
void sense_free(struct sense *s);

/* sense_rank.c: a parameter, and the change that it makes to one row. */
struct sense_mover {
	const struct sense_found *found;
	struct sense_move *move;
	double size; /* relative change of the row, the larger one of both
		      * sides */
};

struct sense_movers {
	VEC(struct sense_mover);
};

/* Returns the relative change of the row on one side; 0 without a trial. */
double sense_moved(const struct out_row *o, const struct sense_side *s);
/* Returns the parameters that have an effect, ordered by the size of the
 * effect. */
struct sense_movers sense_movers(const struct sense *s,
				 const struct out_row *o);
/* Returns true if the row has a value on this side and fails. */
bool sense_breaks(const struct sense_side *s);

/* sense_print.c */
void sense_table(const struct sense *s, FILE *f);
void sense_json(const struct sense *s, FILE *f);

#endif
