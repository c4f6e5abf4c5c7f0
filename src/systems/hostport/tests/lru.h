/* SPDX-License-Identifier: Apache-2.0 */
/* A set of a cache with replacement of the least recently used entry, searched
 * linearly: the reference for caches of devices. */
#ifndef HOSTPORT_TESTS_LRU_H
#define HOSTPORT_TESTS_LRU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LRU_WAYS = 4 };

struct lru {
	bool valid, dirty;
	uint64_t key, used, val;
};

static inline struct lru *lru_find(struct lru *c, uint64_t key)
{
	for (uint32_t i = 0; i < LRU_WAYS; i++)
		if (c[i].valid && c[i].key == key)
			return &c[i];
	return NULL;
}

/* Returns a free entry, or the one that was used longest ago. */
static inline struct lru *lru_replaced(struct lru *c)
{
	struct lru *old = c;

	for (uint32_t i = 0; i < LRU_WAYS; i++)
		if (!c[i].valid)
			return &c[i];
	for (uint32_t i = 1; i < LRU_WAYS; i++)
		if (c[i].used < old->used)
			old = &c[i];
	return old;
}

#endif
