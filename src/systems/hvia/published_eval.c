/* SPDX-License-Identifier: Apache-2.0 */
/* Values of rows of HVIA-GE that are computed from several metrics. */
#include "systems/hvia/published_eval.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define HALF "n0.prog0.half_rtt"

static double published_eval_us(const struct repro_data *d, const char *point)
{
	return repro_value(d, point, HALF) / 1000;
}

EVAL(hvia_eval_latency_4, published_eval_us(d, "workload.size=4"))

EVAL(hvia_eval_latency_8192, published_eval_us(d, "workload.size=8192"))

EVAL(hvia_eval_latency_10000, published_eval_us(d, "workload.size=10000"))

/* ---- differences ---- */

EVAL(hvia_eval_att_ratio,
     repro_value(d, "nodes.nic.att_host=yes", "n0.nic.translation") /
	     repro_value(d, "nodes.nic.att_host=no", "n0.nic.translation"))

/* Returns the difference of point i of hvia/ways to the first point, which is
 * the RDMA write. */
static double published_eval_way(const struct repro_data *d, size_t i)
{
	if (i >= d->n_points)
		return NAN;
	return published_eval_us(d, d->points[i].name) -
	       published_eval_us(d, d->points[0].name);
}

EVAL(hvia_eval_rdma_with, published_eval_way(d, 1))

EVAL(hvia_eval_rdma_without, published_eval_way(d, 2))

/* Returns the least or greatest gain by prefetch. The points of hvia/prefetch
 * are pairs without and with prefetch. */
static double published_eval_gain(const struct repro_data *d, double sign)
{
	double best = NAN;

	for (size_t i = 0; i + 1 < d->n_points; i += 2) {
		double g = published_eval_us(d, d->points[i].name) -
			   published_eval_us(d, d->points[i + 1].name);

		if (isnan(best) || g * sign > best * sign)
			best = g;
	}
	return best;
}

EVAL(hvia_eval_gain_least, published_eval_gain(d, -1))

EVAL(hvia_eval_gain_most, published_eval_gain(d, 1))

/* Returns the mean difference between blocking and polling. The points of
 * hvia/waits are pairs, one point for each way of waiting. */
double hvia_eval_block_mean(const struct repro_data *d)
{
	double sum = 0;

	for (size_t i = 0; i + 1 < d->n_points; i += 2)
		sum += published_eval_us(d, d->points[i].name) -
		       published_eval_us(d, d->points[i + 1].name);
	return d->n_points > 1 ? sum / (double)(d->n_points / 2) : NAN;
}

double hvia_eval_utilisation(const struct repro_data *d)
{
	double most = NAN;

	for (size_t i = 0; i < d->n_points; i++) {
		const char *size = strchr(d->points[i].name, '=');
		double u = repro_value(d, d->points[i].name,
				       "n0.prog0.utilisation");

		if (size && strtod(size + 1, NULL) >= 10000 &&
		    (isnan(most) || u > most))
			most = u;
	}
	return most;
}
