/* SPDX-License-Identifier: Apache-2.0 */
/* A map from numbers to numbers; see map.h. */
#include "provider/map.h"

#include <errno.h>
#include <stdlib.h>

/* Returns the cell of the key, or the free cell for it. */
static struct map_cell *map_find(const struct map *m, uint64_t key)
{
	size_t i = (key * 0x9e3779b97f4a7c15ull >> 20) & (m->cap - 1);

	while (m->cell[i].key != MAP_NONE && m->cell[i].key != key)
		i = (i + 1) & (m->cap - 1);
	return &m->cell[i];
}

uint64_t map_get(const struct map *m, uint64_t key)
{
	return m->cap && key != MAP_NONE ? map_find(m, key)->val : 0;
}

/* Moves the cells except deleted ones to a new table. The table has twice the
 * size if at least a quarter of the old cells is in use. */
static int map_grow(struct map *m)
{
	struct map old = *m;
	size_t live = 0, cap = old.cap ? old.cap : 16;
	struct map_cell *cell;

	map_foreach(&old, it) live++;
	if (old.cap && live * 4 >= old.cap)
		cap = old.cap * 2;
	cell = malloc(cap * sizeof(*cell));
	if (!cell)
		return -ENOMEM;
	for (size_t i = 0; i < cap; i++)
		cell[i] = (struct map_cell){ .key = MAP_NONE };
	*m = (struct map){ .cell = cell, .cap = cap };
	for (size_t i = 0; i < old.cap; i++) {
		if (old.cell[i].key == MAP_NONE || !old.cell[i].val)
			continue;
		*map_find(m, old.cell[i].key) = old.cell[i];
		m->used++;
	}
	free(old.cell);
	return 0;
}

int map_set(struct map *m, uint64_t key, uint64_t val)
{
	struct map_cell *c;

	if (m->used * 2 >= m->cap && map_grow(m))
		return -ENOMEM;
	c = map_find(m, key);
	m->used += c->key == MAP_NONE;
	*c = (struct map_cell){ .key = key, .val = val };
	return 0;
}

/* Removes a key. Its cell stays until the map grows, because searches for other
 * keys pass through it. */
void map_del(struct map *m, uint64_t key)
{
	struct map_cell *c;

	if (!m->cap || key == MAP_NONE)
		return;
	c = map_find(m, key);
	if (c->key == key)
		c->val = 0;
}

void map_free(struct map *m)
{
	free(m->cell);
	*m = (struct map){ 0 };
}
