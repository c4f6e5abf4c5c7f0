/* SPDX-License-Identifier: Apache-2.0 */
/* Wire formats. A port declares its wire (weft_port_decl.wire). The wire
 * describes its line to faults (fault.bits, fault.drop, fault.cut) and
 * captures, so that these work with wires of all systems and plug-ins.
 */
#ifndef WEFT_WIRE_H
#define WEFT_WIRE_H

#include "weft/types.h"

WEFT_C_BEGIN

struct weft_port;

/* Parts of a transmission. A wire uses the parts that its frames have. */
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
	WEFT_PART_CELL, /* rest of a control cell, after its first symbol */
	WEFT_PART_ACK,	/* CREDIT, ACK, NACK and REFRESH are kinds of control
			 * cells */
	WEFT_PART_NACK,
	WEFT_PART_REFRESH,
	WEFT_PARTS
};

/* number of the lowest bit that holds the part of a symbol, in encode_parts */
#define WEFT_PART_SHIFT 12
/* Entry of `targets`: the fault selects frames by the kind of cell
 * (weft_wire_faults.cell). */
#define WEFT_BY_CELL UINT32_MAX

/* Line codes, which say how a wrong bit changes a symbol. */
enum weft_line_code {
	WEFT_LINE_BYTES,  /* most significant bit first; a wrong bit in a
			   * control symbol makes it a data symbol */
	WEFT_LINE_OCTETS, /* least significant bit first */
	WEFT_LINE_CHARS,  /* eight bits and the control bit */
	WEFT_LINE_8B10B,  /* bits of the 10-bit codes */
};

/* Description of a wire for faults. */
struct weft_wire_faults {
	/* Writes symbols as weft_wire.encode does, but with the part of each
	 * symbol in bits 12 and up. Returns the number of symbols. */
	uint32_t (*encode_parts)(const struct weft_frame *f, uint16_t *sym,
				 uint32_t max);
	/* targets[t] is the mask of parts (1 << part) that a fault with target
	 * t damages. 0: the wire has no such part. */
	uint32_t targets[WEFT_PARTS];
	enum weft_line_code code;
	/* Symbol of an idle line, or 0. In 10-bit codes the symbol of an idle
	 * line can have wrong bits, too. A receiver reports a code of the other
	 * disparity as this symbol with WEFT_SYM_DISP. */
	uint16_t comma;
	uint32_t idle_flags; /* weft_frame.flags of a frame of four commas */
	bool whole_words;    /* a frame has words * word() symbols */
	bool may_overtake;   /* the receiver accepts frames in any order */
	uint32_t noise;	     /* number of invalid codes that end
			      * synchronisation */
	/* Returns the symbols per word of this frame.  NULL: 1. */
	uint32_t (*word)(const struct weft_frame *f);
	/* Returns the time of a word on the line of a port. */
	uint64_t (*word_fs)(const struct weft_port *p);
	/* Returns true for a packet (cell, flit). NULL: each frame is a
	 * packet. */
	bool (*packet)(const struct weft_frame *f);
	/* Returns true for a control cell. NULL: no frame is a control cell. */
	bool (*control)(const struct weft_frame *f);
	/* Returns the kind of a control cell, WEFT_PARTS for a kind without a
	 * name. NULL: all control cells are of one kind. */
	enum weft_part (*cell)(const struct weft_frame *f);
	/* Returns the number of credits that the frame carries. NULL: 0. */
	uint32_t (*credits)(const struct weft_frame *f);
	/* part to which the symbols of a credit belong; number of symbols of
	 * one credit */
	uint32_t credit_part, credit_symbols;
	/* Calls lost() once for each credit, and removes the lost credits from
	 * the frame. Returns true when the frame is then empty. NULL: credits
	 * are lost only with their frame. */
	bool (*lose_credits)(struct weft_frame *f, bool (*lost)(void *arg),
			     void *arg);
};

/* Description of a wire for captures (docs/captures.md). */
struct weft_wire_capture {
	/* Number of the wire in the header of each record; 0: records are
	 * Ethernet frames without the first `skip` symbols, with an FCS of
	 * `fcs` bytes. */
	uint8_t number;
	uint8_t skip, fcs;
	uint64_t bits_per_s; /* rate of the line; 0: not recorded */
	/* Returns the header byte that a reader of captures needs in addition
	 * to the symbols. `upper` is weft_class.capture_upper of the NICs.
	 * NULL: 0. */
	uint8_t (*more)(const struct weft_frame *f, uint8_t upper);
};

struct weft_wire {
	const char *name; /* name of the wire, such as "forth" */
	/* Writes the first `max` line symbols of an undamaged frame (byte plus
	 * WEFT_SYM_K). Returns the number of all symbols of the frame. With sym
	 * == NULL it only counts the symbols. */
	uint32_t (*encode)(const struct weft_frame *f, uint16_t *sym,
			   uint32_t max);
	/* Writes the symbols in front of a payload that the run does not carry.
	 * Returns the number of these symbols. Stores the number of symbols of
	 * the whole frame in *all. NULL: every run carries the bytes of its
	 * frames. */
	uint32_t (*front)(const struct weft_frame *f, uint16_t *sym,
			  uint32_t max, uint32_t *all);
	/* Owners of ports of this wire report the frames that they send to
	 * weft_port.listener, so that a capture needs no component on the
	 * line. */
	bool tells;
	const struct weft_wire_faults *faults;	 /* NULL: fault.delay is the
						  * only fault for this wire */
	const struct weft_wire_capture *capture; /* NULL: captures leave this
						  * wire out */
};

WEFT_C_END

#endif
