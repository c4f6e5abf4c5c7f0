/* SPDX-License-Identifier: Apache-2.0 */
/* Prints `weft explain` as a table or as JSON. Times are whole numbers of
 * femtoseconds. A table shows hundredths of a nanosecond. These times are
 * rounded so that the lines add up to the last line exactly. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "front/explain/explain.h"
#include "front/out/out.h"

/* Times are in tenths of fs, so that half of a sum is a whole number, too. A
 * time in ns has UNIT_DIGITS digits behind the point, of which at most
 * DIGITS_MAX are shown. */
enum { UNIT_DIGITS = 7, DIGITS_MAX = 2 };

struct columns {
	uint64_t there, back, mean;
};

static struct columns columns_of(const struct explain_row *r)
{
	return (struct columns){ 10 * r->fs[0], 10 * r->fs[1],
				 5 * (r->fs[0] + r->fs[1]) };
}

/* Returns the number of digits that t needs behind the point, at least
 * `least`. */
static uint32_t print_digits(uint64_t t, uint32_t least)
{
	uint32_t n = UNIT_DIGITS;

	for (; n > least && t % 10 == 0; n--)
		t /= 10;
	return n < DIGITS_MAX ? n : DIGITS_MAX;
}

/* Returns the number of digits that all rows need. Without `trip` only the
 * first column of each row is printed. */
static uint32_t digits_of(const struct explain_rows *r, bool trip)
{
	uint32_t n = 0;

	for (size_t i = 0; i < r->n; i++) {
		struct columns c = columns_of(&r->at[i]);

		n = print_digits(c.there, n);
		if (!trip)
			continue;
		n = print_digits(c.back, n);
		n = print_digits(c.mean, n);
	}
	return n;
}

/* Rounds a time to units of the last digit shown. */
static uint64_t print_rounded(uint64_t t, uint32_t n)
{
	uint64_t unit = 1;

	for (; n < UNIT_DIGITS; n++)
		unit *= 10;
	return (t + unit / 2) / unit;
}

/* Prints the time v that starts at `from`. The ends of stages are rounded
 * rather than their lengths, so that the printed values add up to the printed
 * total. */
static void cell_ns(struct table *t, uint64_t from, uint64_t v, uint32_t n)
{
	uint64_t shown = print_rounded(from + v, n) - print_rounded(from, n),
		 one = 1;

	for (uint32_t i = 0; i < n; i++)
		one *= 10;
	if (n)
		table_cell(t, "%" PRIu64 ".%0*" PRIu64, shown / one, (int)n,
			   shown % one);
	else
		table_cell(t, "%" PRIu64, shown);
}

/* Prints a row. `sum` is the sum of all rows above this row, and decides how
 * the row is rounded. */
static void print_row(struct table *t, const char *where, const char *stage,
		      struct columns sum, struct columns c, bool trip,
		      uint32_t n, uint64_t whole)
{
	table_cell(t, "%s", where);
	table_cell(t, "%s", stage);
	cell_ns(t, sum.there, c.there, n);
	if (trip) {
		cell_ns(t, sum.back, c.back, n);
		cell_ns(t, sum.mean, c.mean, n);
	}
	table_cell(t, "%.1f %%",
		   100 * ((double)(trip ? c.mean : c.there) / (double)whole));
}

static void print_stages(const struct story_msg *m, FILE *f)
{
	static const char *const both[] = { "where",	  "what",
					    "there [ns]", "back [ns]",
					    "mean [ns]",  "share" };
	static const char *const one[] = { "where", "what", "time [ns]",
					   "share" };
	bool trip = m->turn;
	struct table *t = trip ? table_new(both, 6) : table_new(one, 4);
	uint64_t whole =
		trip ? 5 * (m->end - m->begin) : 10 * (m->end - m->begin);
	struct columns sum = { 0 };
	struct explain_rows rows;
	uint32_t n;

	explain_rows(m, &rows);
	n = digits_of(&rows, trip);
	for (size_t i = 0; i < rows.n; i++) {
		struct columns c = columns_of(&rows.at[i]);

		print_row(t, rows.at[i].where, rows.at[i].stage, sum, c, trip,
			  n, whole);
		sum.there += c.there;
		sum.back += c.back;
		sum.mean += c.mean;
	}
	print_row(t, "sum", trip ? "half round trip" : "message",
		  (struct columns){ 0 }, sum, trip, n, whole);
	table_print(t, f);
	explain_rows_free(&rows);
}

static void print_limits(const struct explain *e, FILE *f)
{
	static const char *const heads[] = { "part", "kind", "in use" };
	const struct explain_limit *b;
	struct table *t = table_new(heads, 3);
	struct explain_limits l;

	explain_limits(e, &l);
	for (size_t i = 0; i < l.n && i < 12; i++) {
		table_cell(t, "%s", l.at[i].name);
		table_cell(t, "%s", l.at[i].kind);
		table_cell(t, "%.1f %%", 100 * l.at[i].share);
	}
	b = explain_bottleneck(&l);
	fprintf(f, "\n%.3g messages under way at a time", explain_overlap(e));
	if (!explain_streams(e))
		fprintf(f, ": what counts is the time of one.\n\n");
	else if (!b)
		fprintf(f,
			".  Nothing was in use all the time: the time of a message limits, or the load offered.\n\n");
	else if (!strcmp(b->kind, "credits"))
		fprintf(f,
			".  Bottleneck: credits (%s), none for %.1f %% of the time.\n\n",
			b->name, 100 * b->share);
	else
		fprintf(f,
			".  Bottleneck: %s (%s), in use %.1f %% of the time.\n\n",
			b->kind, b->name, 100 * b->share);
	table_print(t, f);
	explain_limits_free(&l);
}

int explain_table(const struct explain *e, const char *which, FILE *f,
		  struct weft_err *err)
{
	const struct story_msg *m = explain_pick(e, which, err);
	double fs;

	if (!m)
		return -err->code;
	fprintf(f, "%s%s%s", e->experiment, *e->point ? ", " : "", e->point);
	if (e->n_runs > 1)
		fprintf(f, " (run %" PRIu64 " of %" PRIu64 ": --run N)", e->run,
			e->n_runs);
	fprintf(f, "\n%s %" PRIu64 " of %" PRIu64 "%s, %s -> %s%s\n\n",
		m->turn ? "round trip" : "message", m->number,
		e->story.n_messages,
		!which || !strcmp(which, "fastest") ? ", the fastest"
		: !strcmp(which, "slowest")	    ? ", the slowest"
						    : "",
		m->from, m->to, m->turn ? " and back" : "");
	print_stages(m, f);
	/* Finds the metric of the run that equals this time. */
	fs = (double)(m->end - m->begin) / (m->turn ? 2 : 1);
	for (size_t i = 0; i < e->metrics.n; i++)
		if (fabs(e->metrics.at[i].fs - fs) < fs * 1e-9) {
			fprintf(f, "measured: %s = %.10g ns\n",
				e->metrics.at[i].name,
				e->metrics.at[i].fs / 1e6);
			break;
		}
	print_limits(e, f);
	return 0;
}

static void json_limits(struct json *j, const struct explain *e)
{
	const struct explain_limit *b;
	struct explain_limits l;

	explain_limits(e, &l);
	b = explain_streams(e) ? explain_bottleneck(&l) : NULL;
	json_real(j, "under_way", explain_overlap(e));
	json_str(j, "bottleneck", b ? b->kind : NULL);
	json_str(j, "bottleneck_part", b ? b->name : NULL);
	json_arr(j, "in_use");
	for (size_t i = 0; i < l.n; i++) {
		json_obj(j, NULL);
		json_str(j, "part", l.at[i].name);
		json_str(j, "kind", l.at[i].kind);
		json_real(j, "share", l.at[i].share);
		json_end(j);
	}
	json_end(j);
	explain_limits_free(&l);
}

int explain_json(const struct explain *e, const char *which, FILE *f,
		 struct weft_err *err)
{
	const struct story_msg *m = explain_pick(e, which, err);
	struct json j;
	uint64_t t;

	if (!m)
		return -err->code;
	t = m->begin;
	json_init(&j, true);
	json_obj(&j, NULL);
	json_str(&j, "experiment", e->experiment);
	json_str(&j, "point", e->point);
	json_u64(&j, "messages", e->story.n_messages);
	json_u64(&j, "message", m->number);
	json_str(&j, "from", m->from);
	json_str(&j, "to", m->to);
	json_bool(&j, "round_trip", m->turn != 0);
	json_u64(&j, "fs", m->end - m->begin);
	json_arr(&j, "stages");
	for (size_t i = 0; i < m->n_stages; i++) {
		json_obj(&j, NULL);
		json_str(&j, "component", m->stages[i].comp);
		json_str(&j, "stage", m->stages[i].stage);
		json_u64(&j, "fs", m->stages[i].end - t);
		json_end(&j);
		t = m->stages[i].end;
	}
	json_end(&j);
	json_limits(&j, e);
	json_end(&j);
	fprintf(f, "%s\n", j.buf);
	json_fini(&j);
	return 0;
}
