/* SPDX-License-Identifier: Apache-2.0 */
/* A stream over any library: node 0 posts messages (or gets) to a partner as
 * fast as the library accepts them. The common part has count, size, clocks and
 * results. A system adds a table of operations.
 *
 *   bandwidth   MB/s, from the first post until the last message is complete,
 *               also as a curve over the size
 *   rate        messages per second in the same time. With STREAM_RECEIVED the
 *               partner measures this rate from its first message on.
 *   send_rate   messages per second of node 0's posts by node 0's clock, with
 *               STREAM_RECEIVED only */
#ifndef PROGRAMS_STREAM_H
#define PROGRAMS_STREAM_H

#include "programs/program.h"

struct stream_ops;

/* First member of the state of a stream program. */
struct stream {
	/* Parameters: */
	uint64_t count, size;
	uint32_t partner;
	/* `open` may change these two members. `flags` has bits of the enum
	 * below. `receives` is true if this node waits for messages, by default
	 * at the partner only. */
	uint32_t flags;
	bool receives;
	/* State of the run: */
	struct program w;
	const struct stream_ops *ops;
};

enum {
	/* The stream ends when the last message is complete at the partner, by
	 * the partner's clock. */
	STREAM_ARRIVAL = 1,
	/* Both ends report their own measurements. */
	STREAM_RECEIVED = 2,
	/* All nodes read the clock before and after the stream. */
	STREAM_ALL = 4,
};

struct stream_ops {
	uint32_t flags;
	const char *key; /* out-of-band name of the partner's time */
	/* Opens the library. Returns 0, or negative after a failed check. */
	int (*open)(struct stream *s);
	/* Posts message i. Returns false after a failed check. */
	bool (*post)(struct stream *s, uint64_t i);
	/* Waits until the posts are complete. May be NULL. */
	void (*finish)(struct stream *s);
	/* Waits until `n` messages have arrived. */
	void (*receive)(struct stream *s, uint64_t n);
	/* Compares the messages that were received, at node 0 and at the
	 * partner, after the clocks were read. May be NULL. */
	void (*verify)(struct stream *s);
	/* Closes the library at the end of the program. */
	void (*close)(struct stream *s);
};

/* Runs the whole program, as ops.main. Returns 0, or negative after a failed
 * check. */
int stream_main(struct weft_comp *c, const struct stream_ops *ops);

/* clang-format off */
#define STREAM_PARAM(type, field, def, range, doc)                             \
	WEFT_PARAM(type, struct stream, field, def, range, OWN, doc)
#define STREAM_COUNT(count_, doc_)                                             \
	STREAM_PARAM(U64, count, count_, "1..", doc_)
#define STREAM_SIZE(size_, sizes_, doc_)                                       \
	STREAM_PARAM(BYTES, size, size_, sizes_, doc_)
#define STREAM_PARTNER                                                         \
	STREAM_PARAM(U32, partner, "1", "", "the node that node 0 talks to")
/* clang-format on */

#endif
