/* SPDX-License-Identifier: Apache-2.0 */
/* `weft list`: prints classes by kind, fabrics and experiments. */
#include <string.h>

#include "base/units.h"
#include "front/cli/cli.h"
#include "front/exp/build.h"
#include "front/out/out.h"

struct list {
	struct table *t;
	struct json *j;
};

static void list_row(struct list *l, const char *kind, const char *name,
		     const char *doc)
{
	if (l->t) {
		table_cell(l->t, "%s", kind);
		table_cell(l->t, "%s", name);
		table_cell(l->t, "%s", doc);
		return;
	}
	json_obj(l->j, NULL);
	json_str(l->j, "kind", kind);
	json_str(l->j, "name", name);
	json_str(l->j, "doc", doc);
	json_end(l->j);
}

static void list_experiment(struct list *l, const struct exp_shipped *s)
{
	struct doc *d = doc_new();
	const struct doc_node *n;
	char line[120] = "";

	if (!doc_parse(d, s->name, s->text, s->len, NULL) &&
	    (n = doc_get(d->root, "doc")))
		out_sentence(n->text, line, sizeof(line));
	list_row(l, "experiments", s->name, line);
	doc_free(d);
}

static const char *const extra[] = { "fabrics", "experiments" };

const char *list_kinds_next(void *unused, size_t i)
{
	if (i < WEFT_KIND_N)
		return kind_plural((enum weft_kind)i);
	i -= WEFT_KIND_N;
	return i < 2 ? extra[i] : NULL;
}

static bool cmd_list_wanted(const char *kind, const char *which)
{
	return !kind || !strcmp(kind, which);
}

static void list_all(struct cli *c, struct list *l, const char *kind)
{
	for (int k = 0; k < WEFT_KIND_N; k++) {
		const char *plural = kind_plural((enum weft_kind)k);

		if (!cmd_list_wanted(kind, plural))
			continue;
		for (size_t i = 0; i < c->reg.n; i++)
			if ((int)c->reg.at[i]->kind == k)
				list_row(l, plural, c->reg.at[i]->name,
					 c->reg.at[i]->doc ? c->reg.at[i]->doc
							   : "");
	}
	if (cmd_list_wanted(kind, "fabrics"))
		for (const struct fabric_gen *const *g = fabric_gens; *g; g++)
			list_row(l, "fabrics", (*g)->name, (*g)->doc);
	if (cmd_list_wanted(kind, "experiments"))
		for (const struct exp_shipped *s = exp_shipped; s->name; s++)
			list_experiment(l, s);
}

int cmd_list(struct cli *c)
{
	static const char *const heads[] = { "kind", "name", "what" };
	const char *kind = c->args.n ? c->args.at[0] : NULL, *known = NULL;
	struct list l = { 0 };
	struct json j;
	size_t i = 0;

	while (kind && (known = list_kinds_next(NULL, i)) &&
	       strcmp(known, kind))
		i++;
	if (kind && !known)
		return cli_unknown("list: no kind", kind, list_kinds_next, NULL,
				   "weft list --help names them");
	if (!cli_format_is(c, "json")) {
		l.t = table_new(heads, 3);
		list_all(c, &l, kind);
		table_print(l.t, stdout);
		return cli_flush(CLI_OK);
	}
	json_init(&j, true);
	l.j = &j;
	json_arr(&j, NULL);
	list_all(c, &l, kind);
	json_end(&j);
	printf("%.*s\n", (int)j.len, j.buf);
	json_fini(&j);
	return cli_flush(CLI_OK);
}
