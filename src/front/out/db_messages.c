/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the tables that `weft explain` reads: messages, their stages, busy
 * parts. Times are whole numbers of femtoseconds. */
#include "front/out/db.h"

const char db_story_schema[] =
	"CREATE TABLE IF NOT EXISTS stories("
	"run INTEGER PRIMARY KEY REFERENCES runs, messages INTEGER NOT NULL,"
	" begin_fs INTEGER NOT NULL, end_fs INTEGER NOT NULL,"
	" programs INTEGER NOT NULL);"
	"CREATE TABLE IF NOT EXISTS messages("
	"run INTEGER NOT NULL REFERENCES runs, number INTEGER NOT NULL,"
	" src TEXT NOT NULL, dst TEXT NOT NULL, begin_fs INTEGER NOT NULL,"
	" turn_fs INTEGER NOT NULL, end_fs INTEGER NOT NULL,"
	" PRIMARY KEY(run, number)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS stages("
	"run INTEGER NOT NULL REFERENCES runs, message INTEGER NOT NULL,"
	" i INTEGER NOT NULL, component TEXT NOT NULL, stage TEXT NOT NULL,"
	" end_fs INTEGER NOT NULL, PRIMARY KEY(run, message, i))"
	" WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS stage_sums("
	"run INTEGER NOT NULL REFERENCES runs, component TEXT NOT NULL,"
	" stage TEXT NOT NULL, n INTEGER NOT NULL, total_fs INTEGER NOT NULL,"
	" PRIMARY KEY(run, component, stage)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS uses("
	"run INTEGER NOT NULL REFERENCES runs, component TEXT NOT NULL,"
	" part TEXT NOT NULL, kind TEXT NOT NULL, doing TEXT NOT NULL,"
	" busy_fs INTEGER NOT NULL, PRIMARY KEY(run, component, part, doing))"
	" WITHOUT ROWID;";

#define I64(x) ((sqlite3_int64)(x))

static void db_messages(struct db *d, sqlite3_int64 run, const struct story *s)
{
	sqlite3_stmt *st =
		db_prepare(d, "INSERT INTO messages VALUES(?,?,?,?,?,?,?)");
	sqlite3_stmt *sg =
		db_prepare(d, "INSERT INTO stages VALUES(?,?,?,?,?,?)");

	for (size_t i = 0; i < s->n_msgs; i++) {
		const struct story_msg *m = &s->msgs[i];

		db_insert(d, st, "iissiii", run, I64(m->number), m->from, m->to,
			  I64(m->begin), I64(m->turn), I64(m->end));
		for (size_t k = 0; k < m->n_stages; k++)
			db_insert(d, sg, "iiissi", run, I64(m->number), I64(k),
				  m->stages[k].comp, m->stages[k].stage,
				  I64(m->stages[k].end));
	}
	sqlite3_finalize(st);
	sqlite3_finalize(sg);
}

void db_story(struct db *d, sqlite3_int64 run, const struct story *s)
{
	sqlite3_stmt *st;

	if (!s->n_messages)
		return;
	st = db_prepare(d, "INSERT INTO stories VALUES(?,?,?,?,?)");
	db_insert(d, st, "iiiii", run, I64(s->n_messages), I64(s->begin),
		  I64(s->end), I64(s->programs));
	sqlite3_finalize(st);
	db_messages(d, run, s);
	st = db_prepare(d, "INSERT INTO stage_sums VALUES(?,?,?,?,?)");
	for (size_t i = 0; i < s->n_sums; i++)
		db_insert(d, st, "issii", run, s->sums[i].comp,
			  s->sums[i].stage, I64(s->sums[i].n),
			  I64(s->sums[i].total));
	sqlite3_finalize(st);
	st = db_prepare(d, "INSERT INTO uses VALUES(?,?,?,?,?,?)");
	for (size_t i = 0; i < s->n_uses; i++)
		db_insert(d, st, "issssi", run, s->uses[i].comp,
			  s->uses[i].part, s->uses[i].kind, s->uses[i].doing,
			  I64(s->uses[i].busy));
	sqlite3_finalize(st);
}
