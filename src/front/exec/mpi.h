/* SPDX-License-Identifier: Apache-2.0 */
/* Launchers of MPI programs, and their common code. */
#ifndef FRONT_EXEC_MPI_H
#define FRONT_EXEC_MPI_H

#include "front/exec/exec.h"

/* libs.c. exec_lib_dir writes the folder of a library of weft to `dir`. It
 * returns false if the library is missing. exec_libs sets the environment that
 * makes the processes load libweft-time.so and the provider. It returns false
 * if the provider is missing, as in a weft that was built without libfabric. */
bool exec_lib_dir(const char *file, char *dir, size_t size);
/* Replaces a path that contains separators of path lists by a link in the job's
 * folder, because it would otherwise be read as several paths. Returns false
 * when the link cannot be made. */
bool exec_plain(struct exec_job *j, const char *name, char *path, size_t size);
bool exec_libs(struct exec_job *j);

/* rsh.c: `weft exec --rsh [-OPTION...] HOST COMMAND...`, by which mpirun starts
 * a command on another node. The command replaces the process. After an error
 * the function returns the exit status. */
int exec_rsh(char **argv);
/* Writes the address that mpirun uses for a node, which is also the node's host
 * name. */
enum { EXEC_HOST = 16 };
void exec_host_address(uint32_t node, char host[EXEC_HOST]);

/* Launchers of openmpi.c, mpich.c and script.c. */
extern const struct exec_launcher exec_openmpi, exec_mpich, exec_script;
/* Each function prepares the environment and the files for runs of one MPI. */
int openmpi_settle(struct exec_job *j, struct weft_err *err);
void mpich_settle(struct exec_job *j);

/* mpi.c */
struct mpi_args {
	VEC(char *);
};
void mpi_arg(struct mpi_args *a, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* Starts the command in `a` with the program's arguments behind it. Returns 0,
 * or a negative errno with a message. */
int mpi_spawn(struct exec_job *j, struct mpi_args *a, struct weft_err *err);
int mpi_need_provider(struct weft_err *err);
/* Sets the variables of a list of names and values (ended by NULL), and the
 * variables that every MPI needs. Keeps settings that the user has made. */
void mpi_settings(struct exec_job *j, const char *const (*s)[2]);

/* Command that starts the ranks of an MPI. */
struct mpi_starter {
	const char *of;	  /* name of the MPI, for messages */
	const char *real; /* file name of the command, with all links
			   * resolved */
	/* file name, with all links resolved, of a command that belongs to
	 * another MPI and is skipped */
	const char *others;
	const char *const *names; /* names to search, ended by NULL */
	bool mpich;
};
/* Returns true when the job's program is the command of *s itself. The user has
 * then given the whole command line. */
bool mpi_given(const struct exec_job *j, const struct mpi_starter *s);
/* Stores the command and its options, without the program, in *a. Stores
 * nothing when mpi_given is true. Chooses the command of --mpiexec, otherwise
 * the command beside the MPI's library (`lib`, or ""), otherwise one in PATH.
 * Returns 0, or a negative errno with a message. */
int mpi_command(const struct exec_job *j, const struct mpi_starter *s,
		const char *lib, struct mpi_args *a, struct weft_err *err);

#endif
