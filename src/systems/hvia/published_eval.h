/* SPDX-License-Identifier: Apache-2.0 */
/* Values of rows of `weft reproduce hvia` that are computed from several
 * metrics. */
#ifndef SYSTEMS_HVIA_PUBLISHED_EVAL_H
#define SYSTEMS_HVIA_PUBLISHED_EVAL_H

#include "front/repro/repro.h"

/* Defines a value that is one expression of the data d. */
#define EVAL(name, value)                                                      \
	double name(const struct repro_data *d)                                \
	{                                                                      \
		return value;                                                  \
	}

/* Latencies in us, from hvia/latency and hvia/blocking. */
double hvia_eval_latency_4(const struct repro_data *d);
double hvia_eval_latency_8192(const struct repro_data *d);
double hvia_eval_latency_10000(const struct repro_data *d);
/* Ratios and differences, from hvia/translation, hvia/ways, hvia/prefetch and
 * hvia/waits. */
double hvia_eval_att_ratio(const struct repro_data *d);
double hvia_eval_rdma_with(const struct repro_data *d);
double hvia_eval_rdma_without(const struct repro_data *d);
double hvia_eval_gain_least(const struct repro_data *d);
double hvia_eval_gain_most(const struct repro_data *d);
double hvia_eval_block_mean(const struct repro_data *d);
/* Highest utilisation over all sizes from 10,000 bytes on, from
 * hvia/blocking. */
double hvia_eval_utilisation(const struct repro_data *d);

#endif
