/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-16/IBM-3740 and CRC-32/MPEG-2 (forth.md 4.4); CRC-32 and CRC-8
 * (extoll.md 3.10). */
#ifndef BASE_CRC_H
#define BASE_CRC_H

#include <stddef.h>
#include <stdint.h>

/* MSB first, poly 0x1021; start with 0xFFFF. */
uint16_t crc16_update(uint16_t crc, const uint8_t *p, size_t n);
/* MSB first, poly 0x04C11DB7; start with 0xFFFFFFFF, no final complement. */
uint32_t crc32_update(uint32_t crc, const uint8_t *p, size_t n);
/* Returns the header CRC after one qword, bit 63 first. */
uint16_t crc16_qword(uint16_t crc, uint64_t q);
/* Returns the CRC after a payload in host memory order (little-endian qwords).
 * Each qword enters bit 63 first, so its 8 bytes enter in descending address
 * order. n must be a multiple of 8. */
uint32_t crc32_qwords(uint32_t crc, const uint8_t *p, size_t n);

/* extoll.md 3.10.  CRC-32 as in Ethernet: reflected, complemented on
 * the way in and out; start with 0, chains. */
uint32_t crc32_reflected(uint32_t crc, const uint8_t *p, size_t n);
/* MSB first, poly 0x07; start with 0. */
uint8_t crc8_update(uint8_t crc, const uint8_t *p, size_t n);

#endif
