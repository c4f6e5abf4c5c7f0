/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one case to its end, and the points of a sweep one after the other. */
#include "front/run/run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "front/trace/message_sampler.h"
#include "host/prog.h"

/* ---- one case ---- */

/* Latest end of a run. It is so far below the largest 64-bit time that a time
 * plus a delay never overflows. */
#define RUN_END (9000000 * WEFT_MS)

/* Observers of the run, each of which may be NULL. They act at intervals of
 * simulated time, or on events. */
struct lookers {
	struct sampler *smp;
	struct viewer *view;
	struct keeper *keep;
	struct watchdog dog;
};

/* Runs like weft_sim_run, but stops for observers. Results are equal, because
 * no event is added. */
static void case_look(struct exp_case *c, struct lookers *l, weft_time_t until)
{
	while (!weft_sim_idle(c->sim)) {
		weft_time_t s = sampler_due(l->smp), v = viewer_due(l->view);
		weft_time_t t = s < v ? s : v;

		t = t < l->dog.due ? t : l->dog.due;
		if (t == WEFT_NEVER || t > until)
			break;
		weft_sim_step(c->sim, t);
		if (weft_sim_stopped(c->sim))
			return;
		if (weft_sim_idle(c->sim))
			break;
		t = weft_sim_now(c->sim);
		if (s == t)
			sampler_tick(l->smp);
		if (v == t)
			viewer_tick(l->view);
		if (l->dog.due == t)
			c->hung = watchdog_barks(&l->dog, c->sim);
		if (c->hung)
			return;
	}
	if (weft_sim_idle(c->sim))
		viewer_rest(l->view);
	/* Without a limit the run stops at its last event. */
	if (until < RUN_END)
		weft_sim_run(c->sim, until);
	else
		weft_sim_step(c->sim, until);
}

/* Runs the case up to `until`. Returns false when a signal ended the run
 * early. */
static bool case_advance(struct exp_case *c, struct lookers *l,
			 struct progress *p, weft_time_t until)
{
	bool over;

	do {
		case_look(c, l, until);
		over = c->hung ||
		       (weft_sim_idle(c->sim) && !weft_sim_gated(c->sim)) ||
		       weft_sim_now(c->sim) >= until ||
		       (c->n_progs && !weft_progs_running(c->sim));
		if (signals_caught())
			return over;
		if (!signals_ticked())
			break;
		progress_sim(p, c->sim, c->until);
		if (p->watch)
			p->watch->tick(p->watch, c->point, c->sim);
	} while (!over);
	return true;
}

static void case_run(struct exp_case *c, struct lookers *l, struct progress *p)
{
	bool watched;

	signals_watch(c->sim, p->on || p->watch);
	crash_watch(c->sim);
	watched = c->watchdog && c->n_progs && !weft_sim_gated(c->sim);
	l->dog = (struct watchdog){ .period = c->watchdog,
				    .due = watched ? c->watchdog : WEFT_NEVER };
	c->partial =
		!case_advance(c, l, p, c->until < RUN_END ? c->until : RUN_END);
	if (weft_sim_now(c->sim) >= RUN_END && c->until > RUN_END)
		result_fail(weft_sim_result(c->sim),
			    "simulated time ends at 9000 s: give run.until");
	if (c->drain && !c->partial && !c->hung && !weft_sim_idle(c->sim)) {
		l->dog.due = WEFT_NEVER;
		c->n_progs = 0; /* the programs have ended */
		c->partial =
			!case_advance(c, l, p, weft_sim_now(c->sim) + c->drain);
	}
	crash_watch(NULL);
	signals_watch(NULL, false);
}

static struct weft_result *case_finish(struct exp_case *c,
				       const struct lookers *l)
{
	struct weft_result *r = weft_sim_result(c->sim);
	size_t failures = r->n_failures;
	struct weft_err err = { 0 };

	if (l->view)
		viewer_result(l->view, r);
	if (l->keep)
		keeper_result(l->keep, r);
	if (weft_sim_finish(c->sim, &err))
		result_fail(r, err.msg);
	while (c->partial && r->n_failures > failures)
		/* drops the failures that report waiting programs, because the
		 * run was stopped early */
		free(r->failures[--r->n_failures]);
	result_counter_set(r, "sim.time", "fs", weft_sim_now(c->sim));
	exp_case_judge(c, r);
	if (l->smp)
		sampler_series(l->smp, r);
	return r;
}

void *case_bytes(struct exp_case *c, struct progress *show, size_t *len_p,
		 struct weft_err *err)
{
	const struct doc_node *p =
		c->record ? doc_get(c->record, "parts") : NULL;
	struct keep_part part[RECORD_PARTS];
	struct lookers l = { 0 };
	void *buf = NULL;
	size_t n = p ? p->n : 0;

	for (size_t i = 0; i < n; i++)
		part[i] = (struct keep_part){ p->items[i].key,
					      p->items[i].val->text };
	if (!sampler_open(c, &l.smp, err)) {
		l.view = viewer_open(c);
		/* `weft explain` and record.parts need the messages. */
		if (n || c->exp->view)
			l.keep = keeper_open(c->sim, part, n);
		case_run(c, &l, show);
		buf = result_pack(case_finish(c, &l), len_p);
		viewer_free(l.view);
		sampler_free(l.smp);
	}
	if (c->exp->on_close)
		c->exp->on_close(c->exp->hook_arg);
	exp_case_close(c);
	keeper_free(l.keep);
	return buf;
}

/* ---- the set ---- */

void run_set_free(struct run_set *s)
{
	for (size_t i = 0; i < s->n_points; i++) {
		free(s->points[i].point);
		result_free(s->points[i].result);
	}
	for (size_t i = 0; s->show && s->show[i]; i++)
		free(s->show[i]);
	free(s->show);
	free(s->points);
	free(s->name);
	free(s->about);
	free(s->label);
	memset(s, 0, sizeof(*s));
}

size_t run_set_failures(const struct run_set *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n_points; i++)
		n += s->points[i].result->n_failures +
		     s->points[i].result->failures_dropped;
	return n;
}

static void set_names(struct run_set *s, const struct exp_case *c, size_t i)
{
	if (!s->name) {
		s->name = strdup(c->name);
		s->about = strdup(c->about);
		s->label = strdup(c->exp->label);
		s->show = record_patterns(c->show);
	}
	if (!s->points[i].point)
		s->points[i].point = strdup(c->point);
}

int run_check(struct exp *e, struct run_set *s, struct weft_err *err)
{
	int ret = 0;

	for (size_t i = 0; i < e->n_points && !ret; i++) {
		struct sampler *smp;
		struct exp_case c;

		if (exp_case_open(e, i, &c, err))
			return -EINVAL;
		ret = sampler_open(&c, &smp, err);
		sampler_free(smp);
		if (!ret && s)
			set_names(s, &c, i);
		exp_case_close(&c);
	}
	return ret ? -EINVAL : 0;
}

int set_store(struct run_set *s, size_t i, const void *buf, size_t len,
	      struct weft_err *err)
{
	s->points[i].result = result_unpack(buf, len);
	if (s->points[i].result && s->watch)
		s->watch->point(s->watch, &s->points[i]);
	if (s->points[i].result)
		return 0;
	return weft_fail(
		err, EIO,
		"%s %s: the worker process ended early: without --jobs it shows why",
		s->name, s->points[i].point);
}

static int run_point(struct exp *e, struct run_set *s, size_t i,
		     struct progress *p, struct weft_err *err)
{
	struct exp_case c;
	size_t len;
	void *buf;
	int ret;

	if (exp_case_open(e, i, &c, err))
		return -EINVAL;
	set_names(s, &c, i);
	p->name = s->name;
	buf = case_bytes(&c, p, &len, err);
	if (!buf)
		return -EINVAL;
	ret = set_store(s, i, buf, len, err);
	free(buf);
	progress_points(p, i + 1);
	return ret;
}

/* ---- a search ---- */

static double point_value(const struct run_point *p)
{
	const char *eq = strrchr(p->point, '=');

	return eq ? strtod(eq + 1, NULL) : 0;
}

static int point_cmp(const void *a, const void *b)
{
	const struct run_point *p = a, *q = b;
	double x = point_value(p), y = point_value(q);

	if (p->search != q->search)
		return p->search < q->search ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* Runs the points of searches one after the other, because each point depends
 * on the results of earlier ones. Sorts the points by search and value at the
 * end. */
static int run_search(struct exp *e, struct run_set *s, struct progress *p,
		      struct weft_err *err)
{
	struct doc_node *val;
	const char *path;
	int ret;

	s->curves = e->n_points;
	s->n_points = 0;
	do {
		s->points = reallocarray(s->points, e->n_points,
					 sizeof(*s->points));
		if (!s->points)
			abort();
		s->points[s->n_points] = (struct run_point){
			.search = sweep_auto_point(e, s->n_points, &path, &val)
		};
		p->total = e->n_points;
		ret = run_point(e, s, s->n_points++, p, err);
	} while (!ret && !signals_caught() &&
		 sweep_auto_next(e, s->points[s->n_points - 1].result));
	s->n_wanted = s->n_points;
	if (!ret)
		qsort(s->points, s->n_points, sizeof(*s->points), point_cmp);
	return ret;
}

/* ---- all points ---- */

/* Keeps only the points that had begun when the signal arrived. */
static int set_signal(struct run_set *s, struct weft_err *err)
{
	bool cut = false;
	size_t n = 0;

	for (size_t i = 0; i < s->n_points; i++) {
		struct run_point *p = &s->points[i];

		cut |= !p->result || result_param_get(p->result, "partial");
		if (p->result)
			s->points[n++] = *p;
		else
			free(p->point);
	}
	s->n_points = n;
	s->signal = cut ? signals_caught() : 0;
	if (n)
		return 0;
	return weft_fail(err, EINTR, "%s: ended before it began", s->name);
}

int run_exp(struct exp *e, const struct run_opts *opts, struct run_set *s,
	    struct weft_err *err)
{
	struct progress p;
	int ret = 0;

	*s = (struct run_set){ .n_points = e->n_points,
			       .n_wanted = e->n_points };
	s->points = calloc(e->n_points, sizeof(*s->points));
	if (!s->points)
		abort();
	/* Every point is built before the first one runs, so that mistakes are
	 * reported at once. A search names its points when it runs them. */
	if (e->n_points > 1)
		ret = run_check(e, e->search ? NULL : s, err);
	progress_start(&p, opts, e->label, e->n_points);
	p.watch = s->watch = opts->watch;
	if (opts->partial)
		signals_catch(true);
	if (!ret && e->search)
		ret = run_search(e, s, &p, err);
	else if (!ret && opts->jobs > 1 && e->n_points > 1)
		ret = run_workers(e, s, opts->jobs, &p, err);
	else
		for (size_t i = 0; i < s->n_points && !ret && !signals_caught();
		     i++)
			ret = run_point(e, s, i, &p, err) ? -EINVAL : 0;
	progress_end(&p);
	if (!ret)
		ret = set_signal(s, err);
	if (opts->partial)
		signals_catch(false);
	if (ret)
		run_set_free(s);
	return ret;
}
