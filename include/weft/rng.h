/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers: xoshiro256**, one stream per component.  Streams are seeded
 * from the run's seed and the owner's name alone, so that one component's draws
 * do not change another's. */
#ifndef WEFT_RNG_H
#define WEFT_RNG_H

#include "weft/types.h"

WEFT_C_BEGIN

struct weft_rng {
	uint64_t s[4];
};
/* Returns the next 64 random bits of the stream. */
uint64_t weft_rng_u64(struct weft_rng *r);
/* Returns a number from 0..n-1, each with equal probability; n > 0. A call may
 * draw more than one number from the stream. */
uint64_t weft_rng_below(struct weft_rng *r, uint64_t n);
/* Returns a number from [0, 1), a multiple of 2^-53, by one draw. */
double weft_rng_real(struct weft_rng *r);

WEFT_C_END

#endif
