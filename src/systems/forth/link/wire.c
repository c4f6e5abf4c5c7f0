/* SPDX-License-Identifier: Apache-2.0 */
/* Line symbols of an undamaged FORTH frame (forth.md 4.4, 4.7, 4.12).
 *
 * Every field of a bundle starts on a beat of 4L bytes. Link j carries bytes j,
 * j+L, j+2L.. of the beat. 10-bit codes are in net/fault_code.c. */
#include "systems/forth/link/wire.h"

#include "base/crc.h"

struct enc {
	uint16_t *sym;
	uint32_t n, max;
	uint32_t links, line;
	uint32_t pos; /* bytes since the delimiter, summed over all links */
};

static void enc_raw(struct enc *e, uint16_t sym, enum weft_part part)
{
	if (e->sym && e->n < e->max)
		e->sym[e->n] =
			(uint16_t)(sym | (uint32_t)part << WEFT_PART_SHIFT);
	e->n++;
}

static void enc_byte(struct enc *e, uint8_t b, enum weft_part part)
{
	if ((e->pos++ & (e->links - 1)) == e->line)
		enc_raw(e, b, part);
}

static void enc_be(struct enc *e, uint64_t v, uint32_t bytes,
		   enum weft_part part)
{
	while (bytes--)
		enc_byte(e, (uint8_t)(v >> (8 * bytes)), part);
}

static void enc_pad(struct enc *e)
{
	while (e->pos & (4 * e->links - 1))
		enc_byte(e, 0, WEFT_PART_FILL);
}

/* Encodes the whole qwords of p, or zeros if p is NULL. Returns the number of
 * bytes encoded. Returns 0 for a bundle, or if sym[] has no room for len
 * bytes. */
static uint32_t enc_qwords(struct enc *e, const uint8_t *p, uint32_t len)
{
	const uint16_t part = WEFT_PART_BODY << WEFT_PART_SHIFT;
	uint32_t i = 0, k;
	uint16_t *to;

	if (!e->sym || e->links > 1 || e->n + len > e->max)
		return 0;
	to = e->sym + e->n;
	for (; !p && i + 8 <= len; i += 8)
		for (k = 0; k < 8; k++)
			to[i + k] = part;
	for (; i + 8 <= len; i += 8)
		for (k = 0; k < 8; k++)
			to[i + k] = (uint16_t)(p[i + 7 - k] | part);
	e->n += i;
	e->pos += i;
	return i;
}

uint16_t forth_crc16(uint64_t header)
{
	return crc16_qword(0xFFFF, header);
}

static uint32_t crc32_zeros(uint32_t crc, uint32_t bytes)
{
	static const uint8_t zeros[64];

	for (; bytes > sizeof(zeros); bytes -= sizeof(zeros))
		crc = crc32_qwords(crc, zeros, sizeof(zeros));
	return crc32_qwords(crc, zeros, bytes);
}

uint32_t forth_crc32(const struct weft_frame *f)
{
	const uint8_t *p = weft_slice_data(f->payload);
	uint32_t len = f->payload.len & ~7u, crc = 0xFFFFFFFF;
	uint32_t wire_len = forth_shape_get(f).wire_len;

	if (f->flags & FORTH_F_CRC32)
		return (uint32_t)f->u[FORTH_U_CRC32];
	if (p)
		crc = crc32_qwords(crc, p, len);
	else
		crc = crc32_zeros(crc, len);
	return wire_len > len ? crc32_zeros(crc, wire_len - len) : crc;
}

static void enc_credits(struct enc *e, const struct weft_frame *f,
			const struct forth_shape *s)
{
	uint32_t n = s->credits, i = e->links;
	uint16_t slot = e->line < n ? forth_frame_credit(f, e->line) : 0;
	enum weft_part part = slot ? WEFT_PART_CREDIT : WEFT_PART_FILL;

	/* the delimiter's slot holds a credit, and further credits need extra
	 * words */
	if (s->layout == FORTH_WORD) {
		enc_raw(e, slot >> 8, part);
		enc_raw(e, slot & 255, part);
		for (; i < n; i++)
			enc_be(e, forth_frame_credit(f, i), 2,
			       WEFT_PART_CREDIT);
		enc_pad(e);
		return;
	}
	for (i = 0; i < n; i++)
		enc_be(e, forth_frame_credit(f, i), 2, WEFT_PART_CREDIT);
	/* the packed layout sends credits before a packet in pairs: an odd last
	 * credit is repeated */
	if (f->flags & FORTH_F_PACKET && n % 2)
		enc_be(e, forth_frame_credit(f, n - 1), 2, WEFT_PART_CREDIT);
	while (!(f->flags & FORTH_F_PACKET) && e->n % 4)
		enc_raw(e, FORTH_COMMA, WEFT_PART_CONTROL);
}

/* Encodes delimiter, credits and header. */
static struct enc enc_front(const struct weft_frame *f, uint16_t *sym,
			    uint32_t max, const struct forth_shape *s)
{
	bool packed = s->layout == FORTH_PACKED;
	uint64_t header = f->u[FORTH_U_HEADER];
	struct enc e = {
		.sym = sym,
		.max = max,
		.links = s->links,
		.line = s->line,
	};

	enc_raw(&e, FORTH_COMMA, WEFT_PART_CONTROL);
	enc_raw(&e, FORTH_SOP, WEFT_PART_CONTROL);
	enc_credits(&e, f, s);
	if (!(f->flags & FORTH_F_PACKET))
		return e;
	enc_be(&e, header, 8, WEFT_PART_HEADER);
	if (!packed)
		enc_pad(&e);
	enc_be(&e, forth_crc16(header), 2, WEFT_PART_HEADER);
	if (!packed)
		enc_pad(&e);
	return e;
}

uint32_t forth_encode_parts(const struct weft_frame *f, uint16_t *sym,
			    uint32_t max)
{
	struct forth_shape s = forth_shape_get(f);
	struct enc e = enc_front(f, sym, max, &s);
	bool packed = s.layout == FORTH_PACKED;
	bool trunc = f->flags & FORTH_F_TRUNC;
	const uint8_t *p = weft_slice_data(f->payload);
	uint32_t i = 0, len = trunc ? f->payload.len : s.wire_len;

	if (!(f->flags & FORTH_F_PACKET))
		return e.n;
	if (!p)
		i = enc_qwords(&e, NULL, len);
	else if (len >= f->payload.len)
		i = enc_qwords(&e, p, f->payload.len);
	for (; i < len; i++) {
		uint32_t at = (i & ~7u) + 7 - (i & 7); /* qword, MSB first */

		enc_byte(&e, p && at < f->payload.len ? p[at] : 0,
			 WEFT_PART_BODY);
	}
	if (!packed)
		enc_pad(&e);
	if (trunc)
		return e.n;
	enc_be(&e, forth_crc32(f) ^ forth_crc32_xor(f->flags & FORTH_F_CPL), 4,
	       WEFT_PART_BODY);
	if (!packed)
		enc_pad(&e);
	return e.n;
}

static void parts_drop(uint16_t *sym, uint32_t n, uint32_t max)
{
	for (uint32_t i = 0; sym && i < n && i < max; i++)
		sym[i] &= (1u << WEFT_PART_SHIFT) - 1;
}

static uint32_t forth_encode(const struct weft_frame *f, uint16_t *sym,
			     uint32_t max)
{
	uint32_t n = forth_encode_parts(f, sym, max);

	parts_drop(sym, n, max);
	return n;
}

static uint32_t forth_front(const struct weft_frame *f, uint16_t *sym,
			    uint32_t max, uint32_t *all)
{
	struct forth_shape s = forth_shape_get(f);
	bool trunc = f->flags & FORTH_F_TRUNC;
	uint32_t beat, first, end;
	struct enc e;

	if (!(f->flags & FORTH_F_PACKET) || !f->payload.len || f->payload.buf)
		return *all = forth_encode(f, sym, max);
	e = enc_front(f, sym, max, &s);
	parts_drop(sym, e.n, max);
	/* count the symbols of the body that this link carries */
	beat = s.layout == FORTH_PACKED ? 1 : 4 * e.links;
	first = e.links - 1 - e.line;
	end = e.pos + (trunc ? f->payload.len : s.wire_len);
	end = (end + beat - 1) / beat * beat;
	if (!trunc)
		end = (end + 4 + beat - 1) / beat * beat;
	*all = e.n + (end + first) / e.links - (e.pos + first) / e.links;
	return e.n;
}

const struct weft_wire forth_wire = { .name = "forth",
				      .encode = forth_encode,
				      .front = forth_front,
				      .tells = true,
				      .faults = &forth_wire_faults,
				      .capture = &forth_wire_capture };
