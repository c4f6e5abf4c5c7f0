/* SPDX-License-Identifier: Apache-2.0 */
/* See replay.h. */
#include "replay.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Builds with a sanitizer run a tenth of the scenarios, because a sanitizer
 * checks the code and not the model. */
#ifdef __SANITIZE_ADDRESS__
enum { SHARE = 10 };
#else
enum { SHARE = 1 };
#endif

int replay_differ(const char *what, uint64_t i, uint64_t got, uint64_t want)
{
	if (got == want)
		return 0;
	fprintf(stderr,
		"%s %" PRIu64 ": product %" PRIu64 " (%#" PRIx64
		"), reference %" PRIu64 " (%#" PRIx64 ")\n",
		what, i, got, got, want, want);
	return 1;
}

uint64_t replay(int argc, char **argv, uint64_t wanted, replay_one one,
		void *totals)
{
	uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 0) : 1;
	uint64_t n = argc > 1 ? 1 : wanted / SHARE;

	if (argc > 2)
		n = strtoull(argv[2], NULL, 0);
	for (uint64_t i = 0; i < n; i++) {
		if (!one(seed + i, totals))
			continue;
		fprintf(stderr, "rerun: %s %" PRIu64 "\n", argv[0], seed + i);
		return 0;
	}
	printf("%" PRIu64 " scenarios from seed %" PRIu64 "\n", n, seed);
	return n;
}
