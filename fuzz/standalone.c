/* SPDX-License-Identifier: Apache-2.0 */
/* A main for fuzz targets without libFuzzer: runs every stored input, then
 * simple mutations of them for some seconds. Takes the options of libFuzzer
 * that the tests use. A failing input is in ./crash-input afterwards. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/vec.h"

#define INPUT_MAX 4096

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
	uint8_t *data;
	size_t len;
};

static struct {
	VEC(struct input);
} corpus;

static uint64_t rng_state = 88172645463325252u;

static uint32_t rnd(uint32_t below)
{
	rng_state ^= rng_state << 13;
	rng_state ^= rng_state >> 7;
	rng_state ^= rng_state << 17;
	return (uint32_t)(rng_state >> 32) % below;
}

static void load_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	struct input in = { .data = malloc(INPUT_MAX) };

	if (!f || !in.data) {
		perror(path);
		exit(1);
	}
	in.len = fread(in.data, 1, INPUT_MAX, f);
	fclose(f);
	vec_push(&corpus, in);
}

static void load(const char *path)
{
	struct dirent **list;
	char full[4096];
	struct stat st;
	int n;

	if (stat(path, &st) || !S_ISDIR(st.st_mode)) {
		load_file(path);
		return;
	}
	n = scandir(path, &list, NULL, alphasort);
	for (int i = 0; i < n; i++) {
		snprintf(full, sizeof(full), "%s/%s", path, list[i]->d_name);
		if (list[i]->d_name[0] != '.')
			load_file(full);
		free(list[i]);
	}
	free(list);
}

/* Runs one input. The input is stored first, so that the file is left after a
 * crash. */
static void run_one(const uint8_t *data, size_t len)
{
	/* The copy has exactly len bytes, so that AddressSanitizer detects a
	 * read past the end. */
	uint8_t *copy = malloc(len ? len : 1);
	FILE *f = fopen("crash-input", "wb");

	if (!copy)
		abort();
	memcpy(copy, data, len);
	if (f) {
		fwrite(data, 1, len, f);
		fclose(f);
	}
	LLVMFuzzerTestOneInput(copy, len);
	free(copy);
}

static size_t mutate(uint8_t *buf, size_t len)
{
	const struct input *other = &corpus.at[rnd((uint32_t)corpus.n)];
	size_t at = len ? rnd((uint32_t)len) : 0, n, from;

	switch (rnd(5)) {
	case 0: /* flips one bit */
		if (len)
			buf[at] ^= (uint8_t)(1u << rnd(8));
		return len;
	case 1: /* replaces one byte */
		if (len)
			buf[at] = (uint8_t)rnd(256);
		return len;
	case 2: /* removes some bytes */
		n = len ? 1 + rnd((uint32_t)(len - at)) : 0;
		memmove(buf + at, buf + at + n, len - at - n);
		return len - n;
	case 3: /* repeats some bytes */
		n = len - at < INPUT_MAX - len ? len - at : INPUT_MAX - len;
		memmove(buf + at + n, buf + at, len - at);
		return len + n;
	default: /* overwrites bytes by a piece of another input */
		from = other->len ? rnd((uint32_t)other->len) : 0;
		n = other->len - from;
		if (n > INPUT_MAX - at)
			n = INPUT_MAX - at;
		memcpy(buf + at, other->data + from, n);
		return at + n > len ? at + n : len;
	}
}

int main(int argc, char **argv)
{
	time_t seconds = 0, end;
	uint8_t buf[INPUT_MAX];
	uint64_t runs = 0;

	for (int i = 1; i < argc; i++) {
		if (!strncmp(argv[i], "-max_total_time=", 16))
			seconds = atoi(argv[i] + 16);
		else if (argv[i][0] != '-')
			load(argv[i]);
	}
	for (size_t i = 0; i < corpus.n; i++, runs++)
		run_one(corpus.at[i].data, corpus.at[i].len);
	end = time(NULL) + seconds;
	while (corpus.n && seconds && time(NULL) < end) {
		const struct input *in = &corpus.at[rnd((uint32_t)corpus.n)];
		size_t len = in->len;

		memcpy(buf, in->data, len);
		for (uint32_t k = 1 + rnd(8); k; k--)
			len = mutate(buf, len);
		run_one(buf, len);
		runs++;
	}
	remove("crash-input");
	printf("%llu inputs\n", (unsigned long long)runs);
	while (corpus.n)
		free(vec_pop(&corpus).data);
	vec_free(&corpus);
	return 0;
}
