/* SPDX-License-Identifier: Apache-2.0 */
/* Runs the points of a sweep in worker processes. */
#include <unistd.h>

#include "front/run/pool.h"
#include "front/run/run.h"

struct points {
	struct exp *exp;
	struct run_set *set;
	struct progress *progress;
};

static void point_work(void *arg, size_t i, int fd)
{
	struct points *p = arg;
	struct progress off = { .on = false };
	struct weft_err err = { 0 };
	struct exp_case c;
	size_t len;
	char *buf;

	signals_worker();
	if (exp_case_open(p->exp, i, &c, &err))
		_exit(2);
	buf = case_bytes(&c, &off, &len, &err);
	if (!buf)
		_exit(2);
	if (!pool_write(fd, buf, len))
		_exit(3);
}

static int point_take(void *arg, size_t i, const void *buf, size_t len,
		      struct weft_err *err)
{
	struct points *p = arg;

	return set_store(p->set, i, buf, len, err);
}

static void points_show(void *arg, size_t done)
{
	struct points *p = arg;

	progress_points(p->progress, done);
}

int run_workers(struct exp *e, struct run_set *s, uint32_t jobs,
		struct progress *p, struct weft_err *err)
{
	struct points points = { e, s, p };

	p->name = s->name;
	return pool_run(&(struct pool){ .n = s->n_points,
					.jobs = jobs,
					.work = point_work,
					.take = point_take,
					.show = points_show,
					.arg = &points },
			err);
}
