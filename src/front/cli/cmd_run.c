/* SPDX-License-Identifier: Apache-2.0 */
/* `weft run` and `weft check`: run an experiment, or only build it. */
#include <errno.h>
#include <string.h>

#include "front/cli/cli.h"
#include "front/cli/recorders.h"
#include "front/out/out.h"

/* Runs the experiment and writes the files that options ask for. */
static int run_all(const struct cli *c, struct exp *e, struct run_set *s,
		   struct weft_err *err)
{
	struct run_opts opts = { .quiet = c->quiet, .jobs = c->n_jobs };
	struct weft_err bad = { 0 };
	struct follow *f = NULL;
	struct recorders l;
	int ret = -EINVAL;

	e->view = c->out != NULL;
	opts.partial = true;
	/* Checks the experiment before the followed file is made, because a run
	 * that cannot be built must not leave such a file. */
	if (c->follow && run_check(e, NULL, err))
		return -EINVAL;
	if (c->follow && follow_open(c->follow, &f, err))
		return -err->code;
	if (f)
		opts.watch = follow_watch(f);
	if (!recorders_open(c, e, &l, err)) {
		ret = run_exp(e, &opts, s, err);
		/* Reports a file that could not be written. The results are
		 * kept. */
		if (recorders_close(&l, !ret, &bad) && !ret) {
			cli_error(&bad);
			s->lost = true;
		}
	}
	if (f && follow_close(f, &bad) && !ret) {
		cli_error(&bad);
		s->lost = true;
	}
	return ret;
}

int cmd_run(struct cli *c)
{
	struct weft_err err = { 0 };
	struct run_set s;
	struct exp *e;
	int status;

	if (recorders_check(c, c->args.at[0], &err))
		return cli_error(&err);
	if (c->out && out_db_check(c->out, &err))
		return cli_error(&err);
	if (cli_load_exp(c, c->args.at[0], &e, &err))
		return cli_error(&err);
	if (run_all(c, e, &s, &err)) {
		exp_free(e);
		return cli_error(&err);
	}
	status = run_set_failures(&s) ? CLI_FAILED : CLI_OK;
	if (c->out && out_db(c->out, c->append, &s, 1, NULL, &err)) {
		cli_error(&err);
		s.lost = true;
	}
	for (const struct out_format *f = out_formats; f->name; f++)
		if (cli_format_is(c, f->name))
			f->print(&s, stdout);
	status = cli_flush(s.lost ? CLI_USAGE : status);
	out_failures(&s, stderr);
	if (c->show.n && cli_format_is(c, "table"))
		out_nothing_shown(&s, stderr);
	if (s.signal && status != CLI_USAGE) {
		fprintf(stderr,
			"weft: ended by signal %d: results are partial\n",
			s.signal);
		status = CLI_SIGNAL + s.signal;
	}
	run_set_free(&s);
	exp_free(e);
	return status;
}

int cmd_check(struct cli *c)
{
	struct weft_err err = { 0 };
	struct exp *e;
	int status = CLI_OK;

	if (cli_load_exp(c, c->args.at[0], &e, &err))
		return cli_error(&err);
	if (run_check(e, NULL, &err))
		status = cli_error(&err);
	else if (!c->quiet)
		printf("%s: good, %zu %s\n", c->args.at[0], e->n_points,
		       e->n_points == 1 ? "run" : "runs");
	exp_free(e);
	return cli_flush(status);
}
