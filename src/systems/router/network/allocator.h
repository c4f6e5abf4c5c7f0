/* SPDX-License-Identifier: Apache-2.0 */
/* Allocators: each input is matched with at most one of the outputs that it
 * requests, and each output with at most one input (Dally and Towles, chapter
 * 19). Requests are rows and columns of bits. One row, one column, one turn of
 * an arbiter are a few operations on words.
 *
 * input_first	an arbiter per input chooses one of its outputs, then one per
 *		output chooses among the inputs that chose it
 * output_first	the other way round
 * islip	each free output grants an input, then each input accepts a
 *		grant. Turns go on from the last pair that was matched in the
 *		first of several iterations (McKeown 1999).
 * wavefront	all pairs of a diagonal at a time. The first diagonal moves on
 *		with each run.
 * maximum	as many pairs as possible: a bound, because no hardware finds
 *		them in a cycle
 *
 * Turns of arbiters change only when a pair is matched. Ranks order requests.
 * Arbiters of inputs prefer a high rank of the input, arbiters of outputs a
 * high rank of the output, wavefront both. islip and maximum ignore ranks. */
#ifndef SYSTEMS_ROUTER_NETWORK_ALLOCATOR_H
#define SYSTEMS_ROUTER_NETWORK_ALLOCATOR_H

#include <string.h>

#include "weft/types.h"

enum allocator_kind {
	ALLOCATOR_INPUT_FIRST,
	ALLOCATOR_OUTPUT_FIRST,
	ALLOCATOR_ISLIP,
	ALLOCATOR_WAVEFRONT,
	ALLOCATOR_MAXIMUM,
};
#define ALLOCATOR_NAMES "input_first|output_first|islip|wavefront|maximum"

enum arbiter_kind {
	ARBITER_ROUND_ROBIN, /* the next one after the last that was matched */
	ARBITER_MATRIX,	     /* the one that was matched longest ago */
};
#define ARBITER_NONE UINT32_MAX

/* An arbiter, which chooses a bit of a set. */
struct arbiter {
	uint32_t turn;	 /* round robin: the first in turn */
	uint64_t *above; /* matrix: by bit, the set of those before it */
};

struct allocator {
	enum allocator_kind kind;
	enum arbiter_kind arbiter;
	uint32_t iterations; /* islip */
	uint32_t n_in, n_out;
	uint32_t w_in, w_out; /* words of a set of inputs, of outputs */
	/* Requests: outputs by input, inputs by output. Then the sets of inputs
	 * and of outputs that have requests. */
	uint64_t *want, *asked, *ins, *outs;
	/* Ranks by input and output, or NULL: all are equal. */
	uint32_t *rank_in, *rank_out;
	/* Result, for inputs with requests: their output or ARBITER_NONE. */
	uint32_t *match;
	struct arbiter *in, *out;
	uint32_t turn;		     /* wavefront, maximum */
	uint64_t *some, *free, *set; /* sets in use by a run */
	bool shared; /* sets, ranks and result are not its own */
};

/* Settings of an allocator. */
struct allocator_spec {
	enum allocator_kind kind;
	enum arbiter_kind arbiter;
	uint32_t iterations;
	bool ranked; /* requests have ranks */
};

/* Allocates the memory for n_in inputs and n_out outputs, which
 * allocator_fini() frees. */
void allocator_init(struct allocator *a, const struct allocator_spec *spec,
		    uint32_t n_in, uint32_t n_out);
void allocator_fini(struct allocator *a);
/* Frees the memory that a run needs, and uses that of `other` from now on. The
 * two allocators never have requests at the same time, and `other` lives as
 * long. Returns false if they differ in size. */
bool allocator_share(struct allocator *a, const struct allocator *other);

/* Adds a request. */
static inline void allocator_add(struct allocator *a, uint32_t in, uint32_t out,
				 uint32_t rank_in, uint32_t rank_out)
{
	a->want[in * a->w_out + out / 64] |= 1ull << (out & 63);
	a->asked[out * a->w_in + in / 64] |= 1ull << (in & 63);
	a->ins[in / 64] |= 1ull << (in & 63);
	a->outs[out / 64] |= 1ull << (out & 63);
	if (a->rank_in) {
		a->rank_in[in * a->n_out + out] = rank_in;
		a->rank_out[in * a->n_out + out] = rank_out;
	}
}
/* Matches the requests that were added since the last allocator_clear(). */
void allocator_run(struct allocator *a);
/* Returns true if requests have no ranks, and an input without competitors
 * takes the first output in turn. */
static inline bool allocator_simple(const struct allocator *a)
{
	return !a->rank_in && a->arbiter == ARBITER_ROUND_ROBIN &&
	       a->kind <= ALLOCATOR_ISLIP;
}
/* Moves turns on as if a run had matched this pair without competitors. */
void allocator_pass(struct allocator *a, uint32_t in, uint32_t out);
/* Moves on what turns once per run. */
void allocator_turn(struct allocator *a, uint64_t runs);
/* Removes all requests. */
void allocator_clear(struct allocator *a);

/* Loops over the bits of a set of `words` words. The body may change the set.
 */
#define SET_EACH(set, words, i)                                                \
	for (uint32_t w_##i = 0, i = 0; w_##i < (words); w_##i++)              \
		for (uint64_t m_##i = (set)[w_##i];                            \
		     m_##i &&                                                  \
		     (i = w_##i * 64 + (uint32_t)__builtin_ctzll(m_##i), 1);   \
		     m_##i &= m_##i - 1)
static inline void set_add(uint64_t *set, uint32_t i)
{
	set[i / 64] |= 1ull << (i & 63);
}
static inline void set_remove(uint64_t *set, uint32_t i)
{
	set[i / 64] &= ~(1ull << (i & 63));
}
static inline bool set_has(const uint64_t *set, uint32_t i)
{
	return set[i / 64] >> (i & 63) & 1;
}
/* Empties a set. Most sets have one word, for which a call would cost more. */
static inline void set_clear(uint64_t *set, uint32_t words)
{
	if (words == 1)
		*set = 0;
	else
		memset(set, 0, 8ul * words);
}
static inline bool set_empty(const uint64_t *set, uint32_t words)
{
	uint64_t any = set[0];

	for (uint32_t w = 1; w < words; w++)
		any |= set[w];
	return !any;
}
/* Returns the first bit of the set from `turn` on, in a circle, or
 * ARBITER_NONE. */
uint32_t set_next(const uint64_t *set, uint32_t words, uint32_t turn);

#endif
