/* SPDX-License-Identifier: Apache-2.0 */
/* Cells as frames and line symbols, and packets rebuilt from them, see
 * frame.h. */
#include "systems/extoll/network/frame.h"

#include <string.h>

#include "base/b8b10.h"
#include "base/crc.h"

_Static_assert((int)WEFT_SYM_K == (int)B8B10_K &&
		       (int)WEFT_SYM_BAD == (int)B8B10_BAD,
	       "one kind of symbol");

/* ---- bytes of a cell ---- */

/* Returns the index of the routing flit in which the source sent nibble number
 * pos. */
static uint32_t flit_of(uint32_t width, uint32_t hops, uint32_t pos)
{
	uint32_t last = ex_route_flits(width, hops) - 1;
	uint32_t flit = pos / (ex_flit_nibbles(width) - 1);

	return flit < last ? flit : last;
}

uint32_t ex_route_left(const struct weft_frame *pkt, uint32_t width)
{
	const struct ex_meta *m = (const struct ex_meta *)&pkt->u[3];

	if (!m->hops)
		return 1;
	if (m->hops == EX_ROUTE_RUNS || m->pos >= m->hops)
		return 0;
	return ex_route_flits(width, m->hops) - flit_of(width, m->hops, m->pos);
}

/* Finds the nibbles [at, end) of the route that are in routing flit number i.
 * The flit with the next nibble is number 0. */
static void route_span(const struct ex_meta *m, uint32_t width, uint32_t i,
		       uint32_t *at, uint32_t *end)
{
	uint32_t k = ex_flit_nibbles(width) - 1;
	uint32_t src = flit_of(width, m->hops, m->pos) + i;

	*at = i ? src * k : m->pos;
	*end = src + 1 == ex_route_flits(width, m->hops) ? m->hops
							 : (src + 1) * k;
}

static uint32_t route_flit(const struct weft_frame *pkt, uint32_t width,
			   uint32_t i)
{
	const struct ex_meta *m = (const struct ex_meta *)&pkt->u[3];
	uint32_t k = ex_flit_nibbles(width), v = 0, n = 0, at, end;

	if (!m->hops)
		return m->dest | (width == EX_W32 ? m->port << 16 : 0);
	route_span(m, width, i, &at, &end);
	for (; at < end; at++, n++)
		v |= ex_route_nibble(pkt, at) << 4 * n;
	if (end < m->hops)
		v |= (uint32_t)EX_NIB_MORE << 4 * n++;
	for (; n < k; n++)
		v |= (uint32_t)EX_NIB_FILL << 4 * n;
	return v;
}

/* Copies bytes [at, at + n) of a packet without its route. Zeros follow its
 * command words and payload. */
static void packet_bytes(const struct weft_frame *pkt, uint32_t at, uint8_t *to,
			 uint32_t n)
{
	const struct ex_meta *m = (const struct ex_meta *)&pkt->u[3];
	const uint8_t *p = weft_slice_data(pkt->payload);
	uint32_t head = m->words * 8u, len = p ? pkt->payload.len : 0, k = 0;

	if (at < head) {
		k = n < head - at ? n : head - at;
		memcpy(to, (const uint8_t *)pkt->u + at, k);
		to += k;
		n -= k;
		at += k;
	}
	at -= head;
	if (at < len) {
		k = n < len - at ? n : len - at;
		memcpy(to, p + at, k);
		to += k;
		n -= k;
	}
	memset(to, 0, n);
}

void ex_cell_fill(struct weft_frame *f, struct weft_frame *pkt, uint32_t width,
		  uint32_t ctl, uint32_t first, uint32_t flits, bool stomp)
{
	const struct ex_meta *m = (const struct ex_meta *)&pkt->u[3];
	uint32_t left = ctl & EX_CTL_SOP ? ex_route_left(pkt, width) : 0;
	uint32_t w = ex_flit_bytes(width), i, n = 0, head;
	struct ex_line *l = ex_line(f);
	uint8_t *p;

	f->flags = EX_F_CELL;
	if (pkt->payload.len && !pkt->payload.buf)
		f->flags |= EX_F_BARE;
	*l = (struct ex_line){
		.ctl = (uint8_t)ctl,
		.flits = (uint8_t)flits,
		.width = (uint8_t)width,
		.stomp = stomp,
		.route = (uint8_t)(left < flits ? left : flits),
	};
	f->u[1] = (uintptr_t)pkt;
	f->u[2] = first;
	memcpy(&f->u[3], &pkt->u[3], 5 * sizeof(f->u[0]));
	f->trace_id = pkt->trace_id;
	f->words = flits + ex_cell_overhead(width);
	f->payload.len = flits * w;
	p = weft_slice_data(f->payload);
	for (i = 0; i < l->route; i++, n += w) {
		uint32_t v = route_flit(pkt, width, i);

		memcpy(p + n, &v, w);
	}
	packet_bytes(pkt, first * w, p + n, flits * w - n);
	head = m->words * 8u / w;
	head = head > first ? head - first : 0;
	n = flits - l->route;
	l->cmd = (uint8_t)(head < n ? head : n);
}

struct weft_frame *ex_control_new(struct weft_sim *sim, uint32_t width,
				  uint32_t type, uint32_t value)
{
	struct weft_frame *f = weft_frame_new(sim);

	f->flags = EX_F_CONTROL;
	*ex_line(f) = (struct ex_line){ .type = (uint8_t)type,
					.arg = (uint8_t)value,
					.width = (uint8_t)width };
	f->words = ex_control_flits(width);
	return f;
}

/* ---- packets from the bytes of their cells ---- */

/* Returns a packet of the size of `from` whose payload is zero until
 * built_bytes() stores it. Copies the fields that are not on the line. */
static struct weft_frame *built_new(struct weft_sim *sim,
				    const struct weft_frame *from)
{
	struct weft_frame *to = weft_frame_new(sim);

	memcpy(to->u, from->u, sizeof(to->u));
	to->flags = from->flags;
	to->trace_id = from->trace_id;
	to->payload.len = from->payload.len;
	if (!from->payload.buf || !from->payload.len)
		return to;
	to->payload = weft_slice_word(sim, from->payload.len);
	memset(weft_slice_data(to->payload), 0, to->payload.len);
	return to;
}

static void built_route(struct weft_frame *to, const struct ex_line *l,
			const uint8_t *b)
{
	struct ex_meta *m = ex_meta(to);
	uint32_t w = ex_flit_bytes(l->width), i, n, at, end;

	for (i = 0; m->hops && i < l->route; i++, b += w) {
		route_span(m, l->width, i, &at, &end);
		for (n = 0; at < end; at++, n++)
			ex_route_set(to, at, b[n / 2] >> n % 2 * 4 & 0xf);
	}
	if (m->hops || !l->route)
		return;
	m->dest = (uint16_t)(b[0] | b[1] << 8);
	if (l->width == EX_W32)
		m->port = b[2];
}

/* Stores bytes [at, at + n) of the packet. Bytes behind its end are padding. */
static void built_bytes(struct weft_frame *to, uint32_t at, const uint8_t *b,
			uint32_t n)
{
	uint32_t head = ex_meta(to)->words * 8u, k = 0;
	uint8_t *p = weft_slice_data(to->payload);

	if (at < head) {
		k = n < head - at ? n : head - at;
		memcpy((uint8_t *)to->u + at, b, k);
	}
	at += k;
	at -= head;
	if (!p || k == n || at >= to->payload.len)
		return;
	n -= k;
	memcpy(p + at, b + k,
	       n < to->payload.len - at ? n : to->payload.len - at);
}

struct weft_frame *ex_rebuild(struct ex_built *b, struct weft_sim *sim,
			      struct weft_frame *cell, const uint8_t *bytes)
{
	const struct ex_line *l = ex_line(cell);
	struct weft_frame *from = ex_line_packet(cell), *to;
	uint32_t vc = l->ctl % EX_VCS, w = ex_flit_bytes(l->width);

	if (l->ctl & EX_CTL_SOP) {
		b->pkt[vc] = built_new(sim, from);
		built_route(b->pkt[vc], l, bytes);
	}
	to = b->pkt[vc];
	/* take the present length of the sender's payload, because a sender may
	 * shorten the payload while it sends */
	to->payload.len = from->payload.len;
	built_bytes(to, (uint32_t)cell->u[2] * w, bytes + l->route * w,
		    (uint32_t)(l->flits - l->route) * w);
	if (l->ctl & EX_CTL_EOP) {
		b->pkt[vc] = NULL;
		weft_frame_free(from);
	}
	return to;
}

void ex_rebuild_drop(struct ex_built *b)
{
	for (uint32_t vc = 0; vc < EX_VCS; vc++) {
		if (b->pkt[vc])
			weft_frame_free(b->pkt[vc]);
		b->pkt[vc] = NULL;
	}
}

/* ---- symbols ---- */

struct enc {
	uint16_t *sym;
	uint32_t n, max;
	uint32_t parts; /* mask of bits that name a symbol's part; 0: none */
};

static void frame_put(struct enc *e, uint32_t sym, enum weft_part part)
{
	if (e->n < e->max)
		e->sym[e->n] =
			(uint16_t)(sym | ((uint32_t)part << WEFT_PART_SHIFT &
					  e->parts));
	e->n++;
}

/* Writes the symbols of a cell from its start symbol to the last of its first
 * `bytes` bytes. */
static void put_front(struct enc *e, const struct weft_frame *f,
		      const struct ex_line *l, uint32_t bytes)
{
	const uint8_t *p = weft_slice_data(f->payload);
	uint32_t i = 0;

	frame_put(e, EX_K_START | WEFT_SYM_K, WEFT_PART_CONTROL);
	frame_put(e, l->ctl, WEFT_PART_CTL);
	if (l->width == EX_W32) {
		frame_put(e, l->arg, WEFT_PART_SEQ);
		frame_put(e, l->flits - 1u, WEFT_PART_LEN);
	}
	if (!e->parts && e->n + bytes <= e->max) {
		for (; i < bytes; i++)
			e->sym[e->n + i] = p[i];
		e->n += bytes;
	}
	for (; i < bytes; i++) {
		uint32_t flit = i / ex_flit_bytes(l->width);

		frame_put(e, p[i],
			  flit < l->route	     ? WEFT_PART_ROUTE
			  : flit < l->route + l->cmd ? WEFT_PART_HEADER
						     : WEFT_PART_PAYLOAD);
	}
}

static uint32_t frame_encode(const struct weft_frame *f, uint16_t *sym,
			     uint32_t max, uint32_t parts)
{
	const struct ex_line *l = (const struct ex_line *)&f->u[0];
	struct enc e = { .sym = sym, .max = sym ? max : 0, .parts = parts };
	const uint8_t head[3] = { l->ctl, l->arg, (uint8_t)(l->flits - 1) };
	bool wide = l->width == EX_W32;

	if (f->flags & EX_F_CELL) {
		uint32_t crc = crc32_reflected(0, head, wide ? 3 : 2);

		crc = crc32_reflected(crc, weft_slice_data(f->payload),
				      f->payload.len);
		crc = l->stomp ? ~crc : crc;
		put_front(&e, f, l, f->payload.len);
		if (!wide) {
			frame_put(&e, EX_K_END | WEFT_SYM_K, WEFT_PART_CONTROL);
			frame_put(&e, l->arg, WEFT_PART_SEQ);
		}
		for (uint32_t i = 0; i < 4; i++)
			frame_put(&e, crc >> 8 * i & 255, WEFT_PART_CRC);
		if (!wide) {
			frame_put(&e, EX_K_COMMA | WEFT_SYM_K,
				  WEFT_PART_CONTROL);
			frame_put(&e, EX_D_IDLE, WEFT_PART_CONTROL);
		}
	} else if (f->flags & EX_F_CONTROL) {
		const uint8_t b[2] = { l->type, l->arg };

		frame_put(&e, EX_K_CONTROL | WEFT_SYM_K, WEFT_PART_CONTROL);
		frame_put(&e, b[0], WEFT_PART_CELL);
		frame_put(&e, b[1], WEFT_PART_CELL);
		frame_put(&e, crc8_update(0, b, 2), WEFT_PART_CELL);
	}
	return e.n;
}

uint32_t ex_encode_parts(const struct weft_frame *f, uint16_t *sym,
			 uint32_t max)
{
	return frame_encode(f, sym, max, UINT32_MAX);
}

static uint32_t ex_encode(const struct weft_frame *f, uint16_t *sym,
			  uint32_t max)
{
	return frame_encode(f, sym, max, 0);
}

static uint32_t ex_front(const struct weft_frame *f, uint16_t *sym,
			 uint32_t max, uint32_t *all)
{
	const struct ex_line *l = (const struct ex_line *)&f->u[0];
	struct enc e = { .sym = sym, .max = sym ? max : 0 };
	uint32_t w = ex_flit_bytes(l->width);

	if (!(f->flags & EX_F_BARE) || l->route + l->cmd >= l->flits)
		return *all = ex_encode(f, sym, max);
	put_front(&e, f, l, (uint32_t)(l->route + l->cmd) * w);
	*all = f->words * w;
	return e.n;
}

/* At a network port a packet is encoded as its words, since it has no cells
 * there. */
static uint32_t ex_encode_words(const struct weft_frame *f, uint16_t *sym,
				uint32_t max)
{
	uint32_t n = ex_words(f) * 8, i;
	uint8_t b;

	for (i = 0; sym && i < n && i < max; i++) {
		packet_bytes(f, i, &b, 1);
		sym[i] = b;
	}
	return n;
}

const struct weft_wire ex_wire_link = {
	.name = "extoll",
	.tells = true,
	.encode = ex_encode,
	.front = ex_front,
	.faults = &ex_wire_faults,
	.capture = &ex_wire_capture,
};
const struct weft_wire ex_wire_internal = { .name = "extoll-internal",
					    .encode = ex_encode_words };
