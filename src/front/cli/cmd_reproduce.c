/* SPDX-License-Identifier: Apache-2.0 */
/* `weft reproduce`: runs every distinct experiment of the chosen rows once,
 * then reads and judges each row. */
#include <math.h>
#include <string.h>

#include "front/repro/sense.h"
#include "systems/examples.def"

/* ---- rows ---- */

static void row_json(struct json *j, const struct out_row *o)
{
	const struct repro_row *w = o->row;
	const struct repro_verdict *v = &o->verdict;
	char rule[32];

	repro_rule_text(w, rule, sizeof(rule));
	json_obj(j, NULL);
	json_str(j, "id", w->id);
	json_str(j, "system", o->system);
	json_str(j, "scenario", w->scenario);
	json_str(j, "unit", w->unit);
	json_real(j, "paper", w->paper);
	json_real(j, "model", v->model);
	json_real(j, "error_pct", v->error_pct);
	json_real(j, "tolerance_pct", v->tolerance_pct);
	json_str(j, "within", rule);
	json_str(j, "experiment", w->experiment);
	json_str(j, "set", w->set);
	json_str(j, "basis", repro_basis_name(w->basis));
	if (w->parameter)
		json_str(j, "parameter", w->parameter);
	else
		json_null(j, "parameter");
	json_bool(j, "derived", w->derived);
	json_str(j, "reason", w->why);
	json_bool(j, "enforced", !w->report_only);
	json_bool(j, "pass", v->pass);
	if (w->note)
		json_str(j, "note", w->note);
	else
		json_null(j, "note");
	json_end(j);
}

static void row_table(struct table *t, const struct out_row *o)
{
	const struct repro_row *w = o->row;
	const struct repro_verdict *v = &o->verdict;
	char rule[32], model[32] = "none", error[32] = "-";

	repro_rule_text(w, rule, sizeof(rule));
	if (isfinite(v->model)) {
		out_real(v->model, model);
		snprintf(error, sizeof(error), "%+.2f %%", v->error_pct);
	}
	table_cell(t, "%s", w->id);
	table_cell(t, "%s", o->system);
	table_cell(t, "%s", w->scenario);
	table_cell(t, "%.6g", w->paper);
	table_cell(t, "%s", model);
	table_cell(t, "%s", w->unit);
	table_cell(t, "%s", error);
	table_cell(t, "%s", rule);
	table_cell(t, "%s%s%s", repro_basis_name(w->basis),
		   w->parameter ? ": " : "", w->parameter ? w->parameter : "");
	table_cell(t, "%s",
		   w->rule == REPRO_QUOTED ? "-"
		   : v->pass		   ? "pass"
		   : w->report_only	   ? "differs"
					   : "FAIL");
}

static void print_table(const struct repro *r)
{
	static const char *const heads[] = { "id",     "system", "scenario",
					     "paper",  "model",	 "unit",
					     "error",  "within", "basis",
					     "verdict" };
	struct table *t = table_new(heads, 10);
	bool any = false;

	for (size_t i = 0; i < r->rows.n; i++)
		row_table(t, &r->rows.at[i]);
	table_print(t, stdout);
	for (size_t i = 0; i < r->rows.n; i++) {
		const struct repro_row *w = r->rows.at[i].row;
		char text[REPRO_REMARK];

		if (!repro_remark(w, text))
			continue;
		printf("%s%s: %s\n", any ? "" : "\n", w->id, text);
		any = true;
	}
}

static int print_sensitivity(struct repro *r)
{
	struct sense s = { .repro = r };
	struct weft_err err = { 0 };
	int ret = sense_run(&s, r->cli->n_jobs, &err);

	if (!ret && cli_format_is(r->cli, "json"))
		sense_json(&s, stdout);
	else if (!ret)
		sense_table(&s, stdout);
	sense_free(&s);
	return ret ? cli_error(&err) : cli_flush(CLI_OK);
}

/* Prints the rows that the user named. Returns the exit status. */
static int print_rows(struct repro *r)
{
	struct weft_err err = { 0 };
	int lost = 0, status;
	struct json j;

	/* An error of --out does not end the command, because the rows must
	 * still be printed. */
	if (r->cli->out && out_db(r->cli->out, r->cli->append, r->sets,
				  r->n_run, &r->rows, &err))
		lost = cli_error(&err);

	if (cli_format_is(r->cli, "json")) {
		json_init(&j, true);
		json_arr(&j, NULL);
		for (size_t i = 0; i < r->rows.n; i++)
			row_json(&j, &r->rows.at[i]);
		json_end(&j);
		printf("%.*s\n", (int)j.len, j.buf);
		json_fini(&j);
	} else {
		print_table(r);
	}
	status = cli_flush(lost ? lost : r->failed ? CLI_FAILED : CLI_OK);
	for (size_t i = 0; i < r->n_run; i++)
		out_failures(&r->sets[i], stderr);
	return status;
}

int cmd_reproduce(struct cli *c)
{
	struct repro r = { .cli = c };
	struct weft_err err = { 0 };
	int status;

	for (size_t i = 0; i < c->args.n; i++) {
		const char *word = c->args.at[i], *name;
		size_t k = 0;

		while ((name = reproduce_next(NULL, k)) && strcmp(name, word))
			k++;
		if (!name)
			return cli_unknown(
				"reproduce: no system or row", word,
				reproduce_next, NULL,
				"give a system, e.g. '" EXAMPLE_SYSTEM
				"', or the id of a row, e.g. '" EXAMPLE_ROW
				"'");
	}
	if ((c->out && out_db_check(c->out, &err)) || repro_load(&r, &err) ||
	    repro_run(&r, &err)) {
		status = cli_error(&err);
	} else {
		repro_judge_all(&r);
		status =
			c->sensitivity ? print_sensitivity(&r) : print_rows(&r);
	}
	repro_free(&r);
	return status;
}
