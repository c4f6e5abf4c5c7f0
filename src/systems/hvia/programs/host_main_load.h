/* SPDX-License-Identifier: Apache-2.0 */
/* A shared object as a program of its own: a private copy of file, data and
 * symbols, and calls of the C library that would leave the simulated machine
 * led to it instead. */
#ifndef SYSTEMS_HVIA_PROGRAMS_HOST_MAIN_LOAD_H
#define SYSTEMS_HVIA_PROGRAMS_HOST_MAIN_LOAD_H

#include <stdbool.h>
#include <stddef.h>

/* What a reference to `name` is to mean. */
struct main_sym {
	const char *name;
	void *to;
};

/* Loads a copy of the file; NULL, and why.  *fd_p is to be closed after it: the
 * loader also knows files by their names, and this one's is its number. */
void *main_load(const char *file, int *fd_p, char *why, size_t size);
/* Changes its references; `tab` ends with a NULL name.  False: not on this
 * processor, or memory could not be made writable. */
bool main_redirect(void *dl, const struct main_sym *tab);

/* host_main_memory.c: malloc and its family */
extern const struct main_sym main_mem[];

#endif
