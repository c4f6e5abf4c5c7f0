/* SPDX-License-Identifier: Apache-2.0 */
/* One case to its end; the points of a sweep one after the other or in worker
 * processes. */
#include "front/run/run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/prog.h"

/* ---- one case ---- */

static bool case_over(const struct exp_case *c, weft_time_t until)
{
	return weft_sim_idle(c->sim) || weft_sim_now(c->sim) >= until ||
	       (c->n_progs && !weft_progs_running(c->sim));
}

static void case_advance(struct exp_case *c, struct sampler *smp,
			 struct progress *p, weft_time_t until)
{
	do {
		if (smp)
			sampler_run(smp, until);
		else
			weft_sim_run(c->sim, until);
		if (!signals_ticked() || signals_caught())
			return;
		progress_sim(p, c->sim, c->until);
	} while (!case_over(c, until));
}

static void case_run(struct exp_case *c, struct sampler *smp,
		     struct progress *p)
{
	signals_watch(c->sim, p->on);
	case_advance(c, smp, p, c->until);
	if (c->drain && !signals_caught() && !weft_sim_idle(c->sim)) {
		c->n_progs = 0; /* they have ended */
		case_advance(c, smp, p, weft_sim_now(c->sim) + c->drain);
	}
	signals_watch(NULL, false);
}

/* In the middle of things programs wait: no failure. */
static void case_partial(struct exp_case *c, size_t failures)
{
	struct weft_result *r = weft_sim_result(c->sim);

	while (r->n_failures > failures)
		free(r->failures[--r->n_failures]);
	c->partial = true;
}

static struct weft_result *case_finish(struct exp_case *c, struct sampler *smp)
{
	struct weft_result *r = weft_sim_result(c->sim);
	size_t failures = r->n_failures;
	struct weft_err err = { 0 };

	if (weft_sim_finish(c->sim, &err))
		result_fail(r, err.msg);
	if (signals_caught())
		case_partial(c, failures);
	result_counter_set(r, "sim.time", "fs", weft_sim_now(c->sim));
	exp_case_judge(c, r);
	if (smp)
		sampler_series(smp, r);
	return r;
}

/* Runs an open case, closes it, and gives its result as bytes, or NULL. */
static void *case_bytes(struct exp_case *c, struct progress *p, size_t *len_p,
			struct weft_err *err)
{
	struct sampler *smp;
	void *buf = NULL;

	if (!sampler_open(c, &smp, err)) {
		case_run(c, smp, p);
		buf = result_pack(case_finish(c, smp), len_p);
		sampler_free(smp);
	}
	exp_case_close(c);
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

/* Builds point i and everything it needs, and throws it away. */
static int case_check(struct exp *e, size_t i, struct run_set *s,
		      struct weft_err *err)
{
	struct sampler *smp;
	struct exp_case c;
	int ret;

	if (exp_case_open(e, i, &c, err))
		return -EINVAL;
	ret = sampler_open(&c, &smp, err);
	sampler_free(smp);
	if (!ret && s)
		set_names(s, &c, i);
	exp_case_close(&c);
	return ret;
}

int run_check(struct exp *e, struct weft_err *err)
{
	for (size_t i = 0; i < e->n_points; i++)
		if (case_check(e, i, NULL, err))
			return -EINVAL;
	return 0;
}

static int set_store(struct run_set *s, size_t i, const void *buf, size_t len,
		     struct weft_err *err)
{
	s->points[i].result = result_unpack(buf, len);
	if (s->points[i].result)
		return 0;
	return weft_fail(err, EIO, "%s %s: the worker process ended early",
			 s->name, s->points[i].point);
}

static int run_here(struct exp *e, struct run_set *s, struct progress *p,
		    struct weft_err *err)
{
	for (size_t i = 0; i < s->n_points && !signals_caught(); i++) {
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
		if (ret)
			return ret;
		progress_points(p, i + 1);
	}
	return 0;
}

/* ---- workers ---- */

struct worker {
	pid_t pid; /* 0 = free */
	bool told; /* to end */
	size_t point;
	struct {
		VEC(char);
	} buf;
};

static void worker_main(struct exp *e, size_t i, int fd)
{
	struct progress off = { .on = false };
	struct weft_err err = { 0 };
	struct exp_case c;
	size_t len, done = 0;
	char *buf;

	signals_worker();
	if (exp_case_open(e, i, &c, &err))
		_exit(2);
	buf = case_bytes(&c, &off, &len, &err);
	if (!buf)
		_exit(2);
	while (done < len) {
		ssize_t n = write(fd, buf + done, len - done);

		if (n <= 0)
			_exit(3);
		done += (size_t)n;
	}
	_exit(0);
}

static int worker_start(struct exp *e, size_t i, struct worker *w,
			struct pollfd *pfd, struct weft_err *err)
{
	int fd[2];

	if (pipe(fd) < 0)
		return weft_fail(err, errno, "no pipe for a worker: %s",
				 strerror(errno));
	fflush(NULL);
	w->pid = fork();
	if (w->pid < 0) {
		close(fd[0]);
		close(fd[1]);
		w->pid = 0;
		return weft_fail(err, errno, "no worker process: %s",
				 strerror(errno));
	}
	if (!w->pid) {
		close(fd[0]);
		worker_main(e, i, fd[1]);
	}
	close(fd[1]);
	w->point = i;
	w->told = false;
	vec_clear(&w->buf);
	*pfd = (struct pollfd){ .fd = fd[0], .events = POLLIN };
	return 0;
}

/* Takes what the worker has written; true at its end. */
static bool worker_read(struct worker *w, int fd)
{
	char chunk[65536];
	ssize_t n = read(fd, chunk, sizeof(chunk));

	for (ssize_t i = 0; i < n; i++)
		vec_push(&w->buf, chunk[i]);
	return n <= 0;
}

static int worker_reap(struct run_set *s, struct worker *w, struct pollfd *pfd,
		       struct weft_err *err)
{
	close(pfd->fd);
	pfd->fd = -1;
	waitpid(w->pid, NULL, 0);
	w->pid = 0;
	return set_store(s, w->point, w->buf.at, w->buf.n, err);
}

/* A worker that has been told to end still says how far it came. */
static void workers_end(struct worker *w, uint32_t jobs)
{
	for (uint32_t k = 0; k < jobs; k++)
		if (w[k].pid && !w[k].told) {
			kill(w[k].pid, SIGTERM);
			w[k].told = true;
		}
}

static bool workers_any(const struct worker *w, uint32_t jobs)
{
	for (uint32_t k = 0; k < jobs; k++)
		if (w[k].pid)
			return true;
	return false;
}

/* Takes what has come from them. */
static int workers_take(struct run_set *s, struct worker *w, struct pollfd *pfd,
			uint32_t jobs, size_t *done_p, struct weft_err *err)
{
	for (uint32_t k = 0; k < jobs; k++) {
		if (!w[k].pid || !pfd[k].revents ||
		    !worker_read(&w[k], pfd[k].fd))
			continue;
		if (worker_reap(s, &w[k], &pfd[k], err))
			return -1;
		++*done_p;
	}
	return 0;
}

static int workers_loop(struct exp *e, struct run_set *s, struct worker *w,
			struct pollfd *pfd, uint32_t jobs, struct progress *p,
			struct weft_err *err)
{
	size_t next = 0, done = 0;

	do {
		for (uint32_t k = 0; k < jobs && next < s->n_points; k++)
			if (!w[k].pid && !signals_caught() &&
			    worker_start(e, next++, &w[k], &pfd[k], err))
				return -1;
		if (signals_caught())
			workers_end(w, jobs);
		if (poll(pfd, jobs, 200) > 0 &&
		    workers_take(s, w, pfd, jobs, &done, err))
			return -1;
		progress_points(p, done);
	} while (workers_any(w, jobs) ||
		 (next < s->n_points && !signals_caught()));
	return 0;
}

static int run_workers(struct exp *e, struct run_set *s, uint32_t jobs,
		       struct progress *p, struct weft_err *err)
{
	struct worker *w = calloc(jobs, sizeof(*w));
	struct pollfd *pfd = calloc(jobs, sizeof(*pfd));
	int ret;

	if (!w || !pfd)
		abort();
	for (uint32_t k = 0; k < jobs; k++)
		pfd[k].fd = -1;
	p->name = s->name;
	ret = workers_loop(e, s, w, pfd, jobs, p, err);
	for (uint32_t k = 0; k < jobs; k++) {
		if (pfd[k].fd >= 0)
			close(pfd[k].fd);
		if (w[k].pid)
			waitpid(w[k].pid, NULL, 0);
		vec_free(&w[k].buf);
	}
	free(w);
	free(pfd);
	return ret;
}

/* Every point is built once before the first one runs. */
static int run_names(struct exp *e, struct run_set *s, struct weft_err *err)
{
	for (size_t i = 0; i < e->n_points; i++)
		if (case_check(e, i, s, err))
			return -EINVAL;
	return 0;
}

/* What a signal left: the points that were begun. */
static int set_signal(struct run_set *s, struct weft_err *err)
{
	size_t n = 0;

	s->signal = signals_caught();
	for (size_t i = 0; i < s->n_points; i++) {
		if (s->points[i].result)
			s->points[n++] = s->points[i];
		else
			free(s->points[i].point);
	}
	s->n_points = n;
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
	if (e->n_points > 1)
		ret = run_names(e, s, err);
	progress_start(&p, opts->quiet, e->label, e->n_points);
	if (opts->partial)
		signals_catch(true);
	if (!ret && opts->jobs > 1 && e->n_points > 1)
		ret = run_workers(e, s, opts->jobs, &p, err);
	else if (!ret)
		ret = run_here(e, s, &p, err);
	progress_end(&p);
	if (!ret)
		ret = set_signal(s, err);
	if (opts->partial)
		signals_catch(false);
	if (ret)
		run_set_free(s);
	return ret;
}
