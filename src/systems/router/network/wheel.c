/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles of a network, see wheel.h. */
#include "systems/router/network/wheel.h"

#include "base/need.h"

/* Returns the set with room for more words. The new words are 0. */
static uint64_t *set_grow(uint64_t *set, uint32_t were, uint32_t words)
{
	set = need(reallocarray(set, words, 8));
	memset(set + were, 0, 8ul * (words - were));
	return set;
}

uint32_t wheel_join(struct wheel *w)
{
	uint32_t were = w->room, above = (were + 63) / 64;

	if (w->n / 64 < were)
		return w->n++;
	w->room = were ? 2 * were : 1;
	for (uint32_t k = 0; k < WHEEL_NEAR; k++) {
		w->near[k] = set_grow(w->near[k], were, w->room);
		w->words[k] = set_grow(w->words[k], above, (w->room + 63) / 64);
	}
	return w->n++;
}

void wheel_fini(struct wheel *w)
{
	for (uint32_t k = 0; k < WHEEL_SLOTS; k++)
		vec_free(&w->slot[k]);
	for (uint32_t k = 0; k < WHEEL_NEAR; k++) {
		free(w->near[k]);
		free(w->words[k]);
	}
}

/* Returns the first cycle with a slot that has entries. */
static uint64_t slot_next(const struct wheel *w)
{
	uint32_t from = w->next % WHEEL_SLOTS, i = from / 64;
	uint64_t m = w->busy[i] & ~0ull << (from & 63);

	for (uint32_t k = 0; k <= WHEEL_SLOTS / 64; k++) {
		if (m) {
			uint32_t at = i * 64 + (uint32_t)__builtin_ctzll(m);

			return w->next +
			       (at + WHEEL_SLOTS - from) % WHEEL_SLOTS;
		}
		i = (i + 1) % (WHEEL_SLOTS / 64);
		m = w->busy[i];
	}
	return WHEEL_NEVER;
}

uint64_t wheel_next(const struct wheel *w)
{
	uint64_t far = slot_next(w), near;
	uint32_t k = w->next % WHEEL_NEAR;

	if (!w->soon)
		return far;
	near = w->next +
	       (uint32_t)__builtin_ctzll(w->soon >> k | w->soon << (-k & 63));
	return near < far ? near : far;
}

/* Moves the entries of a cycle from their slot into its set. */
static void slot_take(struct wheel *w, uint64_t cycle)
{
	uint32_t k = cycle % WHEEL_SLOTS, left = 0;

	if (!(w->busy[k / 64] >> (k & 63) & 1))
		return;
	vec_foreach (&w->slot[k], struct wheel_entry, e) {
		if (e->cycle != cycle)
			w->slot[k].at[left++] = *e;
		else
			wheel_mark(w, cycle, e->id);
	}
	w->slot[k].n = left;
	if (!left)
		w->busy[k / 64] &= ~(1ull << (k & 63));
}

void wheel_take(struct wheel *w, uint64_t cycle,
		void (*step)(void *own, uint32_t id, uint64_t cycle), void *own)
{
	uint32_t at = cycle % WHEEL_NEAR;
	uint64_t *set = w->near[at], *words = w->words[at];

	w->next = cycle + 1;
	slot_take(w, cycle);
	w->soon &= ~(1ull << at);
	for (uint32_t i = 0; i * 4096 < w->n; i++) {
		for (uint64_t m = words[i]; m; m &= m - 1) {
			uint32_t k = i * 64 + (uint32_t)__builtin_ctzll(m);
			uint64_t due = set[k];

			set[k] = 0;
			for (; due; due &= due - 1)
				step(own,
				     k * 64 + (uint32_t)__builtin_ctzll(due),
				     cycle);
		}
		words[i] = 0;
	}
}
