/* SPDX-License-Identifier: Apache-2.0 */
/* `weft report`: makes one HTML page from files of results. */
#include "front/cli/cli.h"
#include "front/report/report.h"

int cmd_report(struct cli *c)
{
	const char *out = c->out ? c->out : "report.html";
	struct weft_err err = { 0 };

	if (report_write(out, c->args.at, c->args.n, &err))
		return cli_error(&err);
	if (!c->quiet)
		printf("%s\n", out);
	return cli_flush(CLI_OK);
}
