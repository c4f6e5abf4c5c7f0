/* SPDX-License-Identifier: Apache-2.0 */
/* Program ep.conformance: declarations that its files share. */
#ifndef PROGRAMS_EP_CONFORMANCE_H
#define PROGRAMS_EP_CONFORMANCE_H

#include "host/process_memory.h"
#include "programs/endpoint_program.h"

#define EC_AREA	    16384 /* bytes of each source's area in each region */
#define EC_COUNTERS 64	  /* bytes for atomics, at the start of a region */
#define EC_NODES    64
#define EC_EXTRA    65536 /* bytes for regions that tests open and close */
#define EC_AREAS    4

/* Purpose of a message, in imm[63:56]. */
enum conformance_tag { EC_BARRIER = 1, EC_DATA, EC_ACK };

struct conformance_op { /* ctx of an operation, with its result */
	bool done;
	int status;
	uint64_t result;
};

struct conformance_area {
	uint8_t *p, *shadow;
	size_t len;
};

struct ec {
	/* Parameters: */
	uint32_t messages, puts, gets, atomics, max_msg, rx_slots, eager_max;
	uint32_t group, regs;
	bool use_irq, far;
	weft_time_t stuck, turn, lag, quiet, span;
	char test[32];
	/* State of the run: */
	struct program w;
	struct weft_ep *ep;
	const char *name;
	uint8_t *region;
	struct weft_ep_mr mr;
	uint64_t raddr[EC_NODES], rkey[EC_NODES];
	uint8_t *pinned, *heap;			/* buffers of EC_AREA + 64 bytes
						 * each */
	uint8_t *shadow;			/* expected content of
						 * `region` */
	uint8_t *extra;				/* memory of EC_EXTRA bytes for
						 * regions */
	struct conformance_area area[EC_AREAS]; /* memory that the endpoint
						 * knows */
	struct weft_far_owner owner;
	/* Events: */
	uint32_t barrier, arrived[2];
	uint64_t next[EC_NODES]; /* number of the next data message from each
				  * node */
	uint64_t acks, sent, sends, done_sends;
	uint32_t owed[EC_NODES];      /* acknowledgements that each node has to
				       * get */
	weft_time_t slow;	      /* delay of a slow receiver for each
				       * message */
	struct weft_ep_event held[8]; /* messages that were not released yet */
	uint32_t n_held, hold;
	struct conformance_op ops[64]; /* operations, used in a ring by
					* conformance_ops */
	uint32_t next_op;
	weft_time_t alive; /* time of the last event */
	bool dead;	   /* no events arrive any more, so the tests give up */
};

struct conformance_test {
	const char *name;
	uint32_t caps; /* capabilities that the test needs */
	void (*run)(struct ec *e);
};
extern const struct conformance_test
	conformance_tests[]; /* ended by name == NULL */

/* Handles events. With `block` it waits for one. Returns false if the tests
 * have given up. */
bool conformance_serve(struct ec *e, bool block);
/* Handles events until op has ended. Sets the status of op to -ETIMEDOUT if the
 * tests give up. */
void conformance_wait(struct ec *e, struct conformance_op *op);
/* Returns n consecutive zeroed operations. They are not reused soon, because a
 * faulty endpoint may complete an operation twice or late. */
struct conformance_op *conformance_ops(struct ec *e, uint32_t n);
/* Exchanges messages over the endpoint until all nodes have called this
 * function. */
void conformance_barrier(struct ec *e);
/* Returns a random number in [0, below). */
uint64_t conformance_random(struct ec *e, uint64_t below);
/* Returns the immediate value of a message. */
uint64_t conformance_imm(enum conformance_tag tag, uint64_t val);
/* Writes the out-of-band name "ec<group>.<what>" to `key`. */
void conformance_key(const struct ec *e, const char *what, char *key, size_t n);

/* ep_conformance_memory.c */
/* Allocates all buffers. Returns 0 or -ENOMEM. conformance_memory_free frees
 * them. */
int conformance_memory(struct ec *e);
/* Frees all buffers. */
void conformance_memory_free(struct ec *e);
/* Returns the address that the endpoint uses for p. */
void *conformance_at(const struct ec *e, const void *p);
/* Test: opens and closes many regions. */
void conformance_regs(struct ec *e);
/* Test: a closed region refuses access. */
void conformance_dereg(struct ec *e);

#define EC_EXPECT(e, cond, ...)                                                \
	do {                                                                   \
		if (!(cond))                                                   \
			weft_check_failed((e)->w.c, __VA_ARGS__);              \
	} while (0)

#endif
