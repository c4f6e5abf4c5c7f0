/* SPDX-License-Identifier: Apache-2.0 */
/* Reads the value of a row from a result. */
#include <fnmatch.h>
#include <math.h>
#include <string.h>

#include "base/units.h"
#include "front/repro/repro.h"

/* Returns true if every "path=value" of the point's name is in `wanted`. */
static bool point_within(const char *name, const char *wanted)
{
	while (*name) {
		size_t n = strcspn(name, " ");
		const char *w = wanted;

		while (*w && (strcspn(w, " ") != n || strncmp(w, name, n))) {
			w += strcspn(w, " ");
			w += strspn(w, " ");
		}
		if (!*w)
			return false;
		name += n;
		name += strspn(name, " ");
	}
	return true;
}

/* Returns the result of the point with that name. If the command line has fixed
 * an axis of the sweep, the names of points lack the word of that axis. The
 * remaining words of the name then select the point. */
static const struct weft_result *point_of(const struct repro_data *d,
					  const char *point)
{
	size_t i = 0;

	while (i < d->n_points && point && strcmp(d->points[i].name, point))
		i++;
	if (i == d->n_points)
		for (i = 0; i < d->n_points; i++)
			if (point_within(d->points[i].name, point))
				break;
	if (i == d->n_points)
		return NULL;
	if (d->read)
		d->read[i] = true;
	return d->points[i].result;
}

double repro_value(const struct repro_data *d, const char *point,
		   const char *name)
{
	const struct weft_result *r = point_of(d, point);
	const struct result_metric *m;

	if (!r)
		return NAN;
	m = result_metric_get(r, name);
	if (m)
		return m->value;
	for (size_t i = 0; i < r->n_counters; i++)
		if (!strcmp(r->counters[i].name, name))
			return (double)r->counters[i].value;
	return NAN;
}

static double op_sum(double a, double b)
{
	return a + b;
}

/* Combines, by `op`, all metrics and counters that match `glob`. Returns NAN
 * when none matches. */
static double value_fold(const struct repro_data *d, const char *point,
			 const char *glob, double (*op)(double, double))
{
	const struct weft_result *r = point_of(d, point);
	double acc = NAN;

	if (!r)
		return NAN;
	for (size_t i = 0; i < r->n_metrics; i++)
		if (!fnmatch(glob, r->metrics[i].name, 0))
			acc = isnan(acc) ? r->metrics[i].value
					 : op(acc, r->metrics[i].value);
	for (size_t i = 0; i < r->n_counters; i++)
		if (!fnmatch(glob, r->counters[i].name, 0))
			acc = isnan(acc)
				      ? (double)r->counters[i].value
				      : op(acc, (double)r->counters[i].value);
	return acc;
}

double repro_sum(const struct repro_data *d, const char *point,
		 const char *glob)
{
	return value_fold(d, point, glob, op_sum);
}

double repro_min(const struct repro_data *d, const char *point,
		 const char *glob)
{
	return value_fold(d, point, glob, fmin);
}

double repro_max(const struct repro_data *d, const char *point,
		 const char *glob)
{
	return value_fold(d, point, glob, fmax);
}

double repro_count(const struct repro_data *d, const char *point,
		   const char *glob)
{
	const struct weft_result *r = point_of(d, point);
	size_t n = 0;

	for (size_t i = 0; r && i < r->n_metrics; i++)
		n += !fnmatch(glob, r->metrics[i].name, 0);
	for (size_t i = 0; r && i < r->n_counters; i++)
		n += !fnmatch(glob, r->counters[i].name, 0);
	return r ? (double)n : NAN;
}

const char *repro_param(const struct repro_data *d, const char *point,
			const char *name)
{
	const struct weft_result *r = point_of(d, point);

	return r ? result_param_get(r, name) : NULL;
}

double repro_number(const struct repro_data *d, const char *point,
		    const char *name, enum weft_ptype type)
{
	const char *text = repro_param(d, point, name);
	uint64_t v;

	if (!text || units_parse(type, "", text, &v, sizeof(v), NULL))
		return NAN;
	return (double)v;
}

const struct hist *repro_hist(const struct repro_data *d, const char *point,
			      const char *name)
{
	const struct weft_result *r = point_of(d, point);

	for (size_t i = 0; r && i < r->n_hists; i++)
		if (!strcmp(r->hists[i].name, name))
			return &r->hists[i].h;
	return NULL;
}
