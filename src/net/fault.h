/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers that the faults of serial links share. They find the wire format of a
 * line, turn frames into line symbols and damage 8b/10b codes. A wire format
 * describes its line (weft_wire_faults), so that the faults contain nothing
 * about a particular system. */
#ifndef NET_FAULT_H
#define NET_FAULT_H

#include "weft/sim.h"

/* Returns the wire format of the line of the port that fault c is on, or NULL
 * if the line cannot be damaged. */
const struct weft_wire_faults *fault_wire(const struct weft_comp *c);

/* ---- functions that a wire may leave out, with their defaults ---- */

/* Returns the symbols per word of this frame. */
static inline uint32_t fault_word(const struct weft_wire_faults *w,
				  const struct weft_frame *f)
{
	return w->word ? w->word(f) : 1;
}
/* Returns true if the frame carries a packet, or part of one. */
static inline bool fault_is_packet(const struct weft_wire_faults *w,
				   const struct weft_frame *f)
{
	return !w->packet || w->packet(f);
}
/* Returns true for a control cell or state flit. */
static inline bool fault_is_control(const struct weft_wire_faults *w,
				    const struct weft_frame *f)
{
	return w->control && w->control(f);
}
/* Returns the credits in this frame. */
static inline uint32_t fault_credits(const struct weft_wire_faults *w,
				     const struct weft_frame *f)
{
	return w->credits ? w->credits(f) : 0;
}

/* ---- symbols ---- */

/* Returns the line symbols of the frame in a new array, with room for `spare`
 * more symbols. The bits from WEFT_PART_SHIFT on hold the part of the frame
 * that a symbol belongs to. They are 0 if the frame was damaged before. The
 * caller passes the array to fault_set() or frees it. */
struct weft_raw *fault_raw(struct weft_comp *c, const struct weft_frame *f,
			   uint32_t spare);
/* Replaces the content of the frame by the symbols in raw. The frame owns raw
 * afterwards. Clears the part bits of the symbols because receivers expect
 * plain symbols. */
void fault_set(struct weft_frame *f, struct weft_raw *raw);

/* ---- 8b/10b (fault_code.c) ---- */

struct fault_hit {
	/* Index of a symbol, and index of the wrong bit in its 10-bit code. Bit
	 * 0 is the first on the line. */
	uint32_t symbol, bit;
};

/* fault_code_stream() and fault_code_flit() replace the symbols of raw by the
 * symbols that a receiver decodes when the n bits in hit are wrong. hit is
 * sorted in order of the line. The stream version encodes and decodes every
 * symbol, the flit version only symbols whose codes can differ. Both start with
 * the disparity of an idle line and keep the part bits.
 *
 * With a comma, the flit version models a transceiver that reports disparity: a
 * code of the wrong disparity becomes its symbol with WEFT_SYM_DISP. If the
 * disparity is wrong after the last symbol, fault_code_flit() appends a comma
 * with WEFT_SYM_DISP. Therefore raw needs room for one more symbol. */
void fault_code_stream(struct weft_raw *raw, const struct fault_hit *hit,
		       uint32_t n);
void fault_code_flit(struct weft_raw *raw, const struct fault_hit *hit,
		     uint32_t n, uint16_t comma);
/* Sends a word of four idle commas with wrong bits, so that it arrives at time
 * t. */
void fault_code_idle(struct weft_comp *c, const struct weft_wire_faults *w,
		     weft_time_t t, uint64_t word_fs,
		     const struct fault_hit *hit, uint32_t n);

#endif
