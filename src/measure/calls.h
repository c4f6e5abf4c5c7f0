/* SPDX-License-Identifier: Apache-2.0 */
/* Time in each call of the processes of a job, and messages between ranks.
 * Times are simulated, in fs. */
#ifndef MEASURE_CALLS_H
#define MEASURE_CALLS_H

#include <stddef.h>
#include <stdint.h>

/* A rank, with its node and the interval in which it was measured. */
struct calls_rank {
	uint32_t rank, node;
	/* start and end of the interval in fs, both 0 for the whole run */
	uint64_t start, over;
};

/* Statistics of one call of a rank, or of all ranks in the result of
 * calls_sum. */
struct calls_row {
	uint32_t rank;
	char *name;
	uint64_t calls, bytes;
	uint64_t time, max;
};

struct calls_flow {
	uint32_t src, dst;
	uint64_t messages, bytes;
};

struct calls {
	struct calls_rank *ranks;
	size_t n_ranks;
	struct calls_row *rows; /* sorted by rank and name */
	size_t n_rows;
	struct calls_flow *flows; /* sorted by src and dst */
	size_t n_flows;
};

/* Each adds a copy of a rank, a call or a flow. The order of calls does not
 * matter. */
void calls_rank_add(struct calls *c, const struct calls_rank *r);
void calls_row_add(struct calls *c, const struct calls_row *r);
void calls_flow_add(struct calls *c, const struct calls_flow *f);
/* Sorts rows by rank and name, because ranks report in arbitrary order. */
void calls_sort(struct calls *c);
/* Frees all rows, but not c itself. */
void calls_free(struct calls *c);

/* Fills `to`, which must be empty, with the calls of all ranks. The call with
 * the most time is first. `max` of a row is the longest call of any rank. */
void calls_sum(const struct calls *c, struct calls *to);
/* Returns the time in fs from the first start to the last end, or 0 if nothing
 * was measured. */
uint64_t calls_measured(const struct calls *c);

#endif
