/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of mutexes for a test. A program that is linked with LOCKS_ARGS of
 * meson.build counts the mutexes of each thread. Unlocking a mutex that is not
 * locked fails the test at once. */
#ifndef TESTS_LOCKS_H
#define TESTS_LOCKS_H

/* Returns the number of mutexes that this thread holds. */
int locks_held(void);
/* Returns the number of descriptors that the process has open. */
int descriptors_open(void);

#endif
