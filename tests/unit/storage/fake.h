/* SPDX-License-Identifier: Apache-2.0 */
/* Fake nodes and a fake link between them, in one thread. Tests of storage
 * libraries use them in place of a simulator, because they allow thousands of
 * runs per second.
 *
 * Time passes only in fake_step(). The link delays, loses, damages and repeats
 * packets according to fake_rules. A put reads its source when it departs and
 * writes its target when it arrives. If a library frees memory too early, a
 * test therefore finds wrong bytes. */
#ifndef TESTS_STORAGE_FAKE_H
#define TESTS_STORAGE_FAKE_H

#include "storage/link.h"
#include "weft/rng.h"

enum { FAKE_NODES = 4, FAKE_PUT = 4096 };

struct fake_rules {
	bool ordered, bytes;
	/* max_put: bytes of the longest put. room: largest number of packets
	 * that may wait to depart. */
	uint32_t max_put, room;
	/* number of packets per million that are lost, damaged or repeated */
	uint32_t lost, damaged, repeated;
	/* number of records per million with a wrong field, but a right CRC */
	uint32_t forged;
	/* puts to memory outside all regions return -EINVAL */
	bool refuses;
	weft_time_t delay, jitter;    /* time of flight of a packet */
	weft_time_t cut_from, cut_to; /* all packets are lost in this time */
};

struct fake_stats {
	uint64_t packets, lost, damaged, repeated, strays;
	/* number of FLUSH records that have an offset or a length */
	uint64_t odd;
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
/* Advances the time to the arrival of the next packet, but not beyond `to`, and
 * delivers the packets that are due. */
void fake_step(weft_time_t to);
/* Returns the time until which the node sleeps in weft_host_sleep(). */
weft_time_t fake_asleep(uint32_t node);
/* Notifies all other nodes that a node has gone. Packets of that node are
 * lost. */
void fake_gone(uint32_t node);
/* Called by a link's `wait`. Runs the other nodes while the caller waits. */
extern void (*fake_others)(weft_time_t to);
/* If true, all packets are printed. */
extern bool fake_trace;

#endif
