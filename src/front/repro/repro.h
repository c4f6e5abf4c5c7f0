/* SPDX-License-Identifier: Apache-2.0 */
/* Published numbers beside the results of the model.
 *
 * A system is one file with one table `repro_<system>_rows` (ended by id ==
 * NULL) and a line ROWS(id) in its system.def.  A row names a shipped
 * experiment. Every distinct pair (experiment, set) runs once, even if many
 * rows read it. A row's value is a metric or counter of the result, or the
 * result of `eval` on the whole data. `paper` is the number that the source
 * prints. No row contains the model's value, because that value has to come
 * from the run. */
#ifndef FRONT_REPRO_H
#define FRONT_REPRO_H

#include <stdbool.h>
#include <stddef.h>

#include "measure/result.h"
#include "weft/component.h"

/* Rules by which a value is near enough to the published number. */
enum repro_rule {
	REPRO_PCT,	/* |model - paper| <= tol % of paper */
	REPRO_ABS,	/* |model - paper| <= tol, in the row's unit */
	REPRO_ROUNDED,	/* equal when rounded to `tol` decimals, as the source
			 * prints it */
	REPRO_EXACT,	/* equal, within a relative error of 1e-9 */
	REPRO_AT_LEAST, /* paper <= model <= far */
	REPRO_AT_MOST,	/* far <= model <= paper */
	REPRO_QUOTED,	/* another quantity, shown for comparison without a
			 * verdict */
};

/* The basis of a row (docs/truth.md). */
enum repro_basis {
	REPRO_STRUCTURAL, /* value follows from widths, sizes and clocks */
	REPRO_PREDICTED,  /* the value follows from parameters that other rows
			   * fixed */
	REPRO_CALIBRATED, /* `parameter` was chosen so that the value fits */
	REPRO_INPUT,	  /* The value is a parameter, or a sum of parameters.
			   * The row shows that the model applies it. */
};

/* One finished point of an experiment. */
struct repro_point {
	const char *name; /* settings of the point in a sweep, such as
			   * "workload.size=24"; otherwise "" */
	const struct weft_result *result;
};

struct repro_row;

/* Data that a row may read: all points of the row's experiment. */
struct repro_data {
	struct repro_point *points;
	size_t n_points;
	bool *read; /* for each point whether a row has read it; may be NULL */
	/* The row that is being evaluated. Rows that share one formula differ
	 * in their `point`. */
	const struct repro_row *row;
};

struct repro_row {
	const char *id;	      /* number of the row, such as "F14" */
	const char *scenario; /* text such as "tr-switch: 1 -> 1, 512-byte
			       * packets" */
	const char *unit;
	/* printed number, or number computed from printed ones if `derived` is
	 * set */
	double paper;
	enum repro_rule rule;
	double tol;
	enum repro_basis basis;
	/* name of the parameter if the basis is calibrated or input, otherwise
	 * NULL */
	const char *parameter;
	bool report_only; /* a failure is only reported; `note` says why */
	bool derived;	  /* the source does not print `paper` itself */
	double far;	  /* one-sided rules: limit of credible values */
	/* Reason why the tolerance is wider than the rounding of the printed
	 * value, or source of the value in `far`. */
	const char *why;
	const char *note;	/* remark, or NULL */
	const char *experiment; /* shipped name, SYSTEM/FILE */
	/* Overrides "PATH=VALUE PATH=VALUE" as for --set, or NULL. */
	const char *set;
	/* point of a sweep from which `metric` is read, or NULL for the first
	 * point */
	const char *point;
	const char *metric; /* metric such as "n0.prog0.bandwidth", or
			     * counter */
	/* Computes the row's value. If NULL, the value is that of `metric`.
	 * Returns NAN when a part is missing. */
	double (*eval)(const struct repro_data *d);
};

/* curves.c: experiments that no row reads, but that give curves for the report.
 * They run only when results are kept. The list ends with system == NULL. */
struct repro_curve {
	const char *system, *experiment, *set;
};
extern const struct repro_curve repro_curves[];
/* Puts the published number of `row` as a point, at x, on the curve of
 * `experiment`. The list ends with row == NULL. */
struct repro_mark {
	const char *row, *experiment;
	double x;
};
extern const struct repro_mark repro_marks[];

/* Helpers for eval. point NULL = the only (or first) point. Each returns NAN
 * for a missing value. A name may be a glob ("n*.prog0.errors"), and the result
 * is then the sum, the smallest or the largest of all matches. */
double repro_value(const struct repro_data *d, const char *point,
		   const char *name);
double repro_sum(const struct repro_data *d, const char *point,
		 const char *glob);
double repro_min(const struct repro_data *d, const char *point,
		 const char *glob);
double repro_max(const struct repro_data *d, const char *point,
		 const char *glob);
/* Returns the number of metrics and counters that match the glob. */
double repro_count(const struct repro_data *d, const char *point,
		   const char *glob);
/* Returns a parameter of the manifest as text ("n0.nic.links" -> "2"), or
 * NULL. */
const char *repro_param(const struct repro_data *d, const char *point,
			const char *name);
/* Returns a parameter as a number of this type: plain, bytes, bit/s. */
double repro_number(const struct repro_data *d, const char *point,
		    const char *name, enum weft_ptype type);
/* Returns the histogram of that name, or NULL. */
const struct hist *repro_hist(const struct repro_data *d, const char *point,
			      const char *name);

#define ROWS(id) extern const struct repro_row repro_##id##_rows[];
#include "systems.def"

#endif
