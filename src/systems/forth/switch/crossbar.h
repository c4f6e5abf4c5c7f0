/* SPDX-License-Identifier: Apache-2.0 */
/* Internals of the buffered crossbar (forth.md 8), for its files and tests. */
#ifndef SYSTEMS_FORTH_SWITCH_CROSSBAR_H
#define SYSTEMS_FORTH_SWITCH_CROSSBAR_H

#include <stddef.h>

#include "systems/forth/link/port.h"
#include "weft/trace.h"

#define FORTH_XBAR_PORTS_MAX 64
/* route of unknown flows, whose packets are dropped */
#define FORTH_XBAR_NOWHERE 255

/* A crosspoint: a FIFO of frames, linked by frame.next. u[6] of a frame is the
 * cycle at which it becomes visible to the output scheduler. u[7] is the cycle
 * at which the word before its header arrived. Both are cycles of the output's
 * clock. */
struct forth_xbar_xp {
	struct weft_frame *head, *tail;
	uint64_t ready;	      /* u[6] of the first frame */
	uint64_t drain;	      /* start of the last departure, a cycle */
	uint32_t drain_words; /* FIFO words at that start */
	uint32_t words;	      /* FIFO words of all packets queued */
	/* credit charge of all packets queued, never above the capacity */
	uint32_t charged;
	uint32_t high; /* high-water mark, words */
};

/* A port. Its input half is the receiver of the link end: the credits of that
 * receiver act as the credit scheduler. Its output half is the scheduler of the
 * column and the transmitter of the link end. */
struct forth_xbar_port {
	struct forth_port link;
	/* output scheduler */
	/* inputs whose crosspoint of this column holds packets, one bit each */
	uint64_t busy;
	/* cycle at which the line is free after the last packet */
	uint64_t end;
	/* earliest cycle at which the chosen packet may start */
	uint64_t begin;
	struct weft_timer timer;
	uint8_t last; /* input served last */
	/* input whose packet is chosen and waits for its start, or NOWHERE */
	uint8_t chosen;
	bool served; /* `last` and `end` are valid, because a packet has left */
	bool bottom; /* in clock domain BOTTOM */
	/* mask of the path bits that index `route` */
	uint32_t path_mask;
	const uint8_t *route; /* [path][flow] */
	/* packets dropped at the input because no route has their flow, words
	 * dropped because a crosspoint was full */
	uint64_t unknown, overflow;
} __attribute__((aligned(64)));

struct forth_xbar {
	uint32_t ports;
	uint64_t xp_bytes;
	uint32_t frame, cs_credit, min_payload;
	uint32_t xp_sync, xp_sync_same, cs_sync;
	uint32_t decode, os_decide, tx_start;
	uint32_t os_presched, os_pipe_change, os_pipe_same;
	uint32_t refresh_cc, t_crtx, t_crrx, credit_words, resync;
	uint32_t domains, budget;
	int32_t ppm_top, ppm_bottom;
	char ppm[32], routes[256];
	bool stamps, detail, crc32_complement;
	/* state of the run */
	uint8_t *route; /* [table][row][flow], see route.c */
	uint32_t tables, rows, paths;
	struct forth_xbar_port *port;
	struct forth_xbar_xp *xp; /* [output][input] */
	/* ahead: number of cycles by which the scheduler may decide on a start
	 * in advance */
	uint32_t xp_words, ahead;
	uint64_t hops;
	uint64_t bram;
};

static inline struct forth_xbar_port *forth_xbar_port_of(struct forth_port *l)
{
	return (struct forth_xbar_port *)((char *)l -
					  offsetof(struct forth_xbar_port,
						   link));
}

enum { FORTH_XBAR_CS_START, FORTH_XBAR_CS_PER_WORD };

static inline struct forth_xbar_xp *forth_xbar_xp(const struct forth_xbar *x,
						  uint32_t in, uint32_t out)
{
	return &x->xp[out * x->ports + in];
}

/* Returns the FIFO words of a packet: header, payload with its padding, body
 * CRC. */
static inline uint32_t forth_xbar_fifo_words(const struct weft_frame *f)
{
	return forth_shape_get(f).wire_len / 4 + 3;
}

/* Returns how many FIFO words of a packet have been written `n` cycles after
 * the arrival of the word before its header. In the word layout the header CRC
 * has a separate word, which is stripped. */
static inline uint32_t forth_xbar_written(const struct forth_xbar *x,
					  const struct weft_frame *f,
					  uint64_t n)
{
	uint32_t all = forth_xbar_fifo_words(f);

	if (x->frame == FORTH_WORD && n > 2)
		n--;
	return n < all ? (uint32_t)n : all;
}

#define FORTH_XBAR_COUNTERS 18
extern const struct weft_counter forth_xbar_counters[FORTH_XBAR_COUNTERS];
/* Implements ops.finish: fills the counters. */
int forth_xbar_finish(struct weft_comp *c, struct weft_err *err);
/* Implements ops.waiting: reports the words in the crosspoints of an output. */
void forth_xbar_waiting(struct weft_comp *c, uint32_t port,
			struct weft_waiting *w);

/* Routing tables. forth_xbar_route_init builds the tables from the identity and
 * the parameter `routes`, forth_xbar_route_bind assigns them to the ports,
 * forth_xbar_route implements ops.route, and forth_xbar_route_prune removes the
 * routes to a port that is not connected. */
int forth_xbar_route_init(struct weft_comp *c, struct weft_err *err);
void forth_xbar_route_bind(struct forth_xbar *x);
int forth_xbar_route(struct weft_comp *c, uint32_t in, uint32_t path,
		     const uint32_t *to, uint32_t n, struct weft_err *err);
void forth_xbar_route_prune(struct forth_xbar *x, uint32_t port);

/* Reports the words in the column of output o to listeners. */
static inline void forth_xbar_tell_queue(const struct weft_comp *c, uint32_t o)
{
	const struct forth_xbar *x = c->state;
	uint64_t words = 0;

	if (!weft_heard_kind(c, WEFT_TRACE_LEVEL))
		return;
	for (uint32_t i = 0; i < x->ports; i++)
		words += forth_xbar_xp(x, i, o)->words;
	weft_level(c, "queue", o, words, weft_now(c));
}

/* Notes that a packet entered the column of output o and is visible from
 * `ready` on. Schedules the output. */
void forth_xbar_os_notice(struct weft_comp *c, uint32_t o, uint64_t ready);
/* Handles the event of the scheduler of output o. */
void forth_xbar_os_event(struct weft_comp *c, uint32_t o);
/* Implements forth_port_ops.woken: the chosen packet has its credits and may
 * start. */
void forth_xbar_os_woken(void *own, struct forth_port *l);

#endif
