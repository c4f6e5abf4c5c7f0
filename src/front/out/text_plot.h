/* SPDX-License-Identifier: Apache-2.0 */
/* Pictures made of characters. */
#ifndef FRONT_OUT_TEXT_PLOT_H
#define FRONT_OUT_TEXT_PLOT_H

#include <stdbool.h>
#include <stdio.h>

#include "measure/result.h"

enum { DRAW_SHAPE = 32, DRAW_BYTES = 3 * 64 + 1 };

/* Returns true if f is a terminal that shows block characters. */
bool draw_fancy(FILE *f);
/* Draws n values as heights in one line. The largest value is a full
 * character. */
void draw_line(const double *v, size_t n, bool fancy, char *buf, size_t size);
/* Draws a histogram between lo and hi in one line of DRAW_SHAPE characters. */
void draw_shape(const struct hist *h, double lo, double hi, bool fancy,
		char *buf, size_t size);
/* Returns the upper end of the picture: the maximum, or less if the values
 * have a long tail, because the tail would press all other values into one
 * column. */
double draw_end(const struct hist *h);
/* Draws a histogram as bars, one row for each interval. */
void draw_hist(const char *name, const char *unit, const struct hist *h,
	       bool fancy, FILE *f);

#endif
