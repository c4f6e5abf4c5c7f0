/* SPDX-License-Identifier: Apache-2.0 */
/* `weft tour`: shows the program's commands step by step. Each command is
 * printed as a user would type it and runs in a temporary folder, by the
 * program itself. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front/cli/cli.h"
#include "systems/examples.def"

struct step {
	const char *title, *before;
	const char *commands[3]; /* ended by NULL */
	const char *after;
};

/* Steps of the tour. In commands spaces separate words, and '...' encloses a
 * word with spaces, as in a shell. */
static const struct step steps[] = {
#include "systems/tour.def"
};
#define N_STEPS (sizeof(steps) / sizeof(steps[0]))

/* ---- one command ---- */

/* Cuts `line` into words in place. Returns their number. */
static int tour_split(char *line, char **argv, int max)
{
	int n = 0;

	for (char *p = line, *end; *p && n < max - 1; p = end) {
		bool quoted = *p == '\'';

		argv[n++] = p += quoted;
		end = strchrnul(p, quoted ? '\'' : ' ');
		if (*end)
			*end++ = '\0';
		end += strspn(end, " ");
	}
	argv[n] = NULL;
	return n;
}

/* Returns the exit status of the command, or 128 + N when signal N ended it. */
static int tour_command(const char *command, const char *dir)
{
	const char *bold = cli_colours(stdout) ? "\033[1m" : "";
	char *argv[32], *line;
	int status;
	pid_t pid;

	printf("\n  %s$ %s%s\n\n", bold, command, *bold ? "\033[0m" : "");
	if (cli_flush(CLI_OK))
		return CLI_USAGE;
	pid = fork();
	if (pid == 0) {
		line = strdup(command);
		if (!line || chdir(dir))
			_exit(CLI_USAGE);
		tour_split(line, argv, 32);
		execv("/proc/self/exe", argv);
		_exit(CLI_USAGE);
	}
	while (pid < 0 || waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return cli_fail("tour: no process for '%s': %s",
					command, strerror(errno));
	return WIFEXITED(status) ? WEXITSTATUS(status)
				 : CLI_SIGNAL + WTERMSIG(status);
}

/* ---- the sequence ---- */

static int tour_step(size_t i, const char *dir)
{
	const struct step *s = &steps[i];

	printf("%s%zu of %zu: %s\n\n%s\n", i ? "\n" : "", i + 1, N_STEPS,
	       s->title, s->before);
	for (const char *const *c = s->commands; *c; c++) {
		int status = tour_command(*c, dir);

		if (status) {
			cli_fail("tour: '%s' ended with status %d", *c, status);
			return status;
		}
	}
	printf("\n%s\n", s->after);
	return cli_flush(CLI_OK);
}

int cmd_tour(struct cli *c)
{
	bool ask = !c->quiet && isatty(0) && isatty(1);
	const char *tmp = getenv("TMPDIR");
	char dir[256], line[64];

	snprintf(dir, sizeof(dir), "%.200s/weft-tour.XXXXXX",
		 tmp && *tmp ? tmp : "/tmp");
	if (!mkdtemp(dir))
		return cli_fail(
			"tour: cannot make a folder %s: %s: set TMPDIR to where you may write",
			dir, strerror(errno));
	for (size_t i = 0; i < N_STEPS; i++) {
		int status = tour_step(i, dir);

		if (status)
			return status;
		if (!ask || i + 1 == N_STEPS)
			continue;
		printf("\n[Enter: next, q: end] ");
		fflush(stdout);
		if (!fgets(line, sizeof(line), stdin)) {
			printf("\n");
			break;
		}
		if (line[0] == 'q')
			break;
	}
	printf("\nThe files are in %s: report.html, and the results to play with.\n"
	       "Next: weft list experiments, weft describe " EXAMPLE_NIC
	       ", and docs/tutorial.md, where\n"
	       "you change a NIC and see what it does.\n",
	       dir);
	return cli_flush(CLI_OK);
}
