/* SPDX-License-Identifier: Apache-2.0 */
/* Prints the help of `weft`, `weft --help` and `weft COMMAND --help` from the
 * tables of commands and options. scripts/man makes the manual pages from this
 * output, so that the pages cannot differ from the program. */
#include <string.h>

#include "front/cli/cli.h"
#include "systems/examples.def"

const char *cli_cmds_next(void *unused, size_t i)
{
	return cli_cmds[i].name;
}

bool cli_word_in(const char *list, char sep, const char *word)
{
	size_t n = strlen(word);

	for (const char *p = list; p && *p;) {
		const char *end = strchrnul(p, sep);

		if ((size_t)(end - p) == n && !strncmp(p, word, n))
			return true;
		p = *end ? end + 1 : end;
	}
	return false;
}

const char *cli_dashes(const struct cli_opt *o)
{
	return o->name[1] ? "--" : "-";
}

bool cli_takes(const struct cli_cmd *cmd, const struct cli_opt *o)
{
	return !strcmp(o->name, "help") || cli_word_in(cmd->opts, ' ', o->name);
}

int cli_help(const struct cli_cmd *cmd)
{
	/* Options of weft exec precede the program, because later options
	 * belong to the program. */
	printf("usage: weft %s%s%s%s%s\n%s.\n", cmd->name,
	       cmd->rest ? " [OPTION...]" : "", *cmd->usage ? " " : "",
	       cmd->usage, cmd->rest ? "" : " [OPTION...]", cmd->doc);
	if (cmd->more)
		printf("\n%s", cmd->more);
	printf("\n");
	for (const struct cli_opt *o = cli_opts; o->name; o++) {
		char left[40];

		if (!cli_takes(cmd, o))
			continue;
		snprintf(left, sizeof(left), "%s%s %s", cli_dashes(o), o->name,
			 o->arg ? o->arg : "");
		printf("  %-26s %s", left, o->doc);
		if (!strcmp(o->name, "format"))
			printf(": %s", cmd->formats);
		printf("\n");
	}
	return cli_flush(CLI_OK);
}

int cli_help_all(void)
{
	printf("usage: weft COMMAND [ARGUMENT...]\n"
	       "Interconnects in software: NICs, links and switches, cycle by cycle.\n\n");
	for (const struct cli_cmd *c = cli_cmds; c->name; c++)
		printf("  %-10s %-20s %s\n", c->name, c->usage, c->doc);
	printf("\nStart with: weft tour, or weft list experiments, then weft run NAME.\n"
	       "weft COMMAND --help says more.  Exit status: 0 done, 1 a check failed, 2 usage or input error, 128 + N ended by signal N.\n");
	return cli_flush(CLI_OK);
}

/* Commands that help shows first. They work in any folder. */
static const struct {
	const char *command, *shows;
} first[] = {
	{ "weft tour",
	  "two minutes: a published number, a blocked queue, a "
	  "full network" },
	{ "weft run " EXAMPLE_RUN,
	  "a sweep: bandwidth over the size of "
	  "a packet" },
	{ "weft list experiments", "everything that is ready to run" },
};

int cli_start(void)
{
	const char *bold = cli_colours(stdout) ? "\033[1m" : "";
	const char *off = *bold ? "\033[0m" : "";

	printf("Interconnects in software: NICs, links and switches, cycle by cycle.\n\n"
	       "Try next:\n\n");
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		printf("  %s%-28s%s   %s\n", bold, first[i].command, off,
		       first[i].shows);
	printf("\nweft --help lists the commands, weft COMMAND --help says more of one.\n");
	return cli_flush(CLI_OK);
}
