/* SPDX-License-Identifier: Apache-2.0 */
/* `weft completion`: prints the possible completions of a word of a command
 * line, from the tables of commands and options and from existing names. The
 * shell's script only calls this command, so that the script is never out of
 * date. */
#include <string.h>

#include "front/cli/cli.h"
#include "front/exec/exec.h"
#include "front/exp/exp.h"
#include "front/import/import.h"

static const char bash[] =
	"# Completion for weft; source it, or put it where bash looks.\n"
	"_weft()\n"
	"{\n"
	"\tlocal IFS=$'\\n' cur=${COMP_WORDS[COMP_CWORD]}\n"
	"\t[[ $cur == = ]] && cur=\n"
	"\tCOMPREPLY=($(\"${COMP_WORDS[0]}\" completion words -- \\\n"
	"\t\t\"${COMP_WORDS[@]:1:COMP_CWORD}\" 2>/dev/null))\n"
	"\t# a colon first: files, too\n"
	"\tif [[ ${COMPREPLY[0]-} == : ]]; then\n"
	"\t\tCOMPREPLY=(\"${COMPREPLY[@]:1}\" $(compgen -f -- \"$cur\"))\n"
	"\t\tcompopt -o filenames 2>/dev/null\n"
	"\tfi\n"
	"\t# more follows\n"
	"\tif [[ ${COMPREPLY[0]-} == *[.=] ]]; then\n"
	"\t\tcompopt -o nospace 2>/dev/null\n"
	"\tfi\n"
	"\treturn 0\n"
	"}\n"
	"complete -F _weft weft\n";

struct words {
	struct cli *cli;
	const struct cli_cmd *cmd;
	const char *prefix; /* start of the word to complete */
	bool assigned;	    /* the word follows an '=' */
};

static void cmd_completion_word(const struct words *w, const char *dashes,
				const char *text, size_t len, const char *more)
{
	char buf[256];

	snprintf(buf, sizeof(buf), "%s%.*s%s", dashes, (int)len, text, more);
	if (!strncmp(buf, w->prefix, strlen(w->prefix)))
		printf("%s\n", buf);
}

static void words_split(const struct words *w, const char *list, char sep)
{
	for (const char *p = list; p && *p;) {
		const char *end = strchrnul(p, sep);

		cmd_completion_word(w, "", p, (size_t)(end - p), "");
		p = *end ? end + 1 : end;
	}
}

/* Offers "CLASS." first, and "CLASS.PARAM=" behind a complete class name. */
static void words_settings(const struct words *w)
{
	for (size_t i = 0; i < w->cli->reg.n; i++) {
		const struct weft_class *cls = w->cli->reg.at[i];
		size_t n = strlen(cls->name);
		char left[128];

		snprintf(left, sizeof(left), "%s.", cls->name);
		if (strncmp(w->prefix, left, n + 1)) {
			cmd_completion_word(w, "", left, n + 1, "");
			continue;
		}
		for (const struct weft_param *p = cls->params; p && p->name;
		     p++)
			cmd_completion_word(w, left, p->name, strlen(p->name),
					    "=");
	}
}

/* Source of the completions for one kind of argument. `arg` is the name of the
 * argument in the tables of commands and options. */
struct source {
	const char *arg;
	bool files;
	const char *(*next)(void *arg, size_t i);
	void (*list)(const struct words *w);
	const char *words; /* possible words, separated by '|' */
};
static const struct source arg_sources[] = {
	{ "FILE", .files = true, .next = exp_shipped_next },
	{ "FORMAT FILE [KEY=VALUE...]", .files = true, .next = import_next },
	{ "RESULTS", .files = true },
	{ "PROGRAM [ARGUMENT...]", .files = true },
	{ "RESULTS...", .files = true },
	{ "[SYSTEM|ROW...]", .next = reproduce_next },
	{ "[KIND]", .next = list_kinds_next },
	{ "COMPONENT", .next = registry_next },
	{ "[NAME]", .next = bench_next },
	{ 0 },
};
static const struct source opt_sources[] = {
	{ "FILE", .files = true },
	{ "SO", .files = true },
	{ "FORMAT" }, /* words_of takes its words from the command */
	{ "MACHINE", .files = true, .next = exp_shipped_next },
	{ "CLOCK", .words = "fixed|cpu|none" },
	{ "MPI", .next = exec_launchers_next },
	{ "WHICH", .words = "fastest|slowest|first" },
	{ "PATH=VALUE", .list = words_settings },
	{ 0 },
};

static void words_of(const struct words *w, const struct source *from,
		     const char *arg)
{
	const char *name;

	while (from->arg && strcmp(from->arg, arg))
		from++;
	if (from->files)
		printf(":\n");
	if (from->list)
		from->list(w);
	words_split(w, !strcmp(arg, "FORMAT") ? w->cmd->formats : from->words,
		    '|');
	for (size_t i = 0; from->next && (name = from->next(&w->cli->reg, i));
	     i++)
		cmd_completion_word(w, "", name, strlen(name), "");
}

/* Returns the option that `text` names if that option takes a value, otherwise
 * NULL. */
static const struct cli_opt *opt_waiting(const struct cli_cmd *cmd,
					 const char *text)
{
	for (const struct cli_opt *o = cli_opts; o->name; o++)
		if (!strncmp(text, cli_dashes(o), strlen(cli_dashes(o))) &&
		    !strcmp(text + strlen(cli_dashes(o)), o->name) &&
		    o->type != CLI_FLAG && cli_takes(cmd, o))
			return o;
	return NULL;
}

/* Reads the words before the last one. A '=' is a separate word, because bash
 * splits the line there. */
static void words_after(struct words *w, char **at, size_t n)
{
	const struct cli_opt *waiting = NULL;
	size_t n_args = 0;

	for (size_t i = 0; i < n; i++) {
		struct weft_err unused = { 0 };

		if (!strcmp(at[i], "="))
			continue;
		if (waiting && !strcmp(waiting->name, "load"))
			registry_load(&w->cli->reg, at[i], &unused);
		n_args += !waiting && at[i][0] != '-';
		waiting = waiting ? NULL : opt_waiting(w->cmd, at[i]);
	}
	if (waiting)
		words_of(w, opt_sources, waiting->arg);
	else if (w->assigned)
		return; /* the last word is a value of --set */
	else if (w->prefix[0] != '-' && n_args < w->cmd->max_args)
		words_of(w, arg_sources, w->cmd->usage);
	else
		for (const struct cli_opt *o = cli_opts; o->name; o++)
			if (cli_takes(w->cmd, o))
				cmd_completion_word(w, cli_dashes(o), o->name,
						    strlen(o->name), "");
}

static void words_all(struct cli *c)
{
	char **at = (char **)c->args.at + 1;
	size_t n = c->args.n - 1;
	struct words w = { c, cli_cmds, n ? at[n - 1] : "", false };
	const char *name;

	w.assigned =
		!strcmp(w.prefix, "=") || (n > 1 && !strcmp(at[n - 2], "="));
	if (!strcmp(w.prefix, "="))
		w.prefix = "";
	if (n < 2) {
		for (size_t i = 0; (name = cli_cmds_next(NULL, i)); i++)
			cmd_completion_word(&w, "", name, strlen(name), "");
		return;
	}
	while (w.cmd->name && strcmp(w.cmd->name, at[0]))
		w.cmd++;
	if (w.cmd->name && w.cmd->run == cmd_completion)
		words_split(&w, "bash", '|');
	else if (w.cmd->name)
		words_after(&w, at + 1, n - 2);
}

int cmd_completion(struct cli *c)
{
	const char *what = c->args.at[0];

	if (!strcmp(what, "words"))
		words_all(c);
	else if (!strcmp(what, "bash"))
		printf("%s", bash);
	else
		return cli_fail("completion: '%.40s': give bash", what);
	return cli_flush(CLI_OK);
}
