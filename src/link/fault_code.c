/* SPDX-License-Identifier: Apache-2.0 */
/* Bit errors on an 8b/10b line (extoll.md 4.8), at two levels that must agree:
 * a stream of bits that is encoded, damaged and decoded; and symbols, of which
 * only those are looked at that are hit, or that come while the disparity of
 * the receiver is not that of the sender. */
#include <assert.h>
#include <stdlib.h>

#include "base/b8b10.h"
#include "link/fault.h"

enum { SYM = (1 << FAULT_PART_SHIFT) - 1, BITS = 10 };

static void set(uint16_t *sym, uint32_t got)
{
	*sym = (uint16_t)((*sym & ~SYM) | got);
}

void fault_code_stream(struct weft_raw *raw, const struct fault_hit *hit,
		       uint32_t n)
{
	uint8_t *line = malloc(raw->n * BITS + 1);
	uint32_t i, k, rd = 0;

	assert(line);
	for (i = 0; i < raw->n; i++) {
		uint32_t code = b8b10_encode(raw->sym[i] & SYM, &rd);

		for (k = 0; k < BITS; k++)
			line[i * BITS + k] = code >> (BITS - 1 - k) & 1;
	}
	for (i = 0; i < n; i++)
		line[hit[i].symbol * BITS + hit[i].bit] ^= 1;
	rd = 0;
	for (i = 0; i < raw->n; i++) {
		uint32_t code = 0;

		for (k = 0; k < BITS; k++)
			code = code << 1 | line[i * BITS + k];
		set(&raw->sym[i], b8b10_decode(code, &rd));
	}
	free(line);
}

void fault_code_flit(struct weft_raw *raw, const struct fault_hit *hit,
		     uint32_t n)
{
	uint32_t i, tx = 0, rx = 0;

	for (i = 0; i < raw->n; i++) {
		bool same = tx == rx && !(n && hit->symbol == i);
		uint32_t code = b8b10_encode(raw->sym[i] & SYM, &tx);

		if (same) {
			rx = tx;
			continue;
		}
		for (; n && hit->symbol == i; n--, hit++)
			code ^= 1u << (BITS - 1 - hit->bit);
		set(&raw->sym[i], b8b10_decode(code, &rx));
	}
}
