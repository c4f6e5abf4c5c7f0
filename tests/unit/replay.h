/* SPDX-License-Identifier: Apache-2.0 */
/* Command line of the differential tests, one random scenario per seed:
 *
 * PROGRAM             as many scenarios as the test wants, from seed 1 on;
 *                     a tenth of them under AddressSanitizer
 * PROGRAM SEED [N]    N scenarios (default 1) from SEED on */
#ifndef TESTS_REPLAY_H
#define TESTS_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

/* Runs one scenario. Returns 0 when product and reference agree, otherwise
 * prints the difference. The test may keep its counts in `totals`. */
typedef int (*replay_one)(uint64_t seed, void *totals);

/* Runs scenarios up to the first that fails, and names it. Returns the number
 * of scenarios, or 0 after a failure. */
uint64_t replay(int argc, char **argv, uint64_t wanted, replay_one one,
		void *totals);
/* Compares two values. Prints them and returns 1 when they differ. */
int replay_differ(const char *what, uint64_t i, uint64_t got, uint64_t want);

#endif
