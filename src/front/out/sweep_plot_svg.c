/* SPDX-License-Identifier: Apache-2.0 */
/* Draws curves of a sweep as an SVG picture (--format svg). Panels are below
 * each other. The y axis is logarithmic, and so is x if it spans a decade. A
 * mark with its x shows where the best line changes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "front/out/sweep_plot.h"

enum {
	HEIGHT = 470,
	LETTER = 7, /* width of a letter, with some space */
	LEFT = 78,
	RIGHT = 700,
	TOP = 46,
	BOTTOM = 412
};

struct axes {
	const struct lines *l;
	double y0, y1;
	double dy; /* offset of the panel from the top */
};

static const char *const colours[] = { "#1f77b4", "#d62728", "#2ca02c",
				       "#9467bd", "#ff7f0e", "#17becf",
				       "#8c564b", "#e377c2" };
enum { COLOURS = sizeof(colours) / sizeof(*colours) };

static double at_x(const struct axes *a, double x)
{
	return LEFT + (RIGHT - LEFT) * lines_share(a->l, x);
}

static double at_y(const struct axes *a, double y)
{
	return a->dy + BOTTOM -
	       (BOTTOM - TOP) * log(y / a->y0) / log(a->y1 / a->y0);
}

static void plot_svg_text(FILE *f, double x, double y, const char *how,
			  const char *s)
{
	fprintf(f, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, how);
	for (; *s; s++)
		if (*s == '<' || *s == '&')
			fputs(*s == '<' ? "&lt;" : "&amp;", f);
		else
			fputc(*s, f);
	fputs("</text>\n", f);
}

static void plot_svg_stroke(FILE *f, double x0, double y0, double x1, double y1,
			    const char *how)
{
	fprintf(f,
		"<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n",
		x0, y0, x1, y1, how);
}

/* ---- axes ---- */

static void x_axis(const struct lines *l, const struct axes *a, FILE *f)
{
	double last = -1000;
	char buf[32];

	for (size_t i = 0; i < l->n_x; i++) {
		double x = at_x(a, l->x[i]);

		plot_svg_stroke(f, x, a->dy + TOP, x, a->dy + BOTTOM,
				"class=\"grid\"");
		if (x - last < 38)
			continue;
		last = x;
		/* Shows multiples of 1024 in Ki, such as 65536 as 64 Ki. */
		if (l->x[i] >= 1024 && fmod(l->x[i], 1024) == 0)
			snprintf(buf, sizeof(buf), "%g Ki", l->x[i] / 1024);
		else
			snprintf(buf, sizeof(buf), "%g", l->x[i]);
		plot_svg_text(f, x, a->dy + BOTTOM + 16,
			      "text-anchor=\"middle\"", buf);
	}
	plot_svg_text(f, (LEFT + RIGHT) / 2.0, a->dy + BOTTOM + 36,
		      "text-anchor=\"middle\"", l->x_name);
}

static void y_axis(const struct axes *a, FILE *f)
{
	static const double steps[] = { 1, 2, 5 };
	char buf[32];

	for (double p = pow(10, floor(log10(a->y0))); p <= a->y1; p *= 10)
		for (size_t i = 0; i < 3; i++) {
			double v = steps[i] * p;

			if (v < a->y0 || v > a->y1)
				continue;
			plot_svg_stroke(f, LEFT, at_y(a, v), RIGHT, at_y(a, v),
					"class=\"grid\"");
			snprintf(buf, sizeof(buf), v < 1 ? "%g" : "%.0f", v);
			plot_svg_text(f, LEFT - 8, at_y(a, v) + 4,
				      "text-anchor=\"end\"", buf);
		}
	fprintf(f,
		"<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%d\" class=\"frame\"/>\n",
		LEFT, a->dy + TOP, RIGHT - LEFT, BOTTOM - TOP);
}

/* ---- lines ---- */

/* Draws a curve in pieces. A missing point ends a piece. */
static void plot_svg_curve(const struct lines *l, const struct axes *a,
			   size_t k, FILE *f)
{
	const char *c = colours[k % COLOURS];
	bool on = false;

	for (size_t i = 0; i < l->n_x; i++) {
		double y = l->line[k].y[i];

		if (!isnan(y))
			fprintf(f, "%s%.1f,%.1f",
				on ? " " : "<polyline points=\"",
				at_x(a, l->x[i]), at_y(a, y));
		else if (on)
			fprintf(f, "\" stroke=\"%s\"/>\n", c);
		on = !isnan(y);
	}
	if (on)
		fprintf(f, "\" stroke=\"%s\"/>\n", c);
	for (size_t i = 0; i < l->n_x; i++)
		if (!isnan(l->line[k].y[i]))
			fprintf(f,
				"<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.6\" fill=\"%s\"/>\n",
				at_x(a, l->x[i]), at_y(a, l->line[k].y[i]), c);
}

/* Draws the legend in the order in which lines end at the right. */
static void plot_svg_legend(const struct lines *l, const struct axes *a,
			    FILE *f)
{
	size_t order[LINES_N];

	for (size_t k = 0; k < l->n_lines; k++) {
		size_t i = k;
		double y = l->line[k].y[l->n_x - 1];

		for (; i && l->line[order[i - 1]].y[l->n_x - 1] < y; i--)
			order[i] = order[i - 1];
		order[i] = k;
	}
	for (size_t i = 0; i < l->n_lines; i++) {
		double y = a->dy + TOP + 14 + 20 * (double)i;
		char how[64];

		snprintf(how, sizeof(how), "stroke=\"%s\" stroke-width=\"2.4\"",
			 colours[order[i] % COLOURS]);
		plot_svg_stroke(f, RIGHT + 14, y, RIGHT + 38, y, how);
		plot_svg_text(f, RIGHT + 46, y + 4, "",
			      l->line[order[i]].label);
	}
}

static void plot_svg_marks(const struct lines *l, const struct axes *a, FILE *f)
{
	size_t now = lines_best(l, 0);

	for (size_t i = 0; i + 1 < l->n_x && now < l->n_lines; i++) {
		size_t next = lines_best(l, i + 1);
		double x;
		char buf[32];

		if (next == now || next == l->n_lines)
			continue;
		x = lines_cross(l, now, next, i);
		plot_svg_stroke(f, at_x(a, x), a->dy + TOP, at_x(a, x),
				a->dy + BOTTOM, "class=\"mark\"");
		snprintf(buf, sizeof(buf), "%.0f", x);
		plot_svg_text(f, at_x(a, x), a->dy + TOP - 5,
			      "text-anchor=\"middle\" class=\"small\"", buf);
		now = next;
	}
}

static void panel(const struct run_set *s, const struct lines *l, size_t i,
		  FILE *f)
{
	struct axes a = { .l = l, .y0 = INFINITY, .dy = (double)i * HEIGHT };
	char title[300];

	for (size_t k = 0; k < l->n_lines; k++)
		for (size_t x = 0; x < l->n_x; x++) {
			a.y0 = fmin(a.y0, l->line[k].y[x]);
			a.y1 = fmax(a.y1, l->line[k].y[x]);
		}
	a.y0 /= 1.15;
	a.y1 *= 1.15;

	snprintf(title, sizeof(title), "%s%s%s: %s [%s]", s->name,
		 l->title[0] ? ", " : "", l->title, lines_metric(l), l->unit);
	plot_svg_text(f, LEFT, a.dy + 22, "class=\"title\"", title);
	x_axis(l, &a, f);
	y_axis(&a, f);
	if (l->rivals)
		plot_svg_marks(l, &a, f);
	for (size_t k = 0; k < l->n_lines; k++)
		plot_svg_curve(l, &a, k, f);
	plot_svg_legend(l, &a, f);
}

void out_svg(const struct run_set *s, FILE *f)
{
	struct lines *l = malloc(sizeof(*l));
	size_t n = 0, width = 860;

	if (!l)
		abort();
	for (; lines_get(s, n, l); n++)
		for (size_t k = 0; k < l->n_lines; k++) {
			size_t w =
				RIGHT + 56 + LETTER * strlen(l->line[k].label);

			width = w > width ? w : width;
		}
	fprintf(f,
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%zu\" height=\"%zu\" viewBox=\"0 0 %zu %zu\" font-family=\"sans-serif\" font-size=\"12\">\n"
		"<style>.grid{stroke:#e4e4e4}.frame{stroke:#444;fill:none}.mark{stroke:#888;stroke-dasharray:4 3}polyline{fill:none;stroke-width:1.8}.title{font-size:14px;font-weight:bold}.small{font-size:11px;fill:#555}</style>\n"
		"<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n",
		width, n * HEIGHT + !n, width, n * HEIGHT + !n);
	for (size_t i = 0; lines_get(s, i, l); i++)
		panel(s, l, i, f);
	fputs("</svg>\n", f);
	free(l);
}
