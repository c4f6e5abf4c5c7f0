/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the end of the warm-up of a run (MSER-5: White, Cobb and Spratt, 2000),
 * and the confidence interval of the mean after the warm-up (batch means).
 * Observations are added in the order of their times.
 *
 * A batch has 5 observations at first. When the array of batches is full, pairs
 * of neighbouring batches are merged, so that memory is bounded. */
#ifndef MEASURE_STEADY_STATE_H
#define MEASURE_STEADY_STATE_H

#include <stdbool.h>
#include <stdint.h>

enum { STEADY_BATCHES = 1024, STEADY_FIRST = 5, STEADY_ENOUGH = 64 };

struct steady {
	double mean[STEADY_BATCHES];
	double sum;	/* sum of the batch that is being filled */
	uint64_t count; /* observations in the batch that is being filled */
	uint64_t per;	/* observations per batch */
	uint32_t n;	/* number of whole batches */
};

void steady_init(struct steady *s);
/* Adds the next observation. */
void steady_add(struct steady *s, double v);

/* Returns the number of batches to leave out at the start. With this number the
 * mean of the other batches has the smallest error. If the number exceeds half
 * of the batches, the run is too short. */
uint32_t steady_cut(const struct steady *s);
/* Returns true if the warm-up is over: there are enough batches, and the cut
 * lies in the first half. */
bool steady_reached(const struct steady *s);
/* Computes the mean of the batches from `first` on and half the width of its 95
 * % confidence interval. Returns false if there are fewer than 10 batches. */
bool steady_interval(const struct steady *s, uint32_t first, double *mean_p,
		     double *half_p);

#endif
