/* SPDX-License-Identifier: Apache-2.0 */
/* Which MPI a program was linked with: its loader is asked, as ldd does. */
#ifndef FRONT_EXEC_ELF_H
#define FRONT_EXEC_ELF_H

#include <stdbool.h>

struct elf_libs {
	bool openmpi;	/* libmpi.so.40 */
	bool mpich;	/* libmpi.so.12, libmpich.so.12 */
	bool libfabric; /* libfabric.so.1 */
};

/* `program` is a path or looked for in PATH.  false: not there, a script, or
 * without a loader; nothing is known then. */
bool elf_libs_of(const char *program, struct elf_libs *l);

#endif
