/* SPDX-License-Identifier: Apache-2.0 */
/* Launchers of MPI programs, and what they share. */
#ifndef FRONT_EXEC_MPI_H
#define FRONT_EXEC_MPI_H

#include "front/exec/exec.h"

/* libs.c: where a library of ours lies; environment that has the processes load
 * them.  false: there is no provider (built without libfabric). */
bool exec_lib_dir(const char *file, char *dir, size_t size);
/* Replaces a path that contains separators of lists of paths by a link in the
 * job's folder, because it would otherwise be read as several.  Returns false
 * when that is not possible. */
bool exec_plain(struct exec_job *j, const char *name, char *path, size_t size);
bool exec_libs(struct exec_job *j);

/* rsh.c: `weft exec --rsh [-OPTION...] HOST COMMAND...`, what mpirun calls to
 * start something on another node.  Does not return unless it fails. */
int exec_rsh(char **argv);
/* The address by which mpirun knows a node, and the name the node then has. */
enum { EXEC_HOST = 16 };
void exec_host_address(uint32_t node, char host[EXEC_HOST]);

/* openmpi.c, mpich.c, script.c */
extern const struct exec_launcher exec_openmpi, exec_mpich, exec_script;
/* Environment and files that make an MPI run on the machine. */
int openmpi_settle(struct exec_job *j, struct weft_err *err);
void mpich_settle(struct exec_job *j);

/* mpi.c */
struct mpi_args {
	VEC(char *);
};
void mpi_arg(struct mpi_args *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Starts them followed by the program's. */
int mpi_spawn(struct exec_job *j, struct mpi_args *a, struct weft_err *err);
int mpi_need_provider(struct weft_err *err);
/* Names and values, ended by NULL, and those that every MPI needs; the user's
 * own setting wins. */
void mpi_settings(struct exec_job *j, const char *const (*s)[2]);

/* The command that starts the ranks of an MPI. */
struct mpi_starter {
	const char *of;		  /* the MPI */
	const char *real;	  /* its name behind all links */
	const char *others;	  /* that of another MPI */
	const char *const *names; /* ended by NULL */
	bool mpich;
};
/* The program is such a command itself, with what the user wants of it. */
bool mpi_given(const struct exec_job *j, const struct mpi_starter *s);
/* The command up to the program, nothing when it was given: the one that was
 * named (--mpiexec), else the one beside the MPI's library (`lib`, or ""), else
 * one in PATH. */
int mpi_command(const struct exec_job *j, const struct mpi_starter *s,
		const char *lib, struct mpi_args *a, struct weft_err *err);

#endif
