/* SPDX-License-Identifier: Apache-2.0 */
/* Loads an experiment. */
#include "front/exp/exp.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/crc.h"
#include "base/units.h"

const char *exp_shipped_next(void *unused, size_t i)
{
	return exp_shipped[i].name;
}

static int exp_root(struct exp *e, struct weft_err *err)
{
	const struct doc_node *root = e->doc->root;
	struct doc_where top = { .file = doc_strdup(e->doc, e->label),
				 .line = 1 };

	if (!root)
		return doc_fail(
			top, err,
			"the file is empty: describe nodes, fabric and workload");
	if (root->kind != DOC_MAP)
		return doc_fail(
			root->at, err,
			"not an experiment: %s where keys like 'nodes:' should be",
			doc_kind_name(root));
	return 0;
}

static int exp_overrides(struct exp *e, const struct exp_opts *opts,
			 struct weft_err *err)
{
	e->sets = calloc(opts->n_set + 1, sizeof(*e->sets));
	if (!e->sets)
		abort();
	for (; e->n_sets < opts->n_set; e->n_sets++) {
		struct exp_set *s = &e->sets[e->n_sets];

		if (exp_set_parse(e->doc, opts->set[e->n_sets],
				  opts->option ? opts->option[e->n_sets] : NULL,
				  s, err))
			return -1;
		s->lenient = e->n_sets + opts->n_lenient >= opts->n_set;
		if (exp_set_apply(s, e->doc, e->reg, &e->overs, err))
			return -1;
	}
	return 0;
}

int exp_load_text(const char *label, const char *text, size_t len,
		  const struct exp_opts *opts, const struct registry *reg,
		  struct exp **exp_p, struct weft_err *err)
{
	struct exp *e = calloc(1, sizeof(*e));

	if (!e)
		abort();
	e->doc = doc_new();
	e->reg = reg;
	e->label = strdup(label);
	e->crc = crc32_update(UINT32_MAX, (const uint8_t *)text, len);
	if (doc_parse(e->doc, label, text, len, err) || exp_root(e, err) ||
	    (opts->edit && opts->edit(e->doc, reg, err)) ||
	    exp_overrides(e, opts, err) || sweep_read(e, err)) {
		exp_free(e);
		return -EINVAL;
	}
	*exp_p = e;
	return 0;
}

int exp_load(const char *what, const struct exp_opts *opts,
	     const struct registry *reg, struct exp **exp_p,
	     struct weft_err *err)
{
	const struct exp_shipped *s = exp_shipped;
	const char *near = NULL;
	char *text;
	size_t len;
	int ret;

	while (s->name && strcmp(s->name, what))
		s++;
	if (s->name)
		return exp_load_text(what, s->text, s->len, opts, reg, exp_p,
				     err);
	if (strcmp(what, "-") && access(what, F_OK)) {
		/* Suggests an experiment with the same name in another folder
		 * or with a similar name. */
		for (s = exp_shipped; s->name && !near; s++) {
			const char *base = strrchr(s->name, '/');

			if (base && !strcmp(base + 1, what))
				near = s->name;
		}
		if (!near)
			near = units_nearest(what, exp_shipped_next, NULL);
		if (near)
			return weft_fail(
				err, ENOENT,
				"%.200s: neither a file nor an experiment: did you mean '%s'?",
				what, near);
		return weft_fail(
			err, ENOENT,
			"%.200s: neither a file nor an experiment: 'weft list experiments' names those",
			what);
	}
	ret = doc_read(what, &text, &len, err);
	if (ret)
		return ret;
	ret = exp_load_text(strcmp(what, "-") ? what : "standard input", text,
			    len, opts, reg, exp_p, err);
	free(text);
	return ret;
}

void exp_free(struct exp *e)
{
	if (!e)
		return;
	free(e->axes);
	sweep_auto_fini(e);
	vec_free(&e->overs);
	free(e->sets);
	free(e->label);
	doc_free(e->doc);
	free(e);
}

bool exp_set_used(const struct exp *e, size_t i)
{
	return e->sets[i].used > 0;
}
