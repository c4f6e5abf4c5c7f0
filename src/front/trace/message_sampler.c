/* SPDX-License-Identifier: Apache-2.0 */
/* Listens to a run and keeps the messages that `weft explain` needs.
 *
 * A message of a NIC lasts from the host's access to the end of its last
 * transaction. A message of a program lasts from its call to the poll that
 * receives it. When programs report these times (weft_sent, weft_got), both
 * messages are joined: the part of the NIC is the latest NIC message between
 * the same nodes that lies inside the time of the program's message. A message
 * that is answered when it is received makes a round trip with its answer. */
#include "front/trace/message_sampler.h"

#include <stdio.h>

#include "base/vec.h"
#include "front/trace/recs.h"

enum { LOOKS = 256, PAIRS_MAX = 1024, BEGUN_MAX = 1024 };

struct begun {
	const struct weft_comp *prog;
	weft_time_t at;
};

/* Messages from one node to another, as programs see them. */
struct pair {
	uint32_t from, to;
	struct {
		VEC(struct begun);
	} begun; /* messages that were sent and not received, in order */
	size_t head;
	/* Last message that was received. Its stages are NULL if the message
	 * was kept already or joined with its answer. */
	struct kept last;
};

struct keeper {
	struct weft_listener listener;
	struct recs recs;
	struct picks *nics, *programs;
	struct uses *uses;
	struct {
		VEC(struct pair);
	} pairs;
	bool begun, sent; /* begun: a message has begun; sent: a program has
			   * sent a message */
};

/* ---- stages ---- */

static void message_sampler_stage(struct kept *m, const struct weft_comp *c,
				  const char *text, weft_time_t end)
{
	m->stages[m->n++] =
		(struct kept_stage){ .comp = c, .stage = text, .end = end };
}

static struct kept kept_new(size_t stages)
{
	struct kept m = { .stages = calloc(stages + 3, sizeof(*m.stages)) };

	if (!m.stages)
		abort();
	return m;
}

/* Adds the stages of a record up to `until`. Stages without duration are added,
 * too, because a part may end with such a stage. */
static void message_sampler_marks(struct kept *m, const struct rec *r,
				  weft_time_t until)
{
	weft_time_t t = r->begin;

	for (size_t i = 0; i < r->marks.n; i++) {
		const struct rec_mark *k = &r->marks.at[i];

		if (k->end < t || k->end > until)
			continue;
		message_sampler_stage(m, k->comp, k->stage, k->end);
		t = k->end;
	}
}

static void nic_arrived(struct keeper *k, const struct rec *r,
			const struct weft_comp *to)
{
	struct kept m = kept_new(r->marks.n);

	m.from = r->origin;
	m.to = to;
	m.begin = r->begin;
	message_sampler_marks(&m, r, WEFT_NEVER);
	m.end = m.n ? m.stages[m.n - 1].end : m.begin;
	picks_add(k->nics, &m);
	uses_commit(k->uses);
}

/* ---- programs ---- */

static struct pair *pair_of(struct keeper *k, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < k->pairs.n; i++)
		if (k->pairs.at[i].from == from && k->pairs.at[i].to == to)
			return &k->pairs.at[i];
	if (k->pairs.n >= PAIRS_MAX)
		return NULL;
	vec_push(&k->pairs, (struct pair){ .from = from, .to = to });
	return &vec_last(&k->pairs);
}

static bool is_node(const struct weft_comp *c, uint32_t node)
{
	char text[16];

	snprintf(text, sizeof(text), "n%u.", node);
	return !strncmp(c->name, text, strlen(text));
}

/* Returns the last mark on a node up to a time. */
static const struct rec_mark *last_mark(const struct rec *r, uint32_t node,
					weft_time_t until)
{
	for (size_t i = r->marks.n; i--;)
		if (r->marks.at[i].end <= until &&
		    is_node(r->marks.at[i].comp, node))
			return &r->marks.at[i];
	return NULL;
}

/* Returns the record of the last message from p->from that began at `from` or
 * later and reached p->to by `until`, or NULL. *end_p receives the time of its
 * arrival. */
static const struct rec *
message_sampler_inside(struct keeper *k, const struct pair *p, weft_time_t from,
		       weft_time_t until, weft_time_t *end_p)
{
	const struct rec *best = NULL;

	for (uint64_t i = 0; i < LOOKS && i < k->recs.newest; i++) {
		const struct rec *r = recs_find(&k->recs, k->recs.newest - i);
		const struct rec_mark *last;

		if (!r)
			continue;
		if (r->begin < from)
			break;
		last = is_node(r->origin, p->from) ? last_mark(r, p->to, until)
						   : NULL;
		if (last && last->end > *end_p) {
			best = r;
			*end_p = last->end;
		}
	}
	return best;
}

static struct kept message_sampler_leg(struct keeper *k, struct pair *p,
				       const struct weft_comp *prog,
				       struct begun from, weft_time_t until)
{
	weft_time_t there = 0;
	const struct rec *r =
		message_sampler_inside(k, p, from.at, until, &there);
	struct kept m = kept_new(r ? r->marks.n : 0);

	m.begin = from.at;
	m.end = until;
	m.to = prog;
	m.from = from.prog;
	if (r && r->begin > from.at)
		message_sampler_stage(&m, from.prog, "program, library",
				      r->begin);
	if (r)
		message_sampler_marks(&m, r, there);
	if (!m.n || m.stages[m.n - 1].end < until)
		message_sampler_stage(&m, prog,
				      r ? "program looks" : "not known", until);
	return m;
}

static void message_sampler_join(struct kept *trip, struct kept *back)
{
	struct kept m = kept_new(trip->n + back->n);

	for (size_t i = 0; i < trip->n; i++)
		m.stages[m.n++] = trip->stages[i];
	for (size_t i = 0; i < back->n; i++)
		m.stages[m.n++] = back->stages[i];
	free(trip->stages);
	free(back->stages);
	m.from = trip->from;
	m.to = trip->to;
	m.begin = trip->begin;
	m.turn = trip->end;
	m.end = back->end;
	*trip = (struct kept){ 0 };
	*back = m;
}

/* Keeps the pair's last message as a message without an answer, because it was
 * not answered at once. */
static void message_sampler_settle(struct keeper *k, struct pair *p)
{
	if (p->last.stages)
		picks_add(k->programs, &p->last);
	p->last = (struct kept){ 0 };
}

static void message_sampler_got(struct keeper *k, const struct weft_trace *t,
				uint32_t node)
{
	struct pair *p = pair_of(k, (uint32_t)t->value, node), *back;
	struct kept m;

	if (!p || p->head == p->begun.n)
		return;
	m = message_sampler_leg(k, p, t->comp, p->begun.at[p->head++], t->from);
	back = pair_of(k, node, p->from);
	p = pair_of(k, (uint32_t)t->value, node);
	message_sampler_settle(k, p);
	if (back && back != p && back->last.stages &&
	    back->last.end == m.begin) {
		message_sampler_join(&back->last, &m);
		picks_add(k->programs, &m);
	} else {
		p->last = m;
	}
	uses_commit(k->uses);
}

static void sent(struct keeper *k, const struct weft_trace *t, uint32_t node)
{
	struct pair *p = pair_of(k, node, (uint32_t)t->value);

	if (!k->sent)
		uses_begin(k->uses, t->from);
	k->sent = true;
	if (!p)
		return;
	if (p->head == p->begun.n)
		p->head = p->begun.n = 0;
	if (p->begun.n < BEGUN_MAX)
		vec_push(&p->begun, (struct begun){ t->comp, t->from });
}

/* ---- listening ---- */

static void message_sampler_hear(struct weft_listener *l,
				 const struct weft_trace *t)
{
	struct keeper *k = (struct keeper *)l;
	const struct rec *r;
	unsigned node;

	switch (t->kind) {
	case WEFT_TRACE_OPEN:
	case WEFT_TRACE_MARK:
	case WEFT_TRACE_END:
		k->begun = true;
		r = recs_hear(&k->recs, t);
		if (r)
			nic_arrived(k, r, t->comp);
		break;
	case WEFT_TRACE_SENT:
	case WEFT_TRACE_GOT:
		if (sscanf(t->comp->name, "n%u.", &node) != 1)
			break;
		if (t->kind == WEFT_TRACE_SENT)
			sent(k, t, node);
		else
			message_sampler_got(k, t, node);
		break;
	default:
		if (k->begun)
			uses_hear(k->uses, t);
	}
}

/* Returns the kinds of records that the keeper needs. States are needed from
 * programs alone, because only the states of programs count as work. Levels are
 * not needed. */
static uint8_t message_sampler_wants(const struct weft_comp *c)
{
	uint32_t but = 1u << WEFT_TRACE_LEVEL;

	if (c->cls->kind != WEFT_KIND_PROGRAM)
		but |= 1u << WEFT_TRACE_STATE;
	return (uint8_t)~but;
}

struct keeper *keeper_open(struct weft_sim *sim, const struct keep_part *part,
			   size_t n)
{
	struct keeper *k = calloc(1, sizeof(*k));

	if (!k)
		abort();
	k->listener.hear = message_sampler_hear;
	k->listener.wants = message_sampler_wants;
	recs_init(&k->recs);
	k->nics = picks_new(part, n);
	k->programs = picks_new(part, n);
	k->uses = uses_new();
	weft_sim_listen(sim, &k->listener);
	return k;
}

void keeper_result(struct keeper *k, struct weft_result *r)
{
	struct story *s = &r->story;

	for (size_t i = 0; i < k->pairs.n; i++)
		message_sampler_settle(k, &k->pairs.at[i]);
	s->programs = picks_count(k->programs) > 0;
	picks_result(s->programs ? k->programs : k->nics, r);
	if (s->n_messages)
		uses_result(k->uses, s);
}

void keeper_free(struct keeper *k)
{
	if (!k)
		return;
	for (size_t i = 0; i < k->pairs.n; i++) {
		vec_free(&k->pairs.at[i].begun);
		free(k->pairs.at[i].last.stages);
	}
	vec_free(&k->pairs);
	picks_free(k->nics);
	picks_free(k->programs);
	uses_free(k->uses);
	recs_fini(&k->recs);
	free(k);
}
