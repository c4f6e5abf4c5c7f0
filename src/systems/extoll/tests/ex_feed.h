/* SPDX-License-Identifier: Apache-2.0 */
/* One EXTOLL crossbar whose nine ports all lead to a test component. The
 * component sends streams of packets into it, as fast as lines and credits
 * allow, and takes the packets that leave. */
#ifndef EXTOLL_TESTS_EX_FEED_H
#define EXTOLL_TESTS_EX_FEED_H

#include "systems/extoll/network/cell_channel.h"
#include "systems/extoll/network/crossbar.h"

enum { FEED_FLOWS = 64, FEED_FLITS = 16 };

struct feed_flow {
	uint8_t in, out, vc;
	uint8_t cells; /* of a packet */
	uint8_t flits; /* flits of a cell; 0 = 16 */
	/* number of nibbles of the route: `out`, then internal port 0. The
	 * value 0 means 2 */
	uint8_t hops;
	bool table;		  /* table routing: destination node `out` */
	uint64_t limit;		  /* packets to send; 0 = no end */
	uint64_t sent;		  /* packets begun */
	uint64_t cells_sent, got; /* cells */
	uint64_t got_packets;
	/* inside */
	uint32_t at;
	struct weft_frame *pkt;
};

struct feed {
	struct weft_comp *comp;
	struct weft_clock clock;
	uint32_t width;
	struct cell_channel ep[EX_PORTS];
	uint64_t armed[EX_PORTS];
	struct feed_flow flow[FEED_FLOWS];
	uint32_t n_flows, turn[EX_PORTS];
	uint8_t keep[EX_PORTS]; /* mask of VCs whose cells are never released */
	uint32_t bad;		/* cells out of order */
	uint32_t most;		/* most slots ever in use at an end */
};

struct bench {
	struct weft_sim *sim;
	struct weft_comp *x;
	struct extoll_xbar *xb;
	struct feed *f;
};

void bench_new(struct bench *b, const char *width);
/* Makes a crossbar whose ports 3 and 4 are joined by a cable. The internal
 * ports stay open. */
void bench_new_looped(struct bench *b, const char *width);
struct feed_flow *bench_flow(struct bench *b, uint32_t in, uint32_t out,
			     uint32_t vc, uint32_t cells);
void bench_start(struct bench *b);
/* Runs up to this cycle, and checks meanwhile that no input holds too many
 * cells. */
void bench_run(struct bench *b, uint64_t cycle);
void bench_free(struct bench *b);

#endif
