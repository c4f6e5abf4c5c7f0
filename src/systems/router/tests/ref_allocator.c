/* SPDX-License-Identifier: Apache-2.0 */
/* Reference allocators (ref_allocator.h). */
#include "systems/router/tests/ref_allocator.h"

#include <stdlib.h>
#include <string.h>

/* Returns a pointer to the entry of arbiter k's matrix that says whether a
 * precedes b. n is the number of candidates of each arbiter. */
static bool *older(bool *of, int k, int n, int a, int b)
{
	return &of[((size_t)k * (size_t)n + (size_t)a) * (size_t)n + (size_t)b];
}

struct ref_allocator *ref_allocator_new(const struct allocator_spec *spec,
					int n_in, int n_out)
{
	struct ref_allocator *a = calloc(1, sizeof(*a));

	a->spec = *spec;
	a->n_in = n_in;
	a->n_out = n_out;
	if (spec->arbiter != ARBITER_MATRIX)
		return a;
	a->older_in = calloc((size_t)(n_in * n_out * n_out), 1);
	a->older_out = calloc((size_t)(n_in * n_in * n_out), 1);
	for (int k = 0; k < n_in; k++)
		for (int i = 0; i < n_out; i++)
			for (int j = 0; j < i; j++)
				*older(a->older_in, k, n_out, i, j) = true;
	for (int k = 0; k < n_out; k++)
		for (int i = 0; i < n_in; i++)
			for (int j = 0; j < i; j++)
				*older(a->older_out, k, n_in, i, j) = true;
	return a;
}

void ref_allocator_free(struct ref_allocator *a)
{
	free(a->older_in);
	free(a->older_out);
	free(a);
}

void ref_allocator_clear(struct ref_allocator *a)
{
	for (int i = 0; i < a->n_in; i++)
		memset(a->want[i], 0, sizeof(bool) * (size_t)a->n_out);
}

/* Identifies an arbiter. The arbiter of output `self` chooses an input. The
 * arbiter of input `self` chooses an output. */
struct side {
	bool outputs;
	int self;
};

static bool asks(const struct ref_allocator *a, const bool *ok, struct side s,
		 int i)
{
	return ok[i] && (s.outputs ? a->want[i][s.self] : a->want[s.self][i]);
}

static uint32_t rank(const struct ref_allocator *a, struct side s, int i)
{
	if (!a->spec.ranked)
		return 0;
	return s.outputs ? a->rank_out[i][s.self] : a->rank_in[s.self][i];
}

/* Returns the candidate that arbiter s chooses, or -1. Candidates are the
 * requests whose `ok` is true. */
static int arbiter(const struct ref_allocator *a, const bool *ok, struct side s)
{
	int n = s.outputs ? a->n_in : a->n_out, best = -1;
	int turn = s.outputs ? a->turn_out[s.self] : a->turn_in[s.self];

	for (int i = 0; i < n; i++) {
		bool before;

		if (!asks(a, ok, s, i))
			continue;
		if (best < 0) {
			best = i;
			continue;
		}
		if (rank(a, s, i) != rank(a, s, best))
			before = rank(a, s, i) > rank(a, s, best);
		else if (a->spec.arbiter == ARBITER_MATRIX)
			before = *older(s.outputs ? a->older_out : a->older_in,
					s.self, n, i, best);
		else
			before = (i - turn + n) % n < (best - turn + n) % n;
		if (before)
			best = i;
	}
	return best;
}

static void pass(struct ref_allocator *a, int in, int out)
{
	a->turn_in[in] = (out + 1) % a->n_out;
	a->turn_out[out] = (in + 1) % a->n_in;
	for (int o = 0; a->older_in && o < a->n_out; o++)
		if (o != out) {
			*older(a->older_in, in, a->n_out, out, o) = false;
			*older(a->older_in, in, a->n_out, o, out) = true;
		}
	for (int i = 0; a->older_out && i < a->n_in; i++)
		if (i != in) {
			*older(a->older_out, out, a->n_in, in, i) = false;
			*older(a->older_out, out, a->n_in, i, in) = true;
		}
}

/* Matches in two stages. Each arbiter of the first side chooses a request, then
 * each arbiter of the other side chooses one of those. */
static void separable(struct ref_allocator *a, bool outputs_first)
{
	int n = outputs_first ? a->n_out : a->n_in;
	int m = outputs_first ? a->n_in : a->n_out;
	int chose[REF_SIDE];
	bool all[REF_SIDE], ok[REF_SIDE];

	memset(all, 1, sizeof(all));
	for (int k = 0; k < n; k++)
		chose[k] = arbiter(a, all, (struct side){ outputs_first, k });
	for (int k = 0; k < m; k++) {
		int got;

		for (int j = 0; j < n; j++)
			ok[j] = chose[j] == k;
		got = arbiter(a, ok, (struct side){ !outputs_first, k });
		if (got < 0)
			continue;
		a->match[outputs_first ? k : got] = outputs_first ? got : k;
		pass(a, outputs_first ? k : got, outputs_first ? got : k);
	}
}

static void islip(struct ref_allocator *a)
{
	bool taken[REF_SIDE] = { false };

	for (uint32_t iter = 0; iter < a->spec.iterations; iter++) {
		int grant[REF_SIDE];

		for (int o = 0; o < a->n_out; o++) {
			grant[o] = -1;
			for (int k = 0; k < a->n_in && !taken[o]; k++) {
				int i = (a->turn_out[o] + k) % a->n_in;

				if (grant[o] < 0 && a->want[i][o] &&
				    a->match[i] < 0)
					grant[o] = i;
			}
		}
		for (int i = 0; i < a->n_in; i++)
			for (int k = 0, from = a->turn_in[i]; k < a->n_out;
			     k++) {
				int o = (from + k) % a->n_out;

				if (grant[o] != i || a->match[i] >= 0)
					continue;
				a->match[i] = o;
				taken[o] = true;
				if (!iter)
					pass(a, i, o);
			}
	}
}

static void wavefront(struct ref_allocator *a)
{
	int n = a->n_in > a->n_out ? a->n_in : a->n_out, left = 0;
	bool done[REF_SIDE] = { false };
	bool first = true;
	uint64_t below = 0;

	for (;;) {
		uint64_t best = 0;
		bool any = false;

		for (int i = 0; i < a->n_in; i++)
			for (int o = 0; o < a->n_out; o++) {
				uint64_t r =
					!a->spec.ranked
						? 0
						: (uint64_t)a->rank_out[i][o]
								  << 32 |
							  a->rank_in[i][o];

				if (a->want[i][o] && (first || r < below) &&
				    (!any || r > best)) {
					best = r;
					any = true;
				}
			}
		if (!any)
			break;
		left = 1;
		for (int d = 0; d < n; d++)
			for (int i = 0; i < a->n_in; i++) {
				int o = ((a->turn + d - i) % n + n) % n;
				uint64_t r;

				if (o >= a->n_out)
					continue;
				r = !a->spec.ranked
					    ? 0
					    : (uint64_t)a->rank_out[i][o]
							      << 32 |
						      a->rank_in[i][o];
				if (a->want[i][o] && r == best && !done[o] &&
				    a->match[i] < 0) {
					a->match[i] = o;
					done[o] = true;
				}
			}
		below = best;
		first = false;
	}
	if (left)
		a->turn = (a->turn + 1) % n;
}

static bool find(struct ref_allocator *a, int in, bool *tried, int *owner)
{
	for (int o = 0; o < a->n_out; o++) {
		if (!a->want[in][o] || tried[o])
			continue;
		tried[o] = true;
		if (owner[o] >= 0 && !find(a, owner[o], tried, owner))
			continue;
		owner[o] = in;
		a->match[in] = o;
		return true;
	}
	return false;
}

static void maximum(struct ref_allocator *a)
{
	int owner[REF_SIDE];
	bool any = false;

	memset(owner, 0xff, sizeof(owner));
	for (int k = 0; k < a->n_in; k++) {
		bool tried[REF_SIDE] = { false };

		for (int o = 0; o < a->n_out; o++)
			any |= a->want[k][o];
		find(a, (a->turn + k) % a->n_in, tried, owner);
	}
	if (any)
		a->turn = (a->turn + 1) % a->n_in;
}

void ref_allocator_run(struct ref_allocator *a)
{
	for (int i = 0; i < a->n_in; i++)
		a->match[i] = -1;
	switch (a->spec.kind) {
	case ALLOCATOR_INPUT_FIRST:
	case ALLOCATOR_OUTPUT_FIRST:
		separable(a, a->spec.kind == ALLOCATOR_OUTPUT_FIRST);
		break;
	case ALLOCATOR_ISLIP:
		islip(a);
		break;
	case ALLOCATOR_WAVEFRONT:
		wavefront(a);
		break;
	case ALLOCATOR_MAXIMUM:
		maximum(a);
		break;
	}
}
