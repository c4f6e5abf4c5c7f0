/* SPDX-License-Identifier: Apache-2.0 */
/* The toy's frames as symbols, for faults and captures (weft/wire.h). */
#include "systems/toy/link/wire.h"

#include <string.h>

#include "base/crc.h"

/* ---- fields and bytes ---- */

static void crc_put(uint8_t *b, uint32_t n)
{
	uint32_t crc = crc32_update(UINT32_MAX, b + 1, n - 1);

	for (uint32_t i = 0; i < TOY_CRC; i++)
		b[n + i] = (uint8_t)(crc >> (24 - 8 * i));
}

static uint32_t frame_bytes(const struct weft_frame *f,
			    uint8_t b[static TOY_SYMBOLS])
{
	const struct toy_fields *p = (const struct toy_fields *)f->u;

	b[0] = p->kind;
	if (p->kind == TOY_CREDIT) {
		b[1] = p->freed;
		b[2] = (uint8_t)~p->freed;
		return TOY_CREDIT_SYMBOLS;
	}
	b[1] = p->seq;
	b[2] = p->dest;
	b[3] = p->src;
	b[4] = p->len;
	memcpy(b + 5, &p->imm, sizeof(p->imm));
	if (p->len)
		memcpy(b + TOY_HEAD, weft_slice_data(f->payload), p->len);
	crc_put(b, TOY_HEAD + p->len);
	return TOY_HEAD + p->len + TOY_CRC;
}

static bool packet_good(const uint8_t *b, uint32_t n)
{
	uint8_t again[TOY_SYMBOLS];

	if (n < TOY_HEAD + TOY_CRC || n != b[4] + TOY_HEAD + TOY_CRC + 0u)
		return false;
	memcpy(again, b, n - TOY_CRC);
	crc_put(again, n - TOY_CRC);
	return !memcmp(again, b, n);
}

static bool bytes_good(const uint8_t *b, uint32_t n)
{
	if (b[0] == TOY_CREDIT)
		return n == TOY_CREDIT_SYMBOLS && (b[1] ^ b[2]) == 255;
	return b[0] == TOY_START && packet_good(b, n);
}

static void fields_set(struct weft_frame *f, const uint8_t *b)
{
	struct toy_fields *p = toy_fields(f);

	*p = (struct toy_fields){ .kind = b[0] };
	if (p->kind == TOY_CREDIT) {
		p->freed = b[1];
		return;
	}
	p->seq = b[1];
	p->dest = b[2];
	p->src = b[3];
	p->len = b[4];
	memcpy(&p->imm, b + 5, sizeof(p->imm));
	weft_slice_drop(&f->payload);
	f->payload = weft_slice_word(f->sim, p->len);
	if (p->len)
		memcpy(weft_slice_data(f->payload), b + TOY_HEAD, p->len);
}

bool toy_decode(struct weft_frame *f)
{
	const struct weft_raw *raw = f->raw;
	uint8_t b[TOY_SYMBOLS];

	if (!raw)
		return true;
	if (!raw->n || raw->n > TOY_SYMBOLS)
		return false;
	for (uint32_t i = 0; i < raw->n; i++) {
		if ((raw->sym[i] & ~255u) != (i ? 0u : WEFT_SYM_K))
			return false;
		b[i] = (uint8_t)raw->sym[i];
	}
	if (!bytes_good(b, raw->n))
		return false;
	fields_set(f, b);
	return true;
}

/* ---- symbols ---- */

static enum weft_part part_of(uint8_t kind, uint32_t i, uint32_t n)
{
	static const uint8_t head[] = { WEFT_PART_CONTROL, WEFT_PART_SEQ,
					WEFT_PART_ROUTE, WEFT_PART_ROUTE,
					WEFT_PART_LEN };

	if (kind == TOY_CREDIT)
		return i ? WEFT_PART_CREDIT : WEFT_PART_CONTROL;
	if (i < sizeof(head))
		return head[i];
	if (i < TOY_HEAD)
		return WEFT_PART_HEADER;
	return i < n - TOY_CRC ? WEFT_PART_PAYLOAD : WEFT_PART_CRC;
}

static uint32_t encode(const struct weft_frame *f, uint16_t *sym, uint32_t max,
		       bool parts)
{
	uint8_t b[TOY_SYMBOLS];
	uint32_t n = frame_bytes(f, b);

	for (uint32_t i = 0; sym && i < n && i < max; i++)
		sym[i] = (uint16_t)(b[i] | (i ? 0 : WEFT_SYM_K) |
				    (parts ? part_of(b[0], i, n)
						     << WEFT_PART_SHIFT
					   : 0));
	return n;
}

static uint32_t toy_encode(const struct weft_frame *f, uint16_t *sym,
			   uint32_t max)
{
	return encode(f, sym, max, false);
}

static uint32_t toy_encode_parts(const struct weft_frame *f, uint16_t *sym,
				 uint32_t max)
{
	return encode(f, sym, max, true);
}

/* ---- hooks for faults and captures ---- */

static uint64_t toy_word_fs(const struct weft_port *p)
{
	const struct toy_line *l = p->iface;

	return l->clk->num / l->clk->den;
}

static bool toy_packet(const struct weft_frame *f)
{
	return ((const struct toy_fields *)f->u)->kind == TOY_START;
}

static bool toy_control(const struct weft_frame *f)
{
	return !toy_packet(f);
}

static uint32_t toy_credits(const struct weft_frame *f)
{
	return toy_control(f);
}

#define PART(p) (1u << WEFT_PART_##p)
static const struct weft_wire_faults toy_faults = {
	.encode_parts = toy_encode_parts,
	.targets = { [WEFT_PART_CONTROL] = PART(CONTROL),
		     [WEFT_PART_CREDIT] = PART(CREDIT),
		     [WEFT_PART_HEADER] =
			     PART(SEQ) | PART(ROUTE) | PART(LEN) | PART(HEADER),
		     [WEFT_PART_BODY] = PART(PAYLOAD) | PART(CRC),
		     [WEFT_PART_SEQ] = PART(SEQ),
		     [WEFT_PART_LEN] = PART(LEN),
		     [WEFT_PART_ROUTE] = PART(ROUTE),
		     [WEFT_PART_PAYLOAD] = PART(PAYLOAD),
		     [WEFT_PART_CRC] = PART(CRC) },
	.code = WEFT_LINE_BYTES,
	.whole_words = true,
	.noise = 1,
	.word_fs = toy_word_fs,
	.packet = toy_packet,
	.control = toy_control,
	.credits = toy_credits,
	.credit_part = WEFT_PART_CREDIT,
	.credit_symbols = TOY_CREDIT_SYMBOLS - 1,
};

static const struct weft_wire_capture toy_capture = { .number = 129 };

const struct weft_wire toy_wire = { .name = "toy",
				    .encode = toy_encode,
				    .faults = &toy_faults,
				    .capture = &toy_capture };
