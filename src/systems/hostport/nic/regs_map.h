/* SPDX-License-Identifier: Apache-2.0 */
/* Register map and memory formats of the Host Port, for drivers and user
 * libraries: configuration space and BARs, management page (hostport.md 4.10,
 * 8.8), Triggerpage (7.2 to 7.4), instructions and notifications (5, 6),
 * entries of the tables in main memory (3.2, 4.3, 4.7, 4.8), ULTRA's page
 * addresses (9.3).
 *
 * Words have 64 bits and are little-endian in memory. W0 to W7 are the words of
 * a 64-byte entry. */
#ifndef SYSTEMS_HOSTPORT_NIC_REGS_MAP_H
#define SYSTEMS_HOSTPORT_NIC_REGS_MAP_H

#include <stdbool.h>
#include <stdint.h>

/* HP_GET returns bits hi..lo of a word, HP_PUT a value shifted to these bits,
 * HP_SET a word with these bits replaced. */
#define HP_GET(w, hi, lo)                                                      \
	((uint64_t)(w) >> (lo) & (~0ULL >> (63 - ((hi) - (lo)))))
#define HP_PUT(v, hi, lo)                                                      \
	(((uint64_t)(v) & (~0ULL >> (63 - ((hi) - (lo))))) << (lo))
#define HP_SET(w, v, hi, lo)                                                   \
	(((uint64_t)(w) & ~HP_PUT(~0ULL, hi, lo)) | HP_PUT(v, hi, lo))

enum {
	HP_VPIDS = 65536,
	HP_LINE = 64, /* bytes of every table entry */
	HP_WORDS = 8,
	HP_PAGE = 4096,
	/* payload words of FAST_SEND and of its notification */
	HP_FAST_WORDS = 5,
	HP_FAST_RMA_WORDS = 3,
	HP_PTR_BITS = 24,  /* width of queue pointers */
	HP_COUNT_MAX = 31, /* largest parameter of one trigger */
};

/* ---- configuration space ---- */

/* Our own, because the thesis names none. */
#define HP_VENDOR_ID 0x4D41u
#define HP_DEVICE_ID 0x4850u

enum {
	HP_CFG_VENDOR = 0x00,
	HP_CFG_DEVICE = 0x02,
	HP_CFG_COMMAND = 0x04,
	HP_CFG_STATUS = 0x06,
	HP_CFG_CLASS = 0x08,
	HP_CFG_HEADER = 0x0E,
	HP_CFG_BAR0 = 0x10,
	HP_CFG_IRQ_LINE = 0x3C,
	HP_CFG_IRQ_PIN = 0x3D,
	HP_CMD_MEMORY = 1 << 1,
	HP_CMD_MASTER = 1 << 2,
};

/* Apertures (7.2, 9.3): one BAR each, none prefetchable. */
enum hp_bar {
	HP_BAR_MGMT,	/* management page, for the driver only (V1) */
	HP_BAR_INFO,	/* read-only copy of what users may read (4.10) */
	HP_BAR_TRIGGER, /* 2^16 Triggerpages */
	HP_BAR_ULTRA,
	HP_BARS
};
enum {
	HP_MGMT_BYTES = 0x1000,
	HP_INFO_BYTES = 0x1000,
	HP_TRIGGER_BYTES = 0x10000000,
	HP_ULTRA_BYTES = 0x4000000,
};

/* ---- management page (4.10) ---- */

enum {
	HP_R_HPID = 0x000,
	HP_R_CT_BASE = 0x008,
	HP_R_RS_BASE = 0x010,
	HP_R_RS_SIZE = 0x018,  /* bytes */
	HP_R_WQ_SIZE = 0x020,  /* entries */
	HP_R_SDR_SIZE = 0x028, /* words */
	HP_R_RDR_SIZE = 0x030, /* words */
	HP_R_WDT_SIZE = 0x038, /* entries */
	HP_R_PRQ_SIZE = 0x040, /* entries */
	HP_R_NQ_SIZE = 0x048,  /* entries */
	HP_R_CTRL = 0x050,
	HP_R_RDR_UNIT = 0x058, /* log2 words */
	HP_R_VPID_EN = 0x060,
	HP_R_CACHE_CMD = 0x080,
	HP_R_CACHE_ARG0 = 0x088,
	HP_R_CACHE_ARG1 = 0x090,
	HP_R_CACHE_STATUS = 0x098, /* answer to the last CACHE_CMD (our own) */
	HP_R_TLB_MISS = 0x0A0,
	HP_R_TLB_MISS_CNT = 0x0A8,
	HP_R_IRQ_STATUS = 0x0B0,
	HP_R_IRQ_VPID = 0x0B8,
	HP_R_ERR_LOG = 0x0C0,
	HP_R_CSB_FREE = 0x0C8,
	/* the NIC's counters, in the order of HP_COUNTERS */
	HP_R_COUNTERS = 0x100,
	/* Registers that describe the network (our own): number of nodes,
	 * number of this node, and the route to the node whose number was
	 * stored in ROUTE_NODE. The route ends at the crossbar of that node and
	 * lacks the last element, which delivers the packet. It is read as a
	 * count of elements and four words, with the first element in the
	 * lowest byte. */
	HP_R_NODES = 0xF80,
	HP_R_NODE = 0xF88,
	/* load: count of elements, or HP_NONE without a route */
	HP_R_ROUTE_NODE = 0xF90,
	HP_R_ROUTE_DATA = 0xFA0, /* 4 */
	/* Ring of records in main memory. A record has 16 bytes: the record and
	 * its bit of IRQ_STATUS. While the size is not 0, records are written
	 * to the ring instead of TLB_MISS, IRQ_VPID and ERR_LOG. */
	HP_R_EVENTS_BASE = 0xFC0,
	HP_R_EVENTS_SIZE = 0xFC8, /* records */
	/* store: number of records taken in the run, modulo 2^32 */
	HP_R_EVENTS_RP = 0xFD0,
	/* Area in which packets wait for translations. Without an area, the
	 * units wait. */
	HP_R_PARK_BASE = 0xFD8,
	HP_R_PARK_SIZE = 0xFE0, /* pages */
	/* Store: selects a closed VPID, and ends all waits for translations of
	 * the VPID and for room in its queues. Load: number of parts of the
	 * device that still use the VPID. It is 0 only after the last store to
	 * the VPID's memory. */
	HP_R_VPID_QUIET = 0xFE8,
	/* registers that the driver's instances on one node share */
	/* load: 0 if the load has taken the lock. Store: releases the lock */
	HP_R_DRIVER_LOCK = 0xFF0,
	HP_R_DRIVER_STATE = 0xFF8, /* value that only the driver uses */
};

enum {
	HP_CTRL_ENABLE = 1 << 0,
	/* SB6: keeps instructions of equal key in order */
	HP_CTRL_ORDER = 1 << 1,
	/* network keeps packets of equal hash in order */
	HP_CTRL_HASH = 1 << 2,
};
#define HP_CTRL_NPS(w)	     ((uint32_t)HP_GET(w, 15, 8))
#define HP_CTRL_NPS_MAKE(m)  HP_PUT(m, 15, 8)
#define HP_CTRL_NPS_ALL	     HP_CTRL_NPS_MAKE(0xff)
#define HP_VPID_EN(vpid, on) (HP_PUT(on, 63, 63) | HP_PUT(vpid, 15, 0))
/* Turns a VPID on with weight w, the number of VCIs that are fetched before the
 * next VPID is served (our own). */
#define HP_VPID_EN_WEIGHT(vpid, w) (HP_VPID_EN(vpid, true) | HP_PUT(w, 23, 16))

enum {
	HP_IRQ_TLB = 1 << 0,
	HP_IRQ_NQE = 1 << 1,
	HP_IRQ_ERR = 1 << 2,
	HP_IRQ_DEADLOCK = 1 << 3,
	HP_IRQ_ULTRA = 1 << 4,
	HP_IRQ_RECORDS = HP_IRQ_TLB | HP_IRQ_NQE | HP_IRQ_ERR,
};
enum { HP_EVENT_WORDS = 2 }; /* number of words of a record in the ring */

/* IRQ_VPID, ERR_LOG and TLB_MISS read all ones when no record is left. This
 * value is our own: 0 would be a record of VPID 0. */
#define HP_NONE		    (~0ULL)
#define HP_LOG_MAKE(cmd, v) (HP_PUT(cmd, 63, 48) | HP_PUT(v, 15, 0))
#define HP_LOG_CMD(w)	    ((uint32_t)HP_GET(w, 63, 48))
#define HP_LOG_VPID(w)	    ((uint32_t)HP_GET(w, 15, 0))
#define HP_MISS_MAKE(vpid, vpage, write)                                       \
	(HP_PUT(write, 52, 52) | HP_PUT(vpid, 51, 36) | HP_PUT(vpage, 35, 0))
#define HP_MISS_VPID(w)	 ((uint32_t)HP_GET(w, 51, 36))
#define HP_MISS_PAGE(w)	 HP_GET(w, 35, 0) /* virtual page number */
#define HP_MISS_WRITE(w) ((bool)HP_GET(w, 52, 52))

/* ---- caches (8.8) ---- */

enum hp_cache_op {
	HP_CACHE_FLUSH = 1,
	HP_CACHE_INSERT = 2,
	HP_CACHE_REMOVE = 3,
	HP_CACHE_BULK = 4,
	HP_CACHE_QUERY = 5,
};
enum hp_cache { HP_CACHE_CTX, HP_CACHE_WIN, HP_CACHE_ROUTE, HP_CACHE_TLB };
#define HP_CACHE_CMD(op, cache, vpid, count)                                   \
	(HP_PUT(op, 7, 0) | HP_PUT(cache, 15, 8) | HP_PUT(vpid, 31, 16) |      \
	 HP_PUT(count, 63, 32))
#define HP_CACHE_OP(w)	  ((uint32_t)HP_GET(w, 7, 0))
#define HP_CACHE_WHICH(w) ((uint32_t)HP_GET(w, 15, 8))
#define HP_CACHE_VPID(w)  ((uint32_t)HP_GET(w, 31, 16))
#define HP_CACHE_COUNT(w) ((uint32_t)HP_GET(w, 63, 32))
/* ARG1 of a TLB insert: the physical page number and whether it is writable, or
 * a fault. */
#define HP_TLB_ARG(ppage, writable)                                            \
	(HP_PUT(writable, 63, 63) | HP_PUT(ppage, 39, 0))
#define HP_TLB_PAGE(w)	   HP_GET(w, 39, 0)
#define HP_TLB_WRITABLE(w) ((bool)HP_GET(w, 63, 63))
#define HP_TLB_FAULT	   (~0ULL)
/* Bits of CACHE_STATUS: entries are being written back, entry is present, entry
 * is in use. */
enum {
	HP_CACHE_BUSY = 1 << 0,
	HP_CACHE_PRESENT = 1 << 1,
	HP_CACHE_IN_USE = 1 << 2,
};

/* ---- Triggerpage (7.2 to 7.4) ---- */

enum hp_trigger {
	HP_T_ISSUE = 0,
	HP_T_SNAPSHOT = 1,
	HP_T_NQ_RP = 2,
	HP_T_RDR_RP = 3,
	HP_T_BARRIER = 4,
	HP_T_PRQ_WP = 5,
	HP_T_COMMANDS
};
enum { HP_T_CODES = 512 }; /* number of trigger addresses in a Triggerpage */

/* Offset of a trigger in its page, and offset of a page in the aperture. */
#define HP_TRIGGER(cmd, par)  (HP_PUT(cmd, 11, 8) | HP_PUT(par, 7, 3))
#define HP_TRIGGER_PAGE(vpid) ((uint64_t)(vpid) << 12)
#define HP_TRIGGER_VPID(off)  ((uint32_t)HP_GET(off, 27, 12))
#define HP_TRIGGER_CMD(off)   ((uint32_t)HP_GET(off, 11, 8))
#define HP_TRIGGER_PAR(off)   ((uint32_t)HP_GET(off, 7, 3))

enum hp_reason {
	HP_OK,
	HP_CSB_FULL,
	HP_CTX_OFF,
	HP_CMD_BAD,
	/* rights or priority are missing, or csb_vpid_max is reached */
	HP_REFUSED,
};
#define HP_TRUE		   (1ULL << 7)
#define HP_RET_ACCEPTED(w) ((uint32_t)HP_GET(w, 4, 0))
#define HP_RET_REASON(w)   ((uint32_t)HP_GET(w, 15, 8))
#define HP_RET_FREE(w)	   ((uint32_t)HP_GET(w, 31, 16))
#define HP_RET_MAKE(n, reason, free)                                           \
	(HP_PUT(n, 4, 0) | ((reason) == HP_OK ? HP_TRUE : 0) |                 \
	 HP_PUT(reason, 15, 8) | HP_PUT(free, 31, 16))

/* ---- CMD (5.2, 5.3) ---- */

enum hp_group { HP_G_PORT, HP_G_ULTRA, HP_G_MULTICAST, HP_G_BARRIER };

#define HP_CMD(err, group, byte)                                               \
	((uint32_t)(HP_PUT(err, 15, 11) | HP_PUT(group, 10, 8) |               \
		    HP_PUT(byte, 7, 0)))
#define HP_CMD_ERR(c)	((uint32_t)HP_GET(c, 15, 11))
#define HP_CMD_GROUP(c) ((uint32_t)HP_GET(c, 10, 8))
#define HP_CMD_BYTE(c)	((uint32_t)HP_GET(c, 7, 0))

/* Main command, bits 7:4 of the byte. */
enum hp_main {
	HP_M_FAST_SEND = 0x1,
	HP_M_FAST_PUT = 0x2,
	HP_M_FAST_GET = 0x3,
	HP_M_MIS_PUT = 0x4,
	HP_M_FAA = 0x6,
	HP_M_CAS = 0x7,
	HP_M_SEND = 0x9,
	HP_M_PUT = 0xA,
	HP_M_GET = 0xB,
	HP_M_NOTIFY = 0xF,
};
#define HP_MAIN(byte) ((uint32_t)HP_GET(byte, 7, 4))
#define HP_L3(byte)   ((uint32_t)HP_GET(byte, 2, 0)) /* FAST_SEND */
#define HP_L2(byte)   ((uint32_t)HP_GET(byte, 1, 0)) /* FAST_PUT, FAST_GET */
enum { HP_A = 0x08, HP_RESPONSE = 0x04 };

enum hp_byte {
	HP_B_INVALID = 0x00,
	HP_B_FAST_SEND = 0x10, /* + words */
	HP_B_FAST_PUT = 0x20,  /* + words */
	HP_B_FAST_GET = 0x30,  /* + words */
	HP_B_FAST_GET_RSP = 0x34,
	HP_B_MIS_PUT = 0x40,
	HP_B_FAA = 0x62,
	HP_B_FAA_RSP = 0x66,
	HP_B_CAS = 0x73,
	HP_B_CAS_RSP = 0x77,
	HP_B_SEND = 0x90,
	HP_B_PUT = 0xA0,
	HP_B_GET = 0xB0,
	HP_B_GET_RSP = 0xB4,
	HP_B_NOTIFY_CC = 0xF0,
	HP_B_NOTIFY_RMA = 0xF1,
	HP_B_NOTIFY_FAST_RECV = 0xF2,
	HP_B_NOTIFY_RECV = 0xF3,
	HP_B_ACK = 0xFF,
	/* group ULTRA (9.4, 9.7) */
	HP_B_ULTRA_SEND = 0x10,
	HP_B_ULTRA_ACKED = 0x18,
	HP_B_ULTRA_REFUSED = 0x20,
};

/* Error codes, table 4.2 (6.3). */
enum hp_err {
	HP_ERR_NOERR,
	HP_ERR_CMD_INV,
	HP_ERR_OVPID_INV,
	HP_ERR_ROUTE_INV,
	HP_ERR_OWINID_INV,
	HP_ERR_OWINID,
	HP_ERR_OOFFSET,
	HP_ERR_OLENGTH,
	HP_ERR_TVPID_INV,
	HP_ERR_TWINID_INV,
	HP_ERR_TWINID_CAPA,
	HP_ERR_TWINID,
	HP_ERR_TOFFSET,
	HP_ERR_TLENGTH,
	HP_ERR_ROUTE_BROKEN,
	HP_ERR_POSTED_PA,
	HP_ERR_POSTED_PA_INV,
	HP_ERR_POSTED_TRUNC,
	HP_ERRS
};

/* ---- VCI (5.1, 5.5) ---- */

#define HP_VCI_W0(cmd, rlen, roff)                                             \
	(HP_PUT(cmd, 63, 48) | HP_PUT(rlen, 39, 32) | HP_PUT(roff, 31, 0))
/* Bits of W0 (our own): epoch of the owner for whom the instruction is meant.
 * HP_EPOCH_ANY stands for any owner of the VPID. */
#define HP_VCI_OWNER_PUT(epoch) HP_PUT(epoch, 47, 40)
#define HP_VCI_W1(tvpid, tag)	(HP_PUT(tvpid, 63, 48) | HP_PUT(tag, 47, 0))
#define HP_VCI_CMD(w)		((uint32_t)HP_GET((w)[0], 63, 48))
#define HP_VCI_OWNER(w)		((uint32_t)HP_GET((w)[0], 47, 40))
#define HP_VCI_RLEN(w)		((uint32_t)HP_GET((w)[0], 39, 32))
#define HP_VCI_ROFF(w)		((uint32_t)HP_GET((w)[0], 31, 0))
#define HP_VCI_TVPID(w)		((uint32_t)HP_GET((w)[1], 63, 48))
#define HP_VCI_TAG(w)		HP_GET((w)[1], 47, 0)
#define HP_VCI_USER(w)		((w)[2])
/* SEND */
#define HP_VCI_SDR_OFF(w)  ((w)[3])
#define HP_VCI_SEND_LEN(w) ((w)[4])
/* RMA and atomics: W3 and W4 */
#define HP_VCI_W3(win, capa) (HP_PUT(win, 63, 32) | HP_PUT(capa, 31, 0))
#define HP_VCI_TWIN(w)	     ((uint32_t)HP_GET((w)[3], 63, 32))
#define HP_VCI_CAPA(w)	     ((uint32_t)HP_GET((w)[3], 31, 0))
#define HP_VCI_TOFF(w)	     ((w)[4])
/* PUT, GET: W5 to W7 */
#define HP_VCI_W5(win) HP_PUT(win, 63, 32)
#define HP_VCI_OWIN(w) ((uint32_t)HP_GET((w)[5], 63, 32))
#define HP_VCI_OOFF(w) ((w)[6])
#define HP_VCI_LEN(w)  ((w)[7])
/* MISALIGNED_PUT */
#define HP_VCI_BE(w) ((uint32_t)HP_GET((w)[5], 7, 0))
/* Index of the first immediate word: FAST_SEND 3, FAST_PUT 5, MISALIGNED_PUT 6,
 * FAA and CAS 5. */

/* ---- notifications (6.2) ---- */

/* index of the command word, whose bits 63:48 are written last */
enum { HP_NQE_CMD = 7 };
#define HP_NQE_W7(cmd, hpid, vpid)                                             \
	(HP_PUT(cmd, 63, 48) | HP_PUT(hpid, 47, 16) | HP_PUT(vpid, 15, 0))
#define HP_NQE_CMD(w)	((uint32_t)HP_GET((w)[7], 63, 48))
#define HP_NQE_HPID(w)	((uint32_t)HP_GET((w)[7], 47, 16))
#define HP_NQE_VPID(w)	((uint32_t)HP_GET((w)[7], 15, 0))
#define HP_NQE_VALID(w) (((w)[7] >> 48 & 0xff) != HP_B_INVALID)
#define HP_NQE_USER(w)	((w)[0])
#define HP_NQE_TAG(w)	HP_GET((w)[1], 47, 0)
#define HP_NQE_WORDS(w) ((uint32_t)HP_GET((w)[1], 63, 48)) /* immediate */
/* Pointer snapshot. */
#define HP_PS(wq_rp, rdr_wp) (HP_PUT(wq_rp, 47, 24) | HP_PUT(rdr_wp, 23, 0))
#define HP_PS_HI(w)	     ((uint32_t)HP_GET(w, 47, 24))
#define HP_PS_LO(w)	     ((uint32_t)HP_GET(w, 23, 0))
/* NOTIFY_RMA, W3 */
#define HP_RMA_W3(win, byte) (HP_PUT(win, 63, 32) | HP_PUT(byte, 7, 0))
#define HP_NQE_POSTED	     (1ULL << 63) /* NOTIFY_RECV, W1 */
/* W0 of a status: context W0[63:48], and the command and parameter that caused
 * the status. */
#define HP_STATUS_W0(ctx0, cmd, par)                                           \
	(((ctx0)&HP_PUT(~0ULL, 63, 48)) | HP_PUT(cmd, 8, 5) | HP_PUT(par, 4, 0))

/* ---- context (4.3) ---- */

#define HP_CTX_EN	(1ULL << 63)
#define HP_CTX_PR_EN	(1ULL << 62)
#define HP_CTX_PR_PA	(1ULL << 61)
#define HP_CTX_RMA_NTF	(1ULL << 60)
#define HP_CTX_IRQ_EN	(1ULL << 59)
#define HP_CTX_ORD	(1ULL << 58)
#define HP_CTX_STALL_NQ (1ULL << 50)
#define HP_CTX_STALL_RX (1ULL << 49)
#define HP_CTX_STAT	(1ULL << 47)

/* Fields of an entry, as word, high and low bit. Used in HP_CTX(w, HP_F_WQ_RP)
 * and HP_CTX_SET(w, HP_F_WQ_RP, v). */
#define HP_F_LAST_ERR 0, 55, 51
#define HP_F_WQ_PEND  0, 23, 0
#define HP_F_WQ_BASE  1, 63, 24
#define HP_F_WQ_RP    1, 23, 0
#define HP_F_SDR_BASE 2, 63, 24
#define HP_F_NQ_RESV  2, 23, 0
#define HP_F_RDR_BASE 3, 63, 24
#define HP_F_RDR_RP   3, 23, 0
#define HP_F_WDT_BASE 4, 63, 24
#define HP_F_RDR_WP   4, 23, 0
#define HP_F_PRQ_BASE 5, 63, 24
#define HP_F_PRQ_RP   5, 23, 0
#define HP_F_NQ_BASE  6, 63, 24
#define HP_F_NQ_RP    6, 23, 0
#define HP_F_PRQ_WP   7, 47, 24
#define HP_F_NQ_WP    7, 23, 0
/* epoch of the VPID's owner (our own) */
#define HP_F_EPOCH		     7, 63, 48
#define HP_CTX_GET_(w, i, hi, lo)    HP_GET((w)[i], hi, lo)
#define HP_CTX_SET_(w, i, hi, lo, v) ((w)[i] = HP_SET((w)[i], v, hi, lo))
#define HP_CTX(w, ...)		     HP_CTX_GET_(w, __VA_ARGS__)
#define HP_CTX_SET(w, ...)	     HP_CTX_SET_(w, __VA_ARGS__)
/* Requests name the low bits of an epoch. No epoch has 0 in these bits, because
 * 0 stands for any owner. */
enum { HP_EPOCH_ANY = 0, HP_EPOCH_FIRST = 1, HP_EPOCH_LOW = 0xff };
/* Address of a table: PA[51:12], stored in 40 bits. */
#define HP_BASE(w, ...) (HP_CTX_GET_(w, __VA_ARGS__) << 12)

/* ---- window descriptor (4.7), posted receive descriptor (4.8) ---- */

enum {
	HP_WIN_VA,
	HP_WIN_LEN,
	HP_WIN_FLAGS,
	HP_WIN_OWNER,
	HP_WIN_PREV,
	HP_WIN_NEXT
};
#define HP_WIN_EN      (1ULL << 63)
#define HP_WIN_RD      (1ULL << 62)
#define HP_WIN_WR      (1ULL << 61)
#define HP_WIN_LOCK    (1ULL << 60)
#define HP_WIN_CAP_ANY (1ULL << 59)
#define HP_WIN_CAPA(w) ((uint32_t)HP_GET((w)[2], 31, 0))
#define HP_WIN_OWNER_MAKE(hpid, vpid)                                          \
	(HP_PUT(hpid, 47, 16) | HP_PUT(vpid, 15, 0))
#define HP_WIN_LINK(win) (HP_PUT(1, 63, 63) | HP_PUT(win, 31, 0))

enum { HP_PRD_ADDR, HP_PRD_LEN, HP_PRD_FLAGS, HP_PRD_COOKIE };
#define HP_PRD_VALID (1ULL << 63)
#define HP_PRD_PA    (1ULL << 62)

/* ---- routing space (3.2) ---- */

enum {
	HP_RS_DTAG = 0, /* destination tag, 4 bytes, big-endian */
	HP_RS_DHASH = 4,
	HP_RS_NF = 6,
	HP_RS_NR = 7,
	HP_RS_HEAD = 8,
};
/* Ports in routing elements. Bits 3:0 of an element are the number of hops,
 * which is 1 for ports other than links. */
enum {
	HP_PORT_NP = 0, /* + 0..3 */
	HP_PORT_LP = 4, /* + 0..5 */
	HP_PORT_MP = 10,
	HP_PORT_HAP = 11,
	HP_EL_SEP = 0xF0,
	HP_EL_VPID = 0xF1,
	HP_EL_END = 0xFF,
};
#define HP_EL(port, n) ((uint8_t)((port) << 4 | (n)))

/* ---- ULTRA pages (9.3) ---- */

#define HP_ULTRA_MGMT	    (1u << 25)
#define HP_ULTRA_DRIVER	    (1u << 24)
#define HP_ULTRA_CPL	    (1u << 23)
#define HP_ULTRA_PAGE(upid) ((uint32_t)HP_PUT(upid, 22, 12))
#define HP_ULTRA_UPID(off)  ((uint32_t)HP_GET(off, 22, 12))
enum {
	HP_ULTRA_RP = 1 << 11,
	HP_ULTRA_ACK = 1 << 10,
	HP_ULTRA_NOTIFY = 1 << 9,
	HP_ULTRA_IRQ = 1 << 8,
	HP_ULTRA_LAST = 31, /* index of the last word of a packet */
	HP_ULTRA_PORTS = 2048,
};
#define HP_ULTRA_INDEX(i) ((uint32_t)(i) << 3)
/* index of the first of n words */
#define HP_ULTRA_START(n) HP_ULTRA_INDEX(32 - (n))

/* Driver page of a requester port (9.3, 9.8). The offsets are our own. The
 * route consists of the forward elements and, if there is a return route, of a
 * separator and the return elements, 16 bytes at most. */
enum {
	HP_UR_CTRL = 0x00, /* bit 0: enabled */
	HP_UR_VPID = 0x08, /* origin VPID */
	/* port that receives all packets of this requester port */
	HP_UR_TUPID = 0x10,
	HP_UR_DEST = 0x18, /* [47:32] DHASH, [31:0] DTAG */
	HP_UR_LEN = 0x20,  /* number of bytes of the route */
	/* two words of the route, with the first element in the lowest byte */
	HP_UR_ROUTE = 0x28,
	/* [31:16] upper bound (exclusive), [15:0] lower bound */
	HP_UR_SLICE = 0x38,
	HP_UR_PTRS = 0x40, /* load: [31:16] WP, [15:0] RP; store: sets both to
			    * the lower bound */
	HP_UR_OWNER = 0x48,
};
/* Driver page of a completer port. The OWNER registers of requester and
 * completer only store a value for the driver. */
enum {
	HP_UC_CTRL = 0x00,
	/* port that sends all packets of this completer port */
	HP_UC_OUPID = 0x08,
	HP_UC_HPID = 0x10, /* Host Port ID of the sender */
	HP_UC_BASE = 0x18, /* physical address of the receive queue */
	HP_UC_SIZE = 0x20, /* [31:24] words of a slice, [23:0] slices */
	/* load: [47:24] WP, [23:0] RP; store: sets both to 0 */
	HP_UC_PTRS = 0x28,
	HP_UC_VPID = 0x30, /* target VPID */
	HP_UC_OWNER = 0x38,
};
enum {
	HP_ULTRA_EN = 1 << 0,
	/* completer: packets stay on the device and are read by loads */
	HP_ULTRA_ON_DEVICE = 1 << 1,
	HP_ULTRA_CPL_IRQ = 1 << 2, /* completer: interrupt for each packet */
	/* completer, load: set while stores are not handed to the bus yet */
	HP_ULTRA_STORES = 1 << 3,
	HP_ULTRA_ROUTE_MAX = 16,
};
/* Management region: number of ports, payload words of the longest packet,
 * words of the packet queue. */
enum { HP_UM_PORTS = 0x00, HP_UM_WORDS = 0x08, HP_UM_QUEUE = 0x10 };
/* Status word of a slice, or of the oldest packet on the device (9.6). */
#define HP_ULTRA_STATUS(words)	 (1ULL << 63 | (words))
#define HP_ULTRA_STATUS_WORDS(s) ((uint32_t)(s)&0xffff)

#endif
