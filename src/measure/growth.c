/* SPDX-License-Identifier: Apache-2.0 */
/* Growth of a queue, see growth.h. */
#include "measure/growth.h"

#include <math.h>

void growth_init(struct growth *g, uint64_t first, uint64_t step)
{
	g->first = first;
	g->step = step ? step : 1;
	g->n = 0;
}

uint64_t growth_due(const struct growth *g)
{
	return g->first + g->n * g->step;
}

void growth_look(struct growth *g, double content)
{
	g->at[g->n++] = content;
	if (g->n == GROWTH_STEPS + 1) {
		for (uint32_t i = 0; 2 * i < g->n; i++)
			g->at[i] = g->at[2 * i];
		g->n = (g->n + 1) / 2;
		g->step *= 2;
	}
}

bool growth_found(const struct growth *g, double least)
{
	uint32_t steps = g->n ? g->n - 1 : 0;
	double whole, error, sum2 = 0;

	if (steps < GROWTH_ENOUGH)
		return false;
	whole = g->at[steps] - g->at[0];
	for (uint32_t i = 0; i < steps; i++) {
		double d = g->at[i + 1] - g->at[i] - whole / steps;

		sum2 += d * d;
	}
	/* standard error of the change over all steps */
	error = sqrt(sum2 / (steps - 1) * steps);
	return whole > least && whole > GROWTH_SURE * error;
}

bool growth_lasts(const struct growth *g)
{
	uint32_t steps = g->n ? g->n - 1 : 0;

	return (g->at[steps] - g->at[steps / 2]) * GROWTH_LATE >
	       g->at[steps] - g->at[0];
}
