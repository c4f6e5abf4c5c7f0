/* SPDX-License-Identifier: Apache-2.0 */
/* Random schedules of faults: initiators and targets over the fake link, with a
 * model of every byte that was written. */
#ifndef TESTS_STORAGE_FAULT_RUN_H
#define TESTS_STORAGE_FAULT_RUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fault_counts {
	uint64_t runs, requests, failed, retries, damaged, sessions, lost,
		reopened, packets;
};

/* Runs the schedule of a seed. With `hostile`, records are forged, and the run
 * checks only that all requests end. Adds to counts. Returns false with a
 * reason in why if a check fails. */
bool fault_run(uint64_t seed, bool hostile, struct fault_counts *counts,
	       char *why, size_t n);

#endif
