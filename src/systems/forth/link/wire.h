/* SPDX-License-Identifier: Apache-2.0 */
/* The FORTH link on the wire: headers, credits, sizes, and the fields of a
 * weft_frame that hold them (forth.md 4.3 to 4.8, 4.12). The functions of this
 * file keep no state. */
#ifndef SYSTEMS_FORTH_LINK_WIRE_H
#define SYSTEMS_FORTH_LINK_WIRE_H

#include <string.h>

#include "weft/component.h"
#include "weft/frame.h"

/* ---- header, 64 bits (4.3) ---- */

#define FORTH_HDR_REMOTE_NOTIFY (1ull << 54)
#define FORTH_HDR_LOCAL_NOTIFY	(1ull << 53)
#define FORTH_HDR_REMOTE_IRQ	(1ull << 52)
/* bit 51 is 1 in packets that use a single path */
#define FORTH_HDR_START (1ull << 51)
#define FORTH_HDR_FLAGS (7ull << 52)
#define FORTH_FLOWS	128
#define FORTH_SIZE_MAX	512 /* qwords of payload */

/* Returns the header of a single-path packet. flags: FORTH_HDR_REMOTE_NOTIFY,
 * FORTH_HDR_LOCAL_NOTIFY and others. */
static inline uint64_t forth_header(uint32_t flow, uint64_t flags,
				    uint32_t qwords, uint32_t addr)
{
	return (uint64_t)(flow & 127) << 56 | (flags & FORTH_HDR_FLAGS) |
	       FORTH_HDR_START | (uint64_t)(qwords & 1023) << 32 | addr;
}

/* Returns a multipath header: bits 51:42 carry the resequencing field (7.3). */
static inline uint64_t forth_header_reseq(uint64_t header, uint32_t field)
{
	return (header & ~(1023ull << 42)) | (uint64_t)(field & 1023) << 42;
}

static inline uint32_t forth_hdr_flow(uint64_t h)
{
	return h >> 56 & 127;
}
static inline uint32_t forth_hdr_size(uint64_t h)
{
	return h >> 32 & 1023;
}
static inline uint32_t forth_hdr_addr(uint64_t h)
{
	return (uint32_t)h;
}
static inline uint32_t forth_hdr_reseq(uint64_t h)
{
	return h >> 42 & 1023;
}

/* Fabrics with several paths (ext): a single-path packet (bit 51 set, no
 * resequencing field) may name its path in the reserved bits 50:42. A switch
 * with one routing row ignores the path. A switch with more rows uses the low
 * bits of the path as the number of a row. Path 0 routes by destination alone.
 * Senders that do not choose a path use path 0. */
#define FORTH_PATHS 512

static inline uint64_t forth_header_path(uint64_t header, uint32_t path)
{
	return header | (uint64_t)(path & (FORTH_PATHS - 1)) << 42;
}

/* Returns the way of a packet: the index for its path and flow into a table of
 * path_mask + 1 routing rows with FORTH_FLOWS entries each. If there is one
 * row, the way is the flow. */
static inline uint32_t forth_way(uint32_t path, uint32_t flow)
{
	return path * FORTH_FLOWS + flow;
}
static inline uint32_t forth_hdr_way(uint64_t h, uint32_t path_mask)
{
	return forth_way((uint32_t)(h >> 42) & path_mask, forth_hdr_flow(h));
}

/* ---- credit, 16 bits (4.5) ---- */

#define FORTH_CREDIT_GRAN 32	/* words per unit of a credit's value */
#define FORTH_COUNT_MASK  4095u /* mask of T, F and F', which have 12 bits */

static inline uint16_t forth_credit(uint32_t flow, uint32_t value)
{
	uint32_t c = (flow & 127) << 7 | (value & 127);

	return (uint16_t)(0x8000 | (uint32_t)__builtin_parity(c) << 14 | c);
}

static inline bool forth_is_credit(uint16_t c)
{
	return c >> 15;
}
static inline bool forth_credit_good(uint16_t c)
{
	return !__builtin_parity(c & 0x7FFF);
}
static inline uint32_t forth_credit_flow(uint16_t c)
{
	return c >> 7 & 127;
}
static inline uint32_t forth_credit_value(uint16_t c)
{
	return c & 127;
}

/* ---- symbols and layouts (4.6, 4.7) ---- */

#define FORTH_COMMA (0xBC | WEFT_SYM_K)
#define FORTH_SOP   (0xFB | WEFT_SYM_K)

enum forth_layout { FORTH_WORD, FORTH_PACKED };

/* Returns the number of beats that `bytes` take. A beat is 4L bytes, L = 1, 2
 * or 4 links. */
static inline uint32_t forth_beats(uint32_t links, uint32_t bytes)
{
	return (bytes + 4 * links - 1) >> (2 + __builtin_ctz(links));
}

/* Returns the words (beats) of a packet on the wire, with its delimiter and
 * without extra credit words. `bytes` is the payload with its padding. */
static inline uint32_t forth_words(enum forth_layout layout, uint32_t links,
				   uint32_t bytes)
{
	uint32_t extra = layout == FORTH_PACKED || links > 1 ? 4 : 5;

	return forth_beats(links, bytes) + extra;
}

/* Returns the credit charge in link words of 4L bytes: payload plus 16 bytes
 * (R-21). */
static inline uint32_t forth_charge(uint32_t links, uint32_t bytes)
{
	return forth_beats(links, bytes + 16);
}

/* ---- a frame's protocol fields ---- */

enum {
	FORTH_U_HEADER = 0, /* header of 64 bits, or 0 in a credit-only frame */
	FORTH_U_SHAPE = 1,  /* struct forth_shape */
	/* u[2..4] hold up to 12 credits, the first in bits 15:0 */
	FORTH_U_CREDITS = 2,
	FORTH_U_CRC32 = 5, /* body CRC, valid when FORTH_F_CRC32 is set */
	/* u[6], u[7] belong to the present owner of the frame */
	FORTH_U_OWN = 6,
};
#define FORTH_CREDITS_MAX 12

/* weft_frame.flags */
enum {
	/* the frame has header and payload, otherwise only credits */
	FORTH_F_PACKET = 1,
	/* the receiver reads credits from the frame, not from the inbox */
	FORTH_F_CREDITS = 2,
	FORTH_F_CRC32 = 4, /* u[5] holds the body CRC as it was received */
	FORTH_F_TRUNC = 8, /* the data end early, at payload.len */
	/* the frame is the share of one link in a frame of a bundle */
	FORTH_F_LINE = 16,
	FORTH_F_CPL = 32,  /* the body CRC is complemented on the line */
	FORTH_F_IDLE = 64, /* the frame holds damaged commas of an idle line */
};

/* The layout of the frame on the wire. */
struct forth_shape {
	uint8_t layout; /* enum forth_layout */
	uint8_t links;	/* number of links of the bundle, L */
	/* if the frame is the share of one link: index of that link in the
	 * bundle */
	uint8_t line;
	uint8_t credits;   /* in u[2..4] */
	uint16_t wire_len; /* payload bytes on the wire, padding included */
	/* number of the bundle's frame, by which the receiver joins the
	 * shares */
	uint16_t seq;
};

_Static_assert(sizeof(struct forth_shape) == 8, "one cell of u[]");

static inline struct forth_shape forth_shape_get(const struct weft_frame *f)
{
	struct forth_shape s;

	memcpy(&s, &f->u[FORTH_U_SHAPE], sizeof(s));
	return s;
}

static inline void forth_shape_set(struct weft_frame *f, struct forth_shape s)
{
	memcpy(&f->u[FORTH_U_SHAPE], &s, sizeof(s));
}

static inline uint16_t forth_frame_credit(const struct weft_frame *f,
					  uint32_t i)
{
	return (uint16_t)(f->u[FORTH_U_CREDITS + i / 4] >> (i % 4 * 16));
}

static inline void forth_frame_set_credit(struct weft_frame *f, uint32_t i,
					  uint16_t c)
{
	uint64_t *u = &f->u[FORTH_U_CREDITS + i / 4];

	*u = (*u & ~(0xFFFFull << (i % 4 * 16))) | (uint64_t)c << (i % 4 * 16);
}

/* Returns the number of extra credit words before the header. They hold credits
 * that do not fit into the delimiter's slots. */
static inline uint32_t forth_credit_words(enum forth_layout layout,
					  uint32_t links, uint32_t credits,
					  bool packet)
{
	if (layout == FORTH_WORD)
		return credits <= links
			       ? 0
			       : forth_beats(links, 2 * (credits - links));
	if (packet)
		return (credits + 1) / 2;
	return credits / 2;
}

/* Returns the index of the word that holds credit i, counted from the delimiter
 * of the frame. */
static inline uint32_t forth_credit_word(enum forth_layout layout,
					 uint32_t links, uint32_t i)
{
	if (layout == FORTH_PACKED)
		return (i + 1) / 2;
	return i < links ? 0 : 1 + (i - links) / (2 * links);
}

/* forth_crc16 returns the CRC of a header, forth_crc32 the CRC of a frame's
 * body (4.4). A payload without bytes counts as zeros. */
uint16_t forth_crc16(uint64_t header);
uint32_t forth_crc32(const struct weft_frame *f);
/* Returns the mask with which the body CRC on the line is XORed. */
static inline uint32_t forth_crc32_xor(bool complement)
{
	return complement ? 0xFFFFFFFF : 0;
}

/* Encodes a frame like forth_wire.encode, with the part (enum weft_part) of
 * each symbol in its upper bits: CONTROL (delimiters, padding commas), CREDIT,
 * HEADER and BODY with their CRC, FILL (empty slots, padding zeros). */
uint32_t forth_encode_parts(const struct weft_frame *f, uint16_t *sym,
			    uint32_t max);

/* The wire named "forth", which ports of FORTH NICs and switches declare. */
extern const struct weft_wire forth_wire;
/* wire_faults.c */
extern const struct weft_wire_faults forth_wire_faults;
extern const struct weft_wire_capture forth_wire_capture;

#endif
