/* SPDX-License-Identifier: Apache-2.0 */
/* Prints results as table, JSON and CSV.
 *
 * JSON of one run: {"manifest","metrics","series","histograms","counters",
 * "failures"}.  JSON of a sweep: {"experiment", "runs": [{"point", and the
 * fields of one run}, ...]} in the order of the points. */
#include "front/out/out.h"

#include <string.h>

#include "base/fmt.h"
#include "front/out/sweep_plot.h"

const struct out_format out_formats[] = {
	{ "table", out_table },
	{ "json", out_json },
	{ "csv", out_csv },
	{ "svg", out_svg },
	{ 0 },
};

/* ---- table ---- */

static void table_blocks(const struct run_set *s, FILE *f)
{
	for (size_t i = 0; i < s->n_points; i++) {
		const struct weft_result *r = s->points[i].result;

		if (s->n_wanted > 1)
			fprintf(f, "%s%s\n", i ? "\n" : "", s->points[i].point);
		if (r->n_metrics)
			people_metrics(r, f);
		people_hists(s, r, f);
		people_samples(s, r, f);
		if (s->n_points == 1)
			people_counters(r, f);
	}
}

/* Draws the histograms and samples that --show names, point by point. */
static void table_pictures(const struct run_set *s, FILE *f)
{
	for (size_t i = 0; i < s->n_points; i++) {
		if (!people_any(s, s->points[i].result))
			continue;
		fprintf(f, "\n%s\n", s->points[i].point);
		people_hists(s, s->points[i].result, f);
		people_samples(s, s->points[i].result, f);
	}
}

static void table_partial(const struct run_set *s, FILE *f)
{
	fprintf(f, "PARTIAL: ended by a signal");
	if (s->n_wanted > 1)
		fprintf(f, "; %zu of %zu points were begun", s->n_points,
			s->n_wanted);
	fputc('\n', f);
	for (size_t i = 0; i < s->n_points; i++) {
		const char *p =
			result_param_get(s->points[i].result, "partial");

		if (p && s->n_wanted > 1)
			fprintf(f, "%s: %s\n", s->points[i].point, p);
		else if (p)
			fprintf(f, "run %s of simulated time\n", p);
	}
	fputc('\n', f);
}

/* Returns true if all points have the same few metrics. Each point is then one
 * row. */
static bool fits_matrix(const struct run_set *s)
{
	const struct weft_result *r0 = s->points[0].result;

	if (s->n_points < 2 || !r0->n_metrics || r0->n_metrics > 6)
		return false;
	for (size_t i = 1; i < s->n_points; i++) {
		const struct weft_result *r = s->points[i].result;

		if (r->n_metrics != r0->n_metrics)
			return false;
		for (size_t k = 0; k < r->n_metrics; k++)
			if (strcmp(r->metrics[k].name, r0->metrics[k].name))
				return false;
	}
	return true;
}

static void table_matrix(const struct run_set *s, FILE *f)
{
	const struct weft_result *r = s->points[0].result;
	const char *heads[8] = { "point" };
	char names[8][160], buf[32];
	struct table *t;

	for (size_t k = 0; k < r->n_metrics; k++) {
		snprintf(names[k], sizeof(names[k]), "%s [%s]",
			 r->metrics[k].name, r->metrics[k].unit);
		heads[k + 1] = names[k];
	}
	t = table_new(heads, r->n_metrics + 1);
	for (size_t i = 0; i < s->n_points; i++) {
		r = s->points[i].result;
		table_cell(t, "%s", s->points[i].point);
		for (size_t k = 0; k < r->n_metrics; k++) {
			out_real(r->metrics[k].value, buf);
			table_cell(t, "%s", buf);
		}
	}
	table_print(t, f);
}

void out_table(const struct run_set *s, FILE *f)
{
	char line[200];

	out_sentence(s->about, line, sizeof(line));
	fprintf(f, "%s%s%s\n\n", s->name, line[0] ? ": " : "", line);
	if (s->signal)
		table_partial(s, f);
	if (s->curves) {
		curve_table(s, f);
	} else if (lines_there(s, true)) {
		lines_table(s, true, f);
	} else if (fits_matrix(s)) {
		table_matrix(s, f);
		if (s->show && s->show[0]) {
			fputc('\n', f);
			lines_table(s, false, f);
			table_pictures(s, f);
		}
	} else if (lines_there(s, false)) {
		lines_table(s, true, f);
		table_pictures(s, f);
	} else {
		table_blocks(s, f);
	}
}

/* ---- JSON ---- */

static void json_series(struct json *j, const struct weft_result *r)
{
	json_arr(j, "series");
	for (size_t i = 0; i < r->n_series; i++) {
		const struct result_series *s = &r->series[i];

		json_obj(j, NULL);
		json_str(j, "name", s->name);
		json_str(j, "x_unit", s->x_unit);
		json_str(j, "y_unit", s->y_unit);
		json_arr(j, "x");
		for (size_t k = 0; k < s->n; k++)
			json_real(j, NULL, s->x[k]);
		json_end(j);
		json_arr(j, "y");
		for (size_t k = 0; k < s->n; k++)
			json_real(j, NULL, s->y[k]);
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

static void json_hists(struct json *j, const struct weft_result *r)
{
	json_arr(j, "histograms");
	for (size_t i = 0; i < r->n_hists; i++) {
		const struct hist *h = &r->hists[i].h;

		json_obj(j, NULL);
		json_str(j, "name", r->hists[i].name);
		json_str(j, "unit", r->hists[i].unit);
		json_u64(j, "count", h->count);
		json_real(j, "mean", hist_mean(h));
		json_real(j, "stddev", hist_stddev(h));
		json_real(j, "min", h->min);
		json_real(j, "max", h->max);
		json_real(j, "p50", hist_percentile(h, 50));
		json_real(j, "p90", hist_percentile(h, 90));
		json_real(j, "p99", hist_percentile(h, 99));
		json_arr(j, "bins"); /* each bin is [lower edge, count] */
		for (uint32_t k = 0; k < h->n_bins; k++) {
			if (!h->bin[k])
				continue;
			json_arr(j, NULL);
			json_real(j, NULL, hist_edge(h, k));
			json_u64(j, NULL, h->bin[k]);
			json_end(j);
		}
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

static void json_calls(struct json *j, const struct calls *c)
{
	json_arr(j, "calls");
	for (size_t i = 0; i < c->n_rows; i++) {
		json_obj(j, NULL);
		json_u64(j, "rank", c->rows[i].rank);
		json_str(j, "call", c->rows[i].name);
		json_u64(j, "calls", c->rows[i].calls);
		json_u64(j, "bytes", c->rows[i].bytes);
		json_u64(j, "time_fs", c->rows[i].time);
		json_u64(j, "max_fs", c->rows[i].max);
		json_end(j);
	}
	json_end(j);
	json_arr(j, "flows");
	for (size_t i = 0; i < c->n_flows; i++) {
		json_obj(j, NULL);
		json_u64(j, "src", c->flows[i].src);
		json_u64(j, "dst", c->flows[i].dst);
		json_u64(j, "messages", c->flows[i].messages);
		json_u64(j, "bytes", c->flows[i].bytes);
		json_end(j);
	}
	json_end(j);
}

void out_json_result(struct json *j, const struct weft_result *r)
{
	json_obj(j, "manifest");
	for (size_t i = 0; i < r->n_manifest; i++)
		json_str(j, r->manifest[i].name, r->manifest[i].value);
	json_end(j);
	json_obj(j, "metrics");
	for (size_t i = 0; i < r->n_metrics; i++)
		json_real(j, r->metrics[i].name, r->metrics[i].value);
	json_end(j);
	json_obj(j, "units");
	for (size_t i = 0; i < r->n_metrics; i++)
		json_str(j, r->metrics[i].name, r->metrics[i].unit);
	json_end(j);
	json_series(j, r);
	json_hists(j, r);
	json_obj(j, "counters");
	for (size_t i = 0; i < r->n_counters; i++)
		json_u64(j, r->counters[i].name, r->counters[i].value);
	json_end(j);
	if (r->calls.n_ranks)
		json_calls(j, &r->calls);
	json_arr(j, "failures");
	for (size_t i = 0; i < r->n_failures; i++)
		json_str(j, NULL, r->failures[i]);
	json_end(j);
}

void out_json(const struct run_set *s, FILE *f)
{
	struct json j;

	json_init(&j, true);
	json_obj(&j, NULL);
	if (s->signal)
		json_bool(&j, "partial", true);
	if (s->curves)
		curve_json(s, &j);
	if (s->n_wanted <= 1) {
		out_json_result(&j, s->points[0].result);
	} else {
		json_str(&j, "experiment", s->name);
		json_arr(&j, "runs");
		for (size_t i = 0; i < s->n_points; i++) {
			json_obj(&j, NULL);
			json_str(&j, "point", s->points[i].point);
			out_json_result(&j, s->points[i].result);
			json_end(&j);
		}
		json_end(&j);
	}
	json_end(&j);
	fwrite(j.buf, 1, j.len, f);
	fputc('\n', f);
	json_fini(&j);
}

/* ---- CSV ---- */

/* Writes a field and quotes it where RFC 4180 requires it. */
static void csv_field(const char *s, char end, FILE *f)
{
	if (!strpbrk(s, ",\"\n\r")) {
		fprintf(f, "%s%c", s, end);
		return;
	}
	fputc('"', f);
	for (; *s; s++)
		fprintf(f, *s == '"' ? "\"\"" : "%c", *s);
	fprintf(f, "\"%c", end);
}

static void csv_row(const struct run_point *p, const char *kind,
		    const char *name, const char *unit, const char *x,
		    const char *value, FILE *f)
{
	csv_field(p->point, ',', f);
	csv_field(kind, ',', f);
	csv_field(name, ',', f);
	csv_field(unit, ',', f);
	csv_field(x, ',', f);
	csv_field(value, '\n', f);
}

static void csv_u64(const struct run_point *p, const char *kind, const char *of,
		    const char *what, const char *unit, uint64_t v, FILE *f)
{
	char name[80], b[24];

	snprintf(name, sizeof(name), "%s.%s", of, what);
	snprintf(b, sizeof(b), "%llu", (unsigned long long)v);
	csv_row(p, kind, name, unit, "", b, f);
}

/* Writes rows such as "rank0.MPI_Send.time" and "rank0.rank1.bytes". */
static void csv_calls(const struct run_point *p, FILE *f)
{
	const struct calls *c = &p->result->calls;
	char of[64];

	for (size_t i = 0; i < c->n_rows; i++) {
		const struct calls_row *r = &c->rows[i];

		snprintf(of, sizeof(of), "rank%u.%.40s", r->rank, r->name);
		csv_u64(p, "call", of, "calls", "calls", r->calls, f);
		csv_u64(p, "call", of, "bytes", "B", r->bytes, f);
		csv_u64(p, "call", of, "time", "fs", r->time, f);
		csv_u64(p, "call", of, "max", "fs", r->max, f);
	}
	for (size_t i = 0; i < c->n_flows; i++) {
		const struct calls_flow *w = &c->flows[i];

		snprintf(of, sizeof(of), "rank%u.rank%u", w->src, w->dst);
		csv_u64(p, "flow", of, "messages", "messages", w->messages, f);
		csv_u64(p, "flow", of, "bytes", "B", w->bytes, f);
	}
}

static void csv_point(const struct run_point *p, FILE *f)
{
	const struct weft_result *r = p->result;
	const char *partial = result_param_get(r, "partial");
	char a[FMT_REAL_MAX], b[FMT_REAL_MAX];

	if (partial)
		csv_row(p, "partial", "", "", "", partial, f);
	for (size_t i = 0; i < r->n_metrics; i++) {
		fmt_real(r->metrics[i].value, b);
		csv_row(p, "metric", r->metrics[i].name, r->metrics[i].unit, "",
			b, f);
	}
	for (size_t i = 0; i < r->n_series; i++)
		for (size_t k = 0; k < r->series[i].n; k++) {
			fmt_real(r->series[i].x[k], a);
			fmt_real(r->series[i].y[k], b);
			csv_row(p, "series", r->series[i].name,
				r->series[i].y_unit, a, b, f);
		}
	for (size_t i = 0; i < r->n_hists; i++)
		for (uint32_t k = 0; k < r->hists[i].h.n_bins; k++) {
			if (!r->hists[i].h.bin[k])
				continue;
			fmt_real(hist_edge(&r->hists[i].h, k), a);
			snprintf(b, sizeof(b), "%llu",
				 (unsigned long long)r->hists[i].h.bin[k]);
			csv_row(p, "histogram", r->hists[i].name,
				r->hists[i].unit, a, b, f);
		}
	for (size_t i = 0; i < r->n_counters; i++) {
		snprintf(b, sizeof(b), "%llu",
			 (unsigned long long)r->counters[i].value);
		csv_row(p, "counter", r->counters[i].name, r->counters[i].unit,
			"", b, f);
	}
	csv_calls(p, f);
}

void out_csv(const struct run_set *s, FILE *f)
{
	fprintf(f, "point,kind,name,unit,x,value\n");
	for (size_t i = 0; i < s->n_points; i++)
		csv_point(&s->points[i], f);
}

/* ---- failures ---- */

void out_nothing_shown(const struct run_set *s, FILE *f)
{
	for (size_t i = 0; i < s->n_points; i++)
		if (s->points[i].result && people_any(s, s->points[i].result))
			return;
	if (lines_there(s, false))
		return;
	fprintf(f,
		"weft: --show: no histogram has such a name, nor has a metric of a sweep over numbers, nor a counter that was sampled: --sample TIME records counters\n");
}

void out_failures(const struct run_set *s, FILE *f)
{
	for (size_t i = 0; i < s->n_points; i++) {
		const struct weft_result *r = s->points[i].result;
		const char *point = s->points[i].point;

		for (size_t k = 0; k < r->n_failures; k++)
			fprintf(f, "weft: check failed: %s%s%s%s\n",
				r->failures[k], point[0] ? " (" : "", point,
				point[0] ? ")" : "");
		if (r->failures_dropped)
			fprintf(f, "weft: and %zu more failed checks\n",
				r->failures_dropped);
	}
}
