/* SPDX-License-Identifier: Apache-2.0 */
/* Watches the simulations of a unit test. At the end of the test the outcome of
 * all simulations is compared with the test's line in REPLAY_FILE.
 *
 * REPLAY_FILE=units.txt REPLAY_NAME=hvia-vi test_vi
 *
 * With REPLAY_WRITE a new line is added to REPLAY_FILE instead. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "outcome.h"

static pid_t self;

__attribute__((constructor)) static void begin(void)
{
	self = getpid();
	if (getenv("REPLAY_FILE"))
		outcome_begin();
}

/* Returns the text behind the arrow in the line of the test, or NULL if the
 * file has no such line. */
static char *wanted(const char *file, const char *name, char *line, int size)
{
	size_t n = strlen(name);
	FILE *f = fopen(file, "r");
	char *found = NULL;

	while (f && !found && fgets(line, size, f))
		if (!strncmp(line, name, n) && !strncmp(line + n, " -> ", 4))
			found = line + n + 4;
	if (f)
		fclose(f);
	if (found)
		found[strcspn(found, "\n")] = '\0';
	return found;
}

static void write_line(const char *file, const char *name, const char *got)
{
	FILE *f = fopen(file, "a");

	if (f)
		fprintf(f, "%s -> %s\n", name, got);
	if (!f || fclose(f))
		_exit(1);
}

static void compare(const char *file, const char *name, char *got)
{
	char line[OUTCOME_LINE], *want = wanted(file, name, line, sizeof(line));

	if (want && !strcmp(want, got))
		return;
	fprintf(stderr, "%s: %s: another outcome\n", file, name);
	if (want)
		outcome_explain(want, got);
	_exit(1);
}

__attribute__((destructor)) static void end(void)
{
	const char *file = getenv("REPLAY_FILE"), *name = getenv("REPLAY_NAME");
	const char *to = getenv("REPLAY_WRITE");
	char got[OUTCOME_LINE];

	if (!file || !name || getpid() != self)
		return;
	outcome_tell(outcome_end(), got, sizeof(got));
	if (to)
		write_line(to, name, got);
	else
		compare(file, name, got);
}
