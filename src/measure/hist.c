/* SPDX-License-Identifier: Apache-2.0 */
/* Log-linear histogram. Each scaled value below 128 has a separate bin. The bin
 * of a larger value follows from its exponent and its seven leading bits. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "measure/hist.h"

enum { HIST_EXACT = 128, HIST_PER_OCTAVE = 64 };

static uint32_t hist_index(double scaled)
{
	uint64_t u;
	uint32_t e;

	if (scaled < 0)
		return 0;
	u = scaled >= 0x1p64 ? UINT64_MAX : (uint64_t)scaled;
	if (u < HIST_EXACT)
		return (uint32_t)u;
	e = 63 - (uint32_t)__builtin_clzll(u);
	return HIST_EXACT + (e - 7) * HIST_PER_OCTAVE +
	       ((uint32_t)(u >> (e - 6)) - HIST_PER_OCTAVE);
}

static double hist_edge_scaled(uint32_t i)
{
	uint32_t octave, step;

	if (i < HIST_EXACT)
		return i;
	octave = (i - HIST_EXACT) / HIST_PER_OCTAVE;
	step = (i - HIST_EXACT) % HIST_PER_OCTAVE;
	return ldexp(HIST_PER_OCTAVE + step, (int)octave + 1);
}

void hist_init(struct hist *h, double scale)
{
	assert(scale > 0 && isfinite(scale));
	*h = (struct hist){ .scale = scale };
}

void hist_fini(struct hist *h)
{
	free(h->bin);
	*h = (struct hist){ 0 };
}

void hist_add(struct hist *h, double v)
{
	uint32_t i;

	assert(!isnan(v));
	i = hist_index(v * h->scale);
	if (i >= h->n_bins) {
		uint32_t n = (i / HIST_PER_OCTAVE + 1) * HIST_PER_OCTAVE;

		h->bin = reallocarray(h->bin, n, sizeof(*h->bin));
		if (!h->bin)
			abort();
		memset(h->bin + h->n_bins, 0,
		       (n - h->n_bins) * sizeof(*h->bin));
		h->n_bins = n;
	}
	h->bin[i]++;
	h->min = h->count ? fmin(h->min, v) : v;
	h->max = h->count ? fmax(h->max, v) : v;
	h->count++;
	h->sum += v;
	h->sum2 += v * v;
}

double hist_mean(const struct hist *h)
{
	return h->count ? h->sum / (double)h->count : 0;
}

double hist_stddev(const struct hist *h)
{
	double n = (double)h->count, var;

	if (h->count < 2)
		return 0;
	var = (h->sum2 - h->sum * h->sum / n) / (n - 1);
	return var > 0 ? sqrt(var) : 0;
}

double hist_percentile(const struct hist *h, double p)
{
	double rank = ceil(p / 100 * (double)h->count);
	uint64_t seen = 0;

	if (!h->count)
		return 0;
	if (rank <= 1)
		return h->min;
	if (rank >= (double)h->count)
		return h->max;
	for (uint32_t i = 0; i < h->n_bins; i++) {
		seen += h->bin[i];
		if ((double)seen >= rank) {
			/* Values of an exact bin are known. Values of a wider
			 * bin are taken to lie at its middle. */
			double lo = hist_edge_scaled(i);

			if (i >= HIST_EXACT)
				lo = (lo + hist_edge_scaled(i + 1)) / 2;
			return fmax(h->min, fmin(h->max, lo / h->scale));
		}
	}
	return h->max;
}

double hist_edge(const struct hist *h, uint32_t i)
{
	return hist_edge_scaled(i) / h->scale;
}
