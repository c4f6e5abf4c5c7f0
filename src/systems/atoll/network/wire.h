/* SPDX-License-Identifier: Apache-2.0 */
/* ATOLL's wire format (hostport.md 2.1, 2.2): characters of 8 data bits and one
 * control bit. All layouts are defined here only.
 *
 * A packet is a head flit, which holds the rest of its routing string, and data
 * flits of up to 64 bytes, of which the last one carries the end of the packet.
 * Each flit is one weft_frame:
 *
 *   head   SOH seq routing characters EOF		(characters: parity)
 *   data   SOD seq bytes CRC CRC EOF|EOP		(CRC-16 over seq, bytes)
 *   state  STATE|flags seq CRC-8			(CRC-8 over both)
 *
 * A state flit acknowledges flits of the opposite direction. Its seq is that of
 * the next flit that its sender expects.
 *
 * Routing characters have the control bit set and [7:4] zero. Control
 * characters have [7:4] not zero. */
#ifndef SYSTEMS_ATOLL_NETWORK_WIRE_H
#define SYSTEMS_ATOLL_NETWORK_WIRE_H

#include <stdbool.h>

#include "weft/component.h"
#include "weft/frame.h"

enum {
	AT_FLIT = 64,  /* bytes of a data flit */
	AT_ROUTE = 32, /* most routing characters of a packet */
	AT_HEAD_WORDS = 3,
	AT_DATA_WORDS = 5,
	AT_STATE_WORDS = 3,
	AT_WORDS_MAX = AT_FLIT + AT_DATA_WORDS,
	AT_PORTS = 8, /* 0..3 host ports, 4..7 links */
	AT_LINKS = 4,
	AT_LINK0 = 4,
};

enum at_kind { AT_HEAD, AT_DATA, AT_STATE };
enum {
	AT_EOP = 1,	  /* data: last of its packet */
	AT_STOP = 2,	  /* state: stop sending */
	AT_NACK = 4,	  /* state: the peer must resend from seq on */
	AT_ASK = 8,	  /* state: asks the peer for its own state */
	AT_BAD = 16,	  /* never on the line: the flit is malformed */
	AT_RETRIEVED = 32 /* never on the line: removed from the network */
};

struct at_line { /* stored in u[0] of a frame */
	uint8_t kind, flags, seq;
	uint8_t pad_[5];
};
_Static_assert(sizeof(struct at_line) == 8, "at_line fits in u[0]");

static inline struct at_line *at_line(const struct weft_frame *f)
{
	return (struct at_line *)&f->u[0];
}
/* Not transmitted: cycle of arrival, and cycle from which the crossbar may
 * forward the flit. */
#define AT_CAME(f)  ((f)->u[1])
#define AT_READY(f) ((f)->u[2])
/* Not transmitted: bytes that the flit occupies in a buffer, and time at which
 * the packet was injected. */
#define AT_ROOM(f) ((f)->u[3])
#define AT_BORN(f) ((f)->u[4])

/* Returns the routing character of a port (reconstruction): bits [2:0] are the
 * port, and bit [3] makes the parity even. */
static inline uint8_t at_char(uint32_t port)
{
	return (uint8_t)(port | (uint32_t)__builtin_parity(port) << 3);
}
/* Returns true if the parity of c is even and its bits [7:4] are zero. */
static inline bool at_char_good(uint8_t c)
{
	return !(c >> 4) && !__builtin_parity(c);
}

/* Returns the number of characters of a frame on the line. */
static inline uint32_t at_words(const struct weft_frame *f)
{
	switch (at_line(f)->kind) {
	case AT_HEAD:
		return AT_HEAD_WORDS + f->payload.len;
	case AT_DATA:
		return AT_DATA_WORDS + f->payload.len;
	default:
		return AT_STATE_WORDS;
	}
}

/* Decodes a damaged frame into kind, flags, seq and payload, or sets AT_BAD.
 * Does not check routing characters, because the crossbar does. */
void at_decode(struct weft_frame *f);

/* Encodes a frame as characters and puts the part of the frame (enum weft_part)
 * into the upper bits of each character. Start and end characters are
 * WEFT_PART_CONTROL, state flits are WEFT_PART_CREDIT. Returns the number of
 * characters. Writes nothing if max is less than this number. */
uint32_t at_encode_parts(const struct weft_frame *f, uint16_t *sym,
			 uint32_t max);

extern const struct weft_wire atoll_wire;
/* in wire_faults.c */
extern const struct weft_wire_faults atoll_wire_faults;
extern const struct weft_wire_capture atoll_wire_capture;

#endif
