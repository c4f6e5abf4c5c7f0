/* SPDX-License-Identifier: Apache-2.0 */
/* Draws pictures made of characters: a histogram as bars, a curve in one line
 * of text. Uses block characters on a terminal with UTF-8, otherwise ASCII. */
#include "front/out/text_plot.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/out/out.h"

enum { BAR_WIDTH = 48, BAR_ROWS = 16 };

/* Characters of rising height, from empty to full. */
static const char *const blocks[] = { " ",	"\u2581", "\u2582",
				      "\u2583", "\u2584", "\u2585",
				      "\u2586", "\u2587", "\u2588" };
static const char *const plain[] = {
	" ", ".", ":", "-", "=", "+", "*", "%", "#"
};
/* Characters of rising length, in eighths. */
static const char *const eighths[] = { "",	 "\u258f", "\u258e", "\u258d",
				       "\u258c", "\u258b", "\u258a", "\u2589" };

bool draw_fancy(FILE *f)
{
	static const char *const vars[] = { "LC_ALL", "LC_CTYPE", "LANG" };
	const char *term = getenv("TERM"), *v = NULL;
	int fd = fileno(f);

	if (fd < 0 || !isatty(fd) || (term && !strcmp(term, "dumb")))
		return false;
	for (size_t i = 0; i < 3 && (!v || !*v); i++)
		v = getenv(vars[i]);
	return v && (strcasestr(v, "utf-8") || strcasestr(v, "utf8"));
}

void draw_line(const double *v, size_t n, bool fancy, char *buf, size_t size)
{
	double max = 0;

	*buf = '\0';
	for (size_t i = 0; i < n; i++)
		max = fmax(max, v[i]);
	for (size_t i = 0; i < n && strlen(buf) + 4 < size; i++) {
		int k = max > 0 ? (int)ceil(8 * v[i] / max) : 0;

		k = k < 0 ? 0 : k; /* a counter can fall, which gives a negative
				    * rate */
		strcat(buf, fancy ? blocks[k] : plain[k]);
	}
}

/* ---- histograms ---- */

static void hist_columns(const struct hist *h, double lo, double step,
			 double *col, size_t n)
{
	memset(col, 0, n * sizeof(*col));
	for (uint32_t i = 0; i < h->n_bins; i++) {
		double from = hist_edge(h, i), to = hist_edge(h, i + 1), at;
		double mid = to * h->scale - from * h->scale <= 1
				     ? from
				     : (from + to) / 2;

		if (!h->bin[i])
			continue;
		mid = fmax(h->min, fmin(h->max, mid));
		at = floor((mid - lo) / step);
		if (at >= (double)n)
			at = (double)n - 1;
		if (at >= 0)
			col[(size_t)at] += (double)h->bin[i];
	}
}

void draw_shape(const struct hist *h, double lo, double hi, bool fancy,
		char *buf, size_t size)
{
	double col[DRAW_SHAPE];

	hist_columns(h, lo, hi > lo ? (hi - lo) / DRAW_SHAPE * (1 + 1e-9) : 1,
		     col, DRAW_SHAPE);
	draw_line(col, DRAW_SHAPE, fancy, buf, size);
}

double draw_end(const struct hist *h)
{
	double p = hist_percentile(h, 99.9);

	/* The picture leaves out a long tail, because it would press all other
	 * values into one column. */
	return h->max > 2 * p ? p : h->max;
}

/* Returns the width of a row, which is at least the width of a bin. A row
 * narrower than 8 bins has a multiple of the width of a bin. */
static double row_step(const struct hist *h, double end)
{
	double bin = 0, least, ten, step;

	/* Finds the widest bin in use up to `end`. Narrower bins divide this
	 * width, and all bins begin at a multiple of their width. */
	for (uint32_t i = h->n_bins; i-- > 0 && !bin;)
		if (h->bin[i] && hist_edge(h, i) <= end)
			bin = hist_edge(h, i + 1) - hist_edge(h, i);
	/* Rounds up to 1, 2 or 5 times a power of ten. */
	least = fmax((end - h->min) / BAR_ROWS, bin);
	ten = pow(10, floor(log10(least)));
	step = least <= ten	  ? ten
	       : least <= 2 * ten ? 2 * ten
	       : least <= 5 * ten ? 5 * ten
				  : 10 * ten;

	if (step >= 8 * bin || fmod(step, bin) == 0)
		return step;
	return bin * ceil(least / bin);
}

void draw_hist(const char *name, const char *unit, const struct hist *h,
	       bool fancy, FILE *f)
{
	double end = draw_end(h), step, lo, col[BAR_ROWS + 2];
	int bar, parts = fancy ? 8 : 1; /* steps in which a bar grows by one
					 * character */
	char a[32], b[32];
	size_t n, most = 0;

	if (!h->count)
		return;
	step = row_step(h, end);
	lo = floor(h->min / step) * step;
	n = (size_t)((end - lo) / step + 1e-9) + 1;
	hist_columns(h, lo, step, col, n);
	/* drops empty rows at the end, because the last value may lie on an
	 * edge */
	while (n > 1 && !col[n - 1])
		n--;
	for (size_t i = 1; i < n; i++)
		if (col[i] > col[most])
			most = i;
	fprintf(f, "\n%s [%s], %llu values\n", name, unit,
		(unsigned long long)h->count);
	for (size_t i = 0; i < n; i++) {
		snprintf(a, sizeof(a), "%.9g", lo + (double)i * step);
		snprintf(b, sizeof(b), "%.9g", lo + (double)(i + 1) * step);
		if (i == n - 1 && h->max > end)
			strcpy(b, "");
		fprintf(f, "%10s ..%9s %9.0f %5.1f %%  ", a, b, col[i],
			100 * col[i] / (double)h->count);
		bar = (int)ceil(col[i] / col[most] * BAR_WIDTH * parts);
		for (int k = 0; k < bar / parts; k++)
			fputs(fancy ? "\u2588" : "#", f);
		if (fancy)
			fputs(eighths[bar % parts], f);
		fputc('\n', f);
	}
}
