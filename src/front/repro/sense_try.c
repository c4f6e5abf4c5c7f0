/* SPDX-License-Identifier: Apache-2.0 */
/* One trial in a process of its own, and the trials of one parameter. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front/repro/sense.h"

size_t sense_rows(const struct repro *r, size_t job)
{
	size_t n = 0;

	vec_foreach (&r->rows, struct out_row, o)
		n += o->set == job;
	return n;
}

const struct out_row *sense_row(const struct repro *r, size_t job, size_t i)
{
	vec_foreach (&r->rows, struct out_row, o)
		if (o->set == job && i-- == 0)
			return o;
	return NULL;
}

/* ---- the process ---- */

static void limit_cpu(double seconds)
{
	rlim_t s = (rlim_t)ceil(seconds);

	if (s)
		setrlimit(RLIMIT_CPU, &(struct rlimit){ s, s });
}

/* A trial prints nothing; its rows go to fd. */
static void child_main(struct repro *r, size_t job, const char *set, int fd)
{
	struct run_opts opts = { .quiet = true, .jobs = 1 };
	size_t n = sense_rows(r, job), bytes = n * sizeof(double);
	double *models = calloc(n, sizeof(*models));
	struct run_set s = { 0 };
	struct repro_data d;
	struct exp *e = NULL;
	int quiet = open("/dev/null", O_WRONLY);

	if (!models || quiet < 0 || dup2(quiet, STDERR_FILENO) < 0 ||
	    dup2(quiet, STDOUT_FILENO) < 0)
		_exit(3);
	if (repro_job_load(r, &r->jobs.at[job], set, &e, NULL) ||
	    run_exp(e, &opts, &s, NULL))
		_exit(2);
	d = repro_data_of(&s);
	for (size_t i = 0; i < n; i++)
		models[i] = repro_read(sense_row(r, job, i)->row, &d);
	_exit(write(fd, models, bytes) == (ssize_t)bytes ? 0 : 3);
}

static bool read_all(int fd, void *buf, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = read(fd, (char *)buf + done, len - done);

		if (n <= 0)
			return false;
		done += (size_t)n;
	}
	return true;
}

static double cpu_seconds(const struct rusage *u)
{
	return (double)(u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
	       1e-6 * (double)(u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

enum sense_end sense_try(struct repro *r, size_t job, const char *set,
			 double *models, double cpu_s, double *used_s)
{
	size_t bytes = sense_rows(r, job) * sizeof(*models);
	struct rusage use;
	int fd[2], status = 0;
	bool whole;
	pid_t pid;

	fflush(NULL);
	if (pipe(fd) < 0 || (pid = fork()) < 0)
		return SENSE_NONE;
	if (!pid) {
		close(fd[0]);
		limit_cpu(cpu_s);
		child_main(r, job, set, fd[1]);
	}
	close(fd[1]);
	whole = read_all(fd[0], models, bytes);
	close(fd[0]);
	wait4(pid, &status, 0, &use);
	if (used_s)
		*used_s = cpu_seconds(&use);
	if (whole && WIFEXITED(status) && !WEXITSTATUS(status))
		return SENSE_RAN;
	return WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL ||
				       WTERMSIG(status) == SIGXCPU)
		       ? SENSE_SLOW
		       : SENSE_REFUSED;
}

/* ---- one parameter ---- */

/* A value that was tried. */
struct trial {
	char value[SENSE_TEXT];
	enum sense_end end;
	double *models;
};

struct trials {
	struct repro *repro;
	size_t job, n_rows;
	const struct sense_param *param;
	double cpu_s;
	struct {
		VEC(struct trial);
	} list;
};

/* Index of the trial with this value; it runs unless it has. */
static size_t trial_of(struct trials *t, const char *value)
{
	struct trial x = { .end = SENSE_NONE };
	char set[160];

	for (size_t i = 0; i < t->list.n; i++)
		if (!strcmp(t->list.at[i].value, value))
			return i;
	snprintf(x.value, sizeof(x.value), "%s", value);
	snprintf(set, sizeof(set), "%s.%s=%s", t->param->cls->name,
		 t->param->param->name, value);
	x.models = calloc(t->n_rows + 1, sizeof(*x.models));
	if (!x.models)
		abort();
	x.end = sense_try(t->repro, t->job, set, x.models, t->cpu_s, NULL);
	vec_push(&t->list, x);
	return t->list.n - 1;
}

static bool passes(const struct trials *t, size_t row, double model)
{
	const struct repro_row *w = sense_row(t->repro, t->job, row)->row;

	return isfinite(model) && repro_judge(w, model).pass;
}

/* The row passes at scale 1 and fails at `bad`: the last value that passes. */
static void search_last(struct trials *t, size_t row, uint32_t bad,
			char last[SENSE_TEXT])
{
	uint32_t good = SENSE_ONE;

	snprintf(last, SENSE_TEXT, "%s", t->param->value);
	while (good + 1 < bad || bad + 1 < good) {
		uint32_t mid = (good + bad) / 2;
		char value[SENSE_TEXT];
		size_t i;

		if (!sense_scaled(t->param, mid, value)) {
			/* Rounds to the value as built, or is refused. */
			good = mid;
			continue;
		}
		i = trial_of(t, value);
		if (t->list.at[i].end == SENSE_RAN &&
		    passes(t, row, t->list.at[i].models[row])) {
			good = mid;
			memcpy(last, value, SENSE_TEXT);
		} else {
			bad = mid;
		}
	}
}

/* The widest step to one side at which the machine still runs: a half, a
 * quarter, an eighth of the way. */
static uint32_t widest(struct trials *t, uint32_t scale, size_t *trial_p)
{
	uint32_t here = scale;
	char value[SENSE_TEXT];

	for (int i = 0; i < 3; i++) {
		if (sense_scaled(t->param, here, value)) {
			*trial_p = trial_of(t, value);
			if (t->list.at[*trial_p].end == SENSE_RAN ||
			    !sense_is_number(t->param))
				return here;
		}
		here = (here + SENSE_ONE) / 2;
	}
	return 0;
}

static void side_measure(struct trials *t, uint32_t scale, bool low,
			 struct sense_move *moves)
{
	size_t tried = SIZE_MAX;
	uint32_t here = widest(t, scale, &tried);

	for (size_t i = 0; i < t->n_rows && tried != SIZE_MAX; i++) {
		struct sense_side *s = low ? &moves[i].low : &moves[i].high;
		const struct trial *x = &t->list.at[tried];
		double built = sense_row(t->repro, t->job, i)->verdict.model;

		s->end = x->end;
		memcpy(s->value, x->value, SENSE_TEXT);
		s->model = x->end == SENSE_RAN ? x->models[i] : NAN;
		s->pass = passes(t, i, s->model);
		if (here && x->end == SENSE_RAN && !s->pass &&
		    sense_is_number(t->param) && passes(t, i, built))
			search_last(t, i, here, s->last);
	}
}

void sense_measure(struct repro *r, size_t job, const struct sense_param *p,
		   double cpu_s, struct sense_move *moves)
{
	struct trials t = { .repro = r,
			    .job = job,
			    .n_rows = sense_rows(r, job),
			    .param = p,
			    .cpu_s = cpu_s };

	side_measure(&t, SENSE_HALF, true, moves);
	side_measure(&t, SENSE_DOUBLE, false, moves);
	vec_foreach (&t.list, struct trial, x)
		free(x->models);
	vec_free(&t.list);
}
