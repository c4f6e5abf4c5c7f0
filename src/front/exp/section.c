/* SPDX-License-Identifier: Apache-2.0 */
/* Top-level keys, and readers that all sections share. */
#include "front/exp/section.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fmt.h"
#include "base/units.h"
#include "front/exp/build.h"
#include "front/exp/override.h"

const struct exp_section exp_sections[] = {
	{ "name", NULL, "short name, shown in results" },
	{ "doc", NULL, "what the experiment is about" },
	{ "seed", NULL, "seed of all random streams (default 1)" },
	{ "payload", NULL, "carried (real bytes) or none (times only)" },
	{ "set", NULL, "CLASS.PARAM or COMPONENT.PARAM: value" },
	{ "nodes", build_nodes, "hosts with bus and NIC" },
	{ "traffic", build_traffic, "sources and sinks without a host" },
	{ "fabric", build_fabric, "switches and cables" },
	{ "faults", build_faults, "what goes wrong, and where" },
	{ "workload", build_workload, "programs on nodes" },
	{ "run", NULL, "how long" },
	{ "sweep", NULL, "values to go through" },
	{ "record", NULL, "which results to keep" },
	{ "expect", NULL, "what must come out" },
	{ 0 },
};

bool exp_section_known(const char *key)
{
	for (const struct exp_section *s = exp_sections; s->key; s++)
		if (!strcmp(s->key, key))
			return true;
	return false;
}

const char *exp_section_next(void *unused, size_t i)
{
	return exp_sections[i].key;
}

void exp_names_add(struct exp_names *v, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vec_push(v, fmt_text(fmt, ap));
	va_end(ap);
}

const char *exp_names_next(void *names, size_t i)
{
	const struct exp_names *v = names;

	return i < v->n ? v->at[i] : NULL;
}

void exp_names_free(struct exp_names *v)
{
	while (v->n)
		free(vec_pop(v));
	vec_free(v);
}

int exp_want(const struct doc_node *n, enum doc_kind kind, const char *what,
	     struct weft_err *err)
{
	static const struct doc_node sample[] = { { .kind = DOC_SCALAR },
						  { .kind = DOC_MAP },
						  { .kind = DOC_SEQ } };
	static const char *const forms[] = { "", " {KEY: VALUE, ...}",
					     " [VALUE, ...]" };

	if (n->kind == kind)
		return 0;
	return doc_fail(n->at, err, "%s is %s: write %s%s", what,
			doc_kind_name(n), doc_kind_name(&sample[kind]),
			forms[kind]);
}

/* Returns true if the key comes from an override that this mapping may refuse.
 * Stores the reason for the refusal in the override. */
static bool key_pardoned(const struct doc_item *it, const char *what)
{
	struct exp_set *set = it->val->set;

	if (!set)
		return false;
	build_set_refused(set, "%s has no '%.60s'", what, it->key);
	return true;
}

int exp_keys(const struct doc_node *map, const char *const *keys,
	     const char *what, struct weft_err *err)
{
	for (uint32_t i = 0; i < map->n; i++) {
		const struct doc_item *it = &map->items[i];
		const char *const *k = keys;

		while (*k && strcmp(*k, it->key))
			k++;
		if (!*k && !key_pardoned(it, what))
			return doc_fail_near(
				it->key_at, err, it->key, units_rows_next,
				&(struct units_rows){ keys, sizeof(*keys) },
				"%s has no key '%.60s'", what, it->key);
		if (*k && it->val->set)
			it->val->set->used++;
	}
	return 0;
}

int exp_value(const struct doc_node *n, enum weft_ptype type, const char *range,
	      void *out, size_t size, const char *what, struct weft_err *err)
{
	struct weft_err sub = { 0 };

	if (exp_want(n, DOC_SCALAR, what, err))
		return -1;
	if (units_parse(type, range, n->text, out, size, &sub) ||
	    units_check(type, range, out, &sub))
		return doc_fail(n->at, err, "%s: %s", what, sub.msg);
	return 0;
}

int exp_option(const struct doc_node *map, const char *key,
	       enum weft_ptype type, const char *range, void *out, size_t size,
	       struct weft_err *err)
{
	const struct doc_node *n = doc_get(map, key);

	return n ? exp_value(n, type, range, out, size, key, err) : 0;
}

int exp_fill(const struct doc_node *map, const struct weft_param *params,
	     void *base, const char *what, struct weft_err *err)
{
	for (const struct weft_param *p = params; p->name; p++) {
		int ret = units_parse(p->type, p->range, p->def,
				      (char *)base + p->offset, p->size, NULL);

		assert(!ret);
	}
	if (!map)
		return 0;
	if (exp_want(map, DOC_MAP, what, err))
		return -1;
	for (uint32_t i = 0; i < map->n; i++) {
		const struct doc_item *it = &map->items[i];
		const struct weft_param *p = params;

		while (p->name && strcmp(p->name, it->key))
			p++;
		if (!p->name && key_pardoned(it, what))
			continue;
		if (!p->name)
			return doc_fail_near(
				it->key_at, err, it->key, units_rows_next,
				&(struct units_rows){ params, sizeof(*params) },
				"%s has no key '%.60s'", what, it->key);
		if (it->val->set)
			it->val->set->used++;
		if (exp_value(it->val, p->type, p->range,
			      (char *)base + p->offset, p->size, it->key, err))
			return -1;
	}
	return 0;
}
