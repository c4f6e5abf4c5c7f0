/* SPDX-License-Identifier: Apache-2.0 */
/* Builds Ethernet frames, encodes them as line symbols, and checks them as a
 * receiver does. See wire.h. */
#include "systems/ethernet/link/wire.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "systems/ethernet/link/wire_parts.h"

enum { PREAMBLE = 0x55, SFD = 0xd5 };

const uint8_t eth_broadcast[ETH_ADDR] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff };
const uint8_t eth_pause_group[ETH_ADDR] = { 0x01, 0x80, 0xc2, 0, 0, 0x01 };

void eth_addr_of(uint8_t a[ETH_ADDR], uint32_t n)
{
	a[0] = 0x02;
	a[1] = 0;
	for (uint32_t i = 0; i < 4; i++)
		a[2 + i] = (uint8_t)(n >> (24 - 8 * i));
}

uint32_t eth_station_of(const char *name)
{
	while (*name && (*name < '0' || *name > '9'))
		name++;
	return (uint32_t)strtoul(name, NULL, 10);
}

/* ---- frames ---- */

/* Sets the payload of f to s. f takes over the caller's reference to s. */
static void set_payload(struct weft_frame *f, struct weft_slice s)
{
	f->payload = s;
	f->words = eth_wire_bytes(s.len);
	f->word_fs = ETH_BYTE_FS;
}

struct weft_frame *eth_frame_slice(struct weft_sim *sim, struct weft_slice s)
{
	struct weft_frame *f = weft_frame_new(sim);

	set_payload(f, s);
	return f;
}

struct weft_frame *eth_frame_new(struct weft_sim *sim, uint32_t len)
{
	uint32_t n = len < ETH_FRAME_MIN ? ETH_FRAME_MIN : len;
	struct weft_slice s = weft_slice_word(sim, n);

	memset(s.buf->data + s.off + len, 0, n - len);
	return eth_frame_slice(sim, s);
}

void eth_frame_head(struct weft_frame *f, const uint8_t dst[ETH_ADDR],
		    const uint8_t src[ETH_ADDR], uint16_t type)
{
	uint8_t *p = eth_frame_data(f);

	memcpy(p, dst, ETH_ADDR);
	memcpy(p + ETH_ADDR, src, ETH_ADDR);
	put_be(p + ETH_TYPE_AT, type, 2);
}

void eth_line_add(struct weft_frame **line, struct weft_frame *f)
{
	while (*line && eth_frame_end(*line) <= eth_frame_end(f))
		line = &(*line)->next;
	f->next = *line;
	*line = f;
}

struct weft_frame *eth_line_take(struct weft_frame **line, weft_time_t now)
{
	struct weft_frame *f = *line;

	if (!f || eth_frame_end(f) > now)
		return NULL;
	*line = f->next;
	return f;
}

void eth_line_free(struct weft_frame **line)
{
	struct weft_frame *f;

	while ((f = *line)) {
		*line = f->next;
		weft_frame_free(f);
	}
}

/* ---- line symbols ---- */

static uint8_t byte_of(const uint8_t *p, uint32_t len, uint32_t fcs, uint32_t i)
{
	if (i < ETH_PREAMBLE)
		return i == ETH_PREAMBLE - 1 ? SFD : PREAMBLE;
	i -= ETH_PREAMBLE;
	return i < len ? p[i] : (uint8_t)(fcs >> 8 * (i - len));
}

uint32_t eth_encode_parts(const struct weft_frame *f, uint16_t *sym,
			  uint32_t max)
{
	const uint8_t *p = eth_frame_data(f);
	uint32_t i, len = f->payload.len, n = eth_wire_bytes(len), fcs;

	if (!sym)
		return n;
	fcs = eth_fcs(p, len);
	for (i = 0; i < n && i < max; i++) {
		uint32_t part = i < ETH_PREAMBLE ? WEFT_PART_CONTROL
				: i < ETH_PREAMBLE + ETH_HEAD ? WEFT_PART_HEADER
				: i < n - ETH_FCS ? WEFT_PART_PAYLOAD
						  : WEFT_PART_CRC;

		sym[i] = (uint16_t)(byte_of(p, len, fcs, i) |
				    part << WEFT_PART_SHIFT);
	}
	return n;
}

static uint32_t wire_encode(const struct weft_frame *f, uint16_t *sym,
			    uint32_t max)
{
	uint32_t i, n = eth_encode_parts(f, sym, max);

	for (i = 0; sym && i < n && i < max; i++)
		sym[i] &= (1u << WEFT_PART_SHIFT) - 1;
	return n;
}

const struct weft_wire eth_wire = { .name = "ethernet",
				    .encode = wire_encode,
				    .faults = &eth_wire_faults,
				    .capture = &eth_wire_capture };

/* Returns the index after the start delimiter, or 0 if none is found. */
static uint32_t raw_start(const struct weft_raw *raw)
{
	for (uint32_t i = 0; i < raw->n; i++)
		if (raw->sym[i] == SFD)
			return i + 1;
	return 0;
}

bool eth_frame_peek(const struct weft_frame *f, uint8_t *p, uint32_t n)
{
	uint32_t at, i;

	if (!f->raw) {
		if (f->payload.len < n)
			return false;
		memcpy(p, eth_frame_data(f), n);
		return true;
	}
	at = raw_start(f->raw);
	if (!at || f->raw->n - at < n + ETH_FCS)
		return false;
	for (i = 0; i < n; i++)
		p[i] = (uint8_t)f->raw->sym[at + i];
	return true;
}

/* ---- checks of a receiver ---- */

static enum eth_verdict raw_check(struct weft_frame *f)
{
	uint8_t b[ETH_FRAME_LIMIT + ETH_FCS];
	uint32_t at = raw_start(f->raw), n = f->raw->n - at, bad = 0;
	uint32_t words = f->words;

	if (!at)
		return ETH_BAD_SYMBOL;
	if (n < ETH_HEAD + ETH_FCS)
		return ETH_RUNT;
	if (n > sizeof(b))
		return ETH_GIANT;
	for (uint32_t i = 0; i < n; i++) {
		b[i] = (uint8_t)f->raw->sym[at + i];
		bad |= f->raw->sym[at + i] & (WEFT_SYM_K | WEFT_SYM_BAD);
	}
	if (bad)
		return ETH_BAD_SYMBOL;
	n -= ETH_FCS;
	weft_slice_drop(&f->payload);
	set_payload(f, weft_slice_word(f->sim, n));
	memcpy(eth_frame_data(f), b, n);
	f->words = words; /* the frame keeps its time on the line */
	if (eth_fcs(b, n) != get_le(b + n, ETH_FCS))
		return ETH_BAD_FCS;
	free(f->raw);
	f->raw = NULL;
	return ETH_GOOD;
}

enum eth_verdict eth_frame_check(struct weft_frame *f, uint32_t max)
{
	enum eth_verdict v = f->raw ? raw_check(f) : ETH_GOOD;

	if (v != ETH_GOOD && v != ETH_BAD_FCS)
		return v;
	if (f->payload.len > max)
		return ETH_GIANT;
	return f->payload.len < ETH_FRAME_MIN ? ETH_RUNT : v;
}

void eth_frame_given_fcs(struct weft_frame *f)
{
	uint32_t n = f->payload.len - ETH_FCS, i;
	struct weft_slice data = weft_slice_sub(f->payload, 0, n);
	uint32_t fcs = (uint32_t)get_le(eth_frame_data(f) + n, ETH_FCS);

	assert(f->payload.len > ETH_FCS && !f->raw);
	weft_slice_drop(&f->payload);
	set_payload(f, data);
	if (eth_fcs(eth_frame_data(f), n) == fcs)
		return;
	f->raw = weft_raw_new(f->sim, f->words);
	f->raw->n = f->words;
	for (i = 0; i < f->words; i++)
		f->raw->sym[i] = byte_of(eth_frame_data(f), n, fcs, i);
}

/* ---- pause ---- */

struct weft_frame *eth_pause_new(struct weft_sim *sim,
				 const uint8_t src[ETH_ADDR], uint16_t quanta)
{
	struct weft_frame *f = eth_frame_new(sim, ETH_HEAD);
	uint8_t *p = eth_frame_data(f) + ETH_HEAD;

	eth_frame_head(f, eth_pause_group, src, ETH_TYPE_PAUSE);
	p[1] = 1; /* opcode */
	put_be(p + 2, quanta, 2);
	return f;
}

bool eth_pause_parse(const struct weft_frame *f, uint16_t *quanta_p)
{
	const uint8_t *p = eth_frame_data(f);

	if (memcmp(p, eth_pause_group, ETH_ADDR) ||
	    eth_frame_type(f) != ETH_TYPE_PAUSE)
		return false;
	p += ETH_HEAD;
	if (p[0] || p[1] != 1)
		return false;
	*quanta_p = (uint16_t)get_be(p + 2, 2);
	return true;
}
