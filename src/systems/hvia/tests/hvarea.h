/* SPDX-License-Identifier: Apache-2.0 */
/* A registered region whose pages are in memory in any order. hvarea_at() finds
 * a byte of the region without the card's table. */
#ifndef HVIA_TESTS_HVAREA_H
#define HVIA_TESTS_HVAREA_H

#include "hvrig.h"

enum { HVAREA_PAGES = 280 };

struct hvarea {
	uint64_t va;
	uint32_t len, pages, handle;
	uint8_t *mem;
	/* place[i] is the number of the page of `mem` that holds page i of the
	 * region */
	uint32_t place[HVAREA_PAGES];
};

void hvarea_new(struct hvarea *a, struct hvrig *r, uint64_t va, uint32_t len,
		uint32_t rights, uint32_t seed);
/* Returns the address of the byte at va + off. */
uint8_t *hvarea_at(const struct hvarea *a, uint64_t off);

/* Returns small pseudo-random numbers that are equal with every C library. */
static inline uint32_t hvarea_rand(uint32_t *s)
{
	*s = *s * 1664525 + 1013904223;
	return *s >> 8;
}
/* Returns byte i of message k. */
static inline uint8_t hvarea_byte(uint32_t k, uint32_t i)
{
	return (uint8_t)(k * 131 + i * 7 + (i >> 8) * 13 + 1);
}

/* Waits until both programs have called it. */
void hvarea_meet(struct weft_host *h, uint32_t *turn);

#endif
