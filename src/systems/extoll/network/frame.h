/* SPDX-License-Identifier: Apache-2.0 */
/* Cells and control cells as frames on a framed EXTOLL line, their line symbols
 * and the receive machine (extoll.md 3.10).
 *
 * A cell is a weft_frame with a copy of its bytes, because the line may resend
 * the cell after the packet has been freed.
 *
 *   u[0]     struct ex_line: framing
 *   u[1]     the sender's packet (weft_frame *), valid until its last cell is
 *            delivered. With a fault or listener on the line the receiver
 *            reads from it only data that are not on the line (ex_rebuild)
 *   u[2]     [31:0] its first flit in the packet, routing flits not counted;
 *            [63:32] cells sent on the line before it
 *   u[3..7]  meta and route of the packet as it was sent
 *   payload  bytes of the cell
 *
 * Byte order: little-endian everywhere, also in a flit. The CRC covers CTL,
 * SEQ, LEN (with 32 bit only) and the bytes, always in this order, although SEQ
 * is sent last with 16 bit. */
#ifndef SYSTEMS_EXTOLL_NETWORK_FRAME_H
#define SYSTEMS_EXTOLL_NETWORK_FRAME_H

#include "systems/extoll/network/wire.h"
#include "weft/sim.h"

/* Values of weft_frame.flags. EX_F_BARE: bytes behind the command words are
 * unknown. */
enum { EX_F_CELL = 1, EX_F_CONTROL = 2, EX_F_BARE = 4 };

struct ex_line {
	uint8_t type;  /* 0 for a cell, otherwise enum ex_control */
	uint8_t ctl;   /* cell: CTL */
	uint8_t arg;   /* SEQ of a cell, value of a control cell */
	uint8_t flits; /* cell: flits of payload */
	uint8_t width;
	uint8_t stomp; /* the CRC is inverted, since the cell is void (5.6) */
	uint8_t route; /* flits of the route */
	uint8_t cmd;   /* flits of command words behind the route */
};
_Static_assert(sizeof(struct ex_line) == 8, "ex_line fits in u[0]");

static inline struct ex_line *ex_line(struct weft_frame *f)
{
	return (struct ex_line *)&f->u[0];
}
static inline struct weft_frame *ex_line_packet(const struct weft_frame *f)
{
	return (struct weft_frame *)(uintptr_t)f->u[1];
}

static inline uint32_t ex_line_number(const struct weft_frame *f)
{
	return (uint32_t)(f->u[2] >> 32);
}

/* Returns the number of routing flits that a packet still has. */
uint32_t ex_route_left(const struct weft_frame *pkt, uint32_t width);
/* Fills f with a cell of pkt. f is empty, and its payload has room. flits
 * include the routing flits of a SOP cell. A stomped cell may have any
 * bytes. */
void ex_cell_fill(struct weft_frame *f, struct weft_frame *pkt, uint32_t width,
		  uint32_t ctl, uint32_t first, uint32_t flits, bool stomp);
/* Returns a new control cell, which the caller owns. */
struct weft_frame *ex_control_new(struct weft_sim *sim, uint32_t width,
				  uint32_t type, uint32_t value);
/* Packets in reassembly from the bytes of their cells, by VC. */
struct ex_built {
	struct weft_frame *pkt[EX_VCS];
};
/* Returns the packet of a received cell, rebuilt from received bytes: command
 * words, route and payload. Sizes, trace id, flags (the protection descriptor)
 * and the rest of ex_meta come from the sender's packet, because they are not
 * on the line. The last cell frees the sender's packet, and the caller then
 * owns the new one. */
struct weft_frame *ex_rebuild(struct ex_built *b, struct weft_sim *sim,
			      struct weft_frame *cell, const uint8_t *bytes);
/* Frees packets that are incomplete. */
void ex_rebuild_drop(struct ex_built *b);
/* Encodes like ex_wire_link.encode, and puts the part (enum weft_part) of each
 * symbol into its upper bits. Control symbols and D16.2 get part CONTROL. Type,
 * value and CRC-8 of a control cell get part CELL. */
uint32_t ex_encode_parts(const struct weft_frame *f, uint16_t *sym,
			 uint32_t max);

/* ---- receive machine ---- */

enum ex_verdict {
	EX_GOOD,
	EX_VOID, /* exactly inverted CRC */
	EX_BAD_CRC,
	/* code error, misplaced control symbol, or a transmission that ended
	 * inside the cell */
	EX_BAD_CODE,
};

struct ex_heard { /* a cell or a control cell */
	enum ex_verdict verdict;
	bool control;
	bool seq_known;	  /* cell: a SEQ was received, right or not */
	uint8_t type;	  /* control cell: enum ex_control */
	uint8_t ctl, arg; /* as in ex_line */
	uint8_t flits;	  /* flits received, at most those of a full cell */
	uint8_t bytes[EX_CELL_BYTES];
};

struct ex_dec {
	uint32_t width;
	void (*heard)(void *own, const struct ex_heard *h);
	void *own;
	uint32_t code;	/* code errors so far */
	uint32_t run;	/* consecutive code errors now */
	uint32_t worst; /* longest run of code errors */
	uint32_t stray; /* data symbols outside cells */
	/* internal: */
	uint32_t state, pos, n, len;
	bool bad;
	uint8_t tail[4];
	struct ex_heard h;
};

/* ex_dec_symbol() decodes one symbol. ex_dec_end() ends a transmission. Both
 * call `heard` for each cell that ends. */
void ex_dec_symbol(struct ex_dec *d, uint32_t sym);
void ex_dec_end(struct ex_dec *d);

#endif
