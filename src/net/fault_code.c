/* SPDX-License-Identifier: Apache-2.0 */
/* Bit errors on an 8b/10b line (extoll.md 4.8). fault_code_stream encodes,
 * damages and decodes a whole stream of bits. fault_code_flit does so only for
 * the symbols that may change, and must give equal results. It skips a symbol
 * if none of its bits is wrong and sender and receiver have equal disparity,
 * because such a symbol decodes to itself. */
#include <assert.h>
#include <stdlib.h>

#include "base/b8b10.h"
#include "net/fault.h"

enum { SYM = (1 << WEFT_PART_SHIFT) - 1, BITS = 10 };

static void fault_code_set(uint16_t *sym, uint32_t got)
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
		fault_code_set(&raw->sym[i], b8b10_decode(code, &rd));
	}
	free(line);
}

/* Decodes a code like a transceiver that reports disparity (forth.md 4.6, 4.9):
 * a code from the column of the other disparity yields its symbol with a flag,
 * a code from neither column yields raw bits. */
static uint32_t decode_told(uint32_t code, uint32_t *rd_p)
{
	uint32_t other = !*rd_p, sym = b8b10_decode(code, rd_p);

	if (!(sym & B8B10_BAD))
		return sym;
	sym = b8b10_decode(code, &other);
	return sym & B8B10_BAD ? B8B10_BAD | (code & 0xFF)
			       : sym | WEFT_SYM_DISP;
}

void fault_code_flit(struct weft_raw *raw, const struct fault_hit *hit,
		     uint32_t n, uint16_t comma)
{
	uint32_t (*decode)(uint32_t code, uint32_t * rd) =
		comma ? decode_told : b8b10_decode;
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
		fault_code_set(&raw->sym[i], decode(code, &rx));
	}
	if (comma && tx != rx)
		raw->sym[raw->n++] = comma | WEFT_SYM_DISP;
}

void fault_code_idle(struct weft_comp *c, const struct weft_wire_faults *w,
		     weft_time_t t, uint64_t word_fs,
		     const struct fault_hit *hit, uint32_t n)
{
	struct weft_frame *f = weft_frame_new(c->sim);

	f->time = t;
	f->word_fs = word_fs;
	f->words = 1;
	f->flags = w->idle_flags;
	f->raw = weft_raw_new(c->sim, 4 + 1);
	for (f->raw->n = 0; f->raw->n < 4; f->raw->n++)
		f->raw->sym[f->raw->n] = w->comma;
	fault_code_flit(f->raw, hit, n, w->comma);
	weft_filter_pass(c, f);
}
