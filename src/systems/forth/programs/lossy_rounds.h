/* SPDX-License-Identifier: Apache-2.0 */
/* Program forth.rounds: state and functions that its two files share. See
 * lossy_rounds.c. */
#ifndef SYSTEMS_FORTH_PROGRAMS_LOSSY_ROUNDS_H
#define SYSTEMS_FORTH_PROGRAMS_LOSSY_ROUNDS_H

#include "programs/program.h"
#include "weft/forth.h"

enum {
	ROUNDS_NODES = 64,
	/* qwords of a list of missing messages: head, number n, indices */
	ROUNDS_LIST = 64,
	ROUNDS_GROUPS = 64,
};

/* The messages of a node in every round. Each node knows the plans of all
 * nodes. */
struct rounds_plan {
	uint32_t count, min, max, notify; /* messages; qwords */
	uint64_t to;			  /* mask of destinations */
	weft_phys_t rx, lists;		  /* its memory */
};

struct rounds {
	/* parameters */
	uint32_t rounds, count, notify, attempts;
	uint64_t size, size_max;
	char to[64];
	weft_time_t settle, patience;
	/* run */
	struct program w;
	struct weft_forth *f;
	struct rounds_plan plan[ROUNDS_NODES];
	/* number and size of the slots of each pair of nodes */
	uint32_t slots, slot_bytes;
	uint8_t *tx, *rx; /* slots; rx[source][slot] */
	weft_phys_t tx_phys;
	/* ask: our lists to each source; asked: lists of other nodes to us */
	uint64_t *ask, *asked;
	weft_phys_t ask_phys;
	uint32_t round, step, seen; /* step: of barriers */
	uint32_t losses; /* losses as the NIC counts them, modulo 2^10 */
	/* results */
	uint64_t sent, received, missing, late, reported, resent, recovered;
	uint64_t lists, lists_lost, notes, asked_notes;
	bool failed;
};

/* Message `index` of the round from src to dst. */
struct rounds_msg {
	uint64_t base; /* of the pattern */
	uint32_t qwords;
	uint64_t at; /* offset of the message's slot */
};
/* Returns pattern, place and size of a message. */
struct rounds_msg rounds_msg(const struct rounds *t, uint32_t src, uint32_t dst,
			     uint32_t index);
/* Returns whether message `index` of src has arrived. */
bool rounds_here(const struct rounds *t, uint32_t src, uint32_t index);
/* Posts a transfer. Waits up to `patience` while its request queue is full. */
void rounds_post(struct rounds *t, struct weft_forth_desc d);
/* Adds the notifications that have arrived since the last call. */
void rounds_count_notes(struct rounds *t);
/* Waits until all nodes have sent their messages and each message has arrived
 * or is lost. */
void rounds_settle(struct rounds *t);

/* lossy_rounds_resend.c: requests and resends missing messages. */
/* Adds a missing message to the list for its source. */
void rounds_ask(struct rounds *t, uint32_t src, uint32_t index);
/* Sends lists and repetitions until no message is missing on any node, at most
 * `attempts` times. */
void rounds_recover(struct rounds *t, uint64_t missing);

#endif
