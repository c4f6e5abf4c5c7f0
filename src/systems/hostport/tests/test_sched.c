/* SPDX-License-Identifier: Apache-2.0 */
/* The Host Port's scheduler against ref_hp: random jobs, keys, units, widths,
 * wait queues and stage times, and jobs that are set aside. After every cycle
 * the queue, the wait queues, all stages and the jobs set aside must be equal,
 * and jobs of one key leave in order. `test_sched SEED [N]` runs N
 * scenarios. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "ref_hp.h"
#include "unit/replay.h"
#include "base/rng.h"
#include "systems/hostport/nic/scheduler.h"

enum { JOBS = 300 };

struct totals {
	uint64_t jobs, cycles, ordered, single, aside;
};

struct job {
	struct hp_job job;
	const struct ref_job *ref;
	uint64_t due;
};

struct rig {
	struct hp_sched s;
	struct hp_pipe pipe;
	uint64_t cycle, slot_at, slot_next, aside;
	uint32_t left[JOBS], n_left;
	struct job *at[JOBS]; /* jobs by id, NULL while not in the scheduler */
};

static uint32_t below(struct weft_rng *g, uint32_t n)
{
	return (uint32_t)weft_rng_below(g, n);
}

/* ---- the product's side ---- */

static void wake(void *own, struct hp_sched *s)
{
	struct rig *r = own;
	uint64_t c = r->slot_next > r->cycle ? r->slot_next : r->cycle;

	if (c < r->slot_at)
		r->slot_at = c;
}

static void in_stage(struct hp_sched *s, struct hp_job *j)
{
	struct rig *r = s->own;
	struct job *p = (struct job *)j;

	p->due = r->cycle + p->ref->time[j->stage];
	if (p->due == r->cycle)
		hp_stage_done(s, j);
	else if (p->ref->miss == j->stage)
		hp_stage_aside(s, j);
	r->aside += j->aside;
}

static void left(struct hp_sched *s, struct hp_job *j)
{
	struct rig *r = s->own;
	struct job *p = (struct job *)j;

	r->left[r->n_left++] = p->ref->id;
	r->at[p->ref->id] = NULL;
}

static bool in_unit(const struct rig *r, const struct job *p)
{
	return p->job.aside ||
	       r->s.fu[p->job.fu].stage[p->job.stage] == &p->job;
}

static void product_cycle(struct rig *r)
{
	for (uint32_t i = 0; i < JOBS; i++) {
		struct job *p = r->at[i];

		if (p && in_unit(r, p) && !p->job.over && p->due == r->cycle)
			hp_stage_done(&r->s, &p->job);
	}
	if (r->slot_at > r->cycle)
		return;
	r->slot_at = UINT64_MAX;
	r->slot_next = r->cycle + 1;
	hp_sched_slot(&r->s);
}

/* ---- comparison ---- */

static uint64_t id_of(const struct hp_job *j)
{
	return j ? ((const struct job *)j)->ref->id : UINT64_MAX;
}

/* Compares both sides after a cycle. O05: no key is in two units. */
static int compare(struct rig *r, const struct ref_sched *ref)
{
	int bad =
		replay_differ("queue", r->cycle, r->s.n_queue, ref->queued) +
		replay_differ("issued", r->cycle, r->s.issues, ref->issued) +
		replay_differ("left", r->cycle, r->n_left, ref->n_left) +
		replay_differ("same key in two units", r->cycle, ref->twice, 0);

	for (uint32_t u = 0; u < ref->fus; u++) {
		const struct hp_fu *fu = &r->s.fu[u];

		bad += replay_differ("waiting", r->cycle, ring_count(&fu->wait),
				     ref->waiting[u]);
		bad += replay_differ("aside", r->cycle, fu->aside.n,
				     ref->n_aside[u]);
		for (uint32_t i = 0; i < ref->n_aside[u] && !bad; i++)
			bad += replay_differ("stands aside", r->cycle,
					     id_of(fu->aside.at[i]),
					     ref->aside[u][i]->id);
		for (uint32_t k = 0; k < ref->stages; k++) {
			const struct ref_job *j = ref->stage[u][k];

			bad += replay_differ(
				"stage", r->cycle * 100 + 10 * u + k,
				id_of(fu->stage[k]), j ? j->id : UINT64_MAX);
		}
	}
	return bad;
}

/* Checks SB4 and O03: jobs with equal keys never overtake each other. */
static int in_order(const struct rig *r, const struct ref_job *job)
{
	for (uint32_t a = 0; a < r->n_left; a++)
		for (uint32_t b = a + 1; b < r->n_left; b++) {
			const struct ref_job *x = &job[r->left[a]];
			const struct ref_job *y = &job[r->left[b]];

			if (x->ordered && y->ordered && x->key == y->key &&
			    x->id > y->id)
				return replay_differ("order", b, x->id, y->id);
		}
	return 0;
}

/* ---- scenarios ---- */

static void configure(struct rig *r, struct ref_sched *ref, struct weft_rng *g)
{
	ref->fus = 1 + below(g, 6);
	ref->stages = 1 + below(g, 5);
	ref->width = below(g, 3) ? 1 + below(g, 6) : 1;
	ref->depth = below(g, 6);
	ref->room = ref->width + below(g, 12);
	ref->places = below(g, 2) ? below(g, REF_PLACES + 1) : 0;
	r->pipe = (struct hp_pipe){ .name = "test",
				    .job_size = sizeof(struct job),
				    .stages = ref->stages,
				    .left = left };
	for (uint32_t k = 0; k < ref->stages; k++)
		r->pipe.stage[k] = in_stage;
	r->slot_at = UINT64_MAX;
	r->s = (struct hp_sched){ .pipe = &r->pipe,
				  .own = r,
				  .n_fu = ref->fus,
				  .width = ref->width,
				  .depth = ref->depth,
				  .room = ref->room,
				  .places = ref->places,
				  .wake = wake };
	hp_sched_init(&r->s);
}

static void make_jobs(struct ref_job *job, uint32_t n, uint32_t fus,
		      struct weft_rng *g)
{
	uint32_t keys = 1 + below(g, below(g, 2) ? 4 : 40),
		 all = (1u << fus) - 1;
	uint32_t slow = 1 + below(g, 20), loose = below(g, 4);
	bool masks = below(g, 3) == 0, replies = masks && below(g, 2);
	uint32_t misses = below(g, 4);

	for (uint32_t i = 0; i < n; i++) {
		job[i] = (struct ref_job){ .id = i, .key = below(g, keys) };
		job[i].ordered = below(g, 4) >= loose;
		/* units depend on the key, as they do in the NIC */
		job[i].units =
			masks && job[i].key % 3 == 0 && fus > 1 ? all / 2 : all;
		job[i].prompt = replies && job[i].key % 3;
		for (uint32_t k = 0; k < REF_STAGES; k++)
			job[i].time[k] = below(g, below(g, 4) ? 3 : slow);
		job[i].miss = REF_STAGES;
		if (below(g, 10) >= misses)
			continue;
		job[i].miss = below(g, REF_STAGES);
		job[i].time[job[i].miss] = below(g, 100);
	}
}

static void put(struct rig *r, const struct ref_job *j)
{
	struct job *p = hp_job_new(&r->s);

	p->ref = j;
	p->job.key = j->key;
	p->job.ordered = j->ordered;
	p->job.fus = j->units;
	p->job.prompt = j->prompt;
	r->at[j->id] = p;
	hp_sched_put(&r->s, &p->job);
}

static int run(struct rig *r, struct ref_sched *ref, struct ref_job *job,
	       uint32_t n, struct weft_rng *g)
{
	uint32_t next = 0, gap = 1 + below(g, 4);
	int bad = 0;

	for (r->cycle = 1; !bad && ref->n_left < n; r->cycle++) {
		while (next < n && !below(g, gap) && ref->queued < ref->room) {
			bad += replay_differ("room", r->cycle,
					     hp_sched_room(&r->s), 1);
			ref_sched_put(ref, &job[next]);
			put(r, &job[next++]);
		}
		ref_sched_cycle(ref, r->cycle);
		product_cycle(r);
		bad += compare(r, ref);
		if (r->cycle > 1000000)
			bad = replay_differ("hangs", r->cycle, 1, 0);
	}
	return bad + in_order(r, job);
}

static int one(uint64_t seed, void *totals)
{
	struct ref_sched *ref = calloc(1, sizeof(*ref));
	struct ref_job *job = calloc(JOBS, sizeof(*job));
	struct rig *r = calloc(1, sizeof(*r));
	struct totals *t = totals;
	struct weft_rng g;
	uint32_t n;
	int bad;

	weft_rng_seed(&g, seed, "sched");
	configure(r, ref, &g);
	n = 1 + below(&g, JOBS - 1);
	make_jobs(job, n, ref->fus, &g);
	bad = run(r, ref, job, n, &g);
	t->jobs += n;
	t->cycles += r->cycle;
	t->single += ref->width == 1;
	t->aside += r->aside;
	for (uint32_t i = 0; i < n; i++)
		t->ordered += job[i].ordered;
	hp_sched_fini(&r->s);
	free(r);
	free(job);
	free(ref);
	return bad;
}

int main(int argc, char **argv)
{
	struct totals t = { 0 };

	if (!replay(argc, argv, 1000, one, &t))
		return 1;
	printf("%" PRIu64 " jobs, %" PRIu64 " of them ordered, %" PRIu64
	       " cycles, %" PRIu64 " scenarios of single issue, %" PRIu64
	       " jobs set aside\n",
	       t.jobs, t.ordered, t.cycles, t.single, t.aside);
	return 0;
}
