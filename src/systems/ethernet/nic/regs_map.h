/* SPDX-License-Identifier: Apache-2.0 */
/* Interface of eth.nic to its driver: configuration space as in a PRO/1000. BAR
 * 0 holds the registers of the MAC. */
#ifndef SYSTEMS_ETHERNET_NIC_REGS_MAP_H
#define SYSTEMS_ETHERNET_NIC_REGS_MAP_H

#include "systems/ethernet/link/mac82544_regs.h"

enum {
	ETHNIC_VENDOR = 0x8086,
	ETHNIC_DEVICE = 0x1008, /* 82544EI, copper */
	ETHNIC_BAR = 0,
	ETHNIC_BAR_BYTES = 0x20000,
	ETHNIC_REG_BYTES = 0x8000,
};

#endif
