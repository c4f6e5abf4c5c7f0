/* SPDX-License-Identifier: Apache-2.0 */
/* Prints tables of the processes of `weft exec`: the calls that took most time,
 * messages from rank to rank, and runs on several machines side by side. */
#include <inttypes.h>
#include <string.h>

#include "front/exec/exec.h"
#include "front/out/out.h"

enum { TOP = 6, MATRIX = 8, COMPARED = 12 };

/* ---- numbers ---- */

/* Writes a time with four digits and a unit. */
static void time_text(uint64_t fs, char buf[32])
{
	static const struct {
		const char *unit;
		double fs;
	} units[] = {
		{ "s", 1e15 }, { "ms", 1e12 }, { "us", 1e9 }, { "ns", 1e6 }
	};
	size_t i = 0;

	while (i < 3 && (double)fs < units[i].fs)
		i++;
	snprintf(buf, 32, "%.4g %s", (double)fs / units[i].fs, units[i].unit);
}

static void cell_time(struct table *t, uint64_t fs)
{
	char buf[32];

	time_text(fs, buf);
	table_cell(t, "%s", buf);
}

/* ---- calls ---- */

static bool is_mpi(const struct calls_row *r)
{
	return !strncmp(r->name, "MPI_", 4);
}

/* Removes calls of libfabric when MPI was used, because they are parts of MPI's
 * calls. */
static void drop_inner(struct calls *sum)
{
	bool mpi = false;
	size_t n = 0;

	for (size_t i = 0; i < sum->n_rows; i++)
		mpi |= is_mpi(&sum->rows[i]);
	for (size_t i = 0; i < sum->n_rows && mpi; i++) {
		struct calls_row r = sum->rows[i];

		if (is_mpi(&r)) {
			sum->rows[i] = sum->rows[n];
			sum->rows[n++] = r;
		}
	}
	for (size_t i = n; i < sum->n_rows && mpi; i++)
		free(sum->rows[i].name);
	sum->n_rows = mpi ? n : sum->n_rows;
}

static void calls_top(const struct calls *c, FILE *f)
{
	static const char *const heads[] = { "call",  "calls", "bytes",	 "time",
					     "share", "mean",  "longest" };
	double all = (double)calls_measured(c) * (double)c->n_ranks;
	struct calls sum = { 0 };
	struct table *t;

	calls_sum(c, &sum);
	drop_inner(&sum);
	if (sum.n_rows) {
		t = table_new(heads, 7);
		for (size_t i = 0; i < sum.n_rows && i < TOP; i++) {
			const struct calls_row *r = &sum.rows[i];

			table_cell(t, "%s", r->name);
			table_cell(t, "%" PRIu64, r->calls);
			table_cell(t, "%" PRIu64, r->bytes);
			cell_time(t, r->time);
			if (all > 0)
				table_cell(t, "%.1f %%",
					   100 * (double)r->time / all);
			else
				table_cell(t, "-");
			cell_time(t, r->calls ? r->time / r->calls : 0);
			cell_time(t, r->max);
		}
		table_print(t, f);
	}
	if (sum.n_rows > TOP)
		fprintf(f,
			"and %zu more: --format json, or --out and weft report\n",
			sum.n_rows - TOP);
	calls_free(&sum);
}

/* ---- messages ---- */

static void calls_matrix(const struct calls *c, FILE *f)
{
	const char *heads[MATRIX + 1] = { "messages, bytes" };
	char names[MATRIX][24];
	struct table *t;

	for (size_t k = 0; k < c->n_ranks; k++) {
		snprintf(names[k], sizeof(names[k]), "to rank %u",
			 c->ranks[k].rank);
		heads[k + 1] = names[k];
	}
	t = table_new(heads, c->n_ranks + 1);
	for (size_t i = 0; i < c->n_ranks; i++) {
		table_cell(t, "from rank %u", c->ranks[i].rank);
		for (size_t k = 0; k < c->n_ranks; k++) {
			size_t n = 0;

			while (n < c->n_flows &&
			       (c->flows[n].src != c->ranks[i].rank ||
				c->flows[n].dst != c->ranks[k].rank))
				n++;
			if (n < c->n_flows)
				table_cell(t, "%" PRIu64 ", %" PRIu64,
					   c->flows[n].messages,
					   c->flows[n].bytes);
			else
				table_cell(t, "-");
		}
	}
	table_print(t, f);
}

void exec_calls_table(const struct calls *c, FILE *f)
{
	uint64_t measured = calls_measured(c);
	char text[32];

	if (measured) {
		time_text(measured, text);
		fprintf(f, "weft: measured part %s\n", text);
	}
	calls_top(c, f);
	if (c->n_flows && c->n_ranks <= MATRIX)
		calls_matrix(c, f);
}

/* ---- several machines ---- */

/* Adds a row with the times of one call on all machines, and the ratio of each
 * time to the time on the first machine. */
static void compare_row(struct table *t, const char *what, const uint64_t *fs,
			size_t n)
{
	table_cell(t, "%s", what);
	for (size_t i = 0; i < n; i++)
		cell_time(t, fs[i]);
	for (size_t i = 1; i < n; i++)
		if (fs[0])
			table_cell(t, "%.3f", (double)fs[i] / (double)fs[0]);
		else
			table_cell(t, "-");
}

static struct table *compare_heads(const struct run_set *s)
{
	size_t n = s->n_points;
	char(*ratio)[80] = calloc(n, sizeof(*ratio));
	const char **heads = calloc(2 * n, sizeof(*heads));
	struct table *t;

	if (!ratio || !heads)
		abort();
	heads[0] = "simulated time, all ranks";
	for (size_t i = 0; i < n; i++) {
		heads[i + 1] = s->points[i].point + strlen("fabric=");
		snprintf(ratio[i], sizeof(*ratio), n > 2 ? "%zu/1" : "ratio",
			 i + 1);
		if (i)
			heads[n + i] = ratio[i];
	}
	t = table_new(heads, 2 * n);
	free(heads);
	free(ratio);
	return t;
}

void exec_compare(const struct run_set *s, FILE *f)
{
	size_t n = s->n_points;
	struct calls *sum = calloc(n, sizeof(*sum));
	uint64_t *fs = calloc(n, sizeof(*fs));
	struct table *t = compare_heads(s);

	if (!sum || !fs)
		abort();
	for (size_t i = 0; i < n; i++) {
		calls_sum(&s->points[i].result->calls, &sum[i]);
		drop_inner(&sum[i]);
		fs[i] = calls_measured(&s->points[i].result->calls);
	}
	fputc('\n', f);
	compare_row(t, "measured part", fs, n);
	for (size_t k = 0; k < sum[0].n_rows && k < COMPARED; k++) {
		const char *name = sum[0].rows[k].name;

		for (size_t i = 0; i < n; i++) {
			size_t q = 0;

			while (q < sum[i].n_rows &&
			       strcmp(sum[i].rows[q].name, name))
				q++;
			fs[i] = q < sum[i].n_rows ? sum[i].rows[q].time : 0;
		}
		compare_row(t, name, fs, n);
	}
	table_print(t, f);
	for (size_t i = 0; i < n; i++)
		calls_free(&sum[i]);
	free(sum);
	free(fs);
}
