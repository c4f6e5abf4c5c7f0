/* SPDX-License-Identifier: Apache-2.0 */
/* See b8b10.h.  enc holds the code and, in bit 10, the disparity after it; dec
 * the symbol.  Both are made at build time (b8b10_gen.c). */
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

uint32_t b8b10_decode(uint32_t code, uint32_t *rd_p)
{
	uint32_t ones, sym;

	code &= CODE;
	ones = (uint32_t)__builtin_popcount(code);
	sym = dec[*rd_p][code];
	if (ones != 5)
		*rd_p = ones > 5;
	return sym;
}
