/* SPDX-License-Identifier: Apache-2.0 */
/* Launchers of MPI programs, and the code common to them. */
#ifndef FRONT_EXEC_MPI_H
#define FRONT_EXEC_MPI_H

#include "front/exec/exec.h"

/* libs.c.  exec_lib_dir writes the folder of a library of weft to `dir` and
 * returns false when the library is missing.  exec_libs sets the environment
 * that makes the processes load these libraries; it returns false when there is
 * no provider, because weft was built without libfabric. */
bool exec_lib_dir(const char *file, char *dir, size_t size);
/* Replaces a path that contains separators of lists of paths by a link in the
 * job's folder, because it would otherwise be read as several.  Returns false
 * when that is not possible. */
bool exec_plain(struct exec_job *j, const char *name, char *path, size_t size);
bool exec_libs(struct exec_job *j);

/* rsh.c: `weft exec --rsh [-OPTION...] HOST COMMAND...`, what mpirun calls to
 * start something on another node.  Does not return unless it fails. */
int exec_rsh(char **argv);
/* Writes the address by which mpirun knows a node; the node has it as its name,
 * too. */
enum { EXEC_HOST = 16 };
void exec_host_address(uint32_t node, char host[EXEC_HOST]);

/* openmpi.c, mpich.c, script.c */
extern const struct exec_launcher exec_openmpi, exec_mpich, exec_script;
/* Prepare the environment and files that make an MPI run on the machine. */
int openmpi_settle(struct exec_job *j, struct weft_err *err);
void mpich_settle(struct exec_job *j);

/* mpi.c */
struct mpi_args {
	VEC(char *);
};
void mpi_arg(struct mpi_args *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Starts the command in `a`, followed by the program's arguments. */
int mpi_spawn(struct exec_job *j, struct mpi_args *a, struct weft_err *err);
int mpi_need_provider(struct weft_err *err);
/* Sets names and values (ended by NULL), and those that every MPI needs.  A
 * setting that the user has made is kept. */
void mpi_settings(struct exec_job *j, const char *const (*s)[2]);

/* Command that starts the ranks of an MPI. */
struct mpi_starter {
	const char *of;		  /* the MPI */
	const char *real;	  /* its name behind all links */
	const char *others;	  /* that of another MPI */
	const char *const *names; /* ended by NULL */
	bool mpich;
};
/* Returns true when the job's program is such a command itself, so the user has
 * already written its arguments. */
bool mpi_given(const struct exec_job *j, const struct mpi_starter *s);
/* Puts the command, up to the program, into *a; puts nothing when the program
 * is such a command itself.  Takes the command named by --mpiexec, else the one
 * beside the MPI's library (`lib`, or ""), else one in PATH. */
int mpi_command(const struct exec_job *j, const struct mpi_starter *s,
		const char *lib, struct mpi_args *a, struct weft_err *err);

#endif
