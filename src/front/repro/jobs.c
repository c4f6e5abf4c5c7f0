/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the rows and the experiments of a command, see jobs.h. */
#include "front/repro/jobs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	const struct repro_row *rows;
} systems[] = {
#define ROWS(id) { #id, repro_##id##_rows },
#include "systems.def"
	{ 0 },
};

/* Returns true if the arguments name the system or the row, or if there are no
 * arguments. */
static bool jobs_chosen(const struct cli *c, const char *system,
			const char *row)
{
	for (size_t i = 0; i < c->args.n; i++)
		if (!strcmp(c->args.at[i], system) ||
		    (row && !strcmp(c->args.at[i], row)))
			return true;
	return c->args.n == 0;
}

/* Returns the i-th valid value of the argument, or NULL after the last value.
 * Names of systems precede names of rows. */
const char *reproduce_next(void *unused, size_t i)
{
	size_t n = 0;

	while (systems[n].name)
		n++;
	if (i < n)
		return systems[i].name;
	i -= n;
	for (size_t s = 0; s < n; s++)
		for (const struct repro_row *w = systems[s].rows; w->id; w++)
			if (i-- == 0)
				return w->id;
	return NULL;
}

/* ---- experiments ---- */

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

/* Returns the index of a job, and adds the job when it is new. */
static size_t job_of(struct repro *r, const char *experiment, const char *set)
{
	size_t i = 0;

	while (i < r->jobs.n &&
	       (!same_text(r->jobs.at[i].experiment, experiment) ||
		!same_text(r->jobs.at[i].set, set)))
		i++;
	if (i == r->jobs.n)
		vec_push(&r->jobs, (struct repro_job){ experiment, set, NULL });
	return i;
}

int repro_job_load(struct repro *r, const struct repro_job *j, const char *more,
		   struct exp **exp_p, struct weft_err *err)
{
	struct cli *c = r->cli;
	char *own = strdup(j->set ? j->set : ""), *save = NULL, seed[64];
	struct strs sets = { 0 };
	struct exp_opts o = { .n_lenient = c->set.n + !!c->seed + !!more };
	size_t first;
	int ret;

	for (char *w = strtok_r(own, " ", &save); w;
	     w = strtok_r(NULL, " ", &save))
		vec_push(&sets, w);
	first = sets.n;
	for (size_t i = 0; i < c->set.n; i++)
		vec_push(&sets, c->set.at[i]);
	if (c->seed) {
		snprintf(seed, sizeof(seed), "seed=%.50s", c->seed);
		vec_push(&sets, seed);
	}
	if (more)
		vec_push(&sets, more);
	o.set = sets.at;
	o.n_set = sets.n;
	ret = exp_load(j->experiment, &o, &c->reg, exp_p, err);
	if (!ret)
		ret = run_check(*exp_p, NULL, err);
	for (size_t i = 0; i < c->set.n && !ret; i++)
		r->used[i] += exp_set_used(*exp_p, first + i);
	vec_free(&sets);
	free(own);
	return ret;
}

int repro_load(struct repro *r, struct weft_err *err)
{
	r->used = calloc(r->cli->set.n + 1, sizeof(*r->used));
	if (!r->used)
		abort();
	for (size_t s = 0; systems[s].name; s++)
		for (const struct repro_row *w = systems[s].rows; w->id; w++)
			if (jobs_chosen(r->cli, systems[s].name, w->id))
				vec_push(&r->rows,
					 (struct out_row){
						 .system = systems[s].name,
						 .row = w,
						 .set = job_of(r, w->experiment,
							       w->set) });
	for (const struct repro_curve *k = repro_curves; k->system; k++)
		if (r->cli->out && jobs_chosen(r->cli, k->system, NULL))
			job_of(r, k->experiment, k->set);
	vec_foreach (&r->jobs, struct repro_job, j) {
		if (repro_job_load(r, j, NULL, &j->exp, err))
			return -1;
		j->exp->view = r->cli->out != NULL;
	}
	for (size_t i = 0; i < r->cli->set.n && r->jobs.n; i++)
		if (!r->used[i])
			return weft_fail(
				err, EINVAL,
				"--set %.200s: none of the experiments has such a thing",
				r->cli->set.at[i]);
	return 0;
}

int repro_run(struct repro *r, struct weft_err *err)
{
	struct run_opts opts = { .quiet = r->cli->quiet,
				 .jobs = r->cli->n_jobs };

	opts.parts = r->jobs.n;
	opts.began_ns = progress_now();
	r->sets = calloc(r->jobs.n + 1, sizeof(*r->sets));
	r->data = calloc(r->jobs.n + 1, sizeof(*r->data));
	if (!r->sets || !r->data)
		abort();
	for (; r->n_run < r->jobs.n; r->n_run++) {
		struct run_set *s = &r->sets[r->n_run];
		struct repro_data *d = &r->data[r->n_run];
		struct repro_point *p;

		opts.part = r->n_run;
		if (run_exp(r->jobs.at[r->n_run].exp, &opts, s, err))
			return -1;
		p = calloc(s->n_points + 1, sizeof(*p));
		*d = (struct repro_data){ p, s->n_points,
					  calloc(s->n_points + 1,
						 sizeof(*d->read)) };
		if (!p || !d->read)
			abort();
		for (size_t i = 0; i < s->n_points; i++)
			p[i] = (struct repro_point){ s->points[i].point,
						     s->points[i].result };
		r->failed += run_set_failures(s);
	}
	return 0;
}

void repro_free(struct repro *r)
{
	for (size_t i = 0; i < r->jobs.n; i++)
		exp_free(r->jobs.at[i].exp);
	for (size_t i = 0; i < r->n_run; i++) {
		run_set_free(&r->sets[i]);
		free(r->data[i].points);
		free(r->data[i].read);
	}
	vec_free(&r->jobs);
	vec_free(&r->rows);
	free(r->sets);
	free(r->data);
	free(r->used);
}

double repro_read(const struct repro_row *row, const struct repro_data *d)
{
	struct repro_data of_row = *d;

	of_row.row = row;
	return row->eval ? row->eval(&of_row)
			 : repro_value(d, row->point, row->metric);
}

void repro_judge_all(struct repro *r)
{
	vec_foreach (&r->rows, struct out_row, o) {
		const struct repro_row *w = o->row;
		double model = repro_read(w, &r->data[o->set]);

		o->verdict = repro_judge(w, model);
		if (!isfinite(model))
			fprintf(stderr,
				"weft: check failed: %s: no value for %s in %s\n",
				w->id, w->metric ? w->metric : "its formula",
				w->experiment);
		if (!o->verdict.pass && !w->report_only)
			r->failed++;
	}
}
