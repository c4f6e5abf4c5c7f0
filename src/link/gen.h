/* SPDX-License-Identifier: Apache-2.0 */
/* Inside of the traffic component: gen.c (tables, sink) and gen_src.c. */
#ifndef LINK_GEN_H
#define LINK_GEN_H

#include "link/flink.h"

enum {
	PAT_UNIFORM,
	PAT_PERMUTATION,
	PAT_HOTSPOT,
	PAT_BURSTY,
	PAT_FIXED,
	PAT_NONE
};

struct gen_item {
	uint32_t qwords;
};

struct gen_voq {
	struct gen_item *ring;
	uint32_t head, tail, mask;
	uint32_t sent;	   /* packets to this destination */
	uint32_t expected; /* number of the next one from this source */
};

struct gen {
	uint32_t node, dests, pattern, dest, backlog;
	uint64_t size, size_max, packets;
	double load, hot, burst;
	uint32_t frame, min_payload, refresh_cc, t_crtx, t_crrx, credit_words;
	uint32_t t_l2d, t_bus;
	int32_t ppm;
	uint64_t rx_bytes;
	struct weft_clock bus;
	weft_time_t hold;
	bool verify, credit_filter;
	char crystal[16];
	/* run */
	struct flink link;
	struct gen_voq *voq;
	uint64_t mask[2]; /* destinations with packets queued */
	uint32_t rr, queued;
	uint64_t made;
	double next; /* cycle of the next arrival */
	uint32_t burst_dest, burst_left;
	struct weft_slice shared;
	uint64_t bus_free; /* bus cycle */
	weft_time_t first, last;
};

enum {
	C_SENT,
	C_SENT_BYTES,
	C_RECEIVED,
	C_BYTES,
	C_DISORDER,
	C_CORRUPT,
	C_BAD_BODY,
	C_BACKPRESSURE,
	C_OVERFLOW,
	C_PARITY,
	C_HEADER_CRC,
	C_ALIGN,
	C_N
};

/* What qword k of a packet must be. */
static inline uint64_t pattern_qword(uint32_t tag, uint32_t dest, uint32_t k)
{
	uint64_t z =
		((uint64_t)tag << 32 | dest << 16 | k) + 0x9E3779B97F4A7C15ull;

	z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
	return z ^ z >> 31;
}

/* Calls gen_next when the next packet is there. */
void gen_rearm(struct gen *g);
bool gen_next(void *own, struct flink *l, struct flink_pkt *p);
void gen_sent(void *own, struct flink *l, uint64_t start, uint64_t end,
	      uint32_t shift);

#endif
