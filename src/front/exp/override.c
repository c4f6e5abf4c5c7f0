/* SPDX-License-Identifier: Apache-2.0 */
/* Applies overrides to the tree, or to a list of parameter settings. */
#include "front/exp/override.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "front/exp/section.h"
#include "weft/sim.h"

/* Marks the values of an override as coming from the override, for messages. */
static void set_mark(struct doc_node *n, struct exp_set *set)
{
	n->at = set->at;
	for (uint32_t i = 0; i < n->n; i++) {
		n->items[i].key_at = set->at;
		set_mark(n->items[i].val, set);
	}
}

int exp_set_parse(struct doc *d, const char *text, const char *option,
		  struct exp_set *set, struct weft_err *err)
{
	const char *eq = strchr(text, '=');
	char label[180];
	struct doc *sub;
	int ret;

	snprintf(label, sizeof(label), "%s%.160s", option ? "" : "--set ",
		 option ? option : text);
	*set = (struct exp_set){ .at = { .file = doc_strdup(d, label) } };
	if (!eq || eq == text)
		return doc_fail(set->at, err, "write it as PATH=VALUE");
	char *path = doc_strdup(d, text);

	path[eq - text] = '\0';
	set->path = path;
	sub = doc_new();
	ret = doc_parse(sub, label, eq + 1, strlen(eq + 1), err);
	if (!ret && !sub->root)
		ret = doc_fail(set->at, err,
			       "no value after '=': write it as PATH=VALUE");
	if (ret) {
		doc_free(sub);
		return ret;
	}
	set->val = doc_adopt(d, sub);
	set_mark(set->val, set);
	return 0;
}

static int set_refuse(struct exp_set *set, struct weft_err *err,
		      const char *what, const char *word)
{
	if (set->lenient) {
		snprintf(set->refusal, sizeof(set->refusal), "%s '%.80s'", what,
			 word);
		return 0;
	}
	return doc_fail(set->at, err, "%s '%.80s'", what, word);
}

static int set_edit(struct exp_set *set, struct doc *d, struct doc_node *n,
		    const char *path, bool shared, struct weft_err *err);

static int set_put(struct exp_set *set, struct doc *d, struct doc_node *map,
		   const char *key, bool shared, struct weft_err *err)
{
	struct doc_node *val = doc_copy(d, set->val);
	struct doc_item *it = doc_item(map, key);

	if (!val)
		return doc_fail(set->at, err, "experiment grows too large");
	set_mark(val, set);
	/* If the mapping may lack the key, the override counts as used only
	 * when a section reads the value. Otherwise it counts as used now. */
	val->set = shared || set->lenient ? set : NULL;
	if (!val->set)
		set->used++;
	if (it) {
		it->val = val;
		it->key_at = set->at;
	} else {
		doc_append(d, map, doc_strdup(d, key), set->at, val);
	}
	return 0;
}

static int set_edit_seq(struct exp_set *set, struct doc *d, struct doc_node *n,
			const char *path, struct weft_err *err)
{
	char *end;
	unsigned long i = strtoul(path, &end, 10);
	int ret = 0;

	if (end != path && (*end == '.' || *end == '\0')) {
		if (i >= n->n)
			return set_refuse(set, err, "no element", path);
		if (*end == '.')
			return set_edit(set, d, n->items[i].val, end + 1, false,
					err);
		struct doc_node *val = doc_copy(d, set->val);

		if (!val)
			return doc_fail(set->at, err,
					"experiment grows too large");
		set_mark(val, set);
		n->items[i].val = val;
		set->used++;
		return 0;
	}
	for (uint32_t k = 0; k < n->n && !ret; k++)
		ret = set_edit(set, d, n->items[k].val, path, true, err);
	return ret;
}

/* Follows path below n and creates missing mappings. `shared` is true if the
 * path leads through a list, because some elements of the list may lack the
 * key. */
static int set_edit(struct exp_set *set, struct doc *d, struct doc_node *n,
		    const char *path, bool shared, struct weft_err *err)
{
	const char *dot = strchr(path, '.');
	struct doc_node *sub = doc_get(n, path);
	char key[128];

	if (n->kind == DOC_SEQ)
		return set_edit_seq(set, d, n, path, err);
	if (n->kind != DOC_MAP)
		return set_refuse(set, err, "a value has no part", path);
	/* The rest of the path is one key, because keys may contain dots
	 * (expect: n0.prog0.bandwidth). */
	if (sub || !dot)
		return set_put(set, d, n, path, shared, err);
	if ((size_t)(dot - path) >= sizeof(key))
		return set_refuse(set, err, "no such place", path);
	memcpy(key, path, (size_t)(dot - path));
	key[dot - path] = '\0';
	sub = doc_get(n, key);
	if (sub)
		return set_edit(set, d, sub, dot + 1, shared, err);
	if (set->lenient)
		return set_refuse(set, err, "the experiment has no", key);
	sub = doc_node_new(d, DOC_MAP, set->at);
	doc_append(d, n, doc_strdup(d, key), set->at, sub);
	return set_edit(set, d, sub, dot + 1, shared, err);
}

int exp_set_apply(struct exp_set *set, struct doc *d,
		  const struct registry *reg, struct exp_overs *overs,
		  struct weft_err *err)
{
	char *head = doc_strdup(d, set->path);
	char *dot = strchr(head, '.');

	if (dot)
		*dot = '\0';
	if (exp_section_known(head))
		return set_edit(set, d, d->root, set->path, false, err);
	if (!dot)
		return doc_fail_near(set->at, err, head, exp_section_next, NULL,
				     "no key '%.60s' in experiments", head);
	*dot = '.';
	dot = strrchr(head, '.');
	*dot = '\0';

	const struct weft_class *cls = registry_find(reg, head);

	if (cls && !class_param(cls, dot + 1) && strcmp(dot + 1, "preset"))
		return doc_fail_near(
			set->at, err, dot + 1, units_rows_next,
			&(struct units_rows){ cls->params,
					      sizeof(*cls->params) },
			"%s has no parameter '%.60s'", cls->name, dot + 1);
	vec_push(overs, (struct exp_over){ .set = set,
					   .cls = cls,
					   .comp = cls ? NULL : head,
					   .param = dot + 1 });
	return 0;
}

int exp_set_check(const struct exp_set *set, struct weft_sim *sim,
		  const struct registry *reg, struct weft_err *err)
{
	const char *dot = strrchr(set->path, '.');
	struct exp_names v = { 0 };
	char head[128];
	int ret;

	if (set->used || set->lenient)
		return 0;
	if (set->refusal[0])
		return doc_fail(set->at, err, "%s", set->refusal);
	snprintf(head, sizeof(head), "%.*s",
		 (int)(dot ? (size_t)(dot - set->path) : strlen(set->path)),
		 set->path);
	if (registry_find(reg, head))
		return doc_fail(
			set->at, err,
			"no component here is of class %s: 'type' in the file chooses it",
			head);
	for (uint32_t i = 0; i < weft_sim_count(sim); i++)
		exp_names_add(&v, "%s", weft_sim_at(sim, i)->name);
	for (size_t i = 0; i < reg->n; i++)
		exp_names_add(&v, "%s", reg->at[i]->name);
	for (size_t i = 0; exp_sections[i].key; i++)
		exp_names_add(&v, "%s", exp_sections[i].key);
	ret = doc_fail_near(set->at, err, head, exp_names_next, &v,
			    "nothing here is called '%.80s'", head);
	exp_names_free(&v);
	return ret;
}
