/* SPDX-License-Identifier: Apache-2.0 */
/* A common endpoint without a NIC: messages of a node are in the queue of the
 * other node MOCK_LATENCY later. It breaks one rule of weft/ep.h if the test
 * sets a fault, and counts its calls. */
#ifndef TESTS_PROGRAMS_MOCK_EP_H
#define TESTS_PROGRAMS_MOCK_EP_H

#include "../host/node.h"
#include "weft/ep.h"

#define MOCK_LATENCY (2 * WEFT_US)
#define MOCK_CAPS                                                              \
	(WEFT_EP_MSG | WEFT_EP_PUT | WEFT_EP_GET | WEFT_EP_FADD | WEFT_EP_CSWAP)

enum {
	MOCK_QUEUE = 256,
	MOCK_REGIONS = 16,
	MOCK_LENGTHS = 8,
	MOCK_MAX = 4096,
	MOCK_HEAD = 256,
};

enum mock_fault {
	MOCK_NONE,
	SEND_SAYS, /* an error */
	SEND_ORDER,
	SEND_SHORT,
	SEND_DAMAGE,
	SEND_LOST,
	SEND_FORGED,
	SEND_LONG, /* accepts messages longer than max_msg */
	SEND_NOBODY,
	PUT_SAYS,
	PUT_DAMAGE,
	PUT_LATE, /* reads the buffer after giving it back */
	PUT_TAIL, /* ... bytes behind the first MOCK_HEAD */
	PUT_IMM,
	PUT_SILENT,
	PUT_BEYOND, /* accepts puts outside the region */
	PUT_KEY,
	GET_SAYS,
	GET_STATUS,
	GET_DAMAGE,
	GET_OVER,
	GET_BEYOND,
	GET_GONE,
	FADD_NONE,
	FADD_TWICE,
	FADD_STATUS,
	FADD_BEYOND,
	FADD_UNALIGNED,
	CSWAP_ALWAYS,
	CSWAP_NEVER,
	CSWAP_STATUS,
	REG_SAYS,
	REG_LEN,
	DEREG_SAYS,
	DEREG_TWICE,
	WAIT_EARLY,
	OPEN_SAYS,
};

struct mock_event {
	struct weft_ep_event ev;
	weft_time_t at;
	void *to; /* PUT_LATE, PUT_TAIL: target, source, length */
	const void *from;
	size_t bytes;
};

struct mock_region {
	const uint8_t *p;
	size_t len;
	bool there;
};

struct mock_end {
	struct weft_ep ep;
	uint32_t node;
	struct weft_ep_attr attr; /* of the open */
	struct mock_event q[MOCK_QUEUE];
	uint32_t n;
	struct mock_region reg[MOCK_REGIONS];
	uint32_t calls; /* for busy */
	/* Calls and operations so far. */
	uint32_t regs, deregs, datas, puts, gets, fadds, cswaps, opens, closes;
	uint32_t unreleased, most_unreleased, out_of_order;
	uint64_t last; /* imm of the last message given to the program */
	weft_time_t polled, longest;  /* between poll and release */
	size_t lengths[MOCK_LENGTHS]; /* of the first messages */
	uint32_t n_lengths;
	/* of messages that have contents */
	uint32_t to[NODES];
	size_t shortest, longest_msg;
	weft_time_t first; /* when the first one was sent */
	weft_time_t quiet; /* the longest time between two events */
};

struct mock_net {
	/* for the test to set */
	enum mock_fault fault;
	uint32_t caps;
	bool late; /* an error is reported by an event */
	bool busy; /* each second call says -EAGAIN */
	/* run */
	bool once;		/* an action that happens once has happened */
	struct mock_event kept; /* SEND_ORDER */
	struct mock_end *kept_to;
	struct mock_end end[NODES + 1]; /* one more than the run has nodes */
};
extern struct mock_net mock;

/* Runs a program class on that many nodes, with parameters "name=value" up to
 * NULL. The caller frees the bench. */
struct bench *mock_run(const struct weft_class *cls, uint32_t nodes,
		       const char *const *set);
/* A metric that must be there. */
double mock_metric(struct bench *b, const char *name);
/* Returns true if a check failed with this text. */
bool mock_failed(struct bench *b, const char *text);

#endif
