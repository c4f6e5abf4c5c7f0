/* SPDX-License-Identifier: Apache-2.0 */
/* Writes tables of the calls, messages and ranks of `weft exec`. Times are
 * whole numbers of femtoseconds. */
#include "front/out/db.h"

const char db_calls_schema[] =
	"CREATE TABLE IF NOT EXISTS ranks("
	"run INTEGER NOT NULL REFERENCES runs, rank INTEGER NOT NULL,"
	" node INTEGER NOT NULL, start_fs INTEGER NOT NULL,"
	" over_fs INTEGER NOT NULL, PRIMARY KEY(run, rank)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS calls("
	"run INTEGER NOT NULL REFERENCES runs, rank INTEGER NOT NULL,"
	" name TEXT NOT NULL, calls INTEGER NOT NULL, bytes INTEGER NOT NULL,"
	" time_fs INTEGER NOT NULL, max_fs INTEGER NOT NULL,"
	" PRIMARY KEY(run, rank, name)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS flows("
	"run INTEGER NOT NULL REFERENCES runs, src INTEGER NOT NULL,"
	" dst INTEGER NOT NULL, messages INTEGER NOT NULL,"
	" bytes INTEGER NOT NULL, PRIMARY KEY(run, src, dst)) WITHOUT ROWID;";

#define I64(x) ((sqlite3_int64)(x))

void db_calls(struct db *d, sqlite3_int64 run, const struct calls *c)
{
	sqlite3_stmt *st = db_prepare(d, "INSERT INTO ranks VALUES(?,?,?,?,?)");

	for (size_t i = 0; i < c->n_ranks; i++)
		db_insert(d, st, "iiiii", run, I64(c->ranks[i].rank),
			  I64(c->ranks[i].node), I64(c->ranks[i].start),
			  I64(c->ranks[i].over));
	sqlite3_finalize(st);
	st = db_prepare(d, "INSERT INTO calls VALUES(?,?,?,?,?,?,?)");
	for (size_t i = 0; i < c->n_rows; i++)
		db_insert(d, st, "iisiiii", run, I64(c->rows[i].rank),
			  c->rows[i].name, I64(c->rows[i].calls),
			  I64(c->rows[i].bytes), I64(c->rows[i].time),
			  I64(c->rows[i].max));
	sqlite3_finalize(st);
	st = db_prepare(d, "INSERT INTO flows VALUES(?,?,?,?,?)");
	for (size_t i = 0; i < c->n_flows; i++)
		db_insert(d, st, "iiiii", run, I64(c->flows[i].src),
			  I64(c->flows[i].dst), I64(c->flows[i].messages),
			  I64(c->flows[i].bytes));
	sqlite3_finalize(st);
}
