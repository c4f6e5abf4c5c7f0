/* SPDX-License-Identifier: Apache-2.0 */
/* Builds one component from one mapping, and joins ports by cables. */
#include "front/exp/build.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/units.h"
#include "front/exp/section.h"

void build_set_refused(struct exp_set *set, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(set->refusal, sizeof(set->refusal), fmt, ap);
	va_end(ap);
}

/* ---- the class ---- */

struct of_kind {
	const struct registry *reg;
	enum weft_kind kind;
};

/* Returns the name of class number i of one kind. */
static const char *of_kind_next(void *arg, size_t i)
{
	const struct of_kind *k = arg;

	for (size_t j = 0; j < k->reg->n; j++)
		if (k->reg->at[j]->kind == k->kind && i-- == 0)
			return k->reg->at[j]->name;
	return NULL;
}

int build_class(struct exp_build *b, const struct build_spec *spec,
		const struct doc_node *map, const struct weft_class **cls_p,
		struct weft_err *err)
{
	struct of_kind k = { b->reg, spec->kind };
	const char *what = kind_name(spec->kind);
	const struct doc_node *n = doc_get(map, spec->type_key);
	const struct weft_class *cls;

	if (!n)
		n = doc_get(spec->base, spec->type_key);
	if (!n)
		return doc_fail(map->at, err,
				"this %s has no '%s': say which, e.g. %s", what,
				spec->type_key,
				of_kind_next(&k, 0) ? of_kind_next(&k, 0)
						    : "one given with --load");
	if (exp_want(n, DOC_SCALAR, spec->type_key, err))
		return -1;
	if (n->set)
		n->set->used++;
	cls = registry_find(b->reg, n->text);
	if (!cls && !units_nearest(n->text, of_kind_next, &k))
		return doc_fail(
			n->at, err,
			"no %s is called '%.60s': weft list %s names them",
			what, n->text, kind_plural(spec->kind));
	if (!cls)
		return doc_fail_near(n->at, err, n->text, of_kind_next, &k,
				     "no %s is called '%.60s'", what, n->text);
	if (cls->kind != spec->kind)
		return doc_fail(n->at, err, "%s is a %s: a %s is wanted here",
				cls->name, kind_name(cls->kind), what);
	*cls_p = cls;
	return 0;
}

/* ---- parameters ---- */

/* Writes the text of a value to buf. The values of a list are joined by
 * commas. */
static int value_text(const struct doc_node *n, const char *what, char *buf,
		      size_t size, struct weft_err *err)
{
	size_t len = 0;

	buf[0] = '\0';
	if (n->kind == DOC_SCALAR && strlen(n->text) < size) {
		strcpy(buf, n->text);
		return 0;
	}
	if (n->kind != DOC_SEQ)
		return doc_fail(n->at, err,
				n->kind == DOC_MAP
					? "%s is a mapping: write a value"
					: "%s is too long",
				what);
	for (uint32_t i = 0; i < n->n; i++) {
		const struct doc_node *v = n->items[i].val;

		if (exp_want(v, DOC_SCALAR, what, err))
			return -1;
		len += (size_t)snprintf(buf + len, size - len, "%s%s",
					i ? "," : "", v->text);
		if (len >= size)
			return doc_fail(v->at, err, "%s is too long", what);
	}
	return 0;
}

static int comp_set(struct weft_comp *c, const char *param,
		    const struct doc_node *val, struct doc_where key_at,
		    struct weft_err *err)
{
	struct weft_err sub = { 0 };
	char text[4096];

	if (!class_param(c->cls, param)) {
		if (val->set) {
			build_set_refused(val->set, "%s has no parameter '%s'",
					  c->cls->name, param);
			return 0;
		}
		weft_param_set(c, param, "", &sub);
		return doc_fail(key_at, err, "%s", sub.msg);
	}
	if (value_text(val, param, text, sizeof(text), err))
		return -1;
	if (weft_param_set(c, param, text, &sub))
		return doc_fail(val->at, err, "%s", sub.msg);
	if (val->set)
		val->set->used++;
	return 0;
}

static int comp_set_map(struct weft_comp *c, const struct build_spec *spec,
			const struct doc_node *map, struct weft_err *err)
{
	for (uint32_t i = 0; map && i < map->n; i++) {
		const struct doc_item *it = &map->items[i];
		bool reserved = !strcmp(it->key, spec->type_key) ||
				!strcmp(it->key, "preset");

		for (const char *const *r = spec->reserved; r && *r; r++)
			reserved |= !strcmp(*r, it->key);
		if (!reserved && comp_set(c, it->key, it->val, it->key_at, err))
			return -1;
	}
	return 0;
}

/* Returns true if the override names this class, or a pattern that matches the
 * component or its class. */
static bool over_fits(const struct exp_over *o, const struct weft_comp *c)
{
	return o->cls ? o->cls == c->cls
		      : !fnmatch(o->comp, c->name, 0) ||
				!fnmatch(o->comp, c->cls->name, 0);
}

static int comp_overrides(struct exp_build *b, struct weft_comp *c,
			  struct weft_err *err)
{
	for (size_t i = 0; i < b->overs->n; i++) {
		const struct exp_over *o = &b->overs->at[i];

		if (!over_fits(o, c) || !strcmp(o->param, "preset"))
			continue;
		/* A pattern may match components of several classes, and some
		 * of these classes may lack the parameter. */
		if (!o->cls && strpbrk(o->comp, "*?[") &&
		    !class_param(c->cls, o->param)) {
			build_set_refused(o->set, "%s has no parameter '%s'",
					  c->cls->name, o->param);
			continue;
		}
		if (comp_set(c, o->param, o->set->val, o->set->at, err))
			return -1;
		o->set->used++;
	}
	return 0;
}

static int comp_apply_preset(struct exp_build *b, struct weft_comp *c,
			     const struct build_spec *spec,
			     const struct doc_node *map, struct weft_err *err)
{
	const struct doc_node *n = doc_get(map, "preset");
	struct weft_err sub = { 0 };

	/* The last override has priority over the mapping, and the mapping over
	 * its base. */
	if (!n)
		n = doc_get(spec->base, "preset");
	for (size_t i = 0; i < b->overs->n; i++) {
		const struct exp_over *o = &b->overs->at[i];

		if (over_fits(o, c) && !strcmp(o->param, "preset")) {
			o->set->used++;
			n = o->set->val;
		}
	}

	if (!n || class_param(c->cls, "preset"))
		return 0;
	if (exp_want(n, DOC_SCALAR, "preset", err))
		return -1;
	if (n->set)
		n->set->used++;
	if (weft_preset_apply(c, n->text, &sub))
		return doc_fail(n->at, err, "%s", sub.msg);
	return 0;
}

static void comp_number(struct weft_comp *c, const char *param, uint32_t val)
{
	const struct weft_param *p = class_param(c->cls, param);
	char text[16];

	if (!p || p->type != WEFT_P_U32)
		return;
	snprintf(text, sizeof(text), "%u", val);
	weft_param_set(c, param, text, NULL);
}

int build_comp(struct exp_build *b, const struct build_spec *spec,
	       const char *name, const struct doc_node *map,
	       struct weft_comp **comp_p, struct weft_err *err)
{
	const struct weft_class *cls;
	struct weft_err sub = { 0 };
	struct weft_comp *c;

	if (exp_want(map, DOC_MAP, kind_name(spec->kind), err) ||
	    build_class(b, spec, map, &cls, err))
		return -1;
	c = weft_sim_add(b->sim, cls, name, &sub);
	if (!c)
		return doc_fail(map->at, err, "%s", sub.msg);
	if (spec->numbered) {
		comp_number(c, "node", spec->index);
		comp_number(c, "nodes", spec->count);
	}
	if (comp_apply_preset(b, c, spec, map, err) ||
	    comp_set_map(c, spec, spec->base, err) ||
	    comp_set_map(c, spec, map, err) || comp_overrides(b, c, err))
		return -1;
	if (weft_comp_init(c, &sub))
		return doc_fail(map->at, err, "%s", sub.msg);
	*comp_p = c;
	return 0;
}

/* ---- ports and cables ---- */

struct weft_port *build_link_port(struct weft_comp *c, uint32_t k)
{
	for (uint32_t i = 0; i < c->n_ports; i++)
		if (c->ports[i].kind == WEFT_PORT_LINK && k-- == 0)
			return &c->ports[i];
	return NULL;
}

int build_port(struct exp_build *b, const struct doc_node *n,
	       struct weft_port **port_p, struct weft_err *err)
{
	struct exp_names v = { 0 };
	const char *dot;
	size_t len;
	int ret;

	if (exp_want(n, DOC_SCALAR, "the port", err))
		return -1;
	dot = strrchr(n->text, '.');
	len = dot ? (size_t)(dot - n->text) : 0;
	for (uint32_t k = 0; dot && k < weft_sim_count(b->sim); k++) {
		struct weft_comp *c = weft_sim_at(b->sim, k);

		if (strncmp(c->name, n->text, len) || c->name[len])
			continue;
		*port_p = weft_port_find(c, dot + 1);
		if (*port_p)
			return 0;
	}
	for (uint32_t k = 0; k < weft_sim_count(b->sim); k++) {
		struct weft_comp *c = weft_sim_at(b->sim, k);

		for (uint32_t i = 0; i < c->n_ports; i++)
			exp_names_add(&v, "%s.%s", c->name, c->ports[i].name);
	}
	ret = doc_fail_near(n->at, err, n->text, exp_names_next, &v,
			    "there is no port '%.80s'", n->text);
	exp_names_free(&v);
	return ret;
}

int build_link(struct exp_build *b, const struct doc_node *map,
	       const struct doc_node *base, struct weft_comp **link_p,
	       struct weft_err *err)
{
	struct build_spec spec = { .kind = WEFT_KIND_LINK,
				   .type_key = "type",
				   .base = base };
	char name[32];

	if (b->n_links++ == 0)
		snprintf(name, sizeof(name), "link");
	else
		snprintf(name, sizeof(name), "link%u", b->n_links - 1);
	return build_comp(b, &spec, name, map, link_p, err);
}

int build_cable(struct exp_build *b, struct weft_port *x, struct weft_port *y,
		struct weft_comp *link, struct doc_where at,
		struct weft_err *err)
{
	struct weft_err sub = { 0 };

	if (weft_connect(x, y, link, 0, &sub))
		return doc_fail(at, err, "%s", sub.msg);
	return 0;
}
