/* SPDX-License-Identifier: Apache-2.0 */
/* Processes on the direct endpoint. Each of them runs one function. A failed
 * CHECK ends the process, and the exit status of the process is the result. */
#ifndef DIRECT_PROCESSES_H
#define DIRECT_PROCESSES_H

#include "../cmocka_all.h"

#include <stdio.h>
#include <unistd.h>

#include "attach/direct_internal.h"

enum { MAX = 8, MESSAGES = 400 };
enum { AREA = 300000 };
enum { DATA = 1, END, KEY }; /* imm */

/* State of one process. */
struct process {
	struct direct *d;
	struct weft_ep *ep;
	uint32_t me, n;
	/* ends: number of processes that have sent END. others: number of
	 * completions of this process's operations. */
	uint32_t ends, others;
	uint32_t deaths, put_ins;
	struct weft_ep_mr mr[MAX];
	uint32_t keys;
	bool no_cma;
};

#define CHECK(x)                                                               \
	do {                                                                   \
		if (!(x)) {                                                    \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__,     \
				#x);                                           \
			_exit(1);                                              \
		}                                                              \
	} while (0)

/* The simulator's side of the bench. */
struct rig {
	struct direct_hub hub;
	int sock[MAX]; /* socket of each process, or -1 after its end */
	/* far end of each socket in sock[], until its process has started */
	int theirs[MAX];
	struct pidfd who[MAX];
	int status[MAX];
};

void rig_open(struct rig *r, uint32_t nodes, uint32_t slots);
bool rig_start(struct rig *r, uint32_t i, struct process *w);
void rig_serve(struct rig *r);
uint32_t addr(const struct process *w, uint32_t i);
void pattern(uint8_t *p, size_t len, uint32_t seed);
bool is_pattern(const uint8_t *p, size_t len, uint32_t seed);
void handle(struct process *w, const struct weft_ep_event *ev);
void serve(struct process *w);
void post(struct process *w, uint32_t to, const void *p, size_t len,
	  uint32_t imm);
int finish(struct process *w);
void run(uint32_t nodes, uint32_t slots, int (*fn)(struct process *w));
struct weft_ep_event end_of(struct process *w, int ret,
			    struct weft_ep_event *ev);
void exchange(struct process *w, uint8_t *area);

#endif
