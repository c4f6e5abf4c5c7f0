/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles in which stations of a network have something to do. Most of them are
 * near: each of the next WHEEL_NEAR cycles has a set of stations. Later cycles
 * have slots. A slot holds the stations of all cycles whose distance is a
 * multiple of WHEEL_SLOTS.
 *
 * The stations of a cycle are taken in the order of their numbers, each once. A
 * station may be asked for in a cycle in which it has nothing to do. */
#ifndef SYSTEMS_ROUTER_NETWORK_WHEEL_H
#define SYSTEMS_ROUTER_NETWORK_WHEEL_H

#include <assert.h>

#include "base/vec.h"
#include "weft/types.h"

enum { WHEEL_SLOTS = 1024, WHEEL_NEAR = 64 };
#define WHEEL_NEVER UINT64_MAX

struct wheel_entry {
	uint64_t cycle;
	uint32_t id;
};

struct wheel {
	uint64_t next; /* first cycle that is not taken yet */
	/* By the lowest bits of a near cycle. `soon`: cycles with stations, as
	 * bits. `near`: set of the stations of a cycle. `words`: set of the
	 * words of `near` that are not 0. */
	uint64_t soon;
	uint64_t *near[WHEEL_NEAR], *words[WHEEL_NEAR];
	struct {
		VEC(struct wheel_entry);
	} slot[WHEEL_SLOTS];
	uint64_t busy[WHEEL_SLOTS / 64]; /* slots with entries */
	uint32_t n, room;		 /* stations, and words of a set */
};

/* Returns the number of a new station. */
uint32_t wheel_join(struct wheel *w);
void wheel_fini(struct wheel *w);
/* Adds a station to a near cycle. */
static inline void wheel_mark(struct wheel *w, uint64_t cycle, uint32_t id)
{
	uint32_t k = cycle % WHEEL_NEAR;

	w->soon |= 1ull << k;
	w->near[k][id / 64] |= 1ull << (id & 63);
	w->words[k][id / 4096] |= 1ull << (id / 64 & 63);
}
/* Asks for a step of station `id` in a cycle that wheel_take() has not taken
 * yet. */
static inline void wheel_add(struct wheel *w, uint64_t cycle, uint32_t id)
{
	uint32_t k = cycle % WHEEL_SLOTS;

	assert(cycle >= w->next);
	/* wheel_take() may still use the set of the last near cycle. */
	if (cycle - w->next < WHEEL_NEAR - 1) {
		wheel_mark(w, cycle, id);
		return;
	}
	w->busy[k / 64] |= 1ull << (k & 63);
	vec_push(&w->slot[k], (struct wheel_entry){ cycle, id });
}
/* Returns the first cycle that is not taken and may have stations, or
 * WHEEL_NEVER. */
uint64_t wheel_next(const struct wheel *w);
/* Takes the stations of a cycle, and calls step(own, id, cycle) for each, in
 * the order of their numbers. step() may add stations to later cycles. */
void wheel_take(struct wheel *w, uint64_t cycle,
		void (*step)(void *own, uint32_t id, uint64_t cycle),
		void *own);

#endif
