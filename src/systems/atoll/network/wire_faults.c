/* SPDX-License-Identifier: Apache-2.0 */
/* Functions by which faults and captures handle ATOLL's frames
 * (weft/wire.h). */
#include "systems/atoll/network/crossbar.h"
#include "systems/atoll/network/wire.h"

static uint64_t at_word_fs(const struct weft_port *p)
{
	const struct atoll_xbar *x = p->iface;

	return x->clk.num / x->clk.den;
}

static bool at_packet(const struct weft_frame *f)
{
	return at_line(f)->kind != AT_STATE;
}

static bool at_control(const struct weft_frame *f)
{
	return at_line(f)->kind == AT_STATE;
}

/* A fault on credits or on acknowledgements hits state flits. A fault on the
 * header hits routing characters. */
const struct weft_wire_faults atoll_wire_faults = {
	.encode_parts = at_encode_parts,
	.targets = { [WEFT_PART_CONTROL] = 1u << WEFT_PART_CONTROL,
		     [WEFT_PART_CREDIT] = 1u << WEFT_PART_CREDIT,
		     [WEFT_PART_HEADER] = 1u << WEFT_PART_ROUTE,
		     [WEFT_PART_BODY] =
			     1u << WEFT_PART_PAYLOAD | 1u << WEFT_PART_CRC,
		     [WEFT_PART_SEQ] = 1u << WEFT_PART_SEQ,
		     [WEFT_PART_ROUTE] = 1u << WEFT_PART_ROUTE,
		     [WEFT_PART_PAYLOAD] = 1u << WEFT_PART_PAYLOAD,
		     [WEFT_PART_CRC] = 1u << WEFT_PART_CRC,
		     [WEFT_PART_ACK] = 1u << WEFT_PART_CREDIT },
	.code = WEFT_LINE_CHARS,
	.whole_words = true,
	.noise = 1,
	.word_fs = at_word_fs,
	.packet = at_packet,
	.control = at_control,
	.credit_part = WEFT_PARTS,
	.credit_symbols = 1,
};

const struct weft_wire_capture atoll_wire_capture = { .number = 3 };
