/* SPDX-License-Identifier: Apache-2.0 */
/* See sense.h: a process for each parameter, several at a time. */
#include "front/repro/sense.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* A trial may take so many times what the machine as built takes. */
#define SLOW_FACTOR  10
#define SLOW_LEAST_S 2

struct worker {
	pid_t pid; /* 0 = free */
	int fd;
	size_t found, done; /* index, bytes read */
};

/* One parameter of one job, to do. */
struct task {
	size_t job;
	struct sense_param param;
	double cpu_s;
};

struct tasks {
	VEC(struct task);
};

/* The job as built runs once more, to know what it takes. */
static double job_limit(struct repro *r, size_t job)
{
	double *models = calloc(sense_rows(r, job) + 1, sizeof(*models));
	double used = 0;

	if (!models)
		abort();
	sense_try(r, job, NULL, models, 0, &used);
	free(models);
	return SLOW_LEAST_S + SLOW_FACTOR * used;
}

static int tasks_collect(struct repro *r, struct tasks *t, struct weft_err *err)
{
	int ret = 0;

	for (size_t j = 0; j < r->jobs.n && !ret; j++) {
		struct sense_params ps = { 0 };
		double limit;

		if (!sense_rows(r, j))
			continue;
		limit = job_limit(r, j);
		ret = sense_collect(r->jobs.at[j].exp, &ps, err);
		vec_foreach (&ps, struct sense_param, p)
			if (!p->varied && !ret)
				vec_push(t, (struct task){ j, *p, limit });
		vec_free(&ps);
	}
	return ret;
}

static size_t moves_bytes(const struct sense *s, size_t job)
{
	return sense_rows(s->repro, job) * sizeof(struct sense_move);
}

static void worker_main(struct sense *s, const struct task *t, int fd)
{
	size_t bytes = moves_bytes(s, t->job), done = 0;
	struct sense_move *moves = calloc(1, bytes);

	if (!moves)
		_exit(3);
	sense_measure(s->repro, t->job, &t->param, t->cpu_s, moves);
	while (done < bytes) {
		ssize_t n = write(fd, (char *)moves + done, bytes - done);

		if (n <= 0)
			_exit(3);
		done += (size_t)n;
	}
	_exit(0);
}

static int worker_start(struct sense *s, const struct task *t, struct worker *w,
			struct weft_err *err)
{
	struct sense_found f = { .job = t->job,
				 .cls = t->param.cls,
				 .param = t->param.param };
	int fd[2];

	memcpy(f.value, t->param.value, sizeof(f.value));
	f.moves = calloc(1, moves_bytes(s, t->job));
	if (!f.moves)
		abort();
	vec_push(&s->found, f);
	fflush(NULL);
	if (pipe(fd) < 0 || (w->pid = fork()) < 0)
		return weft_fail(err, errno,
				 "no worker process: %s: use fewer --jobs",
				 strerror(errno));
	if (!w->pid) {
		close(fd[0]);
		worker_main(s, t, fd[1]);
	}
	close(fd[1]);
	w->fd = fd[0];
	w->found = s->found.n - 1;
	w->done = 0;
	return 0;
}

/* Takes what has come; at the end the worker is free. */
static void worker_take(struct sense *s, struct worker *w)
{
	struct sense_found *f = &s->found.at[w->found];
	ssize_t n = read(w->fd, (char *)f->moves + w->done,
			 moves_bytes(s, f->job) - w->done);

	if (n > 0) {
		w->done += (size_t)n;
		return;
	}
	close(w->fd);
	waitpid(w->pid, NULL, 0);
	w->pid = 0;
}

static void workers_wait(struct sense *s, struct worker *w, uint32_t jobs)
{
	struct pollfd fds[64];

	for (uint32_t k = 0; k < jobs; k++)
		fds[k] = (struct pollfd){ .fd = w[k].pid ? w[k].fd : -1,
					  .events = POLLIN };
	if (poll(fds, jobs, 1000) <= 0)
		return;
	for (uint32_t k = 0; k < jobs; k++)
		if (w[k].pid && fds[k].revents)
			worker_take(s, &w[k]);
}

static bool workers_any(const struct worker *w, uint32_t jobs)
{
	for (uint32_t k = 0; k < jobs; k++)
		if (w[k].pid)
			return true;
	return false;
}

static void progress_say(const struct sense *s, size_t i, size_t n)
{
	if (!s->repro->cli->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "\r%zu of %zu parameters%s", i, n,
			i == n ? "\n" : "");
}

static int tasks_run(struct sense *s, const struct tasks *t, uint32_t jobs,
		     struct weft_err *err)
{
	struct worker w[64] = { 0 };
	size_t next = 0;
	int ret = 0;

	do {
		for (uint32_t k = 0; k < jobs && next < t->n && !ret; k++)
			if (!w[k].pid)
				ret = worker_start(s, &t->at[next++], &w[k],
						   err);
		workers_wait(s, w, jobs);
		progress_say(s, next, t->n);
	} while (workers_any(w, jobs) || (next < t->n && !ret));
	return ret;
}

int sense_run(struct sense *s, uint32_t jobs, struct weft_err *err)
{
	struct tasks t = { 0 };
	int ret = tasks_collect(s->repro, &t, err);

	if (!ret)
		ret = tasks_run(s, &t,
				jobs < 1    ? 1
				: jobs > 64 ? 64
					    : jobs,
				err);
	vec_free(&t);
	return ret;
}

void sense_free(struct sense *s)
{
	vec_foreach (&s->found, struct sense_found, f)
		free(f->moves);
	vec_free(&s->found);
}
