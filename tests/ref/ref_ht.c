/* SPDX-License-Identifier: Apache-2.0 */
#include "ref_ht.h"
bool ref_ht_decode(uint64_t addr, uint32_t bytes)
{
	return addr + bytes <= HT_HOLE_LO || addr >= HT_HOLE_HI;
}
uint8_t ref_ht_byte(uint32_t i)
{
	return (uint8_t)(i * 7 + 1);
}
