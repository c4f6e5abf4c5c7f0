/* SPDX-License-Identifier: Apache-2.0 */
/* `weft disk`: a remote disk of a simulated machine for ordinary programs.
 *
 *   weft disk            the machine: targets (disk.target) on their nodes, an
 *     |                  agent on the initiator's
 *     +- weft disk --serve          starts and ends the others in order
 *          +- nbdkit                attached; plug-in src/nbd
 *          +- COMMAND               with the disk's address in $uri
 *
 * The machine is an experiment whose programs go, except its targets; one
 * without targets gets one on node 1. */
#ifndef FRONT_DISK_H
#define FRONT_DISK_H

#include "base/vec.h"
#include "front/exec/exec.h"

/* ---- edit.c ---- */

/* Edits an experiment: keeps or adds targets, and agents, as background
 * programs. */
int disk_edit(struct doc *d, const struct registry *reg, struct weft_err *err);

/* Nodes of an edited experiment. */
struct disk_nodes {
	uint32_t initiator; /* the first without a target */
	struct {
		VEC(uint32_t);
	} targets;
};
/* Returns 0, or a negative errno with a message: every node has a target.  The
 * caller frees n_p->targets. */
int disk_nodes(const struct exp *e, struct disk_nodes *n_p,
	       struct weft_err *err);

/* Returns the text of a parameter of the first target, or NULL. */
const char *disk_target_param(const struct exp *e, const char *name);

/* ---- launch.c ---- */

/* The disk to be served, the launcher's `own`. */
struct disk_job {
	const char *socket; /* as typed, or NULL: in the job's folder */
	char targets[1024]; /* "1,2" */
	uint32_t initiator;
	const char *const *params; /* KEY=VALUE of the plug-in */
	size_t n_params;
	char *const *command; /* ended by NULL; empty: none */
	/* set by the launcher */
	char report[4400];
	int status; /* of the command; -1: none has ended */
};
extern const struct exec_launcher disk_launcher;
/* Returns 0, or a negative errno with a message that names the remedy: no
 * nbdkit, no plug-in, a socket that exists or has too long a name. */
int disk_check(const struct disk_job *k, struct weft_err *err);

/* ---- serve.c ---- */

/* Runs `weft disk --serve SOCKET FOLDER QUIET N NBDKIT... [COMMAND...]`, where
 * N is the number of words for nbdkit.  Returns the exit status: that of the
 * command. */
int disk_serve(int argc, char **argv);

/* ---- results.c ---- */

/* Adds the plug-in's report (src/nbd/nbd.h) to the results.  Returns false if
 * there is none: nbdkit did not end in order. */
bool disk_results(const char *path, struct weft_result *r);
/* Prints what clients have done, in a few lines. */
void disk_summary(const struct weft_result *r, FILE *f);

#endif
