/* SPDX-License-Identifier: Apache-2.0 */
/* Register map, descriptor and notification layout of the FORTH RDMA NIC.
 * Source: forth.md sections 2.2-2.8 (registers), 3.1-3.3 (queues and
 * descriptors), 3.8 (notification words), 10.1 (benchmark mode). The packet
 * header is in systems/forth/link/wire.h.
 *
 * This file has only numbers and pure functions, because model, user library
 * and tests share it. Bit 0 is the least significant one. */
#ifndef SYSTEMS_FORTH_NIC_REGS_MAP_H
#define SYSTEMS_FORTH_NIC_REGS_MAP_H

#include <stdbool.h>
#include <stdint.h>

/* ---- configuration space (2.2) ---- */

/* ids_literal swaps vendor and device id */
#define FORTH_VENDOR_ID 0x17DFu
#define FORTH_DEVICE_ID 0x1600u

enum {
	FORTH_CFG_VENDOR = 0x00,  /* 16 bit */
	FORTH_CFG_DEVICE = 0x02,  /* 16 bit */
	FORTH_CFG_COMMAND = 0x04, /* 16 bit */
	FORTH_CFG_STATUS = 0x06,  /* 16 bit */
	FORTH_CFG_CLASS = 0x08,	  /* 32 bits: class code and revision */
	/* 8 bits, in dwords, recommended value 0x80 */
	FORTH_CFG_CACHE_LINE = 0x0C,
	/* 8 bits, in PCI cycles, recommended value 0xFE */
	FORTH_CFG_LATENCY = 0x0D,
	FORTH_CFG_HEADER = 0x0E,   /* 8 bit */
	FORTH_CFG_BIST = 0x0F,	   /* 8 bit */
	FORTH_CFG_BAR0 = 0x10,	   /* 32 bit */
	FORTH_CFG_BAR1 = 0x14,	   /* 32 bit */
	FORTH_CFG_CAP = 0x34,	   /* 8 bit */
	FORTH_CFG_IRQ_LINE = 0x3C, /* 8 bit */
	FORTH_CFG_IRQ_PIN = 0x3D,  /* 8 bit */
	FORTH_CFG_APP_IRQ = 0x40,  /* 32 bit, 2.3 */
	/* 16 bits: id and offset of the next capability */
	FORTH_CFG_PCIX_CAP = 0x48,
	FORTH_CFG_PCIX_CMD = 0x4A,    /* 16 bit */
	FORTH_CFG_PCIX_STATUS = 0x4C, /* 32 bit */
};

#define FORTH_CMD_MEMORY  (1u << 1)
#define FORTH_CMD_MASTER  (1u << 2)
#define FORTH_CMD_SPECIAL (1u << 3)
#define FORTH_CMD_MWI	  (1u << 4)
#define FORTH_CMD_PARITY  (1u << 6)
#define FORTH_CMD_SERR	  (1u << 8)
#define FORTH_CMD_RW	  0x015Eu

#define FORTH_STATUS_CAPS	      (1u << 4)
#define FORTH_STATUS_66MHZ	      (1u << 5)
#define FORTH_STATUS_DEVSEL_SLOW      (2u << 9)
#define FORTH_STATUS_DATA_PARITY      (1u << 8)
#define FORTH_STATUS_SIG_TARGET_ABORT (1u << 11)
#define FORTH_STATUS_RCV_TARGET_ABORT (1u << 12)
#define FORTH_STATUS_RCV_MASTER_ABORT (1u << 13)
#define FORTH_STATUS_SIG_SERR	      (1u << 14)
#define FORTH_STATUS_PARITY	      (1u << 15)
#define FORTH_STATUS_W1C	      0xF900u

#define FORTH_PCIX_CMD_RW 0x007Fu
/* recover from data parity errors without SERR# */
#define FORTH_PCIX_CMD_RECOVER (1u << 0)
/* bits 3:2 hold n for reads of up to 512 << n bytes */
#define FORTH_PCIX_CMD_MMRBC_SHIFT 2
#define FORTH_PCIX_CMD_MMRBC_MASK  0x000Cu

#define FORTH_PCIX_STATUS_RESET 0x0863FFF8u
/* the requester did not accept a completion of this NIC */
#define FORTH_PCIX_STATUS_DISCARDED (1u << 18)
#define FORTH_PCIX_STATUS_UNEXPECTED                                           \
	(1u << 19)			     /* completion without request     \
					      */
#define FORTH_PCIX_STATUS_MESSAGE (1u << 29) /* completion error message */
#define FORTH_PCIX_STATUS_W1C	  0x200C0000u

/* Application interrupt register (2.3). */
#define FORTH_APP_IRQ_ENABLE (1u << 0)
#define FORTH_APP_IRQ_FLAG   (1u << 4) /* write 1 to clear */
#define FORTH_APP_TAIL_SHIFT 16	       /* 7 bits */
#define FORTH_APP_HEAD_SHIFT 24	       /* 7 bits */

/* Values that a driver stores during initialisation (2.9). */
#define FORTH_LATENCY_RECOMMENDED    0xFEu
#define FORTH_CACHE_LINE_RECOMMENDED 0x80u

/* ---- BARs (2.4) ---- */

#define FORTH_BAR_RAM	 0 /* SRAM and DRAM, plain memory */
#define FORTH_BAR_REGS	 1
#define FORTH_BAR0_BYTES 0x08000000u
#define FORTH_BAR1_BYTES 0x8000u
#define FORTH_BAR0_MASK	 0xF8000000u
#define FORTH_BAR1_MASK	 0xFFFF8000u

/* ---- operation registers, BAR1 (2.5), all 32 bits ---- */

enum {
	FORTH_CONTROL = 0x00,
	FORTH_POINTERS = 0x04,
	FORTH_RNOTIFY_LO = 0x08,
	FORTH_RNOTIFY_HI = 0x0C,
	FORTH_LNOTIFY_LO = 0x10,
	FORTH_LNOTIFY_HI = 0x14,

	FORTH_H2N_DMA_OPS = 0x20,
	FORTH_N2H_DMA_OPS = 0x24,
	FORTH_H2N_REQ = 0x28,
	FORTH_N2H_REQ = 0x2C,
	FORTH_H2N_QWORD = 0x30,
	FORTH_N2H_QWORD = 0x34,
	FORTH_H2N_DMA_ACTIVE = 0x38,
	FORTH_N2H_DMA_ACTIVE = 0x3C,
	FORTH_H2N_BUS_GRANTED = 0x40,
	FORTH_N2H_BUS_GRANTED = 0x44,
	FORTH_H2N_DISC = 0x48,
	FORTH_N2H_DISC = 0x4C,
	FORTH_IRQ_ACTIVE = 0x50,
	FORTH_IRQ_ASSERTIONS = 0x54,
	FORTH_LOCAL_NOTIFY = 0x58,
	FORTH_REMOTE_NOTIFY = 0x5C,
	FORTH_SPLIT_OPS = 0x60,
	FORTH_SPLIT_DURATION = 0x64,
	FORTH_BODY_CRC_ERR = 0x68,
	FORTH_HEADER_ALIGN_ERR = 0x6C,
	FORTH_CUM_TIMER = 0x70,
	FORTH_H2NET_FULL_ERR = 0x74,
	FORTH_NET2H_FULL_ERR = 0x78,
	FORTH_SAMPLE_INTERVAL = 0x7C,

	/* Network counters. A load clears the counter that it reads. A store to
	 * the first counter clears all. */
	FORTH_NET_OUT_CYCLES = 0x80,
	FORTH_NET_IN_CYCLES = 0x84,
	FORTH_RIO0_UNKNOWN = 0x88,
	FORTH_RIO0_SYNC_LOSS = 0x8C,
	FORTH_RIO0_PARITY = 0x90,
	FORTH_RIO0_TX_FULL = 0x94,
	FORTH_RIO1_UNKNOWN = 0x98,
	FORTH_RIO1_SYNC_LOSS = 0x9C,
	FORTH_RIO1_PARITY = 0xA0,
	FORTH_RIO1_TX_FULL = 0xA4,
	FORTH_NET_OUT_PACKETS = 0xA8,
	FORTH_NET_DEQ_WORDS = 0xAC,
	FORTH_NET_IN_PACKETS = 0xB0,
	FORTH_NET_ENQ_WORDS = 0xB4,
	FORTH_HEADER_CRC_ERR = 0xB8,
	FORTH_NET_ALIGN_ERR = 0xBC,
	FORTH_NET_BACKPRESSURE = 0xC0,
	FORTH_H2NET_START = 0xC4,
	FORTH_NET2H_START = 0xC8,

	FORTH_SAMPLE_COUNT = 0xD0,
	FORTH_SAMPLE_DATA = 0xD4,

	/* one register per queue, 8 in all, 4 bytes apart */
	FORTH_QUEUE_POINTERS = 0x100,
	FORTH_QUEUE_SELECT = 0x120,
	FORTH_BUILD = 0x124,
	FORTH_BENCH = 0x128,
	FORTH_TIMESTAMP = 0x12C,
	FORTH_CREDIT_PARITY_ERR = 0x140,
	FORTH_CREDIT_LEAKED = 0x144,
	FORTH_DESC_ERR = 0x148,
	FORTH_RESEQ = 0x14C,
	/* our addition: flows that were resynchronised (5.7) */
	FORTH_CREDIT_RESYNCS = 0x150,
	/* our addition: packets that arrived while out of sync */
	FORTH_UNSYNC = 0x154,
	/* our addition: count of remote notifications so far, which is also in
	 * the latest notification word */
	FORTH_RNOTIFY_TOTAL = 0x158,
	/* our addition: a load returns the number of credit flows of the
	 * neighbour, a store resets the port */
	FORTH_PORT = 0x15C,
	/* one register per flow, 8 in all, 4 bytes apart */
	FORTH_CREDIT_STATE = 0x160,

	/* Our additions for multipath, external memory and the event log. */
	FORTH_LINK_SELECT = 0x180, /* link whose credits registers 0x160 show */
	/* a load returns the sources that are out of sync, a store restarts
	 * sources */
	FORTH_RESEQ_RX = 0x184,
	FORTH_RESEQ_TX = 0x188, /* a store restarts destinations */
	FORTH_RESEQ_POOL = 0x18C,
	FORTH_EXT_FREE = 0x190,	  /* number of free blocks of external memory */
	FORTH_EXT_LEAST = 0x194,  /* fewest free blocks so far */
	FORTH_LINK_STATE = 0x198, /* links in sync (4.9), one bit each */
	/* one register per source, 8 in all, 4 bytes apart */
	FORTH_RESEQ_STATE = 0x1A0,
	FORTH_LOG_CONTROL = 0x1C0, /* flags FORTH_LOG_ON, FORTH_LOG_CREDITS */
	/* records written since the log was turned on */
	FORTH_LOG_COUNT = 0x1C4,
	FORTH_LOG_INDEX = 0x1C8, /* index of the record to be read */
	/* 4 dwords of a record, the last of which advances the index */
	FORTH_LOG_DATA = 0x1D0,

	/* 0x4000 to 0x7FFF: 1024 descriptors of 16 bytes */
	FORTH_QUEUE_MEM = 0x4000,
};

/* Returns the words that were sent and whose credits have not returned (T -
 * F'), from a value of FORTH_CREDIT_STATE. */
static inline uint32_t forth_credit_out(uint32_t state)
{
	return (state - (state >> 16)) & 0xFFF;
}

#define FORTH_NET_COUNTERS 19u /* 0x80 .. 0xC8 */

/* DMA control register (2.6). */
#define FORTH_CTL_ENABLE	(1u << 0)
#define FORTH_CTL_RESET		(1u << 4)  /* self-clearing */
#define FORTH_CTL_POINTER_RESET (1u << 24) /* self-clearing */
/* 3 is loopback, all other codes are normal operation */
#define FORTH_CTL_LOOP_SHIFT 30
#define FORTH_CTL_LOOP	     (3u << 30)
#define FORTH_CTL_RW	     (FORTH_CTL_ENABLE | FORTH_CTL_LOOP)

/* Pointer registers: [10:0] head * 2, plus 1 while the second qword of the
 * descriptor is fetched, [25:16] tail. */
static inline uint32_t forth_pointers_pack(uint32_t head, uint32_t half,
					   uint32_t tail)
{
	return (head << 1 | half) | tail << 16;
}
static inline uint32_t forth_pointers_head(uint32_t reg)
{
	return (reg & 0x7FF) >> 1;
}
static inline uint32_t forth_pointers_tail(uint32_t reg)
{
	return reg >> 16 & 0x3FF;
}

/* Build register (ext): [3:0] links, [5:4] log2 queues, [6] each packet uses
 * one link, [7] completion by counting (7.7), [11:8] VOQs (0 = one outgoing
 * FIFO), [21:12] largest payload in qwords minus 1, [31:22] smallest payload in
 * qwords. */
#define FORTH_BUILD_MULTIPATH (1u << 6)
#define FORTH_BUILD_COUNT     (1u << 7)
static inline uint32_t forth_build_pack(uint32_t links, uint32_t queues_log2,
					uint32_t voqs, uint32_t max_qwords,
					uint32_t min_qwords)
{
	return links | queues_log2 << 4 | voqs << 8 | (max_qwords - 1) << 12 |
	       min_qwords << 22;
}

/* Counters of resequencing in register 0x14C, ten bits each: losses, sync lost,
 * pool full. */
static inline uint32_t forth_reseq_losses(uint32_t reg)
{
	return reg & 0x3FF;
}
static inline uint32_t forth_reseq_sync_lost(uint32_t reg)
{
	return reg >> 10 & 0x3FF;
}
static inline uint32_t forth_reseq_overflows(uint32_t reg)
{
	return reg >> 20 & 0x3FF;
}

/* State of a source at 0x1A0 + 4 s: [1:0] p1 and [3:2] p2, paths of the next
 * two packets, [4] p2 known, [5] loss not yet reported, [6] sync lost, [19:8]
 * exp[3..0], numbers expected on each path, [30:20] headers held. */
#define FORTH_RESEQ_STATE_LOSS	    (1u << 5)
#define FORTH_RESEQ_STATE_SYNC_LOST (1u << 6)
static inline uint32_t forth_reseq_state_held(uint32_t reg)
{
	return reg >> 20 & 0x7FF;
}

/* Event log: dwords 0 and 1 are the time in PCI cycles, dword 2 is the
 * argument, dword 3 has the unit in [7:0] and the event in [15:8]. */
#define FORTH_LOG_ON	  (1u << 0)
#define FORTH_LOG_CREDITS (1u << 1) /* records of credits, too */
enum forth_log_unit {
	LOG_ENGINE, /* outgoing transfers, the argument is the queue */
	/* received packets, with the link as argument, and remote
	 * notifications, with the flow as argument */
	LOG_WRITE,
	/* LOG_LINK0 to LOG_LINK0 + 3: packets sent, with the flow as argument,
	 * credits, with the 16 bits of the credit as argument, and errors, with
	 * an enum forth_log_link_error as argument */
	LOG_LINK0,
	/* losses, with the source as argument, + 256 if sync was lost */
	LOG_RESEQ = LOG_LINK0 + 4,
	LOG_HOST, /* interrupt line, the argument is the level */
	LOG_UNITS
};
enum forth_log_event {
	LOG_START,
	LOG_STOP,
	LOG_STALL,
	LOG_ERROR,
	LOG_NOTIFY,
	LOG_INTERRUPT,
	LOG_CREDIT_OUT, /* a credit was put on the line */
	LOG_CREDIT_IN,	/* a received credit takes effect */
	LOG_EVENTS
};
enum forth_log_link_error {
	LOG_HEADER_CRC = 1,
	LOG_BODY_CRC,
};
static inline uint64_t forth_log_pack(enum forth_log_unit unit,
				      enum forth_log_event event, uint32_t arg)
{
	return arg | (uint64_t)unit << 32 | (uint64_t)event << 40;
}

/* Benchmark mode (10.1). */
#define FORTH_BENCH_ON	      (1u << 0)
#define FORTH_BENCH_ZERO      (1u << 1) /* payload is zeros, not read */
#define FORTH_BENCH_SWITCH_TS (1u << 2) /* a switch stamps, too */

#define FORTH_SAMPLES 2048u

/* ---- queues and descriptors (3.1, 3.2) ---- */

#define FORTH_DESC_BYTES    16u
#define FORTH_DESC_TOTAL    1024u
#define FORTH_QUEUES_MAX    8u
#define FORTH_DMA_MAX_BYTES 4096u

/* Returns the offset of a slot in BAR1. depth is 1024 / number of queues. */
static inline uint32_t forth_desc_offset(uint32_t queue, uint32_t depth,
					 uint32_t slot)
{
	return FORTH_QUEUE_MEM + FORTH_DESC_BYTES * (queue * depth + slot);
}

#define FORTH_DESC_START   (1ull << 59)
#define FORTH_DESC_RIRQ	   (1ull << 60)
#define FORTH_DESC_LNOTIFY (1ull << 61)
#define FORTH_DESC_RNOTIFY (1ull << 62)
/* completion=count (7.7, experimental): bits 47:42 of the second qword name a
 * group. The transfer with bit 48 announces the number of qwords of the group's
 * other transfers, in the field of the address. */
#define FORTH_DESC_ANNOUNCE    (1ull << 48)
#define FORTH_DESC_GROUP_SHIFT 42
#define FORTH_GROUPS	       64u
/* start flag, in dword 3 of a descriptor */
#define FORTH_DESC_START_HI (1u << 27)

/* Returns the second qword of a descriptor. `flags` are FORTH_DESC_*. */
static inline uint64_t forth_desc_q1(uint32_t flow, uint32_t qwords,
				     uint32_t dst, uint64_t flags)
{
	return flags | (uint64_t)(flow & 0x7F) << 52 |
	       (uint64_t)(qwords & 0x3FF) << 32 | dst;
}
static inline uint32_t forth_desc_qwords(uint64_t q1)
{
	return (uint32_t)(q1 >> 32) & 0x3FF;
}
static inline uint32_t forth_desc_flow(uint64_t q1)
{
	return (uint32_t)(q1 >> 52) & 0x7F;
}

/* ---- notification words (3.8, R-16) ---- */

/* Returns the word that the NIC writes at local-notification address + 8 *
 * queue. */
static inline uint64_t forth_lnotify_pack(uint32_t head, uint32_t queue,
					  uint32_t departed)
{
	return (head & 0x3FF) | (uint64_t)(queue & 0xFF) << 16 |
	       (uint64_t)departed << 32;
}
static inline uint32_t forth_lnotify_head(uint64_t w)
{
	return w & 0x3FF;
}
static inline uint32_t forth_lnotify_queue(uint64_t w)
{
	return w >> 16 & 0xFF;
}
static inline uint32_t forth_lnotify_departed(uint64_t w)
{
	return (uint32_t)(w >> 32);
}

#define FORTH_RNOTIFY_BAD_BODY (1ull << 40)
#define FORTH_RNOTIFY_LOSS     (1ull << 41)
static inline uint64_t forth_rnotify_pack(uint32_t count, uint32_t flow,
					  bool bad_body)
{
	return count | (uint64_t)(flow & 0x7F) << 32 |
	       (bad_body ? FORTH_RNOTIFY_BAD_BODY : 0);
}
static inline uint32_t forth_rnotify_count(uint64_t w)
{
	return (uint32_t)w;
}
static inline uint32_t forth_rnotify_flow(uint64_t w)
{
	return w >> 32 & 0x7F;
}
/* Returns the bits that multipath adds to a notification word: source, loss
 * flag and, with completion=count, the group in 47:42. */
static inline uint64_t forth_rnotify_from(uint32_t source, uint32_t group,
					  bool loss)
{
	return (loss ? FORTH_RNOTIFY_LOSS : 0) | (uint64_t)(group & 63) << 42 |
	       (uint64_t)(source & 7) << 48;
}
static inline uint32_t forth_rnotify_group(uint64_t w)
{
	return w >> 42 & 63;
}
static inline uint32_t forth_rnotify_source(uint64_t w)
{
	return w >> 48 & 7;
}

/* ---- time stamps in the payload (10.1, R-38) ---- */

/* qword 0 = {ts1, ts2}, 1 = {ts3, ts4}, 2 = {source, sequence}. The first value
 * of a pair is in the high half. */
#define FORTH_STAMP_QWORDS 3u
static inline uint64_t forth_stamp_pair(uint32_t hi, uint32_t lo)
{
	return (uint64_t)hi << 32 | lo;
}
static inline uint32_t forth_stamp_hi(uint64_t w)
{
	return (uint32_t)(w >> 32);
}
static inline uint32_t forth_stamp_lo(uint64_t w)
{
	return (uint32_t)w;
}

#endif
