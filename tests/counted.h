/* SPDX-License-Identifier: Apache-2.0 */
/* Included first in every file of a build with gcov's counters, so that a
 * process that ends by _exit() writes its counters too. */
#ifndef TESTS_COUNTED_H
#define TESTS_COUNTED_H

void __gcov_dump(void);
_Noreturn void plain_exit(int status) __asm__("_exit");

static inline _Noreturn void counted_exit(int status)
{
	__gcov_dump();
	plain_exit(status);
}

#define _exit counted_exit

#endif
