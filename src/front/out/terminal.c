/* SPDX-License-Identifier: Apache-2.0 */
/* Prints results on a terminal: metrics, histograms with their shape, samples
 * of counters as curves, counters. If `record.show` (or --show) has names, only
 * the histograms and samples of these names are printed. If a part is too long
 * to read, only the number of its lines is printed. */
#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "front/out/out.h"
#include "front/out/text_plot.h"

enum {
	ROWS_MAX = 24,	  /* rows of one block at most */
	PICTURES_MAX = 4, /* If more histograms are shown, a histogram is drawn
			   * in full size only if --show has its full name. */
	RATES_MAX = 6,	  /* counters with a table of their rates */
	RATE_ROWS = 20,
};

bool out_shown(const struct run_set *s, const char *name)
{
	if (!s->show || !s->show[0])
		return true;
	for (size_t i = 0; s->show[i]; i++)
		if (!fnmatch(s->show[i], name, 0))
			return true;
	return false;
}

/* Returns true if --show has the full name and not only a pattern. */
static bool terminal_named(const struct run_set *s, const char *name)
{
	for (size_t i = 0; s->show && s->show[i]; i++)
		if (!strcmp(s->show[i], name))
			return true;
	return false;
}

static void cell_real(struct table *t, double v)
{
	char buf[32];

	out_real(v, buf);
	table_cell(t, "%s", buf);
}

static void too_many(size_t n, const char *what, FILE *f)
{
	fprintf(f,
		"\n%zu %s: see --format json, or choose with --show PATTERN\n",
		n, what);
}

/* ---- metrics ---- */

void people_metrics(const struct weft_result *r, FILE *f)
{
	static const char *const heads[] = { "metric", "value", "unit" };
	struct table *t = table_new(heads, 3);

	for (size_t i = 0; i < r->n_metrics; i++) {
		table_cell(t, "%s", r->metrics[i].name);
		cell_real(t, r->metrics[i].value);
		table_cell(t, "%s", r->metrics[i].unit);
	}
	table_print(t, f);
}

/* ---- histograms ---- */

static void hists_table(const struct run_set *s, const struct weft_result *r,
			FILE *f)
{
	static const char *const heads[] = {
		"histogram", "count", "mean",
		"min",	     "p50",   "p99",
		"max",	     "unit",  "shape, one axis per unit"
	};
	struct table *t = table_new(heads, 9);
	char shape[DRAW_BYTES];
	double lo, hi;

	for (size_t i = 0; i < r->n_hists; i++) {
		const struct result_hist *h = &r->hists[i];

		if (!out_shown(s, h->name))
			continue;
		/* Shapes with equal units share an axis, so that a reader can
		 * compare them. */
		lo = INFINITY;
		hi = 0;
		for (size_t k = 0; k < r->n_hists; k++) {
			const struct result_hist *o = &r->hists[k];

			if (!o->h.count || strcmp(o->unit, h->unit) ||
			    !out_shown(s, o->name))
				continue;
			lo = fmin(lo, o->h.min);
			hi = fmax(hi, draw_end(&o->h));
		}
		draw_shape(&h->h, lo, hi, draw_fancy(f), shape, sizeof(shape));
		table_cell(t, "%s", h->name);
		cell_real(t, (double)h->h.count);
		cell_real(t, hist_mean(&h->h));
		cell_real(t, h->h.min);
		cell_real(t, hist_percentile(&h->h, 50));
		cell_real(t, hist_percentile(&h->h, 99));
		cell_real(t, h->h.max);
		table_cell(t, "%s", h->unit);
		table_cell(t, "|%s|", shape);
	}
	table_print(t, f);
}

void people_hists(const struct run_set *s, const struct weft_result *r, FILE *f)
{
	size_t n = 0;

	for (size_t i = 0; i < r->n_hists; i++)
		n += out_shown(s, r->hists[i].name);
	if (n > ROWS_MAX)
		too_many(n, "histograms", f);
	if (!n || n > ROWS_MAX)
		return;
	fputc('\n', f);
	hists_table(s, r, f);
	for (size_t i = 0; i < r->n_hists && s->n_points == 1; i++)
		if (n <= PICTURES_MAX ? out_shown(s, r->hists[i].name)
				      : terminal_named(s, r->hists[i].name))
			draw_hist(r->hists[i].name, r->hists[i].unit,
				  &r->hists[i].h, draw_fancy(f), f);
}

/* ---- samples ---- */

#define SAMPLE "sample."

static const struct result_series *terminal_sample(const struct weft_result *r,
						   size_t i)
{
	const struct result_series *c = &r->series[i];

	return c->n && !strncmp(c->name, SAMPLE, strlen(SAMPLE)) ? c : NULL;
}

static const char *sample_name(const struct result_series *c)
{
	return c->name + strlen(SAMPLE);
}

/* Returns the cumulative value at time x by a straight line between samples. */
static double sample_at(const struct result_series *c, double x)
{
	double x0 = 0, y0 = 0;

	for (size_t k = 0; k < c->n; k++) {
		if (x <= c->x[k])
			return c->x[k] > x0 ? y0 + (c->y[k] - y0) * (x - x0) /
							      (c->x[k] - x0)
					    : c->y[k];
		x0 = c->x[k];
		y0 = c->y[k];
	}
	return y0;
}

/* Computes rates per us in n equal intervals of the run. */
static void sample_rates(const struct result_series *c, double *v, size_t n)
{
	double end = c->x[c->n - 1], step = end / (double)n, last = 0;

	for (size_t i = 0; i < n; i++) {
		double y = sample_at(c, step * (double)(i + 1));

		v[i] = step > 0 ? (y - last) / step : 0;
		last = y;
	}
}

static void samples_curves(const struct run_set *s, const struct weft_result *r,
			   FILE *f)
{
	static const char *const heads[] = { "counter", "end",	"unit",
					     "per us",	"peak", "over time" };
	struct table *t = table_new(heads, 6);
	const struct result_series *c;
	char curve[DRAW_BYTES];
	double v[DRAW_SHAPE];

	for (size_t i = 0; i < r->n_series; i++) {
		double peak = 0, x = 0, y = 0;

		if (!(c = terminal_sample(r, i)) ||
		    !out_shown(s, sample_name(c)))
			continue;
		sample_rates(c, v, DRAW_SHAPE);
		draw_line(v, DRAW_SHAPE, draw_fancy(f), curve, sizeof(curve));
		table_cell(t, "%s", sample_name(c));
		cell_real(t, c->y[c->n - 1]);
		table_cell(t, "%s", c->y_unit);
		cell_real(t, c->y[c->n - 1] / c->x[c->n - 1]);
		for (size_t k = 0; k < c->n; k++) {
			if (c->x[k] > x)
				peak = fmax(peak,
					    (c->y[k] - y) / (c->x[k] - x));
			x = c->x[k];
			y = c->y[k];
		}
		cell_real(t, peak);
		table_cell(t, "|%s|", curve);
	}
	table_print(t, f);
}

/* Prints a table of rates with a row for each time and a column for each
 * counter. */
static void samples_rates(const struct result_series *const *c, size_t n,
			  FILE *f)
{
	size_t rows = c[0]->n < RATE_ROWS ? c[0]->n : RATE_ROWS;
	double v[RATES_MAX][RATE_ROWS], end = c[0]->x[c[0]->n - 1];
	const char *heads[RATES_MAX + 1] = { "until us" };
	char names[RATES_MAX][160];
	struct table *t;

	for (size_t k = 0; k < n; k++) {
		snprintf(names[k], sizeof(names[k]), "%s [%s/us]",
			 sample_name(c[k]), c[k]->y_unit);
		heads[k + 1] = names[k];
		sample_rates(c[k], v[k], rows);
	}
	t = table_new(heads, n + 1);
	for (size_t i = 0; i < rows; i++) {
		cell_real(t, end * (double)(i + 1) / (double)rows);
		for (size_t k = 0; k < n; k++)
			cell_real(t, v[k][i]);
	}
	fputc('\n', f);
	table_print(t, f);
}

bool people_any(const struct run_set *s, const struct weft_result *r)
{
	const struct result_series *c;

	for (size_t i = 0; i < r->n_hists; i++)
		if (out_shown(s, r->hists[i].name))
			return true;
	for (size_t i = 0; i < r->n_series; i++)
		if ((c = terminal_sample(r, i)) && out_shown(s, sample_name(c)))
			return true;
	return false;
}

void people_samples(const struct run_set *s, const struct weft_result *r,
		    FILE *f)
{
	const struct result_series *c, *few[RATES_MAX];
	size_t n = 0;

	for (size_t i = 0; i < r->n_series; i++) {
		if (!(c = terminal_sample(r, i)) ||
		    !out_shown(s, sample_name(c)))
			continue;
		if (n < RATES_MAX)
			few[n] = c;
		n++;
	}
	if (n > ROWS_MAX)
		too_many(n, "counters were sampled", f);
	if (!n || n > ROWS_MAX)
		return;
	fputc('\n', f);
	samples_curves(s, r, f);
	if (n <= RATES_MAX)
		samples_rates(few, n, f);
}

/* ---- counters ---- */

/* Prints the counters that are not zero, or only their number if they are too
 * many to read. */
void people_counters(const struct weft_result *r, FILE *f)
{
	static const char *const heads[] = { "counter", "value", "unit" };
	struct table *t;
	size_t n = 0;

	for (size_t i = 0; i < r->n_counters; i++)
		n += r->counters[i].value != 0;
	if (n > ROWS_MAX) {
		fprintf(f,
			"\n%zu counters are not zero: see --format json, or choose with record: {counters: [...]}\n",
			n);
		return;
	}
	if (!n)
		return;
	fputc('\n', f);
	t = table_new(heads, 3);
	for (size_t i = 0; i < r->n_counters; i++) {
		if (!r->counters[i].value)
			continue;
		table_cell(t, "%s", r->counters[i].name);
		table_cell(t, "%llu", (unsigned long long)r->counters[i].value);
		table_cell(t, "%s", r->counters[i].unit);
	}
	table_print(t, f);
}
