/* SPDX-License-Identifier: Apache-2.0 */
/* Encoder, decoder and checks of ATOLL's flits, see wire.h. The CRC does not
 * cover routing strings, because each routing character has a parity bit
 * (hostport.md 2.2). */
#include "systems/atoll/network/wire.h"

#include <stdlib.h>
#include <string.h>

#include "base/crc.h"

enum { K_SOH = 0x10, K_SOD = 0x20, K_EOF = 0x30, K_EOP = 0x40, K_STATE = 0x50 };

static uint16_t data_crc(uint8_t seq, const uint8_t *p, uint32_t n)
{
	return crc16_update(crc16_update(0xffff, &seq, 1), p, n);
}

static uint8_t state_crc(uint32_t head, uint32_t seq)
{
	uint8_t b[2] = { (uint8_t)head, (uint8_t)seq };

	return crc8_update(0, b, 2);
}

struct enc {
	uint16_t *sym;
	uint32_t n;
};

static void wire_enc(struct enc *e, uint32_t v, enum weft_part part)
{
	e->sym[e->n++] = (uint16_t)(v | (uint32_t)part << WEFT_PART_SHIFT);
}

static void encode_flit(struct enc *e, const struct weft_frame *f)
{
	static const uint8_t zero[AT_FLIT];
	const struct at_line *l = at_line(f);
	const uint8_t *p = weft_slice_data(f->payload);
	bool head = l->kind == AT_HEAD;
	uint16_t crc;

	p = p ? p : zero;
	wire_enc(e, WEFT_SYM_K | (head ? K_SOH : K_SOD), WEFT_PART_CONTROL);
	wire_enc(e, l->seq, WEFT_PART_SEQ);
	for (uint32_t i = 0; i < f->payload.len; i++)
		wire_enc(e, p[i] | (head ? WEFT_SYM_K : 0),
			 head ? WEFT_PART_ROUTE : WEFT_PART_PAYLOAD);
	if (!head) {
		crc = data_crc(l->seq, p, f->payload.len);
		wire_enc(e, crc >> 8, WEFT_PART_CRC);
		wire_enc(e, crc & 0xff, WEFT_PART_CRC);
	}
	wire_enc(e, WEFT_SYM_K | (l->flags & AT_EOP ? K_EOP : K_EOF),
		 WEFT_PART_CONTROL);
}

uint32_t at_encode_parts(const struct weft_frame *f, uint16_t *sym,
			 uint32_t max)
{
	const struct at_line *l = at_line(f);
	uint32_t head = K_STATE | (l->flags & 0xf);
	struct enc e = { .sym = sym };

	if (!sym || max < at_words(f))
		return at_words(f);
	if (l->kind != AT_STATE) {
		encode_flit(&e, f);
		return e.n;
	}
	wire_enc(&e, WEFT_SYM_K | head, WEFT_PART_CREDIT);
	wire_enc(&e, l->seq, WEFT_PART_CREDIT);
	wire_enc(&e, state_crc(head, l->seq), WEFT_PART_CREDIT);
	return e.n;
}

static uint32_t wire_encode(const struct weft_frame *f, uint16_t *sym,
			    uint32_t max)
{
	uint32_t n = at_encode_parts(f, sym, max);

	for (uint32_t i = 0; sym && max >= n && i < n; i++)
		sym[i] &= (1u << WEFT_PART_SHIFT) - 1;
	return n;
}

const struct weft_wire atoll_wire = { .name = "atoll",
				      .encode = wire_encode,
				      .faults = &atoll_wire_faults,
				      .capture = &atoll_wire_capture };

/* ---- damaged frames ---- */

/* Copies the bytes of line symbols [from, to) into the payload of f. Returns
 * false if there are more than AT_FLIT symbols, or if the control bit of a
 * symbol differs from k. */
static bool take_bytes(struct weft_frame *f, uint32_t from, uint32_t to,
		       uint16_t k)
{
	uint8_t b[AT_FLIT];

	if (to < from || to - from > AT_FLIT)
		return false;
	for (uint32_t i = from; i < to; i++) {
		if ((f->raw->sym[i] & ~0xffu) != k)
			return false;
		b[i - from] = (uint8_t)f->raw->sym[i];
	}
	weft_slice_drop(&f->payload);
	f->payload = weft_slice_word(f->sim, to - from);
	if (to > from)
		memcpy(weft_slice_data(f->payload), b, to - from);
	return true;
}

static bool decode_flit(struct weft_frame *f, struct at_line *l)
{
	const uint16_t *s = f->raw->sym;
	uint32_t n = f->raw->n, tail = l->kind == AT_DATA ? 3 : 1;
	uint16_t k = l->kind == AT_HEAD ? WEFT_SYM_K : 0, crc;

	if (n < 2 + tail || s[1] > 0xff)
		return false;
	if (s[n - 1] != (WEFT_SYM_K | K_EOF) &&
	    (k || s[n - 1] != (WEFT_SYM_K | K_EOP)))
		return false;
	l->seq = (uint8_t)s[1];
	l->flags = s[n - 1] == (WEFT_SYM_K | K_EOP) ? AT_EOP : 0;
	if (!take_bytes(f, 2, n - tail, k))
		return false;
	if (k)
		return true;
	crc = data_crc(l->seq, weft_slice_data(f->payload), f->payload.len);
	return s[n - 3] == crc >> 8 && s[n - 2] == (crc & 0xff);
}

void at_decode(struct weft_frame *f)
{
	struct at_line *l = at_line(f);
	const uint16_t *s = f->raw->sym;
	uint16_t first = f->raw->n ? s[0] : 0;
	bool good = false;

	if (first == (WEFT_SYM_K | K_SOH) || first == (WEFT_SYM_K | K_SOD)) {
		l->kind = first == (WEFT_SYM_K | K_SOH) ? AT_HEAD : AT_DATA;
		good = decode_flit(f, l);
	} else if ((first & ~0xfu) == (WEFT_SYM_K | K_STATE)) {
		l->kind = AT_STATE;
		good = f->raw->n == AT_STATE_WORDS && s[1] <= 0xff &&
		       s[2] <= 0xff && s[2] == state_crc(s[0] & 0xff, s[1]);
	}
	if (good && l->kind == AT_STATE) {
		l->flags = s[0] & 0xf;
		l->seq = (uint8_t)s[1];
	}
	if (!good)
		l->flags = AT_BAD;
	free(f->raw);
	f->raw = NULL;
}
