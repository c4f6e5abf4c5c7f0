/* SPDX-License-Identifier: Apache-2.0 */
/* Commands that run processes as `weft exec` does, but start them themselves.
 */
#ifndef FRONT_CLI_EXEC_HOOKS_H
#define FRONT_CLI_EXEC_HOOKS_H

#include "front/cli/cli.h"
#include "front/exec/exec.h"

struct exec_hooks {
	const struct exec_launcher *launcher;
	void *own;	     /* the launcher's (exec_job) */
	const char *program; /* in messages */
	/* The run is over; results can be added. */
	void (*done)(void *arg, struct exec_job *j, struct weft_result *r);
	void *arg;
};

/* Runs the processes of a launcher on c->fabric, and prints.  Returns the exit
 * status.  The processes get no library of weft preloaded. */
int exec_with(struct cli *c, const struct exec_hooks *hooks);

#endif
