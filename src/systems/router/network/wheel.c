/* SPDX-License-Identifier: Apache-2.0 */
/* Cycles of a network, see wheel.h. */
#include "systems/router/network/wheel.h"

#include "base/need.h"

uint32_t wheel_join(struct wheel *w)
{
	uint32_t words = w->n / 64 + 1;

	if (w->n % 64 == 0) {
		w->due = need(reallocarray(w->due, words, 8));
		w->due[words - 1] = 0;
		w->words = need(reallocarray(w->words, words / 64 + 1, 8));
		w->words[words / 64] = 0;
	}
	return w->n++;
}

void wheel_fini(struct wheel *w)
{
	for (uint32_t k = 0; k < WHEEL_SLOTS; k++)
		vec_free(&w->slot[k]);
	free(w->due);
	free(w->words);
}

uint64_t wheel_next(const struct wheel *w)
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

/* Moves the entries of a cycle from their slot into the set. */
static void slot_take(struct wheel *w, uint64_t cycle)
{
	uint32_t k = cycle % WHEEL_SLOTS, left = 0;

	vec_foreach (&w->slot[k], struct wheel_entry, e) {
		if (e->cycle != cycle) {
			w->slot[k].at[left++] = *e;
			continue;
		}
		w->due[e->id / 64] |= 1ull << (e->id & 63);
		w->words[e->id / 4096] |= 1ull << (e->id / 64 & 63);
	}
	w->slot[k].n = left;
	if (!left)
		w->busy[k / 64] &= ~(1ull << (k & 63));
}

void wheel_take(struct wheel *w, uint64_t cycle,
		void (*step)(void *own, uint32_t id, uint64_t cycle), void *own)
{
	w->next = cycle + 1;
	slot_take(w, cycle);
	for (uint32_t i = 0; i * 4096 < w->n; i++) {
		for (uint64_t m = w->words[i]; m; m &= m - 1) {
			uint32_t k = i * 64 + (uint32_t)__builtin_ctzll(m);
			uint64_t due = w->due[k];

			w->due[k] = 0;
			for (; due; due &= due - 1)
				step(own,
				     k * 64 + (uint32_t)__builtin_ctzll(due),
				     cycle);
		}
		w->words[i] = 0;
	}
}
