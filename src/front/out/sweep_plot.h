/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep as a family of curves. The last axis is x, and each combination of
 * the other axes is a line. With three or more axes each value of the first
 * axis has a separate picture. With one axis each shown metric is a line. If
 * the sweep is a list of points with different paths, the first setting of a
 * point names its line. Curves are drawn when the experiment shows a metric
 * (record: show). */
#ifndef FRONT_OUT_SWEEP_PLOT_H
#define FRONT_OUT_SWEEP_PLOT_H

#include "front/out/out.h"

enum { LINES_X = 64, LINES_N = 16 };

struct lines {
	const char *metric, *unit;
	/* whether larger values are better, as for a rate, or smaller ones, as
	 * for a time; both are false if this is not known */
	bool more, less;
	char title[160], x_name[64];
	double x[LINES_X];
	size_t n_x;
	struct {
		char label[64];
		double y[LINES_X]; /* value for each x; NAN: the point is
				    * missing */
	} line[LINES_N];
	size_t n_lines;
	bool rivals; /* true when lines are alternatives of which one is the
		      * best */
	bool x_log;  /* x has a logarithmic axis, because it spans more than a
		      * decade */
};

/* Returns true if the experiment shows a metric that can be drawn over an axis.
 * With `rivals` the sweep must have two axes or more. */
bool lines_there(const struct run_set *s, bool rivals);
/* Makes picture number i of the set. Returns false if it does not exist. */
bool lines_get(const struct run_set *s, size_t i, struct lines *l);
/* Returns the x at which lines a and b cross between x number i and the next,
 * or NAN. */
double lines_cross(const struct lines *l, size_t a, size_t b, size_t i);
/* Returns the index of the best line at x number i. Returns n_lines if no line
 * has a value there, or if it is unknown whether larger values are better. */
size_t lines_best(const struct lines *l, size_t i);

/* Returns the position of x between the first x (0) and the last x (1). */
double lines_share(const struct lines *l, double x);

/* Returns the name of the metric for a title. */
const char *lines_metric(const struct lines *l);

/* Prints the pictures made of characters. Prints tables of their values, too,
 * if with_values is set. Prints the crossings of lines that are alternatives
 * (struct lines, rivals). */
void lines_table(const struct run_set *s, bool with_values, FILE *f);
/* sweep_plot_svg.c: prints all pictures as one SVG. */
void out_svg(const struct run_set *s, FILE *f);

#endif
