/* SPDX-License-Identifier: Apache-2.0 */
/* `weft explain`: shows from a results file in which stages a message spent its
 * time. */
#include <stdlib.h>

#include "base/units.h"
#include "front/cli/cli.h"
#include "front/explain/explain.h"

static int explain_print(const struct cli *c, const struct explain *e,
			 struct weft_err *err)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = open_memstream(&text, &n);
	int ret;

	if (!f)
		abort();
	ret = cli_format_is(c, "json") ? explain_json(e, c->message, f, err)
				       : explain_table(e, c->message, f, err);
	fclose(f);
	/* Replaces control characters, because names in a file may contain
	 * escape sequences for the terminal. */
	for (size_t i = 0; i < n; i++) {
		unsigned char b = (unsigned char)text[i];
		bool c1 = b == 0xC2 && i + 1 < n &&
			  (unsigned char)text[i + 1] < 0xA0;

		putchar((b < ' ' && b != '\n') || b == 0x7F || c1 ? '?' : b);
		i += c1;
	}
	free(text);
	return ret;
}

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
	ret = explain_print(c, &e, &err);
	explain_fini(&e);
	return ret ? cli_error(&err) : cli_flush(CLI_OK);
}
