/* SPDX-License-Identifier: Apache-2.0 */
/* What the faults of serial links share: how the wire formats look to them. */
#ifndef LINK_FAULT_H
#define LINK_FAULT_H

#include "weft/sim.h"

#define FAULT_PART_SHIFT 12

enum fault_kind {
	FAULT_FORTH,
	FAULT_EXTOLL,
	FAULT_ATOLL,
	FAULT_ETH,
	FAULT_KINDS
};

/* A wire format. */
struct fault_line {
	enum fault_kind kind;
	const struct weft_wire *wire;
	/* As wire->encode, with the part of each symbol in its upper bits. */
	uint32_t (*encode)(const struct weft_frame *f, uint16_t *sym,
			   uint32_t max);
	uint32_t bits;	/* of a symbol that can be wrong */
	uint32_t noise; /* invalid codes that end synchronisation */
	uint32_t (*word)(const struct weft_frame *f); /* symbols per word */
	uint64_t (*word_fs)(const struct weft_port *p);
	bool (*packet)(
		const struct weft_frame *f); /* EXTOLL: cell; ATOLL: flit */
	bool (*control)(const struct weft_frame *f); /* something else */
	uint32_t (*credits)(const struct weft_frame *f);
	uint32_t credit_part, credit_symbols;
};

/* The format of the line that the fault c sits on. */
const struct fault_line *fault_line(const struct weft_comp *c);

/* The frame as line symbols, with the part of each one in its upper bits
 * (unless the frame was damaged before); room for `spare` more. */
struct weft_raw *fault_raw(struct weft_comp *c, const struct weft_frame *f,
			   uint32_t spare);
/* From now on the frame is these symbols. */
void fault_set(struct weft_frame *f, struct weft_raw *raw);

/* ---- 8b/10b (fault_code.c) --------------------------------------------- */

struct fault_hit {
	uint32_t symbol, bit; /* bit of its code, first on the line = 0 */
};

/* What a receiver makes of the symbols when these bits are wrong, in order of
 * the line: through a stream of real codes, or (flit) only where it differs.
 * The disparity at the start is that of an idle line; parts are kept. */
void fault_code_stream(struct weft_raw *raw, const struct fault_hit *hit,
		       uint32_t n);
void fault_code_flit(struct weft_raw *raw, const struct fault_hit *hit,
		     uint32_t n);
/* FORTH: as flit; a code of the other disparity is its symbol with
 * WEFT_SYM_DISP.  A disparity that is still wrong at the end shows at the comma
 * behind it, which needs room for one more symbol. */
void fault_code_forth(struct weft_raw *raw, const struct fault_hit *hit,
		      uint32_t n);
/* A word of four idle commas with wrong bits, that arrives at time t. */
void fault_code_idle(struct weft_comp *c, weft_time_t t, uint64_t word_fs,
		     const struct fault_hit *hit, uint32_t n);

#endif
