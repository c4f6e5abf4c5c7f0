/* SPDX-License-Identifier: Apache-2.0 */
/* `weft exec`: processes on a simulated machine.
 *
 * The command builds the machine, lets a launcher start the processes, and runs
 * the machine until they have ended. A launcher starts the processes of one
 * kind of program: directly, or by the mpirun of an MPI. */
#ifndef FRONT_EXEC_H
#define FRONT_EXEC_H

#include <stdio.h>
#include <sys/types.h>

#include "attach/serve.h"
#include "base/vec.h"
#include "front/exp/exp.h"
#include "front/run/run.h"

/* Names of clocks that the option --clock accepts. The index is an enum
 * weft_att_clock. */
extern const char *const exec_clocks[3];

struct exec_job {
	char **argv;	     /* program and arguments, ended by NULL */
	uint32_t n;	     /* number of ranks */
	const uint32_t *map; /* node of each rank */
	uint32_t nodes;	     /* number of nodes of the machine */
	enum weft_att_clock clock;
	const char *socket;  /* value of WEFT_SOCKET for the processes */
	const char *mpiexec; /* command that starts MPI ranks, or NULL if the
			      * launcher searches for a command */
	bool quiet;
	struct att_server *server;
	/* Variables "NAME=VALUE" that every started process gets in addition to
	 * the environment of weft (exec_env). */
	struct {
		VEC(char *);
	} env;
	/* Folder for files of the job, or NULL. It is removed when the job
	 * ends (exec_folder). */
	char *folder;
	struct {
		VEC(pid_t);
	} pids;
	void *own;    /* state of the launcher */
	pid_t keeper; /* process that cleans up, or 0 */
	int keeper_fd;
};

struct exec_launcher {
	const char *name, *doc; /* name: the value of --mpi */
	/* Returns true when this launcher can start the job's program.  Without
	 * --mpi the first launcher that returns true starts the job. */
	bool (*fits)(const struct exec_job *j);
	/* Starts the job's processes by exec_spawn. Returns 0, or a negative
	 * errno with a message. */
	int (*start)(struct exec_job *j, struct weft_err *err);
};
extern const struct exec_launcher *const exec_launchers[]; /* ended by NULL */

/* launch.c */
/* Starts one process.  argv is ended by NULL, and argv[0] is found by PATH. The
 * process gets the environment of the job and the variables `more` (an array
 * ended by NULL, or NULL).  Returns 0, or a negative errno with a message. */
int exec_spawn(struct exec_job *j, char *const *argv, char *const *more,
	       struct weft_err *err);
/* Sets a variable for all processes that are started later. A second value of a
 * name replaces the first. */
void exec_env(struct exec_job *j, const char *name, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Creates j->folder unless it exists, and reports its name to the keeper.  The
 * folder is removed with its files when the job ends.  Returns 0, or a negative
 * errno with a message. */
int exec_folder(struct exec_job *j, struct weft_err *err);
/* Returns the launcher of that name or, for NULL and "auto", the first one that
 * fits the job. */
const struct exec_launcher *
exec_launcher(const struct exec_job *j, const char *name, struct weft_err *err);
const char *exec_launchers_next(void *unused, size_t i);
/* Ends the processes that still run: sends SIGTERM, then SIGKILL to those that
 * remain. */
void exec_kill(struct exec_job *j);
void exec_job_fini(struct exec_job *j);

/* job_reaper.c */
/* The keeper is a process that cleans up when weft is killed. It then calls
 * exec_sweep, and exec_remove for the folder that exec_keep_tell named. After
 * exec_keep_end it does nothing. */
int exec_keep(struct exec_job *j, struct weft_err *err);
void exec_keep_tell(struct exec_job *j, const char *folder);
void exec_keep_end(struct exec_job *j);
/* Runs the keeper, which is `weft exec --keep SOCKET`. Returns the exit
 * status. */
int exec_keeper(const char *socket);
/* Ends all processes that have this socket in their environment. */
void exec_sweep(const char *socket);
/* Removes a folder with all its files. */
void exec_remove(const char *folder);

/* Launcher of launch.c, which starts n processes itself. */
extern const struct exec_launcher exec_direct;

/* edit.c: turns an experiment into a machine by replacing its workload by
 * agents. */
int exec_edit(struct doc *d, const struct registry *reg, struct weft_err *err);
/* Returns true when a node of the experiment has a driver. */
bool exec_drivers(const struct exp *e);
/* Returns the number of nodes of the machine. */
uint32_t exec_nodes(const struct exp *e);

/* setup.c: checks the options and turns them into numbers. exec_setup returns
 * 0, or a negative errno with a message. */
struct exec_args {
	const char *n, *clock, *map, *per_node, *cores, *patience, *cpu_factor;
	const char *path;
	bool raw;
	bool drivers; /* nodes of the machine have drivers */
};
struct exec_setup {
	struct att_opts att; /* att.map is freed by exec_setup_fini */
	uint32_t cores, *map;
	struct direct_hub direct; /* hub of att.direct; empty without a direct
				   * path */
};
int exec_setup(const struct exec_args *a, uint32_t nodes, struct exec_setup *s,
	       struct weft_err *err);
void exec_setup_fini(struct exec_setup *s);
/* exec_descriptors raises the limit of open files. exec_pin limits this
 * process, and all that it starts, to a number of processors. */
void exec_descriptors(void);
void exec_pin(uint32_t cores);

/* report.c: reports how the processes ended, and adds their failures to r. */
void exec_report(struct exec_job *j, struct weft_result *r);
/* Prints a summary of the run in a few lines. */
void exec_summary(struct exec_job *j, const struct weft_result *r, FILE *f);

/* table.c: prints the calls and messages of a run. Prints nothing when the run
 * had none. */
void exec_calls_table(const struct calls *c, FILE *f);
/* Prints the runs of one program on several machines (the points of s) side by
 * side. */
void exec_compare(const struct run_set *s, FILE *f);

#endif
