/* SPDX-License-Identifier: Apache-2.0 */
/* `weft disk`: a remote disk of a simulated machine for ordinary programs.
 *
 *   weft disk            the machine: targets (disk.target) and, on the
 *     |                  initiator's node, an agent
 *     +- weft disk --serve          starts and ends the two programs below
 *          +- nbdkit                attached process with the plug-in src/nbd
 *          +- COMMAND               with the disk's address in $uri
 *
 * The machine is an experiment. Its targets are kept, and its other programs
 * are removed. An experiment without targets gets a target on node 1. */
#ifndef FRONT_DISK_H
#define FRONT_DISK_H

#include "base/vec.h"
#include "front/exec/exec.h"

/* ---- edit.c ---- */

/* Edits an experiment: keeps its targets or adds one, and adds an agent.
 * Targets become background programs, because the run must end when the
 * attached process ends. Returns 0, or a negative errno with a message. */
int disk_edit(struct doc *d, const struct registry *reg, struct weft_err *err);

/* Nodes of an edited experiment. */
struct disk_nodes {
	uint32_t initiator; /* first node without a target */
	struct {
		VEC(uint32_t);
	} targets;
};
/* Finds the nodes. Returns 0, or a negative errno with a message if no node or
 * every node has a target. The caller frees n_p->targets. */
int disk_nodes(const struct exp *e, struct disk_nodes *n_p,
	       struct weft_err *err);

/* Returns the text of a parameter of the first target, or NULL. */
const char *disk_target_param(const struct exp *e, const char *name);

/* ---- launch.c ---- */

/* The disk to be served. The launcher gets this struct as exec_job.own. */
struct disk_job {
	/* path of the socket as the user gave it, or NULL for a socket in the
	 * job's folder */
	const char *socket;
	char targets[1024]; /* "1,2" */
	uint32_t initiator;
	const char *const *params; /* parameters KEY=VALUE for the plug-in */
	size_t n_params;
	/* words of the command, ended by NULL; the array is empty if there is
	 * no command */
	char *const *command;
	/* path of the plug-in's report, set by the launcher */
	char report[4400];
	int status; /* exit status of the command, or -1 if it has not ended */
};
extern const struct exec_launcher disk_launcher;
/* Checks whether the disk can be served. Returns 0. Returns a negative errno
 * with a message that names the remedy if nbdkit or the plug-in is missing, if
 * the socket exists, or if its name is too long. */
int disk_check(const struct disk_job *k, struct weft_err *err);

/* ---- serve.c ---- */

/* Runs `weft disk --serve SOCKET FOLDER QUIET N NBDKIT... [COMMAND...]`, where
 * N is the number of words for nbdkit. Returns the exit status of the command,
 * or nbdkit's if the command's is 0. */
int disk_serve(int argc, char **argv);

/* ---- results.c ---- */

/* Adds the plug-in's report (src/nbd/nbd.h) to the results. Returns false if
 * the report is missing, for example because nbdkit was killed. */
bool disk_results(const char *path, struct weft_result *r);
/* Prints a summary of the clients' requests in a few lines. */
void disk_summary(const struct weft_result *r, FILE *f);

#endif
