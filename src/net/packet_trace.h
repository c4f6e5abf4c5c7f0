/* SPDX-License-Identifier: Apache-2.0 */
/* Packets at given times, from a text file:
 *
 *	# cycle source destination bytes [id [id,id..]]
 *	0     0  5   64   a
 *	100   5  0   4096 b   a
 *	100   7  0   8
 *
 * The last column names packets that must have arrived before this one is
 * sent; they stand above it, so nothing waits for itself.  `-` is no id, or
 * nothing to wait for. */
#ifndef NET_PACKET_TRACE_H
#define NET_PACKET_TRACE_H

#include "weft/types.h"

struct trace_pkt {
	uint64_t cycle;
	uint32_t src, dst, bytes;
	uint32_t deps;	/* packets it waits for, */
	uint32_t wait;	/* .. and those of them that have not come */
	uint32_t first; /* in trace.next: those that wait for it .. */
	uint32_t n;	/* .. so many */
};

struct trace {
	struct trace_pkt *pkt;
	uint32_t n;
	uint32_t *next;	 /* dependants, by the packet they wait for */
	uint32_t *order; /* packets by source, then cycle, then line */
	uint32_t *from;	 /* [source], and one behind: places in order */
	uint32_t nodes;
};

/* For so many nodes, of packets of up to bytes_max.  NULL with "FILE:LINE: what
 * is wrong". */
struct trace *trace_load(const char *path, uint32_t nodes, uint32_t bytes_max,
			 struct weft_err *err);
struct trace *trace_parse(const char *label, const char *text, size_t len,
			  uint32_t nodes, uint32_t bytes_max,
			  struct weft_err *err);
void trace_free(struct trace *t);

#endif
