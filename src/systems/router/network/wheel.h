/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles in which stations of a network have something to do. A slot holds the
 * stations of all cycles whose distance is a multiple of WHEEL_SLOTS.
 *
 * The stations of a cycle are taken in the order of their numbers, each once. A
 * station may be asked for in a cycle in which it has nothing to do. */
#ifndef SYSTEMS_ROUTER_NETWORK_WHEEL_H
#define SYSTEMS_ROUTER_NETWORK_WHEEL_H

#include <assert.h>

#include "base/vec.h"
#include "weft/types.h"

enum { WHEEL_SLOTS = 1024 };
#define WHEEL_NEVER UINT64_MAX

struct wheel_entry {
	uint64_t cycle;
	uint32_t id;
};

struct wheel {
	struct {
		VEC(struct wheel_entry);
	} slot[WHEEL_SLOTS];
	uint64_t busy[WHEEL_SLOTS / 64]; /* slots with entries */
	uint64_t next;			 /* first cycle that is not taken yet */
	uint32_t n;			 /* stations */
	/* Set of the stations of the cycle, and set of its words that are not
	 * empty. */
	uint64_t *due, *words;
};

/* Returns the number of a new station. */
uint32_t wheel_join(struct wheel *w);
void wheel_fini(struct wheel *w);
/* Asks for a step of station `id` in a cycle that wheel_take() has not taken
 * yet. */
static inline void wheel_add(struct wheel *w, uint64_t cycle, uint32_t id)
{
	uint32_t k = cycle % WHEEL_SLOTS;

	assert(cycle >= w->next);
	w->busy[k / 64] |= 1ull << (k & 63);
	vec_push(&w->slot[k], (struct wheel_entry){ cycle, id });
}
/* Returns the first cycle that is not taken and may have stations, or
 * WHEEL_NEVER. */
uint64_t wheel_next(const struct wheel *w);
/* Takes the stations of a cycle, and calls step(own, id) for each, in order.
 * Later cycles may be asked for meanwhile. */
void wheel_take(struct wheel *w, uint64_t cycle,
		void (*step)(void *own, uint32_t id, uint64_t cycle),
		void *own);

#endif
