/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic over the native FORTH library: state shared by sender, receiver and
 * measurement.
 *
 * Every ordered pair of nodes has `window` slots in the receiver's memory. The
 * sender puts message s into slot s mod window. The receiver learns of messages
 * only through remote notifications. When a notification arrives, all messages
 * that were sent before the notification must be in memory. The receiver
 * returns credits by a put of one word, which counts the consumed messages. The
 * receiver uses TRAFFIC_ACKS such words in turn, and the sender takes the
 * largest of the words, because on several paths an old word may arrive last.
 * At the end each sender puts a final word with the number of its messages. */
#ifndef SYSTEMS_FORTH_PROGRAMS_TRAFFIC_H
#define SYSTEMS_FORTH_PROGRAMS_TRAFFIC_H

#include "net/pattern.h"
#include "programs/program.h"
#include "weft/forth.h"

#define TRAFFIC_NODES 128 /* flow IDs */
#define TRAFFIC_BATCH 64
#define TRAFFIC_ACKS  4

enum traffic_pattern {
	TRAFFIC_EACH,	 /* as fast as each destination takes messages */
	TRAFFIC_RR,	 /* strict round robin over all destinations */
	TRAFFIC_UNIFORM, /* random destination */
	/* some messages go to destination `hot`, the others to random
	 * destinations */
	TRAFFIC_HOTSPOT,
	TRAFFIC_PERMUTE, /* one destination per node, by a random permutation */
};

enum traffic_arrival { TRAFFIC_FIXED, TRAFFIC_POISSON, TRAFFIC_BURSTY };

/* Data that each node publishes before the start. */
struct traffic_peer {
	/* address of the peer's slots for messages of this node */
	weft_phys_t rx;
	weft_phys_t control; /* address of the peer's control words */
	uint32_t min, max;   /* qwords of the peer's messages */
	uint32_t notify; /* one message in `notify` requests a notification */
	uint64_t count;	 /* number of messages that the peer will send */
};

struct traffic_tx { /* one destination */
	uint64_t posted, quota;
	/* ring: times of messages that are due and not sent */
	weft_time_t *due;
	uint32_t head, tail;
	uint8_t *buf;
	weft_phys_t phys;
};

struct traffic_rx { /* one source */
	uint64_t got, credited, bytes;
	/* received messages that requested a notification */
	uint64_t flagged;
	uint32_t acks; /* puts that returned credits */
	bool fin;
	weft_time_t first, last;
};

struct traffic_batch { /* descriptors not yet posted */
	struct weft_forth_desc desc[TRAFFIC_BATCH];
	uint32_t n;
};

struct traffic_meas { /* counters at the start of the window */
	uint32_t out, in;
	weft_time_t at;
};

struct traffic {
	/* parameters */
	uint32_t pattern, arrival, post;
	char to[64];
	uint64_t count;
	uint64_t size, size_max;
	uint32_t window, notify, lnotify, burst;
	double load, hot_share;
	uint32_t hot;
	uint64_t link_rate;
	bool stamp, series;
	uint32_t interval;
	weft_time_t stall_from, stall_for, meas_from, meas_for, patience, drain;
	/* run */
	struct program w;
	struct weft_forth *f;
	struct traffic_peer peer[TRAFFIC_NODES];
	struct traffic_tx tx[TRAFFIC_NODES];
	struct traffic_rx rx[TRAFFIC_NODES];
	uint32_t dst[TRAFFIC_NODES], n_dst;
	struct pattern choice;
	uint32_t slot_bytes;
	uint8_t *rx_buf;
	/* control words, into which the NIC writes: notifications, then
	 * credit[ACKS][n] and fin[n] */
	uint8_t *control;
	size_t control_bytes;
	volatile uint64_t *credit, *fin;
	/* words that this node puts into the control words of its peers, in the
	 * order of control[] */
	uint64_t *word;
	weft_phys_t word_phys;
	struct traffic_batch batch;
	uint64_t generated, sent;
	bool fin_sent, picked;
	bool fin_all; /* all nodes have sent their final words */
	uint32_t pick;
	weft_time_t next; /* time at which the next message is due */
	uint32_t in_burst;
	uint32_t seen; /* remote notifications handled */
	uint32_t fins;
	uint64_t errors;
	weft_time_t t0, moved;
	/* Time of the last read of the clock. A read takes time. Therefore the
	 * program reads the clock once per iteration if the time matters (load,
	 * stamps, timed actions), otherwise only before it waits. */
	weft_time_t now;
	bool clocked;
	uint32_t step; /* index of the next timed action */
	struct weft_forth_counters total;
	struct traffic_meas meas;
	struct weft_hist *latency;
};

/* traffic_send.c */
bool traffic_send(struct traffic *t); /* returns true if it posted a message */
void traffic_flush(struct traffic *t);
void traffic_schedule(struct traffic *t);

/* traffic_receive.c */
/* Handles messages and notifications that have arrived. Returns whether any
 * notifications had arrived. */
bool traffic_receive(struct traffic *t);
/* Returns whether the final words of all peers have arrived and this node has
 * sent its own. */
bool traffic_received_all(const struct traffic *t);
/* traffic_instruments.c */
void traffic_meas_start(struct traffic *t);
void traffic_meas_end(struct traffic *t);
/* Runs the timed actions (stall, window) that are due. Returns the time of the
 * next timed action. */
weft_time_t traffic_timed(struct traffic *t);

#endif
