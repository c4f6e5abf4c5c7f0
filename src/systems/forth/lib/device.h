/* SPDX-License-Identifier: Apache-2.0 */
/* The register map on which the user library is built. Programs that measure or
 * test the hardware itself include this header: weft_forth_load and
 * weft_forth_store take register offsets of the map, and weft_forth_slot_write
 * takes descriptors. */
#ifndef SYSTEMS_FORTH_LIB_DEVICE_H
#define SYSTEMS_FORTH_LIB_DEVICE_H

#include "systems/forth/nic/regs_map.h"
#include "weft/forth.h"

#endif
