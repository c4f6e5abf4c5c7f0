/* SPDX-License-Identifier: Apache-2.0 */
/* Launchers of MPI programs, and what they share. */
#ifndef FRONT_EXEC_MPI_H
#define FRONT_EXEC_MPI_H

#include "front/exec/exec.h"

/* libs.c: where a library of ours lies; environment that has the processes load
 * them.  false: there is no provider (built without libfabric). */
bool exec_lib_dir(const char *file, char *dir, size_t size);
bool exec_libs(struct exec_job *j);

/* rsh.c: `weft exec --rsh [-OPTION...] HOST COMMAND...`, what mpirun calls to
 * start something on another node.  Does not return unless it fails. */
int exec_rsh(char **argv);
/* The address by which mpirun knows a node, and the name the node then has. */
enum { EXEC_HOST = 16 };
void exec_host_address(uint32_t node, char host[EXEC_HOST]);

/* mpi.c */
extern const struct exec_launcher exec_openmpi, exec_mpich;

#endif
