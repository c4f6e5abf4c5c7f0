/* SPDX-License-Identifier: Apache-2.0 */
/* The EXTOLL NIC's interface to drivers. Configuration space, MMIO map
 * (extoll.md 2.5), register file (2.6), VELO send header and mailbox (3.2,
 * 3.3), event queue (2.7). Offsets that the specification does not print are
 * our own. */
#ifndef SYSTEMS_EXTOLL_NIC_REGS_MAP_H
#define SYSTEMS_EXTOLL_NIC_REGS_MAP_H

#include <stdint.h>

/* ---- configuration space ---- */

#define EXTOLL_VENDOR_ID 0x1B76u
#define EXTOLL_DEVICE_ID 0x0010u

enum {
	EXTOLL_CFG_VENDOR = 0x00,
	EXTOLL_CFG_DEVICE = 0x02,
	EXTOLL_CFG_COMMAND = 0x04,
	EXTOLL_CFG_STATUS = 0x06,
	EXTOLL_CFG_CLASS = 0x08,
	EXTOLL_CFG_HEADER = 0x0E,
	EXTOLL_CFG_BAR0 = 0x10,
	EXTOLL_CFG_IRQ_LINE = 0x3C,
	EXTOLL_CFG_IRQ_PIN = 0x3D,
	EXTOLL_CMD_MEMORY = 1 << 1,
	EXTOLL_CMD_MASTER = 1 << 2,
};

/* ---- BAR0 (2.5) ---- */

enum {
	EXTOLL_BAR = 0,
	EXTOLL_BAR_BYTES = 0x4000000,
	EXTOLL_RF = 0x0000000, /* register file */
	EXTOLL_RF_BYTES = 0x1000000,
	EXTOLL_VELO = 0x1000000, /* requester pages */
	EXTOLL_VELO_BYTES = 0x1000000,
	EXTOLL_RMA = 0x2000000,
	EXTOLL_RMA_BYTES = 0x2000000,
	EXTOLL_PAGE = 4096,
	EXTOLL_VPIDS = 256,
};

/* Returns the offset in BAR0 of a process's page of the VELO requester. */
static inline uint64_t extoll_velo_page(uint32_t tc, uint32_t vpid)
{
	return EXTOLL_VELO + ((uint64_t)(tc & 3) << 20) + (vpid << 12);
}
/* Returns the offset in BAR0 of a process's page of the RMA requester. opt =
 * {TE, INT, RRA, TC[1:0]} */
static inline uint64_t extoll_rma_page(uint32_t opt, uint32_t vpid)
{
	return EXTOLL_RMA + ((uint64_t)(opt & 31) << 20) + (vpid << 12);
}
#define EXTOLL_PAGE_VPID(off) ((uint32_t)((off) >> 12 & 0xff))
#define EXTOLL_VELO_TC(off)   ((uint32_t)((off) >> 20 & 3))
#define EXTOLL_RMA_OPT(off)   ((uint32_t)((off) >> 20 & 31))

/* ---- register file: quadwords (2.6) ---- */

enum {
	EXTOLL_NODE_ID = 0x0000,
	EXTOLL_BUILD = 0x0008, /* see below */
	EXTOLL_NODES = 0x0010, /* nodes of the network; 0 = unknown */
	/* for the programs of one node that share the driver: */
	/* load: 0 = the lock is now taken; store: frees it */
	EXTOLL_DRIVER_LOCK = 0x0050,
	EXTOLL_DRIVER_STATE = 0x0058, /* any value of the driver */
	/* route table: first the index (node), then the entry: */
	EXTOLL_ROUTE_INDEX = 0x0020,
	/* four words of nibbles, first hop lowest */
	EXTOLL_ROUTE_DATA = 0x0028,
	/* number of links; a store writes the entry to the table */
	EXTOLL_ROUTE_LENGTH = 0x0048,
	/* HTAX: address intervals for host requests */
	EXTOLL_INTERVALS = 8,
	EXTOLL_INTERVAL_LOWER = 0x0100, /* + 32 i; first offset in BAR0 */
	EXTOLL_INTERVAL_UPPER = 0x0108, /* last offset */
	EXTOLL_INTERVAL_TARGET = 0x0110,
	EXTOLL_INTERVAL_STRIDE = 0x20,
	EXTOLL_HTAX_DISCARDED = 0x0200,
	EXTOLL_HTAX_ABORTS = 0x0208,
	/* stores in HTAX, and VELO's held message */
	EXTOLL_HTAX_WAITING = 0x0210,
	/* event queue (2.7) */
	EXTOLL_EVQ_BASE = 0x0300,
	EXTOLL_EVQ_SIZE = 0x0308, /* entries, a power of two; 0 = off */
	EXTOLL_EVQ_WP = 0x0310,
	EXTOLL_EVQ_RP = 0x0318, /* bit 32: interrupt armed */
	EXTOLL_EVQ_LOST = 0x0320,
	EXTOLL_EVQ_MAX = 65536, /* entries */
	/* VELO */
	EXTOLL_VELO_CONFIG = 0x0400,
	/* Core cycles after which the completer discards a message that waits
	 * because its mailbox is full, with policy 1. */
	EXTOLL_VELO_TIMEOUT = 0x0408,
	EXTOLL_VELO_SENT = 0x0410,
	EXTOLL_VELO_RECEIVED = 0x0418,
	EXTOLL_VELO_DROP = 0x0420,    /* + 8 * enum extoll_drop */
	EXTOLL_VELO_DISCARD = 0x0480, /* + 8 * enum extoll_discard */
	/* Node, and VPID << 16, of the sender of the last discarded message. */
	EXTOLL_VELO_DISCARD_SRC = 0x04C0,
	EXTOLL_VELO_BAD_RP = 0x04C8,
	EXTOLL_VELO_STATE = 0x04D0, /* 3:0 requester, 7:4 completer */
	/* network ports: + 0x100 i, 8 counters each */
	EXTOLL_NP = 0x1000,
	EXTOLL_NP_STRIDE = 0x100,
	EXTOLL_NP_TX_PACKETS = 0x00,
	EXTOLL_NP_TX_CELLS = 0x08,
	EXTOLL_NP_RX_PACKETS = 0x10,
	EXTOLL_NP_RX_CELLS = 0x18,
	/* cycles in which a cell waited for a credit */
	EXTOLL_NP_NO_CREDIT = 0x20,
	EXTOLL_NP_VOIDS = 0x28,
	/* crossbar ports: + 0x40 i, i = 0..8 as in 4.5 */
	EXTOLL_XBAR = 0x1400,
	EXTOLL_XBAR_STRIDE = 0x40,
	EXTOLL_XBAR_OUT_CELLS = 0x00,
	EXTOLL_XBAR_OUT_PACKETS = 0x08,
	EXTOLL_XBAR_IN_CELLS = 0x10,
	EXTOLL_XBAR_IN_PACKETS = 0x18,
	EXTOLL_XBAR_CREDITS = 0x20, /* slots in use at the peer, 8 bits per
				     * VC */
	/* used slots that come from the shared pool */
	EXTOLL_XBAR_SHARED = 0x28,
	EXTOLL_XBAR_HELD = 0x30, /* slots in use at this end */
	/* link ports: + 0x80 i, i = 0..5 */
	EXTOLL_LP = 0x1800,
	EXTOLL_LP_STRIDE = 0x80,
	EXTOLL_LP_STATE = 0x00, /* enum extoll_link_state */
	EXTOLL_LP_ACKS = 0x08,	/* sent */
	EXTOLL_LP_NACKS = 0x10, /* sent */
	EXTOLL_LP_REPLAYS = 0x18,
	EXTOLL_LP_TIMEOUTS = 0x20,
	EXTOLL_LP_CRC = 0x28,
	EXTOLL_LP_CODE = 0x30,
	EXTOLL_LP_SEQ = 0x38,
	EXTOLL_LP_VOIDS = 0x40,
	EXTOLL_LP_UNACKED = 0x48, /* cells in the replay RAM */
	EXTOLL_LP_LOST = 0x50,	  /* times that alignment was lost */
	EXTOLL_LP_DOWNS = 0x58,
	/* RMA is at 0x2000..0x2FFF, ATU at 0x3000..0x3FFF (rma_regs_map.h) */
	/* per VPID: + 8 * vpid */
	EXTOLL_VELO_TX = 0x100000,
	EXTOLL_VELO_RX = 0x101000,
	EXTOLL_VELO_RX_BASE = 0x102000,
	EXTOLL_VELO_RX_WP = 0x103000,
	EXTOLL_VELO_PENDING = 0x104000,
	/* RMA is at 0x110000..0x11FFFF (rma_regs_map.h) */
	/* read pointers, at + 4096 * vpid: each is in a page of its own, which
	 * a process may map */
	EXTOLL_VELO_RP = 0xD00000,
	EXTOLL_RMA_RP = 0xF00000,
};
#define EXTOLL_RP_ARM	 (1ull << 32)
#define EXTOLL_RP_STRIDE EXTOLL_PAGE

#define EXTOLL_ROUTE_VALID (1ull << 31) /* EXTOLL_ROUTE_LENGTH */

/* EXTOLL_BUILD */
#define EXTOLL_BUILD_BITS(b)	 ((uint32_t)(b)&0xff) /* 16 or 32 */
#define EXTOLL_BUILD_VELO_MAX(b) ((uint32_t)((b) >> 8) & 0xff)
#define EXTOLL_BUILD_TABLE	 (1ull << 16) /* crossbars have the routes */
#define EXTOLL_BUILD_KHZ(b)	 ((uint32_t)((b) >> 32)) /* core clock */

/* EXTOLL_INTERVAL_TARGET: HTAX port of the unit (2.4), enable. */
#define EXTOLL_INTERVAL_PORT   0xfull
#define EXTOLL_INTERVAL_ENABLE (1ull << 31)
enum extoll_htax_port {
	EXTOLL_HX_POSTED,
	EXTOLL_HX_NONPOSTED,
	EXTOLL_HX_RESPONSE,
	EXTOLL_HX_RF,
	EXTOLL_HX_VELO,
	EXTOLL_HX_RMA_REQ,
	EXTOLL_HX_RMA_RESP,
	EXTOLL_HX_RMA_COMP,
	EXTOLL_HX_ATU,
	EXTOLL_HX_N
};

/* EXTOLL_VELO_CONFIG */
#define EXTOLL_VELO_POLICY_DROP 1ull /* full mailbox: 0 wait, 1 drop */

/* EXTOLL_VELO_TX: sender's node, VPID and protection descriptor, permission to
 * send. */
#define EXTOLL_TX(node, vpid, pd)                                              \
	((uint64_t)((node)&0xffff) | (uint64_t)((vpid)&0xff) << 16 |           \
	 (uint64_t)((pd)&0xffff) << 32 | EXTOLL_TX_ENABLE)
#define EXTOLL_TX_ENABLE  (1ull << 63)
#define EXTOLL_TX_NODE(r) ((uint32_t)(r)&0xffff)
#define EXTOLL_TX_VPID(r) ((uint32_t)((r) >> 16) & 0xff)
#define EXTOLL_TX_PD(r)	  ((uint32_t)((r) >> 32) & 0xffff)

/* EXTOLL_VELO_RX: mailbox. A store that enables or resizes it also empties
 * it. */
#define EXTOLL_RX(pd, slots, flags)                                            \
	((uint64_t)((pd)&0xffff) | (uint64_t)(slots) << 32 | (flags))
#define EXTOLL_RX_ENABLE   (1ull << 16)
#define EXTOLL_RX_SLOT64   (1ull << 17) /* 64-B slots instead of 128 */
#define EXTOLL_RX_PD(r)	   ((uint32_t)(r)&0xffff)
#define EXTOLL_RX_SLOTS(r) ((uint32_t)((r) >> 32) & 0xffffff)

/* Reasons of the requester to drop a message (5.1). */
enum extoll_drop {
	EXTOLL_DROP_ALIGN,
	EXTOLL_DROP_LENGTH,
	EXTOLL_DROP_RESERVED, /* bits that must be zero */
	EXTOLL_DROP_MULTICAST,
	EXTOLL_DROP_DISABLED,
	EXTOLL_DROP_PARTIAL,
	EXTOLL_DROP_NO_ROUTE,
	EXTOLL_DROP_N
};
/* Reasons of the completer to discard a message (5.2). */
enum extoll_discard {
	EXTOLL_DISCARD_DISABLED,
	EXTOLL_DISCARD_PROTECTION,
	EXTOLL_DISCARD_MISROUTED,
	EXTOLL_DISCARD_FULL,   /* policy 1, timeout expired */
	EXTOLL_DISCARD_FORMAT, /* length and payload differ */
	EXTOLL_DISCARD_N
};

/* ---- event queue entry (2.7) ---- */

#define EXTOLL_EVENT(kind, vpid, node, info)                                   \
	(1ull << 63 | (uint64_t)(kind) | (uint64_t)((vpid)&0xff) << 8 |        \
	 (uint64_t)((node)&0xffff) << 16 | (uint64_t)((info)&0xffffff) << 32)
#define EXTOLL_EVENT_VALID   (1ull << 63)
#define EXTOLL_EVENT_KIND(e) ((uint32_t)(e)&0xff)
#define EXTOLL_EVENT_VPID(e) ((uint32_t)((e) >> 8) & 0xff)
#define EXTOLL_EVENT_NODE(e) ((uint32_t)((e) >> 16) & 0xffff)
#define EXTOLL_EVENT_INFO(e) ((uint32_t)((e) >> 32) & 0xffffff)
enum extoll_event {
	/* message with IRQ; vpid = receiver, node = sender */
	EXTOLL_EV_VELO_IRQ = 1,
	/* dropped message; vpid = sender, node = destination,
	 * info = enum extoll_drop */
	EXTOLL_EV_VELO_DROP,
	/* discarded message; vpid = receiver, node = sender,
	 * info = enum extoll_discard */
	EXTOLL_EV_VELO_DISCARD,
	/* notification that may interrupt; vpid = owner of the ring */
	EXTOLL_EV_RMA_IRQ,
	/* failed RMA command; vpid = process here, node = far node,
	 * info = reason | unit << 8 (RMA_REQUESTER ..). Also a refused ATU
	 * command; info = operation of the command */
	EXTOLL_EV_RMA_ERROR,
	EXTOLL_EV_ATU_FAULT, /* info: enum atu_fault; vpid: process */
	EXTOLL_EV_LINK,	     /* info: link port, enum extoll_link << 8 */
	EXTOLL_EV_HTAX,	     /* host request that no interval or unit accepts */
};

/* Events of a link (4.7, 5.7). Cells for a link that is lost or down wait until
 * it is up again, so that no packet is dropped. */
enum extoll_link {
	EXTOLL_LINK_LOST, /* no alignment: a cable was pulled */
	EXTOLL_LINK_DOWN, /* 15 attempts failed */
	EXTOLL_LINK_UP,	  /* ready again */
	/* CRC, code or sequence error. If the link port is EXTOLL_LP_XBAR, the
	 * crossbar dropped a packet. The event is not repeated until the event
	 * queue's read pointer moves, so that a bad line does not fill the
	 * queue. */
	EXTOLL_LINK_ERROR
};
enum { EXTOLL_LP_XBAR = 7 };
#define EXTOLL_EVENT_LP(e)   (EXTOLL_EVENT_INFO(e) & 0xff)
#define EXTOLL_EVENT_LINK(e) (EXTOLL_EVENT_INFO(e) >> 8 & 0xff)
/* EXTOLL_LP_STATE */
enum extoll_link_state {
	EXTOLL_LP_DOWN,
	EXTOLL_LP_ALIGN,
	EXTOLL_LP_INIT1,
	EXTOLL_LP_INIT2,
	EXTOLL_LP_READY,
	EXTOLL_LP_NONE, /* no cable */
};

/* ---- VELO (3.2, 3.3) ---- */

enum {
	EXTOLL_VELO_LEN_MAX = 64, /* R1 */
	EXTOLL_VELO_LEN_MAX_R2 = 120,
	EXTOLL_SLOT = 128,
	EXTOLL_SLOT_SMALL = 64,
	EXTOLL_LAZYNESS = 4, /* slots between stores of the read pointer */
	EXTOLL_NODE_MAX = 0xfffd,
};

/* Quadword 0 of a message store. */
#define EXTOLL_SEND(node, vpid, mtt, tag, len)                                 \
	((uint64_t)((node)&0xffff) | (uint64_t)((vpid)&0xff) << 16 |           \
	 (uint64_t)((mtt)&3) << 32 | (uint64_t)((tag)&0xff) << 40 |            \
	 (uint64_t)((len)&0x7f) << 48)
#define EXTOLL_SEND_IRQ	      (1ull << 34)
#define EXTOLL_SEND_MULTICAST (1ull << 31)
/* Bits of the header that must be zero: 25:24 (VPIDs have 8 bits), 30:26,
 * 39:35, 63:55. */
#define EXTOLL_SEND_ZERO    0xff8000f87f000000ull
#define EXTOLL_SEND_NODE(h) ((uint32_t)(h)&0xffff)
#define EXTOLL_SEND_VPID(h) ((uint32_t)((h) >> 16) & 0xff)
#define EXTOLL_SEND_MTT(h)  ((uint32_t)((h) >> 32) & 3)
#define EXTOLL_SEND_TAG(h)  ((uint32_t)((h) >> 40) & 0xff)
#define EXTOLL_SEND_LEN(h)  ((uint32_t)((h) >> 48) & 0x7f)
/* Bytes of a message store: header and padded payload. */
#define EXTOLL_SEND_BYTES(len) (8u + ((len) + 7u) / 8u * 8u)

/* Status, last quadword of a slot; 0 = empty. */
#define EXTOLL_STATUS(node, vpid, mtt, tag, len)                               \
	((uint64_t)((node)&0xffff) | (uint64_t)((vpid)&0x3ff) << 16 |          \
	 (uint64_t)((mtt)&3) << 32 | (uint64_t)((tag)&0xff) << 40 |            \
	 (uint64_t)((len)&0xfff) << 48)
#define EXTOLL_STATUS_EOM     (1ull << 36)
#define EXTOLL_STATUS_ERROR   (1ull << 37)
#define EXTOLL_STATUS_NODE(s) ((uint32_t)(s)&0xffff)
#define EXTOLL_STATUS_VPID(s) ((uint32_t)((s) >> 16) & 0x3ff)
#define EXTOLL_STATUS_MTT(s)  ((uint32_t)((s) >> 32) & 3)
#define EXTOLL_STATUS_TAG(s)  ((uint32_t)((s) >> 40) & 0xff)
#define EXTOLL_STATUS_LEN(s)  ((uint32_t)((s) >> 48) & 0xfff)

#endif
