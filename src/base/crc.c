/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-16/IBM-3740 and CRC-32/MPEG-2 (forth.md 4.4).
 *
 * CRC-32 is computed by ISA-L's crc32_ieee, which has the same polynomial, MSB
 * first. ISA-L complements its input and output but the links do not.
 * Therefore both complements are undone. ISA-L has no CRC-16 with this
 * polynomial (T10-DIF has another one). Therefore CRC-16 is slicing by 8 over a
 * table made at build time. */
#include <assert.h>
#include <isa-l/crc.h>
#include <string.h>

#include "base/crc.h"

static const uint16_t crc16_tab[8][256] = {
#include "base/minmax.h"
#include "crc16_tab.inc"
};

enum { CRC_CHUNK = 64 }; /* number of qwords that are byte-swapped at a time */

uint16_t crc16_update(uint16_t crc, const uint8_t *p, size_t n)
{
	for (size_t i = 0; i < n; i++)
		crc = (uint16_t)(crc << 8 ^ crc16_tab[0][crc >> 8 ^ p[i]]);
	return crc;
}

uint16_t crc16_qword(uint16_t crc, uint64_t q)
{
	uint16_t res = 0;

	q ^= (uint64_t)crc << 48;
	for (int k = 0; k < 8; k++)
		res ^= crc16_tab[k][q >> (8 * k) & 0xFF];
	return res;
}

uint32_t crc32_update(uint32_t crc, const uint8_t *p, size_t n)
{
	return n ? ~crc32_ieee(~crc, p, n) : crc;
}

uint32_t crc32_qwords(uint32_t crc, const uint8_t *p, size_t n)
{
	uint64_t turned[CRC_CHUNK];

	assert(n % 8 == 0);
	while (n) {
		size_t qwords = min_of(n / 8, CRC_CHUNK);

		memcpy(turned, p, qwords * 8);
		for (size_t i = 0; i < qwords; i++)
			turned[i] = __builtin_bswap64(turned[i]);
		crc = crc32_update(crc, (const uint8_t *)turned, qwords * 8);
		p += qwords * 8;
		n -= qwords * 8;
	}
	return crc;
}

uint32_t crc32_reflected(uint32_t crc, const uint8_t *p, size_t n)
{
	return n ? crc32_gzip_refl(crc, p, n) : crc;
}

/* Computes CRC-8, four bits at a time: tab[k] is k * x^8 modulo x^8 + x^2 + x +
 * 1. */
uint8_t crc8_update(uint8_t crc, const uint8_t *p, size_t n)
{
	static const uint8_t tab[16] = { 0x00, 0x07, 0x0e, 0x09, 0x1c, 0x1b,
					 0x12, 0x15, 0x38, 0x3f, 0x36, 0x31,
					 0x24, 0x23, 0x2a, 0x2d };

	for (size_t i = 0; i < n; i++) {
		crc ^= p[i];
		crc = (uint8_t)(crc << 4 ^ tab[crc >> 4]);
		crc = (uint8_t)(crc << 4 ^ tab[crc >> 4]);
	}
	return crc;
}
