/* SPDX-License-Identifier: Apache-2.0 */
/* `weft describe`: prints the tables of a class as text, JSON or Markdown. Each
 * section is one table of cells, and all three forms print these cells. */
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "front/cli/cli.h"
#include "front/exp/build.h"
#include "front/exp/section.h"
#include "front/out/out.h"

/* ---- cells ---- */

struct section {
	const char *key, *title; /* key in JSON, heading in text */
	const char *heads[8];
	size_t n_cols;
	struct exp_names cells;
};

static const char *text_of(const char *s)
{
	return s ? s : "";
}

static void fill_params(const struct weft_class *cls, struct section *s)
{
	for (const struct weft_param *p = cls->params; p && p->name; p++) {
		exp_names_add(&s->cells, "%s", p->name);
		exp_names_add(&s->cells, "%s", units_type_name(p->type));
		exp_names_add(&s->cells, "%s", text_of(p->def));
		exp_names_add(&s->cells, "%s", text_of(p->range));
		exp_names_add(&s->cells, "%s", param_source_name(p->source));
		exp_names_add(&s->cells, "%s", text_of(p->doc));
	}
}

static void fill_presets(const struct weft_class *cls, struct section *s)
{
	for (const struct weft_preset *p = cls->presets; p && p->name; p++) {
		exp_names_add(&s->cells, "%s", p->name);
		exp_names_add(&s->cells, "%s", text_of(p->values));
		exp_names_add(&s->cells, "%s", text_of(p->doc));
	}
}

static void fill_ports(const struct weft_class *cls, struct section *s)
{
	static const char *const kinds[] = { "none", "link", "bus" };

	for (const struct weft_port_decl *p = cls->ports; p && p->name; p++) {
		exp_names_add(&s->cells, "%s", p->name);
		exp_names_add(&s->cells, "%s", kinds[p->kind]);
		exp_names_add(&s->cells, "%s", p->count ? p->count : "1");
		exp_names_add(&s->cells, "%s", p->wire ? p->wire->name : "");
		exp_names_add(&s->cells, "%s",
			      p->optional ? "may stay open" : "needed");
		exp_names_add(&s->cells, "%s", text_of(p->doc));
	}
}

static void fill_counters(const struct weft_class *cls, struct section *s)
{
	for (uint32_t i = 0; i < cls->n_counters; i++) {
		exp_names_add(&s->cells, "%s", cls->counters[i].name);
		exp_names_add(&s->cells, "%s", text_of(cls->counters[i].unit));
		exp_names_add(&s->cells, "%s", text_of(cls->counters[i].doc));
	}
}

static void fill_regs(const struct weft_class *cls, struct section *s)
{
	static const char *const access[] = {
		[WEFT_RO] = "ro", [WEFT_RW] = "rw",	  [WEFT_W1C] = "w1c",
		[WEFT_HW] = "hw", [WEFT_MIXED] = "mixed",
	};
	for (const struct weft_reg *r = cls->regs; r && r->name; r++) {
		if (r->space)
			exp_names_add(&s->cells, "bar%u", r->space - 1u);
		else
			exp_names_add(&s->cells, "config");
		exp_names_add(&s->cells, "0x%04x", r->offset);
		if (r->count > 1)
			exp_names_add(&s->cells, "%s[%u] (+0x%x)", r->name,
				      r->count, r->stride);
		else
			exp_names_add(&s->cells, "%s", r->name);
		exp_names_add(&s->cells, "%u", r->width * 8u);
		exp_names_add(&s->cells, "%s",
			      (unsigned)r->access < 5 ? access[r->access]
						      : "?");
		exp_names_add(&s->cells, "0x%0*llx", r->width * 2,
			      (unsigned long long)r->reset);
		exp_names_add(&s->cells, "%s", text_of(r->doc));
	}
}

/* clang-format off */
static const struct {
	const char *key, *title;
	const char *heads[8];
	void (*fill)(const struct weft_class *cls, struct section *s);
} parts[] = {
	{ "parameters", "Parameters",
	  { "name", "type", "default", "range", "source", "meaning" },
	  fill_params },
	{ "presets", "Presets", { "name", "values", "meaning" },
	  fill_presets },
	{ "ports", "Ports",
	  { "name", "kind", "count", "wire", "cable", "meaning" },
	  fill_ports },
	{ "counters", "Counters", { "name", "unit", "meaning" },
	  fill_counters },
	{ "registers", "Registers",
	  { "space", "offset", "name", "bits", "access", "reset", "meaning" },
	  fill_regs },
};
/* clang-format on */
#define N_PARTS (sizeof(parts) / sizeof(parts[0]))

static void section_make(size_t i, const struct weft_class *cls,
			 struct section *s)
{
	*s = (struct section){ .key = parts[i].key, .title = parts[i].title };
	memcpy(s->heads, parts[i].heads, sizeof(s->heads));
	while (s->n_cols < 8 && s->heads[s->n_cols])
		s->n_cols++;
	parts[i].fill(cls, s);
}

/* ---- the three forms ---- */

static void describe_text(const struct weft_class *cls)
{
	struct section s;
	struct table *t;

	printf("%s (%s): %s\n", cls->name, kind_name(cls->kind),
	       text_of(cls->doc));
	if (cls->source)
		printf("source: %s\n", cls->source);
	if (cls->not_modelled)
		printf("not modelled: %s\n", cls->not_modelled);
	for (size_t i = 0; i < N_PARTS; i++) {
		section_make(i, cls, &s);
		if (s.cells.n) {
			t = table_new(s.heads, s.n_cols);
			for (size_t k = 0; k < s.cells.n; k++)
				table_cell(t, "%s", s.cells.at[k]);
			printf("\n%s\n\n", s.title);
			table_print(t, stdout);
		}
		exp_names_free(&s.cells);
	}
}

static void md_cell(const char *text)
{
	printf(" ");
	for (; *text; text++)
		printf(*text == '|' ? "\\|" : "%c", *text);
	printf(" |");
}

static void describe_md(const struct weft_class *cls)
{
	struct section s;

	printf("## `%s`\n\n%s.\n", cls->name, text_of(cls->doc));
	if (cls->source)
		printf("\nSource: %s.\n", cls->source);
	if (cls->not_modelled)
		printf("\nNot modelled: %s.\n", cls->not_modelled);
	for (size_t i = 0; i < N_PARTS; i++) {
		section_make(i, cls, &s);
		if (s.cells.n) {
			printf("\n### %s\n\n|", s.title);
			for (size_t k = 0; k < s.n_cols; k++)
				md_cell(s.heads[k]);
			printf("\n|");
			for (size_t k = 0; k < s.n_cols; k++)
				printf(" --- |");
		}
		for (size_t k = 0; k < s.cells.n; k++) {
			if (k % s.n_cols == 0)
				printf("\n|");
			md_cell(s.cells.at[k]);
		}
		if (s.cells.n)
			printf("\n");
		exp_names_free(&s.cells);
	}
}

static void describe_json(const struct weft_class *cls)
{
	struct section s;
	struct json j;

	json_init(&j, true);
	json_obj(&j, NULL);
	json_str(&j, "name", cls->name);
	json_str(&j, "kind", kind_name(cls->kind));
	json_str(&j, "doc", text_of(cls->doc));
	json_str(&j, "source", text_of(cls->source));
	json_str(&j, "not_modelled", text_of(cls->not_modelled));
	for (size_t i = 0; i < N_PARTS; i++) {
		section_make(i, cls, &s);
		json_arr(&j, s.key);
		for (size_t k = 0; k < s.cells.n; k++) {
			if (k % s.n_cols == 0)
				json_obj(&j, NULL);
			json_str(&j, s.heads[k % s.n_cols], s.cells.at[k]);
			if (k % s.n_cols == s.n_cols - 1)
				json_end(&j);
		}
		json_end(&j);
		exp_names_free(&s.cells);
	}
	json_end(&j);
	printf("%.*s\n", (int)j.len, j.buf);
	json_fini(&j);
}

/* ---- fabrics have a name and keys, but no class ---- */

static int describe_fabric(const struct cli *c, const struct fabric_gen *g)
{
	struct json j;

	if (!cli_format_is(c, "json")) {
		printf("%s (fabric): %s\n\nkeys: type", g->name, g->doc);
		for (const char *const *k = g->keys; *k; k++)
			printf(", %s", *k);
		printf("\nan experiment's fabric, see experiments/README.md; switch and link are components: weft describe CLASS\n");
		return cli_flush(CLI_OK);
	}
	json_init(&j, true);
	json_obj(&j, NULL);
	json_str(&j, "name", g->name);
	json_str(&j, "kind", "fabric");
	json_str(&j, "doc", g->doc);
	json_arr(&j, "keys");
	for (const char *const *k = g->keys; *k; k++)
		json_str(&j, NULL, *k);
	json_end(&j);
	json_end(&j);
	printf("%.*s\n", (int)j.len, j.buf);
	json_fini(&j);
	return cli_flush(CLI_OK);
}

int cmd_describe(struct cli *c)
{
	const char *name = c->args.at[0];
	const struct weft_class *cls = registry_find(&c->reg, name);
	const struct fabric_gen *fabric = fabric_called(name);

	if (!cls && fabric)
		return describe_fabric(c, fabric);
	if (!cls)
		return cli_unknown("describe: no component", name,
				   registry_next, &c->reg,
				   "weft list names them");
	if (cli_format_is(c, "json"))
		describe_json(cls);
	else if (cli_format_is(c, "markdown"))
		describe_md(cls);
	else
		describe_text(cls);
	return cli_flush(CLI_OK);
}
