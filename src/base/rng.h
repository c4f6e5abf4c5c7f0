/* SPDX-License-Identifier: Apache-2.0 */
/* Seeding of random streams. Functions that draw are in weft/rng.h. */
#ifndef BASE_RNG_H
#define BASE_RNG_H

#include "weft/rng.h"

/* Seeds the stream `name` of run `seed`. name may be NULL or empty. */
void weft_rng_seed(struct weft_rng *r, uint64_t seed, const char *name);

#endif
