/* SPDX-License-Identifier: Apache-2.0 */
/* Packets at given times, from a text file:
 *
 *	# cycle source destination bytes [id [id,id..]]
 *	0     0  5   64   a
 *	100   5  0   4096 b   a
 *	100   5  0   8    -   >b
 *
 * The last column names packets that must have arrived before this packet is
 * sent. An id after `>` names a packet of the same source that must have left.
 * All these packets must have earlier lines than this packet, so that no packet
 * can wait for itself. A `-` stands for an empty id or an empty list. */
#ifndef NET_PACKET_TRACE_H
#define NET_PACKET_TRACE_H

#include "weft/types.h"

struct trace_pkt {
	uint64_t cycle;
	uint32_t src, dst, bytes;
	uint32_t deps;	/* number of packets on which this packet depends */
	uint32_t wait;	/* number of packets on which this packet depends and
			 * which have not arrived yet */
	uint32_t first; /* index in trace.next of the packet's first
			 * dependant */
	uint32_t n;	/* number of dependants */
	/* left: index + 1 of a packet that waits until this packet has left, or
	 * 0. left_next: index + 1 of the next packet that waits for the same
	 * departure as this packet, or 0 */
	uint32_t left, left_next;
};

struct trace {
	struct trace_pkt *pkt;
	uint32_t n;
	uint32_t *next; /* indices of dependants; the dependants of one packet
			 * are adjacent, see trace_pkt.first */
	/* indices of packets ordered by source, cycle and line */
	uint32_t *order;
	/* index in `order` of the first packet of each source; from[nodes] is
	 * the number of packets */
	uint32_t *from;
	uint32_t nodes;
	/* step: step of each packet of a collective operation, or NULL in other
	 * traces; steps: number of steps */
	uint32_t *step;
	uint32_t steps;
};

/* Packet `after` waits until packet `before` has arrived, or has left. Both are
 * indices. A packet waits for one departure at most. */
struct trace_edge {
	uint32_t before, after;
	bool left;
};

/* trace_load() and trace_parse() read packets of up to bytes_max bytes for a
 * network of `nodes` nodes. Both return a trace that trace_free() frees, or
 * NULL with "FILE:LINE: message". trace_parse() keeps no reference to text. */
struct trace *trace_load(const char *path, uint32_t nodes, uint32_t bytes_max,
			 struct weft_err *err);
struct trace *trace_parse(const char *label, const char *text, size_t len,
			  uint32_t nodes, uint32_t bytes_max,
			  struct weft_err *err);
/* Returns a trace of the n packets in pkt, which trace_free() frees. The trace
 * takes ownership of pkt. dep lists the dependences between packets, and the
 * caller still owns it. */
struct trace *trace_of(struct trace_pkt *pkt, uint32_t n,
		       const struct trace_edge *dep, size_t n_deps,
		       uint32_t nodes);
/* Frees t, which may be NULL. */
void trace_free(struct trace *t);

#endif
