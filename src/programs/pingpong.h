/* SPDX-License-Identifier: Apache-2.0 */
/* Ping-pong between node 0 and a partner over any library.  This file brings
 * rounds, sizes, clocks, the payload and its comparison, and the results; a
 * system brings a table of operations, and parameters of its own.
 *
 *   half_rtt              metric and curve over the size: half of a round
 *                         trip, mean
 *   half_rtt_min, _max    where the clock is read in each round; a histogram
 *                         half_rtt then has all rounds
 *   latency               instead, where one node alone begins and ends an
 *                         operation: its whole time
 *   rounds                round trips of all sizes */
#ifndef PROGRAMS_PINGPONG_H
#define PROGRAMS_PINGPONG_H

#include "programs/program.h"

struct pingpong_ops;

/* First in the state of a program. */
struct pingpong {
	/* parameters */
	uint64_t count, size, size_max, step;
	uint32_t partner;
	/* set by `open` where another node than 0 begins, or no partner answers
	 */
	bool begins, alone;
	uint32_t peer;
	/* run */
	struct program w;
	const struct pingpong_ops *ops;
	uint64_t len;	  /* of a message now */
	const void *in;	  /* set by `wait`: the message that has come */
	weft_time_t last; /* the last time that was taken */
	weft_time_t time; /* of the rounds of a size that count */
	weft_time_t least, most;
	uint64_t rounds, timed;
	struct weft_hist *hist;
};

enum {
	/* The clock is read around each round; else around all of a size. */
	PINGPONG_EACH = 1,
	/* The partner reads its clock, too, and reports. */
	PINGPONG_BOTH = 2,
	/* The first round is not in the mean: caches and tables learn. */
	PINGPONG_FIRST_APART = 4,
	/* A round ahead of those of `count`, outside of all times. */
	PINGPONG_WARM = 8,
	/* The partner returns the bytes that came, not its own. */
	PINGPONG_ECHO = 16,
	/* The library or the operations mark messages, or none are marked. */
	PINGPONG_UNMARKED = 32,
	/* Other nodes do not even open. */
	PINGPONG_PAIR = 64,
};

struct pingpong_ops {
	uint32_t flags;
	/* Bytes at the beginning (a multiple of 8) and at the end that the
	 * operations write and compare themselves. */
	uint32_t head, tail;
	/* 0, or negative after a failed check. */
	int (*open)(struct pingpong *p);
	/* When the clock of a size has started (not PINGPONG_EACH). */
	void (*start)(struct pingpong *p);
	/* Before a round, outside of its time; may be NULL. */
	void (*ready)(struct pingpong *p);
	/* Sends message `seq` to the peer: pingpong_fill gives its bytes. */
	int (*send)(struct pingpong *p, uint64_t seq);
	/* Waits for the peer's, checks its length and number, sets p->in (NULL:
	 * is not compared). */
	int (*wait)(struct pingpong *p, uint64_t seq);
	/* After a round, with its message compared; may be NULL. */
	void (*done)(struct pingpong *p, uint64_t seq);
	/* After the rounds of a size, half a round trip in ns: further results;
	 * may be NULL. */
	void (*sized)(struct pingpong *p, double ns);
	void (*close)(struct pingpong *p);
};

/* The whole program, as ops.main. */
int pingpong_main(struct weft_comp *c, const struct pingpong_ops *ops);
/* Its parts: opening, whether this node does, and all sizes. */
int pingpong_open(struct pingpong *p, struct weft_comp *c,
		  const struct pingpong_ops *ops);
bool pingpong_opens(const struct pingpong *p);
int pingpong_run(struct pingpong *p);
/* The rounds of one size, p->len, with p->peer. */
int pingpong_rounds(struct pingpong *p, double *ns_p);

/* This node's message `seq` into a buffer of p->len bytes. */
void pingpong_fill(const struct pingpong *p, void *out, uint64_t seq);
/* Qword i of the message `seq` that comes. */
uint64_t pingpong_qword(const struct pingpong *p, uint64_t i, uint64_t seq);

/* clang-format off */
#define PINGPONG_PARAM(type, field, def, range, doc)                           \
	WEFT_PARAM(type, struct pingpong, field, def, range, OWN, doc)
#define PINGPONG_COUNT(count_)                                                 \
	PINGPONG_PARAM(U64, count, count_, "1..", "round trips of each size")
#define PINGPONG_SIZE(size_, sizes_)                                           \
	PINGPONG_PARAM(BYTES, size, size_, sizes_, "bytes of a message")
#define PINGPONG_SIZES(size_, sizes_, step_)                                   \
	PINGPONG_SIZE(size_, sizes_),                                          \
	PINGPONG_PARAM(BYTES, size_max, "0", "", "of the largest, 0 = only one size"), \
	PINGPONG_PARAM(BYTES, step, step_, "1..", "bytes from size to size")
#define PINGPONG_PARTNER                                                       \
	PINGPONG_PARAM(U32, partner, "1", "1..", "the node that answers node 0")
#define PINGPONG_PARAMS(count_, size_, sizes_, step_)                          \
	PINGPONG_COUNT(count_), PINGPONG_SIZES(size_, sizes_, step_),          \
	PINGPONG_PARTNER
/* clang-format on */

#endif
