/* SPDX-License-Identifier: Apache-2.0 */
/* Runs one trial in a new process, and the trials of one parameter. */
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front/repro/sense.h"
#include "front/run/pool.h"

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

/* Runs point i with the setting. Returns NULL if the point keeps its result,
 * because no row reads the point or because no component of the point has the
 * parameter. Ends the process if a program fails, because the numbers of half a
 * run would be wrong. */
static const struct weft_result *point_run(const struct repro *r, size_t job,
					   struct exp *e, size_t i,
					   const struct sense_param *p)
{
	struct progress off = { .on = false };
	struct weft_result *res = NULL;
	bool there = !p || !p->cls;
	struct exp_case c;
	size_t len;
	void *buf;

	if (!r->data[job].read[i])
		return NULL;
	if (exp_case_open(e, i, &c, NULL))
		_exit(2);
	for (uint32_t k = 0; !there && k < weft_sim_count(c.sim); k++)
		there = weft_sim_at(c.sim, k)->cls == p->cls;
	if (!there) {
		exp_case_close(&c);
		return NULL;
	}
	c.expect = NULL; /* expectations hold for the unchanged machine only */
	buf = case_bytes(&c, &off, &len, NULL);
	if (buf)
		res = result_unpack(buf, len);
	if (!res || res->n_failures)
		_exit(2);
	return res;
}

/* Runs a trial in the child. The child prints nothing and writes its rows to
 * fd. */
static void child_main(struct repro *r, size_t job, const struct sense_param *p,
		       const char *set, int fd)
{
	struct repro_data *d = &r->data[job];
	size_t n = sense_rows(r, job), bytes = n * sizeof(double);
	double *models = calloc(n, sizeof(*models));
	struct exp *e = NULL;
	int quiet = open("/dev/null", O_WRONLY);

	if (!models || quiet < 0 || dup2(quiet, STDERR_FILENO) < 0 ||
	    dup2(quiet, STDOUT_FILENO) < 0)
		_exit(3);
	if (repro_job_load(r, &r->jobs.at[job], set, &e, NULL) || e->search ||
	    e->n_points != d->n_points)
		_exit(2);
	for (size_t i = 0; i < e->n_points; i++) {
		const struct weft_result *res = point_run(r, job, e, i, p);

		if (res)
			d->points[i].result = res;
	}
	for (size_t i = 0; i < n; i++)
		models[i] = repro_read(sense_row(r, job, i)->row, d);
	_exit(pool_write(fd, models, bytes) ? 0 : 3);
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

enum sense_end sense_try(struct repro *r, size_t job,
			 const struct sense_param *p, const char *value,
			 double *models, double cpu_s, double *used_s)
{
	size_t bytes = sense_rows(r, job) * sizeof(*models);
	struct rusage use;
	int fd[2], status = 0;
	char set[160];
	bool whole;
	pid_t pid;

	if (p)
		snprintf(set, sizeof(set), "%s.%s=%s", p->of, p->param->name,
			 value);
	fflush(NULL);
	if (pipe(fd) < 0 || (pid = fork()) < 0)
		return SENSE_NONE;
	if (!pid) {
		close(fd[0]);
		if (cpu_s > 0)
			setrlimit(RLIMIT_CPU,
				  &(struct rlimit){ (rlim_t)ceil(cpu_s),
						    (rlim_t)ceil(cpu_s) });
		child_main(r, job, p, p ? set : NULL, fd[1]);
	}
	close(fd[1]);
	whole = read_all(fd[0], models, bytes);
	close(fd[0]);
	wait4(pid, &status, 0, &use);
	if (used_s)
		*used_s = (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
			  1e-6 * (double)(use.ru_utime.tv_usec +
					  use.ru_stime.tv_usec);
	if (whole && WIFEXITED(status) && !WEXITSTATUS(status))
		return SENSE_RAN;
	return WIFSIGNALED(status) && (WTERMSIG(status) == SIGKILL ||
				       WTERMSIG(status) == SIGXCPU)
		       ? SENSE_SLOW
		       : SENSE_REFUSED;
}

/* ---- trials of one parameter ---- */

/* A value, and the result of its trial. */
struct trial {
	char value[SENSE_TEXT];
	enum sense_end end;
	double *models;
};

struct trials {
	struct repro *repro;
	const struct sense_found *found;
	size_t n_rows;
	struct {
		VEC(struct trial);
	} list;
};

/* Returns the index of the trial with this value, and runs the trial if it is
 * new. */
static size_t trial_of(struct trials *t, const char *value)
{
	const struct sense_found *f = t->found;
	struct trial x = { .end = SENSE_NONE };

	for (size_t i = 0; i < t->list.n; i++)
		if (!strcmp(t->list.at[i].value, value))
			return i;
	snprintf(x.value, sizeof(x.value), "%s", value);
	x.models = calloc(t->n_rows + 1, sizeof(*x.models));
	if (!x.models)
		abort();
	x.end = sense_try(t->repro, f->job, &f->param, value, x.models,
			  f->cpu_s, NULL);
	vec_push(&t->list, x);
	return t->list.n - 1;
}

static bool sense_try_passes(const struct trials *t, size_t row, double model)
{
	const struct repro_row *w =
		sense_row(t->repro, t->found->job, row)->row;

	return isfinite(model) && repro_judge(w, model).pass;
}

/* ---- both sides ---- */

/* Tries the scale of one side (half or double). If the machine does not run
 * with this scale, tries half of the change, then a quarter. Stores for all
 * rows the result of the first value with which the machine runs, or of the
 * last value tried. */
static void side_measure(struct trials *t, uint32_t scale, bool low,
			 struct sense_move *moves)
{
	const struct sense_param *p = &t->found->param;
	size_t tried = SIZE_MAX;
	uint32_t here = scale;
	char value[SENSE_TEXT];

	for (int i = 0; i < 3; i++) {
		if (sense_scaled(p, here, value)) {
			tried = trial_of(t, value);
			if (t->list.at[tried].end == SENSE_RAN ||
			    !sense_is_number(p))
				break;
		}
		here = i < 2 ? (here + SENSE_ONE) / 2 : 0;
	}
	for (size_t i = 0; i < t->n_rows && tried != SIZE_MAX; i++) {
		struct sense_side *s = low ? &moves[i].low : &moves[i].high;
		const struct trial *x = &t->list.at[tried];

		s->end = x->end;
		s->scale = here;
		memcpy(s->value, x->value, SENSE_TEXT);
		s->model = x->end == SENSE_RAN ? x->models[i] : NAN;
		s->pass = sense_try_passes(t, i, s->model);
	}
}

/* ---- the value at which a row begins to fail ---- */

/* Searches for the last value at which the row passes. The search goes from
 * scale 1, where the row passes, to s->scale, where the row fails. */
static void search_last(struct trials *t, size_t row, struct sense_side *s)
{
	const struct sense_param *p = &t->found->param;
	uint32_t good = SENSE_ONE, bad = s->scale;
	uint32_t near = (bad > good ? bad - good : good - bad) / SENSE_STEPS;

	snprintf(s->last, SENSE_TEXT, "%s", p->value);
	while ((bad > good ? bad - good : good - bad) > (near ? near : 1)) {
		uint32_t mid = (good + bad) / 2;
		char value[SENSE_TEXT];
		size_t i;

		if (!sense_scaled(p, mid, value)) {
			/* No value exists for this scale, because it rounds to
			 * the unchanged value or is out of range. The search
			 * continues as if the row passed. */
			good = mid;
			continue;
		}
		i = trial_of(t, value);
		if (t->list.at[i].end == SENSE_RAN &&
		    sense_try_passes(t, row, t->list.at[i].models[row])) {
			good = mid;
			memcpy(s->last, value, SENSE_TEXT);
		} else {
			bad = mid;
		}
	}
}

void sense_measure(struct repro *r, struct sense_found *f, bool search)
{
	struct trials t = { .repro = r,
			    .found = f,
			    .n_rows = sense_rows(r, f->job) };

	if (!search) {
		side_measure(&t, SENSE_HALF, true, f->moves);
		side_measure(&t, SENSE_DOUBLE, false, f->moves);
	}
	for (size_t i = 0; i < t.n_rows && search; i++) {
		if (f->moves[i].low.search)
			search_last(&t, i, &f->moves[i].low);
		if (f->moves[i].high.search)
			search_last(&t, i, &f->moves[i].high);
	}
	vec_foreach (&t.list, struct trial, x)
		free(x->models);
	vec_free(&t.list);
}
