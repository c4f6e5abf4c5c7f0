/* SPDX-License-Identifier: Apache-2.0 */
/* Keeps a few of many messages: the first, the fastest, the slowest, and every
 * n-th. n grows, so that the number of kept messages is bounded. Also sums each
 * stage over all messages. */
#include <stdio.h>
#include <string.h>

#include "base/vec.h"
#include "front/trace/message_sampler.h"
#include "front/trace/recs.h"

enum { PICKS_NTH = 32, SUMS = 4096, NEAR = 512 };

struct sum {
	const struct weft_comp *comp; /* component; NULL: the entry is free */
	const char *stage;
	uint64_t n, total;
};

struct picks {
	uint64_t n, step;
	weft_time_t begin, end;
	struct kept first, fastest, slowest;
	struct {
		VEC(struct kept);
	} nth;
	struct sum sum[SUMS];
	struct sum *near[NEAR]; /* cache of sums that were used last, indexed by
				 * a hash of addresses, because a search takes
				 * longer */
	struct parts *parts;
};

struct picks *picks_new(const struct keep_part *part, size_t n)
{
	struct picks *p = calloc(1, sizeof(*p));

	if (!p)
		abort();
	p->step = 1;
	p->parts = parts_new(part, n);
	return p;
}

uint64_t picks_count(const struct picks *p)
{
	return p->n;
}

static struct kept sampler_pick_copy(const struct kept *m)
{
	struct kept c = *m;

	c.stages = calloc(m->n + 1, sizeof(*c.stages));
	if (!c.stages)
		abort();
	memcpy(c.stages, m->stages, m->n * sizeof(*c.stages));
	return c;
}

static void sampler_pick_put(struct kept *at, const struct kept *m)
{
	free(at->stages);
	*at = sampler_pick_copy(m);
}

static void add_sum(struct picks *p, const struct kept_stage *s,
		    weft_time_t spent)
{
	struct sum **near =
		&p->near[recs_near(s->comp, s->stage, NULL, 0) % NEAR];
	struct sum *u = *near;

	if (!u || u->comp != s->comp || u->stage != s->stage) {
		u = &p->sum[recs_hash(s->comp, s->stage, NULL, 0) % SUMS];
		*near = NULL;
	}
	for (uint32_t i = 0; i < 16 && !*near; i++) {
		if (!u->comp)
			*u = (struct sum){ .comp = s->comp, .stage = s->stage };
		if (u->comp == s->comp && !strcmp(u->stage, s->stage))
			*near = u;
		u = u == &p->sum[SUMS - 1] ? p->sum : u + 1;
	}
	if (!*near)
		return;
	(*near)->n++;
	(*near)->total += spent;
}

void picks_add(struct picks *p, struct kept *m)
{
	weft_time_t t = m->begin;
	size_t kept = 0;

	m->number = ++p->n;
	p->begin = p->n == 1 || m->begin < p->begin ? m->begin : p->begin;
	p->end = m->end > p->end ? m->end : p->end;
	for (size_t i = 0; i < m->n; i++) {
		if (m->stages[i].end > t)
			add_sum(p, &m->stages[i], m->stages[i].end - t);
		t = m->stages[i].end;
	}
	parts_add(p->parts, m);
	if (p->n == 1)
		sampler_pick_put(&p->first, m);
	if (p->n == 1 || m->end - m->begin < p->fastest.end - p->fastest.begin)
		sampler_pick_put(&p->fastest, m);
	if (p->n == 1 || m->end - m->begin > p->slowest.end - p->slowest.begin)
		sampler_pick_put(&p->slowest, m);
	if (m->number % p->step == 0)
		vec_push(&p->nth, sampler_pick_copy(m));
	if (p->nth.n > PICKS_NTH) {
		/* Doubles n and drops the kept messages whose number is not a
		 * multiple of the new n. */
		p->step *= 2;
		for (size_t i = 0; i < p->nth.n; i++)
			if (p->nth.at[i].number % p->step == 0)
				p->nth.at[kept++] = p->nth.at[i];
			else
				free(p->nth.at[i].stages);
		p->nth.n = kept;
	}
	free(m->stages);
	m->stages = NULL;
}

/* ---- result ---- */

static void msg_result(const struct kept *m, struct story *s)
{
	char from[64], to[64];
	weft_time_t t = m->begin;
	struct story_msg *o;

	for (size_t i = 0; i < s->n_msgs; i++)
		if (s->msgs[i].number == m->number)
			return;
	snprintf(from, sizeof(from), "%.*s", (int)recs_node(m->from),
		 m->from->name);
	snprintf(to, sizeof(to), "%.*s", (int)recs_node(m->to), m->to->name);
	o = story_msg_add(s, from, to);
	o->number = m->number;
	o->begin = m->begin;
	o->turn = m->turn;
	o->end = m->end;
	for (size_t i = 0; i < m->n; i++) {
		const struct kept_stage *k = &m->stages[i];

		/* A stage without duration is left out. */
		if (k->end > t)
			story_stage_add(o, k->comp->name, k->stage, k->end);
		t = k->end;
	}
}

static int sum_cmp(const void *a, const void *b)
{
	const struct story_sum *x = a, *y = b;
	int d = strcmp(x->comp, y->comp);

	return d ? d : strcmp(x->stage, y->stage);
}

static int msg_cmp(const void *a, const void *b)
{
	const struct story_msg *x = a, *y = b;

	return x->number < y->number ? -1 : x->number > y->number;
}

void picks_result(struct picks *p, struct weft_result *r)
{
	struct story *s = &r->story;

	parts_result(p->parts, r);
	s->n_messages = p->n;
	s->begin = p->begin;
	s->end = p->end;
	if (!p->n)
		return;
	msg_result(&p->first, s);
	msg_result(&p->fastest, s);
	msg_result(&p->slowest, s);
	for (size_t i = 0; i < p->nth.n; i++)
		msg_result(&p->nth.at[i], s);
	qsort(s->msgs, s->n_msgs, sizeof(*s->msgs), msg_cmp);
	for (size_t i = 0; i < SUMS; i++)
		if (p->sum[i].comp) {
			struct story_sum *u = story_sum_add(
				s, p->sum[i].comp->name, p->sum[i].stage);

			u->n = p->sum[i].n;
			u->total = p->sum[i].total;
		}
	if (s->n_sums)
		qsort(s->sums, s->n_sums, sizeof(*s->sums), sum_cmp);
}

void picks_free(struct picks *p)
{
	parts_free(p->parts);
	free(p->first.stages);
	free(p->fastest.stages);
	free(p->slowest.stages);
	for (size_t i = 0; i < p->nth.n; i++)
		free(p->nth.at[i].stages);
	vec_free(&p->nth);
	free(p);
}
