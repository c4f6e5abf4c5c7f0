/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the parameters that change each row, as a table and as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "front/repro/sense.h"

/* ---- table ---- */

static void side_text(const struct out_row *o, const struct sense_side *s,
		      char *buf, size_t size)
{
	double by = sense_moved(o, s);

	if (s->end == SENSE_NONE || (s->end == SENSE_RAN && by == 0))
		snprintf(buf, size, "-");
	else if (s->end == SENSE_REFUSED)
		snprintf(buf, size, "%.20s: refused", s->value);
	else if (s->end == SENSE_SLOW)
		snprintf(buf, size, "%.20s: slow", s->value);
	else if (isfinite(by))
		snprintf(buf, size, "%.20s: %+.3g %%%s", s->value, 100 * by,
			 s->pass ? "" : " FAIL");
	else
		snprintf(buf, size, "%.20s: no value", s->value);
}

/* Writes the range of values in which the row passes, within the values that
 * were tried. */
static void range_text(const struct sense_move *m, char *buf, size_t size)
{
	const struct sense_side *l = &m->low, *h = &m->high;

	if (!*l->last && !*h->last)
		snprintf(buf, size, "%s",
			 sense_breaks(l) || sense_breaks(h) ? "" : "all");
	else if (l->end != SENSE_RAN)
		snprintf(buf, size, "up to %.20s", h->last);
	else if (h->end != SENSE_RAN)
		snprintf(buf, size, "from %.20s", l->last);
	else
		snprintf(buf, size, "%.20s .. %.20s",
			 *l->last ? l->last : l->value,
			 *h->last ? h->last : h->value);
}

static void row_lines(struct table *t, const struct out_row *o,
		      const struct sense_movers *ms)
{
	char text[128];

	for (size_t i = 0; i < ms->n && i < SENSE_SHOWN; i++) {
		const struct sense_mover *m = &ms->at[i];

		table_cell(t, "%s", i ? "" : o->row->id);
		table_cell(t, "%s", i ? "" : repro_basis_name(o->row->basis));
		table_cell(t, "%s.%s", m->found->param.of,
			   m->found->param.param->name);
		table_cell(t, "%s", m->found->param.value);
		side_text(o, &m->move->low, text, sizeof(text));
		table_cell(t, "%s", text);
		side_text(o, &m->move->high, text, sizeof(text));
		table_cell(t, "%s", text);
		range_text(m->move, text, sizeof(text));
		table_cell(t, "%s", text);
	}
	if (ms->n)
		return;
	table_cell(t, "%s", o->row->id);
	table_cell(t, "%s", repro_basis_name(o->row->basis));
	table_cell(t, "%s", "no parameter moves it");
	for (int i = 0; i < 4; i++)
		table_cell(t, "%s", "");
}

static bool row_breaks(const struct sense_movers *ms)
{
	vec_foreach (ms, struct sense_mover, m)
		if (sense_breaks(&m->move->low) || sense_breaks(&m->move->high))
			return true;
	return false;
}

void sense_table(const struct sense *s, FILE *f)
{
	static const char *const heads[] = { "row",   "basis",	"parameter",
					     "built", "halved", "doubled",
					     "passes" };
	struct table *t = table_new(heads, 7);
	size_t never = 0;
	struct strs ids = { 0 };

	vec_foreach (&s->repro->rows, struct out_row, o) {
		struct sense_movers ms = sense_movers(s, o);

		row_lines(t, o, &ms);
		if (!row_breaks(&ms) && o->row->rule != REPRO_QUOTED)
			vec_push(&ids, o->row->id);
		vec_free(&ms);
	}
	table_print(t, f);
	never = ids.n;
	fprintf(f, "\n%zu of %zu rows fail at no value tried%s", never,
		s->repro->rows.n, never ? ":" : "\n");
	for (size_t i = 0; i < never; i++)
		fprintf(f, " %s%s", ids.at[i], i + 1 < never ? "," : "\n");
	vec_free(&ids);
}

/* ---- JSON ---- */

static void side_json(struct json *j, const char *key,
		      const struct sense_side *s)
{
	static const char *const ends[] = { [SENSE_NONE] = "none",
					    [SENSE_RAN] = "ran",
					    [SENSE_REFUSED] = "refused",
					    [SENSE_SLOW] = "slow" };

	json_obj(j, key);
	json_str(j, "end", ends[s->end]);
	json_str(j, "value", s->value);
	json_real(j, "scale", (double)s->scale / SENSE_ONE);
	json_real(j, "model", s->end == SENSE_RAN ? s->model : NAN);
	json_bool(j, "pass", s->pass);
	json_str(j, "last", *s->last ? s->last : NULL);
	json_end(j);
}

static void row_json(struct json *j, const struct sense *s,
		     const struct out_row *o)
{
	struct sense_movers ms = sense_movers(s, o);

	json_obj(j, NULL);
	json_str(j, "id", o->row->id);
	json_str(j, "system", o->system);
	json_str(j, "basis", repro_basis_name(o->row->basis));
	json_real(j, "paper", o->row->paper);
	json_real(j, "model", o->verdict.model);
	json_str(j, "unit", o->row->unit);
	json_bool(j, "pass", o->verdict.pass);
	json_bool(j, "breaks", row_breaks(&ms));
	json_arr(j, "parameters");
	vec_foreach (&ms, struct sense_mover, m) {
		json_obj(j, NULL);
		json_str(j, "class", m->found->param.of);
		json_str(j, "parameter", m->found->param.param->name);
		json_str(j, "source",
			 param_source_name(m->found->param.param->source));
		json_str(j, "built", m->found->param.value);
		side_json(j, "halved", &m->move->low);
		side_json(j, "doubled", &m->move->high);
		json_end(j);
	}
	json_end(j);
	json_end(j);
	vec_free(&ms);
}

void sense_json(const struct sense *s, FILE *f)
{
	struct json j;

	json_init(&j, true);
	json_arr(&j, NULL);
	vec_foreach (&s->repro->rows, struct out_row, o)
		row_json(&j, s, o);
	json_end(&j);
	fprintf(f, "%.*s\n", (int)j.len, j.buf);
	json_fini(&j);
}
