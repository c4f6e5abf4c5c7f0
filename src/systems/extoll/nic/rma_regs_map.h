/* SPDX-License-Identifier: Apache-2.0 */
/* Interface of the RMA to software: command descriptors, notifications, network
 * logical addresses and their tables, ATU commands, the words of the RMA's
 * registers (extoll.md 2.5, 2.6, 3.4 to 3.8). regs_map.h has the ranges in
 * which the registers lie. */
#ifndef SYSTEMS_EXTOLL_NIC_RMA_REGS_MAP_H
#define SYSTEMS_EXTOLL_NIC_RMA_REGS_MAP_H

#include <stdbool.h>
#include <stdint.h>

/* RMA_GET returns bits hi..lo of a word. RMA_PUT returns a value shifted to
 * bits hi..lo. */
#define RMA_GET(w, hi, lo)                                                     \
	((uint64_t)(w) >> (lo) & (~0ULL >> (63 - ((hi) - (lo)))))
#define RMA_PUT(v, hi, lo)                                                     \
	(((uint64_t)(v) & (~0ULL >> (63 - ((hi) - (lo))))) << (lo))

enum {
	RMA_VPIDS = 256,
	RMA_PAGE = 4096,
	RMA_DESC_BYTES = 24,
	RMA_NOTI_BYTES = 16,
	/* depth of the requester's queue of descriptors (5.3) */
	RMA_QUEUE = 16,
};

/* ---- commands (3.5) ---- */

enum extoll_rma_op {
	RMA_GET_BT = 0,
	RMA_GET_QW = 1,
	RMA_PUT_BT = 2,
	RMA_PUT_QW = 3,
	RMA_NOTI_PUT = 5,
	RMA_IMM_PUT = 6,
	RMA_GET_BT_RSP = 10, /* only in packets, not in descriptors */
	RMA_GET_QW_RSP = 11,
	RMA_LOCK_REQ = 12,
	RMA_LOCK_RSP = 13,
	RMA_OPS = 16,
};

/* Units. These bits are in the notification field of a command, and in the unit
 * and error fields of a notification. */
enum { RMA_REQUESTER = 1, RMA_RESPONDER = 2, RMA_COMPLETER = 4 };

/* Modifiers of a descriptor. R1 allows only NTR. */
enum { RMA_MOD_MC = 1, RMA_MOD_NTR = 2, RMA_MOD_ERA = 4, RMA_MOD_EWA = 8 };

/* Options. They are part of the address of a requester page: base + (opt << 20)
 * + (vpid << 12). TE = translate the read address of a put. */
enum { RMA_OPT_TE = 16, RMA_OPT_INT = 8, RMA_OPT_RRA = 4, RMA_OPT_TC = 3 };

/* ---- descriptor: three words (3.4) ---- */

#define RMA_D_VALID    3ULL
#define RMA_D_OP(d)    ((uint32_t)RMA_GET(d, 5, 2))
#define RMA_D_VPID(d)  ((uint32_t)RMA_GET(d, 15, 8))
#define RMA_D_NODE(d)  ((uint32_t)RMA_GET(d, 31, 16))
#define RMA_D_SPEC(d)  ((uint32_t)RMA_GET(d, 34, 32))
#define RMA_D_MODS(d)  ((uint32_t)RMA_GET(d, 38, 35))
#define RMA_D_COUNT(d) ((uint32_t)RMA_GET(d, 62, 40) + 1)
/* bytes of an immediate put */
#define RMA_D_IMM(d) ((uint32_t)RMA_GET(d, 42, 40) + 1)
/* class of a notification put */
#define RMA_D_CLASS(d) ((uint32_t)RMA_GET(d, 47, 40))
#define RMA_D_TARGET   (1ULL << 40) /* lock: addressed to the responder */
#define RMA_D_RESERVED (RMA_PUT(3, 7, 6) | 1ULL << 39 | 1ULL << 63)
#define RMA_D_MAKE(op, node, vpid, spec, mods)                                 \
	(RMA_D_VALID | RMA_PUT(op, 5, 2) | RMA_PUT(vpid, 15, 8) |              \
	 RMA_PUT(node, 31, 16) | RMA_PUT(spec, 34, 32) |                       \
	 RMA_PUT(mods, 38, 35))
#define RMA_D_BYTES(n) RMA_PUT((n)-1, 62, 40)

/* Lock: words 1 and 2. */
#define RMA_LOCK_NUMBER(w)  ((uint32_t)RMA_GET(w, 23, 0))
#define RMA_LOCK_COMPARE(w) ((int32_t)(uint32_t)RMA_GET(w, 63, 32))
#define RMA_LOCK_ADD(w)	    ((int32_t)(uint32_t)RMA_GET(w, 63, 32))
/* First word of the answer to a lock and of its notification. */
#define RMA_LOCK_VALUE(w)  ((int32_t)(uint32_t)RMA_GET(w, 63, 32))
#define RMA_LOCK_RESULT(w) ((uint32_t)RMA_GET(w, 31, 24))
#define RMA_LOCK_ANSWER(value, result, number)                                 \
	(RMA_PUT((uint32_t)(value), 63, 32) | RMA_PUT(result, 31, 24) |        \
	 RMA_PUT(number, 23, 0))
enum { RMA_LOCK_NO = 0, RMA_LOCK_YES = 1, RMA_LOCK_NONE = 0xff };

/* ---- notification: two words (3.6) ---- */

#define RMA_N_COUNT(w) ((uint32_t)RMA_GET(w, 22, 0) + 1)
#define RMA_N_CLASS(w) ((uint32_t)RMA_GET(w, 7, 0))
#define RMA_N_VPID(w)  ((uint32_t)RMA_GET(w, 30, 23))
#define RMA_N_NODE(w)  ((uint32_t)RMA_GET(w, 47, 32))
#define RMA_N_UNIT(w)  ((uint32_t)RMA_GET(w, 50, 48))
#define RMA_N_OP(w)    ((uint32_t)RMA_GET(w, 54, 51))
#define RMA_N_MODE(w)  ((uint32_t)RMA_GET(w, 60, 55))
#define RMA_N_ERROR(w) ((uint32_t)RMA_GET(w, 63, 61))
/* Makes word 1. low = byte count - 1, or the class of a notification put. */
#define RMA_N_MAKE(low, vpid, node, unit, op, mode, error)                     \
	(RMA_PUT(low, 22, 0) | RMA_PUT(vpid, 30, 23) | RMA_PUT(node, 47, 32) | \
	 RMA_PUT(unit, 50, 48) | RMA_PUT(op, 54, 51) | RMA_PUT(mode, 60, 55) | \
	 RMA_PUT(error, 63, 61))
enum {
	RMA_MODE_RRA = 1,
	RMA_MODE_IRQ = 2,
	RMA_MODE_TE = 4,
	RMA_MODE_EWA = 8,
	RMA_MODE_NTR = 16,
	RMA_MODE_ERA = 32,
};

/* ---- addresses (3.7) ---- */

enum {
	ATU_GATS = 512,
	ATU_GATES = 1 << 18,
	ATU_GAT_BYTES = ATU_GATES * 8,
};
#define NLA_OFFSET(a) ((uint32_t)RMA_GET(a, 11, 0))
#define NLA_GATE(a)   ((uint32_t)RMA_GET(a, 29, 12))
#define NLA_GAT(a)    ((uint32_t)RMA_GET(a, 38, 30))
#define NLA_PAGE(a)   ((uint32_t)RMA_GET(a, 38, 12)) /* table and entry */
#define NLA_ZERO(a)   RMA_GET(a, 63, 39)
#define NLA_MAKE(gat, gate, off)                                               \
	(RMA_PUT(gat, 38, 30) | RMA_PUT(gate, 29, 12) | RMA_PUT(off, 11, 0))

enum { GATE_INVALID, GATE_READ, GATE_WRITE, GATE_RW };
#define GATE_VALID(g) ((uint32_t)RMA_GET(g, 1, 0))
#define GATE_VPID(g)  ((uint32_t)RMA_GET(g, 11, 2))
#define GATE_PHYS(g)  (RMA_GET(g, 51, 12) << 12)
#define GATE_SIZE(g)  ((uint32_t)RMA_GET(g, 63, 59))
#define GATE_ZERO(g)  RMA_GET(g, 58, 52)
#define GATE_MAKE(valid, vpid, phys)                                           \
	(RMA_PUT(valid, 1, 0) | RMA_PUT(vpid, 11, 2) |                         \
	 RMA_PUT((phys) >> 12, 51, 12))

/* Entry of the first level, on chip: bit 0 valid, [31:1] PA >> 21. */
#define ATU_BASE_MAKE(phys) (1ULL | RMA_PUT((phys) >> 21, 31, 1))
#define ATU_BASE_VALID(b)   ((b)&1)
#define ATU_BASE_PHYS(b)    (RMA_GET(b, 31, 1) << 21)

/* ---- ATU commands (3.8) ---- */

enum atu_op {
	ATU_FLUSH_PAGES = 1,
	ATU_FLUSH_VPID = 2,
	ATU_FENCE = 3,
	ATU_NOTIFY = 4,
};
#define ATU_CMD_OP(c)	 ((uint32_t)RMA_GET(c, 63, 60))
#define ATU_CMD_COUNT(c) ((uint32_t)RMA_GET(c, 37, 28) + 1)
#define ATU_CMD_PAGE(c)	 ((uint32_t)RMA_GET(c, 27, 0)) /* GAT, GATe */
#define ATU_CMD_VPID(c)	 ((uint32_t)RMA_GET(c, 9, 0))
#define ATU_CMD_PHYS(c)	 RMA_GET(c, 47, 0)
#define ATU_CMD_FLUSH(page, n)                                                 \
	(RMA_PUT(ATU_FLUSH_PAGES, 63, 60) | RMA_PUT((n)-1, 37, 28) |           \
	 RMA_PUT(page, 27, 0))
#define ATU_CMD_FLUSH_VPID(v)                                                  \
	(RMA_PUT(ATU_FLUSH_VPID, 63, 60) | RMA_PUT(v, 9, 0))
#define ATU_CMD_TELL(op, phys) (RMA_PUT(op, 63, 60) | RMA_PUT(phys, 47, 0))
enum { ATU_FLUSH_MAX = 1024 };

/* ---- register words (2.6) ---- */

/* Offsets in the register file. An array has one register per 8 bytes. The read
 * pointers are not in this range. Each has a page of its own, so that a process
 * can map its own read pointer (regs_map.h: EXTOLL_RMA_RP). */
enum {
	EXTOLL_RMA_CONFIG = 0x2000,
	EXTOLL_RMA_LOCK_BASE = 0x2008,
	EXTOLL_RMA_LOCK_N = 0x2010, /* locks of each VPID */
	EXTOLL_ATU_ENABLE = 0x3000,
	EXTOLL_ATU_COMMAND = 0x3008, /* load: number of unfinished commands */
	EXTOLL_ATU_GATS = 0x3010,    /* number of tables */
	EXTOLL_ATU_FAULTS = 0x3080,  /* by reason */
	EXTOLL_RMA_VPID = 0x110000,
	EXTOLL_RMA_BASE = 0x111000, /* base of the notification ring */
	EXTOLL_RMA_SIZE = 0x112000, /* slots of the ring; a store empties it */
	EXTOLL_RMA_WP = 0x113000,
	/* commands and notifications in the NIC */
	EXTOLL_RMA_PENDING = 0x114000,
	EXTOLL_ATU_GAT = 0x118000,
};

/* Bits of EXTOLL_RMA_VPID: */
#define RMA_V_ENABLE (1ULL << 0)
/* the process may use physical addresses (TE = 0) */
#define RMA_V_PHYSICAL (1ULL << 1)
#define RMA_V_RRA      (1ULL << 2)
#define RMA_V_INT      (1ULL << 3)
/* mask of permitted traffic classes */
#define RMA_V_TC(v)  ((uint32_t)RMA_GET(v, 7, 4))
#define RMA_V_TC_ALL RMA_PUT(15, 7, 4)
#define RMA_V_PD(v)  ((uint32_t)RMA_GET(v, 31, 16))
/* Bits of EXTOLL_RMA_CONFIG: */
/* largest packet, bytes / 64, 1..64 */
#define RMA_C_MTU(v) ((uint32_t)RMA_GET(v, 6, 0))
/* a failed command always writes a notification */
#define RMA_C_FORCE (1ULL << 8)
#define RMA_C_RESET (64ULL | RMA_C_FORCE)
/* Bits of a read pointer: [31:0] slot. Bit 32 arms the interrupt. */
#define RMA_RP_REARM (1ULL << 32)

#endif
