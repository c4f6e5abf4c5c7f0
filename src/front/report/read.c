/* SPDX-License-Identifier: Apache-2.0 */
/* Reads a results file and prints it as JSON, table by table.
 *
 * Columns become fields, so that the page uses the file's own names. The file
 * may come from any source, so its contents are checked: texts stay texts, and
 * lists of numbers are parsed and printed again. A missing table (of an older
 * file) counts as empty. */
#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "front/out/out.h"
#include "front/report/report.h"

/* Columns whose text is a list of numbers. */
static const char *const lists[] = { "busy", "blocked", "queued" };

struct reader {
	struct json *j;
	sqlite3 *sql;
	bool bad; /* a row could not be read */
};

/* Prepares a query. Returns NULL when the table does not exist. */
static sqlite3_stmt *read_query(struct reader *r, const char *text,
				sqlite3_int64 run, const char *name)
{
	sqlite3_stmt *st = NULL;

	if (sqlite3_prepare_v2(r->sql, text, -1, &st, NULL) != SQLITE_OK)
		return NULL;
	sqlite3_bind_int64(st, 1, run);
	sqlite3_bind_text(st, 2, name, -1, SQLITE_TRANSIENT);
	return st;
}

/* Steps a query. Stores an error in r->bad, because an error must not be
 * mistaken for the end of a table. */
static bool read_step(struct reader *r, sqlite3_stmt *st)
{
	int rc = st ? sqlite3_step(st) : SQLITE_DONE;

	r->bad |= rc != SQLITE_ROW && rc != SQLITE_DONE;
	return rc == SQLITE_ROW;
}

/* ---- values ---- */

/* Writes a list of numbers, whose text is like "[1,20,300]". */
static void put_list(struct json *j, const char *key, const char *text)
{
	json_arr(j, key);
	while (*text) {
		char *end;
		unsigned long long v;

		text += strspn(text, "[], ");
		v = strtoull(text, &end, 10);
		if (end == text)
			break;
		json_u64(j, NULL, v);
		text = end;
	}
	json_end(j);
}

static void put_col(struct json *j, const char *key, sqlite3_stmt *st, int c)
{
	const char *text;
	char digits[24];
	sqlite3_int64 v;
	bool list = false;

	switch (sqlite3_column_type(st, c)) {
	case SQLITE_INTEGER:
		v = sqlite3_column_int64(st, c);
		/* Numbers beyond 2^53 become strings, because JavaScript's
		 * numbers are not exact there. */
		snprintf(digits, sizeof(digits), "%llu", (unsigned long long)v);
		if (v >= -(1LL << 53) && v <= 1LL << 53)
			json_i64(j, key, v);
		else
			json_str(j, key, digits);
		break;
	case SQLITE_FLOAT:
		json_real(j, key, sqlite3_column_double(st, c));
		break;
	case SQLITE_NULL:
		json_null(j, key);
		break;
	default:
		text = (const char *)sqlite3_column_text(st, c);
		for (size_t i = 0; key && i < 3; i++)
			list |= !strcmp(key, lists[i]) && text[0] == '[';
		if (list)
			put_list(j, key, text);
		else
			json_str(j, key, text);
	}
}

/* ---- tables ---- */

/* Writes rows as arrays of their columns, or as plain values if there is one
 * column. */
static void put_rows(struct reader *r, const char *key, const char *text,
		     sqlite3_int64 run, const char *name)
{
	sqlite3_stmt *st = read_query(r, text, run, name);

	json_arr(r->j, key);
	while (read_step(r, st)) {
		int n = sqlite3_column_count(st);

		if (n > 1)
			json_arr(r->j, NULL);
		for (int c = 0; c < n; c++)
			put_col(r->j, NULL, st, c);
		if (n > 1)
			json_end(r->j);
	}
	json_end(r->j);
	sqlite3_finalize(st);
}

struct table_out {
	const char *key, *text;
	/* each row becomes an object if this is set, otherwise a list */
	bool objects;
	struct {
		const char *key, *text;
	} lists[2];
};

static void put_objects(struct reader *r, const struct table_out *t,
			sqlite3_int64 run)
{
	sqlite3_stmt *st = read_query(r, t->text, run, NULL);

	json_arr(r->j, t->key);
	while (read_step(r, st)) {
		const char *name = (const char *)sqlite3_column_text(st, 0);

		json_obj(r->j, NULL);
		for (int c = 0; c < sqlite3_column_count(st); c++)
			put_col(r->j, sqlite3_column_name(st, c), st, c);
		for (int k = 0; k < 2 && t->lists[k].key; k++)
			put_rows(r, t->lists[k].key, t->lists[k].text, run,
				 name);
		json_end(r->j);
	}
	json_end(r->j);
	sqlite3_finalize(st);
}

#define OF_RUN	    " WHERE run=?1"
#define OF_RUN_NAME OF_RUN " AND name=?2"

static const struct table_out run_tables[] = {
	{ "manifest", "SELECT name,value FROM manifest" OF_RUN },
	{ "metrics", "SELECT name,unit,value FROM metrics" OF_RUN },
	{ "counters", "SELECT name,unit,value FROM counters" OF_RUN },
	{ "failures", "SELECT text FROM failures" OF_RUN " ORDER BY i" },
	{ "series",
	  "SELECT name,min(x_unit) AS x_unit,min(y_unit) AS y_unit FROM "
	  "series" OF_RUN " GROUP BY name",
	  true,
	  { { "x", "SELECT x FROM series" OF_RUN_NAME " ORDER BY i" },
	    { "y", "SELECT y FROM series" OF_RUN_NAME " ORDER BY i" } } },
	{ "histograms",
	  "SELECT name,min(unit) AS unit FROM histograms" OF_RUN
	  " GROUP BY name",
	  true,
	  { { "lo", "SELECT lo FROM histograms" OF_RUN_NAME " ORDER BY lo" },
	    { "n",
	      "SELECT count FROM histograms" OF_RUN_NAME " ORDER BY lo" } } },
	{ "histogram_stats",
	  "SELECT name,count,mean,min,max,p50,p90,p99,p999,per_unit FROM "
	  "histogram_stats" OF_RUN,
	  true },
	{ "intervals", "SELECT end_us FROM intervals" OF_RUN " ORDER BY i" },
	{ "ports",
	  "SELECT name,peer,kind,n,queue_unit,busy,blocked,queued FROM "
	  "ports" OF_RUN " ORDER BY i",
	  true },
	{ "ranks", "SELECT rank,node,start_fs,over_fs FROM ranks" OF_RUN
		   " ORDER BY rank" },
	{ "calls",
	  "SELECT name,rank,calls,bytes,time_fs,max_fs FROM calls" OF_RUN
	  " ORDER BY rank,name",
	  true },
	{ "flows", "SELECT src,dst,messages,bytes FROM flows" OF_RUN
		   " ORDER BY src,dst" },
	{ 0 },
};

static const struct table_out rows_table = {
	"rows",
	"SELECT id,system,scenario,unit,paper,model,error_pct,tolerance_pct,"
	"within,basis,parameter,enforced,pass,note,curve,x,run FROM reproduced "
	"ORDER BY rowid",
	true
};

/* ---- the file ---- */

static void put_runs(struct reader *r)
{
	sqlite3_stmt *st = read_query(
		r,
		"SELECT id,experiment,point,failures AS failed,about FROM runs ORDER BY id",
		0, NULL);

	json_arr(r->j, "runs");
	while (read_step(r, st)) {
		sqlite3_int64 run = sqlite3_column_int64(st, 0);

		json_obj(r->j, NULL);
		for (int c = 0; c < sqlite3_column_count(st); c++)
			put_col(r->j, sqlite3_column_name(st, c), st, c);
		for (const struct table_out *t = run_tables; t->key; t++)
			if (t->objects)
				put_objects(r, t, run);
			else
				put_rows(r, t->key, t->text, run, NULL);
		json_end(r->j);
	}
	json_end(r->j);
	sqlite3_finalize(st);
}

int report_read(struct json *j, const char *path, struct weft_err *err)
{
	struct reader r = { .j = j };
	const char *base = strrchr(path, '/');
	int ret = out_db_open(path, &r.sql, err);

	if (ret)
		return ret;
	json_obj(j, NULL);
	json_str(j, "name", base ? base + 1 : path);
	put_runs(&r);
	put_objects(&r, &rows_table, 0);
	json_end(j);
	if (r.bad)
		ret = weft_fail(
			err, EIO,
			"%.200s: cannot be read to its end: is it damaged?",
			path);
	sqlite3_close(r.sql);
	return ret;
}
