/* SPDX-License-Identifier: Apache-2.0 */
/* The points of a sweep in worker processes. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front/run/run.h"

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
		return weft_fail(err, errno,
				 "no pipe for a worker: %s: use fewer --jobs",
				 strerror(errno));
	fflush(NULL);
	w->pid = fork();
	if (w->pid < 0) {
		close(fd[0]);
		close(fd[1]);
		w->pid = 0;
		return weft_fail(err, errno,
				 "no worker process: %s: use fewer --jobs",
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

int run_workers(struct exp *e, struct run_set *s, uint32_t jobs,
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
