/* SPDX-License-Identifier: Apache-2.0 */
/* Attachments without a simulator: several "processes" in one process. Each
 * weft_att_open() opens the next of these "processes", until double_reset(). */
#ifndef TESTS_PROVIDER_DOUBLE_H
#define TESTS_PROVIDER_DOUBLE_H

#include "weft/attach.h"

enum { DOUBLE_NODES = 4 };

void double_reset(void);
/* Makes the transport of a node return -EAGAIN for the next n sends and
 * puts. */
void double_full(unsigned node, unsigned n);
/* Ends a node. The other nodes are notified. */
void double_die(unsigned node);
/* Sends a message that no provider would send. */
void double_forge(unsigned from, unsigned to, const void *msg, size_t len);
/* Makes the next weft_att_open() return this node, as for a process that closes
 * all objects and opens them again. */
void double_next(unsigned node);
unsigned double_regs(unsigned node);
/* Returns the number of puts and gets that a node has done. */
unsigned double_direct(unsigned node);
/* Returns a sum over every byte of the calls of all nodes since double_reset().
 * Equal calls give equal sums. */
uint64_t double_log(void);
/* Sets the cost of a call from now on, and switches simulated time on. */
void double_cost(uint64_t cost);
/* Sets max_put of all nodes. */
void double_max_put(uint32_t bytes);
/* Returns the time charged to a node. double_got_on() returns how often the
 * node made progress. */
uint64_t double_charged(unsigned node);
unsigned double_got_on(unsigned node);
/* Statistics of a call by its name: how often it began, ended and was dropped;
 * calls counted by weft_att_stat_add(), and their bytes. */
struct double_stat {
	char name[32];
	unsigned begun, ended, dropped, calls;
	uint64_t bytes;
};
const struct double_stat *double_stat(unsigned node, const char *name);

#endif
