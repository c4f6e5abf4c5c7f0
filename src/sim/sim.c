/* SPDX-License-Identifier: Apache-2.0 */
/* The simulation: creation and end of components, the event loop. Contract:
 * weft/sim.h. */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "base/rng.h"
#include "base/units.h"
#include "sim/sim_internal.h"

struct weft_sim *weft_sim_new(uint64_t seed)
{
	struct weft_sim *sim = calloc(1, sizeof(*sim));

	if (!sim)
		return NULL;
	sim->seed = seed;
	sim->carried = true;
	sim->result = result_new();
	evq_init(&sim->q);
	return sim;
}

static void comp_free(struct weft_comp *c)
{
	if (c->inited && c->cls->ops.fini)
		c->cls->ops.fini(c);
	comp_ports_fini(c);
	free(c->regs);
	free(c->name);
}

void weft_sim_free(struct weft_sim *sim)
{
	if (!sim)
		return;
	for (uint32_t i = 0; i < sim->n_comps; i++)
		comp_free(sim->comps[i]);
	free(sim->comps);
	regmap_fini(sim);
	hists_fini(sim);
	for (uint32_t i = 0; i < sim->slabs.n; i++)
		free(sim->slabs.at[i]);
	vec_free(&sim->slabs);
	evq_fini(&sim->q);
	vec_free(&sim->watch);
	result_free(sim->result);
	arena_fini(&sim->arena);
	free(sim);
}

struct weft_comp *weft_sim_find(struct weft_sim *sim, const char *name)
{
	if (sim->started) {
		uint32_t lo = 0, hi = sim->n_comps;

		while (lo < hi) {
			uint32_t mid = lo + (hi - lo) / 2;
			int d = strcmp(name, sim->comps[mid]->name);

			if (!d)
				return sim->comps[mid];
			if (d < 0)
				hi = mid;
			else
				lo = mid + 1;
		}
		return NULL;
	}
	for (uint32_t i = 0; i < sim->n_comps; i++)
		if (!strcmp(sim->comps[i]->name, name))
			return sim->comps[i];
	return NULL;
}

uint32_t weft_sim_count(const struct weft_sim *sim)
{
	return sim->n_comps;
}

struct weft_comp *weft_sim_at(const struct weft_sim *sim, uint32_t i)
{
	return i < sim->n_comps ? sim->comps[i] : NULL;
}

struct weft_comp *weft_sim_add(struct weft_sim *sim,
			       const struct weft_class *cls, const char *name,
			       struct weft_err *err)
{
	struct weft_err sub = { 0 };
	struct weft_comp *c;

	assert(!sim->started);
	if (cls->api_version != WEFT_API_VERSION ||
	    cls->struct_size != sizeof(*cls)) {
		weft_fail(
			err, EINVAL,
			"component %s was built for interface %u: rebuild it against interface %u",
			cls->name ? cls->name : "?", cls->api_version,
			WEFT_API_VERSION);
		return NULL;
	}
	if (sim->n_comps > EVQ_MAX_ID) {
		weft_fail(err, E2BIG, "more than %u components", EVQ_MAX_ID);
		return NULL;
	}
	c = need(arena_alloc(&sim->arena, sizeof(*c)));
	c->sim = sim;
	c->cls = cls;
	c->heard = trace_wanted(sim, c);
	c->name = need(strdup(name));
	c->state = need(arena_alloc(&sim->arena, cls->state_size + 1));
	c->counters = need(arena_alloc(
		&sim->arena, (cls->n_counters + 1) * sizeof(*c->counters)));
	for (const struct weft_param *p = cls->params; p && p->name; p++)
		if (weft_param_set(c, p->name, p->def, &sub)) {
			weft_fail(err, EINVAL, "%s: bad default: %s", cls->name,
				  sub.msg);
			comp_free(c);
			return NULL;
		}
	if (sim->n_comps == sim->cap_comps) {
		sim->cap_comps = sim->cap_comps ? sim->cap_comps * 2 : 16;
		sim->comps = need(reallocarray(sim->comps, sim->cap_comps,
					       sizeof(*sim->comps)));
	}
	sim->comps[sim->n_comps++] = c;
	return c;
}

void *weft_comp_alloc(struct weft_comp *c, size_t bytes)
{
	return need(arena_alloc(&c->sim->arena, bytes));
}

int weft_comp_init(struct weft_comp *c, struct weft_err *err)
{
	struct weft_err sub = { 0 };
	int ret;

	assert(!c->inited);
	weft_rng_seed(&c->rng, c->sim->seed, c->name);
	for (const struct weft_param *p = c->cls->params; p && p->name; p++)
		if (units_check(p->type, p->range, (char *)c->state + p->offset,
				&sub))
			return weft_fail(err, EINVAL, "%s.%s: %s", c->name,
					 p->name, sub.msg);
	ret = comp_ports_init(c, err);
	if (!ret)
		ret = comp_regs_init(c, err);
	if (ret)
		return ret;
	assert(!c->n_ports || c->cls->ops.arrive || c->cls->ops.note);
	/* set before init, because fini must free a half-built state too */
	c->inited = true;
	return c->cls->ops.init ? c->cls->ops.init(c, err) : 0;
}

/* Compares names byte by byte, because only this order is independent of locale
 * and implementation. */
static int comp_cmp(const void *a, const void *b)
{
	return strcmp((*(struct weft_comp *const *)a)->name,
		      (*(struct weft_comp *const *)b)->name);
}

int weft_sim_start(struct weft_sim *sim, struct weft_err *err)
{
	int ret = 0;

	assert(!sim->started);
	qsort(sim->comps, sim->n_comps, sizeof(*sim->comps), comp_cmp);
	for (uint32_t i = 0; i < sim->n_comps; i++) {
		sim->comps[i]->id = i;
		if (i && !strcmp(sim->comps[i - 1]->name, sim->comps[i]->name))
			return weft_fail(err, EEXIST,
					 "two components are called %s",
					 sim->comps[i]->name);
		assert(sim->comps[i]->inited);
	}
	for (uint32_t i = 0; i < sim->n_comps; i++) {
		const struct weft_comp *c = sim->comps[i];

		for (uint32_t k = 0; k < c->n_ports; k++)
			if (!c->ports[k].peer && !c->ports[k].decl->optional)
				return weft_fail(
					err, EINVAL,
					"%s.%s is not connected: every port of %s needs a cable",
					c->name, c->ports[k].name,
					c->cls->name);
	}
	sim->states = need(arena_alloc(
		&sim->arena, (sim->n_comps + 1) * sizeof(*sim->states)));
	for (uint32_t i = 0; i < sim->n_comps; i++)
		sim->states[i] = sim->comps[i]->state;
	sim->started = true;
	sim->phase = 1;
	result_manifest(sim);
	for (uint32_t i = 0; i < sim->n_comps && !ret; i++)
		if (sim->comps[i]->cls->ops.start)
			ret = sim->comps[i]->cls->ops.start(sim->comps[i], err);
	return ret;
}

/* ---- events ---- */

void weft_wake(struct weft_comp *c, uint32_t tag, weft_time_t t)
{
	assert(c->sim->started && t >= c->sim->head.now && tag <= EVQ_MAX_TAG);
	evq_push(&c->sim->q, t, comp_key(c, 1, tag));
}

void weft_watch(struct weft_comp *c, uint32_t tag, weft_time_t t)
{
	struct weft_sim *sim = c->sim;

	vec_push(&sim->watch, comp_key(c, 1, tag));
	weft_wake(c, tag, t);
}

void weft_post(struct weft_comp *dst, uint32_t tag, weft_time_t t)
{
	assert(dst->sim->started && t > dst->sim->head.now &&
	       tag <= EVQ_MAX_TAG);
	evq_push(&dst->sim->q, t, comp_key(dst, 0, tag));
}

void weft_timer_arm(struct weft_comp *c, struct weft_timer *tm, uint32_t tag,
		    weft_time_t t)
{
	weft_time_t now = c->sim->head.now;
	bool there = tm->stale == t + 1 && t > now;

	if (tm->at && tm->at <= t + 1 && tm->at > now)
		return;
	if (tm->at > now)
		tm->stale = tm->at;
	tm->at = t + 1;
	if (!there)
		weft_wake(c, tag, t);
}

bool weft_timer_due(struct weft_comp *c, struct weft_timer *tm)
{
	if (tm->at != c->sim->head.now + 1)
		return false;
	tm->at = 0;
	return true;
}

/* A large network (more than LARGE bytes) does not fit into a cache, but the
 * next events are known. Therefore memory is prefetched for an event up to
 * AHEAD positions later in the queue: its component, the component's state, and
 * the memory that the component's class asks for. */
enum { AHEAD = 32, STATE_LINES = 6, LARGE = 24 << 20 };

static uint32_t sim_ahead(const struct weft_sim *sim, uint32_t n)
{
	return EVQ_KEY_ID(sim->q.cur.ev[sim->q.pos + n].key);
}

static void sim_soon(const struct weft_sim *sim, uint32_t n, uint32_t stage)
{
	const struct weft_comp *c = sim->comps[sim_ahead(sim, n)];

	if (c->cls->ops.soon)
		c->cls->ops.soon(c, stage);
}

static void look_ahead(const struct weft_sim *sim)
{
	uint32_t far = sim_ahead(sim, AHEAD), i;

	__builtin_prefetch(sim->comps[far]);
	for (i = 0; i < STATE_LINES; i++)
		__builtin_prefetch((const char *)sim->states[far] + 64 * i);
	sim_soon(sim, 22, 0);
	sim_soon(sim, 15, 1);
	sim_soon(sim, 9, 2);
	sim_soon(sim, 4, 3);
}

static inline bool next_event(struct weft_sim *sim, weft_time_t until,
			      struct evq_event *e)
{
	if (__builtin_expect(sim->gate != NULL, 0)) {
		do {
			if (evq_pop(&sim->q, sim->head.now, e))
				return true;
		} while (sim->gate(sim->gate_arg, weft_sim_idle(sim)) &&
			 !sim->stopping);
		return !sim->stopping && !weft_sim_idle(sim) &&
		       evq_pop(&sim->q, until, e);
	}
	return sim->q.pending > sim->watch.n && evq_pop(&sim->q, until, e);
}

uint64_t weft_sim_step(struct weft_sim *sim, weft_time_t until)
{
	uint64_t before = sim->events;
	bool large = sim->arena.used > LARGE;
	struct evq_event e;

	assert(sim->started);
	sim->stopping = false;
	while (!sim->stopping && next_event(sim, until, &e)) {
		struct weft_comp *c;
		uint32_t tag;

		sim->events++;
		for (uint32_t i = 0; i < sim->watch.n; i++)
			if (sim->watch.at[i] == e.key) {
				/* The event of weft_watch runs now, so it is
				 * not pending any more. */
				sim->watch.at[i] = vec_pop(&sim->watch);
				break;
			}
		if (large && sim->q.pos + AHEAD < sim->q.cur.n)
			look_ahead(sim);
		c = sim->comps[EVQ_KEY_ID(e.key)];
		tag = EVQ_KEY_TAG(e.key);
		sim->head.now = e.time;
		sim->phase = EVQ_KEY_PHASE(e.key);
		sim->current = EVQ_KEY_ID(e.key);
		if (sim->phase)
			c->cls->ops.event(c, tag);
		else if (tag < c->n_ports &&
			 c->ports[tag].kind == WEFT_PORT_LINK)
			port_drain(c, tag);
		else
			c->cls->ops.arrive(c, tag, NULL);
	}
	if (!sim->stopping && !weft_sim_idle(sim) && sim->head.now < until)
		sim->head.now = until;
	sim->phase = 1;
	return sim->events - before;
}

uint64_t weft_sim_run(struct weft_sim *sim, weft_time_t until)
{
	uint64_t n = weft_sim_step(sim, until);

	if (!sim->stopping && until != WEFT_NEVER && sim->head.now < until)
		sim->head.now = until;
	return n;
}

void weft_sim_stop(struct weft_sim *sim)
{
	sim->stopping = true;
}

void weft_sim_set_gate(struct weft_sim *sim, weft_gate_fn fn, void *arg)
{
	sim->gate = fn;
	sim->gate_arg = arg;
}

bool weft_sim_gated(const struct weft_sim *sim)
{
	return sim->gate != NULL;
}

bool weft_sim_stopped(const struct weft_sim *sim)
{
	return sim->stopping;
}

void weft_sim_sample(struct weft_sim *sim)
{
	struct weft_err unused = { 0 };

	for (uint32_t i = 0; i < sim->n_comps; i++)
		if (sim->comps[i]->cls->ops.sample)
			sim->comps[i]->cls->ops.sample(sim->comps[i], &unused);
}

weft_time_t weft_sim_now(const struct weft_sim *sim)
{
	return sim->head.now;
}

struct weft_comp *weft_sim_current(const struct weft_sim *sim)
{
	return sim->started && sim->events ? sim->comps[sim->current] : NULL;
}

uint64_t weft_sim_events(const struct weft_sim *sim)
{
	return sim->events;
}

bool weft_sim_idle(const struct weft_sim *sim)
{
	return sim->q.pending == sim->watch.n;
}

void weft_sim_set_payload(struct weft_sim *sim, bool carried)
{
	sim->carried = carried;
}

bool weft_sim_payload(const struct weft_sim *sim)
{
	return sim->carried;
}

struct weft_result *weft_sim_result(struct weft_sim *sim)
{
	return sim->result;
}

int weft_sim_finish(struct weft_sim *sim, struct weft_err *err)
{
	int ret = 0;

	/* All components finish, even after one of them has failed, because
	 * ops.finish updates the counters. */
	for (uint32_t i = 0; i < sim->n_comps; i++) {
		struct weft_comp *c = sim->comps[i];
		int r = c->cls->ops.finish ? c->cls->ops.finish(c, err) : 0;

		ret = ret ? ret : r;
	}
	result_collect(sim);
	if (!ret && weft_sim_idle(sim) && (sim->live_frames || sim->live_bufs))
		ret = weft_fail(
			err, EPROTO,
			"%llu frames and %llu payloads were lost inside the models",
			(unsigned long long)sim->live_frames,
			(unsigned long long)sim->live_bufs);
	return ret;
}
