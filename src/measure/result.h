/* SPDX-License-Identifier: Apache-2.0 */
/* What a run yields: metrics, series, histograms, counters, failed checks, and
 * the manifest (every parameter with its resolved value), the ports over time.
 * Names are kept in byte order, so output never depends on the order of
 * recording. */
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
	char *name;	  /* "n0.nic.pkts_out" */
	const char *unit; /* the result's: there are many counters */
	uint64_t value;
};
struct result_param {
	char *name, *value; /* manifest: "n0.nic.links" = "2" */
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
	char **units; /* of counters, each once */
	size_t n_units;
	struct result_param *manifest;
	size_t n_manifest;
	char **failures; /* checks that failed, in order of occurrence */
	size_t n_failures, failures_dropped;
	struct view view;   /* empty when nobody asked for it */
	struct story story; /* likewise */
	struct calls calls; /* of processes, where there are any */
};

struct weft_result *result_new(void);
void result_free(struct weft_result *r);
void result_metric_set(struct weft_result *r, const char *name,
		       const char *unit, double v);
/* NULL when absent.  What the _get functions return is valid until the next
 * name of that kind appears. */
const struct result_metric *result_metric_get(const struct weft_result *r,
					      const char *name);
struct result_series *result_series_get(struct weft_result *r, const char *name,
					const char *x_unit,
					const char *y_unit); /* creates */
void result_series_add(struct result_series *s, double x, double y);
struct hist *result_hist_get(struct weft_result *r, const char *name,
			     const char *unit); /* creates */
void result_counter_set(struct weft_result *r, const char *name,
			const char *unit, uint64_t v);
void result_param_set(struct weft_result *r, const char *name,
		      const char *value);
/* Keeps the first 100, counts the rest. */
void result_fail(struct weft_result *r, const char *text);

#endif
