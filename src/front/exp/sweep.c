/* SPDX-License-Identifier: Apache-2.0 */
/* Section `sweep`: a product of axes, or a list of points.
 *
 *	sweep: { workload.size: [24, 512], bus.pcix.clock: [100MHz, 133MHz] }
 *	sweep: [ {workload.size: 24, run.until: 1ms}, {workload.size: 512} ]
 *	sweep: auto			(sweep_auto.c, with axes, too)
 *	sweep: none			the file's own values, one run
 *
 * In a product the last axis changes fastest.  If the command line overrides
 * the path of an axis, the axis has only that value. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/need.h"
#include "front/exp/exp.h"
#include "front/exp/section.h"

#define SWEEP_MAX 100000u

struct exp_axis {
	const char *path; /* path that varies, for a product */
	/* list of values of the path in a product, otherwise the mapping of one
	 * point */
	const struct doc_node *vals;
};

static bool axis_fixed(const struct exp *e, const char *path)
{
	for (size_t i = 0; i < e->n_sets; i++)
		if (!strcmp(e->sets[i].path, path))
			return true;
	return false;
}

static int sweep_product(struct exp *e, const struct doc_node *n,
			 struct weft_err *err)
{
	e->axes = need(calloc(n->n + 1, sizeof(*e->axes)));
	for (uint32_t i = 0; i < n->n; i++) {
		const struct doc_item *it = &n->items[i];

		if (it->val->kind != DOC_SEQ)
			return doc_fail(
				it->val->at, err,
				"sweep: %.60s is %s: write PATH: [VALUE, VALUE...], the whole path as one key",
				it->key, doc_kind_name(it->val));
		if (!it->val->n)
			return doc_fail(
				it->val->at, err,
				"no values to sweep '%.60s' over: write [VALUE, VALUE...]",
				it->key);
		if (axis_fixed(e, it->key))
			continue;
		e->axes[e->n_axes++] = (struct exp_axis){ it->key, it->val };
		if (e->n_points > SWEEP_MAX / it->val->n)
			return doc_fail(
				n->at, err,
				"more than %u points: sweep over less, or in several files",
				SWEEP_MAX);
		e->n_points *= it->val->n;
	}
	return 0;
}

/* Copies the items of a mapping that are lists, or those that are not, to
 * *part_p. The caller frees its items. */
static void items_part(const struct doc_node *n, bool lists,
		       struct doc_node *part_p)
{
	*part_p = *n;
	part_p->n = 0;
	part_p->items = need(calloc(n->n + 1, sizeof(*n->items)));
	for (uint32_t i = 0; i < n->n; i++)
		if ((n->items[i].val->kind == DOC_SEQ) == lists)
			part_p->items[part_p->n++] = n->items[i];
}

/* Reads a search for saturation. Its lists are axes. If the command line
 * overrides the load, the product of the axes remains. */
static int sweep_search(struct exp *e, const struct doc_node *n,
			struct weft_err *err)
{
	struct doc_node own, axes, *val;
	size_t combinations;
	const char *path;
	int ret;

	items_part(n, false, &own);
	items_part(n, true, &axes);
	ret = sweep_product(e, &axes, err);
	combinations = e->n_points;
	if (!ret)
		ret = sweep_auto_read(e, &own, combinations, err);
	free(own.items);
	free(axes.items);
	if (ret)
		return -1;
	sweep_auto_point(e, 0, &path, &val);
	for (size_t i = 0; i < e->n_axes; i++)
		if (!strcmp(e->axes[i].path, path))
			return doc_fail(
				e->axes[i].vals->at, err,
				"sweep: auto searches '%s', which has a list, too: leave one out",
				path);
	if (axis_fixed(e, path)) {
		sweep_auto_fini(e);
		e->n_points = combinations;
	}
	return 0;
}

int sweep_read(struct exp *e, struct weft_err *err)
{
	const struct doc_node *n = doc_get(e->doc->root, "sweep");

	e->n_points = 1;
	if (!n || (n->kind == DOC_SCALAR && !strcmp(n->text, "none")))
		return 0;
	if (n->kind == DOC_SCALAR || (n->kind == DOC_MAP && doc_get(n, "auto")))
		return sweep_search(e, n, err);
	if (n->kind == DOC_MAP)
		return sweep_product(e, n, err);
	e->axes = need(calloc(n->n + 1, sizeof(*e->axes)));
	if (!n->n)
		return doc_fail(
			n->at, err,
			"no points to sweep over: write e.g. [{seed: 1}, {seed: 2}]");
	for (uint32_t i = 0; i < n->n; i++) {
		if (exp_want(n->items[i].val, DOC_MAP, "a point", err))
			return -1;
		e->axes[e->n_axes++] =
			(struct exp_axis){ NULL, n->items[i].val };
	}
	e->n_points = n->n;
	return 0;
}

static void point_text(const struct doc_node *n, FILE *f)
{
	if (n->kind == DOC_SCALAR)
		fputs(n->text, f);
	for (uint32_t i = 0; i < n->n; i++) {
		fputs(i ? "," : "", f);
		point_text(n->items[i].val, f);
	}
}

static void point_add(struct exp_case *c, FILE *name, const char *path,
		      struct doc_node *val)
{
	fprintf(name, "%s%s=", ftell(name) ? " " : "", path);
	point_text(val, name);
	c->sets[c->n_sets++] =
		(struct exp_set){ .path = path, .val = val, .at = val->at };
}

int sweep_point(struct exp_case *c, size_t i, struct weft_err *err)
{
	const struct exp *e = c->exp;
	bool list = e->n_axes && !e->axes[0].path;
	size_t n = list ? e->axes[i].vals->n : e->n_axes, len;
	FILE *name = open_memstream(&c->point, &len);
	struct doc_node *load = NULL;
	const char *path = NULL;

	if (!name)
		abort();
	c->sets = reallocarray(c->sets, c->n_sets + n + 1, sizeof(*c->sets));
	if (!c->sets)
		abort();
	if (e->search)
		i = sweep_auto_point(e, i, &path, &load);
	for (size_t k = 0; k < n; k++) {
		if (list) {
			const struct doc_item *it = &e->axes[i].vals->items[k];

			if (!axis_fixed(e, it->key))
				point_add(c, name, it->key, it->val);
		} else {
			const struct doc_node *vals = e->axes[k].vals;
			size_t digit = i; /* the last axis varies fastest */

			for (size_t low = e->n_axes - 1; low > k; low--)
				digit /= e->axes[low].vals->n;
			point_add(c, name, e->axes[k].path,
				  vals->items[digit % vals->n].val);
		}
	}
	if (load)
		point_add(c, name, path, load);
	fclose(name);
	return 0;
}
