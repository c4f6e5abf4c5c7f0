/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the points of a sweep into curves, see sweep_plot.h, finds where they
 * cross, and prints them as tables and pictures. Between two points a curve is
 * a straight line on logarithmic axes. */
#include "front/out/sweep_plot.h"

#include <fnmatch.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "front/out/text_plot.h"

enum { ROWS = 20, COLUMNS = 72, PANELS = 8 };

/* ---- from points to lines ---- */

/* Returns the first metric that is shown, or NULL. */
static const struct result_metric *sweep_plot_shown(const struct run_set *s)
{
	const struct weft_result *r = s->n_points ? s->points[0].result : NULL;

	for (size_t i = 0; r && s->show && s->show[i]; i++)
		for (size_t k = 0; k < r->n_metrics; k++)
			if (!fnmatch(s->show[i], r->metrics[k].name, 0))
				return &r->metrics[k];
	return NULL;
}

/* The words of a point's name "PATH=VALUE PATH=VALUE ...". The pointers lead
 * into buf. */
struct parts {
	char buf[512];
	const char *path[8], *value[8];
	size_t n;
	/* the sweep is a list of points, and the first setting of each point
	 * names its line */
	bool list;
};

static bool parts_of(const char *point, struct parts *p)
{
	char *save = NULL;

	p->n = 0;
	p->list = false;
	snprintf(p->buf, sizeof(p->buf), "%s", point);
	for (char *w = strtok_r(p->buf, " ", &save); w;
	     w = strtok_r(NULL, " ", &save)) {
		char *eq = strchr(w, '=');

		if (!eq || p->n == 8)
			return false;
		*eq = '\0';
		p->path[p->n] = w;
		p->value[p->n++] = eq + 1;
	}
	return p->n;
}

static bool point_parts(const struct run_set *s, size_t i, struct parts *p)
{
	struct parts first, other;

	if (!parts_of(s->points[i].point, p))
		return false;
	/* All points of a product have the same paths. Points of a list may
	 * have different paths. */
	if (p->n < 2 || !parts_of(s->points[0].point, &first))
		return true;
	for (size_t k = 0; k < s->n_points && !p->list; k++) {
		if (!parts_of(s->points[k].point, &other))
			continue;
		p->list = first.n != other.n;
		for (size_t n = 0; n < other.n && !p->list; n++)
			p->list = strcmp(first.path[n], other.path[n]);
	}
	return true;
}

static const char *sweep_plot_leaf(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? dot + 1 : path;
}

static void part_title(const struct parts *p, char *buf, size_t size)
{
	buf[0] = '\0';
	if (p->n > 2 && !p->list)
		snprintf(buf, size, "%s %s", sweep_plot_leaf(p->path[0]),
			 p->value[0]);
}

static bool metric_put(struct lines *l, const struct parts *p,
		       const struct weft_result *r, const char *label,
		       const char *metric)
{
	const struct result_metric *m = result_metric_get(r, metric);
	size_t at = 0, k = 0;
	double x;
	char *end;

	/* Values of the last axis must be numbers. */
	x = strtod(p->value[p->n - 1], &end);
	if (*end || !(x > 0))
		return false;
	snprintf(l->x_name, sizeof(l->x_name), "%.60s",
		 sweep_plot_leaf(p->path[p->n - 1]));
	while (at < l->n_lines && strcmp(l->line[at].label, label))
		at++;
	if (at == l->n_lines && at < LINES_N) {
		snprintf(l->line[at].label, sizeof(l->line[at].label), "%s",
			 label);
		for (size_t i = 0; i < LINES_X; i++)
			l->line[at].y[i] = NAN;
		l->n_lines++;
	}
	while (k < l->n_x && l->x[k] != x)
		k++;
	if (k == l->n_x && l->n_x < LINES_X)
		l->x[l->n_x++] = x;
	if (at == LINES_N || k == LINES_X)
		return false;
	if (m && m->value > 0)
		l->line[at].y[k] = m->value;
	return true;
}

/* Adds a point to its line. With one axis every metric is a separate line. */
static bool point_put(struct lines *l, const struct run_set *s,
		      const struct parts *p, const struct weft_result *r)
{
	size_t end = p->list ? 1 : p->n - 1;
	char label[64] = "";
	bool ok = true;

	/* The label has the value of each axis except x (the last axis) and,
	 * with three or more axes, the first axis. In a list the label is the
	 * first value. */
	for (size_t i = !p->list && p->n > 2; i < end; i++) {
		size_t at = strlen(label);

		snprintf(label + at, sizeof(label) - at, "%s%s", at ? " " : "",
			 p->value[i]);
	}
	if (p->n > 1)
		return metric_put(l, p, r, label, l->metric);
	for (size_t i = 0; ok && i < r->n_metrics; i++)
		if (!strcmp(r->metrics[i].unit, l->unit) &&
		    out_shown(s, r->metrics[i].name))
			ok = metric_put(l, p, r,
					sweep_plot_leaf(r->metrics[i].name),
					r->metrics[i].name);
	return ok;
}

/* Collects the titles of the pictures, in the order of the points. */
static size_t sweep_plot_titles(const struct run_set *s, char (*title)[160])
{
	struct parts p;
	size_t n = 0, k;
	char t[160];

	for (size_t i = 0; i < s->n_points; i++) {
		if (!point_parts(s, i, &p))
			return 0;
		part_title(&p, t, sizeof(t));
		for (k = 0; k < n && strcmp(title[k], t); k++)
			;
		if (k == n && n < PANELS)
			memcpy(title[n++], t, sizeof(t));
	}
	return n;
}

bool lines_get(const struct run_set *s, size_t i, struct lines *l)
{
	static const char *const times[] = { "ns", "us", "ms",	   "s",
					     "pc", "cc", "cycles", NULL };
	const struct result_metric *m = sweep_plot_shown(s);
	char title[PANELS][160], t[160];
	struct parts p;

	memset(l, 0, sizeof(*l));
	if (!m || i >= sweep_plot_titles(s, title))
		return false;
	l->metric = m->name;
	l->unit = m->unit;
	l->more = strchr(m->unit, '/');
	for (const char *const *u = times; *u; u++)
		l->less |= !strcmp(m->unit, *u);
	memcpy(l->title, title[i], sizeof(l->title));
	for (size_t k = 0; k < s->n_points; k++) {
		if (!point_parts(s, k, &p))
			return false;
		part_title(&p, t, sizeof(t));
		if (!strcmp(t, l->title) &&
		    !point_put(l, s, &p, s->points[k].result))
			return false;
	}
	l->rivals = p.n > 1;
	l->x_log = l->n_x && l->x[l->n_x - 1] > 10 * l->x[0];
	return l->n_x > 1 && l->n_lines;
}

bool lines_there(const struct run_set *s, bool rivals)
{
	struct lines *l = malloc(sizeof(*l));
	bool ret = l && lines_get(s, 0, l) && l->rivals >= rivals;

	free(l);
	return ret;
}

double lines_share(const struct lines *l, double x)
{
	double x0 = l->x[0], x1 = l->x[l->n_x - 1];

	return l->x_log ? log(x / x0) / log(x1 / x0) : (x - x0) / (x1 - x0);
}

/* ---- which is best ---- */

/* Returns the logarithm of the advantage of b over a at x number i. The
 * result is above 0 if b is better. */
static double sweep_plot_gain(const struct lines *l, size_t a, size_t b,
			      size_t i)
{
	double g = log(l->line[a].y[i] / l->line[b].y[i]);

	return l->more ? -g : g;
}

double lines_cross(const struct lines *l, size_t a, size_t b, size_t i)
{
	double g0 = sweep_plot_gain(l, a, b, i),
	       g1 = sweep_plot_gain(l, a, b, i + 1);

	if (isnan(g0) || isnan(g1) || (g0 > 0) == (g1 > 0))
		return NAN;
	return l->x[i] * pow(l->x[i + 1] / l->x[i], g0 / (g0 - g1));
}

static bool sweep_plot_ranked(const struct lines *l)
{
	return l->more || l->less;
}

size_t lines_best(const struct lines *l, size_t i)
{
	size_t best = l->n_lines;

	for (size_t k = 0; sweep_plot_ranked(l) && k < l->n_lines; k++)
		if (!isnan(l->line[k].y[i]) &&
		    (best == l->n_lines || sweep_plot_gain(l, best, k, i) > 0))
			best = k;
	return best;
}

/* ---- tables ---- */

static void sweep_plot_values(const struct lines *l, FILE *f)
{
	const char *heads[LINES_N + 2] = { l->x_name };
	char buf[32];
	struct table *t;

	for (size_t k = 0; k < l->n_lines; k++)
		heads[k + 1] = l->line[k].label;
	heads[l->n_lines + 1] = "best";
	t = table_new(heads,
		      l->n_lines + 1 + (l->rivals && sweep_plot_ranked(l)));
	for (size_t i = 0; i < l->n_x; i++) {
		size_t best = lines_best(l, i);

		out_real(l->x[i], buf);
		table_cell(t, "%s", buf);
		for (size_t k = 0; k < l->n_lines; k++) {
			out_real(l->line[k].y[i], buf);
			table_cell(t, "%s", isnan(l->line[k].y[i]) ? "-" : buf);
		}
		if (l->rivals && sweep_plot_ranked(l))
			table_cell(t, "%s",
				   best < l->n_lines ? l->line[best].label
						     : "-");
	}
	table_print(t, f);
}

/* Prints the best line, and each x at which another line becomes the best. */
static void sweep_plot_envelope(const struct lines *l, FILE *f)
{
	size_t now = lines_best(l, 0);

	if (now == l->n_lines)
		return;
	fprintf(f, "\nbest: %s", l->line[now].label);
	for (size_t i = 0; i + 1 < l->n_x; i++) {
		size_t next = lines_best(l, i + 1);

		if (next == now || next == l->n_lines)
			continue;
		fprintf(f, ", from %s %.3g %s", l->x_name,
			lines_cross(l, now, next, i), l->line[next].label);
		now = next;
	}
	fputc('\n', f);
}

/* Finds where each pair of lines crosses, between two measured values of x. */
static void sweep_plot_crossings(const struct lines *l, FILE *f)
{
	static const char *const heads[] = { "crossing", "from", "between",
					     "and" };
	struct table *t = NULL;

	for (size_t a = 0; a < l->n_lines; a++)
		for (size_t b = a + 1; b < l->n_lines; b++)
			for (size_t i = 0; i + 1 < l->n_x; i++) {
				double x = lines_cross(l, a, b, i);
				bool to_b = sweep_plot_gain(l, a, b, i + 1) > 0;

				if (isnan(x))
					continue;
				t = t ? t : table_new(heads, 4);
				table_cell(t, "%s better than %s",
					   l->line[to_b ? b : a].label,
					   l->line[to_b ? a : b].label);
				table_cell(t, "%.3g", x);
				table_cell(t, "%g", l->x[i]);
				table_cell(t, "%g", l->x[i + 1]);
			}
	if (!t)
		return;
	fputc('\n', f);
	table_print(t, f);
}

/* ---- picture ---- */

static void sweep_plot_range(const struct lines *l, double *lo, double *hi)
{
	*lo = INFINITY;
	*hi = 0;
	for (size_t k = 0; k < l->n_lines; k++)
		for (size_t i = 0; i < l->n_x; i++) {
			*lo = fmin(*lo, l->line[k].y[i]);
			*hi = fmax(*hi, l->line[k].y[i]);
		}
}

static void sweep_plot_picture(const struct lines *l, FILE *f)
{
	double lo, hi, x0 = l->x[0], x1 = l->x[l->n_x - 1];
	char grid[ROWS][COLUMNS + 1];

	sweep_plot_range(l, &lo, &hi);
	if (!(hi > lo))
		return;
	for (int y = 0; y < ROWS; y++)
		snprintf(grid[y], sizeof(grid[y]), "%*s", COLUMNS, "");
	for (size_t k = 0; k < l->n_lines; k++)
		for (size_t i = 0; i < l->n_x; i++) {
			double y = l->line[k].y[i];

			if (!isnan(y))
				grid[lround(log(y / lo) / log(hi / lo) *
					    (ROWS - 1))]
				    [lround(lines_share(l, l->x[i]) *
					    (COLUMNS - 1))] = (char)('a' + k);
		}
	fputc('\n', f);
	for (int y = ROWS - 1; y >= 0; y--) {
		if ((ROWS - 1 - y) % 5 == 0 || !y)
			fprintf(f, "%9.4g +",
				lo * pow(hi / lo, (double)y / (ROWS - 1)));
		else
			fprintf(f, "%9s |", "");
		fprintf(f, "%s\n", grid[y]);
	}
	fprintf(f, "%9s +", l->unit);
	for (int x = 0; x < COLUMNS; x++)
		fputc('-', f);
	fprintf(f, "\n%11s%-8g%*g  %s\n", "", x0, COLUMNS - 8, x1, l->x_name);
	for (size_t k = 0; k < l->n_lines; k++)
		fprintf(f, "%s%c %s", k ? "  " : "           ", (char)('a' + k),
			l->line[k].label);
	fputc('\n', f);
}

/* Returns the metric of all lines, or "metrics" when lines show different
 * metrics. */
const char *lines_metric(const struct lines *l)
{
	return l->rivals || l->n_lines == 1 ? l->metric : "metrics";
}

void lines_table(const struct run_set *s, bool with_values, FILE *f)
{
	struct lines *l = malloc(sizeof(*l));

	if (!l)
		abort();
	for (size_t i = 0; lines_get(s, i, l); i++) {
		fprintf(f, "%s%s%s%s [%s] over %s\n%s", i ? "\n" : "", l->title,
			l->title[0] ? ": " : "", lines_metric(l), l->unit,
			l->x_name, with_values ? "\n" : "");
		if (with_values)
			sweep_plot_values(l, f);
		sweep_plot_picture(l, f);
		if (!l->rivals || !sweep_plot_ranked(l))
			continue;
		sweep_plot_envelope(l, f);
		sweep_plot_crossings(l, f);
	}
	free(l);
}
