/* SPDX-License-Identifier: Apache-2.0 */
/* Topology anynet of BookSim2: a graph whose cables are listed in a file. The
 * experiment names this file, and the fabric reads and checks it. Therefore
 * only the number of ends is found here. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "systems/router/import/booksim.h"

enum { LINE = 65536, ENDS = 65536, FILE_MAX = 16 << 20 };

/* Opens the network's file where BookSim2 looks for it, or else in the folder
 * of the configuration. Writes the path to *path_p, which the caller frees. */
static FILE *file_open(const struct booksim *b, char **path_p)
{
	const char *name = booksim_text(b, "network_file");
	const char *slash = strrchr(b->im->file, '/');
	FILE *f = fopen(name, "r");
	int len;

	if (f || name[0] == '/' || !slash)
		len = asprintf(path_p, "%s", name);
	else
		len = asprintf(path_p, "%.*s/%s", (int)(slash - b->im->file),
			       b->im->file, name);
	if (len < 0)
		abort();
	return f ? f : fopen(*path_p, "r");
}

/* Returns the reason for which a file is refused, or NULL. Only regular files
 * of limited size are read, because others could be endless. */
static const char *file_fault(FILE *f)
{
	struct stat st;

	if (fstat(fileno(f), &st) < 0 || !S_ISREG(st.st_mode))
		return "a file of lines would do";
	return st.st_size > FILE_MAX ? "at most 16 MiB would do" : NULL;
}

/* Returns the highest number that follows the word `node` in a line, plus 1. */
static uint32_t line_ends(char *line)
{
	char *save, *word = strtok_r(line, " \t\r\n", &save);
	unsigned long most = 0;

	while (word) {
		bool node = !strcmp(word, "node");

		word = strtok_r(NULL, " \t\r\n", &save);
		if (node && word && strtoul(word, NULL, 10) < ENDS &&
		    strtoul(word, NULL, 10) >= most)
			most = strtoul(word, NULL, 10) + 1;
	}
	return (uint32_t)most;
}

uint32_t booksim_anynet_nodes(struct booksim *b)
{
	char *path = NULL, *line;
	FILE *f = file_open(b, &path);
	const char *fault = f	      ? file_fault(f)
			    : path[0] ? strerror(errno)
				      : "the name of a file would do";
	uint32_t ends = 0;

	if (fault) {
		booksim_cannot(b, "network_file", "%s: %s", path, fault);
		if (f)
			fclose(f);
		free(path);
		return 0;
	}
	line = malloc(LINE);
	while (line && fgets(line, LINE, f)) {
		uint32_t n = line_ends(line);

		ends = n > ends ? n : ends;
	}
	fclose(f);
	free(line);
	free(path);
	if (!ends)
		booksim_cannot(b, "network_file",
			       "there is no end in it: router 0 node 0 router "
			       "1 would do");
	return ends;
}

void booksim_anynet_write(struct booksim *b, FILE *f)
{
	char *path = NULL;
	FILE *in = file_open(b, &path);

	if (in)
		fclose(in);
	fprintf(f, "  topology: graph\n  file: \"%s\"\n", path);
	free(path);
}
