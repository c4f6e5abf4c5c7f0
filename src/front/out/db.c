/* SPDX-License-Identifier: Apache-2.0 */
/* Results in one SQLite file.
 *
 * A new file is written under another name in the folder of the old file and
 * then renamed, so that a file is complete or absent. Equal results give equal
 * bytes. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/out/db.h"
#include "front/out/file.h"

/* The application id "weft" in a file distinguishes results from other
 * files. */
#define DB_APP_ID "weft"

/* ms to wait for other runs that append to the file */
#define DB_PATIENCE_MS 60000

/* Settings while a new file is filled. The file needs no journal and no shared
 * lock, because no other process uses the file yet. */
static const char db_begin[] =
	"PRAGMA page_size=4096;"
	"PRAGMA journal_mode=OFF;"
	"PRAGMA locking_mode=EXCLUSIVE;";

static const char db_schema[] =
	"PRAGMA application_id=2003134068;"
	"CREATE TABLE runs(id INTEGER PRIMARY KEY, experiment TEXT NOT NULL,"
	" point TEXT NOT NULL, failures INTEGER NOT NULL, about TEXT);"
	"CREATE TABLE manifest(run INTEGER NOT NULL REFERENCES runs,"
	" name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY(run, name))"
	" WITHOUT ROWID;"
	"CREATE TABLE metrics(run INTEGER NOT NULL REFERENCES runs,"
	" name TEXT NOT NULL, unit TEXT NOT NULL, value REAL,"
	" PRIMARY KEY(run, name)) WITHOUT ROWID;"
	"CREATE TABLE counters(run INTEGER NOT NULL REFERENCES runs,"
	" name TEXT NOT NULL, unit TEXT NOT NULL, value INTEGER NOT NULL,"
	" PRIMARY KEY(run, name)) WITHOUT ROWID;"
	"CREATE TABLE series(run INTEGER NOT NULL REFERENCES runs,"
	" name TEXT NOT NULL, i INTEGER NOT NULL, x_unit TEXT NOT NULL,"
	" y_unit TEXT NOT NULL, x REAL, y REAL, PRIMARY KEY(run, name, i))"
	" WITHOUT ROWID;"
	"CREATE TABLE histograms(run INTEGER NOT NULL REFERENCES runs,"
	" name TEXT NOT NULL, unit TEXT NOT NULL, lo REAL NOT NULL,"
	" count INTEGER NOT NULL, PRIMARY KEY(run, name, lo)) WITHOUT ROWID;"
	"CREATE TABLE failures(run INTEGER NOT NULL REFERENCES runs,"
	" i INTEGER NOT NULL, text TEXT NOT NULL, PRIMARY KEY(run, i))"
	" WITHOUT ROWID;";

/* ---- statements ---- */

void db_exec(struct db *d, const char *text)
{
	if (d->rc == SQLITE_OK)
		d->rc = sqlite3_exec(d->sql, text, NULL, NULL, NULL);
}

sqlite3_stmt *db_prepare(struct db *d, const char *text)
{
	sqlite3_stmt *st = NULL;

	if (d->rc == SQLITE_OK)
		d->rc = sqlite3_prepare_v2(d->sql, text, -1, &st, NULL);
	return st;
}

void db_insert(struct db *d, sqlite3_stmt *st, const char *fmt, ...)
{
	va_list ap;

	if (d->rc != SQLITE_OK)
		return;
	va_start(ap, fmt);
	for (int i = 1; *fmt; fmt++, i++) {
		if (*fmt == 'i')
			sqlite3_bind_int64(st, i, va_arg(ap, sqlite3_int64));
		else if (*fmt == 'd')
			sqlite3_bind_double(st, i, va_arg(ap, double));
		else
			sqlite3_bind_text(st, i, va_arg(ap, const char *), -1,
					  SQLITE_STATIC);
	}
	va_end(ap);
	if (sqlite3_step(st) != SQLITE_DONE)
		d->rc = sqlite3_errcode(d->sql);
	sqlite3_reset(st);
}

/* ---- one run ---- */

static void db_flat(struct db *d, sqlite3_int64 run,
		    const struct weft_result *r)
{
	sqlite3_stmt *st;

	st = db_prepare(d, "INSERT INTO manifest VALUES(?,?,?)");
	for (size_t i = 0; i < r->n_manifest; i++)
		db_insert(d, st, "iss", run, r->manifest[i].name,
			  r->manifest[i].value);
	sqlite3_finalize(st);
	st = db_prepare(d, "INSERT INTO metrics VALUES(?,?,?,?)");
	for (size_t i = 0; i < r->n_metrics; i++)
		db_insert(d, st, "issd", run, r->metrics[i].name,
			  r->metrics[i].unit, r->metrics[i].value);
	sqlite3_finalize(st);
	st = db_prepare(d, "INSERT INTO counters VALUES(?,?,?,?)");
	for (size_t i = 0; i < r->n_counters; i++)
		db_insert(d, st, "issi", run, r->counters[i].name,
			  r->counters[i].unit,
			  (sqlite3_int64)r->counters[i].value);
	sqlite3_finalize(st);
	st = db_prepare(d, "INSERT INTO failures VALUES(?,?,?)");
	for (size_t i = 0; i < r->n_failures; i++)
		db_insert(d, st, "iis", run, (sqlite3_int64)i, r->failures[i]);
	sqlite3_finalize(st);
}

static void db_nested(struct db *d, sqlite3_int64 run,
		      const struct weft_result *r)
{
	sqlite3_stmt *st;

	st = db_prepare(d, "INSERT INTO series VALUES(?,?,?,?,?,?,?)");
	for (size_t i = 0; i < r->n_series; i++) {
		const struct result_series *s = &r->series[i];

		for (size_t k = 0; k < s->n; k++)
			db_insert(d, st, "isissdd", run, s->name,
				  (sqlite3_int64)k, s->x_unit, s->y_unit,
				  s->x[k], s->y[k]);
	}
	sqlite3_finalize(st);
	st = db_prepare(d, "INSERT INTO histograms VALUES(?,?,?,?,?)");
	for (size_t i = 0; i < r->n_hists; i++) {
		const struct hist *h = &r->hists[i].h;

		for (uint32_t k = 0; k < h->n_bins; k++)
			if (h->bin[k])
				db_insert(d, st, "issdi", run, r->hists[i].name,
					  r->hists[i].unit, hist_edge(h, k),
					  (sqlite3_int64)h->bin[k]);
	}
	sqlite3_finalize(st);
}

/* Writes a set of runs. Returns the number of its first run. */
static sqlite3_int64 db_set(struct db *d, const struct run_set *s)
{
	sqlite3_int64 first = 0;
	sqlite3_stmt *st = db_prepare(
		d,
		"INSERT INTO runs(experiment, point, failures, about) VALUES(?,?,?,?)");

	for (size_t i = 0; i < s->n_points; i++) {
		const struct weft_result *r = s->points[i].result;
		sqlite3_int64 run;

		db_insert(d, st, "ssis", s->name, s->points[i].point,
			  (sqlite3_int64)(r->n_failures + r->failures_dropped),
			  s->about);
		run = sqlite3_last_insert_rowid(d->sql);
		db_flat(d, run, r);
		db_nested(d, run, r);
		db_hist_stats(d, run, r);
		db_ports(d, run, &r->view);
		db_story(d, run, &r->story);
		db_calls(d, run, &r->calls);
		first = i ? first : run;
	}
	sqlite3_finalize(st);
	return first;
}

/* ---- the file ---- */

/* Opens a results file. The file may come from any source, therefore no code in
 * the file is executed. A file whose writer was killed while appending is
 * repaired by opening it for writing. A file without write permission is read
 * without a repair. */
static int db_open(const char *path, sqlite3 **sql_p)
{
	int rc = sqlite3_open_v2(path, sql_p, SQLITE_OPEN_READWRITE, NULL);

	if (rc != SQLITE_OK || sqlite3_db_readonly(*sql_p, "main")) {
		sqlite3_close(*sql_p);
		rc = sqlite3_open_v2(path, sql_p, SQLITE_OPEN_READONLY, NULL);
	}
	if (rc != SQLITE_OK)
		return rc;
	sqlite3_busy_timeout(*sql_p, DB_PATIENCE_MS);
	sqlite3_db_config(*sql_p, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	return sqlite3_db_config(*sql_p, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
}

static bool db_known(sqlite3 *pattern, const char *text)
{
	sqlite3_stmt *st = NULL;
	bool known;

	if (sqlite3_prepare_v2(pattern,
			       "SELECT 1 FROM sqlite_master WHERE sql=?1", -1,
			       &st, NULL) != SQLITE_OK)
		abort();
	sqlite3_bind_text(st, 1, text, -1, SQLITE_STATIC);
	known = sqlite3_step(st) == SQLITE_ROW;
	sqlite3_finalize(st);
	return known;
}

/* Counts objects in the file that weft does not write. A query of such an
 * object may run for ever: a view, a computed column or a constraint may
 * compute for ever, and a table without its key may be searched for ever.
 * Returns -1 when the file cannot be read. */
static int db_foreign(sqlite3 *sql)
{
	static const char *const parts[] = { db_schema, db_more_schema,
					     db_story_schema, db_calls_schema };
	struct db pattern = { 0 }; /* tables that weft writes */
	sqlite3_stmt *st = NULL;
	int n = 0, rc;

	pattern.rc = sqlite3_open(":memory:", &pattern.sql);
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		db_exec(&pattern, parts[i]);
	if (pattern.rc != SQLITE_OK)
		abort();

	rc = sqlite3_prepare_v2(
		sql, "SELECT sql FROM sqlite_master WHERE sql IS NOT NULL", -1,
		&st, NULL);
	while (rc == SQLITE_OK && sqlite3_step(st) == SQLITE_ROW)
		n += !db_known(pattern.sql,
			       (const char *)sqlite3_column_text(st, 0));
	if (rc == SQLITE_OK)
		rc = sqlite3_reset(st);
	sqlite3_finalize(st);
	sqlite3_close(pattern.sql);
	return rc == SQLITE_OK ? n : -1;
}

static bool db_whole(sqlite3 *sql)
{
	sqlite3_stmt *st = NULL;
	const char *text = NULL;
	bool whole = false;

	if (sqlite3_prepare_v2(sql, "PRAGMA integrity_check(1)", -1, &st,
			       NULL) == SQLITE_OK &&
	    sqlite3_step(st) == SQLITE_ROW)
		text = (const char *)sqlite3_column_text(st, 0);
	whole = text && !strcmp(text, "ok");
	sqlite3_finalize(st);
	return whole;
}

/* Recognises a file by its header, because the header can be read even if the
 * rest is damaged. */
static bool db_ours(const char *path)
{
	uint8_t head[72] = { 0 };
	FILE *f = fopen(path, "rb");
	size_t n = f ? fread(head, 1, sizeof(head), f) : 0;

	if (f)
		fclose(f);
	return n == sizeof(head) && !memcmp(head, "SQLite format 3", 16) &&
	       !memcmp(head + 68, DB_APP_ID, 4);
}

int out_db_open(const char *path, sqlite3 **sql_p, struct weft_err *err)
{
	sqlite3 *sql = NULL;
	int foreign, ret = 0;

	if (access(path, R_OK))
		return weft_fail(err, errno, "%.200s: cannot read: %s", path,
				 strerror(errno));
	if (!db_ours(path))
		return weft_fail(
			err, EINVAL,
			"%.200s: is no results file: weft run FILE --out writes one",
			path);
	foreign = db_open(path, &sql) ? -1 : db_foreign(sql);
	if (foreign > 0)
		ret = weft_fail(
			err, EINVAL,
			"%.200s: holds other tables than weft writes: weft run FILE --out writes a new file",
			path);
	else if (foreign < 0 || !db_whole(sql))
		ret = weft_fail(
			err, EIO,
			"%.200s: is damaged: sqlite3 FILE .recover may save some of it",
			path);
	if (ret) {
		sqlite3_close(sql);
		return ret;
	}
	*sql_p = sql;
	return 0;
}

int out_db_check(const char *path, struct weft_err *err)
{
	char *dir = strdup(path), *slash = dir ? strrchr(dir, '/') : NULL;
	int ret = 0;

	if (!dir)
		abort();
	if (slash)
		slash[slash == dir] = '\0';
	if (access(slash ? dir : ".", W_OK))
		ret = weft_fail(err, errno,
				"--out %.200s: cannot write there: %s", path,
				strerror(errno));
	else if (!access(path, F_OK) && !db_ours(path))
		ret = weft_fail(
			err, EEXIST,
			"--out %.200s: is there and is no result file of weft: choose another name",
			path);
	free(dir);
	return ret;
}

/* Writes all results in one transaction and closes the file. */
static int db_fill(struct db *d, const char *path, bool fresh,
		   const struct run_set *sets, size_t n,
		   const struct out_rows *rows, struct weft_err *err)
{
	sqlite3_int64 *first = calloc(n + 1, sizeof(*first));
	int ret = 0;

	if (!first)
		abort();
	if (fresh)
		db_exec(d, db_begin);
	db_exec(d, "BEGIN IMMEDIATE");
	if (fresh)
		db_exec(d, db_schema);
	db_exec(d, db_more_schema);
	db_exec(d, db_story_schema);
	db_exec(d, db_calls_schema);
	for (size_t i = 0; i < n; i++)
		first[i] = db_set(d, &sets[i]);
	if (rows)
		db_rows(d, first, rows);
	free(first);
	db_exec(d, "COMMIT");
	if (d->rc != SQLITE_OK)
		ret = weft_fail(err, EIO, "--out %.200s: cannot write: %s",
				path, sqlite3_errmsg(d->sql));
	if (sqlite3_close(d->sql) != SQLITE_OK && !ret)
		ret = weft_fail(err, EIO, "--out %.200s: cannot close", path);
	return ret;
}

static int db_append(const char *path, const struct run_set *sets, size_t n,
		     const struct out_rows *rows, struct weft_err *err)
{
	struct db d = { 0 };
	int ret = out_db_open(path, &d.sql, err);

	return ret ? ret : db_fill(&d, path, false, sets, n, rows, err);
}

int out_db(const char *path, bool append, const struct run_set *sets, size_t n,
	   const struct out_rows *rows, struct weft_err *err)
{
	struct db d = { 0 };
	char *tmp;
	int ret;

	if (append && !access(path, F_OK))
		return db_append(path, sets, n, rows, err);
	tmp = out_temp(path);
	if (!tmp)
		return weft_fail(err, errno, "--out %.200s: cannot write: %s",
				 path, strerror(errno));
	d.rc = sqlite3_open_v2(
		tmp, &d.sql, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL);
	ret = db_fill(&d, path, true, sets, n, rows, err);
	/* The new file replaces the old one. With `append` no file existed at
	 * the start. Another run may have made the file meanwhile. In this case
	 * the results are appended to that file. */
	if (!ret && renameat2(AT_FDCWD, tmp, AT_FDCWD, path,
			      append ? RENAME_NOREPLACE : 0))
		ret = append && errno == EEXIST
			      ? -EEXIST
			      : weft_fail(err, errno,
					  "--out %.200s: cannot rename: %s",
					  path, strerror(errno));
	if (ret)
		unlink(tmp);
	free(tmp);
	return ret == -EEXIST ? db_append(path, sets, n, rows, err) : ret;
}
