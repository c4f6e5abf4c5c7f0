/* SPDX-License-Identifier: Apache-2.0 */
/* The toy's line: symbols of one byte, one per cycle of the sender's clock.
 *
 * packet   START(K) seq dest src len imm[8] data[len] crc[4]
 * credit   CREDIT(K) freed ~freed
 *
 * crc: CRC-32/MPEG-2 of all symbols behind START, most significant byte first.
 * imm is little-endian.
 *
 * seq counts packets of a line. freed counts the slots of the receiver's queue
 * that were emptied. Both are modulo 256.  The sender may have as many packets
 * in flight as the queue has slots.  A lost credit does no harm, because freed
 * is a sum and the next credit contains it.  A gap in seq shows lost packets,
 * whose slots are free.
 *
 * Not modelled: recovery of a line all of whose slots were lost at one time. */
#ifndef SYSTEMS_TOY_LINK_WIRE_H
#define SYSTEMS_TOY_LINK_WIRE_H

#include "weft/sim.h"

enum {
	TOY_START = 0xfb,
	TOY_CREDIT = 0xfd,
	TOY_HEAD = 13,
	TOY_DATA = 64, /* largest number of data bytes of a message */
	TOY_CRC = 4,
	TOY_CREDIT_SYMBOLS = 3,
	TOY_SYMBOLS = TOY_HEAD + TOY_DATA + TOY_CRC,
	TOY_SLOTS = 64, /* largest number of slots of a queue */
	TOY_NODES = 256,
};

/* Protocol fields of a frame. */
struct toy_fields {
	uint8_t kind; /* TOY_START, TOY_CREDIT */
	uint8_t seq, dest, src, len, freed;
	uint64_t imm;
};

static inline struct toy_fields *toy_fields(struct weft_frame *f)
{
	return (struct toy_fields *)f->u;
}

extern const struct weft_wire toy_wire;

/* Decodes a frame from its symbols if a fault has damaged or observed it.
 * Returns false if the symbols are not a valid frame. */
bool toy_decode(struct weft_frame *f);
/* Returns the time at which the last symbol arrives. */
static inline weft_time_t toy_end(const struct weft_frame *f)
{
	return f->time + f->words * f->word_fs;
}

/* ---- one end of a line (line.c) ---- */

struct toy_line {
	struct weft_comp *comp;
	struct weft_port *port;
	const struct weft_clock *clk;
	const char *stage; /* stage of a message while its packet arrives */
	/* State for sending. `far_slots` is the number of slots of the other
	 * end's queue, `sent` the number of packets sent, and `far_freed` the
	 * number of slots that the last credit reported as emptied. The last
	 * two are modulo 256. */
	uint32_t far_slots;
	uint8_t sent, far_freed;
	weft_time_t idle; /* time from which the line is idle */
	/* State for receiving. `queue` holds the packets, oldest first.
	 * `expect` is the number of the next packet, and `freed` the number of
	 * slots emptied so far, both modulo 256. */
	struct weft_frame *queue[TOY_SLOTS];
	uint32_t slots, head, n;
	uint8_t expect, freed;
	bool owes; /* a credit is due */
};

/* Counters of a line. A class with lines lists them first, and its own counters
 * from TOY_C_OWN on. */
enum {
	TOY_C_SENT,
	TOY_C_RECEIVED,
	TOY_C_DAMAGED,
	TOY_C_LOST,
	TOY_C_OVERFLOW,
	TOY_C_OWN
};
/* clang-format off */
#define TOY_LINE_COUNTERS                                                      \
	[TOY_C_SENT] = { "sent", "packets", "packets sent" },                  \
	[TOY_C_RECEIVED] = { "received", "packets", "good packets received" }, \
	[TOY_C_DAMAGED] = { "damaged", "frames",                               \
			    "frames dropped: wrong CRC, code or length" },     \
	[TOY_C_LOST] = { "lost", "packets", "gaps in packet numbers" },        \
	[TOY_C_OVERFLOW] = { "overflow", "packets",                            \
			     "packets that came twice, or without a slot" }
/* clang-format on */

/* Makes port number `port` of c an end of a line. Called by ops.init after clk
 * and stage are set. */
void toy_line_init(struct toy_line *l, struct weft_comp *c, uint32_t port,
		   uint32_t slots);
/* Starts the line. Called by ops.start, when all lines are connected. */
void toy_line_start(struct toy_line *l);
void toy_line_fini(struct toy_line *l);
/* Takes frame f. Called by ops.arrive. */
void toy_line_arrive(struct toy_line *l, struct weft_frame *f);
/* Returns the number of packets that may be sent. */
uint32_t toy_line_room(const struct toy_line *l);
/* Sends f now. The line must be idle and have room. */
void toy_line_send(struct toy_line *l, struct weft_frame *f);
/* Sends the credit that is due, if the line is idle. Returns false if the line
 * is busy. */
bool toy_line_credit(struct toy_line *l);
/* Returns the oldest packet of the queue, or NULL. */
struct weft_frame *toy_line_head(const struct toy_line *l);
/* Takes the oldest packet out of the queue. Its slot counts as free at once,
 * because the packet leaves at the rate at which the next one arrives. */
struct weft_frame *toy_line_take(struct toy_line *l);

#endif
