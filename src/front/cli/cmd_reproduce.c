/* SPDX-License-Identifier: Apache-2.0 */
/* `weft reproduce`: every distinct experiment of the chosen rows runs once;
 * then each row is read and judged. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "front/cli/cli.h"
#include "front/out/out.h"
#include "front/repro/judge.h"
#include "front/repro/repro.h"

static const struct {
	const char *name;
	const struct repro_row *rows;
} systems[] = {
#define X(id) { #id, repro_##id##_rows },
#include "front/repro/repro.def"
#undef X
	{ 0 },
};

/* One experiment with the overrides of its rows. */
struct job {
	const char *experiment, *set;
	struct exp *exp;
};

struct repro {
	struct cli *cli;
	struct {
		VEC(struct job);
	} jobs;
	struct run_set *sets; /* one per job */
	struct repro_data *data;
	size_t n_run;
	uint32_t *used; /* per --set of the command line */
	struct out_rows rows;
	size_t failed;
};

/* Everything is, when nothing was named. */
static bool chosen(const struct cli *c, const char *system, const char *row)
{
	for (size_t i = 0; i < c->args.n; i++)
		if (!strcmp(c->args.at[i], system) ||
		    (row && !strcmp(c->args.at[i], row)))
			return true;
	return c->args.n == 0;
}

/* Systems, then the rows of each. */
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

static int check_names(const struct cli *c)
{
	for (size_t i = 0; i < c->args.n; i++) {
		const char *word = c->args.at[i], *name;
		size_t k = 0;

		while ((name = reproduce_next(NULL, k)) && strcmp(name, word))
			k++;
		if (!name)
			return cli_unknown("reproduce: no system or row", word,
					   reproduce_next, NULL,
					   "give a system, e.g. 'forth', or "
					   "the id of a row, e.g. 'F15'");
	}
	return 0;
}

/* ---- experiments ---- */

static bool same_text(const char *a, const char *b)
{
	return !strcmp(a ? a : "", b ? b : "");
}

/* The job's place; a new one when there is none yet. */
static size_t job_of(struct repro *r, const char *experiment, const char *set)
{
	size_t i = 0;

	while (i < r->jobs.n &&
	       (!same_text(r->jobs.at[i].experiment, experiment) ||
		!same_text(r->jobs.at[i].set, set)))
		i++;
	if (i == r->jobs.n)
		vec_push(&r->jobs, (struct job){ experiment, set, NULL });
	return i;
}

static void row_add(struct repro *r, const char *system,
		    const struct repro_row *w)
{
	vec_push(&r->rows,
		 (struct out_row){ .system = system,
				   .row = w,
				   .set = job_of(r, w->experiment, w->set) });
}

static void jobs_collect(struct repro *r)
{
	for (size_t s = 0; systems[s].name; s++)
		for (const struct repro_row *w = systems[s].rows; w->id; w++)
			if (chosen(r->cli, systems[s].name, w->id))
				row_add(r, systems[s].name, w);
	for (const struct repro_curve *k = repro_curves; k->system; k++)
		if (r->cli->out && chosen(r->cli, k->system, NULL))
			job_of(r, k->experiment, k->set);
}

/* The row's own overrides, then those of the command line. */
static int job_load(struct repro *r, struct job *j, struct weft_err *err)
{
	struct cli *c = r->cli;
	char *own = strdup(j->set ? j->set : ""), *save = NULL, seed[64];
	struct strs sets = { 0 };
	struct exp_opts o = { .n_lenient = c->set.n + !!c->seed };
	int ret;

	for (char *w = strtok_r(own, " ", &save); w;
	     w = strtok_r(NULL, " ", &save))
		vec_push(&sets, w);
	for (size_t i = 0; i < c->set.n; i++)
		vec_push(&sets, c->set.at[i]);
	if (c->seed) {
		snprintf(seed, sizeof(seed), "seed=%.50s", c->seed);
		vec_push(&sets, seed);
	}
	o.set = sets.at;
	o.n_set = sets.n;
	ret = exp_load(j->experiment, &o, &c->reg, &j->exp, err);
	if (!ret)
		j->exp->view = c->out != NULL;
	if (!ret)
		ret = run_check(j->exp, err);
	for (size_t i = 0; i < c->set.n && !ret; i++)
		r->used[i] +=
			exp_set_used(j->exp, sets.n - c->set.n - !!c->seed + i);
	vec_free(&sets);
	free(own);
	return ret;
}

static int jobs_load(struct repro *r, struct weft_err *err)
{
	jobs_collect(r);
	for (size_t i = 0; i < r->jobs.n; i++)
		if (job_load(r, &r->jobs.at[i], err))
			return -1;
	for (size_t i = 0; i < r->cli->set.n && r->jobs.n; i++)
		if (!r->used[i])
			return weft_fail(err, EINVAL,
					 "--set %.200s: none of the "
					 "experiments has such a thing",
					 r->cli->set.at[i]);
	return 0;
}

static int jobs_run(struct repro *r, struct weft_err *err)
{
	struct run_opts opts = cli_run_opts(r->cli);

	opts.parts = r->jobs.n;
	opts.began_ns = progress_now();
	r->sets = calloc(r->jobs.n + 1, sizeof(*r->sets));
	r->data = calloc(r->jobs.n + 1, sizeof(*r->data));
	if (!r->sets || !r->data)
		abort();
	for (; r->n_run < r->jobs.n; r->n_run++) {
		struct run_set *s = &r->sets[r->n_run];
		struct repro_point *p;

		opts.part = r->n_run;
		if (run_exp(r->jobs.at[r->n_run].exp, &opts, s, err))
			return -1;
		p = calloc(s->n_points, sizeof(*p));
		if (!p)
			abort();
		for (size_t i = 0; i < s->n_points; i++)
			p[i] = (struct repro_point){ s->points[i].point,
						     s->points[i].result };
		r->data[r->n_run] = (struct repro_data){ p, s->n_points };
		r->failed += run_set_failures(s);
	}
	return 0;
}

static void repro_free(struct repro *r)
{
	for (size_t i = 0; i < r->jobs.n; i++)
		exp_free(r->jobs.at[i].exp);
	for (size_t i = 0; i < r->n_run; i++) {
		run_set_free(&r->sets[i]);
		free((void *)r->data[i].points);
	}
	vec_free(&r->jobs);
	vec_free(&r->rows);
	free(r->sets);
	free(r->data);
	free(r->used);
}

/* ---- rows ---- */

static void row_json(struct json *j, const struct out_row *o)
{
	const struct repro_row *w = o->row;
	const struct repro_verdict *v = &o->verdict;

	json_obj(j, NULL);
	json_str(j, "id", w->id);
	json_str(j, "system", o->system);
	json_str(j, "scenario", w->scenario);
	json_str(j, "unit", w->unit);
	json_real(j, "paper", w->paper);
	json_real(j, "model", v->model);
	json_real(j, "error_pct", v->error_pct);
	json_real(j, "tolerance_pct", v->tolerance_pct);
	json_str(j, "basis", repro_basis_name(w->basis));
	if (w->parameter)
		json_str(j, "parameter", w->parameter);
	else
		json_null(j, "parameter");
	json_bool(j, "enforced", !w->report_only);
	json_bool(j, "pass", v->pass);
	if (w->note)
		json_str(j, "note", w->note);
	else
		json_null(j, "note");
	json_end(j);
}

static void row_table(struct table *t, const struct out_row *o)
{
	const struct repro_row *w = o->row;
	const struct repro_verdict *v = &o->verdict;
	char rule[32], model[32] = "none", error[32] = "-";

	repro_rule_text(w, rule, sizeof(rule));
	if (isfinite(v->model)) {
		out_real(v->model, model);
		snprintf(error, sizeof(error), "%+.2f %%", v->error_pct);
	}
	table_cell(t, "%s", w->id);
	table_cell(t, "%s", o->system);
	table_cell(t, "%s", w->scenario);
	table_cell(t, "%.6g", w->paper);
	table_cell(t, "%s", model);
	table_cell(t, "%s", w->unit);
	table_cell(t, "%s", error);
	table_cell(t, "%s", rule);
	table_cell(t, "%s%s%s", repro_basis_name(w->basis),
		   w->parameter ? ": " : "", w->parameter ? w->parameter : "");
	table_cell(t, "%s",
		   w->rule == REPRO_QUOTED ? "-"
		   : v->pass		   ? "pass"
		   : w->report_only	   ? "differs"
					   : "FAIL");
}

static void row_judge(struct repro *r, struct out_row *o)
{
	const struct repro_row *w = o->row;
	const struct repro_data *d = &r->data[o->set];
	double model =
		w->eval ? w->eval(d) : repro_value(d, w->point, w->metric);

	o->verdict = repro_judge(w, model);
	if (!isfinite(model))
		fprintf(stderr,
			"weft: check failed: %s: no value for %s in "
			"%s\n",
			w->id, w->metric ? w->metric : "its formula",
			w->experiment);
	if (!o->verdict.pass && !w->report_only)
		r->failed++;
}

static void rows_judge(struct repro *r)
{
	for (size_t i = 0; i < r->rows.n; i++)
		row_judge(r, &r->rows.at[i]);
}

/* A file that cannot be written costs the printed rows nothing. */
static int rows_keep(const struct repro *r)
{
	struct weft_err err = { 0 };

	return r->cli->out && out_db(r->cli->out, r->cli->append, r->sets,
				     r->n_run, &r->rows, &err)
		       ? cli_error(&err)
		       : 0;
}

/* Remarks stand below the table. */
static void notes_print(const struct repro *r)
{
	bool any = false;

	for (size_t i = 0; i < r->rows.n; i++) {
		const struct repro_row *w = r->rows.at[i].row;

		if (!w->note)
			continue;
		printf("%s%s: %s\n", any ? "" : "\n", w->id, w->note);
		any = true;
	}
}

static void print_table(const struct repro *r)
{
	static const char *const heads[] = { "id",     "system", "scenario",
					     "paper",  "model",	 "unit",
					     "error",  "within", "basis",
					     "verdict" };
	struct table *t = table_new(heads, 10);

	for (size_t i = 0; i < r->rows.n; i++)
		row_table(t, &r->rows.at[i]);
	table_print(t, stdout);
	notes_print(r);
}

static void print_json(const struct repro *r)
{
	struct json j;

	json_init(&j, true);
	json_arr(&j, NULL);
	for (size_t i = 0; i < r->rows.n; i++)
		row_json(&j, &r->rows.at[i]);
	json_end(&j);
	printf("%.*s\n", (int)j.len, j.buf);
	json_fini(&j);
}

int cmd_reproduce(struct cli *c)
{
	struct repro r = { .cli = c };
	struct weft_err err = { 0 };
	int status = CLI_OK, lost;

	if (check_names(c))
		return CLI_USAGE;
	r.used = calloc(c->set.n + 1, sizeof(*r.used));
	if (!r.used)
		abort();
	if ((c->out && out_db_check(c->out, &err)) || jobs_load(&r, &err) ||
	    jobs_run(&r, &err)) {
		status = cli_error(&err);
	} else {
		rows_judge(&r);
		lost = rows_keep(&r);
		if (cli_format_is(c, "json"))
			print_json(&r);
		else
			print_table(&r);
		status = cli_flush(lost	      ? lost
				   : r.failed ? CLI_FAILED
					      : CLI_OK);
		for (size_t i = 0; i < r.n_run; i++)
			out_failures(&r.sets[i], stderr);
	}
	repro_free(&r);
	return status;
}
