/* SPDX-License-Identifier: Apache-2.0 */
/* Measures how long parts of components were in use, and by which activity. */
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "front/trace/message_sampler.h"
#include "front/trace/recs.h"

enum { USES_MAX = 4096, NEAR = 512 };

/* An activity of one part. */
struct use {
	const struct weft_comp *comp; /* component; NULL: the entry is free */
	const char *name, *text;
	uint32_t index;
	bool state;
	weft_time_t busy, open; /* busy: time in use up to the end of the last
				 * message; open: time in use since then */
	weft_time_t until;	/* latest end of overlapping spans */
	uint64_t epoch;
};

/* The state that a machine is in. */
struct machine {
	const struct weft_comp *comp;
	const char *name, *text;
	weft_time_t since;
};

struct uses {
	struct use at[USES_MAX];
	struct use *near[NEAR]; /* cache of entries that were used last, indexed
				 * by a hash of addresses, because a search
				 * takes longer */
	struct {
		VEC(struct machine);
	} machines;
	uint64_t epoch;
};

struct uses *uses_new(void)
{
	struct uses *u = calloc(1, sizeof(*u));

	if (!u)
		abort();
	return u;
}

void uses_free(struct uses *u)
{
	vec_free(&u->machines);
	free(u);
}

static struct use *use_find(struct uses *u, const struct weft_trace *t,
			    const char *text)
{
	uint64_t h = recs_hash(t->comp, t->name, text, t->index);

	for (uint32_t i = 0; i < 16; i++) {
		struct use *s = &u->at[(h + i) % USES_MAX];

		if (!s->comp)
			*s = (struct use){ .comp = t->comp,
					   .name = t->name,
					   .text = text,
					   .index = t->index,
					   .state = t->kind ==
						    WEFT_TRACE_STATE };
		if (s->comp == t->comp && s->index == t->index &&
		    !strcmp(s->name, t->name) && !strcmp(s->text, text))
			return s;
	}
	return NULL;
}

/* Adds a time of use. Time that overlaps earlier use counts once, because the
 * use of a part could otherwise exceed the whole time. */
static void sampler_use_spend(struct uses *u, const struct weft_trace *t,
			      const char *text, weft_time_t from,
			      weft_time_t to)
{
	struct use **near =
		&u->near[recs_near(t->comp, t->name, text, t->index) % NEAR];
	struct use *s = *near;

	if (!s || s->comp != t->comp || s->name != t->name || s->text != text ||
	    s->index != t->index)
		s = *near = use_find(u, t, text);
	if (!s)
		return;
	if (s->epoch != u->epoch) {
		s->busy += s->open;
		s->open = 0;
		s->epoch = u->epoch;
	}
	if (to <= s->until)
		return;
	s->open += to - (from > s->until ? from : s->until);
	s->until = to;
}

void uses_commit(struct uses *u)
{
	u->epoch++;
}

void uses_begin(struct uses *u, weft_time_t t)
{
	for (size_t i = 0; i < USES_MAX; i++) {
		struct use *s = &u->at[i];

		s->busy = 0;
		s->open = s->until > t ? s->until - t : 0;
	}
	for (size_t i = 0; i < u->machines.n; i++)
		u->machines.at[i].since = t;
}

/* Counts as use the time that programs spend in each state. States of other
 * components do not count. */
static void state(struct uses *u, const struct weft_trace *t)
{
	struct machine *m = NULL;

	if (t->comp->cls->kind != WEFT_KIND_PROGRAM)
		return;
	for (size_t i = 0; i < u->machines.n && !m; i++)
		if (u->machines.at[i].comp == t->comp &&
		    u->machines.at[i].name == t->name)
			m = &u->machines.at[i];
	if (!m && u->machines.n >= 64)
		return;
	if (!m) {
		vec_push(&u->machines,
			 (struct machine){ t->comp, t->name, NULL, 0 });
		m = &vec_last(&u->machines);
	}
	if (m->text && t->from > m->since)
		sampler_use_spend(u, t, m->text, m->since, t->from);
	m->text = t->text;
	m->since = t->from;
}

void uses_hear(struct uses *u, const struct weft_trace *t)
{
	if (!strcmp(t->name, WEFT_TRACE_CALLS))
		/* A call of a process does not count as use, because the call
		 * waits for other parts. The use of these parts counts. */
		return;
	if (t->kind == WEFT_TRACE_SPAN)
		sampler_use_spend(u, t, t->text, t->from, t->to);
	else if (t->kind == WEFT_TRACE_STATE)
		state(u, t);
}

/* ---- result ---- */

/* Returns the kind of the limit as one word. */
static const char *kind_of(const struct use *s)
{
	if (s->state)
		return "host";
	if (!strncmp(s->name, "dma_", 4))
		return "dma";
	switch (s->comp->cls->kind) {
	case WEFT_KIND_BUS:
		return "bus";
	case WEFT_KIND_SWITCH:
		return "switch";
	default:
		return "link";
	}
}

static int use_cmp(const void *a, const void *b)
{
	const struct story_use *x = a, *y = b;
	int d = strcmp(x->comp, y->comp);

	d = d ? d : strcmp(x->part, y->part);
	return d ? d : strcmp(x->doing, y->doing);
}

void uses_result(const struct uses *u, struct story *s)
{
	for (size_t i = 0; i < USES_MAX; i++) {
		const struct use *n = &u->at[i];
		weft_time_t busy =
			n->busy + (n->epoch < u->epoch ? n->open : 0);
		char part[64];

		if (!n->comp || !busy)
			continue;
		if (n->index == WEFT_TRACE_ONE)
			snprintf(part, sizeof(part), "%s", n->name);
		else
			snprintf(part, sizeof(part), "%s%u", n->name, n->index);
		story_use_add(s, n->comp->name, part, kind_of(n), n->text)
			->busy = busy;
	}
	if (s->n_uses)
		qsort(s->uses, s->n_uses, sizeof(*s->uses), use_cmp);
}
