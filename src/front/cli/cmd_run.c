/* SPDX-License-Identifier: Apache-2.0 */
/* `weft run` and `weft check`. */
#include <errno.h>
#include <string.h>

#include "front/cli/cli.h"
#include "front/out/out.h"
#include "front/run/capture.h"

static void run_print(const struct cli *c, const struct run_set *s)
{
	for (const struct out_format *f = out_formats; f->name; f++)
		if (cli_format_is(c, f->name))
			f->print(s, stdout);
}

/* The run itself; its lines go to a file when that is asked for. */
static int run_captured(const struct cli *c, struct exp *e,
			const struct run_opts *opts, struct run_set *s,
			struct weft_err *err)
{
	struct capture *cap;
	int ret, bad;

	if (!c->capture.n && !c->capture_file)
		return run_exp(e, opts, s, err);
	if (!c->capture.n)
		return weft_fail(err, EINVAL,
				 "run: --capture-file needs --capture, e.g. "
				 "--capture all");
	if (e->n_points > 1 || e->search)
		return weft_fail(err, EINVAL,
				 "run: --capture writes one run down, %s has "
				 "several: choose one, e.g. --set sweep=none",
				 c->args.at[0]);
	if (capture_open(c->capture_file ? c->capture_file : "weft.pcapng",
			 c->capture.at, c->capture.n, &cap, err))
		return -EINVAL;
	e->tap = capture_tap;
	e->tap_arg = cap;
	ret = run_exp(e, opts, s, err);
	bad = capture_close(cap, err);
	if (!ret && bad)
		run_set_free(s);
	return ret ? ret : bad;
}

/* The run with the files that follow it. */
static int run_all(const struct cli *c, struct exp *e, struct run_set *s,
		   struct weft_err *err)
{
	struct run_opts opts = cli_run_opts(c);
	struct follow *f = NULL;
	int ret, bad = 0;

	e->view = c->out != NULL;
	opts.partial = true;
	if (c->follow && follow_open(c->follow, &f, err))
		return -err->code;
	if (f)
		opts.watch = follow_watch(f);
	ret = run_captured(c, e, &opts, s, err);
	if (f)
		bad = follow_close(f, err);
	if (!ret && bad)
		run_set_free(s);
	return ret ? ret : bad;
}

int cmd_run(struct cli *c)
{
	struct weft_err err = { 0 };
	struct run_set s;
	struct exp *e;
	int status;

	if (c->out && out_db_check(c->out, &err))
		return cli_error(&err);
	if (cli_load_exp(c, c->args.at[0], &e, &err))
		return cli_error(&err);
	if (run_all(c, e, &s, &err)) {
		exp_free(e);
		return cli_error(&err);
	}
	status = run_set_failures(&s) ? CLI_FAILED : CLI_OK;
	if (c->out && out_db(c->out, c->append, &s, 1, NULL, &err))
		status = cli_error(&err);
	else
		run_print(c, &s);
	status = cli_flush(status);
	out_failures(&s, stderr);
	if (s.signal && status != CLI_USAGE) {
		fprintf(stderr,
			"weft: ended by signal %d: results are "
			"partial\n",
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
	if (run_check(e, &err))
		status = cli_error(&err);
	else if (!c->quiet)
		printf("%s: good, %zu %s\n", c->args.at[0], e->n_points,
		       e->n_points == 1 ? "run" : "runs");
	exp_free(e);
	return cli_flush(status);
}
