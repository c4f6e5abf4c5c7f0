/* SPDX-License-Identifier: Apache-2.0 */
/* Translates BookSim2's measurement to net.meter and to sweeps. */
#include <string.h>

#include "systems/router/import/booksim.h"

enum { SAMPLES = 3, BATCHES = 1000 };

/* Sets a measurement of three sample periods, or of fewer if max_samples does
 * not allow three. BookSim2 measures until the latency has changed little in
 * three periods. */
void booksim_measurement(struct booksim *b, FILE *f)
{
	double period = booksim_number(b, "sample_period");
	double warmup = booksim_number(b, "warmup_periods");
	double most = booksim_number(b, "max_samples");
	double samples = most - warmup < SAMPLES ? most - warmup : SAMPLES;
	const char *type = booksim_text(b, "sim_type");

	if (booksim_batch(b)) {
		fprintf(f, "  net: { warmup: 0 }\n");
		return;
	}
	if (strcmp(type, "latency") && strcmp(type, "throughput"))
		booksim_cannot(b, "sim_type",
			       "BookSim2 has none of this name: latency would "
			       "do");
	if (period < 1)
		booksim_cannot(b, "sample_period", "1 or more would do");
	if (samples < 1)
		booksim_cannot(b, "max_samples",
			       "the warm-up takes all samples: %.0f would do",
			       warmup + SAMPLES);
	if (warmup < 1)
		fprintf(f, "  net: { detect: yes, measure: %.0f }\n",
			samples * period);
	else
		fprintf(f, "  net: { warmup: %.0f, measure: %.0f }\n",
			warmup * period, samples * period);
}

/* BookSim2 runs batch_count batches one after another in one network, which is
 * empty in between. */
void booksim_repeat(struct booksim *b, FILE *f)
{
	double n = booksim_number(b, "batch_count");
	double seed = booksim_number(b, "seed");

	if (!booksim_batch(b) || n == 1)
		return;
	if (n < 1 || n > BATCHES) {
		booksim_cannot(b, "batch_count", "1 to %d would do", BATCHES);
		return;
	}
	fprintf(f, "sweep:\n  seed: [");
	for (double i = 0; i < n; i++)
		fprintf(f, "%s%.0f", i > 0 ? ", " : "", seed + i);
	fprintf(f, "]\n");
	booksim_remark(b, "batch_count",
		       "each batch is a run with a seed of its own");
}
