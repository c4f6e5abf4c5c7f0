/* SPDX-License-Identifier: Apache-2.0 */
/* Ping-pong between node 0 and a partner over any library. The common part has
 * rounds, sizes, clocks, the payload and its comparison, and the results. A
 * system adds a table of operations, and its own parameters.
 *
 *   half_rtt              mean of half a round trip, as a metric and as a curve
 *                         over the size
 *   half_rtt_min, _max    extremes of half a round trip with PINGPONG_EACH,
 *                         which also writes a histogram half_rtt of all rounds
 *   latency               time of a whole operation, in place of half_rtt, if
 *                         one node alone starts and ends the operation
 *   rounds                round trips of all sizes */
#ifndef PROGRAMS_PINGPONG_H
#define PROGRAMS_PINGPONG_H

#include "programs/program.h"

struct pingpong_ops;

/* First member of the state of a ping-pong program. */
struct pingpong {
	/* Parameters: */
	uint64_t count, size, size_max, step;
	uint32_t partner;
	/* `open` sets `begins` if a node other than 0 starts the rounds, and
	 * `alone` if no partner answers. */
	bool begins, alone;
	uint32_t peer;
	/* State of the run: */
	struct program w;
	const struct pingpong_ops *ops;
	uint64_t len;	  /* bytes of the current messages */
	const void *in;	  /* message that `wait` has received */
	weft_time_t last; /* time of the last measurement */
	weft_time_t time; /* sum over the counted rounds of a size */
	weft_time_t least, most;
	uint64_t rounds, timed;
	struct weft_hist *hist;
};

enum {
	/* The time of each round is measured. Without this flag the time of all
	 * rounds of a size is measured. */
	PINGPONG_EACH = 1,
	/* The partner reads its clock and reports its own results, too. */
	PINGPONG_BOTH = 2,
	/* The mean leaves out the first round, because caches and tables are
	 * cold then. */
	PINGPONG_FIRST_APART = 4,
	/* One untimed round runs before the rounds of the first size. */
	PINGPONG_WARM = 8,
	/* The partner returns the bytes that it received instead of its own. */
	PINGPONG_ECHO = 16,
	/* The program does not mark sent and received messages, because the
	 * library marks them or no marks are wanted. */
	PINGPONG_UNMARKED = 32,
	/* Nodes other than node 0 and its partner do not open the library. */
	PINGPONG_PAIR = 64,
};

struct pingpong_ops {
	uint32_t flags;
	/* Bytes at the start (a multiple of 8) and at the end of a message that
	 * the operations of this table write and compare. The common part
	 * ignores these bytes. */
	uint32_t head, tail;
	/* Opens the library. Returns 0, or negative after a failed check. */
	int (*open)(struct pingpong *p);
	/* Called when a time measurement starts: once for each size, or with
	 * PINGPONG_EACH once for each round. May be NULL. */
	void (*start)(struct pingpong *p);
	/* Called before a round, outside the measured time. May be NULL. */
	void (*ready)(struct pingpong *p);
	/* Sends message `seq` to the peer, with bytes of pingpong_fill. Returns
	 * 0, or negative after a failed check. */
	int (*send)(struct pingpong *p, uint64_t seq);
	/* Waits for the peer's message, checks its length and number, and sets
	 * p->in to the message, or to NULL if its bytes must not be compared.
	 * Returns 0, or negative after a failed check. */
	int (*wait)(struct pingpong *p, uint64_t seq);
	/* Called after the comparison of a round's message. May be NULL. */
	void (*done)(struct pingpong *p, uint64_t seq);
	/* Called after the rounds of a size, so that the program can write more
	 * metrics. `ns` is half a round trip. May be NULL. */
	void (*sized)(struct pingpong *p, double ns);
	/* Closes the library at the end of the program. */
	void (*close)(struct pingpong *p);
};

/* Runs the whole program, as ops.main. Returns 0, or negative after a failed
 * check. */
int pingpong_main(struct weft_comp *c, const struct pingpong_ops *ops);
/* Parts of pingpong_main. pingpong_open opens the library, pingpong_opens
 * returns true if this node opens it, and pingpong_run runs all sizes.
 * pingpong_open and pingpong_run return as pingpong_main does. */
int pingpong_open(struct pingpong *p, struct weft_comp *c,
		  const struct pingpong_ops *ops);
bool pingpong_opens(const struct pingpong *p);
int pingpong_run(struct pingpong *p);
/* Runs the rounds of one size, p->len, with p->peer. Returns 0 and half a round
 * trip in *ns_p, or negative after a failed check. */
int pingpong_rounds(struct pingpong *p, double *ns_p);

/* Writes this node's message `seq` into a buffer of p->len bytes. */
void pingpong_fill(const struct pingpong *p, void *out, uint64_t seq);
/* Returns qword i of the peer's message `seq`. */
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
