/* SPDX-License-Identifier: Apache-2.0 */
/* Reads an input as a string of operations and their arguments. */
#ifndef FUZZ_TAKE_H
#define FUZZ_TAKE_H

#include <stdint.h>

struct fuzz_in {
	const uint8_t *p, *end;
};

/* Returns the next n bytes of the input as a number, low byte first. Bytes past
 * the end of the input count as 0. */
static inline uint64_t take(struct fuzz_in *in, uint32_t n)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < n && in->p < in->end; i++)
		v |= (uint64_t)*in->p++ << 8 * i;
	return v;
}

#endif
