/* SPDX-License-Identifier: Apache-2.0 */
/* See ref_hp.h. */
#include "ref_hp.h"

#include <string.h>

/* ---- conditional store buffer ---- */

static uint32_t csb_of(const struct ref_csb *b, uint32_t vpid)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < b->n; i++)
		k += b->entry[i].vpid == vpid;
	return k;
}

enum { FULL = 1, DISABLED = 2, INVALID = 3, REFUSED = 4 };

static uint64_t csb_result(const struct ref_csb *b, uint64_t accepted,
			   uint64_t reason)
{
	uint64_t free = b->depth - b->n;

	if (free > 65535)
		free = 65535;
	return free << 16 | reason << 8 | (reason ? 0 : 0x80) | accepted;
}

uint64_t ref_csb_load(struct ref_csb *b, uint32_t offset)
{
	uint32_t vpid = offset / 4096 % 65536, command = offset / 256 % 16;
	uint32_t parameter = offset / 8 % 32, accepted = 0, wanted = 1;

	if (offset % 8)
		return 0;
	if (!b->enabled[vpid])
		return csb_result(b, 0, DISABLED);
	if (command > 5)
		return csb_result(b, 0, INVALID);
	if (command == 0)
		wanted = parameter;
	for (; accepted < wanted; accepted++) {
		if (b->n == b->depth)
			return csb_result(b, accepted, FULL);
		if (b->limit && csb_of(b, vpid) == b->limit)
			return csb_result(b, accepted, REFUSED);
		b->entry[b->n++] =
			(struct ref_csb_entry){ vpid, command,
						command ? parameter : 1 };
	}
	return csb_result(b, accepted, 0);
}

bool ref_csb_next(struct ref_csb *b, struct ref_csb_entry *e)
{
	if (!b->n)
		return false;
	*e = b->entry[0];
	memmove(b->entry, b->entry + 1, --b->n * sizeof(b->entry[0]));
	return true;
}

/* ---- scheduler ---- */

static bool unit_has(const struct ref_sched *s, uint32_t u, uint64_t key)
{
	for (uint32_t k = 0; k < s->stages; k++)
		if (s->stage[u][k] && s->stage[u][k]->ordered &&
		    s->stage[u][k]->key == key)
			return true;
	for (uint32_t i = 0; i < s->waiting[u]; i++)
		if (s->wait[u][i]->ordered && s->wait[u][i]->key == key)
			return true;
	for (uint32_t i = 0; i < s->n_aside[u]; i++)
		if (s->aside[u][i]->ordered && s->aside[u][i]->key == key)
			return true;
	return false;
}

/* Returns how many jobs of unit u would precede a new one. The job in the first
 * stage counts, too. */
static uint32_t unit_line(const struct ref_sched *s, uint32_t u)
{
	return s->waiting[u] + (s->stage[u][0] != NULL);
}

/* Returns true if an older job with the key of this job stands aside. */
static bool must_wait(const struct ref_sched *s, const struct ref_job *j)
{
	for (uint32_t i = 0; i < s->n_aside[j->unit]; i++) {
		const struct ref_job *a = s->aside[j->unit][i];

		if (j->ordered && a->ordered && a->key == j->key &&
		    a->id < j->id)
			return true;
	}
	return false;
}

/* Returns whether unit u has a job that is not prompt and may have to wait. A
 * job that stands aside counts only when it can continue. */
static bool unit_slow(const struct ref_sched *s, uint32_t u)
{
	for (uint32_t k = 0; k < s->stages; k++)
		if (s->stage[u][k] && !s->stage[u][k]->prompt)
			return true;
	for (uint32_t i = 0; i < s->waiting[u]; i++)
		if (!s->wait[u][i]->prompt)
			return true;
	for (uint32_t i = 0; i < s->n_aside[u]; i++)
		if (!s->aside[u][i]->prompt && s->aside[u][i]->over &&
		    !must_wait(s, s->aside[u][i]))
			return true;
	return false;
}

static bool unit_takes(const struct ref_sched *s, uint32_t u,
		       const struct ref_job *j)
{
	return unit_line(s, u) <= s->depth && !(j->prompt && unit_slow(s, u));
}

/* Checks SB5 for a job that is in a unit. */
static void check_alone(struct ref_sched *s, const struct ref_job *j)
{
	uint32_t k = 0;

	for (uint32_t u = 0; u < s->fus; u++)
		k += unit_has(s, u, j->key);
	s->twice += k > 1;
}

/* Returns the unit to which this queued job is issued, or -1. left[] holds the
 * older jobs of the queue that were not issued in this slot. */
static int pick(struct ref_sched *s, const struct ref_job *j,
		struct ref_job **left, uint32_t n_left)
{
	int best = -1;

	if (j->ordered) {
		for (uint32_t i = 0; i < n_left; i++)
			if (left[i]->key == j->key)
				return -1;
		for (uint32_t u = 0; u < s->fus; u++)
			if (unit_has(s, u, j->key))
				return unit_takes(s, u, j) ? (int)u : -1;
	}
	for (uint32_t i = 0; i < s->fus; i++) {
		uint32_t u = (s->last + 1 + i) % s->fus;

		if (!(j->units >> u & 1) || (j->prompt && unit_slow(s, u)))
			continue;
		if (best < 0 || unit_line(s, u) < unit_line(s, (uint32_t)best))
			best = (int)u;
	}
	return best >= 0 && unit_takes(s, (uint32_t)best, j) ? best : -1;
}

static void slot(struct ref_sched *s)
{
	struct ref_job *left[REF_QUEUE];
	uint32_t n_left = 0, n = s->queued;

	for (uint32_t i = 0; i < n; i++) {
		struct ref_job *j = s->queue[i];
		int u = i < s->width ? pick(s, j, left, n_left) : -1;

		if (u < 0) {
			left[n_left++] = j;
			continue;
		}
		j->unit = (uint32_t)u;
		s->wait[u][s->waiting[u]++] = j;
		s->last = (uint32_t)u;
		s->issued++;
		if (j->ordered)
			check_alone(s, j);
	}
	memcpy(s->queue, left, n_left * sizeof(left[0]));
	s->queued = n_left;
}

static bool step_aside(struct ref_sched *s, struct ref_job *j)
{
	uint32_t u = j->unit;

	if (s->n_aside[u] == s->places)
		return false;
	s->stage[u][j->stage] = NULL;
	s->aside[u][s->n_aside[u]++] = j;
	return true;
}

static void enter(struct ref_sched *s, struct ref_job *j, uint32_t k)
{
	s->stage[j->unit][k] = j;
	j->stage = k;
	j->due = s->cycle + j->time[k];
	j->over = !j->time[k];
	/* the job misses a page in this stage, and leaves the stage to other
	 * jobs */
	if (j->miss == k && j->time[k])
		step_aside(s, j);
}

/* Returns whether prompt jobs are in stages or wait queue of unit u. Until they
 * have left, other jobs continue to stand aside. */
static bool unit_prompt(const struct ref_sched *s, uint32_t u)
{
	for (uint32_t k = 0; k < s->stages; k++)
		if (s->stage[u][k] && s->stage[u][k]->prompt)
			return true;
	for (uint32_t i = 0; i < s->waiting[u]; i++)
		if (s->wait[u][i]->prompt)
			return true;
	return false;
}

/* Returns the job that ends stage k of unit u now, or NULL. Jobs that stand
 * aside have priority. */
static struct ref_job *take(struct ref_sched *s, uint32_t u, uint32_t k)
{
	struct ref_job *j;

	for (uint32_t i = 0; i < s->n_aside[u]; i++) {
		j = s->aside[u][i];
		if (j->stage != k || !j->over || must_wait(s, j) ||
		    (!j->prompt && unit_prompt(s, u)))
			continue;
		memmove(&s->aside[u][i], &s->aside[u][i + 1],
			(--s->n_aside[u] - i) * sizeof(j));
		return j;
	}
	j = s->stage[u][k];
	if (!j || !j->over || must_wait(s, j))
		return NULL;
	s->stage[u][k] = NULL;
	return j;
}

/* Sets a job aside if an older job of its key stands aside, so that jobs of
 * other keys can pass it. */
static bool gives_way(struct ref_sched *s, struct ref_job *j)
{
	return j->over && must_wait(s, j) && step_aside(s, j);
}

/* Moves one job of unit u. Returns false if no job can move. */
static bool move(struct ref_sched *s, uint32_t u)
{
	for (uint32_t k = s->stages; k-- > 0;) {
		struct ref_job *j = s->stage[u][k];

		if (j && gives_way(s, j))
			return true;
		if (k + 1 < s->stages && s->stage[u][k + 1])
			continue;
		j = take(s, u, k);
		if (!j)
			continue;
		if (k + 1 < s->stages)
			enter(s, j, k + 1);
		else
			s->left[s->n_left++] = j->id;
		return true;
	}
	if (s->stage[u][0] || !s->waiting[u])
		return false;
	enter(s, s->wait[u][0], 0);
	memmove(s->wait[u], s->wait[u] + 1,
		--s->waiting[u] * sizeof(s->wait[u][0]));
	return true;
}

static void moves(struct ref_sched *s)
{
	for (uint32_t u = 0; u < s->fus; u++)
		while (move(s, u))
			;
}

static struct ref_job *older(struct ref_job *a, struct ref_job *b)
{
	if (!b || b->over)
		return a;
	return a && a->id < b->id ? a : b;
}

/* Returns the oldest job whose time in its stage has passed, or NULL. */
static struct ref_job *due(const struct ref_sched *s)
{
	struct ref_job *best = NULL;

	for (uint32_t u = 0; u < s->fus; u++) {
		for (uint32_t k = 0; k < s->stages; k++)
			if (s->stage[u][k] && s->stage[u][k]->due <= s->cycle)
				best = older(best, s->stage[u][k]);
		for (uint32_t i = 0; i < s->n_aside[u]; i++)
			if (s->aside[u][i]->due <= s->cycle)
				best = older(best, s->aside[u][i]);
	}
	return best;
}

bool ref_sched_put(struct ref_sched *s, struct ref_job *j)
{
	if (s->queued == s->room)
		return false;
	s->queue[s->queued++] = j;
	return true;
}

void ref_sched_cycle(struct ref_sched *s, uint64_t cycle)
{
	struct ref_job *j;

	s->cycle = cycle;
	while ((j = due(s))) {
		j->over = true;
		moves(s);
	}
	slot(s);
	moves(s);
}
