/* SPDX-License-Identifier: Apache-2.0 */
/* Scheduler, scoreboard, wait queues and pipelines, see scheduler.h.
 * Source: hostport.md 8.1 (FU1 to FU4), 8.7 (SB1 to SB13). */
#include "systems/hostport/nic/scheduler.h"

#include <assert.h>

#include "base/need.h"
#include "weft/trace.h"

/* ---- records ---- */

void hp_sched_init(struct hp_sched *s)
{
	assert(s->n_fu && s->n_fu <= HP_FU_MAX && s->room >= s->width);
	assert(s->pipe->stages && s->pipe->stages <= HP_STAGE_MAX);
	s->queue = need(calloc(s->room, sizeof(*s->queue)));
}

void *hp_job_new(struct hp_sched *s)
{
	struct hp_job *j = s->pool, *chain;

	if (j) {
		s->pool = j->next;
		chain = j->chain;
	} else {
		j = need(malloc(s->pipe->job_size));
		chain = s->all;
		s->all = j;
	}
	memset(j, 0, s->pipe->job_size);
	j->chain = chain;
	j->live = true;
	return j;
}

void hp_sched_fini(struct hp_sched *s)
{
	struct hp_job *j;

	while ((j = s->all)) {
		s->all = j->chain;
		free(j);
	}
	for (uint32_t f = 0; f < s->n_fu; f++) {
		ring_free(&s->fu[f].wait);
		vec_free(&s->fu[f].aside);
	}
	free(s->queue);
}

/* ---- scoreboard ---- */

/* Returns whether an ordered job with this key and a sequence number below
 * `put` is aside. */
static bool aside_has(const struct hp_fu *fu, uint64_t key, uint64_t put)
{
	for (size_t i = 0; i < fu->aside.n; i++) {
		const struct hp_job *a = fu->aside.at[i];

		if (a->ordered && a->key == key && a->put < put)
			return true;
	}
	return false;
}

bool hp_sched_aside(const struct hp_sched *s, uint32_t vpid)
{
	for (uint32_t f = 0; f < s->n_fu; f++)
		for (size_t i = 0; i < s->fu[f].aside.n; i++)
			if (s->fu[f].aside.at[i]->key >> 48 == vpid)
				return true;
	return false;
}

/* Returns the unit that has the key (SB4). At most one unit has it (SB5). */
static uint32_t fu_of_key(const struct hp_sched *s, uint64_t key)
{
	uint32_t found = HP_FU_NONE;

	for (uint32_t f = 0; f < s->n_fu; f++) {
		const struct hp_fu *fu = &s->fu[f];
		bool has = fu->n && aside_has(fu, key, UINT64_MAX);

		for (uint32_t k = 0; fu->n && !has && k < s->pipe->stages; k++)
			has = fu->stage[k] && fu->stage[k]->ordered &&
			      fu->stage[k]->key == key;
		for (uint32_t i = 0; !has && i < ring_count(&fu->wait); i++) {
			const struct hp_job *j = *ring_nth(&fu->wait, i);

			has = j->ordered && j->key == key;
		}
		if (!has)
			continue;
		assert(found == HP_FU_NONE);
		found = f;
	}
	return found;
}

/* Returns the number of jobs of the unit that a new job would wait for: the
 * wait queue and the job in the first stage. */
static uint32_t fu_length(const struct hp_fu *fu)
{
	return ring_count(&fu->wait) + (fu->stage[0] ? 1 : 0);
}

/* Returns whether no older job of this job's key is aside. */
static bool aside_may_go(const struct hp_fu *fu, const struct hp_job *j)
{
	return !j->ordered || !aside_has(fu, j->key, j->put);
}

/* Returns whether the unit may take the job. A prompt job may enter a unit only
 * if every job there that is not prompt is aside and cannot continue. */
static bool fu_may(const struct hp_sched *s, uint32_t f, const struct hp_job *j)
{
	const struct hp_fu *fu = &s->fu[f];

	if (!j->prompt)
		return true;
	for (size_t i = 0; i < fu->aside.n && !fu->slow; i++) {
		const struct hp_job *a = fu->aside.at[i];

		if (a->over && !a->prompt && aside_may_go(fu, a))
			return false;
	}
	return !fu->slow;
}

/* Returns the unit with the shortest wait queue. Units with equal queues take
 * turns. */
static uint32_t fu_shortest(const struct hp_sched *s, const struct hp_job *j)
{
	uint32_t best = HP_FU_NONE;

	for (uint32_t i = 1; i <= s->n_fu; i++) {
		uint32_t f = (s->turn + i) % s->n_fu;

		if ((j->fus && !(j->fus >> f & 1)) || !fu_may(s, f, j))
			continue;
		if (best == HP_FU_NONE ||
		    fu_length(&s->fu[f]) < fu_length(&s->fu[best]))
			best = f;
	}
	return best;
}

/* ---- marks and levels for listeners ---- */

/* Reports a queue level to listeners. `fu` is the unit of a wait queue, or NULL
 * for the queue of all units. */
static void tell_level(const struct hp_sched *s, const struct hp_fu *fu)
{
	if (!s->comp || !weft_heard_kind(s->comp, WEFT_TRACE_STATE))
		return;
	if (fu)
		weft_level(s->comp, s->pipe->wait_name, (uint32_t)(fu - s->fu),
			   ring_count(&fu->wait), weft_now(s->comp));
	else
		weft_level(s->comp, s->pipe->queue_name, WEFT_TRACE_ONE,
			   s->n_queue, weft_now(s->comp));
}

static void stage_set(const struct hp_sched *s, struct hp_fu *fu, uint32_t k,
		      struct hp_job *j)
{
	fu->stage[k] = j;
	if (s->comp && weft_heard_kind(s->comp, WEFT_TRACE_STATE))
		weft_state_at(s->comp, s->pipe->stage_name[k],
			      (uint32_t)(fu - s->fu),
			      j ? s->pipe->what(j) : "idle", weft_now(s->comp));
}

/* ---- pipelines ---- */

static void fu_enter(struct hp_sched *s, struct hp_fu *fu, struct hp_job *j,
		     uint32_t k)
{
	stage_set(s, fu, k, j);
	j->stage = (uint8_t)k;
	j->over = false;
	s->pipe->stage[k](s, j);
}

static void aside_put(struct hp_sched *s, struct hp_fu *fu, struct hp_job *j)
{
	stage_set(s, fu, j->stage, NULL);
	fu->slow -= !j->prompt;
	j->aside = true;
	fu->taken += !j->placed;
	vec_push(&fu->aside, j);
	if (s->pipe->aside)
		s->pipe->aside(s, j);
}

static void aside_take(struct hp_fu *fu, struct hp_job *j)
{
	size_t i = 0, k = 0;

	for (; i < fu->aside.n; i++)
		if (fu->aside.at[i] != j)
			fu->aside.at[k++] = fu->aside.at[i];
	fu->aside.n = k;
	fu->slow += !j->prompt;
	fu->taken -= !j->placed;
	j->placed = false;
	j->aside = false;
}

/* Sets job j aside, because its stage is over but an older job of its key is
 * aside. Returns false when no slot for jobs aside is free. */
static bool aside_behind(struct hp_sched *s, struct hp_fu *fu, struct hp_job *j)
{
	if (s->pipe->behind)
		s->pipe->behind(s, j);
	if (!j->over || (!j->placed && fu->taken >= s->places))
		return false;
	aside_put(s, fu, j);
	return true;
}

/* Returns the job that ends stage k next: a job that is aside in the stage, or
 * the job in the stage. Returns NULL when none can continue. */
static struct hp_job *stage_next(const struct hp_fu *fu, uint32_t k)
{
	struct hp_job *j = fu->stage[k];
	/* number of prompt jobs in stages and wait queue */
	uint32_t prompt = fu->n - fu->slow - (uint32_t)fu->aside.n;

	for (size_t i = 0; i < fu->aside.n; i++) {
		struct hp_job *a = fu->aside.at[i];

		if (a->stage == k && a->over && aside_may_go(fu, a) &&
		    (a->prompt || !prompt))
			return a;
	}
	return j && j->over && aside_may_go(fu, j) ? j : NULL;
}

/* Moves one job: out of the last stage, to the next stage, aside, or from the
 * wait queue into stage 0. Jobs in later stages are moved first. Returns false
 * if no job can move. */
static bool fu_step(struct hp_sched *s, struct hp_fu *fu)
{
	uint32_t last = s->pipe->stages - 1;
	struct hp_job *next;

	for (uint32_t k = last + 1; k-- > 0;) {
		struct hp_job *j = fu->stage[k];

		if (j && j->over && !aside_may_go(fu, j) &&
		    aside_behind(s, fu, j))
			return true;
		j = k < last && fu->stage[k + 1] ? NULL : stage_next(fu, k);
		if (!j)
			continue;
		if (j->aside)
			aside_take(fu, j);
		else
			stage_set(s, fu, k, NULL);
		if (k < last) {
			fu_enter(s, fu, j, k + 1);
			return true;
		}
		fu->slow -= !j->prompt;
		if (!--fu->n)
			fu->busy +=
				(s->now ? s->now(s->own) : 0) - fu->busy_since;
		if (s->pipe->left)
			s->pipe->left(s, j);
		hp_job_drop(s, j);
		return true;
	}
	if (fu->stage[0] || ring_empty(&fu->wait))
		return false;
	next = *ring_front(&fu->wait);
	ring_pop(&fu->wait);
	tell_level(s, fu);
	fu_enter(s, fu, next, 0);
	return true;
}

/* Runs a unit until no stage can continue. Requests a slot after each step,
 * because the step may make room or release a key for queued jobs. Does nothing
 * in a nested call, because a stage function may end its stage inside the
 * call. */
static void fu_run(struct hp_sched *s, struct hp_fu *fu)
{
	if (fu->running)
		return;
	fu->running = true;
	while (fu_step(s, fu))
		if (s->n_queue)
			s->wake(s->own, s);
	fu->running = false;
}

void hp_stage_done(struct hp_sched *s, struct hp_job *j)
{
	struct hp_fu *fu = &s->fu[j->fu];

	assert((j->aside || fu->stage[j->stage] == j) && !j->over);
	j->over = true;
	fu_run(s, fu);
}

void hp_stage_aside(struct hp_sched *s, struct hp_job *j)
{
	struct hp_fu *fu = &s->fu[j->fu];

	if (j->aside || j->over || (!j->placed && fu->taken >= s->places))
		return;
	aside_put(s, fu, j);
	if (s->n_queue)
		s->wake(s->own, s);
	fu_run(s, fu);
}

/* ---- issue ---- */

void hp_sched_put(struct hp_sched *s, struct hp_job *j)
{
	assert(hp_sched_room(s));
	j->put = s->puts++;
	s->queue[s->n_queue++] = j;
	tell_level(s, NULL);
	s->wake(s->own, s);
}

static uint32_t scheduler_choose(const struct hp_sched *s, uint32_t i)
{
	const struct hp_job *j = s->queue[i];
	uint32_t f = HP_FU_NONE;

	if (j->ordered) {
		for (uint32_t k = 0; k < i; k++)
			if (s->queue[k] && s->queue[k]->key == j->key)
				/* an older queued job of its key goes first */
				return HP_FU_NONE;
		f = fu_of_key(s, j->key);
		if (f != HP_FU_NONE && !fu_may(s, f, j))
			/* the unit of its key cannot take the job yet */
			return HP_FU_NONE;
	}
	if (f == HP_FU_NONE)
		f = fu_shortest(s, j);
	return f != HP_FU_NONE && fu_length(&s->fu[f]) <= s->depth ? f
								   : HP_FU_NONE;
}

static void scheduler_issue(struct hp_sched *s, uint32_t i, uint32_t f)
{
	struct hp_job *j = s->queue[i];
	struct hp_fu *fu = &s->fu[f];

	s->queue[i] = NULL;
	s->turn = f;
	s->issues++;
	j->fu = (uint8_t)f;
	if (!fu->n++)
		fu->busy_since = s->now ? s->now(s->own) : 0;
	fu->jobs++;
	fu->slow += !j->prompt;
	*ring_push(&fu->wait) = j;
	tell_level(s, fu);
}

void hp_sched_slot(struct hp_sched *s)
{
	uint32_t n = s->n_queue < s->width ? s->n_queue : s->width, issued = 0;
	uint32_t left = 0;

	if (!n)
		return;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t f = scheduler_choose(s, i);

		if (f == HP_FU_NONE)
			continue;
		scheduler_issue(s, i, f);
		issued++;
	}
	s->slots++;
	s->waste += s->width - issued;
	if (!issued)
		return;
	for (uint32_t i = 0; i < s->n_queue; i++)
		if (s->queue[i]) /* closes the gap that issued jobs have left */
			s->queue[left++] = s->queue[i];
	s->n_queue = left;
	tell_level(s, NULL);
	if (s->n_queue)
		s->wake(s->own, s);
	for (uint32_t f = 0; f < s->n_fu; f++)
		fu_run(s, &s->fu[f]);
	if (s->ready)
		s->ready(s->own, s);
}
