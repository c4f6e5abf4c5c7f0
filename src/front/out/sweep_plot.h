/* SPDX-License-Identifier: Apache-2.0 */
/* A sweep as a family of curves: the last axis is x, the other axes make the
 * lines, and with three or more axes the first one makes pictures of their
 * own.  With one axis each metric shown is a line.  In a list of points that
 * set different things the first thing names the line.  Drawn when the
 * experiment shows a metric (record: show). */
#ifndef FRONT_OUT_SWEEP_PLOT_H
#define FRONT_OUT_SWEEP_PLOT_H

#include "front/out/out.h"

enum { LINES_X = 64, LINES_N = 16 };

struct lines {
	const char *metric, *unit;
	/* more: a rate, larger is better; less: a time; neither: unknown */
	bool more, less;
	char title[160], x_name[64];
	double x[LINES_X];
	size_t n_x;
	struct {
		char label[64];
		double y[LINES_X]; /* NAN: no such point */
	} line[LINES_N];
	size_t n_lines;
	bool rivals; /* lines are several ways to do the same */
	bool x_log;  /* x spans more than a decade: a logarithmic axis */
};

/* Returns true if the experiment shows a metric that can be drawn over an axis.
 * `rivals`: it has two axes or more. */
bool lines_there(const struct run_set *s, bool rivals);
/* Makes picture number i of the set. Returns false if there is nothing to draw.
 */
bool lines_get(const struct run_set *s, size_t i, struct lines *l);
/* Returns the x between number i and the next at which lines a and b cross, or
 * NAN. */
double lines_cross(const struct lines *l, size_t a, size_t b, size_t i);
/* Returns the best line at x number i, or n_lines when there is none or the
 * better value is not known. */
size_t lines_best(const struct lines *l, size_t i);

/* Returns the position of x between the first x (0) and the last (1). */
double lines_share(const struct lines *l, double x);

/* Returns the metric as shown in a title. */
const char *lines_metric(const struct lines *l);

/* Prints the pictures as characters, with their values if wanted.  For rivals
 * it also prints the crossings. */
void lines_table(const struct run_set *s, bool with_values, FILE *f);
/* sweep_plot_svg.c: prints all pictures as one SVG. */
void out_svg(const struct run_set *s, FILE *f);

#endif
