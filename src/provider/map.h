/* SPDX-License-Identifier: Apache-2.0 */
/* A map from numbers to numbers by open addressing, which grows when it is half
 * full. Keys are all numbers except MAP_NONE. Values are all numbers except 0,
 * which means that the key is absent. */
#ifndef PROVIDER_MAP_H
#define PROVIDER_MAP_H

#include <stddef.h>
#include <stdint.h>

#define MAP_NONE UINT64_MAX

struct map {
	struct map_cell {
		uint64_t key, val;
	} * cell;
	size_t cap, used;
};

/* Returns the value of a key, or 0. */
uint64_t map_get(const struct map *m, uint64_t key);
/* Sets a value. Returns 0 or -ENOMEM. */
int map_set(struct map *m, uint64_t key, uint64_t val);
/* Removes a key if it exists. */
void map_del(struct map *m, uint64_t key);
/* Frees the cells, but not memory to which values point. */
void map_free(struct map *m);

/* Returns the value of a key as a pointer, or NULL. */
static inline void *map_ptr(const struct map *m, uint64_t key)
{
	return (void *)(uintptr_t)map_get(m, key);
}

#define map_foreach(m, it)                                                     \
	for (struct map_cell *it = (m)->cell,                                  \
			     *it##_end = it ? it + (m)->cap : it;              \
	     it < it##_end; it++)                                              \
		if (it->key != MAP_NONE && it->val)

#endif
