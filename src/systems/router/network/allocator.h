/* SPDX-License-Identifier: Apache-2.0 */
/* Allocators. An allocator matches each input with at most one of the outputs
 * that it requests, and each output with at most one input (Dally and Towles,
 * chapter 19). Requests are stored as sets of bits, by input and by output, so
 * that an arbiter needs only a few operations on words.
 *
 * input_first	The arbiter of each input chooses an output. Then the arbiter of
 *		each output chooses among the inputs that chose it.
 * output_first	The arbiters of the outputs choose first, then the arbiters of
 *		the inputs.
 * islip	Each free output grants an input, then each input accepts a
 *		grant. Only the first of several iterations advances the
 *		round robin of the arbiters (McKeown 1999).
 * wavefront	Matches the pairs of one diagonal of the request matrix after
 *		another. Each run starts at the next diagonal.
 * maximum	Finds as many pairs as possible. It is an upper bound, because
 *		hardware cannot find them in a cycle.
 *
 * An arbiter advances only when a pair is matched. Each request may have a rank
 * at its input and a rank at its output. Arbiters of inputs prefer a high rank
 * at the input, arbiters of outputs a high rank at the output. wavefront
 * compares both ranks, islip and maximum ignore them. */
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
	ARBITER_ROUND_ROBIN, /* chooses the next one after the last match */
	ARBITER_MATRIX,	     /* chooses the one matched longest ago */
};
#define ARBITER_NONE UINT32_MAX

/* An arbiter, which chooses a bit of a set. */
struct arbiter {
	uint32_t turn;	 /* round robin: bit with the highest priority */
	uint64_t *above; /* matrix: for each bit, the bits that precede it */
};

struct allocator {
	enum allocator_kind kind;
	enum arbiter_kind arbiter;
	uint32_t iterations; /* islip */
	uint32_t n_in, n_out;
	uint32_t w_in, w_out; /* words of a set of inputs, of outputs */
	/* want: for each input, the set of requested outputs. asked: for each
	 * output, the set of requesting inputs. ins, outs: sets of inputs and
	 * outputs that have requests. */
	uint64_t *want, *asked, *ins, *outs;
	/* Ranks of each pair of input and output. NULL: all ranks are equal. */
	uint32_t *rank_in, *rank_out;
	/* Result: output of each input with requests, or ARBITER_NONE. */
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
/* Frees the requests and results of `a`, and uses the memory of `other` for
 * them. The caller ensures that the two allocators never have requests at the
 * same time, and that `other` outlives `a`. Returns false if the allocators
 * differ in size. */
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
/* Returns true if an input without competitors is always matched with its first
 * requested output in the round robin. */
static inline bool allocator_simple(const struct allocator *a)
{
	return !a->rank_in && a->arbiter == ARBITER_ROUND_ROBIN &&
	       a->kind <= ALLOCATOR_ISLIP;
}
/* Advances the arbiters as if a run had matched this pair without
 * competitors. */
void allocator_pass(struct allocator *a, uint32_t in, uint32_t out);
/* Advances `turn` as `runs` calls of allocator_run() would. */
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
/* Returns the first bit of the set from bit `turn` on, else the first bit of
 * the set, or ARBITER_NONE if the set is empty. */
uint32_t set_next(const uint64_t *set, uint32_t words, uint32_t turn);

#endif
