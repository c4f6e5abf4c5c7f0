/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the stages of a message into lines of a table. A round trip has both
 * directions next to each other in one line. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "front/explain/explain.h"

static const struct story_msg *stage_table_extreme(const struct story *s,
						   bool slowest)
{
	const struct story_msg *best = NULL;
	uint64_t extreme = 0;

	for (size_t i = 0; i < s->n_msgs; i++) {
		const struct story_msg *m = &s->msgs[i];
		uint64_t time = m->end - m->begin;

		if (!m->number ||
		    (best && (slowest ? time <= extreme : time >= extreme)))
			continue;
		best = m;
		extreme = time;
	}
	return best;
}

static const struct story_msg *stage_table_numbered(const struct story *s,
						    const char *text,
						    struct weft_err *err)
{
	char *end, list[200] = "";
	uint64_t n = strtoull(text, &end, 10);
	size_t len = 0;

	for (size_t i = 0; i < s->n_msgs; i++) {
		if (!*end && end != text && s->msgs[i].number &&
		    s->msgs[i].number == n)
			return &s->msgs[i];
		if (s->msgs[i].number && len < sizeof(list) - 24)
			len += (size_t)snprintf(list + len, sizeof(list) - len,
						" %" PRIu64, s->msgs[i].number);
	}
	weft_fail(
		err, EINVAL,
		"explain: --message '%.40s': give first, fastest, slowest or one of those that were kept:%s",
		text, list);
	return NULL;
}

const struct story_msg *explain_pick(const struct explain *e, const char *which,
				     struct weft_err *err)
{
	const struct story_msg *m;

	if (!which || !strcmp(which, "fastest"))
		m = stage_table_extreme(&e->story, false);
	else if (!strcmp(which, "slowest"))
		m = stage_table_extreme(&e->story, true);
	else
		return stage_table_numbered(
			&e->story, strcmp(which, "first") ? which : "1", err);
	if (!m)
		weft_fail(err, ENOENT, "explain: no message is whole");
	return m;
}

/* Returns the position of a component as text: "sender nic" for "n0.nic" on a
 * route from n0 to another node. In a round trip a switch is named by k, its
 * position on the route, because the two directions pass switches in opposite
 * orders. */
static char *stage_table_where(const char *comp, const char *from,
			       const char *to, uint32_t k)
{
	size_t f = strlen(from), t = strlen(to);
	bool same_node = !strcmp(from, to);
	char *out;
	int n;

	if (!same_node && !strncmp(comp, from, f) && comp[f] == '.')
		n = asprintf(&out, "sender %s", comp + f + 1);
	else if (!same_node && !strncmp(comp, to, t) && comp[t] == '.')
		n = asprintf(&out, "receiver %s", comp + t + 1);
	else if (k)
		n = asprintf(&out, "switch %u", k);
	else
		n = asprintf(&out, "%s", comp);
	if (n < 0)
		abort();
	return out;
}

/* Returns the number of the switch that stage i belongs to. Switches are
 * counted from 1 along the route. Returns 0 for a stage outside switches and
 * for a message without an answer. */
static uint32_t switch_of(const struct story_msg *m, size_t first, size_t i)
{
	uint32_t k = 0;

	if (!m->turn || strchr(m->stages[i].comp, '.') ||
	    !strncmp(m->stages[i].stage, "cable", 5))
		return 0;
	for (size_t n = first; n <= i; n++)
		if (!strchr(m->stages[n].comp, '.') &&
		    strncmp(m->stages[n].stage, "cable", 5) &&
		    (n == first ||
		     strcmp(m->stages[n].comp, m->stages[n - 1].comp)))
			k++;
	return k;
}

static bool stage_table_same(const struct explain_row *a,
			     const struct explain_row *b)
{
	return !strcmp(a->where, b->where) && !strcmp(a->stage, b->stage);
}

static void row_free(struct explain_row *r)
{
	free(r->where);
	free(r->stage);
}

/* Adds the stages of m from number i up to time `end` as lines with a time in
 * column `way`. Returns the number of the next stage. */
static size_t add_way(const struct story_msg *m, size_t i, uint64_t begin,
		      uint64_t end, uint32_t way, struct explain_rows *r)
{
	const char *from = way ? m->to : m->from, *to = way ? m->from : m->to;
	size_t first = i;

	for (; i < m->n_stages && m->stages[i].end <= end; i++) {
		struct explain_row row = {
			.where = stage_table_where(m->stages[i].comp, from, to,
						   switch_of(m, first, i)),
			.stage = strdup(m->stages[i].stage),
		};

		if (!row.stage)
			abort();
		/* A stage that continues the row above is added to that row. */
		if (r->n && stage_table_same(&vec_last(r), &row))
			row_free(&row);
		else
			vec_push(r, row);
		vec_last(r).fs[way] += m->stages[i].end - begin;
		begin = m->stages[i].end;
	}
	return i;
}

/* Merges the lines of both directions. A stage of both directions gets one
 * line. */
static void stage_table_join(struct explain_rows *a, struct explain_rows *b,
			     struct explain_rows *rows)
{
	size_t w = b->n + 1, i, k;
	/* l[i * w + k] is the length of the longest common subsequence of two
	 * lists of lines: a from line i on, and b from line k on. */
	uint16_t *l = need(calloc((a->n + 1) * w, sizeof(*l)));

	for (i = a->n; i--;)
		for (k = b->n; k--;) {
			uint16_t *at = l + i * w + k;

			if (stage_table_same(&a->at[i], &b->at[k]))
				at[0] = (uint16_t)(at[w + 1] + 1);
			else
				at[0] = at[w] > at[1] ? at[w] : at[1];
		}
	i = k = 0;
	while (i < a->n || k < b->n) {
		const uint16_t *at = l + i * w + k;

		if (i < a->n && k < b->n &&
		    stage_table_same(&a->at[i], &b->at[k])) {
			a->at[i].fs[1] = b->at[k].fs[1];
			vec_push(rows, a->at[i++]);
			row_free(&b->at[k++]);
		} else if (k == b->n || (i < a->n && at[w] >= at[1])) {
			vec_push(rows, a->at[i++]);
		} else {
			vec_push(rows, b->at[k++]);
		}
	}
	free(l);
	vec_free(a);
	vec_free(b);
}

void explain_rows(const struct story_msg *m, struct explain_rows *rows)
{
	struct explain_rows there = { 0 }, back = { 0 };
	size_t i;

	*rows = (struct explain_rows){ 0 };
	if (!m->turn) {
		add_way(m, 0, m->begin, m->end, 0, rows);
		return;
	}
	i = add_way(m, 0, m->begin, m->turn, 0, &there);
	add_way(m, i, m->turn, m->end, 1, &back);
	stage_table_join(&there, &back, rows);
}

void explain_rows_free(struct explain_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		row_free(&rows->at[i]);
	vec_free(rows);
}
