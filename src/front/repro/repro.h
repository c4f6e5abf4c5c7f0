/* SPDX-License-Identifier: Apache-2.0 */
/* Published numbers beside what the built machine does.
 *
 * A system is one file with one table `repro_<system>_rows` (ended by id ==
 * NULL) and a line ROWS(id) in its system.def.  A row names a shipped
 * experiment; every distinct (experiment, set) pair runs once however many rows
 * read it.  A row's value is a metric or counter of the result, or what `eval`
 * makes of the whole data.  Nothing here may contain the answer: `paper` is
 * what is printed in the source, the model's value comes out of the run. */
#ifndef FRONT_REPRO_H
#define FRONT_REPRO_H

#include <stdbool.h>
#include <stddef.h>

#include "measure/result.h"
#include "weft/component.h"

/* Rule by which a value is near enough. */
enum repro_rule {
	REPRO_PCT,	/* |model - paper| <= tol % of paper */
	REPRO_ABS,	/* |model - paper| <= tol, in the row's unit */
	REPRO_ROUNDED,	/* printed with `tol` decimals: half of the last one */
	REPRO_EXACT,	/* equal (to 1e-9 relative) */
	REPRO_AT_LEAST, /* paper <= model <= far */
	REPRO_AT_MOST,	/* far <= model <= paper */
	REPRO_QUOTED,	/* another quantity, shown for comparison: no verdict */
};

/* The basis of a row (docs/truth.md). */
enum repro_basis {
	REPRO_STRUCTURAL, /* follows from widths, sizes, clocks */
	REPRO_PREDICTED,  /* follows from parameters fixed elsewhere */
	REPRO_CALIBRATED, /* `parameter` was chosen to make it come out */
	REPRO_INPUT,	  /* is itself a parameter, or a sum of some; shows
			   * that they are obeyed */
};

/* One finished point of an experiment. */
struct repro_point {
	const char *name; /* "" or "workload.size=24" (sweeps) */
	const struct weft_result *result;
};

struct repro_row;

/* Data that a row may read: all points of its experiment. */
struct repro_data {
	struct repro_point *points;
	size_t n_points;
	bool *read; /* per point: a row has looked at it; may be NULL */
	/* The row that is worked out: rows of one formula read their `point`.
	 */
	const struct repro_row *row;
};

struct repro_row {
	const char *id;	      /* "F14" */
	const char *scenario; /* "tr-switch: 1 -> 1, 512-byte packets" */
	const char *unit;
	double paper; /* as printed; `derived`: computed from printed numbers */
	enum repro_rule rule;
	double tol;
	enum repro_basis basis;
	const char *parameter; /* calibrated or input: name of the parameter;
				  else NULL */
	bool report_only;      /* not enforced; note must say why */
	bool derived;	       /* the source does not print `paper` itself */
	double far;	       /* bounds: limit of credible values */
	/* Why the tolerance is wider than the rounding of the printed value,
	 * or where `far` comes from. */
	const char *why;
	const char *note;	/* may be NULL */
	const char *experiment; /* shipped name, SYSTEM/FILE */
	/* "PATH=VALUE PATH=VALUE" as with --set, or NULL. */
	const char *set;
	const char
		*point; /* sweeps: point from which `metric` is read, or NULL */
	const char *metric; /* "n0.prog0.bandwidth", or a counter */
	/* Computes the value instead of metric. Returns NAN when a part is
	 * missing. */
	double (*eval)(const struct repro_data *d);
};

/* curves.c: experiments that no row reads, curves of a system for the report;
 * they run when results are kept.  Ended by system == NULL. */
struct repro_curve {
	const char *system, *experiment, *set;
};
extern const struct repro_curve repro_curves[];
/* The row's published number is the point at x of the curve that `experiment`
 * makes.  Ended by row == NULL. */
struct repro_mark {
	const char *row, *experiment;
	double x;
};
extern const struct repro_mark repro_marks[];

/* Helpers for eval.  point NULL = the only (or first) point; NAN when absent.
 * A name may be a glob ("n*.prog0.errors"): sum, min or max of all matches. */
double repro_value(const struct repro_data *d, const char *point,
		   const char *name);
double repro_sum(const struct repro_data *d, const char *point,
		 const char *glob);
double repro_min(const struct repro_data *d, const char *point,
		 const char *glob);
double repro_max(const struct repro_data *d, const char *point,
		 const char *glob);
/* Returns the number of metrics and counters that match. */
double repro_count(const struct repro_data *d, const char *point,
		   const char *glob);
/* Returns a resolved parameter as text ("n0.nic.links" -> "2"), or NULL. */
const char *repro_param(const struct repro_data *d, const char *point,
			const char *name);
/* Returns a parameter as a number: plain, bytes, bit/s. */
double repro_number(const struct repro_data *d, const char *point,
		    const char *name, enum weft_ptype type);
/* Returns the histogram of that name, or NULL. */
const struct hist *repro_hist(const struct repro_data *d, const char *point,
			      const char *name);

#define ROWS(id) extern const struct repro_row repro_##id##_rows[];
#include "systems.def"

#endif
