/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers of the programs, see program.h. */
#include "programs/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/prog.h"
#include "weft/prog.h"
#include "weft/trace.h"

struct program program_from(struct weft_comp *c)
{
	struct program w = { .c = c, .h = weft_prog_host(c) };

	w.me = weft_host_node(w.h);
	w.n = weft_host_nodes(w.h);
	return w;
}

void program_sent(struct program *w, uint32_t to)
{
	weft_sent(w->c, to, weft_prog_time(w->c));
}

void program_got(struct program *w, uint32_t from)
{
	weft_got(w->c, from, weft_prog_time(w->c));
}

void program_put(struct program *w, const char *key, uint64_t val)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.%u", key, w->me);
	weft_oob_put(w->h, name, val);
}

uint64_t program_get(struct program *w, const char *key, uint32_t node)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.%u", key, node);
	return weft_oob_get(w->h, name);
}

bool program_there(struct program *w, const char *key, uint32_t node)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.%u", key, node);
	return weft_oob_there(w->h, name);
}

void program_barrier(struct program *w, const char *name)
{
	program_put(w, name, 1);
	for (uint32_t i = 0; i < w->n; i++)
		program_get(w, name, i);
}

void program_barrier_n(struct program *w, const char *name, uint32_t k)
{
	char key[48];

	snprintf(key, sizeof(key), "%s.%u", name, k);
	program_barrier(w, key);
}

/* ---- lists of nodes ---- */

static int nodes_word(struct program *w, const char *text, uint32_t *node_p,
		      uint32_t max)
{
	bool all = !strcmp(text, "all"), others = !strcmp(text, "others");
	uint32_t n = 0;

	if (!strcmp(text, "none"))
		return 0;
	if (!strcmp(text, "self") || !strcmp(text, "next")) {
		node_p[0] = (w->me + (text[0] == 'n')) % w->n;
		return 1;
	}
	if (!all && !others)
		return -1;
	for (uint32_t i = 0; i < w->n && n < max; i++)
		if (all || i != w->me)
			node_p[n++] = i;
	return (int)n;
}

/* Parses "4..6" or "4". Returns a pointer to the first character behind the
 * parsed text, or NULL. */
static const char *nodes_range(const char *s, unsigned long *lo_p,
			       unsigned long *hi_p)
{
	char *end;

	*lo_p = *hi_p = strtoul(s, &end, 10);
	if (end == s)
		return NULL;
	if (strncmp(end, "..", 2))
		return end;
	s = end + 2;
	*hi_p = strtoul(s, &end, 10);
	return end == s ? NULL : end;
}

int program_nodes(struct program *w, const char *text, uint32_t *node_p,
		  uint32_t max)
{
	int n = nodes_word(w, text, node_p, max);
	unsigned long lo, hi;
	const char *s = text;

	if (n >= 0)
		return n;
	for (n = 0;; s++) {
		s = nodes_range(s, &lo, &hi);
		if (!s || lo > hi || hi >= w->n ||
		    (uint32_t)n + (hi - lo) >= max) {
			weft_check_failed(w->c,
					  "'%s' is no list of nodes 0..%u",
					  text, w->n - 1);
			return -1;
		}
		while (lo <= hi)
			node_p[n++] = (uint32_t)lo++;
		if (*s != ',')
			break;
	}
	return n;
}

/* ---- payload ---- */

uint64_t program_mix(uint64_t x)
{
	x ^= x >> 30;
	x *= 0xBF58476D1CE4E5B9ull;
	x ^= x >> 27;
	x *= 0x94D049BB133111EBull;
	return x ^ x >> 31;
}

uint64_t program_base(uint32_t src, uint32_t dst, uint64_t seq)
{
	return program_mix(program_mix((uint64_t)src << 32 | dst) + seq + 1);
}

void program_fill(void *p, uint32_t qwords, uint64_t base)
{
	uint64_t *q = p;

	for (uint32_t i = 0; i < qwords; i++, base += PROGRAM_STEP)
		q[i] = base;
}

int32_t program_check(const void *p, uint32_t from, uint32_t qwords,
		      uint64_t base)
{
	const uint64_t *q = p;
	uint64_t bad = 0, want = base + from * PROGRAM_STEP;

	/* The loop has no branch for each qword, because it checks all payload
	 * of a run and must be fast. */
	for (uint32_t i = from; i < qwords; i++, want += PROGRAM_STEP)
		bad |= q[i] ^ want;
	if (!bad)
		return -1;
	for (uint32_t i = from; i < qwords; i++)
		if (q[i] != base + i * PROGRAM_STEP)
			return (int32_t)i;
	return -1;
}

uint32_t program_qwords(uint32_t src, uint32_t dst, uint64_t seq, uint32_t min,
			uint32_t max)
{
	uint64_t r;

	if (min >= max)
		return min;
	r = program_mix(program_base(src, dst, seq) ^ 0x5A5A);
	return min + (uint32_t)(r % (max - min + 1));
}
