/* SPDX-License-Identifier: Apache-2.0 */
/* Reference allocators, written after their definitions and without sets of
 * bits. Tests compare the allocators of allocator.h with them. */
#ifndef SYSTEMS_ROUTER_TESTS_REF_ALLOCATOR_H
#define SYSTEMS_ROUTER_TESTS_REF_ALLOCATOR_H

#include "systems/router/network/allocator.h"

enum { REF_SIDE = 160 };

struct ref_allocator {
	struct allocator_spec spec;
	int n_in, n_out;
	bool want[REF_SIDE][REF_SIDE]; /* [input][output] */
	uint32_t rank_in[REF_SIDE][REF_SIDE], rank_out[REF_SIDE][REF_SIDE];
	int match[REF_SIDE]; /* output of an input, or -1 */
	/* State of round-robin arbiters (turn) and matrix arbiters (older). In
	 * a matrix, [a][b] is true if a precedes b. */
	int turn_in[REF_SIDE], turn_out[REF_SIDE], turn;
	bool *older_in, *older_out; /* [side][a][b], see older() */
};

/* Returns a new allocator. */
struct ref_allocator *ref_allocator_new(const struct allocator_spec *spec,
					int n_in, int n_out);
void ref_allocator_free(struct ref_allocator *a);
void ref_allocator_clear(struct ref_allocator *a);
void ref_allocator_run(struct ref_allocator *a);

#endif
