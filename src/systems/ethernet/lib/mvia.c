/* SPDX-License-Identifier: Apache-2.0 */
/* Frames of M-VIA (hvia.md 6.6): a header of 28 bytes and 1472 bytes of data,
 * in little endian like the frames of the card (3.8). The header's fields and
 * their lengths in bytes are:
 *
 * type 1, flags 1, destination 2, source 2, sequence 2, length 4, first byte 4,
 * reserved 12 */
#include <string.h>

#include "base/bytes.h"
#include "systems/ethernet/lib/stack.h"

enum { TYPE = 0x88b6, HEAD = 28 };

static void mvia_put(uint8_t *p, uint32_t from, uint32_t to,
		     const struct stack_seg *g)
{
	memset(p, 0, HEAD);
	p[2] = (uint8_t)to;
	p[3] = (uint8_t)(to >> 8);
	p[4] = (uint8_t)from;
	p[5] = (uint8_t)(from >> 8);
	put_le(p + 8, g->len, 4);
	put_le(p + 12, g->seq, 4);
}

static bool mvia_get(const uint8_t *p, uint32_t len, struct stack_seg *g)
{
	*g = (struct stack_seg){ (uint32_t)get_le(p + 12, 4),
				 (uint32_t)get_le(p + 8, 4), 0 };
	return g->len <= len - HEAD && !p[0];
}

const struct stack_proto stack_mvia = { "M-VIA", TYPE,	   false,
					HEAD,	 mvia_put, mvia_get };
