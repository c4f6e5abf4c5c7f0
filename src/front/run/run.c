/* SPDX-License-Identifier: Apache-2.0 */
/* One case to its end; the points of a sweep one after the other or in worker
 * processes. */
#include "front/run/run.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/prog.h"

/* ---- one case ---- */

static bool case_over(const struct exp_case *c)
{
	return weft_sim_idle(c->sim) || weft_sim_now(c->sim) >= c->until ||
	       (c->n_progs && !weft_progs_running(c->sim));
}

static void case_run(struct exp_case *c, struct progress *p)
{
	p->until = c->until;
	progress_watch(p, c->sim);
	do
		weft_sim_run(c->sim, c->until);
	while (progress_sim(p) && !case_over(c));
	progress_watch(p, NULL);
	if (c->drain && !weft_sim_idle(c->sim))
		weft_sim_run(c->sim, weft_sim_now(c->sim) + c->drain);
}

static struct weft_result *case_finish(struct exp_case *c)
{
	struct weft_result *r = weft_sim_result(c->sim);
	struct weft_err err = { 0 };

	if (weft_sim_finish(c->sim, &err))
		result_fail(r, err.msg);
	result_counter_set(r, "sim.time", "fs", weft_sim_now(c->sim));
	exp_case_judge(c, r);
	return r;
}

/* Runs an open case, closes it, and gives its result as bytes. */
static void *case_bytes(struct exp_case *c, struct progress *p, size_t *len_p)
{
	void *buf;

	case_run(c, p);
	buf = result_pack(case_finish(c), len_p);
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
	}
	if (!s->points[i].point)
		s->points[i].point = strdup(c->point);
}

int run_check(struct exp *e, struct weft_err *err)
{
	for (size_t i = 0; i < e->n_points; i++) {
		struct exp_case c;

		if (exp_case_open(e, i, &c, err))
			return -EINVAL;
		exp_case_close(&c);
	}
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
	for (size_t i = 0; i < s->n_points; i++) {
		struct exp_case c;
		size_t len;
		void *buf;
		int ret;

		if (exp_case_open(e, i, &c, err))
			return -EINVAL;
		set_names(s, &c, i);
		p->name = s->name;
		buf = case_bytes(&c, p, &len);
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

	if (exp_case_open(e, i, &c, &err))
		_exit(2);
	buf = case_bytes(&c, &off, &len);
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

static int workers_loop(struct exp *e, struct run_set *s, struct worker *w,
			struct pollfd *pfd, uint32_t jobs, struct progress *p,
			struct weft_err *err)
{
	size_t next = 0, done = 0;

	while (done < s->n_points) {
		for (uint32_t k = 0; k < jobs && next < s->n_points; k++)
			if (!w[k].pid &&
			    worker_start(e, next++, &w[k], &pfd[k], err))
				return -1;
		poll(pfd, jobs, 200);
		for (uint32_t k = 0; k < jobs; k++) {
			if (!w[k].pid || !pfd[k].revents ||
			    !worker_read(&w[k], pfd[k].fd))
				continue;
			if (worker_reap(s, &w[k], &pfd[k], err))
				return -1;
			done++;
		}
		progress_points(p, done);
	}
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
	for (size_t i = 0; i < e->n_points; i++) {
		struct exp_case c;

		if (exp_case_open(e, i, &c, err))
			return -EINVAL;
		set_names(s, &c, i);
		exp_case_close(&c);
	}
	return 0;
}

int run_exp(struct exp *e, const struct run_opts *opts, struct run_set *s,
	    struct weft_err *err)
{
	struct progress p;
	int ret = 0;

	*s = (struct run_set){ .n_points = e->n_points };
	s->points = calloc(e->n_points, sizeof(*s->points));
	if (!s->points)
		abort();
	if (e->n_points > 1)
		ret = run_names(e, s, err);
	progress_start(&p, opts->quiet, e->label, e->n_points);
	if (!ret && opts->jobs > 1 && e->n_points > 1)
		ret = run_workers(e, s, opts->jobs, &p, err);
	else if (!ret)
		ret = run_here(e, s, &p, err);
	progress_end(&p);
	if (ret)
		run_set_free(s);
	return ret;
}
