/* SPDX-License-Identifier: Apache-2.0 */
/* A target passes outcomes of an input to see() if they are not in the
 * simulation's own state: results of calls, notifications of programs, memory
 * of a bench. Replays (tests/replay) compare these outcomes with stored ones.
 * During fuzzing see() does nothing. */
#ifndef FUZZ_SEE_H
#define FUZZ_SEE_H

#include <stdint.h>

__attribute__((weak)) void replay_see(const void *data, uint64_t bytes);

static inline void see(const void *data, uint64_t bytes)
{
	if (replay_see)
		replay_see(data, bytes);
}

static inline uint64_t see_value(uint64_t v)
{
	see(&v, sizeof(v));
	return v;
}

#endif
