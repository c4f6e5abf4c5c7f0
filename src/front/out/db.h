/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the writer of SQLite files. */
#ifndef FRONT_OUT_DB_H
#define FRONT_OUT_DB_H

#include <sqlite3.h>

#include "front/out/out.h"

struct db {
	sqlite3 *sql;
	int rc; /* first error of SQLite, or SQLITE_OK */
};

void db_exec(struct db *d, const char *text);
sqlite3_stmt *db_prepare(struct db *d, const char *text);
/* Binds values by format (i = int64, d = double, s = text, may be NULL) and
 * executes the statement. */
void db_insert(struct db *d, sqlite3_stmt *st, const char *fmt, ...);

/* db_report.c: tables that later versions of weft have added. A file without
 * these tables gets them when a run is appended. */
extern const char db_more_schema[];
void db_hist_stats(struct db *d, sqlite3_int64 run,
		   const struct weft_result *r);
void db_ports(struct db *d, sqlite3_int64 run, const struct view *v);
/* db_messages.c: messages, stages and busy parts */
extern const char db_story_schema[];
void db_story(struct db *d, sqlite3_int64 run, const struct story *s);
/* db_calls.c: calls of processes */
extern const char db_calls_schema[];
void db_calls(struct db *d, sqlite3_int64 run, const struct calls *c);
/* Writes rows of a reproduction. first[i] is the number of the first run of set
 * i. */
void db_rows(struct db *d, const sqlite3_int64 *first,
	     const struct out_rows *rows);

#endif
