/* SPDX-License-Identifier: Apache-2.0 */
/* A common endpoint without a NIC: a message enters the queue of the other node
 * MOCK_LATENCY later. The endpoint breaks one rule of weft/ep.h if the test
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
	MOCK_ROOM = 11, /* fault REG_KEEPS: regions that fit */
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
	/* as PUT_LATE, but only for bytes behind the first MOCK_HEAD */
	PUT_TAIL,
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
	GET_AGAIN, /* a get ends a second time, with an error */
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
	REG_KEEPS, /* closed regions need room as well */
	DEREG_SAYS,
	DEREG_TWICE,
	WAIT_EARLY,
	OPEN_SAYS,
};

struct mock_event {
	struct weft_ep_event ev;
	weft_time_t at;
	/* faults PUT_LATE and PUT_TAIL: target, source and length of the late
	 * copy */
	void *to;
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
	struct weft_ep_attr attr; /* attributes given to the open call */
	struct mock_event q[MOCK_QUEUE];
	uint32_t n;
	struct mock_region reg[MOCK_REGIONS];
	uint32_t calls; /* calls counted for mock_net.busy */
	/* Numbers of calls and operations so far. */
	uint32_t regs, deregs, datas, puts, gets, fadds, cswaps, opens, closes;
	uint32_t unreleased, most_unreleased, out_of_order;
	uint64_t last; /* imm of the last message given to the program */
	/* polled: time of the latest poll that gave an event. longest: longest
	 * time from the poll of a message to its release. */
	weft_time_t polled, longest;
	size_t lengths[MOCK_LENGTHS]; /* lengths of the first messages */
	uint32_t n_lengths;
	/* messages that are not empty: number sent to each node, shortest and
	 * longest length */
	uint32_t to[NODES];
	size_t shortest, longest_msg;
	weft_time_t first; /* time at which the first message was sent */
	weft_time_t quiet; /* the longest time between two events */
};

struct mock_net {
	/* settings of the test */
	enum mock_fault fault;
	uint32_t caps;
	bool late; /* errors arrive as events, and calls succeed */
	bool busy; /* each second call returns -EAGAIN */
	/* run */
	bool once;		/* the fault that occurs once has occurred */
	struct mock_event kept; /* SEND_ORDER */
	struct mock_end *kept_to;
	/* one element more than a run has nodes */
	struct mock_end end[NODES + 1];
};
extern struct mock_net mock;

/* Runs a program class on `nodes` nodes, with parameters `set`: "name=value" up
 * to NULL. The caller frees the bench. */
struct bench *mock_run(const struct weft_class *cls, uint32_t nodes,
		       const char *const *set);
/* Returns a metric, which must exist. */
double mock_metric(struct bench *b, const char *name);
/* Returns true if a check failed with this text. */
bool mock_failed(struct bench *b, const char *text);

#endif
