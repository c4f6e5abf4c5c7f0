/* SPDX-License-Identifier: Apache-2.0 */
/* Which MPI a program was linked with: its loader is asked, as ldd does. */
#ifndef FRONT_EXEC_ELF_H
#define FRONT_EXEC_ELF_H

#include <stdbool.h>
#include <stddef.h>

struct elf_libs {
	bool openmpi;	/* libmpi.so.40 */
	bool mpich;	/* libmpi.so.12, libmpich.so.12 */
	bool libfabric; /* libfabric.so.1 */
	bool ucx;	/* libucp.so.0 */
	char mpi[4096]; /* file of the MPI, "" when it is not found */
};

/* `program` is a path or looked for in PATH.  false: not there, a script, or
 * without a loader; nothing is known then. */
bool elf_libs_of(const char *program, struct elf_libs *l);
/* Where it is; false: no such program. */
bool elf_find(const char *program, char *path, size_t size);

#endif
