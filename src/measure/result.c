/* SPDX-License-Identifier: Apache-2.0 */
/* Result of a run, sorted in byte order of the names. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "measure/result.h"

enum { RESULT_FAILURES = 100 };

/* Returns the name of element i. Every element type begins with its name. */
static const char *result_name(const void *arr, size_t size, size_t i)
{
	return *(char *const *)((const char *)arr + i * size);
}

/* Returns the index of `name`, or the index at which it must be inserted. */
static size_t result_find(const void *arr, size_t n, size_t size,
			  const char *name, bool *found_p)
{
	size_t lo, hi, back = 1;

	/* The search starts at the end, because names are mostly recorded in
	 * order. */
	while (back <= n && strcmp(result_name(arr, size, n - back), name) >= 0)
		back *= 2;
	hi = n - back / 2;
	lo = back <= n ? n - back + 1 : 0;
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (strcmp(result_name(arr, size, mid), name) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	*found_p = lo < n && !strcmp(result_name(arr, size, lo), name);
	return lo;
}

static char *result_dup(const char *s)
{
	char *res = strdup(s ? s : "");

	if (!res)
		abort();
	return res;
}

/* Returns the element called name. If it does not exist, creates it and sets
 * *new_p to true. */
#define RESULT_GET(arr, n, name, new_p)                                        \
	result_get(&(arr), &(n), sizeof(*(arr)), name, new_p)

static void *result_get(void *arr_p, size_t *n_p, size_t size, const char *name,
			bool *new_p)
{
	char **arr = arr_p, *at;
	bool found;
	size_t i = result_find(*arr, *n_p, size, name, &found);

	*new_p = !found;
	if (!found) {
		*arr = grown(*arr, *n_p, size);
		at = *arr + i * size;
		memmove(at + size, at, (*n_p - i) * size);
		memset(at, 0, size);
		*(char **)at = result_dup(name);
		++*n_p;
	}
	return *arr + i * size;
}

struct weft_result *result_new(void)
{
	struct weft_result *r = calloc(1, sizeof(*r));

	if (!r)
		abort();
	return r;
}

void result_free(struct weft_result *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_metrics; i++) {
		free(r->metrics[i].name);
		free(r->metrics[i].unit);
	}
	free(r->metrics);
	for (size_t i = 0; i < r->n_counters; i++)
		free(r->counters[i].name);
	free(r->counters);
	for (size_t i = 0; i < r->n_units; i++)
		free(r->units[i]);
	free(r->units);
	for (size_t i = 0; i < r->n_manifest; i++) {
		free(r->manifest[i].name);
		free(r->manifest[i].value);
	}
	free(r->manifest);
	for (size_t i = 0; i < r->n_failures; i++)
		free(r->failures[i]);
	free(r->failures);
	view_fini(&r->view);
	story_fini(&r->story);
	calls_free(&r->calls);
	for (size_t i = 0; i < r->n_series; i++) {
		free(r->series[i].name);
		free(r->series[i].x_unit);
		free(r->series[i].y_unit);
		free(r->series[i].x);
		free(r->series[i].y);
	}
	free(r->series);
	for (size_t i = 0; i < r->n_hists; i++) {
		free(r->hists[i].name);
		free(r->hists[i].unit);
		hist_fini(&r->hists[i].h);
	}
	free(r->hists);
	free(r);
}

static void result_text(char **field, const char *text)
{
	char *copy = result_dup(text);

	free(*field);
	*field = copy;
}

void result_metric_set(struct weft_result *r, const char *name,
		       const char *unit, double v)
{
	bool is_new;
	struct result_metric *m =
		RESULT_GET(r->metrics, r->n_metrics, name, &is_new);

	result_text(&m->unit, unit);
	m->value = v;
}

const struct result_metric *result_metric_get(const struct weft_result *r,
					      const char *name)
{
	bool found;
	size_t i = result_find(r->metrics, r->n_metrics, sizeof(*r->metrics),
			       name, &found);

	return found ? &r->metrics[i] : NULL;
}

struct result_series *result_series_get(struct weft_result *r, const char *name,
					const char *x_unit, const char *y_unit)
{
	bool is_new;
	struct result_series *s =
		RESULT_GET(r->series, r->n_series, name, &is_new);

	if (is_new) {
		s->x_unit = result_dup(x_unit);
		s->y_unit = result_dup(y_unit);
	}
	return s;
}

void result_series_add(struct result_series *s, double x, double y)
{
	if (s->n == s->cap) {
		s->cap = s->cap ? s->cap * 2 : 16;
		s->x = reallocarray(s->x, s->cap, sizeof(*s->x));
		s->y = reallocarray(s->y, s->cap, sizeof(*s->y));
		if (!s->x || !s->y)
			abort();
	}
	s->x[s->n] = x;
	s->y[s->n++] = y;
}

struct hist *result_hist_get(struct weft_result *r, const char *name,
			     const char *unit)
{
	/* Histograms of times have bins finer than one unit. With bins of one
	 * ns the means 1.2 and 1.4 ns would share a bin. */
	static const struct {
		const char *unit;
		double scale;
	} tab[] = { { "ns", 1e3 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 } };
	bool is_new;
	struct result_hist *h = RESULT_GET(r->hists, r->n_hists, name, &is_new);
	double scale = 1; /* bins per unit */

	if (!is_new)
		return &h->h;
	for (size_t i = 0; unit && i < sizeof(tab) / sizeof(tab[0]); i++)
		if (!strcmp(tab[i].unit, unit))
			scale = tab[i].scale;
	h->unit = result_dup(unit);
	hist_init(&h->h, scale);
	return &h->h;
}

void result_counter_set(struct weft_result *r, const char *name,
			const char *unit, uint64_t v)
{
	bool is_new;
	struct result_counter *c =
		RESULT_GET(r->counters, r->n_counters, name, &is_new);
	size_t k = 0;

	c->value = v;
	/* All counters of one unit share one text, because there are few
	 * units. */
	unit = unit ? unit : "";
	while (k < r->n_units && strcmp(r->units[k], unit))
		k++;
	if (k == r->n_units) {
		r->units =
			need(reallocarray(r->units, k + 1, sizeof(*r->units)));
		r->units[r->n_units++] = result_dup(unit);
	}
	c->unit = r->units[k];
}

void result_param_set(struct weft_result *r, const char *name,
		      const char *value)
{
	bool is_new;
	struct result_param *p =
		RESULT_GET(r->manifest, r->n_manifest, name, &is_new);

	result_text(&p->value, value);
}

const char *result_param_get(const struct weft_result *r, const char *name)
{
	bool found;
	size_t i = result_find(r->manifest, r->n_manifest, sizeof(*r->manifest),
			       name, &found);

	return found ? r->manifest[i].value : NULL;
}

void result_fail(struct weft_result *r, const char *text)
{
	if (r->n_failures == RESULT_FAILURES) {
		r->failures_dropped++;
		return;
	}
	r->failures = reallocarray(r->failures, r->n_failures + 1,
				   sizeof(*r->failures));
	if (!r->failures)
		abort();
	r->failures[r->n_failures++] = result_dup(text);
}
