/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of all commands: error messages, output formats and exit statuses. */
#include "front/cli/cli.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include "base/units.h"

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

int cli_unknown(const char *what, const char *word,
		const char *(*next)(void *arg, size_t i), void *arg,
		const char *remedy)
{
	const char *near = units_nearest(word, next, arg);

	if (near)
		return cli_fail("%s '%.60s': did you mean '%s'?", what, word,
				near);
	return cli_fail("%s '%.60s': %s", what, word, remedy);
}

bool cli_colours(FILE *f)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fileno(f)) && !(no && *no) && term &&
	       strcmp(term, "dumb");
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

/* Returns "PATH=['a','b']" for the words of arguments such as "a,b". Leaves out
 * the first `skip` words of each argument. Returns NULL if no words remain. The
 * caller frees the text. */
static char *cli_list(const char *path, const struct strs *args, size_t skip)
{
	size_t n = 0, size;
	char *buf = NULL;
	FILE *f = open_memstream(&buf, &size);

	if (!f)
		abort();
	fprintf(f, "%s=[", path);
	for (size_t i = 0; i < args->n; i++) {
		const char *p = args->at[i];

		for (size_t k = 0; *p; k++) {
			size_t len = strcspn(p, ",");

			if (k >= skip && len)
				fprintf(f, "%s'%.*s'", n++ ? "," : "", (int)len,
					p);
			p += len + (p[len] == ',');
		}
	}
	fputc(']', f);
	fclose(f);
	if (n)
		return buf;
	free(buf);
	return NULL;
}

/* Writes the setting of record.sample to buf. An argument of --sample such as
 * "10us,n*.nic.*" has the interval before its comma. Returns 0, or a negative
 * errno with a message. */
static int cli_sample(struct cli *c, char *buf, size_t size,
		      struct weft_err *err)
{
	struct weft_err sub = { 0 };
	weft_time_t t;

	for (size_t i = 0; i < c->sample.n; i++) {
		const char *arg = c->sample.at[i];
		int len = (int)strcspn(arg, ",");

		snprintf(buf, size, "record.sample=%.*s", len < 40 ? len : 40,
			 arg);
		if (units_parse(WEFT_P_TIME, "", strchr(buf, '=') + 1, &t,
				sizeof(t), &sub))
			return weft_fail(err, EINVAL, "%s: --sample: %s",
					 c->prog, sub.msg);
	}
	return 0;
}

int cli_load_exp(struct cli *c, const char *what, struct exp **exp_p,
		 struct weft_err *err)
{
	char seed[64], sample[64], *of = cli_list("record.of", &c->sample, 1);
	char *show = cli_list("record.show", &c->show, 0);
	struct strs sets = { 0 }, options = { 0 };
	int ret = cli_sample(c, sample, sizeof(sample), err);
	const struct {
		const char *set, *option; /* value of --set for the option, NULL
					   * if the option was not given */
	} more[] = { { c->seed ? seed : NULL, "--seed" },
		     { c->sweep_load ? "sweep=auto" : NULL, "--sweep-load" },
		     { c->sample.n ? sample : NULL, "--sample" },
		     { of, "--sample" },
		     { show, "--show" } };

	snprintf(seed, sizeof(seed), "seed=%.50s", c->seed ? c->seed : "");
	for (size_t i = 0; i < c->set.n; i++) {
		vec_push(&sets, c->set.at[i]);
		vec_push(&options, NULL);
	}
	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		if (more[i].set) {
			vec_push(&sets, more[i].set);
			vec_push(&options, more[i].option);
		}
	struct exp_opts o = { .set = sets.at,
			      .option = options.at,
			      .n_set = sets.n,
			      .edit = c->edit };

	if (!ret)
		ret = exp_load(what, &o, &c->reg, exp_p, err);
	vec_free(&sets);
	vec_free(&options);
	free(of);
	free(show);
	return ret;
}
