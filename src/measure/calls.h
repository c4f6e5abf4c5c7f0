/* SPDX-License-Identifier: Apache-2.0 */
/* What the processes of a job did: time in each call, messages from rank to
 * rank.  Times are simulated, in fs. */
#ifndef MEASURE_CALLS_H
#define MEASURE_CALLS_H

#include <stddef.h>
#include <stdint.h>

/* A rank: its node, what of it was measured. */
struct calls_rank {
	uint32_t rank, node;
	uint64_t start, over; /* 0, 0: all of it */
};

/* One call of a rank, or (calls_sum) of all of them. */
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
	struct calls_row *rows; /* by rank and name */
	size_t n_rows;
	struct calls_flow *flows; /* by src and dst */
	size_t n_flows;
};

void calls_rank_add(struct calls *c, const struct calls_rank *r);
void calls_row_add(struct calls *c, const struct calls_row *r);
void calls_flow_add(struct calls *c, const struct calls_flow *f);
/* By rank and name, whatever order they came in. */
void calls_sort(struct calls *c);
void calls_free(struct calls *c);

/* Calls of all ranks, most time first; `to` is empty.  max is the longest of
 * any rank. */
void calls_sum(const struct calls *c, struct calls *to);
/* From the first start to the last end, fs; 0: nothing was measured. */
uint64_t calls_measured(const struct calls *c);

#endif
