/* SPDX-License-Identifier: Apache-2.0 */
/* The Ethernet MAC of Intel's 82544 as a library (hvia.md 3.9, 7.1, 7.2),
 * embedded by hvia.nic (behind it the GEC's memory on a local bus) and by
 * eth.nic (behind it host memory on the host's bus).
 *
 * The owner forwards arrivals of its link port (mac_arrive) and its wake-ups
 * with tags cfg.tag .. cfg.tag + MAC_TAGS - 1 (mac_event), and reaches the
 * registers with mac_load and mac_store.  The memory behind the MAC is the
 * owner's: the MAC asks for one movement of bytes of each kind at a time
 * (ops.move), and the owner says when it is over (mac_moved).  How long it
 * takes is the owner's business; all times that are the MAC's own are here:
 *
 *   send     TDT written -> ask for the descriptor -> ask for the bytes ->
 *            cfg.start (266 ns) -> preamble, frame, FCS, gap -> ops.sent, then
 *            (RS) ask to write DD back; then the next frame.  With cfg.ahead
 *            > 0 it fetches so many frames ahead of the one on the line.
 *   receive  last byte of the FCS at the port -> cfg.receive (668 ns) -> ask to
 *            store the bytes -> ask to write the descriptor back -> ICR.RXT0.
 *            Descriptors are fetched ahead, as soon as RDT grants them.
 *
 * A frame that finds no room in the receive FIFO is missed (MPC); one that
 * finds no descriptor waits there. */
#ifndef LINK_MAC82544_H
#define LINK_MAC82544_H

#include "link/eth_wire.h"

/* ---- registers (offsets as in the 82544; 32 bits) ----------------------- */

enum {
	MAC_CTRL = 0x0000,
	MAC_STATUS = 0x0008,
	MAC_ICR = 0x00c0, /* reading clears */
	MAC_ITR = 0x00c4, /* units of 256 ns between interrupts */
	MAC_ICS = 0x00c8,
	MAC_IMS = 0x00d0,
	MAC_IMC = 0x00d8,
	MAC_RCTL = 0x0100,
	MAC_FCTTV = 0x0170, /* pause time that is sent, units of 512 bits */
	MAC_TCTL = 0x0400,
	MAC_TIPG = 0x0410, /* [9:0] gap - 4 byte times: 8 = 96 ns */
	MAC_FCRTL = 0x2160,
	MAC_FCRTH = 0x2168,
	MAC_RDBAL = 0x2800,
	MAC_RDBAH = 0x2804,
	MAC_RDLEN = 0x2808,
	MAC_RDH = 0x2810,
	MAC_RDT = 0x2818,
	MAC_RDTR = 0x2820, /* units of 1.024 us from a frame to RXT0 */
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
	MAC_RUC = 0x40a4, /* shorter than 64 bytes */
	MAC_ROC = 0x40ac, /* longer than allowed */
	MAC_RAL = 0x5400, /* + 8 i: bytes 0..3 of address i */
	MAC_RAH = 0x5404, /* bytes 4, 5; bit 31 valid */
	MAC_ADDRS = 16,
};

#define MAC_CTRL_RFCE  (1u << 27) /* obeys pause frames */
#define MAC_CTRL_TFCE  (1u << 28) /* sends them */
#define MAC_CTRL_RST   (1u << 26)
#define MAC_STATUS_LU  (1u << 1)
#define MAC_RCTL_EN    (1u << 1)
#define MAC_RCTL_SBP   (1u << 2) /* stores bad frames too */
#define MAC_RCTL_UPE   (1u << 3)
#define MAC_RCTL_MPE   (1u << 4)
#define MAC_RCTL_LPE   (1u << 5)  /* longer than 1518 bytes with FCS */
#define MAC_RCTL_BAM   (1u << 15) /* takes broadcast */
#define MAC_RCTL_BSIZE (3u << 16) /* 2048, 1024, 512, 256 bytes */
#define MAC_RCTL_BSEX  (1u << 25) /* sizes times 16 (not 2048) */
#define MAC_RCTL_SECRC (1u << 26) /* strips the FCS */
#define MAC_TCTL_EN    (1u << 1)
#define MAC_TCTL_PSP   (1u << 3) /* pads to 60 bytes */
#define MAC_RAH_AV     (1u << 31)
#define MAC_INT_TXDW   (1u << 0) /* DD written back (RS) */
#define MAC_INT_TXQE   (1u << 1) /* nothing left to send */
#define MAC_INT_RXDMT0 (1u << 4) /* half of the descriptors are used */
#define MAC_INT_RXO    (1u << 6) /* missed one */
#define MAC_INT_RXT0   (1u << 7) /* received */

/* ---- descriptors (3.9), 16 bytes, little endian -------------------------- */

enum {
	MAC_DESC = 16,
	/* transmit: address 8, length 2, CSO 1, CMD 1, STA 1, CSS 1, special 2
	 */
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
	/* receive: address 8, length 2, checksum 2, status 1, errors 1,
	 * special 2 */
	MAC_RXD_LEN = 8,
	MAC_RXD_STATUS = 12,
	MAC_RXD_ERRORS = 13,
	MAC_RX_DD = 0x01,
	MAC_RX_EOP = 0x02,
	MAC_RX_CE = 0x01,
	MAC_RX_SE = 0x02,
	MAC_RX_RXE = 0x80,
};

/* ---- between the MAC and what it is part of ------------------------------ */

enum mac_kind {
	MAC_TX_DESC, /* read: 16 bytes of descriptor `index` */
	MAC_TX_DATA, /* read: the bytes of one descriptor */
	MAC_TX_BACK, /* write: upper 8 bytes of descriptor `index`, with DD */
	MAC_RX_DESC, /* read: `bytes` / 16 descriptors from `index` on */
	MAC_RX_DATA, /* write: the bytes of a frame (of one descriptor) */
	MAC_RX_BACK, /* write: 16 bytes of descriptor `index` */
	MAC_KINDS
};

/* One movement of bytes, by DMA of the MAC.  data always has a buffer: reads
 * are filled by the owner before mac_moved, writes hold the bytes.  The MAC
 * keeps its reference: who needs the bytes after mac_moved takes one. */
struct mac_move {
	enum mac_kind kind;
	uint64_t addr;
	uint32_t bytes, index;
	struct weft_slice data;
	bool busy;  /* the MAC's own */
	bool stale; /* reset meanwhile */
};

struct mac;
struct mac_ops {
	/* Move these bytes; at most one of each kind is asked for at a time.
	 * The owner calls mac_moved(m, kind) when it is done, in phase 1 and
	 * not from inside of this call. */
	void (*move)(void *own, const struct mac_move *mv);
	/* ICR & IMS has become nonzero (true) or zero. */
	void (*irq)(void *own, bool level);
	/* The frame of transmit descriptor `index` has left, its gap too; TDH
	 * is behind it.  May be NULL. */
	void (*sent)(void *own, uint32_t index);
};

struct mac_cfg {
	weft_time_t start;	/* 266 ns */
	weft_time_t receive;	/* 668 ns */
	weft_time_t moderation; /* from a frame's write-back to RXT0; 0 */
	uint32_t ahead;		/* frames fetched ahead: 0 = one at a time */
	uint32_t rx_fifo;	/* bytes, 48 KiB */
	uint32_t frame_max;	/* without FCS, 1514; more needs RCTL.LPE */
	uint32_t tag;		/* first of MAC_TAGS event tags */
};
#define MAC_CFG_DEFAULT                                                        \
	((struct mac_cfg){ .start = 266 * WEFT_NS,                             \
			   .receive = 668 * WEFT_NS,                           \
			   .rx_fifo = 48 * 1024,                               \
			   .frame_max = ETH_FRAME_MAX })

enum { MAC_TAGS = 4 };

/* For the owner's own counters; never reset by software. */
struct mac_stats {
	uint64_t tx_frames, tx_bytes, rx_frames, rx_bytes;
	uint64_t missed;   /* no room in the FIFO, or receiver off */
	uint64_t crc;	   /* FCS wrong */
	uint64_t filtered; /* not for this station */
	uint64_t runt, giant, symbol;
	uint64_t pause_rx, pause_tx;
	uint64_t bad_desc; /* transmit descriptors that make no sense */
};

struct mac *mac_new(struct weft_comp *c, struct weft_port *p,
		    const struct mac_cfg *cfg, const struct mac_ops *ops,
		    void *own);
void mac_free(struct mac *m); /* NULL is fine; drops all frames it holds */
void mac_reset(struct mac *m);

void mac_arrive(struct mac *m, struct weft_frame *f); /* phase 0 */
void mac_event(struct mac *m, uint32_t tag);	      /* phase 1 */
void mac_moved(struct mac *m, enum mac_kind kind);    /* phase 1 */
uint32_t mac_load(struct mac *m, uint32_t off);
void mac_store(struct mac *m, uint32_t off, uint32_t val);
/* Station address i: RAL, RAH, valid. */
void mac_set_address(struct mac *m, uint32_t i, const uint8_t addr[6]);
const struct mac_stats *mac_stats(const struct mac *m);
/* Bytes in the receive FIFO now. */
uint32_t mac_rx_fill(const struct mac *m);

#endif
