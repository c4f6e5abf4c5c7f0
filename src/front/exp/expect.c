/* SPDX-License-Identifier: Apache-2.0 */
/* Sections `expect` (ranges of results) and `record` (results to keep).
 *
 *	expect:
 *	  n0.prog0.bandwidth: {min: 280, max: 290}
 *	  n0.prog0.latency:   {equals: 3.2, tolerance: 1%}
 *	  n*.nic.crc_errors:  0
 *	record:
 *	  metrics: [n0.prog0.*]
 *	  counters: ["*.nic.*"]
 *	  sample: 10us
 *	  of: ["*.nic.packets_*"]
 *	  show: ["n0.prog0.latency"]
 *	  parts: {post: access on the bus, wire: cable, rest: end}
 *
 * Names are those of metrics and counters, and may be patterns. A pattern of
 * `expect` that matches no name counts as a failure. */
#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "front/exp/exp.h"
#include "front/exp/section.h"

struct expect {
	double min, max, equals;
	char tolerance[24];
	double slack; /* absolute tolerance */
};

#define LOWEST "-1e308"
/* clang-format off */
static const struct weft_param expect_params[] = {
	WEFT_PARAM(REAL, struct expect, min, LOWEST, "", OWN, "at least"),
	WEFT_PARAM(REAL, struct expect, max, "1e308", "", OWN, "at most"),
	WEFT_PARAM(REAL, struct expect, equals, LOWEST, "", OWN, "this value"),
	WEFT_PARAM(STR, struct expect, tolerance, "0", "", OWN,
		   "how far from `equals`: 0.5 or 1%"),
	{ 0 },
};
/* clang-format on */

static int expect_read(const struct doc_node *n, struct expect *x,
		       struct weft_err *err)
{
	size_t len;
	bool pct;

	x->slack = 0;
	if (n->kind == DOC_SCALAR) {
		if (exp_fill(NULL, expect_params, x, "expect", err))
			return -1;
		return exp_value(n, WEFT_P_REAL, "", &x->equals,
				 sizeof(x->equals), "expected value", err);
	}
	if (exp_fill(n, expect_params, x, "expect", err))
		return -1;
	len = strlen(x->tolerance);
	pct = len && x->tolerance[len - 1] == '%';
	if (pct)
		x->tolerance[len - 1] = '\0';
	if (!fmt_real_read(x->tolerance, &x->slack) || x->slack < 0)
		return doc_fail(
			n->at, err,
			"tolerance '%s' is no number: write e.g. 0.5 or 1%%",
			x->tolerance);
	if (pct)
		x->slack *= fabs(x->equals) / 100;
	return 0;
}

int expect_valid(const struct doc_node *expect, struct weft_err *err)
{
	struct expect x;

	if (!expect)
		return 0;
	if (exp_want(expect, DOC_MAP, "expect", err))
		return -1;
	for (uint32_t i = 0; i < expect->n; i++)
		if (expect_read(expect->items[i].val, &x, err))
			return -1;
	return 0;
}

static void expect_value(struct weft_result *r, const struct doc_item *it,
			 const struct expect *x, const char *name, double v)
{
	char text[400], a[FMT_REAL_MAX], b[FMT_REAL_MAX];
	const char *rule = "expected";
	double bound = x->equals;

	if (!(v >= x->min)) {
		rule = "expected at least";
		bound = x->min;
	} else if (!(v <= x->max)) {
		rule = "expected at most";
		bound = x->max;
	} else if (!(x->equals > -1e307) || fabs(v - x->equals) <= x->slack) {
		return;
	}
	fmt_real(v, a);
	fmt_real(bound, b);
	if (it->key_at.line)
		snprintf(text, sizeof(text), "%.100s:%u: %.100s is %s: %s %s",
			 it->key_at.file, it->key_at.line, name, a, rule, b);
	else
		snprintf(text, sizeof(text), "%.100s: %.100s is %s: %s %s",
			 it->key_at.file, name, a, rule, b);
	result_fail(r, text);
}

void expect_judge(const struct doc_node *expect, struct weft_result *r)
{
	for (uint32_t k = 0; expect && k < expect->n; k++) {
		const struct doc_item *it = &expect->items[k];
		struct expect x;
		size_t hits = 0;
		char text[300];

		if (expect_read(it->val, &x, NULL))
			continue;
		for (size_t i = 0; i < r->n_metrics; i++)
			if (!fnmatch(it->key, r->metrics[i].name, 0) && ++hits)
				expect_value(r, it, &x, r->metrics[i].name,
					     r->metrics[i].value);
		for (size_t i = 0; i < r->n_counters; i++)
			if (!fnmatch(it->key, r->counters[i].name, 0) && ++hits)
				expect_value(r, it, &x, r->counters[i].name,
					     (double)r->counters[i].value);
		if (hits)
			continue;
		snprintf(
			text, sizeof(text),
			"%.100s:%u: no metric or counter is called %.100s: --format json names them",
			it->key_at.file, it->key_at.line, it->key);
		result_fail(r, text);
	}
}

/* ---- record ---- */

static const char *const record_keys[] = { "metrics",	 "counters", "series",
					   "histograms", "sample",   "of",
					   "show",	 "parts",    NULL };

int record_valid(const struct doc_node *record, struct weft_err *err)
{
	if (!record)
		return 0;
	if (exp_want(record, DOC_MAP, "record", err) ||
	    exp_keys(record, record_keys, "record", err))
		return -1;
	for (uint32_t i = 0; i < record->n; i++) {
		const struct doc_node *l = record->items[i].val;

		const char *key = record->items[i].key;
		/* Parts of a message (docs/observation.md) have a name and a
		 * last stage. */
		bool parts = !strcmp(key, "parts");

		if (parts && exp_want(l, DOC_MAP, "record.parts", err))
			return -1;
		if (parts && l->n > RECORD_PARTS)
			return doc_fail(l->at, err, "record.parts: at most %d",
					RECORD_PARTS);
		if (l->kind == DOC_SCALAR)
			continue;
		if (!parts && exp_want(l, DOC_SEQ, key, err))
			return -1;
		for (uint32_t k = 0; k < l->n; k++)
			if (exp_want(l->items[k].val, DOC_SCALAR,
				     parts ? l->items[k].key : key, err))
				return -1;
	}
	return 0;
}

bool record_matches(const struct doc_node *list, const char *name)
{
	if (!list)
		return true;
	if (list->kind == DOC_SCALAR)
		return !strcmp(list->text, "all") ||
		       !fnmatch(list->text, name, 0);
	for (uint32_t i = 0; i < list->n; i++)
		if (!fnmatch(list->items[i].val->text, name, 0))
			return true;
	return false;
}

char **record_patterns(const struct doc_node *list)
{
	size_t n = !list ? 0 : list->kind == DOC_SCALAR ? 1 : list->n;
	char **res = calloc(n + 1, sizeof(*res));

	if (!res)
		abort();
	for (size_t i = 0; i < n; i++)
		res[i] = strdup(list->kind == DOC_SCALAR
					? list->text
					: list->items[i].val->text);
	return res;
}

/* Frees the elements of r that `record` does not list. */
static void record_keep(const struct doc_node *record, struct weft_result *r)
{
	const struct doc_node *list = doc_get(record, "metrics");
	size_t n = 0;

	for (size_t i = 0; i < r->n_metrics; i++) {
		struct result_metric *m = &r->metrics[i];

		if (record_matches(list, m->name)) {
			r->metrics[n++] = *m;
			continue;
		}
		free(m->name);
		free(m->unit);
	}
	r->n_metrics = n;
	n = 0;
	list = doc_get(record, "counters");
	for (size_t i = 0; i < r->n_counters; i++)
		if (record_matches(list, r->counters[i].name))
			r->counters[n++] = r->counters[i];
		else
			free(r->counters[i].name);
	r->n_counters = n;
	n = 0;
	list = doc_get(record, "series");
	for (size_t i = 0; i < r->n_series; i++) {
		struct result_series *s = &r->series[i];

		if (record_matches(list, s->name)) {
			r->series[n++] = *s;
			continue;
		}
		free(s->name);
		free(s->x_unit);
		free(s->y_unit);
		free(s->x);
		free(s->y);
	}
	r->n_series = n;
	n = 0;
	list = doc_get(record, "histograms");
	for (size_t i = 0; i < r->n_hists; i++) {
		struct result_hist *h = &r->hists[i];

		if (record_matches(list, h->name)) {
			r->hists[n++] = *h;
			continue;
		}
		free(h->name);
		free(h->unit);
		hist_fini(&h->h);
	}
	r->n_hists = n;
}

/* Refuses a list of patterns that matches no name, because it is likely a
 * typing error. */
static void record_check(const struct doc_node *record, const char *key,
			 const char *example, size_t before, size_t left,
			 struct weft_result *r)
{
	const struct doc_node *list = doc_get(record, key);
	char text[300];

	if (!list || left || !before)
		return;
	if (list->kind == DOC_SCALAR ? !strcmp(list->text, "none") : !list->n)
		/* With `none` or an empty list the user asks for no results. */
		return;
	snprintf(text, sizeof(text),
		 "record.%s: '%.60s'%s fits none of %zu names, e.g. %.120s",
		 key,
		 list->kind == DOC_SCALAR ? list->text
					  : list->items[0].val->text,
		 list->kind == DOC_SCALAR || list->n == 1 ? "" : " and so on",
		 before, example);
	result_fail(r, text);
}

void record_apply(const struct doc_node *record, struct weft_result *r)
{
	size_t metrics = r->n_metrics, counters = r->n_counters;
	char metric[128] = "", counter[128] = "";

	if (!record)
		return;
	if (metrics)
		snprintf(metric, sizeof(metric), "%s", r->metrics[0].name);
	if (counters)
		snprintf(counter, sizeof(counter), "%s", r->counters[0].name);
	record_keep(record, r);
	record_check(record, "metrics", metric, metrics, r->n_metrics, r);
	record_check(record, "counters", counter, counters, r->n_counters, r);
}
