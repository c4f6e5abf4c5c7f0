/* SPDX-License-Identifier: Apache-2.0 */
/* Program forth.rounds: state and functions that its two files share. See
 * lossy_rounds.c. */
#ifndef SYSTEMS_FORTH_PROGRAMS_LOSSY_ROUNDS_H
#define SYSTEMS_FORTH_PROGRAMS_LOSSY_ROUNDS_H

#include "programs/program.h"
#include "weft/forth.h"

enum {
	ROUNDS_NODES = 64,
	/* size of a list of missing messages in qwords: a tag, the number n,
	 * and n indices */
	ROUNDS_LIST = 64,
	ROUNDS_GROUPS = 64,
};

/* Plan of a node: the messages that the node sends in every round. Each node
 * knows the plans of all nodes. */
struct rounds_plan {
	/* number of messages, their sizes in qwords, messages per
	 * notification */
	uint32_t count, min, max, notify;
	uint64_t to;	       /* mask of destinations */
	weft_phys_t rx, lists; /* its memory */
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
	/* slots for each pair of nodes, and bytes of a slot */
	uint32_t slots, slot_bytes;
	uint8_t *tx, *rx; /* tx[slot], rx[source][slot] */
	weft_phys_t tx_phys;
	/* ask: lists of this node for each source. asked: lists of other nodes
	 * for this node */
	uint64_t *ask, *asked;
	weft_phys_t ask_phys;
	/* step: number of barriers so far. seen: number of notifications so
	 * far */
	uint32_t round, step, seen;
	/* losses that the NIC has counted, modulo 2^10 */
	uint32_t losses;
	/* results */
	uint64_t sent, received, missing, late, reported, resent, recovered;
	uint64_t lists, lists_lost, notes, asked_notes;
	bool failed;
};

/* Message `index` of the round from src to dst. */
struct rounds_msg {
	uint64_t base; /* start value of the data pattern */
	uint32_t qwords;
	uint64_t at; /* offset of the slot in rx */
};
/* Returns pattern, size and slot of a message. */
struct rounds_msg rounds_msg(const struct rounds *t, uint32_t src, uint32_t dst,
			     uint32_t index);
/* Returns whether the slot of message `index` of src holds the right data. */
bool rounds_here(const struct rounds *t, uint32_t src, uint32_t index);
/* Posts a transfer. Waits up to `patience` while its request queue is full. */
void rounds_post(struct rounds *t, struct weft_forth_desc d);
/* Adds to `notes` the notifications that have arrived since the last call. */
void rounds_count_notes(struct rounds *t);
/* Waits until the transfers of all nodes have departed, and then for the time
 * `settle`. A message that has not arrived by then counts as lost. */
void rounds_settle(struct rounds *t);

/* lossy_rounds_resend.c: requests and resends missing messages. */
/* Adds a missing message to the list for its source. */
void rounds_ask(struct rounds *t, uint32_t src, uint32_t index);
/* Sends lists and answers lists until no message is missing on any node, but at
 * most `attempts` times. */
void rounds_recover(struct rounds *t, uint64_t missing);

#endif
