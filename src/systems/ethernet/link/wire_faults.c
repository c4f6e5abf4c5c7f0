/* SPDX-License-Identifier: Apache-2.0 */
/* Properties of an Ethernet line, for faults and captures (weft/wire.h). */
#include "systems/ethernet/link/wire_parts.h"

static uint64_t eth_word_fs(const struct weft_port *p)
{
	return ETH_BYTE_FS;
}

const struct weft_wire_faults eth_wire_faults = {
	.encode_parts = eth_encode_parts,
	.targets = { [WEFT_PART_CONTROL] = 1u << WEFT_PART_CONTROL,
		     [WEFT_PART_HEADER] = 1u << WEFT_PART_HEADER,
		     [WEFT_PART_BODY] =
			     1u << WEFT_PART_PAYLOAD | 1u << WEFT_PART_CRC,
		     [WEFT_PART_PAYLOAD] = 1u << WEFT_PART_PAYLOAD,
		     [WEFT_PART_CRC] = 1u << WEFT_PART_CRC },
	.code = WEFT_LINE_OCTETS,
	.whole_words = true,
	.may_overtake = true,
	.noise = 1,
	.word_fs = eth_word_fs,
	.credit_part = WEFT_PARTS,
	.credit_symbols = 1,
};

const struct weft_wire_capture eth_wire_capture = {
	.skip = ETH_PREAMBLE,
	.fcs = ETH_FCS,
	.bits_per_s = 1000000000,
};
