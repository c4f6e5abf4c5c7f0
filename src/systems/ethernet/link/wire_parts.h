/* SPDX-License-Identifier: Apache-2.0 */
/* Ethernet frames as line symbols, for faults and whoever looks into a frame
 * before its end. */
#ifndef SYSTEMS_ETHERNET_LINK_WIRE_PARTS_H
#define SYSTEMS_ETHERNET_LINK_WIRE_PARTS_H

#include "systems/ethernet/link/wire.h"

/* As eth_wire.encode, with the part of each symbol in its upper bits. */
uint32_t eth_encode_parts(const struct weft_frame *f, uint16_t *sym,
			  uint32_t max);
/* The first n bytes behind the start delimiter as they are on the line, right
 * or wrong; false: there are not so many. */
bool eth_frame_peek(const struct weft_frame *f, uint8_t *p, uint32_t n);

#endif
