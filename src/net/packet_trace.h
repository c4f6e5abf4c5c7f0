/* SPDX-License-Identifier: Apache-2.0 */
/* Packets at given times, from a text file:
 *
 *	# cycle source destination bytes [id [id,id..]]
 *	0     0  5   64   a
 *	100   5  0   4096 b   a
 *	100   7  0   8
 *
 * The last column names packets that must have arrived before this one is sent.
 * They stand above it, so that no packet can wait for itself. A `-` stands for
 * an empty id or an empty list. */
#ifndef NET_PACKET_TRACE_H
#define NET_PACKET_TRACE_H

#include "weft/types.h"

struct trace_pkt {
	uint64_t cycle;
	uint32_t src, dst, bytes;
	uint32_t deps;	/* packets it depends on */
	uint32_t wait;	/* of them, not yet arrived */
	uint32_t first; /* index of its first dependant in trace.next */
	uint32_t n;	/* number of dependants */
};

struct trace {
	struct trace_pkt *pkt;
	uint32_t n;
	uint32_t *next;	 /* dependants, by the packet they wait for */
	uint32_t *order; /* packets by source, then cycle, then line */
	uint32_t *from;	 /* [source], and one behind: first place in order */
	uint32_t nodes;
};

/* Read packets of up to bytes_max bytes for a network of `nodes` nodes. Return
 * a trace to pass to trace_free(), or NULL with "FILE:LINE: message".
 * trace_parse() keeps no reference to text. */
struct trace *trace_load(const char *path, uint32_t nodes, uint32_t bytes_max,
			 struct weft_err *err);
struct trace *trace_parse(const char *label, const char *text, size_t len,
			  uint32_t nodes, uint32_t bytes_max,
			  struct weft_err *err);
/* Frees t, which may be NULL. */
void trace_free(struct trace *t);

#endif
