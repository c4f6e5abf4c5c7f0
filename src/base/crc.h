/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-16/IBM-3740 and CRC-32/MPEG-2 (forth.md 4.4), and CRC-32 and CRC-8 of
 * extoll.md 3.10. */
#ifndef BASE_CRC_H
#define BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* Returns the CRC after n bytes, MSB first, polynomial 0x1021. The first crc is
 * 0xFFFF. */
uint16_t crc16_update(uint16_t crc, const uint8_t *p, size_t n);
/* Returns the CRC after n bytes, MSB first, polynomial 0x04C11DB7. The first
 * crc is 0xFFFFFFFF. The result is not complemented. */
uint32_t crc32_update(uint32_t crc, const uint8_t *p, size_t n);
/* Returns the header CRC after one qword, bit 63 first. */
uint16_t crc16_qword(uint16_t crc, uint64_t q);
/* Returns the CRC after a payload in host memory order (little-endian qwords).
 * Each qword enters bit 63 first, so that its 8 bytes enter in descending
 * address order. n must be a multiple of 8. */
uint32_t crc32_qwords(uint32_t crc, const uint8_t *p, size_t n);

/* Returns the CRC-32 of Ethernet (extoll.md 3.10) after n bytes: reflected,
 * with input and output complemented. crc is 0 at first, afterwards the result
 * for the bytes so far. */
uint32_t crc32_reflected(uint32_t crc, const uint8_t *p, size_t n);
/* Returns the CRC after n bytes, MSB first, polynomial 0x07. The first crc is
 * 0. */
uint8_t crc8_update(uint8_t crc, const uint8_t *p, size_t n);

#endif
