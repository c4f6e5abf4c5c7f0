/* SPDX-License-Identifier: Apache-2.0 */
/* Hooks for commands that run processes as `weft exec` does, but with their own
 * launcher. */
#ifndef FRONT_CLI_EXEC_HOOKS_H
#define FRONT_CLI_EXEC_HOOKS_H

#include "front/cli/cli.h"
#include "front/exec/exec.h"

struct exec_hooks {
	const struct exec_launcher *launcher;
	void *own;	     /* exec_job.own for the launcher */
	const char *program; /* in messages */
	/* Called when the run has ended. Results can be added to r. */
	void (*done)(void *arg, struct exec_job *j, struct weft_result *r);
	void *arg;
};

/* Runs the processes of a launcher on the machine c->fabric, and prints the
 * results. Returns the exit status. No library of Weft is preloaded into the
 * processes. */
int exec_with(struct cli *c, const struct exec_hooks *hooks);

#endif
