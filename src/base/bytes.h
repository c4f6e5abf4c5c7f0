/* SPDX-License-Identifier: Apache-2.0 */
/* Reads and writes numbers of n bytes in packets, in little-endian or
 * big-endian order. The address need not be aligned, because fields of packets
 * are not aligned. */
#ifndef BASE_BYTES_H
#define BASE_BYTES_H

#include <stdint.h>

static inline uint64_t get_le(const uint8_t *p, uint32_t n)
{
	uint64_t v = 0;

	while (n--)
		v = v << 8 | p[n];
	return v;
}

static inline uint64_t get_be(const uint8_t *p, uint32_t n)
{
	uint64_t v = 0;

	for (uint32_t i = 0; i < n; i++)
		v = v << 8 | p[i];
	return v;
}

static inline void put_le(uint8_t *p, uint64_t v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static inline void put_be(uint8_t *p, uint64_t v, uint32_t n)
{
	while (n--) {
		p[n] = (uint8_t)v;
		v >>= 8;
	}
}

#endif
