/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a fuzz target over the inputs that a file names, and compares the
 * outcome of each input with the outcome in the file.
 *
 * replay_NAME FILE CORPUS [--write]
 *
 * Lines of the file:
 *
 * # a remark
 * = 05 03/1f **       a phrase of bytes: 05, then 03 | random & 1f, then any
 * stored X -> ...     files of the corpus whose names begin with X
 * said 7 20 -> ...    20 inputs from number 7 on, made of phrases in random
 *                     order with the first phrase at the beginning; the number
 *                     alone determines an input
 * mixed 1 20 -> ...   two stored inputs, put together and changed
 * random 1 20 -> ...  random bytes
 *
 * The text behind the arrow is the end of the run in ns, some sums, and the
 * digests of the parts of the outcome in the order of outcome.h. */
#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/vec.h"
#include "watch/outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { INPUT_MAX = 4096, SAID = 700, RANDOM = 600 };

struct phrase {
	uint32_t n;
	uint8_t value[96], mask[96];
};

struct input {
	uint32_t n;
	uint8_t data[INPUT_MAX];
};

static struct {
	const char *corpus;
	struct {
		VEC(struct phrase);
	} phrases;
	struct {
		VEC(char *);
	} stored; /* names of stored inputs in the lines read so far */
	uint64_t random;
} m;

static void die(const char *what, const char *of)
{
	fprintf(stderr, "%s: %s\n", of, what);
	exit(1);
}

static uint32_t below(uint32_t n)
{
	uint64_t x = m.random += 0x9E3779B97F4A7C15ull;

	x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
	x = (x ^ x >> 27) * 0x94D049BB133111EBull;
	return (uint32_t)(x >> 32) % n;
}

/* ---- inputs ---- */

static void phrase_add(char *text)
{
	struct phrase p = { 0 };

	for (char *t = strtok(text, " \n"); t && p.n < sizeof(p.value);
	     t = strtok(NULL, " \n"), p.n++) {
		if (!strcmp(t, "**")) {
			p.mask[p.n] = 0xFF;
			continue;
		}
		p.value[p.n] = (uint8_t)strtoul(t, &t, 16);
		if (*t == '/')
			p.mask[p.n] = (uint8_t)strtoul(t + 1, &t, 16);
		if (*t)
			die("is not a byte of a phrase", t);
	}
	vec_push(&m.phrases, p);
}

static void say(struct input *in, const struct phrase *p)
{
	for (uint32_t i = 0; i < p->n && in->n < INPUT_MAX; i++)
		in->data[in->n++] =
			p->value[i] | ((uint8_t)below(256) & p->mask[i]);
}

static void said(struct input *in)
{
	if (!m.phrases.n)
		die("has no phrases", "said");
	say(in, &m.phrases.at[0]);
	for (uint32_t want = 40 + below(SAID); in->n < want;)
		say(in, &m.phrases.at[below((uint32_t)m.phrases.n)]);
}

static void stored(struct input *in, const char *name)
{
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", m.corpus, name);
	f = fopen(path, "rb");
	if (!f)
		die("cannot be read", path);
	in->n = (uint32_t)fread(in->data, 1, INPUT_MAX, f);
	fclose(f);
}

static void change(struct input *in)
{
	uint32_t at = below(in->n);

	if (below(2))
		in->data[at] ^= (uint8_t)(1u << below(8));
	else
		in->data[at] = (uint8_t)below(256);
}

static void mixed(struct input *in)
{
	struct input *tail = calloc(1, sizeof(*tail));
	uint32_t from, n;

	if (!tail || !m.stored.n)
		die("has no stored inputs", "mixed");
	stored(in, m.stored.at[below((uint32_t)m.stored.n)]);
	stored(tail, m.stored.at[below((uint32_t)m.stored.n)]);
	in->n = in->n ? 1 + below(in->n) : 0;
	from = tail->n ? below(tail->n) : 0;
	n = tail->n - from;
	if (n > INPUT_MAX - in->n)
		n = INPUT_MAX - in->n;
	memcpy(in->data + in->n, tail->data + from, n);
	in->n += n;
	free(tail);
	for (uint32_t k = below(8); k && in->n; k--)
		change(in);
}

static void randomly(struct input *in)
{
	in->n = 8 + below(RANDOM);
	for (uint32_t i = 0; i < in->n; i++)
		in->data[i] = (uint8_t)below(256);
}

static void make(struct input *in, const char *kind, uint64_t seed)
{
	in->n = 0;
	m.random = seed << 32;
	if (!strcmp(kind, "said"))
		said(in);
	else if (!strcmp(kind, "mixed"))
		mixed(in);
	else if (!strcmp(kind, "random"))
		randomly(in);
	else
		die("is not a kind of input", kind);
}

/* ---- outcomes ---- */

static void run(const struct input *in)
{
	/* an exact copy, so that tools detect reads beyond its end */
	uint8_t *copy = malloc(in->n ? in->n : 1);

	if (!copy)
		abort();
	memcpy(copy, in->data, in->n);
	LLVMFuzzerTestOneInput(copy, in->n);
	free(copy);
}

/* Runs the stored inputs whose names begin with `begin`, in the order of their
 * names. */
static void run_stored(struct input *in, const char *begin)
{
	struct dirent **list;
	int n = scandir(m.corpus, &list, NULL, alphasort), ran = 0;

	for (int i = 0; i < n; i++) {
		if (!strncmp(list[i]->d_name, begin, strlen(begin))) {
			vec_push(&m.stored, strdup(list[i]->d_name));
			stored(in, list[i]->d_name);
			run(in);
			ran++;
		}
		free(list[i]);
	}
	if (n < 0 || !ran)
		die("is the beginning of no stored input", begin);
	free(list);
}

/* Runs all inputs of a line: "stored BEGIN" or "KIND FIRST COUNT". */
static void run_line(const char *text)
{
	static struct input in;
	char kind[16], name[256];
	unsigned long long first, count;

	if (sscanf(text, "stored %255s", name) == 1) {
		run_stored(&in, name);
	} else if (sscanf(text, "%15s %llu %llu", kind, &first, &count) == 3) {
		for (uint64_t i = first; i < first + count; i++) {
			make(&in, kind, i);
			run(&in);
		}
	} else {
		die("is not an input", text);
	}
}

static void one(const char *file, char *line, bool write)
{
	char got[OUTCOME_LINE], *arrow = strstr(line, " ->");

	if (arrow)
		*arrow = '\0';
	outcome_begin();
	run_line(line);
	outcome_tell(outcome_end(), got, sizeof(got));
	if (write) {
		printf("%s -> %s\n", line, got);
		return;
	}
	if (!arrow || strcmp(arrow + 4, got)) {
		fprintf(stderr, "%s: %s: another outcome\n", file, line);
		outcome_explain(arrow ? arrow + 4 : got, got);
		exit(1);
	}
}

/* Returns the name of the new file, which replaces the old one at the end. */
static const char *new_name(const char *file)
{
	static char name[4096];

	snprintf(name, sizeof(name), "%s.new", file);
	return name;
}

static bool rename_new(const char *file)
{
	return fflush(stdout) || rename(new_name(file), file);
}

int main(int argc, char **argv)
{
	bool write = argc == 4 && !strcmp(argv[3], "--write");
	char line[OUTCOME_LINE];
	uint32_t n = 0;
	FILE *f;

	if (argc < 3)
		die("FILE CORPUS [--write]", argv[0]);
	m.corpus = argv[2];
	f = fopen(argv[1], "r");
	if (!f || (write && !freopen(new_name(argv[1]), "w", stdout)))
		die("cannot be read or written", argv[1]);
	while (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		if (write && (!*line || *line == '#' || *line == '='))
			puts(line);
		if (*line == '=')
			phrase_add(line + 1);
		else if (*line && *line != '#')
			one(argv[1], line, write), n++;
	}
	fclose(f);
	if (write && rename_new(argv[1]))
		die("cannot be written", argv[1]);
	while (m.stored.n)
		free(vec_pop(&m.stored));
	vec_free(&m.stored);
	vec_free(&m.phrases);
	if (!write)
		printf("%u outcomes as committed\n", n);
	return 0;
}
