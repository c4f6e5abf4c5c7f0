/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of the FORTH link that fault components and captures need
 * (weft/wire.h). */
#include "systems/forth/link/port.h"
#include "systems/forth/link/wire.h"

static uint32_t forth_word(const struct weft_frame *f)
{
	return 4;
}

static uint64_t forth_word_fs(const struct weft_port *p)
{
	struct weft_clock clk = forth_port_net_clock(p);

	return clk.num / clk.den;
}

static bool forth_packet(const struct weft_frame *f)
{
	return f->flags & FORTH_F_PACKET;
}

static uint32_t forth_credits(const struct weft_frame *f)
{
	return forth_shape_get(f).credits;
}

/* Removes those credits of a frame for which lost(arg) returns true. Returns
 * true if the frame must be dropped, because it is a credit-only frame and has
 * lost all its credits. */
static bool forth_lose_credits(struct weft_frame *f, bool (*lost)(void *arg),
			       void *arg)
{
	struct forth_shape s = forth_shape_get(f);
	uint32_t i, kept = 0;

	for (i = 0; i < s.credits; i++)
		if (!lost(arg))
			forth_frame_set_credit(f, kept++,
					       forth_frame_credit(f, i));
	if (kept < s.credits) {
		f->words -= forth_credit_words(s.layout, s.links, s.credits,
					       f->flags & FORTH_F_PACKET) -
			    forth_credit_words(s.layout, s.links, kept,
					       f->flags & FORTH_F_PACKET);
		s.credits = (uint8_t)kept;
		forth_shape_set(f, s);
	}
	return !kept && !(f->flags & FORTH_F_PACKET);
}

const struct weft_wire_faults forth_wire_faults = {
	.encode_parts = forth_encode_parts,
	.targets = { [WEFT_PART_CONTROL] = 1u << WEFT_PART_CONTROL,
		     [WEFT_PART_CREDIT] = 1u << WEFT_PART_CREDIT,
		     [WEFT_PART_HEADER] = 1u << WEFT_PART_HEADER,
		     [WEFT_PART_BODY] = 1u << WEFT_PART_BODY },
	.code = WEFT_LINE_BYTES,
	.comma = FORTH_COMMA,
	.idle_flags = FORTH_F_IDLE,
	.noise = 4,
	.word = forth_word,
	.word_fs = forth_word_fs,
	.packet = forth_packet,
	.credits = forth_credits,
	.credit_part = WEFT_PART_CREDIT,
	.credit_symbols = 2,
	.lose_credits = forth_lose_credits,
};

/* Returns a byte for captures: layout of credits, links of the bundle, index of
 * the frame's link. */
static uint8_t forth_more(const struct weft_frame *f, uint8_t upper)
{
	struct forth_shape s = forth_shape_get(f);
	uint32_t links = s.links ? (uint32_t)__builtin_ctz(s.links) : 0;

	return (uint8_t)(s.layout | links << 1 | (uint32_t)s.line << 3);
}

const struct weft_wire_capture forth_wire_capture = { .number = 1,
						      .more = forth_more };
