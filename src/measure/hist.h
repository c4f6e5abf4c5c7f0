/* SPDX-License-Identifier: Apache-2.0 */
/* Log-linear histogram: exact below 128, then 64 bins per power of two (error
 * below 1.6 %). Count, sum, sum of squares, min and max are exact. */
#ifndef MEASURE_HIST_H
#define MEASURE_HIST_H

#include <stdint.h>

struct hist {
	uint64_t count;
	double sum, sum2, min, max;
	uint64_t *bin; /* grown on demand */
	uint32_t n_bins;
	double scale; /* factor by which values are multiplied before binning */
};

/* Starts an empty histogram. hist_fini frees its bins. */
void hist_init(struct hist *h, double scale);
void hist_fini(struct hist *h);
void hist_add(struct hist *h, double v);
/* Returns the mean, or 0 if the histogram is empty. */
double hist_mean(const struct hist *h);
double hist_stddev(const struct hist *h);
/* Returns the p-th percentile, p in 0..100, or 0 if the histogram is empty. */
double hist_percentile(const struct hist *h, double p);
/* Returns the lower edge of bin i, in unscaled units. */
double hist_edge(const struct hist *h, uint32_t i);

#endif
