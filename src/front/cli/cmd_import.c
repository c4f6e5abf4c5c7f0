/* SPDX-License-Identifier: Apache-2.0 */
/* `weft import`: translates a configuration of another simulator into an
 * experiment, or recorded calls of MPI into a trace of packets. Builds an
 * experiment before printing it, because the printed text must be runnable. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "front/cli/cli.h"
#include "front/exp/exp.h"
#include "front/import/import.h"

static const struct importer *importer_called(const char *name)
{
	for (const struct importer *i = importers; i->name; i++)
		if (!strcmp(i->name, name))
			return i;
	return NULL;
}

/* Builds the experiment, and throws it away. */
static int text_check(struct cli *c, const char *text, size_t len,
		      struct weft_err *err)
{
	struct exp_opts none = { 0 };
	struct weft_err sub = { 0 };
	char label[80];
	struct exp *e;
	int ret;

	snprintf(label, sizeof(label), "%.60s as imported", c->args.at[1]);
	ret = exp_load_text(label, text, len, &none, &c->reg, &e, &sub);
	if (!ret) {
		ret = run_check(e, NULL, &sub);
		exp_free(e);
	}
	if (ret)
		return weft_fail(err, EINVAL, "%s", sub.msg);
	return 0;
}

static int text_write(const struct cli *c, const char *text, size_t len)
{
	FILE *f = c->out ? fopen(c->out, "w") : stdout;
	bool good;

	if (!f)
		return cli_fail("%s: %s", c->out, strerror(errno));
	good = fwrite(text, 1, len, f) == len;
	if (c->out && (fclose(f) || !good))
		return cli_fail("%s: cannot write: %s", c->out,
				strerror(errno));
	return cli_flush(CLI_OK);
}

/* Prints notes, and returns the exit status. */
static int notes_print(const struct cli *c, const struct import *im)
{
	for (size_t i = 0; i < im->notes.n; i++)
		if (im->notes.at[i].refused || !c->quiet)
			fprintf(stderr, "weft: %s%s\n",
				im->notes.at[i].refused ? "" : "remark: ",
				im->notes.at[i].text);
	return im->refused ? CLI_USAGE : CLI_OK;
}

int cmd_import(struct cli *c)
{
	const struct importer *of = importer_called(c->args.at[0]);
	struct import im = { .file = c->args.at[1],
			     .args = c->args.at + 2,
			     .n_args = c->args.n - 2 };
	char *file = NULL, *text = NULL;
	struct weft_err err = { 0 };
	size_t len = 0;
	int status;

	if (!of)
		return cli_unknown("import: no format", c->args.at[0],
				   import_next, NULL,
				   "weft import --help lists them");
	if (!of->trace && doc_read(im.file, &file, &im.len, &err))
		return cli_error(&err);
	im.text = file;
	im.out = open_memstream(&text, &len);
	if (!im.out)
		abort();
	status = of->run(&im, &err) ? cli_error(&err) : CLI_OK;
	fclose(im.out);
	if (status == CLI_OK)
		status = notes_print(c, &im);
	if (status == CLI_OK && !of->trace && text_check(c, text, len, &err))
		status = cli_error(&err);
	if (status == CLI_OK)
		status = text_write(c, text, len);
	import_fini(&im);
	free(text);
	free(file);
	return status;
}
