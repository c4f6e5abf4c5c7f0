/* SPDX-License-Identifier: Apache-2.0 */
/* `weft exec`: runs processes on simulated machines. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "front/cli/cli.h"
#include "front/cli/exec_hooks.h"
#include "front/cli/recorders.h"
#include "front/exec/mpi.h"
#include "front/out/out.h"
#include "front/trace/timeline.h"
#include "systems/examples.def"

/* A machine, and the processes that run on it. */
struct exec_cmd {
	struct cli *c;
	struct exp *e;
	struct exec_setup setup;
	struct exec_job job;
	const struct exec_launcher *launcher;
	const struct exec_hooks *hooks; /* or NULL */
	struct recorders *looks;
	/* Hooks of the files that record the run: on_open is called when the
	 * run opens, on_close when it closes. */
	int (*on_open)(void *arg, struct weft_sim *sim, struct weft_err *err);
	void *hook_arg;
	void (*on_close)(void *arg);
};

static void exec_say(void *arg, const char *line)
{
	fprintf(stderr, "weft: %s\n", line);
}

/* Restricts the timeline to the measured interval. */
static void exec_measured(void *arg, bool begins)
{
	struct exec_cmd *x = arg;

	if (!x->looks->timeline)
		return;
	if (begins)
		timeline_again(x->looks->timeline);
	else
		timeline_enough(x->looks->timeline);
}

/* Starts the processes. Called when the machine has been built. */
static int exec_opened(void *arg, struct weft_sim *sim, struct weft_err *err)
{
	struct exec_cmd *x = arg;
	int ret = 0;

	if (x->on_open)
		ret = x->on_open(x->hook_arg, sim, err);
	if (!ret)
		ret = att_server_tap(x->job.server, sim, err);
	if (!ret)
		ret = x->launcher->start(&x->job, err);
	return ret ? ret : att_server_go(x->job.server, err);
}

static void exec_closing(void *arg)
{
	struct exec_cmd *x = arg;

	att_server_untap(x->job.server);
	if (x->on_close)
		x->on_close(x->hook_arg);
}

static int exec_run(struct exec_cmd *x, struct run_set *s, struct weft_err *err)
{
	struct run_opts opts = {
		.quiet = true, /* only the processes print on the terminal */
		.jobs = x->c->n_jobs,
		.partial = true,
	};
	struct weft_err bad = { 0 };
	struct recorders l;
	int ret;

	x->looks = &l;
	x->e->view = x->c->out != NULL;
	if (recorders_open(x->c, x->e, &l, err))
		return -EINVAL;
	x->on_open = x->e->on_open;
	x->hook_arg = x->e->hook_arg;
	x->on_close = x->e->on_close;
	x->e->on_open = exec_opened;
	x->e->on_close = exec_closing;
	x->e->hook_arg = x;
	ret = run_exp(x->e, &opts, s, err);
	if (recorders_close(&l, !ret, &bad) && !ret) {
		cli_error(&bad);
		s->lost = true;
	}
	return ret;
}

/* Runs the processes on their machine. Called when all options have been
 * checked. Returns 0 with the results, or an exit status. */
static int exec_go(struct exec_cmd *x, struct run_set *s, struct weft_err *err)
{
	int ret;

	exec_descriptors();
	x->setup.att.say = exec_say;
	x->setup.att.together = x->launcher != &exec_direct;
	x->setup.att.measured = exec_measured;
	x->setup.att.measured_arg = x;
	x->setup.att.trace = x->c->trace != NULL;
	x->job.server = att_server_new(&x->setup.att, err);
	if (!x->job.server)
		return cli_error(err);
	x->job.socket = att_server_socket(x->job.server);
	exec_env(&x->job, "WEFT_SOCKET", "%s", x->job.socket);
	exec_env(&x->job, "WEFT_RANKS", "%u", x->job.n);
	exec_env(&x->job, "WEFT_CLOCK", "%s", exec_clocks[x->job.clock]);
	if (x->c->raw)
		exec_env(&x->job, "WEFT_RAW", "1");
	exec_pin(x->setup.cores);
	ret = exec_keep(&x->job, err);
	if (!x->hooks)
		exec_libs(&x->job);
	if (!ret)
		ret = exec_run(x, s, err);
	exec_kill(&x->job);
	if (!ret) {
		if (x->hooks)
			x->hooks->done(x->hooks->arg, &x->job,
				       s->points[0].result);
		exec_report(&x->job, s->points[0].result);
		if (!x->c->quiet)
			exec_summary(&x->job, s->points[0].result, stderr);
	}
	att_server_free(x->job.server);
	return ret ? cli_error(err) : 0;
}

static int exec_prepare(struct exec_cmd *x, struct weft_err *err)
{
	const struct cli *c = x->c;
	struct exec_args a = { .n = c->n,
			       .clock = c->clock,
			       .map = c->map,
			       .per_node = c->per_node,
			       .cores = c->cores,
			       .patience = c->patience,
			       .cpu_factor = c->cpu_factor,
			       .path = c->path,
			       .raw = c->raw,
			       .drivers = exec_drivers(x->e) };
	uint32_t nodes = exec_nodes(x->e);

	if (run_check(x->e, NULL, err) || exec_setup(&a, nodes, &x->setup, err))
		return -EINVAL;
	x->job.argv = (char **)c->args.at;
	x->job.n = x->setup.att.ranks;
	x->job.map = x->setup.map;
	x->job.nodes = nodes;
	x->job.clock = x->setup.att.clock;
	x->job.quiet = c->quiet;
	x->job.mpiexec = c->mpiexec;
	if (x->hooks) {
		x->job.argv = (char **)&x->hooks->program;
		x->job.own = x->hooks->own;
		x->launcher = x->hooks->launcher;
		return 0;
	}
	x->launcher = exec_launcher(&x->job, c->mpi, err);
	return x->launcher ? 0 : -EINVAL;
}

/* Runs the program on one machine. Returns 0 with the results in s, or an exit
 * status. */
static int exec_on(struct cli *c, const struct exec_hooks *hooks,
		   const char *fabric, struct run_set *s)
{
	struct exec_cmd x = { .c = c, .hooks = hooks };
	struct weft_err err = { 0 };
	int status;

	if (cli_load_exp(c, fabric, &x.e, &err))
		return cli_error(&err);
	if (c->fabric.n > 1 && !c->quiet)
		fprintf(stderr, "weft: on %s\n", fabric);
	status =
		exec_prepare(&x, &err) ? cli_error(&err) : exec_go(&x, s, &err);
	exec_job_fini(&x.job);
	exec_setup_fini(&x.setup);
	exp_free(x.e);
	return status;
}

/* Appends the run on one machine to s, so that runs on several machines are
 * points of one set. */
static void exec_join(struct run_set *s, const char *program,
		      struct run_set *one, const char *fabric)
{
	const char *base = strrchr(program, '/');
	struct run_point *p;

	if (!s->name) {
		s->name = strdup(base ? base + 1 : program);
		s->about = strdup("One program on several machines.");
		s->label = strdup("");
	}
	s->points = realloc(s->points, (s->n_points + 1) * sizeof(*p));
	if (!s->name || !s->about || !s->label || !s->points)
		abort();
	p = &s->points[s->n_points++];
	p->result = one->points[0].result;
	if (asprintf(&p->point, "fabric=%s", fabric) < 0)
		abort();
	one->points[0].result = NULL;
	s->n_wanted = s->n_points;
	s->signal = one->signal;
	s->lost |= one->lost;
	run_set_free(one);
}

static int exec_print(struct cli *c, struct run_set *s)
{
	struct weft_err err = { 0 };
	int status = run_set_failures(s) ? CLI_FAILED : CLI_OK;

	if (c->out && out_db(c->out, c->append, s, 1, NULL, &err)) {
		cli_error(&err);
		s->lost = true;
	}
	for (const struct out_format *f = out_formats; f->name; f++)
		if (c->formatted && cli_format_is(c, f->name))
			f->print(s, stdout);
	status = cli_flush(s->lost ? CLI_USAGE : status);
	out_failures(s, stderr);
	if (s->n_points > 1)
		exec_compare(s, stderr);
	if (s->signal && status != CLI_USAGE) {
		fprintf(stderr, "weft: ended by signal %d\n", s->signal);
		status = CLI_SIGNAL + s->signal;
	}
	return status;
}

static int exec_check(struct cli *c, struct weft_err *err)
{
	if (!c->fabric.n)
		return weft_fail(
			err, EINVAL,
			"exec: --fabric is missing: name a machine, e.g. " EXAMPLE_MACHINE
			" (weft list experiments)");
	if (c->fabric.n > 1 && (c->trace || c->waves || c->capture.n))
		return weft_fail(
			err, EINVAL,
			"exec: --trace, --waves and --capture write one run down: give one --fabric");
	if (recorders_check(c, NULL, err))
		return -EINVAL;
	return c->out ? out_db_check(c->out, err) : 0;
}

static int exec_all(struct cli *c, const struct exec_hooks *hooks)
{
	struct run_set all = { 0 }, one = { 0 };
	struct weft_err err = { 0 };
	int status = 0;

	if (exec_check(c, &err))
		return cli_error(&err);
	for (size_t i = 0; i < c->fabric.n && !status && !all.signal; i++) {
		status = exec_on(c, hooks, c->fabric.at[i], &one);
		if (!status && c->fabric.n > 1)
			exec_join(&all, c->args.at[0], &one, c->fabric.at[i]);
		else if (!status)
			all = one;
	}
	if (!status)
		status = exec_print(c, &all);
	run_set_free(&all);
	return status;
}

int exec_with(struct cli *c, const struct exec_hooks *hooks)
{
	return exec_all(c, hooks);
}

int cmd_exec(struct cli *c)
{
	vec_push(&c->args, NULL);
	c->edit = exec_edit;
	return exec_all(c, NULL);
}
