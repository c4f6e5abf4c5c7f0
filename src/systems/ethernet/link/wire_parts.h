/* SPDX-License-Identifier: Apache-2.0 */
/* Line symbols of Ethernet frames, for faults, and for switches that read a
 * frame before its end. */
#ifndef SYSTEMS_ETHERNET_LINK_WIRE_PARTS_H
#define SYSTEMS_ETHERNET_LINK_WIRE_PARTS_H

#include "systems/ethernet/link/wire.h"

/* Encodes like eth_wire.encode. The upper bits of each symbol hold the symbol's
 * part (enum weft_part). */
uint32_t eth_encode_parts(const struct weft_frame *f, uint16_t *sym,
			  uint32_t max);
/* Copies the first n bytes after the start delimiter as they are on the line,
 * damaged or not. Returns false if the frame has fewer bytes. */
bool eth_frame_peek(const struct weft_frame *f, uint8_t *p, uint32_t n);

#endif
