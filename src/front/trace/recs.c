/* SPDX-License-Identifier: Apache-2.0 */
/* Stores the marks of messages in flight. */
#include "front/trace/recs.h"

enum { RECS_LOG2 = 12, RECS = 1 << RECS_LOG2, PROBES = 8 };
/* Limit of the marks of one message. Transfers in many bursts have the most
 * marks. */
enum { MARKS_MAX = 400 };

void recs_init(struct recs *r)
{
	*r = (struct recs){ .slot = calloc(RECS, sizeof(*r->slot)),
			    .every = 1 };
	if (!r->slot)
		abort();
}

void recs_fini(struct recs *r)
{
	for (size_t i = 0; r->slot && i < RECS; i++)
		vec_free(&r->slot[i].marks);
	free(r->slot);
	r->slot = NULL;
}

static struct rec *recs_probe(struct recs *r, uint64_t id, uint32_t i)
{
	uint64_t h = id * 0x9e3779b97f4a7c15ull >> (64 - RECS_LOG2);

	return &r->slot[(h + i) % RECS];
}

static struct rec *find(struct recs *r, uint64_t id)
{
	struct rec *s = recs_probe(r, id, 0);

	for (uint32_t i = 0; id && i < PROBES; i++) {
		if (s->id == id)
			return s;
		s = s == &r->slot[RECS - 1] ? r->slot : s + 1;
	}
	return NULL;
}

/* Returns a free slot, otherwise the slot of the oldest message that has
 * arrived, otherwise the slot of the oldest message. */
static struct rec *recs_place(struct recs *r, uint64_t id)
{
	struct rec *best = recs_probe(r, id, 0);

	for (uint32_t i = 1; i < PROBES; i++) {
		struct rec *s = recs_probe(r, id, i);

		if (!best->id)
			break;
		if (!s->id || (best->open && !s->open) ||
		    (best->open == s->open && s->id < best->id))
			best = s;
	}
	if (best->id && best->open && ++r->pushed > RECS) {
		r->pushed = 0;
		r->every *= 2;
	}
	return best;
}

static void rec_open(struct recs *r, const struct weft_trace *t)
{
	const struct rec *parent = find(r, t->value);
	uint64_t number = t->id & ~(UINT64_C(1) << 63);
	struct rec *s, from = { 0 };

	r->newest = t->id;
	if (t->value ? !parent : number % r->every != 0)
		return;
	if (parent)
		from = *parent;
	s = recs_place(r, t->id);
	vec_clear(&s->marks);
	s->id = t->id;
	s->open = true;
	s->origin = parent ? from.origin : t->comp;
	s->begin = parent ? from.begin : t->from;
	for (size_t i = 0; parent && s != parent && i < from.marks.n; i++)
		vec_push(&s->marks, from.marks.at[i]);
}

/* Sorts marks by insertion, because they are few and nearly in order. Marks of
 * one time keep their order. */
static void rec_sort(struct rec *s)
{
	for (size_t i = 1; i < s->marks.n; i++) {
		struct rec_mark m = s->marks.at[i];
		size_t k = i;

		if (s->marks.at[i - 1].end <= m.end)
			continue;
		for (; k && s->marks.at[k - 1].end > m.end; k--)
			s->marks.at[k] = s->marks.at[k - 1];
		s->marks.at[k] = m;
	}
}

const struct rec *recs_find(struct recs *r, uint64_t id)
{
	struct rec *s = find(r, id);

	if (s)
		rec_sort(s);
	return s;
}

const struct rec *recs_hear(struct recs *r, const struct weft_trace *t)
{
	struct rec *s;

	if (t->kind == WEFT_TRACE_OPEN) {
		rec_open(r, t);
		return NULL;
	}
	s = find(r, t->id);
	if (!s || !s->open)
		return NULL;
	if (t->kind == WEFT_TRACE_MARK) {
		if (s->marks.n < MARKS_MAX)
			vec_push(&s->marks,
				 (struct rec_mark){ t->comp, t->name, t->to });
		return NULL;
	}
	s->open = false;
	if (!t->value)
		s->id = 0;
	rec_sort(s);
	return t->value ? s : NULL;
}

const struct rec *recs_next(struct recs *r, size_t *i_p)
{
	while (*i_p < RECS) {
		struct rec *s = &r->slot[(*i_p)++];

		if (!s->id || !s->open)
			continue;
		rec_sort(s);
		return s;
	}
	return NULL;
}

uint64_t recs_hash(const struct weft_comp *c, const char *a, const char *b,
		   uint32_t index)
{
	uint64_t h = c->id ^ (uint64_t)index << 32;

	for (int i = 0; i < 2; i++)
		for (const char *s = i ? b : a; s && *s; s++)
			h = (h ^ (unsigned char)*s) * 0x100000001b3ull;
	return h * 0x9e3779b97f4a7c15ull >> 32;
}

size_t recs_node(const struct weft_comp *c)
{
	const char *dot = strchr(c->name, '.');

	return dot ? (size_t)(dot - c->name) : strlen(c->name);
}
