/* SPDX-License-Identifier: Apache-2.0 */
/* Loads a shared object as a separate program, with a private copy of file,
 * data and symbols. Calls of the C library that would leave the simulated
 * machine are redirected. */
#ifndef SYSTEMS_HVIA_PROGRAMS_HOST_MAIN_LOAD_H
#define SYSTEMS_HVIA_PROGRAMS_HOST_MAIN_LOAD_H

#include <stdbool.h>
#include <stddef.h>

/* A redirection of references to `name` to another function. */
struct main_sym {
	const char *name;
	void *to;
};

/* Loads a copy of the file. Returns NULL on an error and writes the reason. The
 * caller keeps the file descriptor *fd_p open until the object is closed. The
 * number of this descriptor is the copy's name. If another file got the number,
 * the loader would take that file for this copy. */
void *main_load(const char *file, int *fd_p, char *why, size_t size);
/* Redirects references of the object. `tab` ends with a NULL name. Returns
 * false on processors other than x86-64 and ARM64, or if memory cannot be made
 * writable. */
bool main_redirect(void *dl, const struct main_sym *tab);

/* host_main_memory.c: replacements of malloc and its family */
extern const struct main_sym main_mem[];

#endif
