/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the MPI that a program was linked with. The program's loader does the
 * search, as for ldd, because only the loader knows to which files the names of
 * libraries lead. */
#ifndef FRONT_EXEC_ELF_H
#define FRONT_EXEC_ELF_H

#include <stdbool.h>
#include <stddef.h>

struct elf_libs {
	bool openmpi;	/* libmpi.so.40 */
	bool mpich;	/* libmpi.so.12, libmpich.so.12 */
	bool libfabric; /* libfabric.so.1 */
	bool ucx;	/* libucp.so.0 */
	char mpi[4096]; /* file of the MPI's library, "" when it was not
			 * found */
};

/* Reads the libraries of `program`, a path or a name to find in PATH, into *l.
 * Returns false, with *l undefined, when the program does not exist, is a
 * script or has no loader. */
bool elf_libs_of(const char *program, struct elf_libs *l);
/* Finds `program` and writes its path to `path`.  Returns false when there is
 * no such program. */
bool elf_find(const char *program, char *path, size_t size);

#endif
