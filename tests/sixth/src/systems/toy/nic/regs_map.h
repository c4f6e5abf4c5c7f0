/* SPDX-License-Identifier: Apache-2.0 */
/* Registers of toy.nic in BAR 0, of 8 bytes each. */
#ifndef SYSTEMS_TOY_NIC_REGS_MAP_H
#define SYSTEMS_TOY_NIC_REGS_MAP_H

enum {
	TOY_ID = 0x0006f00d, /* device, vendor */
	TOY_R_TX_FREE = 0x00,
	TOY_R_TX_IMM = 0x08,
	TOY_R_TX_GO = 0x10, /* a store sends: node in 7:0, bytes in 22:16 */
	TOY_R_RX_HEAD = 0x18,
	TOY_R_RX_IMM = 0x20,
	TOY_R_RX_POP = 0x28,
	TOY_R_TX_DATA = 0x40,
	TOY_R_RX_DATA = 0x80,
	TOY_R_END = 0xc0,
	TOY_WORDS = 8, /* number of words of each data window */
	TOY_LEN_SHIFT = 16,
	TOY_LEN_MASK = 0x7f,
	TOY_NODE_MASK = 0xff,
	TOY_HERE = 1 << 31, /* bit of RX_HEAD: the queue has a message */
};

#endif
