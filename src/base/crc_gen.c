/* SPDX-License-Identifier: Apache-2.0 */
/* Build-time program: prints the slicing-by-8 tables of CRC-16/IBM-3740.
 * Table k holds the CRC of byte b followed by k zero bytes. */
#include <stdint.h>
#include <stdio.h>

static uint16_t gen_byte(uint16_t crc, uint8_t b)
{
	crc ^= (uint16_t)(b << 8);
	for (int i = 0; i < 8; i++)
		crc = (uint16_t)(crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1);
	return crc;
}

int main(void)
{
	for (int k = 0; k < 8; k++) {
		printf("{");
		for (int b = 0; b < 256; b++) {
			uint16_t crc = gen_byte(0, (uint8_t)b);

			for (int z = 0; z < k; z++)
				crc = gen_byte(crc, 0);
			printf("%s0x%04X,", b % 8 ? " " : "\n\t", crc);
		}
		printf("\n},\n");
	}
	return 0;
}
