/* SPDX-License-Identifier: Apache-2.0 */
/* `weft disk`: prepares the machine, the disk and the command, and runs them as
 * `weft exec` runs processes. */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>

#include "base/units.h"
#include "front/cli/cli.h"
#include "front/cli/exec_hooks.h"
#include "front/disk/disk.h"
#include "systems/examples.def"

enum { UNIT = 4096 }; /* bytes that a drive's size is a multiple of */

struct disk_cmd {
	struct cli *c;
	struct disk_job job;
	char map[40], size[80], both[4][80];
};

/* Adds the disk's results. Called when the run has ended. */
static void disk_done(void *arg, struct exec_job *j, struct weft_result *r)
{
	struct disk_cmd *x = arg;
	int status;

	if (att_server_status(j->server, 0, &status))
		x->job.status = WIFEXITED(status)
					? WEXITSTATUS(status)
					: CLI_SIGNAL + WTERMSIG(status);
	if (!disk_results(x->job.report, r))
		result_fail(r, "the disk was not closed in order");
	else if (!x->c->quiet)
		disk_summary(r, stderr);
}

/* Turns --size, the size of the whole disk, into the size of each target's
 * part. */
static int disk_size(struct disk_cmd *x, size_t targets, struct weft_err *err)
{
	struct weft_err sub = { 0 };
	uint64_t size, unit = (uint64_t)UNIT * targets;

	if (!x->c->size)
		return 0;
	if (units_parse(WEFT_P_BYTES, "", x->c->size, &size, sizeof(size),
			&sub))
		return weft_fail(err, EINVAL, "disk: --size: %s", sub.msg);
	if (!size || size % unit)
		return weft_fail(err, EINVAL,
				 "disk: --size %s is not a multiple of %" PRIu64
				 " bytes (%zu targets): give %" PRIu64 "B",
				 x->c->size, unit, targets,
				 size ? (size + unit - 1) / unit * unit : unit);
	snprintf(x->size, sizeof(x->size), "disk.target.size=%" PRIu64 "B",
		 size / targets);
	vec_push(&x->c->set, x->size);
	return 0;
}

/* Gives initiator and targets equal link settings. A setting on the command
 * line is copied to the targets. If the command line has no setting, that of
 * the machine's first target is copied to the initiator. */
static void disk_link(struct disk_cmd *x, const struct exp *e)
{
	static const struct {
		const char *name, *target;
	} both[] = { { "link", "link" },
		     { "notify", "notify" },
		     { "cluster", "cluster" },
		     { "irq", "use_irq" } };

	for (size_t i = 0; i < sizeof(both) / sizeof(both[0]); i++) {
		const char *name = both[i].name, *of = NULL;
		size_t len = strlen(name), n = x->c->disk.n;
		char *text = x->both[i];

		for (size_t k = 0; k < n; k++)
			if (!strncmp(x->c->disk.at[k], name, len) &&
			    x->c->disk.at[k][len] == '=')
				of = x->c->disk.at[k] + len + 1;
		if (of) {
			snprintf(text, sizeof(x->both[i]), "disk.target.%s=%s",
				 both[i].target, of);
			vec_push(&x->c->set, text);
			continue;
		}
		of = disk_target_param(e, both[i].target);
		if (!of || !strcmp(of, "auto"))
			continue;
		snprintf(text, sizeof(x->both[i]), "%s=%s", name, of);
		vec_push(&x->c->disk, text);
	}
}

/* Finds the nodes of initiator and targets in the machine. */
static int disk_places(struct disk_cmd *x, struct weft_err *err)
{
	struct disk_nodes n;
	size_t len = 0;
	struct exp *e;
	int ret;

	if (cli_load_exp(x->c, x->c->fabric.at[0], &e, err))
		return -EINVAL;
	ret = disk_nodes(e, &n, err);
	if (!ret)
		disk_link(x, e);
	exp_free(e);
	if (ret)
		return ret;
	for (size_t i = 0; i < n.targets.n && len < sizeof(x->job.targets); i++)
		len += (size_t)snprintf(x->job.targets + len,
					sizeof(x->job.targets) - len, "%s%u",
					i ? "," : "", n.targets.at[i]);
	x->job.initiator = n.initiator;
	snprintf(x->map, sizeof(x->map), "0:%u", n.initiator);
	ret = disk_size(x, n.targets.n, err);
	vec_free(&n.targets);
	return ret;
}

static int disk_prepare(struct disk_cmd *x, struct weft_err *err)
{
	struct cli *c = x->c;

	if (c->fabric.n != 1)
		return weft_fail(
			err, EINVAL,
			c->fabric.n
				? "disk: give one --fabric"
				: "disk: --fabric is missing: name a machine, e.g. " EXAMPLE_MACHINE
				  " (weft list experiments)");
	if (c->clock && strcmp(c->clock, "fixed") && strcmp(c->clock, "none"))
		return weft_fail(err, EINVAL,
				 "disk: --clock '%.40s': give fixed or none",
				 c->clock);
	c->edit = disk_edit;
	c->raw = true;
	c->n = "1";
	if (!c->cores) /* uses up to 1024 processors, because clients, nbdkit
			* and simulator run in parallel */
		c->cores = "1024";
	x->job.socket = c->socket;
	x->job.status = -1;
	if (disk_check(&x->job, err) || disk_places(x, err))
		return -EINVAL;
	x->job.params = c->disk.at;
	x->job.n_params = c->disk.n;
	c->map = x->map;
	vec_push(&c->args, NULL);
	x->job.command = (char *const *)c->args.at;
	return 0;
}

int cmd_disk(struct cli *c)
{
	struct disk_cmd x = { .c = c };
	const struct exec_hooks hooks = { .launcher = &disk_launcher,
					  .own = &x.job,
					  .program = c->args.n ? c->args.at[0]
							       : "nbdkit",
					  .done = disk_done,
					  .arg = &x };
	struct weft_err err = { 0 };
	int status;

	if (disk_prepare(&x, &err))
		return cli_error(&err);
	status = exec_with(c, &hooks);
	return status == CLI_FAILED && x.job.status > 0 ? x.job.status : status;
}
