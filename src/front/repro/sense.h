/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how rows depend on parameters (`weft reproduce --sensitivity`).
 *
 * Each parameter of each class that an experiment uses is halved and doubled
 * (switched, when it is not a number), one at a time, and all rows of the
 * experiment are read again.  When a row fails, and the parameter is one of
 * those that move it most, the last value at which the row passes is searched.
 * Every trial is a process of its own, so that a machine that is refused, runs
 * too long or crashes costs that trial only.  Points of a sweep that no row
 * reads, or whose machine has no component of the class, are as built and do
 * not run again. */
#ifndef FRONT_REPRO_SENSE_H
#define FRONT_REPRO_SENSE_H

#include "front/repro/jobs.h"

/* Scale of numbers, in 1/256. */
enum { SENSE_ONE = 256, SENSE_HALF = 128, SENSE_DOUBLE = 512 };
enum { SENSE_TEXT = 48 };
/* So many parameters of a row are shown, those that move it most, and have the
 * last value at which it passes; that is known to 1/SENSE_STEPS of the way to
 * half or double. */
enum { SENSE_SHOWN = 3, SENSE_STEPS = 16 };

/* A parameter with its value in the machine of a job. */
struct sense_param {
	char of[SENSE_TEXT]; /* class, or "a.*" for a family of classes */
	const struct weft_class *cls; /* NULL: several */
	const struct weft_param *param;
	char value[SENSE_TEXT];
	bool varied; /* components or points of the job have different values */
};

struct sense_params {
	VEC(struct sense_param);
};

/* How a trial ended. */
enum sense_end {
	SENSE_NONE, /* no such value exists */
	SENSE_RAN,
	SENSE_REFUSED, /* the machine is not built, or a program in it
			* fails */
	SENSE_SLOW,    /* the run took more than its share of processor time */
};

/* One side of a row's answer to a parameter. */
struct sense_side {
	enum sense_end end;
	char value[SENSE_TEXT]; /* value that was tried */
	uint32_t scale;		/* scale of that value */
	double model;		/* value of the row with it; NAN: no value */
	bool pass;
	bool search;	       /* `last` is wanted */
	char last[SENSE_TEXT]; /* numbers: last value that passes; "" where
				* all up to `value` do */
};

struct sense_move {
	struct sense_side low, high;
};

/* Effect of one parameter on all rows of its job, in their order. */
struct sense_found {
	size_t job;
	struct sense_param param;
	double cpu_s; /* limit of a trial */
	struct sense_move *moves;
};

struct sense {
	struct repro *repro;
	struct {
		VEC(struct sense_found);
	} found;
};

/* Collects the parameters that may be varied from all points of a job. */
int sense_collect(struct exp *e, struct sense_params *ps, struct weft_err *err);
/* The value times scale / 256 as text; switches take the next (scale above 1)
 * or the previous word.  False: there is none, or it is out of range. */
bool sense_scaled(const struct sense_param *p, uint32_t scale,
		  char text[SENSE_TEXT]);
bool sense_is_number(const struct sense_param *p);

/* Runs a job with the parameter at this value (NULL: as built), in a process;
 * models[] gets the rows of the job in order.  cpu_s: limit, 0 = none; *used_s
 * is what it took. */
enum sense_end sense_try(struct repro *r, size_t job,
			 const struct sense_param *p, const char *value,
			 double *models, double cpu_s, double *used_s);
/* Rows of a job. */
size_t sense_rows(const struct repro *r, size_t job);
const struct out_row *sense_row(const struct repro *r, size_t job, size_t i);

/* Tries both sides of a parameter for all rows of the job. With `search` it
 * looks for the last values at which rows pass, where they are requested. */
void sense_measure(struct repro *r, struct sense_found *f, bool search);

/* Varies all parameters of all jobs in `jobs` processes. The reproduction must
 * have run. */
int sense_run(struct sense *s, uint32_t jobs, struct weft_err *err);
void sense_free(struct sense *s);

/* sense_rank.c: one parameter that moves a row. */
struct sense_mover {
	const struct sense_found *found;
	struct sense_move *move;
	double size; /* relative change of the row, on the side where it is
			larger */
};

struct sense_movers {
	VEC(struct sense_mover);
};

/* Returns the relative change of the row on one side; 0 without a trial. */
double sense_moved(const struct out_row *o, const struct sense_side *s);
/* Returns parameters by size of their effect. Those without effect are left
 * out. */
struct sense_movers sense_movers(const struct sense *s,
				 const struct out_row *o);
/* Returns true if the row has a value on this side and fails. */
bool sense_breaks(const struct sense_side *s);

/* sense_print.c */
void sense_table(const struct sense *s, FILE *f);
void sense_json(const struct sense *s, FILE *f);

#endif
