/* SPDX-License-Identifier: Apache-2.0 */
/* Nodes with a link, in memory and in one thread: storage libraries run on them
 * without a simulator, some thousand runs a second.
 *
 * Time passes in fake_step alone.  The link delays, loses, damages and repeats
 * as its rules say.  A put reads its memory when it departs and writes it when
 * it arrives, so that memory given back too early shows as wrong bytes. */
#ifndef TESTS_STORAGE_FAKE_H
#define TESTS_STORAGE_FAKE_H

#include "storage/link.h"
#include "weft/rng.h"

enum { FAKE_NODES = 4, FAKE_PUT = 4096 };

struct fake_rules {
	bool ordered, bytes;
	uint32_t max_put, room; /* puts and records not departed */
	/* of a million packets */
	uint32_t lost, damaged, repeated;
	uint32_t forged; /* records with a wrong field and a CRC that fits */
	bool refuses;	 /* puts to places that are not regions */
	weft_time_t delay, jitter;    /* of a packet */
	weft_time_t cut_from, cut_to; /* all packets are lost */
};

struct fake_stats {
	uint64_t packets, lost, damaged, repeated, strays;
};

extern struct fake_rules fake_rules;
extern struct fake_stats fake_stats;

/* Begins a run: time 0, no links, no packets. */
void fake_reset(uint64_t seed);
/* Frees packets and links of a run. */
void fake_end(void);
struct weft_host *fake_host(uint32_t node);
weft_time_t fake_now(void);
/* Returns a random number below n. */
uint64_t fake_below(uint64_t n);
/* Moves time to the next packet, at most to `to`, and delivers what is due. */
void fake_step(weft_time_t to);
/* Until when weft_host_sleep has put the node asleep. */
weft_time_t fake_asleep(uint32_t node);
/* Tells all other nodes that the node is gone, and loses its packets. */
void fake_gone(uint32_t node);
/* A link whose `wait` is called runs the other nodes by this function. */
extern void (*fake_others)(weft_time_t to);
/* Prints all packets. */
extern bool fake_trace;

#endif
