/* SPDX-License-Identifier: Apache-2.0 */
/* See b8b10.h. An element of enc holds the code and, in bit 10, the disparity
 * after the code. An element of dec holds the symbol. Both tables are made at
 * build time (b8b10_gen.c). */
#include "base/b8b10.h"

#include <assert.h>

#include "b8b10_tab.inc"

enum { CODE = 0x3ff };

bool b8b10_known(uint32_t sym)
{
	return sym < B8B10_SYMBOLS && enc[0][sym] & CODE;
}

uint32_t b8b10_encode(uint32_t sym, uint32_t *rd_p)
{
	uint32_t e;

	assert(b8b10_known(sym));
	e = enc[*rd_p][sym];
	*rd_p = e >> 10;
	return e & CODE;
}

/* Returns the running disparity after a received block of 2 * `half` bits. The
 * disparity is positive if the block has more ones than zeros, or if `half`
 * zeros are followed by `half` ones. It is negative in the opposite cases.
 * Other balanced blocks do not change it, so a wrong disparity lasts until the
 * next block that sets it. */
static uint32_t disparity(uint32_t block, uint32_t half, uint32_t last,
			  uint32_t rd)
{
	uint32_t ones = (uint32_t)__builtin_popcount(block);

	if (ones != half)
		return ones > half;
	if (block == last)
		return 1;
	return block == last << half ? 0 : rd;
}

uint32_t b8b10_decode(uint32_t code, uint32_t *rd_p)
{
	uint32_t sym;

	code &= CODE;
	sym = dec[*rd_p][code];
	*rd_p = disparity(code >> 4, 3, 007, *rd_p);
	*rd_p = disparity(code & 15, 2, 003, *rd_p);
	return sym;
}
