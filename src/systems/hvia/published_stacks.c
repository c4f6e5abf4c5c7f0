/* SPDX-License-Identifier: Apache-2.0 */
/* Values of rows HV-13 to HV-19, see published_stacks.h. */
#include "systems/hvia/published_stacks.h"
#include "systems/hvia/published_eval.h"

#include <math.h>
#include <stdio.h>

static const uint32_t sizes[] = {
	4, 64, 1024, 2048, 4096, 8192, 65536, 1048576
};
enum {
	SIZES = sizeof(sizes) / sizeof(*sizes),
	BELOW_4K = 4, /* sizes */
	BIG = SIZES - 1,
};
#define HALF "n0.prog0.half_rtt"

enum stack { HVIA, MVIA, TCPIP };

static double published_stacks_value(const struct repro_data *d, enum stack s,
				     uint32_t size, const char *what)
{
	static const char *const setting[] = {
		[HVIA] = "vipl.pingpong nodes.nic.type=hvia.nic",
		[MVIA] = HVIA_MVIA,
		[TCPIP] = HVIA_TCPIP,
	};
	char point[160], name[64];

	snprintf(point, sizeof(point), "workload.size=%u workload.program=%s",
		 sizes[size], setting[s]);
	snprintf(name, sizeof(name), "n0.prog0.%s", what);
	return repro_value(d, point, name);
}

static double published_stacks_latency(const struct repro_data *d, enum stack s,
				       uint32_t size)
{
	return published_stacks_value(d, s, size, "half_rtt") / 1000;
}

static double published_stacks_gain(const struct repro_data *d, enum stack s)
{
	return 100 * (published_stacks_value(d, HVIA, BIG, "bandwidth") /
			      published_stacks_value(d, s, BIG, "bandwidth") -
		      1);
}

EVAL(hvia_eval_mvia_latency, published_stacks_latency(d, MVIA, 0))

EVAL(hvia_eval_tcpip_latency, published_stacks_latency(d, TCPIP, 0))

EVAL(hvia_eval_mvia_ratio, published_stacks_latency(d, MVIA, 0) /
				   published_stacks_latency(d, HVIA, 0))

EVAL(hvia_eval_tcpip_ratio, published_stacks_latency(d, TCPIP, 0) /
				    published_stacks_latency(d, HVIA, 0))

EVAL(hvia_eval_mvia_gain, published_stacks_gain(d, MVIA))

EVAL(hvia_eval_tcpip_gain, published_stacks_gain(d, TCPIP))

double hvia_eval_mvia_small(const struct repro_data *d)
{
	double least = INFINITY;

	for (uint32_t i = 0; i < BELOW_4K; i++) {
		double v = published_stacks_value(d, MVIA, i, "utilisation");

		if (!(v >= least)) /* the comparison is also true for NAN */
			least = v;
	}
	return least;
}

double hvia_eval_tcpip_rises(const struct repro_data *d)
{
	for (uint32_t i = 1; i < SIZES; i++)
		if (!(published_stacks_value(d, TCPIP, i, "utilisation") >
		      published_stacks_value(d, TCPIP, i - 1, "utilisation")))
			return 0;
	return 1;
}

/* Returns the least or greatest speed-up of hvia/small. Its points are the
 * sizes with HVIA-GE, then the same sizes with M-VIA, then with TCP/IP. */
static double published_stacks_speedup(const struct repro_data *d, bool most)
{
	size_t n = d->n_points / 3;
	double best = NAN;

	for (size_t i = n; i < 3 * n; i++) {
		double v = repro_value(d, d->points[i].name, HALF) /
			   repro_value(d, d->points[i % n].name, HALF);

		if (isnan(best) || (most ? v > best : v < best))
			best = v;
	}
	return best;
}

EVAL(hvia_eval_speedup_least, published_stacks_speedup(d, false))

EVAL(hvia_eval_speedup_most, published_stacks_speedup(d, true))
