/* SPDX-License-Identifier: Apache-2.0 */
/* The stages of a message as lines of a table; of a round trip both ways side
 * by side. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "front/explain/explain.h"

static uint64_t length(const struct story_msg *m)
{
	return m->end - m->begin;
}

static const struct story_msg *extreme(const struct story *s, bool slowest)
{
	const struct story_msg *best = NULL;

	for (size_t i = 0; i < s->n_msgs; i++) {
		const struct story_msg *m = &s->msgs[i];

		if (m->number &&
		    (!best || (slowest ? length(m) > length(best)
				       : length(m) < length(best))))
			best = m;
	}
	return best;
}

static const struct story_msg *numbered(const struct story *s, const char *text,
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
	weft_fail(err, EINVAL,
		  "explain: --message '%.40s': give first, fastest, slowest or "
		  "one of those that were kept:%s",
		  text, list);
	return NULL;
}

const struct story_msg *explain_pick(const struct explain *e, const char *which,
				     struct weft_err *err)
{
	const struct story_msg *m;

	if (!which || !strcmp(which, "fastest"))
		m = extreme(&e->story, false);
	else if (!strcmp(which, "slowest"))
		m = extreme(&e->story, true);
	else
		return numbered(&e->story, strcmp(which, "first") ? which : "1",
				err);
	if (!m)
		weft_fail(err, ENOENT, "explain: no message is whole");
	return m;
}

/* "sender nic" of "n0.nic" on the way from n0; the k-th switch on a way there
 * and back, which passes them in two orders. */
static char *where(const char *comp, const char *from, const char *to,
		   uint32_t k)
{
	size_t f = strlen(from), t = strlen(to);
	char *out;
	int n;

	if (!strncmp(comp, from, f) && comp[f] == '.')
		n = asprintf(&out, "sender %s", comp + f + 1);
	else if (!strncmp(comp, to, t) && comp[t] == '.')
		n = asprintf(&out, "receiver %s", comp + t + 1);
	else if (k)
		n = asprintf(&out, "switch %u", k);
	else
		n = asprintf(&out, "%s", comp);
	if (n < 0)
		abort();
	return out;
}

/* Which switch on the way stage i is in; 0: none, or only one way. */
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

/* Line of (place, stage) at or behind `at`, or n. */
static size_t find(const struct explain_rows *r, size_t at, const char *place,
		   const char *stage)
{
	for (; at < r->n; at++)
		if (!strcmp(r->at[at].where, place) &&
		    !strcmp(r->at[at].stage, stage))
			break;
	return at;
}

/* Stages first.. of m up to a time, as column `way`; the next stage. */
static size_t add_way(const struct story_msg *m, size_t i, uint64_t begin,
		      uint64_t end, uint32_t way, struct explain_rows *r)
{
	const char *from = way ? m->to : m->from, *to = way ? m->from : m->to;
	size_t at = 0, first = i;

	for (; i < m->n_stages && m->stages[i].end <= end; i++) {
		char *place = where(m->stages[i].comp, from, to,
				    switch_of(m, first, i));
		size_t k = find(r, at, place, m->stages[i].stage);
		char *stage = strdup(m->stages[i].stage);

		if (!stage)
			abort();
		/* one line for a stage that goes on */
		if (at && k == r->n && find(r, at - 1, place, stage) == at - 1)
			k = at - 1;
		if (k == r->n) {
			k = at;
			vec_insert(r, k,
				   (struct explain_row){ place, stage, { 0 } });
		} else {
			free(place);
			free(stage);
		}
		r->at[k].fs[way] += m->stages[i].end - begin;
		begin = m->stages[i].end;
		at = k + 1;
	}
	return i;
}

void explain_rows(const struct story_msg *m, struct explain_rows *rows)
{
	size_t i;

	*rows = (struct explain_rows){ 0 };
	i = add_way(m, 0, m->begin, m->turn ? m->turn : m->end, 0, rows);
	if (m->turn)
		add_way(m, i, m->turn, m->end, 1, rows);
}

void explain_rows_free(struct explain_rows *rows)
{
	for (size_t i = 0; i < rows->n; i++) {
		free(rows->at[i].where);
		free(rows->at[i].stage);
	}
	vec_free(rows);
}
