/* SPDX-License-Identifier: Apache-2.0 */
/* `weft exec`: processes on a simulated machine.
 *
 * The command builds the machine, asks a launcher to start the processes, runs
 * until they have ended.  A launcher knows how the processes of one kind of
 * program come to be: directly, or by the mpirun of an MPI. */
#ifndef FRONT_EXEC_H
#define FRONT_EXEC_H

#include <stdio.h>
#include <sys/types.h>

#include "attach/serve.h"
#include "base/vec.h"
#include "front/exp/exp.h"
#include "front/run/run.h"

/* What is to be started. */
/* By enum weft_att_clock, as they are typed. */
extern const char *const exec_clocks[3];

struct exec_job {
	char **argv;	     /* program and arguments, ended by NULL */
	uint32_t n;	     /* ranks */
	const uint32_t *map; /* node of each */
	uint32_t nodes;	     /* of the machine */
	enum weft_att_clock clock;
	const char *socket;  /* for WEFT_SOCKET */
	const char *mpiexec; /* who starts ranks of MPI; NULL: to be found */
	bool quiet;
	struct att_server *server;
	/* Environment of everything that is started, over that of weft:
	 * "NAME=VALUE" (exec_env). */
	struct {
		VEC(char *);
	} env;
	/* A folder for files that live as long as the job, or NULL
	 * (exec_folder). */
	char *folder;
	struct {
		VEC(pid_t);
	} pids;
	void *own;    /* the launcher's */
	pid_t keeper; /* or 0 */
	int keeper_fd;
};

struct exec_launcher {
	const char *name, *doc; /* as of --mpi */
	/* Is it for this program?  The first launcher that says yes takes it
	 * when nobody was named. */
	bool (*fits)(const struct exec_job *j);
	/* Starts it (exec_spawn, once or n times). */
	int (*start)(struct exec_job *j, struct weft_err *err);
};
extern const struct exec_launcher *const exec_launchers[]; /* ended by NULL */

/* launch.c */
/* One process: argv ended by NULL, found by PATH; with the environment of the
 * job and `more` (ended by NULL, or NULL).  0, or negative errno with a
 * message. */
int exec_spawn(struct exec_job *j, char *const *argv, char *const *more,
	       struct weft_err *err);
/* For all that is started after it; a later one of the same name wins. */
void exec_env(struct exec_job *j, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Creates j->folder (removed at the end with the files in it). */
int exec_folder(struct exec_job *j, struct weft_err *err);
/* The launcher of a name, or (NULL, "auto") the one that fits. */
const struct exec_launcher *
exec_launcher(const struct exec_job *j, const char *name, struct weft_err *err);
const char *exec_launchers_next(void *unused, size_t i);
/* Ends what is left: politely, then not. */
void exec_kill(struct exec_job *j);
void exec_job_fini(struct exec_job *j);

/* job_reaper.c */
/* Somebody who cleans up when weft is killed (exec_sweep, exec_remove of what
 * he was told); exec_keep_end: there is nothing left to do. */
int exec_keep(struct exec_job *j, struct weft_err *err);
void exec_keep_tell(struct exec_job *j, const char *folder);
void exec_keep_end(struct exec_job *j);
/* `weft exec --keep SOCKET`. */
int exec_keeper(const char *socket);
/* Ends everything that has this socket in its environment. */
void exec_sweep(const char *socket);
/* A folder with all that is in it. */
void exec_remove(const char *folder);

/* launchers */
extern const struct exec_launcher exec_direct;

/* edit.c: an experiment becomes a machine: agents instead of its workload. */
int exec_edit(struct doc *d, const struct registry *reg, struct weft_err *err);
/* Its nodes have drivers of their own. */
bool exec_drivers(const struct exp *e);
/* Number of nodes of the machine. */
uint32_t exec_nodes(const struct exp *e);

/* setup.c: what was typed, as numbers. */
struct exec_args {
	const char *n, *clock, *map, *per_node, *cores, *patience, *cpu_factor;
	const char *path;
	bool raw;
	bool drivers; /* the nodes have */
};
struct exec_setup {
	struct att_opts att; /* map is exec_setup's */
	uint32_t cores, *map;
	struct direct_hub direct; /* att.direct, or empty */
};
int exec_setup(const struct exec_args *a, uint32_t nodes, struct exec_setup *s,
	       struct weft_err *err);
void exec_setup_fini(struct exec_setup *s);
/* From now on this process, and what it starts, has that many processors. */
void exec_descriptors(void); /* raises their limit */
void exec_pin(uint32_t cores);

/* report.c: what became of the processes; their failures go to r. */
void exec_report(struct exec_job *j, struct weft_result *r);
/* A few lines for people. */
void exec_summary(struct exec_job *j, const struct weft_result *r, FILE *f);

/* table.c: calls and messages of a run; nothing to say, nothing printed. */
void exec_calls_table(const struct calls *c, FILE *f);
/* The same program on several machines (the points of s), side by side. */
void exec_compare(const struct run_set *s, FILE *f);

#endif
