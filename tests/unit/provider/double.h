/* SPDX-License-Identifier: Apache-2.0 */
/* An attachment without a simulator: several "processes" in one.  Each
 * weft_att_open gives the next of them until double_reset. */
#ifndef TESTS_PROVIDER_DOUBLE_H
#define TESTS_PROVIDER_DOUBLE_H

#include "weft/attach.h"

enum { DOUBLE_NODES = 4 };

void double_reset(void);
/* The transport of a node says -EAGAIN to the next n sends and puts. */
void double_full(unsigned node, unsigned n);
/* A node dies; the others are notified. */
void double_die(unsigned node);
/* A message that no provider would send. */
void double_forge(unsigned from, unsigned to, const void *msg, size_t len);
/* The next weft_att_open gives this one: a process opens everything again. */
void double_next(unsigned node);
unsigned double_regs(unsigned node);
/* Puts and gets that a node has done. */
unsigned double_direct(unsigned node);
/* Calls of all nodes to their attachments since double_reset, every byte of
 * it: the same calls give the same number. */
uint64_t double_log(void);
/* A call costs this from now on, and time is simulated. */
void double_cost(uint64_t cost);
/* Time that a node was charged; number of times that it made progress. */
uint64_t double_charged(unsigned node);
unsigned double_got_on(unsigned node);
/* Of a call's statistics, by its name: how often it began, ended, was dropped
 * and was counted, and bytes. */
struct double_stat {
	char name[32];
	unsigned begun, ended, dropped, calls;
	uint64_t bytes;
};
const struct double_stat *double_stat(unsigned node, const char *name);

#endif
