/* SPDX-License-Identifier: Apache-2.0 */
/* ATOLL's registers and descriptors, for drivers and user libraries
 * (hostport.md 2). All layouts are reconstructions, because the thesis prints
 * no register.
 *
 * BAR0 has one page for each of the four host ports, BAR1 is the management
 * page. Registers have 64 bits. A host port sends by PIO (registers) or DMA
 * (descriptors in main memory), and receives by PIO or DMA, as selected in
 * ATOLL_CTRL. */
#ifndef SYSTEMS_ATOLL_NIC_REGS_MAP_H
#define SYSTEMS_ATOLL_NIC_REGS_MAP_H

#include <stdint.h>

/* Own values, because the thesis names none. */
#define ATOLL_VENDOR_ID 0x4D41u
#define ATOLL_DEVICE_ID 0x4154u

enum {
	ATOLL_PORTS = 4, /* host ports */
	ATOLL_PAGE = 0x1000,
	ATOLL_BAR_PORTS = 0,
	ATOLL_BAR_MGMT = 1,
	ATOLL_ROUTE_MAX = 24, /* most routing characters of a descriptor */
	ATOLL_FLIT = 64,      /* bytes, at most, of a data flit (2.5) */
	ATOLL_PIO_MAX = 512,  /* most bytes of a message sent by PIO (2.4) */
	ATOLL_DESC = 64,      /* bytes of a descriptor */
	ATOLL_XPORTS = 8, /* ports of the crossbar: host ports, then links */
	ATOLL_XPORT_LINK0 = 4, /* first link */
};

/* Page of a host port. */
enum {
	/* W: [63:56] count 1..5, [39:0] routing characters */
	ATOLL_PIO_ROUTE = 0x00,
	ATOLL_PIO_CHARS = 5,
	ATOLL_PIO_DATA = 0x08, /* W: eight bytes */
	ATOLL_PIO_LAST = 0x10, /* W: last eight bytes; starts the packet */
	ATOLL_PIO_TAG = 0x18,  /* W: tag of the packet, 16 bits */
	ATOLL_PIO_STATUS = 0x20,
	ATOLL_PIO_HEAD = 0x28,	/* R: header word of the oldest packet */
	ATOLL_PIO_RDATA = 0x30, /* R: the next eight bytes of the packet */
	ATOLL_CTRL = 0x40,
	ATOLL_SDQ_BASE = 0x48, /* base of the send descriptors */
	/* Number of entries of the send descriptor queue. A store restarts the
	 * queue at its first entry, but has no effect while a descriptor is
	 * being processed. */
	ATOLL_SDQ_SIZE = 0x50,
	ATOLL_SDQ_WP = 0x58,
	ATOLL_SDQ_RP = 0x60,
	ATOLL_SDR_BASE = 0x68, /* base of the send data region */
	ATOLL_RDQ_BASE = 0x70, /* base of the receive descriptors */
	ATOLL_RDQ_SIZE = 0x78, /* entries; a store restarts the queue */
	ATOLL_RDQ_RP = 0x80,
	ATOLL_RDR_BASE = 0x88, /* base of the receive data region */
	/* Bytes, a multiple of 64. A store restarts the region at byte 0 and
	 * drops a packet that is partly received. */
	ATOLL_RDR_SIZE = 0x90,
	ATOLL_RDR_RP = 0x98,
};
/* Bits of ATOLL_CTRL: receive by DMA, interrupt at each message. STORES reads 1
 * while stores to main memory are in flight. */
enum { ATOLL_CTRL_DMA = 1, ATOLL_CTRL_IRQ = 2, ATOLL_CTRL_STORES = 1 << 8 };

/* Fields of PIO_STATUS. PACKET: a packet has arrived; RETRIEVED: the management
 * has removed the packet from the network; WORDS: number of words readable now;
 * BYTES: number of payload bytes. */
#define ATOLL_STATUS_PACKET    (1ULL << 63)
#define ATOLL_STATUS_RETRIEVED (1ULL << 62)
#define ATOLL_STATUS_WORDS(s)  ((uint32_t)((s) >> 32 & 0xffff))
#define ATOLL_STATUS_BYTES(s)  ((uint32_t)(s))

/* Header word of a packet, written by the host port. */
#define ATOLL_HEAD(src, tag, bytes)                                            \
	((uint64_t)(uint32_t)(bytes) << 32 | (uint64_t)((tag)&0xffff) << 16 |  \
	 ((src)&0xffff))
#define ATOLL_HEAD_SRC(h)   ((uint32_t)(h)&0xffff) /* node * 4 + host port */
#define ATOLL_HEAD_TAG(h)   ((uint32_t)((h) >> 16) & 0xffff)
#define ATOLL_HEAD_BYTES(h) ((uint32_t)((h) >> 32))

/* Descriptors of eight words.
 *
 * Sending: word 0 has the number of payload bytes [31:0] (multiple of 8), the
 * tag [47:32] and the number of routing characters [55:48]. Word 1 is the
 * offset in the SDR. Words 2 to 4 are the routing characters. With
 * ATOLL_D_AGAIN, word 5 is the header word, because a retrieved packet is sent
 * again with its old header word. Word 7 becomes DONE when the SDR has been
 * read.
 *
 * Receiving: word 0 is the header word. Word 1 is the offset of the payload in
 * the RDR. Words 2 to 4 are the routing characters of a retrieved packet. Word
 * 6 has their number [55:48]. Word 7 becomes VALID and is written last.
 */
enum {
	ATOLL_D_AGAIN = 1 << 0,
	ATOLL_D_DONE = 1 << 1,
	ATOLL_D_VALID = 1 << 2,
	ATOLL_D_RETRIEVED = 1 << 3,
};
#define ATOLL_SD_W0(bytes, tag, chars)                                         \
	((uint64_t)(chars) << 48 | (uint64_t)((tag)&0xffff) << 32 |            \
	 (uint32_t)(bytes))

/* Management page. */
enum {
	ATOLL_M_NODE = 0x00,
	ATOLL_M_IRQ = 0x08, /* write ones to clear */
	ATOLL_M_DL_COUNTER = 0x10,
	ATOLL_M_DL_PORTS = 0x18,  /* OutPorts with an expired counter; W1C */
	ATOLL_M_HOST_PORT = 0x20, /* host port of the management process */
	ATOLL_M_REDIRECT = 0x28,  /* W: InPort whose request is overwritten; R:
				   * 1 if the last write had an effect */
	ATOLL_M_DL_STATE = 0x40,  /* + 8 * OutPort */
};
enum { ATOLL_IRQ_DEADLOCK = 1, ATOLL_IRQ_ROUTE = 2, ATOLL_IRQ_RECEIVED = 4 };
/* Fields of DL_STATE. COND: the deadlock condition holds now; GRANTED: InPort
 * with the grant; WAITS: InPort that requests the OutPort without a grant. */
#define ATOLL_DL_COND	    (1ULL << 16)
#define ATOLL_DL_GRANTED(s) ((uint32_t)(s)&0xff)
#define ATOLL_DL_WAITS(s)   ((uint32_t)((s) >> 8) & 0xff)

/* Returns the routing character of a port (2.2): the port, and a bit that makes
 * the parity even. */
static inline uint8_t atoll_char(uint32_t port)
{
	return (uint8_t)(port | (uint32_t)__builtin_parity(port) << 3);
}

#endif
