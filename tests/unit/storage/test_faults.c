/* SPDX-License-Identifier: Apache-2.0 */
/* Random schedules of faults between initiators and targets (fault_run.h).
 *
 *     test_storage_faults [COUNT [FROM [honest|hostile [trace]]]]
 *
 * Prints the first seed that fails, and stops. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake.h"
#include "fault_run.h"

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 0) : 2000;
	uint64_t from = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
	struct fault_counts c = { 0 };
	char why[200];

	bool hostile = argc > 3 && !strcmp(argv[3], "hostile");

	fake_trace = argc > 4;

	for (uint64_t seed = from; seed < from + count; seed++) {
		if (fault_run(seed, hostile, &c, why, sizeof(why)))
			continue;
		printf("seed %" PRIu64 ": %s\n", seed, why);
		return 1;
	}
	printf("%" PRIu64 " schedules, %" PRIu64 " requests, %" PRIu64
	       " failed, %" PRIu64 " retries, %" PRIu64 " damaged, %" PRIu64
	       " sessions begun again, %" PRIu64 " losses named, %" PRIu64
	       " disks reopened, %" PRIu64 " packets\n",
	       c.runs, c.requests, c.failed, c.retries, c.damaged, c.sessions,
	       c.lost, c.reopened, c.packets);
	return 0;
}
