/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the latency-throughput curve of a search for saturation (sweep: auto):
 * a table, a picture, and the load at which the network saturates. Several
 * searches have one line each in the table, and one picture. Latency is counted
 * from the creation of a packet to its last flit at the destination. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "front/out/out.h"
#include "front/out/text_plot.h"

enum { ROWS = 16, COLUMNS = 64 };

struct mark {
	double offered, accepted, latency, ci, p50, p99;
	const char *state;
	bool steady;
};

static double saturation_curve_metric(const struct weft_result *r,
				      const char *name)
{
	const struct result_metric *m = result_metric_get(r, name);

	return m ? m->value : NAN;
}

static struct mark mark_of(const struct run_point *p)
{
	const struct weft_result *r = p->result;
	struct mark m = { .offered = saturation_curve_metric(r, "net.offered"),
			  .accepted =
				  saturation_curve_metric(r, "net.accepted"),
			  .latency = NAN,
			  .ci = saturation_curve_metric(r, "net.latency_ci"),
			  .p50 = NAN,
			  .p99 = NAN,
			  .state = result_param_get(r, "net.state") };

	if (!m.state)
		m.state = "?";
	m.steady = !strcmp(m.state, "steady");
	for (size_t i = 0; i < r->n_hists; i++) {
		const struct hist *h = &r->hists[i].h;

		if (strcmp(r->hists[i].name, "net.latency") || !h->count)
			continue;
		m.latency = hist_mean(h);
		m.p50 = hist_percentile(h, 50);
		m.p99 = hist_percentile(h, 99);
	}
	return m;
}

/* ---- the saturation point ---- */

/* The saturation point. The network saturates above the highest steady load,
 * because at higher loads fewer flits arrive than are offered. */
struct knee {
	/* highest steady load, or the rate of arrival at this load if the rate
	 * is lower; NAN if no load is steady */
	double good;
	double bad;	 /* lowest offered load that is not steady */
	double most;	 /* largest rate of arrival of any point */
	double high;	 /* highest load offered */
	double high_in;	 /* rate of arrival when the offered load was `high` */
	const char *how; /* state of the first load that is not steady */
};

static struct knee knee_of(const struct run_set *s)
{
	struct knee k = { .good = NAN, .bad = NAN, .high = NAN, .how = "" };

	for (size_t i = 0; i < s->n_points; i++) {
		struct mark m = mark_of(&s->points[i]);

		k.most = fmax(k.most, m.accepted);
		if (isnan(k.high) || m.offered > k.high) {
			k.high = m.offered;
			k.high_in = m.accepted;
		}
		if (m.steady && isnan(k.bad))
			k.good = fmax(k.good, fmin(m.offered, m.accepted));
		if (!m.steady && isnan(k.bad)) {
			k.bad = m.offered;
			k.how = m.state;
		}
	}
	return k;
}

static void knee_print(const struct run_set *s, FILE *f)
{
	struct knee k = knee_of(s);
	double good = isnan(k.good) ? 0 : k.good;

	if (isnan(k.bad)) {
		fprintf(f,
			"\nsteady at all loads, up to %.4g flits per cycle and node\n",
			good);
		return;
	}
	fprintf(f,
		"\n%s from a load between %.4g and %.4g flits per cycle and node;\n",
		k.how, good, k.bad);
	if (!isnan(k.good))
		fprintf(f, "the network takes %.4g; ", k.good);
	fprintf(f, "of %.4g offered %.4g arrive\n", k.high, k.high_in);
}

/* ---- table ---- */

static void saturation_curve_cell(struct table *t, double v)
{
	char buf[32];

	if (isnan(v)) {
		table_cell(t, "-");
		return;
	}
	snprintf(buf, sizeof(buf), "%.4g", v);
	table_cell(t, "%s", buf);
}

/* ---- picture ---- */

struct axes {
	double load, low, high; /* largest load; lowest and highest latency */
};

/* Returns axes that end at five times the latency at the lowest load, because
 * the curve is vertical beyond that. */
static struct axes axes_of(const struct run_set *s)
{
	struct axes a = { .low = NAN };

	for (size_t i = 0; i < s->n_points; i++) {
		struct mark m = mark_of(&s->points[i]);

		a.load = fmax(a.load, m.offered);
		a.low = fmin(a.low, m.latency);
		if (m.steady)
			a.high = fmax(a.high, m.latency);
	}
	a.high = fmin(a.high, 5 * a.low);
	if (!(a.high > a.low))
		a.high = 2 * a.low;
	return a;
}

static int saturation_curve_place(double v, double lo, double hi, int n)
{
	int i = (int)lround((v - lo) / (hi - lo) * (n - 1));

	return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* Returns the letter of a search in the picture of several ones. */
static char search_letter(size_t i)
{
	return i < 26 ? (char)('a' + i) : '*';
}

/* Places marks of points in the picture. Of several searches only steady points
 * are marked, and a later search covers an earlier one. */
static void marks_place(const struct run_set *s, const struct axes *a,
			char (*grid)[COLUMNS])
{
	bool one = s->curves == 1;

	for (size_t i = 0; i < s->n_points; i++) {
		struct mark m = mark_of(&s->points[i]);
		bool beyond = m.latency > a->high;
		int x, y;

		if (isnan(m.latency) || isnan(m.offered) ||
		    (!one && (!m.steady || beyond)))
			continue;
		x = saturation_curve_place(m.offered, 0, a->load, COLUMNS);
		y = saturation_curve_place(m.latency, a->low, a->high, ROWS);
		if (one)
			grid[y][x] = beyond ? '^' : m.steady ? '*' : 'x';
		else
			grid[y][x] = search_letter(s->points[i].search);
	}
}

static void saturation_curve_picture(const struct run_set *s, bool fancy,
				     FILE *f)
{
	struct axes a = axes_of(s);
	char grid[ROWS][COLUMNS];

	if (!(a.load > 0) || isnan(a.low))
		return;
	memset(grid, ' ', sizeof(grid));
	marks_place(s, &a, grid);
	fputc('\n', f);
	for (int y = ROWS - 1; y >= 0; y--) {
		if (y % 5 == 0)
			fprintf(f, "%9.4g %s",
				a.low + (a.high - a.low) * y / (ROWS - 1),
				fancy ? "\u2524" : "+");
		else
			fprintf(f, "%9s %s", "", fancy ? "\u2502" : "|");
		for (int x = 0; x < COLUMNS; x++)
			if (fancy && grid[y][x] == '*')
				fputs("\u25cf", f);
			else
				fputc(grid[y][x], f);
		fputc('\n', f);
	}
	fprintf(f, "%9s %s", "", fancy ? "\u2514" : "+");
	for (int x = 0; x < COLUMNS; x++)
		fputs(fancy ? "\u2500" : "-", f);
	fprintf(f, "\n%10s 0%*.4g\n", "cycles", COLUMNS - 1, a.load);
	if (s->curves == 1)
		fprintf(f, "%10s %s steady, x not, ^ beyond the picture\n", "",
			fancy ? "\u25cf" : "*");
}

/* ---- several searches ---- */

/* Returns the points of the search that begins at point i. */
static struct run_set search_at(const struct run_set *s, size_t i)
{
	struct run_set part = *s;

	part.points += i;
	part.n_points = 1;
	while (i + part.n_points < s->n_points &&
	       part.points[part.n_points].search == part.points->search)
		part.n_points++;
	return part;
}

/* Returns the length of a point's text without its load, which is last. */
static int search_text(const struct run_point *p)
{
	const char *space = strrchr(p->point, ' ');

	return space ? (int)(space - p->point) : 0;
}

static void searches_table(const struct run_set *s, FILE *f)
{
	static const char *const heads[] = { "",       "search", "latency",
					     "steady", "not at", "state",
					     "most" };
	struct table *t = table_new(heads, 7);

	for (size_t i = 0; i < s->n_points;) {
		struct run_set part = search_at(s, i);
		struct knee k = knee_of(&part);

		table_cell(t, "%c", search_letter(part.points->search));
		table_cell(t, "%.*s", search_text(part.points),
			   part.points->point);
		saturation_curve_cell(t, mark_of(part.points).latency);
		saturation_curve_cell(t, k.good);
		saturation_curve_cell(t, k.bad);
		table_cell(t, "%s", isnan(k.bad) ? "steady" : k.how);
		saturation_curve_cell(t, k.most);
		i += part.n_points;
	}
	table_print(t, f);
	fprintf(f,
		"latency at the lowest load, highest load that is steady, lowest one that is not,\n"
		"most that arrives; loads in flits per cycle and node, latency in cycles\n");
	saturation_curve_picture(s, draw_fancy(f), f);
}

static void search_table(const struct run_set *s, FILE *f)
{
	static const char *const heads[] = { "point",	"offered", "accepted",
					     "latency", "+-",	   "p50",
					     "p99",	"state" };
	struct table *t = table_new(heads, 8);

	for (size_t i = 0; i < s->n_points; i++) {
		struct mark m = mark_of(&s->points[i]);

		table_cell(t, "%s", s->points[i].point);
		saturation_curve_cell(t, m.offered);
		saturation_curve_cell(t, m.accepted);
		saturation_curve_cell(t, m.latency);
		saturation_curve_cell(t, m.ci);
		saturation_curve_cell(t, m.p50);
		saturation_curve_cell(t, m.p99);
		table_cell(t, "%s", m.state);
	}
	table_print(t, f);
	fprintf(f, "loads in flits per cycle and node, latency in cycles\n");
	saturation_curve_picture(s, draw_fancy(f), f);
	knee_print(s, f);
}

void curve_table(const struct run_set *s, FILE *f)
{
	if (s->curves > 1)
		searches_table(s, f);
	else
		search_table(s, f);
}

/* ---- JSON ---- */

static void curve_array(const struct run_set *s, struct json *j,
			const char *key, size_t offset)
{
	json_arr(j, key);
	for (size_t i = 0; i < s->n_points; i++) {
		struct mark m = mark_of(&s->points[i]);

		json_real(j, NULL, *(double *)((char *)&m + offset));
	}
	json_end(j);
}

static void search_json(const struct run_set *s, struct json *j)
{
	struct knee k = knee_of(s);

	curve_array(s, j, "offered", offsetof(struct mark, offered));
	curve_array(s, j, "accepted", offsetof(struct mark, accepted));
	curve_array(s, j, "latency", offsetof(struct mark, latency));
	json_real(j, "steady_to", isnan(k.good) ? 0 : k.good);
	json_real(j, "saturated_from", k.bad);
	json_real(j, "accepted_most", k.most);
	json_str(j, "state", k.how);
	json_end(j);
}

void curve_json(const struct run_set *s, struct json *j)
{
	if (s->curves == 1) {
		json_obj(j, "curve");
		search_json(s, j);
		return;
	}
	json_arr(j, "curves");
	for (size_t i = 0; i < s->n_points;) {
		struct run_set part = search_at(s, i);
		char text[200];

		json_obj(j, NULL);
		snprintf(text, sizeof(text), "%.*s", search_text(part.points),
			 part.points->point);
		json_str(j, "point", text);
		search_json(&part, j);
		i += part.n_points;
	}
	json_end(j);
}
