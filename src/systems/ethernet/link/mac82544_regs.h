/* SPDX-License-Identifier: Apache-2.0 */
/* Registers and descriptors of the 82544's MAC: the interface to its driver. */
#ifndef SYSTEMS_ETHERNET_LINK_MAC82544_REGS_H
#define SYSTEMS_ETHERNET_LINK_MAC82544_REGS_H

/* ---- registers (offsets as in the 82544; 32 bits) ---- */

enum {
	MAC_CTRL = 0x0000,
	MAC_STATUS = 0x0008,
	MAC_ICR = 0x00c0, /* reading clears */
	MAC_ITR = 0x00c4, /* units of 256 ns between interrupts */
	MAC_ICS = 0x00c8,
	MAC_IMS = 0x00d0,
	MAC_IMC = 0x00d8,
	MAC_RCTL = 0x0100,
	/* pause time of sent XOFF frames, in units of 512 bits */
	MAC_FCTTV = 0x0170,
	MAC_TCTL = 0x0400,
	MAC_TIPG = 0x0410, /* [9:0]: gap minus 4 byte times; 8 gives 96 ns */
	MAC_FCRTL = 0x2160,
	MAC_FCRTH = 0x2168,
	MAC_RDBAL = 0x2800,
	MAC_RDBAH = 0x2804,
	MAC_RDLEN = 0x2808,
	MAC_RDH = 0x2810,
	MAC_RDT = 0x2818,
	MAC_RDTR = 0x2820, /* units of 1.024 us between a frame and RXT0 */
	MAC_TDBAL = 0x3800,
	MAC_TDBAH = 0x3804,
	MAC_TDLEN = 0x3808,
	MAC_TDH = 0x3810,
	MAC_TDT = 0x3818,
	MAC_CRCERRS = 0x4000, /* statistics: reading clears */
	MAC_RXERRC = 0x400c,
	MAC_MPC = 0x4010,
	MAC_XONRXC = 0x4048,
	MAC_XONTXC = 0x404c,
	MAC_XOFFRXC = 0x4050,
	MAC_XOFFTXC = 0x4054,
	MAC_GPRC = 0x4074,
	MAC_GPTC = 0x4080,
	MAC_RUC = 0x40a4, /* frames shorter than 64 bytes */
	MAC_ROC = 0x40ac, /* frames longer than allowed */
	MAC_RAL = 0x5400, /* + 8 i: bytes 0..3 of station address i */
	MAC_RAH = 0x5404, /* bytes 4 and 5 of the address, bit 31 valid */
	MAC_ADDRS = 16,
};

#define MAC_CTRL_RFCE (1u << 27) /* obeys pause frames */
#define MAC_CTRL_TFCE (1u << 28) /* sends pause frames */
#define MAC_CTRL_RST  (1u << 26)
#define MAC_STATUS_LU (1u << 1)
#define MAC_RCTL_EN   (1u << 1)
#define MAC_RCTL_SBP  (1u << 2) /* frames with a wrong FCS are stored, too */
#define MAC_RCTL_UPE  (1u << 3)
#define MAC_RCTL_MPE  (1u << 4)
/* accept frames longer than 1518 bytes with FCS */
#define MAC_RCTL_LPE   (1u << 5)
#define MAC_RCTL_BAM   (1u << 15) /* accepts broadcast */
#define MAC_RCTL_BSIZE (3u << 16) /* value 0..3: 2048, 1024, 512, 256 bytes */
#define MAC_RCTL_BSEX  (1u << 25) /* 16 times these sizes, except 2048 */
#define MAC_RCTL_SECRC (1u << 26) /* strips the FCS */
#define MAC_TCTL_EN    (1u << 1)
#define MAC_TCTL_PSP   (1u << 3) /* pad short frames to 60 bytes */
#define MAC_RAH_AV     (1u << 31)
#define MAC_INT_TXDW   (1u << 0) /* DD was written back (RS) */
#define MAC_INT_TXQE   (1u << 1) /* all queued frames were sent */
#define MAC_INT_RXDMT0 (1u << 4) /* half of the descriptors are used */
#define MAC_INT_RXO    (1u << 6) /* the receiver missed a frame */
#define MAC_INT_RXT0   (1u << 7) /* a frame was received */

/* ---- descriptors (hvia.md 3.9), 16 bytes, little endian ---- */

enum {
	MAC_DESC = 16,
	/* transmit descriptor, bytes of each field: address 8, length 2, CSO 1,
	 * CMD 1, STA 1, CSS 1, special 2 */
	MAC_TXD_LEN = 8,
	MAC_TXD_CMD = 11,
	MAC_TXD_STA = 12,
	MAC_CMD_EOP = 0x01,
	MAC_CMD_IFCS = 0x02,
	MAC_CMD_IC = 0x04,
	MAC_CMD_RS = 0x08,
	MAC_CMD_RPS = 0x10,
	MAC_CMD_DEXT = 0x20,
	MAC_CMD_VLE = 0x40,
	MAC_CMD_IDE = 0x80,
	MAC_STA_DD = 0x01,
	MAC_STA_TU = 0x08,
	/* receive descriptor, bytes of each field: address 8, length 2,
	 * checksum 2, status 1, errors 1, special 2 */
	MAC_RXD_LEN = 8,
	MAC_RXD_STATUS = 12,
	MAC_RXD_ERRORS = 13,
	MAC_RX_DD = 0x01,
	MAC_RX_EOP = 0x02,
	MAC_RX_CE = 0x01,
	MAC_RX_SE = 0x02,
	MAC_RX_RXE = 0x80,
};

#endif
