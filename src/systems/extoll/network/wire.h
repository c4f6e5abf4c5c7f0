/* SPDX-License-Identifier: Apache-2.0 */
/* EXTOLL's wire format: packets, cells and control cells (extoll.md 3.9, 3.10).
 * All layouts are defined here only, so that other files must use the
 * accessors.
 *
 * A packet is one weft_frame from the sending to the receiving network port:
 *
 *     u[0..2]   command words H0, H1, H2 (3.9)
 *     u[3]      struct ex_meta: words, destination, progress of the route
 *     u[4..7]   the route: 64 nibbles, first hop lowest; unused ones are 0xF
 *     payload   0..4096 bytes; on the line padded to 8 with zeros
 *
 * Ports send a packet to each other as cells, see cell_channel.h. */
#ifndef SYSTEMS_EXTOLL_NETWORK_WIRE_H
#define SYSTEMS_EXTOLL_NETWORK_WIRE_H

#include "weft/component.h"
#include "weft/frame.h"

enum {
	EX_PORTS = 9,	 /* ports of a crossbar: 0..2 internal, 3..8 links */
	EX_INTERNAL = 3, /* NP 0..2 */
	EX_LINKS = 6,
	EX_VCS = 4,
	EX_CELL_BYTES = 64,
	EX_ROUTE_MAX = 64, /* nibbles */
	/* value of ex_meta.hops: the payload begins with the route */
	EX_ROUTE_RUNS = 0xff,
	EX_PAYLOAD_MAX = 4096,
	EX_NIB_MORE = 0xe, /* "more routing flits follow" */
	EX_NIB_FILL = 0xf,
	EX_NODE_NONE = 0xffff, /* 0xFFFE and 0xFFFF are reserved */
};

/* Network data path (1.3): bytes of a flit. */
enum ex_width { EX_W16, EX_W32 };
static inline uint32_t ex_flit_bytes(uint32_t width)
{
	return width == EX_W16 ? 2 : 4;
}

/* State of a packet in flight. It is not on the line. */
struct ex_meta {
	uint8_t words; /* number of command words: 0 (raw traffic), 1..3 */
	uint8_t pos;   /* nibbles consumed so far */
	/* nibbles of the route; 0: table routing; or EX_ROUTE_RUNS */
	uint8_t hops;
	uint8_t cls;   /* 0 request (VC 0/1), 1 response (VC 2/3) */
	uint16_t dest; /* node, for table routing and measurement */
	uint8_t port;  /* internal port of that node's crossbar */
	uint8_t dim;   /* dimension of the last link taken, 0xff = none */
};
_Static_assert(sizeof(struct ex_meta) == 8, "ex_meta fits in u[3]");

static inline struct ex_meta *ex_meta(struct weft_frame *f)
{
	return (struct ex_meta *)&f->u[3];
}

static inline uint32_t ex_route_nibble(const struct weft_frame *f, uint32_t i)
{
	return (uint32_t)(f->u[4 + i / 16] >> (i % 16 * 4)) & 0xf;
}
/* Sets nibble i of the route, and keeps the others. */
static inline void ex_route_set(struct weft_frame *f, uint32_t i, uint32_t nib)
{
	uint64_t *u = &f->u[4 + i / 16];

	*u = (*u & ~(0xfULL << (i % 16 * 4))) | (uint64_t)nib << (i % 16 * 4);
}

/* Returns the number of nibbles in one routing flit. In all routing flits but
 * the last, one of these nibbles is EX_NIB_MORE. */
static inline uint32_t ex_flit_nibbles(uint32_t width)
{
	return width == EX_W16 ? 4 : 8;
}
/* Returns the number of routing flits for a route of n nibbles. Table routing
 * needs one flit, with the node in its low 16 bits (10: O-2). Routes of the
 * Host Port (systems/hostport/nic/wire.h) are bytes of the payload and need no
 * routing flit. */
static inline uint32_t ex_route_flits(uint32_t width, uint32_t n)
{
	uint32_t k = ex_flit_nibbles(width);

	if (n == EX_ROUTE_RUNS)
		return 0;
	return n <= k ? 1 : 1 + (n - k + k - 2) / (k - 1);
}
/* Returns true if nibble number pos (of n) is the last one of its routing
 * flit. */
static inline bool ex_route_removes(uint32_t width, uint32_t n, uint32_t pos)
{
	uint32_t k = ex_flit_nibbles(width), flit = pos / (k - 1);

	/* all flits but the last carry k - 1 nibbles */
	if (flit >= ex_route_flits(width, n) - 1)
		return pos == n - 1;
	return pos % (k - 1) == k - 2;
}

/* Returns the number of 64-bit words of a packet: command words and padded
 * payload. */
static inline uint32_t ex_words(const struct weft_frame *f)
{
	const struct ex_meta *m = (const struct ex_meta *)&f->u[3];

	return m->words + (f->payload.len + 7) / 8;
}

/* ---- H0 (3.9) ---- */

#define EX_GET(w, hi, lo)                                                      \
	((uint64_t)(w) >> (lo) & (~0ULL >> (63 - ((hi) - (lo)))))
#define EX_PUT(v, hi, lo)                                                      \
	(((uint64_t)(v) & (~0ULL >> (63 - ((hi) - (lo))))) << (lo))

/* Fields that VELO and RMA share. */
#define EX_H0_SRC(h)   ((uint32_t)EX_GET(h, 15, 0))
#define EX_H0_SVPID(h) ((uint32_t)EX_GET(h, 23, 16))
#define EX_H0_DVPID(h) ((uint32_t)EX_GET(h, 31, 24))
#define EX_H0_CHECK(h) ((uint32_t)EX_GET(h, 63, 56)) /* low byte of dest */
#define EX_H0_MAKE(src, svpid, dvpid, dest)                                    \
	(EX_PUT(src, 15, 0) | EX_PUT(svpid, 23, 16) | EX_PUT(dvpid, 31, 24) |  \
	 EX_PUT(dest, 63, 56))
/* VELO, internal port 0. */
#define EX_VELO_MTT(h) ((uint32_t)EX_GET(h, 33, 32))
#define EX_VELO_IRQ    (1ULL << 34)
#define EX_VELO_EOM    (1ULL << 36)
#define EX_VELO_ERROR  (1ULL << 37)
#define EX_VELO_TAG(h) ((uint32_t)EX_GET(h, 47, 40))
#define EX_VELO_LEN(h) ((uint32_t)EX_GET(h, 54, 48))
/* RMA, internal ports 1 and 2. */
#define EX_RMA_NOTI(h)	((uint32_t)EX_GET(h, 34, 32))
#define EX_RMA_MODS(h)	((uint32_t)EX_GET(h, 38, 35))
#define EX_RMA_CMD(h)	((uint32_t)EX_GET(h, 42, 39))
#define EX_RMA_COUNT(h) ((uint32_t)EX_GET(h, 54, 43) + 1)
#define EX_RMA_CLASS(h) ((uint32_t)EX_GET(h, 50, 43))
#define EX_RMA_LAST	(1ULL << 55)

/* ---- cells (3.10) ---- */

/* bits of CTL; [1:0] is the VC */
enum { EX_CTL_SOP = 1 << 2, EX_CTL_EOP = 1 << 3 };

enum ex_control {
	EX_C_ACK = 0x01,
	EX_C_NACK = 0x02,
	EX_C_CREDIT = 0x10,  /* + vc */
	EX_C_REFRESH = 0x18, /* + vc: absolute count of credits, modulo 256 */
	EX_C_INIT1 = 0x20,
	EX_C_INIT2 = 0x21,
	EX_C_INIT3 = 0x22,
	EX_C_READY = 0x23,
	EX_C_NODE = 0x30,
	EX_C_PORT = 0x31,
};

/* Return the flits that framing adds to the payload of a cell, and the flits of
 * a control cell. */
static inline uint32_t ex_cell_overhead(uint32_t width)
{
	return width == EX_W16 ? 5 : 2;
}
static inline uint32_t ex_control_flits(uint32_t width)
{
	return width == EX_W16 ? 2 : 1;
}

/* Wire formats of link ports and of internal ports (frame.c). */
extern const struct weft_wire ex_wire_link, ex_wire_internal;
/* in wire_faults.c */
extern const struct weft_wire_faults ex_wire_faults;
extern const struct weft_wire_capture ex_wire_capture;

/* Symbols of the 8b/10b code with a special meaning on EXTOLL's lines. */
enum {
	EX_K_START = 0xfb,   /* K27.7 */
	EX_K_END = 0xfd,     /* K29.7, 16 bit only */
	EX_K_CONTROL = 0x3c, /* K28.1 */
	EX_K_COMMA = 0xbc,   /* K28.5 */
	EX_K_COMP = 0x7c,    /* K28.3, clock compensation */
	EX_D_IDLE = 0x50,    /* D16.2 */
};

#endif
