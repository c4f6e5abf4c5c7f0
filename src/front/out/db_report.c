/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the tables that the report reads: ports over time, figures of
 * histograms, rows of a reproduction. */
#include "front/out/db.h"

#include <math.h>
#include <stdlib.h>

const char db_more_schema[] =
	"PRAGMA user_version=2;"
	"CREATE TABLE IF NOT EXISTS histogram_stats("
	"run INTEGER NOT NULL REFERENCES runs, name TEXT NOT NULL,"
	" count INTEGER NOT NULL, mean REAL, min REAL, max REAL, p50 REAL,"
	" p90 REAL, p99 REAL, p999 REAL, per_unit REAL NOT NULL,"
	" PRIMARY KEY(run, name)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS intervals("
	"run INTEGER NOT NULL REFERENCES runs, i INTEGER NOT NULL,"
	" end_us REAL NOT NULL, PRIMARY KEY(run, i)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS ports("
	"run INTEGER NOT NULL REFERENCES runs, i INTEGER NOT NULL,"
	" name TEXT NOT NULL, peer TEXT NOT NULL, kind TEXT NOT NULL,"
	" n INTEGER NOT NULL, queue_unit TEXT NOT NULL, busy TEXT,"
	" blocked TEXT, queued TEXT, PRIMARY KEY(run, i)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS reproduced("
	"run INTEGER NOT NULL REFERENCES runs, id TEXT NOT NULL,"
	" system TEXT NOT NULL, scenario TEXT NOT NULL, unit TEXT NOT NULL,"
	" paper REAL NOT NULL, model REAL, error_pct REAL,"
	" tolerance_pct REAL, within TEXT NOT NULL, basis TEXT NOT NULL,"
	" parameter TEXT, enforced INTEGER NOT NULL, pass INTEGER NOT NULL,"
	" note TEXT, curve TEXT, x REAL);";

void db_hist_stats(struct db *d, sqlite3_int64 run, const struct weft_result *r)
{
	sqlite3_stmt *st = db_prepare(
		d, "INSERT INTO histogram_stats VALUES(?,?,?,?,?,?,?,?,?,?,?)");

	for (size_t i = 0; i < r->n_hists; i++) {
		const struct hist *h = &r->hists[i].h;

		db_insert(d, st, "isidddddddd", run, r->hists[i].name,
			  (sqlite3_int64)h->count, hist_mean(h), h->min, h->max,
			  hist_percentile(h, 50), hist_percentile(h, 90),
			  hist_percentile(h, 99), hist_percentile(h, 99.9),
			  h->scale);
	}
	sqlite3_finalize(st);
}

/* Returns a list such as "[12,0,7]", in which unknown values are NULL. The
 * caller frees it. */
static char *db_list(const uint64_t *y, size_t n)
{
	struct json j;

	if (!y)
		return NULL;
	json_init(&j, false);
	json_arr(&j, NULL);
	for (size_t i = 0; i < n; i++)
		json_u64(&j, NULL, y[i]);
	json_end(&j);
	return j.buf;
}

void db_ports(struct db *d, sqlite3_int64 run, const struct view *v)
{
	sqlite3_stmt *st = db_prepare(d, "INSERT INTO intervals VALUES(?,?,?)");

	for (size_t i = 0; i < v->n; i++)
		db_insert(d, st, "iid", run, (sqlite3_int64)i,
			  (double)v->end[i] / (double)WEFT_US);
	sqlite3_finalize(st);
	st = db_prepare(d, "INSERT INTO ports VALUES(?,?,?,?,?,?,?,?,?,?)");
	for (size_t i = 0; i < v->n_ports; i++) {
		const struct view_port *p = &v->ports[i];
		char *y[VIEW_N];

		for (uint32_t k = 0; k < VIEW_N; k++)
			y[k] = db_list(p->y[k], v->n);
		db_insert(d, st, "iisssissss", run, (sqlite3_int64)i, p->name,
			  p->peer, p->kind, (sqlite3_int64)p->n, p->unit,
			  y[VIEW_BUSY], y[VIEW_BLOCKED], y[VIEW_QUEUED]);
		for (uint32_t k = 0; k < VIEW_N; k++)
			free(y[k]);
	}
	sqlite3_finalize(st);
}

void db_rows(struct db *d, const sqlite3_int64 *first,
	     const struct out_rows *rows)
{
	sqlite3_stmt *st = db_prepare(
		d,
		"INSERT INTO reproduced VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");

	for (size_t i = 0; i < rows->n; i++) {
		const struct out_row *o = &rows->at[i];
		const struct repro_row *w = o->row;
		const struct repro_mark *m = repro_marks;
		char within[32], remark[REPRO_REMARK];

		while (m->row && strcmp(m->row, w->id))
			m++;
		repro_rule_text(w, within, sizeof(within));
		db_insert(d, st, "issssddddsssiissd", first[o->set], w->id,
			  o->system, w->scenario, w->unit, w->paper,
			  o->verdict.model, o->verdict.error_pct,
			  o->verdict.tolerance_pct, within,
			  repro_basis_name(w->basis), w->parameter,
			  (sqlite3_int64)!w->report_only,
			  (sqlite3_int64)o->verdict.pass,
			  repro_remark(w, remark) ? remark : NULL,
			  m->experiment, m->row ? m->x : NAN);
	}
	sqlite3_finalize(st);
}
