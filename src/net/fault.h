/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the faults of serial links: wires and line symbols. */
#ifndef NET_FAULT_H
#define NET_FAULT_H

#include "weft/sim.h"

/* The wire of the line that the fault c sits on; NULL: it cannot be damaged. */
const struct weft_wire_faults *fault_wire(const struct weft_comp *c);

/* ---- a wire that leaves some of its functions out ---- */

/* Symbols per word of this frame. */
static inline uint32_t fault_word(const struct weft_wire_faults *w,
				  const struct weft_frame *f)
{
	return w->word ? w->word(f) : 1;
}
static inline bool fault_is_packet(const struct weft_wire_faults *w,
				   const struct weft_frame *f)
{
	return !w->packet || w->packet(f);
}
static inline bool fault_is_control(const struct weft_wire_faults *w,
				    const struct weft_frame *f)
{
	return w->control && w->control(f);
}
static inline uint32_t fault_credits(const struct weft_wire_faults *w,
				     const struct weft_frame *f)
{
	return w->credits ? w->credits(f) : 0;
}

/* ---- symbols ---- */

/* The frame as line symbols, with the part of each one in its upper bits
 * (unless the frame was damaged before); room for `spare` more. */
struct weft_raw *fault_raw(struct weft_comp *c, const struct weft_frame *f,
			   uint32_t spare);
/* From now on the frame is these symbols. */
void fault_set(struct weft_frame *f, struct weft_raw *raw);

/* ---- 8b/10b (fault_code.c) ---- */

struct fault_hit {
	uint32_t symbol, bit; /* bit of its code, first on the line = 0 */
};

/* The symbols as a receiver decodes them when these bits are wrong, in order of
 * the line: through a stream of real codes, or (flit) only where it differs.
 * The disparity at the start is that of an idle line; parts are kept. */
void fault_code_stream(struct weft_raw *raw, const struct fault_hit *hit,
		       uint32_t n);
void fault_code_flit(struct weft_raw *raw, const struct fault_hit *hit,
		     uint32_t n);
/* As flit; a code of the other disparity is its symbol with WEFT_SYM_DISP.  A
 * disparity that is still wrong at the end shows at the comma behind it, which
 * needs room for one more symbol. */
void fault_code_told(struct weft_raw *raw, const struct fault_hit *hit,
		     uint32_t n, uint16_t comma);
/* A word of four idle commas with wrong bits, that arrives at time t. */
void fault_code_idle(struct weft_comp *c, const struct weft_wire_faults *w,
		     weft_time_t t, uint64_t word_fs,
		     const struct fault_hit *hit, uint32_t n);

#endif
