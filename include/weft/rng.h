/* SPDX-License-Identifier: Apache-2.0 */
/* Random numbers: xoshiro256**, one stream per component.  Streams are seeded
 * from the run's seed and the owner's name, so they depend on nothing else. */
#ifndef WEFT_RNG_H
#define WEFT_RNG_H

#include "weft/types.h"

WEFT_C_BEGIN

struct weft_rng {
	uint64_t s[4];
};
uint64_t weft_rng_u64(struct weft_rng *r);
/* Uniform in 0..n-1, n > 0, without bias. */
uint64_t weft_rng_below(struct weft_rng *r, uint64_t n);
/* Uniform in [0, 1). */
double weft_rng_real(struct weft_rng *r);

WEFT_C_END

#endif
