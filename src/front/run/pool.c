/* SPDX-License-Identifier: Apache-2.0 */
/* Runs tasks in worker processes, see pool.h. */
#include "front/run/pool.h"

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
	pid_t pid; /* process of the worker; 0 = none */
	bool told; /* the worker was asked to end */
	size_t task;
	struct {
		VEC(char);
	} buf;
};

/* The workers of a pool, and the pipes that they write to. */
struct workers {
	const struct pool *pool;
	struct worker *at;
	struct pollfd *fds;
	size_t next, done; /* next task to start; number of finished tasks */
};

bool pool_write(int fd, const void *buf, size_t len)
{
	const char *at = buf;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static int worker_start(struct workers *ws, uint32_t k, struct weft_err *err)
{
	struct worker *w = &ws->at[k];
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
		ws->pool->work(ws->pool->arg, ws->next, fd[1]);
		_exit(0);
	}
	close(fd[1]);
	w->task = ws->next++;
	w->told = false;
	vec_clear(&w->buf);
	ws->fds[k] = (struct pollfd){ .fd = fd[0], .events = POLLIN };
	return 0;
}

static void worker_reap(struct worker *w, struct pollfd *pfd)
{
	close(pfd->fd);
	pfd->fd = -1;
	waitpid(w->pid, NULL, 0);
	w->pid = 0;
}

/* Reads the bytes that workers have written. Passes the bytes of each worker
 * that has ended to pool.take. Returns 0, or a negative errno with a
 * message. */
static int workers_take(struct workers *ws, struct weft_err *err)
{
	const struct pool *p = ws->pool;

	for (uint32_t k = 0; k < p->jobs; k++) {
		struct worker *w = &ws->at[k];
		char chunk[65536];
		ssize_t n;

		if (!w->pid || !ws->fds[k].revents)
			continue;
		n = read(ws->fds[k].fd, chunk, sizeof(chunk));
		for (ssize_t i = 0; i < n; i++)
			vec_push(&w->buf, chunk[i]);
		if (n > 0)
			continue;
		worker_reap(w, &ws->fds[k]);
		if (p->take(p->arg, w->task, w->buf.at, w->buf.n, err))
			return -1;
		ws->done++;
	}
	return 0;
}

static int workers_loop(struct workers *ws, struct weft_err *err)
{
	const struct pool *p = ws->pool;
	bool busy;

	do {
		for (uint32_t k = 0; k < p->jobs && ws->next < p->n; k++)
			if (!ws->at[k].pid && !signals_caught() &&
			    worker_start(ws, k, err))
				return -1;
		/* Asks workers to end. Each worker still sends the partial
		 * result of its task. */
		for (uint32_t k = 0; k < p->jobs && signals_caught(); k++)
			if (ws->at[k].pid && !ws->at[k].told) {
				kill(ws->at[k].pid, SIGTERM);
				ws->at[k].told = true;
			}
		if (poll(ws->fds, p->jobs, 200) > 0 && workers_take(ws, err))
			return -1;
		p->show(p->arg, ws->done);
		busy = false;
		for (uint32_t k = 0; k < p->jobs; k++)
			busy |= ws->at[k].pid != 0;
	} while (busy || (ws->next < p->n && !signals_caught()));
	return 0;
}

int pool_run(const struct pool *p, struct weft_err *err)
{
	struct workers ws = { .pool = p };
	int ret;

	ws.at = calloc(p->jobs, sizeof(*ws.at));
	ws.fds = calloc(p->jobs, sizeof(*ws.fds));
	if (!ws.at || !ws.fds)
		abort();
	for (uint32_t k = 0; k < p->jobs; k++)
		ws.fds[k].fd = -1;
	ret = workers_loop(&ws, err);
	for (uint32_t k = 0; k < p->jobs; k++) {
		if (ws.at[k].pid)
			worker_reap(&ws.at[k], &ws.fds[k]);
		vec_free(&ws.at[k].buf);
	}
	free(ws.at);
	free(ws.fds);
	return ret;
}
