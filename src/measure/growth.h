/* SPDX-License-Identifier: Apache-2.0 */
/* Decides whether a queue grows. Its content is sampled in equal steps of time.
 * The spread of the changes from sample to sample distinguishes random change
 * from growth.
 *
 * The content of a queue that is served as fast as it is filled is a random
 * walk: its changes cancel, and after n steps the content has moved by about
 * sqrt(n) typical changes. The content of a queue that is filled faster than it
 * is served moves by n times the mean change. A queue grows if its content has
 * moved by more than GROWTH_SURE standard errors. A queue that fills up to a
 * steady level also grows, but for a limited time: almost none of its growth
 * falls into the second half of the run.
 *
 * The length of the run need not be known, because a full array drops every
 * second sample and doubles the interval. Memory is bounded. */
#ifndef MEASURE_GROWTH_H
#define MEASURE_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

enum { GROWTH_STEPS = 32, GROWTH_ENOUGH = 8, GROWTH_SURE = 2, GROWTH_LATE = 8 };

struct growth {
	double at[GROWTH_STEPS + 1]; /* content at each sample */
	/* time of the first sample, and interval between samples */
	uint64_t first, step;
	uint32_t n; /* samples */
};

/* Starts without samples. The first sample is at time `first`, and later ones
 * follow at intervals of `step`. A step of 0 means 1. */
void growth_init(struct growth *g, uint64_t first, uint64_t step);
/* Returns the time of the next sample. */
uint64_t growth_due(const struct growth *g);
/* Adds a sample: the content of the queue at the time that growth_due
 * returned. */
void growth_look(struct growth *g, double content);
/* Returns true if the content has grown since the first sample by more than
 * chance and by more than `least`. Returns false with fewer than GROWTH_ENOUGH
 * steps, because growth cannot be distinguished from chance then. */
bool growth_found(const struct growth *g, double least);
/* Returns true if more than 1/GROWTH_LATE of the growth falls into the second
 * half of the run. */
bool growth_lasts(const struct growth *g);

#endif
