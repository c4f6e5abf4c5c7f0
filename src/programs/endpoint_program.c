/* SPDX-License-Identifier: Apache-2.0 */
/* Byte patterns for programs over the common endpoint. */
#include "programs/endpoint_program.h"

#include <string.h>

void epw_fill(void *p, size_t len, uint64_t base)
{
	uint8_t *b = p;

	for (size_t i = 0; i < len; i += 8) {
		uint64_t q = base + i / 8 * PROGRAM_STEP;

		memcpy(b + i, &q, len - i < 8 ? len - i : 8);
	}
}

int64_t epw_check(const void *p, size_t len, uint64_t base)
{
	const uint8_t *b = p;

	for (size_t i = 0; i < len; i += 8) {
		uint64_t q = base + i / 8 * PROGRAM_STEP;
		size_t k = len - i < 8 ? len - i : 8;

		if (!memcmp(b + i, &q, k))
			continue;
		for (size_t j = 0; j < k; j++)
			if (b[i + j] != (uint8_t)(q >> 8 * j))
				return (int64_t)(i + j);
	}
	return -1;
}
