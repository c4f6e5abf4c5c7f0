/* SPDX-License-Identifier: Apache-2.0 */
/* xoshiro256** 1.0 (Blackman, Vigna), seeded by splitmix64 from the run's seed
 * and the FNV-1a hash of the stream's name. */
#include <assert.h>

#include "base/rng.h"

static uint64_t rng_splitmix(uint64_t *x)
{
	uint64_t z = *x += 0x9E3779B97F4A7C15u;

	z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
	z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
	return z ^ (z >> 31);
}

static uint64_t rng_hash(const char *name)
{
	uint64_t h = 0xCBF29CE484222325u;

	for (; name && *name; name++)
		h = (h ^ (uint8_t)*name) * 0x100000001B3u;
	return h;
}

void weft_rng_seed(struct weft_rng *r, uint64_t seed, const char *name)
{
	uint64_t h = rng_hash(name);
	uint64_t x = rng_splitmix(&seed) ^ rng_splitmix(&h);

	/* xoshiro cannot leave an all-zero state. The state is never all zero,
	 * because splitmix64 is a permutation and its four inputs differ. */
	for (int i = 0; i < 4; i++)
		r->s[i] = rng_splitmix(&x);
}

static uint64_t rng_rotl(uint64_t x, int k)
{
	return (x << k) | (x >> (64 - k));
}

uint64_t weft_rng_u64(struct weft_rng *r)
{
	uint64_t *s = r->s, res = rng_rotl(s[1] * 5, 7) * 9, t = s[1] << 17;

	s[2] ^= s[0];
	s[3] ^= s[1];
	s[1] ^= s[2];
	s[0] ^= s[3];
	s[2] ^= t;
	s[3] = rng_rotl(s[3], 45);
	return res;
}

/* Returns a number below n by Lemire's multiplication. If n does not divide
 * 2^64, some draws are rejected, because otherwise some numbers would be more
 * likely than others. */
uint64_t weft_rng_below(struct weft_rng *r, uint64_t n)
{
	unsigned __int128 m;

	assert(n);
	m = (unsigned __int128)weft_rng_u64(r) * n;
	if ((uint64_t)m < n) {
		uint64_t reject = -n % n;

		while ((uint64_t)m < reject)
			m = (unsigned __int128)weft_rng_u64(r) * n;
	}
	return (uint64_t)(m >> 64);
}

double weft_rng_real(struct weft_rng *r)
{
	return (double)(weft_rng_u64(r) >> 11) * 0x1p-53;
}
