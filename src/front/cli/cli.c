/* SPDX-License-Identifier: Apache-2.0 */
/* What the commands share. */
#include "front/cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

int cli_error(const struct weft_err *err)
{
	fprintf(stderr, "weft: %s\n", err->msg);
	return CLI_USAGE;
}

int cli_fail(const char *fmt, ...)
{
	va_list ap;

	fputs("weft: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
	return CLI_USAGE;
}

bool cli_format_is(const struct cli *c, const char *name)
{
	return !strcmp(c->format, name);
}

int cli_flush(int status)
{
	if (fflush(stdout) || ferror(stdout))
		return cli_fail("standard output: cannot write: %s",
				strerror(errno));
	return status;
}

struct run_opts cli_run_opts(const struct cli *c)
{
	return (struct run_opts){ .quiet = c->quiet, .jobs = c->n_jobs };
}

int cli_load_exp(struct cli *c, const char *what, struct exp **exp_p,
		 struct weft_err *err)
{
	struct strs sets = { 0 };
	char seed[64];
	int ret;

	for (size_t i = 0; i < c->set.n; i++)
		vec_push(&sets, c->set.at[i]);
	if (c->seed) {
		snprintf(seed, sizeof(seed), "seed=%.50s", c->seed);
		vec_push(&sets, seed);
	}
	struct exp_opts o = { .set = sets.at, .n_set = sets.n };

	ret = exp_load(what, &o, &c->reg, exp_p, err);
	vec_free(&sets);
	return ret;
}
