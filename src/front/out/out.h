/* SPDX-License-Identifier: Apache-2.0 */
/* Printing of results. Equal results give equal bytes, so that output contains
 * no dates, host names or paths. */
#ifndef FRONT_OUT_H
#define FRONT_OUT_H

#include <stdio.h>

#include "base/json.h"
#include "base/vec.h"
#include "front/repro/judge.h"
#include "front/run/run.h"

/* A table of aligned columns. Cells are copied. Columns of numbers are
 * right-aligned. */
struct table;
struct table *table_new(const char *const *heads, size_t n);
void table_cell(struct table *t, const char *fmt, ...)
	__attribute__((format(printf, 2, 3))); /* adds the next cell */
void table_print(struct table *t, FILE *f);    /* prints t and frees it */

/* Writes a value with 6 significant digits. */
void out_real(double v, char buf[32]);

/* Copies the first sentence of a text, or as much as fits. */
void out_sentence(const char *text, char *line, size_t size);

/* terminal.c: returns true if --show names this metric, or if --show was not
 * given. */
bool out_shown(const struct run_set *s, const char *name);
/* Each function prints one part of the results, and prints nothing if the part
 * is empty. */
void people_metrics(const struct weft_result *r, FILE *f);
void people_hists(const struct run_set *s, const struct weft_result *r,
		  FILE *f);
/* Returns true if the run has histograms or samples that are shown. */
bool people_any(const struct run_set *s, const struct weft_result *r);
void people_samples(const struct run_set *s, const struct weft_result *r,
		    FILE *f);
void people_counters(const struct weft_result *r, FILE *f);

/* saturation_curve.c: prints latency and throughput over the load, for a search
 * for saturation. */
void curve_table(const struct run_set *s, FILE *f);
void curve_json(const struct run_set *s, struct json *j);

/* follow.c: a file that grows with the run, one JSON object per line. It gets
 * the whole result of each finished point, and every few seconds the progress
 * of the point that runs. */
struct follow;
int follow_open(const char *path, struct follow **f_p, struct weft_err *err);
struct run_watch *follow_watch(struct follow *f);
/* Closes the file. Returns 0, or a negative errno with a message when a line
 * could not be written. */
int follow_close(struct follow *f, struct weft_err *err);

void out_json_result(struct json *j, const struct weft_result *r);
void out_table(const struct run_set *s, FILE *f);
void out_json(const struct run_set *s, FILE *f);
void out_csv(const struct run_set *s, FILE *f);
/* Prints failed checks on f (standard error), one line each. */
void out_failures(const struct run_set *s, FILE *f);
/* Prints a note when the patterns of --show match no name. */
void out_nothing_shown(const struct run_set *s, FILE *f);

struct sqlite3;

struct out_format {
	const char *name;
	void (*print)(const struct run_set *s, FILE *f);
};
extern const struct out_format out_formats[]; /* ended by name == NULL */

/* A row: a published number, the value that the model gives for it in one of
 * the sets, and the verdict. */
struct out_row {
	const char *system;
	const struct repro_row *row;
	struct repro_verdict verdict;
	size_t set;
};
struct out_rows {
	VEC(struct out_row);
};

/* Writes sets and rows (may be NULL) into a new SQLite file, which replaces
 * `path` only if there was no error.  Refuses to replace a file that is not a
 * results file.  With append the results are added to an existing file in one
 * transaction. */
int out_db(const char *path, bool append, const struct run_set *sets, size_t n,
	   const struct out_rows *rows, struct weft_err *err);
/* Opens a results file for reading.  Refuses a damaged file and a file that
 * weft has not written.  The caller closes *sql_p. */
int out_db_open(const char *path, struct sqlite3 **sql_p, struct weft_err *err);
/* Checks before the run whether `path` can be written. Writes nothing. */
int out_db_check(const char *path, struct weft_err *err);

#endif
