/* SPDX-License-Identifier: Apache-2.0 */
/* Measures sensitivities, see sense.h. Each parameter is a task, and a pool of
 * processes runs several tasks at a time. The first stage tries both sides of
 * all parameters. The second stage searches the limits for the parameters that
 * matter. */
#include "front/repro/sense.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "front/run/pool.h"

/* A trial may use SLOW_FACTOR times the processor time of the unchanged
 * machine, but at least SLOW_LEAST_S seconds. */
#define SLOW_FACTOR  10
#define SLOW_LEAST_S 2

static size_t moves_bytes(const struct sense *s, size_t job)
{
	return sense_rows(s->repro, job) * sizeof(struct sense_move);
}

static int job_collect(struct sense *s, size_t job, struct weft_err *err)
{
	double *models = calloc(sense_rows(s->repro, job) + 1, sizeof(*models));
	struct sense_params ps = { 0 };
	double used = 0, limit;
	int ret;

	if (!models)
		abort();
	/* Runs the unchanged job once more to measure its processor time. */
	sense_try(s->repro, job, NULL, NULL, models, 0, &used);
	free(models);
	limit = SLOW_LEAST_S + SLOW_FACTOR * used;
	ret = sense_collect(s->repro->jobs.at[job].exp, &ps, err);

	vec_foreach (&ps, struct sense_param, p) {
		struct sense_found f = { job, *p, limit, NULL };

		if (p->varied || ret)
			continue;
		f.moves = calloc(1, moves_bytes(s, job));
		if (!f.moves)
			abort();
		vec_push(&s->found, f);
	}
	vec_free(&ps);
	return ret;
}

/* ---- processes ---- */

/* Work that is done for each parameter, distributed to workers. */
struct stage {
	struct sense *sense;
	const char *name;
	bool search;
	struct {
		VEC(struct sense_found *);
	} todo;
};

static void stage_work(void *arg, size_t task, int fd)
{
	struct stage *g = arg;
	struct sense_found *f = g->todo.at[task];

	sense_measure(g->sense->repro, f, g->search);
	if (!pool_write(fd, f->moves, moves_bytes(g->sense, f->job)))
		_exit(3);
}

/* Stores the result of a trial. Trials of a worker that has crashed count as
 * not measured. */
static int stage_take(void *arg, size_t task, const void *buf, size_t len,
		      struct weft_err *err)
{
	struct stage *g = arg;
	struct sense_found *f = g->todo.at[task];

	if (len == moves_bytes(g->sense, f->job))
		memcpy(f->moves, buf, len);
	return 0;
}

static void stage_show(void *arg, size_t done)
{
	const struct stage *g = arg;

	if (!g->sense->repro->cli->quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "\r%s: %zu of %zu parameters%s", g->name, done,
			g->todo.n, done == g->todo.n ? "\n" : "");
}

static int stage_run(struct stage *g, uint32_t jobs, struct weft_err *err)
{
	int ret = 0;

	if (g->todo.n)
		ret = pool_run(&(struct pool){ .n = g->todo.n,
					       .jobs = jobs ? jobs : 1,
					       .work = stage_work,
					       .take = stage_take,
					       .show = stage_show,
					       .arg = g },
			       err);
	vec_free(&g->todo);
	return ret;
}

/* ---- all parameters ---- */

static bool side_wants(const struct out_row *o, const struct sense_mover *m,
		       const struct sense_side *s)
{
	return s->end == SENSE_RAN && !s->pass && o->verdict.pass &&
	       sense_is_number(&m->found->param);
}

static int search_last(struct sense *s, uint32_t jobs, struct weft_err *err)
{
	struct stage g = { .sense = s,
			   .name = "where rows fail",
			   .search = true };

	vec_foreach (&s->repro->rows, struct out_row, o) {
		struct sense_movers ms = sense_movers(s, o);

		for (size_t i = 0; i < ms.n && i < SENSE_SHOWN; i++) {
			struct sense_mover *m = &ms.at[i];

			m->move->low.search = side_wants(o, m, &m->move->low);
			m->move->high.search = side_wants(o, m, &m->move->high);
		}
		vec_free(&ms);
	}
	vec_foreach (&s->found, struct sense_found, f) {
		bool wants = false;

		for (size_t i = 0; i < sense_rows(s->repro, f->job); i++)
			wants |= f->moves[i].low.search ||
				 f->moves[i].high.search;
		if (wants)
			vec_push(&g.todo, f);
	}
	return stage_run(&g, jobs, err);
}

int sense_run(struct sense *s, uint32_t jobs, struct weft_err *err)
{
	struct stage all = { .sense = s, .name = "half and double" };
	int ret = 0;

	for (size_t j = 0; j < s->repro->jobs.n && !ret; j++)
		if (sense_rows(s->repro, j))
			ret = job_collect(s, j, err);
	if (ret)
		return ret;
	vec_foreach (&s->found, struct sense_found, f)
		vec_push(&all.todo, f);
	ret = stage_run(&all, jobs, err);
	return ret ? ret : search_last(s, jobs, err);
}

void sense_free(struct sense *s)
{
	vec_foreach (&s->found, struct sense_found, f)
		free(f->moves);
	vec_free(&s->found);
}
