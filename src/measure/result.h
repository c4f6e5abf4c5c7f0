/* SPDX-License-Identifier: Apache-2.0 */
/* Result of a run: metrics, series, histograms, counters, failed checks, the
 * manifest (every parameter with its resolved value), the activity of ports
 * over time. Names are kept in byte order, so that output never depends on the
 * order of recording. */
#ifndef MEASURE_RESULT_H
#define MEASURE_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "measure/calls.h"
#include "measure/hist.h"
#include "measure/message_stages.h"
#include "measure/port_activity.h"

struct result_metric {
	char *name, *unit;
	double value;
};
struct result_series {
	char *name, *x_unit, *y_unit;
	double *x, *y;
	size_t n, cap;
};
struct result_hist {
	char *name, *unit;
	struct hist h;
};
struct result_counter {
	char *name; /* "n0.nic.pkts_out" */
	/* the result owns the text, which many counters share */
	const char *unit;
	uint64_t value;
};
struct result_param {
	char *name, *value; /* row of the manifest: "n0.nic.links" = "2" */
};

struct weft_result {
	struct result_metric *metrics;
	size_t n_metrics;
	struct result_series *series;
	size_t n_series;
	struct result_hist *hists;
	size_t n_hists;
	struct result_counter *counters;
	size_t n_counters;
	char **units; /* units of counters, each stored once */
	size_t n_units;
	struct result_param *manifest;
	size_t n_manifest;
	char **failures; /* texts of failed checks, in order of occurrence */
	size_t n_failures, failures_dropped;
	/* activity of ports, empty unless the run records it */
	struct view view;
	/* stages of messages, empty unless the run records them */
	struct story story;
	struct calls calls; /* calls of attached processes */
};

/* Returns an empty result. The caller frees it with result_free. */
struct weft_result *result_new(void);
void result_free(struct weft_result *r);
/* Sets a metric. A second value overwrites the first. */
void result_metric_set(struct weft_result *r, const char *name,
		       const char *unit, double v);
/* Returns the metric, or NULL if it does not exist. Pointers from the _get
 * functions are valid until the next name of that kind is added. */
const struct result_metric *result_metric_get(const struct weft_result *r,
					      const char *name);
/* Returns the series of that name. Creates it on first use. */
struct result_series *result_series_get(struct weft_result *r, const char *name,
					const char *x_unit, const char *y_unit);
/* Appends a point. */
void result_series_add(struct result_series *s, double x, double y);
/* Returns the histogram of that name. Creates it on first use. */
struct hist *result_hist_get(struct weft_result *r, const char *name,
			     const char *unit);
void result_counter_set(struct weft_result *r, const char *name,
			const char *unit, uint64_t v);
/* Adds a parameter to the manifest. */
void result_param_set(struct weft_result *r, const char *name,
		      const char *value);
/* Returns the value of a parameter of the manifest, or NULL if it does not
 * exist. */
const char *result_param_get(const struct weft_result *r, const char *name);
/* Records a failed check. Stores the texts of the first 100 failures and only
 * counts later failures. */
void result_fail(struct weft_result *r, const char *text);

#endif
