/* SPDX-License-Identifier: Apache-2.0 */
/* Wire formats.  A port declares its wire (weft_port_decl.wire).  The wire
 * brings all that faults (fault.bits, fault.drop, fault.cut) and captures need
 * to know of its line, so that they serve wires of other systems and plug-ins.
 */
#ifndef WEFT_WIRE_H
#define WEFT_WIRE_H

#include "weft/types.h"

WEFT_C_BEGIN

struct weft_port;

/* Parts of a transmission; a wire uses those that its frames have. */
enum weft_part {
	WEFT_PART_CONTROL, /* delimiters, preamble, padding commas */
	WEFT_PART_CREDIT,
	WEFT_PART_HEADER,
	WEFT_PART_BODY, /* payload with its CRC */
	WEFT_PART_FILL, /* padding */
	WEFT_PART_CTL,
	WEFT_PART_SEQ,
	WEFT_PART_LEN,
	WEFT_PART_ROUTE,
	WEFT_PART_PAYLOAD,
	WEFT_PART_CRC,
	WEFT_PART_CELL, /* a control cell behind its first symbol */
	WEFT_PART_ACK,	/* from here on: kinds of control cells, as is CREDIT */
	WEFT_PART_NACK,
	WEFT_PART_REFRESH,
	WEFT_PARTS
};

/* encode_parts writes the part of a symbol into the bits from here on. */
#define WEFT_PART_SHIFT 12
/* In `targets`: the frames whose kind (weft_wire_faults.cell) is this part. */
#define WEFT_BY_CELL UINT32_MAX

/* How a wrong bit shows in a symbol. */
enum weft_line_code {
	WEFT_LINE_BYTES,  /* most significant bit first; a wrong bit makes a
			   * control symbol a data symbol */
	WEFT_LINE_OCTETS, /* least significant bit first */
	WEFT_LINE_CHARS,  /* eight bits and the control bit */
	WEFT_LINE_8B10B,  /* bits of the 10-bit codes */
};

/* A wire as faults see it. */
struct weft_wire_faults {
	/* Writes symbols and returns their number as weft_wire.encode does,
	 * with the part of each symbol in bits 12 and up. */
	uint32_t (*encode_parts)(const struct weft_frame *f, uint16_t *sym,
				 uint32_t max);
	/* Parts of symbols (1 << part, ored) that a target hits; 0: the wire
	 * has no such part. */
	uint32_t targets[WEFT_PARTS];
	enum weft_line_code code;
	/* The symbol of an idle line, where bits can also be wrong in 10-bit
	 * codes: a receiver gives a code of the other disparity as its symbol
	 * with WEFT_SYM_DISP.  0: none. */
	uint16_t comma;
	uint32_t idle_flags; /* flags of a frame of four commas */
	bool whole_words;    /* symbols of a frame: words * word() */
	bool may_overtake;   /* the receiver takes frames in any order */
	uint32_t noise;	     /* invalid codes that end synchronisation */
	/* Returns the symbols per word of this frame.  NULL: 1. */
	uint32_t (*word)(const struct weft_frame *f);
	/* Returns the time of a word on the line of a port. */
	uint64_t (*word_fs)(const struct weft_port *p);
	/* Returns true for a packet (cell, flit).  NULL: each frame is one. */
	bool (*packet)(const struct weft_frame *f);
	/* Returns true for a control cell.  NULL: no frame is one. */
	bool (*control)(const struct weft_frame *f);
	/* Returns the kind of a control cell, WEFT_PARTS for a kind without a
	 * name.  NULL: they are all of one kind. */
	enum weft_part (*cell)(const struct weft_frame *f);
	/* Returns how many credits the frame carries.  NULL: none. */
	uint32_t (*credits)(const struct weft_frame *f);
	uint32_t credit_part, credit_symbols; /* symbols of one credit */
	/* Asks lost() once for each credit and takes the lost ones out of the
	 * frame.  Returns true when nothing is left of it.  NULL: credits are
	 * lost only with their frame. */
	bool (*lose_credits)(struct weft_frame *f, bool (*lost)(void *arg),
			     void *arg);
};

/* A wire as captures write it down (docs/captures.md). */
struct weft_wire_capture {
	uint8_t number; /* of the record's head; 0: records are Ethernet frames
			 * behind `skip` symbols, with an FCS of `fcs` bytes */
	uint8_t skip, fcs;
	uint64_t bits_per_s; /* 0: not said */
	/* Returns the byte of the head that a reader needs beside the symbols.
	 * upper: weft_class.capture_upper of the NICs.  NULL: 0. */
	uint8_t (*more)(const struct weft_frame *f, uint8_t upper);
};

struct weft_wire {
	const char *name; /* "forth" */
	/* Writes the first `max` line symbols of an undamaged frame (byte plus
	 * WEFT_SYM_K) and returns how many it has; sym may be NULL to count. */
	uint32_t (*encode)(const struct weft_frame *f, uint16_t *sym,
			   uint32_t max);
	/* Writes the symbols in front of a payload that the run does not carry
	 * and returns their number; *all: symbols of the whole frame.  NULL:
	 * every run carries the bytes of its frames. */
	uint32_t (*front)(const struct weft_frame *f, uint16_t *sym,
			  uint32_t max, uint32_t *all);
	/* Owners of such ports report what they send to weft_port.listener, so
	 * that a capture needs no component on the line. */
	bool tells;
	const struct weft_wire_faults *faults;	 /* NULL: only fault.delay */
	const struct weft_wire_capture *capture; /* NULL: not captured */
};

WEFT_C_END

#endif
