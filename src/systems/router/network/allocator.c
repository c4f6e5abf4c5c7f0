/* SPDX-License-Identifier: Apache-2.0 */
/* Allocators (allocator.h). Arbiters follow the rules of BookSim2's allocators
 * of the same names, because Weft is compared with BookSim2. */
#include "systems/router/network/allocator.h"

#include <stdlib.h>
#include <string.h>

#include "base/need.h"

static uint64_t *sets(uint32_t n, uint32_t words)
{
	return need(calloc((size_t)n * words + 1, sizeof(uint64_t)));
}

static struct arbiter *arbiters(enum arbiter_kind kind, uint32_t n,
				uint32_t size)
{
	struct arbiter *a = need(calloc(n, sizeof(*a)));
	uint32_t words = (size + 63) / 64;

	for (uint32_t k = 0; k < n && kind == ARBITER_MATRIX; k++) {
		a[k].above = sets(size, words);
		/* At the start the last candidate precedes all others. */
		for (uint32_t i = 0; i < size; i++)
			for (uint32_t j = i + 1; j < size; j++)
				set_add(a[k].above + (size_t)i * words, j);
	}
	return a;
}

void allocator_init(struct allocator *a, const struct allocator_spec *spec,
		    uint32_t n_in, uint32_t n_out)
{
	uint32_t w_in = (n_in + 63) / 64, w_out = (n_out + 63) / 64;
	uint32_t most = w_in > w_out ? w_in : w_out;

	*a = (struct allocator){
		.kind = spec->kind,
		.arbiter = spec->arbiter,
		.iterations = spec->iterations,
		.n_in = n_in,
		.n_out = n_out,
		.w_in = w_in,
		.w_out = w_out,
		.want = sets(n_in, w_out),
		.asked = sets(n_out, w_in),
		.ins = sets(1, w_in),
		.outs = sets(1, w_out),
		.match = need(calloc(n_in, sizeof(uint32_t))),
		.in = arbiters(spec->arbiter, n_in, n_out),
		.out = arbiters(spec->arbiter, n_out, n_in),
		.some = sets(n_in > n_out ? n_in : n_out, most),
		.free = sets(2, most),
		.set = sets(1, most),
	};
	if (spec->ranked) {
		a->rank_in =
			need(calloc((size_t)n_in * n_out, sizeof(*a->rank_in)));
		a->rank_out = need(
			calloc((size_t)n_in * n_out, sizeof(*a->rank_out)));
	}
}

static void room_free(struct allocator *a)
{
	if (a->shared)
		return;
	free(a->want);
	free(a->asked);
	free(a->ins);
	free(a->outs);
	free(a->rank_in);
	free(a->rank_out);
	free(a->match);
	free(a->some);
	free(a->free);
	free(a->set);
}

void allocator_fini(struct allocator *a)
{
	for (uint32_t i = 0; a->in && i < a->n_in; i++)
		free(a->in[i].above);
	for (uint32_t i = 0; a->out && i < a->n_out; i++)
		free(a->out[i].above);
	free(a->in);
	free(a->out);
	room_free(a);
}

bool allocator_share(struct allocator *a, const struct allocator *other)
{
	if (a->n_in != other->n_in || a->n_out != other->n_out ||
	    !a->rank_in != !other->rank_in)
		return false;
	room_free(a);
	a->want = other->want;
	a->asked = other->asked;
	a->ins = other->ins;
	a->outs = other->outs;
	a->rank_in = other->rank_in;
	a->rank_out = other->rank_out;
	a->match = other->match;
	a->some = other->some;
	a->free = other->free;
	a->set = other->set;
	a->shared = true;
	return true;
}

void allocator_clear(struct allocator *a)
{
	SET_EACH(a->ins, a->w_in, i)
	set_clear(a->want + i * a->w_out, a->w_out);
	SET_EACH(a->outs, a->w_out, o)
	set_clear(a->asked + o * a->w_in, a->w_in);
	set_clear(a->ins, a->w_in);
	set_clear(a->outs, a->w_out);
}

uint32_t set_next(const uint64_t *set, uint32_t words, uint32_t turn)
{
	uint32_t w = turn / 64;
	uint64_t m = set[w] & ~0ull << (turn & 63);

	for (uint32_t k = 0; k <= words; k++) {
		if (m)
			return w * 64 + (uint32_t)__builtin_ctzll(m);
		w = w + 1 < words ? w + 1 : 0;
		m = set[w];
	}
	return ARBITER_NONE;
}

/* ---- arbiters ---- */

/* Keeps the members of a set that have the highest rank. rank[i * step] is the
 * rank of member i. Returns the reduced set. */
static const uint64_t *highest(struct allocator *a, const uint64_t *set,
			       uint32_t words, const uint32_t *rank,
			       uint32_t step)
{
	uint32_t most = 0;

	SET_EACH(set, words, i)
	most = rank[(size_t)i * step] > most ? rank[(size_t)i * step] : most;
	set_clear(a->set, words);
	SET_EACH(set, words, i)
	if (rank[(size_t)i * step] == most)
		set_add(a->set, i);
	return a->set;
}

static uint32_t arbitrate(const struct allocator *a, const struct arbiter *b,
			  const uint64_t *set, uint32_t words)
{
	if (a->arbiter == ARBITER_ROUND_ROBIN)
		return set_next(set, words, b->turn);
	SET_EACH(set, words, i)
	{
		uint64_t before = 0;

		for (uint32_t w = 0; w < words; w++)
			before |= b->above[(size_t)i * words + w] & set[w];
		if (!before)
			return i;
	}
	return ARBITER_NONE;
}

/* Makes i the last in turn. */
static void arbiter_pass(const struct allocator *a, struct arbiter *b,
			 uint32_t i, uint32_t size)
{
	uint32_t words = (size + 63) / 64;

	if (a->arbiter == ARBITER_ROUND_ROBIN) {
		b->turn = i + 1 < size ? i + 1 : 0;
		return;
	}
	for (uint32_t j = 0; j < size; j++) {
		if (j == i)
			continue;
		set_remove(b->above + (size_t)j * words, i);
		set_add(b->above + (size_t)i * words, j);
	}
}

static uint32_t pick_output(struct allocator *a, uint32_t in,
			    const uint64_t *set)
{
	if (a->rank_in)
		set = highest(a, set, a->w_out,
			      a->rank_in + (size_t)in * a->n_out, 1);
	return arbitrate(a, &a->in[in], set, a->w_out);
}

static uint32_t pick_input(struct allocator *a, uint32_t out,
			   const uint64_t *set)
{
	if (a->rank_out)
		set = highest(a, set, a->w_in, a->rank_out + out, a->n_out);
	return arbitrate(a, &a->out[out], set, a->w_in);
}

static void matched(struct allocator *a, uint32_t in, uint32_t out, bool turn)
{
	a->match[in] = out;
	if (!turn)
		return;
	arbiter_pass(a, &a->in[in], out, a->n_out);
	arbiter_pass(a, &a->out[out], in, a->n_in);
}

/* ---- allocators ---- */

static void input_first(struct allocator *a)
{
	uint64_t *chosen = a->free;

	set_clear(chosen, a->w_out);
	SET_EACH(a->ins, a->w_in, i)
	{
		uint32_t o = pick_output(a, i, a->want + i * a->w_out);

		if (!set_has(chosen, o))
			set_clear(a->some + o * a->w_in, a->w_in);
		set_add(chosen, o);
		set_add(a->some + o * a->w_in, i);
	}
	SET_EACH(chosen, a->w_out, o)
	matched(a, pick_input(a, o, a->some + o * a->w_in), o, true);
}

static void output_first(struct allocator *a)
{
	uint64_t *chosen = a->free;

	set_clear(chosen, a->w_in);
	SET_EACH(a->outs, a->w_out, o)
	{
		uint32_t i = pick_input(a, o, a->asked + o * a->w_in);

		if (!set_has(chosen, i))
			set_clear(a->some + i * a->w_out, a->w_out);
		set_add(chosen, i);
		set_add(a->some + i * a->w_out, o);
	}
	SET_EACH(chosen, a->w_in, i)
	matched(a, i, pick_output(a, i, a->some + i * a->w_out), true);
}

/* Runs one iteration of grants and accepts. `ins` and `outs` are the inputs and
 * outputs without a match. Returns false if no output granted a request. */
static bool islip_once(struct allocator *a, uint64_t *ins, uint64_t *outs,
		       bool turn)
{
	uint64_t *granted = a->set + 0;
	bool any = false;

	SET_EACH(ins, a->w_in, i)
	set_clear(a->some + i * a->w_out, a->w_out);
	SET_EACH(outs, a->w_out, o)
	{
		uint32_t i;

		for (uint32_t w = 0; w < a->w_in; w++)
			granted[w] = a->asked[o * a->w_in + w] & ins[w];
		i = set_next(granted, a->w_in, a->out[o].turn);
		if (i == ARBITER_NONE)
			continue;
		set_add(a->some + i * a->w_out, o);
		any = true;
	}
	SET_EACH(ins, a->w_in, i)
	{
		uint32_t o = set_next(a->some + i * a->w_out, a->w_out,
				      a->in[i].turn);

		if (o == ARBITER_NONE)
			continue;
		matched(a, i, o, turn);
		set_remove(ins, i);
		set_remove(outs, o);
	}
	return any;
}

static void islip(struct allocator *a)
{
	uint32_t most = a->w_in > a->w_out ? a->w_in : a->w_out;
	uint64_t *ins = a->free, *outs = a->free + most;

	memcpy(ins, a->ins, 8 * a->w_in);
	memcpy(outs, a->outs, 8 * a->w_out);
	for (uint32_t k = 0; k < a->iterations; k++)
		if (!islip_once(a, ins, outs, k == 0))
			return;
}

/* Sets *rank_p to the highest rank of all requests. The rank at the output
 * decides before the rank at the input. If `first` is false, ignores requests
 * whose rank is not below the old *rank_p. Returns false if no request
 * remains. */
static bool wave_rank(const struct allocator *a, bool first, uint64_t *rank_p)
{
	uint64_t best = 0;
	bool found = false;

	SET_EACH(a->ins, a->w_in, i)
	SET_EACH(a->want + i * a->w_out, a->w_out, o)
	{
		uint64_t r = (uint64_t)a->rank_out[i * a->n_out + o] << 32 |
			     a->rank_in[i * a->n_out + o];

		if ((first || r < *rank_p) && (!found || r > best)) {
			best = r;
			found = true;
		}
	}
	*rank_p = best;
	return found;
}

/* Matches requests of one rank, or all if there are no ranks. */
static void wave(struct allocator *a, uint64_t *ins, uint64_t *outs,
		 uint64_t rank)
{
	uint32_t square = a->n_in > a->n_out ? a->n_in : a->n_out;

	for (uint32_t p = 0; p < square; p++)
		SET_EACH(ins, a->w_in, i)
		{
			uint32_t o = (a->turn + p + square - i) % square;
			size_t at = (size_t)i * a->n_out + o;

			if (o >= a->n_out || !set_has(outs, o) ||
			    !set_has(a->want + i * a->w_out, o) ||
			    (a->rank_in && ((uint64_t)a->rank_out[at] << 32 |
					    a->rank_in[at]) != rank))
				continue;
			a->match[i] = o;
			set_remove(ins, i);
			set_remove(outs, o);
		}
}

static void wavefront(struct allocator *a)
{
	uint32_t most = a->w_in > a->w_out ? a->w_in : a->w_out;
	uint32_t square = a->n_in > a->n_out ? a->n_in : a->n_out;
	uint64_t *ins = a->free, *outs = a->free + most, rank = 0;

	memcpy(ins, a->ins, 8 * a->w_in);
	memcpy(outs, a->outs, 8 * a->w_out);
	if (!a->rank_in)
		wave(a, ins, outs, 0);
	for (bool first = true; a->rank_in && wave_rank(a, first, &rank);
	     first = false)
		wave(a, ins, outs, rank);
	a->turn = (a->turn + 1) % square;
}

/* Matches an input with an output. If the output is matched with another input,
 * first matches that input with a different output. Skips the outputs in
 * `tried`, and adds those that it visits. Returns false if no output is
 * found. */
static bool augment(struct allocator *a, uint32_t in, uint64_t *tried,
		    uint32_t *owner)
{
	SET_EACH(a->want + in * a->w_out, a->w_out, o)
	{
		if (set_has(tried, o))
			continue;
		set_add(tried, o);
		if (owner[o] != ARBITER_NONE &&
		    !augment(a, owner[o], tried, owner))
			continue;
		owner[o] = in;
		a->match[in] = o;
		return true;
	}
	return false;
}

static void maximum(struct allocator *a)
{
	uint32_t owner[a->n_out];

	memset(owner, 0xff, sizeof(owner));
	for (uint32_t k = 0; k < a->n_in; k++) {
		uint32_t i = (a->turn + k) % a->n_in;

		if (!set_has(a->ins, i))
			continue;
		set_clear(a->free, a->w_out);
		augment(a, i, a->free, owner);
	}
	a->turn = (a->turn + 1) % a->n_in;
}

void allocator_pass(struct allocator *a, uint32_t in, uint32_t out)
{
	if (a->kind == ALLOCATOR_WAVEFRONT || a->kind == ALLOCATOR_MAXIMUM)
		return;
	arbiter_pass(a, &a->in[in], out, a->n_out);
	arbiter_pass(a, &a->out[out], in, a->n_in);
}

void allocator_turn(struct allocator *a, uint64_t runs)
{
	uint32_t n = a->n_in;

	if (a->kind != ALLOCATOR_WAVEFRONT && a->kind != ALLOCATOR_MAXIMUM)
		return;
	if (a->kind == ALLOCATOR_WAVEFRONT)
		n = a->n_in > a->n_out ? a->n_in : a->n_out;
	a->turn = (uint32_t)((a->turn + runs) % n);
}

void allocator_run(struct allocator *a)
{
	static void (*const runs[])(struct allocator *) = {
		[ALLOCATOR_INPUT_FIRST] = input_first,
		[ALLOCATOR_OUTPUT_FIRST] = output_first,
		[ALLOCATOR_ISLIP] = islip,
		[ALLOCATOR_WAVEFRONT] = wavefront,
		[ALLOCATOR_MAXIMUM] = maximum,
	};

	if (set_empty(a->ins, a->w_in))
		return;
	SET_EACH(a->ins, a->w_in, i)
	a->match[i] = ARBITER_NONE;
	runs[a->kind](a);
}
