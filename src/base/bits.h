/* SPDX-License-Identifier: Apache-2.0 */
/* Accesses to bit fields hi:lo of 64-bit words. Code names the bits as a data
 * sheet does, so that a reader can compare it with the sheet's tables. */
#ifndef BASE_BITS_H
#define BASE_BITS_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

/* Returns a word with ones in bits hi:lo, 63 >= hi >= lo. */
static inline uint64_t bits_mask(uint32_t hi, uint32_t lo)
{
	assert(hi < 64 && lo <= hi);
	return UINT64_MAX >> (63 - hi + lo) << lo;
}

static inline uint64_t bits_get(uint64_t word, uint32_t hi, uint32_t lo)
{
	return (word & bits_mask(hi, lo)) >> lo;
}

/* Returns `word` with bits hi:lo replaced by `val`, which must fit
 * (asserted). */
static inline uint64_t bits_set(uint64_t word, uint32_t hi, uint32_t lo,
				uint64_t val)
{
	uint64_t mask = bits_mask(hi, lo);

	assert(val <= mask >> lo);
	return (word & ~mask) | val << lo;
}

/* Returns true if the number of ones in the word is odd. */
static inline bool bits_parity(uint64_t word)
{
	return __builtin_parityll(word);
}

#endif
