/* SPDX-License-Identifier: Apache-2.0 */
/* Traffic over the native FORTH library: state shared by sender, receiver and
 * measurement.
 *
 * Every ordered pair of nodes has `window` slots in the receiver's memory;
 * message s goes to slot s mod window. The receiver learns of messages only
 * through remote notifications, and at each of them everything sent before must
 * be in place. Consumed messages are acknowledged by a put of one word, into
 * TRAFFIC_ACKS words in turn, because on several paths an old one may arrive
 * last. At the end each sender puts a final word with its total. */
#ifndef SYSTEMS_FORTH_PROGRAMS_TRAFFIC_H
#define SYSTEMS_FORTH_PROGRAMS_TRAFFIC_H

#include "net/pattern.h"
#include "programs/program.h"
#include "weft/forth.h"

#define TRAFFIC_NODES 128 /* flow IDs */
#define TRAFFIC_BATCH 64
#define TRAFFIC_ACKS  4

enum traffic_pattern {
	TRAFFIC_EACH,	 /* every destination at its own pace */
	TRAFFIC_RR,	 /* strict round robin over the destinations */
	TRAFFIC_UNIFORM, /* random destination */
	TRAFFIC_HOTSPOT, /* a share to one destination, else random */
	TRAFFIC_PERMUTE, /* a random permutation of the nodes */
};

enum traffic_arrival { TRAFFIC_FIXED, TRAFFIC_POISSON, TRAFFIC_BURSTY };

/* Data that each node publishes before the start. */
struct traffic_peer {
	weft_phys_t rx;	     /* its slots for our messages */
	weft_phys_t control; /* its control words */
	uint32_t min, max;   /* qwords of its messages */
	uint32_t notify;     /* one of `notify` messages is announced */
	uint64_t count;	     /* messages it will send */
};

struct traffic_tx { /* one destination */
	uint64_t posted, quota;
	weft_time_t *due; /* ring: times of generated, unsent messages */
	uint32_t head, tail;
	uint8_t *buf;
	weft_phys_t phys;
};

struct traffic_rx { /* one source */
	uint64_t got, credited, bytes;
	uint64_t flagged; /* announced ones among them */
	uint32_t acks;	  /* credits returned */
	bool fin;
	weft_time_t first, last;
};

struct traffic_batch { /* not yet posted */
	struct weft_forth_desc desc[TRAFFIC_BATCH];
	uint32_t n;
};

struct traffic_meas { /* when the window began */
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
	/* control words: notifications, then credit[ACKS][n] and fin[n] */
	uint8_t *control;
	size_t control_bytes;
	volatile uint64_t *credit, *fin;
	uint64_t *word; /* sources of control puts, in that order */
	weft_phys_t word_phys;
	struct traffic_batch batch;
	uint64_t generated, sent;
	bool fin_sent, picked;
	bool fin_all; /* no node sends any more */
	uint32_t pick;
	weft_time_t next; /* generation of the next message */
	uint32_t in_burst;
	uint32_t seen; /* remote notifications handled */
	uint32_t fins;
	uint64_t errors;
	weft_time_t t0, moved;
	/* Reading the clock takes time. Therefore it is read once per turn, and
	 * only when the time matters (load, stamps, timed actions), otherwise
	 * before waiting. */
	weft_time_t now;
	bool clocked;
	uint32_t step; /* of the timed actions */
	struct weft_forth_counters total;
	struct traffic_meas meas;
	struct weft_hist *latency;
};

/* traffic_send.c */
bool traffic_send(struct traffic *t); /* returns true when something moved */
void traffic_flush(struct traffic *t);
void traffic_schedule(struct traffic *t);

/* traffic_receive.c */
/* Takes messages and notifications that have arrived. Returns whether there
 * were any. */
bool traffic_receive(struct traffic *t);
/* Returns whether the final words of all peers have arrived and the own ones
 * were sent. */
bool traffic_received_all(const struct traffic *t);
/* traffic_instruments.c */
void traffic_meas_start(struct traffic *t);
void traffic_meas_end(struct traffic *t);
/* Runs timed actions (stall, window). Returns the time of the next one. */
weft_time_t traffic_timed(struct traffic *t);

#endif
