/* SPDX-License-Identifier: Apache-2.0 */
/* Functions by which faults and captures handle EXTOLL's frames
 * (weft/wire.h). */
#include "systems/extoll/network/cell_channel.h"
#include "systems/extoll/network/frame.h"

static const struct ex_line *line_of(const struct weft_frame *f)
{
	return (const struct ex_line *)&f->u[0];
}

static uint32_t ex_word(const struct weft_frame *f)
{
	return ex_flit_bytes(line_of(f)->width);
}

static uint64_t ex_word_fs(const struct weft_port *p)
{
	const struct cell_channel *ep = p->iface;

	return ep->cfg.clk.num / ep->cfg.clk.den;
}

static bool ex_packet(const struct weft_frame *f)
{
	return f->flags & EX_F_CELL;
}

static bool ex_control(const struct weft_frame *f)
{
	return f->flags & EX_F_CONTROL;
}

/* Returns the part (enum weft_part) that names the kind of a control cell.
 * Returns WEFT_PARTS if f is not an ACK, NACK, CREDIT or REFRESH. The two low
 * bits of the types CREDIT and REFRESH are the virtual channel. */
static enum weft_part ex_cell(const struct weft_frame *f)
{
	static const struct {
		uint8_t first, last, part;
	} kinds[] = { { EX_C_ACK, EX_C_ACK, WEFT_PART_ACK },
		      { EX_C_NACK, EX_C_NACK, WEFT_PART_NACK },
		      { EX_C_CREDIT, EX_C_CREDIT + 3, WEFT_PART_CREDIT },
		      { EX_C_REFRESH, EX_C_REFRESH + 3, WEFT_PART_REFRESH } };
	uint32_t type = line_of(f)->type;

	for (uint32_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (ex_control(f) && type >= kinds[i].first &&
		    type <= kinds[i].last)
			return kinds[i].part;
	return WEFT_PARTS;
}

static uint32_t ex_credits(const struct weft_frame *f)
{
	return ex_cell(f) == WEFT_PART_CREDIT ? line_of(f)->arg : 0;
}

/* Faults damage each cell on its own. Not modelled: a disparity error that is
 * detected only after the end of a cell. */
const struct weft_wire_faults ex_wire_faults = {
	.encode_parts = ex_encode_parts,
	.targets = { [WEFT_PART_CONTROL] = 1u << WEFT_PART_CONTROL,
		     [WEFT_PART_CREDIT] = WEFT_BY_CELL,
		     [WEFT_PART_HEADER] = 1u << WEFT_PART_HEADER,
		     [WEFT_PART_BODY] =
			     1u << WEFT_PART_PAYLOAD | 1u << WEFT_PART_CRC,
		     [WEFT_PART_CTL] = 1u << WEFT_PART_CTL,
		     [WEFT_PART_SEQ] = 1u << WEFT_PART_SEQ,
		     [WEFT_PART_LEN] = 1u << WEFT_PART_LEN,
		     [WEFT_PART_ROUTE] = 1u << WEFT_PART_ROUTE,
		     [WEFT_PART_PAYLOAD] = 1u << WEFT_PART_PAYLOAD,
		     [WEFT_PART_CRC] = 1u << WEFT_PART_CRC,
		     [WEFT_PART_ACK] = WEFT_BY_CELL,
		     [WEFT_PART_NACK] = WEFT_BY_CELL,
		     [WEFT_PART_REFRESH] = WEFT_BY_CELL },
	.code = WEFT_LINE_8B10B,
	.whole_words = true,
	/* A cut makes so many invalid codes that alignment is lost (extoll.md
	 * 5.7). */
	.noise = 16,
	.word = ex_word,
	.word_fs = ex_word_fs,
	.packet = ex_packet,
	.control = ex_control,
	.cell = ex_cell,
	.credits = ex_credits,
	.credit_part = WEFT_PART_CELL,
	.credit_symbols = 3,
};

enum { MORE_TABLE = 0x10, MORE_WIDE = 0x20 };

/* Returns the flags of a record in a capture: number of the upper protocol,
 * table routing, width of the line. */
static uint8_t ex_more(const struct weft_frame *f, uint8_t upper)
{
	const struct ex_meta *m = (const struct ex_meta *)&f->u[3];
	bool table = f->flags & EX_F_CELL && !m->hops;

	return (uint8_t)(upper | (table ? MORE_TABLE : 0) |
			 (line_of(f)->width == EX_W32 ? MORE_WIDE : 0));
}

const struct weft_wire_capture ex_wire_capture = { .number = 2,
						   .more = ex_more };
