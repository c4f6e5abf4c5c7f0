/* SPDX-License-Identifier: Apache-2.0 */
/* Memory that the program cannot go on without. */
#ifndef BASE_NEED_H
#define BASE_NEED_H

#include <stddef.h>

/* Says that memory has run out and what helps, and ends the program with
 * status 2: the machine that was asked for is too large for this one. */
void no_memory(void) __attribute__((noreturn, cold));

/* p itself; does not return when there is none. */
static inline void *need(void *p)
{
	if (__builtin_expect(!p, 0))
		no_memory();
	return p;
}

#endif
