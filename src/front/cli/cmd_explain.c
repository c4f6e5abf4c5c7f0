/* SPDX-License-Identifier: Apache-2.0 */
/* `weft explain`: where the time of a message went, from a results file. */
#include "base/units.h"
#include "front/cli/cli.h"
#include "front/explain/explain.h"

int cmd_explain(struct cli *c)
{
	struct weft_err err = { 0 };
	struct explain e;
	uint64_t run = 1;
	int ret;

	if (c->run &&
	    units_parse(WEFT_P_U64, "", c->run, &run, sizeof(run), &err))
		return cli_fail("explain: --run: %s", err.msg);
	if (explain_load(c->args.at[0], run, &e, &err))
		return cli_error(&err);
	ret = cli_format_is(c, "json")
		      ? explain_json(&e, c->message, stdout, &err)
		      : explain_table(&e, c->message, stdout, &err);
	explain_fini(&e);
	return ret ? cli_error(&err) : cli_flush(CLI_OK);
}
