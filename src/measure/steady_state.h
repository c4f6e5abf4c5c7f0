/* SPDX-License-Identifier: Apache-2.0 */
/* Observations of a run in order: where the beginning ends (MSER-5: White,
 * Cobb and Spratt, 2000), and how sure the mean of the rest is (batch means).
 *
 * Batches of 5 observations; when all are used two become one, so memory is
 * bounded and an observation costs a few operations. */
#ifndef MEASURE_STEADY_STATE_H
#define MEASURE_STEADY_STATE_H

#include <stdbool.h>
#include <stdint.h>

enum { STEADY_BATCHES = 1024, STEADY_FIRST = 5, STEADY_ENOUGH = 64 };

struct steady {
	double mean[STEADY_BATCHES];
	double sum;	/* of the batch being filled */
	uint64_t count; /* in it */
	uint64_t per;	/* observations of a batch */
	uint32_t n;	/* whole batches */
};

void steady_init(struct steady *s);
void steady_add(struct steady *s, double v);

/* Batches to leave out: the number for which the mean of the others is surest.
 * In the second half of the data it says that the run is too short. */
uint32_t steady_cut(const struct steady *s);
/* The beginning is over: enough batches, and the cut lies in the first half. */
bool steady_reached(const struct steady *s);
/* Mean of the batches from `first` on and half the width of its 95 %
 * confidence interval; false: fewer than 10 batches. */
bool steady_interval(const struct steady *s, uint32_t first, double *mean_p,
		     double *half_p);

#endif
