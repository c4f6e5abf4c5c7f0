/* SPDX-License-Identifier: Apache-2.0 */
/* Reads one run of a results file. The file may come from any source, so its
 * contents are checked. A message whose stages are not in order is left out. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "front/explain/explain.h"
#include "front/out/out.h"
#include "weft/sim.h"

static sqlite3_stmt *load_query(sqlite3 *sql, const char *text, uint64_t run)
{
	sqlite3_stmt *st = NULL;

	if (sqlite3_prepare_v2(sql, text, -1, &st, NULL) != SQLITE_OK)
		return NULL;
	sqlite3_bind_int64(st, 1, (sqlite3_int64)run);
	return st;
}

static bool load_row(sqlite3_stmt *st)
{
	if (st && sqlite3_step(st) == SQLITE_ROW)
		return true;
	sqlite3_finalize(st);
	return false;
}

static const char *text(sqlite3_stmt *st, int i)
{
	const char *s = (const char *)sqlite3_column_text(st, i);

	return s ? s : "";
}

static uint64_t load_whole(sqlite3_stmt *st, int i)
{
	sqlite3_int64 v = sqlite3_column_int64(st, i);

	return v > 0 ? (uint64_t)v : 0;
}

/* ---- parts ---- */

static bool load_head(sqlite3 *sql, uint64_t run, struct explain *e)
{
	sqlite3_stmt *st = load_query(
		sql,
		"SELECT r.experiment, r.point, s.messages, s.begin_fs, s.end_fs, s.programs, (SELECT count(*) FROM runs) FROM stories s JOIN runs r ON r.id = s.run WHERE s.run = ?1",
		run);

	if (!load_row(st))
		return false;
	e->run = run;
	e->experiment = need(strdup(text(st, 0)));
	e->point = need(strdup(text(st, 1)));
	e->story.n_messages = load_whole(st, 2);
	e->story.begin = load_whole(st, 3);
	e->story.end = load_whole(st, 4);
	e->story.programs = load_whole(st, 5);
	e->n_runs = load_whole(st, 6);
	sqlite3_finalize(st);
	return e->story.end > e->story.begin;
}

/* Reads the stages of a message. Returns true when the stages are in order and
 * lie between the start and the end of the message. */
static bool load_stages(sqlite3 *sql, uint64_t run, struct story_msg *m)
{
	sqlite3_stmt *st = load_query(
		sql,
		"SELECT component, stage, end_fs FROM stages WHERE run = ?1 AND message = ?2 ORDER BY i",
		run);
	uint64_t t = m->begin;
	bool good = true, turns = !m->turn;

	if (st)
		sqlite3_bind_int64(st, 2, (sqlite3_int64)m->number);
	while (load_row(st)) {
		uint64_t end = load_whole(st, 2);

		good = good && end >= t;
		turns = turns || end == m->turn;
		t = end;
		story_stage_add(m, text(st, 0), text(st, 1), end);
	}
	return good && turns && t == m->end && m->n_stages;
}

static void load_msgs(sqlite3 *sql, uint64_t run, struct story *s)
{
	sqlite3_stmt *st = load_query(
		sql,
		"SELECT number, src, dst, begin_fs, turn_fs, end_fs FROM messages WHERE run = ?1 ORDER BY number",
		run);

	while (load_row(st)) {
		struct story_msg *m =
			story_msg_add(s, text(st, 1), text(st, 2));

		m->number = load_whole(st, 0);
		m->begin = load_whole(st, 3);
		m->turn = load_whole(st, 4);
		m->end = load_whole(st, 5);
		if (!load_stages(sql, run, m))
			m->number = 0;
	}
}

static void load_sums(sqlite3 *sql, uint64_t run, struct story *s)
{
	sqlite3_stmt *st = load_query(
		sql,
		"SELECT component, stage, total_fs FROM stage_sums WHERE run = ?1",
		run);

	while (load_row(st))
		story_sum_add(s, text(st, 0), text(st, 1))->total =
			load_whole(st, 2);
	st = load_query(
		sql,
		"SELECT component, part, kind, doing, busy_fs FROM uses WHERE run = ?1",
		run);
	while (load_row(st))
		story_use_add(s, text(st, 0), text(st, 1), text(st, 2),
			      text(st, 3))
			->busy = load_whole(st, 4);
}

static void load_ports(sqlite3 *sql, uint64_t run, struct explain *e)
{
	sqlite3_stmt *st = load_query(
		sql,
		"SELECT name, peer, blocked FROM ports WHERE run = ?1 AND n = 1 ORDER BY i",
		run);

	while (load_row(st)) {
		uint64_t blocked = 0;
		char *end;

		/* The text is a list such as "[12,0,7]". */
		for (const char *s = text(st, 2); *s; s = end) {
			s += strspn(s, "[], ");
			blocked += strtoull(s, &end, 10) * WEFT_NS;
			if (end == s)
				break;
		}

		if (blocked)
			vec_push(&e->ports,
				 (struct explain_port){
					 need(strdup(text(st, 0))),
					 need(strdup(text(st, 1))), blocked });
	}
}

static void load_metrics(sqlite3 *sql, uint64_t run, struct explain *e)
{
	sqlite3_stmt *st = load_query(
		sql,
		"SELECT name, unit, value FROM metrics WHERE run = ?1 AND unit IN ('ns', 'us') ORDER BY name",
		run);

	while (load_row(st)) {
		double unit = strcmp(text(st, 1), "ns") ? 1e9 : 1e6;

		vec_push(&e->metrics,
			 (struct explain_metric){ need(strdup(text(st, 0))),
						  sqlite3_column_double(st, 2) *
							  unit });
	}
}

int explain_load(const char *path, uint64_t run, struct explain *e,
		 struct weft_err *err)
{
	sqlite3 *sql = NULL;
	int ret = 0;

	*e = (struct explain){ 0 };
	if (out_db_open(path, &sql, err))
		return -EINVAL;
	if (!load_head(sql, run, e))
		ret = weft_fail(
			err, ENOENT,
			"%.200s: run %" PRIu64
			" has no messages to explain: weft run FILE --out keeps them, of NICs that tell their stages",
			path, run);
	if (!ret) {
		load_msgs(sql, run, &e->story);
		load_sums(sql, run, &e->story);
		load_ports(sql, run, e);
		load_metrics(sql, run, e);
	}
	sqlite3_close(sql);
	if (ret)
		explain_fini(e);
	return ret;
}

void explain_fini(struct explain *e)
{
	for (size_t i = 0; i < e->ports.n; i++) {
		free(e->ports.at[i].name);
		free(e->ports.at[i].peer);
	}
	for (size_t i = 0; i < e->metrics.n; i++)
		free(e->metrics.at[i].name);
	vec_free(&e->ports);
	vec_free(&e->metrics);
	story_fini(&e->story);
	free(e->experiment);
	free(e->point);
}
