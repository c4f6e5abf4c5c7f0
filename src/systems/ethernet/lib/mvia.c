/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of M-VIA (hvia.md 6.6): a header of 28 bytes, 1472 of data, as those
 * of the card (3.8), little endian:
 *
 *   type 1, flags 1, destination 2, source 2, sequence 2, length 4, first
 *   byte 4, reserved 12 */
#include <string.h>

#include "systems/ethernet/lib/stack.h"

enum { TYPE = 0x88b6, HEAD = 28 };

static void put32(uint8_t *p, uint32_t v)
{
	for (uint32_t i = 0; i < 4; i++)
		p[i] = (uint8_t)(v >> 8 * i);
}

static uint32_t get32(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

static void mvia_put(uint8_t *p, uint32_t from, uint32_t to,
		     const struct stack_seg *g)
{
	memset(p, 0, HEAD);
	p[2] = (uint8_t)to;
	p[3] = (uint8_t)(to >> 8);
	p[4] = (uint8_t)from;
	p[5] = (uint8_t)(from >> 8);
	put32(p + 8, g->len);
	put32(p + 12, g->seq);
}

static bool mvia_get(const uint8_t *p, uint32_t len, struct stack_seg *g)
{
	*g = (struct stack_seg){ get32(p + 12), get32(p + 8), 0 };
	return g->len <= len - HEAD && !p[0];
}

const struct stack_proto stack_mvia = { "M-VIA", TYPE,	   false,
					HEAD,	 mvia_put, mvia_get };
