/* SPDX-License-Identifier: Apache-2.0 */
/* What a target shows of an input's outcome beside what the simulation itself
 * holds: what calls return, what programs are told, memory of a bench.  Replays
 * (tests/replay) compare it with what it was before; where a target is fuzzed
 * nobody looks. */
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
