/* SPDX-License-Identifier: Apache-2.0 */
/* Warm-up and confidence, see steady_state.h. */
#include "base/minmax.h"
#include "measure/steady_state.h"

#include <math.h>

enum { GROUPS = 20, GROUPS_MIN = 10 };

void steady_init(struct steady *s)
{
	s->sum = 0;
	s->count = 0;
	s->per = STEADY_FIRST;
	s->n = 0;
}

void steady_add(struct steady *s, double v)
{
	s->sum += v;
	if (++s->count < s->per)
		return;
	s->mean[s->n++] = s->sum / (double)s->per;
	s->sum = 0;
	s->count = 0;
	if (s->n == STEADY_BATCHES) {
		for (uint32_t i = 0; i < s->n / 2; i++)
			s->mean[i] = (s->mean[2 * i] + s->mean[2 * i + 1]) / 2;
		s->n /= 2;
		s->per *= 2;
	}
}

/* Searches from the last batch backwards with running sums. Ignores cuts that
 * leave only a few batches, because the mean of so few may have a small error
 * by chance. */
uint32_t steady_cut(const struct steady *s)
{
	double sum = 0, sum2 = 0, best = INFINITY;
	uint32_t cut = 0;

	for (uint32_t i = s->n; i-- > 0;) {
		double n = s->n - i, var;

		sum += s->mean[i];
		sum2 += s->mean[i] * s->mean[i];
		if (n < 5)
			continue;
		var = (sum2 - sum * sum / n) / (n * n);
		if (var <= best) {
			best = var;
			cut = i;
		}
	}
	return cut;
}

bool steady_reached(const struct steady *s)
{
	return s->n >= STEADY_ENOUGH && steady_cut(s) < s->n / 2;
}

bool steady_interval(const struct steady *s, uint32_t first, double *mean_p,
		     double *half_p)
{
	/* Student's t at 97.5 % for df = 9 to 19. GROUPS allows no larger
	 * df. */
	static const double student[] = { 2.262, 2.228, 2.201, 2.179,
					  2.160, 2.145, 2.131, 2.120,
					  2.110, 2.101, 2.093 };
	uint32_t n = s->n > first ? s->n - first : 0;
	uint32_t groups = min_of(n, GROUPS), each, df;
	double sum = 0, sum2 = 0, var, t;

	if (groups < GROUPS_MIN)
		return false;
	each = n / groups;
	for (uint32_t g = 0; g < groups; g++) {
		/* If the number of batches is not a multiple of the number of
		 * groups, the oldest batches are left out, because the oldest
		 * ones are nearest to the warm-up. */
		double v = 0;

		for (uint32_t i = 0; i < each; i++)
			v += s->mean[s->n - (g * each + i) - 1];
		v /= each;
		sum += v;
		sum2 += v * v;
	}
	var = (sum2 - sum * sum / groups) / (groups - 1);
	*mean_p = sum / groups;
	df = groups - 1;
	t = df < 9 + sizeof(student) / sizeof(student[0]) ? student[df - 9]
							  : 1.960;
	*half_p = t * sqrt(var > 0 ? var / groups : 0);
	return true;
}
