/* SPDX-License-Identifier: Apache-2.0 */
/* Allocation of memory without which the program cannot continue. */
#ifndef BASE_NEED_H
#define BASE_NEED_H

#include <stddef.h>

/* Prints that memory has run out and what the user can change to need less.
 * Ends the program with status 2, because the simulated machine is too large
 * for this computer. */
void no_memory(void) __attribute__((noreturn, cold));

/* Returns p. Does not return if p is NULL. */
static inline void *need(void *p)
{
	if (__builtin_expect(!p, 0))
		no_memory();
	return p;
}

/* Returns the array at `at`, of n elements of `size` bytes, with room for one
 * element more, which is zeroed. The capacity is the next power of two above n,
 * so the caller does not store it. */
void *grown(void *at, size_t n, size_t size);

#endif
